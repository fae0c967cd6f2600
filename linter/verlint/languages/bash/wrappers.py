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
    "sudo": frozenset(
        ["-u", "--user", "-g", "--group", "-h", "--host", "-p", "--prompt", "-C", "--close-from", "-D", "--chdir", "-r",
         "--role", "-t", "--type", "-T", "--command-timeout", "-R", "--chroot"]
    ),
    "stdbuf": frozenset(["-i", "-o", "-e"]),
    "taskset": frozenset(["-p"]),
    "numactl": frozenset(
        ["-i", "--interleave", "-m", "--membind", "-N", "--cpunodebind", "-C", "--physcpubind", "-p", "--preferred",
         "-P", "--preferred-many", "-w", "--weighted-interleave"]
    ),
    "nohup": frozenset(),
    "cgexec": frozenset(["-g"]),
    "chpst": frozenset(["-u", "-U", "-e", "-/", "-n", "-l", "-L", "-m", "-d", "-o", "-p", "-f", "-c", "-r", "-t"]),
    "setpriv": frozenset(
        ["--reuid", "--regid", "--groups", "--ambient-caps", "--inh-caps", "--bounding-set", "--securebits",
         "--pdeathsig"]
    ),
    "choom": frozenset(["-n", "--adjust"]),
    "setarch": frozenset(),
    "retry": frozenset(["-t", "--times", "-d", "--delay", "-m", "--min"]),
    "chronic": frozenset(),
    "eatmydata": frozenset(),
    "run-one": frozenset(),
    "busybox": frozenset(),
    "dbus-run-session": frozenset(["--config-file", "--dbus-daemon"]),
    "systemd-inhibit": frozenset(["--what", "--who", "--why", "--mode"]),
    "systemd-cat": frozenset(["-t", "--identifier", "-p", "--priority"]),
    "jsrun": frozenset(
        ["-n", "--nrs", "-a", "--tasks_per_rs", "-c", "--cpu_per_rs", "-g", "--gpu_per_rs", "-r", "--rs_per_host", "-d",
         "--launch_distribution", "-b", "--bind", "-p", "--np", "-l", "-M", "--smpiargs", "-o", "--stdio_stdout"]
    ),
    "aprun": frozenset(["-n", "-N", "-d", "-S", "-j", "-cc", "-L"]),
    "ibrun": frozenset(["-n", "-o", "-np"]),
    "ltrace": frozenset(["-o", "-e", "-s", "-u", "-a", "-l", "-n", "-p", "-x", "-F", "-A", "-D"]),
    "heaptrack": frozenset(["-o", "--output", "-p", "--pid"]),
    "valgrind": frozenset(),
    "proxychains": frozenset(["-f"]),
    "proxychains4": frozenset(["-f"]),
    "firejail": frozenset(),
    "likwid-perfctr": frozenset(["-C", "-c", "-g", "-o", "-t", "-T", "-M"]),
    "setsid": frozenset(),
    "chrt": frozenset(["-T", "-P", "-D"]),
    "prlimit": frozenset(),
    "doas": frozenset(["-u", "-C"]),
    "gosu": frozenset(),
    "su-exec": frozenset(),
    "dumb-init": frozenset(),
    "tini": frozenset(["-p", "-e"]),
    "caffeinate": frozenset(["-t", "-w"]),
    "catchsegv": frozenset(),
    "sshpass": frozenset(["-f", "-d", "-p", "-P"]),
    "strace": frozenset(["-o", "-e", "-E", "-s", "-u", "-a", "-b", "-I", "-O", "-P", "-S", "-U", "-X"]),
    "perf": frozenset(["-o", "-e", "-F", "-c", "-C", "-p", "-t", "--call-graph", "-m", "-D"]),
    "ncu": frozenset(
        ["-o", "--export", "--set", "--section", "--metrics", "-k", "--kernel-name", "-c", "--launch-count", "-s",
         "--launch-skip", "--target-processes", "--profile-from-start", "--nvtx-include", "--nvtx-exclude",
         "--replay-mode", "--cache-control", "--clock-control", "--log-file", "--devices", "--graph-profiling"]
    ),
    "compute-sanitizer": frozenset(["--tool", "--log-file", "--save", "--target-processes", "--kernel-regex"]),
    "time": frozenset(["-o", "-f"]),
    "exec": frozenset(["-a"]),
    "unbuffer": frozenset(),
    **dict.fromkeys(
        ("srun", "salloc"),
        frozenset(
            ["-w", "--nodelist", "-N", "--nodes", "-n", "--ntasks", "-J", "--job-name", "-p", "--partition", "-t",
             "--time", "-o", "--output", "-e", "--error", "-c", "--cpus-per-task", "-A", "--account", "-q", "--qos",
             "-G", "--gpus", "--gres", "-D", "--chdir", "--mem", "-C", "--constraint", "-d", "--dependency", "-i",
             "--input", "-m", "--distribution", "-r", "--relative", "-x", "--exclude", "-L", "--licenses", "-S",
             "--core-spec", "-T", "--threads", "-F", "--nodefile", "--jobid", "--mpi", "--export", "--cpu-bind",
             "--gpu-bind", "--ntasks-per-node", "--ntasks-per-gpu", "--gpus-per-node", "--gpus-per-task",
             "--cpus-per-gpu", "--mem-per-cpu", "--mem-per-gpu", "--het-group", "--reservation", "--signal",
             "--comment", "--container-image", "--container-mounts", "--container-name", "--container-workdir",
             "--container-env", "--container-save"]
        ),
    ),
    "xvfb-run": frozenset(["-n", "-s"]),
    "flock": frozenset(["-w", "--wait", "--timeout", "-E", "--conflict-exit-code"]),
    "nsys": frozenset(
        ["-o", "--output", "-t", "--trace", "-f", "--force-overwrite", "-w", "--show-output", "-c", "--capture-range",
         "-s", "--sample", "-y", "--delay", "-d", "--duration", "-e", "--env-var", "--stats", "--gpu-metrics-devices"]
    ),
    "py-spy": frozenset(["-o", "--output", "-r", "--rate", "-d", "--duration", "-f", "--format"]),
    **dict.fromkeys(
        ("mpirun", "mpiexec", "orterun", "mpirun.openmpi", "mpiexec.hydra", "horovodrun"),
        frozenset(
            ["-np", "-n", "-N", "-H", "--host", "-host", "-hosts", "-x", "--hostfile", "-hostfile", "--machinefile",
             "-machinefile", "-f", "--map-by", "-map-by", "--bind-to", "-bind-to", "-ppn", "-npernode", "--npernode",
             "--rank-by", "-wdir", "--wdir", "-genvlist", "-iface", "--prefix", "-p", "--np", "--num-proc"]
        ),
    ),
}  # fmt: skip
"""Wrappers and their options that take the next word as value."""

