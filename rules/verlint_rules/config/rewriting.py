"""Fixes on the overrides of a launch where they are written: another key, another sign, quotes, or none at all."""

from __future__ import annotations

from verlint.experiment.launch import Launch
from verlint.files.kinds import is_document
from verlint.finding import Edit, Finding, Safety
from verlint.languages.hydra.override import Override
from verlint.source import Span
from verlint.value import Literal, Text, Value

_QUOTES = ("'", '"')


def with_key(finding: Finding, override: Override, key: str, *, safe: bool) -> Finding:
    """The finding with a fix that renames the key."""
    span = _key_span(override)
    if span is None:
        return finding
    safety = Safety.SAFE if safe else Safety.UNSAFE
    return finding.with_fix(f"write {key}", Edit(span, key), safety=safety)


def key_edit(override: Override, key: str) -> Edit | None:
    """The edit that renames the key, None where it is not written."""
    span = _key_span(override)
    return None if span is None else Edit(span, key)


def with_plus(finding: Finding, override: Override) -> Finding:
    """The finding with an unsafe fix that adds the key with `+`."""
    span = _key_span(override)
    if span is None:
        return finding
    edit = Edit(Span(span.source, span.start, span.start), "+")
    return finding.with_fix(f"write +{override.key}", edit, safety=Safety.UNSAFE)


def without_plus(finding: Finding, override: Override) -> Finding:
    """The finding with a safe fix that takes the `+` away."""
    span = _key_span(override)
    if span is None or span.source.text[span.start - 1 : span.start] != "+":
        return finding
    edit = Edit(Span(span.source, span.start - 1, span.start), "")
    return finding.with_fix("take the + away", edit, safety=Safety.SAFE)


def without_word(finding: Finding, override: Override, *, safe: bool) -> Finding:
    """The finding with a fix that removes the override."""
    edit = without_word_edit(override)
    if edit is None:
        return finding
    return finding.with_fix("remove the override", edit, safety=Safety.SAFE if safe else Safety.UNSAFE)


def with_word(finding: Finding, override: Override, text: str, *, safe: bool) -> Finding:
    """The finding with a fix that writes another word."""
    span = written_word(override.word)
    if span is None:
        return finding
    return finding.with_fix(f"write {text}", Edit(span, text), safety=Safety.SAFE if safe else Safety.UNSAFE)


def without_word_edit(override: Override) -> Edit | None:
    """The edit that removes the override, None where it is not written in one piece."""
    span = written_word(override.word)
    return None if span is None else Edit(_with_gap(span), "")


def one_more(launch: Launch, at: Value, key: str, text: str) -> Edit | None:
    """The edit that gives one more key in front of `at`: another word of the command, or another line of a spec; None
    where `at` is not written as either."""
    override = launch.by_key.get(at.key)
    span = written_word(override.word) if override is not None else None
    if span is not None:
        return Edit(Span(span.source, span.start, span.start), f"{key}={text}{_gap_in_front(span)}")
    if at.span is None or not at.given:
        return None
    span = at.span.in_file()
    start = span.source.text.rfind("\n", 0, span.start) + 1
    line = span.source.text[start : span.start]
    indent = line[: len(line) - len(line.lstrip(" "))]
    if line.strip() != f"{at.key}:":
        return None
    start += len(indent)
    written = text.lower() if text in ("True", "False") else text
    return Edit(Span(span.source, start, start), f"{key}: {written}\n{indent}")


def _gap_in_front(span: Span) -> str:
    """What stands between a word and another one in front of it: the end of a line where each word has its own."""
    text = span.source.text
    start = text.rfind("\n", 0, span.start) + 1
    end = text.find("\n", span.end)
    before, after = text[start : span.start], text[span.end : len(text) if end < 0 else end].strip()
    if before.strip() or not before or after not in ("", "\\") or not _in_shell(span.source.path):
        return " "
    return f" \\\n{before}" if after or _continues(text, start) else f"\n{before}"


def _in_shell(path: str) -> bool:
    return path.endswith(".sh") or is_document(path)


def written_word(word: Text) -> Span | None:
    """The word as it stands in a file, with its quotes; None when it is not written in one piece."""
    span = word.span
    if len(word.parts) == 1 and isinstance(word.parts[0], Literal) and word.parts[0].span is not None:
        span = word.parts[0].span
    elif span is None or not (_is_whole(word, span) or _is_own_word(word, span)):
        return None
    assert span is not None
    span = span.in_file()
    if span.text.endswith("\r"):  # of the line end
        span = Span(span.source, span.start, span.end - 1)
    if not span.text or "\n" in span.text or not ("=" in span.text or "~" in span.text):
        return None
    text = span.source.text
    before, after = text[span.start - 1 : span.start], text[span.end : span.end + 1]
    if before in _QUOTES and before == after:
        span = Span(span.source, span.start - 1, span.end + 1)
    return span if _bounded(span) else None


def _is_whole(word: Text, span: Span) -> bool:
    """Whether no part of a word comes from elsewhere."""
    return not any(part.hops and part.span is not None and not _inside(part.span, span) for part in word.parts)


def _is_own_word(word: Text, span: Span) -> bool:
    """Whether the place of a word is where its first characters are written, not that of a variable that holds it."""
    first = word.parts[0]
    return first.span is not None and _inside(first.span, span)


def _inside(inner: Span, outer: Span | None) -> bool:
    return outer is not None and inner.source is outer.source and outer.start <= inner.start and inner.end <= outer.end


def _bounded(span: Span) -> bool:
    text = span.source.text
    before, after = text[span.start - 1 : span.start], text[span.end : span.end + 1]
    ends = not after or after in " \t\n)\\;&|" or text.startswith("\r\n", span.end)
    return (not before or before in " \t\n(") and ends


def _with_gap(span: Span) -> Span:
    """The word with the blanks, and the line, that go with it."""
    text = span.source.text
    start = text.rfind("\n", 0, span.start) + 1
    end = text.find("\n", span.end)
    end = len(text) if end < 0 else end
    before, after = text[start : span.start], text[span.end : end]
    if before.strip():
        return Span(span.source, start + len(before.rstrip(" \t")), span.end)
    if after.strip() == "\\" or (not after.strip() and not _continues(text, start)):
        return Span(span.source, start, min(end + 1, len(text)))
    if not after.strip():  # the last line of a command: the one before it must not go on
        previous = text[:start].rstrip("\r\n")
        return Span(span.source, len(previous[:-1].rstrip(" \t")), span.end)
    return Span(span.source, span.start, span.end + len(after) - len(after.lstrip(" \t")))


def _continues(text: str, start: int) -> bool:
    return text[:start].endswith(("\\\n", "\\\r\n"))


def _key_span(override: Override) -> Span | None:
    if override.key_span is None:
        return None
    span = override.key_span.in_file()
    return span if span.text == override.key else None


__all__ = [
    "key_edit",
    "one_more",
    "with_key",
    "with_plus",
    "with_word",
    "without_plus",
    "without_word",
    "without_word_edit",
    "written_word",
]
