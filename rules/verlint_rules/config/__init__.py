"""Rules about the config that VeRL composes for a launch."""
