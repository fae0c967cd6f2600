"""A key that no code of VeRL reads must not be relied on.

Some keys stay in VeRL's config after the code that read them is gone. Setting one passes every check and changes
nothing: since 0.8 the engines clip gradients at `actor.optim.clip_grad`, and `actor.grad_clip=0.2` leaves that at 1.0;
since 0.4 `actor.clip_ratio=0.1` is shadowed by the defaults of `clip_ratio_low` and `clip_ratio_high`.

Silent when the value is the default, when the keys that count hold the same value or are all set as well, for forks and
checkouts that changed more than a few keys, and in a checkout whose code does read the key.

Fix: set the key that the finding names, or take the dead one away. The unsafe fix writes the successor where there is
one.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from verlint.experiment.launch import Launch
from verlint.finding import Finding
from verlint.languages.hydra.override import Form, Override
from verlint.rule import WARNING, Context, rule
from verlint.value import State, show
from verlint.verl.inert import DEAD, Dead
from verlint.verl.passthrough import is_handed_on
from verlint.verl.rows import NO_KEY, UNKNOWN, in_versions, meets
from verlint.verl.schema import Schema, facts
from verlint_rules.config.reporting import label_of, report
from verlint_rules.config.rewriting import with_key
from verlint_rules.config.view import View, everywhere, view_of


@rule("VL714", "dead-key", on=Launch, severity=WARNING, since="0.1", fixable="unsafe")
def check(launch: Launch, ctx: Context) -> Iterator[Finding]:
    view = view_of(launch)
    if view is None or not view.stock:
        return
    for override in view.config.set_by.values():
        if override.form is Form.DELETE or override.value.state is State.UNKNOWN:
            continue
        row = _row(view, override.key)
        if row is not None:
            if everywhere(launch, partial(_loses, key=override.key)):
                yield _shadowed(ctx, view, override, row)
        elif _is_dead(view, override.key) and everywhere(launch, partial(_is_dead, key=override.key)):
            message = f"no code of {label_of(view)} reads {override.key}: {_value(override)} has no effect"
            yield report(ctx, override, message, help="take it away")


# ---- keys by the rows


_ROWS: dict[str, list[Dead]] = {}
for _each in DEAD:
    _ROWS.setdefault(_each.key, []).append(_each)


def _row(view: View, key: str) -> Dead | None:
    return next((row for row in _ROWS.get(key, ()) if _applies(view, row)), None)


def _applies(view: View, row: Dead) -> bool:
    if not in_versions(row.since, row.until, view.version):
        return False
    if row.configs and view.schema.name.partition(" ")[0] not in row.configs:
        return False
    return all(meets(term, view.value(term.key)) is True for term in row.when)


def _loses(view: View, key: str) -> bool:
    """Whether the key is dead by a row, and what it says is not said by the keys that count."""
    row = _row(view, key)
    if row is None or not view.stock or _is_default(view, key):
        return False
    mine = view.value(key)
    if row.instead and all(each in view.config.set_by for each in row.instead):
        return False
    if mine is UNKNOWN:
        return bool(row.instead)
    others = [view.value(each) for each in row.instead]
    return not others or any(other is UNKNOWN or other != mine for other in others)


def _shadowed(ctx: Context, view: View, override: Override, row: Dead) -> Finding:
    if not row.instead:
        message = f"{label_of(view)} does not read {row.key}: {_value(override)} has no effect"
        return report(ctx, override, message, help="take it away")
    first = row.instead[0]
    counts = " and ".join(f"{_short(each)} {_shown(view, each)}" for each in row.instead)
    verb = "counts" if len(row.instead) == 1 else "count"
    message = f"{label_of(view)} does not read {row.key}: {counts} {verb}, not {_value(override)}"
    finding = report(ctx, override, message, help="set " + " and ".join(row.instead))
    if len(row.instead) == 1 and first not in view.config.set_by:
        finding = with_key(finding, override, first, safe=False)
    return finding


def _short(key: str) -> str:
    return ".".join(key.split(".")[-2:])


def _shown(view: View, key: str) -> str:
    found = view.value(key)
    return "" if found in (UNKNOWN, NO_KEY) else show(found)  # type: ignore[arg-type]


def _value(override: Override) -> str:
    return str(override.value)


# ---- keys by the list of the version


def _is_dead(view: View, key: str) -> bool:
    if view.released:
        return view.schema.is_dead(key) and view.stock and not _is_default(view, key)
    if view.checkout is None or not _listed(view.schema, view.version, key) or is_handed_on(key):
        return False
    if key not in view.schema or not view.stock or _is_default(view, key):
        return False
    from verlint.verl import code

    return not code.reads(view.checkout, key.rpartition(".")[2])


def _listed(schema: Schema, version: str, key: str) -> bool:
    """Whether the release that a checkout is nearest to has the key for dead."""
    return key.rpartition(".")[2] in facts("dead", version).get(schema.name.partition(" ")[0], ())


def _is_default(view: View, key: str) -> bool:
    try:
        default = view.schema.default(key)
    except KeyError:
        return False
    held = view.value(key)
    return held is not UNKNOWN and type(held) is type(default) and held == default
