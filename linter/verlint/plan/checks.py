"""The calls of `verlint inputs` that look at what a stage reads, before it is started."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from verlint.families.recipes.model import Cookbook, Recipe
from verlint.plan.artifacts import is_dataset, is_saved
from verlint.plan.model import Artifact
from verlint.plan.references import Reader
from verlint.record import dataclass

_ROOT, _CHECKPOINTS = "${roots.data}", "${roots.checkpoints}"
_DEFAULT_KEY = "prompt"
"""The column of the prompts where a configuration names none. Source: verl, ppo_trainer.yaml, data.prompt_key."""


@dataclass(frozen=True, slots=True)
class Check:
    """One call. `option` takes `path`, a text of the spec in which references of `stage` may stand; `words` are the
    options behind it. `made` says that a stage of the spec makes what is looked at."""

    name: str
    stage: Mapping[str, Any]
    option: str
    path: object
    words: tuple[str, ...]
    made: bool

    def shell(self, reader: Reader) -> str:
        """The call as a line of a shell."""
        return " ".join(
            [
                "verlint inputs",
                self.option,
                reader.shell(self.path, self.stage),
                *(shlex.quote(each) for each in self.words),
            ]
        )


class Checks:
    """Tells what to look at before the stages of one spec."""

    def __init__(self, reader: Reader, book: Cookbook, track: str) -> None:
        self.reader = reader
        self.book = book
        self.track = track

    def before(
        self, name: str, stage: Mapping[str, Any], recipe: Recipe | None, reads: tuple[Artifact, ...]
    ) -> Iterator[Check]:
        """The calls to make before a stage that reads these things."""
        yield from self._texts(name, stage, recipe)
        data = [each for each in reads if is_dataset(each)]
        made = bool(data) and all(each.source for each in data)
        roots = self.reader.spec.get("roots", {})
        if "data" in roots and (words := self._data(stage, recipe, data)):
            yield Check(name, stage, "--data-root", _ROOT, tuple(words), made)
        for folder, words in self._elsewhere(stage):
            yield Check(name, stage, "--data-root", folder, tuple(words), made)
        if "checkpoints" in roots and (words := self._saved(reads)):
            yield Check(name, stage, "--data-root", _CHECKPOINTS, tuple(words), made=False)
        words, made = self._batches(reads)
        if words:
            yield Check(name, stage, "--data-root", _CHECKPOINTS, tuple(words), made)

    def _batches(self, reads: tuple[Artifact, ...]) -> tuple[list[str], bool]:
        """The saved answers of a teacher below the root of the checkpoints, and whether a stage makes them."""
        root = self.reader.shown(_CHECKPOINTS) + "/"
        found = [each for each in reads if each.label == "off-policy data" and each.path.startswith(root)]
        words = [word for each in found for word in ("--expect-dir", each.path.removeprefix(root))]
        return words, all(each.source for each in found)

    def _saved(self, reads: tuple[Artifact, ...]) -> list[str]:
        """The parts of checkpoints that no stage makes, below their root."""
        root, words = self.reader.shown(_CHECKPOINTS) + "/", list[str]()
        for each in reads:
            if is_saved(each) and not each.source and each.path.startswith(root) and "/global_step_N/" not in each.path:
                option = "--expect-file" if each.label == "tracker" else "--expect-dir"
                words += [option, each.path.removeprefix(root)]
        return words

    def _texts(self, name: str, stage: Mapping[str, Any], recipe: Recipe | None) -> Iterator[Check]:
        """The experience list or the text that a stage puts before its prompts."""
        args = stage.get("args", {})
        path, inputs = args.get("exp_path"), {each.name for each in recipe.inputs} if recipe is not None else set()
        if path is None:
            return
        made = str(path).startswith("${deps.")
        if "experience_list" in inputs:
            yield Check(name, stage, "--experience-list", path, ("--require-listed-files",), made)
            return
        if recipe is not None and "note" not in inputs:
            return
        words: list[str] = []
        if "system_prompt_type" in args:
            words += ["--prompt-type", self.reader.shown(args["system_prompt_type"], stage)]
        length = args.get("experience_max_length", args.get("max_response_length"))
        if length is not None:
            words += ["--experience-max-length", self.reader.shown(length, stage)]
        yield Check(name, stage, "--system-prompt-file", path, tuple(words), made)

    def _data(self, stage: Mapping[str, Any], recipe: Recipe | None, data: list[Artifact]) -> list[str]:
        """The options for the files below the data root that a stage reads, none when it reads none that are known."""
        args = stage.get("args", {})
        profile = self.book.profiles.get(self.track, "")
        inputs = recipe.inputs if recipe is not None else ()
        if profile and any("data-prep" in each.producers for each in inputs):
            kind = self.reader.shown(args.get("system_prompt_type", "<PROMPT_TYPE>"), stage)
            return ["--profile", profile.replace("{prompt_type}", kind), *self._batch(stage)]
        words = [word for option, path in _named(stage) for word in (option, path.removeprefix(_ROOT + "/"))
                 if path.startswith(_ROOT + "/")]  # fmt: skip
        if words:
            return [*(self.reader.shown(word, stage) for word in words), *self._batch(stage), *self._key(stage)]
        root = self.reader.shown(_ROOT) + "/"
        for each in data:
            if not each.source and each.path.startswith(root):
                words += ["--expect-file", each.path.removeprefix(root)]
        key = self.book.data[profile].prompt_key if profile in self.book.data else ""
        return [*words, *(["--prompt-key", key] if key else [])] if words else []

    def _elsewhere(self, stage: Mapping[str, Any]) -> Iterator[tuple[str, list[str]]]:
        """Folders of data that are not below the root, with the options for the files in them."""
        found: dict[str, list[str]] = {}
        for option, path in _named(stage):
            folder, _, name = path.rpartition("/")
            if not path.startswith(_ROOT + "/") and name and "${" not in name:
                found.setdefault(folder or ".", []).extend((option, name))
        for folder, words in found.items():
            yield folder, [*words, *self._batch(stage), *self._key(stage)]

    def _batch(self, stage: Mapping[str, Any]) -> list[str]:
        given = stage.get("args", {}).get("batch_size", stage.get("overrides", {}).get("data.train_batch_size", ""))
        batch = self.reader.shown(given, stage)
        return ["--train-batch-size", batch] if batch.isdecimal() else []

    def _key(self, stage: Mapping[str, Any]) -> list[str]:
        return ["--prompt-key", str(stage.get("overrides", {}).get("data.prompt_key", _DEFAULT_KEY))]


def _named(stage: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The data files that the overrides of a stage name, each with the option that asks for it."""
    overrides = stage.get("overrides", {})
    for key, option in (("data.train_files", "--train-file"), ("data.val_files", "--expect-file")):
        value = overrides.get(key)
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, str) and "://" not in each:
                yield option, each
