"""Suppressions: comments that take findings away, and the account of those that take none.

    # verlint: ignore[VL203] reason           on the line, or above a command: then all of it
    # verlint: ignore[VL203:data.val_files]   only findings about that key
    # verlint: file-ignore[VL101] reason      in the whole file

Codes, prefixes, slugs and old names are accepted. A comment that names no rule takes nothing away: it is reported,
like one that names an unknown rule or matches no finding."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from enum import Enum

from verlint.files.comments import DIRECTIVE_VALUES, DIRECTIVES, Comment, comments, directives_of, is_known
from verlint.files.comments import Directive as Directive
from verlint.files.comments import directives as directives
from verlint.files.kinds import Kind
from verlint.finding import Edit, Finding
from verlint.header import OWN_CODE, UnknownRule, codes_of, match_headers
from verlint.lazy import pattern
from verlint.record import dataclass
from verlint.source import Source, Span


@dataclass(frozen=True, slots=True)
class Entry:
    """One rule named in a suppression: its name as written, and the configuration key it is narrowed to ("" for
    all)."""

    name: str
    key: str
    span: Span

    def covers(self, finding: Finding) -> bool:
        """Whether the entry speaks of a finding's rule and key."""
        codes = codes_of(self.name)
        if finding.code == OWN_CODE and codes != {OWN_CODE}:
            return False  # a useless `ignore[VL0]` must not hide the report about itself
        return finding.code in codes and (not self.key or self.key in _keys(finding))


@dataclass(frozen=True, slots=True)
class Suppression:
    """A comment that speaks to verlint and is no directive.

    `span` is the comment, `scope` the code it covers. `entries` is empty when it names no rule; `malformed` says that
    it is neither a suppression nor a directive."""

    entries: tuple[Entry, ...]
    span: Span
    scope: Span
    reason: str = ""
    own_line: bool = False
    file_wide: bool = False
    malformed: bool = False

    def holds(self, span: Span | None) -> bool:
        """Whether a place lies in the scope."""
        if span is None:
            return False
        place, scope = span.in_file(), self.scope
        if place.source is not scope.source and place.source.path != scope.source.path:
            return False
        end = max(scope.end, scope.start + 1) + (place.start == place.end)  # nothing, just behind the last character
        return self.file_wide or scope.start <= place.start < end


class Fault(Enum):
    """What is wrong with a suppression."""

    UNUSED = "unused"
    UNKNOWN = "unknown"
    NO_CODE = "no-code"
    MALFORMED = "malformed"


@dataclass(frozen=True, slots=True)
class SuppressionReport:
    """A suppression, or one entry of it, that does nothing: what the rule VL008 looks at.

    `near` are similar right names. `alone` says that all of the comment goes when this goes, `behind` that an entry
    which stays stands before this one.
    """

    fault: Fault
    suppression: Suppression
    entry: Entry | None = None
    near: tuple[str, ...] = ()
    alone: bool = True
    behind: bool = False

    @property
    def span(self) -> Span:
        """What to point at: the entry, or the comment."""
        return self.suppression.span if self.entry is None else self.entry.span

    def renaming(self) -> Edit | None:
        """The edit that gives the entry the similar right name, if there is one."""
        if self.entry is None or not self.near:
            return None
        span = self.entry.span
        return Edit(Span(span.source, span.start, span.start + len(self.entry.name)), self.near[0])

    def removal(self) -> Edit:
        """The edit that takes it away: the entry with its comma, or the comment with its line or the blanks before
        it."""
        if self.entry is not None and not self.alone:
            return Edit(_entry_range(self.entry.span, behind=self.behind), "")
        return Edit(_comment_range(self.suppression), "")


@dataclass(frozen=True, slots=True)
class Applied:
    """Findings that stay, findings taken away, and the suppressions that did nothing."""

    kept: list[Finding]
    suppressed: list[Finding]
    unused: list[SuppressionReport]


_SUPPRESSION = pattern(r"(?P<verb>file-ignore|ignore)\b[ \t]*(?:\[(?P<names>[^\]]*)\])?[ \t]*(?P<reason>.*)", re.DOTALL)
_ENTRY = pattern(r"[^,\s][^,]*")


def collect(source: Source, kind: Kind) -> list[Suppression]:
    """The suppressions written in a file (not in embedded sources: those lie in it), in order."""
    found = [_read(comment) for comment in comments(source, kind)]
    return [suppression for suppression in found if suppression is not None]


def apply(
    findings: Iterable[Finding], suppressions: Sequence[Suppression], *, ran: Collection[str] | None = None
) -> Applied:
    """Take away what is suppressed. `ran` are the codes of the rules of this run, None for all: a suppression of a
    rule that did not run is not unused. Apply once more to the findings about suppressions themselves, so that they
    can be suppressed."""
    kept: list[Finding] = []
    taken: list[Finding] = []
    used: set[tuple[int, int]] = set()
    for finding in findings:
        hits = [
            (number, at)
            for number, suppression in enumerate(suppressions)
            for at, entry in enumerate(suppression.entries)
            if entry.covers(finding) and _touches(suppression, finding)
        ]
        used.update(hits)
        (taken if hits else kept).append(finding)
    reports = [
        report
        for number, suppression in enumerate(suppressions)
        for report in _faults(suppression, {at for n, at in used if n == number}, ran)
    ]
    return Applied(kept, taken, reports)


