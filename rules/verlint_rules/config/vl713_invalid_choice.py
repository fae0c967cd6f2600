"""Keys that take one of a few names must hold one that the version in use knows.

`algorithm.adv_estimator`, `actor.loss_agg_mode`, `actor.policy_loss.loss_mode`, `trainer.logger` and others are names
that VeRL looks up. Hydra takes any text for them, so a wrong one stops the run late: when the workers start, when the
first batch is trained, or, as for `trainer.resume_mode`, when the models are loaded already. New names come with nearly
each release (`opo` in 0.4.0, `gspo` in 0.6.0), and some go. Modes that were removed are told by VL726.

Some keys take a number or a text of a certain shape instead: the thresholds and options of
`algorithm.rollout_correction`, `rollout.trace`, `model.target_modules`. And a model is loaded only when its
`config.json`, where it is at hand, names one class under `architectures`.

Names are looked up for released versions and for checkouts; a name that a checkout's own code has is its own affair,
and so are runs that load a library (`model.external_lib`) or a reward function of their own. Under a best fit all
versions must agree.

Fix: write one of the names that the finding lists, or choose the version that has it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from verlint.experiment.launch import Launch
from verlint.finding import Finding
from verlint.languages.hydra.override import Form, Override
from verlint.rule import ERROR, Context, rule
from verlint.value import State, Value, show
from verlint.verl.choices import CHOICES, Choice
from verlint.verl.rows import NO_KEY, in_versions, meets
from verlint.verl.schema import facts, versions
from verlint_rules.config.rejections import rejections
from verlint_rules.config.reporting import label_of, report
from verlint_rules.config.view import View, everywhere, view_of


@rule("VL713", "invalid-choice", on=Launch, severity=ERROR, since="0.1")
def check(launch: Launch, ctx: Context) -> Iterator[Finding]:
    from verlint.verl.constraints.values import ROWS

    yield from rejections(launch, ctx, ROWS)
    view = view_of(launch)
    if view is None:
        return
    for row in CHOICES:
        override = view.config.set_by.get(row.key)
        if override is None or override.form is Form.DELETE or override.value.state is not State.KNOWN:
            continue
        if row.key.endswith("multi_turn.format") and _wrong(view, row) and _registers_parsers(ctx):
            continue
        for name in _wrong(view, row):
            if everywhere(launch, partial(_refuses, key=row.key, name=name)):
                yield _finding(ctx, view, row, override, name)


def _registers_parsers(ctx: Context) -> bool:
    """Whether code of the project may bring parsers of tool calls."""
    from verlint.verl import code

    return code.mentions(ctx.project.root, "ToolParser")


def _refuses(view: View, key: str, name: object) -> bool:
    return any(name in _wrong(view, row) for row in CHOICES if row.key == key)


def _wrong(view: View, row: Choice) -> list[object]:
    """The names that a key holds and must not hold."""
    if not view.stock or not in_versions(row.since, row.until, view.version) or not _is_asked(view, row):
        return []
    held = view.value(row.key)
    names = held if isinstance(held, list) else [held]
    allowed = allowed_names(row, view.version)
    if not allowed or held is NO_KEY or held == "???":
        return []
    return [each for each in names if isinstance(each, (str, bool, type(None))) and _is_wrong(view, row, each, allowed)]


def _is_wrong(view: View, row: Choice, name: object, allowed: list[object]) -> bool:
    if name in allowed or (row.suffix and isinstance(name, str) and name.removesuffix(row.suffix) in allowed):
        return False
    if name is None:
        return False  # asked for elsewhere, where it matters
    if view.checkout is not None:
        from verlint.verl import code

        return not isinstance(name, str) or not code.names(view.checkout, name)
    return view.plain


def _is_asked(view: View, row: Choice) -> bool:
    if any(meets(term, view.value(term.key)) is not True for term in row.when):
        return False
    return all(view.value(key) in (None, NO_KEY) for key in row.open_to)


def allowed_names(row: Choice, version: str) -> list[object]:
    """The names that a key takes in a version."""
    return list(row.names) if row.names else list(facts("registries", version).get(row.registry, ()))


def _finding(ctx: Context, view: View, row: Choice, override: Override, name: object) -> Finding:
    from difflib import get_close_matches

    allowed = allowed_names(row, view.version)
    shown = [show(each) for each in allowed]  # type: ignore[arg-type]
    word = show(name)  # type: ignore[arg-type]
    near = get_close_matches(word, shown, 2, 0.6)
    message = f"{word} is no {row.key} that {label_of(view).replace('every ', 'any ')} knows: {row.fate}"
    help_ = f"did you mean {near[0]}? It takes {', '.join(shown)}" if near else f"it takes {', '.join(shown)}"
    since = _since(row, name)
    if since:
        help_ += f"; {word} is there in VeRL {since}"
    return report(ctx, override, message, near=", ".join(near), help=help_, at_value=_is_placed(override.value))


def _since(row: Choice, name: object) -> str:
    """The released versions that know a name, in words."""
    rows = [each for each in CHOICES if each.key == row.key]
    found = [
        version
        for version in versions()
        if any(in_versions(each.since, each.until, version) and name in allowed_names(each, version) for each in rows)
    ]
    if not found:
        return ""
    return found[0] if len(found) == 1 else f"{found[0]} to {found[-1]}"


def _is_placed(value: Value) -> bool:
    return value.span is not None
