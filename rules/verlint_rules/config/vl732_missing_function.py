"""A function or class that a launch takes from a file must be in it.

`custom_reward_function.name`, `data.custom_cls.name` and, in EasyR1, what stands behind the colon of
`worker.reward.reward_function` are looked up in the file that is named beside them. VeRL does so when the models are
loaded already, and stops with `Reward function 'compute_reward' not found`. A name that is not given is
`compute_score`.

An agent loop is looked up in the file of `agent_loop_config_path`: a `default_agent_loop` that neither it nor VeRL has
stops the first step with `Agent loop … not registered`.

The classes of tools, interactions and agent loops (`class_name`, `_target_` in the files of `tool_config_path`,
`interaction_config_path` and `agent_loop_config_path`) are looked for in the packages of the project.

Looked at are files of the project that hold the name nowhere: not as a function, not as an import, not in a text.
A file that the launcher writes itself is looked at as it is written.

Silent for files that make names as they run (`import *`, `globals()`, `__getattr__`), for files that another program
writes or changes first, and about the name that is not given where a config of one's own (`--config-name`) may give it.

Fix: write the name of the function in the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from verlint.experiment.launch import Launch
from verlint.finding import Finding
from verlint.lazy import pattern
from verlint.rule import ERROR, Context, rule
from verlint.source import Source
from verlint_rules.config.own_code import REWARDS_AND_CLASSES, is_made, named_objects, source_of, written_before
from verlint_rules.reading.named_files import is_filled, join, seen_from

_TURNS = "actor_rollout_ref.rollout.multi_turn"
_OF_CLASSES = (
    f"{_TURNS}.tool_config_path",
    f"{_TURNS}.interaction_config_path",
    "actor_rollout_ref.rollout.agent.agent_loop_config_path",
)
_CLASS = pattern(
    r"(?m)^[ \t]*(?:-[ \t]+)?(?:class_name|_target_)[ \t]*:[ \t]*[\"']?((?:\w+\.)+\w+)[\"']?[ \t]*(?:#.*)?$"
)
"""Source: `tools/utils/tool_registry.py`, `interactions/utils/interaction_registry.py`, `agent_loop.py` of VeRL."""
_AGENT = "actor_rollout_ref.rollout.agent"
_OF_VERL = ("single_turn_agent", "tool_agent")
"""The agent loops that VeRL registers itself. Source: `experimental/agent_loop` of 0.5 to 0.9.1."""
_NAMED = pattern(r"(?m)^\s*(?:-\s+)?name:\s*[\"']?([\w.-]+)")
_DEFINED = pattern(r"(?m)^(?:async[ \t]+)?(def|class)[ \t]+(\w+)")
_ANYTHING = pattern(r"import[ \t]+\*|(?:globals|vars|locals)\(\)|setattr\(|__dict__|__getattr__|sys\.modules|\bexec\(")


@rule(
    "VL732",
    "missing-function",
    on=Launch,
    severity=ERROR,
    since="0.1",
    words=(
        "custom_reward_function",
        "custom_cls",
        "reward.reward_function",
        "verl.trainer.main ",
        "--config-name",
        "default_agent_loop",
        "tool_config_path",
        "interaction_config_path",
        "agent_loop_config_path",
    ),
)
def check(launch: Launch, ctx: Context) -> Iterator[Finding]:
    yield from _agent_loop(launch, ctx)
    yield from _classes(launch, ctx)
    for path, word, name in named_objects(launch):
        written = written_before(launch, path, ctx)
        source = source_of(launch, path, ctx) if written is None else written
        if source is None or _ANYTHING.search(source.text) or re.search(rf"\b{re.escape(name)}\b", source.text):
            continue
        if is_made(launch, path, ctx) if written is None else _has_unknowns(written):
            continue
        from difflib import get_close_matches

        wanted = "class" if word.known and name[:1].isupper() else "def"
        every = [found for found in _DEFINED.findall(source.text) if not found[1].startswith("_")]
        defined = [found for kind, found in every if kind == wanted] or [found for _, found in every]
        near = get_close_matches(name, defined, 1, 0.6) or (defined if len(defined) == 1 else [])
        by_default = ", the name that counts when none is given" if word is path else ""
        finding = ctx.fail(
            word,
            f"{path.known} has no {name}{by_default}: the run stops once its models are loaded",
            near=near[0] if near else "",
            help=_help(launch, near, defined, given=word is not path),
        )
        yield finding.with_related(source.span(0, len(source.line(1))), "the file")


def _agent_loop(launch: Launch, ctx: Context) -> Iterator[Finding]:
    """A default agent loop that the file of agent loops does not hold."""
    named, file = (
        launch.by_key.get(f"{_AGENT}.default_agent_loop"),
        launch.by_key.get(f"{_AGENT}.agent_loop_config_path"),
    )
    name = None if named is None else named.value_text.known
    if named is None or not name or file is None or name in _OF_VERL:
        return
    path = seen_from(file.value_text, launch.command)
    source = source_of(launch, path, ctx, (".yaml", ".yml"))
    if source is None or is_made(launch, path, ctx):
        return
    held = _NAMED.findall(source.text)
    registered = any(f'"{name}"' in text or f"'{name}'" in text for where, text in ctx.project.tree.texts())
    if not held or name in held or registered:
        return
    from difflib import get_close_matches

    near = get_close_matches(name, [*held, *_OF_VERL], 1, 0.6)
    yield ctx.fail(
        named.value_text,
        f"{path.known} holds no agent loop {name}: the first step stops with 'Agent loop {name} not registered'",
        near=near[0] if near else "",
        help=f"did you mean {near[0]}?" if near else f"it holds {', '.join(held[:5])}",
    ).with_related(source.span(0, len(source.line(1))), "the file")


def _classes(launch: Launch, ctx: Context) -> Iterator[Finding]:
    """The classes of tools, interactions and agent loops that a file names and the project's code does not have."""
    for key in _OF_CLASSES:
        override = launch.by_key.get(key)
        if override is None:
            continue
        path = seen_from(override.value_text, launch.command)
        source = source_of(launch, path, ctx, (".yaml", ".yml"))
        if source is None or is_made(launch, path, ctx):
            continue
        for match in _CLASS.finditer(source.text):
            module, _, name = match[1].rpartition(".")
            said = _lacking(launch, module, name, ctx)
            if said:
                place = source.span(match.start(1), match.end(1))
                finding = ctx.fail(place, f"{said}: the workers stop when they load {key.rpartition('.')[2]}")
                yield finding.with_related(override.value_text.span or launch.head, "the launch that reads it")


