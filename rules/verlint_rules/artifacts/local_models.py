"""Models that a run reads from a folder which only this experiment can have filled."""

from __future__ import annotations

import re
from collections.abc import Iterator

from verlint.experiment.all_files import of_all_files
from verlint.experiment.checkpoints import Ledger, ledger_of_script
from verlint.experiment.paths import Components, components, is_below, written_at
from verlint.experiment.project import Project
from verlint.experiment.script import Script
from verlint.lazy import pattern
from verlint.record import dataclass
from verlint.source import Span
from verlint.value import Literal, Value

_KEYS = (
    "actor_rollout_ref.model.path",
    "actor_rollout_ref.model.ref_model_path",
    "actor_rollout_ref.model.exp_model_path",
    "critic.model.path",
    "reward_model.model.path",
    "reward.reward_model.model_path",
)
_LOCAL = pattern(r"/(?:tmp|var/tmp|dev/shm)/(?:[\w.-]+/)*[\w.-]*\w")


@dataclass(frozen=True, slots=True)
class LocalModel:
    """A model below `/tmp`: its path, the value that names it, where it is written first, and where else."""

    path: str
    value: Value
    span: Span
    others: tuple[Span, ...] = ()

    @property
    def name(self) -> str:
        """The last component of the path."""
        return self.path.rsplit("/", 1)[-1]


def local_models(script: Script, project: Project) -> Iterator[LocalModel]:
    """The models below `/tmp` that no command before their use may have made, each once."""
    if "/tmp/" not in script.source.text and not any("/tmp/" in text for _, text in project.tree.texts()):
        return
    ledger = ledger_of_script(script, project.launch)
    if ledger.cut_short:
        return
    found: dict[str, list[tuple[Value, Span]]] = {}
    made: set[str] = set()
    for number, path in enumerate(script.resolution.paths):
        for inner, command in enumerate(path.commands):
            launch = None if command.builtin or command.function else project.launch(command)
            for value in (launch[key] for key in _KEYS) if launch is not None else ():
                place = _place(value)
                if place is None or value.text is None:
                    continue
                if _may_be_made(components(value.text), ledger, number, inner):
                    made.add(str(value))
                uses = found.setdefault(str(value), [])
                if all(place.order() != span.order() for _, span in uses):
                    uses.append((value, place))
    for path_text, uses in found.items():
        if path_text not in made:
            (value, span), *others = uses
            yield LocalModel(path_text, value, span, tuple(each for _, each in others))


def _place(value: Value) -> Span | None:
    """Where a path below `/tmp` is written, when the value is one that nobody can replace."""
    text = value.text
    known = text.known if value.given and text is not None else None
    if text is None or known is None or not _LOCAL.fullmatch(known) or "/global_step_" in known:
        return None
    if any(isinstance(part, Literal) and part.overridable for part in text.parts):
        return None
    return written_at(text)


def _may_be_made(model: Components, ledger: Ledger, path: int, inner: int) -> bool:
    """Whether a command before may have filled the folder, or a run saves there."""
    if any(is_below(model, save.key) for save in ledger.saves):
        return True
    return any(is_below(model, folder) and at.path == path and at.inner < inner for folder, at in ledger.makers)


@of_all_files
def hub_name(project: Project, name: str) -> tuple[str, Span] | None:
    """A model of the hub of that name which the project's files name, with the place."""
    expression = re.compile(rf"(?<![\w./-])[A-Za-z][\w-]*/{re.escape(name)}(?![\w./-])")
    for source in (file.source for file in project.files):
        match = expression.search(source.text)
        if match is not None and not source.path.endswith(".py"):
            return match.group(), Span(source, match.start(), match.end())
    return None
