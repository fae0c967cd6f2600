"""Shards of a checkpoint that are read as if they were a model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from verlint.experiment.checkpoints import Ledger, Use
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
from verlint_rules.artifacts.training import everywhere, is_training
from verlint_rules.evaluation.endpoints import MODEL_SERVERS, option_value

_SHARDS = pattern(r"(?:.*/)?global_step_[^/]+/actor/?")
_WITHOUT_ROLE = pattern(r"(?:.*/)?global_step_[^/]+/huggingface/?")
_WHOLE_STEP = pattern(r"(?:.*/)?global_step_[^/]+/?")
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
            elif not command.builtin and _may_make_a_model(argv):
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


def misread(ledger: Ledger, project: Project) -> Iterator[tuple[Use, str, str]]:
    """Uses of a checkpoint of a PPO trainer that leave the folder of the role out, or merge its shards as those of
    another engine: the use, what is wrong, and what to write."""
    seen: set[object] = set()
    for use in (*ledger.uses, *ledger.roleless):
        saving = [save for save in ledger.saves if save.key == use.key and save.place.before(use.place)]
        launches = [launch for save in saving if (launch := project.launch(save.command)) is not None]
        if not launches or len(launches) != len(saving) or not all(map(is_training, launches)):
            continue
        if ledger.made_otherwise(use) or use.span.order() in seen:
            continue
        found = _level(use) or _engine(use, launches)
        if found is not None:
            seen.add(use.span.order())
            yield use, *found


def _level(use: Use) -> tuple[str, str] | None:
    shown = flat(use.word.parts)
    step = use.step if use.step is not None else "N"
    if _WITHOUT_ROLE.fullmatch(shown):
        return (
            f"the run saves its roles below global_step_{step}: there is no huggingface beside `actor`",
            f"write global_step_{step}/actor/huggingface",
        )
    if _is_of_verl(use.command) and _WHOLE_STEP.fullmatch(shown):
        return (
            f"the shards lie in a folder of their role: global_step_{step} itself holds none, and the merger stops",
            f"write global_step_{step}/actor",
        )
    return None


def _engine(use: Use, launches: Sequence[Launch]) -> tuple[str, str] | None:
    """The merger is told of another engine than the one that saved."""
    argv = unwrap(use.command.argv).argv
    given = option_value(argv, ("--backend",)) if merged_folder(use.command) is not None else None
    backend = None if given is None else given.known
    if backend not in ("fsdp", "megatron"):
        return None
    other = "megatron" if backend == "fsdp" else "fsdp"
    if not all(everywhere(launch, lambda facts: facts.sharded is (other == "fsdp")) for launch in launches):
        return None
    if other == "megatron" and not all(
        everywhere(each, lambda facts: facts.strategy == "megatron") for each in launches
    ):
        return None
    return (
        f"the run saved its shards with {other}, and --backend {backend} finds none of its own",
        f"write --backend {other}",
    )
