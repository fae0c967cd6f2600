"""Compose files: what each service starts, word by word or as the text of a shell."""

from __future__ import annotations

from collections.abc import Iterator

from verlint.files.job_formats import COMPOSE
from verlint.languages.jobs.fields import entries, environment, items, string
from verlint.languages.jobs.job import Block, Job
from verlint.languages.jobs.kubernetes import block_of
from verlint.languages.yaml import Mapping, Scalar, embedded


def jobs(document: Mapping) -> Iterator[Job]:
    """The services that say what they run, each on its own."""
    for key, service in entries(document.get("services")):
        if not isinstance(service, Mapping):
            continue
        block = _block(service)
        if block is not None:
            yield Job(COMPOSE, key.text, key.span, (block,))


def _block(service: Mapping) -> Block | None:
    variables = environment(service.get("environment"), missing="from the shell that starts the services")
    folder = None if string(service.get("working_dir")) else ""
    entrypoint, command = service.get("entrypoint"), service.get("command")
    if isinstance(command, Scalar) and entrypoint is None and command.text.strip():
        # Compose splits a string as a shell does, and replaces `$NAME` itself.
        return Block(embedded(command), command, "command", variables, {}, folder)
    if isinstance(entrypoint, Scalar):
        return None
    return block_of([*items(entrypoint), *items(command)], "command", variables, folder)
