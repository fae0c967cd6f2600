"""`#SBATCH` lines: what a batch script asks Slurm for.

Source: sbatch(1). Lines count up to the first command; the last one of an option wins. An option on the command line of
`sbatch` takes the place of the one in the script."""

from __future__ import annotations

import re

from verlint.languages.amounts import Amount
from verlint.lazy import pattern
from verlint.record import dataclass
from verlint.source import Source, Span

_LINE = pattern(r"^#SBATCH(?=[ \t])([^\n]*)", re.MULTILINE)
_COMMAND = pattern(r"^[ \t]*[^\s#]", re.MULTILINE)
_WORD = pattern(r"(?:\"[^\"\n]*\"|'[^'\n]*'|[^\s\"'])+")
_SHORT = {
    "N": "nodes", "n": "ntasks", "c": "cpus-per-task", "G": "gpus", "J": "job-name", "o": "output", "e": "error",
    "t": "time", "p": "partition", "D": "chdir", "A": "account", "q": "qos", "w": "nodelist", "x": "exclude",
    "d": "dependency", "a": "array", "C": "constraint", "b": "begin", "M": "clusters", "B": "extra-node-info",
}  # fmt: skip
_FLAGS = frozenset(
    ["exclusive", "requeue", "no-requeue", "overcommit", "oversubscribe", "contiguous", "hold", "wait", "verbose",
     "quiet", "parsable", "spread-job", "use-min-nodes", "ignore-pbs", "H", "s", "O", "W", "v", "Q"]
)  # fmt: skip
"""Options without a value."""
_GRES = pattern(r"(?:^|,)gpu(?::[\w.-]+?)??(?::(\d+))?(?=,|$|\()")
_TYPED = pattern(r"(?:[\w.-]+:)?(\d+)")


@dataclass(frozen=True, slots=True)
class Directive:
    """One option: its long name without dashes, its value ("" for a flag), the place of the option and of the value."""

    name: str
    value: str
    span: Span
    value_span: Span


@dataclass(frozen=True, slots=True)
class Scheduler:
    """The options of a batch script, in order."""

    directives: tuple[Directive, ...]

    def get(self, name: str) -> Directive | None:
        """The option of a long name that counts: the last one."""
        return next((each for each in reversed(self.directives) if each.name == name), None)

    def value(self, name: str) -> str:
        """The value of an option, "" without it."""
        found = self.get(name)
        return found.value if found is not None else ""

    def amount(self, name: str) -> Amount | None:
        """The value of an option that is a whole number; None for ranges (`2-4`)."""
        found = self.get(name)
        if found is None or not found.value.isdigit() or len(found.value) > 8:
            return None
        return Amount(int(found.value), found.value_span)

    @property
    def nodes(self) -> Amount | None:
        """The number of nodes, as far as it is written."""
        return self.amount("nodes")

    @property
    def gpus(self) -> Amount | None:
        """The number of GPUs of a node: by `--gpus-per-node`, `--gres`, `--gpus-per-task` or `--gpus`."""
        for name, counted in (("gpus-per-node", _TYPED.fullmatch), ("gres", _GRES.search)):
            found = self.get(name)
            if found is not None and (match := counted(found.value)) is not None:
                return Amount(int(match[1] or 1), found.value_span)
        for name, by in (("gpus-per-task", "ntasks-per-node"), ("gpus", "nodes")):
            found, other = self.get(name), self.amount(by)
            match = _TYPED.fullmatch(found.value) if found is not None else None
            if found is None or match is None or other is None:
                continue
            total = int(match[1])
            if name == "gpus-per-task":
                return Amount(total * other.number, found.value_span)
            if other.number and total % other.number == 0:
                return Amount(total // other.number, found.value_span)
        return None


def scheduler_of(source: Source) -> Scheduler | None:
    """What the script asks for, None without an `#SBATCH` line before its first command."""
    if "#SBATCH" not in source.text:
        return None
    first = _COMMAND.search(source.text)
    end = first.start() if first is not None else len(source.text)
    found = [each for line in _LINE.finditer(source.text, 0, end) for each in _directives(source, *line.span(1))]
    return Scheduler(tuple(found)) if found else None


def _directives(source: Source, start: int, end: int) -> list[Directive]:
    """The options of one line; what stands behind a `#` is for people."""
    out: list[Directive] = []
    words = [(found.start(), found.group()) for found in _WORD.finditer(source.text, start, end)]
    at = 0
    while at < len(words):
        place, word = words[at]
        at += 1
        if word.startswith("#"):
            break
        name, equals, value = word.partition("=")
        if name.startswith("--"):
            name = name[2:]
        elif name.startswith("-") and len(word) > 1:
            name, value = _SHORT.get(word[1], word[1]), word[2:].removeprefix("=")
            equals = value
        else:
            continue
        end_of_option = place + len(word)
        value_place = end_of_option - len(value)
        if not equals and name not in _FLAGS and at < len(words) and not words[at][1].startswith(("-", "#")):
            value_place, value = words[at]
            end_of_option = value_place + len(value)
            at += 1
        bare = value[1:-1] if value[:1] in ("'", '"') and value[-1:] == value[:1] else value
        value_place += (len(value) - len(bare)) // 2
        value_span = source.span(value_place, value_place + len(bare))
        out.append(Directive(name, bare, source.span(place, end_of_option), value_span))
    return out
