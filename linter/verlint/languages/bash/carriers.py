"""Programs that run a command in another place: a terminal of its own, a recorded session, a container.

Sources: tmux(1), screen(1), script(1), su(1), the command line references of Docker, Apptainer and kubectl. What is
typed into a terminal with `send-keys` counts as run by a shell of its own."""

from __future__ import annotations

from collections.abc import Sequence

from verlint.languages.bash.wrappers import program_name
from verlint.lazy import pattern
from verlint.record import dataclass
from verlint.value import Text

_DETACHED = pattern(r"--detach$|-[it]*d[it]*$")
_CONTAINERS = frozenset(["docker", "podman", "nerdctl", "apptainer", "singularity", "kubectl"])
_SHARING = frozenset(["apptainer", "singularity"])
"""Containers that start in the folder of their caller and with its variables."""

_SHELLS = frozenset(["bash", "sh", "zsh", "dash"])
_VALUES = {
    "tmux": frozenset(["-s", "-t", "-n", "-c", "-x", "-y", "-F", "-e", "-l", "-p", "-N", "-L", "-S", "-f"]),
    "screen": frozenset(["-S", "-t", "-h", "-s", "-p", "-Logfile", "-T", "-c", "-e"]),
    "script": frozenset(["-E", "-O", "-I", "-B", "-T", "-m", "-o"]),
    "su": frozenset(["-s", "--shell", "-g", "-G", "-u", "-w"]),
    "runuser": frozenset(["-s", "--shell", "-g", "-G", "-u", "-w"]),
    "kubectl": frozenset(["-n", "--namespace", "-c", "--container", "--context", "-f", "--kubeconfig"]),
}
"""Options that take the next word as value."""

_STARTING = frozenset(
    ["new", "new-session", "neww", "new-window", "splitw", "split-window", "respawn-pane", "respawn-window"]
)
_TYPING = frozenset(["send", "send-keys"])
_KEYS = frozenset(["enter", "space", "tab", "escape", "bspace", "kpenter", "up", "down"])


@dataclass(frozen=True, slots=True)
class Carried:
    """The command that is run, or a string of commands (`text`). `apart`: its caller does not wait for it; `foreign`:
    in a folder that is not known here, which is mounted from `mounted` where that is given."""

    argv: tuple[Text, ...]
    text: bool = False
    apart: bool = False
    foreign: bool = False
    mounted: Text | None = None


def carried_by(argv: Sequence[Text]) -> Carried | None:
    """What a carrier runs; None for other programs, and where that is not shown."""
    name = program_name(argv[0])
    words = list(argv[1:])
    if name == "tmux":
        return _by_tmux(words)
    if name == "screen":
        return _by_screen(words)
    if name in ("script", "su", "runuser"):
        command = _value_of(words, ("-c", "--command"))
        return None if command is None else Carried((command,), text=True)
    return _by_container(name, words) if name in _CONTAINERS else None


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
    """The string that a shell in a container is given; of a container that shares our folder also its script."""
    at = next((at for at, each in enumerate(words) if each.known in ("exec", "run")), None)
    shell = next(
        (at for at, each in enumerate(words) if program_name(each) in _SHELLS and _is_command(words, at)), None
    )
    if at is None or shell is None or shell < at:
        return None
    rest = words[shell:]
    apart = any(_DETACHED.match(each.known or "") for each in words[at + 1 : shell])
    if name in _SHARING:
        folder = _value_of(words[:shell], ("--pwd",))
        return Carried(tuple(rest), foreign=folder is not None)
    if len(rest) < 2 or not (rest[1].known or "").startswith("-"):
        return None
    return Carried(tuple(rest), apart=apart, foreign=True, mounted=_mounted(words[:shell]))


def _is_command(words: list[Text], at: int) -> bool:
    """Whether a word that names a shell is the command, and not the value of an option."""
    return at > 0 and (words[at - 1].known or "") not in ("--entrypoint", "--name", "--hostname", "exec", "run")


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
