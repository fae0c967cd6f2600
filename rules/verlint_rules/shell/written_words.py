"""Words and lines as they are written: what looks like an override, an option or a launch."""

from __future__ import annotations

import re
from collections.abc import Sequence

from verlint.languages.bash import syntax
from verlint.languages.bash.syntax import Lit, Simple, Word
from verlint.lazy import pattern
from verlint.record import dataclass, field
from verlint.source import Source

BLANKS = " \t\u00a0\u2003\u200b\u3000"
"""Characters that look like nothing at the end of a line; bash takes only the first two for blanks."""

_OVERRIDE = pattern(r"[\"']?[+~]{0,2}[A-Za-z_][\w-]*(?:[./@:][\w@:-]+)+\s*=")
_JOINED = pattern(r"(?<![\s\\])\\\n(?=[\"']?(?:[+~]{0,2}[A-Za-z_][\w-]*(?:[./@:][\w@:-]+)+|\+{1,2}[A-Za-z_]\w*)=)")
"""A continued line without a blank on either side, and an override behind it."""
_FORCED = pattern(r"[\"']?\+{1,2}[A-Za-z_]\w*=")
_OPTION = pattern(r"--[A-Za-z][\w-]*")
_PLAIN = pattern(r"[\"']?[+~]{0,2}([A-Za-z_][\w./@:-]*)=")
_CALLER = pattern(r"[\"']?\$(?:@|\*|\{@(?::\d+)?\}|\{\*\})[\"']?")
_MODULE = pattern(r"(?:^|\s)-m\s+(?:\\\n\s*)?([\w.]+)")
_FILE = pattern(r"(?:^|[\s/])([\w-]+\.(?:py|sh|sbatch|bash))(?=$|[\s\"'])")
_LAUNCH = pattern(
    r"\bmain_\w+|\b(?:verl|recipe)\.\w|-m\s+[\w.]+|\.py\b|\b(?:torchrun|accelerate|deepspeed)\b|\bray\s+job\s+submit\b"
)
_MARKS = ("main_", "verl", "recipe", "-m", ".py", "torchrun", "accelerate", "deepspeed", "submit")
"""What is looked for first: an expression takes its time to compile."""


@dataclass(frozen=True)
class Lost:
    """What the lost lines hold: names of overrides and options, whether `$@` is among them, and the count of all."""

    names: tuple[str, ...] = ()
    caller: bool = False
    options: bool = False
    other: tuple[str, ...] = field(default=())


def written(text: Source, node: syntax.Node) -> str:
    """The characters of a node."""
    return text.text[node.start : node.end]


def what_is_lost(text: Source, commands: Sequence[Simple]) -> Lost:
    """The names in the lost lines."""
    names: list[str] = []
    other: list[str] = []
    caller = options = False
    for command in commands:
        for node in sorted([*command.assigns, *command.words, *command.redirects], key=lambda each: each.start):
            raw = written(text, node)
            found = _PLAIN.match(raw)
            option = _OPTION.match(raw)
            if _CALLER.fullmatch(raw):
                caller = True
            elif found is not None:
                names.append(found.group(1))
            elif option is not None:
                names.append(option.group())
                options = True
            elif raw.strip("\\" + BLANKS) and not options:
                other.append(raw)
    return Lost(tuple(names), caller, options, tuple(other))


def is_launch(text: Source, command: Simple) -> bool:
    """Whether a command looks like the start of a Python program, or holds overrides."""
    raw = written(text, command)
    is_marked = "-m verl." in raw or (any(mark in raw for mark in _MARKS) and _LAUNCH.search(raw) is not None)
    return is_marked or sum(is_strong(text, word) for word in command.words) >= 2


def program_of(text: Source, command: Simple) -> str:
    """What a command starts, for messages: `main_ppo`, `train.sh`, `ray`."""
    raw = written(text, command)
    if (module := _MODULE.search(raw)) is not None:
        return module.group(1).rsplit(".", 1)[-1]
    if (file := _FILE.search(raw)) is not None:
        return file.group(1)
    first = written(text, command.words[0]) if command.words else ""
    return first.rsplit("/", 1)[-1] if re.fullmatch(r"[\w./-]+", first) else "the command"


def is_override(text: Source, word: syntax.Node) -> bool:
    """Whether a word can be nothing but an override: `a.b=…`, `+a=…`."""
    raw = written(text, word)
    key, equals, _ = raw.partition("=")
    if not equals:
        return False
    if key.isascii() and "." in key and all(map(str.isidentifier, key.split("."))):
        return True  # nearly all
    if not any(sign in key for sign in "./@:"):
        return "+" in raw[:2] and _FORCED.match(raw) is not None
    return _OVERRIDE.match(raw) is not None or ("+" in raw[:2] and _FORCED.match(raw) is not None)


def joins_in(raw: str) -> list[int]:
    """Where the backslashes stand that make one word of two overrides, in a word that begins with one."""
    if "\\\n" not in raw or "=" not in raw.partition("\\\n")[0]:
        return []
    return [found.start() for found in _JOINED.finditer(raw)]


def joins_within(text: Source, start: int, end: int) -> bool:
    """Whether such a backslash stands between two places."""
    at = text.text.find("\\\n", start, end)
    return at >= 0 and _JOINED.match(text.text, at) is not None


def is_strong(text: Source, word: syntax.Node) -> bool:
    """Whether a word is no command but an override or an option."""
    raw = written(text, word)
    return is_override(text, word) or (raw.startswith("--") and _OPTION.match(raw) is not None)


def is_caller(text: Source, command: Simple) -> bool:
    return len(command.words) >= 1 and _CALLER.fullmatch(written(text, command.words[0])) is not None


def is_blank_word(word: Word) -> bool:
    """Whether a word is made of a backslash and blanks."""
    return bool(word.parts) and all(
        isinstance(part, Lit) and part.quote == "\\" and part.text in BLANKS for part in word.parts
    )


def is_glued(text: Source, word: Word) -> bool:
    """Whether a word is `\\ #…`: the beginning of a comment that bash takes for words."""
    raw = written(text, word)
    return raw[:1] == "\\" and raw[1:2] in (" ", "\t") and raw[2:3] == "#"


def is_deeper(text: Source, command: Simple, head: Simple) -> bool:
    return _indent(text, command.start) > _indent(text, head.start)


def _indent(text: Source, offset: int) -> int:
    line = text.text[line_start(text, offset) : offset]
    return len(line) - len(line.lstrip(" \t"))


def line_start(text: Source, offset: int) -> int:
    return text.text.rfind("\n", 0, offset) + 1


def rest_of_line(text: Source, offset: int) -> str:
    """The characters from a place to the end of its line."""
    end = text.text.find("\n", offset)
    return text.text[offset : len(text.text) if end < 0 else end]