_TWO_VALUES = frozenset(["--mca", "-mca", "--gmca", "-gmca", "-genv", "-env", "--genv"])
"""Options of the programs of MPI that take two words."""

RUNNERS: Mapping[str, frozenset[str]] = {
    "uv": frozenset(
        ["--with", "--with-editable", "--with-requirements", "--extra", "--no-extra", "--group", "--no-group",
         "--only-group", "--python", "-p", "--project", "--directory", "--env-file", "--package", "--index",
         "--index-url", "-i", "--cache-dir", "--config-file"]
    ),
    "uvx": frozenset(
        ["--from", "--with", "--with-editable", "--python", "-p", "--index", "--index-url", "-i", "--env-file"]
    ),
    "conda": frozenset(["-n", "--name", "-p", "--prefix", "--cwd"]),
    "mamba": frozenset(["-n", "--name", "-p", "--prefix", "--cwd"]),
    "micromamba": frozenset(["-n", "--name", "-p", "--prefix", "--cwd", "-e", "--env", "-a", "--attach"]),
    "poetry": frozenset(["-C", "--directory", "-P", "--project"]),
    "pixi": frozenset(["-e", "--environment", "--manifest-path"]),
    "pdm": frozenset(["-p", "--project", "--venv"]),
    "hatch": frozenset(["-e", "--env", "-p", "--project"]),
    "pipenv": frozenset(["--python"]),
    "rye": frozenset(["-p", "--pyproject"]),
}  # fmt: skip
"""Programs that run another one in an environment of Python packages, with their options that take the next word.
Source: their own `--help`."""

