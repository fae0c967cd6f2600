"""A config file of one's own must be one that its reader can put together.

Hydra and OmegaConf stop before anything is trained where a key stands twice in one mapping (`found duplicate key`),
where the defaults list names a config that is in no folder of the search path (`Could not load`), and where a `${…}`
refers to a key that is nowhere (`Interpolation key … not found`); the last one often only when the cluster is up and
the config is resolved.

Looked at are files that a launch takes as its config, and those of the project that they name in their defaults lists.
A missing config is reported where the VeRL in use is known and all folders of the search path are at hand; a broken
reference where VeRL's entry point, or a program that resolves its config, reads it. Silent for configs that the
launcher writes itself, and for references with a resolver (`${oc.env:X}`) or relative ones.

Fix: write each key once, name a config that is there, refer to a key that is there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from verlint.experiment.config_files import named_config, own_program, sources_of
from verlint.experiment.launch import Launch
from verlint.finding import Finding
from verlint.languages.yaml import parse_yaml
from verlint.lazy import pattern
from verlint.rule import ERROR, Context, rule
from verlint.source import Source, Span
from verlint_rules.config.view import View, view_of

_MISSING = pattern(r"(?:^|: )there is no (?:config )?([\w./-]+)(?:; there is [^;]*)?$")
_REFERENCE = pattern(r"\$\{([A-Za-z_]\w*(?:\.\w+)*)\}")
_RESOLVES = pattern(r"OmegaConf\.resolve\(|resolve=True")


@rule(
    "VL735",
    "broken-config",
    on=Launch,
    severity=ERROR,
    since="0.1",
    words=(
        "--config-",
        "-cn",
        "-cp",
        "-cd",
        ".py ",
        "-m agent",
        "-m recipe",
        "-m src",
        "-m train",
        "-m main",
        "-m scripts",
        "config=",
    ),
)
def check(launch: Launch, ctx: Context) -> Iterator[Finding]:
    if launch.stands_alone:
        return
    named = named_config(launch, ctx.project.tree)
    if named is None:
        return
    sources = sources_of(named, ctx.project.tree)
    for source in sources:
        yield from _twice(source, ctx)
    yield from _missing(launch, sources, ctx)
    yield from _unresolved(launch, ctx)


def _twice(source: Source, ctx: Context) -> Iterator[Finding]:
    for each in parse_yaml(source).duplicates:
        if each.key != "<<":
            message = f"{each.key} stands twice in one mapping: the file is refused with 'found duplicate key'"
            finding = ctx.fail(each.span, message, help="remove one of the two")
            yield finding.with_related(each.first, "first given here")


def _missing(launch: Launch, sources: list[Source], ctx: Context) -> Iterator[Finding]:
    """A config that a defaults list names and nobody has."""
    verl = launch.verl
    match = None if verl is None or verl.guess else _MISSING.search(verl.problem)
    if match is None:
        return
    name = match[1]
    if f"{name.rpartition('/')[2]}.yaml" in launch.command.span.in_file().source.text:
        return  # it writes the file
    place = _named_in(sources, name)
    if place is not None:
        near = _near(place.source, name, ctx)
        yield ctx.fail(
            place,
            f"the defaults list names {name}, which is in no folder of configs: Hydra stops with 'Could not load'",
            near=near,
            help=f"did you mean {near}?" if near else f"add {name}.yaml, or take the line away",
        )


def _named_in(sources: list[Source], name: str) -> Span | None:
    group, _, option = name.rpartition("/")
    wanted = rf"^[ \t]*-[ \t]+(?:override[ \t]+)?/?({re.escape(name)})(?:@\S+)?[ \t]*(?:#.*)?$"
    if group:
        chosen = rf"{re.escape(group)}(?:@\S+)?:[ \t]*({re.escape(option)})"
        wanted += rf"|^[ \t]*-[ \t]+(?:override[ \t]+)?/?{chosen}[ \t]*(?:#.*)?$"
    for source in sources:
        match = re.search(wanted, source.text, re.MULTILINE)
        if match is not None:
            return source.span(*match.span(1 if match[1] else 2))
    return None


def _near(source: Source, name: str, ctx: Context) -> str:
    import posixpath
    from difflib import get_close_matches

    folder = posixpath.dirname(ctx.project.tree.relative(source.path) or source.path)
    group, _, option = name.rpartition("/")
    there = [
        each.removesuffix(".yaml")
        for each in ctx.project.tree.listing(posixpath.join(folder, group) or ".")
        if each.endswith(".yaml")
    ]
    own = posixpath.basename(source.path).removesuffix(".yaml")
    near = get_close_matches(option, [each for each in there if each != own], 1, 0.6)
    return (f"{group}/{near[0]}" if group else near[0]) if near else ""


def _unresolved(launch: Launch, ctx: Context) -> Iterator[Finding]:
    """References to keys that are nowhere in the config."""
    view = view_of(launch)
    if view is None or view.launch.verl is None or view.launch.verl.guess or not _is_resolved(launch, view, ctx):
        return
    for override in launch.of_file:
        if launch.by_key.get(override.key) is not override or override.value.span is None:
            continue
        for target in _REFERENCE.findall(override.value_text.shown):
            if not _is_there(target, launch, view):
                message = (
                    f"`${{{target}}}` refers to a key that is nowhere: the run stops with 'Interpolation key not found'"
                )
                near = next(iter(view.schema.near(target)), "")
                yield ctx.fail(
                    override.value.span,
                    message,
                    value=f"{override.key} = {override.value_text.shown}",
                    near=near,
                    help=f"did you mean ${{{near}}}?" if near else "refer to a key that is there",
                )


def _is_there(target: str, launch: Launch, view: View) -> bool:
    if target in view.schema or target in launch.by_key or target.partition(".")[0] == "hydra":
        return True
    heads = target.split(".")
    if any(".".join(heads[:count]) in launch.by_key for count in range(1, len(heads))):
        return True  # below a value that holds more
    return any(key.startswith(f"{target}.") for key in launch.by_key)


def _is_resolved(launch: Launch, view: View, ctx: Context) -> bool:
    if launch.program.entry.startswith("verl.") or (view.stock and launch.verl is not None and launch.verl.found.entry):
        return True
    found = own_program(launch, ctx.project.tree)
    source = None if found is None else ctx.project.tree.source(found[0])
    return source is not None and _RESOLVES.search(source.text) is not None
