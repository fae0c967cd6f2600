"""What the stages of a spec read and write: each thing with a label, its place, and the step that makes it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from verlint.families.recipes.model import Cookbook, Input, Recipe
from verlint.plan.model import Artifact
from verlint.plan.references import Reader
from verlint.plan.wording import single_step, steps_said

TRACKER = "latest_checkpointed_iteration.txt"

_LABELS: Mapping[str, str] = {
    "note": "experience",
    "batches": "off-policy data",
    "samples": "answers",
    "if_eval": "scores",
    "end_task": "scores",
}
"""What inputs and outputs of other names than their own are called."""

_MODELS: Mapping[str, str] = {
    "model": "policy",
    "ref_model_path": "reference",
    "reward_model": "discriminator",
    "exp_model_path": "experience",
    "actor_rollout_ref.model.path": "policy",
    "critic.model.path": "critic",
}
"""Arguments and overrides that name a model, with its role where the spec does not say another."""

_FILES: Mapping[str, str] = {"data.train_files": "train", "data.val_files": "validation"}
_IN_COMMAND = re.compile(r"(\$\{roots\.\w+\}/[^\s/]+)/global_step_([^\s/]+)/((actor|critic)(?:/huggingface)?)")
_PARTS: Mapping[str, tuple[str, ...]] = {
    "run": ("exp_name",),
    "subject": ("exp_name",),
    "prompt_type": ("system_prompt_type",),
    "val_data": ("val_data",),
}
"""The arguments that the settings of a recipe's paths are found in."""


