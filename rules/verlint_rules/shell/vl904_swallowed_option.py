"""An empty value without quotes lets its option eat the next one.

In `bash train.sh --exp_path $EXP_PATH --nnodes 2` an empty `EXP_PATH` is no word at all, so the option loop of the
launcher reads `--nnodes` as the value of `--exp_path`, then meets `2`, which is no option, and stops: all that follows
is not read, or goes on to Hydra. The same happens to a field that one record of a driver leaves empty.

An error where the value is empty in a real call; where it is empty on some paths only, or where the script itself
takes it for possibly empty (`EXP_PATH=""`, a test, `${EXP_PATH:+…}`), it is left to be verified. Other options and
variables of the environment are taken to have a value. Only calls of launchers of the project are looked at, and only
options that take a value there.

Fix: quote the value, `--exp_path "$EXP_PATH"`, or leave the option out with `${EXP_PATH:+--exp_path "$EXP_PATH"}`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from verlint.experiment.places import variants_in
from verlint.experiment.script import Script
from verlint.experiment.stage import Called
from verlint.experiment.variants import Variant
from verlint.finding import Edit, Finding, Safety
from verlint.record import dataclass
from verlint.rule import ERROR, Context, rule
from verlint.source import Span
from verlint.value import Hole, Text
from verlint_rules.shell.argument_loops import ArgumentLoop, read_as
from verlint_rules.shell.call_words import (
    Written,
    called_loop,
    conditions_of,
    is_certain,
    only_hole,
    sites_in,
    written_words,
)
from verlint_rules.shell.illustration import is_illustration
from verlint_rules.shell.unset_names import misspelt, names_of


@dataclass(frozen=True, slots=True)
class _Swallowed:
    """An option at a call, its value as written, what the launcher takes for the value, and where its loop stops."""

    variant: Variant
    loop: ArgumentLoop
    option: str
    value: Written
    taken: Text
    stops_at: str
    unread: int
    condition: str = ""


@rule("VL904", "swallowed-option", on=Script, severity=ERROR, since="0.1", fixable="safe", words=("shift",))
def check(script: Script, ctx: Context) -> Iterator[Finding]:
    for site in sites_in(variants_in(ctx.project, script.source)):
        failing: dict[int, list[_Swallowed]] = {}
        possible: dict[int, list[_Swallowed]] = {}
        for variant in site:
            found = called_loop(ctx.project, variant)
            if found is None:
                continue
            for each in _empty_values(variant, *found):
                failing.setdefault(each.value.span.start, []).append(each)
            for each in _open_values(script, variant, *found):
                possible.setdefault(each.value.span.start, []).append(each)
        for start in sorted(failing.keys() | possible.keys()):
            yield from _finding(script, site, failing.get(start, []), possible.get(start, []), ctx)


# ---- which values are empty


def _empty_values(variant: Variant, loop: ArgumentLoop, called: Called) -> Iterator[_Swallowed]:
    """Values that became no word, with an option before them that takes the word behind them."""
    words = written_words(variant.command)
    argv = [text for word in words for text in word.became]
    arguments = called.arguments
    first = len(argv) - len(arguments)
    taken, _ = read_as(loop, arguments)
    after, unread = _where_it_stops(loop, arguments)
    for each in taken:
        if each.value is None or each.arm.takes < 2:
            continue
        at = _index(words, first + each.at)
        vanished = words[at + 1] if at is not None and at + 1 < len(words) else None
        if vanished is None or vanished.became or not vanished.variable:
            continue
        yield _Swallowed(variant, loop, arguments[each.at].known or "", vanished, arguments[each.value], after, unread)


def _where_it_stops(loop: ArgumentLoop, arguments: Sequence[Text]) -> tuple[str, int]:
    """The word the loop stops at ("": none), and how many options are not read because of that."""
    stop = read_as(loop, arguments)[1]
    after = arguments[stop].shown if stop < len(arguments) else ""
    return after, sum(1 for word in arguments[stop:] if loop.option(word.known or "") is not None)


def _index(words: Sequence[Written], number: int) -> int | None:
    """Which word as written gave the argument of this number."""
    for at, word in enumerate(words):
        if number < len(word.became):
            return at
        number -= len(word.became)
    return None


def _open_values(script: Script, variant: Variant, loop: ArgumentLoop, called: Called) -> Iterator[_Swallowed]:
    """Values nobody knows that may be empty, as the script itself says, with another word behind them."""
    arguments = called.arguments
    written = {id(text): word for word in written_words(variant.command) for text in word.became}
    taken, _ = read_as(loop, arguments)
    for each in taken:
        if each.value is None or each.value + 1 >= len(arguments) or each.arm.takes < 2:
            continue
        value = arguments[each.value]
        word = written.get(id(value))
        hole = only_hole(value) if value.elastic else None
        if hole is None or word is None or not word.variable:
            continue
        condition = _condition(script, variant, word.variable, hole)
        if condition is not None:
            option = arguments[each.at].known or ""
            left = [*arguments[: each.value], *arguments[each.value + 1 :]]
            after, unread = _where_it_stops(loop, left)
            yield _Swallowed(variant, loop, option, word, left[each.value], after, unread, condition)


def _condition(script: Script, variant: Variant, name: str, hole: Hole) -> str | None:
    """When the value is empty, as far as the script itself reckons with that; None when it never is."""
    kind = hole.key[0] if isinstance(hole.key, tuple) else ""
    if kind not in ("option", "env"):
        return None
    unset = f"{hole.name} is not set"
    answers = [
        {guard.holds for guard in variant.entry.resolution.paths[number].conditions if guard.text == unset}
        for number in variant.paths
    ]
    if any(True in each for each in answers):
        return unset
    if answers and all(False in each for each in answers):
        return None
    names = names_of(script)
    return unset if kind == "option" and (name in names.empty or name in names.guarded) else None


# ---- the finding


def _finding(
    script: Script,
    site: Sequence[Variant],
    failing: Sequence[_Swallowed],
    possible: Sequence[_Swallowed],
    ctx: Context,
) -> Iterator[Finding]:
    each = (failing or possible)[0]
    text = each.variant.command.span.source.text
    if each.value.variable in misspelt(ctx.project, script) or (script.document and is_illustration(text)):
        return
    written = each.value.span.text
    help_ = f'quote it: "{written}"'
    variants = [one.variant for one in failing]
    if failing and is_certain(variants, site):
        message = f"{written} is empty here, so {_consequence(each)}"
        finding = ctx.fail(each.value.span, message, value=_value(each), help=help_)
    else:
        when = each.condition or conditions_of(variants, site)
        message = f"when {when}, {_consequence(each)}" if when else f"{written} may be empty: then {_consequence(each)}"
        finding = ctx.unsure(
            each.value.span, message, verify=f'echo "[{written}]"', value=_value(each) if failing else "", help=help_
        )
    finding = finding.with_related(_place(each), "read here")
    yield finding.with_fix("quote the value", Edit(each.value.span.in_file(), f'"{written}"'), safety=Safety.SAFE)


def _consequence(each: _Swallowed) -> str:
    message = f"{each.option} takes `{each.taken.shown}` as its value"
    if each.stops_at:
        message += f", and the options end at `{each.stops_at}`"
        if each.unread:
            message += f" ({each.unread} more not read)"
    return message


def _value(each: _Swallowed) -> str:
    return f"{each.option} = {each.taken.shown}"


def _place(each: _Swallowed) -> Span | None:
    option = each.loop.option(each.option)
    if option is None or option.shift is None:
        return None
    return each.loop.text.span(option.shift.start, option.shift.end)
