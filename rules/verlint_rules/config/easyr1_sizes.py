"""The sizes of EasyR1 (`python3 -m verl.trainer.main`) that do not fit together.

Source: `RayPPOTrainer.__init__` and `_make_batch_data` of `verl/trainer/ray_trainer.py`, `DataProto.chunk` of
`verl/protocol.py`, `_init_dist_mesh` and `_build_rollout` of `verl/workers/fsdp_workers.py`; the defaults are those of
`verl/trainer/config.py` and `verl/workers/*/config.py`."""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.launch import Launch
from verlint.finding import Finding
from verlint.rule import ERROR, Context

ENTRY = "verl.trainer.main"
_ROLLOUT = "data.rollout_batch_size"
_MINI = "data.mini_rollout_batch_size"
_GROUP = "worker.rollout.n"
_PARALLEL = "worker.rollout.tensor_parallel_size"
_NODES = "trainer.nnodes"
_GPUS = "trainer.n_gpus_per_node"
_ESTIMATOR = "algorithm.adv_estimator"
_DEFAULTS = {_ROLLOUT: 512, _GROUP: 1, _PARALLEL: 2, _NODES: 1, _GPUS: 8}
_OF_ROLE = {
    "global_batch_size": 256,
    "micro_batch_size_per_device_for_update": 4,
    "micro_batch_size_per_device_for_experience": 16,
    "ulysses_size": 1,
}
_GROUPED = ("grpo", "rloo")
_AT_START = "EasyR1 stops at start-up (RayPPOTrainer)"
_AT_WORKERS = "EasyR1 stops when its workers start (fsdp_workers.py)"


def batches(launch: Launch, ctx: Context) -> Iterator[Finding]:
    """The prompts of a batch that is generated at once are shared out among the GPUs."""
    key = _MINI if launch[_MINI].given and launch[_MINI].number() is not None else _ROLLOUT
    prompts = _size(launch, key)
    gpus = _gpus(launch)
    if prompts is None or gpus is None or gpus < 1 or prompts % gpus == 0:
        return
    message = f"{_said(launch, key)} is not a multiple of {_gpus_said(launch)}; EasyR1 stops in the first step"
    yield from _reject(
        launch,
        ctx,
        (key, _GPUS, _NODES),
        f"{message} (DataProto.chunk: only support equal chunk)",
        f"set {key} to a multiple of {gpus}",
    )


def mini_batches(launch: Launch, ctx: Context) -> Iterator[Finding]:
    """A mini-batch is a part of the batch, and whole micro-batches on every GPU."""
    roles = ["worker.actor"]
    if str(launch[_ESTIMATOR]) == "gae":
        roles.append("worker.critic")
    for role in roles:
        found = _mini_batch(launch, ctx, role) or _experience(launch, ctx, role)
        if found is not None:
            yield found


def _mini_batch(launch: Launch, ctx: Context, role: str) -> Finding | None:
    mini, micro, ulysses = (
        f"{role}.{name}" for name in ("global_batch_size", "micro_batch_size_per_device_for_update", "ulysses_size")
    )
    prompts, size, part, sequence, group = (_size(launch, key) for key in (_ROLLOUT, mini, micro, ulysses, _GROUP))
    if size is None or size < 1:
        return None
    if prompts is not None and prompts % size:
        return _found(
            launch,
            ctx,
            (mini, _ROLLOUT),
            f"{_said(launch, _ROLLOUT)} is not a multiple of {_said(launch, mini)}; {_AT_START}",
            f"set {mini} to a divisor of {prompts}",
        )
    gpus = _gpus(launch)
    if gpus is None or part is None or part < 1 or sequence is None or sequence < 1 or group is None or gpus < sequence:
        return None
    ranks = gpus // sequence
    samples = size * max(group, 1)
    times = f"{_said(launch, mini)} x {_said(launch, _GROUP)} = {samples} samples" if group > 1 else _said(launch, mini)
    on_each = samples // ranks
    keys = (micro, mini, _GROUP, _GPUS, _NODES)
    shared = f"{_gpus_said(launch)}" + (f" / {_said(launch, ulysses)}" if sequence > 1 else "")
    if on_each == 0:
        message = f"{times} are fewer than {shared}; {_AT_WORKERS}"
        return _found(launch, ctx, (mini, *keys), message, f"set {mini} to at least {-(-ranks // max(group, 1))}")
    if on_each % part:
        message = f"{times} are {on_each} on each of {shared}, no multiple of {_said(launch, micro)}; {_AT_WORKERS}"
        return _found(launch, ctx, keys, message, f"set {micro} to a divisor of {on_each}")
    return None


