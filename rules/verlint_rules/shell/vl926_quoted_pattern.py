"""A pattern in quotes matches no file.

`rm -rf "${OUT:?}/*"` asks for a file that is called `*`. There is none, and with `-f` nothing is said: the checkpoints
that the launcher means to clear away stay, and the disk fills from run to run. Without `-f`, and for `cp`, `mv` and
kin, the command fails.

Looked at are the programs that leave patterns to the shell. Others get theirs in quotes on purpose:
`find -name '*.pt'`, `rsync --exclude '*.log'`.

Fix: end the quotes before the pattern, `"${OUT:?}"/*`.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.finding import Edit, Finding, Safety
from verlint.languages.bash.command import Command
from verlint.languages.bash.wrappers import program_name, unwrap
from verlint.lazy import pattern
from verlint.rule import WARNING, Context, rule
from verlint.value import Literal, Text

_PROGRAMS = frozenset(["rm", "cp", "mv", "ls", "cat", "du", "ln", "chmod", "chown"])
_AT_THE_END = pattern(r'(?P<folder>"(?:\$\{[^}"\n]*\}|[^"*?\n])*)/(?P<pattern>[\w.*?-]*\*[\w.*?-]*)"')


@rule("VL926", "quoted-pattern", on=Command, severity=WARNING, since="0.1", fixable="unsafe", words=("/*",))
def check(command: Command, ctx: Context) -> Iterator[Finding]:
    argv = unwrap(command.argv).argv
    name = program_name(argv[0]) if argv else ""
    if name not in _PROGRAMS or command.builtin or command.function:
        return
    silent = name == "rm" and any(_is_forced(word) for word in argv[1:])
    for word in argv[1:]:
        if word.span is None or not _is_pattern(word):
            continue
        match = _AT_THE_END.fullmatch(word.span.text)
        right = f'{match["folder"]}"/{match["pattern"]}' if match is not None else "the quotes before the pattern"
        what = ", removes nothing and says nothing" if silent else " and fails"
        finding = ctx.fail(
            word.span,
            f"in quotes `{word.shown.rpartition('/')[2]}` is no pattern: `{name}` looks for a file of that name{what}",
            help=f"write {right}" if match is not None else f"end {right}",
        )
        if match is not None:
            finding = finding.with_fix(
                "end the quotes before the pattern", Edit(word.span.in_file(), right), safety=Safety.UNSAFE
            )
        yield finding


def _is_forced(word: Text) -> bool:
    text = word.known or ""
    return text == "--force" or (text.startswith("-") and not text.startswith("--") and "f" in text)


def _is_pattern(word: Text) -> bool:
    """Whether a path ends in a pattern that stands in quotes."""
    last = word.parts[-1] if word.parts else None
    if not isinstance(last, Literal) or not last.quoted:
        return False
    folder, slash, name = last.text.rpartition("/")
    return bool(slash) and "*" in name and (bool(folder) or len(word.parts) > 1)
