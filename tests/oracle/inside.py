"""Runs launchers one after the other inside fresh namespaces: `python inside.py PLAN`, PLAN being a JSON file.

It must be the first process of its PID namespace: then nothing that a launcher leaves behind can get away from it, and
nothing it ends can be somebody else's. The plan is `{"outside": PID namespace of the caller, "base": folder that all
roots share, "room": empty folder to put roots on, "jobs": [...]}`; what is printed is a list of
`{"status", "timed_out", "errors", "records": [text, ...]}`, one a job.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import shutil
import signal
import sys
import time
from pathlib import Path
from typing import Any

BIND, DETACH = 4096, 2
MAX_CPU = 3
"""Seconds of work after which a process is ended: an endless loop costs no more, also on a busy machine."""
MAX_WRITTEN = 16 << 20
MAX_COPIED = 64 << 10
MAX_ERRORS = 64 << 10
MOUNT = "checkout"
FOLDERS = ("bin", "dev/shm", "home/user", "proc", "tmp", "usr/bin", "var/log", ".records", MOUNT)
INTERPRETERS = ("bash", "sh", "env", "python", "python3", "perl", "program")
SKIPPED = frozenset([".git", "__pycache__", "node_modules"])
LIBC = ctypes.CDLL(None, use_errno=True)


def check(result: int, what: str) -> None:
    if result != 0:
        raise OSError(ctypes.get_errno(), f"cannot {what}: {os.strerror(ctypes.get_errno())}")


def mount(source: str, target: Path, kind: str, flags: int = 0) -> None:
    check(LIBC.mount(source.encode(), str(target).encode(), kind.encode(), flags, None), f"mount {source}")


# ---- the root of one job


def fill(root: Path, base: Path, job: dict[str, Any]) -> None:
    """Make the root: what all share, and the job's own files."""
    for name in FOLDERS:
        (root / name).mkdir(parents=True)
    # Below `usr` one level deeper: a root has its own `usr/bin`.
    for shared in (path for pattern in ("*", "usr/*") for path in base.glob(pattern) if path != base / "usr"):
        target = root / shared.relative_to(base)
        target.mkdir(exist_ok=True)
        mount(str(shared), target, "", BIND)
    mount("proc", root / "proc", "proc")
    (root / "dev/null").touch()
    mount("/dev/null", root / "dev/null", "", BIND)
    for link, to in (("fd", "/proc/self/fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2")):
        (root / "dev" / link).symlink_to(to)
    for name in INTERPRETERS:
        for folder in ("bin", "usr/bin"):
            write_program(root / folder / name, b"#!/.oracle/bash /.oracle/shebang\n")
    if job["folder"]:
        copy_folder(Path(job["folder"]), root / MOUNT)
    for name, text in job["texts"].items():
        target = root / MOUNT / name
        target.parent.mkdir(parents=True, exist_ok=True)
        write_program(target, text.encode("utf-8", "surrogateescape"), 0o755 if text.startswith("#!") else 0o644)
    for path in job["folders"]:
        inside(root, path).mkdir(parents=True, exist_ok=True)
    for path in job["programs"]:
        target = inside(root, path)
        if not os.path.lexists(target) and not any(each.is_file() for each in target.parents):
            target.parent.mkdir(parents=True, exist_ok=True)
            write_program(target, b"#!/usr/bin/program\n")


def inside(root: Path, path: str) -> Path:
    return root / os.path.normpath(path).lstrip("/")


def write_program(path: Path, text: bytes, mode: int = 0o755) -> None:
    path.write_bytes(text)
    path.chmod(mode)


def copy_folder(folder: Path, target: Path) -> None:
    for name, subfolders, files in os.walk(folder):
        subfolders[:] = [each for each in subfolders if each not in SKIPPED]
        there = target / os.path.relpath(name, folder)
        there.mkdir(parents=True, exist_ok=True)
        for each in files:
            source = Path(name, each)
            if source.is_symlink():
                (there / each).symlink_to(os.readlink(source))
            elif source.stat().st_size <= MAX_COPIED:
                shutil.copy(source, there / each)
            else:
                (there / each).write_text("\n")


# ---- running


def start(root: Path, job: dict[str, Any], errors: int) -> int:
    """The process number of the launcher."""
    pid = os.fork()
    if pid:
        return pid
    try:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_CPU, (MAX_CPU, MAX_CPU + 1))
        resource.setrlimit(resource.RLIMIT_FSIZE, (MAX_WRITTEN, MAX_WRITTEN))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        null = os.open("/dev/null", os.O_RDWR)
        for number, opened in enumerate((null, null, errors)):
            os.dup2(opened, number)
        os.chroot(root)
        os.chdir(os.path.join("/", MOUNT, job["start"]))
        os.execve(job["argv"][0], job["argv"], job["environment"])
    except OSError as problem:
        os.write(2, f"cannot start: {problem}\n".encode())
    finally:
        os._exit(125)


def end_all(root: Path) -> None:
    """End whatever still runs in this namespace, as its own /proc lists it."""
    for name in os.listdir(root / "proc"):
        if name.isdigit() and name != "1":
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(name), signal.SIGKILL)


def wait(root: Path, job: dict[str, Any], leader: int) -> tuple[int, bool]:
    """Exit status and whether it had to be ended; returns when no process of the launcher is left."""
    status, timed_out, turns = 0, False, 0
    deadline = time.monotonic() + job["seconds"]
    while True:
        try:
            pid, code = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return status, timed_out
        if pid == leader:
            status = os.waitstatus_to_exitcode(code)
            timed_out = timed_out or status == -signal.SIGXCPU
        if pid:
            continue
        turns += 1
        if time.monotonic() > deadline or (turns % 64 == 0 and len(os.listdir(root / ".records")) > job["records"]):
            timed_out = True
            end_all(root)
        time.sleep(0.0005 if turns < 64 else 0.003)


def run(room: Path, base: Path, job: dict[str, Any]) -> dict[str, Any]:
    """One job in a root of its own, which is gone afterwards."""
    mount("oracle", room, "tmpfs")
    fill(room, base, job)
    errors = os.open(room / ".errors", os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
    status, timed_out = wait(room, job, start(room, job, errors))
    size = os.fstat(errors).st_size
    written = os.pread(errors, MAX_ERRORS, max(size - MAX_ERRORS, 0))
    os.close(errors)
    timed_out = timed_out or b"CPU time limit exceeded" in written  # what a shell says of its child
    names = sorted(os.listdir(room / ".records"), key=lambda name: name.replace(",", "."))[: job["records"]]
    records = [(room / ".records" / name).read_bytes() for name in names]
    check(LIBC.umount2(str(room).encode(), DETACH), "take the root away")
    texts = [data.decode("utf-8", "surrogateescape") for data in (written, *records)]
    return {"status": status, "timed_out": timed_out, "errors": texts[0], "records": texts[1:]}


def main() -> None:
    with open(sys.argv[1], encoding="utf-8") as file:
        plan = json.load(file)
    if os.getpid() != 1 or os.readlink("/proc/self/ns/pid") == plan["outside"]:
        sys.exit("not the first process of a namespace of its own")
    room, base = Path(plan["room"]), Path(plan["base"])
    try:
        json.dump([run(room, base, job) for job in plan["jobs"]], sys.stdout)
    except OSError as problem:
        sys.exit(str(problem))


if __name__ == "__main__":
    main()
