"""A call passes every option that the launcher or tool cannot do without.

An option without a default that nobody passes is an empty variable: `trainer.nnodes=` reaches Hydra as an empty
string, `/tmp/${EXP_NAME}` becomes `/tmp/` and the checkpoints of all runs share it. A Python tool with a required
option stops with its usage text, after the stages before it have run for hours.

Known are launchers with one `while … case $1` loop, whose variable for the option is set nowhere else and reaches a
launch of this call, and tools of the checkout that declare options with argparse, click, typer or a data class. An
error where the run stops on it (a tool, a number, the model), else a warning. Silent where the launcher looks at the
variable first (`[ -n "$X" ]`), sets a default (`${X:-1}`), where the caller exports it, and where the words of the call
are not all known.

Fix: pass the option.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from verlint.experiment.launch import Launch
from verlint.experiment.places import variants_in
from verlint.experiment.project import Project
from verlint.experiment.stage import Stage
from verlint.experiment.variants import Variant
from verlint.files.kinds import Kind
from verlint.files.loading import Loaded
from verlint.finding import Finding, Severity
from verlint.memo import by_identity
from verlint.record import dataclass
from verlint.rule import ERROR, WARNING, Context, rule
from verlint.source import Source, Span
from verlint.value import Hole, Text
from verlint_rules.reading.call_options import (
    file_name,
    is_surely_right,
    is_taken,
    launcher_call,
    launcher_of_stage,
    launches_within,
    loop_of,
    stages_in,
    tool_call,
    variables,
)
from verlint_rules.shell.call_words import conditions_of, is_certain, sites_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from verlint.experiment.spec import SpecStage
    from verlint_rules.shell.argument_loops import ArgumentLoop

SHOWN = 4
_MODEL = "actor_rollout_ref.model.path"
_EXPERIENCE = frozenset(["trainer.experience_path", "trainer.experience_max_length"])


@dataclass(frozen=True, slots=True)
class _Lack:
    """An option that a call leaves out. `effect` is what follows from it, `at` where the option is read."""

    option: str
    effect: str
    at: Span
    severity: Severity


@dataclass(frozen=True, slots=True)
class _Lacks:
    at: Text
    file: str
    lacks: tuple[_Lack, ...]


@rule(
    "VL012",
    "missing-option",
    on=Loaded,
    severity=ERROR,
    since="0.1",
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


def _of_site(site: Sequence[Variant], ctx: Context) -> Iterator[Finding]:
    found: dict[tuple[str, ...], list[tuple[Variant, _Lacks]]] = {}
    for variant in site:
        lacks = _of_launcher(variant, ctx) or _of_tool(variant, ctx)
        if lacks is not None and lacks.lacks:
            found.setdefault(tuple(each.option for each in lacks.lacks), []).append((variant, lacks))
    for each in found.values():
        variants, first = [variant for variant, _ in each], each[0][1]
        if is_certain(variants, site):
            finding = ctx.fail(
                first.at, _message(first), value="", hops=(), help=_help(first.lacks), severity=_severity(first.lacks)
            )
        else:
            when = conditions_of(variants, site)
            message = f"{_message(first)} (when {when})" if when else _message(first)
            verify = f"bash -x {site[0].entry.source.path}  # see which branch runs"
            finding = ctx.unsure(
                first.at, message, hops=(), help=_help(first.lacks), verify=verify, severity=_severity(first.lacks)
            )
        yield _related(finding, first.lacks)


def _severity(lacks: Sequence[_Lack]) -> Severity:
    return ERROR if any(each.severity is ERROR for each in lacks) else WARNING


def _message(found: _Lacks) -> str:
    names = [f"`{each.option}`" for each in found.lacks]
    shown = " and ".join(names) if len(names) < 3 else ", ".join(names[:SHOWN])
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    worst = next((each for each in found.lacks if each.severity is ERROR), found.lacks[0])
    return f"{found.file} needs {shown}{more}, which this call does not pass: {worst.effect}"


def _help(lacks: Sequence[_Lack]) -> str:
    return "pass " + " ".join(f"{each.option} …" if each.option.startswith("-") else each.option for each in lacks)


def _related(finding: Finding, lacks: Sequence[_Lack]) -> Finding:
    for each in lacks[:SHOWN]:
        finding = finding.with_related(each.at, f"{each.option} is declared here")
    return finding


# ---- launchers


def _of_launcher(variant: Variant, ctx: Context) -> _Lacks | None:
    call = launcher_call(ctx.project, variant)
    if call is None:
        return None
    words = call.called.arguments
    from verlint_rules.shell.argument_loops import read_as

    taken, at = read_as(call.loop, words)
    if any(each.elastic for each in words) or (at < len(words) and words[at].known is None):
        return None
    if at < len(words) and (words[at].known or "").startswith("-"):
        return None  # an option that is not taken ends the loop: that is what is wrong
    passed = {name for each in taken for name in each.arm.names}
    if all(name in passed for name in variables(call.loop)):
        return None
    launches = launches_within(ctx.project, call)
    lacks = tuple(_lacks(call.loop, passed, launches, ctx.project))
    return _Lacks(call.called.path, file_name(call.loop.text), lacks)


def _lacks(loop: ArgumentLoop, passed: set[str], launches: Sequence[Launch], project: Project) -> Iterator[_Lack]:
    read = variables(loop)
    shared = {variable for name, variable in read.items() if name in passed}
    for name, variable in read.items():
        option = loop.option(name)
        if option is None or not passed.isdisjoint(option.names) or variable in shared:
            continue
        effects = [each for launch in launches if (each := _effect(variable, launch)) is not None]
        if not effects or len(effects) < len(launches):
            continue
        effect, severity = effects[0]
        first = option.arm.patterns[0]
        yield _Lack(name, effect, loop.text.span(first.start, option.arm.patterns[-1].end), severity)


def _effect(variable: str, launch: Launch) -> tuple[str, Severity] | None:
    """What an unset variable does to a launch; None when it does not reach it, or is looked at first."""
    if any(variable in guard.text for guard in launch.command.around.guards):
        return None
    best: tuple[str, Severity] | None = None
    for key, text in _reached(launch).get(variable, ()):
        if key in _EXPERIENCE and not _reads_experience(launch):
            continue
        if len(text.parts) == 1:
            stops = key == _MODEL or isinstance(launch.defaults.get(key), (int, float))
            effect = f"{key} is empty" + (", and the run stops" if stops else "")
            if stops:
                return effect, ERROR
            best = best or (effect, WARNING)
        else:
            best = best or (f"{key} is `{_emptied(text, variable)}`", WARNING)
    return best


def _reads_experience(launch: Launch) -> bool:
    """Whether a launch may read the experience that its overrides name: an evaluation without one does not."""
    from verlint_rules.families.forks import held

    if held(launch, "trainer.stage").equals("extract") is not True:
        return True
    return held(launch, "trainer.eval_prepend_experience").equals(False) is not True


@by_identity
def _reached(launch: Launch) -> Mapping[str, list[tuple[str, Text]]]:
    """The keys whose values hold an unset variable, by its name."""
    found: dict[str, list[tuple[str, Text]]] = {}
    for key, override in launch.by_key.items():
        text = override.value.text
        if text is not None:
            keys = [hole.key for hole in text.holes if isinstance(hole.key, tuple) and len(hole.key) == 2]
            for name in dict.fromkeys(str(each[1]) for each in keys if each[0] == "env"):
                found.setdefault(name, []).append((key, text))
    return found


def _is_variable(hole: Hole, variable: str) -> bool:
    return isinstance(hole.key, tuple) and hole.key == ("env", variable)


def _emptied(text: Text, variable: str) -> str:
    parts = tuple(part for part in text.parts if not (isinstance(part, Hole) and _is_variable(part, variable)))
    return Text(parts).shown


# ---- tools


def _of_tool(variant: Variant, ctx: Context) -> _Lacks | None:
    called = tool_call(ctx.project, variant)
    if called is None or is_surely_right(called):
        return None
    interface = called.tool.interface
    if interface is None or not interface.closed:
        return None
    from verlint.languages.python.options import read_call

    reading = read_call(interface, called.words)
    if not reading.certain or reading.unknown or any(_asks_for_help(each) for each in called.words):
        return None
    stops = "it stops with its usage text"
    lacks = tuple(_Lack(each.name, stops, each.span, ERROR) for each in reading.missing)
    return _Lacks(called.name, file_name(called.tool.source), lacks)


def _asks_for_help(word: Text) -> bool:
    return word.known in ("-h", "--help", "--version")


# ---- specs


def _of_stage(stage: Stage, spec: SpecStage, source: Source, ctx: Context) -> Iterator[Finding]:
    from verlint.experiment.records import records_of

    loop = None if records_of(stage.launcher) else loop_of(ctx.project, source)
    if loop is None or not stage.launches:
        return
    passed = {f"--{name}" for name in spec.args}
    if not all(is_taken(loop, name) for name in passed):
        return  # one of them stands for others, or is not taken
    lacks = tuple(_lacks(loop, passed, stage.launches, ctx.project))
    if lacks and not _set_by(spec.env, lacks, loop):
        at = stage.spec.launcher.span if stage.spec is not None else None
        found = _Lacks(Text(), file_name(source), lacks)
        message = _message(found).replace("this call does", "the stage does")
        help_ = "add " + " and ".join(each.option.lstrip("-") for each in lacks) + " to `args`"
        finding = ctx.fail(at or stage.span, message, value="", hops=(), help=help_, severity=_severity(lacks))
        yield _related(finding, lacks)


def _set_by(env: Mapping[str, object], lacks: Sequence[_Lack], loop: ArgumentLoop) -> bool:
    """Whether the stage sets one of the variables itself."""
    read = variables(loop)
    return any(read.get(each.option) in env for each in lacks)
