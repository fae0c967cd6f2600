"""The config that each launch of a launcher gets, and what another version of VeRL would make of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from verlint.experiment.launch import Launch
from verlint.languages.hydra.override import Form, Override
from verlint.record import dataclass
from verlint.report.commands import Masker
from verlint.report.display import visible
from verlint.value import Data, show
from verlint.verl.effective import config_name, said_version
from verlint.verl.in_use import call_of
from verlint.verl.interpolation import Unknown, has_reference, leaves
from verlint.verl.overriding import Applied, Refusal
from verlint.verl.schema import Schema


@dataclass(frozen=True, slots=True)
class Row:
    """A key with its value and where it comes from. `given`: an override sets it; `touched`: its value hangs on a key
    that an override sets."""

    key: str
    value: str
    origin: str
    given: bool = False
    touched: bool = False


def config_text(launches: Sequence[Launch], masker: Masker, *, all_keys: bool, diff: str = "") -> str:
    """The configs of the launches, one after the other. `diff` is the version to compare with."""
    out: list[str] = []
    for launch in launches:
        out.extend(_launch_lines(launch, masker, all_keys, diff))
        out.append("")
    if not launches:
        out.append("No launch of VeRL.")
    return "\n".join(visible(line) for line in out).rstrip("\n") + "\n"


def _launch_lines(launch: Launch, masker: Masker, all_keys: bool, diff: str) -> Iterator[str]:
    verl = launch.verl
    begin = launch.span.begin
    yield f"{launch.span.in_file().source.path}:{begin.line}  {masker.text(launch.program.name.shown)}"
    if verl is None or verl.schema is None or launch.config is None:
        known = "" if verl is None else f" of {verl.label}"
        yield f"  the config{known} is not known" + (f": {verl.problem}" if verl is not None and verl.problem else "")
        return
    by = "guessed: these versions fit the keys" if verl.guess else f"by {verl.source}"
    yield f"  {verl.label}, config {verl.found.config or verl.schema.name} ({by})"
    for refusal in launch.config.refusals:
        yield f"  refused  {masker.text(_refused(refusal))}"
    if diff:
        yield from (f"  {masker.text(line)}" for line in differences(launch, diff))
        return
    for row in rows_of(launch):
        if all_keys or row.given or row.touched:
            yield f"  {row.key}: {masker.text(row.value)}  # {row.origin}"


def _refused(refusal: Refusal) -> str:
    word = "" if refusal.override is None else f"{refusal.override.word.shown}: "
    return f"{word}{refusal.message}"


def rows_of(launch: Launch) -> list[Row]:
    """Every key of a launch's config, in the order of the config."""
    config, verl = launch.config, launch.verl
    if config is None or verl is None:
        return []
    raw = leaves(config.config)
    out: list[Row] = []
    for key, node in raw.items():
        setter = _setter(key, config)
        value = config.resolver.deep(node, tuple(key.split(".")))
        if setter is not None:
            out.append(Row(key, shown(value, setter), _origin(setter), given=True))
            continue
        place = verl.place(key)
        origin = f"default of {verl.origin}" if place is None else str(place)
        touched = False
        if isinstance(value, Unknown) and value.value is None and has_reference(node):
            value = node  # only the host knows it: the reference says more than its absence
        elif has_reference(node):
            origin += f" = {node}"
            touched = shown(value) != shown(verl.schema.default(key)) if verl.schema and key in verl.schema else True
        out.append(Row(key, shown(value), origin, touched=touched))
    return out


def _setter(key: str, config: Applied) -> Override | None:
    """The override that gives a key its value: of the key itself, or of a section above it."""
    found = config.set_by.get(key)
    head = key
    while found is None and "." in head:
        head = head.rpartition(".")[0]
        above = config.set_by.get(head)
        if above is not None and isinstance(above.value.data, dict):
            found = above
    return found


def _origin(override: Override) -> str:
    hops = [hop.span for hop in override.value.hops if hop.span is not None]
    span = hops[0] if len(hops) > 1 else override.value.span or override.word.span
    return "override" if span is None else str(span)


def shown(value: object, override: Override | None = None) -> str:
    """A value as VeRL's configs write it, unknown ones by their names."""
    if isinstance(value, Unknown):
        if override is not None and override.value_text.parts:
            return override.value_text.shown
        return str(value)
    if isinstance(value, list):
        return "[" + ", ".join(shown(each) for each in value) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {shown(each)}" for key, each in value.items()) + "}"
    data: Data = value  # type: ignore[assignment]
    return show(data)


# ---- another version


def differences(launch: Launch, version: str) -> list[str]:
    """What changes for a launch on another version, a line each: keys that are unknown or dead there, keys with other
    defaults that the launch leaves out."""
    mine = launch.verl.schema if launch.verl is not None else None
    assert mine is not None
    found = said_version(
        version, "--diff", config_name(call_of(launch.program.entry, launch.program.arguments), version)
    )
    other = found.schema
    if other is None:
        return [f"no comparison with VeRL {version}: {found.problem}"]
    out = [f"on {found.label}:"]
    given: set[str] = set()
    for override in launch.overrides:
        if override.key and override.error is None:
            given.add(override.key)
            line = _on_other(override, mine, other)
            if line:
                out.append(f"  {line}")
    out += [f"  {line}" for line in _other_defaults(mine, other, given)]
    return out if len(out) > 1 else [f"nothing changes on {found.label}"]


def _on_other(override: Override, mine: Schema, other: Schema) -> str:
    key = override.key
    history = other.history(key)
    if key in other:
        if history.rename is not None:
            new = f"{history.rename.new} counts instead" if history.rename.new else "it changes nothing"
            note = f" ({history.rename.note})" if history.rename.note else ""
            return f"{key}: still there, but {new}{note}"
        return f"{key}: no code reads it (dead)" if other.is_dead(key) and not mine.is_dead(key) else ""
    if other.is_passthrough(key) or (override.form in (Form.ADD, Form.FORCE) and key not in mine):
        return ""
    if history.rename is not None and history.rename.new:
        return f"{key}: renamed to {history.rename.new} since {history.rename.since}"
    near = other.near(key)
    there = f"; {history.text}" if history.text else ""
    return f"{key}: unknown" + (f", near: {', '.join(near)}" if near else "") + there


def _other_defaults(mine: Schema, other: Schema, given: set[str]) -> Iterator[str]:
    for key in mine.leaves:
        if key in given or key.endswith("_target_") or key not in other.leaves:
            continue
        before, after = mine.leaves[key], other.leaves[key]
        if type(before) is not type(after) or before != after:
            if has_reference(before) or has_reference(after):
                before, after = mine.default(key), other.default(key)  # type: ignore[assignment]
                if type(before) is type(after) and before == after:
                    continue
            yield f"{key}: default {shown(before)} becomes {shown(after)}"
