"""`#SBATCH` lines: what a batch script asks Slurm for.

Source: sbatch(1). Lines count up to the first command; the last one of an option wins. An option on the command line of
`sbatch` takes the place of the one in the script."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from verlint.languages.amounts import Amount
from verlint.languages.bash.handing_on import Export, export_list
from verlint.languages.bash.pieces import Parts
from verlint.lazy import pattern
from verlint.record import dataclass, field
from verlint.source import Source, Span
from verlint.value import Hole, Hop, Literal, Text, literal

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
_VARIABLES = {
    "SLURM_NNODES": "nodes",
    "SLURM_JOB_NUM_NODES": "nodes",
    "SLURM_NTASKS": "ntasks",
    "SLURM_NTASKS_PER_NODE": "ntasks-per-node",
    "SLURM_CPUS_PER_TASK": "cpus-per-task",
    "SLURM_GPUS_PER_NODE": "gpus-per-node",
    "SLURM_GPUS_ON_NODE": "gpus-per-node",
}
"""Variables of a job, with the option that decides each."""
SUBMIT_FOLDER = "SLURM_SUBMIT_DIR"
_GRES = pattern(r"(?:^|,)gpu(?::[\w.-]+?)??(?::(\d{1,9}))?(?=,|$|\()")
_TYPED = pattern(r"(?:[\w.-]+:)?(\d{1,9})")


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

    @property
    def folder(self) -> Text | None:
        """The folder that `--chdir` names: as it stands, since Slurm expands nothing."""
        found = self.get("chdir")
        return None if found is None or not found.value else literal(found.value, found.value_span)

    @property
    def export(self) -> Export | None:
        """What `--export` lets through, None without."""
        found = self.get("export")
        return None if found is None or not found.value else export_list(literal(found.value, found.value_span))

    @property
    def exported(self) -> dict[str, Text]:
        """The variables that `--export` gives a value, and the one that keeps its list."""
        found, export = self.get("export"), self.export
        if found is None or export is None:
            return {}
        return {**told_by(literal(found.value, found.value_span)), **export.given}

    def environment(self, start: str | None = None) -> dict[str, Text]:
        """The variables in which Slurm tells a script what it asked for. `sbatch` may be told otherwise. `start` is the
        folder below the root that the script starts in, None for one outside."""
        found: dict[str, Text] = {}
        if start is not None and self.folder is None:
            found[SUBMIT_FOLDER] = submit_folder((Hole(("cwd", start), SUBMIT_FOLDER, ""),))
        for name, option in _VARIABLES.items():
            amount = self.gpus if name == "SLURM_GPUS_ON_NODE" else self.amount(option)
            if amount is not None:
                hops = (Hop(amount.span, f"{name}={amount.number}"),)
                found[name] = Text((Literal(str(amount.number), amount.span, hops, f"sbatch --{option}"),))
        if start is not None:
            found.update(self.exported)
        return found


def submit_folder(called_in: Parts) -> Text:
    """`SLURM_SUBMIT_DIR`, which is the folder that `sbatch` is called in."""
    first = called_in[0] if called_in else None
    if isinstance(first, Hole) and isinstance(first.key, tuple) and first.key[0] == "cwd":
        return Text((Hole(first.key, SUBMIT_FOLDER, "folder that sbatch is called in"), *called_in[1:]))
    return Text(called_in)


def scheduler_of(source: Source) -> Scheduler | None:
    """What the script asks for, None without an `#SBATCH` line before its first command."""
    if "#SBATCH" not in source.text:
        return None
    first = _COMMAND.search(source.text)
    end = first.start() if first is not None else len(source.text)
    found = [each for line in _LINE.finditer(source.text, 0, end) for each in _directives(source, *line.span(1))]
    return Scheduler(tuple(found)) if found else None


def late_lines(source: Source) -> tuple[Span, list[Span]] | None:
    """The first command of a script, and the `#SBATCH` lines behind it, which Slurm takes for comments. None without
    such lines."""
    first = _COMMAND.search(source.text) if "#SBATCH" in source.text else None
    if first is None:
        return None
    late = [source.span(line.start(), line.end()) for line in _LINE.finditer(source.text, first.start())]
    end = source.text.find("\n", first.start())
    return (source.span(first.start(), end if end > 0 else len(source.text)), late) if late else None


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


@dataclass(frozen=True, slots=True)
class BatchCall:
    """A call of `sbatch`: the words of the script and its arguments (none for a string, `--wrap`), that string, the
    variables that `--export` sets, the long names of the options given, the folder of `--chdir`, what `--dependency`
    says, what `--export` lets through, and the variable in which the job is told of that."""

    words: tuple[Text, ...]
    wrapped: Text | None
    exported: dict[str, Text]
    options: frozenset[str]
    chdir: Text | None = None
    dependency: Text | None = None
    export: Export | None = None
    told: Mapping[str, Text] = field(default_factory=dict)

    def export_of(self, source: Source) -> Export | None:
        """What `--export` lets through, of the call or of the script; None for everything."""
        scheduler = scheduler_of(source) if self.export is None else None
        return self.export if scheduler is None else scheduler.export

    def folder(self, source: Source) -> Text | None:
        """The folder that the script is started in, None for the one that `sbatch` is called in."""
        scheduler = scheduler_of(source) if self.chdir is None else None
        return self.chdir if scheduler is None else scheduler.folder

    def environment(self, source: Source, called_in: Parts) -> dict[str, Text]:
        """The variables of the script, as far as the call leaves them to its header; `called_in` is the folder that
        `sbatch` is called in."""
        scheduler = scheduler_of(source)
        own = {} if scheduler is None else scheduler.environment()
        gpus = {"gpus", "gres", "gpus-per-node", "gpus-per-task"}
        changed = self.options | ({"gpus-per-node"} if self.options & gpus else frozenset())
        found = {name: text for name, text in own.items() if _VARIABLES.get(name) not in changed}
        if self.folder(source) is None:
            found[SUBMIT_FOLDER] = submit_folder(called_in)
        own_export = {} if self.export is not None or scheduler is None else scheduler.exported
        return {**found, **own_export, **self.told, **self.exported}


def batch_call(argv: Sequence[Text]) -> BatchCall:
    """The parts of a call of `sbatch`."""
    names: set[str] = set()
    exported: dict[str, Text] = {}
    wrapped: Text | None = None
    folder: Text | None = None
    dependency: Text | None = None
    export: Export | None = None
    told: dict[str, Text] = {}
    at = 1
    while at < len(argv):
        text = argv[at].known or argv[at].prefix
        if not text.startswith("-"):
            break
        name, equals, _ = text.partition("=")
        long = name.startswith("--")
        option = name[2:] if long else _SHORT.get(text[1:2], text[1:2])
        names.add(option)
        given = argv[at].slice(len(name) + 1, 1_000_000) if long and equals else None
        if given is None and option not in _FLAGS and (long or len(text) == 2) and at + 1 < len(argv):
            at += 1
            given = argv[at]
        if option == "wrap":
            wrapped = given
        elif option == "export" and given is not None:
            export = export_list(given)
            exported, told = dict(export.given), told_by(given)
        elif option == "chdir":
            folder = given
        elif option == "dependency":
            dependency = given
        at += 1
    words = tuple(argv[at:]) if wrapped is None else ()
    return BatchCall(words, wrapped, exported, frozenset(names), folder, dependency, export, told)


def told_by(given: Text) -> dict[str, Text]:
    """The variable in which Slurm keeps the list of `--export`, by which `srun` in the job goes in its turn."""
    return {} if given.known is not None and given.known.upper() == "ALL" else {"SLURM_EXPORT_ENV": given}
