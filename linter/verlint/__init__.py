"""verlint: find what is wrong in RL post-training experiments before the cluster does."""

__version__ = "0.1.0"
