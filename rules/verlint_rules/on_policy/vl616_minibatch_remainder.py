"""The update batch divides among the GPUs, so that no small update is left over.

Up to VeRL 0.7 every data-parallel rank takes `ppo_mini_batch_size * rollout.n / ranks` samples an update and drops the
fraction. What the ranks drop piles up to one more update at the end of each rollout batch, on a handful of samples and
with a full optimizer step. With 100 prompts an update, one answer each and 8 ranks, an update takes 12 samples a rank,
not 12.5, so 1024 prompts make 10 updates of 96 and one of 64.

VeRL 0.8 and newer refuse such sizes at the start, which is reported with the other checks of batch sizes. So is a
fraction that leaves no sample at all, or that does not fit the micro-batch. In a run that claims one update a batch the
split itself is the fault, see VL601.

Fix: choose `ppo_mini_batch_size` so that it times `rollout.n` is a multiple of the ranks, best as a divisor of
`data.train_batch_size`.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd

from verlint.experiment.launch import Launch
from verlint.finding import Finding
from verlint.rule import WARNING, Context, rule
from verlint.value import Value
from verlint_rules.on_policy.claim import (
    MINI_BATCH,
    SAMPLES,
    STRATEGY,
    TRAIN_BATCH,
    claims_one_update,
    default_of,
    distils,
    has_own_actor,
    stock_config,
    trains,
)
from verlint_rules.on_policy.in_versions import in_versions

_ACTOR = "actor_rollout_ref.actor"
_GPUS, _NODES = "trainer.n_gpus_per_node", "trainer.nnodes"
_SHARING = f"{_ACTOR}.ulysses_sequence_parallel_size"
_MICRO = (f"{_ACTOR}.ppo_micro_batch_size_per_gpu", f"{_ACTOR}.ppo_micro_batch_size")
_LEGACY = "trainer.use_legacy_worker_impl"


@rule(
    "VL616",
    "minibatch-remainder",
    on=Launch,
    severity=WARNING,
    since="0.1",
    words=("ppo_mini_batch_size", "n_gpus_per_node", "nnodes", "ulysses"),
)
def check(launch: Launch, ctx: Context) -> Iterator[Finding]:
    # with the defaults of all of these everything divides
    if not any(key in launch for key in (MINI_BATCH, _GPUS, _NODES, _SHARING)):
        return
    if not trains(launch) or not has_own_actor(launch) or distils(launch) or claims_one_update(launch):
        return
    if not in_versions(launch, before="0.8") or launch[_LEGACY].equals("disable"):
        return
    if launch[STRATEGY].equals("fsdp") is not True and launch[STRATEGY].equals("fsdp2") is not True:
        return
    batch, mini, size, gpus, nodes, sharing = (
        _count(launch, key) for key in (TRAIN_BATCH, MINI_BATCH, SAMPLES, _GPUS, _NODES, _SHARING)
    )
    if not (batch and mini and size and gpus and nodes and sharing) or (gpus * nodes) % sharing or mini >= batch:
        return
    ranks = gpus * nodes // sharing
    own, share = divmod(mini * size, ranks)
    if not share or not own or (batch * size) % ranks or not _fits_micro_batch(launch, own):
        return
    samples = batch * size // ranks
    updates = -(-samples // own)
    rest = (samples - (updates - 1) * own) * ranks
    if updates == -(-batch // mini) and rest == own * ranks:
        return
    update = launch[MINI_BATCH]
    message = (
        f"{_said(update)} x rollout.n {size} = {mini * size} is no multiple of {ranks} ranks: each takes {own} "
        f"samples, so a rollout batch makes {updates - 1} updates of {own * ranks} and one of {rest}"
    )
    finding = ctx.fail(update, message, help=f"set {MINI_BATCH} to {_legal(mini, size, ranks)}")
    yield (
        finding.with_related(launch[TRAIN_BATCH].span, f"train_batch_size = {batch}")
        if (launch[TRAIN_BATCH].given and update.given)
        else finding
    )


def _count(launch: Launch, key: str) -> int:
    """The value of a key as a whole number, 0 when it is not known to be one."""
    value = launch[key]
    number = value.number()
    return number if isinstance(number, int) and number > 0 and (value.given or stock_config(launch)) else 0


def _fits_micro_batch(launch: Launch, own: int) -> bool:
    """Whether VeRL starts at all: the samples of a rank are a multiple of the micro-batch, where one is set."""
    each, total = (launch[key] for key in _MICRO)
    number = each.number()
    if total.given and total.number() is not None:
        return False
    return each.equals(None) is True or (number is not None and number > 0 and own % number == 0)


def _legal(mini: int, size: int, ranks: int) -> str:
    """The sizes next to the given one that divide among the ranks."""
    step = ranks // gcd(size, ranks)
    below, above = (mini - 1) // step * step, (mini // step + 1) * step
    return f"{below} or {above}" if below else str(above)


def _said(value: Value) -> str:
    return f"ppo_mini_batch_size {value}{default_of(value)}"
