"""A launcher whose number of nodes can be chosen should let the GPUs per node be chosen too.

Machines have 1, 2, 4 or 8 GPUs. Where the number of nodes comes from the environment, somebody runs the launcher on
other clusters, and has to edit it for nodes of another size: one more local change that is never committed.

An information, for launchers that take `trainer.nnodes` from the environment or an option and write
`trainer.n_gpus_per_node` as a number. Silent where both are written or both can be chosen, where the launcher passes
the overrides of the caller on (`"$@"`), and in batch scripts and job files, which say what the nodes are like.

Fix: `trainer.n_gpus_per_node="${N_GPUS_PER_NODE:-8}"`. The unsafe fix writes that.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.launch import Launch
from verlint.experiment.places import variants_in
from verlint.experiment.script import Script
from verlint.finding import Edit, Finding, Safety
from verlint.rule import INFO, Context, rule
from verlint.value import Hole
from verlint.verl.facts import GPUS, NODES
from verlint_rules.shell.call_words import sites_in


@rule("VL916", "literal-topology", on=Script, severity=INFO, since="0.1", fixable="unsafe", words=("n_gpus_per_node",))
def check(script: Script, ctx: Context) -> Iterator[Finding]:
    if script.topology is not None:
        return  # the scheduler is told what the nodes are like
    for site in sites_in(variants_in(ctx.project, script.source)):
        launches = [ctx.project.launch(variant.command) for variant in site]
        fixed = [launch for launch in launches if launch is not None and _is_fixed(launch)]
        if fixed and len(fixed) == len(launches):
            yield _finding(fixed[0], ctx)


def _is_fixed(launch: Launch) -> bool:
    """Whether the GPUs per node are a number that is written in the launch itself, and the nodes are not."""
    gpus = launch[GPUS]
    if launch.passes_arguments:
        return False
    number = gpus.number()
    if number is None or gpus.span is None or not _can_be_chosen(launch, NODES) or _can_be_chosen(launch, GPUS):
        return False
    return gpus.span.text == f"{number:g}"  # a variable of the launcher would be one place to change


def _finding(launch: Launch, ctx: Context) -> Finding:
    gpus = launch[GPUS]
    assert gpus.span is not None
    choice = f"${{N_GPUS_PER_NODE:-{gpus}}}"
    found = ctx.fail(gpus, f"{NODES} can be chosen by the caller, the GPUs per node cannot", help=f"{GPUS}={choice}")
    return found.with_fix("let the caller choose", Edit(gpus.span.in_file(), choice), safety=Safety.UNSAFE)


def _can_be_chosen(launch: Launch, key: str) -> bool:
    """Whether the environment or an option decides about a key that is given."""
    override = launch.by_key.get(key)
    parts = () if override is None else override.value_text.parts
    return any(isinstance(part, Hole) or bool(part.overridable) for part in parts)
