"""Fixes of shell texts in YAML: an edit keeps its meaning under the quotes, folds and indentation of its scalar, or it
is not offered."""

from __future__ import annotations

from collections.abc import Iterable

from verlint.experiment.script import Script
from verlint.finding import Edit, Finding
from verlint.languages.jobs.job import Block
from verlint.languages.yaml import Scalar, parse_yaml, walk
from verlint.lazy import pattern
from verlint.record import replace
from verlint.source import Source, Span

_PLAIN = pattern(r"[\w./=@%+$\"' -]*")
"""Characters that mean themselves in every style, quotes apart."""
_UNSAFE = {"'": "'", '"': '"\\', "": ""}


class JobEdits:
    """Knows the shell texts of the jobs of some scripts."""

    def __init__(self, scripts: Iterable[Script]) -> None:
        self._blocks: dict[int, list[Block]] = {}
        for script in scripts:
            if script.job is not None:
                self._blocks.setdefault(id(script.source), []).extend(script.job.blocks)

    def mapped(self, finding: Finding) -> Finding:
        """The finding with its fix as edits of the files, without a fix that cannot be written there."""
        fix = finding.fix
        if fix is None:
            return finding
        edits: list[Edit] = []
        for edit in fix.edits:
            span = edit.span.in_file()
            blocks = self._blocks.get(id(span.source))
            made = edit if blocks is None else _edit(span, edit.text, blocks)
            if made is None:
                return replace(finding, fix=None)
            edits.append(made)
        return replace(finding, fix=replace(fix, edits=tuple(edits)))


def _edit(span: Span, text: str, blocks: Iterable[Block]) -> Edit | None:
    """An edit of a file of jobs; None outside of its shell texts, where no shell reads what a rule would write."""
    for block in blocks:
        found = _inner(block.source, span)
        if found is not None:
            start, end = found
            style = block.node.style if block.node is not None else None
            if style == "|":
                return _in_literal(block, start, end, text)
            made = _in_other(block.source, style, start, end, text)
            expected = block.source.text[:start] + text + block.source.text[end:]
            return made if made is None or block.node is None or _reads(block.node, made, expected) else None
    return None


def _inner(source: Source, span: Span) -> tuple[int, int] | None:
    """The range of an embedded text that stands for one of its file."""
    start = _offset(source, span.start)
    end = start if span.end == span.start else _offset(source, span.end - 1)
    if start is None or end is None:
        return None
    return start, end + (span.end > span.start)


def _offset(source: Source, outer: int) -> int | None:
    for piece in source.pieces:
        if piece.outer <= outer < piece.outer + piece.length and piece.inner + outer - piece.outer < len(source.text):
            return piece.inner + outer - piece.outer
    return None


def _in_literal(block: Block, start: int, end: int, text: str) -> Edit | None:
    """An edit of a literal block: new lines get its indentation, and lines that go take theirs along."""
    source = block.source
    file = source.parent
    assert file is not None
    first = source.outer(start)
    if end == len(source.text) and end > start and source.text[end - 1] == "\n" and not text.endswith("\n"):
        end -= 1  # the scalar ends with a line end whatever its text does
    last = first if end == start else source.outer(end) if end < len(source.text) else source.outer(end - 1) + 1
    line = file.text.rfind("\n", 0, first) + 1
    inner_line = source.text.rfind("\n", 0, start) + 1
    indent = file.text[line : source.outer(inner_line)]
    if indent.strip(" ") or (not source.text[:start].strip() and text[:1] in (" ", "\t", "\n", "")):
        return None
    return Edit(file.span(first, last), text.replace("\n", "\n" + indent))


def _in_other(source: Source, style: str | None, start: int, end: int, text: str) -> Edit | None:
    """An edit within one line of a quoted, plain or folded scalar, of characters that need no escape there."""
    span = source.span(start, end).in_file()
    unsafe = "'\"$ " if style is None else _UNSAFE.get(style, "")
    if span.text != source.text[start:end] or "\n" in span.text or (style == "" and start == 0):
        return None
    if not _PLAIN.fullmatch(text) or any(char in unsafe for char in text) or text != text.strip():
        return None
    return Edit(span, text)


def _reads(node: Scalar, edit: Edit, expected: str) -> bool:
    """Whether the scalar holds the expected text after the edit."""
    file = edit.span.source
    text = file.text[: edit.span.start] + edit.text + file.text[edit.span.end :]
    documents = parse_yaml(Source(file.path, text)).documents
    return any(
        isinstance(each, Scalar) and each.written.start == node.written.start and each.text == expected
        for document in documents
        for each in walk(document)
    )
