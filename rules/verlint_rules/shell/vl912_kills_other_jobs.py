"""A launcher must end its own processes only.

`pkill -f python`, `killall python3` or `kill $(nvidia-smi …)` end every process of that user on the host with such a
name: the run on the other GPUs, the notebook, the server of a colleague who shares the account. `ray stop --force` ends
every Ray of the user, also the head of the cluster that the job has just joined.

Broad kills are a warning, in a document once for all its fences. `ray stop --force` is an information: in a container
of its own, or on a node that a scheduler gave to this job alone, it hits nobody else. A plain `ray stop` asks the same
processes to end and leaves them the time to do so. Silent for `kill` of a known process (`$!`, a pid file), for `pkill`
with a pattern of this project (a path, a script, a port), for a plain `ray stop`, and for `ray stop --force` in job
files and workflows, behind a `ray start` of the same file, and behind a broad kill that is reported.

Fix: remember the pid, `python3 server.py & SERVER=$!`, and end it with `kill "${SERVER}"`; run `ray stop --force` by
hand, on nodes that nobody shares.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.places import variants_in
from verlint.files.kinds import Kind
from verlint.finding import Finding, Severity
from verlint.languages.bash.command import Command
from verlint.languages.bash.wrappers import unwrap
from verlint.lazy import pattern
from verlint.rule import WARNING, Context, rule
from verlint.value import Text
from verlint_rules.shell.nodes import ray_verb

_BROAD = pattern(r"(?:python[\d.]*|ray|raylet|gcs_server|vllm|sglang|torchrun|nvidia|cuda|VLLM|EngineCore)(?:\W.*)?", 2)
_PKILL_WITH_VALUE = frozenset(
    ["-g", "-G", "-P", "-s", "-t", "-u", "-U", "--signal", "--parent", "--session", "--terminal"]
)
_NARROW = frozenset(["-P", "--parent", "-g", "--pgroup", "-s", "--session"])
"""Options of pkill that limit it to children or sessions of the caller."""
_FROM_ALL = pattern(
    r"\b(?:nvidia-smi|ps\s+(?:aux|-ef|-e)|pgrep|lsof(?![^|\n]*\s-\w*i)|fuser(?![^|\n]*\s(?:-n\s|\S+/(?:tcp|udp))))\b"
)
"""Lists of what runs on the host; the program behind one port is none."""


@rule("VL912", "kills-other-jobs", on=Command, severity=WARNING, since="0.1", words=("kill", "ray stop", "fuser"))
def check(command: Command, ctx: Context) -> Iterator[Finding]:
    if what := _ended(command):
        is_document = ctx.project.kinds.get(id(command.span.in_file().source)) is Kind.DOCUMENT
        if not (is_document and any(_ended(earlier) == what for earlier in _earlier(command, ctx))):
            yield _broad(command, what, ctx)
    elif _forced_stop(command) and not _is_job_file(command) and not _is_told(command, ctx):
        yield ctx.fail(
            command.span,
            "this ends every Ray of the user on the host, also that of other jobs",
            help="keep it for nodes that belong to this job alone (without --force it ends the same ones, gently)",
            severity=Severity.INFO,
        )


def _ended(command: Command) -> str:
    """What a command ends that is not known to be its own, "" for none (and for Ray's own command)."""
    if command.around.in_container:
        return ""
    words = unwrap(command.argv).argv
    name = _name(words)
    if name in ("pkill", "killall"):
        return _by_name(words)
    if name == "fuser" and any((word.known or "").startswith(("/dev/nvidia", "/dev/dri")) for word in words):
        return "every process that uses a GPU of this host"
    if name in ("kill", "xargs") and _takes_all(words, command):
        return "every process of that kind on this host"
    return ""


def _name(words: tuple[Text, ...]) -> str:
    return (words[0].known or "").rsplit("/", 1)[-1] if words else ""


def _earlier(command: Command, ctx: Context) -> Iterator[Command]:
    """The commands that stand before a command in its file."""
    place = command.span.in_file()
    for variant in variants_in(ctx.project, place.source):
        if variant.command.span.in_file().start >= place.start:
            return
        yield variant.command


def _is_told(command: Command, ctx: Context) -> bool:
    """Whether the Ray that is ended is one of its own, or already ended by a kill that is reported."""
    return any(ray_verb(earlier) == "start" or _ended(earlier) for earlier in _earlier(command, ctx))


def _is_job_file(command: Command) -> bool:
    """Whether a scheduler or a CI runs it, on nodes or in a container of its own."""
    return command.span.in_file().source.path.endswith((".yml", ".yaml"))


def _forced_stop(command: Command) -> bool:
    words = unwrap(command.argv).argv
    given = [word.known for word in words[1:]]
    return ray_verb(command) == "stop" and ("--force" in given or "-f" in given)


def _by_name(words: tuple[Text, ...]) -> str:
    rest = list(words[1:])
    target: Text | None = None
    while rest:
        word = rest.pop(0)
        text = word.known
        if text is not None and text.startswith("-"):
            if text in _NARROW:
                return ""
            if text in _PKILL_WITH_VALUE and rest:
                rest.pop(0)
        else:
            target = word
    pattern_ = None if target is None else target.known
    if pattern_ is not None and _BROAD.fullmatch(pattern_):
        return f"every `{pattern_}` of the user on this host"
    return ""


def _takes_all(words: tuple[Text, ...], command: Command) -> bool:
    """Whether `kill` gets its processes from a list of all of them."""
    if any(word.known == "kill" for word in words[1:]) and words[0].known == "xargs":
        text = command.span.source.text
        start = text.rfind("\n", 0, command.span.start) + 1
        return _FROM_ALL.search(text[start : command.span.start]) is not None
    return words[0].known == "kill" and any(_FROM_ALL.search(hole.name) for word in words[1:] for hole in word.holes)


def _broad(command: Command, what: str, ctx: Context) -> Finding:
    return ctx.fail(
        command.span,
        f"this ends {what}, also those of other jobs",
        help='end only what this script has started: command & PID=$!, then kill "${PID}"',
    )
