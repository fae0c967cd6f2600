"""Where a Python text runs what a model wrote: answers followed from the call that gives them to `eval`, `exec` or a
shell, through names, functions, strings and containers."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from verlint.languages.python.names import Called, Scope, lookup
from verlint.languages.python.started import SHELLS, SUBPROCESS
from verlint.languages.python.syntax import (
    Arguments,
    arguments,
    children,
    constant,
    dotted,
    elements,
    index_of,
    last_name,
    string,
    walk,
)
from verlint.languages.python.values import Values
from verlint.lazy import pattern
from verlint.record import dataclass
from verlint.source import Span

MAX_ROUNDS = 12

_WORDS = (
    *(
        "generate",
        "completion",
        "responses.create",
        "messages.create",
        "solution_str",
        "model_output",
        "llm",
        "response",
    ),
    *("generation", "pipeline(", "model_answer", "model_solution"),
)
_MODELS = pattern(
    r"(?i)(?:^|[._])(?:\w*llm\w*|model|engine|policy|actor|student|teacher|client|sampler|rollout\w*|generator)(?:[.(]|$)"
)
_CLIENTS = pattern(r"(?:chat\.completions|completions|responses|messages|ChatCompletion|Completion)\.a?create$")
_ANSWERS = frozenset(["litellm.completion", "litellm.acompletion", "ollama.chat", "ollama.generate"])
_GENERATES = frozenset(["generate", "agenerate", "generate_content", "chat", "batch_generate", "generate_text"])
_PARAMETERS = frozenset(
    ["solution_str", "solution_strs", "model_output", "model_outputs", "model_response", "llm_output", "llm_response",
     "completion", "completions", "generation", "generations", "generated_code", "generated_text", "model_answer",
     "model_solution", "response_str"]
)  # fmt: skip
_KEYS = frozenset(["response", "completion", "generated_text", "generation", "model_output", "generated_code"])
_CLEAN = frozenset(
    ["len", "int", "float", "bool", "isinstance", "hash", "id", "round", "abs", "ast.literal_eval", "literal_eval",
     "type", "time.time", "shlex.quote", "hasattr", "callable"]
)  # fmt: skip
_GUARDS = pattern(r"reliability_guard|seccomp|RestrictedPython|nsjail|bwrap|firejail|docker|sandbox")
_BOXES = frozenset(
    ["docker", "podman", "bwrap", "firejail", "nsjail", "unshare", "singularity", "apptainer", "sandbox-exec"]
)
_RUNNERS = frozenset(["python", "python3", "bash", "sh", "zsh", "node", "perl", "sys.executable"])
_CELLS = frozenset(["run_cell", "runsource", "runcode"])
_ARITHMETIC = frozenset("0123456789+-*/().%, ^=<>!&|eE_")


@dataclass(frozen=True, slots=True)
class Origin:
    """Where what a model wrote comes from: the place, in words, and whether it is surely that of a model."""

    span: Span
    what: str
    certain: bool


@dataclass(frozen=True, slots=True)
class Flow:
    """A call that runs code (`sink` in words), the origin of what it runs, and what may stand between ("" for nothing
    that was found)."""

    span: Span
    sink: str
    origin: Origin
    guard: str = ""


def may_flow(text: str) -> bool:
    """Whether a text may have answers of a model at all."""
    return any(word in text for word in _WORDS)


def flows(values: Values) -> Iterator[Flow]:
    """The calls that run what a model wrote, in the order of the text."""
    taint = _Taint(values)
    guard = _GUARDS.search(values.parsed.source.text)
    for call in values.names.calls:
        for sink, node in _sinks(call, values):
            origin = taint.of(node, call.scope)
            if origin is not None and not _is_checked(node, call, values):
                yield Flow(values.parsed.span(call.node), sink, origin, guard.group() if guard is not None else "")
                break


class _Taint:
    """Which names hold something that a model wrote."""

    def __init__(self, values: Values) -> None:
        self.values = values
        self.names = values.names
        self.held: dict[tuple[int, str], Origin] = {}
        self.returned: dict[str, Origin] = {}
        self._seed()
        for _ in range(MAX_ROUNDS):
            if not self._round():
                break

    def _scopes(self) -> Iterator[Scope]:
        yield self.names.module
        yield from self.names.scopes.values()

    def _seed(self) -> None:
        for scope in self.names.scopes.values():
            reward = {"solution_str", "ground_truth"} <= scope.parameters.keys() or "data_source" in scope.parameters
            for name, parameter in scope.parameters.items():
                if name in _PARAMETERS:
                    certain = name.startswith("solution_str") and reward
                    span = self.values.parsed.span(parameter.name)
                    what = f"`{name}`, the answer that is scored," if certain else f"`{name}`"
                    self.held[(id(scope), name)] = Origin(span, what, certain)

    def _round(self) -> bool:
        before = len(self.held) + len(self.returned)
        for scope in self._scopes():
            for name, bindings in scope.bindings.items():
                if (id(scope), name) not in self.held:
                    for each in bindings:
                        origin = self.of(each.node, each.scope)
                        if origin is not None and not _is_number_loop(each.node):
                            self.held[(id(scope), name)] = origin
                            break
            for node in self.names.returned.get(id(scope), ()):
                origin = self.of(node, scope)
                if origin is not None and scope.name:
                    self.returned.setdefault(scope.name, origin)
        for call in self.names.calls:
            self._pass(call)
        return len(self.held) + len(self.returned) > before

    def _pass(self, call: Called) -> None:
        """Arguments become parameters; a list that something is added to holds it."""
        given = arguments(call.node)
        for function in self.names.functions.get(last_name(call.node.func), ())[:4]:
            order = list(function.parameters)
            shift = 1 if function.is_method and order[:1] == ["self"] else 0
            for place, node in enumerate(given.positional):
                if place + shift < len(order):
                    self._hold(function, order[place + shift], node, call.scope)
            for name, node in given.named.items():
                if name in function.parameters:
                    self._hold(function, name, node, call.scope)
        func = call.node.func
        if isinstance(func, cst.Attribute) and func.attr.value in ("append", "extend", "add") and given.positional:
            name = dotted(func.value)
            _, home = lookup(name, call.scope) if name else ([], None)
            if home is not None:
                self._hold(home, name, given.positional[0], call.scope)

    def _hold(self, scope: Scope, name: str, node: cst.BaseExpression, where: Scope) -> None:
        origin = self.of(node, where)
        known = self.held.get((id(scope), name))
        if origin is not None and (known is None or (origin.certain and not known.certain)):
            self.held[(id(scope), name)] = origin

    def of(self, node: cst.CSTNode, scope: Scope, depth: int = 0) -> Origin | None:
        """Where an expression has something that a model wrote from; None when it has nothing of the kind."""
        if depth > 60 or isinstance(node, (cst.Comparison, cst.SimpleString, cst.Lambda, cst.Integer, cst.Float)):
            return None
        if isinstance(node, cst.Name):
            _, home = lookup(node.value, scope)
            return None if home is None else self.held.get((id(home), node.value))
        if isinstance(node, cst.Attribute):
            name = dotted(node)
            _, home = lookup(name, scope) if name else ([], None)
            found = None if home is None else self.held.get((id(home), name))
            return found or self.of(node.value, scope, depth + 1)
        if isinstance(node, cst.Call):
            return self._of_call(node, scope, depth)
        if isinstance(node, cst.Subscript):
            index = index_of(node)
            key = constant(index) if index is not None else ...
            if isinstance(key, str) and key in _KEYS:
                inner = self.of(node.value, scope, depth + 1)
                return inner or Origin(self.values.parsed.span(node), f"`{self.values.parsed.written(node)}`", False)
            return self.of(node.value, scope, depth + 1)
        if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Not):
            return None
        if isinstance(node, cst.IfExp):
            return self.of(node.body, scope, depth + 1) or self.of(node.orelse, scope, depth + 1)
        if isinstance(node, (cst.ListComp, cst.GeneratorExp, cst.SetComp)):
            return self.of(node.elt, scope, depth + 1)
        return next((found for each in children(node) if (found := self.of(each, scope, depth + 1))), None)

    def _of_call(self, node: cst.Call, scope: Scope, depth: int) -> Origin | None:
        name = self.names.full_name(node.func)
        if name in _CLEAN:
            return None
        if self._is_answer(node, name, scope):
            written = " ".join(self.values.parsed.written(node.func).split())
            return Origin(self.values.parsed.span(node), f"what `{written[-60:]}` answers", True)
        given = arguments(node)
        own = self.names.functions.get(last_name(node.func))
        if own:
            return self.returned.get(last_name(node.func))
        if isinstance(node.func, cst.Attribute):
            if node.func.attr.value in ("count", "find", "index", "startswith", "endswith", "isdigit", "exists"):
                return None
            found = self.of(node.func.value, scope, depth + 1)
            if found is not None:
                return found
        words = (*given.positional, *given.named.values())
        return next((found for each in words if (found := self.of(each, scope, depth + 1))), None)

    def _is_answer(self, node: cst.Call, name: str, scope: Scope) -> bool:
        """Whether a call asks a model."""
        if name in _ANSWERS:
            return True
        func = node.func
        if isinstance(func, cst.Name):
            bindings, _ = lookup(func.value, scope)
            return any(isinstance(each.node, cst.Call) and last_name(each.node.func) == "pipeline" for each in bindings)
        if not isinstance(func, cst.Attribute):
            return False
        written = "".join(self.values.parsed.written(func).split())
        if _CLIENTS.search(written):
            return True
        if func.attr.value in _GENERATES and node.args:
            return _MODELS.search(written.rsplit(".", 1)[0]) is not None
        if name in ("requests.post", "httpx.post") and node.args:
            return any(
                each.template.endswith(("/completions", "/generate"))
                for each in self.values.texts(node.args[0].value, scope)
            )
        return False


def _is_number_loop(node: cst.BaseExpression) -> bool:
    """`for i in range(len(answers))`."""
    return isinstance(node, cst.Call) and dotted(node.func) == "range"


# ---- what runs code


def _sinks(call: Called, values: Values) -> Iterator[tuple[str, cst.CSTNode]]:
    name, given = values.names.full_name(call.node.func), arguments(call.node)
    if name in ("eval", "exec", "builtins.eval", "builtins.exec") and name not in values.names.functions:
        if given.positional:
            yield name.removeprefix("builtins."), given.positional[0]
    elif name in SHELLS:
        yield from ((f"{name}, a shell", each) for each in (*given.positional[:1], *given.named.values()))
    elif name in SUBPROCESS:
        yield from _of_subprocess(given, call, values)
    elif isinstance(call.node.func, cst.Attribute) and call.node.func.attr.value in _CELLS and given.positional:
        yield call.node.func.attr.value, given.positional[0]


def _of_subprocess(given: Arguments, call: Called, values: Values) -> Iterator[tuple[str, cst.CSTNode]]:
    first = given.get(0, "args")
    if first is None:
        return
    if constant(given.named.get("shell")) is True:
        yield "a shell", first
        return
    words = elements(first)
    if not words:
        return
    program = (string(words[0]) or dotted(words[0])).rsplit("/", 1)[-1]
    if program in _BOXES or program not in _RUNNERS:
        return
    name = "python" if program == "sys.executable" else program
    flags = [string(each) for each in words]
    for before, word in zip(flags, words[1:], strict=False):
        if before in ("-c", "-e", "-lc"):
            yield f"{name} {before}", word
    if "input" in given.named and len(words) <= 2:
        yield f"{name} on its standard input", given.named["input"]


# ---- checks that leave only arithmetic


def _is_checked(node: cst.CSTNode, call: Called, values: Values) -> bool:
    """Whether the function looks at what it runs first, with a pattern or a set of characters that leaves numbers and
    operators only."""
    names = {each.value for each in walk(node) if isinstance(each, cst.Name)}
    body = call.scope.node
    for each in walk(body):
        if isinstance(each, cst.Call) and values.names.full_name(each.func) in ("re.match", "re.fullmatch"):
            given = arguments(each)
            looked_at = {
                name.value for arg in given.positional[1:2] for name in walk(arg) if isinstance(name, cst.Name)
            }
            allowed = values.text(given.get(0, "pattern"), call.scope)
            if looked_at & names and allowed is not None and not _allows_letters(allowed.known or ""):
                return True
        elif isinstance(each, cst.SimpleString):
            text = string(each) or ""
            if len(text) >= 10 and set(text) <= _ARITHMETIC and set("0123456789") <= set(text):
                return True
    return False


def _allows_letters(expression: str) -> bool:
    """Whether a pattern lets letters through."""
    plain = re.sub(r"\\[^wW]", "", expression)
    outside = re.sub(r"\[[^\]]*\]", "", plain)
    return any(each.isalpha() for each in plain) or "." in outside
