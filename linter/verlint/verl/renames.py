"""Keys that VeRL renamed, moved or gave up: what took their place, since when, and what becomes of the old key.

Hand-written. Source of each row: the two wheels around `since` (config folders, `trainer/main_ppo.py`,
`trainer/ppo/ray_trainer.py`, `utils/config.py`, `workers/`).
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.record import dataclass
from verlint.verl.versions import version_key


@dataclass(frozen=True, slots=True)
class Rename:
    """An old key. `new` is its successor, "" when there is none. `since` is the first version in which the old key is
    refused or changes nothing. `still_there` says that the key is in the config of that version all the same, so
    Hydra takes it. `note` says what else changed. `old` may be a section: all keys below it moved along."""

    old: str
    new: str
    since: str
    still_there: bool = False
    note: str = ""


_A, _R = "actor_rollout_ref.actor", "actor_rollout_ref.rollout"
_CORRECTION = "algorithm.rollout_correction"


def _rows() -> Iterator[Rename]:
    yield from _early()
    yield from _engine()
    yield from _rewards()
    yield from _late()


def _early() -> Iterator[Rename]:
    for section in (f"{_A}.fsdp_config", "critic.model.fsdp_config"):
        yield Rename(f"{section}.grad_offload", "", "0.3", note="gradients are offloaded with param_offload")
    yield Rename("trainer.remove_previous_ckpt_in_save", "trainer.max_actor_ckpt_to_keep", "0.3")
    yield Rename("trainer.val_generations_to_log_to_wandb", "trainer.log_val_generations", "0.4.0")
    for role in (_A, "critic"):
        new = f"{role}.checkpoint.save_contents"
        yield Rename(f"{role}.checkpoint.contents", new, "0.4.1", note="load_contents says what is read back")
    turns = f"{_R}.multi_turn"
    yield Rename(f"{turns}.max_turns", f"{turns}.max_assistant_turns", "0.4.1", note="and max_user_turns")
    yield Rename(f"{_R}.chat_scheduler", "", "0.4.1", note="agent loops took its place")
    yield Rename(f"{_R}.use_fire_sampling", "", "0.5.0")
    yield Rename(
        f"{_A}.clip_ratio", f"{_A}.clip_ratio_low", "0.4.0", True, "and clip_ratio_high: both have own defaults"
    )


def _engine() -> Iterator[Rename]:
    yield Rename("ray_init.num_cpus", "ray_kwargs.ray_init.num_cpus", "0.6.0")
    yield Rename("ray_init.timeline_json_file", "ray_kwargs.timeline_json_file", "0.6.0")
    yield Rename("trainer.profile_steps", "global_profiler.steps", "0.6.0")
    for side in ("controller", "worker"):
        name = f"{side}_nsight_options"
        yield Rename(f"trainer.{name}", f"global_profiler.global_tool_config.nsys.{name}", "0.6.0")
    for role in (_A, "critic"):
        name = f"{role}.optim"
        yield Rename(f"{name}.warmup_style", f"{name}.lr_scheduler_type", "0.6.0", True, _WARNS)
    old = f"{_A}.ppo_micro_batch_size"
    yield Rename(old, f"{old}_per_gpu", "0.8.0", True, _ASKED)
    old = "critic.ppo_micro_batch_size"
    yield Rename(old, f"{old}_per_gpu", "0.8.0", True, "the key per GPU follows it, and both together are refused")
    for role in ("actor_rollout_ref.ref", _R):
        old = f"{role}.log_prob_micro_batch_size"
        yield Rename(old, f"{old}_per_gpu", "0.8.0", True, _ASKED)
    isolated = "rollout_is"
    for old, new in (
        *((isolated, isolated), ("rollout_is_threshold", "rollout_is_threshold"), ("rollout_is_level", isolated)),
        *(("rollout_is_mode", "rollout_rs"), ("rollout_is_veto_threshold", "rollout_token_veto_threshold")),
        ("rollout_is_threshold_lower", "rollout_rs_threshold_lower"),
    ):
        yield Rename(f"algorithm.{old}", f"{_CORRECTION}.{new}", "0.6.1")
    yield Rename(f"{_CORRECTION}.use_policy_gradient", f"{_CORRECTION}.loss_type", "0.7.0")
    yield Rename(f"{_CORRECTION}.rollout_rs_threshold_lower", f"{_CORRECTION}.rollout_rs_threshold", "0.7.1")
    yield Rename(f"{_CORRECTION}.rollout_token_veto_threshold", "", "0.7.1")


_ASKED = "the workers since 0.8.0 ask for the key per GPU"
_WARNS = "the old key still wins, but warns"
_SERVED = "the reward model is served by an engine, see reward.reward_model.rollout"
_MIGRATED = "0.7.1 and 0.8.0 copy it to its new place, later versions ignore it"


def _rewards() -> Iterator[Rename]:
    for name in ("path", "name"):
        old, new = f"custom_reward_function.{name}", f"reward.custom_reward_function.{name}"
        yield Rename(old, new, "0.9.0", True, _MIGRATED)
    for name in ("url", "max_concurrent", "memory_limit_mb"):
        yield Rename(f"sandbox_fusion.{name}", f"reward.sandbox_fusion.{name}", "0.9.0", True, _MIGRATED)
        yield Rename(f"reward_model.sandbox_fusion.{name}", f"reward.sandbox_fusion.{name}", "0.7.1")
    moved = {
        "reward_model.reward_manager": "reward.reward_manager.name",
        "reward_model.num_workers": "reward.num_workers",
        "reward_model.enable": "reward.reward_model.enable",
        "reward_model.enable_resource_pool": "reward.reward_model.enable_resource_pool",
        "reward_model.n_gpus_per_node": "reward.reward_model.n_gpus_per_node",
        "reward_model.nnodes": "reward.reward_model.nnodes",
        "reward_model.model.path": "reward.reward_model.model_path",
    }
    for old, new in moved.items():
        yield Rename(old, new, "0.9.0", True, _MIGRATED)
    for old in ("reward_model.strategy", "reward_model.launch_reward_fn_async", "reward_model.use_dynamic_bsz"):
        yield Rename(old, "", "0.7.1")
    for name in (
        *("micro_batch_size", "micro_batch_size_per_gpu", "max_length", "forward_max_token_len_per_gpu"),
        *("ulysses_sequence_parallel_size", "use_reward_loop", "model.input_tokenizer", "model.use_remove_padding"),
        *("model.use_fused_kernels", "model.use_shm", "model.fsdp_config"),
    ):
        yield Rename(f"reward_model.{name}", "", "0.7.1", note=_SERVED)
    yield Rename("reward_manager.name", "reward.reward_manager.name", "0.7.1")
    yield Rename("reward_manager.source", "reward.reward_manager.source", "0.7.1")
    yield Rename("reward_manager.module", "reward.reward_manager.module", "0.7.1")
    megabytes = "update_weights_bucket_megabytes"
    yield Rename(f"{_R}.{megabytes}", f"{_R}.checkpoint_engine.{megabytes}", "0.7.1")


def _late() -> Iterator[Rename]:
    for name in ("param_offload", "optimizer_offload", "offload_policy", "reshard_after_forward", "fsdp_size"):
        yield Rename(f"critic.model.fsdp_config.{name}", f"critic.fsdp.{name}", "0.8.0")
    yield Rename("critic.model.fsdp_config", "critic.fsdp", "0.8.0")
    yield Rename("trainer.use_legacy_worker_impl", "", "0.8.0", note="only the engine workers are left")
    yield Rename(f"{_R}.multi_turn.interaction_config_path", "", "0.8.0")
    yield Rename(f"{_A}.sum_pi_squared_checkpointing", "", "0.8.0")
    for name in ("class_path", "class_name"):
        yield Rename(f"data.sampler.{name}", "", "0.8.0")
    for name in ("path", "name"):
        yield Rename(f"data.datagen.{name}", "", "0.8.0")
    yield Rename(f"{_R}.skip_rollout", f"{_R}.skip.enable", "0.8.0")
    yield Rename(f"{_R}.skip_dump_dir", f"{_R}.skip.dump_dir", "0.8.0")
    for name in ("enable", "dump_dir"):
        yield Rename(f"{_R}.skip.{name}", f"skip.rollout.{name}", "0.9.0")
    yield Rename(f"{_A}.router_replay.mode", "", "0.9.1", note="the engine's own config takes router_replay now")


RENAMES: tuple[Rename, ...] = tuple(_rows())

DEPRECATED = tuple(row for row in RENAMES if row.note == _WARNS)
"""Keys that still work."""

MIGRATED = tuple(row for row in RENAMES if row.note == _MIGRATED)
"""Keys of rewards that two versions copied to their new places, and later ones ignore."""


def rename_of(key: str, version: str) -> Rename | None:
    """What became of a key by a version: its own row, or that of the section it was in, followed to its end; None when
    nothing is known."""
    mine = version_key(version) or ()
    found: Rename | None = None
    for _ in range(4):  # no key was renamed so often
        row = _row_of(key, mine)
        if row is None or row.still_there:
            return found or row
        new = row.new + key[len(row.old) :] if row.new else ""
        note = "; ".join(each for each in dict.fromkeys((found.note if found else "", row.note)) if each)
        found = Rename(found.old if found else key, new, row.since, note=note)
        if not new:
            return found
        key = new
    return found


def _row_of(key: str, version: tuple[int, ...]) -> Rename | None:
    rows = [row for row in RENAMES if key == row.old or key.startswith(row.old + ".")]
    rows = [
        row for row in rows if (version_key(row.since) or ()) <= version and not (row.still_there and row.old != key)
    ]
    return max(rows, key=lambda row: len(row.old), default=None)