CONTAINERS: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(
        ("apptainer", "singularity"),
        frozenset(["--bind", "-B", "--env", "--pwd", "--home", "-H", "--overlay", "-o", "--workdir", "-W", "--app"]),
    ),
    **dict.fromkeys(
        ("docker", "podman", "nerdctl"),
        frozenset(
            [
                *("-v", "--volume", "--mount", "-e", "--env", "--env-file", "--name", "--gpus", "--network", "--net"),
                *("--ipc", "--shm-size", "-w", "--workdir", "-u", "--user", "--ulimit", "--device", "--cap-add", "-p"),
                *("--publish", "--entrypoint", "--runtime", "--memory", "-m", "--cpus", "-h", "--hostname", "--pid"),
                *("--label", "-l", "--restart", "--security-opt", "--platform", "--pull", "--add-host"),
            ]
        ),
    ),
}
"""Programs that run a command in a container, with their options that take the next word."""

CARRIERS = frozenset(
    ["tmux", "byobu", "screen", "script", "su", "runuser", "kubectl", "oc", "docker-compose", "enroot", "ssh",
     "autossh", "pdsh", "clush", "gcloud", "pueue", "bsub", "flock", "tsp", "ts", "xargs", "parallel", "sem",
     "systemd-run", "watch", "at", "batch", "qsub", "flux", "oarsub", "sg", "newgrp", "nix-shell", "find", "sky",
     *CONTAINERS, *RUNNERS]
)  # fmt: skip
"""Programs that run a command in another place, or once for each of several: a terminal, a container, another host."""

_OPERANDS = {
    "timeout": 1, "taskset": 1, "flock": 1, "nsys": 1, "py-spy": 1, "chrt": 1, "gosu": 1, "su-exec": 1, "perf": 1,
    "setarch": 1,
}  # fmt: skip
"""Words of their own that stand before the command."""

_STARTED = frozenset(["torchrun", "accelerate", "deepspeed", "ray", "bash", "sh", "zsh"])


@dataclass(frozen=True, slots=True)
class Unwrapped:
    """The command inside, the assignments of `env`, and the names of the wrappers, outermost first. `without` are
    the variables that it does not get of those that are exported; `bare` says that it gets none of them but the `kept`
    ones (`SLURM_*`: all that begin so). `place` names what may give it others, "" for nothing."""

    argv: tuple[Text, ...]
    assignments: Mapping[str, Text] = field(default_factory=dict)
    wrappers: tuple[str, ...] = ()
    without: frozenset[str] = frozenset()
    bare: bool = False
    kept: frozenset[str] = frozenset()
    place: str = ""

    def hands_on(self, name: str) -> bool:
        """Whether the command gets an exported variable of its caller."""
        if name in self.without:
            return False
        return not self.bare or name in self.kept or any(each == f"{name[: len(each) - 1]}*" for each in self.kept)

    def environment(self, exported: Mapping[str, Text]) -> dict[str, Text]:
        """What the command gets of the exported variables of its caller, with its own assignments."""
        return {**{name: text for name, text in exported.items() if self.hands_on(name)}, **self.assignments}


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
        shown = argv[at].prefix if text is None else text
        if text == "--":
            at += 1
            break
        if name == "env" and shown.startswith(("-S", "--split-string")) and (split := _split(argv, at)):
            argv, at = split, 0
            continue
        if name in ("env", "sudo") and _ASSIGNMENT.match(shown):
            _assign(assignments, argv[at])
            at += 1
        elif name == "env" and text in ("-", "-i", "--ignore-environment"):
            bare = True
            at += 1
        elif name == "env" and (removed := _removed(argv, at)):
            without.add(removed)
            at += 2 if text in options else 1
        elif text in options or text in _TWO_VALUES:
            if name in _OF_MPI:
                _assign_for_ranks(assignments, argv[at : at + 3])
            at += 2 if text in options else 3
        elif shown.startswith("-") and len(shown) > 1:
            at += 1
        elif text is None and not (operands or (argv[at].elastic and not shown and _names_a_program(argv[at + 1 :]))):
            break
        elif text is None or operands:
            operands = max(0, operands - 1)
            at += 1
        else:
            break
    inner = Unwrapped(tuple(argv[at:]), assignments, (name,), frozenset(without), bare)
    return _filtered(inner, argv[1:at]) if name in _FILTERS else inner


