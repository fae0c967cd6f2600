"""Programs that run a command in another place: a terminal of its own, a recorded session, a container, a host.

Sources: tmux(1), screen(1), script(1), su(1), ssh(1), pdsh(1), flock(1), bsub(1), qsub(1) of PBS and of Grid Engine,
flux(1), oarsub(1), at(1), watch(1), the command line references of Docker, Apptainer, Enroot, kubectl and gcloud. What
is typed into a terminal with `send-keys` counts as run by a shell of its own. Neither a host nor a container gets the
variables of the caller, but those that it is told to take."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence

from verlint.languages.bash.command import CONTAINER
from verlint.languages.bash.wrappers import CONTAINERS, RUNNERS, SHELLS, WITH_VALUE, program_name
from verlint.lazy import pattern
from verlint.record import dataclass, field
from verlint.value import Literal, Part, Text, literal

_DETACHED = pattern(r"--detach$|-[it]*d[it]*$")
_INTERACTIVE = pattern(r"--interactive(?:=true)?$|-[td]*i[td]*$")
_OPTIONS_NAME = pattern(r"(?i)opt|arg|flag")
_SHARING = frozenset(["apptainer", "singularity"])
"""Containers that start in the folder of their caller and, unless told otherwise, with its variables."""

_CLEANING = frozenset(["-e", "--cleanenv", "-C", "--containall"])
_CLUSTERS = frozenset(["kubectl", "oc"])
_VALUES = {
    "tmux": frozenset(["-s", "-t", "-n", "-c", "-x", "-y", "-F", "-e", "-l", "-p", "-N", "-L", "-S", "-f"]),
    "screen": frozenset(["-S", "-t", "-h", "-s", "-p", "-Logfile", "-T", "-c", "-e"]),
    "script": frozenset(["-E", "-O", "-I", "-B", "-T", "-m", "-o"]),
    "su": frozenset(["-s", "--shell", "-g", "-G", "-u", "-w"]),
    "runuser": frozenset(["-s", "--shell", "-g", "-G", "-u", "-w"]),
    "ssh": frozenset(
        ["-b", "-c", "-D", "-E", "-e", "-F", "-I", "-i", "-J", "-L", "-l", "-m", "-M", "-o", "-P", "-p", "-R", "-S",
         "-w"]
    ),
    "pdsh": frozenset(["-w", "-x", "-g", "-X", "-l", "-t", "-u", "-f", "-R", "-M"]),
    "clush": frozenset(["-w", "-x", "-g", "-X", "-l", "-t", "-u", "-f", "-o", "-O", "-s", "--hostfile", "--user"]),
    "pueue": frozenset(
        ["-g", "--group", "-w", "--working-directory", "-d", "--delay", "-a", "--after", "-l", "--label", "-o",
         "--priority"]
    ),
    "tsp": frozenset(["-D", "-W", "-L", "-N", "-G", "-g", "-O"]),
    "bsub": frozenset(
        ["-n", "-q", "-J", "-o", "-e", "-R", "-W", "-gpu", "-M", "-P", "-G", "-m", "-w", "-cwd", "-app", "-oo", "-eo",
         "-i", "-L", "-u", "-sp", "-env", "-U", "-g"]
    ),
    "systemd-run": frozenset(
        ["-p", "--property", "-u", "--unit", "-E", "--setenv", "-M", "--machine", "-H", "--host", "--uid", "--gid",
         "--slice", "--description", "--working-directory"]
    ),
    "enroot": frozenset(["-c", "--conf", "-e", "--env", "-m", "--mount"]),
    "watch": frozenset(["-n", "--interval", "-q", "--equexit", "-s", "--shotsdir"]),
    "at": frozenset(["-q", "-f", "-t"]),
    "qsub": frozenset(
        ["-N", "-l", "-q", "-o", "-e", "-j", "-A", "-W", "-v", "-J", "-P", "-M", "-m", "-S", "-u", "-p", "-c", "-r",
         "-k", "-a", "-C", "-t", "-d", "-w", "-wd", "-b", "-tc", "-hold_jid", "-sync", "-now", "-R", "-shell", "-ac",
         "-js", "-dl", "-i", "-binding"]
    ),
    "flux": frozenset(
        ["-N", "--nodes", "-n", "--ntasks", "-c", "--cores-per-task", "-g", "--gpus-per-task", "-t", "--time-limit",
         "-q", "--queue", "-B", "--bank", "--job-name", "--env", "--env-file", "--output", "--error", "--input", "-o",
         "--setopt", "--setattr", "-S", "--urgency", "--dependency", "--requires", "--cwd", "--begin-time", "--cc",
         "--bcc", "-x", "--broker-opts", "--conf", "--add-file", "--signal", "--nslots", "--cores-per-slot",
         "--gpus-per-slot"]
    ),
    "oarsub": frozenset(
        ["-l", "--resource", "-q", "--queue", "-p", "--property", "-n", "--name", "-t", "--type", "-d", "--directory",
         "-O", "--stdout", "-E", "--stderr", "--project", "--array", "-r", "--reservation", "-a", "--anterior",
         "--notify", "--checkpoint", "--signal"]
    ),
}  # fmt: skip
"""Options that take the next word as value."""

_STARTING = frozenset(
    ["new", "new-session", "neww", "new-window", "splitw", "split-window", "respawn-pane", "respawn-window"]
)
_TYPING = frozenset(["send", "send-keys"])
_KEYS = frozenset(["enter", "space", "tab", "escape", "bspace", "kpenter", "up", "down"])
_NO_COMMAND = frozenset(["-N", "-O", "-W", "-V", "-G", "-Q"])
"""Options of ssh with which it runs nothing."""

_COPYING = frozenset(["-c", "--copy", "--rcopy"])
_PYTHON = pattern(r"python\d*(?:\.\d+)*$")
_STARTERS = frozenset(["torchrun", "accelerate", "deepspeed", "ray"])


@dataclass(frozen=True, slots=True)
class Carried:
    """The command that is run, or a string of commands (`text`). `apart`: its caller does not wait for it; `foreign`:
    in a folder that is not known here, which is mounted from `mounted` where that is given. `place` says where it
    runs when its caller's variables do not get there, but for the `passed` ones and those that are `given` a value.
    Those of `env_file` come before; `quotes` says that quotes are taken away there. `script`: it has directives of its
    own."""

    argv: tuple[Text, ...]
    text: bool = False
    apart: bool = False
    foreign: bool = False
    mounted: Text | None = None
    place: str = ""
    given: Mapping[str, Text] = field(default_factory=dict)
    passed: tuple[str, ...] = ()
    env_file: Text | None = None
    quotes: bool = True
    script: bool = False


def carried_by(argv: Sequence[Text]) -> Carried | None:
    """What a carrier runs; None for other programs, and where that is not shown."""
    name = program_name(argv[0])
    words = list(argv[1:])
    if name in ("tmux", "byobu"):
        return _by_tmux(words)
    if name == "screen":
        return _by_screen(words)
    if name == "sem":
        words = [word for word in words if word.known != "--fg"]
        rest = _behind_options(words, frozenset(["-j", "--jobs", "--id", "--timeout", "--delay"]))
        return Carried((_joined(rest),), text=True) if rest else None
    if name in ("script", "su", "runuser", "flock"):
        return _by_user(name, words)
    if name in ("ssh", "autossh"):
        return _by_ssh(words)
    if name in ("pdsh", "clush", "gcloud"):
        return _on_hosts(name, words)
    if name in ("pueue", "tsp", "ts", "bsub"):
        return _in_queue(name, words)
    if name in _LATER:
        return _later(name, words)
    if name in ("sg", "newgrp", "nix-shell", "find", "sky"):
        return _by_another(name, words)
    if name == "systemd-run":
        return _by_systemd(words)
    if name in RUNNERS:
        return _by_runner(name, words)
    return _by_container(name.removesuffix("-compose"), words)


def is_started(word: Text) -> bool:
    """Whether a word names a program that runs others, or a script: what may start a launch."""
    name = program_name(word)
    return name in SHELLS or name in WITH_VALUE or name in _STARTERS or _PYTHON.match(name) is not None


def _joined(words: Sequence[Text]) -> Text:
    """Words as the one string that a shell gets of them."""
    parts: list[Part] = []
    for word in words:
        parts += [Literal(" "), *word.parts] if parts else word.parts
    return Text(tuple(parts))


def _by_user(name: str, words: list[Text]) -> Carried | None:
    command = _value_of(words, ("-c", "--command"))
    if command is not None:
        return Carried((command,), text=True)
    if name == "script" and (at := next((at for at, word in enumerate(words) if word.known == "--"), 0)):
        return Carried(tuple(words[at + 1 :])) if words[at + 1 :] else None
    if name != "runuser" or not any(word.known in ("-u", "--user") for word in words):
        return None
    rest = _behind_options(words, _VALUES[name])
    return Carried(tuple(rest)) if rest else None


def _by_ssh(words: list[Text]) -> Carried | None:
    """`ssh HOST COMMAND…`: the words are one string for a shell there; without any it reads its input."""
    rest = _behind_options(words, _VALUES["ssh"])
    while len(rest) > 1 and rest[0].elastic and _OPTIONS_NAME.search(rest[0].shown):
        rest = _behind_options(rest[1:], _VALUES["ssh"])
    if not rest:
        return None
    command = _behind_options(rest[1:], _VALUES["ssh"])
    flags = [each.known or "" for each in words[: len(words) - len(command)]]
    if any(flag in _NO_COMMAND or (flag[:1] == "-" and "N" in flag and flag.isalpha()) for flag in flags):
        return None
    given = (_joined(command),) if command else (literal("bash"), literal("-s"))
    place = f"host {rest[0].shown}"
    return Carried(given, text=bool(command), apart="-f" in flags or "-fn" in flags, foreign=True, place=place)


def _on_hosts(name: str, words: list[Text]) -> Carried | None:
    """`pdsh -w HOSTS COMMAND…`, `gcloud compute ssh HOST --command COMMAND`"""
    if name == "gcloud":
        command = _value_of(words, ("--command",)) if any(word.known == "ssh" for word in words) else None
        return None if command is None else Carried((command,), text=True, foreign=True, place="the other host")
    rest = _behind_options(words, _VALUES[name])
    if not rest or any(word.known in _COPYING for word in words[: len(words) - len(rest)]):
        return None
    hosts = _value_of(words, ("-w",))
    place = "each host" if hosts is None else f"hosts {hosts.shown}"
    return Carried((_joined(rest),), text=True, foreign=True, place=place)


_LATER = frozenset(["watch", "at", "batch", "qsub", "flux", "oarsub"])
_INPUT = (literal("bash"), literal("-s"))


def _later(name: str, words: list[Text]) -> Carried | None:
    """What is run again and again, or when its turn comes. `at` and Flux hand the environment on."""
    if name == "flux":
        return _by_flux(words)
    rest = _behind_options(words, _VALUES.get(name, frozenset()))
    options = words[: len(words) - len(rest)]
    if name == "watch":
        return Carried((_joined(rest),), text=True) if rest else None
    if name in ("at", "batch"):
        file = _value_of(options, ("-f",))
        return Carried(_INPUT if file is None else (literal("sh"), file), apart=True)
    if name == "oarsub":
        return Carried((_joined(rest),), True, True, place=_BATCH) if rest else None
    return _by_qsub(words)


_BATCH = "the batch job"


def _by_qsub(words: list[Text]) -> Carried | None:
    """`qsub SCRIPT`, `qsub -b y COMMAND`, `qsub -- COMMAND`, or a script from its input. Without `-V` the job has none
    of the variables of its caller, but those of `-v`."""
    rest = _behind_options(words, _VALUES["qsub"])
    options = words[: len(words) - len(rest)]
    known = [word.known or "" for word in options]
    if "-pe" in known:  # takes two words
        at = known.index("-pe")
        return _by_qsub([*words[:at], *words[at + 3 :]])
    given: dict[str, Text] = {}
    passed: list[str] = []
    for word in _values_of(options, ("-v",)):
        from verlint.languages.bash.handing_on import pieces_of

        for piece in pieces_of(word):
            name, equals, _ = piece.prefix.partition("=")
            if equals:
                given[name] = piece.slice(len(name) + 1, 1_000_000)
            elif piece.known is not None:
                passed.append(name)
    command = known[-1:] == ["--"] or any(
        option == "-b" and (value or "").startswith("y") for option, value in itertools.pairwise(known)
    )
    folder = _value_of(options, ("-wd", "-d")) if not command or "-cwd" not in known else None
    argv = (literal("bash"), *rest) if rest and not command else tuple(rest) if rest else _INPUT
    return Carried(
        argv,
        apart=True,
        foreign="-cwd" not in known,
        mounted=folder,
        place="" if "-V" in known else _BATCH,
        given=given,
        passed=tuple(passed),
        script=not command,
    )


def _by_flux(words: list[Text]) -> Carried | None:
    """`flux run COMMAND`, `flux batch SCRIPT`."""
    verb = words[0].known if words else None
    if verb not in ("run", "submit", "alloc", "batch", "bulksubmit"):
        return None
    rest = _behind_options(words[1:], _VALUES["flux"])
    if not rest:
        return None
    options = words[1 : len(words) - len(rest)]
    if any((word.known or word.prefix).startswith("--env") for word in options):
        return Carried(tuple(rest), place=_BATCH) if is_started(rest[0]) else None
    if verb == "batch" and not any(word.known == "--wrap" for word in options):
        return Carried((literal("bash"), *rest), apart=True)
    return Carried(tuple(rest), apart=verb in ("submit", "batch")) if is_started(rest[0]) else None


def _by_another(name: str, words: list[Text]) -> Carried | None:
    """A shell with another group or with packages, a command of `find`, what SkyPilot runs on a cluster."""
    if name == "newgrp":
        return Carried((literal("sh"), literal("-s")))
    if name == "find":
        at = next((at for at, word in enumerate(words) if word.known in ("-exec", "-execdir")), len(words))
        rest = words[at + 1 :]
        open_ = any(word.known == "{}" for word in rest[:2])
        return Carried(tuple(rest)) if rest and is_started(rest[0]) and not open_ else None
    if name == "sky":
        return _by_sky(words)
    command = _value_of(words, ("-c",) if name == "sg" else ("--run", "--command"))
    return None if command is None else Carried((command,), text=True)


def _by_sky(words: list[Text]) -> Carried | None:
    """`sky exec CLUSTER COMMAND`, `sky launch … COMMAND`: words that are no file are run on the cluster, in a copy of
    `--workdir`, with the variables of `--env`."""
    verb = words[0].known if words else None
    if verb not in ("exec", "launch"):
        return None
    values = frozenset(
        ["-c", "--cluster", "-n", "--name", "--workdir", "--env", "--env-file", "--secret", "--gpus", "--infra",
         "--cloud", "--region", "--zone", "--num-nodes", "--cpus", "--memory", "--disk-size", "--image-id", "-i",
         "--instance-type", "--idle-minutes-to-autostop", "-t", "--ports"]
    )  # fmt: skip
    rest = _behind_options(words[1:], values)
    options = words[1 : len(words) - len(rest)]
    if verb == "exec" and rest and _value_of(options, ("-c", "--cluster")) is None:
        rest = _behind_options(rest[1:], values)
        options = words[1 : len(words) - len(rest)]
    if not rest or (len(rest) == 1 and rest[0].suffix.endswith((".yaml", ".yml"))):
        return None
    given, passed = _environment(options, ("--env", "--secret"))
    folder = _value_of(options, ("--workdir",))
    text = _joined(rest)
    return Carried((text,), True, False, folder is not None, folder, "the cluster", given, passed)


def _in_queue(name: str, words: list[Text]) -> Carried | None:
    """What waits for its turn: `pueue add COMMAND`, `tsp COMMAND…`, `bsub COMMAND`, or the input of `bsub`."""
    if name == "pueue":
        if not words or words[0].known != "add":
            return None
        words = words[1:]
    rest = _behind_options(words, _VALUES["tsp" if name == "ts" else name])
    if name == "bsub":
        return _by_bsub(rest, words[: len(words) - len(rest)])
    if not rest or (name in ("tsp", "ts") and not is_started(rest[0])):
        return None
    folder = _value_of(words[: len(words) - len(rest)], ("-w", "--working-directory")) if name == "pueue" else None
    if name in ("tsp", "ts"):
        return Carried(tuple(rest), apart=True)
    return Carried((_joined(rest),), text=True, apart=True, foreign=folder is not None)


def _by_bsub(rest: list[Text], options: list[Text]) -> Carried:
    """`-env "none"`, `-env "all, A=1"`, `-env "A, B=1"`: what the job gets of the variables."""
    argv = (_joined(rest),) if rest else _INPUT
    said = _value_of(options, ("-env",))
    if said is None or said.known is None:
        return Carried(argv, bool(rest), apart=True)
    given: dict[str, Text] = {}
    passed: list[str] = []
    for piece in said.known.split(","):
        name, equals, value = piece.strip().partition("=")
        if equals:
            given[name] = literal(value)
        else:
            passed.append(name)
    place = "" if passed[:1] == ["all"] else _BATCH
    return Carried(argv, bool(rest), apart=True, place=place, given=given, passed=tuple(passed))


def _by_systemd(words: list[Text]) -> Carried | None:
    rest = _behind_options(words, _VALUES["systemd-run"])
    if not rest:
        return None
    options = words[: len(words) - len(rest)]
    if any(word.known == "--scope" for word in options):
        return Carried(tuple(rest))
    given, passed = _environment(options, ("-E", "--setenv"))
    waits = any(word.known in ("--wait", "--pty", "-t", "-P", "--pipe") for word in options)
    here = any(word.known in ("--same-dir", "-d") for word in options)
    folder = _value_of(options, ("--working-directory",))
    return Carried(tuple(rest), False, not waits, not here, folder, "the unit", given, passed)


def _by_runner(name: str, words: list[Text]) -> Carried | None:
    """`conda run -n ENV bash -c '…'`. A Python program behind it is known by the command itself."""
    if name != "uvx":
        if not words or words[0].known != "run":
            return None
        words = words[1:]
    rest = _behind_options(words, RUNNERS[name])
    if name == "hatch" and rest and (rest[0].known or "").count(":") == 1:  # `hatch run ENV:COMMAND`
        rest = [rest[0].slice(len((rest[0].known or "").partition(":")[0]) + 1, 1_000_000), *rest[1:]]
    file = _value_of(words[: len(words) - len(rest)], ("--env-file",))
    shell = bool(rest) and (program_name(rest[0]) in SHELLS or program_name(rest[0]) in WITH_VALUE)
    known = shell or (bool(rest) and (rest[0].known or "").endswith(".sh"))
    return Carried(tuple(rest), env_file=file) if known else None


def _by_tmux(words: list[Text]) -> Carried | None:
    rest = _behind_options(words, _VALUES["tmux"])
    verb = rest[0].known if rest else None
    operands = _behind_options(rest[1:], _VALUES["tmux"]) if rest else []
    if verb in _TYPING:
        operands = [each for each in operands if not _is_key(each)]
        return Carried((operands[0],), text=True, apart=True) if operands else None
    if verb not in _STARTING or not operands:
        return None
    return Carried(tuple(operands), text=len(operands) == 1, apart=True)


def _by_screen(words: list[Text]) -> Carried | None:
    if any(each.known == "-X" for each in words):
        at = next((at for at, each in enumerate(words) if each.known == "stuff"), len(words))
        return Carried((words[at + 1],), text=True, apart=True) if at + 1 < len(words) else None
    flags = [each.known or "" for each in words]
    if not any(each.startswith("-") and "m" in each and "d" in each.lower() for each in flags):
        return None
    values = _VALUES["screen"] | {each for each in flags if each.startswith("-d") and each.endswith("S")}
    operands = _behind_options(words, values)
    return Carried(tuple(operands), apart=True) if operands else None


def _by_container(name: str, words: list[Text]) -> Carried | None:
    """The command that a container is given: a shell with a string or its input, a Python program. A script of its own
    is known where the container has a folder of ours."""
    if name in _CLUSTERS:
        return _in_pod(words)
    at = next((at for at, each in enumerate(words) if each.known in ("exec", "run", "start")), None)
    if at is None:
        return None
    values = CONTAINERS.get(name) or _VALUES[name]
    options, rest = _command_inside(words[at + 1 :], values)
    if not rest:
        return None
    apart = any(_DETACHED.match(each.known or "") for each in options)
    if name in _SHARING:
        folder = _value_of(options, ("--pwd",))
        cleaned = any(each.known in _CLEANING for each in options)
        given, passed = _environment(options, ("--env",), separator=",") if cleaned else ({}, ())
        place = CONTAINER if cleaned else ""
        return Carried(tuple(rest), foreign=folder is not None, place=place, given=given, passed=passed)
    mounted = _mounted(options)
    if not _is_shown(rest, options, mounted):
        return None
    given, passed = _environment(options, ("-e", "--env"))
    file = _value_of(options, ("--env-file",))
    return Carried(tuple(rest), False, apart, True, mounted, CONTAINER, given, passed, file, quotes=name == "podman")


def _in_pod(words: list[Text]) -> Carried | None:
    """`kubectl exec POD -- COMMAND`"""
    at = next((at for at, each in enumerate(words) if each.known == "--"), len(words))
    rest = words[at + 1 :]
    if not any(each.known in ("exec", "run") for each in words[:at]) or not rest or not is_started(rest[0]):
        return None
    if not _is_shown(rest, words[:at], None):
        return None
    given, passed = _environment(words[:at], ("--env",))
    return Carried(tuple(rest), False, False, True, None, CONTAINER, given, passed)


def _command_inside(words: list[Text], values: frozenset[str]) -> tuple[list[Text], list[Text]]:
    """The options of a container, with its image, and the command."""
    entry = _value_of(words, ("--entrypoint",))
    if entry is not None and is_started(entry):
        behind = _behind_options(words, values)
        return words[: len(words) - len(behind)], [entry, *behind[1:]]
    for at in range(1, len(words)):
        before = words[at - 1].known or ""
        if is_started(words[at]) and before not in values and "=" not in words[at].shown.partition("/")[0]:
            return words[:at], words[at:]
    return words, []


def _is_shown(command: list[Text], options: list[Text], mounted: Text | None) -> bool:
    """Whether what a container runs is known here: no script of its own, and no shell that somebody types into."""
    if program_name(command[0]) not in SHELLS:
        return True
    if len(command) == 1:
        return any(_INTERACTIVE.match(each.known or "") for each in options)
    return (command[1].known or "").startswith("-") or mounted is not None


def _environment(
    words: list[Text], names: tuple[str, ...], *, separator: str = ""
) -> tuple[Mapping[str, Text], tuple[str, ...]]:
    """The variables of options like `-e NAME=VALUE`, and the names of those that are handed on as they are."""
    given: dict[str, Text] = {}
    passed: list[str] = []
    for word in _values_of(words, names):
        name, equals, value = word.prefix.partition("=")
        if separator and separator in value and word.known is not None:
            for each in word.known.split(separator):
                key, _, text = each.partition("=")
                given[key] = literal(text)
        elif equals:
            given[name] = word.slice(len(name) + 1, 1_000_000)
        elif word.known is not None:
            passed.append(name)
    return given, tuple(passed)


def _values_of(words: list[Text], names: tuple[str, ...]) -> Iterator[Text]:
    for at, word in enumerate(words):
        text = word.known or word.prefix
        if text in names and at + 1 < len(words):
            yield words[at + 1]
        for name in names:
            if name.startswith("--") and text.startswith(f"{name}="):
                yield word.slice(len(name) + 1, 1_000_000)


def _mounted(words: list[Text]) -> Text | None:
    """The folder outside that is the working folder of a container."""
    folder = _value_of(words, ("-w", "--workdir"))
    if folder is None or folder.known is None:
        return None
    inside = folder.known.rstrip("/")
    for at, word in enumerate(words[:-1]):
        if word.known not in ("-v", "--volume"):
            continue
        volume = words[at + 1]
        shown = "".join(getattr(part, "text", "\0") for part in volume.parts)
        outside, colon, target = shown.partition(":")
        if colon and target.partition(":")[0].rstrip("/") == inside:
            return volume.slice(0, len(outside))
    return None


def _value_of(words: list[Text], options: tuple[str, ...]) -> Text | None:
    for at, word in enumerate(words):
        text = word.known or word.prefix
        if text in options and at + 1 < len(words):
            return words[at + 1]
        name, equals, _ = text.partition("=")
        if equals and name in options and name.startswith("--"):
            return word.slice(len(name) + 1, 1_000_000)
        if (
            "-c" in options
            and len(text) > 2
            and text[0] == "-"
            and text[1] != "-"
            and text.endswith("c")
            and at + 1 < len(words)
        ):
            return words[at + 1]
    return None


def _behind_options(words: list[Text], values: frozenset[str]) -> list[Text]:
    at = 0
    while at < len(words):
        text = words[at].known or words[at].prefix
        if text == "--":
            return words[at + 1 :]
        if not text.startswith("-") or text == "-":
            break
        at += 2 if text in values else 1
    return words[at:]


def _is_key(word: Text) -> bool:
    text = word.known or ""
    return text.lower() in _KEYS or (len(text) == 3 and text[:2] in ("C-", "M-")) or (len(text) == 2 and text[0] == "^")
