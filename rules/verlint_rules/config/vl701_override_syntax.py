"""Every override must be a word that Hydra can read.

Hydra has a grammar of its own for `key=value`, and what the shell passes is not always in it. Bash does not expand `~`
behind `key=`, and Hydra has no word for it; `=`, `#`, `(`, `{`, `;` and quotes inside of a value must be quoted once
for the shell and once for Hydra; a word without `=` is no override, and neither is an option with dashes
(`--trainer.nnodes=2`). One such word stops the run before anything is
loaded, with `mismatched input …` or `LexerNoViableAltException`, and no other message.

Placeholders that were never filled in (`model.path=<path>`) are read the same way. Silent for values that are not known
before the run, for words that a broken continuation leaves over (VL901), for several overrides in one quoted word and
one that blanks split (VL914), for an override that an option took as its value (VL904), and for documents that picture
a command.

Fix: quote the value for Hydra inside of quotes for the shell, `'key="a=b"'`, and write `$HOME` for `~`; the unsafe fix
does so.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.launch import Launch
from verlint.finding import Edit, Finding, Safety
from verlint.languages.hydra.override import Override
from verlint.lazy import pattern
from verlint.rule import ERROR, Context, rule
from verlint.source import Span
from verlint.value import Literal, Text
from verlint_rules.config.rewriting import with_word, written_word
from verlint_rules.config.view import is_cut, pictures, starts_hydra
from verlint_rules.shell.line_ends import has_windows_lines
from verlint_rules.shell.written_words import joins_in

_MORE = pattern(r"\s[+~]{0,2}[A-Za-z_][\w-]*(?:\.[\w-]+)*=")
_OVERRIDE = pattern(r"[+~]{0,2}[A-Za-z_][\w-]*(?:\.[\w-]+)+=")
_DASHED = pattern(r"--([A-Za-z_]\w*(?:\.\w+)+)(?:=|$)")
_PLACEHOLDER = pattern(r"<[^<>=]{1,80}>")
_HOME = pattern(r"~(?=/|$)")
_CALLER = pattern(r"[\"']?\$\{?[@*]")
_UNBALANCED = pattern(r"closes nothing|never closed|not closed|is closed by")
_PLAIN_QUOTES = ("'", '"', "$", "`", "\\", "\n")


@rule("VL701", "override-syntax", on=Launch, severity=ERROR, since="0.1", fixable="unsafe")
def check(launch: Launch, ctx: Context) -> Iterator[Finding]:
    yield from _dashed(launch, ctx)
    faulty = [each for each in launch.overrides if each.error is not None and not _is_left_over(each)]
    if not faulty or pictures(launch) or not starts_hydra(launch):
        return
    if any("=" not in each.word.shown for each in faulty) and is_cut(launch, ctx.project):
        faulty = [each for each in faulty if "=" in each.word.shown]
    split, wrong = _split_by_blanks(launch), {id(each) for each in faulty}
    last = -2
    for number, override in enumerate(launch.overrides):
        if id(override) not in wrong or override.error is None:
            continue
        if "=" not in override.word.shown:
            last, before = number, last
            if before == number - 1:  # the rest of what stands in one line without a "="
                continue
        if override.word in split or _is_of_windows(override):
            continue
        place = override.error.span or override.word.span or launch.head
        message = f"Hydra cannot read this override and stops: {override.error.message}"
        written = "".join(part.text for part in override.word.parts if isinstance(part, Literal))
        placeholder = _PLACEHOLDER.search(written.partition("=")[2])
        if placeholder is not None:
            message = f"the placeholder {placeholder[0]} was never filled in, and Hydra cannot read it"
        finding = ctx.fail(place, message, value=override.word.shown, hops=override.word.trail(), help=_help(override))
        yield _mended(finding, override)


def _is_of_windows(override: Override) -> bool:
    """Whether all lines of the file end with the carriage return that is at fault here (VL901)."""
    text, span = override.word.known, override.word.span
    return (
        text is not None and text.endswith("\r") and span is not None and has_windows_lines(span.in_file().source.text)
    )


def _is_left_over(override: Override) -> bool:
    """Whether the word is what a broken continuation leaves or joins, several words that were quoted as one, or a value
    that an option took from the overrides."""
    text = override.word.known or override.word.prefix
    span = override.word.span
    if not text.strip() or (span is not None and span.text.startswith("\\")):
        return True
    if span is not None and joins_in(span.text):
        return True
    if "=" not in text and span is not None and _CALLER.match(span.text):
        return True  # an option of the script that its loop of arguments left over
    from_variable = any(isinstance(part, Literal) and part.hops for part in override.word.parts)
    swallowed = _OVERRIDE.match(text.partition("=")[2]) is not None
    return from_variable and (swallowed or _MORE.search(text) is not None)


def _dashed(launch: Launch, ctx: Context) -> Iterator[Finding]:
    """Overrides with the dashes of an option: Hydra has no such option."""
    for word in launch.options:
        match = _DASHED.match(word.prefix)
        if match is None or pictures(launch) or not starts_hydra(launch):
            continue
        key = match[1]
        message = f"Hydra has no option `--{key}` and stops: an override has no dashes"
        finding = ctx.fail(word, message, help=f"write {key}=…")
        edits = _without_dashes(word, launch)
        yield finding.with_fix("take the dashes away", *edits, safety=Safety.UNSAFE) if edits else finding


def _without_dashes(word: Text, launch: Launch) -> list[Edit]:
    """Edits that make an override of an option; none for one whose value is not known to be the word behind it."""
    span = word.span
    if span is None or not span.text.startswith("--"):
        return []
    edits = [Edit(Span(span.source, span.start, span.start + 2).in_file(), "")]
    if "=" in word.prefix:
        return edits
    follows = [each.span for each in launch.command.argv if each.span is not None and each.span.source is span.source]
    value = min((each for each in follows if each.start >= span.end), key=lambda each: each.start, default=None)
    gap = Span(span.source, span.end, value.start) if value is not None else None
    if value is None or gap is None or gap.text.strip(" \t") or value.text.startswith("-") or "=" in value.text:
        return []
    return [*edits, Edit(gap.in_file(), "=")]


def _split_by_blanks(launch: Launch) -> list[Text]:
    """The words of overrides that blanks split."""
    from verlint_rules.shell.call_words import spread_words
    from verlint_rules.shell.split_words import split_overrides

    return [
        text for found in split_overrides(spread_words(launch.command)) for word in found.words for text in word.became
    ]


def _help(override: Override) -> str:
    text = override.word.shown
    key, equals, value = text.partition("=")
    if not equals:
        return "write key=value"
    if _PLACEHOLDER.search(value):
        return "write the real value for the placeholder"
    if _UNBALANCED.search(override.error.message if override.error is not None else ""):
        return "balance the brackets and quotes of the value"
    if override.word.known is not None and override.word.known.endswith("\r"):
        return "take the carriage return at the end of the line away"
    if _HOME.match(value.lstrip("[\"'")):
        return "write $HOME for ~: the shell does not expand it there"
    return f"quote the value for Hydra too: '{key}=\"{value}\"'"


def _mended(finding: Finding, override: Override) -> Finding:
    span, known = written_word(override.word), override.word.known
    if span is None or known is None or not override.key:
        return finding
    key, _, value = known.partition("=")
    if value.endswith("\r") and span.source.text[span.end : span.end + 2] == "\r\n":
        edit = Edit(Span(span.source, span.end, span.end + 2), "\n")
        return finding.with_fix("remove the carriage return", edit, safety=Safety.UNSAFE)
    if (
        "\r" in value
        or _UNBALANCED.search(finding.message)
        or _PLACEHOLDER.search(value)
        or any(sign in value for sign in _PLAIN_QUOTES)
    ):
        return finding
    if value.startswith("~/") and not span.text.startswith("'"):
        return with_word(finding, override, f'{key}="$HOME{value[1:]}"', safe=False)
    return with_word(finding, override, f"'{key}=\"{value}\"'", safe=False)
