"""The rules of our group for verlint."""
