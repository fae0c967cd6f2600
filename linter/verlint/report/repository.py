"""Paths as forges want them: relative to the root of the repository."""

from __future__ import annotations

import os

from verlint import disk

_ROOT_VARIABLES = ("GITHUB_WORKSPACE", "CI_PROJECT_DIR")
"""Where GitHub and GitLab jobs say the root is."""
_PREFIXES = disk.memory()


def repository_path(path: str) -> str:
    """A path of a report, which is relative to the working directory, relative to the root of the repository.

    The root is the one that the CI job names, when the working directory is in it, else the nearest folder upwards
    with a `.git`, else the working directory. A path outside of the root stays as it is.
    """
    here, named = os.getcwd(), tuple(disk.variable(name) for name in _ROOT_VARIABLES)
    prefix = disk.remembered(_PREFIXES, (here, named), lambda: _prefix(here, named))
    if not prefix or os.path.isabs(path):
        return path
    joined = os.path.normpath(f"{prefix}/{path}").replace(os.sep, "/")
    return path if joined.startswith("../") else joined


def _prefix(here: str, named: tuple[str, ...]) -> str:
    """The working directory relative to the root, "" when it is the root."""
    root = next((root for root in named if root and _within(here, root)), "") or _git_root(here)
    relative = os.path.relpath(disk.real(here), disk.real(root)) if root else "."
    return "" if relative == "." else relative.replace(os.sep, "/")


def _within(path: str, root: str) -> bool:
    path, root = disk.real(path), disk.real(root)
    return path == root or path.startswith(root.rstrip(os.sep) + os.sep)


def _git_root(folder: str) -> str:
    while not disk.exists(os.path.join(folder, ".git")):
        parent = os.path.dirname(folder)
        if parent == folder:
            return ""
        folder = parent
    return folder
