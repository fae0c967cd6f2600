"""What a model wrote is never run as code with the rights of the job.

`eval(answer)` in a reward function looks harmless while answers are numbers. A policy that is rewarded for what `eval`
gives finds `__import__("os")` by itself, and every worker runs it with the files, the network and the credentials of
the job; the same holds for `exec`, for a shell, and for `python -c`. An empty `__builtins__` keeps nobody out: each
object leads back to them.

Answers are followed from where they come in (`generate` and `chat` of a model, chat completions, `solution_str` of a
reward function) through names, functions and strings to the call that runs them, within one file. It is to be verified
where only a name says that it is an answer, or where the file speaks of a sandbox. Silent for `ast.literal_eval`, for
programs started in a container (`docker run`, `bwrap`, `firejail`), and where the function lets through numbers and
operators only, and once a spec of the project grants it to a stage that runs the file. Looked at are Python files of
experiments, tools that launchers call, and custom reward functions.

VeRL's own scorers do it too: without a custom reward function the `data_source` of a row chooses the scorer, and that
of `numina_*` calls `eval` on answers with a π or a matrix, those of `codecontests`, `apps`, `codeforces` and `taco` run
them as programs unless `sandbox_fusion.url` is set. Launches are held against the `data_source` that a Python tool
called before them writes into their data; what only stands in a parquet file is not seen.

Fix: parse the answer (`ast.literal_eval`, `json.loads`, a regular expression), or run it in a sandbox without network
and credentials, and grant that under `approvals` in the spec.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from verlint.experiment.paths import absolute, in_tree
from verlint.experiment.places import variants_in
from verlint.experiment.tools import called_tool
from verlint.experiment.variants import Variant
from verlint.files.kinds import Kind
from verlint.files.loading import Loaded
from verlint.finding import Finding
from verlint.rule import ERROR, Context, rule
from verlint.source import Source
from verlint_rules.evaluation.code_execution import refusal, stages_that_run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from verlint.languages.python.taint import Flow
    from verlint_rules.evaluation.own_scorers import Writers

_REWARDS = (
    "custom_reward_function.path",
    "reward_model.custom_reward_function.path",
    "reward.custom_reward_function.path",
)
_HELP = "parse it (ast.literal_eval, json.loads), or run it in a sandbox without network and credentials"


@rule("VL512", "evaluates-model-output", on=Loaded, severity=ERROR, since="0.1", words=(".py",))
def check(file: Loaded, ctx: Context) -> Iterator[Finding]:
    found = list(_found(file, ctx))
    if found and not _is_granted(file, ctx):
        yield from found


def _is_granted(file: Loaded, ctx: Context) -> bool:
    """Whether a spec grants it to a stage that runs this file, or a launcher that uses it."""
    users = [file]
    if file.kind is Kind.PYTHON:
        users += [
            each
            for each in ctx.project.files
            if each.kind is Kind.LAUNCHER
            and any(
                source is file.source
                for variant in variants_in(ctx.project, each.source)
                for source in _used_by(variant, ctx)
            )
        ]
    paths = [ctx.project.tree.relative(each.path) or each.source.path for each in users]
    return any(refusal(spec, stage) is None for path in paths for spec, stage in stages_that_run(ctx.project, path))


def _found(file: Loaded, ctx: Context) -> Iterator[Finding]:
    if file.kind is Kind.PYTHON:
        yield from _of_text(file.source, ctx)
    elif file.kind in (Kind.LAUNCHER, Kind.DOCUMENT):
        checked = {id(each.source) for each in ctx.project.files}
        writers: Writers = {}
        for variant in variants_in(ctx.project, file.source):
            yield from _of_data(variant, writers, ctx)
            for source in _used_by(variant, ctx):
                if id(source) not in checked:
                    checked.add(id(source))
                    yield from _of_text(source, ctx)


def _of_data(variant: Variant, writers: Writers, ctx: Context) -> Iterator[Finding]:
    """What VeRL's own scorers run, where the launch names no scorer of its own."""
    command = variant.command
    launch = None if command.builtin or command.function else ctx.project.launch(command)
    if launch is not None and not any(key in launch for key in _REWARDS):
        from verlint_rules.evaluation.own_scorers import scored_by_running

        yield from scored_by_running(variant, launch, writers, ctx)


def _used_by(variant: Variant, ctx: Context) -> Iterator[Source]:
    """The tool that a command calls, and the reward function that a launch names."""
    command, tree = variant.command, ctx.project.tree
    launch = None if command.builtin or command.function else ctx.project.launch(command)
    if launch is None:
        called = called_tool(command, tree, variant.entry.start)
        if called is not None:
            yield called.tool.source
        return
    for key in _REWARDS:
        value = launch.by_key.get(key)
        text = None if value is None else value.value.text
        if text is None or not text.suffix.endswith(".py"):
            continue
        place = in_tree(absolute(text, command.around.cwd))
        if place is None and text.known is not None and not text.known.startswith("/"):
            place = posixpath.normpath(posixpath.join(variant.entry.start, text.known))
        source = None if place is None or place.startswith("..") else tree.source(place)
        if source is not None:
            yield source


def _of_text(source: Source, ctx: Context) -> Iterator[Finding]:
    from verlint.languages.python.tool import tool

    for flow in tool(source).flows:
        yield _finding(flow, ctx)


def _finding(flow: Flow, ctx: Context) -> Finding:
    path = flow.span.in_file().source.path
    message = f"{flow.origin.what} is run by {flow.sink}, with the rights and credentials of the job"
    if flow.origin.certain and not flow.guard:
        finding = ctx.fail(flow.span, message, value=_short(flow.span.text), help=_HELP)
    else:
        why = f"{path} speaks of {flow.guard}" if flow.guard else "where it comes from"
        verify = f"grep -n '{flow.guard}' {path}" if flow.guard else f"sed -n '{flow.span.begin.line}p' {path}"
        text = f"{message}, unless it is boxed in: {why}" if flow.guard else f"{message}, if a model wrote it"
        finding = ctx.unsure(flow.span, text, value=_short(flow.span.text), help=_HELP, verify=verify)
    return finding.with_related(flow.origin.span, "it comes in here")


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 80 else line[:77] + "..."
