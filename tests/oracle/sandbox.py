"""What a launcher really starts: it runs under bash where nothing else can, and every program it calls is only recorded.

    outcome, = Sandbox().run([Job("scripts/train.sh", ("--nnodes", "1"), folder=checkout)])
    outcome.records[0].argv

Each job gets a root of its own with a copy of its folder, bash and some harmless tools, in user, mount, PID and network
namespaces of its own. It can reach no network and no other file, and it is ended when it takes too long or records too
much; the root is gone afterwards. Needs Linux, util-linux and bash 5; root or an ordinary user that may make user
namespaces.

What is not real: a recorded program succeeds and prints nothing (or what `outputs` says), the input is empty, `ulimit`
does nothing, and `exec >file` without a command redirects nothing.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
MOUNT = "/checkout"
"""Where the copy of a job's folder is, as the launcher sees it."""
ENVIRONMENT = {"PATH": "/.oracle/none", "HOME": "/home/user", "USER": "user", "TMPDIR": "/tmp", "LANG": "C.UTF-8"}
"""What every launcher finds exported."""
MAX_COPIED = 64 << 10
"""Larger files are one empty line in the copy (bytes)."""
TOOLS = (
    "awk", "basename", "cat", "cut", "dirname", "expr", "getopt", "grep", "head", "mkdir", "paste", "readlink", "realpath",
    "sed", "seq", "sort", "tail", "tee", "touch", "tr", "uniq", "wc",
)  # fmt: skip
"""Programs that really run (and are recorded too): what they print follows from their arguments and files."""

MOVING = ("cp", "ln", "mv", "rm", "rmdir")
"""Programs that really run, but never fail: what a launcher wants to move is often made by a program that does not."""

_LOCALES = (Path("/usr/lib/locale/C.utf8"), Path("/usr/lib/locale/C.UTF-8"))
_OWN = re.compile(r"BASH_ENV|BASH_FUNC_.*|_|_oracle_\w+|SHLVL|PWD|OLDPWD")
_DECLARED = re.compile(r'(?:declare -(\w+)|export) (\w+)(?:=("(?:[^"\\]|\\.)*"|\$\'(?:[^\'\\]|\\.)*\'|\(.*\)))?', re.S)
_ANSI = re.compile(rb"\\([0-7]{1,3}|.)", re.S)
_ANSI_LETTERS = {b"a": 7, b"b": 8, b"E": 27, b"f": 12, b"n": 10, b"r": 13, b"t": 9, b"v": 11}


@dataclass(frozen=True)
class Job:
    """One call: `script` is a path as bash is given it, seen from `start` (a folder below the checkout).

    `folder` is copied to be the checkout; `texts` are laid over it, executable where they begin with `#!`. `programs`
    are absolute paths of files to make up where there is none (recorded when executed, empty when sourced), `folders`
    of folders."""

    script: str
    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    start: str = ""
    folder: Path | None = None
    texts: Mapping[str, str] = field(default_factory=dict)
    programs: frozenset[str] = frozenset()
    folders: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Record:
    """One program that was started. `environment` holds what differs from ENVIRONMENT and the job's (None: removed);
    `place` is `file:line` as bash counts, "" where it cannot be known; `tool` says that it really ran."""

    argv: tuple[str, ...]
    cwd: str
    environment: Mapping[str, str | None]
    place: str
    tool: bool


@dataclass(frozen=True)
class Outcome:
    """What came of a job: records in order of start, and the exit status."""

    records: tuple[Record, ...]
    status: int
    timed_out: bool
    errors: str


@cache
def available() -> str:
    """Why no sandbox can be made here; "" when one can."""
    if not sys.platform.startswith("linux"):
        return "the sandbox needs Linux"
    missing = [name for name in ("bash", "ldd", "unshare") if shutil.which(name) is None]
    if missing:
        return f"the sandbox needs {', '.join(missing)}"
    version = subprocess.run(["bash", "-c", "echo $BASH_VERSINFO"], capture_output=True, text=True).stdout.strip()
    if int(version or 0) < 5:
        return "the sandbox needs bash 5"
    try:
        outcome = Sandbox().run([Job("probe.sh", texts={"probe.sh": "probe <(:)\n"})])[0]
    except SandboxError as problem:
        return f"namespaces are not allowed here: {problem}"
    started = [record.argv for record in outcome.records]
    return (
        "" if started == [("probe", "/dev/fd/63")] else f"the sandbox does not work here: {outcome.errors or started}"
    )


class SandboxError(Exception):
    """The sandbox could not be made."""


