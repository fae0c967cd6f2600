"""A run cannot have more GPUs per node than its processes see.

VeRL reserves `trainer.n_gpus_per_node` GPUs on each node. A local Ray offers what `CUDA_VISIBLE_DEVICES` names, or what
`ray start --num-gpus` says. Is that less, the trainer ends with "Total available GPUs … is less than total desired
GPUs …", or waits for a placement group for ever. Fewer than are visible is fine: the rest stays idle.

A list with an entry that is no device (`0,1w`), or with a device twice, is reported by itself: CUDA stops reading at
the one and shows nothing at all for the other.

Reported for runs on one node whose Ray starts in the same script, also in a launcher that the script calls, unless the
project starts Ray in another one. To be verified for runs on several nodes in a script that knows the GPUs of one and
speaks of no other: their Ray may be running already. Silent for `ray job submit` and `RAY_ADDRESS`, where the devices
are those of the cluster, for scripts in which other nodes join, and where the value of a variable is that of the
environment. Where the key is not given, the default of the VeRL in use counts.

Fix: give `trainer.n_gpus_per_node` the number of visible devices, best from one variable.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.launch import Launch
from verlint.experiment.paths import written_at
from verlint.experiment.script import Script
from verlint.finding import Finding
from verlint.languages.bash.command import Command
from verlint.languages.bash.wrappers import unwrap
from verlint.lazy import pattern
from verlint.record import dataclass
from verlint.rule import ERROR, Context, rule
from verlint.source import Span
from verlint.value import Text, Value, whole
from verlint.verl.facts import GPUS, NODES
from verlint_rules.shell.device_lists import DEVICES, odd_lists
from verlint_rules.shell.nodes import ray_verb

_OTHER_NODES = pattern(
    r"\b(?:srun|ssh|pdsh|clush|mpirun|mpiexec|sbatch|kubectl|symmetric[-_]run|ray\s+(?:job|up|attach))\b|--address"
    r"|RAY_ADDRESS|ray_init\.address|MASTER_ADDR|NODE_RANK|SLURM_|\bsource\b|^\s*\.\s|(?i:#SBATCH)",
    8,
)
"""What shows that a script knows of other nodes, or may do so out of sight."""
_LIST = pattern(r"\d+(?:,\d+)*")


@dataclass(frozen=True, slots=True)
class _Offer:
    """How many GPUs a local Ray has, what says so, and where."""

    number: int
    said: str
    span: Span | None


@rule(
    "VL909",
    "gpu-count",
    on=Script,
    severity=ERROR,
    since="0.1",
    words=("visible_devices", "--num-gpus"),
)
def check(script: Script, ctx: Context) -> Iterator[Finding]:
    if script.document:
        return
    yield from odd_lists(script, ctx)
    found: dict[object, list[Finding]] = {}
    reached: dict[object, int] = {}
    elsewhere = ctx.project.mentions(("ray start",))
    for path in script.resolution.paths:
        started: _Offer | None = None
        remote = False
        for command in path.commands:
            if ray_verb(command) == "start":
                words = unwrap(command.argv).argv
                offer = _of_ray(words)
                remote |= "--address" in " ".join(word.shown for word in words)
                started = offer or started
                continue
            launch = ctx.project.launch(command)
            if launch is None:
                continue
            called = command.span.in_file().source is not script.source
            if called and (launch[NODES].number() != 1 or (started is None and elsewhere)):
                continue  # a cluster that runs already has GPUs of its own
            place = (command.span.order(), *(call.span.order() for call in command.around.stack if called))
            reached[place] = reached.get(place, 0) + 1
            if not (remote or _on_a_cluster(command)):
                offer = _of_devices(command) if started is None else started
                if offer is not None and (finding := _judged(launch, offer, ctx)) is not None:
                    found.setdefault(place, []).append(finding)
    yield from (findings[0] for place, findings in found.items() if len(findings) == reached[place])


def _on_a_cluster(command: Command) -> bool:
    """Whether the GPUs are those of another machine."""
    words = [word.known for word in command.argv]
    return "RAY_ADDRESS" in {*command.around.environment, *command.prefix} or ("job" in words and "submit" in words)


def _of_ray(words: tuple[Text, ...]) -> _Offer | None:
    """What `ray start` says it has."""
    for at, word in enumerate(words):
        name, equals, value = (word.known or "").partition("=")
        if name != "--num-gpus":
            continue
        number = value if equals else words[at + 1].known if at + 1 < len(words) else None
        if number is not None and (count := whole(number)) is not None:
            return _Offer(count, f"ray start --num-gpus {number}", word.span)
    return None


def _of_devices(command: Command) -> _Offer | None:
    """The devices that the command sees, when they are listed."""
    merged = unwrap(command.argv).environment({**command.around.environment, **command.prefix})
    for name in DEVICES:
        devices = merged.get(name)
        text = None if devices is None else devices.known
        if devices is not None and text is not None and _LIST.fullmatch(text) and not _may_differ(devices):
            return _Offer(len(set(text.split(","))), f"{name}={text}", written_at(devices) or devices.span)
    return None


def _may_differ(devices: Text) -> bool:
    """Whether the caller may have another list: `${CUDA_VISIBLE_DEVICES:-0,1}`."""
    return any(getattr(part, "overridable", "") for part in devices.parts)


def _judged(launch: Launch, offer: _Offer, ctx: Context) -> Finding | None:
    nodes, wanted = launch[NODES], launch[GPUS]
    number, count = wanted.number(), nodes.number()
    if number is not None and count is not None and count > 1:
        return _several(launch, offer, number * count, ctx)
    if number is None or count != 1 or number <= offer.number:
        return None
    found = ctx.fail(
        wanted if wanted.given else launch.head,
        f"the run wants {number:g} GPUs on its node and Ray has {offer.number}: VeRL stops when it reserves them",
        value=_shown(wanted),
        help=f"{GPUS}={offer.number}, or offer more",
    )
    return found.with_related(offer.span, offer.said)


def _several(launch: Launch, offer: _Offer, number: float, ctx: Context) -> Finding | None:
    """A run on several nodes, in a script that speaks of one only."""
    nodes = launch[NODES]
    script = launch.span.in_file().source
    parts = nodes.text.parts if nodes.text is not None else ()
    chosen = any(getattr(part, "overridable", "") for part in parts)
    if number <= offer.number or not nodes.given or chosen or _OTHER_NODES.search(script.text):
        return None
    return ctx.unsure(
        nodes,
        f"the run wants {number:g} GPUs on {nodes} nodes, and this script knows {offer.number} on one: "
        "without other nodes VeRL waits for their GPUs, or stops",
        help=f"{NODES}=1 on one machine",
        verify="ray status",
    ).with_related(offer.span, offer.said)


def _shown(wanted: Value) -> str:
    return f"{GPUS} = {wanted}" + ("" if wanted.given else " (the default)")
