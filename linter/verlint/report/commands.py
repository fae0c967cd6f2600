"""What a launcher would run, for people and for programs: the paths through it, each with its commands in order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from verlint.languages.bash.command import Command
from verlint.languages.bash.replay import Path, Resolution
from verlint.lazy import pattern
from verlint.record import dataclass
from verlint.report.display import cut, json_text, visible
from verlint.secret import is_secret_name, mask, secret_values
from verlint.source import Source
from verlint.value import Hole, Hop, Literal, Text

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from typing import Any

JSON_VERSION = 1
_CONTROL = pattern(r"[\x00-\x1f\x7f]")
_ESCAPES = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}
_BARE = pattern(r"[\w@%+=:,./\[\]{}<>⟦⟧~$*-]+")


def started(path: Path, *, builtins: bool = False) -> list[Command]:
    """The programs that a path starts, in order; with `builtins` what the shell itself runs as well."""
    return [command for command in path.commands if builtins or not (command.builtin or command.function)]


def distinct(resolution: Resolution, *, builtins: bool = False) -> list[Path]:
    """The paths that differ in what they start; of those that do not, the first."""
    out: list[Path] = []
    seen: set[tuple[object, ...]] = set()
    for path in resolution.paths:
        key = tuple(
            (command.span.order(), tuple(word.identity() for word in command.argv))
            for command in started(path, builtins=builtins)
        )
        if key not in seen:
            seen.add(key)
            out.append(path)
    return out


class Masker:
    """Masks the secrets of some sources, and values of variables with a credential's name."""

    def __init__(self, sources: Sequence[Source]) -> None:
        secrets: set[str] = set()
        for source in sources:
            secrets |= secret_values(source.text)
        self.secrets = frozenset(secrets)

    def text(self, text: str) -> str:
        """A text with its secrets masked."""
        return mask(text, self.secrets)

    def variable(self, name: str, value: Text) -> str:
        """The value of a variable; that of a credential only where it is no characters but a name."""
        if is_secret_name(name) and any(isinstance(part, Literal) and part.text for part in value.parts):
            return "****"
        return self.text(value.shown)


# ---- for people


@dataclass(frozen=True, slots=True)
class Listing:
    """How to print: the width of lines, whether environment is shown, the words whose way is wanted."""

    width: int
    environment: bool = False
    why: tuple[str, ...] = ()
    builtins: bool = False


def text_of(resolution: Resolution, listing: Listing, masker: Masker) -> str:
    """The paths with their commands, a word a line for long commands, then what is not known."""
    paths = distinct(resolution, builtins=listing.builtins)
    out: list[str] = []
    for number, path in enumerate(paths, 1):
        when = [guard.words for guard in path.conditions]
        head = f"path {number} of {len(paths)}" if len(paths) > 1 else "always"
        out.append(head + (": when " + ", ".join(dict.fromkeys(when)) if when else ""))
        commands = started(path, builtins=listing.builtins)
        if not commands:
            out.append("  (nothing is started)")
        for command in commands:
            out.extend(_command_lines(command, path, listing, masker))
        out.extend(f"  ({line})" for line in _ends_early(path))
        out.extend(_unknowns(commands, masker))
        out.append("")
    if resolution.cut_short:
        out.append("There are more paths than were looked at.")
    return "\n".join(visible_line(line) for line in out).rstrip("\n") + "\n"


def _ends_early(path: Path) -> Iterator[str]:
    """Where a path never gets any further, or is not followed."""
    for note in path.notes:
        if note.kind == "endless" and note.text != "loop":
            yield f"never gets past {note.span}"
        elif note.kind == "given-up":
            yield f"not followed any further: {note.span} starts too much"
    if path.over_budget and not any(note.kind == "given-up" for note in path.notes):
        yield "a loop of many turns is left early: what it changes is not known"


def visible_line(line: str) -> str:
    """A line fit for a terminal."""
    return visible(line)


def _command_lines(command: Command, path: Path, listing: Listing, masker: Masker) -> Iterator[str]:
    begin = command.span.begin
    place = f"{command.span.in_file().source.path}:{begin.line}:{begin.column}"
    own = [guard.words for guard in command.around.guards]
    notes = [f"in {masker.text(command.around.cwd.shown)}"] if command.around.cwd.shown != "${PWD}" else []
    notes += ["in the background"] if command.around.background else []
    notes += ["inside $( )"] if command.around.substitution else []
    notes += ["when " + " and ".join(dict.fromkeys(own))] if own else []
    yield f"  {place}" + (f"  ({'; '.join(notes)})" if notes else "")
    words = [_quoted(word, masker) for word in command.argv]
    line = "    " + " ".join(words)
    if len(line) <= listing.width:
        yield line
    else:
        yield from _wrapped(words)
    for redirect in command.redirects:
        if redirect.operator not in ("<<", "<<-", "<<<"):
            yield f"      {redirect.descriptor}{redirect.operator} {masker.text(redirect.target.shown)}"
    environment: Mapping[str, Text] = command.around.environment if listing.environment else command.prefix
    for name in sorted(environment):
        yield cut(f"      {name}={masker.variable(name, environment[name])}", listing.width)
    for wanted in listing.why:
        for word in command.argv:
            if wanted in word.shown:
                yield from _way(word, masker, listing.width)


