"""`~key` is for keys that the config has and that are not null.

Hydra refuses to delete what is not there: `Could not delete from config. 'x' does not exist.` It says the same of a key
that holds null, and `~key=value` also needs the value to be the one the key holds. The run stops at once.

Fix: remove the override, as `--fix` does: what it asks for is so already. When the key was misspelt, write it right.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.launch import Launch
from verlint.finding import Finding
from verlint.rule import ERROR, Context, rule
from verlint.value import State, show
from verlint.verl.rows import NO_KEY, UNKNOWN
from verlint_rules.config.reporting import label_of, report
from verlint_rules.config.rewriting import without_word
from verlint_rules.config.view import refusals, refused_everywhere, view_of


@rule("VL706", "delete-missing", on=Launch, severity=ERROR, since="0.1", fixable="safe", words=("~",))
def check(launch: Launch, ctx: Context) -> Iterator[Finding]:
    view = view_of(launch)
    if view is None:
        return
    for _, override in refusals(launch, "missing"):
        if not refused_everywhere(launch, override, "missing"):
            continue
        key, held = override.key, view.value(override.key)
        if held is NO_KEY or held is None:
            what = "has no" if held is NO_KEY else "has null for"
            message = f"the config of {label_of(view)} {what} {key}: Hydra cannot delete it and stops"
            near = view.schema.near(key) if held is NO_KEY else []
            finding = report(ctx, override, message, near=", ".join(near), help="remove the override")
            yield without_word(finding, override, safe=not near)
        elif held is not UNKNOWN and override.value.state is State.KNOWN:
            message = f"{key} is {show(held)}, not {override.value}: Hydra deletes it under that value only and stops"  # type: ignore[arg-type]
            yield report(ctx, override, message, help=f"write ~{key}")
