"""A launcher, tool or config that a command names must exist in the checkout.

`bash scripts/textgame_eval.sh.sh` fails with status 127 and the driver goes on with the next line: the stage is left
out, and what later stages read is missing or old. In a README the mistake costs everybody who copies the line.

The same goes for files that overrides name: `custom_reward_function.path`, a tool config, a prompt template.

Only what can be known is judged: relative paths, seen from a working directory inside the checkout, in a folder that
exists (or with a file of a similar name). Files that the run makes itself (`git clone`, `cp`, `wget`, `> run.sh`), that
a test asks for first, that `.gitignore` names, or that lie in a checkout which is not on disk or changes its branch on
the way are left alone. With `--ready` the experiment is to start now: a checkout of a spec that is not on disk, or
outside of what is checked, is an error then, as nothing was seen of its launchers.

A similar name is shown only when it says the same purpose: extraction is not evaluation. The fix is offered only for
misspelt letters, not where a whole word differs, as between a launcher and the one that calls it for many runs.

Fix: write the path of the file as it is. The unsafe fix writes the name that was misspelt.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.stage import Experiment
from verlint.files.kinds import mark_of
from verlint.finding import Edit, Finding, Safety
from verlint.languages.bash.command import Command
from verlint.rule import ERROR, Context, rule
from verlint.source import Span
from verlint_rules.reading.named_files import (
    Missing,
    absent_checkouts,
    missing_from_run,
    missing_from_spec,
    missing_of_command,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from verlint.experiment.spec import Spec, SpecStage

_LOOKS = {
    "script": "no such script",
    "tool": "no such tool",
    "config": "no such config",
    "code": "no such file of code",
}


@rule("VL010", "missing-script", on=Experiment, severity=ERROR, since="0.1", fixable="unsafe")
def check(experiment: Experiment, ctx: Context) -> Iterator[Finding]:
    if experiment.spec is not None and experiment.spec.spec is not None:
        for stage in experiment.spec.spec.stages.values():
            yield from _stage(experiment.spec.spec, stage, ctx)
        if ctx.project.settings.ready:
            yield from _absent(experiment.spec.spec, ctx)
    elif experiment.script is not None:
        yield from _script(experiment, ctx)


def _stage(spec: Spec, stage: SpecStage, ctx: Context) -> Iterator[Finding]:
    for called in missing_from_run(spec, stage, ctx.project) if stage.run_source is not None else ():
        if called.word is not None and not called.on_branch:
            found = ctx.fail(called.word, _message(called), near=called.near, help=_help(called))
            yield found.with_related(_first_line(called, ctx), "the file of the similar name")
    missing = missing_from_spec(spec, stage, ctx.project)
    if missing is None:
        return
    if missing.on_branch and not missing.near:
        checkout, branch = missing.folder or ".", missing.on_branch
        verify = f"git -C {checkout} cat-file -e {branch}:{missing.path} && echo there"
        message = f"no such script in {checkout}: {missing.path}; it may be on branch {branch} only"
        yield ctx.unsure(stage.launcher, message, verify=verify)
        return
    finding = ctx.fail(stage.launcher, _message(missing), near=missing.near, help=_help(missing))
    finding = finding.with_related(_first_line(missing, ctx), "the file of the similar name")
    yield _with_fix(finding, stage.launcher.span, missing)


def _absent(spec: Spec, ctx: Context) -> Iterator[Finding]:
    for checkout, what, launchers in absent_checkouts(spec, ctx.project):
        unseen = f": {launchers} launcher{'' if launchers == 1 else 's'} not checked" if launchers else ""
        outside = "outside" in what
        help = (
            "call verlint from a folder that holds spec and checkout" if outside else "clone it there, or correct path"
        )
        yield ctx.fail(checkout.path, f"checkout {checkout.path} {what}{unseen}", help=help)


def _script(experiment: Experiment, ctx: Context) -> Iterator[Finding]:
    script = experiment.script
    assert script is not None
    places = {
        command.span.order(): None
        for path in script.resolution.paths
        for command in path.commands
        if command.span.in_file().source is script.source
    }
    for place in sorted(places):
        variants = ctx.project.started_at(place)
        found = [list(missing_of_command(variant, ctx.project)) for variant in variants]
        if not found or not all(found):  # from one of the places it is started in the file is there
            continue
        for missing in found[0]:
            assert missing.word is not None
            finding = ctx.fail(missing.word, _message(missing), near=missing.near, help=_help(missing))
            finding = finding.with_related(_first_line(missing, ctx), "the file of the similar name")
            for span in _waiting_for(variants[0].command, experiment):
                finding = finding.with_related(span, "reads what it would have made")
            at = missing.word.span
            yield finding if at is None or _is_read_only(at) else _with_fix(finding, at, missing)


def _first_line(missing: Missing, ctx: Context) -> Span | None:
    """The start of the file of the similar name."""
    source = ctx.project.tree.pointed_at(missing.near_file) if missing.near_file else None
    return None if source is None else source.span(0, len(source.line(1)))


def _waiting_for(command: Command, experiment: Experiment) -> Iterator[Span]:
    """Where later stages name the run that the command was to make, as a folder of a path they read."""
    stages = experiment.stages
    own = next((stage for stage in stages if stage.command is command or stage.span == command.span), None)
    name = own.options.get("--exp_name") if own is not None else None
    if own is None or name is None or not name.known:
        return
    for stage in stages[own.order + 1 :]:
        for option, word in stage.options.items():
            if option != "--exp_name" and word is not None and name.known in word.shown.split("/"):
                yield word.span or stage.span


def _message(missing: Missing) -> str:
    where = f" in {missing.folder}" if missing.folder else ""
    return f"{_LOOKS[missing.kind]}{where}: {missing.path}"


def _help(missing: Missing) -> str:
    from verlint_rules.reading.purposes import is_slip

    if not missing.near:
        return "correct the path, or add the file"
    verb = "name" if missing.kind == "config" else "call"
    return f"{verb} {missing.near}" + (
        "" if is_slip(missing.path, missing.near) else " if it does the same, or add the file"
    )


def _is_read_only(span: Span) -> bool:
    """Whether a place is in a file that is read with the launcher and not checked, as EasyR1's configs are."""
    source = span.in_file().source
    return source.path.endswith((".yaml", ".yml")) and not mark_of(source.text)


def _with_fix(finding: Finding, span: Span | None, missing: Missing) -> Finding:
    """Offer the name that is misspelt where the path is written in one piece."""
    from verlint_rules.reading.purposes import is_slip

    if span is None or not missing.near or not is_slip(missing.path, missing.near):
        return finding
    written = span.in_file()
    if written.text.count(missing.path) != 1:
        return finding
    edit = Edit(written, written.text.replace(missing.path, missing.near))
    return finding.with_fix(f"write {missing.near}", edit, safety=Safety.UNSAFE)
