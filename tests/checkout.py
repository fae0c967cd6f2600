"""A copy of this checkout as it stands, uncommitted changes included, for tests that install it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from verlint.files.discovery import list_git_files

ROOT = Path(__file__).resolve().parent.parent


def copy_checkout(target: Path) -> Path:
    """Copy every file that git tracks or does not ignore to the folder `target`, which must not exist."""
    names = list_git_files(ROOT)
    if names is None:
        pytest.skip("needs git and a checkout")
    for name in names:
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name, follow_symlinks=False)
    return target


def commit_all(folder: Path) -> Path:
    """Make a folder a git repository whose only commit holds all its files."""
    who = ["-c", "user.name=test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false"]
    for arguments in (["init", "-q", "-b", "main"], ["add", "-A"], [*who, "commit", "-q", "--no-verify", "-m", "all"]):
        subprocess.run(["git", "-C", str(folder), *arguments], check=True, capture_output=True)
    return folder
