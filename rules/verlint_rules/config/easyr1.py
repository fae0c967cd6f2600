"""EasyR1 (`python3 -m verl.trainer.main config=FILE`): what it demands of its own config.

Source: `verl/trainer/config.py`, `verl/workers/rollout/config.py` and `vllm_rollout_spmd.py` of EasyR1."""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.launch import Launch
from verlint.finding import Finding
from verlint.rule import Context
from verlint_rules.on_policy.rewriting import with_value

_OPTIMISED = """
    model.model_path model.tokenizer_path model.override_config model.enable_gradient_checkpointing
    model.trust_remote_code model.freeze_vision_tower model.lora.rank model.lora.alpha model.lora.target_modules
    model.lora.exclude_modules optim.lr optim.betas optim.weight_decay optim.strategy optim.lr_warmup_ratio
    optim.lr_warmup_steps optim.min_lr_ratio optim.lr_scheduler_type optim.training_steps global_batch_size
    micro_batch_size_per_device_for_update max_grad_norm loss_avg_mode ppo_epochs
"""
_SHARDED = """
    strategy micro_batch_size_per_device_for_experience padding_free dynamic_batching ulysses_size use_torch_compile
    fsdp.enable_full_shard fsdp.enable_cpu_offload fsdp.enable_rank0_init fsdp.use_orig_params fsdp.torch_dtype
    fsdp.fsdp_size fsdp.mp_param_dtype fsdp.mp_reduce_dtype fsdp.mp_buffer_dtype offload.offload_params
    offload.offload_optimizer
"""
_KEYS = {
    "data": """
        train_files val_files prompt_key answer_key image_key video_key image_dir video_fps max_prompt_length
        max_response_length rollout_batch_size mini_rollout_batch_size val_batch_size format_prompt
        override_chat_template shuffle seed min_pixels max_pixels filter_overlong_prompts
        filter_overlong_prompts_workers
    """,
    "worker.actor": f"{_OPTIMISED} {_SHARDED} clip_ratio_low clip_ratio_high clip_ratio_dual loss_type",
    "worker.critic": f"{_OPTIMISED} {_SHARDED} cliprange_value",
    "worker.ref": _SHARDED,
    "worker.reward": "reward_function reward_function_kwargs skip_special_tokens num_cpus",
    "worker.rollout": """
        name n temperature top_p top_k seed limit_images dtype gpu_memory_utilization ignore_eos enforce_eager
        enable_chunked_prefill tensor_parallel_size max_model_len max_num_batched_tokens disable_log_stats
        disable_tqdm val_override_config
    """,
    "algorithm": """
        gamma lam adv_estimator disable_kl use_kl_loss kl_penalty kl_coef kl_type kl_horizon kl_target
        online_filtering filter_key filter_low filter_high
    """,
    "trainer": """
        total_epochs max_steps project_name experiment_name logger nnodes n_gpus_per_node max_try_make_batch
        critic_warmup val_freq val_before_train val_only val_generations_to_log save_freq save_limit save_model_only
        save_checkpoint_path load_checkpoint_path ray_timeline find_last_checkpoint
    """,
}
"""The keys of each section."""
_OF_VERL = {
    "data.train_batch_size": "data.rollout_batch_size",
    "worker.rollout.tensor_model_parallel_size": "worker.rollout.tensor_parallel_size",
    "worker.actor.ppo_mini_batch_size": "worker.actor.global_batch_size",
    "worker.actor.ppo_micro_batch_size_per_gpu": "worker.actor.micro_batch_size_per_device_for_update",
    "worker.rollout.log_prob_micro_batch_size_per_gpu": "worker.actor.micro_batch_size_per_device_for_experience",
    "worker.actor.use_kl_loss": "algorithm.use_kl_loss",
    "worker.actor.kl_loss_coef": "algorithm.kl_coef",
    "worker.actor.use_dynamic_bsz": "worker.actor.dynamic_batching",
    "worker.actor.use_remove_padding": "worker.actor.padding_free",
    "worker.actor.clip_ratio": "worker.actor.clip_ratio_low",
    "worker.actor.grad_clip": "worker.actor.max_grad_norm",
    "trainer.test_freq": "trainer.val_freq",
    "trainer.default_local_dir": "trainer.save_checkpoint_path",
    "trainer.resume_from_path": "trainer.load_checkpoint_path",
    "trainer.total_training_steps": "trainer.max_steps",
    "trainer.max_actor_ckpt_to_keep": "trainer.save_limit",
    "trainer.log_val_generations": "trainer.val_generations_to_log",
}
_SECTIONS_OF_VERL = {
    "actor_rollout_ref.actor": "worker.actor",
    "actor_rollout_ref.rollout": "worker.rollout",
    "actor_rollout_ref.model": "worker.actor.model",
    "actor_rollout_ref.ref": "worker.ref",
    "custom_reward_function": "worker.reward",
}
"""Sections that VeRL has and EasyR1 has not, and where the same is set."""
_CONFIGS = ("verl/trainer/config.py", "verl/workers/actor/config.py", "verl/workers/rollout/config.py")

