"""The numbered rules: one file a rule, one folder a theme."""
