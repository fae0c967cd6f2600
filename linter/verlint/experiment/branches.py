"""Which branch each checkout is on, as commands change it."""

from __future__ import annotations

from verlint.languages.bash.command import Command
from verlint.languages.bash.pieces import flat, identity
from verlint.languages.bash.wrappers import program_name, unwrap
from verlint.memo import by_identity
from verlint.record import dataclass
from verlint.value import Literal, Text

_NEW_BRANCH = frozenset(["-b", "-B", "-c", "-C", "--create", "--force-create"])
"""Options of `git checkout` and `git switch` that make a branch, whose name follows."""


@dataclass(frozen=True)
class BranchChange:
    """A command that puts a checkout on the code of a branch. `folder` is the last component of its path ("" when not
    known)."""

    folder: str
    branch: Text
    command: Command


@by_identity
def branch_change(command: Command) -> BranchChange | None:
    """What `git checkout`, `git switch` or `git clone --branch` does; None for other commands."""
    argv = unwrap(command.argv).argv
    if len(argv) < 3 or program_name(argv[0]) != "git":
        return None
    folder = command.around.cwd
    at = 1
    while at < len(argv) and (text := argv[at].known or argv[at].prefix).startswith("-"):
        name, equals, _ = text.partition("=")
        given = argv[at].slice(len(name) + 1, 10_000) if equals else None
        if not equals and name in ("-C", "--git-dir", "--work-tree", "-c") and at + 1 < len(argv):
            given = argv[at + 1]
            at += 1
        if given is not None and (name in ("-C", "--work-tree") or given.suffix.endswith("/.git")):
            folder = _in(folder, given)
        at += 1
    verb = argv[at].known if at < len(argv) else None
    rest = argv[at + 1 :]
    if verb in ("checkout", "switch"):
        return _switched(rest, folder, command)
    if verb == "clone":
        return _cloned(rest, command)
    return None


def _switched(rest: tuple[Text, ...], folder: Text, command: Command) -> BranchChange | None:
    if any(word.known == "--" for word in rest):
        return None
    options = {text for word in rest if (text := word.known or "").startswith("-") and text != "-"}
    names = [word for word in rest if word.known not in options]
    if not _NEW_BRANCH.isdisjoint(options):
        del names[:1]  # the new branch holds what it starts from; without that the code stays as it is
    if not names or len(names) > 2:
        return None
    return BranchChange(_last(folder), names[0], command)


def _cloned(rest: tuple[Text, ...], command: Command) -> BranchChange | None:
    branch: Text | None = None
    places: list[Text] = []
    at = 0
    while at < len(rest):
        text = rest[at].known or ""
        if text in ("-b", "--branch") and at + 1 < len(rest):
            branch = rest[at + 1]
            at += 1
        elif text.startswith("--branch="):
            branch = rest[at].slice(len("--branch="), 10_000)
        elif text in ("--depth", "-o", "--origin", "--reference", "-j", "--jobs"):
            at += 1
        elif not text.startswith("-"):
            places.append(rest[at])
        at += 1
    if branch is None or not places:
        return None
    return BranchChange(_last(places[-1]), branch, command)


def _in(folder: Text, path: Text) -> Text:
    return Text((*folder.parts, Literal("/"), *path.parts))


def _last(path: Text) -> str:
    text = flat(path.parts).rstrip("/").removesuffix("/.").removesuffix("/.git")
    pieces: list[str] = []
    for piece in text.split("/"):
        if piece == ".." and pieces:
            pieces.pop()
        elif piece not in ("", "."):
            pieces.append(piece)
    return pieces[-1].removesuffix(".git") if pieces else ""


__all__ = ["BranchChange", "branch_change", "identity"]
