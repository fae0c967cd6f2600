"""A stage that needs a branch of its own must say which one.

GAD keeps its stages on four branches of one fork (`seqkd`, `warmup`, `gad`, `eval`), and none of its launchers checks
which one is out. A stage without a branch runs on whatever the last session left there: the command starts, trains or
answers with the code of another stage, and saves the result under its own name.

In a spec, every stage of a kind that needs a branch declares it, unless its checkout has only that one. In a driver or
a document that runs stages of different branches, each switch is a command. A launcher that is called alone is silent:
its caller chooses the branch. Where other commands may choose it (a clone of a branch, a work tree, prose that says to
switch) nothing is said, or it is to be verified.

Fix: add `branch:` to the stage, or `git -C verl checkout BRANCH` before its call. The unsafe fix adds the line to a
spec.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence

from verlint.experiment.branches import branch_change
from verlint.experiment.stage import Experiment, Stage
from verlint.families import family_of_folder
from verlint.finding import Edit, Finding, Safety
from verlint.languages.bash.command import Command
from verlint.languages.bash.wrappers import program_name, unwrap
from verlint.lazy import pattern
from verlint.rule import ERROR, Context, rule
from verlint.source import Span
from verlint_rules.branches.needs import branches_of, checkout_folder, needed_branch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from verlint.experiment.spec import Spec

_SWITCHES = frozenset(["checkout", "switch", "worktree", "reset", "pull", "merge", "rebase", "submodule"])
_SAID = pattern(
    r"\bgit (?:-\S+ \S+ )?(?:checkout|switch|worktree)\b|\b(?:switch(?:ing)? (?:to|the)|check ?out)\b", re.IGNORECASE
)


@rule(
    "VL302",
    "branch-undeclared",
    on=Experiment,
    severity=ERROR,
    families=("coach", "gad", "oel", "opcd", "opo"),
    since="0.1",
    fixable="unsafe",
)
def check(experiment: Experiment, ctx: Context) -> Iterator[Finding]:
    if experiment.spec is not None:
        if experiment.spec.spec is not None:
            yield from _of_spec(experiment, experiment.spec.spec, ctx)
    elif experiment.root and experiment.script is not None and _is_family(experiment, ctx):
        yield from _of_driver(experiment, ctx)


# ---- specs


def _of_spec(experiment: Experiment, spec: Spec, ctx: Context) -> Iterator[Finding]:
    for stage in experiment.stages:
        needed = needed_branch(stage)
        if not needed or stage.branch is not None or _has_one_branch(spec, stage, needed) or _switches_itself(stage):
            continue
        found = ctx.fail(
            stage.span,
            f"stage `{stage.id}` declares no branch, its kind {stage.kind} needs `{needed}`",
            value=f"stages.{stage.id}.kind = {stage.kind}",
            help=f"add branch: {needed}",
        )
        edit = _added(stage, needed)
        yield found if edit is None else found.with_fix(f"add branch: {needed}", edit, safety=Safety.UNSAFE)


def _has_one_branch(spec: Spec, stage: Stage, needed: str) -> bool:
    """Whether the checkout of a stage leaves no other branch, or is held at something that may be it."""
    assert stage.spec is not None
    checkout = spec.checkouts.get(str(stage.spec.checkout))
    if checkout is None and not stage.spec.checkout.given and len(spec.checkouts) == 1:
        checkout = next(iter(spec.checkouts.values()))
    if checkout is None:
        return False
    if [str(branch) for branch in checkout.branches] == [needed]:
        return True
    if not checkout.ref.given:
        return False
    return not checkout.ref.decided or str(checkout.ref) == needed or str(checkout.ref) not in branches_of(stage.family)


def _switches_itself(stage: Stage) -> bool:
    assert stage.spec is not None
    source = stage.spec.run_source
    return source is not None and re.search(r"\bgit\b", source.text) is not None


def _added(stage: Stage, needed: str) -> Edit | None:
    """A line below the stage's `kind:`, where the stage is written in block style."""
    assert stage.spec is not None
    key, kind = stage.spec.places.get("kind"), stage.spec.kind.span
    if key is None or kind is None or kind.source is not key.source:
        return None
    text = key.source.text
    line = text.rfind("\n", 0, key.start) + 1
    indent = text[line : key.start]
    end = text.find("\n", kind.end)
    rest = text[kind.end : end if end >= 0 else len(text)]
    if indent.strip() or rest.strip():
        return None
    at = Span(kind.source, kind.end, kind.end).in_file()
    return Edit(at, f"\n{indent}branch: {needed}")


