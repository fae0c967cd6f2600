"""A variable of the launcher must get to the host or into the container where it is used.

`ssh` and `docker run` hand on none of the variables of the launcher, exported or not. Between single quotes, or behind
a backslash, `$BATCH` is looked up over there: `ssh node1 'python3 … data.train_batch_size=$BATCH'` starts with an empty
value, and `${BATCH:-8}` with 8, whatever the launcher has set.

Reported for launches behind `ssh`, `pdsh` and `docker run` that take a variable which the launcher itself sets, and
which nothing gives them there. Left alone are containers with an `--env-file` or with options that are not known, those
that run already (`docker exec`), and variables that shells and hosts set for themselves (`HOME`, `USER`, `PATH`).

Fix: use double quotes, so that the launcher puts its value in, or hand the variable on: `docker run -e BATCH …`.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.launch import Launch
from verlint.experiment.places import assignments_by_name, variants_in
from verlint.finding import Finding
from verlint.languages.bash.command import Assignment, Command
from verlint.languages.bash.wrappers import program_name, unwrap
from verlint.rule import WARNING, Context, rule
from verlint.source import Span
from verlint.value import Hole, Text

_ENGINES = frozenset(["docker", "podman", "nerdctl"])
_HOSTS = frozenset(["ssh", "autossh", "pdsh", "clush"])
_FILES = ("--env-file", "--env-host", "--env-merge")
_OF_EVERY_HOST = frozenset(
    ["HOME", "USER", "LOGNAME", "PATH", "SHELL", "PWD", "HOSTNAME", "LANG", "TERM", "TMPDIR", "UID", "PYTHONPATH",
     "LD_LIBRARY_PATH", "CUDA_HOME", "VIRTUAL_ENV", "CONDA_PREFIX", "DISPLAY", "MAIL", "EDITOR"]
)  # fmt: skip


@rule("VL932", "lost-variable", on=Launch, severity=WARNING, since="0.1", words=("ssh", "docker", "podman", "pdsh"))
def check(launch: Launch, ctx: Context) -> Iterator[Finding]:
    place = launch.command.around.elsewhere
    if not place:
        return
    source = launch.command.span.in_file().source
    set_here = assignments_by_name(ctx.project, source)
    seen: set[str] = set()
    for word in launch.command.argv:
        for name, span, default in _taken_there(word, place):
            if name in seen or name in _OF_EVERY_HOST:
                continue
            seen.add(name)
            own = [each for each in set_here.get(name, ()) if not each.around.elsewhere]
            outer = _outer(launch.command, ctx) if own else None
            if outer is not None and span is not None and _differs(own[-1], default):
                yield _finding(name, span, default, outer, own[-1], ctx)


def _taken_there(word: Text, place: str) -> Iterator[tuple[str, Span | None, str]]:
    """The variables that a word takes from where it is used, with the default that counts without them."""
    for part in word.parts:
        if isinstance(part, Hole):
            if isinstance(part.key, tuple) and part.key[:2] == ("elsewhere", place):
                yield part.name, part.span or word.span, ""
        elif part.overridable.isidentifier() and part.span is not None and part.span.source.parent is not None:
            yield part.overridable, part.span or word.span, part.text


def _differs(own: Assignment, default: str) -> bool:
    """Whether what the launcher sets is not the default that counts there."""
    return not default or own.value is None or own.value.known != default


def _outer(command: Command, ctx: Context) -> Command | None:
    """The call of `ssh` or `docker run` that a command runs behind, when that surely hands nothing on."""
    spans = [command.span, *(call.span for call in command.around.stack)]
    for variant in variants_in(ctx.project, command.span.in_file().source):
        other = variant.command
        argv = unwrap(other.argv).argv
        name = program_name(argv[0]) if argv and not other.around.elsewhere else ""
        if (name in _HOSTS or name in _ENGINES) and any(other.span == span for span in spans):
            return other if _hands_nothing_on(argv, name) else None
    return None


def _hands_nothing_on(argv: tuple[Text, ...], name: str) -> bool:
    """Whether a call goes to a host, or starts a new container with options that are known, without variables."""
    known = [word.known if word.known is not None else word.prefix for word in argv]
    if name in _HOSTS:
        return not any("SendEnv" in word or "SetEnv" in word for word in known)
    return known[1:2] == ["run"] and not any(
        word.startswith(_FILES) or (not word and each.elastic) for word, each in zip(known, argv, strict=True)
    )


def _finding(name: str, span: Span, default: str, outer: Command, own: Assignment, ctx: Context) -> Finding:
    program = program_name(unwrap(outer.argv).argv[0])
    on_host = program in _HOSTS
    where = "that host" if on_host else "its image"
    effect = f"{default!r} counts" if default else "it is empty"
    finding = ctx.fail(
        span,
        f"`{program}` does not hand {name} on: {effect} there, unless {where} sets it",
        value=f"{name} = {own.value.shown if own.value is not None else ''} in the launcher",
        hops=(),
        help="use double quotes, so that the launcher puts its value in" + ("" if on_host else f", or give -e {name}"),
    )
    return finding.with_related(own.span, "set here")
