"""Programs that only start another one: `env`, `nohup`, `timeout`, `srun`, …"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from verlint.lazy import pattern
from verlint.memo import by_identity
from verlint.record import dataclass, field
from verlint.value import Literal, Text

_ASSIGNMENT = pattern(r"[A-Za-z_]\w*=")

WITH_VALUE: Mapping[str, frozenset[str]] = {
    "env": frozenset(["-u", "--unset", "-C", "--chdir", "-S"]),
    "timeout": frozenset(["-k", "--kill-after", "-s", "--signal"]),
    "nice": frozenset(["-n", "--adjustment"]),
    "ionice": frozenset(["-c", "-n", "-p"]),
    "sudo": frozenset(["-u", "-g", "-h", "-p", "-C", "-D", "-r", "-t"]),
    "stdbuf": frozenset(["-i", "-o", "-e"]),
    "taskset": frozenset(["-p"]),
    "numactl": frozenset(),
    "nohup": frozenset(),
    "setsid": frozenset(),
    "time": frozenset(["-o", "-f"]),
    "exec": frozenset(["-a"]),
    "unbuffer": frozenset(),
    "srun": frozenset(
        ["-w", "--nodelist", "-N", "--nodes", "-n", "--ntasks", "-J", "--job-name", "-p", "--partition", "-t", "--time",
         "-o", "--output", "-e", "--error", "-c", "--cpus-per-task", "-A", "--account", "-q", "--qos", "-G", "--gpus",
         "--gres", "-D", "--chdir", "--mem"]
    ),
    "xvfb-run": frozenset(["-n", "-s"]),
    "flock": frozenset(["-w", "--wait", "--timeout", "-E", "--conflict-exit-code"]),
    "nsys": frozenset(
        ["-o", "--output", "-t", "--trace", "-f", "--force-overwrite", "-w", "--show-output", "-c", "--capture-range",
         "-s", "--sample", "-y", "--delay", "-d", "--duration", "-e", "--env-var", "--stats", "--gpu-metrics-devices"]
    ),
    "py-spy": frozenset(["-o", "--output", "-r", "--rate", "-d", "--duration", "-f", "--format"]),
    **dict.fromkeys(
        ("mpirun", "mpiexec"),
        frozenset(
            ["-np", "-n", "-N", "-H", "--host", "-x", "--hostfile", "-hostfile", "--map-by", "--bind-to", "-ppn"]
        ),
    ),
}  # fmt: skip
"""Wrappers and their options that take the next word as value."""

CARRIERS = frozenset(
    ["tmux", "screen", "script", "su", "runuser", "docker", "podman", "nerdctl", "apptainer", "singularity", "kubectl"]
)
"""Programs that run a command in another place: a terminal, a container."""

_OPERANDS = {"timeout": 1, "taskset": 1, "flock": 1, "nsys": 1, "py-spy": 1}
"""Words of their own that stand before the command."""


@dataclass(frozen=True, slots=True)
class Unwrapped:
    """The command inside, the assignments of `env`, and the names of the wrappers, outermost first. `without` are
    the variables that it does not get of those that are exported; `bare` says that it gets none of them."""

    argv: tuple[Text, ...]
    assignments: Mapping[str, Text] = field(default_factory=dict)
    wrappers: tuple[str, ...] = ()
    without: frozenset[str] = frozenset()
    bare: bool = False


def program_name(word: Text) -> str:
    """Name of a program without its folder, "" when it is not known. The folder need not be (`$ENV/bin/python`)."""
    known = word.known
    if known is None:
        known = ""
        for part in reversed(word.parts):
            if not isinstance(part, Literal):
                break
            known = part.text + known
        known = known if "/" in known else ""
    return known.rsplit("/", 1)[-1]


def unwrap_one(argv: Sequence[Text]) -> Unwrapped | None:
    """What the outermost wrapper starts, or None when the command is no wrapper."""
    name = program_name(argv[0]) if argv else ""
    if name not in WITH_VALUE:
        return None
    options = WITH_VALUE[name]
    operands = _OPERANDS.get(name, 0)
    assignments: dict[str, Text] = {}
    without: set[str] = set()
    bare = False
    at = 1
    while at < len(argv):
        text = argv[at].known
        if text is None:
            prefix = argv[at].prefix
            if name in ("env", "sudo") and _ASSIGNMENT.match(prefix):
                _assign(assignments, argv[at])
                at += 1
                continue
            if prefix.startswith("-") and "=" in prefix:
                at += 1
                continue
            break
        if text == "--":
            at += 1
            break
        if name == "env" and text in ("-", "-i", "--ignore-environment"):
            bare = True
            at += 1
        elif name == "env" and (removed := _removed(argv, at)):
            without.add(removed)
            at += 2 if text in options else 1
        elif text in options:
            at += 2
        elif text.startswith("-") and len(text) > 1:
            at += 1
        elif name in ("env", "sudo") and _ASSIGNMENT.match(text):
            _assign(assignments, argv[at])
            at += 1
        elif operands:
            operands -= 1
            at += 1
        else:
            break
    return Unwrapped(tuple(argv[at:]), assignments, (name,), frozenset(without), bare)


def _removed(argv: Sequence[Text], at: int) -> str:
    """The variable that an option of `env` takes away, "" for other options."""
    text = argv[at].known or ""
    if text in ("-u", "--unset"):
        return (argv[at + 1].known or "") if at + 1 < len(argv) else ""
    return text[2:] if text.startswith("-u") else text.removeprefix("--unset=") if text.startswith("--unset=") else ""


def _assign(assignments: dict[str, Text], word: Text) -> None:
    at = word.prefix.index("=")
    assignments[word.prefix[:at]] = word.slice(
        at + 1, sum(len(p.text) if hasattr(p, "text") else 1 for p in word.parts)
    )


@by_identity
def unwrap(argv: Sequence[Text]) -> Unwrapped:
    """The command inside all wrappers; the given words when there is none."""
    current = Unwrapped(tuple(argv))
    for _ in range(8):
        inner = unwrap_one(current.argv)
        if inner is None or not inner.argv:
            return current
        given = {} if inner.bare else {k: v for k, v in current.assignments.items() if k not in inner.without}
        current = Unwrapped(
            inner.argv,
            {**given, **inner.assignments},
            (*current.wrappers, *inner.wrappers),
            current.without.difference(inner.assignments) | inner.without,
            current.bare or inner.bare,
        )
    return current


OPTION_LETTERS = {
    "errexit": "e",
    "nounset": "u",
    "noglob": "f",
    "xtrace": "x",
    "allexport": "a",
    "verbose": "v",
    "noexec": "n",
    "errtrace": "E",
    "functrace": "T",
    "monitor": "m",
    "noclobber": "C",
    "notify": "b",
    "physical": "P",
}
"""Names of `set -o` and the letters that stand for them; `pipefail` has none."""

SHELLS = frozenset(["bash", "sh", "dash", "zsh", "ksh"])
_SHELL_VALUES = frozenset(["--rcfile", "--init-file"])


@dataclass(frozen=True)
class ShellCall:
    """How a shell is started: `options` (an option with a name as `-o NAME`), whether its first operand is a string of
    commands, and where the operands begin."""

    options: tuple[str, ...]
    string: bool
    operands: int


def shell_call(argv: Sequence[Text]) -> ShellCall:
    """The options of `bash …`: all of them come first, and each `o` in a cluster takes a word (`-euo pipefail`)."""
    options: list[str] = []
    string = False
    at = 1
    while at < len(argv):
        text = argv[at].known
        if text is None or not text.startswith(("-", "+")):
            break
        at += 1
        if text in ("-", "--"):
            break
        if text.startswith("--"):
            at += text in _SHELL_VALUES
            continue
        string = string or (text[0] == "-" and "c" in text)
        if rest := text[1:].replace("c", "").replace("o", ""):
            options.append(text[0] + rest)
        for _ in range(text.count("o")):
            if at < len(argv):
                options.append(f"{text[0]}o {argv[at].known or ''}")
                at += 1
    return ShellCall(tuple(options), string, at)
