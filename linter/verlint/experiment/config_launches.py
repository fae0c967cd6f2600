"""Trainer configs that stand alone: YAML files with the structure of VeRL's config that no launcher of the project
names. One that is checked by its own name is taken for the launch it is written for, with whatever words its caller
may add. In a folder many such files are defaults of a program, which launchers complete."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator

from verlint.experiment.config_files import ConfigOfLaunch, in_package, read_trainer_config
from verlint.experiment.launch import Launch
from verlint.experiment.launches import Launches
from verlint.experiment.python_programs import Program
from verlint.files.kinds import Kind
from verlint.files.loading import Loaded
from verlint.files.tree import Tree
from verlint.languages.bash.command import Command, Surroundings
from verlint.lazy import pattern
from verlint.record import replace
from verlint.source import Source
from verlint.value import Hole, Literal, Text

ENTRY = "verl.trainer.main_ppo"
_SECTION = pattern(r"^(?:actor_rollout_ref|algorithm|trainer|data)[ \t]*:", re.MULTILINE)
_OWN = pattern(r"^actor_rollout_ref[ \t]*:", re.MULTILINE)


def config_launches(
    files: Iterable[Loaded], tree: Tree, launches: Launches, used: Iterable[Launch]
) -> Iterator[Launch]:
    """The launches that stand for configs of which no other launch makes use."""
    named = {id(span.source) for each in used for override in each.of_file[:1] if (span := override.key_span)}
    for file in files:
        if not file.named or file.kind is not Kind.YAML or id(file.source) in named or in_package(file.source.path):
            continue
        if not is_trainer_config(file.source.text):
            continue
        path = tree.relative(file.path)
        config = read_trainer_config(file.source)
        given = () if config is None else tuple(each for each in config.overrides if each.value.data is not None)
        if path is not None and config is not None and given:
            yield _launch(replace(config, overrides=given), path, launches)


def is_trainer_config(text: str) -> bool:
    """Whether a YAML text has the sections of a trainer's config."""
    return _OWN.search(text) is not None and len({found.group() for found in _SECTION.finditer(text)}) > 1


def _launch(config: ConfigOfLaunch, path: str, launches: Launches) -> Launch:
    first = config.overrides[0].key_span or config.source.whole()
    entry = Text((Literal(ENTRY, first),), first)
    rest = Text((_caller(config.source),), first, elastic=True)
    home = Text((Hole(("cwd", posixpath.dirname(path)), "PWD", "directory the launcher is started in"),))
    command = Command((entry, rest), first, Surroundings(home, {}))
    found = Launch(command, Program(entry, True, (rest,)), (), (rest,), of_file=config.overrides)
    said = launches.said(config.source, command)
    family = said.get("family", "")
    verl = launches.verl(
        found, family, config.source, directive=said.get("verl", ""), config=config.base or "ppo_trainer"
    )
    return replace(found, family=family, intent=said.get("on-policy", ""), verl=verl, find_at_hand=launches.at_hand)


def _caller(source: Source) -> Hole:
    return Hole(("arguments", source.known_as), "$@", "words of the call")
