"""A checkpoint must hold what is read from it later.

`save_contents` chooses what a checkpoint is made of. Without `optimizer` a run that goes on from it begins with empty
moments: the loss jumps, and the log looks like any other resume. Without `hf_model` there is no model in
`actor/huggingface`, only the shards, which something has to merge before an evaluation can load them. With LoRA the
`hf_model` holds the base weights under `base_model.…` names and the adapter beside them: what loads the folder as a
model does not get the trained one. `verl.model_merger` does the same with the shards of such a run: the base model goes
to `--target_dir`, the adapter to `lora_adapter` below, to 0.7.1 with `lora_alpha` 0, which switches it off.

Reported for a run that is told to resume (`resume_mode` or `resume_from_path` is written, or an earlier run of the
same script saved there) while its checkpoints have no optimizer, unless `load_contents` leaves it out as well; for a
folder `…/actor/huggingface` that a command reads, that the run does not write and nothing merges; for
`…/global_step_N/actor` itself, the shards, where a server or a trainer takes it for a model; for
`…/global_step_N/huggingface`, and for a merger that is given `…/global_step_N` or the backend of another engine, since
the trainer saves each role in a folder of its own; for `hf_model` of a run with LoRA; and for a program that takes what
the merger of the same script made of such a run for the trained model. Silent where the contents are not written
plainly.

Fix: add `optimizer` or `hf_model` to `save_contents`, or merge the shards first; merge the adapter of a LoRA run. The
unsafe fix changes the list where it is written.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.checkpoints import Ledger, Use, ledger_of_script
from verlint.experiment.launch import Launch
from verlint.experiment.paths import last_component, shown
from verlint.experiment.script import Script
from verlint.experiment.stage import Experiment
from verlint.finding import Edit, Finding, Safety
from verlint.rule import ERROR, WARNING, Context, rule
from verlint.source import Span
from verlint.value import Value
from verlint_rules.artifacts.merging import merged_folder
from verlint_rules.artifacts.reuse import resumptions
from verlint_rules.artifacts.shards import misread, shards_of_stages, shards_read
from verlint_rules.artifacts.training import CONTENTS, FREQUENCY, FROM, MODE, contents, is_test, is_training, saves
from verlint_rules.config.rewriting import one_more
from verlint_rules.on_policy.rewriting import list_with, list_without

_LOAD = "actor_rollout_ref.actor.checkpoint.load_contents"
_LORA = ("actor_rollout_ref.model.lora_rank", "actor_rollout_ref.model.lora.rank")

_SHARDS = "this folder holds the shards of a checkpoint, which cannot be loaded as a model"
_MERGE = "merge them first (python -m verl.model_merger merge …), and name the folder it writes"


@rule(
    "VL207",
    "checkpoint-contents",
    on=Experiment,
    severity=WARNING,
    since="0.1",
    fixable="unsafe",
    words=("contents", "huggingface", "global_step", "verl.model_merger"),
)
def check(experiment: Experiment, ctx: Context) -> Iterator[Finding]:
    if experiment.is_spec:
        for word in shards_of_stages(experiment):
            yield ctx.fail(word, _SHARDS, value=word.shown, help=_MERGE, severity=ERROR)
        return
    script = experiment.script
    if script is None or not script.resolution.paths:
        return
    launches = [
        launch
        for command in script.resolution.paths[0].commands
        if not command.builtin
        and not command.function
        and not command.around.stack
        and (launch := ctx.project.launch(command)) is not None
    ]
    for launch in launches:
        if is_training(launch) and saves(launch) and not is_test(launch):
            yield from _without_optimizer(launch, ctx)
            yield from _of_adapter(launch, ctx)
    if any((launch["actor_rollout_ref.model.lora_rank"].number() or 0) > 0 for launch in launches):
        yield from _of_merged_adapters(script, ctx)
    if experiment.root:
        yield from _of_pairs(script, ctx)
        yield from _unwritten(script, ctx)
        yield from _of_shards(script, ctx)
        yield from _misread(script, ctx)


# ---- the optimizer


def _lacks_optimizer(launch: Launch) -> Value | None:
    """What says that checkpoints have no optimizer, though it would be read."""
    said = contents(launch)
    load = launch[_LOAD]
    if said is None or "optimizer" in said[1] or "model" not in said[1]:
        return None
    return None if load.given and not (isinstance(load.data, list) and "optimizer" in load.data) else said[0]


def _without_optimizer(launch: Launch, ctx: Context) -> Iterator[Finding]:
    mode, path = launch[MODE], launch[FROM]
    told = mode if mode.given and str(mode) in ("auto", "resume_path") else path if path.given and path.data else None
    value = _lacks_optimizer(launch) if told is not None else None
    if value is not None and told is not None:
        yield _fresh(launch, value, told.span, f"resumes: {told.key} = {told}", ctx)


def _of_pairs(script: Script, ctx: Context) -> Iterator[Finding]:
    seen: set[object] = set()
    for each in resumptions(script, ctx.project):
        value = _lacks_optimizer(each.first)
        if value is None or value.span is None or value.span.order() in seen or each.second[MODE].given:
            continue
        seen.add(value.span.order())
        yield _fresh(each.first, value, each.second.head, "goes on from its checkpoints", ctx)


def _fresh(launch: Launch, value: Value, other: Span | None, label: str, ctx: Context) -> Finding:
    message = "checkpoints without the optimizer: a run that goes on from one begins with empty moments"
    # what is loaded is what is saved, where nothing else is said
    instead = "leave it out of load_contents too" if launch[_LOAD].given else f"do not resume: {MODE}=disable"
    found = ctx.fail(value, message, help=f"add optimizer to the contents, or {instead}")
    return _mended(found.with_related(other, label), "save the optimizer too", list_with(value, "optimizer"))


# ---- the model


def _of_adapter(launch: Launch, ctx: Context) -> Iterator[Finding]:
    said = contents(launch)
    rank = next((value for key in _LORA if (value := launch[key]).given and (value.number() or 0) > 0), None)
    if (
        said is None
        or rank is None
        or "hf_model" not in said[1]
        or launch["actor_rollout_ref.model.lora.merge"].truthy()
    ):
        return
    message = "with LoRA the saved hf_model is the base model beside an adapter, not the trained model"
    found = ctx.fail(said[0], message, help="take hf_model away, and merge the adapter before the model is used")
    found = found.with_related(rank.span, f"{rank.key} = {rank}")
    yield _mended(found, "leave hf_model out", list_without(said[0], "hf_model"))


def _of_merged_adapters(script: Script, ctx: Context) -> Iterator[Finding]:
    from verlint_rules.artifacts.adapters import RANK, misread

    for each in misread(script, ctx.project):
        if each.alone:
            message = "this folder holds the base model: the merger writes what LoRA trained to lora_adapter below it"
            help = "load the adapter of the checkpoint beside the base model, or merge it into the model first"
        else:
            message = "the merger of this VeRL writes lora_alpha 0 into the adapter, which then has no effect"
            help = "take the adapter that VeRL saves itself, …/actor/lora_adapter, or set lora_alpha in its config"
        rank = each.launch[RANK]
        found = ctx.fail(each.word, message, help=help, severity=ERROR)
        yield found.with_related(each.merger.span, "merged here").with_related(rank.span, f"{rank.key} = {rank}")


def _of_shards(script: Script, ctx: Context) -> Iterator[Finding]:
    for command, word in shards_read(script, ctx.project):
        place = word if word.span is not None else command.span
        yield ctx.fail(place, _SHARDS, value=word.shown, help=_MERGE, severity=ERROR)


def _misread(script: Script, ctx: Context) -> Iterator[Finding]:
    ledger = ledger_of_script(script, ctx.project.launch)
    for use, message, help_ in () if ledger.cut_short or not ledger.saves else misread(ledger, ctx.project):
        yield ctx.fail(use.span, message, value=use.word.shown, hops=use.word.trail(), help=help_, severity=ERROR)


def _unwritten(script: Script, ctx: Context) -> Iterator[Finding]:
    ledger = ledger_of_script(script, ctx.project.launch)
    if ledger.cut_short or not ledger.saves:
        return
    merged = {
        folder.shown for path in script.resolution.paths for each in path.commands if (folder := merged_folder(each))
    }
    seen: set[object] = set()
    for use in ledger.uses:
        name = last_component(use.folder).known
        key = (use.key, use.span.order())
        if key in seen or not name or "/huggingface" not in use.word.shown or ledger.made_otherwise(use):
            continue
        seen.add(key)
        if not any(name in each for each in merged):
            yield from _of_use(use, ledger, ctx)


def _of_use(use: Use, ledger: Ledger, ctx: Context) -> Iterator[Finding]:
    saving = [save for save in ledger.saves if save.key == use.key and save.place.before(use.place) and not save.never]
    launches = [launch for save in saving if (launch := ctx.project.launch(save.command)) is not None]
    values = [launch[CONTENTS] for launch in launches]
    if not values or len(launches) != len(saving):
        return
    if any(not value.decided or not isinstance(value.data, list) or "hf_model" in value.data for value in values):
        return
    role = use.role or "actor"
    held = ", ".join(map(str, values[0].data)) if isinstance(values[0].data, list) else ""
    found = ctx.fail(
        use.span,
        f"`{role}/huggingface` of `{last_component(use.folder).shown}` is read, but that run saves {held} only, and "
        "nothing merges its shards",
        value=f"{shown(use.folder)}/global_step_{use.step or '*'}/{role}/huggingface",
        hops=use.word.trail(),
        help="add hf_model to save_contents, or merge the shards before",
    )
    stack = saving[0].command.around.stack
    found = found.with_related(stack[0].span if stack else saving[0].span, "the run that saves")
    found = found.with_related(values[0].span if values[0].given else None, f"{CONTENTS} = {values[0]}")
    yield found if len(launches) > 1 else _mended(found, "save hf_model too", _with_model(launches[0], values[0]))


def _with_model(launch: Launch, value: Value) -> Edit | None:
    if value.given:
        return list_with(value, "hf_model")
    if not isinstance(value.data, list) or not value.data or _is_lora(launch):
        return None
    names = ",".join(map(str, [*value.data, "hf_model"]))
    return one_more(launch, launch[FREQUENCY], CONTENTS, f"'[{names}]'")


def _is_lora(launch: Launch) -> bool:
    return any(launch[key].given for key in _LORA)


def _mended(finding: Finding, title: str, edit: Edit | None) -> Finding:
    return finding if edit is None else finding.with_fix(title, edit, safety=Safety.UNSAFE)
