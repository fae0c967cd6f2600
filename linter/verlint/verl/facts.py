"""What follows from the config of a launch on one version of VeRL: GPUs, data parallelism, workers, trainer, roles.

Everything is three-valued. A value that only the target host knows raises `Undecided` where it is read, so whatever is
built on it is undecided too. A switch that is not known raises `Open` with the values it may have, and `outcomes`
tries them all: what holds whichever way the switch stands is certain.

Sources of the derived facts: `trainer/main_ppo.py`, `trainer/ppo/ray_trainer.py`, `trainer/ppo/utils.py`,
`workers/fsdp_workers.py` and `workers/engine_workers.py` of the wheels 0.2.0.post2 to 0.9.1.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache, cached_property, partial

from verlint.record import dataclass
from verlint.value import Data, is_quantity, show
from verlint.verl.interpolation import MISSING, Broken, Unknown
from verlint.verl.undecided import Open, Undecided
from verlint.verl.versions import version_key

TYPE_CHECKING = False  # as `typing` says it, without its import
if TYPE_CHECKING:
    from typing import Any

    from verlint.languages.hydra.override import Override
    from verlint.verl.in_use import VerlInUse
    from verlint.verl.model_config import ModelConfig
    from verlint.verl.overriding import Applied

ROLLOUT_ROLE = "actor_rollout_ref"
ACTOR = f"{ROLLOUT_ROLE}.actor"
ROLLOUT = f"{ROLLOUT_ROLE}.rollout"
REF = f"{ROLLOUT_ROLE}.ref"
MODEL = f"{ROLLOUT_ROLE}.model"
MODEL_PATH = f"{MODEL}.path"
CRITIC_PATH = "critic.model.path"

HEADS = "num_attention_heads"
KV_HEADS = "num_key_value_heads"
LONGEST = "max_position_embeddings"
LAYERS = "num_hidden_layers"
"""Numbers of a model's own config."""

TRAIN_BATCH = "data.train_batch_size"
MINI_BATCH = f"{ACTOR}.ppo_mini_batch_size"
SAMPLES_OF_PROMPT = f"{ROLLOUT}.n"
GPUS = "trainer.n_gpus_per_node"
NODES = "trainer.nnodes"
DYNAMIC = f"{ACTOR}.use_dynamic_bsz"
STRATEGY = f"{ACTOR}.strategy"
SEQUENCE_PARALLEL = f"{ACTOR}.ulysses_sequence_parallel_size"
ESTIMATOR = "algorithm.adv_estimator"

MAIN = "verl.trainer.main_ppo"
_CAPPING_MARK = f"{ACTOR}.kl_topk"
"""A key that only those forks have whose actor caps the mini-batch at the batch (`actual_ppo_mini_batch_size` in
`workers/actor/dp_actor.py` of the forks oel, opcd and coach)."""
_IMPLEMENTATION = "trainer.use_legacy_worker_impl"
"""The key that chooses the workers, gone with the legacy ones in 0.8.0."""
_LAST = 999
_MANY = 12
_NOTHING = object()
_UNDECIDED = object()
_PLAIN = (bool, int, float, str)
_ABOUT: dict[tuple[str, str], dict[int, Any]] = {}
"""What `Facts.about` is, by version and entry point."""


def _none(*_: object) -> None:
    return None


@dataclass(frozen=True)
class AtHand:
    """What is known of a launch beside its config, looked for when it is asked: the configs of the policy and of the
    critic, the rows in data files, and the processes that are started. None when it is not at hand."""

    model: Callable[[], ModelConfig | None] = _none
    critic: Callable[[], ModelConfig | None] = _none
    rows: Callable[[Sequence[str]], int | None] = _none
    processes: Callable[[], int | None] = _none


