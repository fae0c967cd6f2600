"""Fixes that give a key another value where it is written."""

from __future__ import annotations

import re

from verlint.finding import Edit, Finding, Safety
from verlint.lazy import pattern
from verlint.record import replace
from verlint.source import Span
from verlint.value import Value

_QUOTES = "\"'"
_WORD = pattern(r"""="?(\$\{\w+\}|\$\w+)(?=["\s)])""")
"""A value that is one variable, behind the "=": elements of arrays know the place of that sign only."""
_VARIABLE = pattern(r"\$\{?(\w+)\}?")
_PLAIN = pattern(r"[\w.+/-]+")
_LIST = pattern(r"[\"']?\[[^\[\]{}$\n\\]*\][\"']?")
_ELEMENT = pattern(r"(?P<quote>[\"']?)\w+(?P=quote)")


def with_value(finding: Finding, value: Value, text: str, *, safe: bool) -> Finding:
    """The finding with a fix that writes `text` for the value; a value that passed through a variable is only unsafe to
    replace, and one that is not written in a file is left alone."""
    span = _written(value)
    if span is None:
        return finding
    literal = span.text.strip(_QUOTES) == (value.text.known if value.text is not None else None)
    if not literal and _PLAIN.fullmatch(text):
        span = _set_for_it(span, value) or span
    safety = Safety.SAFE if safe and literal else Safety.UNSAFE
    name = value.key.rsplit(".", 1)[-1]
    return finding.with_fix(f"write {name}={text}", Edit(span, text), safety=safety)


def value_edit(value: Value, text: str) -> Edit | None:
    """The edit that writes `text` for the value, None for one that is not written in a file."""
    span = _written(value)
    return None if span is None else Edit(span, text)


def also(finding: Finding, title: str, edit: Edit | None) -> Finding:
    """The finding with one more edit in its fix, which is unsafe then; without a fix where there is no such edit."""
    fix = finding.fix
    if fix is not None and edit is not None:
        fix = replace(fix, title=f"{fix.title}, {title}", edits=(*fix.edits, edit), safety=Safety.UNSAFE)
    return replace(finding, fix=fix if edit is not None else None)


def list_with(value: Value, name: str) -> Edit | None:
    """The edit that puts one more name at the end of a list; None for one that is not written out in one line."""
    found = _written_list(value)
    if found is None or not found[1]:
        return None
    span, elements = found
    last = elements[-1]
    quote = last[2][:1] if last[2][:1] in _QUOTES else ""
    gap = span.text[elements[-2][1] : last[0]] if len(elements) > 1 else ", " if " " in span.text else ","
    at = span.start + last[1]
    return Edit(Span(span.source, at, at), f"{gap}{quote}{name}{quote}")


def list_without(value: Value, name: str) -> Edit | None:
    """The edit that takes a name out of a list; None for a list that is not written out in one line, or has no
    other."""
    found = _written_list(value)
    if found is None or len(found[1]) < 2:
        return None
    span, elements = found
    for number, (start, end, text) in enumerate(elements):
        if text.strip(_QUOTES) == name:
            first, last = (elements[number - 1][1], end) if number else (start, elements[1][0])
            return Edit(Span(span.source, span.start + first, span.start + last), "")
    return None


def _set_for_it(span: Span, value: Value) -> Span | None:
    """Where the variable is set that holds the value and is used for nothing else: with another value in its place it
    would be set in vain."""
    found = _VARIABLE.fullmatch(span.text.strip(_QUOTES))
    known = value.text.known if value.text is not None else None
    if found is None or not known:
        return None
    text = span.source.text
    if len(re.findall(rf"(?<![\w.]){found[1]}\b", text)) != 2:
        return None
    word = re.escape(known)
    where = re.search(rf"""(?m)^[ \t]*(?:export[ \t]+)?{found[1]}=(["']?)({word})\1(?=[ \t]*(?:$|\r|;|#))""", text)
    return None if where is None or where.end() > span.start else Span(span.source, *where.span(2))


def _written_list(value: Value) -> tuple[Span, list[tuple[int, int, str]]] | None:
    """A list as it is written, with the place and the text of each element in it."""
    span = _written(value)
    if span is None or not _LIST.fullmatch(span.text):
        return None
    return span, [(found.start(), found.end(), found[0]) for found in _ELEMENT.finditer(span.text, 1)]


def same_word(finding: Finding, value: Value, other: Value) -> Finding:
    """The finding with an unsafe fix that writes for the value the word that `other` is given by."""
    mine, theirs = _written(value), _written(other)
    if mine is None or theirs is None or mine.source is not theirs.source or mine == theirs:
        return finding
    word = theirs.text
    if _inside_quotes(mine):
        word = word.strip(_QUOTES)
    return with_value(finding, value, word, safe=False)


def spelled_like(value: Value, *, on: bool) -> str:
    """A switch in the spelling that the launcher uses for its present value: `false` where it says `true`."""
    spelled = value.text.known if value.text is not None else None
    return str(on).lower() if spelled in ("true", "false") else str(on)


def _written(value: Value) -> Span | None:
    """The value as it stands in a file, with the quotes around it, without those around the whole override."""
    if not value.given or value.span is None:
        return None
    span = value.span.in_file()
    if span.text != value.span.text or not span.text or "\n" in span.text:
        return None
    if span.text == "=":
        found = _WORD.match(span.source.text, span.start)
        if found is None:
            return None
        span = Span(span.source, *found.span(1))
    if span.text[0] in _QUOTES and "=" in span.text:  # the whole word is quoted: the place of the value is not known
        return None
    text = span.source.text
    before, after = text[span.start - 1 : span.start], text[span.end : span.end + 1]
    if before and before in _QUOTES and before == after:
        return Span(span.source, span.start - 1, span.end + 1)
    return span


def _inside_quotes(span: Span) -> bool:
    """Whether the whole override is quoted, so that the value has no quotes of its own."""
    return span.source.text[span.end : span.end + 1] in tuple(_QUOTES)
