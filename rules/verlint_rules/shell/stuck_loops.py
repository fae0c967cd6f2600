"""Argument loops that do not let go of an argument: branches without `shift`, and arguments that no branch knows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

from verlint.languages.bash.endless import Functions, functions_of
from verlint.languages.bash.options import option_case
from verlint.languages.bash.syntax import Case, CaseArm, Node, Param, Program, Simple, While, Word
from verlint.languages.bash.walk import children, literal_word, walk
from verlint.lazy import pattern
from verlint.record import dataclass
from verlint.source import Source, Span
from verlint_rules.shell.argument_loops import is_fed_by_getopt

_LETS_GO = frozenset(["shift", "set", "break", "exit", "return", "exec", "eval", "source", ".", "kill", "continue"])
"""What takes an argument away, ends the loop, or may do so. `continue` is here for what stands before it."""
_ENDS_ALL = frozenset(["exit", "exec", "kill", "eval"])
_SAYS_GOODBYE = pattern(r"(?i)usage|help|die|fail|error|abort|fatal|err|quit|exit")


@dataclass(frozen=True, slots=True)
class StuckLoop:
    """An argument loop that turns forever on some arguments.

    `stuck` are the branches of options that never let go, `unknown` says that arguments which no branch names never
    go, with the place of the `*)` branch that keeps them, or of the `case` without one."""

    text: Source
    node: While
    case: Case
    stuck: tuple[CaseArm, ...]
    unknown: Span | None
    has_rest: bool

    def knows(self, argument: str) -> bool:
        """Whether a branch other than `*)` is for an argument."""
        patterns = [_text_of(self.text, each) for arm in self.case.arms for each in arm.patterns]
        return any(fnmatchcase(argument, each) for each in patterns if each != "*")

    def name(self, arm: CaseArm) -> str:
        """The option of a branch, the longest where it has several."""
        return max((_text_of(self.text, each) for each in arm.patterns), key=len)


def stuck_loops(text: Source, program: Program) -> Iterator[StuckLoop]:
    """The loops of a text that turn forever on some arguments, in order."""
    if "case" not in text.text:
        return
    functions = functions_of(program, text)
    nodes = program.nodes
    for node in nodes:
        looked_at = option_case(node) if isinstance(node, While) else None
        if looked_at is None or looked_at[1] != "1" or is_fed_by_getopt(nodes, node.start):
            continue
        if isinstance(node, While) and (found := _stuck(text, node, looked_at[0], functions)) is not None:
            yield found


def _stuck(text: Source, node: While, case: Case, functions: Functions) -> StuckLoop | None:
    if not any(isinstance(each, Param) and each.name in ("#", "1", "@", "*") for each in walk(node.test)):
        return None
    if any(_lets_go(each, functions) for each in (node.test, *_beside(node, case))):
        return None
    arms = case.arms
    keeps = [not _lets_go(arm.body, functions) and arm.end == ";;" for arm in arms]
    rest = next((arm for arm in arms if any(_text_of(text, each) == "*" for each in arm.patterns)), None)
    stuck = [arm for arm, each in zip(arms, keeps, strict=True) if each and arm is not rest and _is_option(text, arm)]
    unknown: Span | None = None
    if rest is None:
        unknown = text.span(case.start, case.word.end) if len(stuck) < len(arms) else None  # else they are the cause
    elif keeps[arms.index(rest)]:
        unknown = text.span(rest.patterns[0].start, rest.patterns[-1].end)
    if not stuck and unknown is None:
        return None
    return StuckLoop(text, node, case, tuple(stuck), unknown, rest is not None)


def _beside(node: While, case: Case) -> Sequence[Node]:
    """What runs in each turn besides the `case`."""
    found: list[Node] = []
    waiting: list[Node] = [node.body]
    while waiting:
        each = waiting.pop()
        if each is case:
            continue
        if any(below is case for below in walk(each)):
            waiting += children(each)
        else:
            found.append(each)
    return found


def _lets_go(node: Node, functions: Functions) -> bool:
    """Whether a piece of code may take an argument away or end the loop."""
    for each in walk(node):
        if isinstance(each, Param) and each.op in ("?", ":?"):
            return True
        if not isinstance(each, Simple) or not each.words:
            continue
        name = literal_word(each.words[0])
        if not name or name in _LETS_GO or _SAYS_GOODBYE.search(name):
            return True
        body = functions[name][0] if name in functions else None
        inner = [one for one in walk(body) if isinstance(one, Simple) and one.words] if isinstance(body, Node) else []
        if any(literal_word(one.words[0]) in _ENDS_ALL for one in inner):
            return True
    return False


def _is_option(text: Source, arm: CaseArm) -> bool:
    return any(_text_of(text, each).startswith("-") for each in arm.patterns)


def _text_of(text: Source, word: Word) -> str:
    return text.text[word.start : word.end].replace('"', "").replace("'", "")
