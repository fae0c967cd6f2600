"""The facts of a spec that are settled, and those that are not, with the stages that need them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from verlint.families import FAMILIES
from verlint.families.recipes.model import GPU, SERVICES, WANDB_PROJECT, Cookbook
from verlint.lazy import pattern
from verlint.plan.artifacts import is_model
from verlint.plan.model import LATER, OPTION, SPEC, Artifact, Prerequisite, Step
from verlint.plan.references import Reader
from verlint.plan.wording import stages_said, steps_said

_PLACEHOLDER = pattern(r"<([A-Z][A-Z0-9_-]*)>")

NO_FAMILY = f"which family the stages are of: {', '.join(FAMILIES)}; without it only the stages themselves are planned"
MODEL = (4, "which model takes this role", "Qwen/Qwen3-8B")
OPEN: Mapping[str, tuple[int, str, str]] = {
    "ACCELERATORS": (3, "kind and number of GPUs of a node (--gpu-class)", "H100:8"),
    "NODES": (3, "number of nodes", "1"),
    "SETUP": (3, "how the environment is made", "docker"),
    "GPU_PROFILE": (3, "which set-up the GPUs need (--gpu-class; its commands become the first step)", "a100-h200"),
    "OPTIMAL_BASELINE": (3, "whether the checkout calls compute_opo_outcome_advantage: known after step baseline",
                         "optimal-reward-baseline"),
    "EXP_NAME": (2, "the name of the run, which is the folder of its checkpoints (--exp-name)", "run-a"),
    "TEXTGAME_NAME": (2, "which game is played (--textgame-name)", "Sokoban-v0"),
    "TEXTGAME_NO_THINK": (4, "true for a model that does not think (--textgame-no-think)", "true"),
    "THINKING": (4, "whether the model thinks: True or False", "False"),
    "PROMPT_TYPE": (5, "which system prompt (--prompt-type); others need data and scoring of their own", "medmcqa"),
    "EXPERIENCE_FILE": (5, "the experience, list of experiences or system prompt to train on (--experience-path)",
                        "system_prompts/x.txt"),
    "DEPLOY_DATA": (5, "the folder that a deploy stage wrote", "$OEL_ROOT/RUN/deploy_data"),
    "OFF_POLICY_DATA": (5, "the folder that the generating stage wrote", "$OPCD_CKPT/RUN/off_policy_data"),
    "BEST_SEED": (5, "the seed whose experience scored best: known after step choose-seed", "150"),
    "EVAL_STEPS": (4, ("the checkpoints to evaluate (--checkpoint-start, --checkpoint-end, --checkpoint-step); in a "
                   "command <EVAL_STEPS_FIRST>, <EVAL_STEPS_LAST>, <EVAL_STEPS_DISTANCE>"),
                   "850..1600/50"),
    "EVAL_STEP": (4, "the checkpoint to evaluate (--checkpoint)", "100"),
    "FIRST_STEP": (4, "the first checkpoint to score (--checkpoint-start)", "10"),
    "LAST_STEP": (4, "the last checkpoint to score (--checkpoint-end)", "300"),
    "STEP_DISTANCE": (4, "the distance of the checkpoints to score (--checkpoint-step)", "10"),
    "EVALUATED_RUN": (4, "the run whose checkpoint is evaluated: the exp_name of a training", "run-a"),
    "RESUME_STEP": (4, "the saved warm-up step that the adversarial stage starts from (--resume-checkpoint)", "800"),
    "DATA_REPOSITORY": (5, "the data set repository on the hub", "OWNER/NAME"),
    "TRAIN_FILE": (5, "the training file below the data root", "train.parquet"),
    "VALIDATION_FILE": (5, "the validation file below the data root (--val-data)", "val.parquet"),
    "APPROVED_BY": (6, "who allows generated code to run, and where it is confined", "a name"),
}  # fmt: skip
"""What the placeholders of a plan ask for: number of the fact, what to decide, an example."""


def prerequisites(
    spec: Mapping[str, Any], steps: tuple[Step, ...], book: Cookbook, intended: tuple[str, ...] | None
) -> tuple[list[Prerequisite], list[Prerequisite]]:
    """The settled and the open facts of a spec. `intended` are the services whose credentials the user means to give,
    None when that was not said."""
    stages = tuple(spec["stages"])
    resolved = [Prerequisite("family", 1, book.family), Prerequisite("stages", 2, stages_said(stages))]
    if spec.get("track"):
        resolved.insert(1, Prerequisite("track", 1, str(spec["track"])))
    resolved += _settled(spec)
    unresolved = [_open(name, users, book) for name, users in _placeholders(spec, steps).items()]
    if not book.family:
        unresolved.insert(0, Prerequisite("family", 1, "", NO_FAMILY, f"family: {next(iter(FAMILIES))}", stages, SPEC))
    unresolved += _not_ready(spec, steps, book)
    for each in _credentials(spec, steps, intended):
        (resolved if each.value else unresolved).append(each)
    return sorted(resolved, key=_by_fact), sorted(unresolved, key=_by_fact)


def _by_fact(each: Prerequisite) -> int:
    return each.fact


def _settled(spec: Mapping[str, Any]) -> Iterator[Prerequisite]:
    """What the sections around the stages say without a placeholder."""
    reader = Reader(spec)
    for name, checkout in spec.get("checkout", {}).items():
        yield Prerequisite(f"checkout {name}", 3, str(checkout.get("path", checkout.get("url", ""))))
        yield Prerequisite(f"version of {name}", 3, str(checkout.get("base", "")))
    environment, resources = spec.get("environment", {}), spec.get("resources", {})
    yield Prerequisite("GPU set-up", 3, str(environment.get("profile", "")))
    yield Prerequisite("GPUs of a node", 3, str(resources.get("accelerators", "")))
    yield Prerequisite("nodes", 3, str(resources.get("num_nodes", "")))
    for role in spec.get("models", {}):
        yield Prerequisite(f"{role} model", 4, reader.shown(reader.model(role)))
    yield Prerequisite("checkpoints", 4, "; ".join(_checkpoints(spec)))
    for name in spec.get("roots", {}):
        yield Prerequisite(f"root of {name}", 5, reader.shown("${roots." + name + "}"))


def _checkpoints(spec: Mapping[str, Any]) -> Iterator[str]:
    """Which steps the stages go on from or evaluate, where that is settled."""
    found: dict[str, list[str]] = {}
    for name, stage in spec["stages"].items():
        args = stage.get("args", {})
        deps = [dep for dep in stage.get("deps", {}).values() if isinstance(dep, Mapping) and "role" in dep]
        steps = [dep.get("step", dep.get("steps")) for dep in deps]
        steps += [args[key] for key in ("resume_policy_ckpt", "resume_step") if key in args]
        for said in dict.fromkeys(steps_said(each) for each in steps if each is not None):
            if "<" not in said and "$" not in said:
                found.setdefault(said, []).append(name)
    for said, names in found.items():
        yield f"{said} for {stages_said(names)}"


def _placeholders(spec: Mapping[str, Any], steps: tuple[Step, ...]) -> dict[str, tuple[str, ...]]:
    """Every placeholder of a spec with the steps that need it: those in whose call or inputs it stands."""
    found: dict[str, set[str]] = {}
    for section, value in spec.items():
        if section == "stages" or section.startswith("x-") or section == "name":
            continue
        for path, text in _texts(value, section):
            for name in _PLACEHOLDER.findall(text):
                found.setdefault(name, set()).update(_users(spec, path, steps))
    for name, stage in spec["stages"].items():
        for _, text in _texts(stage, ""):
            for each in _PLACEHOLDER.findall(text):
                found.setdefault(each, set()).add(name)
    names = [step.name for step in steps]
    told = {name: [step.name for step in steps if _needs(step, name)] for name in found}
    return {name: tuple(told[name] or [each for each in names if each in users]) for name, users in found.items()}


def _needs(step: Step, placeholder: str) -> bool:
    texts = [*step.commands, *(each.path for each in step.reads), step.folder, step.resources]
    return any(re.search(f"<{placeholder}(?:_FIRST|_LAST|_DISTANCE)?>", text) for text in texts)


def _texts(value: object, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for key, each in value.items():
            yield from _texts(each, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each, path)
    elif isinstance(value, str):
        yield path, value


def _users(spec: Mapping[str, Any], path: str, steps: tuple[Step, ...]) -> list[str]:
    """The steps that a place around the stages speaks of: those that refer to it, those on GPUs for the machines."""
    section, _, rest = path.partition(".")
    name = rest.partition(".")[0]
    stages: Mapping[str, Any] = spec["stages"]
    if section == "checkout":
        return [each for each, stage in stages.items() if stage.get("checkout", name) == name]
    if section == "approvals":
        return [each for each, stage in stages.items() if name in stage.get("approvals", ())]
    if section in ("environment", "resources"):
        return [step.name for step in steps if GPU in step.touches] or list(stages)
    marks = [f"${{{section}.{each}}}" for each in _names(spec, section, name)]
    return [each for each, stage in stages.items() if any(mark in str(stage) for mark in marks)] or list(stages)


def _names(spec: Mapping[str, Any], section: str, name: str) -> set[str]:
    """A name, and in case of a model those of the roles that share it."""
    models = spec.get("models", {}) if section == "models" else {}
    return {name, *(role for role, each in models.items() if isinstance(each, Mapping) and each.get("same_as") == name)}


def _open(name: str, stages: tuple[str, ...], book: Cookbook) -> Prerequisite:
    fact, decide, example = OPEN.get(name, (5, "a value", ""))
    if name not in OPEN and name.endswith("_CHECKOUT"):
        decide = "the folder of the checkout that the commands are started in"
        fact, decide, example = 3, f"{decide}: {book.repository}" if book.repository else decide, book.folder
    elif name not in OPEN and name.endswith("_MODEL"):
        setting = book.models.get(name.removesuffix("_MODEL").lower(), "").partition("|")[0]
        fact, decide, example = MODEL
        decide += f" (--{setting.replace('_', '-')})" if setting else ""
    return Prerequisite(f"<{name}>", fact, "", decide, example, stages, _how(decide))


def _how(decide: str) -> str:
    """How an open fact is settled."""
    return OPTION if "(--" in decide else LATER if "known after" in decide else SPEC


def given_inputs(steps: tuple[Step, ...]) -> tuple[Prerequisite, ...]:
    """What the steps read and none of them makes, apart from models: these are among the facts."""
    readers: dict[Artifact, list[str]] = {}
    for step in steps:
        for each in step.reads:
            if not each.source and not is_model(each):
                readers.setdefault(each, []).append(step.name)
    return tuple(
        Prerequisite(each.path, 4 if each.label.startswith("checkpoint") else 5, "", _what(each), "", tuple(names))
        for each, names in readers.items()
    )


def _what(each: Artifact) -> str:
    return f"{each.label}: {each.note}" if each.note else each.label


def _not_ready(spec: Mapping[str, Any], steps: tuple[Step, ...], book: Cookbook) -> Iterator[Prerequisite]:
    environment = spec.get("environment", {})
    setup = book.setups.get(str(environment.get("profile"))) or next(iter(book.setups.values()), None)
    users = tuple(step.name for step in steps if GPU in step.touches)
    ready = environment.get("ready", ())
    wanted = setup.ready if setup is not None else ()
    missing = [each for each in wanted if each not in ready]
    if missing and users:
        decide = f"whether the nodes are ready: {', '.join(missing)} (then write environment.ready)"
        yield Prerequisite("readiness", 3, "", decide, f"ready: [{', '.join(wanted)}]", users, SPEC)


def _credentials(
    spec: Mapping[str, Any], steps: tuple[Step, ...], intended: tuple[str, ...] | None
) -> Iterator[Prerequisite]:
    meant = None if intended is None else {name for service in intended for name in SERVICES[service]}
    for name, said in spec.get("credentials", {}).items():
        users = tuple(step.name for step in steps if name in step.credentials)
        optional = name == WANDB_PROJECT or (isinstance(said, Mapping) and said.get("optional") is True)
        how = "optional, given in the environment at launch" if optional else "given in the environment at launch"
        read = isinstance(said, str) and said.startswith("${oc.env:")
        if meant is None or name in meant:
            if meant is None and not optional and not read:
                decide = "whether it will be given (--credentials); a plan never holds its value"
                yield Prerequisite(name, 6, "", decide, f"export {name}=…", users, OPTION)
            else:
                yield Prerequisite(name, 6, how, stages=users)
        elif not optional:
            service = next((each for each, names in SERVICES.items() if name in names), "")
            decide = f"the stages need it, and --credentials does not name {service or 'it'}"
            yield Prerequisite(name, 6, "", decide, f"--credentials {service}", users, OPTION)
