"""The exit status of a script should be that of its training.

The last command decides. After `python3 -m … | tee train.log` that is `tee`, after a final `ray stop` or `echo done` it
is theirs: the script ends with 0 although the training failed. The scheduler calls the job COMPLETED, `--dependency
afterok` starts the next one, `set -e` in a driver sees nothing.

Reported where somebody evidently counts on the status: the script uses `set -e` and pipes the launch without
`pipefail`, or it is a batch script (`#SBATCH`) whose launch is piped or followed by clean-up. Silent where the status
is kept (`PIPESTATUS`, `$?`, `exit`), where a later launch has a status of its own, and where a program behind it reads
the log and so says whether the run went well.

Fix: `set -o pipefail`; for clean-up `trap 'ray stop' EXIT`, or `STATUS=$?` behind the launch and `exit "${STATUS}"` at
the end. The unsafe fix adds `set -o pipefail`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from verlint.experiment.script import Script
from verlint.finding import Finding, Safety
from verlint.languages.bash.command import Command
from verlint.languages.bash.replay import Path
from verlint.lazy import pattern
from verlint.record import dataclass
from verlint.rule import WARNING, Context, rule

_CLEAN_UP = frozenset(
    [
        "ray",
        "echo",
        "printf",
        "rm",
        "date",
        "sleep",
        "wait",
        "kill",
        "pkill",
        "cp",
        "mv",
        "touch",
        "conda",
        "deactivate",
    ]
)
_LOOKS = ("$?", "${?}", "PIPESTATUS", "exit", "trap")
_KEPT = pattern(r"\$\?|\$\{\?\}|PIPESTATUS|\bexit\b|\btrap\b[^\n]*\b(?:EXIT|ERR)\b")


@dataclass(frozen=True)
class _Masked:
    """A launch whose status is lost, and the command whose status counts instead."""

    launch: Command
    last: Command
    piped: bool


@rule(
    "VL919",
    "masked-status",
    on=Script,
    severity=WARNING,
    since="0.1",
    fixable="unsafe",
    words=("tee", "#sbatch"),
)
def check(script: Script, ctx: Context) -> Iterator[Finding]:
    if script.document:
        return
    found = [masked for path in script.resolution.paths if (masked := _masked(path, script, ctx)) is not None]
    if len(found) == len(script.resolution.paths) and found:
        yield _finding(found[0], script, ctx)


def _is_kept(text: str) -> bool:
    """Whether what stands behind a launch looks at its status."""
    return any(word in text for word in _LOOKS) and _KEPT.search(text) is not None


def _masked(path: Path, script: Script, ctx: Context) -> _Masked | None:
    """The last launch of a path, when the status of the path is that of another command."""
    own = [command for command in path.commands if not command.around.stack and command.span.source is script.source]
    at = next((at for at in range(len(own) - 1, -1, -1) if ctx.project.launch(own[at]) is not None), None)
    if at is None or _is_kept(script.source.text[own[at].span.end :]):
        return None
    launch, behind = own[at], own[at + 1 :]
    around = launch.around
    if around.background or around.substitution:
        return None
    batch = script.scheduler is not None
    if launch.pipe[0] + 1 < launch.pipe[1] and not around.pipefail:
        last = (
            behind[launch.pipe[1] - launch.pipe[0] - 2] if len(behind) >= launch.pipe[1] - launch.pipe[0] - 1 else None
        )
        if last is not None and last.name == "tee" and (around.errexit or batch) and not _is_read(last, behind):
            return _Masked(launch, last, True)
    if batch and not around.errexit and behind and all(command.name in _CLEAN_UP for command in behind):
        return _Masked(launch, behind[-1], False)
    return None


def _is_read(tee: Command, behind: Sequence[Command]) -> bool:
    """Whether a later program looks into a file that `tee` writes."""
    files = {word.shown for word in tee.argv[1:] if not word.shown.startswith("-")}
    return any(
        command is not tee and command.name not in _CLEAN_UP and any(file in word.shown for file in files)
        for command in behind
        for word in command.argv[1:]
    )


def _finding(masked: _Masked, script: Script, ctx: Context) -> Finding:
    last = masked.last
    reader = "Slurm sees" if script.scheduler is not None else "`set -e` sees"
    found = ctx.fail(
        last.argv[0].span or last.span,
        f"{reader} the status of `{last.name}`, not that of the training: a failed run counts as done",
        help="set -o pipefail" if masked.piped else 'STATUS=$? behind the launch, exit "${STATUS}" at the end',
    ).with_related(masked.launch.argv[0].span, "the launch whose status is lost")
    if not masked.piped:
        return found
    from verlint_rules.shell.script_start import at_start

    edit = at_start(script.source, "set -o pipefail")
    return found.with_fix("take the status of the launch", edit, safety=Safety.UNSAFE)
