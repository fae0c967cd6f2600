"""Edits of a text as changes of the file that holds it: margins of embedded texts, and line ends."""

from __future__ import annotations

from verlint.finding import Edit, Finding
from verlint.lazy import pattern
from verlint.record import replace
from verlint.source import Span

_MARGIN = pattern(r"[ \t>$%]*")
"""What stands in front of the lines of a block: indentation, marks of a quotation, a prompt."""

_WORD = pattern(r"[\w./=+-]*")
"""Characters that mean nothing to the syntax of a file."""


def is_plain(edit: Edit) -> bool:
    """Whether an edit puts characters of words in place of such, which leaves the syntax of a file as it is."""
    return bool(edit.text and _WORD.fullmatch(edit.text) and edit.span.text and _WORD.fullmatch(edit.span.text))


def in_file(finding: Finding) -> Finding:
    """The finding with its fix as edits of files; without a fix that cannot be written there."""
    fix = finding.fix
    if fix is None or all(_as_it_is(edit) for edit in fix.edits):
        return finding
    edits = [_edit(edit) for edit in fix.edits]
    made = tuple(edit for edit in edits if edit is not None)
    return replace(finding, fix=replace(fix, edits=made) if len(made) == len(edits) else None)


def _as_it_is(edit: Edit) -> bool:
    source = edit.span.source
    return source.parent is None and "\r" not in source.text


def _edit(edit: Edit) -> Edit | None:
    span, text = edit.span, edit.text
    while span.source.parent is not None:
        outwards = _outwards(span, text)
        if outwards is None:
            return None
        span, text = outwards
    return _with_line_ends(span, text)


def _outwards(span: Span, text: str) -> tuple[Span, str] | None:
    """An edit of an embedded text as one of the text around it; None where new lines cannot be written.

    New lines get the margin of the line they are put at, whole lines go with theirs."""
    inner, parent = span.source, span.source.parent
    assert parent is not None
    start = inner.outer(span.start)
    end = max(start, inner.outer(span.end - 1) + 1) if span.end > span.start else start
    first = inner.text.rfind("\n", 0, span.start) + 1
    beside = inner.outer(first)
    margin = parent.text[parent.text.rfind("\n", 0, beside) + 1 : beside]
    whole = span.start == first and inner.text[span.start : span.end].endswith("\n")
    if "\n" in inner.text[span.start : span.end] or "\n" in text:
        if not _MARGIN.fullmatch(margin):
            return None
        text = text.replace("\n", "\n" + margin)
    if whole and parent.text[end - 1 : end + 1] == "\r\n":
        end += 1
    if whole and text.endswith("\n" + margin):
        text = text[: len(text) - len(margin)]
    elif whole and not text:
        start -= len(margin)
    return Span(parent, start, end), text


def is_line_end(old: str, new: str) -> bool:
    """Whether an edit is about nothing but the kind of a line end."""
    return old == "\r\n" and new == "\n"


def _with_line_ends(span: Span, text: str) -> Edit:
    """New lines end as the line they are put at; the carriage return at the end of a line stays."""
    file = span.source.text
    start, end = span.start, span.end
    if is_line_end(file[start:end], text):
        return Edit(span, text)
    if start > 0 and file[start - 1 : start + 1] == "\r\n":  # what is put at the end of a line stands in front of both
        end -= end == start
        start -= 1
    if end > start and file[end - 1 : end + 1] == "\r\n":
        end -= 1
        text = text.removesuffix("\r")
    at = file.find("\n", start)
    at = file.rfind("\n") if at < 0 else at
    if "\n" in text and file[max(at - 1, 0) : at] == "\r":
        text = text.replace("\r\n", "\n").replace("\n", "\r\n")
    return Edit(Span(span.source, start, end), text)
