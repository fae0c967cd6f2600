"""Two evaluations that are compared decode differently.

A score moves by several points with the temperature, the number of samples, the chat template or thinking mode. When
the baseline is decoded greedily and the trained model sampled, or one of them thinks, the difference of the two
numbers says nothing about training.

Compared are, within one experiment: evaluations of different models by the same kind of stage on the same data
(temperature, top-p, top-k, sampling switch, samples, longest answer, turns of a game), commands of
lm-evaluation-harness with the same tasks (`--gen_kwargs`, few-shot examples, chat template), and the thinking mode of a
training stage with that of the evaluation of its checkpoints. Silent where one model is decoded in several ways, which
is a comparison of its own, and where a value is not known before the run.

Fix: give all evaluations the same decoding, best by one variable.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from itertools import combinations

from verlint.experiment.launch import Launch
from verlint.experiment.stage import Experiment, Stage
from verlint.files.loading import Loaded
from verlint.finding import Finding
from verlint.rule import WARNING, Context, rule
from verlint.value import Text
from verlint_rules.evaluation.decoding import (
    THINKING,
    Evaluation,
    Setting,
    evaluations_of,
    harness_runs,
    is_evaluation,
)

_HELP = "give both the same decoding"


@rule(
    "VL513",
    "decoding-mismatch",
    on=Loaded,
    severity=WARNING,
    since="0.1",
    words=("val_kwargs", "no_think", "enable_thinking", "lm_eval"),
)
def check(file: Loaded, ctx: Context) -> Iterator[Finding]:
    for experiment in ctx.project.experiments:
        if experiment.source is file.source and experiment.root:
            yield from _siblings(list(evaluations_of(experiment)), ctx)
            yield from _thinking(experiment, ctx)
    for script in ctx.project.scripts if "lm_eval" in file.source.text else ():
        if script.source is file.source and script.resolution.paths:
            yield from _siblings(list(harness_runs(script.resolution.paths[0].commands)), ctx)


def _siblings(evaluations: Sequence[Evaluation], ctx: Context) -> Iterator[Finding]:
    groups: dict[Hashable, dict[Hashable, list[Evaluation]]] = {}
    for each in evaluations:
        groups.setdefault((each.kind, each.data), {}).setdefault(each.model, []).append(each)
    said: set[object] = set()
    for models in groups.values():
        single = [found[0] for found in models.values() if len({_decoding(each) for each in found}) == 1]
        for first, second in combinations(single, 2) if len(single) == len(models) else ():
            finding = _difference(first, second, ctx)
            if finding is not None and finding.span not in said:
                said.add(finding.span)
                yield finding
                break


def _decoding(evaluation: Evaluation) -> Hashable:
    return tuple(sorted((key, str(setting.identity)) for key, setting in evaluation.settings.items()))


def _difference(first: Evaluation, second: Evaluation, ctx: Context) -> Finding | None:
    """What two evaluations do not share; None when they share all, or when that is not known."""
    keys = [key for key in dict.fromkeys((*second.settings, *first.settings)) if _differs(first, second, key)]
    if not keys:
        return None
    mine = [second.settings.get(key) for key in keys]
    theirs = [first.settings.get(key) for key in keys]
    at = next((each.span for each in mine if each is not None and each.span is not None), second.head)
    message = f"this evaluation has {_listed(keys, mine)}; the one it is compared with {_listed(keys, theirs)}"
    finding = ctx.fail(at, message, help=_HELP)
    places = [
        (each.span, key) for key, each in zip(keys, theirs, strict=True) if each is not None and each.span is not None
    ]
    for span, key in places or [(first.head, "")]:
        finding = finding.with_related(span, f"its {_name(key)}" if key else "the other evaluation")
    return finding


def _differs(first: Evaluation, second: Evaluation, key: str) -> bool:
    mine, theirs = second.settings.get(key), first.settings.get(key)
    if first.kind != "lm_eval" and (mine is None or theirs is None):
        return False  # the default is not known
    same = mine is not None and theirs is not None and mine.identity == theirs.identity
    return not same and _known(mine, theirs)


def _listed(keys: Sequence[str], settings: Sequence[Setting | None]) -> str:
    return ", ".join(f"{_name(key)} {_shown(setting)}" for key, setting in zip(keys, settings, strict=True))


def _name(key: str) -> str:
    return key.rsplit(".", 1)[-1]


def _shown(setting: Setting | None) -> str:
    return "not given" if setting is None else setting.shown


def _known(*settings: Setting | None) -> bool:
    """Whether no value hangs on the environment."""
    return all(each is None or "$" not in each.shown for each in settings)


# ---- training and its evaluation


def _thinking(experiment: Experiment, ctx: Context) -> Iterator[Finding]:
    trained = [
        (stage, launch) for stage in experiment.stages for launch in stage.launches if not is_evaluation(stage, launch)
    ]
    said: set[object] = set()
    for stage in experiment.stages:
        for launch in stage.launches:
            if not is_evaluation(stage, launch):
                continue
            for source, training in trained:
                if not _evaluates(stage, launch, source, training):
                    continue
                finding = _other_mode(launch, training, ctx)
                if finding is not None and finding.span not in said:
                    said.add(finding.span)
                    yield finding


def _evaluates(stage: Stage, launch: Launch, source: Stage, training: Launch) -> bool:
    """Whether a launch evaluates what another one trains."""
    if stage.spec is not None:
        needed = [str(dep.from_stage) for dep in stage.spec.deps.values()] + [str(need) for need in stage.spec.needs]
        if source.id in needed:
            return True
    name = training["trainer.experiment_name"]
    if not name.given or name.text is None or not str(name):
        return False
    mine = launch["trainer.experiment_name"]
    if mine.given and mine.text is not None and mine.text.identity() == name.text.identity():
        return True
    path = launch["actor_rollout_ref.model.path"]
    return name.text.known is not None and _has_component(path.text, name.text.known)


def _has_component(path: Text | None, name: str) -> bool:
    return path is not None and name in path.shown.split("/")


def _other_mode(launch: Launch, training: Launch, ctx: Context) -> Finding | None:
    for key in THINKING:
        mine, theirs = launch[key], training[key]
        if not (mine.given and theirs.given) or mine.same_as(theirs) is not False:
            continue
        name = key.rsplit(".", 1)[-1]
        message = f"the evaluation has {name} {mine}, the training {theirs}: another mode is measured than was trained"
        return ctx.fail(mine, message, help="give both the same mode").with_related(theirs.span, "the training")
    return None
