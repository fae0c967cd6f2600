"""Running rules over a project: each rule over the things it is on, then folding, suppression and order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

from verlint import disk
from verlint.experiment.launch import Launch
from verlint.experiment.project import Project
from verlint.experiment.stage import Stage
from verlint.experiment.variants import Variant
from verlint.files.kinds import Kind
from verlint.files.loading import Loaded
from verlint.files.reader import Unreadable
from verlint.finding import Finding, Severity, Verdict
from verlint.folding import agreed, folded, in_context
from verlint.header import (
    OWN_CODE,
    OWN_PACKAGE,
    Header,
    UnknownRule,
    codes_of,
    find_header,
    match_headers,
    packs_in_use,
)
from verlint.languages.bash.command import Command
from verlint.memo import forget
from verlint.record import dataclass, field, replace
from verlint.result import Report, Summary
from verlint.rule import Context, Pending, Rule, load_rule
from verlint.settings import Settings
from verlint.source import Span

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from verlint.inputs import Input
    from verlint.known_parts import KnownParts


@dataclass
class _Outcome:
    findings: list[Finding] = field(default_factory=list)
    crashed: bool = False
    experiments: int = 0
    stages: int = 0
    jobs: int = 0
    pending: list[tuple[str, Pending]] = field(default_factory=list)
    surveys: dict[str, list[Any]] = field(default_factory=dict)


def selected_rules(settings: Settings) -> list[Header]:
    """The rules that are on, by code, with the packs of the settings in use from now on. Raises UnknownRule for a
    selected name that no rule has (one that is only ignored may be that of a rule to come), and PackError."""
    if settings.plugins or packs_in_use():
        from verlint.packs import use_packs

        use_packs(settings.plugins)
    chosen = {rule.code: rule for name in (settings.select or ("ALL",)) for rule in match_headers(name)}
    for name in settings.extend_select:
        chosen.update((rule.code, rule) for rule in match_headers(name))
    for name in settings.ignore:
        try:
            ignored = match_headers(name)
        except UnknownRule:
            continue
        for rule in ignored:
            chosen.pop(rule.code, None)
    return [chosen[code] for code in sorted(chosen)]


def check_project(
    files: Sequence[Loaded],
    settings: Settings,
    root: Path,
    *,
    unreadable: Sequence[Unreadable] = (),
    inputs: Sequence[Input] = (),
    jobs: int = 1,
) -> Report:
    """Everything the selected rules find in the loaded files, and in the inputs of a run where these are given. A large
    project is looked at by up to `jobs` processes, 0: by as many as there are processors."""
    return check_loaded(Project(files, settings, root), settings, unreadable=unreadable, inputs=inputs, jobs=jobs)


def check_loaded(
    project: Project,
    settings: Settings,
    *,
    unreadable: Sequence[Unreadable] = (),
    inputs: Sequence[Input] = (),
    jobs: int = 1,
) -> Report:
    """Everything the selected rules find in a project, and in the inputs of a run."""
    rules = selected_rules(settings)
    forget()
    disk.forget()
    outcome = _check_parts(project, rules, unreadable, jobs)
    for rule in rules if inputs else ():
        if rule.subject == "Input":
            _run_on_inputs(load_rule(rule), project, inputs, outcome)
    findings = folded(outcome.findings)
    findings = [_leveled(finding, settings) for finding in findings if not _ignored_at(finding, settings)]
    kept, suppressed = _suppress(findings, project, rules, settings, outcome)
    launchers = outcome.jobs + sum(file.kind is Kind.LAUNCHER for file in project.files)
    summary = Summary(
        len(project.files) + len(unreadable) + len(inputs), launchers, outcome.experiments, outcome.stages, 0
    )
    return Report(tuple(sorted(kept, key=Finding.order)), summary, outcome.crashed, suppressed)


# ---- parts


def _check_parts(project: Project, rules: Sequence[Header], unreadable: Sequence[Unreadable], jobs: int) -> _Outcome:
    """What the rules find part by part. Parts that turn out to belong together are looked at once more, together."""
    if len(project.files) < 2:
        return _check_part(project, rules, unreadable)
    from verlint.experiment.parts import Groups, parts_of

    known = _known_parts(project)
    parts = parts_of(project.files, kept=known is not None)
    if len(parts) == 1:
        return _check_part(project, rules, unreadable)
    from verlint.workers import workers

    numbers = {id(file): number for number, file in enumerate(project.files)}
    waiting = [tuple(numbers[id(file)] for file in part) for part in parts]
    found: dict[tuple[int, ...], _Outcome] = {}
    with workers(project, _look, jobs, len(parts)) as every:
        while waiting:
            groups = Groups([*found, *waiting])
            each = every.each(waiting) if known is None else known.each(waiting, every.each)
            for part, looked in zip(waiting, each, strict=True):
                found[part] = looked.outcome
                groups.join((part[0], *looked.reached))
            waiting = [together for group in groups.every() if (together := tuple(sorted(group))) not in found]
            joined = {number for part in waiting for number in part}
            found = {part: outcome for part, outcome in found.items() if part[0] not in joined}
    all_files = _check_part(project.part([]), rules, unreadable)
    outcome = _joined([all_files, *(found[part] for part in sorted(found))])
    _conclude(project, outcome)
    return outcome


def _known_parts(project: Project) -> KnownParts | None:
    """The parts that were looked at before; None where nothing is kept. The code of packs is not known by anything."""
    from verlint.cache.calls import in_use

    kept = in_use() if project.settings.cache and not project.settings.plugins else None
    if kept is None:
        return None
    from verlint.known_parts import KnownParts

    return KnownParts(project, *kept, _is_outcome)


def _is_outcome(found: object) -> bool:
    """Whether that is what is found in a part."""
    return (
        isinstance(found, _Outcome)
        and all(isinstance(each, Finding) for each in found.findings)
        and all(isinstance(each, Pending) for _, each in found.pending)
    )


def _look(project: Project, files: Sequence[Loaded]) -> tuple[_Outcome, Project]:
    """What the rules find in a part, with what they gather of it for their conclusions."""
    rules = selected_rules(project.settings)
    part = project.part(files)
    outcome = _check_part(part, rules, ())
    for rule in map(load_rule, rules):
        if rule.survey is not None:
            outcome.surveys[rule.code] = [rule.survey(part)]
    return outcome, part


def _conclude(project: Project, outcome: _Outcome) -> None:
    """Add what pending findings come to."""
    for code, pending in outcome.pending:
        rule = load_rule(find_header(code))
        surveys = outcome.surveys.get(code)
        if surveys is None:
            surveys = outcome.surveys[code] = [] if rule.survey is None else [rule.survey(project)]
        context = Context(rule, project, _options(rule, project.settings))
        outcome.findings.extend(_caught(rule, partial(pending.conclude, surveys, context), None, None, outcome))


def _joined(outcomes: Sequence[_Outcome]) -> _Outcome:
    surveys: dict[str, list[Any]] = {}
    for each in outcomes:
        for code, said in each.surveys.items():
            surveys.setdefault(code, []).extend(said)
    return _Outcome(
        [finding for each in outcomes for finding in each.findings],
        any(each.crashed for each in outcomes),
        sum(each.experiments for each in outcomes),
        sum(each.stages for each in outcomes),
        sum(each.jobs for each in outcomes),
        [pending for each in outcomes for pending in each.pending],
        surveys,
    )


def _check_part(project: Project, rules: Sequence[Header], unreadable: Sequence[Unreadable]) -> _Outcome:
    outcome = _Outcome()
    for rule in rules:
        if rule.code != OWN_CODE and _has_subject(rule, project, unreadable):
            _run(load_rule(rule), project, unreadable, outcome)
    if project.whole is project:
        _conclude(project, outcome)
    outcome.findings = _with_edits_of_files(outcome.findings, project)
    experiments = [each for each in project.experiments if each.root and (each.is_spec or len(each.stages) > 1)]
    outcome.experiments = len(experiments)
    outcome.stages = sum(len({_stage_key(stage) for stage in each.stages}) for each in experiments)
    outcome.jobs = len({id(script.source) for script in project.scripts if script.job is not None})
    return outcome


def _with_edits_of_files(findings: list[Finding], project: Project) -> list[Finding]:
    """The findings with fixes that can be made in their files, with the margins and line ends of these, and that leave
    the files readable."""
    if any(file.kind in (Kind.JOB, Kind.MAKEFILE) for file in project.files):
        from verlint.experiment.job_edits import JobEdits

        edits = JobEdits(project.scripts)
        findings = [edits.mapped(finding) for finding in findings]
    if not any(finding.fix for finding in findings):
        return findings
    from verlint.file_edits import in_file, is_plain

    findings = [_within(project, in_file(finding)) for finding in findings]
    if all(is_plain(edit) for finding in findings if finding.fix for edit in finding.fix.edits):
        return findings
    from verlint.fix import without_harm

    return without_harm(findings)


def _within(project: Project, finding: Finding) -> Finding:
    """The finding, without a fix that reaches into a file which is read and not looked at: no such file is changed."""
    if finding.fix is None or all(id(edit.span.source) in project.kinds for edit in finding.fix.edits):
        return finding
    return replace(finding, fix=None)


# ---- running


def _has_subject(rule: Header | Rule, project: Project, unreadable: Sequence[Unreadable]) -> bool:
    """Whether there is anything the rule looks at; a rule without is not even imported."""
    if rule.words and not project.mentions(rule.words, comments=not rule.module.startswith(f"{OWN_PACKAGE}.")):
        return False
    match rule.subject:
        case "Unreadable":
            return bool(unreadable)
        case "Input":
            return False  # these are given apart
        case "SpecFile":
            return any(file.kind is Kind.SPEC for file in project.files)
        case "Experiment":
            return any(
                each.is_spec or not rule.families or any(stage.family in rule.families for stage in each.stages)
                for each in project.experiments
            )
        case "Launch":
            return not (rule.families or project.families).isdisjoint(project.families)
    return True


def _run(rule: Rule, project: Project, unreadable: Sequence[Unreadable], outcome: _Outcome) -> None:
    context = Context(rule, project, _options(rule, project.settings))
    if rule.on is Command or rule.on is Launch:
        _run_on_sites(rule, project, context, outcome)
    for subject, place in _subjects(rule.subject, project, unreadable):
        outcome.findings.extend(_guarded(rule, subject, context, place, outcome))


def _run_on_inputs(rule: Rule, project: Project, inputs: Sequence[Input], outcome: _Outcome) -> None:
    context = Context(rule, project, _options(rule, project.settings))
    for each in inputs:
        place = None if each.source is None else each.source.span(0, 0)
        outcome.findings.extend(_guarded(rule, each, context, place, outcome))


def _options(rule: Rule, settings: Settings) -> dict[str, Any]:
    found: dict[str, Any] = dict(rule.options)
    for name in rule.names():
        found.update(settings.rules.get(name, {}))
    return found


def _subjects(on: str, project: Project, unreadable: Sequence[Unreadable]) -> Iterator[tuple[object, Span | None]]:
    """The things of a class, apart from commands and launches of scripts, with the place to blame for a crash."""
    match on:
        case "Unreadable":
            yield from ((each, None) for each in unreadable)
        case "Loaded":
            yield from ((file, file.source.span(0, 0)) for file in project.files)
        case "Experiment":
            yield from ((each, each.source.span(0, 0)) for each in project.experiments)
        case "Launch":
            yield from ((launch, launch.head) for launch in (*project.spec_launches, *project.config_launches))
        case "Script":
            yield from ((script, script.source.span(0, 0)) for script in project.scripts)
        case "SpecFile":
            yield from ((spec, spec.source.span(0, 0)) for spec in project.specs)


def _guarded(rule: Rule, subject: object, context: Context, place: Span | None, outcome: _Outcome) -> list[Finding]:
    """The findings of a rule on one thing; a rule that crashes becomes a finding, and the rest goes on."""
    if rule.families and isinstance(subject, Launch) and subject.family not in rule.families:
        return []
    return _caught(rule, lambda: rule.check(subject, context), subject, place, outcome)


def _caught(
    rule: Rule,
    check: Callable[[], Iterable[Finding | Pending]],
    subject: object,
    place: Span | None,
    outcome: _Outcome,
) -> list[Finding]:
    found: list[Finding] = []
    try:
        for each in check():
            if isinstance(each, Pending):
                outcome.pending.append((rule.code, each))
            else:
                found.append(_about(each, subject))
    except Exception as error:
        outcome.crashed = True
        message = f"the rule itself failed here ({type(error).__name__}: {error}); please report it"
        path = place.in_file().source.path if place is not None else getattr(subject, "path", "")
        return [Finding(rule.code, rule.slug, Severity.ERROR, Verdict.FAIL, message, place, path=str(path))]
    return found


def _about(finding: Finding, subject: object) -> Finding:
    if not isinstance(subject, Launch):
        return finding
    if subject.of_file and _is_in_config(finding, subject):
        finding = finding.with_related(subject.head, "the launch that reads it")
    if finding.about:
        return finding
    return replace(finding, about=" / ".join(each for each in (subject.family, subject.stage) if each))


def _is_in_config(finding: Finding, launch: Launch) -> bool:
    """Whether a finding lies in the config that a launch names, and speaks of no place of the launch."""
    own = launch.head.in_file().source
    spans = [finding.span, *(related.span for related in finding.related)]
    return all(span is not None and span.in_file().source is not own for span in spans)


def _run_on_sites(rule: Rule, project: Project, context: Context, outcome: _Outcome) -> None:
    for group in project.launch_groups if rule.on is Launch else project.command_groups:
        found: list[tuple[Variant, list[Finding]]] = []
        for subject, variant in group:
            of_variant = _guarded(rule, subject, context, variant.command.span, outcome)
            found.append((variant, [in_context(each, variant) for each in of_variant]))
        if any(each for _, each in found):
            outcome.findings.extend(agreed(found))


# ---- levels, suppression


def _leveled(finding: Finding, settings: Settings) -> Finding:
    """The finding with the severity that the settings give its rule; the name that means fewest rules counts."""
    best = ""
    for name in settings.severity:
        if _speaks_of(name, finding) and (not best or _width(name, finding) <= _width(best, finding)):
            best = name
    return replace(finding, severity=settings.severity[best]) if best else finding


def _width(name: str, finding: Finding) -> int:
    """How many rules a name of a finding's rule means, for comparison: a prefix the more the shorter it is."""
    text = name.upper()
    if text == "ALL":
        return len(finding.code) + 1
    return len(finding.code) - len(text) if finding.code.startswith(text) else 0


