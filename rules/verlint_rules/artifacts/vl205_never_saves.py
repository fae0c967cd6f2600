"""A run whose checkpoints are wanted must be told to save them.

VeRL's `trainer.save_freq` is -1 by default, and with 0 or less nothing is ever saved, not even the last step: the run
trains for days and leaves only its log. Nothing warns of it.

Reported where somebody evidently wants checkpoints: the launch chooses their folder (`trainer.default_local_dir`), how
many to keep, or what they hold, and leaves `save_freq` at its default; it says how many to keep and switches saving
off; or it is a tracked run of 200 steps or 10 epochs that says nothing of checkpoints at all. Silent for an explicit
`save_freq=-1` beside a folder (smoke tests and benchmarks say that); for runs that only validate; below `tests/`; for
SFT, which saves its last step; for shortened commands of documents; and where the caller may set the key. A later stage
that uses a checkpoint of such a run is VL203.

Fix: set `trainer.save_freq` to the number of steps between two checkpoints.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.launch import Launch
from verlint.finding import Finding
from verlint.rule import WARNING, Context, rule
from verlint.value import Value
from verlint.verl.facts import Facts
from verlint_rules.artifacts.training import CONTENTS, FOLDER, FREQUENCY, everywhere, is_test, is_training
from verlint_rules.config.view import is_cut, pictures

_LONG = {"trainer.total_training_steps": 200, "trainer.total_epochs": 10}
_UNITS = {"trainer.total_training_steps": "steps", "trainer.total_epochs": "epochs"}
_TRACKERS = ("wandb", "swanlab", "mlflow", "tensorboard", "clearml", "trackio")
_HELP = f"set {FREQUENCY}=N to save every N steps and the last one"
_KEPT = ("trainer.max_actor_ckpt_to_keep", "trainer.max_critic_ckpt_to_keep")


@rule(
    "VL205",
    "never-saves",
    on=Launch,
    severity=WARNING,
    since="0.1",
    words=("default_local_dir", "ckpt_to_keep", "save_contents", "total_training_steps", "total_epochs"),
)
def check(launch: Launch, ctx: Context) -> Iterator[Finding]:
    if not is_training(launch) or launch.passes_arguments or is_test(launch):
        return
    frequency = launch[FREQUENCY]
    wants = [value for key in (*_KEPT, CONTENTS, FOLDER) if _is_wish(value := launch[key])]
    if frequency.given:
        wants = [value for value in wants if value.key in _KEPT]
        if not wants or (frequency.number() or 1) > 0:
            return
        message = f"save_freq is {frequency}: nothing is ever saved, not even the last step, so there is none to keep"
        found = ctx.fail(frequency, message, help=f"set {FREQUENCY} above 0, or take {wants[0].key} away")
        yield found.with_related(wants[0].span, f"{wants[0].key} = {wants[0]}")
        return
    long = None if wants else _long(launch)
    if not wants and long is None:
        return
    if not everywhere(launch, _saves_nothing) or is_cut(launch, ctx.project) or pictures(launch):
        return
    if long is not None:
        message = f"{long} of training, and nothing is ever saved: save_freq is not given, and its default is -1"
        found = ctx.fail(long, message.replace(str(long), f"{long} {_UNITS[long.key]}", 1), help=_HELP)
        yield found.with_related(launch.head, f"{FREQUENCY} is not among its overrides")
        return
    at = launch[FOLDER] if _is_wish(launch[FOLDER]) else wants[0]
    message = "nothing is ever saved here, not even the last step: save_freq is not given, and its default is -1"
    found = ctx.fail(at, message, help=_HELP)
    yield found.with_related(launch.head, f"{FREQUENCY} is not among its overrides")


def _long(launch: Launch) -> Value | None:
    """What says that a run which is tracked is a long one."""
    logger = launch["trainer.logger"]
    tracked = logger.given and any(name in str(logger) for name in _TRACKERS)
    for key, least in _LONG.items():
        value = launch[key]
        number = value.number() if value.given else None
        if tracked and number is not None:
            return value if number >= least else None
    return None


def _is_wish(value: Value) -> bool:
    return value.given and not (value.decided and value.data in (None, "", 0))


def _saves_nothing(facts: Facts) -> bool:
    return facts.trains and facts.number(FREQUENCY) <= 0
