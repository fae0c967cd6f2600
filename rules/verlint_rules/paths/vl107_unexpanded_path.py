"""A path must reach the program as it is meant: no `~` that stays a `~`, no `$` at its end.

Bash puts the home folder for `~` only at the start of a word or of an assignment. Behind `--out=` and inside of quotes
it stays a character, and the program makes a folder that is called `~` below its working directory, or finds no file.
A `$` with nothing behind it (`${SAVE_PATH}$`) stays as well and becomes part of the folder's name, so what is written
there is not found under the name that is read later.

A path also loses a folder where a variable between two slashes, or behind the last, is only ever given the empty text:
`${ROOT}/${NAME}` is then the root itself.

Single quotes keep bash away from a variable: with `files='[$train]'` the override `data.train_files="$files"` names a
file that is called `$train`.

Of Python tools it is a warning, since some of them expand `~` themselves. Silent for patterns of `grep`, `sed` and
their kin, for `$` in single quotes, and for overrides of Hydra, whose grammar refuses `~` (VL701).

Fix: write `$HOME` or `${HOME}` for `~`, take the last `$` away, give the variable a value (`${NAME:?}` asks).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from verlint.experiment.places import assignments_by_name, variants_in
from verlint.finding import Edit, Finding, Safety
from verlint.languages.bash.command import Command
from verlint.lazy import pattern
from verlint.rule import ERROR, WARNING, Context, rule
from verlint.source import Span
from verlint.value import Literal, Text

_PATTERNS = frozenset(
    ["awk", "bash", "echo", "egrep", "expr", "fgrep", "find", "gawk", "grep", "jq", "perl", "pgrep", "pkill", "printf",
     "python", "python3", "rename", "rg", "sed", "sh", "ssh", "test", "[", "[[", "tmux", "screen", "export"]
)  # fmt: skip
"""Programs whose words are patterns or texts; of Python only the words of options are paths."""

_STRAY = pattern(r"(?:\$\{[^{}]*\}|\$\w+|[\w.-]*/[\w./-]*[\w/])\$(?=\"?$)")
_NAME = pattern(r"\$\{?(\w+)")
_UNREAD = pattern(r"(?<![\\$])\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))")
"""A reference to a variable; one of OmegaConf to a key has dots or a resolver."""
_HOME = pattern(r"--?[\w-]+=(\"?)~(?=/|\"?$)")
_SEGMENT = pattern(r"/\$\{?([A-Za-z_]\w*)\}?(?=/|[\"']?$)")
_QUOTED_HOME = pattern(r"\"~(?=/)[\w./${}~-]*\"|'~(?=/)[\w./-]*'")


@rule("VL107", "unexpanded-path", on=Command, severity=ERROR, since="0.1", fixable="safe", words=("~", "$"))
def check(command: Command, ctx: Context) -> Iterator[Finding]:
    name = command.name
    python = name.startswith("python")
    if command.builtin or command.function or (name in _PATTERNS and not (python or _runs_script(command))):
        return
    yield from _of_values(command, python, ctx)
    yield from _of_overrides(command, ctx)
    before = ""
    for at, span in enumerate(command.raw):
        text = span.text
        is_path = not python or before.startswith("--") or text.startswith("--")
        if at and is_path and before not in ("-c", "-m", "-e"):
            yield from _of_word(command, span, python, ctx)
        before = text


def _runs_script(command: Command) -> bool:
    """Whether a shell is given a script and its words, no text to run."""
    return command.name in ("bash", "sh") and len(command.raw) > 1 and not command.raw[1].text.startswith(("-", "+"))


def _of_word(command: Command, span: Span, python: bool, ctx: Context) -> Iterator[Finding]:
    text = span.text
    stray = _STRAY.search(text) if text.endswith(("$", '$"', "$\n")) else None
    if stray is not None and not text.startswith(("'", "--include", "--exclude")):
        at = Span(span.source, span.start + stray.end() - 1, span.start + stray.end())
        message = "the `$` at the end stays a character of the path: nothing stands behind it that it could expand"
        found = ctx.fail(at, message, value=text, help=f"write {text[: stray.end() - 1]}{text[stray.end() :]}")
        found = found.with_related(command.raw[0], f"`{command.name}` gets it")
        for other in _same_path(stray.group()[:-1], span, ctx):
            found = found.with_related(other, "the same folder, without the `$`")
        edit = Edit(at.in_file(), "")
        yield found.with_fix("take the $ away", edit, safety=Safety.SAFE) if _as_written(at) else found
        return
    if "~" not in text:
        return
    home = _HOME.match(text)
    quoted = None if home is not None else _QUOTED_HOME.fullmatch(text)
    if home is None and quoted is None:
        return
    offset = text.index("~")
    at = Span(span.source, span.start + offset, span.start + offset + 1)
    where = "inside of quotes" if quoted is not None or (home is not None and home.group(1)) else "behind `=`"
    message = f"bash does not expand `~` {where}: the program gets the character, and a folder of that name"
    help_ = f"write {text.replace('~', '$HOME', 1)}".replace("'", '"')
    found = ctx.fail(at, message, value=text, help=help_, severity=WARNING if python else None)
    if _as_written(at) and not text.startswith("'"):
        found = found.with_fix("write $HOME for ~", Edit(at.in_file(), "$HOME"), safety=Safety.SAFE)
    yield found


def _same_path(path: str, span: Span, ctx: Context) -> Iterator[Span]:
    """Where other commands of the file use the path that is meant, or one below it."""
    variable = _NAME.match(path)
    meant = re.escape(path) if variable is None else rf"\$(?:{{{variable[1]}\b[^{{}}]*}}|{variable[1]}\b)"
    for variant in variants_in(ctx.project, span.in_file().source):
        for raw in variant.command.raw[1:]:
            found = re.search(rf"{meant}(?!\$)", raw.text)
            if found is not None:
                yield raw.source.span(raw.start + found.start(), raw.start + found.end())


def _of_values(command: Command, python: bool, ctx: Context) -> Iterator[Finding]:
    """A `~` that comes from a quoted assignment, and segments that a variable leaves empty."""
    words = list(zip(command.argv, command.raw, strict=False)) if len(command.argv) == len(command.raw) else []
    for word, raw in words[1:]:
        first = word.parts[0] if word.parts else None
        at_home = isinstance(first, Literal) and first.text.partition("/")[0] == "~"
        if isinstance(first, Literal) and first.span is not None and at_home and "$" in raw.text:
            written = first.span.in_file().text
            message = (
                "bash does not expand `~` inside of quotes: the program gets the character, and a folder of that name"
            )
            if written.startswith(("~", '"~', "'~")):
                help_ = "write $HOME, or take the quotes away"
                yield ctx.fail(first.span, message, value=word.shown, hops=word.trail(), help=help_,
                               severity=WARNING if python else None)  # fmt: skip
            continue
        name = _empty_segment(word, raw.text)
        if name and _is_always_empty(name, raw, ctx):
            message = f"`{name}` is empty here, so the path loses a folder: {word.shown}"
            yield ctx.fail(raw, message, value=word.shown, help=f"give {name} a value, or ask for it: ${{{name}:?}}")


def _of_overrides(command: Command, ctx: Context) -> Iterator[Finding]:
    """A variable of the launcher that an override holds by its name, since single quotes kept bash away from it."""
    launch = ctx.project.launch(command) if any("$" in (word.known or "") for word in command.argv) else None
    for override in () if launch is None else launch.overrides:
        value = override.value_text.known or ""
        for match in _UNREAD.finditer(value) if "$" in value and override.word.span is not None else ():
            name = match[1] or match[2]
            given = assignments_by_name(ctx.project, command.span.in_file().source).get(name, ())
            if not given or (launch is not None and name in launch.defaults):
                continue
            quoted = f"${{{name}}}" if match[1] else f"${name}"
            spans = (part.span for part in override.value_text.parts if isinstance(part, Literal))
            place = next((each for each in spans if each is not None and quoted in each.text), override.word.span)
            finding = ctx.fail(
                place if place is not None else override.word,
                f"single quotes keep `{quoted}` as it is: {override.key} gets the name of the variable, not its value",
                value=override.word.shown,
                help=f"put double quotes around it, and single ones inside: \"['{quoted}']\"",
            )
            yield finding.with_related(given[0].span, "the variable")
            break


def _is_always_empty(name: str, raw: Span, ctx: Context) -> bool:
    """Whether the file gives a variable the empty text only: an option that may set it is none of this rule's."""
    given = assignments_by_name(ctx.project, raw.in_file().source).get(name, ())
    return bool(given) and all(each.value is not None and each.value.known == "" for each in given)


def _empty_segment(word: Text, raw: str) -> str:
    """The variable between two slashes of a word, or at its end, that is empty, "" for none."""
    shown = word.template
    if "/$" not in raw or "//" in raw.replace("://", "") or not _SEGMENT.search(raw):
        return ""
    for match in _SEGMENT.finditer(raw):
        before = raw[: match.start() + 1]
        last = match.end() == len(raw.rstrip("\"'"))
        plain = before.rsplit("}", 1)[-1].split("=", 1)[-1].strip("\"'")
        if "$" in plain or not plain:
            continue
        if (f"{plain}/" in shown.replace("://", ":") and not last) or (last and shown.endswith(plain)):
            return match.group(1)
    return ""


def _as_written(span: Span) -> bool:
    return span.in_file().text == span.text
