"""`+key=value` is for keys that the config does not have.

Hydra refuses `+` on a key that already holds a value: `Could not append to config. An item is already at 'x'`, and the
run stops at once. It happens when a launcher written for an older VeRL meets one whose config lists the key by now, and
when a line is copied from another launcher. A key whose value is null may be set with `+`, and so may lists and
sections: those are not reported.

Fix: take the `+` away, as `--fix` does; of two overrides of one key keep the one that is meant (the unsafe fix keeps
the last). `++key=value` works whether or not the key is there, for launchers that must run on several versions.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.launch import Launch
from verlint.finding import Finding
from verlint.rule import ERROR, Context, rule
from verlint.value import show
from verlint.verl.rows import NO_KEY, UNKNOWN
from verlint_rules.config.reporting import label_of, report
from verlint_rules.config.rewriting import without_plus, without_word
from verlint_rules.config.view import refusals, refused_everywhere, view_of


@rule("VL704", "plus-on-existing", on=Launch, severity=ERROR, since="0.1", fixable="safe", words=("+",))
def check(launch: Launch, ctx: Context) -> Iterator[Finding]:
    view = view_of(launch)
    if view is None:
        return
    for _, override in refusals(launch, "exists"):
        if not refused_everywhere(launch, override, "exists"):
            continue
        held = view.value(override.key)
        setter = view.config.set_by.get(override.key)
        what = "" if held in (UNKNOWN, NO_KEY) else f", it is {show(held)}"  # type: ignore[arg-type]
        where = f"the config of {label_of(view)} has" if setter is None else "an override before this one sets"
        message = f"{where} {override.key}{what}: with + Hydra stops with 'An item is already at'"
        help = f"write {override.key}=… without the +" if setter is None else "keep the one that is meant"
        finding = report(ctx, override, message, help=help)
        if setter is None:
            yield without_plus(finding, override)
        else:  # without the + it would be there twice
            yield without_word(finding.with_related(setter.key_span, "set here"), setter, safe=False)
