"""`[` and `test` as bash judges them when a variable in them is empty, and what hangs on the answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum

from verlint.languages.bash import syntax
from verlint.languages.bash.syntax import Program, Simple
from verlint.record import dataclass
from verlint.source import Source
from verlint.value import whole

NUMERIC = frozenset(["-eq", "-ne", "-lt", "-le", "-gt", "-ge"])
_BINARY = NUMERIC | frozenset(["=", "==", "!=", "<", ">", "-nt", "-ot", "-ef"])
_UNARY = frozenset(
    ["-n", "-z", "-v", "-t", "-o", "-f", "-d", "-e", "-x", "-r", "-w", "-s", "-L", "-h", "-p", "-S", "-b", "-c", "-g",
     "-u", "-k", "-N", "-O", "-G", "-a", "-R"]
)  # fmt: skip


class Outcome(Enum):
    """What `[` says when the variables are empty."""

    RIGHT = "a test like any other"
    UNARY = "unary operator expected"
    BINARY = "binary operator expected"
    NUMBER = "integer expression expected"
    ARGUMENTS = "too many arguments"
    ALWAYS_TRUE = "true"


@dataclass(frozen=True)
class Word:
    """One argument of a test with the variables empty: its characters, None when not known."""

    text: str | None


def judge(words: Sequence[Word]) -> Outcome:
    """What bash makes of the arguments (without the brackets)."""
    texts = [word.text for word in words]
    if len(texts) > 4:
        return _joined(texts)
    if len(texts) == 3 and texts[1] in _BINARY:  # also `! = yes`, which compares the mark
        return _three(texts)
    if texts[:1] == ["!"] and len(texts) > 1:
        inner = judge(words[1:])
        return Outcome.RIGHT if inner is Outcome.ALWAYS_TRUE else inner
    if len(texts) <= 1:
        return Outcome.ALWAYS_TRUE if texts and texts[0] in _UNARY - {"-z"} else Outcome.RIGHT
    if len(texts) == 2:
        return Outcome.RIGHT if texts[0] is None or texts[0] in _UNARY else Outcome.UNARY
    if len(texts) == 3:
        return _three(texts)
    return Outcome.ARGUMENTS if texts[0] != "(" else judge(words[1:-1])


def is_false_anyway(words: Sequence[str | None], empty: Sequence[bool]) -> bool:
    """Whether the test would be false with the variables read as 0 or as no text: then only the message is wrong.

    `words` are the arguments, `empty` says which of them are the variables.
    """
    if len(words) != 3:
        return len(words) > 4
    other = words[2] if empty[0] else words[0]
    if all((empty[0], empty[2])) or other is None:
        return False
    op = words[1]
    if op in ("=", "=="):
        return other != ""
    size = whole(other.removeprefix("-"))
    if op not in NUMERIC or size is None:
        return False
    number = -size if other.startswith("-") else size
    left, right = (0, number) if empty[0] else (number, 0)
    return not {
        "-eq": left == right,
        "-ne": left != right,
        "-lt": left < right,
        "-le": left <= right,
        "-gt": left > right,
        "-ge": left >= right,
    }[op]


def _three(texts: Sequence[str | None]) -> Outcome:
    middle = texts[1]
    if middle in NUMERIC:
        return Outcome.NUMBER if {"", "!"} & {texts[0], texts[2]} else Outcome.RIGHT
    if middle is None or middle in _BINARY or middle in ("-a", "-o") or texts[0] == "(":
        return Outcome.RIGHT
    return Outcome.BINARY


def _joined(texts: Sequence[str | None]) -> Outcome:
    """Tests joined by `-a` and `-o`: each part is judged alone."""
    part: list[Word] = []
    for text in [*texts, "-o"]:
        if text in ("-a", "-o") and len(part) != 1:
            if len(part) == len(texts):  # nothing joins them
                return Outcome.ARGUMENTS
            found = judge(part)
            if found is not Outcome.RIGHT:
                return found
            part = []
        else:
            part.append(Word(text))
    return Outcome.RIGHT


# ---- what hangs on it


@dataclass(frozen=True)
class Consequence:
    """What happens when the test counts as false: the first command that is then left out, and the first that runs
    instead (None for none); `loop` says that it is the condition of a loop."""

    skipped: Simple | None = None
    instead: Simple | None = None
    loop: bool = False


def consequence(text: Source, program: Program, start: int, end: int) -> Consequence:
    """What hangs on the test at these offsets."""
    for node in _nodes(program):
        if isinstance(node, syntax.If):
            for number, (test, body) in enumerate(node.arms):
                if test.start <= start and end <= test.end and not _nested(test, start, end):
                    rest = node.arms[number + 1][1] if number + 1 < len(node.arms) else node.otherwise
                    return _turned(test, Consequence(_main(text, body), _main(text, rest)))
        elif isinstance(node, syntax.While) and node.test.start <= start and end <= node.test.end:
            return Consequence(_main(text, node.body), loop=True)
        elif isinstance(node, syntax.AndOr) and len(node.items) > 1 and node.start <= start and end <= node.end:
            found = _in_list(text, node, start, end)
            if found is not None:
                return found
    return Consequence()


def _turned(test: syntax.Sequence, found: Consequence) -> Consequence:
    negated = bool(test.items) and test.items[-1][0].items[-1][1].negated
    return Consequence(found.instead, found.skipped) if negated else found


def _in_list(text: Source, node: syntax.AndOr, start: int, end: int) -> Consequence | None:
    for number, (_, pipeline) in enumerate(node.items[:-1]):
        if pipeline.start <= start and end <= pipeline.end:
            op, following = node.items[number + 1]
            first = _main(text, following.commands)
            skip = (op == "&&") != pipeline.negated
            return Consequence(first if skip else None, None if skip else first)
    return None


def _nested(test: syntax.Sequence, start: int, end: int) -> bool:
    """Whether the test stands in a body of its own within a condition."""
    return any(
        isinstance(node, (syntax.If, syntax.While)) and node.start <= start and end <= node.end
        for item, _ in test.items
        for node in _below(item)
    )


def _nodes(program: Program) -> Iterator[syntax.Node]:
    """All nodes, inner ones first."""
    found = [node for group in program.groups for item, _ in group.items for node in _below(item)]
    return reversed(found)


def _below(node: syntax.Node) -> Iterator[syntax.Node]:
    yield node
    if isinstance(node, syntax.AndOr):
        for _, pipeline in node.items:
            for command in pipeline.commands:
                yield from _below(command)
        return
    bodies: list[syntax.Sequence] = []
    if isinstance(node, syntax.FunctionDef):
        yield from _below(node.body)
    elif isinstance(node, syntax.If):
        bodies = [body for arm in node.arms for body in arm] + ([node.otherwise] if node.otherwise else [])
    elif isinstance(node, (syntax.For, syntax.ForArith, syntax.Subshell, syntax.Group)):
        bodies = [node.body]
    elif isinstance(node, syntax.While):
        bodies = [node.test, node.body]
    elif isinstance(node, syntax.Case):
        bodies = [arm.body for arm in node.arms]
    for body in bodies:
        for item, _ in body.items:
            yield from _below(item)


_QUIET = ("echo", "printf", "export", "set", "cd", "mkdir", "sleep", "local", ":", "[", "[[")


def _main(text: Source, body: syntax.Sequence | Sequence[syntax.Command] | None) -> Simple | None:
    """The command that a body is there for: the first launch, else the first Python program or script, else the first
    that does more than print or set."""
    if body is None:
        return None
    nodes: Sequence[syntax.Node] = [item for item, _ in body.items] if isinstance(body, syntax.Sequence) else body
    simple = [each for node in nodes for each in _below(node) if isinstance(each, Simple) and each.words]
    raws = [text.text[each.start : each.end] for each in simple]
    for wanted in (_is_launch, _is_program, _does_something, bool):
        found = next((each for each, raw in zip(simple, raws, strict=True) if wanted(raw)), None)
        if found is not None:
            return found
    return None


def _is_launch(raw: str) -> bool:
    return "verl.trainer" in raw or "main_ppo" in raw or " -m verl." in raw


def _is_program(raw: str) -> bool:
    return raw.startswith(("python", "bash ", "torchrun", "srun", "ray ", "accelerate", "exec "))


def _does_something(raw: str) -> bool:
    return raw.split(None, 1)[0] not in _QUIET


def short(text: Source, command: Simple) -> str:
    """The beginning of a command, up to its first option or override: `python3 -m verl.trainer.main_ppo`."""
    words = [text.text[word.start : word.end] for word in command.words]
    shown: list[str] = []
    for number, word in enumerate(words[:4]):
        behind_module = number and words[number - 1] == "-m"
        if number and not behind_module and word != "-m" and (word.startswith("-") or "=" in word):
            break
        if "\n" in word:
            break
        shown.append(word)
    if len(shown) == 1:
        return " ".join(text.text[command.start : command.end].split())[:40]
    return " ".join(shown)[:60]
