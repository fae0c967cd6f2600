"""`verlint check`: load the files, run the engine, print the report, choose the exit code."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from verlint import disk
from verlint.cli.call import Arguments, load_files, read_call
from verlint.cli.main import FAILED, FOUND, OK, UsageError, complain
from verlint.cli.output import emit, output_targets, use_color
from verlint.files.kinds import Kind
from verlint.files.loading import Loading, load_around
from verlint.finding import Finding, Verdict
from verlint.record import replace
from verlint.report import FORMATS
from verlint.result import Loaded, Report, Unreadable
from verlint.settings import FAIL_ON, SCOPES, Settings, SettingsError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


_SWITCHES = ("force_exclude", "require_files", "isolated", "no_cache", "exit_zero", "strict", "ready")
"""Options of a plain call: what they say is said by them alone."""


def plain_call(words: Sequence[str]) -> Arguments | None:
    """The arguments of a call that has no options but switches before or behind its paths, else None: then `argparse`,
    which takes its time, reads them."""
    switches = {f"--{name.replace('_', '-')}": name for name in _SWITCHES}
    paths = [word for word in words if not word.startswith("-")]
    first = words.index(paths[0]) if paths else 0
    given = [*words[:first], *words[first + len(paths) :]]
    if any(word not in switches for word in given):
        return None
    arguments = Arguments(paths)
    for word in given:
        setattr(arguments, switches[word], True)
    return arguments


def add_parser(subparsers: Any) -> None:
    """Add the verb to the parser of `verlint`."""
    parser = subparsers.add_parser(
        "check",
        help="find what is wrong in launchers and experiment specs",
        usage="verlint check [options] [PATH ...]",
        description="Find what is wrong in launchers and experiment specs. Nothing of what is checked is ever run.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "paths", nargs="*", metavar="PATH", help="files or folders (default: .); - reads standard input"
    )

    choice = parser.add_argument_group("rules")
    choice.add_argument(
        "--select",
        action="append",
        metavar="RULES",
        help="only these rules: codes, prefixes (VL4) or names, with commas",
    )
    choice.add_argument("--extend-select", action="append", metavar="RULES", help="these rules as well")
    choice.add_argument("--ignore", action="append", metavar="RULES", help="all but these rules")
    choice.add_argument("--verl", metavar="VERSION|PATH", help="VeRL version, or checkout, that the launchers are for")
    choice.add_argument(
        "--model-config", metavar="PATH", help="the config.json, or its folder, of the model that the launchers train"
    )
    choice.add_argument(
        "--strict", action="store_true", default=None, help="findings that need verification fail the run too"
    )
    choice.add_argument(
        "--ready", action="store_true", default=None, help="the experiment is to start now: nothing may be left open"
    )

    files = parser.add_argument_group("files")
    files.add_argument(
        "--exclude", action="append", metavar="GLOB", help="leave out paths (relative to the settings file)"
    )
    files.add_argument("--force-exclude", action="store_true", help="leave out excluded paths even if they are named")
    files.add_argument(
        "--stdin-filename", metavar="FILE", default="", help="the name that standard input is taken to have"
    )
    files.add_argument(
        "--scope",
        choices=SCOPES,
        help="touched: load the experiments around the named files, report what touches these files (the default when "
        "files are named); all: everything in what is named",
    )
    files.add_argument(
        "--show-files",
        action="store_true",
        default=None,
        help="print every file with why it is checked or not, and stop",
    )
    files.add_argument(
        "--jobs",
        type=_jobs,
        default=0,
        metavar="N",
        help="processes that look at the parts of a large project (default: one a processor); the output is the same",
    )
    files.add_argument("--require-files", action="store_true", help="it is an error (2) when there is nothing to check")

    output = parser.add_argument_group("output")
    output.add_argument(
        "--output-format", action="append", metavar="NAME[:FILE]", help=f"{', '.join(FORMATS)}; may be repeated"
    )
    output.add_argument(
        "--color",
        choices=("auto", "always", "never"),
        default="auto",
        help="colours (NO_COLOR and FORCE_COLOR count too)",
    )
    output.add_argument("--fail-on", choices=FAIL_ON, help="least severity that gives exit code 1 (default: warning)")
    output.add_argument(
        "--statistics", action="store_true", help="print how many findings each rule has (text or json)"
    )
    output.add_argument("--exit-zero", action="store_true", help="exit code 0 even with findings")

    fixes = parser.add_argument_group("fixes")
    fixes.add_argument("--fix", action="store_true", help="apply the safe fixes to the files, then report what is left")
    fixes.add_argument("--unsafe-fixes", action="store_true", help="with --fix or --diff: the unsafe fixes as well")
    fixes.add_argument("--diff", action="store_true", help="show what the fixes would change, and change nothing")

    known = parser.add_argument_group("known findings")
    known.add_argument("--baseline", metavar="FILE", help="report only what this file does not hold")
    known.add_argument(
        "--write-baseline", action="store_true", help="write all findings into the baseline (verlint-baseline.json)"
    )
    known.add_argument(
        "--add-ignore", metavar="REASON", help="write a comment with this reason above everything that is found"
    )

    settings = parser.add_argument_group("settings")
    settings.add_argument("--config", metavar="FILE", help="use this settings file")
    settings.add_argument("--isolated", action="store_true", help="use no settings file")
    settings.add_argument("--no-cache", action="store_true", help="look at everything anew, and keep nothing")
    settings.add_argument(
        "--cache-dir", metavar="DIR", default="", help="keep what was found in this folder, not in the user's"
    )
    settings.add_argument("--show-settings", action="store_true", help="print what holds for these paths, and stop")


def _jobs(text: str) -> int:
    """A number of processes. Raises ValueError, which `argparse` reports."""
    jobs = int(text)
    if jobs < 1:
        raise ValueError
    return jobs


def run(arguments: Arguments) -> int:
    """Carry out `verlint check`; returns the exit code."""
    try:
        settings = read_call(arguments)
        targets = output_targets(settings, statistics=arguments.statistics)
        loading = load_files(arguments, settings)
    except (UsageError, SettingsError) as error:
        complain(f"verlint: error: {error}")
        return FAILED
    if arguments.show_settings:
        disk.give_up()
        from verlint.cli.settings_shown import settings_text

        sys.stdout.write(settings_text(settings, arguments))
        return OK
    if settings.show_files:
        from verlint.report.display import visible_lines

        print(visible_lines(file_list(loading)))
        return OK
    if not loading.files and not loading.unreadable:
        print("warning: nothing to check (--show-files says why)", file=sys.stderr)
        if arguments.require_files:
            return FAILED
    try:
        if arguments.diff:
            return show_diff(arguments, loading, settings)
        return carry_out(arguments, loading, settings, targets)
    except UsageError as error:
        complain(f"verlint: error: {error}")
        return FAILED


def carry_out(arguments: Arguments, loading: Loading, settings: Settings, targets: Sequence[tuple[str, str]]) -> int:
    """Check, and do with the findings what the call asks for. Raises UsageError."""
    if arguments.write_baseline or arguments.add_ignore is not None or arguments.fix:
        disk.give_up()  # it changes files
    if arguments.write_baseline:
        from verlint.cli.baselining import write_baseline

        unknown = replace(settings, baseline="")
        report = check(loading, unknown, touched=is_touched(arguments, settings), jobs=arguments.jobs)
        return (OK if write_baseline(report, settings) else FAILED) if not report.crashed else FAILED
    if arguments.add_ignore is not None:
        from verlint.cli.ignoring import add_ignores

        touched = is_touched(arguments, settings)
        return add_ignores(
            arguments.add_ignore,
            lambda: load_files(arguments, settings),
            lambda files: check(files, settings, touched=touched, jobs=arguments.jobs),
        )
    report = replace(report_on(arguments, loading, settings), asked=_asked(arguments))
    if arguments.statistics:
        from verlint.report.statistics import render

        sys.stdout.write(render(report, as_json=("json", "") in targets))
        emit(report, [(name, file) for name, file in targets if file], color=False)
    elif not emit(report, targets, color=use_color(arguments.color, sys.stdout)):
        return FAILED
    if report.expired:
        from verlint.cli.baselining import tell_expired

        tell_expired(report)
    return exit_code(report, settings, exit_zero=arguments.exit_zero)


def _asked(arguments: Arguments) -> tuple[str, ...]:
    """The words of a call that say which rules are to look at which files."""
    options = (
        ("--select", arguments.select),
        ("--extend-select", arguments.extend_select),
        ("--ignore", arguments.ignore),
    )
    return (*(word for name, given in options for each in given or () for word in (name, each)), *arguments.paths)


def report_on(arguments: Arguments, loading: Loading, settings: Settings) -> Report:
    """The report of a call, after its fixes if it asks for them."""
    touched = is_touched(arguments, settings)
    if not arguments.fix:
        return check(loading, settings, touched=touched, jobs=arguments.jobs)
    from verlint.cli.fixing import fix_files

    report, applied = fix_files(
        loading,
        lambda files: check(files, settings, touched=touched, jobs=arguments.jobs),
        lambda: load_files(arguments, settings),
        unsafe=arguments.unsafe_fixes,
    )
    if applied:
        complain(f"Fixed {applied} finding{'s' if applied > 1 else ''}.")
    return report


def show_diff(arguments: Arguments, loading: Loading, settings: Settings) -> int:
    """Print the diff of the fixes; 1 when there is one, as nothing was changed."""
    from verlint.cli.fixing import diff_text

    report = check(loading, settings, touched=is_touched(arguments, settings), jobs=arguments.jobs)
    text = diff_text(report, loading, unsafe=arguments.unsafe_fixes)
    sys.stdout.write(text)
    return FAILED if report.crashed else FOUND if text and not arguments.exit_zero else OK


def is_touched(arguments: Arguments, settings: Settings) -> bool:
    """Whether only what touches the named files is reported: as the call says, else the settings, else when files are
    named and no folder."""
    if arguments.scope is not None:
        return arguments.scope == "touched"
    names_files = bool(arguments.paths) and not any(path == "-" or disk.is_dir(path) for path in arguments.paths)
    return names_files and settings.scope != "all"


def check(loading: Loading, settings: Settings, *, touched: bool = False, jobs: int = 1) -> Report:
    """Run the engine on loaded files, in up to `jobs` processes (0: one a processor). With `touched`, only findings
    with a place in a named file stay."""
    from verlint.engine import check_project

    files = list(loading.files)
    if touched:
        files += load_around([file for file in files if file.named], settings)
        files.sort(key=lambda file: file.source.path)
    report = check_project(files, settings, Path.cwd(), unreadable=loading.unreadable, jobs=jobs)
    report = replace(report, summary=replace(report.summary, skipped=loading.skipped))
    if touched:
        report = only_touched(report, files, loading.unreadable)
    if settings.baseline:
        from verlint.cli.baselining import without_known

        checked = [file for file in files if file.named] if touched else files
        report = without_known(report, settings, checked, loading.unreadable)
    return report


def only_touched(report: Report, files: Sequence[Loaded], unreadable: Sequence[Unreadable]) -> Report:
    """The report without the findings that have neither their place, nor a related one, nor a step of provenance in a
    named file, and without the fixes that reach into other files: these are not changed."""
    seeds = {file.source.path for file in files if file.named} | {problem.path for problem in unreadable}
    kept = [finding for finding in report.findings if not seeds.isdisjoint(_places(finding))]
    return replace(report, findings=tuple(_fixed_within(finding, seeds) for finding in kept))


def _fixed_within(finding: Finding, paths: set[str]) -> Finding:
    if finding.fix is None or all(edit.span.in_file().source.path in paths for edit in finding.fix.edits):
        return finding
    return replace(finding, fix=None)


def _places(finding: Finding) -> set[str]:
    spans = [related.span for related in finding.related] + [hop.span for hop in finding.hops if hop.span is not None]
    return {finding.file} | {span.in_file().source.path for span in spans}


def exit_code(report: Report, settings: Settings, *, exit_zero: bool = False) -> int:
    """0 when nothing reaches the threshold, 1 when something does, 2 after a crash."""
    if report.crashed:
        return FAILED
    if exit_zero or settings.fail_on is None:
        return OK
    verdicts = (Verdict.FAIL, Verdict.UNSURE) if settings.strict else (Verdict.FAIL,)
    failing = any(finding.verdict in verdicts and finding.severity >= settings.fail_on for finding in report.findings)
    return FOUND if failing else OK


# Settings and files --------------------------------------------------------------------------------------------------


def file_list(loading: Loading) -> str:
    """Every path met, one a line: what became of it, and why."""
    files = {file.source.path: file for file in loading.files}
    lines: list[str] = []
    for decision in loading.decisions:
        if not decision.kept:
            lines.append(f"skipped  {decision.shown}: {decision.reason}")
            continue
        lines.append(f"checked  {decision.shown}: {decision.kind.value}, {decision.reason}")
        if decision.kind is Kind.DOCUMENT and decision.shown in files:
            lines += [f"         {problem}" for problem in unread_blocks(files[decision.shown])]
    listed = {decision.shown for decision in loading.decisions}
    lines += [
        f"skipped  {problem.path}: {problem.reason}" for problem in loading.unreadable if problem.path not in listed
    ]
    kinds = [decision.kind for decision in loading.decisions if decision.kept]
    counts = ", ".join(f"{kinds.count(kind)} {kind.value}" for kind in Kind if kind in kinds)
    skipped = sum(line.startswith("skipped") for line in lines)
    lines.append(f"{len(kinds)} checked" + (f" ({counts})" if counts else "") + f", {skipped} skipped")
    return "\n".join(lines)


def unread_blocks(document: Loaded) -> list[str]:
    """The shell blocks of a document that cannot be read to their end, each with the line and why."""
    from verlint.languages.bash.parser import parse
    from verlint.languages.documents import shell_fences

    out: list[str] = []
    for fence in shell_fences(document.source):
        problem = parse(fence.source.text, stand_ins=True).problem
        if problem is not None:
            line = fence.source.span(problem.offset, problem.offset).begin.line
            out.append(f"not read from line {line} to the end of its block, which bash rejects: {problem.message}")
    return out
