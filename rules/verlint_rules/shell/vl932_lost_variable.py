"""A variable of the launcher must get to the host, the container or the job where it is used.

`ssh` and `docker run` hand on none of the variables of the launcher, exported or not. Between single quotes, or behind
a backslash, `$BATCH` is looked up over there: `ssh node1 'python3 … data.train_batch_size=$BATCH'` starts with an empty
value, and `${BATCH:-8}` with 8, whatever the launcher has set.

The same goes for exported variables behind `sudo` without `-E`, `sbatch` and `srun` with an `--export` that does not
begin with `ALL` (also as an `#SBATCH` line, which `srun` in that job goes by as well), `qsub` without `-V`, and
`bsub -env none`: `train.sh` has its own defaults there.

Reported for launches that take a variable which the launcher itself sets, and which nothing gives them there. Left
alone are containers with an `--env-file` that is not at hand or with options that are not known, those that run already
(`docker exec`), and variables that shells and hosts set for themselves (`HOME`, `USER`, `PATH`).

Fix: use double quotes, so that the launcher puts its value in, or hand the variable on: `docker run -e BATCH …`,
`sudo --preserve-env=BATCH …`, `sbatch --export=ALL …`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping

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
_FILTERS: Mapping[str, tuple[str, str]] = {
    "sudo": ("something else", "hand it on: sudo --preserve-env={name} … (or -E for all of them)"),
    "srun": ("something else", "hand it on: srun --export=ALL …"),
    "sbatch": ("the profile of the user", "hand it on: sbatch --export=ALL …"),
    "qsub": ("the profile of the user", "hand it on: qsub -v {name} … (or -V for all of them)"),
    "bsub": ("the profile of the user", 'hand it on: bsub -env "all" …'),
}
"""Programs that may keep exported variables back: what may set them there all the same, and the way out."""
_FILES = ("--env-file", "--env-host", "--env-merge")
_OF_EVERY_HOST = frozenset(
    ["HOME", "USER", "LOGNAME", "PATH", "SHELL", "PWD", "HOSTNAME", "LANG", "TERM", "TMPDIR", "UID", "PYTHONPATH",
     "LD_LIBRARY_PATH", "CUDA_HOME", "VIRTUAL_ENV", "CONDA_PREFIX", "DISPLAY", "MAIL", "EDITOR"]
)  # fmt: skip


@rule(
    "VL932",
    "lost-variable",
    on=Launch,
    severity=WARNING,
    since="0.1",
    words=("ssh", "docker", "podman", "pdsh", "sudo", "--export", "qsub", "bsub"),
)
def check(launch: Launch, ctx: Context) -> Iterator[Finding]:
    place = launch.command.around.elsewhere
    outer = _outer(launch.command, ctx) if place else None
    if outer is None:
        return
    own_source = launch.command.span.in_file().source
    set_here = assignments_by_name(ctx.project, outer.span.in_file().source)
    in_a_script = outer.span.in_file().source is not own_source
    seen: set[str] = set()
    for word in launch.command.argv:
        for name, span, default in _taken_there(word, place, launch.command if in_a_script else None):
            if name in seen or name in _OF_EVERY_HOST or span is None:
                continue
            seen.add(name)
            named = _named(outer, name)
            own = [each for each in set_here.get(name, ()) if not each.around.elsewhere]
            if in_a_script or program_of(outer) in _FILTERS:
                own = [each for each in own if each.exported or each.prefix_of or named]
            if own and _differs(own[-1], default) and own[-1].around.elsewhere != place:
                yield _finding(name, span, default, outer, own[-1], ctx, named=named)


def _taken_there(word: Text, place: str, inside: Command | None) -> Iterator[tuple[str, Span | None, str]]:
    """The variables that a word takes from where it is used, with the default that counts without them. `inside` is the
    launch, where it stands in a script of its own."""
    for part in word.parts:
        if isinstance(part, Hole):
            if isinstance(part.key, tuple) and part.key[:2] == ("elsewhere", place):
                yield part.name, part.span or word.span, ""
        elif part.overridable.isidentifier() and part.span is not None:
            written = part.span.in_file().source
            embedded = part.span.source.parent is not None
            if embedded if inside is None else written is inside.span.in_file().source:
                yield part.overridable, part.span or word.span, part.text


def _differs(own: Assignment, default: str) -> bool:
    """Whether what the launcher sets is not the default that counts there."""
    return not default or own.value is None or own.value.known != default


def _outer(command: Command, ctx: Context) -> Command | None:
    """The call of `ssh`, `docker run`, `sudo` or a scheduler that a command runs behind, when that surely hands nothing
    on but what it is told."""
    spans = [command.span, *(call.span for call in reversed(command.around.stack))]
    for span in spans:
        for variant in variants_in(ctx.project, span.in_file().source):
            other = variant.command
            if other.span != span or other.around.elsewhere:
                continue
            name = program_of(other)
            if name:
                return other if name in _FILTERS or _hands_nothing_on(unwrap(other.argv).argv, name) else None
    return None


def program_of(command: Command) -> str:
    """The program of a command that keeps variables back, "" for others."""
    inner = unwrap(command.argv)
    name = program_name(inner.argv[0]) if inner.argv else ""
    if name in _HOSTS or name in _ENGINES or name in ("sbatch", "qsub", "bsub"):
        return name
    return next((each for each in inner.wrappers if each in ("sudo", "srun")), "")


def _named(outer: Command, name: str) -> bool:
    """Whether an option hands a variable on by its name."""
    words = [word.known or "" for word in unwrap(outer.argv).argv]
    return any(
        word == f"--env={name}" or (word == name and before in ("-e", "--env"))
        for before, word in itertools.pairwise(words)
    )


def _hands_nothing_on(argv: tuple[Text, ...], name: str) -> bool:
    """Whether a call goes to a host, or starts a new container with options that are known, without variables."""
    known = [word.known if word.known is not None else word.prefix for word in argv]
    if name in _HOSTS:
        return not any("SendEnv" in word or "SetEnv" in word for word in known)
    return known[1:2] == ["run"] and not any(
        word.startswith(_FILES) or (not word and each.elastic) for word, each in zip(known, argv, strict=True)
    )


def _finding(
    name: str, span: Span, default: str, outer: Command, own: Assignment, ctx: Context, *, named: bool
) -> Finding:
    program = program_of(outer)
    where, help_ = _FILTERS.get(program, ("that host" if program in _HOSTS else "its image", ""))
    effect = f"{default!r} counts" if default else "it is empty"
    if not help_:
        help_ = "use double quotes, so that the launcher puts its value in"
        help_ += "" if program in _HOSTS else f", or give -e {name}"
    what = f"`{program}` does not hand {name} on"
    if named:
        what, help_ = (
            f"`{program} -e {name}` has nothing to hand on, for {name} is not exported",
            f"export {name} before",
        )
    finding = ctx.fail(
        span,
        f"{what}: {effect} there, unless {where} sets it",
        value=f"{name} = {own.value.shown if own.value is not None else ''} in the launcher",
        hops=(),
        help=help_.format(name=name),
    )
    return finding.with_related(own.span, "set here")
