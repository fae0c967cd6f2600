"""Which launches claim to train on-policy, and which of their absent keys have a default that can be trusted."""

from __future__ import annotations

import re

from verlint.experiment.launch import Launch
from verlint.lazy import pattern
from verlint.value import State, Value
from verlint.verl.defaults import version_key

ESTIMATOR = "algorithm.adv_estimator"
TRAIN_BATCH = "data.train_batch_size"
MINI_BATCH = "actor_rollout_ref.actor.ppo_mini_batch_size"
EPOCHS = "actor_rollout_ref.actor.ppo_epochs"
USE_KL = "actor_rollout_ref.actor.use_kl_loss"
KL_COEFFICIENT = "actor_rollout_ref.actor.kl_loss_coef"
REWARD_KL = "algorithm.kl_ctrl.kl_coef"
ENTROPY = "actor_rollout_ref.actor.entropy_coeff"
STRATEGY = "actor_rollout_ref.actor.strategy"
SAMPLES = "actor_rollout_ref.rollout.n"

_MAIN = "verl.trainer.main_ppo"
"""The entry point of nearly all launches, which needs no look at an expression."""

_WITHOUT_UPDATES = pattern(r"(?:^|[./])(?:main_(?:eval|gen)\w*|\w*sft\w*|model_merger\w*|\w+_merger)(?:\.py)?$")
"""Entry points that run no policy update: scoring, generation, supervised training, merging of shards."""

_STOCK_ENTRY = pattern(r"verl\.trainer\.main_ppo|(?:.*/)?verl/trainer/main_ppo\.py")
_OWN_ACTOR = pattern(
    r"verl\.trainer\.main_ppo\w*|recipe\.dapo\.main_\w+|(?:.*/)?(?:verl/trainer|recipe/dapo)/main_\w+\.py"
)
"""Entry points whose updates are made by VeRL's own actors."""

_STOCK_CONFIG = pattern(
    r"--config-name=(?:ppo_trainer|ppo_megatron_trainer)(?:\.ya?ml)?|--config-path=(?:\./)?config/?"
)
_CONFIG_OPTION = pattern(r"--config-(?:name|path|dir)\b|-c[npd]\b")
_DISTILLING = frozenset(["oel", "opcd", "coach"])
"""Families whose trainers minimise a KL to a teacher; their configs have defaults of their own."""


def claims_exact(launch: Launch) -> bool:
    """Whether the launch trains and claims one update per rollout batch with neither a KL nor an entropy term.

    The claim is the spec's intent, a directive, the OPO family, or its estimator. Another intent that is given wins.
    """
    return trains(launch) and (launch.intent or _implied(launch)) == "exact"


def claims_one_update(launch: Launch) -> bool:
    """Whether the launch trains and claims one update per rollout batch, whatever terms its loss has."""
    return trains(launch) and (launch.intent or _implied(launch)) in ("exact", "single-update")


def trains(launch: Launch) -> bool:
    """Whether the launch updates a policy: no validation, generation, merging, and no supervised training."""
    if launch.program.entry != _MAIN and _WITHOUT_UPDATES.search(launch.program.entry):
        return False
    validates = launch["trainer.val_only"].equals(True) is True
    # val_only returns from within the validation before training, so without that one the training runs
    return not validates or launch["trainer.val_before_train"].equals(False) is True


def distils(launch: Launch) -> bool:
    """Whether a KL to a teacher is what the launch minimises."""
    stage, teacher = launch["trainer.stage"], launch["distillation.enabled"]
    return launch.family in _DISTILLING or stage.equals("consolidate") is True or teacher.equals(True) is True


def undecided(launch: Launch, key: str) -> bool:
    """Whether the key is left to a config whose default is not known here: of an unknown version, a fork, one's own."""
    value = launch[key]
    return not value.given and not (value.has_default and stock_config(launch))


def stock_config(launch: Launch) -> bool:
    """Whether absent keys have VeRL's own defaults: its PPO entry point with its own config file, no fork's, and no
    word left out."""
    if launch.leaves_words_out:
        return False
    if launch.family not in ("", "opo") or not has_stock_entry(launch):
        return False
    words = (word.known or word.prefix for word in launch.options)
    if not all(_STOCK_CONFIG.fullmatch(word) for word in words if _CONFIG_OPTION.match(word)):
        return False
    if launch.verl is None or not launch.verl.guess:
        return True
    from verlint_rules.config.view import on_unnamed_fork

    return not on_unnamed_fork(launch)


def has_stock_entry(launch: Launch) -> bool:
    """Whether the launch starts VeRL's own PPO entry point."""
    entry = launch.program.entry
    return entry == _MAIN or _STOCK_ENTRY.fullmatch(entry) is not None


def has_own_actor(launch: Launch) -> bool:
    """Whether the updates are made by VeRL's own actors, not by those of a recipe or a fork that is not known."""
    entry = launch.program.entry
    return launch.family != "gad" and (entry == _MAIN or _OWN_ACTOR.fullmatch(entry) is not None)


def has_opo_estimator(launch: Launch) -> bool:
    """Whether the estimator is upstream's `opo`, which exists since VeRL 0.4."""
    return launch[ESTIMATOR].equals("opo") is True


def older_than(launch: Launch, version: str) -> bool:
    """Whether the VeRL version in use is known and older."""
    mine, wanted = version_key(launch.version), version_key(version)
    return mine is not None and wanted is not None and mine < wanted


def open_holes(value: Value) -> bool:
    """Whether a value is one unknown text, so that a look at the target host decides it."""
    return value.state in (State.SYMBOLIC, State.UNKNOWN) and value.text is not None and bool(value.text.holes)


def look_up(*values: Value) -> str:
    """The command that shows what the unknown parts of the values are on the target host."""
    holes = {hole.name: hole for value in values if value.text is not None for hole in value.text.holes}
    shown = [name if name.startswith("$") else f"${{{name}}}" for name in holes if not name.startswith(("--", "<"))]
    asked = [name for name in holes if name.startswith(("--", "<")) or re.fullmatch(r"\$[\d@*]", name)]
    if asked:
        span = next((value.span for value in values if open_holes(value) and value.span is not None), None)
        path = span.in_file().source.path if span is not None else "."
        wanted = path.rsplit("/", 1)[-1] if asked[0].startswith("$") else asked[0]
        return f"grep -rn -e '{wanted}' .  # which value do the calls of {path} pass?"
    return f'echo "{" ".join(shown)}"'


def in_config(launch: Launch, key: str) -> str:
    """The command that shows what the config of the launch holds for a key."""
    short = key.rsplit(".", 1)[-1]
    for word in launch.options:
        option, _, name = (word.known or "").partition("=")
        if option == "--config-name" and re.fullmatch(r"[\w.-]+", name):
            return f"grep -rn {short} --include={name.removesuffix('.yaml')}.yaml ."
    return f"grep -rn {short} verl/trainer/config"


def default_of(value: Value) -> str:
    """ " (default of VeRL 0.2.0)" for a key that is not given, else ""."""
    note = next((hop.note for hop in value.hops if hop.span is None), "default")
    return "" if value.given else f" ({note})"


def _implied(launch: Launch) -> str:
    return "exact" if launch.family == "opo" or has_opo_estimator(launch) else ""
