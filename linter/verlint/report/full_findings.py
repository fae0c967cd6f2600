"""The findings of the report for people: code frames, the way of each value, what to do about it.

Errors first, then warnings by rule, then infos, then what needs verification on the target host. A rule with many
findings shows a few in full and the places of the rest.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, zip_longest
from operator import attrgetter

from verlint.finding import Finding, Safety, Severity, Verdict
from verlint.report.ansi import Style
from verlint.report.display import columns, cut, visible, wrap
from verlint.report.frame import frame
from verlint.report.redaction import Redactor
from verlint.report.summary import counted
from verlint.result import Report
from verlint.source import Source, Span
from verlint.value import Hop

MOST = 5
"""Findings of one rule that are all shown in full; of more, the first `SHOWN` are."""
SHOWN = 3
WIDEST = 120
"""Columns used of a wider terminal: longer lines are hard to follow."""
_MOST_RELATED = 5
_MOST_CALLS = 4
_LABEL = 8
_CALLED = "called at "


def finding_lines(report: Report, style: Style, width: int) -> Iterator[str]:
    """The lines that show the findings in at most `width` columns where nothing is cut that people copy."""
    return _Page(report, style, width).lines()


class _Page:
    def __init__(self, report: Report, style: Style, width: int) -> None:
        self.report = report
        self.style = style
        self.width = min(width, WIDEST)
        self.redactor = Redactor(report.findings)

    def lines(self) -> Iterator[str]:
        certain = [finding for finding in self.report.findings if finding.verdict is Verdict.FAIL]
        for severity in sorted(Severity, reverse=True):
            yield from self._section(finding for finding in certain if finding.severity is severity)
        unsure = [finding for finding in self.report.findings if finding.verdict is Verdict.UNSURE]
        if unsure:
            yield self.style.paint(
                "unsure",
                f"Needs verification ({len(unsure)}): each with the command that tells, on the host it will run on",
            )
            yield ""
            yield from self._section(unsure)

    def _section(self, findings: Iterable[Finding]) -> Iterator[str]:
        """Errors in the order of files and lines, others by rule."""
        ordered = sorted(findings, key=lambda finding: (finding.code, finding.order()))
        groups = {code: list(group) for code, group in groupby(ordered, key=attrgetter("code"))}
        if ordered and ordered[0].severity is Severity.ERROR and ordered[0].verdict is Verdict.FAIL:
            ordered.sort(key=Finding.order)
        shown: dict[str, list[Finding]] = {}
        for finding in ordered:
            group, before = groups[finding.code], shown.setdefault(finding.code, [])
            if len(group) > MOST and len(before) == SHOWN:
                continue
            before.append(finding)
            yield from self._finding(finding)
            yield ""
            if len(group) > MOST and len(before) == SHOWN:
                yield from self._rest(group[SHOWN:], before)
                yield ""

    def _finding(self, finding: Finding) -> Iterator[str]:
        yield from self._head(finding)
        redactor, style = self.redactor, self.style
        if finding.span is not None:
            span = finding.span.in_file()
            yield from frame(span, redactor.masks(span.source), style, self._mark(finding), self.width)
        for related in finding.related[:_MOST_RELATED]:
            label = redactor.text(related.label)
            yield f"  {style.paint('place', ':::')} {redactor.place(related.span)} {label}".rstrip()
        if len(finding.related) > _MOST_RELATED:
            yield f"  {style.paint('place', ':::')} and {counted(len(finding.related) - _MOST_RELATED, 'more place')}"
        yield from self._block("value", finding.value)
        yield from self._hops(finding)
        yield from self._block("near", finding.near)
        yield from self._block("help", finding.help)
        yield from self._command("verify", finding.verify)
        if finding.fix is not None:
            option = "safe, --fix" if finding.fix.safety is Safety.SAFE else "unsafe, --unsafe-fixes"
            option = option if finding.verdict is Verdict.FAIL else "by hand, once it is verified"
            yield from self._block("fix", f"{finding.fix.title} ({option})")
        if len(finding.contexts) > 1:
            yield from self._block("also", f"in {len(finding.contexts)} calls: {self._calls(finding)}")
        else:
            yield from self._block("when", "".join(finding.contexts))

    def _head(self, finding: Finding) -> Iterator[str]:
        label = "unsure" if finding.verdict is Verdict.UNSURE else finding.severity.label
        start = f"{finding.code} {label}: "
        about = self.redactor.text(finding.about)
        message = wrap(self.redactor.text(finding.message), self.width - len(start))
        used = len(start) + columns(message[0])
        beside = bool(about) and len(message) == 1 and used + 2 + columns(about) <= self.width
        first = self.style.paint(self._mark(finding), start.rstrip()) + " " + self.style.paint("bold", message[0])
        yield first + (" " * (self.width - used - columns(about)) + self.style.paint("dim", about) if beside else "")
        for line in message[1:]:
            yield " " * len(start) + self.style.paint("bold", line)
        place = self.redactor.place(finding.span) if finding.span is not None else self.redactor.path(finding.path)
        yield f"  {self.style.paint('place', '-->')} {place}" + (
            f"  {self.style.paint('dim', about)}" if about and not beside else ""
        )

    def _hops(self, finding: Finding) -> Iterator[str]:
        """The way of the value; left out when it is only the place that the frame shows."""
        span = finding.span
        if all(
            hop.span is not None and not hop.note and span is not None and _covers(span.order(), hop.span.order())
            for hop in finding.hops
        ):
            return
        hops = list(_telling(finding.hops))
        here = all(hop.span is not None and span is not None and _file(hop.span) is _file(span) for hop in hops)
        folder = _common_folder(finding)
        places = [self._hop_place(hop, folder, here=here) for hop in hops]
        room = max(map(columns, places))
        for number, (hop, place) in enumerate(zip(hops, places, strict=True)):
            text = cut(visible(self.redactor.hop(hop)), max(self.width - _LABEL - room - 2, 20))
            yield (
                self._label("from" if number == 0 else "") + place + " " * (room - columns(place)) + "  " + text
            ).rstrip()

    def _hop_place(self, hop: Hop, folder: str, *, here: bool) -> str:
        if hop.span is None:
            return ""
        span = hop.span.in_file()
        line = span.begin.line
        return f"line {line}" if here else f"{self.redactor.path(span.source.path.removeprefix(folder))}:{line}"

    def _calls(self, finding: Finding) -> str:
        folder = _common_folder(finding)
        calls = [each.removeprefix(_CALLED).removeprefix(folder) for each in finding.contexts[:_MOST_CALLS]]
        more = len(finding.contexts) - len(calls)
        return "; ".join(calls) + (f"; and {more} more" if more else "")

    def _rest(self, findings: list[Finding], shown: list[Finding]) -> Iterator[str]:
        first = findings[0]
        yield self.style.paint("bold", f"{first.code} {first.slug}: {counted(len(findings), 'more place')}")
        messages = {finding.message for finding in shown}
        for finding in findings:
            place = self.redactor.place(finding.span) if finding.span is not None else self.redactor.path(finding.path)
            said = finding.value if finding.message in messages else finding.message
            if finding.verify:
                said = f"{said}: {finding.verify}" if said else finding.verify
            yield f"  {place}  {cut(self.redactor.text(said), max(self.width - columns(place) - 4, 20))}".rstrip()

    def _block(self, label: str, text: str) -> Iterator[str]:
        if not text:
            return
        for number, line in enumerate(wrap(self.redactor.text(text), self.width - _LABEL)):
            yield self._label(label if number == 0 else "") + line

    def _command(self, label: str, text: str) -> Iterator[str]:
        """A command to copy: its lines as they are."""
        for number, line in enumerate(self.redactor.lines(text)):
            yield self._label(label if number == 0 else "") + line

    def _label(self, label: str) -> str:
        return self.style.paint("place", f" {label:<{_LABEL - 1}}")

    def _mark(self, finding: Finding) -> str:
        """The name of the style of a finding."""
        return "unsure" if finding.verdict is Verdict.UNSURE else finding.severity.label


def _common_folder(finding: Finding) -> str:
    """The beginning that the paths of a finding share, which its first line shows: whole folders with the last "/"."""
    paths = [finding.file, *(hop.span.in_file().source.path for hop in finding.hops if hop.span is not None)]
    paths += [each.removeprefix(_CALLED) for each in finding.contexts if each.startswith(_CALLED)]
    folder = posixpath.commonprefix(paths).rpartition("/")[0]
    return f"{folder}/" if folder else ""


def _covers(outer: tuple[str, int, int], inner: tuple[str, int, int]) -> bool:
    return outer[0] == inner[0] and outer[1] <= inner[1] and inner[2] <= outer[2]


def _telling(hops: Sequence[Hop]) -> Iterator[Hop]:
    """The steps without those that the next one shows as well: a value, and the assignment of it on the same line."""
    for hop, after in zip_longest(hops, hops[1:]):
        if after is None or hop.note or after.note or not _is_seen_in(hop.span, after.span):
            yield hop


def _is_seen_in(inner: Span | None, outer: Span | None) -> bool:
    if inner is None or outer is None:
        return False
    return inner.in_file().begin.line == outer.in_file().begin.line and _covers(outer.order(), inner.order())


def _file(span: Span) -> Source:
    return span.in_file().source
