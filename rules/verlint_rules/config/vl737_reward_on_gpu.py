"""A reward function has no GPU.

VeRL calls the function in an actor that reserves CPUs alone (the task runner, since 0.7 the workers of the reward loop
too), and Ray hides all GPUs from what reserves none: `CUDA_VISIBLE_DEVICES` is empty there. A reward model that the
file brings to `cuda`, or a `vllm.LLM` in it, ends the run with `RuntimeError: No CUDA GPUs are available` as soon as
the file is loaded, or at the first answers. EasyR1 does the same.

Looked at is what runs when a file of the project is loaded, and the function that the launch names with the functions
that it calls, for launches of `main_ppo` and of EasyR1. Silent where the file asks whether there is a GPU, chooses
devices itself, or asks Ray for them, for what stands under a condition or in a `try`, and where the launcher tells Ray
to hide nothing.

Fix: serve the model (`vllm serve … &` on GPUs that the trainer does not take) and ask it over HTTP, or let VeRL serve
it: `reward_model.enable=True`, since 0.7.1 `reward.reward_model.enable=True`.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.launch import Launch
from verlint.finding import Finding
from verlint.lazy import pattern
from verlint.rule import ERROR, Context, rule
from verlint.source import Source
from verlint.value import Text
from verlint.verl.in_use import call_of
from verlint_rules.config.own_code import is_made, named_objects, source_of
from verlint_rules.config.view import on_unnamed_fork

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ast

_KEYS = ("custom_reward_function.path", "reward.custom_reward_function.path", "worker.reward.reward_function")
_ENTRIES = frozenset(["verl.trainer.main_ppo", "recipe.dapo.main_dapo", "verl.trainer.main"])
_CHOOSES = pattern(
    r"is_available|device_count|VISIBLE_DEVICES|\bray\b|accelerator|subprocess|multiprocessing|get_device|environ\b"
)
"""Words of a file that asks for GPUs, or has others work."""
_SHOWN = pattern(r"RAY_EXPERIMENTAL_NOSET_\w*VISIBLE_DEVICES|RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO")
"""Variables with which Ray hides no GPU. Source: `ray/_private/accelerators`."""
_WORDS = pattern(r"cuda|\bLLM\(")
_OWN = pattern(r"\bdef (?:cuda|to)\(")
"""Methods of the file that only look like those of PyTorch."""
_KEEP = frozenset(["dict", "partial", "Namespace", "SimpleNamespace"])
"""Callables that keep their arguments for later, or for others."""


@rule(
    "VL737",
    "reward-on-gpu",
    on=Launch,
    severity=ERROR,
    since="0.1",
    words=("custom_reward_function", "reward.reward_function"),
)
def check(launch: Launch, ctx: Context) -> Iterator[Finding]:
    if call_of(launch.program.entry, ()).module not in _ENTRIES or on_unnamed_fork(launch) or launch.family:
        return
    if _SHOWN.search(launch.command.span.source.text) or any(map(_SHOWN.search, launch.command.around.environment)):
        return
    for path, at, name in named_objects(launch):
        named = (launch.by_key[key].value_text.known for key in _KEYS if key in launch.by_key)
        if not any(each and each.startswith(path.known or " ") for each in named):
            continue
        source = source_of(launch, path, ctx)
        if (
            source is None
            or not _WORDS.search(source.text)
            or any(each.search(source.text) for each in (_CHOOSES, _OWN))
        ):
            continue
        if not is_made(launch, path, ctx):
            yield from _on_gpu(source, name, ctx, at)


def _on_gpu(source: Source, name: str, ctx: Context, at: Text) -> Iterator[Finding]:
    from verlint.languages.python.tree import span_of

    for node, when in _run(source, name):
        said = _brings(node, source)
        if said:
            message = f"Ray hides the GPUs from the process that calls {name}, and {said}: the run stops {when}"
            finding = ctx.fail(at, message, help="serve the model on GPUs of its own, and ask it over HTTP")
            yield finding.with_related(span_of(source, node), "here")
            return


def _run(source: Source, name: str) -> Iterator[tuple[ast.Call, str]]:
    """The calls that are made when the file is loaded, and those of the function and of what it calls."""
    import ast

    from verlint_rules.config.own_functions import function_of, module_of

    module = module_of(source)
    if module is None:
        return
    shielded = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.If, ast.Try, ast.Lambda)
    for statement in module.body:
        if isinstance(statement, shielded):
            continue
        for node in _always(statement):
            if isinstance(node, ast.Call):
                yield node, "when the file is loaded"
    waiting, seen = [name], {name}
    while waiting:
        function = function_of(source, waiting.pop(0))
        for node in () if function is None else _always(function):
            if not isinstance(node, ast.Call):
                continue
            yield node, "at the first answers"
            if isinstance(node.func, ast.Name) and node.func.id not in seen:
                seen.add(node.func.id)
                waiting.append(node.func.id)


def _always(top: ast.AST) -> Iterator[ast.AST]:
    """The nodes within one that run whatever is chosen: none that a `try` catches, and none under a condition, except
    that something is not made yet."""
    import ast

    waiting = [top]
    while waiting:
        node = waiting.pop(0)
        yield node
        if node is not top and isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            continue
        if isinstance(node, ast.IfExp) or (isinstance(node, ast.If) and not _first_time(node.test)):
            waiting.append(node.test)
        elif isinstance(node, ast.If):
            waiting.extend((node.test, *node.body))
        elif isinstance(node, ast.Try) and node.handlers:
            waiting.extend(node.finalbody)
        else:
            waiting.extend(ast.iter_child_nodes(node))


def _first_time(test: ast.expr) -> bool:
    """Whether a condition is that something is not there yet: `MODEL is None`, `not MODEL`, `name not in MODELS`."""
    import ast

    if isinstance(test, ast.UnaryOp):
        return isinstance(test.op, ast.Not) and isinstance(test.operand, (ast.Name, ast.Attribute))
    if not isinstance(test, ast.Compare):
        return False
    none = isinstance(test.comparators[0], ast.Constant) and test.comparators[0].value is None
    return isinstance(test.ops[0], ast.NotIn) or (none and isinstance(test.ops[0], ast.Is))


def _brings(call: ast.Call, source: Source) -> str:
    """How a call brings a model or a tensor to a GPU, "" where it does not."""
    import ast

    if isinstance(call.func, ast.Attribute):
        if call.func.attr == "cuda" and not call.args:
            return "a model is moved to one"
        if call.func.attr == "to" and call.args and _is_gpu(call.args[0]):
            return "a model is moved to one"
    kept = isinstance(call.func, ast.Name) and (call.func.id in _KEEP or _is_own(call.func.id, source))
    if not kept and any(each.arg in ("device", "device_map") and _is_gpu(each.value) for each in call.keywords):
        return "a model is put on one"
    if isinstance(call.func, ast.Name) and call.func.id == "pipeline" and any(map(_is_number, call.keywords)):
        return "a model is put on one"
    if isinstance(call.func, ast.Name) and call.func.id == "LLM" and "from vllm import" in source.text:
        return "vLLM needs one"
    return ""


def _is_own(name: str, source: Source) -> bool:
    """Whether the file has a function or class of this name, which may do with its arguments what it likes."""
    return any(text in source.text for text in (f"def {name}(", f"class {name}(", f"class {name}:"))


def _is_gpu(node: ast.expr) -> bool:
    import ast

    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "device":
        return bool(node.args) and _is_gpu(node.args[0])
    return isinstance(node, ast.Constant) and str(node.value).partition(":")[0] == "cuda"


def _is_number(keyword: ast.keyword) -> bool:
    """Whether it names the GPU of a pipeline of transformers by its number."""
    import ast

    return keyword.arg == "device" and isinstance(keyword.value, ast.Constant) and type(keyword.value.value) is int
