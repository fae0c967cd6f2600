"""What a shell knows while it runs: variables, options, files, and the record of one replayed path."""

from __future__ import annotations

import posixpath
from collections.abc import Hashable, Iterable, Mapping

from verlint.languages.bash.command import Assignment, Call, Command, Guard, Surroundings
from verlint.languages.bash.pieces import EMPTY, Parts, collapse, flat, known, plain
from verlint.languages.bash.syntax import Node, Program, Sequence
from verlint.record import dataclass, field
from verlint.source import Source, Span
from verlint.value import Hole, Literal, Text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol, TypeAlias
else:
    Protocol = object

Event: TypeAlias = Command | Assignment


class Files(Protocol):
    """The checkout a launcher stands in. Paths are relative to its root, with "/", without "." and ".."."""

    def exists(self, path: str) -> bool:
        """Whether a file or folder is there."""

    def is_dir(self, path: str) -> bool:
        """Whether the path is a folder."""

    def is_executable(self, path: str) -> bool:
        """Whether the path may be executed."""

    def listing(self, path: str) -> list[str]:
        """Names of the entries of a folder, sorted."""

    def source(self, path: str) -> Source | None:
        """The text of a file, None when there is none."""


@dataclass(slots=True)
class Array:
    """An indexed or associative array; indexed ones have int keys."""

    items: dict[int | str, Parts] = field(default_factory=dict)
    associative: bool = False
    top: int = -1

    def ordered_keys(self) -> list[int | str]:
        """Keys in bash's order (associative arrays: insertion order stands for an unknown one)."""
        return list(self.items) if self.associative else sorted(self.items, key=int)

    def values(self) -> list[Parts]:
        """Elements in the order of their keys."""
        return [self.items[key] for key in self.ordered_keys()]

    def next_index(self) -> int:
        """The index that an appended element gets."""
        if self.top < 0 and self.items and not self.associative:
            self.top = max(map(int, self.items))
        return self.top + 1

    def put(self, key: int | str, value: Parts) -> None:
        """Give an element a value."""
        self.items[key] = value
        if isinstance(key, int) and (self.top >= 0 or len(self.items) == 1):
            self.top = max(self.top, key)

    def drop(self, key: int | str) -> None:
        """Remove an element, if it is there."""
        self.items.pop(key, None)
        self.top = -1

    def copy(self) -> Array:
        """A copy that can be changed alone."""
        return Array(dict(self.items), self.associative, self.top)


@dataclass(slots=True)
class Variable:
    """A shell variable; `value` is None when declared without a value."""

    value: Parts | Array | None = None
    exported: bool = False
    integer: bool = False
    case: str = ""
    reference: bool = False

    def copy(self) -> Variable:
        """A copy that can be changed alone."""
        value = self.value.copy() if isinstance(self.value, Array) else self.value
        return Variable(value, self.exported, self.integer, self.case, self.reference)


Scope: TypeAlias = dict[str, Variable]


class Stream:
    """Text that commands read from."""

    def __init__(self, parts: Parts) -> None:
        self.parts = collapse(parts)

    def line(self, delimiter: str = "\n") -> tuple[Parts, bool]:
        """The next line and whether its end was there. A hole ends up whole in the line it stands in."""
        out: list[Literal | Hole] = []
        rest = list(self.parts)
        while rest:
            part = rest.pop(0)
            if isinstance(part, Literal) and delimiter and (at := part.text.find(delimiter)) >= 0:
                piece = Text((part,))
                out.extend(piece.slice(0, at).parts)
                self.parts = (*piece.slice(at + 1, len(part.text)).parts, *rest)
                return tuple(out), True
            out.append(part)
        self.parts = EMPTY
        return tuple(out), False

    def rest(self) -> Parts:
        """All that is left."""
        out, self.parts = self.parts, EMPTY
        return out


class Exit(Exception):
    """The shell ends with a status (None: not known)."""

    def __init__(self, status: int | None) -> None:
        super().__init__(status)
        self.status = status


class Return(Exit):
    """A function or sourced file ends."""


class LoopControl(Exception):
    """`break` and `continue` through so many loops."""

    def __init__(self, levels: int, again: bool) -> None:
        super().__init__(levels)
        self.levels = levels
        self.again = again


