"""Trainers for supervised tuning are started by torchrun, those of Ray are not.

`fsdp_sft_trainer` and `sft_trainer` join the other processes by the ranks that `torchrun` sets. Under a plain `python3`
they stop with `environment variable RANK expected, but not set`. `main_ppo` starts its processes itself, through Ray:
under `torchrun --nproc_per_node=8` it runs eight times, and eight trainers fight for the same GPUs.

Silent under other launchers (`srun`, `mpirun`, `accelerate`), and in scripts that set ranks themselves.

Fix: `torchrun --nproc_per_node=8 -m verl.trainer.fsdp_sft_trainer …`, and `python3 -m verl.trainer.main_ppo …`.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.launch import Launch
from verlint.experiment.python_programs import is_python
from verlint.finding import Finding
from verlint.languages.bash.wrappers import program_name, unwrap
from verlint.lazy import pattern
from verlint.rule import ERROR, Context, rule
from verlint.verl.in_use import call_of
from verlint_rules.config.view import pictures

_RANKED = frozenset(["verl.trainer.fsdp_sft_trainer", "verl.trainer.sft_trainer"])
_OF_RAY = frozenset(["verl.trainer.main_ppo", "recipe.dapo.main_dapo"])
_SETS_RANKS = pattern(r"\b(?:LOCAL_RANK|RANK|WORLD_SIZE)\b|\bmpirun\b|\bmpiexec\b|\bsrun\b")


@rule(
    "VL934",
    "process-launcher",
    on=Launch,
    severity=ERROR,
    since="0.1",
    words=("sft_trainer", "torchrun", "torch.distributed"),
)
def check(launch: Launch, ctx: Context) -> Iterator[Finding]:
    module = call_of(launch.program.entry, ()).module
    if pictures(launch):
        return
    if module in _RANKED and _is_plain(launch):
        yield ctx.fail(
            launch.head,
            f"{module.rpartition('.')[2]} is started without torchrun: it stops with 'environment variable RANK "
            "expected, but not set'",
            help=f"torchrun --standalone --nproc_per_node=8 -m {module}",
        )
    elif module in _OF_RAY:
        from verlint.experiment.processes import processes_of

        count = processes_of(launch)
        if count is not None and count > 1:
            yield ctx.fail(
                launch.head,
                f"torchrun starts this trainer {count} times, and each starts workers of its own through Ray: they "
                "fight for the same GPUs",
                help=f"python3 -m {module}",
            )


def _is_plain(launch: Launch) -> bool:
    """Whether Python itself starts the trainer, and nothing in sight sets ranks."""
    found = unwrap(launch.command.argv)
    words = found.argv
    if not words or not is_python(program_name(words[0])):
        return False
    if len(words) > 2 and words[2].known != launch.program.entry:
        return False
    given = {*launch.command.around.environment, *launch.command.prefix, *found.assignments}
    text = launch.span.in_file().source.text
    return not given & {"RANK", "LOCAL_RANK"} and "srun" not in found.wrappers and _SETS_RANKS.search(text) is None
