"""Loops that read `--option value` pairs: what each option takes, and what happens when its value is missing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

from verlint.languages.bash.options import option_case, option_names
from verlint.languages.bash.syntax import (
    AndOr,
    Case,
    CaseArm,
    Condition,
    Node,
    Param,
    Program,
    Simple,
    While,
    Word,
)
from verlint.languages.bash.walk import literal_word, walk
from verlint.lazy import pattern
from verlint.record import dataclass
from verlint.source import Source
from verlint.value import Text, whole

_WANTS_TWO = pattern(r"\$(?:#|\{#\})[\"']?\s*(?:-gt\s+[1-9]|-ge\s+[2-9]|>\s*[1-9]|>=\s*[2-9])|-n\s+[\"']?\$(?:2|\{2\})")
_JOINED = pattern(r"--?[\w-]+=\*")
_QUIET = frozenset(["echo", "printf", "export", "declare", "local", "typeset", "readonly", "shift"])
_ENDS = frozenset(["break", "exit", "return", "usage", "die", "help"])


@dataclass(frozen=True, slots=True)
class Option:
    """One arm of the loop.

    `takes` is the number of words it shifts away, the option itself included; 0 when that cannot be told. `shift` is
    its first shift of several words at once, None for none; `guarded` says that a missing value is met before it.
    """

    names: tuple[str, ...]
    takes: int
    shift: Simple | None
    guarded: bool
    arm: CaseArm


@dataclass(frozen=True, slots=True)
class ArgumentLoop:
    """A `while … case $1 in` loop. `errexit` and `nounset` are the shell options that the text sets before it; `rest`
    is how many words the `*)` arm goes on by, 0 when it ends the loop. `joined` are patterns of options with their
    value (`--name=*`), each with the number of words that its arm takes."""

    text: Source
    node: While
    options: tuple[Option, ...]
    rest: int
    errexit: bool
    nounset: bool
    joined: tuple[tuple[str, int], ...] = ()

    @property
    def endless(self) -> tuple[Option, ...]:
        """The options that never let go when they stand last without their value."""
        return tuple(each for each in self.options if each.shift is not None and not each.guarded)

    def option(self, name: str) -> Option | None:
        """The arm of an option."""
        return next((each for each in self.options if name in each.names), None)

    def joined_words(self, text: str) -> int:
        """How many words the arm of an option with its value takes; 0 for other words."""
        return next((takes for glob, takes in self.joined if fnmatchcase(text, glob)), 0)


@dataclass(frozen=True, slots=True)
class Taken:
    """An option as the loop reads it: its place among the arguments, and the place of its value (None: none is left).

    `arm` is what handles it."""

    at: int
    value: int | None
    arm: Option


_KNOWN: dict[Source, list[ArgumentLoop]] = {}
"""The loops of the texts that were asked for last: they hold parts of a syntax tree."""
_KEPT = 64


def argument_loops(text: Source, program: Program) -> list[ArgumentLoop]:
    """The loops of a text that read options with values, in order."""
    known = _KNOWN.get(text)
    if known is None:
        if len(_KNOWN) >= _KEPT:
            del _KNOWN[next(iter(_KNOWN))]
        known = _KNOWN[text] = _find_loops(text, program) if "shift" in text.text else []
    return known


def _find_loops(text: Source, program: Program) -> list[ArgumentLoop]:
    nodes = program.nodes
    found: list[ArgumentLoop] = []
    for node in nodes:
        looked_at = option_case(node) if isinstance(node, While) else None
        if looked_at is not None and looked_at[1] == "1" and isinstance(node, While):
            if is_fed_by_getopt(nodes, node.start):
                continue
            options = _shell_options(text, nodes, node.start)
            loop = _loop(text, node, looked_at[0], options)
            if loop.options:
                found.append(loop)
    return found


def is_fed_by_getopt(nodes: Sequence[Node], before: int) -> bool:
    """Whether the arguments of a loop are what getopt(1) has made of them: `eval set -- "$O"`, `set -- $(getopt …)`. It
    insists on the values itself, and sorts the words."""
    commands = [node for node in nodes if isinstance(node, Simple) and node.start < before]
    written = [[literal_word(word) for word in command.words] for command in commands]
    replaced = any("set" in words[:2] and "--" in words for words in written if words[:1] in (["set"], ["eval"]))
    return replaced and any(words[0].rsplit("/", 1)[-1] == "getopt" for words in written if words)


def read_as(loop: ArgumentLoop, words: Sequence[Text]) -> tuple[list[Taken], int]:
    """How the loop reads the words of a call, each taken for one argument; and where it stops."""
    found: list[Taken] = []
    at = 0
    while at < len(words):
        known = words[at].known
        arm = loop.option(known) if known is not None else None
        if arm is None:
            goes_on = loop.rest if known is None else loop.joined_words(known) or loop.rest
            if not goes_on:
                break
            at += goes_on
            continue
        if not arm.takes:
            break
        if at + arm.takes > len(words):
            found.append(Taken(at, None, arm))
            at = len(words)
            break
        found.append(Taken(at, at + 1 if arm.takes > 1 else at, arm))
        at += arm.takes
    return found, at


def _loop(text: Source, node: While, case: Case, options: frozenset[str]) -> ArgumentLoop:
    enough = _WANTS_TWO.search(text.text, node.test.start, node.test.end) is not None
    checked = enough or _counts_before(node, case)
    tail = _behind(node, case)
    arms = []
    joined: list[tuple[str, int]] = []
    rest = 0
    for arm in case.arms:
        globs = [text.text[each.start : each.end].replace('"', "") for each in arm.patterns]
        written = [each for each in globs if _JOINED.fullmatch(each)]
        takes = _option(arm, (), tail, checked=checked, nounset="u" in options).takes if written else 0
        joined += [(each, takes) for each in written]
        names = tuple(name for name, _ in option_names(arm) if not any(char in name for char in "=*?["))
        if names:
            arms.append(_option(arm, names, tail, checked=checked, nounset="u" in options))
        elif any(literal_word(pattern) == "*" or _is_star(text, pattern) for pattern in arm.patterns):
            rest = _rest(arm, tail)
    return ArgumentLoop(text, node, tuple(arms), rest, "e" in options, "u" in options, tuple(joined))


def _is_star(text: Source, pattern: Word) -> bool:
    return text.text[pattern.start : pattern.end] == "*"


def _behind(node: While, case: Case) -> int | None:
    """How many words each turn shifts away behind the `case`; None when that cannot be told."""
    total = 0
    for item, _ in node.body.items:
        for each in _simple(item):
            if _name(each) == "shift" and not case.start <= each.start < case.end:
                count = _count(each)
                if count is None or len(item.items) > 1 or each not in item.items[0][1].commands:
                    return None
                total += count
    return total


def _option(arm: CaseArm, names: tuple[str, ...], tail: int | None, *, checked: bool, nounset: bool) -> Option:
    commands = list(_simple(arm.body))
    shifts = [each for each in commands if _name(each) == "shift"]
    ends_early = any(_name(each) == "continue" for each in commands)
    counts = [*map(_count, shifts), 0 if ends_early else tail]
    takes = 0 if None in counts else sum(count or 0 for count in counts)
    several = shifts[0] if shifts and (counts[0] or 0) > 1 else None
    guarded = several is not None and (checked or _is_guarded(arm, several, nounset))
    return Option(names, takes, several, guarded, arm)


def _rest(arm: CaseArm, tail: int | None) -> int:
    commands = list(_simple(arm.body))
    if any(_name(each) in _ENDS for each in commands):
        return 0
    behind = 0 if any(_name(each) == "continue" for each in commands) else tail or 0
    return behind + sum(_count(each) or 0 for each in commands if _name(each) == "shift")


def _is_guarded(arm: CaseArm, shift: Simple, nounset: bool) -> bool:
    """Whether the arm looks at the number of arguments, or at the value, before it shifts."""
    for node in walk(arm.body):
        if node.start >= shift.start and not isinstance(node, AndOr):
            continue
        if isinstance(node, Param) and (node.name == "#" or (node.name == "2" and node.op in ("?", ":?"))):
            return True
        if isinstance(node, Param) and nounset and node.name == "2" and not node.op.endswith(("-", "+", "=")):
            return True
        if isinstance(node, Condition) and _mentions(node, "2"):
            return True
        if (
            isinstance(node, Simple)
            and _name(node) not in _QUIET
            and any(_mentions(w, "2", "@", "*") for w in node.words)
        ):
            return True
        if isinstance(node, AndOr) and _is_caught(node, shift):
            return True
    return False


def _is_caught(node: AndOr, shift: Simple) -> bool:
    """`shift 2 || …`."""
    for number, (_, pipeline) in enumerate(node.items[:-1]):
        if shift in pipeline.commands:
            return node.items[number + 1][0] == "||"
    return False


def _counts_before(node: While, case: Case) -> bool:
    """Whether the body looks at the number of arguments or at the second one before the `case`."""
    return any(
        isinstance(each, Param) and each.name in ("#", "2") and each.start < case.start for each in walk(node.body)
    )


def _mentions(node: Node, *names: str) -> bool:
    return any(isinstance(each, Param) and each.name in names for each in walk(node))


def _simple(node: Node) -> Iterator[Simple]:
    return (each for each in walk(node) if isinstance(each, Simple))


def _name(command: Simple) -> str:
    return literal_word(command.words[0]) if command.words else ""


def _count(shift: Simple) -> int | None:
    """How many words a `shift` shifts; None when that is not written as a number."""
    if len(shift.words) < 2:
        return 1
    written = literal_word(shift.words[1])
    return whole(written)


def _shell_options(text: Source, nodes: Sequence[Node], before: int) -> frozenset[str]:
    """The letters that `set` and the first line turn on before an offset."""
    first = text.text.split("\n", 1)[0]
    on = set("".join(re.findall(r"\s-([a-z]+)", first))) if first.startswith("#!") else set()
    for node in nodes:
        if not (isinstance(node, Simple) and node.start < before and _name(node) == "set"):
            continue
        words = [literal_word(word) for word in node.words[1:]]
        for number, word in enumerate(words):
            if not re.fullmatch(r"[-+][A-Za-z]+", word):
                continue
            letters = set(word[1:]) - {"o"}
            if word.endswith("o") and number + 1 < len(words):
                letters |= {"errexit": {"e"}, "nounset": {"u"}}.get(words[number + 1], set())
            on = on | letters if word[0] == "-" else on - letters
    return frozenset(on)
