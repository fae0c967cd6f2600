"""Options that a tool declares as the parameters of a function: click, typer, fire, tyro."""

from __future__ import annotations

import libcst as cst

from verlint.languages.python.names import Scope
from verlint.languages.python.options import MANY, Interface, Option
from verlint.languages.python.syntax import arguments, constant, dotted, last_name, string
from verlint.languages.python.values import Values
from verlint.value import Text

_KINDS = frozenset(["int", "float", "str", "bool"])


def function_interface(values: Values) -> Interface | None:
    """What a tool takes whose options are parameters of one function; None for other tools. The function is added to
    `values.entries`."""
    return _click(values) or _called(values)


# ---- click


def _click(values: Values) -> Interface | None:
    names = values.names
    found: list[tuple[Scope, cst.FunctionDef]] = []
    for scopes in names.functions.values():
        for scope in scopes:
            node = scope.node
            if isinstance(node, cst.FunctionDef) and any(
                _decorator(each, values) == "click.command" for each in node.decorators
            ):
                found.append((scope, node))
    groups = any(names.full_name(call.node.func) == "click.group" for call in names.calls)
    if len(found) != 1 or groups:
        return None
    scope, node = found[0]
    values.entries.add(id(node))
    closed = node.params.star_kwarg is None
    options: list[Option] = [Option(("--help",), "help", values.parsed.span(node.name), least=0, most=0)]
    for decorator in node.decorators:
        name = _decorator(decorator, values)
        call = decorator.decorator
        if name == "click.command":
            closed = closed and not (isinstance(call, cst.Call) and "context_settings" in arguments(call).named)
        elif name in ("click.option", "click.argument") and isinstance(call, cst.Call):
            option = _of_decorator(call, scope, values, by_place=name == "click.argument")
            if option is None:
                closed = False
            else:
                options.append(option)
        else:
            closed = False
    return Interface("click", tuple(options), closed)


def _decorator(node: cst.Decorator, values: Values) -> str:
    inner = node.decorator
    return values.names.full_name(inner.func if isinstance(inner, cst.Call) else inner)


def _of_decorator(call: cst.Call, scope: Scope, values: Values, *, by_place: bool) -> Option | None:
    given = arguments(call)
    words = [string(each) for each in given.positional]
    if not words or None in words or given.open:
        return None
    spelled = [name for word in words if word is not None for name in word.split("/") if name.startswith("-")]
    plain = [word for word in words if word is not None and not word.startswith("-")]
    if not (plain if by_place else spelled):
        return None
    names = tuple(plain[:1] if by_place else spelled)
    long = max(spelled or plain, key=len)
    dest = plain[0] if plain else long.lstrip("-").replace("-", "_")
    flag = constant(given.named.get("is_flag")) is True or any("/" in (word or "") for word in words)
    number = constant(given.named.get("nargs"))
    many = constant(given.named.get("multiple")) is True
    count = number if isinstance(number, int) and number > 0 else MANY if number == -1 else 1
    required = constant(given.named.get("required"))
    default = given.named.get("default")
    needed = (by_place and default is None and required is not False) if not isinstance(required, bool) else required
    known: Text | None = None if default is None or constant(default) is None else values.text(default, scope)
    return Option(
        names=names,
        dest=dest,
        span=values.parsed.span(given.positional[0]),
        required=needed,
        default=known,
        kind=dotted(given.named.get("type")) if dotted(given.named.get("type")) in _KINDS else "",
        least=0 if flag else 1,
        most=0 if flag else MANY if many and by_place else count,
        by_place=by_place,
    )


# ---- functions that are called with the options


def _called(values: Values) -> Interface | None:
    names = values.names
    for call in names.calls:
        convention = {"fire.Fire": "fire", "typer.run": "typer", "tyro.cli": "tyro"}.get(
            names.full_name(call.node.func)
        )
        given = arguments(call.node)
        functions = names.functions.get(dotted(given.positional[0]), []) if given.positional else []
        if convention is None or len(functions) != 1 or not isinstance(functions[0].node, cst.FunctionDef):
            continue
        node = functions[0].node
        values.entries.add(id(node))
        star = node.params.star_kwarg is not None or isinstance(node.params.star_arg, cst.Param)
        plain = len(given.positional) == 1 and not given.named
        options = [_of_parameter(each, functions[0], values, convention) for each in functions[0].parameters.values()]
        options.append(Option(("--help", "-h"), "help", values.parsed.span(node.name), least=0, most=0))
        closed = (
            plain
            and not star
            and convention != "tyro"
            and not any(_is_declared(each) for each in functions[0].parameters.values())
        )
        return Interface(convention, tuple(options), closed, loose=True)
    return None


def _is_declared(parameter: cst.Param) -> bool:
    """`x: int = typer.Option(…)`: how it is spelled stands in that call."""
    default, kind = parameter.default, parameter.annotation
    annotated = (
        kind is not None
        and isinstance(kind.annotation, cst.Subscript)
        and last_name(kind.annotation.value) == ("Annotated")
    )
    return annotated or (isinstance(default, cst.Call) and last_name(default.func) in ("Option", "Argument"))


def _of_parameter(parameter: cst.Param, scope: Scope, values: Values, convention: str) -> Option:
    name = parameter.name.value
    kind = "" if parameter.annotation is None else values.parsed.written(parameter.annotation.annotation)
    by_place = convention == "typer" and parameter.default is None
    default = parameter.default
    known = None if default is None or constant(default) is None else values.text(default, scope)
    flag = kind == "bool" or isinstance(constant(default), bool)
    dashed = name.replace("_", "-")
    names: tuple[str, ...] = (f"--{dashed}", f"--no-{dashed}") if flag and convention != "fire" else (f"--{dashed}",)
    if convention == "fire":
        names = (f"--{name}", f"-{name[0]}", f"--no{name}") if flag else (f"--{name}", f"-{name[0]}", f"--{name[0]}")
    required: bool | None = default is None
    return Option(
        names=(name,) if by_place else names,
        dest=name,
        span=values.parsed.span(parameter.name),
        required=None if convention == "fire" and required else required,
        default=known,
        kind=kind if kind in _KINDS else "",
        least=0 if flag else 1,
        most=0 if flag and convention != "fire" else 1,
        by_place=by_place,
    )
