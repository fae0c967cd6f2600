"""Rules about credentials."""
