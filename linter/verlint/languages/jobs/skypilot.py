"""SkyPilot tasks: `setup`, then `run`, each in a shell of its own, on every node.

Source: SkyPilot's task YAML reference and its environment variables. A null in `envs` or `secrets` must be given when
the task is launched. Without `workdir` both begin in an empty `~/sky_workdir`."""

from __future__ import annotations

from collections.abc import Iterator

from verlint.files.job_formats import SKYPILOT
from verlint.languages.amounts import Amount
from verlint.languages.jobs.fields import amount, entries, environment, get, given, number, string
from verlint.languages.jobs.job import Block, Job, Mount
from verlint.languages.yaml import Mapping, Node, Scalar, embedded
from verlint.source import Span
from verlint.value import Literal, Text, whole

_GIVEN = {
    "SKYPILOT_NODE_RANK": "rank of the node, from SkyPilot",
    "SKYPILOT_NODE_IPS": "addresses of the nodes, from SkyPilot",
    "SKYPILOT_TASK_ID": "id of the task, from SkyPilot",
    "SKYPILOT_CLUSTER_INFO": "cluster, from SkyPilot",
}


def jobs(document: Mapping) -> Iterator[Job]:
    """The task of one document."""
    nodes = amount(document.get("num_nodes")) or (None if document.get("num_nodes") else _one(document.span))
    gpus = _accelerators(document)
    variables = {
        **environment(document.get("envs"), missing="given with --env at launch", option="--env"),
        **environment(document.get("secrets"), missing="given with --secret at launch", option="--secret"),
    }
    own = {
        **given(_GIVEN),
        "SKYPILOT_NUM_NODES": _told("SKYPILOT_NUM_NODES", nodes, document),
        "SKYPILOT_NUM_GPUS_PER_NODE": number("SKYPILOT_NUM_GPUS_PER_NODE", gpus, "accelerators of a node"),
    }
    blocks = [
        Block(embedded(node), node, name, {**variables, **own})
        for name in ("setup", "run")
        if isinstance(node := document.get(name), Scalar) and node.text.strip()
    ]
    mounts = tuple(_mounts(document.get("file_mounts")))
    yield Job(
        SKYPILOT, string(document.get("name")), document.span, tuple(blocks), _start(document), nodes, gpus, mounts
    )


def _mounts(node: Node | None) -> Iterator[Mount]:
    """The folders of `file_mounts`: copies of files, buckets copied (an address, `mode: COPY`) or mounted."""
    for key, value in entries(node):
        source = value.get("source") if isinstance(value, Mapping) else value
        origin = string(source) or string(get(value, "name"))
        shared = isinstance(value, Mapping) and string(value.get("mode")).upper() != "COPY"
        yield Mount(key.text.rstrip("/"), origin, key.span, shared)


def _told(name: str, nodes: Amount | None, document: Mapping) -> Text:
    if nodes is not None and document.get("num_nodes") is None:  # the default is written nowhere
        return Text((Literal(str(nodes.number)),))
    return number(name, nodes, "number of nodes")


def _one(span: Span) -> Amount:
    return Amount(1, span)


def _start(document: Mapping) -> str | None:
    """The folder that is copied to the nodes; with a git repository, or without one, it is not known."""
    workdir = document.get("workdir")
    text = string(workdir)
    if not text or text.startswith(("/", "~", "$")):
        return None
    return "?" if text in (".", "./") else text


def _accelerators(document: Mapping) -> Amount | None:
    """The number of accelerators of a node: `H100:8`, `{H100: 8}`; None where there is a choice, or none is named."""
    node: Node | None = get(document, "resources", "accelerators")
    if isinstance(node, Mapping):
        found = list(entries(node))
        return amount(found[0][1]) if len(found) == 1 else None
    kind, _, count = string(node).strip().partition(":")
    number = whole(count or "1")
    return Amount(number, node.span) if kind and node is not None and number is not None else None
