"""What Python programs print of the environment. `ast` is loaded only for texts that name both."""

from __future__ import annotations

from collections.abc import Iterator

from verlint.secret import is_secret_name
from verlint.source import Source, Span

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ast

_LOGGERS = frozenset(["debug", "info", "warning", "error", "critical", "log"])


def printed_credentials(source: Source) -> Iterator[tuple[str, str, Span]]:
    """The calls of `print` and of loggers that show a credential of the environment, or all of it: the name ("" for
    all), what prints it, and the place."""
    text = source.text
    if "environ" not in text and "getenv" not in text:
        return
    import ast

    from verlint.languages.python.tree import span_of, tree

    module = tree(text)
    if module is None:
        return
    calls = [node for node in ast.walk(module) if isinstance(node, ast.Call)]
    for call in sorted(calls, key=lambda node: (node.lineno, node.col_offset)):
        by = _printer(call)
        for argument in call.args if by else ():
            for value in _shown(argument):
                name = _variable(value)
                if name is not None and (not name or is_secret_name(name)):
                    yield name, by, span_of(source, value)


def _printer(call: ast.Call) -> str:
    import ast

    if isinstance(call.func, ast.Name) and call.func.id in ("print", "pprint"):
        return call.func.id
    if isinstance(call.func, ast.Attribute) and call.func.attr in _LOGGERS:
        owner = call.func.value
        if isinstance(owner, ast.Name) and owner.id.lower().removeprefix("_") in ("logger", "logging", "log"):
            return f"{owner.id}.{call.func.attr}"
    return ""


def _shown(node: ast.expr) -> Iterator[ast.expr]:
    """The values that an argument shows as they are: itself, those in an f-string, those added to a text."""
    import ast

    if isinstance(node, ast.JoinedStr):
        for each in node.values:
            if isinstance(each, ast.FormattedValue):
                yield from _shown(each.value)
    elif isinstance(node, ast.BinOp):
        yield from _shown(node.left)
        yield from _shown(node.right)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("dict", "str", "repr"):
        for argument in node.args:
            yield from _shown(argument)
    else:
        yield node


def _variable(node: ast.expr) -> str | None:
    """The variable of the environment that a value is, "" for all of them, None for another value."""
    import ast

    if _is_environ(node):
        return ""
    if isinstance(node, ast.Subscript) and _is_environ(node.value):
        return _text(node.slice)
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args):
        return None
    reads = node.func.attr == "getenv" or (node.func.attr == "get" and _is_environ(node.func.value))
    return _text(node.args[0]) if reads else None


def _is_environ(node: ast.expr) -> bool:
    import ast

    return (isinstance(node, ast.Attribute) and node.attr == "environ") or (
        isinstance(node, ast.Name) and node.id == "environ"
    )


def _text(node: ast.expr) -> str | None:
    import ast

    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value else None
