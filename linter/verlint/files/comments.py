"""Comments that speak to verlint (`# verlint: …`), in every language that is read, with the code they speak about.

`ignore[…]` and `file-ignore[…]` are for `verlint.suppress`; `NAME=VALUE` are directives, read here because the
families and the VeRL version depend on them."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator

from verlint.files.kinds import Kind, is_rst
from verlint.lazy import pattern
from verlint.record import dataclass
from verlint.source import Source, Span, lines_of

MARK = "verlint:"
DIRECTIVES = ("family", "on-policy", "verl")
DIRECTIVE_VALUES = {
    "family": ("oel", "opcd", "coach", "gad", "opo"),
    "on-policy": ("exact", "single-update", "clipped", "off-policy"),
    "verl": ("oel", "opcd", "coach"),
}
"""What the directives take; `verl` takes a version or a path as well. The families, the known forks and the spec format
say the same."""


@dataclass(frozen=True, slots=True)
class Comment:
    """One comment for verlint.

    `span` is the whole comment, `body` what follows `verlint:` and starts at offset `body_start`. `own_line` says
    that nothing stands before it on its line. `scope` is the code it speaks about: the command or node it ends, or
    the next one when it stands alone. `top` says that only comments precede it in the file."""

    body: str
    body_start: int
    span: Span
    own_line: bool
    scope: Span
    top: bool


@dataclass(frozen=True, slots=True)
class Directive:
    """A setting in a comment (`# verlint: family=opo`). It holds for `scope`; for the whole file when `file_wide`."""

    name: str
    value: str
    span: Span
    line: int
    scope: Span
    file_wide: bool


_DIRECTIVE = pattern(r"([A-Za-z][\w-]*)=(\S+)[ \t]*")


def directives(source: Source, kind: Kind = Kind.LAUNCHER) -> list[Directive]:
    """The directives of a file in order; unknown names too (`DIRECTIVES` lists the known ones)."""
    return [directive for comment in comments(source, kind) for directive in directives_of(comment)]


def is_known(directive: Directive) -> bool:
    """Whether there is such a directive, and it takes this value."""
    if directive.name == "verl":
        value = directive.value.removeprefix("v")
        version = value.rstrip("x*").replace(".", "").replace("post", "").replace("dev", "").replace("rc", "")
        if version.isdigit() or value[:1] in ("~", ".", "$") or "/" in value:
            return True
    return directive.value in DIRECTIVE_VALUES.get(directive.name, ())


def directives_of(comment: Comment) -> list[Directive]:
    """The directives at the start of one comment; text after them is for people."""
    source = comment.span.source
    found: list[Directive] = []
    at = 0
    while (match := _DIRECTIVE.match(comment.body, at)) is not None:
        span = source.span(comment.body_start + match.start(), comment.body_start + match.end(2))
        scope = source.whole() if comment.top else comment.scope
        found.append(Directive(match[1], match[2], span, span.begin.line, scope, comment.top))
        at = match.end()
    return found


def comments(source: Source, kind: Kind) -> list[Comment]:
    """The comments of a source that speak to verlint, in order of their place."""
    text = source.text
    if MARK not in text:
        return []
    if kind is Kind.PYTHON:
        found = list(_python(text))
    elif kind is Kind.DOCUMENT:
        found = list(_rst(text) if is_rst(source.path) else _markdown(text))
    elif kind in (Kind.YAML, Kind.JOB, Kind.SPEC):
        found = list(_yaml(text, 0, len(text)))
    else:
        found = list(_shell(text, 0, len(text)))
    return [comment for raw in found if (comment := _comment(source, raw)) is not None]


@dataclass(frozen=True, slots=True)
class _Raw:
    """A comment of a language before it is known whether it is for verlint: its offsets and those of its scope."""

    start: int
    end: int
    scope_start: int
    scope_end: int


_BODY = pattern(r"(?:#|<!--|^[ \t]*\.\.)[ \t]*verlint:[ \t]*", re.MULTILINE)
_CODE_LINE = pattern(r"^[ \t]*(?!<!--|\.\.[ \t]+verlint:)[^\s#]", re.MULTILINE)


def _comment(source: Source, raw: _Raw) -> Comment | None:
    text = source.text
    found = _BODY.search(text, raw.start, raw.end)
    if found is None:
        return None
    start, end = found.start(), raw.end
    if text.startswith("<!--", start):
        body = text[found.end() : end].removesuffix("-->").rstrip()
    else:
        body = text[found.end() : end].rstrip()
        end = found.end() + len(body)
    line_start = text.rfind("\n", 0, start) + 1
    own_line = not text[line_start : raw.start].strip(" \t>")
    top = own_line and _CODE_LINE.search(text, 0, line_start) is None
    scope = source.span(raw.scope_start, max(raw.scope_start, raw.scope_end))
    return Comment(body, found.end(), source.span(start, end), own_line, scope, top)


# Shell ---------------------------------------------------------------------------------------------------------------

_SHELL = pattern(
    r"""
      (?P<escape>\\(?:\r\n|.|\Z))
    | (?P<quoted>\$?'(?:(?<=\$')(?:\\.|[^'\\])*|[^']*)(?:'|\Z) | "(?:\\.|[^"\\])*(?:"|\Z))
    | (?P<parameter>\$\{\#|\$\#)
    | (?P<here_string><<<)
    | (?P<here_doc><<-?[ \t]*(?P<quote>['"\\]?)(?P<tag>[A-Za-z_]\w*))
    | (?P<array>=\()
    | (?P<open>\()
    | (?P<close>\))
    | (?P<comment>(?<![^\s;&|()`])\#[^\n]*)
    | (?P<newline>\n)
    """,
    re.VERBOSE | re.DOTALL,
)
_JOINS = pattern(r"(?:\|\|?|&&)[ \t\r]*\Z")


@dataclass(slots=True)
class _Shell:
    """Comments of a shell text as (start, end, inside an array), and the ends of its commands and of its lines: a
    line end after a backslash, in quotes, in a here-document or (for `commands`) in an array ends nothing."""

    comments: list[tuple[int, int, bool]]
    commands: list[int]
    lines: list[int]


def _scan_shell(text: str, start: int, end: int) -> _Shell:
    out = _Shell([], [], [])
    waiting: list[str] = []
    depth = 0  # open parentheses since the start of an array
    last = at = start
    while (found := _SHELL.search(text, at, end)) is not None:
        at = found.end()
        match found.lastgroup:
            case "comment":
                out.comments.append((found.start(), at, depth > 0))
            case "quote" | "tag" | "here_doc":
                waiting.append(found["tag"])
                at = at + 1 if found["quote"] in ("'", '"') else at
            case "array":
                depth += 1
            case "open":
                depth += depth > 0
            case "close":
                depth = max(0, depth - 1)
            case "newline":
                at = _after_here_docs(text, at, end, waiting)
                waiting.clear()
                out.lines.append(at - 1)
                if depth == 0 and not _JOINS.search(text, last, found.start()):
                    out.commands.append(at - 1)
                last = at
    out.lines.append(end)
    out.commands.append(end)
    return out


def _after_here_docs(text: str, at: int, end: int, tags: list[str]) -> int:
    """The offset after the bodies of the here-documents that start at `at`; one without its end is taken for none."""
    for tag in tags:
        found = re.compile(rf"^\t*{re.escape(tag)}[ \t\r]*(?:\n|\Z)", re.MULTILINE).search(text, at, end)
        at = found.end() if found is not None else at
    return at


def _shell(text: str, start: int, end: int) -> Iterator[_Raw]:
    scan = _scan_shell(text, start, end)
    skips = {begin: finish for begin, finish, _ in scan.comments}
    for begin, finish, in_array in scan.comments:
        ends = scan.lines if in_array else scan.commands
        before = bisect_left(ends, begin) - 1
        line_start = ends[before] + 1 if before >= 0 else start
        if text[line_start:begin].strip():
            yield _Raw(begin, finish, line_start, finish)
            continue
        first = _next_code(text, finish, end, skips)
        close = ends[min(bisect_left(ends, first), len(ends) - 1)]
        yield _Raw(begin, finish, first, close)


def _next_code(text: str, at: int, end: int, skips: dict[int, int]) -> int:
    """The offset of the first character that is neither blank nor in a comment."""
    while at < end:
        if at in skips:
            at = skips[at]
        elif text[at].isspace():
            at += 1
        else:
            return at
    return end


# YAML ----------------------------------------------------------------------------------------------------------------

_YAML = pattern(
    r"""(?P<quoted>(?<![^\s,\[{:])(?:'(?:[^'\n]|'')*'|"(?:\\.|[^"\\\n])*")) | (?P<comment>(?<!\S)\#[^\n]*)""",
    re.VERBOSE,
)
_BLOCK = pattern(r"(?:^|[:\-?]|\s)[ \t]*[|>][+-]?\d?[+-]?[ \t]*(?:\#.*)?$")


def _yaml(text: str, start: int, end: int) -> Iterator[_Raw]:
    lines = list(_lines(text, start, end))
    number = 0
    while number < len(lines):
        begin, finish = lines[number]
        line = text[begin:finish]
        yield from _yaml_line(text, lines, number)
        number += 1
        if line.lstrip().startswith("#") or not _BLOCK.search(line.rstrip("\r")):
            continue
        inside = _block_end(text, lines, number, _indent(line))
        if inside > number:
            yield from _shell(text, lines[number][0], lines[inside - 1][1])
        number = inside


def _yaml_line(text: str, lines: list[tuple[int, int]], number: int) -> Iterator[_Raw]:
    begin, finish = lines[number]
    for found in _YAML.finditer(text, begin, finish):
        if found.lastgroup != "comment":
            continue
        if text[begin : found.start()].strip():
            yield _Raw(found.start(), finish, begin, finish)
        else:
            yield _Raw(found.start(), finish, *_node_after(text, lines, number + 1, finish))


def _node_after(text: str, lines: list[tuple[int, int]], number: int, fallback: int) -> tuple[int, int]:
    """Offsets of the node that starts on the first line with content from `number` on: that line and all it holds."""
    while number < len(lines) and (not _content(text, lines[number]) or _content(text, lines[number]).startswith("#")):
        number += 1
    if number == len(lines):
        return fallback, fallback
    first = _content(text, lines[number])
    indent = _indent(text[slice(*lines[number])])
    last = number
    for following in range(number + 1, len(lines)):
        content = _content(text, lines[following])
        if not content:
            continue
        depth = _indent(text[slice(*lines[following])])
        own_list = depth == indent and content.startswith("- ") and not first.startswith("- ")
        if depth <= indent and not own_list:
            break
        last = following
    return lines[number][0] + indent, lines[last][1]


def _block_end(text: str, lines: list[tuple[int, int]], number: int, indent: int) -> int:
    """Number of the first line after the block scalar whose key stands at `indent`."""
    while number < len(lines):
        line = text[slice(*lines[number])]
        if line.strip() and _indent(line) <= indent:
            break
        number += 1
    return number


def _lines(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while start < end:
        stop = text.find("\n", start, end)
        stop = end if stop < 0 else stop
        yield start, stop
        start = stop + 1


def _content(text: str, line: tuple[int, int]) -> str:
    return text[line[0] : line[1]].strip()


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


# Markdown ------------------------------------------------------------------------------------------------------------

_FENCE = pattern(r"^[ \t>]*(?P<fence>`{3,}|~{3,})[ \t]*(?P<language>[\w+-]*)[^\n]*$", re.MULTILINE)
_HTML = pattern(r"<!--[ \t]*verlint:.*?-->", re.DOTALL)
_FENCE_KINDS = {
    **dict.fromkeys(("bash", "sh", "shell", "console", "zsh"), Kind.LAUNCHER),
    **dict.fromkeys(("yaml", "yml"), Kind.YAML),
    **dict.fromkeys(("python", "py"), Kind.PYTHON),
}


def _markdown(text: str) -> Iterator[_Raw]:
    fences = list(_fences(text))
    for start, content, content_end, end, kind in fences:
        inner = {Kind.LAUNCHER: _shell, Kind.YAML: _yaml}.get(kind)
        if inner is not None and MARK in text[start:end]:
            yield from inner(text, content, content_end)
    for found in _HTML.finditer(text):
        if any(start <= found.start() < end for start, _, _, end, _ in fences):
            continue
        line_start = text.rfind("\n", 0, found.start()) + 1
        if text[line_start : found.start()].strip(" \t>"):
            yield _Raw(*found.span(), line_start, found.start())
            continue
        begin = len(text) - len(text[found.end() :].lstrip())
        fence = next((fence for fence in fences if fence[0] <= begin < fence[1]), None)
        stop = text.find("\n", begin)
        yield _Raw(*found.span(), begin, fence[3] if fence else len(text) if stop < 0 else stop)


def _fences(text: str) -> Iterator[tuple[int, int, int, int, Kind]]:
    """Fenced blocks as offsets (start, start and end of the content, end) and the kind of their language."""
    at = 0
    while (opening := _FENCE.search(text, at)) is not None:
        mark = opening["fence"]
        close = re.compile(rf"^[ \t>]*{re.escape(mark[0])}{{{len(mark)},}}[ \t\r]*$", re.MULTILINE).search(
            text, opening.end()
        )
        content = min(opening.end() + 1, len(text))
        stop, end = (close.start(), close.end()) if close else (len(text), len(text))
        yield opening.start(), content, stop, end, _FENCE_KINDS.get(opening["language"].lower(), Kind.NONE)
        at = max(end, opening.end())


# reStructuredText ----------------------------------------------------------------------------------------------------

_RST_COMMENT = pattern(r"^[ \t]*\.\.[ \t]+verlint:[^\n]*", re.MULTILINE)


def _rst(text: str) -> Iterator[_Raw]:
    from verlint.files.rst import blocks

    lines = lines_of(text)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    codes: list[tuple[int, int]] = []
    for block in blocks(lines):
        begin, end = starts[block.lines.start], starts[block.lines.stop]
        codes.append((starts[block.opening], end))
        inner = {Kind.LAUNCHER: _shell, Kind.YAML: _yaml}.get(_FENCE_KINDS.get(block.language, Kind.NONE))
        if inner is not None and MARK in text[begin:end]:
            yield from inner(text, begin, end)
    for found in _RST_COMMENT.finditer(text):
        if any(start <= found.start() < end for start, end in codes):
            continue
        begin = len(text) - len(text[found.end() :].lstrip())
        line_start = text.rfind("\n", 0, begin) + 1
        stop = next((end for start, end in codes if start == line_start), text.find("\n", begin))
        yield _Raw(*found.span(), begin, len(text) if stop < 0 else stop)


# Python --------------------------------------------------------------------------------------------------------------


def _python(text: str) -> Iterator[_Raw]:
    """Comments by Python's own tokenizer, as far as it gets."""
    import io
    import tokenize

    starts = [0]
    for line in io.StringIO(text, newline=""):  # as the tokenizer gets them
        starts.append(starts[-1] + len(line))
    waiting: list[tuple[int, int]] = []
    trailing: list[tuple[int, int]] = []
    statement: int | None = None
    try:
        for token in tokenize.generate_tokens(io.StringIO(text, newline="").readline):
            start, end = (starts[row - 1] + column for row, column in (token.start, token.end))
            if token.type == tokenize.COMMENT:
                (waiting if statement is None else trailing).append((start, end))
            elif token.type == tokenize.NEWLINE:
                begin = start if statement is None else statement
                for comment in (*waiting, *trailing):
                    yield _Raw(*comment, begin, start)
                waiting, trailing, statement = [], [], None
            elif token.type not in (tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER):
                statement = start if statement is None else statement
    except (tokenize.TokenError, SyntaxError):
        pass
    for comment in (*waiting, *trailing):
        yield _Raw(*comment, len(text) if statement is None else statement, len(text))