class Sandbox:
    """Runs jobs, `batch` of them in one set of namespaces, two sets at a time.

    `seconds` (of waiting) and `records` bound each job; `outputs` says what programs print."""

    def __init__(
        self, *, outputs: Mapping[str, str] | None = None, seconds: float = 20.0, records: int = 4000, batch: int = 50
    ) -> None:
        self.seconds, self.records, self.batch = seconds, records, batch
        self._temporary = tempfile.TemporaryDirectory(prefix="oracle-base-")
        self._base = Path(self._temporary.name)
        _fill_base(self._base, outputs or {})

    def run(self, jobs: Iterable[Job]) -> list[Outcome]:
        """What each job does, in the order given."""
        todo = list(jobs)
        parts = [todo[at : at + self.batch] for at in range(0, len(todo), self.batch)]
        with ThreadPoolExecutor(2) as pool:
            return [outcome for part in pool.map(self._run_batch, parts) for outcome in part]

    def _run_batch(self, jobs: Sequence[Job]) -> list[Outcome]:
        with tempfile.TemporaryDirectory(prefix="oracle-") as name:
            plan = {
                "outside": os.readlink("/proc/self/ns/pid"),
                "base": str(self._base),
                "room": str(Path(name, "room")),
                "jobs": [self._plan(job) for job in jobs],
            }
            Path(name, "room").mkdir()
            Path(name, "plan.json").write_text(json.dumps(plan))
            ends = _run_inside(Path(name, "plan.json"))
        return [_outcome(job, end) for job, end in zip(jobs, ends, strict=True)]

    def _plan(self, job: Job) -> dict[str, object]:
        return {
            "argv": ["/.oracle/bash", job.script, *job.arguments],
            "environment": {**ENVIRONMENT, **job.environment, "BASH_ENV": "/.oracle/prelude"},
            "start": job.start,
            "folder": str(job.folder or ""),
            "texts": dict(job.texts),
            "programs": sorted(job.programs),
            "folders": sorted(job.folders),
            "seconds": self.seconds,
            "records": self.records,
        }


def _run_inside(plan: Path) -> list[dict[str, Any]]:
    unshare = ["unshare", "--map-root-user", "--mount", "--net", "--pid", "--fork", "--kill-child"]
    command = [*unshare, sys.executable, "-I", "-X", "utf8", str(HERE / "inside.py"), str(plan)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode:
        raise SandboxError(done.stderr.strip().rpartition("\n")[2] or f"unshare ended with {done.returncode}")
    ends: list[dict[str, Any]] = json.loads(done.stdout)
    return ends


# ---- what all roots share


def _fill_base(base: Path, outputs: Mapping[str, str]) -> None:
    """What all roots share: it is mounted into each of them."""
    for name in (".oracle/none", ".oracle/output", ".oracle/tools", ".oracle/moving"):
        (base / name).mkdir(parents=True)
    _install(base, "bash", ".oracle/bash")
    for tool in TOOLS:
        if shutil.which(tool):
            _install(base, tool, f".oracle/tools/{tool}")
    for tool in MOVING:
        if shutil.which(tool):
            _install(base, tool, f".oracle/moving/{tool}")
    shutil.copy(HERE / "prelude.bash", base / ".oracle/prelude")
    shutil.copy(HERE / "shebang.bash", base / ".oracle/shebang")
    for locale in _LOCALES:
        if locale.is_dir():
            shutil.copytree(locale, base / str(locale).lstrip("/"), dirs_exist_ok=True)
    for name, text in outputs.items():
        (base / ".oracle/output" / name).write_text(text)


def _install(base: Path, program: str, target: str) -> None:
    """Copy a program and the libraries it is linked to."""
    source = os.path.realpath(shutil.which(program) or program)
    shutil.copy(source, base / target)
    listed = subprocess.run(["ldd", source], capture_output=True, text=True).stdout
    for library in re.findall(r"(?:^|\s)(/\S+)", listed):
        there = base / library.lstrip("/")
        if not there.exists():
            there.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(library, there)


# ---- records


def _outcome(job: Job, end: Mapping[str, Any]) -> Outcome:
    given = {**ENVIRONMENT, **job.environment}
    records = [_record(text, given) for text in end["records"]]
    found = tuple(each for each in records if each is not None)
    return Outcome(found, int(end["status"]), bool(end["timed_out"]), str(end["errors"]))


def _record(text: str, given: Mapping[str, str]) -> Record | None:
    """A record as the prelude writes it; None for one that was cut off."""
    fields = text.split("\0")
    if len(fields) < 5 or len(fields) != 5 + int(fields[3]):
        return None
    cwd, place, kind, _, *argv, declarations = fields
    found = dict(_exported(declarations))
    changed: dict[str, str | None] = {
        name: value for name, value in found.items() if given.get(name) != value and not _OWN.fullmatch(name)
    }
    changed.update((name, None) for name in given if name not in found)
    return Record(tuple(argv), cwd, changed, "" if place == ":" else place, kind == "tool")


def _exported(declarations: str) -> Iterable[tuple[str, str]]:
    """Names and values of what `export -p` printed; arrays are never exported."""
    for letters, name, value in _DECLARED.findall(declarations):
        if not value or "a" in letters or "A" in letters:
            continue
        if value.startswith("$"):
            data = _ANSI.sub(_unescape, value[2:-1].encode("utf-8", "surrogateescape"))
            yield name, data.decode("utf-8", "surrogateescape")
        else:
            yield name, re.sub(r"\\(.)", r"\1", value[1:-1], flags=re.S)


def _unescape(match: re.Match[bytes]) -> bytes:
    escaped = match[1]
    if escaped.isdigit():
        return bytes([int(escaped, 8)])
    return bytes([_ANSI_LETTERS[escaped]]) if escaped in _ANSI_LETTERS else escaped