def _experience(launch: Launch, ctx: Context, role: str) -> Finding | None:
    micro = f"{role}.micro_batch_size_per_device_for_experience"
    prompts, group, part = (_size(launch, key) for key in (_ROLLOUT, _GROUP, micro))
    if prompts is None or group is None or part is None or part < 1 or prompts * group % part == 0:
        return None
    samples = f"{_said(launch, _ROLLOUT)} x {_said(launch, _GROUP)} = {prompts * group}"
    message = f"{samples} is not a multiple of {_said(launch, micro)}; {_AT_START}"
    return _found(launch, ctx, (micro, _ROLLOUT, _GROUP), message, f"set {micro} to a divisor of {prompts * group}")


def parallelism(launch: Launch, ctx: Context) -> Iterator[Finding]:
    """The GPUs are a multiple of those of one engine."""
    gpus, size = _gpus(launch), _size(launch, _PARALLEL)
    if gpus is None or size is None or size < 1 or gpus < 1 or gpus % size == 0:
        return
    message = f"{_gpus_said(launch)} {'is' if gpus == 1 else 'are'} not a multiple of {_said(launch, _PARALLEL)}"
    yield from _reject(
        launch,
        ctx,
        (_PARALLEL, _GPUS, _NODES),
        f"{message}; {_AT_WORKERS}",
        f"set {_PARALLEL} to a divisor of {gpus}",
    )


def groups(launch: Launch, ctx: Context) -> Iterator[Finding]:
    """An estimator that compares the answers of a group needs more than one."""
    estimator = launch[_ESTIMATOR]
    name = str(estimator) if estimator.given else "" if _is_open(launch) else "grpo"
    if name in _GROUPED and _size(launch, _GROUP) == 1:
        message = (
            f"{name} compares the answers of a group, and {_said(launch, _GROUP)} makes groups of one; {_AT_START}"
        )
        yield from _reject(
            launch, ctx, (_GROUP, _ESTIMATOR), message, f"set {_GROUP} to the size of the group, such as 5"
        )


# ---- sizes


def _is_open(launch: Launch) -> bool:
    """Whether a config that is not here, or the caller, may give what the launch does not."""
    return launch.passes_arguments or ("config" in launch and not launch.of_file)


def _size(launch: Launch, key: str) -> int | None:
    """A size, of a key that is not given its default; None when it is not known."""
    if launch[key].given:
        number = launch[key].number()
        return int(number) if number is not None and number == int(number) else None
    return None if _is_open(launch) else _default(key)


def _default(key: str) -> int:
    return _DEFAULTS[key] if key in _DEFAULTS else _OF_ROLE[key.rpartition(".")[2]]


def _gpus(launch: Launch) -> int | None:
    nodes, gpus = _size(launch, _NODES), _size(launch, _GPUS)
    return None if nodes is None or gpus is None else nodes * gpus


def _said(launch: Launch, key: str) -> str:
    size = launch[key].number() if launch[key].given else _default(key)
    return f"{key.removeprefix('worker.')} {size:g}" + ("" if launch[key].given else " (the default)")


def _gpus_said(launch: Launch) -> str:
    nodes, gpus = _size(launch, _NODES), _size(launch, _GPUS)
    assert nodes is not None
    assert gpus is not None
    times = f" ({nodes} nodes x {gpus})" if nodes > 1 else ""
    return f"{nodes * gpus} GPU{'s' if nodes * gpus > 1 else ''}{times}"


def _reject(launch: Launch, ctx: Context, keys: tuple[str, ...], message: str, help: str) -> Iterator[Finding]:
    """The finding as the only one, if any."""
    found = _found(launch, ctx, keys, message, help)
    if found is not None:
        yield found


def _found(launch: Launch, ctx: Context, keys: tuple[str, ...], message: str, help: str) -> Finding | None:
    """A finding at the first of the keys that is given; none when all are left to the defaults."""
    given = [launch[key] for key in dict.fromkeys(keys) if launch[key].given]
    if not given:
        return None
    finding = ctx.fail(given[0], message, help=help, severity=ERROR)
    for value in given[1:]:
        finding = finding.with_related(value.span, f"{value.key} = {value}")
    return finding
