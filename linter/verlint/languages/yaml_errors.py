"""YAML's syntax errors in plain words, with the place and what to do."""

from __future__ import annotations

import re
from collections.abc import Callable

from verlint.record import dataclass
from verlint.source import Source, Span


@dataclass(frozen=True, slots=True)
class YamlError:
    """Why a YAML text cannot be read: what is wrong, where, and what to do (`hint` may be empty). `limit` says that
    nothing is wrong: it is more than is read here."""

    message: str
    span: Span
    hint: str = ""
    limit: bool = False


@dataclass(frozen=True, slots=True)
class _Report:
    """What the parser said: its problem and context, with the offsets it gave for both."""

    source: Source
    problem: str
    at: int
    context: str
    since: int

    @property
    def char(self) -> str:
        return self.source.text[self.at : self.at + 1]

    @property
    def opened(self) -> int:
        """Line (from 1) of the construct that could not be finished."""
        return self.source.span(self.since, self.since).begin.line

    def here(self, length: int = 1) -> Span:
        return self.source.span(self.at, min(self.at + length, len(self.source.text)))


_REFERENCE_EDGE = " \t\r\n,[]{}\"'"
_QUOTE_IT = 'quote it: "{}"'


def explain(error: Exception, source: Source, reached: int) -> YamlError:
    """The error of the YAML parser in plain words; `reached` is the offset of the last thing it could read."""
    end = len(source.text)
    reached = min(reached, end)
    if (position := getattr(error, "position", None)) is not None and hasattr(error, "character"):
        at = min(int(position), end)
        code = ord(source.text[at]) if at < end else 0
        return YamlError(f"the character U+{code:04X} is not allowed in YAML", source.span(at, min(at + 1, end)))
    at = _index(getattr(error, "problem_mark", None), reached, end)
    since = _index(getattr(error, "context_mark", None), at, end)
    problem, context = (str(getattr(error, name, None) or "") for name in ("problem", "context"))
    report = _Report(source, problem, at, context, since)
    for pattern, words in _WORDS:
        if re.search(pattern, problem) and (found := words(report)) is not None:
            return found
    said = ", ".join(part for part in (context, problem) if part) or "this is not YAML"
    return YamlError(said.replace("\x00", "the end"), report.here())


def _index(mark: object, fallback: int, end: int) -> int:
    return min(int(getattr(mark, "index", fallback)), end)


def _flow_reference(report: _Report) -> YamlError | None:
    text = report.source.text
    if report.char != "{" or text[report.at - 1 : report.at] != "$":
        return None
    start = report.at - 1
    while start > 0 and text[start - 1] not in _REFERENCE_EDGE and text[start - 2 : start] != ": ":
        start -= 1
    end = _closing(text, report.at)
    while end < len(text) and text[end] not in _REFERENCE_EDGE:
        end += 1
    span = report.source.span(start, end)
    return YamlError("`${…}` must be quoted inside `{…}` or `[…]`", span, _QUOTE_IT.format(span.text))


def _closing(text: str, brace: int) -> int:
    """Offset after the brace that closes the one at `brace`, or after the brace itself if the line ends first."""
    depth = 0
    for at in range(brace, len(text)):
        if text[at] == "\n":
            break
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        if depth == 0:
            return at + 1
    return brace + 1


def _open_flow(report: _Report) -> YamlError:
    opener = report.source.text[report.since : report.since + 1]
    closer = {"{": "}", "[": "]"}.get(opener, "]")
    if not report.char:
        message = f"the `{opener}` of line {report.opened} is never closed"
        return YamlError(message, report.source.span(report.since, report.since + 1), f"add `{closer}`")
    hint = f"add the missing `,` or `{closer}`, or quote the value"
    return YamlError(f"a `,` or `{closer}` is missing in the `{opener}` of line {report.opened}", report.here(), hint)


def _bad_start(report: _Report) -> YamlError:
    if report.char == "\t":
        return YamlError("a tab cannot stand here", report.here(), "use spaces")
    return YamlError(f"a value cannot start with `{report.char}`", report.here(), "quote the value")


def _second_colon(report: _Report) -> YamlError:
    hint = "quote the value, or indent the key as the lines around it"
    return YamlError("a `key:` cannot stand here", report.here(), hint)


def _no_colon(report: _Report) -> YamlError:
    line = report.source.position(report.since).line
    start = report.source.offset(line)
    text = report.source.line(line)
    written = text.strip(" \t\r")  # to YAML other blanks are text
    at = start + text.find(written)
    hint = "write `key: value`, with a blank after the colon"
    return YamlError("this line has no `key:`", report.source.span(at, at + len(written)), hint)


def _block_end(report: _Report) -> YamlError:
    kind = "list" if "sequence" in report.context or "collection" in report.context else "mapping"
    message = f"this does not continue the {kind} that starts on line {report.opened}"
    return YamlError(message, report.here(), "check the indentation and the quotes before it")


def _open_quote(report: _Report) -> YamlError:
    quote = report.source.span(report.since, min(report.since + 1, len(report.source.text)))
    return YamlError("the quote that opens here is never closed", quote, f"add the closing {quote.text}")


def _bad_escape(report: _Report) -> YamlError:
    span = report.source.span(max(report.at - 1, 0), min(report.at + 1, len(report.source.text)))
    hint = "double the backslash, or use single quotes"
    return YamlError("this backslash escape does not exist in double quotes", span, hint)


def _no_name(report: _Report) -> YamlError | None:
    if "alias" not in report.context and "anchor" not in report.context:
        return None
    sign = report.source.text[report.since : report.since + 1]
    span = report.source.span(report.since, min(report.since + 1, len(report.source.text)))
    return YamlError(f"`{sign}` needs a name after it", span, f"quote the value if `{sign}` is meant as text")


def _second_document(report: _Report) -> YamlError:
    hint = "check its indentation; a new document starts with `---`"
    return YamlError("this line does not belong to what stands before it", report.here(), hint)


_WORDS: tuple[tuple[str, Callable[[_Report], YamlError | None]], ...] = (
    (r"^expected ',' or", _flow_reference),
    (r"^expected ',' or", _open_flow),
    (r"cannot start any token", _bad_start),
    (r"mapping values are not allowed", _second_colon),
    (r"could not find expected ':'", _no_colon),
    (r"^expected <block end>", _block_end),
    (r"unexpected end of stream|unexpected document separator", _open_quote),
    (r"unknown escape character|escape sequence of", _bad_escape),
    (r"^expected alphabetic or numeric", _no_name),
    (r"^expected '<document start>'", _second_document),
)