class DiscardLine(Exception):
    """An expansion error: bash drops the rest of the line and goes on."""


class OverBudget(Exception):
    """The path took too many steps; what was recorded so far stands."""


@dataclass(frozen=True, slots=True)
class Note:
    """Something the interpreter met that rules may want to speak of: kind, words, place."""

    kind: str
    text: str
    span: Span


MAX_STEPS = 30_000
MAX_LOOP = 2_000
MAX_SCRIPTS = 12
MAX_FUNCTIONS = 50
MAX_BUILT = 100_000
MAX_ASKED = 8


@dataclass
class Run:
    """One replayed path: the answers given to undecidable conditions, and what was recorded.

    `choices` are the answers prescribed for this path; `alternatives` collects the answer lists of the paths not taken.
    """

    files: Files
    choices: tuple[bool, ...] = ()
    closed: bool = False
    mount: str = ""
    max_steps: int = MAX_STEPS
    taken: list[bool] = field(default_factory=list)
    alternatives: list[tuple[bool, ...]] = field(default_factory=list)
    answers: dict[Hashable, bool] = field(default_factory=dict)
    asked: dict[Hashable, int] = field(default_factory=dict)
    conditions: list[Guard] = field(default_factory=list)
    consulted: list[Guard] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    tests: list[Command] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    written: dict[str, Parts] = field(default_factory=dict)
    made: set[str] = field(default_factory=set)
    environment: dict[str, Hole] = field(default_factory=dict)
    programs: dict[int, Program] = field(default_factory=dict)
    steps: int = 0
    built: int = 0
    active: list[Source] = field(default_factory=list)
    fresh: int = 0
    over_budget: bool = False

    def step(self) -> None:
        """Count one step; raises OverBudget past the limit."""
        self.steps += 1
        if self.steps > self.max_steps:
            self.over_budget = True
            raise OverBudget

    def spend(self, parts: Iterable[Literal | Hole]) -> None:
        """Count what was built: pieces, and their characters by the block; raises OverBudget past the limit."""
        built = self.built
        for part in parts:
            built += 1 + (len(part.text) >> 6) if isinstance(part, Literal) else 1
        self.built = built
        if built > MAX_BUILT:
            self.over_budget = True
            raise OverBudget

    def enter(self, source: Source) -> bool:
        """Begin a nested text, to be ended by `leave`; False for one that starts itself again and again."""
        if self.active.count(source) > 1:
            return False
        if len(self.active) >= MAX_SCRIPTS:
            self.over_budget = True
            raise OverBudget
        self.active.append(source)
        return True

    def leave(self) -> None:
        """End the nested text begun last."""
        self.active.pop()

    def unique(self) -> int:
        """A number no other hole of the run has."""
        self.fresh += 1
        return self.fresh


