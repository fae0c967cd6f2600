"""A shell text of the project: its syntax tree, what it would run, and where it is started."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from verlint.files.kinds import Kind
from verlint.files.tree import Tree
from verlint.languages.bash.replay import MAX_PATHS, Entry, Resolution, explore
from verlint.languages.bash.syntax import Program
from verlint.lazy import pattern
from verlint.record import dataclass
from verlint.source import Source, Span
from verlint.value import Hole, Text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from verlint.experiment.taught import Taught
    from verlint.files.comments import Directive
    from verlint.languages.amounts import Amount
    from verlint.languages.bash.clones import Home
    from verlint.languages.jobs.job import Job
    from verlint.languages.slurm import Scheduler

_RELATIVE = pattern(
    r"(?:\b(?:bash|sh|source|sbatch|qsub|python3?)|(?:^|[\s;&|])\.)[ \t]+(?:--?\w[\w-]*(?:=\S+)?[ \t]+)*"
    r"[\"']?((?:\./)?[\w-][\w./-]*\.(?:sh|bash|py|slurm|sbatch|pbs|lsf|sge|qsub))\b",
    re.M,
)
_ENDING = pattern(r"\.(?:sh|bash|py|slurm|sbatch|pbs|lsf|sge|qsub)\b")
_HOLDS = pattern(r"<<-?[ \t]*[\"'\\]?\w|\bsh\b.*-\w*c\b|\b(?:eval|ssh|wrap)\b")
"""How a text begins that holds another one."""
_SCRIPT_FOLDERS = frozenset(["scripts", "script", "examples", "bin", "tools", "launch", "launchers", "jobs", "slurm"])
MAX_ANCESTORS = 8
FEWEST_PATHS = 2


@dataclass(frozen=True)
class Topology:
    """How many nodes, and GPUs of a node, are asked for; None for what is not written."""

    nodes: Amount | None
    gpus: Amount | None


@dataclass(frozen=True, eq=False)
class Script:
    """A launcher, or the shell fences of a document taken as one script.

    `path` is where it is below the root of the project. `texts` are the sources that run one after the other in one
    shell: the file itself, or the fences. `start` is the folder it is taken to be started in, `directives` what its
    comments tell verlint, `taught` the launchers that the settings teach. For a job of a job file, `entries` says how
    the shell of each text begins (None: it goes on in that of the text before)."""

    source: Source
    path: str
    texts: tuple[Source, ...]
    start: str
    document: bool
    tree: Tree
    programs: dict[int, Program]
    directives: tuple[Directive, ...] = ()
    job: Job | None = None
    entries: tuple[Entry | None, ...] = ()
    taught: Taught | None = None

    @property
    def syntax(self) -> Iterator[tuple[Source, Program]]:
        """Each text with its tree."""
        for text in self.texts:
            yield text, self.program(text)

    def program(self, text: Source) -> Program:
        """The syntax tree of one of the texts."""
        from verlint.languages.bash.parser import parse

        found = self.programs.get(id(text))
        if found is None:
            found = self.programs[id(text)] = parse(text.text)
        return found

    @cached_property
    def inner(self) -> Sequence[tuple[Source, Program]]:
        """The texts of several lines that it runs as scripts of their own, each with its tree, once wherever it is run:
        here-documents, files written from them, `bash -c '…'`. None for a document."""
        if self.document or not any(_HOLDS.search(text.text) for text in self.texts):
            return ()
        own = {id(text) for text in self.texts}
        found: dict[tuple[object, str], tuple[Source, Program]] = {}
        for path in self.resolution.paths:
            for command in path.commands:
                text = command.span.source
                if id(text) not in own and "\n" in text.text.strip() and _is_within(text, own):
                    found.setdefault((text.whole().order(), text.text), (text, self.program(text)))
        return tuple(found.values())

    @property
    def name(self) -> str:
        """`$0`: the path seen from the start folder."""
        return posixpath.relpath(self.path, self.start or ".") if self.path else self.source.path

    @cached_property
    def resolution(self) -> Resolution:
        """What it does when it is started by itself."""
        if self.entries and self.entries[0] is not None:
            shells = sum(each is not None for each in self.entries)
            most = max(FEWEST_PATHS, MAX_PATHS // shells)  # the ways through many shells are those of each, multiplied
            return explore(
                self.texts, self.tree, self.entries[0], entries=self.entries, programs=self.programs, max_paths=most
            )
        arguments: list[str | Text] | None = [] if self.document else None
        start, folder = (self.start, None) if self.scheduler is None else batch_folder(self)
        environment = None
        if self.scheduler is not None:
            environment = self.scheduler.environment(start if folder is None else None)
        elif "_O_WORKDIR" in self.source.text and not self.document:  # of PBS and of Grid Engine
            environment = {
                name: Text((Hole(("cwd", start), name, "folder that qsub is called in"),))
                for name in ("PBS_O_WORKDIR", "SGE_O_WORKDIR")
            }
        entry = Entry(
            start=start,
            name=self.name,
            arguments=arguments,
            environment=environment,
            folder=folder,
            home=self._home,
        )
        return explore(self.texts, self.tree, entry, programs=self.programs)

    @property
    def closed(self) -> bool:
        """Whether nobody can pass it arguments: a document or a job."""
        return self.document or self.job is not None

    @cached_property
    def given(self) -> Mapping[str, Span | None]:
        """The variables that a job file or its platform sets for it, each with its place when it is written."""
        found: dict[str, Span | None] = {}
        for entry in self.entries:
            for name, text in (entry.environment or {}).items() if entry is not None else ():
                found.setdefault(name, text.span if isinstance(text, Text) else None)
        return found

    @cached_property
    def scheduler(self) -> Scheduler | None:
        """What its `#SBATCH` lines ask for; None for other scripts."""
        if self.closed or "#SBATCH" not in self.source.text:
            return None
        from verlint.languages.slurm import scheduler_of

        return scheduler_of(self.source)

    @property
    def topology(self) -> Topology | None:
        """The nodes and the GPUs of each that a scheduler header or a job file asks for; None where neither does."""
        for said in (self.scheduler, self.job):
            if said is not None:
                return Topology(said.nodes, said.gpus)
        return None

    @property
    def _home(self) -> Home | None:
        """Where a document lies, whose reader has to go there first."""
        if not self.document:
            return None
        from verlint.languages.bash.clones import Home

        return Home((self.tree.root / self.start).as_posix(), self.start)

    def directive(self, name: str) -> str:
        """The value of a directive that holds for the whole text, "" when there is none."""
        return next((each.value for each in self.directives if each.name == name), "")


def batch_folder(script: Script) -> tuple[str, Text | None]:
    """Where Slurm starts a script: the folder below the root, and one outside when its `#SBATCH --chdir` names such.
    Where the files that it names are found from a folder, it is taken to be that one."""
    folder = None if script.scheduler is None else script.scheduler.folder
    if folder is None or folder_of_names(script.source, script.path, script.tree) is not None:
        return script.start, None
    inside = posixpath.normpath(posixpath.join(script.start, folder.known or "."))
    if inside.startswith("/"):
        return script.start, folder
    return (inside if script.tree.is_dir(inside) else script.start), None


def directives_in(source: Source, kind: Kind) -> Sequence[Directive]:
    """The directives of a file. Few files have any: what reads comments is loaded for these only."""
    if "verlint:" not in source.text:
        return ()
    from verlint.files.comments import directives

    return directives(source, kind)


def start_folder(source: Source, path: str, tree: Tree) -> str:
    """The folder a launcher is started in: the nearest one above it from which the files it names are found.

    Without such names: the folder that holds its `scripts/`, else its own.
    """
    found = folder_of_names(source, path, tree)
    return _above_scripts(posixpath.dirname(path)) if found is None else found


def folder_of_names(source: Source, path: str, tree: Tree) -> str | None:
    """The nearest folder at or above a file from which most of the scripts and tools it names are found, None when none
    is."""
    own = posixpath.dirname(path)
    lines = _lines_with_files(source.text)
    names = {posixpath.normpath(match.group(1)) for line in lines for match in _RELATIVE.finditer(line)}
    best, best_count = "", 0
    folder = own
    for _ in range(MAX_ANCESTORS):
        count = sum(tree.exists(posixpath.join(folder, name)) for name in names)
        if count > best_count:
            best, best_count = folder, count
        if not folder:
            break
        folder = posixpath.dirname(folder)
    return best if best_count else None


def _lines_with_files(text: str) -> Iterator[str]:
    """The lines that may name a script or a tool: to look at all of them takes longer than to parse them."""
    end = 0
    for found in _ENDING.finditer(text):
        if found.start() >= end:
            end = text.find("\n", found.end())
            end = len(text) if end < 0 else end
            yield text[text.rfind("\n", 0, found.start()) + 1 : end]


def _above_scripts(folder: str) -> str:
    pieces = folder.split("/") if folder else []
    for number, piece in enumerate(pieces):
        if piece in _SCRIPT_FOLDERS:
            return "/".join(pieces[:number])
    return folder


def _is_within(text: Source, own: set[int]) -> bool:
    """Whether a text is embedded in one of some others."""
    while text.parent is not None:
        text = text.parent
        if id(text) in own:
            return True
    return False
