"""What leaves verlint: every text of a report with its secrets masked.

A secret is recognised where it is written; the same value then is masked everywhere in the report, also where nothing
around it says what it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from verlint.finding import Finding
from verlint.report.display import one_line, visible
from verlint.secret import Masked, mask, mask_spans, secret_values
from verlint.source import Source, Span
from verlint.value import Hop


class Redactor:
    """Masks the texts of some findings."""

    def __init__(self, findings: Iterable[Finding]) -> None:
        secrets: set[str] = set()
        seen: set[int] = set()
        for finding in findings:
            for text in (finding.message, finding.value, *(hop.note for hop in finding.hops)):
                secrets |= secret_values(text)
            for span in _spans(finding):
                source = span.in_file().source
                if id(source) not in seen:
                    seen.add(id(source))
                    secrets |= secret_values(source.text)
        self._secrets = frozenset(secrets)
        self._masks: dict[int, list[Masked]] = {}

    def raw(self, text: str) -> str:
        """The text with secrets masked and nothing else changed; for formats that escape by themselves."""
        return mask(text, self._secrets)

    def text(self, text: str) -> str:
        """The text on one line, fit for a terminal."""
        return visible(self.raw(one_line(text)))

    def path(self, path: str) -> str:
        """A path, fit for a terminal."""
        return visible(self.raw(path))

    def lines(self, text: str) -> list[str]:
        """The lines of a text (a command to copy), each fit for a terminal."""
        return [visible(line.replace("\t", "    ")) for line in self.raw(text).splitlines()]

    def place(self, span: Span) -> str:
        """`path:line:column` of a span."""
        begin = span.begin
        return f"{self.path(span.in_file().source.path)}:{begin.line}:{begin.column}"

    def hop(self, hop: Hop) -> str:
        """What a step of provenance says: its note, else what is written there."""
        if hop.note or hop.span is None:
            return self.raw(one_line(hop.note))
        span = hop.span.in_file()
        within = mask_spans(span.text, self._secrets)
        masked = [
            *self.masks(span.source),
            *(Masked(span.start + each.start, span.start + each.end, each.text) for each in within),
        ]
        return one_line(_apply(span, masked))

    def masks(self, source: Source) -> list[Masked]:
        """What is to be masked in a file, by offset."""
        if id(source) not in self._masks:
            self._masks[id(source)] = mask_spans(source.text, self._secrets)
        return self._masks[id(source)]


def _spans(finding: Finding) -> Iterator[Span]:
    if finding.span is not None:
        yield finding.span
    yield from (hop.span for hop in finding.hops if hop.span is not None)
    yield from (related.span for related in finding.related)
    if finding.fix is not None:
        yield from (edit.span for edit in finding.fix.edits)


def _apply(span: Span, masked: list[Masked]) -> str:
    """The text of a span with what is masked in it, also in part."""
    out: list[str] = []
    at = span.start
    for each in sorted(masked, key=lambda each: each.start):
        if each.end <= at or each.start >= span.end:
            continue
        out += (span.source.text[at : max(each.start, at)], each.text)
        at = each.end
    return "".join(out) + span.source.text[at : span.end] if at < span.end else "".join(out)
