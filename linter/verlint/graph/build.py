"""The graph of an experiment, whatever it is written as."""

from __future__ import annotations

from verlint.experiment.project import Project
from verlint.experiment.stage import Experiment
from verlint.graph.model import ExperimentGraph


def graph_of(experiment: Experiment, project: Project) -> ExperimentGraph | None:
    """The graph of an experiment; None when its spec could not be read."""
    if experiment.spec is not None:
        from verlint.graph.from_spec import graph_of_spec

        spec = experiment.spec.spec
        return None if spec is None else graph_of_spec(experiment, spec, project)
    if experiment.script is None:
        return None
    from verlint.graph.from_script import graph_of_script

    return graph_of_script(experiment, experiment.script, project.launch)
