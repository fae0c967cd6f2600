"""Programs that a Python tool starts."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from verlint.languages.python.building import Building, Environment, Words
from verlint.languages.python.facts import Started
from verlint.languages.python.names import Called, Scope, lookup
from verlint.languages.python.options import Interface, defaults
from verlint.languages.python.syntax import Arguments, arguments, constant, dotted
from verlint.languages.python.values import Values, option_key
from verlint.record import dataclass, replace
from verlint.value import Hole, Literal, Part, Text

SUBPROCESS = frozenset(
    ["subprocess.run", "subprocess.call", "subprocess.check_call", "subprocess.check_output", "subprocess.Popen"]
)
SHELLS = frozenset(
    ["os.system", "os.popen", "subprocess.getoutput", "subprocess.getstatusoutput", "asyncio.create_subprocess_shell"]
)
_EXEC = frozenset(["os.execv", "os.execvp", "os.execve", "os.execvpe"])
_SPREAD = "asyncio.create_subprocess_exec"
MAX_SITES = 16
"""How many calls of a function that starts programs are looked at."""


@dataclass(frozen=True, slots=True)
class _Start:
    """One way of starting: what is started, where that is written, the options of the call, and the place where it is
    done, which is that of a call of the driver's own function where there is one."""

    node: cst.BaseExpression | None
    words: Words | None
    scope: Scope
    at: cst.CSTNode
    options: tuple[tuple[str, cst.BaseExpression, Scope], ...]

    def option(self, name: str) -> tuple[cst.BaseExpression | None, Scope]:
        """An option of the call, with the scope it stands in."""
        return next(((node, scope) for each, node, scope in self.options if each == name), (None, self.scope))


def started(values: Values, interface: Interface | None = None) -> list[Started]:
    """The programs that a text starts, in its order; those whose words are not known at all are left out. Options of
    the tool that `interface` gives a default have that, unless the caller says otherwise."""
    building = Building(values)
    given = {} if interface is None else defaults(interface)
    known = {option_key(values.parsed.source, dest): text for dest, text in given.items()}
    found = [each for call in values.names.calls for each in _of_call(call, values, building)]
    return [_with_defaults(each, known) for each in found] if known else found


def _with_defaults(found: Started, known: dict[object, Text]) -> Started:
    variables = tuple((name, _filled(text, known)) for name, text in found.variables)
    return replace(found, words=tuple(_filled(each, known) for each in found.words), variables=variables)


def _filled(text: Text, known: dict[object, Text]) -> Text:
    parts: list[Part] = []
    for part in text.parts:
        default = known.get(part.key) if isinstance(part, Hole) else None
        if default is None or default.known is None or not isinstance(part, Hole):
            parts.append(part)
        else:
            name = part.name.strip("-").replace("-", "_").upper()
            parts.append(Literal(default.known, part.span, part.hops, overridable=name))
    return replace(text, parts=tuple(parts))


def _of_call(call: Called, values: Values, building: Building) -> Iterator[Started]:
    name, given = values.names.full_name(call.node.func), arguments(call.node)
    if name not in SUBPROCESS and name not in SHELLS and name not in _EXEC and name != _SPREAD:
        return
    for start in _starts(name, given, call, values, building):
        environment = building.environment(*start.option("env"), start.at)
        folder_node, folder_scope = start.option("cwd")
        shell_node, _ = start.option("shell")
        folder = None
        if folder_node is not None and dotted(folder_node) != "None":
            texts = values.texts(folder_node, folder_scope)
            folder = texts[0] if len(texts) == 1 else values.hole(folder_node)
        shell = name in SHELLS or constant(shell_node) is True
        span = values.parsed.span(start.at)
        shell = shell and not _is_joined(start.node, values)
        for words, is_open in _words_of(start, name, shell, values, building):
            yield _completed(Started(words, shell, span, is_open), environment, folder)


def _completed(found: Started, environment: Environment | None, folder: Text | None) -> Started:
    if environment is None:
        return replace(found, folder=folder)
    variables = tuple(environment.given.items())
    return replace(found, variables=variables, bare=not environment.inherits, folder=folder)