class ShellState:
    """The state of one shell process (or subshell)."""

    def __init__(self, run: Run, source: Source, name: Parts, cwd: Parts) -> None:
        self.run = run
        self.source = source
        self.name = name
        self.cwd = cwd
        self.globals: Scope = {}
        self.scopes: list[Scope] = []
        self.positional: list[Parts] = []
        self.open_arguments = False
        self.functions: dict[str, tuple[object, Source]] = {}
        self.options: set[str] = set()
        self.shell_options: set[str] = set()
        self.status: int | None = 0
        self.output: list[Parts] | None = None
        self.input: Stream | None = None
        self.unchecked = 0
        self.loops = 0
        self.guards: tuple[Guard, ...] = ()
        self.stack: tuple[Call, ...] = ()
        self.sources: list[Parts] = [name]
        self.function_names: list[str] = []
        self.exported_functions: set[str] = set()
        self.traps: dict[str, Parts] = {}
        self.here = 0
        self.background = False
        self.substituting = False
        self.substitutions = 0
        self.last_background: Parts = EMPTY
        self.directories: list[Parts] = []
        self.option_offset = 1
        self._environment_cache: Mapping[str, Text] | None = None

    # ---- places and records

    def span(self, node: Node) -> Span:
        """The place of a node of the text being run."""
        return Span(self.source, node.start, node.end)

    def hole(self, name: str, reason: str, node: Node | None = None, key: Hashable | None = None) -> Hole:
        """An unknown; without a key it equals no other."""
        identity = ("unique", self.run.unique()) if key is None else key
        return Hole(identity, name, reason, None if node is None else self.span(node))

    def note(self, kind: str, text: str, node: Node) -> None:
        """Put something on record that rules may want to speak of."""
        self.run.notes.append(Note(kind, text, self.span(node)))

    def surroundings(self) -> Surroundings:
        """What holds around a command at this moment."""
        return Surroundings(
            cwd=Text(self.cwd),
            environment=self.exported(),
            guards=self.guards,
            stack=self.stack,
            xtrace="x" in self.options,
            errexit="e" in self.options,
            nounset="u" in self.options,
            pipefail="pipefail" in self.options,
            background=self.background,
            substitution=self.substituting,
        )

    def exported(self) -> Mapping[str, Text]:
        """The environment that a command would get."""
        if self._environment_cache is None:
            found: dict[str, Text] = {}
            for scope in (self.globals, *self.scopes):
                for name, variable in scope.items():
                    if variable.exported and variable.value is not None and not isinstance(variable.value, Array):
                        found[name] = Text(variable.value)
            self._environment_cache = found
        return self._environment_cache

    def decide(self, key: Hashable, text: str, node: Node, *, first: bool = True, remember: bool = True) -> bool:
        """An answer to a condition nobody can decide here: as prescribed for this path, else `first`; the other is
        queued."""
        run = self.run
        if remember and key in run.answers:
            run.consulted.append(Guard(text, self.span(node), run.answers[key]))
            return run.answers[key]
        place = (id(self.source), node.start, key if remember else None)
        run.asked[place] = run.asked.get(place, 0) + 1
        if run.asked[place] > MAX_ASKED:
            return first
        number = len(run.taken)
        if number < len(run.choices):
            answer = run.choices[number]
        else:
            answer = first
            run.alternatives.append((*run.taken, not answer))
        run.taken.append(answer)
        guard = Guard(text, self.span(node), answer)
        run.conditions.append(guard)
        run.consulted.append(guard)
        if remember:
            run.answers[key] = answer
        return answer

    def arguments(self, given: Iterable[Parts]) -> tuple[list[Parts], bool]:
        """Arguments that a script or function gets, and whether the caller's unknown ones follow them."""
        values = list(given)
        last = values[-1] if values else EMPTY
        only = last[0] if len(last) == 1 else None
        if isinstance(only, Hole) and only.name == "$@" and isinstance(only.key, tuple) and only.key[0] == "arguments":
            return values[:-1], True
        return values, False

    # ---- variables

    def lookup(self, name: str) -> Variable | None:
        """The variable that a name means here, None when there is none."""
        for scope in reversed(self.scopes):
            if name in scope:
                return self._follow(scope[name])
        variable = self.globals.get(name)
        return None if variable is None else self._follow(variable)

    def _follow(self, variable: Variable) -> Variable:
        if variable.reference and not isinstance(variable.value, Array) and variable.value:
            target = known(variable.value)
            if target and target.isidentifier():
                for scope in (*reversed(self.scopes), self.globals):
                    found = scope.get(target)
                    if found is not None and found is not variable:
                        return found
                self.globals[target] = Variable()
                return self.globals[target]
        return variable

    def ensure(self, name: str) -> Variable:
        """The variable, made in the global scope when there is none."""
        variable = self.lookup(name)
        if variable is None:
            variable = self.globals[name] = Variable()
        return variable

    def changed(self) -> None:
        """Forget what was derived from variables."""
        self._environment_cache = None

    def unset(self, name: str) -> None:
        """Remove a variable; what the environment gave is gone too."""
        self.changed()
        for scope in reversed(self.scopes):
            if name in scope:
                if scope is self.scopes[-1]:
                    scope[name] = Variable()
                else:  # the variable of a caller is gone, the one it hid is seen again
                    del scope[name]
                return
        self.globals.pop(name, None)
        if not self.run.closed:
            self.globals[name] = Variable()

    def set_plain(self, name: str, value: Parts) -> None:
        """Give a variable a string, without provenance of its own."""
        self.changed()
        self.ensure(name).value = value

    # ---- paths

    def absolute(self, path: Parts) -> Parts:
        """A path seen from the working directory, with "." and ".." resolved where that is possible."""
        text = flat(path)
        if text.startswith("/") or (path and isinstance(path[0], Hole)):
            return normalise(path)
        if not text or text == ".":
            return self.cwd
        return normalise((*self.cwd, Literal("/"), *path))

    def locate(self, path: Parts) -> str | None:
        """The path below the root of the checkout, or None when it is not surely there. "" is the root."""
        full = self.absolute(path)
        if not full:
            return None
        first = full[0]
        if isinstance(first, Hole):
            if not (isinstance(first.key, tuple) and first.key[0] == "cwd"):
                return None
            rest = known(full[1:])
            if rest is None or (rest and not rest.startswith("/")):
                return None
            base = str(first.key[1])
            return inside(posixpath.normpath("/" + base + rest) if not _climbs_out(base, rest) else None)
        text = known(full)
        if text is None or not self.run.mount:
            return None
        if text == self.run.mount:
            return ""
        return text[len(self.run.mount) + 1 :] if text.startswith(self.run.mount + "/") else None

    def is_folder(self, located: str) -> bool:
        """Whether a path below the root is a folder, on disk or made on this path."""
        return located in self.run.made or self.run.files.is_dir(located)

    def lacks_folder(self, path: Parts) -> bool:
        """Whether a folder is surely missing; in an open world anybody may have made it."""
        if not self.run.closed:
            return False
        located = self.locate(path)
        return located is not None and not self.is_folder(located)

    # ---- implemented further up

    def arithmetic(self, text: Parts, node: Node) -> int | Hole:
        """The value of an arithmetic expression; raises DiscardLine when bash rejects it."""
        raise NotImplementedError

    def subshell(self, body: Sequence, *, capture: bool, stdin: Stream | None = None) -> Parts:
        """Run commands in a copy of the shell; gives what they print when captured."""
        raise NotImplementedError

    def read_file(self, path: Parts) -> Parts | None:
        """The text of a file, if it is known."""
        raise NotImplementedError


