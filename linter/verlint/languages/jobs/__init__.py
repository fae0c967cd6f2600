"""Files that job platforms read (SkyPilot, dstack, Kubernetes, GitHub, GitLab, Compose): the shell texts in them, each
with true positions, and what its shell is given."""
