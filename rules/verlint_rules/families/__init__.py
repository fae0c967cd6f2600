"""Rules about the families and their stages."""
