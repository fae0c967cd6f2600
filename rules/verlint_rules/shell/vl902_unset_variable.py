"""A variable that a launch rests on must be set somewhere.

bash puts nothing in place of a name that nobody has set, and says nothing: with `export DATA_DIR=data/set_a`, the
override `data.train_files=$TRAIN_DATA_DIR/train.parquet` becomes `/train.parquet`; `$EXP_NAME_v2` is the variable
`EXP_NAME_v2`, not `EXP_NAME` with an ending; `$COMMAND` in front of the overrides leaves the first override to be run
as a program.

Reported are names that look like a slip of a name that is set (other case, one letter, singular and plural, a glued
ending, a prefix or suffix too many or too few where the set name is used nowhere), names in lower case that nothing
sets, names that are first set below the launch that uses them, and a missing variable in place of the program that
overrides follow. It is an error where the word reaches a launch or a call of a script, else a warning; in documents,
where names in capitals stand for what the reader fills in, only slips count, as warnings.

Upper-case names without a similar set name, or with one in lower case, are left alone (the environment or a scheduler
may hold them), but need verification where two or more other launchers of the project give them a default,
`X=${X:-…}`. Left alone are names with a guard anywhere (`${X:-}`, `${X:?}`, a test), names set by `read`, `for`,
`getopts`, `mapfile`, `printf -v`, an option loop, a sourced file or an exporting caller, and every name of a script
that sources a file nobody has here or runs `eval`.

Fix: use the name that is set, set the variable, or ask for it with `${X:?}`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from verlint.experiment.places import assignments_in, variants_in
from verlint.experiment.project import Project
from verlint.experiment.python_programs import python_program
from verlint.experiment.script import Script
from verlint.experiment.stage import called_file
from verlint.experiment.variants import Variant
from verlint.finding import Edit, Finding, Safety
from verlint.languages.bash.syntax import Node, Param, Simple, Word
from verlint.languages.bash.walk import literal_word
from verlint.lazy import pattern
from verlint.record import dataclass
from verlint.rule import ERROR, WARNING, Context, rule
from verlint.source import Source
from verlint.value import Hole, Text
from verlint_rules.shell.call_words import called_loop, written_words
from verlint_rules.shell.illustration import is_illustration
from verlint_rules.shell.unset_names import Default, Unset, Use, from_outside, names_of, unset_names
from verlint_rules.shell.written_words import (
    is_launch,
    joins_within,
)

_OVERRIDE = pattern(r"[\"']?[+~]{0,2}[A-Za-z_][\w-]*(?:[./@][\w@-]+)+=")
_PRINTING = frozenset(["echo", "printf", "log", "info", "warn", "logger", "print", "die", "usage", ":"])
_MOST_RELATED = 5


@dataclass(frozen=True)
class _Landing:
    """Where a use ends up: in the words of a command that trains or calls a script, directly or through variables."""

    use: Use
    through: tuple[str, ...] = ()


@rule("VL902", "unset-variable", on=Script, severity=ERROR, since="0.1", fixable="safe")
def check(script: Script, ctx: Context) -> Iterator[Finding]:
    heads = list(_missing_heads(script, ctx))
    yield from (finding for _, finding in heads)
    named = {name for name, _ in heads}
    site = _Sites(script, ctx.project)
    yield from _set_too_late(script, site, ctx)
    for name, unset in unset_names(ctx.project, script).items():
        joined = all(joins_within(use.text, use.param.start, use.param.end) for use in unset.uses)
        if name not in named and not joined:
            found = _of_name(unset, script, site, ctx)
            if found is not None:
                yield found


class _Sites:
    """The commands of a script by place, and whether they start something."""

    def __init__(self, script: Script, project: Project) -> None:
        self.project = project
        self.source = script.source
        self.variants: dict[tuple[int, int], list[Variant]] = {}
        for variant in variants_in(project, script.source):
            span = variant.command.span
            self.variants.setdefault((id(span.source), span.start), []).append(variant)

    def at(self, text: Source, command: Simple) -> list[Variant]:
        """The variants of a command as written."""
        return self.variants.get((id(text), command.start), [])

    def assigned(self, use: Use) -> str | None:
        """What the assignment that a use stands in sets with the name empty, as `NAME=value`."""
        for each in assignments_in(self.project, self.source):
            if each.span.source is use.text and each.span.start <= use.param.start and use.param.end <= each.span.end:
                return None if each.value is None else f"{each.name}={_without(each.value, use.name).shown}"
        return None

    def stops(self, use: Use) -> bool:
        """Whether bash runs there with `set -u`, each time."""
        if use.command is not None and use.command.words and use.assign is None:
            around = [each.command.around for each in self.at(use.text, use.command)]
        else:
            around = [
                each.around
                for each in assignments_in(self.project, self.source)
                if each.span.source is use.text and each.span.start <= use.param.start < each.span.end
            ]
        return bool(around) and all(each.nounset for each in around)

    def starts(self, text: Source, command: Simple) -> bool:
        """Whether a command is a launch, or calls a script or a Python program."""
        return is_launch(text, command) or any(
            self.project.launch(each.command) is not None
            or called_file(each.command) is not None
            or python_program(each.command.argv) is not None
            for each in self.at(text, command)
        )


# ---- names that are set behind their use


def _set_too_late(script: Script, sites: _Sites, ctx: Context) -> Iterator[Finding]:
    """Names that the launches of a script use on its way down, and that are first set below."""
    names = names_of(script)
    if script.document or names.open:
        return
    seen: set[str] = set()
    for use in names.uses:
        place = names.assigned.get(use.name)
        if place is None or use.name in seen or use.name in names.guarded or from_outside(use.name):
            continue
        if place.source is not use.text or place.start < use.param.end or use.command is None:
            continue
        straight = _straight(script, use.text)
        if use.command.start not in straight or not any(start <= place.start < end for start, end in straight.items()):
            continue
        landing = _landing(use, script, sites)
        if landing is None:
            continue
        seen.add(use.name)
        line = place.source.position(place.start).line
        message = f"{use.name} is set in line {line} only, below this use: it is empty here"
        help_ = f"set {use.name} above the command"
        yield ctx.fail(use.span, message, help=help_).with_related(place, "set here, too late")


def _straight(script: Script, text: Source) -> dict[int, int]:
    """The commands of a text that are run one after the other on its way down, in no loop or function: start and
    end."""
    found: dict[int, int] = {}
    for group in script.program(text).groups:
        for item, _ in group.items:
            for _, pipeline in item.items:
                found.update({each.start: each.end for each in pipeline.commands if isinstance(each, Simple)})
    return found


# ---- names


def _of_name(unset: Unset, script: Script, sites: _Sites, ctx: Context) -> Finding | None:
    uses = [use for use in unset.uses if not (script.document and is_illustration(use.text.text))]
    landings = [found for use in uses if (found := _landing(use, script, sites)) is not None]
    if not uses:
        return None
    if unset.elsewhere is not None:
        return _as_elsewhere(unset, unset.elsewhere, landings, sites, ctx)
    if unset.near is None:
        return _without_near(unset, landings, sites, script, ctx)
    if unset.near.slip == "part" and not landings:
        return None
    return _finding(unset, landings, uses, sites, ERROR if landings and not script.document else WARNING, ctx)


def _without_near(
    unset: Unset, landings: Sequence[_Landing], sites: _Sites, script: Script, ctx: Context
) -> Finding | None:
    """A name in lower case that nothing sets."""
    telling = [each for each in landings if not _is_option_value(each.use, sites)]
    if telling:
        vanishes = all(_vanishes(each.use) for each in telling)
        return _finding(unset, telling, [each.use for each in telling], sites, WARNING if vanishes else ERROR, ctx)
    others = [use for use in unset.uses if use.command is not None and not _is_quiet(use)]
    if landings or not others:
        return None
    return _finding(unset, [], others, sites, WARNING, ctx)


def _as_elsewhere(
    unset: Unset, default: Default, landings: Sequence[_Landing], sites: _Sites, ctx: Context
) -> Finding | None:
    """A name in upper case, which the caller may set, without the default that other launchers give it."""
    if not landings:
        return None
    use = landings[0].use
    became = sites.assigned(use) if use.assign is not None else _became(use, sites)
    if became is None:
        return None
    then = "bash stops here (`set -u`)" if sites.stops(use) else f"bash makes {became} of this"
    return ctx.unsure(
        use.span,
        f"{unset.name} has no default here, as it has in {default.launchers} other launchers: unset, {then}",
        value="" if sites.stops(use) else _shown_value(became),
        help=f'{unset.name}="${{{unset.name}:-{default.text}}}"',
        verify=f'echo "${{{unset.name}:?}}"',
        severity=WARNING,
    ).with_related(default.span, "its default in another launcher")


def _landing(use: Use, script: Script, sites: _Sites) -> _Landing | None:
    """Where a use ends up in a command that starts something, followed through assignments."""
    names = names_of(script)
    seen: set[str] = set()
    waiting: list[tuple[Use, tuple[str, ...]]] = [(use, ())]
    while waiting:
        each, through = waiting.pop(0)
        if (
            each.command is not None
            and each.command.words
            and not each.redirect
            and sites.starts(each.text, each.command)
        ):
            return _Landing(use, through)
        target = each.assign.name if each.assign is not None else ""
        if target and target not in seen:
            seen.add(target)
            waiting += [(later, (*through, target)) for later in names.uses if later.name == target]
    return None


def _is_quiet(use: Use) -> bool:
    if use.redirect:
        return False
    return use.command is None or not use.command.words or _first(use.command) in _PRINTING


def _first(command: Simple) -> str:
    return literal_word(command.words[0]) if command.words else ""


def _vanishes(use: Use) -> bool:
    """Whether the use is a whole word without quotes, or a list: nothing is passed then."""
    if use.param.index is not None:
        return True
    return use.assign is None and use.word is not None and len(use.word.parts) == 1 and use.word.parts[0] is use.param


def _is_option_value(use: Use, sites: _Sites) -> bool:
    """Whether the use is all there is of the value of an option of a launcher: what that does is told by its call."""
    if use.command is None or not _vanishes(use):
        return False
    return any(called_loop(sites.project, variant) is not None for variant in sites.at(use.text, use.command))


# ---- the finding


def _finding(
    unset: Unset, landings: Sequence[_Landing], uses: Sequence[Use], sites: _Sites, severity: object, ctx: Context
) -> Finding:
    use = landings[0].use if landings else uses[0]
    near = unset.near
    became = _became(use, sites)
    message = f"{unset.name} is never set"
    if near is not None and near.slip == "glued":
        message = f"${unset.name} is a variable of its own, which is never set"
    elif near is not None:
        message += f", but {near.name} is"
    if sites.stops(use):
        message += ": under `set -u` bash stops here"
        became = None
    elif became is not None:
        message += f": bash makes {became} of this" if became else ": bash passes no word here"
    elif use.assign is not None:
        became = sites.assigned(use)
        message += f": bash puts nothing into {use.assign.name} for it"
    finding = ctx.fail(
        use.span,
        message,
        value=_shown_value(became or ""),
        help=_help(unset, use),
        near="" if near is None else near.name,
        severity=ERROR if severity is ERROR else WARNING,
    )
    if near is not None:
        unused = " and never used" if near.slip == "part" else ""
        finding = finding.with_related(near.span, f"{near.name} is set here{unused}")
    others = [each for each in uses if each is not use]
    for each in others[:_MOST_RELATED]:
        finding = finding.with_related(each.span, "used here too")
    if near is not None and near.slip == "glued":
        rest = unset.name[len(near.name) :]
        edits = [Edit(each.span.in_file(), f"${{{near.name}}}{rest}") for each in (use, *others)]
        return finding.with_fix("put the name in braces", *edits, safety=Safety.SAFE)
    return finding


def _help(unset: Unset, use: Use) -> str:
    near = unset.near
    if near is None and use.name in ("pwd", "home", "user", "hostname"):
        return f"write ${use.name.upper()}"
    if near is None and use.name in ("True", "False", "true", "false", "null", "None"):
        return f"write {use.name}, without the dollar sign"
    if near is None:
        return f"set {unset.name}, or ask for it: ${{{unset.name}:?}}"
    if near.slip == "glued":
        return f"write ${{{near.name}}}{unset.name[len(near.name) :]}"
    return f"write ${{{near.name}}}, or set {unset.name}"


def _became(use: Use, sites: _Sites) -> str | None:
    """The word as bash makes it with the name empty; None when it is not an argument of a command that runs."""
    if use.command is None or use.assign is not None:
        return None
    if use.param.index is not None and not use.param.op and _vanishes(use):
        return ""
    for variant in sites.at(use.text, use.command):
        for word in written_words(variant.command):
            if word.span.start <= use.param.start and use.param.end <= word.span.end:
                texts = [_without(text, use.name).shown for text in word.became]
                return " ".join(each for each in texts if each) or ("" if not word.span.text.startswith('"') else '""')
    return None


def _without(text: Text, name: str) -> Text:
    parts = tuple(part for part in text.parts if not (isinstance(part, Hole) and part.key == ("env", name)))
    return Text(parts, text.span)


def _shown_value(became: str) -> str:
    key, found, value = became.partition("=")
    return f"{key} = {value}" if found and re.fullmatch(r"[\w.+~/@-]+", key) else became


# ---- no program


def _missing_heads(script: Script, ctx: Context) -> Iterator[tuple[str, Finding]]:
    """Commands whose program is a variable that nothing sets, with an override behind it."""
    names = names_of(script)
    if names.open or (names.sources and not names.assigned):
        return
    for text, program in script.syntax:
        if script.document and is_illustration(text.text):
            continue
        for command in program.simple:
            param = _head(command)
            if param is None or param.name in names.assigned or param.name in names.guarded:
                continue
            if from_outside(param.name) or not _is_unset_everywhere(param, script, command, text, ctx):
                continue
            first = text.text[command.words[1].start : command.words[1].end]
            if _OVERRIDE.match(first):
                yield param.name, _headless(param, first, text, command, ctx, script)


def _head(command: Simple) -> Param | None:
    """The variable that stands for the program."""
    words = command.words
    if len(words) < 2 or not isinstance(words[0], Word):
        return None
    parts: Sequence[Node] = words[0].parts
    only = parts[0] if len(parts) == 1 else None
    return only if isinstance(only, Param) and not only.op and re.fullmatch(r"[A-Za-z_]\w*", only.name) else None


def _is_unset_everywhere(param: Param, script: Script, command: Simple, text: Source, ctx: Context) -> bool:
    """Whether no way of starting the command gives the variable a value."""
    found = [
        variant
        for variant in variants_in(ctx.project, script.source)
        if variant.command.span.source is text and variant.command.span.start == command.start
    ]
    if not found:
        return False
    return all(_is_missing(each.command.argv[0], param.name) for each in found)


def _is_missing(word: Text, name: str) -> bool:
    if word.known is not None:
        return _OVERRIDE.match(word.known) is not None
    first = word.parts[0]
    return (isinstance(first, Hole) and first.key == ("env", name)) or _OVERRIDE.match(word.prefix) is not None


def _headless(param: Param, first: str, text: Source, command: Simple, ctx: Context, script: Script) -> Finding:
    key = first.split("=", 1)[0].strip("\"'")
    return ctx.fail(
        text.span(param.start, param.end),
        f"{param.name} is never set: bash takes the override {key}=… for the program, and nothing is trained",
        value=" ".join(text.text[command.words[1].start : command.end].replace("\\\n", " ").split())[:80],
        help="write the program that the overrides are for, such as python3 -m verl.trainer.main_ppo",
        severity=WARNING if script.document else ERROR,
    )
