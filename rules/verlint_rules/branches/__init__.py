"""Rules about branches, checkouts and environments."""