def _speaks_of(name: str, finding: Finding) -> bool:
    """Whether a name of a settings file (code, prefix, slug, old name, `ALL`) means a finding's rule."""
    text = name.upper()
    if text == "ALL" or name == finding.slug:
        return True
    is_prefix = finding.code.startswith(text) and len(text) >= len(finding.code) - 3
    return is_prefix or finding.code in codes_of(name)


def _ignored_at(finding: Finding, settings: Settings) -> bool:
    if not settings.per_path_ignores:
        return False
    return any(_speaks_of(name, finding) for name in settings.ignored_at(Path.cwd() / finding.file))


def _suppress(
    findings: list[Finding], project: Project, rules: Sequence[Header | Rule], settings: Settings, outcome: _Outcome
) -> tuple[list[Finding], int]:
    texts = [(file.source, file.kind) for file in project.files]
    texts += [(source, Kind.LAUNCHER) for source in project.called_sources if source.path.endswith((".sh", ".bash"))]
    if not any("verlint" in source.text for source, _ in texts):
        return findings, 0
    from verlint.suppress import apply, collect

    suppressions = [each for source, kind in texts if "verlint" in source.text for each in collect(source, kind)]
    if not suppressions:
        return findings, 0
    applied = apply(findings, suppressions, ran=[rule.code for rule in rules])
    own = next((rule for rule in rules if rule.code == OWN_CODE), None)
    if own is None:
        return applied.kept, len(applied.suppressed)
    rule = load_rule(own)
    context = Context(rule, project, _options(rule, settings))
    loaded = {id(file.source) for file in project.files}
    unused = [each for each in applied.unused if id(each.span.in_file().source) in loaded]
    reported = [finding for each in unused for finding in _guarded(rule, each, context, each.span, outcome)]
    reported = [_leveled(finding, settings) for finding in reported if not _ignored_at(finding, settings)]
    again = apply(reported, suppressions, ran=[OWN_CODE])
    return [*applied.kept, *again.kept], len(applied.suppressed) + len(again.suppressed)


def _stage_key(stage: Stage) -> tuple[object, ...]:
    """What makes a stage another one: the turns of a loop are the same."""
    return (stage.span.order(), stage.id, stage.kind)
