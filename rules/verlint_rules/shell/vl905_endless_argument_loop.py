"""An option without its value must not leave the argument loop turning forever.

`while [[ $# -gt 0 ]]; do case $1 in --x) X="$2"; shift 2 ;; …` reads `--x` as the last argument without a value as
follows: `$2` is empty, `shift 2` with one argument left fails and shifts nothing, and the next turn finds `--x` again.
The job hangs before its first line of output and keeps its nodes. It needs no typing error: `--exp_path ${BEST}` with
an empty `BEST` at the end of a call is the same. Under `set -e` the script ends there without a word instead.

A call in the project that passes a last option without a value is an error; a value that only the environment can
give (also in a document) is left to be verified. The loop alone is information, once a loop. Loops are left alone when
a missing value is met before the shift: `"${2:?…}"`, `[ $# -ge 2 ]`, a test of `$2`, `shift 2 || …`, `shift; shift`
(the second one fails but nothing is left), or `"$2"` under `set -u`, which stops with a message; and loops over what
getopt(1) has sorted (`eval set -- "$OPTIONS"`), which insists on the values itself.

A branch that never shifts leaves its option in place as well, and so does a loop without a `*)` branch, or with one
that neither shifts nor ends the loop, with every argument that it does not know: one misspelt option, and the job
hangs. The branch is an error, the missing `*)` a warning, a call of the project with such an option an error.

Fix: insist on the value, `X="${2?--x needs a value}"`, and quote the words of the call.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from verlint.experiment.places import variants_in
from verlint.experiment.script import Script
from verlint.experiment.stage import called_file
from verlint.experiment.variants import Variant
from verlint.files.kinds import SHELL_SUFFIXES
from verlint.finding import Edit, Finding, Safety
from verlint.languages.bash.options import option_names
from verlint.languages.bash.syntax import Param
from verlint.languages.bash.walk import walk
from verlint.rule import ERROR, INFO, WARNING, Context, rule
from verlint.source import Source, Span
from verlint.value import Text
from verlint_rules.shell.argument_loops import ArgumentLoop, Option, argument_loops, read_as
from verlint_rules.shell.call_words import (
    Written,
    called_loop,
    called_source,
    conditions_of,
    environment_names,
    is_certain,
    only_hole,
    program_of_source,
    sites_in,
    written_words,
)
from verlint_rules.shell.illustration import is_illustration
from verlint_rules.shell.stuck_loops import StuckLoop, stuck_loops
from verlint_rules.shell.unset_names import misspelt


@rule(
    "VL905", "endless-argument-loop", on=Script, severity=ERROR, since="0.1", fixable="unsafe", words=("while", "until")
)
def check(script: Script, ctx: Context) -> Iterator[Finding]:
    if not script.document:
        for text, program in script.syntax:
            for loop in argument_loops(text, program):
                if loop.endless:
                    yield _of_loop(loop, ctx)
            for stuck in stuck_loops(text, program):
                yield from _of_stuck(stuck, ctx)
    for site in sites_in(variants_in(ctx.project, script.source)):
        found = _of_call(script, site, ctx) or _of_unknown(script, site, ctx)
        if found is not None:
            yield found


# ---- the loop


def _of_loop(loop: ArgumentLoop, ctx: Context) -> Finding:
    first = loop.endless[0]
    assert first.shift is not None
    name, others = first.names[-1], len(loop.endless) - 1
    message = f"{name} without a value as the last argument {_fate(loop)}"
    if others:
        message += f"; so does each of {others} other options" if others > 1 else "; so does one other option"
    finding = ctx.fail(
        loop.text.span(first.shift.start, first.shift.end),
        message,
        help=f'insist on the value: "${{2?{name} needs a value}}"',
        severity=INFO,
    )
    edits = [edit for option in loop.endless for edit in _insisting(loop.text, option)]
    return finding.with_fix("stop with a message", *edits, safety=Safety.UNSAFE) if edits else finding


def _of_stuck(loop: StuckLoop, ctx: Context) -> Iterator[Finding]:
    """Branches that never shift, and arguments that no branch takes."""
    if loop.stuck:
        first, others = loop.stuck[0], len(loop.stuck) - 1
        names = loop.name(first)
        message = f"the branch of {names} never shifts: a call with {names} makes this loop endless"
        if others:
            message += f"; so does one with {f'any of {others} others' if others > 1 else loop.name(loop.stuck[1])}"
        at = loop.text.span(first.patterns[0].start, first.patterns[-1].end)
        yield ctx.fail(at, message, help="end the branch with `shift`, or `shift 2` when it takes a value")
    if loop.unknown is not None:
        if loop.has_rest:
            message = "the `*)` branch neither shifts nor ends the loop: an argument that no other branch takes"
        else:
            message = "this loop has no `*)` branch: an argument that no branch takes"
        yield ctx.fail(
            loop.unknown,
            f"{message}, such as a misspelt option, makes it endless",
            help='end it there: *) echo "unknown argument: $1" >&2; exit 2 ;;',
            severity=WARNING,
        )


def _fate(loop: ArgumentLoop) -> str:
    if loop.errexit:
        return "ends the script without a word: `shift` fails under set -e"
    return "makes this loop endless: `shift` fails and shifts nothing"


def _insisting(text: Source, option: Option) -> Iterator[Edit]:
    """`${2?…}` for the first use of `$2` in an arm."""
    for node in walk(option.arm.body):
        if isinstance(node, Param) and node.name == "2" and not node.op:
            yield Edit(text.span(node.start, node.end).in_file(), f"${{2?{option.names[-1]} needs a value}}")
            return


# ---- calls


def _of_call(script: Script, site: Sequence[Variant], ctx: Context) -> Finding | None:
    failing: list[tuple[Variant, ArgumentLoop, Text, Written | None]] = []
    open_values: list[tuple[Variant, ArgumentLoop, Text, Text]] = []
    for variant in site:
        found = called_loop(ctx.project, variant)
        if found is None:
            continue
        loop, called = found
        taken, _ = read_as(loop, called.arguments)
        if not taken or (last := taken[-1]).arm.shift is None or last.arm.guarded:
            continue
        option = called.arguments[last.at]
        if last.value is None:
            failing.append((variant, loop, option, _vanished(variant, option)))
        elif last.value == len(called.arguments) - 1 and called.arguments[last.value].elastic:
            open_values.append((variant, loop, option, called.arguments[last.value]))
    if failing:
        return _failing_call(script, site, failing, ctx)
    return _open_call(script, open_values, ctx) if open_values else None


def _of_unknown(script: Script, site: Sequence[Variant], ctx: Context) -> Finding | None:
    """A call with an option that no branch of the loop takes, so that it never goes away."""
    failing: list[tuple[Variant, StuckLoop, Text]] = []
    for variant in site:
        called = called_file(variant.command)
        source = None if called is None else called_source(ctx.project, variant, called)
        if called is None or source is None or not source.path.endswith(tuple(SHELL_SUFFIXES)):
            continue
        program = program_of_source(ctx.project, source)
        loops, stuck = argument_loops(source, program), list(stuck_loops(source, program))
        if len(loops) != 1 or len(stuck) != 1 or stuck[0].node is not loops[0].node or stuck[0].unknown is None:
            continue
        _, at = read_as(loops[0], called.arguments)
        word = called.arguments[at] if at < len(called.arguments) else None
        if word is not None and word.known is not None and not stuck[0].knows(word.known):
            failing.append((variant, stuck[0], word))
    if not failing or not is_certain([each[0] for each in failing], site):
        return None
    if script.document and is_illustration(failing[0][0].command.span.source.text):
        return None
    variant, loop, word = failing[0]
    file = loop.text.path.rsplit("/", 1)[-1]
    return ctx.fail(
        word.span or variant.command.span,
        f"{file} knows no {word.known}: its argument loop never takes it away and turns forever",
        help="correct the option, or leave it out",
        near=", ".join(_similar(word.known or "", _names_of(loop))),
    ).with_related(loop.unknown, "stays here")


def _names_of(loop: StuckLoop) -> list[str]:
    """The options that the branches of a loop are for."""
    return [name for arm in loop.case.arms for name, _ in option_names(arm)]


def _similar(name: str, names: Sequence[str]) -> list[str]:
    from difflib import get_close_matches

    return get_close_matches(name, names, n=2)


def _vanished(variant: Variant, option: Text) -> Written | None:
    """The word behind the last option when it became nothing."""
    words = written_words(variant.command)
    at = next((number for number, word in enumerate(words) if option in word.became), None)
    following = words[at + 1] if at is not None and at + 1 < len(words) else None
    return following if following is not None and not following.became else None


def _failing_call(
    script: Script,
    site: Sequence[Variant],
    failing: Sequence[tuple[Variant, ArgumentLoop, Text, Written | None]],
    ctx: Context,
) -> Finding | None:
    variant, loop, option, vanished = failing[0]
    if vanished is not None and vanished.variable in misspelt(ctx.project, script):
        return None
    at = option.span or variant.command.span
    name = option.known
    if vanished is None:
        message = f"{name} has no value here"
    else:
        message = f"{vanished.span.text} is empty here, so {name} has no value"
        at = at.join(vanished.span) if at.source is vanished.span.source else at
    message += ": " + _end_of(loop)
    help_ = f'quote it: "{vanished.span.text}"' if vanished is not None else f"give {name} a value, or leave it out"
    if script.document and is_illustration(variant.command.span.source.text):
        return None
    variants = [each[0] for each in failing]
    if is_certain(variants, site):
        finding = ctx.fail(at, message, help=help_)
    else:
        when = conditions_of(variants, site)
        message = f"{message} (when {when})" if when else message
        verify = f"bash -x {script.source.path}  # see which branch runs"
        finding = ctx.unsure(at, message, verify=verify, help=help_)
    finding = finding.with_related(_place(loop, name or ""), "read here")
    if vanished is not None:
        edit = Edit(vanished.span.in_file(), f'"{vanished.span.text}"')
        finding = finding.with_fix("quote the value", edit, safety=Safety.UNSAFE)
    return finding


def _open_call(
    script: Script, found: Sequence[tuple[Variant, ArgumentLoop, Text, Text]], ctx: Context
) -> Finding | None:
    _, loop, option, value = found[0]
    hole = only_hole(value)
    name = option.known or ""
    if hole is None or environment_names(value) != [hole.name] or hole.name in misspelt(ctx.project, script):
        return None
    return ctx.unsure(
        value,
        f"with {hole.name} unset or empty {name} has no value: {_end_of(loop)}",
        verify=f': "${{{hole.name}:?}}"',
        help=f'set {hole.name} first, and quote it: "${{{hole.name}:?}}"',
        severity=WARNING if script.document else ERROR,
    ).with_related(_place(loop, name), "read here")


def _end_of(loop: ArgumentLoop) -> str:
    if loop.errexit:
        return f"{_file(loop)} ends without a word (`shift` fails under set -e)"
    return f"{_file(loop)} hangs forever (`shift` fails and shifts nothing)"


def _file(loop: ArgumentLoop) -> str:
    return loop.text.path.rsplit("/", 1)[-1]


def _place(loop: ArgumentLoop, name: str) -> Span | None:
    option = loop.option(name)
    shift = None if option is None else option.shift
    return None if shift is None else loop.text.span(shift.start, shift.end)
