"""A checkout that was installed as a copy does not follow its branch.

`pip install ./verl` copies the code that is out at that moment into the environment. A later `git checkout` changes the
folder only: a launcher that is started from elsewhere imports the copy, so every stage runs the code of the first
branch, under the name and with the settings of its own.

Reported where a run follows a switch that follows such an install, and nothing installs the checkout again in between.
Silent for editable installs (`pip install -e`), for a branch that is made on the spot (`git checkout -b`), and for runs
that are started inside of the checkout or with it on `PYTHONPATH`, which import the folder itself.

Fix: install the checkout once with `pip install -e`, or install it again after each switch.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.branches import BranchChange, branch_change
from verlint.experiment.installs import install_of
from verlint.experiment.paths import absolute, last_component
from verlint.experiment.python_programs import python_program
from verlint.experiment.stage import Experiment, Stage
from verlint.finding import Finding
from verlint.languages.bash.command import Command
from verlint.record import dataclass
from verlint.rule import WARNING, Context, rule
from verlint.source import Span
from verlint.value import Text
from verlint_rules.branches.needs import branch_name

_MAKES = frozenset(["-b", "-B", "-c", "-C", "--create", "--force-create", "--orphan"])


@dataclass(slots=True)
class _Copy:
    """A checkout that was installed as a copy: the command, the branch that was out, and the switch away from it."""

    command: Command
    branch: Text | None
    switch: BranchChange | None = None


@rule(
    "VL303",
    "stale-install",
    on=Experiment,
    severity=WARNING,
    since="0.1",
    words=("git checkout", "git switch", "git -c"),
)
def check(experiment: Experiment, ctx: Context) -> Iterator[Finding]:
    if experiment.script is None or not experiment.root:
        return
    stages = {stage.span.order(): stage for stage in experiment.stages}
    copies: dict[str, _Copy] = {}
    branches: dict[str, Text] = {}
    paths = experiment.script.resolution.paths
    for command in paths[0].commands if paths else ():
        _follow(command, copies, branches)
        if not _runs(command, stages.get(command.span.order()), ctx):
            continue
        for folder, copy in list(copies.items()):
            if copy.switch is not None and not _imports_folder(command, folder):
                del copies[folder]
                yield _finding(folder, copy, copy.switch, _driver_span(command), ctx)


def _follow(command: Command, copies: dict[str, _Copy], branches: dict[str, Text]) -> None:
    """Keep account of installs and switches."""
    install = install_of(command)
    if install is not None:
        for folder in install.editable:
            copies.pop(_folder(folder, command), None)
        for folder in install.folders:
            name = _folder(folder, command)
            copies[name] = _Copy(command, branches.get(name))
        return
    change = branch_change(command)
    if change is None or _makes_branch(command):
        return
    branches[change.folder] = change.branch
    copy = copies.get(change.folder)
    if copy is None or not change.folder or branch_name(change.branch) is None:
        return
    same = copy.branch is not None and branch_name(copy.branch) == branch_name(change.branch)
    copy.switch = None if same else change


def _makes_branch(command: Command) -> bool:
    """Whether the branch is a new one, which begins with the code that is out."""
    words = [word.known for word in command.argv]
    verb = next((at for at, word in enumerate(words) if word in ("checkout", "switch")), len(words))
    return not _MAKES.isdisjoint(words[verb:])


def _folder(folder: Text, command: Command) -> str:
    return last_component(absolute(folder, command.around.cwd)).known or ""


def _runs(command: Command, stage: Stage | None, ctx: Context) -> bool:
    """Whether a command starts a run: a launch, or a launcher of a known kind that could not be followed."""
    if stage is not None and stage.kind and not stage.launches:
        return True
    return not (command.builtin or command.function) and ctx.project.launch(command) is not None


def _imports_folder(command: Command, folder: str) -> bool:
    """Whether Python finds the folder itself before the installed copy."""
    program = python_program(command.argv)
    here = last_component(command.around.cwd).known == folder
    if here and (program is None or program.module):
        return True
    searched = command.around.environment.get("PYTHONPATH")
    given = command.prefix.get("PYTHONPATH", searched)
    return given is not None and (folder in given.shown or "PWD" in given.shown or given.shown.startswith("."))


def _driver_span(command: Command) -> Span:
    stack = command.around.stack
    return stack[0].span if stack else command.span


def _finding(folder: str, copy: _Copy, switch: BranchChange, used: Span, ctx: Context) -> Finding:
    before = branch_name(copy.branch) if copy.branch is not None else None
    runs = f"branch `{before}`" if before else "what was out when it was installed"
    found = ctx.fail(
        switch.command.span,
        f"{folder} was installed as a copy: the switch to `{switch.branch}` changes the folder only, and the runs that "
        f"follow import {runs}",
        value=f"branch of {folder} = {switch.branch}",
        hops=switch.branch.trail(),
        help=f"install it with pip install -e, or install {folder} again behind the switch",
    )
    found = found.with_related(_driver_span(copy.command), "installed as a copy here")
    return found.with_related(used, "the run that imports the copy")
