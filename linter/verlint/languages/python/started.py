"""Programs that a Python tool starts."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from verlint.languages.python.facts import Started
from verlint.languages.python.names import Called, lookup
from verlint.languages.python.syntax import arguments, constant, dotted
from verlint.languages.python.values import Values
from verlint.value import Text

SUBPROCESS = frozenset(
    ["subprocess.run", "subprocess.call", "subprocess.check_call", "subprocess.check_output", "subprocess.Popen"]
)
SHELLS = frozenset(["os.system", "os.popen", "subprocess.getoutput", "subprocess.getstatusoutput"])


def started(values: Values) -> list[Started]:
    """The programs that a text starts, in its order; those whose words are not known at all are left out."""
    return [found for call in values.names.calls for found in _of_call(call, values)]


def _of_call(call: Called, values: Values) -> Iterator[Started]:
    name, given = values.names.full_name(call.node.func), arguments(call.node)
    if name not in SUBPROCESS and name not in SHELLS:
        return
    first = given.get(0, "args") or given.named.get("cmd")
    if first is None:
        return
    span = values.parsed.span(call.node)
    words = values.words(first, call.scope)
    if words is not None and name in SUBPROCESS:
        yield from _of_words(words, first, call, values)
        return
    shell = name in SHELLS or constant(given.named.get("shell")) is True
    for text in values.texts(first, call.scope):
        if text.known is not None or text.prefix:
            yield Started((text,), shell, span)


def _of_words(words: list[tuple[Text, ...]], node: cst.CSTNode, call: Called, values: Values) -> Iterator[Started]:
    chosen = tuple(each[0] if len(each) == 1 else values.hole(node) for each in words)
    if chosen and (chosen[0].known is not None or chosen[0].prefix):
        yield Started(chosen, False, values.parsed.span(call.node), _grows(node, call, values))


def _grows(node: cst.CSTNode, call: Called, values: Values) -> bool:
    """Whether words are added to a list under its name."""
    name = dotted(node)
    if not name:
        return isinstance(node, cst.BinaryOperation)
    bindings, _ = lookup(name, call.scope)
    added = any(each.how == "added" for each in bindings)
    methods = {f"{name}.append", f"{name}.extend", f"{name}.insert"}
    return added or any(dotted(each.node.func) in methods for each in values.names.calls)
