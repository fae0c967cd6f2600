"""Rules about artifacts and checkpoints."""
