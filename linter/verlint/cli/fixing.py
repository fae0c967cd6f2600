"""`verlint check --fix` and `--diff`: apply fixes to the files, or show what they would change."""

from __future__ import annotations

import difflib
from collections.abc import Callable

from verlint.cli.rewriting import Rewriting
from verlint.files.loading import Loading
from verlint.finding import Finding
from verlint.fix import MAX_ROUNDS, apply_fixes
from verlint.report.redaction import Redactor
from verlint.result import Report
from verlint.source import Source, lines_of

MARK = "\N{BYTE ORDER MARK}"
"""What a file with a mark of UTF-8 begins with, which is no part of its text."""


def fix_files(
    loading: Loading, check: Callable[[Loading], Report], reload: Callable[[], Loading], *, unsafe: bool
) -> tuple[Report, int]:
    """Fix the loaded files until nothing more can be fixed; gives the last report and the number of fixes applied.

    Raises RewriteError when a file cannot be written; then all files are as they were.
    """
    applied = 0
    rewriting = Rewriting()
    report = check(loading)
    for _ in range(MAX_ROUNDS):
        fixed = apply_fixes(_in_loaded(report, loading), unsafe=unsafe)
        places = {id(file.source): file for file in loading.files}
        texts = [(places[id(source)], text) for source, text in fixed.texts.items()]
        if not texts:
            break
        rewriting.write(texts)
        applied += sum(finding.file in {file.source.path for file, _ in texts} for finding in fixed.applied)
        loading = reload()
        report = check(loading)
    return report, applied


def diff_text(report: Report, loading: Loading, *, unsafe: bool) -> str:
    """What the fixes would change, as a unified diff; "" for nothing. Secrets are masked, as everywhere."""
    fixed = apply_fixes(_in_loaded(report, loading), unsafe=unsafe)
    redactor = Redactor(report.findings)
    marked = {id(file.source) for file in loading.files if file.bom}
    texts = sorted(fixed.texts.items(), key=lambda item: item[0].path)
    return "".join(_diff(source, text, redactor, MARK if id(source) in marked else "") for source, text in texts)


def _in_loaded(report: Report, loading: Loading) -> list[Finding]:
    """The findings whose fixes lie in the loaded files: of one that reaches further, nothing is done."""
    known = {id(file.source) for file in loading.files}
    return [
        finding
        for finding in report.findings
        if finding.fix is not None and all(id(edit.span.in_file().source) in known for edit in finding.fix.edits)
    ]


def _diff(source: Source, text: str, redactor: Redactor, mark: str) -> str:
    path = redactor.path(source.path)
    if " " in path:
        path += "\t"  # else `patch` takes a part of the name for a date
    old, new = (lines_of(mark + redactor.raw(each)) for each in (source.text, text))
    lines = difflib.unified_diff(old, new, path, path)
    return "".join(line if line.endswith("\n") else line + "\n\\ No newline at end of file\n" for line in lines)
