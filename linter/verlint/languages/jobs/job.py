"""What all job formats have in common: the machine, the shells it runs one after the other, and what each is given."""

from __future__ import annotations

from collections.abc import Mapping

from verlint.languages.amounts import Amount
from verlint.languages.jobs.expressions import DOLLAR
from verlint.languages.yaml import Scalar
from verlint.record import dataclass, field
from verlint.source import Source, Span
from verlint.value import Text

WORKSPACE = "workspace"
"""The key of the hole that stands for the folder a job begins in; see `Job.start`."""


@dataclass(frozen=True, slots=True)
class Block:
    """One text that a shell runs.

    `source` is embedded in the file; `node` is the scalar that holds it, None for words that the platform starts
    without a shell. `name` says where it stands ("run"). `environment` are exported variables, `expressions` what the
    platform puts for each expression, which begins with `opening`. `folder` is where the shell starts, seen from the
    start of the job ("" for that itself, None when it is not known). `options` are shell options (`e`, `pipefail`).
    `joined`: it goes on in the shell of the block before. `env_files` name files of variables beside the job file,
    which give way to `environment`."""

    source: Source
    node: Scalar | None
    name: str
    environment: Mapping[str, Text] = field(default_factory=dict)
    expressions: Mapping[str, Text] = field(default_factory=dict)
    folder: str | None = ""
    options: frozenset[str] = frozenset()
    joined: bool = False
    opening: str = DOLLAR
    env_files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Mount:
    """A folder that the platform fills before the job begins: its path there, what it comes from ("s3://bucket"), and
    whether all nodes see the same one, so that what one writes the others read."""

    path: str
    origin: str
    span: Span
    shared: bool


@dataclass(frozen=True, slots=True)
class Job:
    """The blocks that one machine (or each of several alike) runs, in order.

    `format` and `name` say what it is. `start` is the folder of the repository that it begins in: "." for its root,
    "./" for the folder of the file, "?" for the one from which the files it names are found, a path for one seen from
    the file's own folder, None when it begins outside the repository. `nodes` and `gpus` (per node) are as written;
    None when they are not. `mounts` are folders that are there when it begins. `runtime_env` is the text of a Ray
    runtime environment."""

    format: str
    name: str
    span: Span
    blocks: tuple[Block, ...]
    start: str | None = "?"
    nodes: Amount | None = None
    gpus: Amount | None = None
    mounts: tuple[Mount, ...] = ()
    runtime_env: Scalar | None = None

    def mount(self, path: str) -> Mount | None:
        """The mount that a path lies in, None for none."""
        return next((each for each in self.mounts if f"{path.rstrip('/')}/".startswith(f"{each.path}/")), None)
