"""Whether the VeRL that a launch runs on lies in a range of versions, as far as that is known."""

from __future__ import annotations

from verlint.experiment.launch import Launch
from verlint.verl.versions import padded, version_key


def in_versions(launch: Launch, *, since: str = "", before: str = "") -> bool | None:
    """Whether the version in use is `since` or newer, and older than `before`.

    None when the version is not known, or when only some of the versions that fit the launch lie in the range."""
    answers = {_lies_in(version, since, before) for version in _possible(launch)}
    return answers.pop() if len(answers) == 1 else None


def _possible(launch: Launch) -> tuple[str, ...]:
    verl = launch.verl
    if verl is None:
        return ()
    named = verl.fitting if verl.guess else (verl.text,)
    return tuple(version for version in named if version_key(version) is not None)


def _lies_in(version: str, since: str, before: str) -> bool:
    return (not since or padded(version) >= padded(since)) and (not before or padded(version) < padded(before))