def _climbs_out(base: str, rest: str) -> bool:
    """Whether `..` leads above the root of the checkout."""
    depth = len([each for each in base.split("/") if each])
    for each in rest.split("/"):
        depth += {"..": -1, "": 0, ".": 0}.get(each, 1)
        if depth < 0:
            return True
    return False


def inside(path: str | None) -> str | None:
    """A root-relative path without its leading slash."""
    return None if path is None else path.strip("/")


def normalise(path: Parts) -> Parts:
    """A path without `//`, `.` and, where what they climb over is known, `..`."""
    text = flat(path)
    if "//" not in text and "/." not in text and not text.endswith("/"):
        return path
    spans: list[tuple[int, int]] = []
    at = 0
    for piece in text.split("/"):
        end = at + len(piece)
        if piece in ("", "."):
            pass
        elif piece == ".." and spans and text[spans[-1][0] : spans[-1][1]] != ".." and _plain_piece(text, spans[-1]):
            spans.pop()
        elif piece == ".." and not spans and text.startswith("/"):
            pass
        else:
            spans.append((at, end))
        at = end + 1
    whole = Text(path)
    out: list[Literal | Hole] = []
    for number, (start, end) in enumerate(spans):
        if number or text.startswith("/"):
            out.append(Literal("/"))
        out.extend(whole.slice(start, end).parts)
    return merge(tuple(out)) or plain("/" if text.startswith("/") else ".")


def _plain_piece(text: str, span: tuple[int, int]) -> bool:
    return "\U0010ffff" not in text[span[0] : span[1]]


def merge(parts: Parts) -> Parts:
    """Adjoining literals without provenance joined."""
    out: list[Literal | Hole] = []
    for part in parts:
        last = out[-1] if out else None
        if (
            isinstance(part, Literal)
            and isinstance(last, Literal)
            and part.span is None
            and last.span is None
            and part.hops == last.hops
            and part.overridable == last.overridable
        ):
            out[-1] = Literal(last.text + part.text, None, last.hops, last.overridable)
            continue
        out.append(part)
    return tuple(out)
