"""What a shell text prints of credentials while `set -x` is on, as far as the text alone tells."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

from verlint.languages.bash.syntax import (
    AndOr,
    Arith,
    Assign,
    Case,
    CommandSub,
    Condition,
    For,
    FunctionDef,
    Group,
    If,
    Node,
    Param,
    Pipeline,
    ProcessSub,
    Program,
    Redirect,
    Sequence,
    Simple,
    Subshell,
)
from verlint.languages.bash.walk import children, literal_word, walk
from verlint.record import dataclass
from verlint.secret import is_secret_name, names_secret
from verlint_rules.credentials.exposure import written_secret

_SILENT = frozenset(["len", "names", "+", ":+", ":"])
"""Expansions that do not give the value: length, names, "is it set", a few characters of it."""


@dataclass(frozen=True)
class Printed:
    """A credential that a statement prints: the node that expands it, and the `set -x` that holds."""

    name: str
    node: Node
    statement: Node
    switch: Node


@dataclass
class _Tracing:
    """Tracing while the text is read from top to bottom: the `set -x` that surely holds, None otherwise."""

    text: str
    switch: Node | None = None


def printed(text: str, program: Program, switch: Node | None = None) -> Iterator[Printed]:
    """All places, in the order of the text. `switch` is what has switched tracing on before the first line."""
    if (switch is None and not _may_switch_on(text)) or not names_secret(text):
        return
    state = _Tracing(text, switch)
    for group in program.groups:
        yield from _visit(group, state)


def _may_switch_on(text: str) -> bool:
    """Whether a text may hold `set -x` or `bash -x`: an x behind the one word or the other, on one line."""
    for line in text.replace("\\\r\n", " ").replace("\\\n", " ").split("\n"):
        last = line.rfind("x")
        if last > 0 and (line.find("set", 0, last) >= 0 or line.find("sh", 0, last) >= 0):
            return True
    return False


def _visit(node: Node, state: _Tracing) -> Iterator[Printed]:
    match node:
        case Simple():
            yield from _simple(node, state)
        case Sequence():
            for item, _ in node.items:
                yield from _visit(item, state)
        case AndOr():
            (_, first), *others = node.items
            yield from _visit(first, state)
            yield from _maybe([pipeline for _, pipeline in others], state)
        case Pipeline(commands=[only]):
            yield from _visit(only, state)
        case Pipeline():
            for command in node.commands:
                yield from _apart(command, state)
        case Group():
            yield from _visit(node.body, state)
        case Subshell() | FunctionDef():
            yield from _apart(node.body, state)
        case _:
            yield from _choices(node, state)


def _choices(node: Node, state: _Tracing) -> Iterator[Printed]:
    """Statements that run a part of what they hold, or nothing of it."""
    match node:
        case If():
            (test, body), *others = node.arms
            yield from _visit(test, state)
            rest = [each for arm in others for each in arm]
            yield from _maybe([body, *rest, *([node.otherwise] if node.otherwise is not None else [])], state)
        case Condition():
            yield from _shown(node, [node.test], state)
        case Case():
            yield from _shown(node, [node.word], state)
            yield from _maybe([arm.body for arm in node.arms], state)
        case For():
            yield from _shown(node, node.words or [], state)
            yield from _maybe([node.body], state)
        case _:
            yield from _maybe(list(children(node)), state)


def _apart(node: Node, state: _Tracing) -> Iterator[Printed]:
    """In a subshell or function: what it switches ends with it."""
    yield from _visit(node, _Tracing(state.text, state.switch))


def _maybe(nodes: Iterable[Node], state: _Tracing) -> Iterator[Printed]:
    """Under a condition, each node for itself: after them tracing is sure only when none switched it."""
    before = state.switch
    changed = False
    for node in nodes:
        state.switch = before
        yield from _visit(node, state)
        changed = changed or state.switch is not before
    state.switch = None if changed else before


def _simple(node: Simple, state: _Tracing) -> Iterator[Printed]:
    yield from _shown(node, [*node.assigns, *node.words], state)
    switched = _switches(node)
    if switched is not None:
        state.switch = node if switched else None


def _switches(node: Simple) -> bool | None:
    """Whether a command is `set -x` (True), `set +x` (False) or neither."""
    words = [literal_word(word) for word in node.words]
    if not words or words[0] != "set":
        return None
    found: bool | None = None
    for before, word in pairwise(words):
        if word[:1] in ("-", "+") and "x" in word[1:] and word[1:].isalpha():
            found = word[0] == "-"
        elif word == "xtrace" and before[:1] in ("-", "+") and before.endswith("o"):
            found = before[0] == "-"
        elif word in ("--", "-"):
            break
    return found


def _shown(statement: Node, nodes: Iterable[Node], state: _Tracing) -> Iterator[Printed]:
    """Credentials among the words of a statement, and what command substitutions in them print by themselves."""
    for node in nodes:
        for inner in _substitutions(node):
            yield from _apart(inner, state)
        if state.switch is None:
            continue
        for name, place in _credentials(node, state.text):
            yield Printed(name, place, statement, state.switch)


def _substitutions(node: Node) -> Iterator[Node]:
    if isinstance(node, (CommandSub, ProcessSub)):
        yield node.body
        return
    for child in children(node):
        yield from _substitutions(child)


def _credentials(node: Node, text: str) -> Iterator[tuple[str, Node]]:
    if isinstance(node, Assign) and is_secret_name(node.name):
        if _computed(node) or written_secret(text[node.start : node.end]):
            yield node.name, node
        return
    if isinstance(node, (CommandSub, ProcessSub, Redirect)):
        return
    if isinstance(node, Param):
        if node.op not in _SILENT and is_secret_name(node.name):
            yield node.name, node
        if node.op == "len":
            return
    for child in children(node):
        yield from _credentials(child, text)


def _computed(assign: Assign) -> bool:
    """Whether the value comes from somewhere else than the text."""
    silent = {id(each) for node in walk(assign) if isinstance(node, Param) and node.op in _SILENT for each in [node]}
    return any(isinstance(node, (Param, CommandSub, Arith)) and id(node) not in silent for node in walk(assign.value))