class Facts:
    """The config of a launch on one version, and what follows from it.

    `version` and `label` name the version or checkout; `entry` is the dotted name of the entry point; `at_hand` is
    what of models and data is on disk. `read` collects the keys that were asked for, `beyond` says whether anything was
    that is no value of a key: what the launch itself gives, and what is on disk. `about` keeps what is found of all
    launches on this version and with this entry point. Methods raise `Undecided` for what is not known before the
    run."""

    def __init__(
        self,
        compose: Callable[[], Applied | None],
        version: str,
        label: str,
        entry: str = MAIN,
        chosen: Mapping[str, Data] | None = None,
        at_hand: AtHand | None = None,
    ) -> None:
        self._compose = compose
        self.version = version
        self.label = label
        self.entry = entry
        self.chosen: Mapping[str, Data] = chosen or {}
        self.read: dict[str, None] = {}
        self.beyond = False
        self.about = _ABOUT.setdefault((version, entry), {})
        self._found: dict[str, object] = {}
        self.at_hand = at_hand or AtHand()

    def choosing(self, key: str, value: Data) -> Facts:
        """The same launch with a value for a switch that is not known."""
        chosen = {**self.chosen, key: value}
        other = Facts(lambda: self.config, self.version, self.label, self.entry, chosen, self.at_hand)
        other._found = self._found
        return other

    @cached_property
    def config(self) -> Applied | None:
        """The composed config with all overrides, None when it is not known."""
        return self._compose()

    @cached_property
    def _refused(self) -> frozenset[str]:
        """Keys whose override Hydra refuses, or may refuse: nobody knows what was meant to hold there. Those that the
        version does not have are none: nothing reads them."""
        config = self.config
        if config is None:
            return frozenset()
        refused = [
            each.override.key for each in config.refusals if each.override is not None and each.kind != "unknown-key"
        ]
        return frozenset(refused + [each.key for each in config.undecided])

    def at_least(self, version: str) -> bool:
        """Whether the version is this one or newer."""
        return padded(self.version) >= padded(version)

    # ---- single keys

    def _at(self, key: str) -> object:
        self.read[key] = None
        if key in self.chosen:
            return self.chosen[key]
        found = self._value_of(key)
        if found is _UNDECIDED:
            raise Undecided(key)
        return found

    def values(self, keys: Collection[str]) -> tuple[tuple[str, object], ...] | None:
        """Keys with their values, for `has_values` of other launches; None when one is a list or a section."""
        found = tuple((key, self._value_of(key)) for key in keys)
        return None if any(isinstance(each, (list, dict)) for _, each in found) else found

    def has_values(self, values: tuple[tuple[str, object], ...]) -> bool:
        """Whether keys have these values. One that only the host knows is as good as any other."""
        kept = self._found
        for key, value in values:
            found = kept.get(key, self)
            if found is self:
                found = self._value_of(key)
            if found is value:
                continue
            if found.__class__ is not value.__class__:
                return False
            if isinstance(found, Unknown):
                if found.broken != value.broken:  # type: ignore[attr-defined]
                    return False
            elif found.__class__ not in _PLAIN or found != value:
                return False
        return True

    def _value_of(self, key: str) -> object:
        """The value of a key as it is kept, without a note that it was asked for."""
        found = self._found.get(key, self)
        if found is self:
            found = self._found[key] = self._look_up(key)
        return found

    def _look_up(self, key: str) -> object:
        if self.config is None or key in self._refused:
            return _UNDECIDED
        try:
            return self.config.resolver.find(key, _NOTHING)
        except Broken:
            return _UNDECIDED

    def has(self, key: str) -> bool:
        """Whether the config has the key."""
        return self._at(key) is not _NOTHING

    def given(self, key: str) -> bool:
        """Whether the launch sets the key."""
        self.beyond = True
        return self.config is not None and key in self.config.set_by

    @property
    def given_keys(self) -> Collection[str]:
        """The keys that the launch sets."""
        self.beyond = True
        return () if self.config is None else self.config.set_by

    @property
    def whole(self) -> bool:
        """Whether the launch sets so many keys that what it leaves out is left to the defaults on purpose, not to show
        some overrides only. The launchers of VeRL's own examples set 20 to 60."""
        return len(self.given_keys) >= _MANY

    def get(self, key: str, otherwise: object = _NOTHING) -> Data:
        """The value of a key. `otherwise` is what it is taken for when the config has no such key."""
        found = self._at(key)
        if found is _NOTHING:
            found = otherwise
        if found is _NOTHING or found == MISSING or isinstance(found, (Unknown, dict, list)):
            raise Undecided(key)
        return found  # type: ignore[return-value]

    def number(self, key: str, otherwise: object = _NOTHING) -> int | float:
        """The value of a key as a number."""
        found = self.get(key, otherwise)
        if not is_quantity(found):
            raise Undecided(key)
        return found

    def count(self, key: str, otherwise: object = _NOTHING) -> int:
        """The value of a key as a whole number."""
        found = self.number(key, otherwise)
        if not isinstance(found, int):
            raise Undecided(key)
        return found

    def count_or_none(self, key: str) -> int | None:
        """The value of a key as a whole number; None for null, and where the config has no such key."""
        return None if self.get(key, None) is None else self.count(key)

    def flag(self, key: str, otherwise: bool = False) -> bool:
        """Whether a switch is on. One that is not known is open."""
        found = self._at(key)
        if found is _NOTHING:
            found = otherwise
        if isinstance(found, Unknown) and not found.broken:
            raise Open(key, (True, False))
        if isinstance(found, bool) or found is None:
            return bool(found)
        raise Undecided(key)

    def text(self, key: str, otherwise: object = _NOTHING) -> str:
        """The value of a key as text, "" for null."""
        found = self.get(key, otherwise)
        if found is not None and not isinstance(found, str):
            raise Undecided(key)
        return found or ""

    def plain(self, key: str) -> object:
        """The value of a key, lists and sections as they are; None for null, and where the config has no such key."""
        found = self._at(key)
        if found == MISSING or isinstance(found, Unknown):
            raise Undecided(key)
        if isinstance(found, list) and any(isinstance(each, Unknown) for each in found):
            raise Undecided(key)
        return None if found is _NOTHING else found

    def texts(self, key: str) -> list[str]:
        """The text of a key, or those of its list, with unknown parts as people write them (`${HOME}/a.parquet`)."""
        self.beyond = True
        found = self._at(key)
        if isinstance(found, Unknown) and found.value is not None and found.value.text is not None:
            return [found.value.text.shown]
        return [each for each in (found if isinstance(found, list) else [found]) if isinstance(each, str)]

    # ---- hardware

    @property
    def n_gpus(self) -> int:
        """GPUs of the trainer: `trainer.nnodes` times `trainer.n_gpus_per_node`."""
        return self.count(GPUS) * self.count(NODES)

    @property
    def processes(self) -> int:
        """The processes that the launcher starts, one on each GPU; where Ray starts them it is not known."""
        self.beyond = True
        found = self.at_hand.processes()
        if not found:
            raise Undecided(GPUS)
        return found

    @property
    def strategy(self) -> str:
        """The actor's strategy: "fsdp", "fsdp2", "megatron", …"""
        return self.text(STRATEGY, "fsdp")

    @property
    def sharded(self) -> bool:
        """Whether the actor runs on FSDP."""
        return self.strategy in ("fsdp", "fsdp2")

    @property
    def sequence_parallel(self) -> int:
        """GPUs that share one sequence in the FSDP actor (Ulysses)."""
        size = self.count(SEQUENCE_PARALLEL, 1)
        if size == 1 and self.implementation == "engine":
            return self.count(f"{ACTOR}.fsdp_config.ulysses_sequence_parallel_size", 1)
        return size

    @property
    def model_parallel(self) -> int:
        """GPUs that share one sample in the actor: sequence parallel, or Megatron's tensor x pipeline x context."""
        if self.sharded:
            return self.sequence_parallel
        if self.strategy != "megatron":
            raise Undecided(STRATEGY)
        megatron = f"{ACTOR}.megatron"
        tensor, pipeline = (self.count(f"{megatron}.{each}_model_parallel_size") for each in ("tensor", "pipeline"))
        return tensor * pipeline * self.count(f"{megatron}.context_parallel_size", 1)

    @property
    def dp(self) -> int:
        """Data parallel ranks of the actor; undecided when the GPUs do not divide."""
        gpus, shared = self.n_gpus, self.model_parallel
        if shared <= 0 or gpus <= 0 or gpus % shared:
            raise Undecided(GPUS)
        return gpus // shared

    # ---- code paths

    @property
    def implementation(self) -> str:
        """The workers: "legacy" (`fsdp_workers.py`, `megatron_workers.py`) or "engine" (`engine_workers.py`)."""
        if not self.at_least("0.7.0"):
            return "legacy"
        return "engine" if self.get(_IMPLEMENTATION, "disable") == "disable" else "legacy"

    @property
    def trainer(self) -> str:
        """The training loop: "v1" from 0.9.0 on unless `trainer.use_v1` is off, else "v0"."""
        if not self.at_least("0.9.0") or self.entry != MAIN:
            return "v0"
        return "v1" if self.flag("trainer.use_v1") else "v0"

    @property
    def trains(self) -> bool:
        """Whether the policy is updated: no `val_only`, and no stage of the forks that only samples."""
        if self.flag("trainer.val_only") and self.flag("trainer.val_before_train", otherwise=True):
            return False
        return not self.caps_mini_batch or self.text("trainer.stage", "") in ("consolidate", "rl")

    @property
    def rollout_path(self) -> str:
        """How samples are made: "agent_loop" (a server, request by request) or "spmd" (one batch on every rank)."""
        if self.at_least("0.7.0"):
            return "agent_loop"
        asynchronous = self.at_least("0.4.0") and self.text(f"{ROLLOUT}.mode", "sync") == "async"
        return "agent_loop" if asynchronous else "spmd"

    # ---- roles

    @property
    def critic_used(self) -> bool:
        """Whether a critic is trained."""
        if self.at_least("0.6.0"):
            enabled = self._at("critic.enable")
            if isinstance(enabled, Unknown):
                raise Open("critic.enable", (True, False))
            if enabled is not None and enabled is not _NOTHING:
                return self.flag("critic.enable")
        return self.text(ESTIMATOR) == "gae"

    @property
    def ref_used(self) -> bool:
        """Whether there is a reference policy: always up to 0.3, later only for a KL in the loss or in the reward."""
        if not self.at_least("0.4.0"):
            return True
        return self.flag(f"{ACTOR}.use_kl_loss") or self.flag("algorithm.use_kl_in_reward")

    @property
    def caps_mini_batch(self) -> bool:
        """Whether the actor takes a mini-batch above the batch for the whole batch, as the forks oel, opcd and coach
        do."""
        return self.config is not None and self.has(_CAPPING_MARK)

    # ---- sizes

    @property
    def samples(self) -> int:
        """Samples of one rollout batch: prompts times `rollout.n`."""
        return self.count(TRAIN_BATCH) * self.count(SAMPLES_OF_PROMPT, 1)

    @property
    def mini_samples(self) -> int:
        """Samples of one update of the actor: prompts of a mini-batch times `rollout.n`."""
        return self.count(MINI_BATCH) * self.count(SAMPLES_OF_PROMPT, 1)

    @property
    def mini_per_rank(self) -> int:
        """Samples of one update on one data parallel rank, as the legacy workers round it down."""
        return self.mini_samples // self.dp

    @property
    def longest(self) -> int:
        """Tokens of the longest sample: prompt and response."""
        return self.count("data.max_prompt_length") + self.count("data.max_response_length")

    @property
    def per_rank(self) -> int:
        """Samples of a rollout batch on one data parallel rank when old log-probs are computed: the trainer v1 pads the
        batch to a multiple of the ranks and of all updates. Undecided when they do not divide otherwise."""
        samples, dp = self.samples, self.dp
        if self.trainer == "v1":
            from math import lcm

            multiple = lcm(dp, self.mini_samples)
            if self.critic_used:
                multiple = lcm(multiple, self.count("critic.ppo_mini_batch_size") * self.count(SAMPLES_OF_PROMPT))
            samples = -(-samples // max(multiple, 1)) * multiple
        if samples % dp:
            raise Undecided(TRAIN_BATCH)
        return samples // dp

    # ---- the model

    @property
    def model(self) -> ModelConfig | None:
        """The `config.json` of the model, None when it is not at hand."""
        self.beyond = True
        return self._model

    @cached_property
    def _model(self) -> ModelConfig | None:
        return self.at_hand.model()

    def of_model(self, name: str) -> int:
        """A number of the model's config, such as `num_attention_heads`, as `override_config` leaves it."""
        override = self._model_override(name)
        if override:
            return self.count(override)
        found = None if self.model is None else self.model.numbers.get(name)
        if found is None:
            raise Undecided(MODEL_PATH)
        return found

    @property
    def critic_model(self) -> ModelConfig | None:
        """The `config.json` of the critic's model, None when it is not at hand."""
        self.beyond = True
        return self._critic_model

    @cached_property
    def _critic_model(self) -> ModelConfig | None:
        return self.at_hand.critic()

    def of_critic(self, name: str) -> int:
        """A number of the config of the critic's model."""
        found = None if self.critic_model is None else self.critic_model.numbers.get(name)
        if found is None or any(key.startswith("critic.model.override_config") for key in self.given_keys):
            raise Undecided(CRITIC_PATH)
        return found

    def of_critic_said(self, name: str) -> str:
        """A number of the critic's model with where it is from: `num_attention_heads 28 (value/config.json)`."""
        return f"{name} {self.of_critic(name)} ({self.critic_model.path if self.critic_model else ''})"

    def rows(self, key: str) -> int:
        """The rows in the data files that a key names, before any is filtered."""
        self.beyond = True
        given = self.plain(key)
        listed = given if isinstance(given, list) else [given]
        paths = [path for path in listed if isinstance(path, str)]
        found = self.at_hand.rows(paths) if len(paths) == len(listed) else None
        if found is None:
            raise Undecided(key)
        return found

    def of_model_said(self, name: str) -> str:
        """A number of the model's config with where it is from: `num_attention_heads 28 (policy/config.json)`."""
        override = self._model_override(name)
        origin = short(override).removesuffix(f".{name}") if override else self.model.path if self.model else ""
        return f"{name} {self.of_model(name)} ({origin})"

    def _model_override(self, name: str) -> str:
        """The key that overrides a field of the model's config, "" for none."""
        keys = (f"{MODEL}.override_config.{part}{name}" for part in ("model_config.", ""))
        return next((key for key in keys if self.has(key)), "")

    @property
    def rope_factor(self) -> float | None:
        """By how much the model's config stretches rotary positions, None when it has no `rope_scaling`."""
        if self.model is None or self.model.scaled is None or self._model_override("rope_scaling"):
            raise Undecided(MODEL_PATH)
        return self.model.factor if self.model.scaled else None

    # ---- words for messages

    def said(self, key: str) -> str:
        """A key with its value, and whether the value is VeRL's default: `rollout.n 4 (the default)`."""
        try:
            shown = show(self.get(key, None))
        except Undecided:
            shown = "unknown"
        return f"{short(key)} {shown}" + ("" if self.given(key) else " (the default)")

    def gpus_said(self) -> str:
        """The GPUs with their arithmetic: `32 GPUs (4 nodes x 8)`; one node is left out."""
        nodes, each = self.count(NODES), self.count(GPUS)
        default = "" if self.given(GPUS) else ", the default"
        if nodes == 1:
            return f"{_plural(each, 'GPU')}{f' (n_gpus_per_node{default})' if default else ''}"
        return f"{nodes * each} GPUs ({nodes} nodes x {each}{default})"


def gpus_are(facts: Facts) -> str:
    """The GPUs with their verb, as the start of a sentence."""
    return f"{facts.gpus_said()} {'is' if facts.n_gpus == 1 else 'are'}"


def short(key: str) -> str:
    """A key as messages write it, without `actor_rollout_ref.`."""
    return key.removeprefix(f"{ROLLOUT_ROLE}.")


def _plural(count: int, thing: str) -> str:
    return f"{count} {thing}{'' if count == 1 else 's'}"


@cache
def padded(version: str) -> tuple[int, ...]:
    """A version as numbers to compare, 0.4 the same as 0.4.0, and 0.8.0.dev between 0.7 and 0.8.0."""
    major, minor, patch = (*(version_key(version) or ()), 0, 0, 0)[:3]
    if ".dev" not in version:
        return (major, minor, patch)
    return (major, minor, patch - 1, 1) if patch else (major, minor - 1, _LAST)


def facts_of(
    verl: VerlInUse,
    overrides: tuple[Override, ...],
    entry: str,
    config: Callable[[], Applied | None],
    at_hand: AtHand | None = None,
) -> list[Facts]:
    """The facts of a launch on the VeRL in use; of a guess on each version that fits, newest first. Empty when its
    config is not known. `config` gives the composed config on the VeRL in use; others are composed when asked for.
    `at_hand` is what of models and data is on disk."""
    if verl.schema is None:
        return []
    if not verl.guess:
        return [Facts(config, verl.text or verl.schema.version, verl.origin, entry, at_hand=at_hand)]
    newest = [Facts(config, verl.text, f"VeRL {verl.text}", entry, at_hand=at_hand)]
    older = verl.fitting[-2::-1]
    return newest + [
        Facts(partial(verl.composed, each, overrides), each, f"VeRL {each}", entry, at_hand=at_hand) for each in older
    ]
