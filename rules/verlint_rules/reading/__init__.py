"""Rules about what can be read, and about the spec."""
