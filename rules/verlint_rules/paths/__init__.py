"""Rules about paths and roots."""