# ---- drivers and documents


def _of_driver(experiment: Experiment, ctx: Context) -> Iterator[Finding]:
    open_stages = [stage for stage in experiment.stages if needed_branch(stage) and stage.branch is None]
    needs = list(dict.fromkeys(map(needed_branch, open_stages)))
    others = {needed_branch(stage) for stage in experiment.stages if needed_branch(stage)}
    if not open_stages or len(others) < 2:
        return
    first = open_stages[0]
    if _switched_before(experiment, first):
        return
    folder = checkout_folder(first)
    help = f"run git -C {folder} checkout {needs[0]} before it"
    assert experiment.script is not None
    if len(needs) > 1:
        message = f"nothing chooses the branch: the stages from {first.kind} on need {_listed(needs)}"
        if experiment.script.document and _SAID.search(experiment.source.text):
            found = ctx.unsure(first.span, message, help=help, verify=f"git -C {folder} branch --show-current")
        else:
            found = ctx.fail(first.span, message, help=help)
    else:
        message = f"nothing chooses the branch for {first.kind}, which needs `{needs[0]}`"
        found = ctx.unsure(first.span, message, help=help, verify=f"git -C {folder} branch --show-current")
    for stage in _one_a_branch(open_stages)[1:]:
        found = found.with_related(stage.span, f"{stage.kind} needs `{needed_branch(stage)}`")
    yield found


def _is_family(experiment: Experiment, ctx: Context) -> bool:
    """Whether more than the names of launchers says that the stages are of a family with branches."""
    launches = (launch for stage in experiment.stages for launch in stage.launches)
    taught = (stage.taught.launcher.family for stage in experiment.stages if stage.taught is not None)
    if any(branches_of(launch.family) for launch in launches) or any(map(branches_of, taught)):
        return True
    home = posixpath.join(ctx.project.root.name, experiment.script.path if experiment.script is not None else "")
    found = family_of_folder(home)
    return found is not None and bool(branches_of(found.name))


def _switched_before(experiment: Experiment, stage: Stage) -> bool:
    """Whether any command before a stage, on any path, may have chosen the code that it runs."""
    assert experiment.script is not None
    for path in experiment.script.resolution.paths:
        for command in path.commands:
            if command.span.order() == stage.span.order():
                break
            if _may_choose(command, checkout_folder(stage)):
                return True
    return False


def _may_choose(command: Command, folder: str) -> bool:
    change = branch_change(command)
    if change is not None and change.folder and folder not in change.folder.lower():
        return False  # another repository
    argv = unwrap(command.argv).argv
    name = program_name(argv[0]) if argv else ""
    words = [word.known or "" for word in argv[1:]]
    if name == "git":
        cloned = "clone" in words and any(word.startswith(("-b", "--branch")) for word in words)
        return cloned or not _SWITCHES.isdisjoint(words)
    if name in ("pip", "pip3", "uv") or words[:2] == ["-m", "pip"]:
        return any("git+" in word for word in words)
    return "PYTHONPATH" in command.around.environment


def _one_a_branch(stages: Sequence[Stage]) -> list[Stage]:
    found: dict[str, Stage] = {}
    for stage in stages:
        found.setdefault(needed_branch(stage), stage)
    return list(found.values())


def _listed(names: Sequence[str]) -> str:
    *first, last = (f"`{name}`" for name in names)
    return f"{', '.join(first)} and {last}"
