"""A real bash in a throw-away root that records what launchers start, to hold the interpreter against."""
