"""`verlint check --add-ignore REASON`: write a suppression above everything that is found.

Each comment is tried first: it is written only where it covers the finding and nothing else of the file changes its
meaning; what no comment can cover is told."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping

from verlint.cli.main import FAILED, OK, complain
from verlint.cli.rewriting import Rewriting
from verlint.files.kinds import Kind, is_rst
from verlint.files.loading import Loading
from verlint.finding import Finding
from verlint.report.redaction import Redactor
from verlint.report.summary import counted
from verlint.result import Loaded, Report
from verlint.source import Source, Span, lines_of
from verlint.suppress import collect

_REACH = 400
"""Lines above a finding among which the place for its comment is looked for."""


def add_ignores(reason: str, load: Callable[[], Loading], check: Callable[[Loading], Report]) -> int:
    """Add the comments to the files; returns the exit code."""
    reason = " ".join(reason.split())
    if not reason:
        print("verlint: error: --add-ignore wants the reason, which later readers will ask for", file=sys.stderr)
        return FAILED
    loading = load()
    report = check(loading)
    if report.crashed:
        return FAILED
    added, left = 0, list[Finding]()
    by_file: dict[str, list[Finding]] = {}
    for finding in report.findings:
        by_file.setdefault(finding.file, []).append(finding)
    files = {file.source.path: file for file in loading.files}
    texts: list[tuple[Loaded, str]] = []
    for path, findings in by_file.items():
        file = files.get(path)
        text, covered = _with_comments(file, findings, reason) if file is not None else ("", [])
        if file is not None and covered:
            texts.append((file, text))
        added += len(covered)
        left += [finding for finding in findings if finding not in covered]
    Rewriting().write(texts)
    return _told(added, len(texts), left, report)


def _told(added: int, files: int, left: list[Finding], report: Report) -> int:
    where = f" in {counted(files, 'file')}" if files > 1 else ""
    print(f"Ignored {counted(added, 'finding')}{where}.")
    redactor = Redactor(report.findings)
    for finding in left:
        place = redactor.place(finding.span) if finding.span is not None else redactor.path(finding.path)
        complain(f"no comment can cover {place}: {finding.code} {redactor.text(finding.message)}")
    return OK if not left else FAILED


def _with_comments(file: Loaded, findings: list[Finding], reason: str) -> tuple[str, list[Finding]]:
    """The text of a file with comments for as many findings as can have one; a place has one comment for all."""
    page = _Page(file.source, file.kind)
    by_line: dict[int, list[Finding]] = {}
    for finding in findings:
        if finding.span is not None:
            by_line.setdefault(finding.span.begin.line, []).append(finding)
    chosen: dict[tuple[int, str], list[Finding]] = {}
    for line, own in by_line.items():
        places = [finding.span.in_file() for finding in own if finding.span is not None]
        place = page.place_above(line, places)
        if place is not None:
            chosen.setdefault(place, []).extend(own)
    inserts = {at: form.format(_body(own, reason)) for (at, form), own in chosen.items()}
    return page.with_lines(inserts), [finding for own in chosen.values() for finding in own]


def _body(findings: list[Finding], reason: str) -> str:
    return f"verlint: ignore[{','.join(sorted({finding.code for finding in findings}))}] {reason}"


class _Page:
    """A file that gets comments on lines of their own."""

    def __init__(self, source: Source, kind: Kind) -> None:
        self.path = source.path
        self.text = text = source.text
        self.kind = kind
        self.lines = lines_of(text)
        self.ending = "\r\n" if "\r\n" in text else "\n"
        self.meaning = _meaning(source, kind)
        self.forms = ("# {}", ".. {}" if is_rst(self.path) else "<!-- {} -->") if kind is Kind.DOCUMENT else ("# {}",)

    def place_above(self, line: int, places: list[Span]) -> tuple[int, str] | None:
        """The nearest line (from 0) at or above `line` (from 1) before which a comment covers the places, and the form
        it has there; None when there is none."""
        for at in range(line - 1, max(line - 1 - _REACH, -1), -1):
            for form in self.forms:
                text = self.with_lines({at: form.format("verlint: ignore[ALL] x")})
                if self._covers(text, places) and _meaning(Source(self.path, text), self.kind) == self.meaning:
                    return at, form
        return None

    def with_lines(self, inserts: Mapping[int, str]) -> str:
        """The text with lines before some of its lines (from 0), indented as those are."""
        out: list[str] = []
        for number, line in enumerate(self.lines):
            if number in inserts:
                indent = line[: len(line) - len(line.lstrip(" \t"))]
                out.append(indent + inserts[number] + self.ending)
            out.append(line)
        return "".join(out)

    def _covers(self, text: str, places: list[Span]) -> bool:
        source, shift = Source(self.path, text), len(text) - len(self.text)
        moved = [Span(source, place.start + shift, place.end + shift) for place in places]
        return any(all(map(each.holds, moved)) for each in collect(source, self.kind) if each.own_line and each.entries)


def _meaning(source: Source, kind: Kind) -> object:
    """What of a text must stay the same when a comment is added: the words of its commands, its YAML values."""
    if kind is Kind.LAUNCHER:
        return _words(source.text)
    if kind is Kind.DOCUMENT:
        from verlint.languages.documents import shell_fences

        return [_words(fence.source.text) for fence in shell_fences(source)]
    if kind in (Kind.YAML, Kind.SPEC):
        return _events(source.text)
    return None


def _words(shell: str) -> list[list[str]]:
    from verlint.languages.bash.parser import parse

    program = parse(shell, stand_ins=True)
    words = [[shell[word.start : word.end] for word in simple.words] for simple in program.simple]
    return words if program.problem is None else [*words, [program.problem.message]]


def _events(text: str) -> list[tuple[str, str]]:
    """Kinds and values of what a YAML reader meets, up to a fault."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    found: list[tuple[str, str]] = []
    try:
        found.extend(
            (type(event).__name__, str(getattr(event, "value", "")))
            for event in YAML(typ="safe", pure=True).parse(text)
        )
    except YAMLError as error:
        found.append(("fault", type(error).__name__))
    return found
