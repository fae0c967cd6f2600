"""How evaluations decode: the settings that change a score, of launches and of `lm_eval` commands."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence

from verlint.experiment.launch import Launch
from verlint.experiment.stage import Experiment, Stage
from verlint.languages.bash.command import Command
from verlint.languages.bash.wrappers import program_name, unwrap
from verlint.record import dataclass
from verlint.source import Span
from verlint.value import Text, Value
from verlint_rules.evaluation.validation import VAL_ONLY

_VAL = "actor_rollout_ref.rollout.val_kwargs"
SAMPLING = tuple(f"{_VAL}.{name}" for name in ("temperature", "top_p", "top_k", "do_sample", "n"))
_LENGTHS = ("data.max_response_length", "trainer.textgame_max_response_length", "trainer.textgame_max_steps")
THINKING = ("data.apply_chat_template_kwargs.enable_thinking", "trainer.no_think", "trainer.textgame_no_think")
_EVALUATIONS = frozenset(["eval", "evaluate", "evaluation", "generation", "generate"])
_DATA = ("data.val_files", "trainer.val_data", "trainer.textgame_env_id", "trainer.system_prompt_type")
_MODEL = (
    "actor_rollout_ref.model.path",
    "trainer.experiment_name",
    "trainer.resume_from_path",
    "trainer.default_local_dir",
)
_LM_EVAL = frozenset(
    ["--gen_kwargs", "--num_fewshot", "--apply_chat_template", "--fewshot_as_multiturn", "--system_instruction"]
)
"""Options of lm-evaluation-harness that change a score. Source: its documentation of the command line."""


@dataclass(frozen=True)
class Setting:
    """One setting of an evaluation: as shown, its identity ("" for none), where it stands (None for a default)."""

    shown: str
    identity: Hashable
    span: Span | None
    value: Value | None = None


@dataclass(frozen=True)
class Evaluation:
    """One evaluation: `kind` and `data` say what it can be compared with, `model` what it evaluates."""

    kind: Hashable
    data: Hashable
    model: Hashable
    settings: Mapping[str, Setting]
    head: Span
    name: str


def evaluations_of(experiment: Experiment) -> Iterator[Evaluation]:
    """The evaluations that VeRL launches of an experiment make, in order."""
    for stage in experiment.stages:
        for launch in stage.launches:
            if is_evaluation(stage, launch):
                yield _of_launch(stage, launch)


def is_evaluation(stage: Stage, launch: Launch) -> bool:
    """Whether a launch of a stage only evaluates."""
    return launch[VAL_ONLY].truthy() is True or (stage.kind in _EVALUATIONS and launch[VAL_ONLY].truthy() is not False)


def _of_launch(stage: Stage, launch: Launch) -> Evaluation:
    keys = (*SAMPLING, *_LENGTHS) if stage.kind in _EVALUATIONS else SAMPLING  # an extraction has lengths of its own
    settings = {key: _setting(launch[key]) for key in keys if launch[key].given or launch[key].decided}
    kind = (launch.program.entry, stage.family, stage.kind)
    return Evaluation(kind, _identity(launch, _DATA), _identity(launch, _MODEL), settings, launch.head, stage.id)


def _setting(value: Value) -> Setting:
    identity: Hashable = str(value) if value.decided else value.text.identity() if value.text is not None else None
    return Setting(str(value), identity, value.span if value.given else None, value)


def _identity(launch: Launch, keys: Sequence[str]) -> Hashable:
    values = [launch[key] for key in keys]
    return tuple(
        value.text.identity() if value.text is not None else str(value.data) for value in values if value.given
    )


def harness_runs(commands: Sequence[Command]) -> Iterator[Evaluation]:
    """The evaluations that commands of lm-evaluation-harness make, one for each set of tasks."""
    for command in commands:
        argv = unwrap(command.argv).argv
        name = program_name(argv[0]) if argv else ""
        module = len(argv) > 2 and name.startswith("python") and argv[1].known == "-m" and argv[2].known == "lm_eval"
        if command.builtin or not (name in ("lm_eval", "lm-eval") or module):
            continue
        options = _options(argv)
        if "--tasks" not in options or "--model_args" not in options or any(word.elastic for word in argv):
            continue
        settings = {
            option: Setting(text.shown or "on", text.identity() or "on", span)
            for option, (text, span) in options.items()
            if option in _LM_EVAL
        }
        model, tasks = options["--model_args"][0], options["--tasks"][0]
        yield Evaluation("lm_eval", tasks.identity(), model.identity(), settings, command.span, "lm_eval")


def _options(argv: Sequence[Text]) -> dict[str, tuple[Text, Span | None]]:
    found: dict[str, tuple[Text, Span | None]] = {}
    for at, word in enumerate(argv):
        text = word.known or word.prefix
        if not text.startswith("--"):
            continue
        name, sign, _ = text.partition("=")
        if sign:
            found[name] = (word.slice(len(name) + 1, 1_000_000), word.span)
            continue
        after = argv[at + 1] if at + 1 < len(argv) else None
        takes = after is not None and not (after.known or after.prefix).startswith("-")
        found[name] = (after if takes and after is not None else Text(), word.span)
    return found
