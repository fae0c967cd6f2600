"""Shell in documents: the blocks of Markdown and of reStructuredText that are commands, each as a source with true
positions."""

from __future__ import annotations

import re
from bisect import bisect_right

from verlint.files.kinds import is_rst
from verlint.lazy import pattern
from verlint.record import dataclass
from verlint.source import Piece, Source, lines_of

SHELL_LANGUAGES = frozenset(["bash", "sh", "shell", "zsh", "console", "shell-session", "shellsession"])
_FENCE = pattern(r"(?P<indent>[ \t>]*(?:[-*+][ \t]+|\d+[.)][ \t]+)?)(?P<marks>`{3,}|~{3,})[ \t]*(?P<info>[^`\n]*)$")
_SHELL = (
    r"(?:\([\w.-]+\)[ \t]*)?(?:\[?[\w.-]+@[\w.-]+(?:[: ][^\s$#%\]]*)?\]?[ \t]?[$#%]|(?:~|(?:~?/[\w.-]+)+/?)?[ \t]?\$)"
)
"""`$`, `(venv) $`, `user@host:~/lab$`, `[root@node lab]#`, `~/lab $`."""
_PROMPT = pattern(rf"[ \t]*(?:{_SHELL}|#|>)[ \t]+")
_SESSION = pattern(rf"[ \t>]*{_SHELL}[ \t]")
_CONTINUED = pattern(r">(?:[ \t]|$)", re.MULTILINE)
_HERE = pattern(r"(?<!<)<<(-?)[ \t]*([\"']?|\\)(\w+)\2(?![\w<])")
_SESSIONS = frozenset(["console", "shell-session", "shellsession"])


@dataclass(frozen=True, slots=True)
class Fence:
    """One block of code: its language (lower case) and its text, embedded in the document."""

    language: str
    source: Source


def shell_fences(document: Source) -> list[Fence]:
    """The blocks of a shell language, in order. In `console` blocks only lines with a prompt are commands, and the
    lines of their here-documents."""
    lines = lines_of(document.text)
    if is_rst(document.path):
        return _of_rst(document, lines)
    fences: list[Fence] = []
    offsets = _offsets(lines)
    number = 0
    while number < len(lines):
        opening = _FENCE.match(lines[number].rstrip("\r\n"))
        if opening is None:
            number += 1
            continue
        end = _closing(lines, number + 1, opening["marks"])
        language = _language(opening["info"])
        body = range(number + 1, end)
        if language in SHELL_LANGUAGES and not _is_help(lines, body):
            fences.append(Fence(language, _embed(document, lines, offsets, body, len(opening["indent"]), language)))
        number = end + 1
    return fences


def _of_rst(document: Source, lines: list[str]) -> list[Fence]:
    from verlint.files.rst import blocks

    offsets = _offsets(lines)
    return [
        Fence(block.language, _embed(document, lines, offsets, block.lines, block.indent, block.language))
        for block in blocks(lines)
        if block.language in SHELL_LANGUAGES and not _is_help(lines, block.lines)
    ]


def _is_help(lines: list[str], body: range) -> bool:
    """Whether a block shows what a program prints about its options, which nobody runs."""
    first = next((lines[number] for number in body if lines[number].strip()), "")
    return first.strip(" \t>").lower().startswith("usage:")


def _offsets(lines: list[str]) -> list[int]:
    out, at = [], 0
    for line in lines:
        out.append(at)
        at += len(line)
    return out


def _language(info: str) -> str:
    word = info.strip().split(" ", 1)[0].lower()
    return word.strip("{}.").split(",", 1)[0]


def _closing(lines: list[str], start: int, marks: str) -> int:
    """Index of the line that closes a fence; the end of the document when none does."""
    for number in range(start, len(lines)):
        text = lines[number].strip().lstrip("> ")
        if len(text) >= len(marks) and set(text) == {marks[0]}:
            return number
    return len(lines)


def _numbers(lines: list[str], body: range, indent: int) -> dict[str, list[int]]:
    """The lines of a block by what they hold, without a prompt in front; those that begin with tabs also without."""
    found: dict[str, list[int]] = {}
    for number in body:
        line = lines[number]
        at = min(indent, len(line) - len(line.lstrip(" \t>")))
        prompt = _CONTINUED.match(line, at)
        word = line[prompt.end() if prompt is not None else at :].rstrip("\r\n")
        found.setdefault(word, []).append(number)
        if word.startswith("\t"):
            found.setdefault("-" + word.lstrip("\t"), []).append(number)
    return found


def _end_of_texts(numbers: dict[str, list[int]], start: int, words: list[tuple[str, bool]]) -> int:
    """The line that ends the last here-document of a command before line `start`; -1 without one. They end with these
    words, before which tabs may stand."""
    found = start - 1
    for word, tabs in words:
        places = (numbers.get(each, ()) for each in ((word, "-" + word) if tabs else (word,)))
        behind = [each[at] for each in places if (at := bisect_right(each, found)) < len(each)]
        if not behind:
            break
        found = min(behind)
    return found if found >= start else -1


def _embed(document: Source, lines: list[str], offsets: list[int], body: range, indent: int, language: str) -> Source:
    text: list[str] = []
    pieces: list[Piece] = []
    at = 0
    session = language in _SESSIONS or any(_SESSION.match(lines[number]) for number in body)
    continued = False
    words: list[tuple[str, bool]] = []
    numbers: dict[str, list[int]] = {}
    text_until = -1  # the line that ends the here-documents of a command
    for number in body:
        line = lines[number]
        skip = min(indent, len(line) - len(line.lstrip(" \t>")))
        if number <= text_until:
            if _CONTINUED.match(lines[text_until], skip) and (prompt := _CONTINUED.match(line, skip)) is not None:
                skip = prompt.end()
        elif session and not continued:
            prompt = _PROMPT.match(line, skip)
            if prompt is None or line[skip:].lstrip().startswith("# "):
                continue
            skip = prompt.end()
        elif session and (prompt := _CONTINUED.match(line, skip)) is not None:
            skip = prompt.end()
        continued = number > text_until and line.rstrip("\r\n").endswith("\\")
        if session and number > text_until:
            words += [(here[3], here[1] == "-") for here in _HERE.finditer(line, skip)] if "<<" in line else []
            if words and not continued:
                numbers = numbers or _numbers(lines, body, indent)
                text_until = _end_of_texts(numbers, number + 1, words)
                words = []
        run = line[skip:]
        if run.endswith("\r\n"):  # whoever copies the block gets other line ends than those of the document
            run = run[:-2]
            pieces += [
                Piece(at, offsets[number] + skip, len(run)),
                Piece(at + len(run), offsets[number] + len(line) - 1, 1),
            ]
            run += "\n"
        else:
            pieces.append(Piece(at, offsets[number] + skip, len(run)))
        text.append(run)
        at += len(run)
    if not pieces:
        start = offsets[body.start] if body.start < len(offsets) else len(document.text)
        pieces.append(Piece(0, start, 0))
    return Source(document.path, "".join(text), document, tuple(pieces))
