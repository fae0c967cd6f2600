#!/usr/bin/env python3
"""Build a release from a commit: wheel, source distribution, their checksums and a bill of materials.

    python -m pip install '.[release]'
    python scripts/release.py OUT               # of HEAD
    python scripts/release.py OUT --commit v0.1.0

Both distributions are built twice, from two exports of the commit in folders of other names, and must be the same to
the last byte: whoever has the commit can make them again and compare. Times in the archives are those of the commit.
The bill of materials (CycloneDX, JSON) is of a fresh environment with the wheel in it: it names what pip takes today.

Exit codes: 0 written, 1 the two builds differ, 2 git, a build or an installation failed."""

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FORMATS = ("wheel", "sdist")
BUILD = "import hatchling.build as b, sys; getattr(b, 'build_' + sys.argv[1])(sys.argv[2])"


def export(repository: Path, commit: str, folder: Path) -> Path:
    """The files of a commit in a new folder, as git holds them."""
    folder.mkdir(parents=True)
    archive = subprocess.run(
        ["git", "archive", "--format=tar", commit], cwd=repository, stdout=subprocess.PIPE, check=True
    )
    subprocess.run(["tar", "-x", "-C", folder], input=archive.stdout, check=True)
    return folder


def commit_time(repository: Path, commit: str) -> str:
    """When a commit was made, in seconds since 1970."""
    shown = subprocess.run(
        ["git", "show", "-s", "--format=%ct", commit], cwd=repository, capture_output=True, text=True, check=True
    )
    return shown.stdout.strip()


def build(source: Path, out: Path, seconds: str) -> list[Path]:
    """The distributions of an export, written to a new folder."""
    out.mkdir(parents=True)
    environment = {**os.environ, "SOURCE_DATE_EPOCH": seconds}
    for kind in FORMATS:
        subprocess.run([sys.executable, "-c", BUILD, kind, out], cwd=source, env=environment, check=True)
    return sorted(out.iterdir())


def digest(path: Path) -> str:
    """SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def differing(first: Iterable[Path], second: Iterable[Path]) -> list[str]:
    """Names of the files that only one of two builds has, or that differ."""
    one, other = ({path.name: digest(path) for path in build} for build in (first, second))
    return sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))


def write_bill(wheel: Path, target: Path, seconds: str) -> None:
    """What an installation of a wheel brings along, as CycloneDX."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = Path(folder, "bin", "python")
        subprocess.run([python, "-m", "pip", "install", "-q", wheel], check=True)
        subprocess.run([python, "-m", "pip", "uninstall", "-q", "-y", "pip", "setuptools"], check=True)
        subprocess.run(
            [sys.executable, "-m", "cyclonedx_py", "environment", "--output-reproducible", "-o", target, python],
            env={**os.environ, "SOURCE_DATE_EPOCH": seconds},
            check=True,
        )


def release(repository: Path, commit: str, out: Path, *, bill: bool) -> list[str]:
    """Write a release to a folder; the names of what differs between two builds, then nothing is written."""
    seconds = commit_time(repository, commit)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        first, second = (
            build(export(repository, commit, folder / name / "source"), folder / name / "out", seconds)
            for name in ("one", "the other")
        )
        differences = differing(first, second)
        if differences:
            return differences
        out.mkdir(parents=True, exist_ok=True)
        for path in first:
            (out / path.name).write_bytes(path.read_bytes())
        if bill:
            (wheel,) = (path for path in first if path.suffix == ".whl")
            write_bill(wheel, out / f"{wheel.stem}.cdx.json", seconds)
    sums = [f"{digest(path)}  {path.name}\n" for path in sorted(out.iterdir()) if path.name != "SHA256SUMS"]
    (out / "SHA256SUMS").write_text("".join(sums), "utf-8")
    return []


def main(arguments: Sequence[str]) -> int:
    """The command of this file."""
    parser = argparse.ArgumentParser(description="Build a release from a commit, twice, and compare.")
    parser.add_argument("out", type=Path, help="folder that is written to")
    parser.add_argument("--commit", default="HEAD", help="what is released (default HEAD)")
    parser.add_argument("--no-bill", action="store_true", help="leave out the bill of materials")
    called = parser.parse_args(arguments)
    try:
        differences = release(ROOT, called.commit, called.out, bill=not called.no_bill)
    except subprocess.CalledProcessError as error:
        print(f"failed: {' '.join(map(str, error.cmd))}", file=sys.stderr)
        return 2
    for name in differences:
        print(f"{name} differs between two builds of the same commit", file=sys.stderr)
    return int(bool(differences))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
