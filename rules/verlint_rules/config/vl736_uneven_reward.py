"""A reward function must return the same for every answer: a number, or the same keys.

From 0.4 on a function may return a dictionary: `score` is the reward, and every key is kept beside the answers and
averaged in validation. VeRL puts the values of a batch side by side. Where one answer gives a number and another a
dictionary, or two give different keys, the columns differ in length: up to 0.6.1 the validation stops with
`AssertionError: acc: len(lst)=…`, and the training where the batch is parted; since 0.7 the run stops with a KeyError
as soon as the first answer of a batch has a key that another lacks. A dictionary without `score` ends it at once.

It is the early `return 0.0` for an answer without a result that is forgotten, so the run goes well until the first of
these comes.

Looked at are functions of project files that are written as a plain `def` at the top of the file, of launches whose
reward manager is `naive` or `dapo`, and of these the returns that are plainly a number or a dictionary.

Fix: return a dictionary with the same keys everywhere, as `{"score": 0.0, "acc": False}`.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.launch import Launch
from verlint.finding import Finding
from verlint.rule import ERROR, Context, rule
from verlint.source import Source
from verlint.value import Text
from verlint.verl.in_use import call_of
from verlint.verl.rows import in_versions
from verlint.verl.versions import is_version
from verlint_rules.config.own_code import has_own_config, is_made, named_objects, source_of
from verlint_rules.config.view import on_unnamed_fork

TYPE_CHECKING = False
if TYPE_CHECKING:
    from verlint_rules.config.own_functions import Returned

_ENTRIES = frozenset(["verl.trainer.main_ppo", "recipe.dapo.main_dapo"])
_MANAGERS = ("reward_model.reward_manager", "reward_manager.name", "reward.reward_manager.name")
_FILES = ("custom_reward_function.path", "reward.custom_reward_function.path")
_SCORE = "score"


@rule("VL736", "uneven-reward", on=Launch, severity=ERROR, since="0.1", words=("custom_reward_function",))
def check(launch: Launch, ctx: Context) -> Iterator[Finding]:
    if call_of(launch.program.entry, ()).module not in _ENTRIES or on_unnamed_fork(launch) or launch.family:
        return
    if not _takes_dictionaries(launch) or not _one_by_one(launch):
        return
    for path, at, name in named_objects(launch):
        if not any(key in launch.by_key and launch.by_key[key].value_text.known == path.known for key in _FILES):
            continue
        source = source_of(launch, path, ctx)
        if source is not None and not is_made(launch, path, ctx):
            yield from _uneven(at, name, source, ctx)


def _takes_dictionaries(launch: Launch) -> bool:
    """Whether every version that may be in use takes dictionaries. Source: `reward_manager/naive.py` since 0.4.0."""
    verl = launch.verl
    named = () if verl is None else verl.fitting if verl.guess else (verl.text,)
    return bool(named) and all(is_version(each) and in_versions("0.4.0", "", each) for each in named)


def _one_by_one(launch: Launch) -> bool:
    """Whether the manager calls the function for one answer."""
    for key in _MANAGERS:
        override = launch.by_key.get(key)
        if override is not None:
            return (override.value_text.known or "").strip("'\"") in ("naive", "dapo")
    return not has_own_config(launch)


def _uneven(at: Text, name: str, source: Source, ctx: Context) -> Iterator[Finding]:
    from verlint.languages.python.tree import span_of
    from verlint_rules.config.own_functions import function_of, returns_of

    function = function_of(source, name)
    returned = [] if function is None else returns_of(function)
    pair = _pair(returned)
    if pair is None:
        return
    first, second = pair
    if first.keys is not None and second.keys is not None and first.keys < second.keys:
        first, second = second, first
    if first is second:
        message = f"{name} returns a dictionary without `{_SCORE}`: the run stops with a KeyError at the first answers"
    else:
        message = (
            f"{name} returns {_said(first, second)} for one answer and {_said(second, first)} for another: "
            "the run stops at a batch that has both"
        )
    finding = ctx.fail(at, message, help=f"return the same keys everywhere, `{_SCORE}` among them")
    for each in dict.fromkeys((first, second)):
        finding = finding.with_related(span_of(source, each.node), "returned here")
    yield finding


def _pair(returned: list[Returned]) -> tuple[Returned, Returned] | None:
    """Two returns that do not go together, or twice the one that no answer may have."""
    for each in returned:
        if each.keys is not None and _SCORE not in each.keys:
            return each, each
    return next(((returned[0], each) for each in returned[1:] if each.keys != returned[0].keys), None)


def _said(mine: Returned, other: Returned) -> str:
    if mine.keys is None:
        return "a number"
    if other.keys is None:
        return "a dictionary"
    more = sorted(mine.keys - other.keys)
    return f"a dictionary with {', '.join(more)}" if more else "one without"