def _starts(name: str, given: Arguments, call: Called, values: Values, building: Building) -> Iterator[_Start]:
    """The ways of a call: one, or one for each call of the function that it stands in and whose arguments it takes."""
    options = tuple((each, node, call.scope) for each, node in given.named.items())
    if name == _SPREAD:
        words = Words([values.texts(each, call.scope) for each in given.positional], given.open)
        yield _Start(None, words, call.scope, call.node, options)
        return
    first = given.get(1, "args") if name in _EXEC else given.get(0, "args") or given.named.get("cmd")
    if first is None:
        return
    parameter = dotted(first.args[0].value if _is_copy(first) else first)  # type: ignore[attr-defined]
    function = call.scope
    params = getattr(function.node, "params", None)
    star = params.star_arg if params is not None else None
    spread = isinstance(star, cst.Param) and star.name.value == parameter
    own = not lookup(parameter, function)[0] if parameter else False
    if not (own and (spread or parameter in function.parameters)) or id(function.node) in values.entries:
        yield _Start(first, None, call.scope, call.node, options)
        return
    sites = values.names.calls_of(function)
    for site in sites[:MAX_SITES]:
        passed = arguments(site.node)
        order = [each for each in function.parameters if each not in ("self", "cls")]
        outer = _options_at(options, passed, order, call, site)
        if spread:
            words = Words([values.texts(each, site.scope) for each in passed.positional], passed.open)
            yield _Start(None, words, site.scope, site.node, outer)
        elif (node := passed.get(order.index(parameter), parameter)) is not None:
            yield _Start(node, None, site.scope, site.node, outer)


def _is_copy(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Call) and dotted(node.func) in ("list", "tuple") and len(node.args) == 1


def _options_at(
    options: tuple[tuple[str, cst.BaseExpression, Scope], ...],
    passed: Arguments,
    order: list[str],
    call: Called,
    site: Called,
) -> tuple[tuple[str, cst.BaseExpression, Scope], ...]:
    """The options of a call inside of a function, as a call of that gives them."""
    out: list[tuple[str, cst.BaseExpression, Scope]] = []
    for name, node, scope in options:
        own = dotted(node)
        if own in order:
            given = passed.get(order.index(own), own)
            default = call.scope.parameters[own].default
            if given is not None:
                out.append((name, given, site.scope))
            elif default is not None:
                out.append((name, default, scope))
            continue
        out.append((name, node, scope))
    if any(each.star == "**" for each in call.node.args):
        out += [(name, node, site.scope) for name, node in passed.named.items() if name not in order]
    return tuple(out)


def _words_of(
    start: _Start, name: str, shell: bool, values: Values, building: Building
) -> Iterator[tuple[tuple[Text, ...], bool]]:
    """The words that are started, and whether there may be more; of a shell text the one word that it is."""
    found = start.words
    if found is None and start.node is not None and not _is_text(start.node) and (name not in SHELLS or not shell):
        found = building.words(start.node, start.scope, start.at)
        if found is None and (words := values.words(start.node, start.scope)) is not None:
            found = Words(words, True)
    if found is not None:
        chosen = tuple(each[0] if len(each) == 1 else values.hole(start.at) for each in found.items)
        if chosen and shell:
            return
        if chosen and (chosen[0].known is not None or chosen[0].prefix):
            yield chosen, found.open
        return
    if start.node is None:
        return
    for text in values.texts(start.node, start.scope):
        if text.known is not None or text.prefix:
            yield (text,), False


def _is_joined(node: cst.CSTNode | None, values: Values) -> bool:
    """`shlex.join(words)`: a text of which the shell makes the words again."""
    return isinstance(node, cst.Call) and values.names.full_name(node.func) == "shlex.join"


def _is_text(node: cst.CSTNode) -> bool:
    return isinstance(node, (cst.SimpleString, cst.FormattedString, cst.ConcatenatedString))
