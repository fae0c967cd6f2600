"""A call passes only options that the launcher or tool takes.

The launchers read their options in a loop and hand on what they do not know: `--nodes 2` instead of `--nnodes 2` ends
the options there, this one and all behind it reach Hydra, which refuses them after the cluster has been set up. A
launcher that does not hand on its arguments forgets them without a word, and runs with its defaults. A Python tool
stops with `unrecognized arguments`.

Known are launchers with one `while … case $1` loop, and tools of the checkout that declare their options with
argparse, click, fire, typer or a data class. Silent for tools that look at known options only (`parse_known_args`),
have subcommands or take options from elsewhere, for launchers that hand on to such a program, for beginnings that
argparse completes, for options of Hydra itself, and for words that are not known before the run.

Fix: write the option that the launcher takes; overrides of the trainer are written `key=value`. The unsafe fix writes
the one similar name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from verlint.experiment.places import variants_in
from verlint.experiment.stage import Stage
from verlint.experiment.variants import Variant
from verlint.files.kinds import Kind
from verlint.files.loading import Loaded
from verlint.finding import Edit, Finding, Safety
from verlint.record import dataclass
from verlint.rule import ERROR, Context, rule
from verlint.source import Source, Span
from verlint.value import Text
from verlint_rules.reading.call_options import (
    LauncherCall,
    arms,
    collects,
    file_name,
    hands_on,
    is_hydra_option,
    is_surely_right,
    is_taken,
    launcher_call,
    launcher_of_stage,
    loop_of,
    refuses,
    stages_in,
    star_arm,
    tool_call,
    within_call,
    written_place,
)
from verlint_rules.shell.call_words import conditions_of, is_certain, sites_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from verlint.experiment.spec import SpecStage
    from verlint_rules.shell.argument_loops import ArgumentLoop


@dataclass(frozen=True, slots=True)
class _Fault:
    """An option that is not taken. `fate` says what becomes of it, `names` are those that are taken, `at` is where they
    are read."""

    word: Text
    name: str
    file: str
    fate: str
    names: tuple[str, ...]
    at: Span
    message: str = ""
    help: str = ""


@rule(
    "VL011",
    "unaccepted-option",
    on=Loaded,
    severity=ERROR,
    since="0.1",
    fixable="unsafe",
    words=("bash ", ".sh ", ".py ", "launcher:"),
)
def check(file: Loaded, ctx: Context) -> Iterator[Finding]:
    if file.kind is not Kind.SPEC:
        for site in sites_in(variants_in(ctx.project, file.source)):
            yield from _of_site(site, ctx)
        return
    for experiment, stage in stages_in(file, ctx.project):
        source = launcher_of_stage(experiment, stage, ctx.project)
        if stage.spec is not None and source is not None:
            yield from _of_stage(stage, stage.spec, source, ctx)


def _of_site(site: list[Variant], ctx: Context) -> Iterator[Finding]:
    found: dict[object, list[tuple[Variant, _Fault]]] = {}
    for variant in site:
        for fault in (*_of_launcher(variant, ctx), *_of_tool(variant, ctx)):
            place = written_place(fault.word)
            found.setdefault((fault.name, place.order() if place is not None else None), []).append((variant, fault))
    for faults in found.values():
        variants, fault = [each for each, _ in faults], faults[0][1]
        message = fault.message or f"{fault.file} takes no `{fault.name}`: {fault.fate}"
        near = _near(fault)
        help_ = fault.help or (f"write {near}" if near else "take it out, or write overrides as key=value")
        place = written_place(fault.word)
        at = place if place is not None else fault.word
        if is_certain(variants, site):
            finding = ctx.fail(at, message, value=fault.word.shown, near=near, help=help_)
        else:
            when = conditions_of(variants, site)
            finding = ctx.unsure(
                at,
                f"{message} (when {when})" if when else message,
                value=fault.word.shown,
                near=near,
                help=help_,
                verify=f"bash -x {site[0].entry.source.path}  # see which branch runs",
            )
        yield _with_fix(finding.with_related(fault.at, "its options"), place, fault, near)


# ---- launchers


def _of_launcher(variant: Variant, ctx: Context) -> Iterator[_Fault]:
    call = launcher_call(ctx.project, variant)
    if call is None or star_arm(call.loop) is None:
        return
    words = call.called.arguments
    from verlint_rules.shell.argument_loops import read_as

    _, at = read_as(call.loop, words)
    if at >= len(words) or any(each.elastic for each in words[: at + 1]):
        return
    word, loop = words[at], call.loop
    text = word.known
    if text is None:
        return
    if not text.startswith("-"):
        yield from _behind(words[at:], call, ctx)
        return
    if is_taken(loop, text) or is_hydra_option(text) or text in ("-", "--"):
        return
    fate = _fate(text, len(words) - at - 1, call, ctx)
    if fate:
        yield _Fault(word, text.partition("=")[0], file_name(loop.text), fate, _names(loop), _place(loop))


def _behind(words: tuple[Text, ...], call: LauncherCall, ctx: Context) -> Iterator[_Fault]:
    """Options behind the first override: the loop has ended by then."""
    override, loop = words[0].known or "", call.loop
    late = next((each for each in words[1:] if loop.option(each.known or "") is not None), None)
    if late is None or "=" not in override or loop.rest:
        return
    name = late.known or ""
    fate = _fate(name, 0, call, ctx)
    if fate:
        file = file_name(loop.text)
        message = f"`{name}` stands behind `{override}`, where {file} reads no options any more: {fate}"
        yield _Fault(late, name, file, fate, (), _place(loop), message, f"write {name} before {override}")


def _fate(text: str, behind: int, call: LauncherCall, ctx: Context) -> str:
    """What becomes of an option that no arm takes; "" where it may be right."""
    loop = call.loop
    if refuses(loop):
        return "it stops there"
    reached = [each for each in within_call(ctx.project, call) if any(w.known == text for w in each.argv)]
    launches = [each for each in reached if ctx.project.launch(each) is not None]
    others = [each for each in reached if each not in launches and not each.builtin and not _calls_again(each)]
    if others:
        return ""
    if launches:
        return "its options end there, and Hydra refuses what is left"
    if collects(loop) or hands_on(ctx.project, loop):
        return ""
    return f"it is ignored, with the {behind} words behind it" if behind > 1 and not loop.rest else "it is ignored"


def _calls_again(command: object) -> bool:
    """Whether a command is a function of the launcher, which hands its arguments on itself."""
    return bool(getattr(command, "function", False))


def _names(loop: ArgumentLoop) -> tuple[str, ...]:
    return tuple(name for option in loop.options for name in option.names)


def _place(loop: ArgumentLoop) -> Span:
    first, last = arms(loop)[0], loop.options[-1].arm
    return loop.text.span(first.patterns[0].start, last.patterns[-1].end)


# ---- tools


def _of_tool(variant: Variant, ctx: Context) -> Iterator[_Fault]:
    called = tool_call(ctx.project, variant)
    if called is None or is_surely_right(called):
        return
    interface = called.tool.interface
    if interface is None or not interface.closed:
        return
    from verlint.languages.python.options import read_call, spellings

    reading = read_call(interface, called.words)
    source = called.tool.source
    first = interface.options[0].span
    for word in reading.unknown:
        text = word.known or word.prefix
        name = text.partition("=")[0]
        fate = "it stops with `unrecognized arguments`" if interface.convention == "argparse" else "it stops there"
        yield _Fault(word, name, file_name(source), fate, tuple(spellings(interface)), first)
    for word in reading.ambiguous:
        name = (word.known or word.prefix).partition("=")[0]
        means = " or ".join(one for one in spellings(interface) if one.startswith(name))
        message = f"`{name}` may be {means}: {file_name(source)} stops with `ambiguous option`"
        yield _Fault(word, name, file_name(source), "", (), first, message, "write the whole name")


# ---- specs


def _of_stage(stage: Stage, spec: SpecStage, source: Source, ctx: Context) -> Iterator[Finding]:
    from verlint.experiment.records import records_of

    loop = None if records_of(stage.launcher) else loop_of(ctx.project, source)
    if loop is None or len(loop.options) < 2:
        return
    names = _names(loop)
    for arg in spec.args:
        if is_taken(loop, f"--{arg}") or _stands_for_several(arg, names):
            continue
        at = spec.places.get(f"args.{arg}") or stage.span
        fault = _Fault(Text(), f"--{arg}", file_name(source), "", names, _place(loop))
        near = _near(fault)
        message = f"{file_name(source)} takes no `--{arg}`"
        help_ = f"write {near[2:]}" if near else "take it out, or give it under `overrides`"
        finding = ctx.fail(at, message, value=f"args.{arg}", near=near[2:], help=help_)
        finding = finding.with_related(fault.at, "its options")
        yield finding.with_fix(f"write {near[2:]}", Edit(at, near[2:]), safety=Safety.UNSAFE) if near else finding


def _stands_for_several(arg: str, names: Iterable[str]) -> bool:
    """`resume_policy` for `--resume_policy_name` and `--resume_policy_ckpt`, `ckpts` for `--ckpt_start` and its kin."""
    single = arg[:-1] if arg.endswith("s") else arg
    return any(name == f"--{single}" or name.startswith((f"--{arg}_", f"--{single}_")) for name in names)


# ---- the finding


def _near(fault: _Fault) -> str:
    from difflib import get_close_matches

    plain = {name.lstrip("-").replace("-", "_"): name for name in fault.names}
    wanted = fault.name.lstrip("-").replace("-", "_")
    if wanted in plain:
        return plain[wanted]
    close = get_close_matches(wanted, list(plain), 1, 0.72)
    return plain[close[0]] if close else ""


def _with_fix(finding: Finding, place: Span | None, fault: _Fault, near: str) -> Finding:
    written = None if place is None else place.in_file()
    if not near or written is None or written.text.count(fault.name) != 1:
        return finding
    edit = Edit(written, written.text.replace(fault.name, near))
    return finding.with_fix(f"write {near}", edit, safety=Safety.UNSAFE)
