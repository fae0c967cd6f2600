"""What a container is given of the machine it runs on."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence

from verlint.languages.bash.command import Command
from verlint.languages.bash.wrappers import CONTAINERS, program_name, unwrap
from verlint.lazy import pattern
from verlint.record import dataclass
from verlint.source import Span
from verlint.value import Text

_VERBS = frozenset(["run", "create", "exec"])
_ENGINES = frozenset(["docker", "podman", "nerdctl", "nvidia-docker"])
_SYSTEM = frozenset(["/", "/etc", "/root", "/home", "/var", "/usr", "/proc", "/sys", "/boot", "/run"])
_SOCKETS = ("/docker.sock", "/containerd.sock", "/podman.sock")
_HOME = pattern(r"(?:~|\$\{?HOME\}?)/?")


@dataclass(frozen=True, slots=True)
class Grant:
    """Something of the machine that a container gets: the option, its place, and what it means. `minor` says that
    alone it is usual for training (the host's network, the user's own home)."""

    option: str
    span: Span
    means: str
    minor: bool = False


def grants_of(command: Command) -> list[Grant]:
    """What `docker run` and kin give away, in the order written."""
    argv = unwrap(command.argv).argv
    engine = program_name(argv[0]) if argv else ""
    at = 2 if len(argv) > 2 and argv[1].known == "container" else 1
    if engine not in _ENGINES or len(argv) <= at or argv[at].known not in _VERBS:
        return []
    return list(_grants(argv[at + 1 :], CONTAINERS[engine.removeprefix("nvidia-")]))


def _grants(words: Sequence[Text], with_value: frozenset[str]) -> Iterator[Grant]:
    at = 0
    while at < len(words):
        word = words[at]
        text = word.shown
        if not text.startswith("-"):
            if text and not (word.elastic and not word.prefix):
                return  # the image: what follows is its command
            at += 1
            continue
        name, sign, value = text.partition("=")
        spans = [word.span]
        if not sign and name in with_value and at + 1 < len(words):
            value = words[at + 1].shown
            spans.append(words[at + 1].span)
            at += 1
        at += 1
        grant = _grant(name, value, sign or len(spans) > 1)
        if grant is not None and spans[0] is not None:
            span = spans[0].join(spans[1]) if len(spans) > 1 and spans[1] is not None else spans[0]
            shown = f"{name}={value}" if sign else f"{name} {value}".strip()
            yield Grant(shown, span, grant[0], grant[1])


def _grant(name: str, value: str, given: object) -> tuple[str, bool] | None:
    match name:
        case "--privileged":
            return None if given and value.lower() in ("false", "0") else ("all rights of root on this machine", False)
        case "--cap-add" if value.upper() in ("ALL", "CAP_ALL"):
            return "all capabilities of root on this machine", False
        case "--pid" if value == "host":
            return "the processes of this machine, with their environments", False
        case "--net" | "--network" if value == "host":
            return "the network of this machine", True
        case "-v" | "--volume":
            return _mount(value.split(":")[0])
        case "--mount":
            fields = dict(each.partition("=")[::2] for each in value.split(","))
            if fields.get("type", "bind") == "bind":
                return _mount(fields.get("source", fields.get("src", "")))
    return None


def _mount(source: str) -> tuple[str, bool] | None:
    if source.endswith(_SOCKETS):
        return "the daemon of this machine, that is all rights of root on it", False
    if _HOME.fullmatch(source):
        return "the user's home, keys and tokens included", True
    if source.startswith("/") and posixpath.normpath(source) in _SYSTEM:
        what = (
            "the whole disk" if posixpath.normpath(source) == "/" else f"{posixpath.normpath(source)} of this machine"
        )
        return what, False
    return None
