"""Distillation from a teacher that is served beside the policy.

Sources: `DistillationConfig`, `DistillationLossConfig` and `DistillationTeacherModelConfig` of
`workers/config/distillation.py`, `init_resource_pool_mgr` of `trainer/main_ppo.py` (0.8.0) and
`trainer/ppo/v1/trainer_base.py` (from 0.9.0)."""

from __future__ import annotations

from collections.abc import Iterator

from verlint.verl.constraints import AT_WORKERS, STOCK, Ask, Row
from verlint.verl.facts import Facts
from verlint.verl.undecided import Undecided

ENABLED = "distillation.enabled"
TEACHERS = "distillation.teacher_models"
ONLY = f"{TEACHERS}.teacher_model"
INFERENCE = f"{ONLY}.inference"
MODEL_LENGTH = f"{INFERENCE}.max_model_len"
PROMPT, RESPONSE = f"{INFERENCE}.prompt_length", f"{INFERENCE}.response_length"
TENSOR, DATA = f"{INFERENCE}.tensor_model_parallel_size", f"{INFERENCE}.data_parallel_size"
GPUS, NODES = "distillation.n_gpus_per_node", "distillation.nnodes"
LOSS = "distillation.distillation_loss"
MODE, POLICY_GRADIENT, POLICY_LOSS = f"{LOSS}.loss_mode", f"{LOSS}.use_policy_gradient", f"{LOSS}.policy_loss_mode"
TOP = f"{LOSS}.topk"
MOST = f"{INFERENCE}.engine_kwargs.vllm.max_logprobs"
PATH = f"{ONLY}.model_path"

_CLASS = "DistillationConfig"


def _several(facts: Facts) -> bool:
    """Whether there are teachers beside the one that the config lists."""
    return any(key.startswith(f"{TEACHERS}.") and not key.startswith(f"{ONLY}.") for key in facts.given_keys)


def _one_teacher(facts: Facts) -> bool:
    return facts.flag(ENABLED) and not _several(facts)


# ---- tokens


def _asked(facts: Facts) -> int:
    return facts.count(PROMPT) + facts.count(RESPONSE) + 1


def _cut_off(facts: Facts) -> bool:
    own = facts.count_or_none(MODEL_LENGTH)
    return own is not None and own < _asked(facts) and _one_teacher(facts)


def _cut_off_message(facts: Facts) -> str:
    asked = f"{facts.count(PROMPT)} + {facts.count(RESPONSE)} + 1 = {_asked(facts)}"
    return f"the teacher's max_model_len {facts.count(MODEL_LENGTH)} is below prompt, response and a token: {asked}"


TOKENS: tuple[Row, ...] = (
    Row(
        "D16t",
        "0.8.0",
        (MODEL_LENGTH, "data.max_prompt_length", "data.max_response_length"),
        _cut_off,
        _cut_off_message,
        lambda facts: f"set {MODEL_LENGTH} to {_asked(facts)} or more, or leave it out",
        "DistillationTeacherModelConfig.validate_and_prepare_for_distillation",
        AT_WORKERS,
        entries=STOCK,
        fix=lambda facts: (MODEL_LENGTH, str(_asked(facts))),
    ),
)
"""One sequence of the policy fits the teacher."""


# ---- GPUs


def _span(facts: Facts) -> int:
    return facts.count(TENSOR) * facts.count(DATA, 1) * facts.count(f"{INFERENCE}.pipeline_model_parallel_size", 1)


def _pool(facts: Facts) -> int:
    return facts.count(GPUS) * facts.count(NODES)


def _left_over(facts: Facts) -> bool:
    return _pool(facts) > 0 and _span(facts) > 0 and _pool(facts) % _span(facts) != 0 and _one_teacher(facts)