def _lacking(launch: Launch, module: str, name: str, ctx: Context) -> str:
    """What is not there of a class by its dotted name, "" for one that may be there."""
    from verlint_rules.branches.vl308_entry_module import python_homes

    tree = ctx.project.tree
    variant = next(iter(ctx.project.started_at(launch.command.span.order())), None)
    top, path = module.partition(".")[0], module.replace(".", "/")
    places = (
        [] if variant is None else [base for base in python_homes(variant, tree) if is_filled(tree, join(base, top))]
    )
    if not places or (top == "verl" and not tree.exists(join(places[0], "verl/__init__.py"))):
        return ""
    for base in places:
        source = tree.source(join(base, f"{path}.py")) or tree.source(join(base, f"{path}/__init__.py"))
        if source is not None:
            there = _ANYTHING.search(source.text) or re.search(rf"\b{re.escape(name)}\b", source.text)
            return "" if there else f"{module} has no {name}"
    above = path.rpartition("/")[0]
    beside = tree.listing(join(places[0], above)) if above else []
    return f"there is no module {module}" if any(each.endswith(".py") for each in beside) else ""


def _has_unknowns(written: Source) -> bool:
    from verlint.languages.bash.made_files import HOLE

    return HOLE in written.text


def _help(launch: Launch, near: list[str], defined: list[str], given: bool) -> str:
    if near and given:
        return f"did you mean {near[0]}?"
    if near:
        section = (
            "reward.custom_reward_function" if REWARDS_AND_CLASSES[1][0] in launch.by_key else "custom_reward_function"
        )
        return f"write {section}.name={near[0]}"
    return f"it has {', '.join(defined[:5])}" if defined else ""
