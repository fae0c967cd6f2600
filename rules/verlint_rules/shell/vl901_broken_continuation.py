r"""A command over several lines must not end before its last line.

A backslash continues a line only when it is its very last character. With a blank, a comment or anything else behind
it the command ends there, and the program gets what follows as a word: `\ ` is an argument of one blank. A comment line
or an empty line between continued lines ends the command too, and so does a line without a backslash. The shortened
command has then been started already, with the defaults of the lost keys; bash goes on to run the remaining lines as
commands (`trainer.nnodes=1: command not found`) and the script may still exit with 0. `bash -n` has nothing to say.

Lines whose first line is commented out run as commands in the same way. An environment prefix that is cut off its
command (`A=1 \ # note`) never reaches it. With one blank only, `\ # note` is no comment for bash but two words. In an
array literal lines need no backslash, and each `\ ` is one more element. Behind `|`, `&&`, `||`, `do` and `then` a
`\ ` is a command that is not found, so a pipe ends in nothing. Overrides on the lines behind `| tee log` or `;` are no
longer those of the launch. Without a blank before the backslash, and none at the start of the next line, two overrides
are one word, and a `$NAME` at the end of the line goes on with the letters of the next one. With Windows line ends no
backslash continues anything, and each line has a carriage return as a part of its last word.

Here-documents that are run (`sbatch <<EOF`, `ssh HOST bash -s <<EOF`, a script that the launcher writes and starts) and
the texts of `bash -c` are looked at too.

Comment lines and missing backslashes at the end of a command, where nothing follows that belongs to it, are no faults,
nor are line ends within quotes. Blocks of documents that only picture a command (`...`) are left alone.

Fix: make the backslash the last character of its line, write it where it is missing, remove the empty line, and put
comments above the command. Comments are moved, and slashes turned (`trainer.nnodes=1 /`), by the unsafe fix only.
Save a file of Windows line ends with those of Unix (`dos2unix`, or `--fix`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from verlint.experiment.script import Script
from verlint.finding import Edit, Finding, Safety
from verlint.languages.bash.syntax import Program
from verlint.record import replace
from verlint.rule import ERROR, WARNING, Context, rule
from verlint.source import Source, Span
from verlint_rules.shell.continuation import (
    Cause,
    Cut,
    find_cuts,
    stray_elements,
)
from verlint_rules.shell.illustration import is_illustration
from verlint_rules.shell.joined_lines import (
    BlankCommand,
    CommentWords,
    JoinedWords,
    Stranded,
    blank_commands,
    comment_words,
    joined_words,
    stranded_overrides,
)
from verlint_rules.shell.line_ends import has_windows_lines, may_be_meant
from verlint_rules.shell.written_words import (
    BLANKS,
    program_of,
    what_is_lost,
)

SHOWN = 3

_ENDS = {
    Cause.BLANK: "a blank follows this backslash, so the command ends here",
    Cause.COMMENT: "a comment follows this backslash, so the command ends here",
    Cause.MISSING: "this line has no backslash, so the command ends here",
    Cause.SLASH: "this line ends with a slash instead of a backslash, so the command ends here",
    Cause.COMMENT_LINE: "this comment line ends the command",
    Cause.EMPTY_LINE: "an empty line follows this backslash, so the command ends here",
    Cause.IN_COMMENT: "this backslash is part of a comment, so the command ends here",
}
_HELP = {
    Cause.BLANK: "remove the blank after the backslash",
    Cause.COMMENT: "put the comment above the command",
    Cause.TEXT: "remove what follows the backslash",
    Cause.MISSING: "end the line with a backslash",
    Cause.SLASH: "write a backslash instead of the slash",
    Cause.COMMENT_LINE: "put the comment above the command",
    Cause.EMPTY_LINE: "remove the empty line",
    Cause.IN_COMMENT: "put the comment above the command",
    Cause.NO_HEAD: "comment out these lines too, or restore the line above",
}


@rule("VL901", "broken-continuation", on=Script, severity=ERROR, since="0.1", fixable="safe")
def check(script: Script, ctx: Context) -> Iterator[Finding]:
    for text, program in script.syntax:
        if script.document and is_illustration(text.text):
            continue
        if has_windows_lines(text.text):
            if not script.document:
                yield _windows(text, program, ctx)
            continue
        yield from _of_text(text, program, ctx, document=script.document)
    for text, program in script.inner:
        if not has_windows_lines(text.text):
            yield from map(_where_written, _of_text(text, program, ctx, document=False))


def _of_text(text: Source, program: Program, ctx: Context, *, document: bool) -> Iterator[Finding]:
    for cut in find_cuts(text, program):
        if cut.command is not None or not document:
            yield _finding(cut, ctx, document=document)
    if any("\\" + blank in text.text for blank in BLANKS):
        yield from _blanks(text, program, ctx, document=document)
    for joined in joined_words(text, program) if "\\\n" in text.text else ():
        yield _joined(joined, text, ctx, document=document)
    for stranded in stranded_overrides(text, program):
        yield _stranded(stranded, text, ctx, document=document)


def _where_written(finding: Finding) -> Finding:
    """The finding of an inner text, without a fix for what is written in another way around it."""
    edits = () if finding.fix is None else finding.fix.edits
    return finding if all(each.span.text == each.span.in_file().text for each in edits) else replace(finding, fix=None)


def _blanks(text: Source, program: Program, ctx: Context, *, document: bool) -> Iterator[Finding]:
    """What backslashes with a blank behind them make: elements, words and commands of one blank."""
    for spans in stray_elements(text, program):
        yield _stray(spans, ctx, document=document)
    for words in comment_words(text, program):
        yield _comment_words(words, text, ctx, document=document)
    for blank in blank_commands(text, program):
        yield _blank_command(blank, ctx, document=document)


# ---- findings


def _finding(cut: Cut, ctx: Context, *, document: bool) -> Finding:
    severity = WARNING if document else ERROR
    argument = _argument(cut) if cut.starts is None else ""
    value = f'argument "{argument}"' if argument.strip() else ""  # that of a blank says no more than the message
    finding = ctx.fail(cut.span, _message(cut), value=value, help=_HELP[cut.cause], severity=severity)
    if cut.starts is not None:
        finding = finding.with_related(_head_line(cut.text, cut.starts.start), "runs without them")
    elif cut.lost and cut.command is not None:
        finding = finding.with_related(_head_line(cut.text, cut.lost[0].start), "the first line that is lost")
    for later in cut.later:
        finding = finding.with_related(later.span, f"would end the command again: {later.cause.value}")
    return _with_fix(finding, cut)


def _message(cut: Cut) -> str:
    lost = what_is_lost(cut.text, cut.lost)
    if cut.cause is Cause.NO_HEAD:
        return f"{_listed(lost.names)} run as commands: the line that starts the command is commented out"
    assert cut.command is not None
    cause = _ENDS.get(cut.cause) or f"`{_behind(cut)}` follows this backslash, so the command ends here"
    if cut.starts is not None or (cut.command.assigns and not cut.lost):
        names = ", ".join(assign.name for assign in cut.command.assigns)
        target = program_of(cut.text, cut.starts) if cut.starts is not None else "the command"
        return f"{cause}: {target} runs without {names} in its environment"
    program = program_of(cut.text, cut.command)
    if not cut.lost:
        if _argument(cut) == " #":
            return f"{cause}: {program} gets the words of the comment as arguments"
        word = "one blank" if _argument(cut) else f"`{_behind(cut)}`"
        return f"{cause}: {program} gets {word} as one more argument"
    return f"{cause}: {program} runs without {_missing(lost.names, lost.options, lost.caller, lost.other)}"


def _argument(cut: Cut) -> str:
    """What bash makes of the backslash: one blank, which takes a `#` directly behind it along; "" for nothing."""
    if cut.cause not in (Cause.BLANK, Cause.COMMENT):
        return ""
    return " #" if cut.text.text[cut.span.end + 1 : cut.span.end + 2] == "#" else " "


def _missing(names: tuple[str, ...], options: bool, caller: bool, other: tuple[str, ...]) -> str:
    parts: list[str] = []
    if names:
        noun = "option" if options else "override"
        parts.append(f"the {noun} {names[0]}" if len(names) == 1 else f"{len(names)} {noun}s ({_listed(names)})")
    elif other:
        parts.append(f"`{other[0]}`")
    if caller:
        parts.append("those of the caller" if names else "the arguments of the caller")
    return " and ".join(parts) or "what follows"


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(names[:SHOWN]) + (", …" if len(names) > SHOWN else "")


def _behind(cut: Cut) -> str:
    """What stands behind the backslash on its line."""
    return (
        _line_of(cut.text, cut.span.start).text[cut.span.start - _line_of(cut.text, cut.span.start).start + 1 :].strip()
    )


def _windows(text: Source, program: Program, ctx: Context) -> Finding:
    found = [match.start() for match in re.finditer(r"\\\r\n", text.text)]
    at = found[0] if found else text.text.index("\r\n")
    if found:
        message = f"a carriage return follows {_each_of(len(found))}, so no line is continued"
    else:
        message = "bash takes the carriage return at the end of a line for a part of its last word"
    finding = ctx.fail(
        text.span(at, at + 1),
        f"the file has Windows line ends: {message}",
        value='argument "\\r"' if found else "",
        help="save the file with Unix line ends (dos2unix)",
    )
    edits = [Edit(text.span(end.start(), end.end()), "\n") for end in re.finditer("\r\n", text.text)]
    safety = Safety.UNSAFE if may_be_meant(text.text, program) else Safety.SAFE
    return finding.with_fix("save the file with Unix line ends", *edits, safety=safety)


def _each_of(count: int) -> str:
    return f"each of its {count} backslashes" if count > 1 else "its only backslash"


def _stray(spans: list[Span], ctx: Context, *, document: bool) -> Finding:
    message = "a blank follows this backslash: the array gets an element of one blank"
    severity = WARNING if document else ERROR
    finding = ctx.fail(spans[0], message, value='element " "', help="remove the backslash", severity=severity)
    for span in spans[1:]:
        finding = finding.with_related(span, "here too")
    edits = [Edit(Span(s.source, _rstrip(s.source, s.start), s.end + 1), "") for s in spans]
    return finding.with_fix("remove the backslash", *edits, safety=Safety.SAFE)


def _comment_words(found: CommentWords, text: Source, ctx: Context, *, document: bool) -> Finding:
    (first, _), *others = found.places
    program = program_of(text, found.command)
    finding = ctx.fail(
        first,
        f"only one blank stands before this comment, so it is none: {program} gets its words as arguments",
        value='argument " #"',
        help=_HELP[Cause.COMMENT],
        severity=WARNING if document else ERROR,
    )
    for span, _ in others:
        finding = finding.with_related(span, "here too")
    line = _line_of(text, found.command.start)
    indent = line.text[: len(line.text) - len(line.text.lstrip())]
    comments = [text.text[span.end : end.start].strip() for span, end in found.places]
    above = Edit(text.span(line.start, line.start), "".join(f"{indent}{each}\n" for each in comments))
    edits = [Edit(text.span(span.end, end.end), "") for span, end in found.places]
    return finding.with_fix(_HELP[Cause.COMMENT], above, *edits, safety=Safety.UNSAFE)


_UNJOINED = {
    "|": "what stands on the next line gets nothing from the pipe",
    "&&": "what stands on the next line runs whatever came before",
    "||": "what stands on the next line runs whatever came before",
}


def _blank_command(blank: BlankCommand, ctx: Context, *, document: bool) -> Finding:
    severe = blank.operator and not document
    behind = "comment" if blank.comment else "blank"
    message = f"a {behind} follows this backslash: bash looks for a command that is one blank"
    if blank.operator:
        message += f", and {_UNJOINED[blank.operator]}"
    text = blank.at.source
    end = blank.at.end if blank.comment else _line_of(text, blank.at.start).end
    edit = Edit(text.span(_rstrip(text, blank.at.start), end), "")
    finding = ctx.fail(
        blank.at,
        message,
        value="" if blank.comment else 'command " "',
        help="remove the backslash",
        severity=ERROR if severe else WARNING,
    )
    return finding.with_fix("remove the backslash", edit, safety=Safety.SAFE)


def _joined(found: JoinedWords, text: Source, ctx: Context, *, document: bool) -> Finding:
    first, *others = found.places
    line = _line_of(text, first.start)
    following = _line_of(text, line.end + 1)
    before = text.text[line.start : first.start].rpartition("=")[0].split()[-1].lstrip("\"'+~")
    behind = following.text.partition("=")[0].lstrip("\"'+~")
    finding = ctx.fail(
        first,
        f"no blank stands before this backslash, so {program_of(text, found.command)} gets one word of {before} and "
        f"{behind}",
        help="write a blank before the backslash",
        severity=WARNING if document else ERROR,
    )
    for span in others:
        finding = finding.with_related(span, "here too")
    edits = [Edit(text.span(span.start, span.start), " ") for span in found.places]
    return finding.with_fix("write a blank before the backslash", *edits, safety=Safety.SAFE)


def _stranded(found: Stranded, text: Source, ctx: Context, *, document: bool) -> Finding:
    names = tuple(span.text.lstrip("\"'+~").partition("=")[0].split()[0] for span in found.overrides)
    program = program_of(text, found.launch)
    if found.taker:
        taken = f"{found.taker} gets {_listed(names)} as arguments"
    else:
        taken = f"{_listed(names)} {'run as commands' if len(names) > 1 else 'runs as a command'}"
    finding = ctx.fail(
        found.at,
        f"{taken}: {program}, where {'they belong' if len(names) > 1 else 'it belongs'}, ends at the "
        f"`{found.operator}` before",
        help=f"write what belongs to {program} before the `{found.operator}`",
        severity=WARNING if document else ERROR,
    )
    return finding.with_related(_head_line(text, found.launch.start), "ends too early")


# ---- places


def _line_of(text: Source, offset: int) -> Span:
    start = text.text.rfind("\n", 0, offset) + 1
    end = text.text.find("\n", offset)
    return text.span(start, len(text.text) if end < 0 else end)


def _head_line(text: Source, offset: int) -> Span:
    """From a place to the end of what is written in its line."""
    line = _line_of(text, offset)
    return text.span(offset, max(offset + 1, line.start + len(line.text.rstrip(" \t\\"))))


def _rstrip(text: Source, offset: int) -> int:
    while offset and text.text[offset - 1] in " \t":
        offset -= 1
    return offset


# ---- mending


def _with_fix(finding: Finding, cut: Cut) -> Finding:
    if cut.cause is Cause.NO_HEAD:
        return finding
    edits: list[Edit] = []
    above: list[str] = []
    safe = True
    for each in cut.all:
        kept = _mend(each, edits, above)
        safe = safe and kept
    if above and cut.command is not None:
        line = _line_of(cut.text, cut.command.start)
        indent = line.text[: len(line.text) - len(line.text.lstrip())]
        moved = "".join(f"{indent}{comment}\n" for comment in above)
        edits.insert(0, Edit(cut.text.span(line.start, line.start), moved))
    return finding.with_fix(_HELP[cut.cause], *edits, safety=Safety.SAFE if safe else Safety.UNSAFE)


def _mend(cut: Cut, edits: list[Edit], above: list[str]) -> bool:
    """Add the edits that continue the line; comments to be moved go to `above`. Gives whether that is safe."""
    text, line = cut.text, _line_of(cut.text, cut.span.start)
    goes_on = bool(cut.lost) or cut.starts is not None
    if cut.cause in (Cause.BLANK, Cause.COMMENT, Cause.TEXT):
        behind = text.text[cut.span.end : line.end]
        if cut.cause is Cause.COMMENT:
            above.append(behind.strip())
        start = cut.span.end if goes_on else _rstrip(text, cut.span.start)
        edits.append(Edit(text.span(start, line.end), ""))
        return cut.cause is Cause.BLANK
    if cut.cause is Cause.SLASH:
        above.extend(filter(None, [text.text[cut.span.end : line.end].strip()]))
        edits.append(Edit(text.span(cut.span.start, line.end), "\\"))
        return False
    if cut.cause is Cause.MISSING:
        comment = text.text[cut.span.start : line.end].strip()
        if comment:
            above.append(comment)
        edits.append(Edit(text.span(cut.span.start, line.end), " \\"))
        return not comment
    if cut.cause is Cause.IN_COMMENT:
        start = text.text.index("#", cut.command.end if cut.command is not None else line.start)
        above.append(text.text[start : cut.span.start].strip())
        edits.append(Edit(text.span(start, line.end), "\\"))
        return False
    return _remove_lines(cut, edits, above)


def _remove_lines(cut: Cut, edits: list[Edit], above: list[str]) -> bool:
    """Take out the comment and empty lines between a continued line and what follows."""
    assert cut.command is not None
    text = cut.text
    following = cut.lost[0].start if cut.lost else cut.starts.start if cut.starts is not None else cut.span.end
    start = _line_of(text, cut.command.end).end + 1
    while text.text[start : _line_of(text, start).end].strip() == "\\":
        start = _line_of(text, start).end + 1
    end = _line_of(text, following).start
    comments = [line.strip() for line in text.text[start:end].split("\n") if line.strip()]
    above.extend(comments)
    edits.append(Edit(text.span(start, end), ""))
    return not comments
