"""Rules about VeRL's configuration."""
