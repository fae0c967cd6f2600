"""What earlier runs found, kept for runs that would find the same."""
