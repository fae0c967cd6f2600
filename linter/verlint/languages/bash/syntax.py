"""The syntax tree of a bash text. Every node has its half-open range of code-point offsets in the text that was
parsed."""

from __future__ import annotations

from functools import cached_property

from verlint.record import dataclass, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias


@dataclass(slots=True)
class Node:
    """Anything with a place."""

    start: int
    end: int


# ---- words


@dataclass(slots=True)
class Lit(Node):
    """Characters. `quote` is "" (bare), "\\" (escaped), "'" or '"': how they are written."""

    text: str
    quote: str


@dataclass(slots=True)
class DoubleQuoted(Node):
    """`"…"`, quotes included in the range."""

    parts: list[Part]


@dataclass(slots=True)
class Param(Node):
    """`$name` and `${…}`.

    `op` is "" for the plain value, "len" for `${#x}`, "names*" for `${!x*}`, else the operator as written; `index` is
    what stands in brackets; `arg` and `arg2` are the operator's words; `bare` says that no braces are written."""

    name: str
    index: Word | None = None
    op: str = ""
    arg: Word | None = None
    arg2: Word | None = None
    indirect: bool = False
    bare: bool = False


@dataclass(slots=True)
class BadParam(Node):
    """A `${…}` that bash reports as a bad substitution when it gets there."""

    text: str


@dataclass(slots=True)
class CommandSub(Node):
    """`$(…)` or a back-quoted command. `broken`: bash finds out when it runs it that what follows `body` is no
    command."""

    body: Sequence
    broken: bool = False


@dataclass(slots=True)
class ProcessSub(Node):
    """`<(…)` or `>(…)`; `direction` is "<" or ">"."""

    body: Sequence
    direction: str


@dataclass(slots=True)
class Arith(Node):
    """`$((…))`; `expr` is the text between, with its expansions."""

    expr: Word


@dataclass(slots=True)
class ExtGlob(Node):
    """`@(a|b)` and kin; `text` is what stands in the parentheses."""

    op: str
    text: str


@dataclass(slots=True)
class StandIn(Node):
    """`<your model>` or `{YOUR_MODEL}` in a document: the reader is to put something in its place."""

    text: str


Part: TypeAlias = "Lit | DoubleQuoted | Param | BadParam | CommandSub | ProcessSub | Arith | ExtGlob | StandIn"


@dataclass(slots=True)
class Word(Node):
    """One word as written."""

    parts: list[Part]


@dataclass(slots=True)
class ArrayItem:
    """One element of an array literal: `[index]=word` or only a word."""

    index: Word | None
    word: Word


@dataclass(slots=True)
class ArrayLit(Node):
    """`( … )` after an assignment."""

    items: list[ArrayItem]


@dataclass(slots=True)
class Assign(Node):
    """`name=value`, `name[index]+=value`, `name=( … )`."""

    name: str
    index: Word | None
    append: bool
    value: Word | ArrayLit


@dataclass(slots=True)
class Redirect(Node):
    """A redirection; `body` is the text of a here-document, `quoted_body` says that it is not expanded."""

    fd: str
    op: str
    target: Word
    body: Word | None = None


# ---- commands


@dataclass(slots=True)
class Simple(Node):
    """A simple command. In `words`, `Assign` stands for an argument of `export`, `declare` and kin."""

    assigns: list[Assign]
    words: list[Word | Assign]
    redirects: list[Redirect]


@dataclass(slots=True)
class Pipeline(Node):
    """Commands joined by `|`."""

    commands: list[Command]
    negated: bool


@dataclass(slots=True)
class AndOr(Node):
    """Pipelines joined by `&&` and `||`; the operator of the first is ""."""

    items: list[tuple[str, Pipeline]]


@dataclass(slots=True)
class Sequence(Node):
    """Lists one after the other; the flag says that it runs in the background."""

    items: list[tuple[AndOr, bool]]


