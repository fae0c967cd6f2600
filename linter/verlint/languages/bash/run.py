"""One replayed path: the answers it was given, what it put on record, what it may cost, and how things end."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from verlint.languages.bash.command import Assignment, Call, Command, Guard
from verlint.languages.bash.pieces import Parts
from verlint.languages.bash.prepared import Prepared
from verlint.languages.bash.syntax import Program
from verlint.record import dataclass, field
from verlint.source import Source, Span
from verlint.value import Hole, Literal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol, TypeAlias

    from verlint.languages.bash.clones import Home
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


class Endless(Exit):
    """The shell never gets any further, and neither does what waits for it."""

    def __init__(self) -> None:
        super().__init__(None)


class DiscardLine(Exception):
    """An expansion error: bash drops the rest of the line and goes on."""


class ReadOnly(DiscardLine):
    """A variable that may not be changed was to be."""


class OverBudget(Exception):
    """The path took too many steps; what was recorded so far stands."""


@dataclass(frozen=True, slots=True)
class Note:
    """Something the interpreter met that rules may want to speak of: kind, words, place, the calls on the way there,
    outermost first, and the conditions that were taken to hold."""

    kind: str
    text: str
    span: Span
    stack: tuple[Call, ...] = ()
    guards: tuple[Guard, ...] = ()


FIRST_STAND_IN = 0x100000
"""Private characters from here on stand for holes in texts that are run as commands."""
MAX_STEPS = 30_000
MAX_LOOP = 2_000
MAX_LOOP_STEPS = 16_000
MAX_SCRIPTS = 12
MAX_FUNCTIONS = 50
MAX_BUILT = 100_000
MAX_HANDED_ON = 200_000
"""So many words may programs hand on to those that they start (`srun`, `env`, `ssh`), all commands together."""
MAX_LAUNCHED = 80_000
"""So much may the programs of VeRL weigh that are started: each is looked at by all rules, on all versions of VeRL. One
weighs as many as its words and ten more, so there is room for 800 runs of 90 words; a loop is left after 600. Launchers
that evaluate each saved step of each run of a paper have 100 to 200."""
MAX_TEXTS = 600_000
MAX_DEEP_TEXTS = 64_000
"""So many characters may texts have that are made and run on the way: all together, and those inside two others."""
MAX_ASKED = 8
MAX_ALTERNATIVES = 64


@dataclass(slots=True)
class Run:
    """One replayed path: the answers given to undecidable conditions, and what was recorded.

    `choices` are the answers prescribed for this path; `alternatives` collects the answer lists of the paths not taken.
    `start` is the folder the text is started in, `home` where the document lies that it stands in.
    """

    files: Files
    choices: tuple[bool, ...] = ()
    closed: bool = False
    mount: str = ""
    home: Home | None = None
    start: Parts = ()
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
    made_sources: dict[tuple[str, int], tuple[Parts, Source | None]] = field(default_factory=dict)
    written: dict[str, Parts] = field(default_factory=dict)
    outside: dict[Hashable, Parts] = field(default_factory=dict)
    made: set[str] = field(default_factory=set)
    gone: set[str] = field(default_factory=set)
    makers: list[list[str]] = field(default_factory=list)
    streams: dict[Hashable, Parts] = field(default_factory=dict)
    embedded: dict[str, Hole] = field(default_factory=dict)
    environment: dict[str, Hole] = field(default_factory=dict)
    programs: dict[int, Program] = field(default_factory=dict)
    prepared: Prepared = field(default_factory=Prepared)
    steps: int = 0
    built: int = 0
    handed_on: int = 0
    launched: int = 0
    texts: int = 0
    deep_texts: int = 0
    active: list[Source] = field(default_factory=list)
    fresh: int = 0
    over_budget: bool = False

    def step(self) -> None:
        """Count one step; raises OverBudget past the limit."""
        self.steps += 1
        if self.steps > self.max_steps:
            self.over_budget = True
            raise OverBudget

    def spend(self, parts: Sequence[Literal | Hole]) -> None:
        """Count what was built: pieces, and their characters by the block; raises OverBudget past the limit."""
        built = self.built + len(parts)
        for part in parts:
            if part.__class__ is Literal:
                built += len(part.text) >> 6
        self.built = built
        if built > MAX_BUILT:
            self.over_budget = True
            raise OverBudget

    def hand_on(self, words: int) -> None:
        """Count the words of a command that another one starts; raises OverBudget past the limit."""
        self.handed_on += words
        if self.handed_on > MAX_HANDED_ON:
            self.over_budget = True
            raise OverBudget

    def copy(self, variables: int) -> None:
        """Count the variables that a command or a shell of its own gets: many hundreds cost as much as commands."""
        self.steps += variables >> 8

    def done(self) -> int:
        """What was done so far, for loops, which are left when it is too much."""
        return self.steps + (self.launched >> 2)

    def launch(self, words: int) -> None:
        """Count a program of VeRL that is started; raises OverBudget past the limit."""
        self.launched += words + 10
        if self.launched > MAX_LAUNCHED:
            self.over_budget = True
            raise OverBudget

    def make_text(self, size: int) -> None:
        """Count the characters of a text that was made to be run; raises OverBudget past the limit."""
        self.texts += size
        if len(self.active) > 2:
            self.deep_texts += size
        if self.texts > MAX_TEXTS or self.deep_texts > MAX_DEEP_TEXTS:
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

    def stand_in(self, hole: Hole) -> str:
        """The character that stands for a hole in a text that is run as commands."""
        char = chr(FIRST_STAND_IN + len(self.embedded) % 60_000)
        self.embedded[char] = hole
        return char

    def unique(self) -> int:
        """A number no other hole of the run has."""
        self.fresh += 1
        return self.fresh
