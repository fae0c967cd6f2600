"""A shell text of the project: its syntax tree, what it would run, and where it is started."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from functools import cached_property

from verlint.files.comments import Directive
from verlint.files.tree import Tree
from verlint.languages.bash.replay import Entry, Resolution, explore
from verlint.languages.bash.syntax import Program
from verlint.lazy import pattern
from verlint.record import dataclass, field
from verlint.source import Source

_RELATIVE = pattern(
    r"(?:\b(?:bash|sh|source|python3?)|(?:^|[\s;&|])\.)[ \t]+(?:-\w+[ \t]+)*"
    r"[\"']?((?:\./)?[\w-][\w./-]*\.(?:sh|bash|py))\b",
    re.M,
)
_SCRIPT_FOLDERS = frozenset(["scripts", "script", "examples", "bin", "tools", "launch", "launchers", "jobs", "slurm"])
MAX_ANCESTORS = 8


@dataclass(frozen=True, eq=False)
class Script:
    """A launcher, or the shell fences of a document taken as one script.

    `path` is where it is below the root of the project. `texts` are the sources that run one after the other in one
    shell: the file itself, or the fences. `start` is the folder it is taken to be started in, `directives` what its
    comments tell verlint."""

    source: Source
    path: str
    texts: tuple[Source, ...]
    start: str
    document: bool
    tree: Tree
    programs: dict[int, Program]
    directives: tuple[Directive, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)

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

    @property
    def name(self) -> str:
        """`$0`: the path seen from the start folder."""
        return posixpath.relpath(self.path, self.start or ".") if self.path else self.source.path

    @cached_property
    def resolution(self) -> Resolution:
        """What it does when it is started by itself."""
        home = posixpath.basename(self.start or self.tree.root.name) if self.document else ""
        entry = Entry(start=self.start, name=self.name, arguments=[] if self.document else None, home=home)
        return explore(self.texts, self.tree, entry, programs=self.programs)

    def directive(self, name: str) -> str:
        """The value of a directive that holds for the whole text, "" when there is none."""
        return next((each.value for each in self.directives if each.name == name), "")


def start_folder(source: Source, path: str, tree: Tree) -> str:
    """The folder a launcher is started in: the nearest one above it from which the files it names are found.

    Without such names: the folder that holds its `scripts/`, else its own.
    """
    own = posixpath.dirname(path)
    names = {posixpath.normpath(match.group(1)) for match in _RELATIVE.finditer(source.text)}
    best, best_count = "", 0
    folder = own
    for _ in range(MAX_ANCESTORS):
        count = sum(tree.exists(posixpath.join(folder, name)) for name in names)
        if count > best_count:
            best, best_count = folder, count
        if not folder:
            break
        folder = posixpath.dirname(folder)
    return best if best_count else _above_scripts(own)


def _above_scripts(folder: str) -> str:
    pieces = folder.split("/") if folder else []
    for number, piece in enumerate(pieces):
        if piece in _SCRIPT_FOLDERS:
            return "/".join(pieces[:number])
    return folder
