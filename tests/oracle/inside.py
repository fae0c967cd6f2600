"""Runs launchers one after the other inside fresh namespaces: `python inside.py PLAN`, PLAN being a JSON file.

It must be the first process of its PID namespace: then nothing that a launcher leaves behind can get away from it, and
nothing it ends can be somebody else's. The plan is `{"outside": pid namespace of the caller, "jobs": [{"root", "cwd",
"argv", "environment", "errors", "seconds", "records"}]}`; what is printed is a list of `[exit status, timed out]`.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import signal
import sys
import time
from typing import Any

_BIND = 4096
_MAX_FILE = 16 << 20
_LIBC = ctypes.CDLL(None, use_errno=True)


def mount(source: str, target: str, kind: str, flags: int = 0) -> None:
    if _LIBC.mount(source.encode(), target.encode(), kind.encode(), flags, None) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"cannot mount {source}: {os.strerror(number)}")


def start(job: dict[str, Any]) -> int:
    """The process number of the launcher."""
    errors = os.open(job["errors"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    pid = os.fork()
    if pid:
        os.close(errors)
        return pid
    try:
        os.setsid()
        seconds = int(job["seconds"]) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        resource.setrlimit(resource.RLIMIT_FSIZE, (_MAX_FILE, _MAX_FILE))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        null = os.open("/dev/null", os.O_RDWR)
        os.dup2(null, 0)
        os.dup2(null, 1)
        os.dup2(errors, 2)
        os.chroot(job["root"])
        os.chdir(job["cwd"])
        os.execve(job["argv"][0], job["argv"], job["environment"])
    except OSError as problem:
        os.write(2, f"cannot start: {problem}\n".encode())
    finally:
        os._exit(125)


def end_all(root: str) -> None:
    """End whatever still runs in this namespace, as its own /proc lists it."""
    for name in os.listdir(os.path.join(root, "proc")):
        if name.isdigit() and name != "1":
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(name), signal.SIGKILL)


def run(job: dict[str, Any]) -> tuple[int, bool]:
    """Exit status and whether it had to be ended; returns when no process of the launcher is left."""
    root = job["root"]
    mount("proc", os.path.join(root, "proc"), "proc")
    mount("/dev/null", os.path.join(root, "dev/null"), "", _BIND)
    leader = start(job)
    status, timed_out = 0, False
    deadline = time.monotonic() + job["seconds"]
    log = os.path.join(root, ".oracle/log")
    turns = 0
    while True:
        try:
            pid, code = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return status, timed_out
        if pid == leader:
            status = os.waitstatus_to_exitcode(code)
        if pid:
            continue
        turns += 1
        if time.monotonic() > deadline or (turns % 64 == 0 and len(os.listdir(log)) > job["records"]):
            timed_out = True
            end_all(root)
        time.sleep(0.0005 if turns < 64 else 0.003)


def main() -> None:
    with open(sys.argv[1], encoding="utf-8", errors="surrogateescape") as file:
        plan = json.load(file)
    if os.getpid() != 1 or os.readlink("/proc/self/ns/pid") == plan["outside"]:
        sys.exit("not the first process of a namespace of its own")
    json.dump([run(job) for job in plan["jobs"]], sys.stdout)


if __name__ == "__main__":
    main()
