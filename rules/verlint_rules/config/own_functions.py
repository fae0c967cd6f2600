"""Functions at the top of a Python file, and what they return."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache

from verlint.languages.python.tree import tree
from verlint.record import dataclass
from verlint.source import Source

NUMBER = "a number"
_NUMBERS = frozenset(["float", "int", "bool", "round"])


@lru_cache(maxsize=32)
def module_of(source: Source) -> ast.Module | None:
    """The tree of a file, None for one that is no Python."""
    return tree(source.text)


def function_of(source: Source, name: str) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    """The function of a file, if a plain `def` at its top level is all that makes the name."""
    module = module_of(source)
    if module is None:
        return None
    made = [node for node in module.body if name in names_made(node)]
    if len(made) != 1 or not isinstance(made[0], (ast.FunctionDef, ast.AsyncFunctionDef)) or made[0].decorator_list:
        return None
    return None if f"global {name}" in source.text else made[0]


def names_made(node: ast.stmt) -> set[str]:
    """Names that a statement at the top of a file may make."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return {node.name}
    names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
    for each in ast.walk(node):
        if isinstance(each, (ast.Import, ast.ImportFrom)):
            names |= {alias.asname or alias.name for alias in each.names}
        elif isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(each.name)
    return names


def own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function, without those of functions and classes within it."""
    waiting = list(ast.iter_child_nodes(function))
    while waiting:
        node = waiting.pop(0)
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            waiting.extend(ast.iter_child_nodes(node))


@dataclass(frozen=True, slots=True)
class Returned:
    """What a `return` gives: a number, or a dictionary with these keys."""

    node: ast.Return
    keys: frozenset[str] | None


def returns_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[Returned]:
    """The returns of a function that are plainly a number or a dictionary, in the order of their lines."""
    if any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in own_nodes(function)):
        return []
    found = []
    for node in own_nodes(function):
        if not isinstance(node, ast.Return) or node.value is None:
            continue
        if _is_number(node.value):
            found.append(Returned(node, None))
        elif (keys := _keys(node.value)) is not None:
            found.append(Returned(node, keys))
    return sorted(found, key=lambda each: each.node.lineno)


def _is_number(node: ast.expr) -> bool:
    if isinstance(node, ast.Constant):
        return isinstance(node.value, (int, float)) and node.value is not None
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.Not) or _is_number(node.operand)
    if isinstance(node, ast.IfExp):
        return _is_number(node.body) and _is_number(node.orelse)
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id in _NUMBERS
    return False


def _keys(node: ast.expr) -> frozenset[str] | None:
    """The keys of a dictionary that is written out, None where some are not known."""
    if isinstance(node, ast.Dict):
        names = [each.value if isinstance(each, ast.Constant) else None for each in node.keys]
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "dict" and not node.args:
        names = [each.arg for each in node.keywords]
    else:
        return None
    return frozenset(names) if all(isinstance(each, str) for each in names) else None  # type: ignore[arg-type]
