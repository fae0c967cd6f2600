"""Compose files: what each service starts, word by word or as the text of a shell."""

from __future__ import annotations

from collections.abc import Iterator

from verlint.files.job_formats import COMPOSE
from verlint.languages.jobs.fields import entries, environment, get, items, string
from verlint.languages.jobs.job import Block, Job
from verlint.languages.jobs.kubernetes import block_of
from verlint.languages.yaml import Mapping, Node, Scalar, embedded
from verlint.record import replace
from verlint.source import Piece, Source
from verlint.value import Text


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
    folder = "" if _is_mounted(service) else None
    block = _of_command(service, variables, folder)
    if block is None:
        return None
    source = _undoubled(block.source) if "$$" in block.source.text else block.source
    return replace(block, source=source, env_files=tuple(_env_files(service.get("env_file"))))


def _undoubled(source: Source) -> Source:
    """The text with `$` for each `$$`, as Compose gives it to the shell."""
    pieces: list[Piece] = []
    text = ""
    for at, run in enumerate(source.text.split("$$")):
        outer = sum(len(each) + 2 for each in source.text.split("$$")[:at])
        text += "$" if at else ""
        pieces += [Piece(len(text) + number, source.outer(outer + number), 1) for number in range(len(run))]
        text += run
    assert source.parent is not None
    return Source(source.path, text, source.parent, tuple(pieces))


def _is_mounted(service: Mapping) -> bool:
    """Whether the folder of the file is the working folder of the service, or none is named."""
    inside = string(service.get("working_dir")).rstrip("/")
    volumes = [string(each).split(":") for each in items(service.get("volumes"))]
    return not inside or any(each[0] in (".", "./") and each[1].rstrip("/") == inside for each in volumes if each[1:])


def _env_files(node: Node | None) -> Iterator[str]:
    """`env_file: FILE`, or a list of files and of mappings with `path`."""
    for each in items(node) or ([] if node is None else [node]):
        text = string(each if isinstance(each, Scalar) else get(each, "path"))
        if text and not text.startswith(("/", "~", "$")):
            yield text


def _of_command(service: Mapping, variables: dict[str, Text], folder: str | None) -> Block | None:
    entrypoint, command = service.get("entrypoint"), service.get("command")
    if isinstance(command, Scalar) and entrypoint is None and command.text.strip():
        # Compose splits a string as a shell does, and replaces `$NAME` itself; `$$NAME` is for the shell.
        return Block(embedded(command), command, "command", variables, {}, folder)
    if isinstance(entrypoint, Scalar):
        return None
    return block_of([*items(entrypoint), *items(command)], "command", variables, folder)
