"""Holding the interpreter against bash: one call, resolved by both, and the first thing they do not agree on.

Known characters must be equal; a hole stands for any characters, an elastic word for any number of words. What runs in
the background or beside others in a pipeline may be recorded early or late; everything else must come in order.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from oracle.sandbox import ENVIRONMENT, MAX_COPIED, MOUNT, Job, Outcome, Record
from verlint.languages.bash.command import Command
from verlint.languages.bash.replay import Entry, Path, Resolution, explore
from verlint.languages.bash.wrappers import unwrap
from verlint.source import Source
from verlint.value import Literal, Text

_IGNORED = frozenset(["PWD", "OLDPWD", "SHLVL", "_"])


class Checkout:
    """The files of a job as the interpreter asks for them."""

    def __init__(self, job: Job) -> None:
        self._folder = job.folder
        self._texts = {posixpath.normpath(name): text for name, text in job.texts.items()}
        self._sources: dict[str, Source] = {}

    def _on_disk(self, path: str) -> str:
        return "" if self._folder is None else os.path.join(self._folder, path)  # "" names no file

    def exists(self, path: str) -> bool:
        return path in self._texts or self.is_dir(path) or os.path.lexists(self._on_disk(path))

    def is_dir(self, path: str) -> bool:
        start = f"{path}/" if path else ""
        return any(each.startswith(start) for each in self._texts) or os.path.isdir(self._on_disk(path))

    def is_executable(self, path: str) -> bool:
        if path in self._texts:
            return self._texts[path].startswith("#!")
        return os.access(self._on_disk(path), os.X_OK)

    def listing(self, path: str) -> list[str]:
        start = f"{path}/" if path else ""
        names = {each[len(start) :].split("/")[0] for each in self._texts if each.startswith(start)}
        if os.path.isdir(self._on_disk(path)):
            names.update(os.listdir(self._on_disk(path)))
        return sorted(names)

    def source(self, path: str) -> Source | None:
        if path not in self._sources:
            text = self._texts.get(path)
            full = self._on_disk(path)
            if text is None and os.path.isfile(full):
                small = os.path.getsize(full) <= MAX_COPIED
                with open(full, encoding="utf-8", errors="surrogateescape", newline="") as file:
                    text = file.read() if small else "\n"
            if text is None:
                return None
            self._sources[path] = Source(path, text)
        return self._sources[path]


def resolve(job: Job) -> Resolution:
    """What the interpreter makes of a job."""
    checkout = Checkout(job)
    script = posixpath.normpath(posixpath.join(job.start, job.script))
    source = checkout.source(script)
    if source is None:
        raise FileNotFoundError(script)
    entry = Entry(
        start=job.start,
        name=job.script,
        arguments=list(job.arguments),
        environment={**ENVIRONMENT, **job.environment},
        mount=MOUNT,
        closed=True,
    )
    return explore([source], checkout, entry)


def with_assumed(job: Job, resolution: Resolution) -> Job:
    """The job with the files made up that its commands need to go on: programs that are called by path, files that are
    sourced or run and are not there, and folders outside the checkout, or cloned into it, that it works or writes in."""
    programs: set[str] = set()
    folders: set[str] = set()
    for path in resolution.paths:
        cloned = False
        for command in path.commands:
            cwd = command.around.cwd.known or MOUNT
            for redirect in command.redirects:
                target = redirect.target.known
                if target and ">" in redirect.operator and target.startswith("/") and not target.startswith(MOUNT):
                    folders.add(posixpath.dirname(target))
            argv = unwrap(command.argv).argv
            name = argv[0].known if argv else None
            cloned = cloned or [word.known for word in argv[:2]] == ["git", "clone"]
            if cloned or not cwd.startswith(MOUNT):
                folders.add(cwd)
            if name in ("cd", "pushd") and len(argv) > 1:
                target = argv[-1].known or ""
                if target.startswith("/") and not target.startswith(MOUNT):
                    folders.add(target)
            elif name and "/" in name and not command.function:
                programs.add(posixpath.join(cwd, name))
            elif name in ("bash", "sh", "source", ".") and (script := _script(argv)):
                programs.add(posixpath.join(cwd, script))
    return replace(job, programs=frozenset(programs), folders=frozenset(folders))


def _script(argv: Sequence[Text]) -> str:
    for word in argv[1:]:
        text = word.known
        if text is None or (text.startswith("-") and "c" in text):
            return ""
        if not text.startswith(("-", "+")):
            return text
    return ""


# ---- comparing


@dataclass(frozen=True)
class Difference:
    """What bash does not agree to: `about` names it; `ours` and `bash` are what each has."""

    about: str
    ours: str
    bash: str
    agreed: int = 0
    """How many records agreed before."""

    def __str__(self) -> str:
        return f"{self.about}\n  ours: {self.ours}\n  bash: {self.bash}"


def compare(job: Job, resolution: Resolution, outcome: Outcome, *, first_path: bool = False) -> Difference | None:
    """The difference on the path that agrees longest, None when some path (with `first_path`: the first) agrees."""
    given = {**ENVIRONMENT, **job.environment}
    best: Difference | None = None
    for path in resolution.paths[: 1 if first_path else None]:
        difference = _compare_path(path, outcome, given)
        if difference is None:
            return None
        if best is None or difference.agreed > best.agreed:
            best = difference
    return best


def _compare_path(path: Path, outcome: Outcome, given: Mapping[str, str]) -> Difference | None:
    ours = [command for command in path.commands if not command.builtin and not command.function]
    difference = _in_order(ours, outcome, given) and _interleaved(ours, outcome, given)
    if difference is not None:
        return difference
    if outcome.timed_out != path.over_budget and outcome.timed_out != _endless(path):
        return Difference(
            "the end", "never" if path.over_budget else "ends", "never" if outcome.timed_out else "ends", len(ours)
        )
    if not outcome.timed_out and path.status is not None and not path.over_budget and path.status != outcome.status:
        return Difference("exit status", str(path.status), str(outcome.status), len(ours))
    return None


def _endless(path: Path) -> bool:
    return any(note.kind == "endless" for note in path.notes)


def _in_order(ours: Sequence[Command], outcome: Outcome, given: Mapping[str, str]) -> Difference | None:
    records = outcome.records
    for number, (command, record) in enumerate(zip(ours, records, strict=False)):
        difference = _compare_command(command, record, given)
        if difference is not None:
            return replace(difference, agreed=number)
    agreed = min(len(ours), len(records))
    if len(ours) == len(records) or outcome.timed_out:
        return None
    return Difference(
        f"the command after {agreed}",
        _shown(ours[agreed]) if len(ours) > agreed else "nothing",
        repr(records[agreed].argv) if len(records) > agreed else "nothing",
        agreed,
    )


def _interleaved(ours: Sequence[Command], outcome: Outcome, given: Mapping[str, str]) -> Difference | None:
    """The first record that none of the commands that may come next can be."""
    left = list(ours)
    for number, record in enumerate(outcome.records):
        possible = list(_next(left))
        fitting = [each for each in possible if _compare_command(each, record, given) is None]
        if fitting:
            surest = next((each for each in fitting if all(word.known is not None for word in each.argv)), fitting[0])
            left = [each for each in left if each is not surest]
        elif not possible:
            return None if outcome.timed_out else Difference("a command", "nothing", repr(record.argv), number)
        else:
            difference = _compare_command(possible[0], record, given)
            assert difference is not None
            return replace(difference, agreed=number)
    if left and not outcome.timed_out:
        return Difference("a command", _shown(left[0]), "nothing", len(outcome.records))
    return None


def _next(left: Sequence[Command]) -> Iterator[Command]:
    """The commands that may come next: those in the background always, one of a pipeline when only its partners (with
    what they call) stand before it, others when nothing of their level does."""
    for number, command in enumerate(left):
        depth = len(command.around.stack)
        before = [each for each in left[:number] if not each.around.background]
        if command.around.background:
            yield command
        elif command.pipe[1] > 1:
            if all(each.pipe[1] > 1 or len(each.around.stack) > depth for each in before):
                yield command
        elif all(each.pipe[1] > 1 and len(each.around.stack) < depth for each in before):
            yield command


def _compare_command(command: Command, record: Record, given: Mapping[str, str]) -> Difference | None:
    if not fits(command.argv, record.argv):
        return Difference("argv", _shown(command), repr(record.argv))
    if not _fits(command.around.cwd, record.cwd):
        return Difference(f"working directory of {record.argv[0]}", command.around.cwd.shown, record.cwd)
    return _compare_environment(command, record, given)


def _compare_environment(command: Command, record: Record, given: Mapping[str, str]) -> Difference | None:
    ours = {name: text for name, text in command.around.environment.items() if name not in _IGNORED}
    theirs = {name: record.environment.get(name, given.get(name)) for name in {**given, **record.environment}}
    for name in sorted(ours.keys() | theirs.keys()):
        text, value = ours.get(name), theirs.get(name)
        if (text is None) != (value is None) or (text is not None and value is not None and not _fits(text, value)):
            shown = "not exported" if text is None else text.shown
            return Difference(f"{name} in the environment of {record.argv}", shown, str(value))
    return None


def fits(words: Sequence[Text], argv: Sequence[str]) -> bool:
    """Whether words with holes may be these arguments."""
    reached = {0}
    for word in words:
        if not reached:
            return False
        if word.elastic:
            reached = set(range(min(reached), len(argv) + 1))
        else:
            reached = {at + 1 for at in reached if at < len(argv) and _fits(word, argv[at])}
    return len(argv) in reached


def _fits(text: Text, value: str) -> bool:
    if (known := text.known) is not None:
        return known == value
    pattern = "".join(re.escape(each.text) if isinstance(each, Literal) else ".*" for each in text.parts)
    if pattern.endswith(".*"):  # the output of a command loses its last line ends, which an empty hole may follow
        pattern = re.sub(r"(?:\\\n)+(?:\.\*)+$", r"(?:\\n.*)?", pattern)
    return re.fullmatch(pattern, value, re.S) is not None


def _shown(command: Command) -> str:
    return repr(tuple(word.shown + (" (any number)" if word.elastic else "") for word in command.argv))


def places(ours: Iterable[Command], outcome: Outcome) -> list[tuple[str, str]]:
    """Where the commands of an agreeing path stand: our lines and bash's, of those that differ."""
    out: list[tuple[str, str]] = []
    for command, record in zip(ours, outcome.records, strict=False):
        file, _, line = record.place.rpartition(":")
        here = command.span.in_file()
        if line and posixpath.basename(file) == posixpath.basename(here.source.path):
            begin, finish = command.span.begin.line, command.span.finish.line
            if not begin <= int(line) <= finish:
                out.append((f"{here.source.path}:{begin}-{finish}", record.place))
    return out
