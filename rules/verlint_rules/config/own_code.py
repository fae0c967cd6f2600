"""The functions and classes that a launch takes from files of the project."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from verlint.experiment.launch import Launch
from verlint.rule import Context
from verlint.source import Source
from verlint.value import Text
from verlint_rules.reading.named_files import bases_of, join, may_be_made, seen_from

REWARDS_AND_CLASSES = (
    ("custom_reward_function.path", "custom_reward_function.name", "compute_score"),
    ("reward.custom_reward_function.path", "reward.custom_reward_function.name", "compute_score"),
    ("data.custom_cls.path", "data.custom_cls.name", ""),
)
"""Keys of the file and of the name, and the name when none is given. Source: VeRL 0.3 to 0.9.1 `main_ppo.py`,
`trainer/ppo/reward.py`."""
_EASYR1 = "worker.reward.reward_function"


def named_objects(launch: Launch) -> Iterator[tuple[Text, Text, str]]:
    """The files that a launch names, the word that names the function, and the name."""
    for file_key, name_key, default in REWARDS_AND_CLASSES:
        file, given = launch.by_key.get(file_key), launch.by_key.get(name_key)
        if file is None:
            continue
        path = seen_from(file.value_text, launch.command)
        if given is not None and given.value_text.known:
            yield path, given.value_text, given.value_text.known.strip("'\"")
        elif given is None and default and not launch.passes_arguments and not has_own_config(launch):
            yield path, path, default
    override = launch.by_key.get(_EASYR1)
    if override is not None:
        value = seen_from(override.value_text, launch.command)
        head, colon, name = (value.known or "").rpartition(":")
        if colon and name.isidentifier():
            yield value.slice(0, len(head)), value, name


def has_own_config(launch: Launch) -> bool:
    """Whether a config that is not VeRL's may set more keys."""
    return any((word.known or word.prefix).startswith(("--config-", "-cn", "-cp", "-cd")) for word in launch.options)


def is_made(launch: Launch, path: Text, ctx: Context) -> bool:
    """Whether an earlier command of the launcher may write the file, or change it."""
    known = path.known or ""
    variants = ctx.project.sites.get(launch.command.span.order(), [])
    return any(may_be_made(variant, known, ctx.project) for variant in variants)


def written_before(launch: Launch, path: Text, ctx: Context) -> Source | None:
    """The file that a launch names, as the launcher itself writes it before."""
    known, made = path.known or "", launch.command.made
    if not made or known.startswith("/"):
        return made.get(known)
    for variant in ctx.project.sites.get(launch.command.span.order(), [])[:1]:
        for base in bases_of(variant, ctx.project.tree):
            if (place := posixpath.normpath(join(base, known))) in made:
                return made[place]
    return None


def source_of(launch: Launch, path: Text, ctx: Context, ends: tuple[str, ...] = (".py",)) -> Source | None:
    """The file of the project that a launch names, if its name ends so."""
    known = path.known or ""
    elsewhere = any((word.known or "").startswith("--working-dir") for word in launch.command.argv)
    if not known.endswith(ends) or known.startswith("/") or elsewhere:
        return None
    for variant in ctx.project.sites.get(launch.command.span.order(), [])[:1]:
        for base in bases_of(variant, ctx.project.tree):
            source: Source | None = ctx.project.tree.source(join(base, known))
            if source is not None:
                return source
    return None
