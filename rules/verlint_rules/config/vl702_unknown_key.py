"""An override must be of a key that the config of the VeRL in use has.

Hydra closes VeRL's config before it applies overrides: a key that is not there stops the run at once with
`Could not override 'x'. Key 'x' is not in struct`. The key may be misspelt, in the wrong section, or of another VeRL:
paper repositories pin old versions, and each release renames and removes some dozen keys. Hydra's own advice, to write
`+key=…`, only helps where VeRL takes keys that its config does not list (`engine_kwargs`, `*_kwargs`, fields of a data
class); elsewhere the key is then ignored, or refused a moment later.

Which keys there are is that of the version said by `--verl`, a directive, the spec or the settings, of a checkout
beside the launcher, of a pin in a requirements file, or of the family's fork. Where nothing says it, the versions that
fit most keys are assumed: then a key that other versions have is a warning, one that is a key of VeRL but for a letter,
a plural or its section is an error, and all others are taken for those of a VeRL that was changed for the launch.

For EasyR1 (`verl.trainer.main config=FILE`) keys of VeRL and misspelt ones are reported.

A config of the project (of its own program with `@hydra.main`, or named by `--config-path`, `--config-dir` or
`--config-name`, also one that the launcher writes itself) is composed with the files that its search path takes from
VeRL: its own keys are known then.

Silent where a part of such a config is not at hand or hangs on the run, for keys of Hydra (`hydra.run.dir`), for
`+key` and `++key`, for renamed and removed keys (VL703), and for blocks of documents that only picture a command
(`...`).

Fix: write the key that is meant. With `--unsafe-fixes` a key that is nearly the same is written, or `+` where VeRL
takes it.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.launch import Launch
from verlint.finding import Finding
from verlint.rule import ERROR, WARNING, Context, rule
from verlint.verl.passthrough import is_open
from verlint_rules.config.reporting import ASK_VERSION, label_of, lacking, report
from verlint_rules.config.rewriting import with_key, with_plus
from verlint_rules.config.unknown import (
    Unknown,
    configs_with,
    engines_with,
    in_own_section,
    missing_part,
    near_keys,
    unknown_keys,
)
from verlint_rules.config.view import View, on_unnamed_fork, view_of

_MOST_TOLD = 60
"""So many keys of one launch are told one by one; who has more of them runs no VeRL that is known."""


@rule("VL702", "unknown-key", on=Launch, severity=ERROR, since="0.1", fixable="unsafe")
def check(launch: Launch, ctx: Context) -> Iterator[Finding]:
    if launch.program.entry == "verl.trainer.main" and "config" in launch:
        from verlint_rules.config.easyr1 import unknown_keys as of_easyr1

        yield from of_easyr1(launch, ctx)
        return
    view = view_of(launch)
    if view is None:
        return
    groups: dict[str, list[Unknown]] = {}
    for each in unknown_keys(launch):
        if each.rename is None:
            groups.setdefault(missing_part(view, each.override.key), []).append(each)
    _join_engine(view, groups)
    for number, (part, found) in enumerate(groups.items()):
        first = found[0]
        if number == _MOST_TOLD:
            if not _guessed(view):
                more = len(groups) - number - 1
                message = f"{lacking(view, f'key {part}')}, as with the {number} keys before and the {more} behind it"
                yield report(ctx, first.override, message, certain=first.certain)
            return
        finding = _section(ctx, view, part, first) if part != first.override.key else _key(ctx, view, first)
        if finding is None:
            continue
        for other in found[1:]:
            finding = finding.with_related(other.override.key_span, f"refused too: {other.override.key}")
        yield finding


def _join_engine(view: View, groups: dict[str, list[Unknown]]) -> None:
    """Put the sections of an engine to the key that was meant to choose it."""
    switch = next((part for part in groups if part.endswith(".model_engine")), None)
    if switch is not None:
        for part in [each for each in groups if each != switch and engines_with(view, each)]:
            groups[switch] += groups.pop(part)


def _key(ctx: Context, view: View, unknown: Unknown) -> Finding | None:
    override = unknown.override
    key, schema = override.key, view.schema
    if key in schema and isinstance(override.value.data, dict):
        message = f"{key} does not have all keys of this table: without + Hydra stops with 'Could not override'"
        help_ = f"write +{key}={override.value_text.shown}"
        return with_plus(report(ctx, override, message, certain=unknown.certain, help=help_), override)
    if _takes_more(view, key):
        message = f"the config of {label_of(view)} does not list {key}: Hydra stops with 'Key is not in struct'"
        help_ = f"write +{key}: VeRL takes keys there that its config does not list"
        return with_plus(report(ctx, override, message, certain=unknown.certain, help=help_), override)
    history = schema.history(key)
    near = near_keys(schema, key, history.spans)
    own = in_own_section(view, key)
    if _guessed(view) and not history.spans and not own and not _mistaken(view, key):
        return None  # a key of nobody's: most likely of a VeRL that was changed for it
    message = f"{lacking(view, f'key {key}')}: Hydra stops with 'Key is not in struct'"
    sure = not _guessed(view) or own or (near and not history.spans)
    severity = ERROR if sure else WARNING
    help_ = _help(near, history.text)
    finding = report(
        ctx, override, message, certain=unknown.certain, help=help_, severity=severity, near=", ".join(near)
    )
    return with_key(finding, override, near[0], safe=False) if _one_slip(near, key) else finding


def _section(ctx: Context, view: View, part: str, unknown: Unknown) -> Finding | None:
    history = view.schema.history(part)
    engines, configs = engines_with(view, part), configs_with(view, part)
    message = f"{lacking(view, f'section {part}')}: Hydra stops with 'Key is not in struct'"
    known = bool(history.spans or engines or configs)
    severity = WARNING if _guessed(view) and known else ERROR
    near = [] if known else view.schema.near(unknown.override.key)
    if _guessed(view) and not known and not _mistaken(view, unknown.override.key):
        return None
    help_ = _help(near, history.text, "section")
    certain, verify = unknown.certain, ASK_VERSION
    if engines:
        chosen = " or ".join(f"model_engine={each}" for each in engines)
        help_ = f"the section is there with {chosen}, which this call does not choose"
        if certain and view.launch.passes_arguments:
            certain, verify = False, "grep -rn model_engine= .  # does the caller choose it?"
    elif configs:
        help_ = f"the section is there with --config-name={configs[0]}"
    return report(
        ctx,
        unknown.override,
        message,
        certain=certain,
        help=help_,
        severity=severity,
        near=", ".join(near),
        verify=verify,
    )


def _mistaken(view: View, key: str) -> bool:
    """Whether a key that no version has is a known one with a slip, and none that somebody added. In a launch that sets
    added keys, one in another section may be one of them."""
    from verlint.verl.slips import is_misplaced, is_misspelt

    return is_misspelt(view.schema, key) or (is_misplaced(view.schema, key) and not on_unnamed_fork(view.launch))


def _takes_more(view: View, key: str) -> bool:
    """Whether VeRL takes the key although its config does not list it: below an open section, or a field of the data
    class that its section is made into."""
    head, _, name = key.rpartition(".")
    return is_open(key) or (view.released and name in view.schema.fields(view.schema.target(head)))


def _guessed(view: View) -> bool:
    return view.launch.verl is not None and view.launch.verl.guess


def _help(near: list[str], exists: str, what: str = "key") -> str:
    parts = [f"did you mean {near[0]}?"] if near else []
    if exists:
        parts.append(f"the {what} {exists}")
    return "; ".join(parts) or "remove the key, or write the one that is meant"


def _one_slip(near: list[str], key: str) -> bool:
    """Whether the first of the near keys is nearly the same or a section deeper, not just of the same name
    elsewhere."""
    head, _, name = key.rpartition(".")
    section, _, found = near[0].rpartition(".") if near else ("", "", "")
    return bool(near) and (section == head or (found == name and section.startswith(f"{head}.")))
