"""A setting that stands in a launcher should reach the launch.

`use_dynamic_bsz=True` at the top changes nothing when no word of the command takes `${use_dynamic_bsz}` up: the key
keeps its default, while whoever reads the launcher takes it for set. It happens when a block of overrides is copied
without one of its lines, or when a number is written into the command later on. `model.path=model_path` without a
dollar sign gives the key the name of the variable instead of its value.

Looked at are variables with a known value, named like a key of VeRL (`test_freq`, `model_path` for `model.path`), that
the launcher uses nowhere. A warning where the launch gives the key another value, an error where it gives the name
itself, an information where the key keeps a default that differs. Silent where the use is commented out, where some
key of that name has the same value or one that is not known, and where a sourced file or `eval` may use the variable.

An option of the launcher that fills a variable which nothing uses, `--rollout_n) ROLLOUTN="$2"` beside
`rollout.n=$ROLLOUT_N`, is taken and forgotten.

A choice of the caller should reach it too: `N=${N:-8}`, `: ${N:=8}` or `N=${1:-8}` is of no use where the script sets
`N=8` further below, and nothing takes `$N` up in between. That is said where both stand outside of conditions, loops
and functions.

Fix: give the key the variable, `trainer.test_freq=${test_freq}`, or delete the assignment.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from verlint.experiment.launch import Launch
from verlint.experiment.places import assignments_by_name, variants_in
from verlint.experiment.script import Script
from verlint.finding import Edit, Finding, Safety
from verlint.languages.bash.syntax import Assign, Case, DoubleQuoted, Node, Param, Program, Simple, Word
from verlint.languages.bash.walk import literal_word, walk
from verlint.lazy import pattern
from verlint.record import dataclass
from verlint.rule import ERROR, INFO, WARNING, Context, rule
from verlint.source import Source, Span
from verlint.value import Value
from verlint_rules.shell.unset_names import names_of

_MINOR = ("critic.", "reward_model.", "reward.", "distillation.")
"""Sections whose keys are named like those of the policy; nobody means them alone."""

_HARMLESS = frozenset(["export", "echo", "printf", "set", "shopt", "ulimit", "umask", "cd", "mkdir", ":", "hash"])
"""Commands that use no variable but those that they name."""

_BY_NAME = pattern(r"\$\{!|\b(?:declare|local|typeset)[ \t]+-n\b")
_SHARES = pattern(r"\bset[ \t]+-(?:\w*a\w*|o[ \t]+allexport)\b|\benvsubst\b")
"""All variables are for other programs too."""
_MARKS = ("${!", "declare ", "declare\t", "local ", "local\t", "typeset ", "typeset\t")
"""Variables that are read by a name made at run time."""


@dataclass(frozen=True)
class Setting:
    """A variable that is used nowhere, its value and its place."""

    name: str
    value: str
    span: Span


@rule("VL925", "unused-setting", on=Script, severity=WARNING, since="0.1", fixable="unsafe")
def check(script: Script, ctx: Context) -> Iterator[Finding]:
    if script.document:
        return
    yield from _overwritten(script, ctx)
    yield from _idle_options(script, ctx)
    settings = list(_unused(script, ctx))
    if not settings:
        return
    variants = variants_in(ctx.project, script.source)
    launches = [launch for each in variants if (launch := ctx.project.launch(each.command)) is not None]
    for setting in settings:
        found = [_compare(setting, launch, ctx) for launch in launches]
        if found and found[0] is not None and None not in found:
            yield found[0]


def _overwritten(script: Script, ctx: Context) -> Iterator[Finding]:
    """Names that are taken from the caller, and then set all the same before anything uses them."""
    for text, program in script.syntax:
        chosen: dict[str, Node] = {}
        for name, node in _plain_assignments(program):
            first = chosen.pop(name, None)
            if not isinstance(node, Assign) or _takes_the_callers(node):
                chosen[name] = node
            elif first is not None and not node.append and _is_free(name, first, node, text, program):
                finding = ctx.fail(
                    text.span(node.start, node.end),
                    f"{name} is set again before anything uses it: what the caller chose is lost",
                    help="delete this line, or the one that takes the value of the caller",
                )
                yield finding.with_related(text.span(first.start, first.end), "taken from the caller")


def _idle_options(script: Script, ctx: Context) -> Iterator[Finding]:
    """Options of a launcher whose value nothing takes up: `--rollout_n) ROLLOUTN="$2"` where `ROLLOUT_N` is used."""
    names, text = names_of(script), script.source.text
    if names.open or names.sources or "case" not in text or _SHARES.search(text) is not None or _reads_by_name(text):
        return
    if any(variant.entry is not script for variant in variants_in(ctx.project, script.source)):
        return  # it may be sourced, or be a part of another
    for source, program in script.syntax:
        for case in (each for each in program.nodes if isinstance(each, Case)):
            for name, node in _from_arguments(case):
                if names.mentions.get(name) or name in names.guarded or name in names.exported:
                    continue
                if re.search(rf"\$\{{?{name}\b", text):
                    continue  # in a comment, or in a text for another program
                near = _used_like(name, names.mentions)
                finding = ctx.fail(
                    source.span(node.start, node.end),
                    f"{name} is used nowhere: what the caller passes here has no effect",
                    near=near,
                    help=f"did you mean {near}?" if near else f"use ${name}, or take the option away",
                )
                yield finding


def _from_arguments(case: Case) -> Iterator[tuple[str, Assign]]:
    """The variables that the branches of a `case` fill with the next argument, `NAME="$2"`."""
    for node in walk(case):
        only = _only_parameter(node.value) if isinstance(node, Assign) and isinstance(node.value, Word) else None
        if isinstance(node, Assign) and only is not None and only.name in ("1", "2") and not only.indirect:
            yield node.name, node


def _used_like(name: str, used: Mapping[str, int]) -> str:
    from difflib import get_close_matches

    joined = name.replace("_", "").lower()
    same = next((each for each in used if each != name and each.replace("_", "").lower() == joined), "")
    return same or next(iter(get_close_matches(name, [each for each in used if each.isupper()], 1, 0.75)), "")


def _reads_by_name(text: str) -> bool:
    """Whether variables are read by a name made at run time."""
    return any(each in text for each in _MARKS) and _BY_NAME.search(text) is not None


def _plain_assignments(program: Program) -> Iterator[tuple[str, Node]]:
    """The assignments outside of all conditions, loops and functions, also those of `: ${NAME:=…}`."""
    for group in program.groups:
        for item, background in group.items:
            commands = item.items[0][1].commands
            command = commands[0]
            if background or len(item.items) > 1 or len(commands) > 1 or not isinstance(command, Simple):
                continue
            name = literal_word(command.words[0]) if command.words else "export"
            if name == ":":
                only = (_only_parameter(each) for each in command.words[1:] if isinstance(each, Word))
                yield from ((each.name, each) for each in only if each is not None and each.op in (":=", "="))
            elif name == "export":
                yield from ((each.name, each) for each in command.assigns)
                yield from ((each.name, each) for each in command.words if isinstance(each, Assign))


def _takes_the_callers(assign: Assign) -> bool:
    """`NAME=${NAME:-…}`, `NAME=${1:-…}`, `NAME=$1`"""
    only = _only_parameter(assign.value) if isinstance(assign.value, Word) else None
    if only is None or only.index is not None or only.indirect:
        return False
    if only.name.isdigit():
        return only.name != "0" and only.op in ("", ":-", "-", ":=", "=", ":?", "?")
    return only.name == assign.name and only.op in (":-", "-", ":=", "=")


def _only_parameter(word: Word) -> Param | None:
    """The expansion that a word is, quoted or not; None for other words."""
    parts = word.parts
    if len(parts) == 1 and isinstance(parts[0], DoubleQuoted):
        parts = parts[0].parts
    only = parts[0] if len(parts) == 1 else None
    return only if isinstance(only, Param) else None


def _is_free(name: str, first: Node, last: Assign, text: Source, program: Program) -> bool:
    """Whether nothing can have used a name from one assignment to the other: it is not named in between, and nothing is
    run that might find it in its environment, or is a function."""
    behind = last.start + len(last.name)
    between = f"{text.text[first.end : last.start]}={text.text[behind : last.end]}"
    if last.index is not None or re.search(rf"\b{name}\b|\$\{{!", between):
        return False
    commands = (node for node in program.simple if first.end <= node.start < last.start and node.words)
    return all(literal_word(node.words[0]) in _HARMLESS for node in commands)


def _unused(script: Script, ctx: Context) -> Iterator[Setting]:
    """The variables of a launcher that nothing in it uses, with one known value each."""
    names = names_of(script)
    text = script.source.text
    if names.open or names.sources or _reads_by_name(text):
        return
    for name in names.assigned:
        if "_" not in name or names.mentions.get(name) or name in names.guarded or name in names.exported:
            continue
        if f"${name}" in text or f"${{{name}" in text:
            continue  # a use that is commented out, or a text for another program
        given = assignments_by_name(ctx.project, script.source).get(name, ())
        only = given[0] if len(given) == 1 and not (given[0].exported or given[0].prefix_of) else None
        if only is not None and only.value is not None and only.value.known:
            yield Setting(name, only.value.known, only.span)


def _compare(setting: Setting, launch: Launch, ctx: Context) -> Finding | None:
    """What a launch has in the key that the variable is named like; None when that is no fault."""
    return _without_dollar(setting, launch, ctx) or _other_value(setting, launch, ctx)


def _without_dollar(setting: Setting, launch: Launch, ctx: Context) -> Finding | None:
    for override in launch.overrides:
        if override.value_text.known == setting.name and override.value.span is not None:
            finding = ctx.fail(
                override.value,
                f"`$` is missing: {override.key} gets the text `{setting.name}`, and that variable is used nowhere",
                help=f"write ${setting.name}",
                severity=ERROR,
            ).with_related(setting.span, "the variable")
            span = override.value.span.in_file()
            if span.text != setting.name:
                return finding
            return finding.with_fix("use the variable", Edit(span, f"${setting.name}"), safety=Safety.UNSAFE)
    return None


def _other_value(setting: Setting, launch: Launch, ctx: Context) -> Finding | None:
    keys = _keys(setting.name, launch)
    values = {key: launch[key] for key in keys}
    if not keys or any(_is_open(value) or _same(value, setting.value) for value in values.values()):
        return None
    key = next((key for key in keys if key in launch), keys[0])
    if key not in launch and (launch[key].data is None or not launch.version):
        return None  # null is worked out from other keys
    shown = f"{key} is {launch[key]}" + ("" if key in launch else ", its default")
    finding = ctx.fail(
        setting.span,
        f"{setting.name} is used nowhere: {shown}, not {setting.value}",
        value=f"{setting.name} = {setting.value}",
        hops=(),
        help=f"write {key}=${{{setting.name}}}, or delete the assignment",
        severity=WARNING if key in launch else INFO,
    )
    return finding.with_related(launch[key].span if key in launch else launch.head, "what counts")


def _keys(name: str, launch: Launch) -> list[str]:
    """The keys that a variable of this name would be meant for: those given first, then those of the policy."""
    wanted = name.lower()
    every = dict.fromkeys([*launch.by_key, *launch.defaults])
    exact = [key for key in every if key.rpartition(".")[2] == wanted]
    found = exact or [key for key in every if _joined(key) == wanted]
    return [key for key in found if not key.startswith(_MINOR)] or [key for key in found if key in launch]


def _joined(key: str) -> str:
    """The last two parts of a key as a name: `model_path` for `actor_rollout_ref.model.path`."""
    return "_".join(key.split(".")[-2:])


def _is_open(value: Value) -> bool:
    return not value.decided and not value.has_default


def _same(value: Value, text: str) -> bool:
    data = str(value.data)
    if data.lower() == text.lower():
        return True
    try:
        return float(data) == float(text)
    except ValueError:
        return False