def _pools() -> Iterator[Row]:
    for key in (NODES, GPUS):
        yield Row(
            "D16g",
            "0.8.0",
            (key, ENABLED),
            lambda facts, key=key: facts.flag(ENABLED) and facts.count(key) <= 0,  # type: ignore[misc]
            lambda facts, key=key: f"{facts.said(ENABLED)} needs GPUs for the teacher, but {facts.said(key)}",  # type: ignore[misc]
            lambda facts, key=key: f"set {key} to those of the teacher",  # type: ignore[misc]
            "init_resource_pool_mgr: must be greater than 0",
            AT_WORKERS,
            entries=STOCK,
        )
    yield Row(
        "D16d",
        "0.8.0",
        (TENSOR, DATA, GPUS, NODES),
        _left_over,
        lambda facts: f"the teacher's {_pool(facts)} GPUs are not a multiple of the {_span(facts)} of one engine",
        lambda facts: f"set {TENSOR} to a divisor of {_pool(facts)}",
        f"{_CLASS}: per_replica_world_size must divide the pool",
        AT_WORKERS,
        entries=STOCK,
    )


POOLS: tuple[Row, ...] = tuple(_pools())
"""The teacher has GPUs, and they are a multiple of those of one engine."""


# ---- losses and teachers


def _enabled(wrong: Ask) -> Ask:
    return lambda facts: wrong(facts) and facts.flag(ENABLED)


def _no_top(facts: Facts) -> bool:
    return facts.get(MODE) == "forward_kl_topk" and facts.count_or_none(TOP) is None


def _dropped(facts: Facts) -> bool:
    """Whether the teacher of the config has a model, known or not, and is not the only one."""
    try:
        named = facts.get(PATH) is not None
    except Undecided:
        named = True
    return facts.given(PATH) and named and _several(facts)


def _pairs() -> Iterator[Row]:
    def row(id: str, keys: tuple[str, ...], wrong: Ask, why: str, help: str) -> Row:
        return Row(
            id,
            "0.8.0",
            keys,
            _enabled(wrong),
            lambda facts: f"{' and '.join(map(facts.said, keys))}: {why}",
            lambda facts: help,
            "DistillationLossConfig",
            AT_WORKERS,
            entries=STOCK,
        )

    yield row(
        "D16k",
        (MODE, POLICY_GRADIENT),
        lambda facts: facts.get(MODE) == "k1" and not facts.flag(POLICY_GRADIENT),
        "the gradient of k1 itself does not depend on the teacher",
        f"set {POLICY_GRADIENT}=True, or another {MODE}",
    )
    yield row(
        "D16p",
        (POLICY_LOSS,),
        lambda facts: facts.get(POLICY_LOSS) != "vanilla",
        "no other policy loss is implemented",
        f"set {POLICY_LOSS}=vanilla",
    )
    yield row("D16n", (TOP,), _no_top, "forward_kl_topk needs the number of tokens", f"set {TOP}=32")
    yield row(
        "D16l",
        (TOP, MOST),
        lambda facts: (
            facts.get(MODE) == "forward_kl_topk"
            and facts.get(f"{INFERENCE}.name") == "vllm"
            and facts.get(MOST, None) is not None
            and facts.count(MOST) < facts.count(TOP)
            and not _several(facts)
        ),
        "the teacher gives fewer log-probs of a token than the loss takes",
        f"remove {MOST}, it is {TOP} then",
    )
    yield row(
        "D16m",
        (PATH,),
        lambda facts: facts.get(PATH) is None and not _several(facts),
        "there is no teacher",
        f"set {PATH} to the model of the teacher",
    )
    yield Row(
        "S35",
        "0.8.0",
        (PATH,),
        _enabled(_dropped),
        lambda facts: f"{PATH} stands beside other teachers",
        lambda facts: f"give it a name of its own: +{TEACHERS}.teacher_model1",
        f"{_CLASS}._resolve_teacher_models",
        "VeRL drops the one that is called teacher_model, so it teaches nothing",
        entries=STOCK,
        silent=True,
    )


PAIRS: tuple[Row, ...] = tuple(_pairs())
"""Losses that work, and teachers that count."""