@dataclass(slots=True)
class If(Node):
    """`if`; each arm is condition and body."""

    arms: list[tuple[Sequence, Sequence]]
    otherwise: Sequence | None
    redirects: list[Redirect] = field(default_factory=list)


@dataclass(slots=True)
class For(Node):
    """`for name in words`; `words` is None for the arguments. Also `select`."""

    name: str
    words: list[Word] | None
    body: Sequence
    select: bool = False
    redirects: list[Redirect] = field(default_factory=list)


@dataclass(slots=True)
class ForArith(Node):
    """`for ((first; test; step))`."""

    first: Word
    test: Word
    step: Word
    body: Sequence
    redirects: list[Redirect] = field(default_factory=list)


@dataclass(slots=True)
class While(Node):
    """`while` and `until`."""

    test: Sequence
    body: Sequence
    until: bool
    redirects: list[Redirect] = field(default_factory=list)


@dataclass(slots=True)
class CaseArm:
    """Patterns, body, and `;;`, `;&` or `;;&`."""

    patterns: list[Word]
    body: Sequence
    end: str


@dataclass(slots=True)
class Case(Node):
    """`case word in …`."""

    word: Word
    arms: list[CaseArm]
    redirects: list[Redirect] = field(default_factory=list)


@dataclass(slots=True)
class Subshell(Node):
    """`( … )`."""

    body: Sequence
    redirects: list[Redirect] = field(default_factory=list)


@dataclass(slots=True)
class Group(Node):
    """`{ …; }`."""

    body: Sequence
    redirects: list[Redirect] = field(default_factory=list)


@dataclass(slots=True)
class Coprocess(Node):
    """`coproc NAME command`; the name is `COPROC` where none is written."""

    name: str
    body: Command
    redirects: list[Redirect] = field(default_factory=list)


@dataclass(slots=True)
class FunctionDef(Node):
    """`name() …`."""

    name: str
    body: Command


@dataclass(slots=True)
class Condition(Node):
    """`[[ … ]]`."""

    test: Test
    redirects: list[Redirect] = field(default_factory=list)


@dataclass(slots=True)
class ArithCommand(Node):
    """`(( … ))`."""

    expr: Word
    redirects: list[Redirect] = field(default_factory=list)


@dataclass(slots=True)
class UnaryTest(Node):
    """`-f word`; a lone word is `-n word`."""

    op: str
    word: Word


@dataclass(slots=True)
class BinaryTest(Node):
    """`left op right` inside `[[ ]]`."""

    op: str
    left: Word
    right: Word


@dataclass(slots=True)
class NotTest(Node):
    """`! test`."""

    test: Test


@dataclass(slots=True)
class LogicTest(Node):
    """`left && right` or `left || right`."""

    op: str
    left: Test
    right: Test


Test: TypeAlias = "UnaryTest | BinaryTest | NotTest | LogicTest"
Compound: TypeAlias = "If | For | ForArith | While | Case | Subshell | Group | Condition | ArithCommand | Coprocess"
Command: TypeAlias = (
    "Simple | FunctionDef | If | For | ForArith | While | Case | Subshell | Group | Condition | ArithCommand"
    " | Coprocess"
)


@dataclass(frozen=True, slots=True)
class SyntaxProblem:
    """Why bash rejects the text: `message` in plain words, the offset it was noticed at, and where the open construct
    began. Where `ends` is not set, bash only stops reading there and keeps the status of the last command; `silent`:
    without a word about it."""

    message: str
    offset: int
    opened: int | None = None
    ends: bool = True
    silent: bool = False


@dataclass
class Program:
    """A whole text: the complete commands as bash reads them (one per line or group of lines), and what it rejects
    after them."""

    groups: list[Sequence]
    problem: SyntaxProblem | None = None

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """All nodes, outer ones first, in the order of the text."""
        from verlint.languages.bash.walk import walk

        return tuple(node for group in self.groups for node in walk(group))

    @cached_property
    def simple(self) -> tuple[Simple, ...]:
        """All simple commands, in the order of the text."""
        return tuple(node for node in self.nodes if isinstance(node, Simple))
