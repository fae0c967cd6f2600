"""A value must be of the kind that its key takes.

Hydra checks only that no list takes the place of a section, and VeRL checks nothing: `trainer.total_epochs=abc`, and
even `trainer=foo`, which throws the whole section away, pass until some line of code trips over them, hours later.
`yes` and `on` are texts and so true, whatever they were meant to say. `None` is the text `None`, not the null that VeRL
looks for. `1e3` is the float 1000.0, which `range` and slices refuse.

The kinds are those of the key's default, of the field of its data class, and of its defaults in other versions. A whole
number is fine for a float, 0 and 1 for a switch, and one text for a list. Another number for a switch is true, which is
a warning: it was meant for another key. Values that are not known before the run and keys of which nothing is known are
left alone, and so are empty texts that come from a variable, and `None` on a fork; under a best fit all versions must
agree.

Fix: write a value of the kind that the finding names; null is written `null`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from verlint.experiment.launch import Launch
from verlint.finding import Finding
from verlint.languages.hydra.override import Form, Override
from verlint.rule import ERROR, WARNING, Context, rule
from verlint.value import State, show
from verlint.verl.schema import kind_of
from verlint_rules.config.reporting import label_of, report
from verlint_rules.config.view import View, everywhere, refusals, refused_everywhere, view_of

_WORDS = {"bool": "True or False", "int": "a whole number", "float": "a number", "str": "a text", "list": "a list"}
_ORDER = ("bool", "int", "float", "str", "list", "dict")
_ALSO_TEXT = frozenset(
    [
        "trainer.resume_from_path",
        "trainer.test_freq",
        "trainer.save_freq",
        "algorithm.rollout_correction.rollout_is_threshold",
        "algorithm.rollout_correction.rollout_rs_threshold",
    ]
)
"""Keys that take a text although their default is a number or a switch: a path, `after_each_epoch`, `0.5_2.0`. Source:
`trainer/ppo/ray_trainer.py`, `trainer/sft_trainer.py`, `trainer/ppo/rollout_corr_helper.py`."""

_ALSO_COUNTED = ("reshard_after_forward", "threshold")
"""Ends of keys that take a number although their default is a switch. Source: `fully_shard` of torch, to which
`utils/fsdp_utils.py` passes it on."""
_SWITCHES = frozenset(["yes", "no", "on", "off", "y", "n", "t", "f"])


@rule("VL708", "wrong-type", on=Launch, severity=ERROR, since="0.1")
def check(launch: Launch, ctx: Context) -> Iterator[Finding]:
    view = view_of(launch)
    if view is None:
        return
    for refusal, override in refusals(launch, "type"):
        if refused_everywhere(launch, override, "type"):
            yield report(ctx, override, f"{refusal.message}: Hydra stops", help="write a value of the same kind")
    for override in view.config.set_by.values():
        if override.value.state is not State.KNOWN or override.form is Form.DELETE:
            continue
        if _is_wrong(view, override) and everywhere(launch, partial(_is_wrong, override=override)):
            yield _finding(ctx, view, override)


def _is_wrong(view: View, override: Override) -> bool:
    key, data = override.key, override.value.data
    schema = view.schema
    if key in schema.sections and key not in schema.leaves:
        return not isinstance(data, dict) and data is not None and key not in schema.groups
    if isinstance(data, str) and "${" in data:
        return False  # what it refers to counts
    kinds = schema.kind(key)
    if isinstance(data, str) and data.lower() == "none":
        return view.stock and _takes_null(view, key)
    if isinstance(data, str) and (key in _ALSO_TEXT or (not data and _from_variable(override))):
        return False
    given = kind_of(data)
    if not kinds or not given or given == "null" or given in kinds or "dict" in kinds:
        return False
    return _clash(given, kinds - {"null"}, override)


def _from_variable(override: Override) -> bool:
    span = override.word.span
    return span is None or "$" in span.text


def _takes_null(view: View, key: str) -> bool:
    """Whether null says something for the key, so that the text `None` is not what was meant."""
    return key in view.schema.leaves and (view.schema.leaves[key] is None or "null" in view.schema.kind(key))


def _clash(given: str, kinds: frozenset[str], override: Override) -> bool:
    if given == "int" and kinds == {"bool"}:
        return override.value.data not in (0, 1) and not override.key.endswith(_ALSO_COUNTED)
    if given in ("int", "bool"):
        return kinds == {"list"}
    if given == "float":
        data = override.value.data
        whole = isinstance(data, float) and data.is_integer()
        return kinds == {"int"} and whole and "." not in (override.value_text.known or "")
    return bool(kinds) and kinds <= {"bool", "int", "float"}


def _finding(ctx: Context, view: View, override: Override) -> Finding:
    key, data = override.key, override.value.data
    shown = show(data)
    if key in view.schema.sections and key not in view.schema.leaves:
        message = f"{key} is a section: {shown} takes the place of all its keys"
        return report(ctx, override, message, help=f"write {key}.<name>=…")
    if isinstance(data, str) and data.lower() == "none":
        message = f"{shown} is the text '{shown}' for Hydra, not the null that {key} takes"
        return report(ctx, override, message, help="write null", at_value=True)
    kinds = view.schema.kind(key) - {"null"}
    wanted = " or ".join(_WORDS[each] for each in _ORDER if each in kinds and each in _WORDS)
    said = f"{shown} is {_what(data)}" if shown else "nothing is given"
    message = f"{key} takes {wanted} in {label_of(view)}, and {said}"
    help_ = "write True or False" if isinstance(data, str) and data.lower() in _SWITCHES else f"write {wanted}"
    if isinstance(data, int) and kinds == {"bool"}:
        message = f"{key} is a switch in {label_of(view)}, and {shown} counts as True"
        return report(ctx, override, message, help=f"write {wanted}", at_value=True, severity=WARNING)
    if isinstance(data, float):
        help_ = f"write {int(data)}"
    return report(ctx, override, message, help=help_, at_value=True)


def _what(data: object) -> str:
    if isinstance(data, str):
        return "a text, which counts as true" if data.lower() in _SWITCHES else "a text"
    return _WORDS.get("list" if isinstance(data, list) else kind_of(data), "a section").replace("a number", "a float")
