"""Jobs that run at the same time must not share GPUs or a port.

Two commands in the background with the same device in `CUDA_VISIBLE_DEVICES` both load a model there: the second ends
with CUDA out of memory, or both crawl. Two servers on one port: the second cannot bind, and its clients talk to the
first, so one model answers for two.

Reported for jobs of one script that are started in the background without a `wait` in between, with known devices or a
known `--port`, and for a launch in front of a server that was not ended before and is not told to leave half of the
memory free. A server without `CUDA_VISIBLE_DEVICES` takes the first GPUs, and a run with `trainer.n_gpus_per_node=8`
all of its node. Silent where the devices come from the environment, for jobs that run one after the other, on different
hosts (`ssh`), in batch jobs of their own (`sbatch`) or in containers.

Fix: give each job devices and a port of its own, or `wait` before the next.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.batch_jobs import submits, with_jobs
from verlint.experiment.launch import Launch
from verlint.experiment.python_programs import MAIN
from verlint.experiment.script import Script
from verlint.finding import Finding
from verlint.languages.bash.command import Command
from verlint.languages.bash.replay import Path
from verlint.languages.bash.wrappers import unwrap
from verlint.lazy import pattern
from verlint.record import dataclass, replace
from verlint.rule import ERROR, Context, rule
from verlint.source import Span
from verlint.value import Text, whole
from verlint_rules.evaluation.endpoints import option_value
from verlint_rules.shell.nodes import ray_verb

_LIST = pattern(r"\d+(?:,\d+)*")
_ENDS = pattern(r"(?:^|[/_-])(?:p?kill|killall|stop|quit|shutdown|cleanup|teardown)(?:[_.-]|$)")
"""Words of commands that end others."""

_SHARES = ("--gpu-memory-utilization", "--gpu_memory_utilization", "--mem-fraction-static")
_NODE = 8
"""GPUs of a node: a run that wants as many leaves none to others."""

_LISTS = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "ASCEND_RT_VISIBLE_DEVICES")
_SPREADING = frozenset(["srun", "salloc", "mpirun", "mpiexec", "orterun", "horovodrun"])
_PLACED = frozenset(["--device", "--base-gpu-id", "--gpu-id-step", "--nnodes", "--node-rank", "--help", "--version"])
"""Options of servers that choose devices, or nodes."""

_PARALLEL = (
    ("--tensor-parallel-size", "-tp", "--tp", "--tp-size", "--tensor_parallel_size"),
    ("--pipeline-parallel-size", "-pp", "--pp-size"),
    ("--data-parallel-size", "-dp", "--dp-size", "--dp"),
)
_PROGRAMS = frozenset(["python", "python3", "torchrun", "accelerate", "deepspeed", "vllm", "sglang", "lm_eval"])


@dataclass(frozen=True, slots=True)
class _Job:
    """A command in the background: where it is put there, the devices and ports it uses, as known. `says` is what its
    devices follow from, "" for those that are listed."""

    place: Span
    turn: int
    devices: frozenset[str]
    ports: frozenset[str]
    command: Command
    says: str = ""


@rule(
    "VL910",
    "device-collision",
    on=Script,
    severity=ERROR,
    since="0.1",
    words=("cuda_visible_devices", "--port", "serve", "server"),
)
def check(script: Script, ctx: Context) -> Iterator[Finding]:
    if script.document:
        return
    paths = script.resolution.paths
    found: dict[tuple[object, object], dict[int, Finding]] = {}
    for number, path in enumerate(paths):
        for first, second in _collisions(path, ctx):
            there = found.setdefault((first.place.order(), second.place.order()), {})
            there.setdefault(number, _finding(first, second, ctx))
    seen: set[object] = set()
    for (_, later), findings in found.items():
        if len(findings) == len(paths) and later not in seen:
            seen.add(later)
            yield next(iter(findings.values()))


def _collisions(path: Path, ctx: Context) -> Iterator[tuple[_Job, _Job]]:
    of_batch_jobs: dict[Span | None, list[_Job]] = {}
    ray: Command | None = None
    for turn, (command, batch_job) in enumerate(with_jobs(path.commands)):
        if submits(command):
            of_batch_jobs.pop(command.span.in_file(), None)  # an earlier turn of a loop
        running = of_batch_jobs.setdefault(batch_job, [])
        if command.name == "wait" or _ends_others(command):
            running.clear()
            continue
        if command.around.in_container:
            continue  # its numbers are those of the devices and ports that it was given
        if ray_verb(command) == "start" and not command.around.elsewhere:
            ray = command
        launch = ctx.project.launch(command)
        if not command.around.background and launch is not None:
            job = _of_launch(launch, turn, ray)
            serving = (other for other in running if _serves(other.command) and _on_one_host(other, job))
            beside = next((other for other in serving if other.devices & job.devices), None)
            if beside is not None:
                yield beside, job
            continue
        if not command.around.background or command.name not in _PROGRAMS:
            continue
        job = _job(command, turn) if launch is None else _of_launch(launch, turn, ray)
        if not job.devices and not job.ports:
            continue
        for other in running:
            apart = (other.place.order() != job.place.order() or _is_simple(job)) and _on_one_host(other, job)
            if apart and (other.devices & job.devices or other.ports & job.ports):
                yield other, job
                break
        running.append(job)


def _on_one_host(one: _Job, other: _Job) -> bool:
    """Whether two jobs surely run on the same host: this one, or the same one behind `ssh`."""
    place = one.command.around.elsewhere
    return place == other.command.around.elsewhere and "$" not in place


def _ends_others(command: Command) -> bool:
    """`kill`, `xargs kill`, `tmux kill-session`, `docker stop`, `fuser -k`, `bash stop_server.sh`"""
    if command.around.background or command.name in ("echo", "printf"):
        return False
    if command.name in ("fuser", "scancel"):
        return True
    return any(_ENDS.search(word.known or "") for word in command.argv[:4])


def _serves(command: Command) -> bool:
    """Whether a command holds its GPUs until it is ended: a server that is not told to leave them half free."""
    words = [each.known or each.prefix for each in command.argv]
    if "--enable-sleep-mode" in words or "--enable-memory-saver" in words:
        return False
    for option, value in zip(words, [*words[1:], ""], strict=True):
        name, equals, given = option.partition("=")
        if name in _SHARES:
            share = given if equals else value
            return not share.startswith(("0.0", "0.1", "0.2", "0.3", "0.4", "0.5", "."))
    return any(word in ("serve", "vllm-serve") or word.endswith(("api_server", "launch_server")) for word in words[1:4])


def _is_simple(job: _Job) -> bool:
    """Whether the background job is this one command, not a script of several."""
    return job.place == job.command.span


def _job(command: Command, turn: int) -> _Job:
    stack = command.around.stack
    place = stack[0].span if stack else command.span
    devices = _devices(command)
    job = _Job(place, turn, _listed(devices), frozenset(_ports(command)), command)
    if devices is None and _serves(command) and (count := _taken_by_server(command)):
        return replace(job, devices=_first(count), says="without CUDA_VISIBLE_DEVICES it takes the first of the node")
    return job


def _of_launch(launch: Launch, turn: int, ray: Command | None) -> _Job:
    """A launch; without devices of its own, a run on a whole node takes all of that."""
    job = _job(launch.command, turn)
    nodes, count = launch["trainer.nnodes"].number(), launch["trainer.n_gpus_per_node"].number()
    trains = launch.program.entry == MAIN or "trainer.n_gpus_per_node" in launch
    if job.devices or count is None or count < _NODE or not trains or nodes != 1 or _is_far(launch.command):
        return job
    seen = [_devices(command) for command in (launch.command, ray) if command is not None]
    if any(devices is not None for devices in seen) or (ray is not None and _is_far(ray)):
        return job
    return replace(job, devices=_first(int(count)), says=f"trainer.n_gpus_per_node = {count:g}")


def _is_far(command: Command) -> bool:
    """Whether a command may run on another node, or on a cluster that is there already."""
    inner = unwrap(command.argv)
    words = [word.known for word in command.argv]
    cluster = "RAY_ADDRESS" in {*command.around.environment, *command.prefix, *inner.assignments}
    return cluster or not _SPREADING.isdisjoint(inner.wrappers) or ("job" in words and "submit" in words)


def _devices(command: Command) -> Text | None:
    """The list of devices that a command sees, None when nothing says so."""
    merged = unwrap(command.argv).environment({**command.around.environment, **command.prefix})
    return next((merged[name] for name in _LISTS if name in merged), None)


def _taken_by_server(command: Command) -> int:
    """How many GPUs a model server takes, 0 for other programs, and for one that may not take the first."""
    words = [each.known or each.prefix for each in command.argv]
    serves = any(
        word in ("serve", "vllm-serve") or word.endswith(("api_server", "launch_server")) for word in words[1:4]
    )
    if not serves or _is_far(command) or any(word.partition("=")[0] in _PLACED for word in words):
        return 0
    count = 1
    for names in _PARALLEL:
        given = option_value(command.argv, names)
        number = None if given is None or given.known is None else whole(given.known)
        count *= number if number else 1
    return min(count, _NODE)


def _first(count: int) -> frozenset[str]:
    return frozenset(map(str, range(count)))


def _listed(devices: Text | None) -> frozenset[str]:
    text = None if devices is None else devices.known
    return frozenset(text.split(",")) if text is not None and _LIST.fullmatch(text) else frozenset()


def _ports(command: Command) -> Iterator[str]:
    words = command.argv
    for at, word in enumerate(words):
        name, equals, value = (word.known or "").partition("=")
        if name in ("--port", "--master_port", "--master-port", "--main_process_port"):
            number = value if equals else words[at + 1].known if at + 1 < len(words) else None
            if number is not None and number.isdigit() and number != "0":
                yield number


def _by_number(device: str) -> tuple[int, str]:
    return len(device), device


def _finding(first: _Job, second: _Job, ctx: Context) -> Finding:
    shared = sorted(first.devices & second.devices, key=_by_number)
    if shared:
        what = f"GPU {shared[0]}" if len(shared) == 1 else f"GPUs {', '.join(shared)}"
        listed = f"CUDA_VISIBLE_DEVICES = {','.join(sorted(second.devices, key=_by_number))}"
        value, help_ = second.says or listed, "give each job GPUs of its own"
    else:
        port = sorted(first.ports & second.ports)[0]
        what, value, help_ = f"port {port}", f"--port = {port}", "give each server a port of its own"
    found = ctx.fail(
        second.place,
        f"this job runs beside another one on {what}",
        value=value,
        help=f"{help_}, or wait for the first",
    )
    turn = first.place.order() == second.place.order()
    return found.with_related(
        first.place,
        "an earlier turn of the loop still runs"
        if turn
        else f"still runs in the background{': ' + first.says if first.says else ''}",
    )
