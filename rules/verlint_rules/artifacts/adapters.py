"""What VeRL's model merger makes of a checkpoint with LoRA, and what reads it.

Source: `model_merger/base_model_merger.py:save_hf_model_and_tokenizer` and `save_lora_adapter` of the wheels 0.4.1 to
0.9.1: the base weights go to `--target_dir`, the adapter to `lora_adapter` below it. To 0.7.1 nothing of the training
says `lora_alpha`, and the merger writes 0 (from 0.8.0 the checkpoint has `lora_train_meta.json`)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from verlint.experiment.launch import Launch
from verlint.experiment.project import Project
from verlint.experiment.script import Script
from verlint.languages.bash.command import Command
from verlint.languages.bash.wrappers import program_name, unwrap
from verlint.record import dataclass
from verlint.value import Text
from verlint.verl.rows import in_versions
from verlint.verl.versions import is_version
from verlint_rules.artifacts.merging import merged_folder
from verlint_rules.artifacts.training import FOLDER, is_training, saves

RANK = "actor_rollout_ref.model.lora_rank"
_STRATEGY = "actor_rollout_ref.actor.strategy"
_ADAPTER = "/lora_adapter"
_READERS = ("python", "vllm", "sglang", "torchrun", "accelerate", "lm_eval", "bash", "sh")


@dataclass(frozen=True, slots=True)
class Misread:
    """A word that takes what the merger wrote for the trained model. `alone`: the base model, without the adapter;
    otherwise the adapter, which has no effect. `launch` is the run, `merger` the command that merges."""

    word: Text
    alone: bool
    launch: Launch
    merger: Command


def misread(script: Script, project: Project) -> Iterator[Misread]:
    """What reads merged folders of runs with LoRA as if they held the trained model."""
    for path in script.resolution.paths:
        runs: list[Launch] = []
        merged: dict[str, tuple[Launch, Command]] = {}
        for command in path.commands:
            if command.builtin or command.function:
                continue
            launch = project.launch(command)
            if launch is not None and is_training(launch) and saves(launch):
                runs.append(launch)
                continue
            folder = merged_folder(command) if runs else None
            if folder is None:
                yield from _uses(command, merged)
                continue
            target = _target(command)
            if (run := _run_of(folder, runs)) is not None and target:
                merged[target] = (run, command)


def _uses(command: Command, merged: dict[str, tuple[Launch, Command]]) -> Iterator[Misread]:
    argv = unwrap(command.argv).argv
    if not merged or not argv or not program_name(argv[0]).rstrip("0123456789.").endswith(_READERS):
        return
    words = [(word, word.shown.rpartition("=")[2].rstrip("/")) for word in argv[1:]]
    for word, said in words:
        if said in merged and not any("lora" in other for _, other in words):
            yield Misread(word, True, *merged[said])
            continue
        found = merged.get(said.removesuffix(_ADAPTER)) if said.endswith(_ADAPTER) else None
        if found is not None and _forgets_alpha(found[0]):
            yield Misread(word, False, *found)


def _target(command: Command) -> str:
    """The folder that a merger writes, "" when it is not said."""
    words = unwrap(command.argv).argv
    for word, after in pairwise((*words, Text(()))):
        name, equals, value = word.shown.partition("=")
        if name == "--target_dir":
            return (value if equals else after.shown).rstrip("/")
    return ""


def _run_of(folder: Text, runs: list[Launch]) -> Launch | None:
    """The one run that saves above a folder, if it trains an adapter on FSDP."""
    above = [
        run
        for run in runs
        if (text := run[FOLDER].text) is not None and folder.shown.startswith(text.shown.rstrip("/") + "/")
    ]
    if len(above) != 1 or not (above[0][RANK].number() or 0) > 0:
        return None
    return None if above[0][_STRATEGY].equals("megatron") is not False and above[0][_STRATEGY].given else above[0]


def _forgets_alpha(launch: Launch) -> bool:
    verl = launch.verl
    named = () if verl is None else verl.fitting if verl.guess else (verl.text,)
    return bool(named) and all(is_version(each) and in_versions("0.4.1", "0.7.1", each) for each in named)