def _wrapped(words: list[str]) -> Iterator[str]:
    """A long command: the program and its first words on one line, then a word a line."""
    head = 1
    while head < len(words) and head < 4 and "=" not in words[head] and not words[head].startswith("--"):
        head += 1
    yield "    " + " ".join(words[:head])
    yield from (f"      {word}" for word in words[head:])


def _quoted(word: Text, masker: Masker) -> str:
    """A word as one could type it: quoted where bash needs it, unknowns as `${NAME}`."""
    text = masker.text(word.shown)
    if word.elastic:
        return f"{text}…"
    if text and _BARE.fullmatch(text):
        return text
    if _CONTROL.search(text) is not None:
        escaped = text.replace("\\", "\\\\").replace("'", "\\'")
        return "$'" + _CONTROL.sub(_escaped, escaped) + "'"
    return "'" + text.replace("'", "'\\''") + "'"


def _escaped(found: re.Match[str]) -> str:
    return _ESCAPES.get(found.group(), f"\\x{ord(found.group()):02x}")


def _way(word: Text, masker: Masker, width: int) -> Iterator[str]:
    yield f"      why {masker.text(word.shown)}"
    for part in word.parts:
        shown = part.text if isinstance(part, Literal) else Text((part,)).shown
        reason = part.reason if isinstance(part, Hole) else ""
        free = f"; {part.overridable} may replace it" if isinstance(part, Literal) and part.overridable else ""
        yield cut(f"        {masker.text(shown)}" + (f"  ({reason})" if reason else "") + free, width)
        steps = [Hop(part.span), *part.hops] if part.span is not None else list(part.hops)
        for hop in (*steps, Hop(word.span)):
            if hop.span is not None:
                written = " ".join(masker.text(hop.note or hop.span.text).split())
                yield cut(f"          {hop.span}  {written}", width)


def _unknowns(commands: Sequence[Command], masker: Masker) -> Iterator[str]:
    """The holes of the commands, each once."""
    found: dict[object, Hole] = {}
    for command in commands:
        for word in command.argv:
            for hole in word.holes:
                found.setdefault(hole.key, hole)
    if found:
        yield "  not known before the run:"
        for hole in found.values():
            yield f"    {masker.text(Text((hole,)).shown)}: {hole.reason}"


# ---- for programs


def json_of(resolution: Resolution, masker: Masker, *, builtins: bool = False) -> str:
    """The versioned JSON form of what a launcher would run."""
    return _json({"version": JSON_VERSION, **_resolution_json(resolution, masker, builtins=builtins)})


def json_of_jobs(jobs: Sequence[tuple[str, Resolution]], masker: Masker, *, builtins: bool = False) -> str:
    """The versioned JSON form of what the jobs of a file would run."""
    found = [
        {"name": masker.text(name), **_resolution_json(resolution, masker, builtins=builtins)}
        for name, resolution in jobs
    ]
    return _json({"version": JSON_VERSION, "jobs": found})


def _json(document: dict[str, Any]) -> str:
    return json_text(document)


def _resolution_json(resolution: Resolution, masker: Masker, *, builtins: bool) -> dict[str, Any]:
    paths = [
        {
            "when": [guard.words for guard in path.conditions],
            "commands": [_command_json(command, masker) for command in started(path, builtins=builtins)],
            "exit": path.status,
            "over_budget": path.over_budget,
        }
        for path in distinct(resolution, builtins=builtins)
    ]
    return {"paths": paths, "cut_short": resolution.cut_short}


def _command_json(command: Command, masker: Masker) -> dict[str, Any]:
    begin = command.span.begin
    return {
        "argv": [_word_json(word, masker) for word in command.argv],
        "cwd": _word_json(command.around.cwd, masker),
        "env": {
            name: _variable_json(name, value, masker) for name, value in sorted(command.around.environment.items())
        },
        "at": {"file": command.span.in_file().source.path, "line": begin.line, "column": begin.column},
        "when": [guard.words for guard in command.around.guards],
        "background": command.around.background,
        "complete": not any(word.holes or word.elastic for word in command.argv),
    }


def _variable_json(name: str, value: Text, masker: Masker) -> Any:
    shown = masker.variable(name, value)
    return shown if shown == "****" else _word_json(value, masker)


def _word_json(word: Text, masker: Masker) -> Any:
    holes = [{"name": hole.name, "reason": hole.reason} for hole in word.holes]
    if word.elastic:
        return {"elastic": True, "template": masker.text(word.template), "holes": holes}
    if holes:
        return {"template": masker.text(word.template), "holes": holes}
    return masker.text(word.known or "")
