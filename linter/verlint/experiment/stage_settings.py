"""What a stage is told, by the names that the launchers of its family use: options, fields of records, arguments of a
spec, and, where a call leaves a name out, what the launch holds then."""

from __future__ import annotations

import re

from verlint.experiment.paths import written_at
from verlint.experiment.records import fields, records_of
from verlint.experiment.stage import Stage, called_file
from verlint.languages.bash.pieces import flat
from verlint.record import dataclass
from verlint.source import Span
from verlint.value import Hop, Text, Value, literal


@dataclass(frozen=True)
class Setting:
    """One setting of a stage. `label` is how the stage names it (`--oel_round`, `OEL_ROUND`, `args.oel_round`).

    `written` says that the call names it; else it is what the launch holds by default."""

    label: str
    text: Text
    span: Span
    hops: tuple[Hop, ...] = ()
    written: bool = True

    @property
    def known(self) -> str | None:
        """The characters, None when not known before the run or a placeholder."""
        text = self.text.known
        return None if text is None or not text or re.match(r"[<{]|\$", text) else text

    @property
    def shown(self) -> str:
        """The setting as people write it."""
        return self.text.shown

    @property
    def number(self) -> int | None:
        """The setting as a whole number, None when it is none or not known."""
        text = self.known
        return int(text) if text is not None and re.fullmatch(r"-?\d{1,12}", text) else None

    def same_as(self, other: Setting) -> bool | None:
        """Whether both hold the same on every run; None when that is not known."""
        if self.text.identity() == other.text.identity():
            return True
        mine, theirs = self.known, other.known
        if mine is None or theirs is None:
            return False if self._differs(other) else None
        return plain(mine) == plain(theirs)

    def _differs(self, other: Setting) -> bool:
        """Whether what is left between a common beginning and end is known, so that it differs on every run."""
        mine, theirs = list(self.text.identity()), list(other.text.identity())
        while mine and theirs and mine[0] == theirs[0]:
            del mine[0], theirs[0]
        while mine and theirs and mine[-1] == theirs[-1]:
            del mine[-1], theirs[-1]
        rest = "".join(each for each in (*mine, *theirs) if isinstance(each, str))
        return all(isinstance(each, str) for each in (*mine, *theirs)) and re.search(r"[<{$]", rest) is None

    def names(self, run: Setting) -> bool:
        """Whether this path, list of paths or name has a run's name as a component."""
        wanted = run.text.identity()
        if not wanted or run.known is None:
            return False
        at = 0
        for piece in re.split(r"[/,]", flat(self.text.parts)):
            if self.text.slice(at, at + len(piece)).identity() == wanted:
                return True
            at += len(piece) + 1
        return False


def plain(text: str) -> str:
    """A value in the form that two spellings of it share: `True` and `true`, `5` and `5.0`, `/a/b/` and `/a/b`."""
    lower = text.lower()
    if lower in ("true", "false", "none", "null"):
        return lower
    if re.fullmatch(r"-?\d+(\.\d+)?(e-?\d+)?", lower):
        return repr(float(lower))
    return text.rstrip("/")


def setting(stage: Stage, name: str) -> Setting | None:
    """What a stage is told for a name; None when it is told nothing and the launch holds nothing either."""
    if (told := _taught(stage, name)) is not None:
        return told
    if stage.spec is not None:
        return _argument(stage, name) or _of_launch(stage, name)
    return _option(stage, name) or _field(stage, name) or _of_launch(stage, name)


def _taught(stage: Stage, name: str) -> Setting | None:
    """What the call of a launcher says that the settings teach."""
    given = None if stage.taught is None else stage.taught.given.get(name)
    if given is None or given.text is None or given.text.elastic:
        return None
    return Setting(given.label, given.text, given.span or stage.span, given.text.trail())


def _option(stage: Stage, name: str) -> Setting | None:
    word = stage.options.get(f"--{name}")
    if word is None or word.elastic:
        return None
    return Setting(f"--{name}", word, word.span or stage.span, word.trail())


def _field(stage: Stage, name: str) -> Setting | None:
    """A field of the comma record that a driver of many runs takes; an empty one says nothing."""
    called = None if stage.command is None else called_file(stage.command)
    if called is None or not called.arguments:
        return None
    word = called.arguments[0]
    label = "MODEL_PATH" if name == "model" else name.upper()
    for record in records_of(stage.launcher, stage.family):
        if label in record.fields and flat(word.parts).count(",") + 1 == len(record.fields):
            text = fields(word)[record.fields.index(label)]
            if not flat(text.parts):
                return None
            span = written_at(text) or word.span or stage.span
            return Setting(label, text, span, word.trail())
    return None


def _argument(stage: Stage, name: str) -> Setting | None:
    assert stage.spec is not None
    value = stage.spec.args.get(name)
    if value is None or not value.given:
        return None
    return _of_value(f"args.{name}", value, value.span or stage.span)


def _of_value(label: str, value: Value, span: Span, *, written: bool = True) -> Setting | None:
    text = value.text
    if text is None or value.decided:
        text = literal(str(value), value.span)
    return Setting(label, text, span, value.hops, written)


def _run_of_results(stage: Stage) -> Setting | None:
    """The run whose steps an evaluation or extraction writes beside, `…/RUN/global_step_N/…`: such launches give
    themselves a name that is that of no run."""
    found: list[Setting] = []
    for launch in stage.launches:
        folder = launch["trainer.validation_data_dir"]
        text = folder.text if folder.given else None
        match = None if text is None else re.search(r"([^/]+)/global_step_", flat(text.parts))
        if text is None or match is None:
            return None
        name = text.slice(*match.span(1))
        found.append(Setting("trainer.validation_data_dir", name, stage.span, folder.hops, written=False))
    return found[0] if found and all(each.same_as(found[0]) for each in found) else None


def _of_launch(stage: Stage, name: str) -> Setting | None:
    """What the only launch of a stage, or all of them alike, hold for a name."""
    from verlint.families.sharing import KEYS

    if name == "exp_name" and (run := _run_of_results(stage)) is not None:
        return run
    for key in KEYS.get(name, ()):
        values = [value for launch in stage.launches if (value := launch[key]).given]
        if not values or len(values) < len(stage.launches):
            continue
        found = [_of_value(key, value, stage.span, written=False) for value in values]
        first = found[0]
        if first is not None and all(each is not None and each.same_as(first) for each in found):
            return first
    return None
