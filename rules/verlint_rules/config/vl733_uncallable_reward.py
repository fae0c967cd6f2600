"""A custom reward function must be one that the reward manager can call.

The managers `naive` and `dapo` (and the newer `gdpo`, `limited`) call the function for one answer, with `data_source`,
`solution_str`, `ground_truth` and `extra_info` by their names; `batch` calls it for all answers at once, with
`data_sources`, `solution_strs`, `ground_truths` and `extra_infos`; `prime` calls it with four values in their order.
What stands under `custom_reward_function.reward_kwargs` comes on top by name. A function with other parameters ends
the run in a TypeError when the first answers are scored, after the models were loaded and the answers generated; with
`prime` the error is printed and every answer scores 0. `batch` has no function of its own to fall back on: without
`custom_reward_function.path` it calls the one for single answers.

`prime` also sends the function to other processes. VeRL 0.4 wraps it so that it cannot be sent, and 0.5 loads the file
once more for the validation, so that the function of the training can no longer be sent: each answer of the training
scores 0.

Looked at are functions of project files that are written as a plain `def` at the top of the file, and launches of
`main_ppo` of a released VeRL. Silent for functions with a decorator, for files that the launcher writes first, and
where a config of one's own may name the manager.

Fix: give the function the parameters of its manager (`**kwargs` takes what it has no use for), or set the manager that
fits the function.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.launch import Launch
from verlint.finding import Finding
from verlint.record import dataclass
from verlint.rule import ERROR, Context, rule
from verlint.source import Source
from verlint.value import Text
from verlint.verl.in_use import call_of
from verlint.verl.rows import in_versions
from verlint.verl.versions import is_version
from verlint_rules.config.own_code import has_own_config, is_made, named_objects, source_of
from verlint_rules.config.view import on_unnamed_fork, view_of

_ENTRIES = frozenset(["verl.trainer.main_ppo", "recipe.dapo.main_dapo"])
_MANAGERS = ("reward_model.reward_manager", "reward_manager.name", "reward.reward_manager.name")
_SOURCES = ("reward_manager.source", "reward.reward_manager.source")
_FILES = ("custom_reward_function.path", "reward.custom_reward_function.path")
_KWARGS = ("custom_reward_function.reward_kwargs", "reward.custom_reward_function.reward_kwargs")
_ONE = ("data_source", "solution_str", "ground_truth", "extra_info")
_ALL = ("data_sources", "solution_strs", "ground_truths", "extra_infos")
_PASSED = {"naive": _ONE, "dapo": _ONE, "gdpo": _ONE, "limited": _ONE, "batch": _ALL, "prime": _ONE}
"""What each manager passes; all by name, but `prime` in this order. Source: VeRL 0.3 to 0.8
`workers/reward_manager/*.py`, `experimental/reward_loop/reward_manager/*.py`."""
_UNSENT = ("0.4.0", "0.5.0")
"""Versions that cannot send a custom function to the processes of `prime`. Source: `trainer/ppo/reward.py:
get_custom_reward_fn` (a closure; a module that is loaded twice), `reward_manager/prime.py` (failed tasks score 0)."""
_FOR_ONE = ("0.4.0", "0.6.1")
"""Versions whose `batch` falls back on `default_compute_score`. Source: `trainer/ppo/reward.py:load_reward_manager`."""
_ASK_CALLER = 'echo "$@"  # does the caller set the reward manager?'
_IN_ANOTHER = "reward_model.launch_reward_fn_async"


@rule(
    "VL733",
    "uncallable-reward",
    on=Launch,
    severity=ERROR,
    since="0.1",
    words=("custom_reward_function", "reward_manager", "--config-name"),
)
def check(launch: Launch, ctx: Context) -> Iterator[Finding]:
    if call_of(launch.program.entry, ()).module not in _ENTRIES or on_unnamed_fork(launch) or launch.family:
        return
    if any(key in launch.by_key for key in _SOURCES):
        return
    word, manager = _manager(launch)
    if manager not in _PASSED:
        return
    if not any(key in launch.by_key for key in _FILES):
        if manager == "batch" and word is not None and not has_own_config(launch) and not launch.passes_arguments:
            yield from _without_function(launch, word, ctx)
        return
    found = None
    for path, at, name in named_objects(launch):
        if not any(key in launch.by_key and launch.by_key[key].value_text.known == path.known for key in _FILES):
            continue
        source = source_of(launch, path, ctx)
        function = None if source is None or is_made(launch, path, ctx) else _function(source, name)
        if source is not None and function is not None:
            found = _unfit(launch, at, manager, source, function, ctx)
        if found is not None:
            yield found
    if found is None and manager == "prime" and word is not None:
        yield from _unsent(launch, word, ctx)


def _manager(launch: Launch) -> tuple[Text | None, str]:
    """The word that names the reward manager, and its name; "" where that is not known."""
    for key in _MANAGERS:
        override = launch.by_key.get(key)
        if override is not None:
            return override.value_text, (override.value_text.known or "").strip("'\"")
    if not has_own_config(launch):
        return None, "naive"
    view = view_of(launch) if launch.of_file else None
    found = [] if view is None else [view.value(key) for key in _MANAGERS if key in view.schema]
    return None, next((each for each in found if isinstance(each, str)), "")


def _without_function(launch: Launch, word: Text, ctx: Context) -> Iterator[Finding]:
    if _all_in(launch, *_FOR_ONE):
        yield ctx.fail(
            word,
            "the reward manager batch needs a function that scores all answers at once, and none is given: VeRL's own "
            "scores one, and the run stops with a TypeError at the first answers",
            help="set custom_reward_function.path, or take the manager naive",
        )


def _unsent(launch: Launch, word: Text, ctx: Context) -> Iterator[Finding]:
    if _all_in(launch, *_UNSENT) and _IN_ANOTHER not in launch.by_key and not has_own_config(launch):
        yield ctx.fail(
            word,
            "the reward manager prime of this VeRL cannot send a custom function to its processes: the error is "
            "printed, and each answer of the training scores 0",
            help="take the manager naive or batch, or VeRL 0.6",
        )


def _all_in(launch: Launch, since: str, until: str) -> bool:
    """Whether every version that may be in use lies between two."""
    verl = launch.verl
    named = () if verl is None else verl.fitting if verl.guess else (verl.text,)
    return bool(named) and all(is_version(each) and in_versions(since, until, each) for each in named)


# ---- functions


@dataclass(frozen=True, slots=True)
class _Function:
    """A function as it is written: names that it takes by name and by position, those it cannot do without, and whether
    it takes any more of either."""

    start: int
    end: int
    by_name: tuple[str, ...]
    by_position: tuple[str, ...]
    needed: tuple[str, ...]
    any_name: bool
    any_position: bool


def _function(source: Source, name: str) -> _Function | None:
    """The function of a file, if a plain `def` at its top level is all that makes the name."""
    from verlint.languages.python.tree import offset
    from verlint_rules.config.own_functions import function_of

    made = function_of(source, name)
    if made is None:
        return None
    args = made.args
    positional = [*args.posonlyargs, *args.args]
    plain = positional[: len(positional) - len(args.defaults)]
    only = [each for each, default in zip(args.kwonlyargs, args.kw_defaults, strict=True) if default is None]
    start = source.text.find("def ", offset(source, made.lineno))
    return _Function(
        start,
        source.text.find("\n", start) if "\n" in source.text[start:] else len(source.text),
        tuple(each.arg for each in (*args.args, *args.kwonlyargs)),
        tuple(each.arg for each in positional),
        tuple(each.arg for each in (*plain, *only)),
        args.kwarg is not None,
        args.vararg is not None,
    )


def _unfit(
    launch: Launch, word: Text, manager: str, source: Source, function: _Function, ctx: Context
) -> Finding | None:
    """A finding for a function that cannot take what the manager passes."""
    passed = _PASSED[manager]
    extra = _reward_kwargs(launch)
    if extra is None:
        return None
    if manager == "prime":
        taken = function.by_position[: len(passed)]
        few = len(taken) < len(passed) and not function.any_position
        unknown = [f"{len(passed)} values in order"] if few else []
        unknown += [each for each in extra if each not in function.by_name and not function.any_name]
        missing = [each for each in function.needed if each not in taken and each not in extra]
    else:
        unknown = [] if function.any_name else [each for each in (*passed, *extra) if each not in function.by_name]
        missing = [each for each in function.needed if each not in passed and each not in extra]
    if launch.passes_arguments or has_own_config(launch):
        missing = []  # more may be passed from outside
    if not unknown and not missing:
        return None
    faults = []
    if unknown:
        faults.append(f"with {_listed(unknown)}, which it does not take")
    if missing:
        faults.append(f"without {_listed(missing)}, which it needs")
    name = source.text[function.start + 4 : source.text.index("(", function.start)].strip()
    outcome = "each answer scores 0" if manager == "prime" else "the run stops with a TypeError at the first answers"
    message = f"the reward manager {manager} calls {name} {', and '.join(faults)}: {outcome}"
    help = _help(manager, passed, extra, function)
    if launch.passes_arguments and not any(key in launch.by_key for key in _MANAGERS):
        finding = ctx.unsure(word, message, help=help, verify=_ASK_CALLER)
    else:
        finding = ctx.fail(word, message, help=help)
    return finding.with_related(source.span(function.start, function.end), "the function")


def _help(manager: str, passed: tuple[str, ...], extra: tuple[str, ...], function: _Function) -> str:
    fits = "batch" if passed is _ONE else "naive"
    if set(function.needed) and set(function.needed) <= {*_PASSED[fits], *extra}:
        return f"take the manager {fits}, which calls functions like this one"
    return f"give it the parameters {', '.join((*passed, *extra))}"


def _reward_kwargs(launch: Launch) -> tuple[str, ...] | None:
    """Names of what the config passes on top; None when they are not known."""
    names: list[str] = []
    for section in _KWARGS:
        if section in launch.by_key:
            return None
        names += [key[len(section) + 1 :] for key in launch.by_key if key.startswith(f"{section}.")]
    return tuple(dict.fromkeys(each.partition(".")[0] for each in names))


def _listed(names: list[str]) -> str:
    return ", ".join(names[:3]) + (", …" if len(names) > 3 else "")
