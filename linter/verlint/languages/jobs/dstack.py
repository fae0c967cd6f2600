"""dstack: `commands`, joined with `&&` in one shell, in the folder of the repository.

Source: dstack's reference of `.dstack.yml`. An `env` entry without a value is required from the caller."""

from __future__ import annotations

from collections.abc import Iterator

from verlint.files.job_formats import DSTACK
from verlint.languages.amounts import Amount
from verlint.languages.jobs.expressions import meanings, unknown
from verlint.languages.jobs.fields import amount, environment, get, given, items, number, string
from verlint.languages.jobs.job import Block, Job
from verlint.languages.yaml import Mapping, Node, Scalar, embedded
from verlint.source import Source
from verlint.value import Text, whole

_GIVEN = {
    "DSTACK_NODE_RANK": "rank of the node, from dstack",
    "DSTACK_NODES_IPS": "addresses of the nodes, from dstack",
    "DSTACK_MASTER_NODE_IP": "address of the first node, from dstack",
    "DSTACK_GPUS_NUM": "accelerators of all nodes, from dstack",
    "DSTACK_RUN_NAME": "name of the run, from dstack",
    "DSTACK_REPO_ID": "id of the repository, from dstack",
    "DSTACK_RUN_ID": "id of the run, from dstack",
    "DSTACK_JOB_ID": "id of the job, from dstack",
}


def jobs(document: Mapping) -> Iterator[Job]:
    """The task, service or development environment of one document."""
    nodes = amount(document.get("nodes"))
    gpus = _gpus(get(document, "resources", "gpu"))
    owner = document.span.source
    variables = {
        **environment(document.get("env"), lambda each: _meaning(each, owner)),
        **given(_GIVEN),
        "DSTACK_NODES_NUM": number("DSTACK_NODES_NUM", nodes, "number of nodes"),
        "DSTACK_GPUS_PER_NODE": number("DSTACK_GPUS_PER_NODE", gpus, "accelerators of a node"),
    }
    folder = string(document.get("working_dir")).removeprefix("./")
    blocks = []
    for key in ("init", "commands"):
        for at, node in enumerate(items(document.get(key))):
            if isinstance(node, Scalar):
                known = meanings(node.text, lambda each: _meaning(each, owner))
                place = None if folder.startswith(("/", "~")) else "" if folder == "." else folder
                name = f"{key}[{at}]"
                blocks.append(Block(embedded(node), node, name, variables, known, place, frozenset("e"), at > 0))
    yield Job(DSTACK, string(document.get("name")), document.span, tuple(blocks), "?", nodes, gpus)


def _meaning(expression: str, owner: Source) -> Text:
    what = "secret of dstack" if expression.startswith("secrets.") else "filled in by dstack"
    return unknown(expression, what, owner)


def _gpus(node: Node | None) -> Amount | None:
    """The number of accelerators: `8`, `H100:8`, `H100:80GB:8`, `{count: 8}`; None for a range or without one."""
    if isinstance(node, Mapping):
        return amount(node.get("count"))
    text = string(node)
    if node is None or not text:
        return None
    counts = [piece for piece in text.split(":") if piece.isdigit()]
    if ".." in text or len(counts) > 1:
        return None
    number = whole(counts[0]) if counts else 1
    return None if number is None else Amount(number, node.span)
