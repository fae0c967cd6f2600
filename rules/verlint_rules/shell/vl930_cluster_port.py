"""The nodes of a Ray cluster must call its head at the port that it listens on.

`ray start --head --port=6379` listens there, without `--port` it does too. A node that is started with
`ray start --address=HEAD:6380` finds nobody, tries for a while and ends; the trainer on the head then waits for GPUs
that never come.

An address without a port is none to `ray start`: it stops with `Malformed address`.

Reported where head and nodes are started by one script and both ports are known.

Fix: keep the port in one variable, and use it on both sides.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.script import Script
from verlint.finding import Finding
from verlint.languages.bash.command import Command
from verlint.languages.bash.syntax import Simple
from verlint.languages.bash.walk import literal_word, walk
from verlint.languages.bash.wrappers import program_name, unwrap
from verlint.lazy import pattern
from verlint.rule import ERROR, Context, rule
from verlint.source import Span
from verlint.value import Hole, Text
from verlint_rules.evaluation.endpoints import option_value

_DEFAULT = "6379"
_ADDRESS = pattern(r"--address[= ]\s*[\"']?[^\s\"'/]+:(\d+)[\"']?(?=\s|$)")
_HOST = pattern(r"(?:\d{1,3}\.){3}\d{1,3}|[A-Za-z][\w-]*(?:\.[\w-]+)*")
_OF_HOST = pattern(r"(?:\$\()?(?:hostname|scontrol show hostnames?)\b")
"""Commands that say the name or the address of a host, by which an unknown value is called."""
_PORT = pattern(r":(\d+)$")


@rule("VL930", "cluster-port", on=Script, severity=ERROR, since="0.1", words=("--address",))
def check(script: Script, ctx: Context) -> Iterator[Finding]:
    heads: dict[str | None, Command] = {}
    called: dict[object, tuple[Span, str]] = {}
    bare: dict[object, Text] = {}
    for path in script.resolution.paths:
        for command in path.commands:
            words = _ray_start(command)
            if any(word.known == "--head" for word in words):
                heads.setdefault(_head_port(words), command)
                continue
            address = option_value(words, ("--address",))
            if address is not None and _is_bare(address):
                bare.setdefault(command.span.order(), address)
            match = None if address is None or "://" in address.shown else _PORT.search(address.suffix)
            if address is not None and match is not None:
                called.setdefault(command.span.order(), (address.span or command.span, match[1]))
    for address in bare.values() if heads else ():
        port = next(iter(heads)) or "PORT"
        message = "this address has no port: ray start stops with 'Malformed address', and the node never joins"
        yield ctx.fail(address, message, value=address.shown, help=f"write {_name_of(address)}:{port}")
    if not heads or None in heads:
        return
    ports = " or ".join(str(each) for each in heads)
    written = list(_calls(script))
    followed = [each for each in called.values() if not any(_holds(place, each[0]) for place, _ in written)]
    for place, port in (*written, *followed):
        if port in heads:
            continue
        message = f"the head of the cluster listens on port {ports}, and this node calls port {port}: it never joins"
        finding = ctx.fail(place, message, help=f"call port {ports}, or start the head with --port={port}")
        for head in heads.values():
            finding = finding.with_related(head.span, "the head")
        yield finding


def _is_bare(address: Text) -> bool:
    """Whether an address is that of a host, and no port can stand in what is not known of it: the name of a node, or
    what a command says of one."""
    if address.known is not None:
        return address.known not in ("auto", "local") and bool(_HOST.fullmatch(address.known))
    if len(address.parts) != 1 or not isinstance(hole := address.parts[0], Hole):
        return False
    return bool(_OF_HOST.match(hole.name))


def _name_of(address: Text) -> str:
    return address.known or (address.span.text.strip("\"'") if address.span is not None else "HOST")


def _holds(place: Span, address: Span) -> bool:
    """Whether an address is that of a place, seen already."""
    return place.source is address.source and place.start < address.end and address.start < place.end


def _calls(script: Script) -> Iterator[tuple[Span, str]]:
    """Where nodes call a head at a port that is written there, also on ways that are not taken here."""
    for text, program in script.syntax:
        for group in program.groups:
            for node in walk(group):
                if not isinstance(node, Simple) or not _starts_ray(node):
                    continue
                match = _ADDRESS.search(text.text, node.start, node.end)
                if match is not None:
                    yield text.span(match.start(), match.end()), match[1]


def _starts_ray(node: Simple) -> bool:
    words = [literal_word(word) for word in node.words]
    return "ray" in words[:-1] and words[words.index("ray") + 1] == "start"


def _ray_start(command: Command) -> tuple[Text, ...]:
    argv = unwrap(command.argv).argv
    if len(argv) < 2 or program_name(argv[0]) != "ray" or argv[1].known != "start":
        return ()
    return argv[2:]


def _head_port(words: tuple[Text, ...]) -> str | None:
    """The port of a head, None when only the host knows it."""
    given = option_value(words, ("--port",))
    return given.known if given is not None else None if any(word.elastic for word in words) else _DEFAULT
