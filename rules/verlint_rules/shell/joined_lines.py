"""Lines that are joined to something else than they look: to a comment, an operator, or what stands behind one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from verlint.languages.bash import syntax
from verlint.languages.bash.syntax import Program, Simple, Word
from verlint.record import dataclass
from verlint.source import Source, Span
from verlint_rules.shell.written_words import (
    BLANKS,
    is_blank_word,
    is_glued,
    is_launch,
    is_override,
    is_strong,
    joins_in,
    program_of,
    rest_of_line,
)

_TAKES_ANYTHING = frozenset(["tee", "cat", "tail", "head", "ts", "wait", "sleep", "date"])
"""Programs that are put behind a launch and have no use for overrides."""


@dataclass(frozen=True)
class CommentWords:
    """Comments behind `\\ ` within a continued command, which are words of it: the backslash of each, and its line's
    end, where the line is continued."""

    command: Simple
    places: tuple[tuple[Span, Span], ...]


@dataclass(frozen=True)
class BlankCommand:
    """A command that is one blank. `operator` is what stands before it (`|`, `&&`, `||`, "" for others)."""

    at: Span
    operator: str
    comment: bool


@dataclass(frozen=True)
class Stranded:
    """Overrides behind the operator that ends their launch. `taker` gets them as arguments, or they run as commands
    ("")."""

    at: Span
    launch: Simple
    operator: str
    overrides: tuple[Span, ...]
    taker: str


@dataclass(frozen=True, slots=True)
class JoinedWords:
    """Overrides of one command that are one word, as no blank stands between: the backslash of each."""

    command: Simple
    places: tuple[Span, ...]


def joined_words(text: Source, program: Program) -> Iterator[JoinedWords]:
    """Overrides that a continued line joins, word by word."""
    for command in program.simple:
        for word in command.words:
            if not isinstance(word, Word) or not is_override(text, word):
                continue
            places = joins_in(text.text[word.start : word.end])
            if places:
                yield JoinedWords(command, tuple(text.span(word.start + at, word.start + at + 1) for at in places))


def comment_words(text: Source, program: Program) -> Iterator[CommentWords]:
    """The comments that are words, command by command."""
    for command in program.simple:
        last_line = text.text.rfind("\n", 0, command.end) + 1
        places: list[tuple[Span, Span]] = []
        for word in command.words:
            if isinstance(word, Word) and word.start < last_line and is_glued(text, word):
                end = word.start + len(rest_of_line(text, word.start).rstrip(" \t\r"))
                if text.text[end - 1] == "\\":
                    places.append((text.span(word.start, word.start + 1), text.span(end - 1, end)))
        if places:
            yield CommentWords(command, tuple(places))


def blank_commands(text: Source, program: Program) -> Iterator[BlankCommand]:
    """The commands of one blank."""
    for command in program.simple:
        first = command.words[0] if command.words else None
        if command.assigns or not isinstance(first, Word):
            continue
        alone = len(command.words) == 1 and is_blank_word(first)
        rest = rest_of_line(text, first.end).strip(BLANKS + "\r")
        if (alone and rest[:1] in ("", "#")) or is_glued(text, first):
            before = text.text[: command.start].rstrip(" \t")
            operator = next((each for each in ("||", "&&", "|") if before.endswith(each)), "")
            if operator or before.endswith(("do", "then", "else", ";", "{", "(")):
                comment = bool(rest) or is_glued(text, first)
                yield BlankCommand(text.span(first.start, first.start + 1), operator, comment)


def stranded_overrides(text: Source, program: Program) -> Iterator[Stranded]:
    """The overrides behind the operator that ended their launch."""
    for body in _lists(program):
        for at, item in enumerate(body):
            yield from _taken_by_others(text, item)
            if at + 1 < len(body) and _starts_lost(text, body[at + 1]):
                yield from _run_as_commands(text, item, body[at + 1 :])


def _taken_by_others(text: Source, item: syntax.AndOr) -> Iterator[Stranded]:
    """`main_ppo … | tee log \\` with overrides on the lines behind."""
    if len(item.items) == 1 and len(item.items[0][1].commands) == 1:
        return
    launch: Simple | None = None
    for operator, command in _joined(item):
        if not isinstance(command, Simple):
            continue
        line_end = command.start + len(rest_of_line(text, command.start))
        if operator and launch is not None and command.end > line_end and program_of(text, command) in _TAKES_ANYTHING:
            taken = [word for word in command.words if word.start > line_end and is_override(text, word)]
            if taken:
                spans = tuple(text.span(word.start, word.end) for word in taken)
                yield Stranded(spans[0], launch, operator, spans, program_of(text, command))
        launch = command if is_launch(text, command) else launch


def _run_as_commands(text: Source, item: syntax.AndOr, following: Sequence[syntax.AndOr]) -> Iterator[Stranded]:
    """`main_ppo … | tee log` or `main_ppo …;` with overrides on the lines behind."""
    joined = list(_joined(item))
    launches = [at for at, (_, each) in enumerate(joined) if isinstance(each, Simple) and is_launch(text, each)]
    launch = joined[launches[-1]][1] if launches else None
    if not isinstance(launch, Simple):
        return
    number = launches[-1]
    operator = joined[number + 1][0] if number + 1 < len(joined) else ""
    if not operator:
        rest = rest_of_line(text, item.end).strip(" \t\r\\")
        if rest not in (";", "&"):
            return
        operator = rest
    lost: list[Span] = []
    for each in following:
        first = each.items[0][1].commands[0]
        if not isinstance(first, Simple) or not _starts_lost(text, each):
            break
        words = sorted([*first.assigns, *first.words], key=lambda node: node.start)
        lost += [text.span(word.start, word.end) for word in words if is_strong(text, word)]
    if lost and "\n" in text.text[item.end : lost[0].start] and "\n\n" not in text.text[item.end : lost[0].start]:
        yield Stranded(lost[0], launch, operator, tuple(lost), "")


def _starts_lost(text: Source, item: syntax.AndOr) -> bool:
    """Whether a list begins with a command that is no command but an override or an option."""
    command = item.items[0][1].commands[0]
    if not isinstance(command, Simple):
        return False
    first = min([*command.words, *command.assigns], key=lambda node: node.start, default=None)
    return first is not None and is_strong(text, first)


def _joined(item: syntax.AndOr) -> Iterator[tuple[str, syntax.Command]]:
    """The commands of a list, each with the operator before it."""
    for operator, pipeline in item.items:
        for number, command in enumerate(pipeline.commands):
            yield ("|" if number else operator), command


def _lists(program: Program) -> Iterator[list[syntax.AndOr]]:
    yield [item for group in program.groups for item, _ in group.items]
    groups = {id(group) for group in program.groups}
    for node in program.nodes:
        if isinstance(node, syntax.Sequence) and id(node) not in groups:
            yield [item for item, _ in node.items]
