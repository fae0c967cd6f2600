"""Jobs that run at the same time must not share GPUs or a port.

Two commands in the background with the same device in `CUDA_VISIBLE_DEVICES` both load a model there: the second ends
with CUDA out of memory, or both crawl. Two servers on one port: the second cannot bind, and its clients talk to the
first, so one model answers for two.

Reported for jobs of one script that are started in the background without a `wait` in between, with known devices or a
known `--port`, and for a launch in front of a server that was not ended before and is not told to leave half of the
memory free. One more job without devices of its own takes all of them. Silent where the devices come from the
environment, for jobs that run one after the other, on different hosts (`ssh`) or in containers.

Fix: give each job devices and a port of its own, or `wait` before the next.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.script import Script
from verlint.finding import Finding
from verlint.languages.bash.command import Command
from verlint.languages.bash.replay import Path
from verlint.lazy import pattern
from verlint.record import dataclass
from verlint.rule import ERROR, Context, rule
from verlint.source import Span
from verlint.value import Text

_LIST = pattern(r"\d+(?:,\d+)*")
_ENDS = pattern(r"(?:^|[/_-])(?:p?kill|killall|stop|quit|shutdown|cleanup|teardown)(?:[_.-]|$)")
"""Words of commands that end others."""

_SHARES = ("--gpu-memory-utilization", "--gpu_memory_utilization", "--mem-fraction-static")
_PROGRAMS = frozenset(["python", "python3", "torchrun", "accelerate", "deepspeed", "vllm", "sglang", "lm_eval"])


@dataclass(frozen=True, slots=True)
class _Job:
    """A command in the background: where it is put there, the devices and ports it uses, as known."""

    place: Span
    turn: int
    devices: frozenset[str]
    ports: frozenset[str]
    command: Command


@rule("VL910", "device-collision", on=Script, severity=ERROR, since="0.1", words=("cuda_visible_devices", "--port"))
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
    running: list[_Job] = []
    for turn, command in enumerate(path.commands):
        if command.name == "wait" or _ends_others(command):
            running.clear()
            continue
        if command.around.in_container:
            continue  # its numbers are those of the devices and ports that it was given
        if not command.around.background and ctx.project.launch(command) is not None:
            job = _job(command, turn)
            serving = (other for other in running if _serves(other.command) and _on_one_host(other, job))
            beside = next((other for other in serving if other.devices & job.devices), None)
            if beside is not None:
                yield beside, job
            continue
        if not command.around.background or command.name not in _PROGRAMS:
            continue
        job = _job(command, turn)
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
    merged = {**command.around.environment, **command.prefix}
    devices = merged.get("CUDA_VISIBLE_DEVICES")
    return _Job(place, turn, _listed(devices), frozenset(_ports(command)), command)


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


def _finding(first: _Job, second: _Job, ctx: Context) -> Finding:
    shared = sorted(first.devices & second.devices, key=int)
    if shared:
        what = f"GPU {shared[0]}" if len(shared) == 1 else f"GPUs {', '.join(shared)}"
        value, help_ = (
            f"CUDA_VISIBLE_DEVICES = {','.join(sorted(second.devices, key=int))}",
            "give each job GPUs of its own",
        )
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
        first.place, "an earlier turn of the loop still runs" if turn else "still runs in the background"
    )
