"""The header of a batch script and its launch must speak of the same nodes and GPUs.

Slurm gives what the `#SBATCH` lines ask for; VeRL takes what `trainer.nnodes` and `trainer.n_gpus_per_node` say. If the
trainer wants more, it waits for nodes or GPUs that never come, while the job pays for those it has. If it wants less,
the rest of the allocation idles, and batch sizes and speed are not those that the header promises.

More than the header gives is an error, less a warning. Silent where either number comes from the environment
(`${SLURM_NNODES}` is always right), where the header gives a range, for GPUs that are asked for in total, and where the
script starts something else on the remaining nodes or GPUs.

Fix: take the numbers from Slurm, `trainer.nnodes="${SLURM_NNODES}"` and
`trainer.n_gpus_per_node="${SLURM_GPUS_ON_NODE}"`, or write the same in both.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from verlint.experiment.launch import Launch
from verlint.experiment.places import variants_in
from verlint.experiment.script import Script
from verlint.finding import Finding, Severity
from verlint.lazy import pattern
from verlint.rule import ERROR, Context, rule
from verlint.verl.facts import GPUS, NODES
from verlint_rules.shell.batch_header import Asked, batch_header, is_batch_script

_GPUS = pattern(r"(?:gpu:)?(?:[A-Za-z][\w.-]*:)?(\d+)")
_ELSEWHERE = pattern(
    r"--(?:nodelist|exclude|relative|overlap)\b|\bvllm\s+serve\b|\blaunch_server\b|api_server\b|\bserver\b"
)
"""What a script has that gives nodes or GPUs to something beside the trainer."""


@rule("VL913", "scheduler-header", on=Script, severity=ERROR, since="0.1", words=("#sbatch",))
def check(script: Script, ctx: Context) -> Iterator[Finding]:
    if script.document or not is_batch_script(script.source):
        return
    header = batch_header(script.source)
    offers = {NODES: (_nodes(header), "node"), GPUS: (_gpus(header), "GPU per node")}
    seen: set[object] = set()
    for variant in variants_in(ctx.project, script.source):
        launch = ctx.project.launch(variant.command)
        if launch is None or launch.span.order() in seen:
            continue
        seen.add(launch.span.order())
        for key, (offer, what) in offers.items():
            if offer is not None and (found := _judged(launch, key, offer, what, ctx)) is not None:
                yield found


def _nodes(header: Mapping[str, Asked]) -> tuple[int, Asked] | None:
    asked = header.get("nodes")
    return (int(asked.value), asked) if asked is not None and asked.value.isdigit() else None


def _gpus(header: Mapping[str, Asked]) -> tuple[int, Asked] | None:
    for name in ("gpus-per-node", "gres"):
        asked = header.get(name)
        found = None if asked is None else _GPUS.fullmatch(asked.value)
        if asked is not None and found is not None and (name != "gres" or "gpu:" in asked.value):
            return int(found[1]), asked
    return None


def _judged(launch: Launch, key: str, offer: tuple[int, Asked], what: str, ctx: Context) -> Finding | None:
    given, asked = offer
    wanted = launch[key].number()
    if wanted is None or wanted == given or (key == NODES and given == 1 and not launch[key].given):
        return None
    less = wanted < given
    if less and _ELSEWHERE.search(launch.span.in_file().source.text):
        return None
    consequence = "the rest of the allocation idles" if less else "it waits for what never comes"
    things = (
        f"{given} {what}"
        if given == 1
        else f"{given} {what.replace('node', 'nodes', 1) if what == 'node' else what.replace('GPU', 'GPUs')}"
    )
    value = f"{key} = {wanted:g}" + ("" if launch[key].given else " (the default)")
    found = ctx.fail(
        launch[key] if launch[key].given else launch.head,
        f"the trainer wants {wanted:g}, and the header asks Slurm for {things}: {consequence}",
        value=value,
        help=f"{key}={given}, or ask Slurm for {wanted:g}",
        severity=Severity.WARNING if less else None,
    )
    return found.with_related(asked.span, "asks for it")
