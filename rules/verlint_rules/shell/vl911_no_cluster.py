"""A batch job on several nodes must start a Ray cluster.

`trainer.nnodes=4` does not start anything on other nodes: VeRL asks the Ray that is there for four nodes. In a Slurm
job nobody else has started one. Without `ray start` on the nodes the driver makes a Ray of its own on the first node
and finds no GPUs but those of that node: it stops (`Total available GPUs 8.0 is less than total desired GPUs 32`), and
VeRL 0.2 waits until the time of the job is over.

Reported for scripts with an `#SBATCH` header for more than one node that neither start nor join nor name a cluster.
A file that is sourced may start one, unless its name says that it only sets the environment (`…/bin/activate`,
`~/.bashrc`, `conda.sh`). Other launchers with `nnodes` above 1 are left alone: their Ray may well be running already.

Fix: `ray start --head` on the first node and `srun … ray start --address` on the others, before the launch.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.places import variants_in
from verlint.experiment.script import Script
from verlint.finding import Finding
from verlint.lazy import pattern
from verlint.rule import WARNING, Context, rule
from verlint.verl.facts import NODES

_CLUSTER = pattern(
    r"\bray[\"']?\s+(?:start|symmetric-run|job|up|attach|exec)\b|RAY_ADDRESS|\bsymmetric_run\b|ray_init\.address|\bsource\b|^\s*\.\s",
    8,
)
"""What starts, joins or names a cluster, or may do so out of sight."""
_SURROUNDINGS = pattern(
    r"(?m)(?:\bsource|^[ \t]*\.)[ \t]+(?:[^\s;&|]*/)?[\"']?"
    r"(?:activate|\.?bashrc|conda\.sh|\.?(?:bash_)?profile|set_env\.sh|setvars\.sh|\.env)[\"']?(?=[\s;&|]|\Z)"
)
"""Files that are sourced for their environment alone: nothing starts there."""


@rule("VL911", "no-cluster", on=Script, severity=WARNING, since="0.1", words=("#sbatch",))
def check(script: Script, ctx: Context) -> Iterator[Finding]:
    asked = None if script.scheduler is None else script.scheduler.nodes
    if asked is None or asked.number < 2 or _CLUSTER.search(_SURROUNDINGS.sub("", script.source.text)):
        return
    variants = variants_in(ctx.project, script.source)
    if any(variant.command.name in ("bash", "sh") for variant in variants):
        return  # the cluster may be the work of another script
    for variant in variants:
        launch = ctx.project.launch(variant.command)
        if (
            launch is None
            or not launch.program.entry.startswith("verl.trainer.main_")
            or _is_alone(launch[NODES].number())
        ):
            continue
        yield ctx.fail(
            launch[NODES] if launch[NODES].given else launch.head,
            "nothing here starts Ray on the other nodes: the trainer finds the GPUs of one node only, and stops",
            help="ray start --head on the first node, srun … ray start --address on the others",
        ).with_related(asked.span, f"{asked.number} nodes")
        return


def _is_alone(nodes: float | None) -> bool:
    return nodes is not None and nodes < 2