def _read(comment: Comment) -> Suppression | None:
    source = comment.span.source
    found = _SUPPRESSION.fullmatch(comment.body)
    if found is None:
        names = directives_of(comment)
        if names and all(is_known(directive) for directive in names):
            return None
        return Suppression((), comment.span, comment.scope, comment.body, comment.own_line, malformed=True)
    wide = found["verb"] == "file-ignore"
    entries: list[Entry] = []
    for piece in _ENTRY.finditer(found["names"] or ""):
        start = comment.body_start + found.start("names") + piece.start()
        text = piece.group().rstrip()
        name, _, key = text.partition(":")
        entries.append(Entry(name.strip(), key.strip(), source.span(start, start + len(text))))
    scope = source.whole() if wide else comment.scope
    return Suppression(tuple(entries), comment.span, scope, found["reason"].strip(), comment.own_line, wide)


def _touches(suppression: Suppression, finding: Finding) -> bool:
    if finding.span is None:
        return suppression.file_wide and finding.path == suppression.scope.source.path
    return suppression.holds(finding.span) or any(suppression.holds(related.span) for related in finding.related)


_KEY = pattern(r"[\"']?[+~]{0,2}([A-Za-z_][\w.@/-]*)")


def _keys(finding: Finding) -> set[str]:
    """The configuration keys a finding is about: of its resolved value, and of the text it points at."""
    keys = {finding.value.split(" = ", 1)[0].strip()} if finding.value else set()
    if finding.span is not None and (found := _KEY.match(finding.span.text)):
        keys.add(found[1])
    return keys


def _faults(suppression: Suppression, used: set[int], ran: Collection[str] | None) -> list[SuppressionReport]:
    if suppression.malformed:
        return [SuppressionReport(Fault.MALFORMED, suppression, near=_near_directive(suppression.reason))]
    if not suppression.entries:
        return [SuppressionReport(Fault.NO_CODE, suppression)]
    reports: list[SuppressionReport] = []
    for at, entry in enumerate(suppression.entries):
        codes = codes_of(entry.name)
        if not codes:
            reports.append(SuppressionReport(Fault.UNKNOWN, suppression, entry, _near_rules(entry.name)))
        elif at not in used and codes != {OWN_CODE} and (ran is None or codes & set(ran)):
            reports.append(SuppressionReport(Fault.UNUSED, suppression, entry))
    going = [report.entry for report in reports if report.fault is Fault.UNUSED]
    staying = [entry for entry in suppression.entries if entry not in going]
    if not staying:  # one edit, one cause: the whole comment goes with its first report
        return reports
    first = staying[0].span.start
    return [
        SuppressionReport(r.fault, r.suppression, r.entry, r.near, alone=False, behind=first < r.span.start)
        for r in reports
    ]


def _near_rules(name: str) -> tuple[str, ...]:
    try:
        match_headers(name)
    except UnknownRule as unknown:
        return tuple(unknown.near[:1])
    return ()


def _near_directive(body: str) -> tuple[str, ...]:
    from difflib import get_close_matches

    words = body.split("=", 1)[0].split("[", 1)[0].split()
    name, equals, value = body.partition("=")
    if equals and name.strip() in DIRECTIVES:
        near = get_close_matches(value.split(" ", 1)[0], DIRECTIVE_VALUES.get(name.strip(), ()), n=1)
        return tuple(f"{name.strip()}={each}" for each in near)
    names = ("ignore", "file-ignore", *DIRECTIVES)
    return tuple(get_close_matches(words[0], names, n=1)) if words else ()


def _entry_range(span: Span, *, behind: bool) -> Span:
    """An entry with one comma: the one before it when it stands behind an entry that stays, else the one after it. So
    the ranges of several entries of one comment have nothing in common."""
    text, start, end = span.source.text, span.start, span.end
    if not behind:
        after = re.compile(r"[ \t]*,[ \t]*").match(text, end)
        return Span(span.source, start, end if after is None else after.end())
    before = re.compile(r"[ \t]*,[ \t]*\Z").search(text, text.rfind("[", 0, start) + 1, start)
    return Span(span.source, start if before is None else before.start(), end)


def _comment_range(suppression: Suppression) -> Span:
    """A comment with all its line when nothing else stands there, else with the blanks before it."""
    span = suppression.span
    text = span.source.text
    line_start = text.rfind("\n", 0, span.start) + 1
    line_end = text.find("\n", span.end)
    after = text[span.end : len(text) if line_end < 0 else line_end]
    if not text[line_start : span.start].strip() and not after.strip():
        return Span(span.source, line_start, len(text) if line_end < 0 else line_end + 1)
    start = span.start
    while start > line_start and text[start - 1] in " \t":
        start -= 1
    return Span(span.source, start, span.end)
