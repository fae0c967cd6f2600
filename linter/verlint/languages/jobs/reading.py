"""Reading a job file of any format."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from verlint.files.job_formats import ACTION, COMPOSE, DSTACK, GITLAB, KUBERNETES, SKYPILOT, WORKFLOW, format_of
from verlint.languages.jobs import compose, dstack, gitlab, kubernetes, skypilot, workflow
from verlint.languages.jobs.job import Job
from verlint.languages.yaml import Mapping, YamlFile, parse_yaml
from verlint.source import Source

_READERS: dict[str, Callable[[Mapping], Iterator[Job]]] = {
    SKYPILOT: skypilot.jobs,
    DSTACK: dstack.jobs,
    KUBERNETES: kubernetes.jobs,
    WORKFLOW: workflow.jobs,
    ACTION: workflow.jobs,
    GITLAB: gitlab.jobs,
    COMPOSE: compose.jobs,
}


def read_jobs(source: Source) -> tuple[YamlFile, tuple[Job, ...]]:
    """The jobs of a file that run something, in order; of broken YAML those before the fault. Never raises."""
    file = parse_yaml(source)
    reader = _READERS.get(format_of(source.path, source.text))
    if reader is None:
        return file, ()
    found = [job for document in file.documents if isinstance(document, Mapping) for job in reader(document)]
    return file, tuple(job for job in found if job.blocks)
