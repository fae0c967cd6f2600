"""Rules about the shell and the cluster."""
