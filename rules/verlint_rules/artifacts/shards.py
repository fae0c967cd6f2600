"""Shards of a checkpoint that are read as if they were a model."""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.launch import Launch
from verlint.experiment.project import Project
from verlint.experiment.python_programs import python_program
from verlint.experiment.script import Script
from verlint.experiment.stage import Experiment
from verlint.languages.bash.command import Command
from verlint.languages.bash.pieces import flat
from verlint.languages.bash.wrappers import program_name, unwrap
from verlint.lazy import pattern
from verlint.value import Text
from verlint_rules.artifacts.merging import merged_folder
from verlint_rules.evaluation.endpoints import MODEL_SERVERS, option_value

_SHARDS = pattern(r"(?:.*/)?global_step_[^/]+/actor/?")
_MODEL = frozenset(["--model", "--model-path", "--model_path", "--pretrained_model_name_or_path"])
_MERGING = pattern(r"merg|convert|consolidat|export")
_COPYING = frozenset(["cp", "mv", "ln", "rsync", "install"])


def shards_read(script: Script, project: Project) -> Iterator[tuple[Command, Text]]:
    """The commands that load the folder of a role, `…/global_step_N/actor`, as a model, with the word that names it, or
    the folder that the launcher gives to VeRL's merger. A launcher that merges in a way that cannot be followed, or
    copies a model into the folder, is left alone."""
    seen: set[object] = set()
    for path in script.resolution.paths:
        merged: set[str] = set()
        shards: set[str] = set()
        for command in path.commands:
            argv = unwrap(command.argv).argv
            if (folder := merged_folder(command)) is not None:
                merged.add(_target(argv))
                if _target(argv) and _is_of_verl(command):
                    shards.add(folder.shown.rstrip("/"))
            elif _may_make_a_model(argv):
                break
            for word in _models(command, argv, project.launch(command)):
                shown = flat(word.parts)
                key = (command.span.order(), word.shown)
                is_role = _SHARDS.fullmatch(shown) or word.shown.rstrip("/") in shards
                if is_role and word.shown.rstrip("/") not in merged and key not in seen:
                    seen.add(key)
                    yield command, word


def shards_of_stages(experiment: Experiment) -> Iterator[Text]:
    """The words by which stages of a spec that hold their overrides themselves name such a folder as their model."""
    for stage in experiment.stages:
        for launch in stage.launches if stage.spec is not None and stage.spec.entry.given else ():
            value = launch["actor_rollout_ref.model.path"]
            if value.given and value.text is not None and _SHARDS.fullmatch(flat(value.text.parts)):
                yield value.text


def _is_of_verl(command: Command) -> bool:
    program = python_program(command.argv)
    return program is not None and program.module and program.entry == "verl.model_merger"


def _target(argv: tuple[Text, ...]) -> str:
    """Where a merger writes the model; "" for the folder `huggingface` below the shards."""
    given = option_value(argv, ("--target_dir", "--target-dir"))
    return "" if given is None else given.shown.rstrip("/")


def _may_make_a_model(argv: tuple[Text, ...]) -> bool:
    words = [each.known or each.prefix for each in argv]
    if argv and program_name(argv[0]) in _COPYING:
        return any("actor" in each.shown for each in argv)
    return any(_MERGING.search(each.rpartition("/")[2]) for each in words[:4])


def _models(command: Command, argv: tuple[Text, ...], launch: Launch | None) -> Iterator[Text]:
    """The words that name a model which a command loads whole."""
    if launch is not None:
        override = launch.by_key.get("actor_rollout_ref.model.path")
        if override is not None:
            yield override.value_text
        return
    if not argv or command.builtin or command.function:
        return
    words = [each.known or "" for each in argv]
    name = program_name(argv[0])
    if name == "vllm" and words[1:2] == ["serve"] and len(argv) > 2:
        yield argv[2]
    program = python_program(command.argv)
    if program is not None and program.module and program.entry in MODEL_SERVERS:
        for option, word in zip(program.arguments, program.arguments[1:], strict=False):
            if option.known in _MODEL:
                yield word
