"""The dependency graph of an experiment: typed nodes and edges over its stages."""
