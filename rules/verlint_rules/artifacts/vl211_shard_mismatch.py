"""A run must resume on as many GPUs as the checkpoint was saved on.

FSDP saves one shard for each GPU, as `model_world_size_8_rank_0.pt`. A run on another number of GPUs looks for file
names with its own number and ends with FileNotFoundError, after the models are loaded. The optimizer's shards have the
same names.

Reported where both runs belong to one script or document and the number of GPUs of both is known: the second names a
step of the first (`resume_mode=resume_path`), or saves in the same folder and resumes by itself. Silent for Megatron,
whose checkpoints can be loaded on other numbers, and for runs that start from a merged model.

Fix: resume on the same number of GPUs, or merge the shards and start from the merged model.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.stage import Experiment
from verlint.finding import Finding
from verlint.rule import ERROR, Context, rule
from verlint.verl.facts import GPUS, NODES
from verlint_rules.artifacts.reuse import Resumption, resumptions


@rule("VL211", "shard-mismatch", on=Experiment, severity=ERROR, since="0.1", words=("default_local_dir",))
def check(experiment: Experiment, ctx: Context) -> Iterator[Finding]:
    script = experiment.script
    if script is None or not experiment.root:
        return
    seen: set[object] = set()
    for each in resumptions(script, ctx.project):
        from verlint_rules.artifacts.world import worlds_differ

        found = worlds_differ(each.first, each.second)
        place = each.second.span.order()
        if found is None or place in seen or (script.document and not each.named):
            continue
        seen.add(place)
        yield _finding(each, *found, ctx)


def _finding(each: Resumption, saved: int, used: int, ctx: Context) -> Finding:
    message = (
        f"this run resumes on {used} GPUs from shards of {saved}: it looks for model_world_size_{used}_rank_0.pt, and "
        f"there is model_world_size_{saved}_rank_0.pt"
    )
    found = ctx.fail(each.at, message, help=f"resume on {saved} GPUs, or merge the shards and start from the model")
    for run, what in ((each.second, "the run that resumes"), (each.first, "the run that saves")):
        found = found.with_related(run.head, what)
        for key in (NODES, GPUS):
            if run[key].given:
                found = found.with_related(run[key].span, f"{key} = {run[key]}")
    return found