class Artifacts:
    """Tells what the stages of one spec read and write."""

    def __init__(self, reader: Reader, book: Cookbook, track: str) -> None:
        self.reader = reader
        self.book = book
        self.track = track

    def reads(self, name: str, stage: Mapping[str, Any], recipe: Recipe | None) -> list[Artifact]:
        """What a stage reads, its models first."""
        made = list(self._of_deps(name, stage))
        alone = list(self._alone(stage, recipe))
        if any(is_dataset(each) for each in made):  # the spec says itself which data the stage reads
            alone = [each for each in alone if not is_dataset(each)]
        found = [*self._models(stage), *made, *alone, *self._files(stage)]
        return list({each.path: each for each in reversed(found)}.values())[::-1]

    def writes(self, stage: Mapping[str, Any]) -> list[Artifact]:
        """What a stage writes."""
        run = self.run_of(stage, "")
        found: list[Artifact] = []
        for name, out in stage.get("outs", {}).items():
            if not isinstance(out, Mapping):
                found.append(self._thing(name, out, stage))
                continue
            steps = out.get("steps", f"every {out.get('every', '')}")
            found += [self.checkpoint(run, steps, str(role)) for role in out.get("roles", ())]
        return found

    def run_of(self, stage: Mapping[str, Any], default: str) -> str:
        """The name of the run that a stage trains: that of its folder below the root of the checkpoints."""
        name = stage.get("args", {}).get("exp_name")
        folder = str(stage.get("overrides", {}).get("trainer.default_local_dir", ""))
        return str(name) if name is not None else folder.rpartition("/")[2] or default

    def checkpoint(self, run: object, steps: object, role: str, source: str = "", note: str = "") -> Artifact:
        """The checkpoints of a run at some steps; in the path of several `N` stands for each of them."""
        steps = self.reader.shown(steps) if isinstance(steps, str) else steps
        said = f"{steps} steps to the end" if str(steps).startswith("every") else steps_said(steps)
        path = f"${{roots.checkpoints}}/{run}/global_step_{single_step(steps) or 'N'}/{role}"
        return Artifact(f"checkpoint ({role}, {said})", self.reader.shown(path), source, note)

    # ---- what a stage reads

    def _models(self, stage: Mapping[str, Any]) -> Iterator[Artifact]:
        """The models, each once with all its roles."""
        args = {**stage.get("overrides", {}), **stage.get("args", {})}
        if str(args.get("use_bsl", "")).lower() == "false":  # the checkpoint is evaluated instead
            return
        roles: dict[str, list[str]] = {}
        for key, role in _MODELS.items():
            value = args.get(key)
            if not isinstance(value, str) or value in ("", "none"):
                continue
            named = re.fullmatch(r"\$\{models\.(\w+)\}", value)
            roles.setdefault(self.reader.shown(value, stage), []).append(named[1] if named else role)
        for model, names in roles.items():
            yield Artifact(f"model ({', '.join(dict.fromkeys(names))})", model)

    def _of_deps(self, name: str, stage: Mapping[str, Any]) -> Iterator[Artifact]:
        for key, dep in stage.get("deps", {}).items():
            if not isinstance(dep, Mapping):
                continue
            source, into = str(dep.get("from")), dep.get("stage_into")
            made = self.reader.made(key, stage)
            if "role" not in dep and made is not None:
                yield self._thing(key, made, stage, source)
                continue
            producer = self.reader.stage(source)
            steps = dep.get("step", dep.get("steps", "<STEP>"))
            run = into or self.run_of(producer, source)
            yield self.checkpoint(run, steps, str(dep.get("role", "actor")), f"{name}-handover" if into else source)
            if into:
                path = self.reader.shown(f"${{roots.checkpoints}}/{into}/{TRACKER}")
                yield Artifact("tracker", path, f"{name}-handover")

    def _alone(self, stage: Mapping[str, Any], recipe: Recipe | None) -> Iterator[Artifact]:
        """What the family's stage reads and no stage of the spec is said to make."""
        args = stage.get("args", {})
        for each in recipe.inputs if recipe is not None else ():
            if each.name in stage.get("deps", {}):
                continue
            if each.option in args:
                yield self._thing(self._called(each, stage), args[each.option], stage, note=each.note)
            elif each.option == "resume_policy":
                if "resume_policy_name" in args:
                    step = args.get("resume_policy_ckpt", "<STEP>")
                    yield self.checkpoint(args["resume_policy_name"], step, each.role)
            elif each.role:
                yield from self._own_checkpoint(each, stage)
            elif path := self._place(each, stage):
                yield self._thing(each.name, path, stage, note=self._note(each))

    def _called(self, each: Input, stage: Mapping[str, Any]) -> str:
        return "system prompt" if each.name == "note" and "system_prompt_type" in stage.get("args", {}) else each.name

    def _own_checkpoint(self, each: Input, stage: Mapping[str, Any]) -> Iterator[Artifact]:
        args = stage.get("args", {})
        if "exp_name" in args:
            steps = args.get("ckpts", args.get("ckpt", args.get("resume_step", "<STEP>")))
            yield self.checkpoint(args["exp_name"], steps, each.role, note=self._note(each))
            if each.staged:
                path = self.reader.shown(f"${{roots.checkpoints}}/{args['exp_name']}/{TRACKER}")
                yield Artifact("tracker", path, note=f"holds {steps}, so that the training goes on from there")
        for run, step, place, role in _IN_COMMAND.findall(str(stage.get("run", ""))):
            path = self.reader.shown(f"{run}/global_step_{step}/{place}")
            yield Artifact(f"checkpoint ({role}, {steps_said(step)})", path, note=self._note(each))

    def _place(self, each: Input, stage: Mapping[str, Any]) -> str:
        """Where an input lies: as the recipe says, or where its producer would write it; "" when that is open."""
        text = each.place
        for name in () if text else each.producers:
            producer = self.book.recipe(name, self.track)
            outputs = producer.outputs if producer is not None else ()
            text = text or next((out.path for out in outputs if out.name == each.name), "")
        args = stage.get("args", {})
        for setting, options in _PARTS.items():
            value = next((args[option] for option in options if option in args), None)
            text = text.replace(f"{{{setting}}}", str(value)) if value is not None else text
        first, last = (args.get(end, args.get("ckpt")) for end in ("start_ckpt", "end_ckpt"))
        text = text.replace("{result_step}", str(last) if first == last else "*") if last is not None else text
        return "" if re.search(r"(?<!\$)\{\w+\}", text) else text

    def _note(self, each: Input) -> str:
        made = f"made by {' or '.join(each.producers)}, which is not part of this plan" if each.producers else ""
        return each.note or made

    def _files(self, stage: Mapping[str, Any]) -> Iterator[Artifact]:
        for key, name in _FILES.items():
            value = stage.get("overrides", {}).get(key)
            for path in value if isinstance(value, list) else [] if value is None else [value]:
                yield Artifact(f"dataset ({name})", self.reader.shown(path, stage))

    def _thing(self, name: str, path: object, stage: Mapping[str, Any], source: str = "", note: str = "") -> Artifact:
        shown = self.reader.shown(path, stage)
        data = shown.endswith((".parquet", ".jsonl", ".json")) and name not in _LABELS and "scores" not in name
        label = _LABELS.get(name, self.book.labels.get(name, name.replace("_", " ")))
        return Artifact(f"dataset ({'validation' if name == 'val' else label})" if data else label, shown, source, note)


def is_model(each: Artifact) -> bool:
    """Whether an artifact is a model, which is named among the facts of a plan."""
    return each.label.startswith("model (")


def is_saved(each: Artifact) -> bool:
    """Whether an artifact is a part of a saved checkpoint."""
    return each.label.startswith("checkpoint (") or each.label == "tracker"


def is_dataset(each: Artifact) -> bool:
    """Whether an artifact is a file of data."""
    return each.label.startswith("dataset (")


def with_sources(reads: Iterable[Artifact], made: Mapping[str, str]) -> tuple[Artifact, ...]:
    """Artifacts with the steps that make them, where a path alone tells; `made` holds the step of each path."""
    return tuple(
        each if each.source or each.path not in made else Artifact(each.label, each.path, made[each.path])
        for each in reads
    )
