"""A wish as a spec: the stages with their arguments, inputs and outputs, placeholders for what nobody said."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from verlint.experiment.spec_schema import SCHEMA
from verlint.families import FAMILIES
from verlint.families.model import StageKind
from verlint.families.models import GATED
from verlint.families.recipes.model import (
    API_KEY,
    GPU,
    HF_KEY,
    HUB,
    OPTIONAL_CREDENTIALS,
    SERVICES,
    Input,
    Output,
    Recipe,
)
from verlint.lazy import pattern
from verlint.plan.options import PlanError
from verlint.plan.wish import Wish, chosen_steps, extracts_only, given_range
from verlint.record import dataclass

_SETTING = pattern(r"(?<!\$)\{(\w+)\}")
_NUMBER = pattern(r"-?\d+")

PLACEHOLDERS: Mapping[str, str] = {
    "model": "<POLICY_MODEL>",
    "exp_model": "<EXPERIENCE_MODEL>",
    "experience_path": "<EXPERIENCE_FILE>",
    "deploy_data": "<DEPLOY_DATA>",
    "off_policy_data": "<OFF_POLICY_DATA>",
    "textgame_name": "<TEXTGAME_NAME>",
    "textgame_no_think": "<TEXTGAME_NO_THINK>",
    "prompt_type": "<PROMPT_TYPE>",
    "eval_steps": "<EVAL_STEPS>",
    "if_eval_step": "<EVAL_STEP>",
    "if_eval_thinking": "<THINKING>",
    "resume_step": "<RESUME_STEP>",
    "first_step": "<FIRST_STEP>",
    "last_step": "<LAST_STEP>",
    "stride": "<STEP_DISTANCE>",
    "train_data": "${roots.data}/<TRAIN_FILE>",
    "val_data": "${roots.data}/<VALIDATION_FILE>",
}
"""What stands for a setting that nobody gave."""


@dataclass(frozen=True, slots=True)
class Place:
    """One stage to be written: its recipe, its name, its round, and the stage whose checkpoints it evaluates."""

    recipe: Recipe
    name: str
    round: int
    subject: str = ""


class Draft:
    """Makes the spec of a wish."""

    def __init__(self, wish: Wish) -> None:
        self.wish = wish
        self.family = FAMILIES[wish.book.family]
        self.places = list(_places(wish))
        runs = {recipe.run for recipe in wish.recipes if recipe.run and not recipe.follows}
        self._runs_differ = len(runs) > 1

    def spec(self) -> dict[str, Any]:
        """The spec, as plain mappings, lists and scalars in the order of the format."""
        if not self.wish.recipes:
            raise PlanError(f"stage {self.wish.stage} has no stages to write: it only lists")
        stages = {place.name: self._stage(place) for place in self.places}
        spec: dict[str, Any] = {"schema": SCHEMA, "name": self._spec_name(), "family": self.family.name}
        if self.wish.track:
            spec["track"] = self.wish.track
        spec["checkout"] = self._checkouts(stages)
        spec["environment"] = self._environment()
        spec["resources"] = self._resources()
        spec["models"] = self._models(str(stages))
        roots = self._roots(str(stages))
        spec["roots"] = {
            name: f"${{oc.env:{variable}}}" for name, variable in self.wish.book.roots.items() if name in roots
        }
        spec["credentials"] = self._credentials()
        if approvals := {name: {"granted_by": "<APPROVED_BY>"} for place in self.places for name in _approvals(place)}:
            spec["approvals"] = approvals
        if intents := [place.recipe.intent for place in self.places if place.recipe.intent]:
            spec["on_policy"] = {"intent": intents[0]}
            self._differing_intents(stages, intents[0])
        spec["stages"] = stages
        return {key: value for key, value in spec.items() if value or key == "stages"}

    # ---- around the stages

    def _spec_name(self) -> str:
        name = str(self.wish.settings.get("exp_name", "<EXP_NAME>"))
        return f"{self.family.name}-{self.wish.stage}-{name}"

    def _checkouts(self, stages: Mapping[str, Any]) -> dict[str, Any]:
        path = self.wish.book.checkout
        branches = list(dict.fromkeys(stage["branch"] for stage in stages.values() if "branch" in stage))
        found: dict[str, Any] = {}
        if any(stage["checkout"] == self.family.name for stage in stages.values()):
            found[self.family.name] = {"path": path}
        if branches:
            found[self.family.checkout] = {"path": f"{path}/{self.family.checkout}", "branches": branches}
        if self.family.verl:
            found[self.family.name] |= {"base": f"v{self.family.verl}", "provides": ["<OPTIMAL_BASELINE>"]}
        return found

    def _environment(self) -> dict[str, Any]:
        profile = gpu_profile(str(self.wish.settings.get("gpu_class", "unknown")))
        setups = self.wish.book.setups
        setup = setups.get(profile) or next(iter(setups.values()))
        return {"setup": setup.setup, "profile": profile or "<GPU_PROFILE>"}

    def _resources(self) -> dict[str, Any]:
        settings = self.wish.settings
        kind, gpus = str(settings.get("gpu_class", "unknown")), settings.get("gpus_per_node", 8)
        known = kind not in ("other", "unknown")
        return {
            "accelerators": f"{kind.upper()}:{gpus}" if known else "<ACCELERATORS>",
            "num_nodes": settings.get("nodes", 1),
        }

    def _roots(self, stages: str) -> set[str]:
        """The roots that the stages read or write below, be it without naming them."""
        found = {name for name in self.wish.book.roots if f"${{roots.{name}}}" in stages}
        for recipe in self.wish.recipes:
            if any(not output.path for output in recipe.outputs) or any(each.role for each in recipe.inputs):
                found.add("checkpoints")
            if any("data-prep" in each.producers or "${roots.data}" in each.place for each in recipe.inputs):
                found.add("data")
        return found

    def _models(self, stages: str) -> dict[str, Any]:
        """The roles that the stages name, and those that these share a model with."""
        found: dict[str, Any] = {}
        wanted = [role for role in self.wish.book.models if f"${{models.{role}}}" in stages]
        for role in wanted:
            setting, _, other = self.wish.book.models[role].partition("|=")
            value = self.wish.settings.get(setting)
            if value is None and other:
                found[role] = {"same_as": other}
                if other not in wanted:
                    wanted.append(other)
            else:
                found[role] = {
                    "id": value if value is not None else PLACEHOLDERS["model"].replace("POLICY", role.upper())
                }
        no_think = self.wish.settings.get("textgame_no_think")
        if isinstance(no_think, bool) and "policy" in found and "id" in found["policy"]:
            found["policy"]["thinking"] = not no_think
        return {role: found[role] for role in self.wish.book.models if role in found}

    def _credentials(self) -> dict[str, Any]:
        """The variables that the stages need, and those the user means to give: these are read from the environment."""
        used = dict.fromkeys(name for place in self.places for name in self._keys_of(place))
        services = self.wish.settings.get("credentials")
        meant = [name for each in services for name in SERVICES[each]] if isinstance(services, tuple) else []
        needed = set(used) - (OPTIONAL_CREDENTIALS - ({HF_KEY} if self._is_gated() else set()))
        found: dict[str, Any] = {}
        for name in dict.fromkeys([*used, *meant]):
            given = f"${{oc.env:{name}}}" if name in meant else None
            found[name] = given if name in needed else {"optional": True}
        return found

    def _is_gated(self) -> bool:
        """Whether one of the models is for known users of the hub only."""
        settings = {each.partition("|")[0] for each in self.wish.book.models.values()}
        return any(str(self.wish.settings.get(name, "")).startswith(GATED) for name in settings)

    def _keys_of(self, place: Place) -> tuple[str, ...]:
        """The credentials of a stage; a coach behind an API needs a key while training."""
        keys = place.recipe.credentials
        if self._is_gated() and {GPU, HUB} <= set(place.recipe.touches) and HF_KEY not in keys:
            keys = (*keys, HF_KEY)
        asks = "${models.coach}" in place.recipe.options.values() and "gpt" in str(self.wish.settings.get("exp_model"))
        return (*keys, API_KEY) if asks else keys

    def _differing_intents(self, stages: dict[str, Any], common: str) -> None:
        for place in self.places:
            if place.recipe.intent and place.recipe.intent != common:
                stages[place.name]["on_policy"] = {"intent": place.recipe.intent}

    # ---- a stage

    def _stage(self, place: Place) -> dict[str, Any]:
        recipe, kind = place.recipe, self.family.stage(place.recipe.kind)
        branch = kind.branch if kind is not None else ""
        stage: dict[str, Any] = {"kind": recipe.kind}
        if place.round and self.wish.book.rounds:
            stage["round"] = place.round
        stage["checkout"] = self.family.checkout if branch else self.family.name
        if branch:
            stage["branch"] = branch
        deps = self._deps(place)
        if recipe.entry:
            stage["entry"] = recipe.entry
        elif recipe.shell:
            stage["run"] = self._text(recipe.shell, place)
        else:
            stage["launcher"] = recipe.launcher
        if deps:
            stage["deps"] = deps
        if recipe.options:
            stage["args"] = self._args(place, deps)
        if recipe.entry:
            stage["overrides"] = {key: self._value(value, place) for key, value in recipe.overrides.items()}
        if recipe.append:
            stage["x-append"] = list(recipe.append)
        if keys := self._keys_of(place):
            stage["credentials"] = list(keys)
        if recipe.approvals:
            stage["approvals"] = list(recipe.approvals)
        if outs := {output.name: self._out(output, place, kind) for output in recipe.outputs}:
            stage["outs"] = outs
        if recipe.optional:
            stage["optional"] = True
        return stage

    def _deps(self, place: Place) -> dict[str, Any]:
        deps: dict[str, Any] = {}
        for each in place.recipe.inputs:
            producer = self._producer(each, place)
            if producer is None:
                continue
            dep: dict[str, Any] = {"from": producer.name}
            if each.role:
                dep["role"] = each.role
            for key, text in (("step", each.step), ("steps", each.steps)):
                if text:
                    dep[key] = self._value(text, place)
            if each.staged:
                dep["stage_into"] = self._run(place.recipe, place.round)
            deps[each.name] = dep
        return deps

    def _producer(self, each: Input, place: Place) -> Place | None:
        """The stage of the plan that makes an input."""
        if place.subject and each.role:
            return next(other for other in self.places if other.name == place.subject)
        wanted = place.round - 1 if each.previous else place.round
        for name in each.producers:
            for other in self.places:
                if other.recipe.name == name and other.round == wanted:
                    return other
        return None

    def _args(self, place: Place, deps: Mapping[str, Any]) -> dict[str, Any]:
        options = dict(place.recipe.options)
        for each in place.recipe.inputs:
            if each.option == "resume_policy":
                options = self._resumed(each, options, deps, place)
            elif each.option and each.name not in deps:
                options[each.option] = each.alone
        args: dict[str, Any] = {}
        for name, text in options.items():
            if text.startswith("?"):
                text = text[1:]
                if any(self.wish.settings.get(setting) is None for setting in _SETTING.findall(text)):
                    continue
            args[name] = self._value(text, place)
        return args

    def _resumed(self, each: Input, options: dict[str, str], deps: Mapping[str, Any], place: Place) -> dict[str, str]:
        """A later round goes on from a checkpoint where the first one has a model."""
        resumes = self.wish.resumes
        if each.name in deps:
            new = {"resume_policy": "${deps." + each.name + "}"}
        elif resumes is not None:
            new = {"resume_policy_name": resumes[0], "resume_policy_ckpt": str(resumes[1])}
        else:
            return options
        out: dict[str, str] = {}
        for name, text in options.items():
            out |= new if name == "model" else {name: text}
        return out

    def _out(self, output: Output, place: Place, kind: StageKind | None) -> Any:
        if output.path:
            return self._text(output.path, place)
        roles = list(kind.saves) if kind is not None else ["actor"]
        total, every = self.wish.settings.get("total_training_steps"), self.wish.settings.get("save_freq")
        if not isinstance(every, int):
            raise PlanError("a training needs --save-freq")
        if not isinstance(total, int):
            out: dict[str, Any] = {"roles": roles, "every": every}
            resumed = self.wish.resumes
            if resumed is not None and any(each.staged for each in place.recipe.inputs):
                out["from_step"] = resumed[1] + every
            return out
        only_last = place.recipe.overrides.get("trainer.remove_previous_ckpt_in_save") is True
        return {"roles": roles, "steps": total if only_last else saved_steps(total, every)}

    # ---- values

    def _run(self, recipe: Recipe, round: int) -> str:
        """The experiment name of a stage."""
        alias = self.wish.alias
        if alias is not None and "exp_name" not in self.wish.given:
            return alias.run
        name = str(self.wish.settings.get("exp_name", "<EXP_NAME>"))
        if self._runs_differ and recipe.run:
            name += f"-{recipe.run}"
        return f"{name}-r{round}" if self.wish.stage == "rounds" else name

    def _value(self, template: object, place: Place) -> Any:
        """A template with its settings, as the scalar that it spells."""
        if not isinstance(template, str):
            return template
        whole = _SETTING.fullmatch(template)
        value = self._setting(whole[1], place) if whole else self._text(template, place)
        return int(value) if isinstance(value, str) and _NUMBER.fullmatch(value) else value

    def _text(self, template: str, place: Place) -> str:
        return _SETTING.sub(lambda found: str(self._setting(found[1], place)), template)

    def _setting(self, name: str, place: Place) -> Any:
        derived = getattr(self, f"_get_{name}", None)
        if derived is not None:
            return derived(place)
        value = self.wish.settings.get(name)
        if name == "prompt_type" and value == "custom":
            return PLACEHOLDERS[name]
        if name == "val_data" and value is not None and self.family.name == "opo":
            return f"${{roots.data}}/{value}" if "/" not in str(value) else value
        return PLACEHOLDERS[name] if value is None else value

    def _get_run(self, place: Place) -> str:
        return self._run(place.recipe, place.round)

    def _get_subject(self, place: Place) -> str:
        subject = next((other for other in self.places if other.name == place.subject), place)
        return self._run(subject.recipe if place.subject else _nameless(place.recipe), place.round)

    def _get_round(self, place: Place) -> int:
        return place.round

    def _get_gpus_per_node(self, place: Place) -> Any:
        return self.wish.settings.get("gpus_per_node", 8)

    def _get_seeds(self, place: Place) -> Any:
        if extracts_only(self.wish) and (chosen := chosen_steps(self.wish)):
            return given_range(self.wish) or chosen[0]
        return self.wish.settings["seeds"]

    def _get_seed(self, place: Place) -> str:
        return "<BEST_SEED>"

    def _get_resume_step(self, place: Place) -> Any:
        if self.wish.resumes is not None:
            return self.wish.resumes[1]
        if self.wish.book.rounds:
            return self.wish.settings["total_training_steps"]
        return PLACEHOLDERS["resume_step"]

    def _get_eval_steps(self, place: Place) -> Any:
        if chosen := chosen_steps(self.wish):
            return given_range(self.wish) or chosen[0]
        total, every = self.wish.settings.get("total_training_steps"), self.wish.settings.get("save_freq")
        if isinstance(total, int) and isinstance(every, int):
            return f"{every}..{total - total % every}/{every}" if total >= 2 * every else total
        return PLACEHOLDERS["eval_steps"]

    def _get_first_step(self, place: Place) -> Any:
        return self._span(0, "first_step", place)

    def _get_last_step(self, place: Place) -> Any:
        return self._span(1, "last_step", place)

    def _get_result_step(self, place: Place) -> Any:
        """The step in the path of results, `*` for several."""
        steps = self._get_eval_steps(place)
        return steps if isinstance(steps, int) else "*"

    def _get_stride(self, place: Place) -> Any:
        return self._span(2, "stride", place)

    def _span(self, part: int, name: str, place: Place) -> Any:
        steps = self._get_eval_steps(place)
        if isinstance(steps, int):
            return (steps, steps, 1)[part]
        numbers = re.findall(r"\d+", str(steps))
        return int(numbers[part]) if len(numbers) == 3 else PLACEHOLDERS[name]

    def _get_if_eval_step(self, place: Place) -> Any:
        if chosen := chosen_steps(self.wish):
            return chosen[-1]
        return PLACEHOLDERS["if_eval_step"]

    def _get_if_eval_thinking(self, place: Place) -> str:
        no_think = self.wish.settings.get("textgame_no_think")
        return str(not no_think) if isinstance(no_think, bool) else PLACEHOLDERS["if_eval_thinking"]


def gpu_profile(gpu_class: str) -> str:
    """The set-up that a class of GPUs needs, "" when that is not known."""
    return {"a100": "a100-h200", "h100": "a100-h200", "h200": "a100-h200", "b200": "b200"}.get(gpu_class, "")


def saved_steps(total: int, every: int) -> Any:
    """The steps that a training saves: each multiple of its interval, and the last one."""
    if every >= total:
        return total
    regular = f"{every}..{total - total % every}/{every}"
    return regular if total % every == 0 else [regular, total]


def _places(wish: Wish) -> list[Place]:
    found: list[Place] = []
    for number in wish.rounds:
        prefix = f"r{number}-" if wish.stage in ("round", "rounds") else ""
        for recipe in wish.recipes:
            name = prefix + recipe.name
            producers = {producer for each in recipe.inputs if each.role for producer in each.producers}
            subjects = [other.name for other in found if other.recipe.name in producers and other.round == number]
            if not recipe.follows or not subjects:
                found.append(Place(recipe, name, number))
            elif len(subjects) == 1:
                found.append(Place(recipe, name, number, subjects[0]))
            else:
                found += [Place(recipe, f"{name}-{subject}", number, subject) for subject in subjects]
    return found


def _nameless(recipe: Recipe) -> Recipe:
    from verlint.record import replace

    return replace(recipe, run="")


def _approvals(place: Place) -> tuple[str, ...]:
    return place.recipe.approvals
