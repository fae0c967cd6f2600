"""Options that a tool declares with `argparse`, or as a data class for the parser of Hugging Face."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from verlint.languages.python.names import Called, Scope, lookup
from verlint.languages.python.options import MANY, Interface, Option
from verlint.languages.python.syntax import (
    Arguments,
    arguments,
    constant,
    dotted,
    elements,
    last_name,
    string,
    walk,
)
from verlint.languages.python.values import Values
from verlint.value import Text, literal

_PARSERS = frozenset(["argparse.ArgumentParser", "ArgumentParser"])
_HF_PARSERS = frozenset(["transformers.HfArgumentParser", "HfArgumentParser", "trl.TrlParser"])
_FLAGS = frozenset(["store_true", "store_false", "store_const", "append_const", "count", "help", "version"])
_KINDS = frozenset(["int", "float", "str", "bool"])
_OPENS = frozenset(
    ["parse_known_args", "parse_known_intermixed_args", "add_subparsers", "register", "add_argument_group_from"]
)


def argparse_interface(values: Values) -> Interface | None:
    """What a tool takes that makes one parser and asks it for the options; None when it does not."""
    names = values.names
    made = [each for each in names.calls if names.full_name(each.node.func) in _PARSERS]
    parses = [each for each in names.calls if last_name(each.node.func) in ("parse_args", "parse_intermixed_args")]
    opened = any(last_name(each.node.func) in _OPENS for each in names.calls)
    if not made or not (parses or opened):
        return None
    given = arguments(made[0].node)
    closed = len(made) == 1 and not opened and all(_plain_parse(each, values) for each in parses)
    closed = closed and "parents" not in given.named and "fromfile_prefix_chars" not in given.named and not given.open
    closed = closed and "conflict_handler" not in given.named and not _leaves(made[0], values)
    conditional = list(_conditional(values))
    options: list[Option] = []
    for call in names.calls:
        if last_name(call.node.func) != "add_argument" or not isinstance(call.node.func, cst.Attribute):
            continue
        span = values.parsed.span(call.node)
        inside = any(start <= span.start and span.end <= end for start, end in conditional)
        found = _option(call, values, conditional=inside)
        if found is None:
            closed = False
            continue
        options.append(found)
    if constant(given.named.get("add_help")) is not False:
        options.append(Option(("--help", "-h"), "help", values.parsed.span(made[0].node), least=0, most=0))
    return Interface("argparse", tuple(options), closed, constant(given.named.get("allow_abbrev")) is not False)


def _plain_parse(call: Called, values: Values) -> bool:
    """Whether a parser reads the words of the call, not some of its own."""
    given = arguments(call.node)
    words = [*given.positional, *given.named.values()]
    return not given.open and all(
        constant(each) is None or values.parsed.written(each).replace(" ", "") == "sys.argv[1:]" for each in words
    )


def _leaves(made: Called, values: Values) -> bool:
    """Whether the parser is handed to something that may add options and is not of this text."""
    names = values.names
    holders = {
        name
        for scope in (names.module, *names.scopes.values())
        for name, bindings in scope.bindings.items()
        if any(each.node is made.node for each in bindings)
    }
    if not holders:
        return True
    for call in names.calls:
        given = arguments(call.node)
        passes = any(dotted(each) in holders for each in (*given.positional, *given.named.values()))
        if passes and last_name(call.node.func) not in names.functions and last_name(call.node.func) != "print":
            return True
    return _is_overridden(holders, values)


def _is_overridden(holders: set[str], values: Values) -> bool:
    """Whether a name of the parser is also given something else: `parser = add_eval_args(parser)`."""
    names = values.names
    for scope in (names.module, *names.scopes.values()):
        for name in holders & scope.bindings.keys():
            for each in scope.bindings[name]:
                if isinstance(each.node, cst.Call) and last_name(each.node.func) not in (
                    *names.functions,
                    "ArgumentParser",
                    "add_argument_group",
                    "add_mutually_exclusive_group",
                ):
                    return True
    return False


def _conditional(values: Values) -> Iterator[tuple[int, int]]:
    """The ranges of what is not done on every run: branches apart from `if __name__ == …`, and loops."""
    for node in walk(values.parsed.module):
        branch = isinstance(node, cst.If) and "__name__" not in values.parsed.written(node.test)
        if branch or isinstance(node, (cst.For, cst.While, cst.ExceptHandler)):
            span = values.parsed.span(node)
            yield span.start, span.end


def _option(call: Called, values: Values, *, conditional: bool) -> Option | None:
    given = arguments(call.node)
    written = [string(each) for each in given.positional]
    names = tuple(each for each in written if each is not None)
    if not names or len(names) != len(written) or given.open:
        return None
    by_place = not names[0].startswith("-")
    long = max(names, key=lambda each: (each.startswith("--"), len(each)))
    dest = string(given.named.get("dest")) or long.lstrip("-").replace("-", "_")
    first_long = next((each for each in names if each.startswith("--")), names[0])
    if given.named.get("dest") is None:
        dest = first_long.lstrip("-").replace("-", "_") if not by_place else names[0]
    least, most = _counts(given, values)
    action = _action(given, values)
    if action == "BooleanOptionalAction":
        names = (*names, *("--no-" + each[2:] for each in names if each.startswith("--")))
    in_group = _is_exclusive(call, values)
    required: bool | None = by_place and least > 0
    if not by_place and "required" in given.named:
        flag = constant(given.named["required"])
        required = flag if isinstance(flag, bool) else None
    if (conditional or in_group) and required:
        required = None
    return Option(
        names=names,
        dest=dest,
        span=values.parsed.span(given.positional[0]),
        required=required,
        default=_default(given, call.scope, values, action),
        choices=_choices(given, call.scope, values),
        kind="bool" if most == 0 else _kind(given),
        least=least,
        most=most,
        by_place=by_place,
    )


def _action(given: Arguments, values: Values) -> str:
    node = given.named.get("action")
    return string(node) or last_name(node)


def _counts(given: Arguments, values: Values) -> tuple[int, int]:
    """The least and the largest number of words an option takes."""
    action = _action(given, values)
    if action in _FLAGS or action == "BooleanOptionalAction":
        return 0, 0
    number = constant(given.named.get("nargs"))
    if isinstance(number, int) and not isinstance(number, bool):
        return number, number
    if isinstance(number, str):
        return {"?": (0, 1), "*": (0, MANY), "+": (1, MANY)}.get(number, (0, MANY))
    return (0, MANY) if "nargs" in given.named else (1, 1)


def _is_exclusive(call: Called, values: Values) -> bool:
    """Whether an option is one of a group of which only one may be given."""
    func = call.node.func
    name = dotted(func.value) if isinstance(func, cst.Attribute) else ""
    bindings, _ = lookup(name, call.scope) if name else ([], None)
    return any(
        isinstance(each.node, cst.Call) and last_name(each.node.func) == "add_mutually_exclusive_group"
        for each in bindings
    )


def _default(given: Arguments, scope: Scope, values: Values, action: str) -> Text | None:
    node = given.named.get("default")
    if node is None:
        if action in ("store_true", "store_false"):
            return literal("False" if action == "store_true" else "True")
        return None
    if constant(node) is None:
        return None
    found = values.texts(node, scope)
    return found[0] if len(found) == 1 else None


def _choices(given: Arguments, scope: Scope, values: Values) -> tuple[str, ...]:
    node = given.named.get("choices")
    found = [] if node is None else [each.known for each in values.items(node, scope)]
    return tuple(each for each in found if each is not None) if None not in found else ()


def _kind(given: Arguments) -> str:
    node = given.named.get("type")
    name = dotted(node)
    return ("str" if node is None else "") if name not in _KINDS else name


# ---- data classes


def dataclass_interface(values: Values) -> Interface | None:
    """What a tool takes that hands data classes of its own to the parser of Hugging Face."""
    names = values.names
    made = [each for each in names.calls if names.full_name(each.node.func) in _HF_PARSERS]
    if len(made) != 1:
        return None
    given = arguments(made[0].node).positional
    kinds = (elements(given[0]) or [given[0]]) if given else []
    closed = bool(kinds) and not any(
        last_name(each.node.func) == "add_argument"
        or (last_name(each.node.func) in ("parse_args_into_dataclasses", "parse_args_and_config") and each.node.args)
        for each in names.calls
    )
    options: list[Option] = []
    for kind in kinds:
        node = names.classes.get(dotted(kind))
        if node is None or node.bases:
            closed = False
            continue
        options.extend(_fields(node, values))
    options.append(Option(("--help", "-h"), "help", values.parsed.span(made[0].node), least=0, most=0))
    return Interface("dataclass", tuple(options), closed, abbreviates=True, loose=True)


def _fields(node: cst.ClassDef, values: Values) -> Iterator[Option]:
    scope = values.names.scopes[id(node)]
    for statement in node.body.body:
        for each in statement.body if isinstance(statement, cst.SimpleStatementLine) else ():
            if isinstance(each, cst.AnnAssign) and isinstance(each.target, cst.Name):
                yield _field(each.target.value, each, scope, values)


def _field(name: str, node: cst.AnnAssign, scope: Scope, values: Values) -> Option:
    kind = values.parsed.written(node.annotation.annotation)
    default = node.value
    required = default is None
    if isinstance(default, cst.Call) and last_name(default.func) == "field":
        named = arguments(default).named
        default = named.get("default")
        required = default is None and "default_factory" not in named
    many = "list" in kind.lower()
    flag = kind.replace("Optional[", "").startswith("bool")
    names = (f"--{name}", f"--no_{name}") if flag else (f"--{name}",)
    known = None if default is None or constant(default) is None else values.text(default, scope)
    return Option(
        names=names,
        dest=name,
        span=values.parsed.span(node.target),
        required=required,
        default=known,
        kind="bool" if flag else kind if kind in _KINDS else "",
        least=0 if flag else 1,
        most=MANY if many else 1,
    )
