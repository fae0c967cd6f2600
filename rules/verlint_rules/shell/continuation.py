"""Commands over several lines that end earlier than they look: where they are cut, and what is lost by it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import Enum

from verlint.languages.bash import syntax
from verlint.languages.bash.syntax import ArrayLit, Assign, Lit, Program, Simple, Word
from verlint.lazy import pattern
from verlint.record import dataclass
from verlint.source import Source, Span
from verlint_rules.shell.written_words import (
    BLANKS,
    is_blank_word,
    is_caller,
    is_deeper,
    is_glued,
    is_launch,
    is_strong,
    line_start,
    program_of,
    rest_of_line,
    written,
)

TYPE_CHECKING = False  # as `typing` says it, without its import
if TYPE_CHECKING:
    from typing import Any

_CALLS = pattern(r"(?:^|[\s/])(?:bash|sh|python[\d.]*|torchrun|srun|sbatch)\s|\.sh\b")
_CALLED = ("sh", "python", "torchrun", "srun", "sbatch")
_USES_BLANK = frozenset(
    [
        "cut",
        "tr",
        "awk",
        "gawk",
        "sort",
        "paste",
        "join",
        "column",
        "read",
        "echo",
        "printf",
        "sed",
        "grep",
        "xargs",
        "IFS",
    ]
)


class Cause(Enum):
    """Why a line is not continued."""

    BLANK = "blank after the backslash"
    COMMENT = "comment after the backslash"
    TEXT = "text after the backslash"
    MISSING = "no backslash"
    SLASH = "slash instead of a backslash"
    COMMENT_LINE = "comment line after a continued line"
    EMPTY_LINE = "empty line after a continued line"
    IN_COMMENT = "backslash within a comment"
    NO_HEAD = "the line that starts the command is commented out"


_UNMARKED = (Cause.MISSING, Cause.SLASH)
"""Lines without any backslash: most of them are whole commands."""


@dataclass(frozen=True)
class Cut:
    """One place where a command ends too early.

    `command` is cut (None for NO_HEAD), `lost` are the commands that were meant as its words, `later` the cuts among
    those. `starts` is the command that assignments were meant for, when the cut separates them from it. `text` is the
    source it is all in.
    """

    cause: Cause
    span: Span
    text: Source
    command: Simple | None
    lost: tuple[Simple, ...] = ()
    later: tuple[Cut, ...] = ()
    starts: Simple | None = None

    @property
    def all(self) -> tuple[Cut, ...]:
        """This cut and the later ones of the same command."""
        return (self, *self.later)


# ---- finding


_KNOWN: dict[Source, tuple[Cut, ...]] = {}
"""The cuts of the texts that were asked for last: every launch of a text asks for them."""
_KEPT = 16


def find_cuts(text: Source, program: Program) -> Sequence[Cut]:
    """All cuts of a text, in order."""
    if text not in _KNOWN:
        if len(_KNOWN) >= _KEPT:
            del _KNOWN[next(iter(_KNOWN))]
        _KNOWN[text] = tuple(cut for body in _bodies(program) for cut in _cuts_of_body(text, body))
    return _KNOWN[text]


def stray_elements(text: Source, program: Program) -> Iterator[list[Span]]:
    """The backslashes with a blank after them in array literals, array by array: each is an element of one blank."""
    for assign in _assigns(program):
        if not isinstance(assign.value, ArrayLit):
            continue
        found = [
            text.span(item.word.start, item.word.start + 1)
            for item in assign.value.items
            if is_blank_word(item.word) and rest_of_line(text, item.word.end).strip(BLANKS)[:1] in ("", "#")
        ]
        if found:
            yield found


def _bodies(program: Program) -> Iterator[list[syntax.AndOr]]:
    """The lists of commands that run one after the other: the text itself, and each body in it."""
    yield [item for group in program.groups for item, _ in group.items]
    waiting: list[syntax.Node] = [item for group in program.groups for item, _ in group.items]
    while waiting:
        node = waiting.pop(0)
        for sequence in _inner(node):
            items = [item for item, _ in sequence.items]
            yield items
            waiting.extend(items)


def _inner(node: syntax.Node) -> list[syntax.Sequence]:
    """The bodies directly below a list."""
    assert isinstance(node, syntax.AndOr)
    out: list[syntax.Sequence] = []
    for _, pipeline in node.items:
        for command in pipeline.commands:
            if isinstance(command, syntax.FunctionDef):
                command = command.body
            if isinstance(command, syntax.If):
                out += [body for arm in command.arms for body in arm] + (
                    [command.otherwise] if command.otherwise else []
                )
            elif isinstance(command, (syntax.For, syntax.ForArith, syntax.Subshell, syntax.Group)):
                out.append(command.body)
            elif isinstance(command, syntax.While):
                out += [command.test, command.body]
            elif isinstance(command, syntax.Case):
                out += [arm.body for arm in command.arms]
    return out


def _assigns(program: Program) -> Iterator[Assign]:
    for body in _bodies(program):
        for item in body:
            for _, pipeline in item.items:
                for command in pipeline.commands:
                    if isinstance(command, Simple):
                        yield from command.assigns
                        yield from (word for word in command.words if isinstance(word, Assign))


class _Behind(Sequence["Simple | None"]):
    """What comes after an item of a list, without a copy of it."""

    def __init__(self, items: Sequence[Simple | None], at: int) -> None:
        self._items = items
        self._first = at + 1

    def __getitem__(self, number: Any) -> Any:
        return self._items[self._first + number]

    def __len__(self) -> int:
        return len(self._items) - self._first


def _cuts_of_body(text: Source, body: Sequence[syntax.AndOr]) -> Iterator[Cut]:
    at = 0
    firsts = [_first_simple(item) for item in body]
    while at < len(body):
        head = _last_simple(body[at])
        taken = 1
        if head is not None:
            following = _Behind(firsts, at)
            cut = _no_head(text, head, body[at - 1] if at else None) if _is_lost(text, head, None) else None
            if cut is not None:
                chain = _chain(text, head, following)
                taken = len(chain) + 1
                yield Cut(cut.cause, cut.span, text, None, (head, *chain), _later(text, [head, *chain]))
            elif not _is_lost(text, head, None) and (found := _cut(text, head, following)) is not None:
                taken = len(found.lost) + 1
                yield found
        at += taken


def _last_simple(item: syntax.AndOr) -> Simple | None:
    command = item.items[-1][1].commands[-1]
    return command if isinstance(command, Simple) else None


def _first_simple(item: syntax.AndOr) -> Simple | None:
    command = item.items[0][1].commands[0]
    return command if isinstance(command, Simple) else None


# ---- one cut


def _cut(text: Source, head: Simple, following: Sequence[Simple | None]) -> Cut | None:
    """The cut at the end of a command, when there is one."""
    found = _end(text, head)
    if found is None:
        return None
    cause, span = found
    if (prefix := _cut_prefix(text, head, following, cause, span)) is not None:
        return prefix
    if not head.words:
        return None
    lost = _chain(text, head, following) if _may_lose(text, head, following, cause) else []
    if not lost and not _is_fault_alone(text, head, cause):
        return None
    return Cut(cause, span, text, head, tuple(lost), _later(text, lost))


def _end(text: Source, command: Simple) -> tuple[Cause, Span] | None:
    """Why the command ends where it does, as far as it may be by mistake, and the place to show."""
    last = max([*command.words, *command.assigns], key=lambda node: node.end, default=None)
    rest = rest_of_line(text, command.end)
    if (glued := _glued_comment(text, command)) is not None:
        return Cause.COMMENT, text.span(glued.start, glued.start + 1)
    if last is not None and last.end == command.end:
        word = last if isinstance(last, Word) else last.value
        if isinstance(word, Word) and (found := _escaped_end(text, word, rest)) is not None:
            return found
    line_end = command.end + len(rest)
    stripped = rest.strip(" \t\r")
    if last is not None and written(text, last) == "/" and (not stripped or stripped.startswith("#")):
        return Cause.SLASH, text.span(last.start, last.end)
    if not stripped:
        return Cause.MISSING, text.span(command.end, command.end)
    if stripped.startswith("#"):
        start = command.end + rest.index("#")
        if stripped.endswith("\\"):
            return Cause.IN_COMMENT, text.span(start + len(stripped) - 1, start + len(stripped))
        return Cause.MISSING, text.span(command.end, command.end)
    if stripped == "\\":
        return _behind_continued(text, command.end + rest.index("\\"), line_end)
    return None


def _glued_comment(text: Source, command: Simple) -> Word | None:
    """The word ` #` of a line that ends with `\\ # comment`: with one blank only bash takes the comment for words."""
    start = max(line_start(text, command.end), command.start)
    return next((w for w in command.words if isinstance(w, Word) and w.start >= start and is_glued(text, w)), None)


def _escaped_end(text: Source, word: Word, rest: str) -> tuple[Cause, Span] | None:
    part = word.parts[-1] if word.parts else None
    if isinstance(part, Lit) and part.quote == "\\" and part.text in BLANKS:
        if rest.strip(BLANKS).startswith("#"):
            return Cause.COMMENT, text.span(part.start, part.start + 1)
        return (Cause.BLANK, text.span(part.start, part.start + 1)) if not rest.strip(BLANKS) else None
    first = word.parts[0] if word.parts else None
    if (
        isinstance(first, Lit)
        and first.quote == "\\"
        and re.fullmatch(r"[\w\\]+", written(text, word)[1:])
        and not rest.strip()
    ):
        return Cause.TEXT, text.span(word.start, word.start + 1)
    return None


def _behind_continued(text: Source, backslash: int, line_end: int) -> tuple[Cause, Span] | None:
    """What follows a line that is continued but where the command ends all the same."""
    start = line_end + 1
    while start < len(text.text):
        line = rest_of_line(text, start)
        stripped = line.strip()
        if stripped.startswith("#"):
            at = start + line.index("#")
            return Cause.COMMENT_LINE, text.span(at, at + len(line.strip()))
        if not stripped:
            return Cause.EMPTY_LINE, text.span(backslash, backslash + 1)
        if stripped != "\\":
            return None
        backslash = start + line.index("\\")
        start += len(line) + 1
    return None


def _cut_prefix(text: Source, head: Simple, following: Sequence[Simple | None], cause: Cause, span: Span) -> Cut | None:
    """A cut between assignments and the command that they are meant for."""
    first = head.words[0] if head.words else None
    only_blank = isinstance(first, Word) and (is_glued(text, first) or (len(head.words) == 1 and is_blank_word(first)))
    alone = not head.words and cause in (Cause.COMMENT_LINE, Cause.EMPTY_LINE)
    if not head.assigns or not (only_blank or alone):
        return None
    target = following[0] if following else None
    if target is None or not target.words or is_strong(text, target.words[0]):
        return Cut(cause, span, text, head) if only_blank else None
    return Cut(cause, span, text, head, starts=target)


def _calls(raw: str) -> bool:
    """Whether a command starts a script or an interpreter."""
    return any(name in raw for name in _CALLED) and _CALLS.search(raw + " ") is not None


def _may_lose(text: Source, head: Simple, following: Sequence[Simple | None], cause: Cause) -> bool:
    """Whether what follows may be words of the command that was cut."""
    first = following[0] if following else None
    if first is None:
        return False
    plausible = (
        "\\\n" in written(text, head) or is_launch(text, head) or cause not in _UNMARKED or _calls(written(text, head))
    )
    if not plausible:
        return False
    if cause not in _UNMARKED or _is_lost(text, first, None):
        return True
    return is_launch(text, head) and is_caller(text, first) and is_deeper(text, first, head)


def _is_fault_alone(text: Source, head: Simple, cause: Cause) -> bool:
    """Whether the end of the line is wrong even when nothing is lost by it."""
    if cause not in (Cause.BLANK, Cause.COMMENT, Cause.TEXT):
        return False
    if is_launch(text, head):
        return True
    last = head.words[-1]
    alone = isinstance(last, Word) and is_blank_word(last)
    return cause is not Cause.TEXT and alone and program_of(text, head) not in _USES_BLANK and len(head.words) > 1


def _chain(text: Source, head: Simple, following: Sequence[Simple | None]) -> list[Simple]:
    """The commands directly behind that were meant as words of `head`."""
    out: list[Simple] = []
    for each in following:
        if each is None or not _is_lost(text, each, head):
            break
        out.append(each)
    return out


def _later(text: Source, lost: Sequence[Simple]) -> tuple[Cut, ...]:
    """The cuts among the lost lines: each would end the command again once the one before it is mended."""
    out: list[Cut] = []
    for number, each in enumerate(lost):
        found = _end(text, each)
        last = number == len(lost) - 1
        if found is not None and (not last or found[0] in (Cause.BLANK, Cause.COMMENT, Cause.TEXT)):
            out.append(Cut(*found, text, each, tuple(lost[number + 1 :])))
    return tuple(out)


def _no_head(text: Source, command: Simple, before: syntax.AndOr | None) -> Cut | None:
    """Words of a command whose first line is commented out: the line before is a comment that ends with a backslash."""
    floor = before.end if before is not None else 0
    lines = text.text[floor : line_start(text, command.start)].split("\n")
    code = [line.strip() for line in lines if line.strip()]
    if not code or not code[-1].startswith("#") or not code[-1].endswith("\\"):
        return None
    return Cut(Cause.NO_HEAD, text.span(command.start, _first_end(command)), text, None)


def _first_end(command: Simple) -> int:
    return min((node.end for node in (*command.assigns, *command.words)), default=command.end)


# ---- words and lines


def _is_lost(text: Source, command: Simple, head: Simple | None) -> bool:
    """Whether a command is no command but words of one: its name is an override or an option; below a cut (`head`) also
    `$@`, assignments, variables and redirections that are indented deeper than the command."""
    if command.words and not command.assigns and is_strong(text, command.words[0]):
        return True
    if head is None:
        return False
    if not is_deeper(text, command, head):
        return False
    if not command.words:
        return bool(command.assigns or command.redirects)
    return written(text, command.words[0]).lstrip("\"'").startswith("$")
