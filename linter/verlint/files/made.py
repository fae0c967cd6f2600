"""A folder on disk with files in it that a launcher writes before they are read."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping

from verlint.files.tree import Tree
from verlint.source import Source

TYPE_CHECKING = False  # as `typing` says it, without its import
if TYPE_CHECKING:
    from typing import Protocol

    class Files(Protocol):
        """Files by their path below a root, with "/"."""

        def source(self, path: str) -> Source | None:
            """The text of a file; None when there is none or it is no readable text."""

        def is_dir(self, path: str) -> bool:
            """Whether there is a folder."""

        def listing(self, path: str) -> list[str]:
            """Names in a folder, sorted."""


class WithMade:
    """The files of a tree, those of `made` (by path below its root) in their places."""

    def __init__(self, tree: Tree, made: Mapping[str, Source]) -> None:
        self.tree = tree
        self.made = {posixpath.normpath(path): source for path, source in made.items()}

    def source(self, path: str) -> Source | None:
        """The text of a file; None when there is none or it is no readable text."""
        return self.made.get(posixpath.normpath(path)) or self.tree.source(path)

    def is_dir(self, path: str) -> bool:
        """Whether there is a folder."""
        folder = posixpath.normpath(path)
        return self.tree.is_dir(path) or any(each.startswith(folder + "/") for each in self.made)

    def listing(self, path: str) -> list[str]:
        """Names in a folder, sorted."""
        folder = posixpath.normpath(path)
        names = [each[len(folder) + 1 :] for each in self.made if each.startswith(folder + "/")]
        return sorted({*self.tree.listing(path), *(each.partition("/")[0] for each in names)})


def with_made(tree: Tree, made: Mapping[str, Source], root: str = "") -> Files:
    """The files of a tree with those that a launcher made; `root` is where the project's folder is below that of the
    tree. A path that begins with "/" is one on the disk, which only a tree of the whole disk has."""
    if not made:
        return tree
    if root:
        return WithMade(
            tree, {path.lstrip("/") if path.startswith("/") else f"{root}/{path}": made[path] for path in made}
        )
    return WithMade(tree, made)
