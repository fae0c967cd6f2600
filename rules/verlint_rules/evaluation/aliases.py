"""The names that drivers give to experiments, as their tables have them: alias and run name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from verlint.experiment.all_files import of_all_files
from verlint.experiment.project import Project
from verlint.families.scoring import ALIASES
from verlint.files.kinds import Kind
from verlint.languages.bash.parser import parse
from verlint.languages.bash.syntax import Assign, Case, CaseArm, DoubleQuoted, Lit, Simple, Word
from verlint.languages.bash.walk import literal_word, walk
from verlint.record import dataclass
from verlint.source import Source, Span

_VARIABLES = frozenset(["EXP_NAME", "EXPERIMENT_NAME", "RUN_NAME"])


@dataclass(frozen=True, slots=True)
class Alias:
    """A short name, the run name it stands for, and where a driver says so (None: it is known of the family)."""

    alias: str
    name: str
    span: Span | None


@of_all_files
def aliases_of(project: Project) -> Mapping[str, Alias]:
    """The aliases of all drivers of a project; where two disagree the first counts."""
    found: dict[str, Alias] = {}
    for file in project.files:
        if file.kind is Kind.LAUNCHER and "case" in file.source.text:
            for node in parse(file.source.text).nodes:
                if isinstance(node, Case):
                    for alias in _of_table(node, file.source):
                        found.setdefault(alias.alias, alias)
    return found


def known_alias(project: Project, name: str, family: str) -> Alias | None:
    """The alias of this name: of a driver, else of the family where no driver is at hand."""
    aliases = aliases_of(project)
    if aliases:
        return aliases.get(name)
    known = ALIASES.get(family, {}).get(name)
    return None if known is None else Alias(name, known, None)


def _of_table(node: Case, text: Source) -> Iterator[Alias]:
    for arm in node.arms:
        alias = literal_word(arm.patterns[0]) if len(arm.patterns) == 1 else ""
        if not re.fullmatch(r"\w[\w.]*(?:-[\w.]+)+", alias) or any(isinstance(each, Case) for each in walk(arm.body)):
            continue
        names = set(_names(arm))
        if len(names) == 1 and alias not in names:
            yield Alias(alias, names.pop(), text.span(arm.patterns[0].start, arm.patterns[0].end))


def _names(arm: CaseArm) -> Iterator[str]:
    """The run names that an arm gives."""
    for node in walk(arm.body):
        if isinstance(node, Assign) and node.name in _VARIABLES and isinstance(node.value, Word):
            yield from _plain(node.value)
        elif isinstance(node, Simple):
            for before, word in zip(node.words, node.words[1:], strict=False):
                if literal_word(before) == "--exp_name" and isinstance(word, Word):
                    yield from _plain(word)


def _plain(word: Word) -> Iterator[str]:
    parts = [piece for part in word.parts for piece in (part.parts if isinstance(part, DoubleQuoted) else [part])]
    if parts and all(isinstance(part, Lit) for part in parts):
        yield "".join(part.text for part in parts if isinstance(part, Lit))
