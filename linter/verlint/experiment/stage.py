"""Experiments: the stages that belong together, however they are written down (a spec, a driver script, a README)."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from functools import cached_property

from verlint.experiment.inference import infer
from verlint.experiment.launch import Launch
from verlint.experiment.python_programs import is_python
from verlint.experiment.script import Script
from verlint.families import FAMILIES, family_of_folder, stages_of_launcher
from verlint.families.model import Family, StageKind
from verlint.languages.bash.command import Command
from verlint.languages.bash.state import Event
from verlint.languages.bash.wrappers import SHELLS, program_name, shell_call, unwrap
from verlint.memo import by_identity
from verlint.record import dataclass, field, replace
from verlint.source import Source, Span
from verlint.value import Text, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from verlint.experiment.spec import SpecFile, SpecStage
    from verlint.experiment.taught import TaughtCall

_SOURCES = frozenset(["source", "."])
_PYTHON_VALUES = frozenset(["-W", "-X", "-Q"])


@dataclass(frozen=True, eq=False)
class Stage:
    """One stage of an experiment.

    `id` is its name in a spec, or the launcher's path. `span` is what to point at: the call, or the stage's key.
    `kind` and `family` are "" when they cannot be told. `options` are the long options of the call, with the word
    that follows each (None for none). `events` is what the stage runs, in order; `launches` the launches among it.
    `branch` is the branch its checkout is on when it starts, None when nobody chose one. `taught` is what the call says
    where the settings teach its launcher."""

    id: str
    span: Span
    order: int
    launcher: str = ""
    family: str = ""
    kind: str = ""
    options: Mapping[str, Text | None] = field(default_factory=dict)
    command: Command | None = None
    events: Sequence[Event] = ()
    launches: Sequence[Launch] = ()
    branch: Value | Text | None = None
    branch_span: Span | None = None
    spec: SpecStage | None = None
    taught: TaughtCall | None = None

    @property
    def kind_data(self) -> StageKind | None:
        """What the family knows of this kind of stage."""
        family = FAMILIES.get(self.family)
        return None if family is None else family.stage(self.kind)

    @property
    def title(self) -> str:
        """`gad / warmup`, as far as known."""
        return " / ".join(each for each in (self.family, self.kind) if each)


@dataclass(frozen=True, eq=False)
class Experiment:
    """Stages in order. `root` says that nothing else in the project calls it, so all that belongs to it should be
    here."""

    source: Source
    stages: Sequence[Stage]
    spec: SpecFile | None = None
    script: Script | None = None
    root: bool = True

    @cached_property
    def family(self) -> str:
        """The family most stages belong to, "" when none is known."""
        names = [stage.family for stage in self.stages if stage.family]
        return max(names, key=names.count, default="")

    @property
    def is_spec(self) -> bool:
        """Whether it is written as a spec."""
        return self.spec is not None


@dataclass(frozen=True)
class Called:
    """What a driver's command starts: the path of a script or tool below the start folder, and the words behind it."""

    path: Text
    arguments: tuple[Text, ...]
    program: str


@by_identity
def called_file(command: Command) -> Called | None:
    """The script or tool that a command starts by its path; None for other commands (also `python -m`)."""
    argv = unwrap(command.argv).argv
    if not argv:
        return None
    name = program_name(argv[0])
    if name in SHELLS:
        call = shell_call(argv)
        at = call.operands
        return None if call.string or at >= len(argv) or argv[at].elastic else Called(argv[at], argv[at + 1 :], name)
    if name == "sbatch":
        from verlint.languages.slurm import batch_call

        words = batch_call(argv).words
        return Called(words[0], words[1:], name) if words and not words[0].elastic else None
    if name in _SOURCES:
        return None if len(argv) < 2 or argv[1].elastic else Called(argv[1], argv[2:], name)
    if is_python(name):
        return _called_by_python(argv, name)
    text = argv[0].known or ""
    if "/" in text and text.endswith((".sh", ".bash", ".py")):
        return Called(argv[0], argv[1:], "")
    return None


def _called_by_python(argv: Sequence[Text], name: str) -> Called | None:
    at = 1
    while at < len(argv) and (text := argv[at].known or "").startswith("-"):
        if text in ("-c", "-m", "-"):
            return None
        at += 2 if text in _PYTHON_VALUES else 1
    return None if at >= len(argv) or argv[at].elastic else Called(argv[at], tuple(argv[at + 1 :]), name)


def options_of(arguments: Sequence[Text]) -> dict[str, Text | None]:
    """Long options of a call with the word behind each; the last one of a name counts."""
    out: dict[str, Text | None] = {}
    for at, word in enumerate(arguments):
        text = word.known or word.prefix
        if not text.startswith("--"):
            continue
        if "=" in text:
            name = text.split("=", 1)[0]
            out[name] = word.slice(len(name) + 1, 1_000_000)
            continue
        following = arguments[at + 1] if at + 1 < len(arguments) else None
        takes = following is not None and not (following.known or "").startswith("--")
        out[text] = following if takes else None
    return out


def identify(path: str, launches: Sequence[Launch], folder: str) -> tuple[str, str]:
    """Family and stage kind of a call: what its launches say, else what the launcher's name says in this family's
    folder."""
    candidates = stages_of_launcher(path)
    for launch in launches:
        if launch.family and launch.stage:
            return launch.family, launch.stage
    for launch in launches:
        found = infer(launch)
        if found is not None and _agrees(found, candidates):
            return found
    home = family_of_folder(posixpath.join(folder, path) if folder else path)
    chosen = [each for each in candidates if home is None or each[0].name == home.name]
    families = {family.name for family, _ in chosen}
    if len(families) == 1:
        family, kind = chosen[0]
        return family.name, kind.name
    return "", ""


def settled(stages: Sequence[Stage]) -> list[Stage]:
    """The stages, where a launcher's name that several families use is taken to be of the family of the others."""
    names = [stage.family for stage in stages if stage.family]
    family = max(names, key=names.count, default="")
    return [stage if stage.family else _of_family(stage, family) for stage in stages]


def _of_family(stage: Stage, family: str) -> Stage:
    kinds = [kind for owner, kind in stages_of_launcher(stage.launcher) if owner.name == family]
    return replace(stage, family=family, kind=kinds[0].name) if kinds else stage


def _agrees(found: tuple[str, str], candidates: Sequence[tuple[Family, StageKind]]) -> bool:
    """An inference from overrides that the launcher's name contradicts is dropped."""
    return not candidates or any(family.name == found[0] for family, _ in candidates)


def with_branch(stage: Stage, branch: Text | None, span: Span | None) -> Stage:
    """The stage on a branch."""
    return replace(stage, branch=branch, branch_span=span)