_FILTERS = frozenset(["sudo", "srun"])
"""Wrappers that may keep variables from the command."""

_OF_MPI = frozenset(["mpirun", "mpiexec", "orterun", "mpirun.openmpi", "mpiexec.hydra"])


def _assign_for_ranks(assignments: dict[str, Text], words: Sequence[Text]) -> None:
    """`-x NAME=VALUE`, `-genv NAME VALUE`: a variable of the processes that MPI starts."""
    option, *behind = words
    if option.known == "-x" and behind and _ASSIGNMENT.match(behind[0].prefix):
        _assign(assignments, behind[0])
    elif (option.known or "").endswith("env") and len(behind) > 1 and (behind[0].known or "").isidentifier():
        assignments[behind[0].known or ""] = behind[1]


def _filtered(inner: Unwrapped, options: Sequence[Text]) -> Unwrapped:
    """The command with what `sudo` and `srun --export` make of the environment."""
    if inner.wrappers[-1] == "srun" and not any(word.prefix.startswith("--export") for word in options):
        return inner
    from verlint.languages.bash.handing_on import filtered

    return filtered(inner, options)


def _split(argv: Sequence[Text], at: int) -> tuple[Text, ...]:
    """The words of `env` behind an option `-S`, whose string is split; none where that is not so simple."""
    text = argv[at].known or argv[at].prefix
    word, behind = argv[at], argv[at + 1 :]
    if text in ("-S", "--split-string"):
        if not behind:
            return ()
        word, behind = behind[0], behind[1:]
    else:
        word = word.slice(2 if text.startswith("-S") else len("--split-string="), 1_000_000)
    from verlint.languages.bash.handing_on import split_string

    return (*split_string(word), *behind)


def _removed(argv: Sequence[Text], at: int) -> str:
    """The variable that an option of `env` takes away, "" for other options."""
    text = argv[at].known or ""
    if text in ("-u", "--unset"):
        return (argv[at + 1].known or "") if at + 1 < len(argv) else ""
    return text[2:] if text.startswith("-u") else text.removeprefix("--unset=") if text.startswith("--unset=") else ""


def _names_a_program(words: Sequence[Text]) -> bool:
    """Whether one of some words is the program that is started: what stands before it are options nobody knows."""
    names = (program_name(word) for word in words)
    return any(name in _STARTED or name.startswith("python") for name in names)


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
        kept = frozenset(each for each in inner.kept if current.hands_on(each)) if inner.bare else current.kept
        current = Unwrapped(
            inner.argv,
            inner.environment(current.assignments),
            (*current.wrappers, *inner.wrappers),
            current.without.difference(inner.assignments) | inner.without,
            current.bare or inner.bare,
            kept,
            inner.place or current.place,
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
