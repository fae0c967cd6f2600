"""Servers of models that launchers start, and the addresses and names by which others call them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from verlint.experiment.project import Project
from verlint.experiment.python_programs import python_program
from verlint.files.kinds import Kind
from verlint.files.loading import Loaded
from verlint.languages.bash.command import Command
from verlint.languages.bash.wrappers import CARRIERS, SHELLS, program_name, unwrap
from verlint.lazy import pattern
from verlint.memo import by_identity
from verlint.record import dataclass
from verlint.source import Source, Span
from verlint.value import Text

_MODULES: Mapping[str, tuple[int, str]] = {
    "vllm.entrypoints.openai.api_server": (8000, "vllm"),
    "vllm.entrypoints.api_server": (8000, "vllm"),
    "sglang.launch_server": (30000, "sglang"),
    "sglang_router.launch_server": (30000, "sglang"),
    "sglang_router.launch_router": (30000, "sglang"),
    "mlx_lm.server": (8080, "mlx_lm"),
    "llama_cpp.server": (8000, "llama.cpp"),
}
MODEL_SERVERS = frozenset(name for name, (_, kind) in _MODULES.items() if kind in ("vllm", "sglang"))
"""Modules of vLLM and SGLang that load a model, or stand before those that do, and serve it until they are stopped."""
_PROGRAMS: Mapping[tuple[str, ...], tuple[int, str]] = {
    ("vllm", "serve"): (8000, "vllm"),
    ("sglang", "serve"): (30000, "sglang"),
    ("lmdeploy", "serve", "api_server"): (23333, "lmdeploy"),
    ("trtllm-serve",): (8000, "trtllm"),
    ("ollama", "serve"): (11434, "ollama"),
    ("llama-server",): (8080, "llama.cpp"),
    ("text-generation-launcher",): (3000, "text-generation-inference"),
}
"""Servers with their default ports. Sources: their own `--help`."""
_LONGEST = max(map(len, _PROGRAMS))

_PORTS = ("--port", "--server-port", "-p")
_MODELS = ("--model", "--model-path", "--model-id", "-m")
_NAMES = ("--served-model-name", "--served_model_name", "--model-name")
URL = pattern(
    r"(?<![\w.])(?:https?://)?(localhost|127\.0\.0\.1|0\.0\.0\.0):(?:(\d{2,5})|(\$\{?\w+[^\s\"'/,}]*\}?))(?![\w.])"
)
OTHER_PORTS = frozenset([6379, 8265, 8266, 10001, 29500, 8080, 9090, 3000, 6006, 5432, 27017, 11434])
"""Ports of Ray, PyTorch, metrics and pages, and of Ollama, which runs as a service of the machine. Sources: their
documentation."""

_DEVICE = pattern(r"/dev/tcp/(?:localhost|127\.0\.0\.1|0\.0\.0\.0)/(\d{2,5})")
_UNTIL = pattern(r"\buntil\b|\bwhile\s+!")
_HOSTS = frozenset(["localhost", "127.0.0.1", "0.0.0.0"])
_FOLLOWED = CARRIERS | SHELLS
"""Programs that run a command: what that calls is looked at, and not the text of it."""

_NUMBER = pattern(r"(?<![\w.])\d{2,5}(?![\w.])")
_FORWARDING = frozenset(["ssh", "autossh", "kubectl", "oc", "socat", "docker", "podman", "nerdctl", "docker-compose"])
"""Programs that may have a port of this host lead somewhere else."""

_QUIET = frozenset(["sleep", "tail", "wait", "nvidia-smi", "watch", "tensorboard", "echo", "rm", "mkdir"])
_MODEL_NAME = pattern(r"(?i)(?:^|[-_.])(?:model(?:[-_.]?name)?)$")
_URL_NAME = pattern(r"(?i)(?:url|base|endpoint|address|host|server|api)")


@dataclass(frozen=True, slots=True)
class Server:
    """A server that a command starts. `port` is None when it is not known; `names` are the models it answers for, empty
    when not known; `open` says that the caller may give it another port."""

    span: Span
    source: Source
    kind: str
    port: int | None
    port_span: Span
    names: tuple[str, ...]
    open: bool


@dataclass(frozen=True, slots=True)
class Call:
    """An address of this machine that something calls, with the model it asks for ("" when not known)."""

    span: Span
    source: Source
    port: int
    model: str = ""
    model_span: Span | None = None


def servers_in(commands: Iterable[Command]) -> Iterator[Server]:
    """The servers that commands start."""
    for command in commands:
        found = None if command.builtin or command.function else _server(command)
        if found is not None:
            yield found


@by_identity
def _server(command: Command) -> Server | None:
    argv = unwrap(command.argv).argv
    if not argv:
        return None
    start = (program_name(argv[0]), *(word.known or "" for word in argv[1:_LONGEST]))
    port, kind, rest = 0, "", argv
    for words, (default, what) in _PROGRAMS.items():
        if start[: len(words)] == words:
            port, kind, rest = default, what, argv[len(words) :]
    program = python_program(argv) if not kind else None
    if program is not None and program.module and program.entry in _MODULES:
        (port, kind), rest = _MODULES[program.entry], program.arguments
    if not kind:
        return None
    given = option_value(rest, _PORTS)
    if kind == "ollama" and ("OLLAMA_HOST" in command.prefix or "OLLAMA_HOST" in command.around.environment):
        return None
    names = _all(rest, _NAMES) or _all(rest, _MODELS) or _first_operand(rest, kind)
    known_names = tuple(text.known for text in names if text.known)
    return Server(
        span=command.span,
        source=command.span.in_file().source,
        kind=kind,
        port=port if given is None else _number(given),
        port_span=given.span if given is not None and given.span is not None else argv[0].span or command.span,
        names=known_names if len(known_names) == len(names) else (),
        open=any(word.elastic for word in rest) or _overridable(given),
    )


def _overridable(text: Text | None) -> bool:
    return text is not None and any(getattr(part, "overridable", "") for part in text.parts)


def _number(text: Text) -> int | None:
    return int(text.known) if text.known is not None and re.fullmatch(r"\d{1,5}", text.known) else None


def option_value(words: Sequence[Text], names: Sequence[str]) -> Text | None:
    """What an option of one of these names is given, `--name value` or `--name=value`: the last one counts."""
    found = None
    for at, word in enumerate(words):
        text = word.known or word.prefix
        if text in names and at + 1 < len(words):
            found = words[at + 1]
        elif text.startswith(tuple(f"{name}=" for name in names)):
            found = word.slice(text.index("=") + 1, 1_000_000)
    return found


def _all(words: Sequence[Text], names: Sequence[str]) -> list[Text]:
    """The words behind an option that takes several, up to the next option."""
    for at, word in enumerate(words):
        text = word.known or word.prefix
        if text in names:
            found = []
            for each in words[at + 1 :]:
                if (each.known or each.prefix).startswith("-"):
                    break
                found.append(each)
            return found
        if text.startswith(tuple(f"{name}=" for name in names)):
            return [word.slice(text.index("=") + 1, 1_000_000)]
    return []


def _first_operand(words: Sequence[Text], kind: str) -> list[Text]:
    """The model that `vllm serve MODEL` names first."""
    if kind in ("ollama", "text-generation-inference", "llama.cpp") or not words:
        return []
    return [] if (words[0].known or words[0].prefix).startswith("-") else [words[0]]


def may_listen(commands: Iterable[Command], port: int) -> bool:
    """Whether something else in a run may listen on a port: a command that names it apart from addresses, or a program
    in the background whose ports are not known."""
    for command in commands:
        if command.builtin or command.function or _server(command) is not None:
            continue
        if command.around.background and program_name(unwrap(command.argv).argv[0]) not in _QUIET:
            return True
        texts = [word.shown for word in command.argv[1:]]
        if program_name(unwrap(command.argv).argv[0]) in _FORWARDING and any(str(port) in text for text in texts):
            return True
        if _asks_port(command):
            continue
        if any(_NUMBER.search(text) and str(port) in _NUMBER.findall(text) for text in texts if not URL.search(text)):
            return True
    return False


def calls_in(file: Loaded, project: Project) -> Iterator[Call]:
    """The addresses of this machine that a file calls."""
    from verlint.experiment.places import assignments_in, variants_in

    if file.kind in (Kind.PYTHON, Kind.YAML, Kind.SPEC):
        for match in URL.finditer(file.source.text):
            if match[2] and _is_value(file, match.start()):
                yield Call(file.source.span(*match.span()), file.source, int(match[2]))
        return
    for variant in variants_in(project, file.source):
        command = variant.command
        if not _serves(command) and not command.around.elsewhere:
            yield from _of_redirects(command)
            if not command.builtin and program_name(unwrap(command.argv).argv[0]) not in _FOLLOWED:
                yield from _of_command(command)
    for each in assignments_in(project, file.source):
        if each.value is not None and (each.exported or each.prefix_of) and _URL_NAME.search(each.name):
            yield from _of_text(each.value, each.span)


def _is_value(file: Loaded, at: int) -> bool:
    """Whether a place of a program is no comment; in other files any place is a value."""
    text = file.source.text
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return "#" not in line and (file.kind is not Kind.PYTHON or '"' in line or "'" in line)


def _serves(command: Command) -> bool:
    return _server(command) is not None


def _of_redirects(command: Command) -> Iterator[Call]:
    """`: > /dev/tcp/localhost/8000`, with which bash itself calls a port."""
    for redirect in command.redirects if _is_awaited(command) else ():
        match = _DEVICE.fullmatch(redirect.target.known or "")
        if match is not None:
            yield Call(redirect.target.span or redirect.span, command.span.in_file().source, int(match[1]))


def _is_awaited(command: Command) -> bool:
    """Whether a loop goes on until a command succeeds; others look for a port that is free."""
    span = command.span
    text = span.source.text
    return _UNTIL.search(text, text.rfind("\n", 0, span.start) + 1, span.start) is not None


def _asks_port(command: Command) -> bool:
    """Whether a command is `nc` that calls a port, and does not listen."""
    argv = unwrap(command.argv).argv
    listens = any((word.known or "").startswith(("-l", "--listen")) for word in argv[1:])
    return bool(argv) and program_name(argv[0]) in ("nc", "ncat", "netcat") and not listens


def _of_netcat(argv: Sequence[Text]) -> Iterator[Call]:
    """`nc -z localhost 8000`"""
    words = [word for word in argv[1:] if not (word.known or word.prefix).startswith("-")]
    for host, port in pairwise(words):
        if host.known in _HOSTS and port.known is not None and re.fullmatch(r"\d{2,5}", port.known):
            written = next((part.span for part in port.parts if part.span is not None), port.span)
            if written is not None:
                yield Call(written, written.in_file().source, int(port.known))


def _of_command(command: Command) -> Iterator[Call]:
    argv = unwrap(command.argv).argv
    name = program_name(argv[0]) if argv else ""
    if _asks_port(command):
        yield from _of_netcat(argv) if _is_awaited(command) else ()
        return
    if name in ("echo", "printf", "open", "xdg-open", "ngrok", "lsof", "fuser", "nc"):
        return
    model, place = "", None
    for before, word in zip(command.argv, command.argv[1:], strict=False):
        option, sign, value = (word.known or "").partition("=")
        if sign and _MODEL_NAME.search(option.lstrip("+-")):
            model, place = value, word.span
        elif (
            (before.known or "").startswith("--") and _MODEL_NAME.search((before.known or "").lstrip("-")) and not sign
        ):
            model, place = word.known or "", word.span
    for word in command.argv[1:]:
        for call in _of_text(word, word.span or command.span):
            yield Call(call.span, call.source, call.port, model, place)


def _of_text(text: Text, span: Span) -> Iterator[Call]:
    known = text.known
    match = URL.search(known) if known is not None else None
    if match is not None and match[2]:
        yield Call(text.span or span, span.in_file().source, int(match[2]))