_PROMPT = "data.max_prompt_length"
_RESPONSE = "data.max_response_length"
_BATCHED = "worker.rollout.max_num_batched_tokens"
_WINDOW = "worker.rollout.max_model_len"
_DEFAULTS = {_PROMPT: 512, _RESPONSE: 512, _BATCHED: 8192}


def known_keys() -> list[str]:
    """All keys of its config."""
    return [f"{section}.{name}" for section, names in _KEYS.items() for name in names.split()]


def unknown_keys(launch: Launch, ctx: Context) -> Iterator[Finding]:
    """Overrides of keys of VeRL, and of misspelt ones: its config takes no others. Whatever else is not known may be of
    another release or a fork."""
    from verlint.verl.slips import alike

    known = known_keys()
    for override in launch.settings:
        key = override.key
        if not key or key in known or override.key_span is None or _is_at_hand(key, ctx):
            continue
        near = _OF_VERL.get(key, "")
        section = next((each for each in _SECTIONS_OF_VERL if key.startswith(f"{each}.")), "")
        if section:
            near = f"{_SECTIONS_OF_VERL[section]}.…"
        if not near:
            head, _, name = key.rpartition(".")
            same = (each for each in known if each.rpartition(".")[0] == head)
            near = next((each for each in same if alike(name, each.rpartition(".")[2])), "")
        if near:
            message = f"EasyR1 has no key {key}: it stops with ConfigKeyError"
            help_ = f"EasyR1 sets this by {near}" if section or key in _OF_VERL else f"did you mean {near}?"
            yield ctx.fail(override.key_span, message, value=override.word.shown, near=near, help=help_)


def _is_at_hand(key: str, ctx: Context) -> bool:
    """Whether the code of the checkout has the key, whatever is known of releases."""
    name = key.rpartition(".")[2]
    sources = (ctx.project.tree.source(path) for path in _CONFIGS)
    return any(source is not None and f" {name}:" in source.text for source in sources)


def token_budget(launch: Launch, ctx: Context) -> Iterator[Finding]:
    """Its rollout stops where a whole sequence does not fit into a batch of vLLM, with chunked prefill or without."""
    yield from _window(launch, ctx)
    sizes = {key: _size(launch, key) for key in _DEFAULTS}
    prompt, response, batched = (sizes[key] for key in (_PROMPT, _RESPONSE, _BATCHED))
    if prompt is None or response is None or batched is None or batched >= prompt + response:
        return
    given = [launch[key] for key in (_BATCHED, _RESPONSE, _PROMPT) if launch[key].given]
    if not given:
        return
    finding = ctx.fail(
        given[0],
        f"{_said(launch, _BATCHED, batched)} is below {_said(launch, _PROMPT, prompt)} + "
        f"{_said(launch, _RESPONSE, response)} = {prompt + response:g}; EasyR1 stops when its workers start "
        "(vllm_rollout_spmd.py)",
        help=f"set {_BATCHED} to at least {prompt + response:g}",
    )
    if launch[_BATCHED].given:
        finding = with_value(finding, launch[_BATCHED], f"{prompt + response:g}", safe=False)
    for value in given[1:]:
        finding = finding.with_related(value.span, f"{value.key} = {value}")
    yield finding


def _window(launch: Launch, ctx: Context) -> Iterator[Finding]:
    """`max_model_len` goes to vLLM as it is, which refuses prompts that leave no room and ends all answers there."""
    window = launch[_WINDOW].number() if launch[_WINDOW].given else None
    prompt, response = _size(launch, _PROMPT), _size(launch, _RESPONSE)
    if not window or prompt is None or response is None:
        return
    if window <= prompt:
        key, size, what = _PROMPT, prompt, "leaves no room for an answer to a prompt of"
        effect = "vLLM refuses such a prompt or answers nothing"
    elif window < response:
        key, size, what = _RESPONSE, response, "is below"
        effect = "vLLM ends every answer before that"
    else:
        return
    finding = ctx.fail(
        launch[_WINDOW],
        f"{_said(launch, _WINDOW, window)} {what} {_said(launch, key, size)}: {effect} (vllm_rollout_spmd.py)",
        help=f"leave {_WINDOW} out, or set it to {prompt + response:g}",
    )
    finding = with_value(finding, launch[_WINDOW], f"{prompt + response:g}", safe=False)
    yield finding.with_related(launch[key].span, f"{key} = {launch[key]}") if launch[key].given else finding


def _size(launch: Launch, key: str) -> float | None:
    """A size, of a key that is not given its default; None when the host, or a config that is not here, decides."""
    if launch[key].given:
        return launch[key].number()
    unread = "config" in launch and not launch.of_file
    return None if unread or launch.passes_arguments else _DEFAULTS[key]


def _said(launch: Launch, key: str, size: float) -> str:
    return f"{key.removeprefix('worker.')} {size:g}" + ("" if launch[key].given else " (the default)")
