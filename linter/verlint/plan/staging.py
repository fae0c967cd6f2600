"""A spec as a plan: its stages in the order of their dependencies, with their commands and surroundings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from verlint.families import FAMILIES
from verlint.families.model import Family
from verlint.families.recipes import COOKBOOKS
from verlint.families.recipes.model import API, API_KEY, BRANCH, GPU, Cookbook, Recipe
from verlint.families.sharing import HANDOVERS
from verlint.plan.artifacts import TRACKER, Artifacts, with_sources
from verlint.plan.calls import Caller
from verlint.plan.checks import Check, Checks
from verlint.plan.model import Artifact, Plan, Step, Trap
from verlint.plan.prerequisites import given_inputs, prerequisites
from verlint.plan.references import Reader, Variable
from verlint.plan.wording import steps_said
from verlint.record import replace

SPEC_CHECKS = ("verlint check SPEC", "verlint inputs SPEC")

SETUP = "environment"
"""The step that prepares the machines."""

_NO_FAMILY = Family(name="", title="stages of no known family", stages={})
_NO_COOKBOOK = Cookbook("", (), {}, (), {}, {}, {}, {}, ".")
"""What is known of a spec that names no family: its stages are planned, the family stays open."""


class Staging:
    """Makes the plan of one spec, given as plain data."""

    def __init__(self, spec: Mapping[str, Any]) -> None:
        family = FAMILIES.get(str(spec.get("family")), _NO_FAMILY)
        self.spec = spec
        self.family = family
        self.book = COOKBOOKS.get(family.name, _NO_COOKBOOK)
        self.track = str(spec.get("track", ""))
        self.reader = Reader(spec)
        self.caller = Caller(self.reader, family)
        self.artifacts = Artifacts(self.reader, self.book, self.track)
        self.before = Checks(self.reader, self.book, self.track)

    def plan(
        self, stage: str = "", intended: tuple[str, ...] | None = None, checks: tuple[str, ...] = SPEC_CHECKS
    ) -> Plan:
        """The plan; `stage` is what was asked for, "" for all of a spec."""
        steps = tuple(self._linked())
        resolved, unresolved = prerequisites(self.spec, steps, self.book, intended)
        resolved = [each for each in resolved if each.value and "<" not in each.value]
        names = " / ".join(each for each in (self.family.title, self.track, stage) if each)
        return Plan(
            family=self.family.name,
            track=self.track,
            stage=stage or str(self.spec.get("name", "")),
            title=f"Plan: {names}",
            summary=self._summary(steps, len(unresolved)),
            resolved=tuple(resolved),
            unresolved=tuple(unresolved),
            inputs=given_inputs(steps),
            steps=steps,
            checks=(*self._exports(), *checks),
            warnings=tuple(self._warnings(steps)),
            notes=self.book.notes,
        )

    def _summary(self, steps: tuple[Step, ...], unresolved: int) -> str:
        commands = sum(len(step.commands) for step in steps)
        ready = f"{_count(unresolved, 'prerequisite')} open" if unresolved else "all prerequisites settled"
        steps_said = f"{_count(len(steps), 'step')} with {_count(commands, 'command')}"
        return f"{steps_said}; {ready}. Nothing of this was executed."

    def _warnings(self, steps: tuple[Step, ...]) -> Iterator[str]:
        kinds = {step.kind for step in steps}
        for text in self.book.warnings:
            if "eval-endtask" not in text or "eval-endtask" in kinds:
                yield text
        profile = str(self.spec.get("environment", {}).get("profile", ""))
        if profile and not profile.startswith("<") and profile not in self.book.setups:
            yield f"{self.family.title} has no set-up for {profile} machines: {', '.join(self.book.setups)}"
        if self.book.literal_root:
            variables = ", ".join(
                self.book.roots[name] for name in self.spec.get("roots", {}) if name in self.book.roots
            )
            if variables:
                yield (
                    f"the launchers read and write below {self.book.literal_root}, scores beside the checkpoints, and "
                    f"have no option for it: set {variables} to {self.book.literal_root} each, or give the launchers "
                    "such variables (VL102)"
                )
        if self._nodes().isdecimal() and int(self._nodes()) > 1:
            yield "with more than one node the root of the checkpoints must be a file system that all nodes share"

    def _exports(self) -> Iterator[str]:
        """The line that sets the variables of the roots; where launchers have a place of their own, to that."""
        given = {part.name for name in self.spec.get("roots", {})
                 for part in self.reader.parts("${roots." + name + "}") if isinstance(part, Variable)}  # fmt: skip
        own = self.book.literal_root or "…"
        names = [
            *(each for each in self.book.roots.values() if each in given),
            *sorted(given - set(self.book.roots.values())),
        ]
        said = [f"{each}={own if each in self.book.roots.values() else '…'}" for each in names]
        if said:
            yield f"export {' '.join(said)}"

    def _nodes(self) -> str:
        return self.reader.shown(self.spec.get("resources", {}).get("num_nodes", 1))

    # ---- steps

    def _linked(self) -> Iterator[Step]:
        """The steps, and where each gets what it reads."""
        made: dict[str, str] = {}
        first: tuple[str, ...] = ()
        for step in self._steps():
            first = first or ((step.name,) if step.kind == SETUP else ())
            reads = with_sources(step.reads, made)
            checks = tuple(each.shell(self.reader) for each in self._checks(step, reads))
            yield replace(
                step, reads=reads, checks=checks, after=step.after or (first if step.name not in first else ())
            )
            made.update((each.path, step.name) for each in step.writes)

    def _steps(self) -> Iterator[Step]:
        if (setup := self._setup()) is not None:
            yield setup
        for name in self._order():
            stage = self.reader.stage(name)
            yield from self._handover(name, stage)
            yield self._step(name, stage)

    def checks(self) -> list[tuple[str, Check]]:
        """The calls to make before the stages, each with the folder that it is made in."""
        return [(self._folder(each.stage), each) for step in self._linked() for each in self._checks(step, step.reads)]

    def _checks(self, step: Step, reads: tuple[Artifact, ...]) -> Iterator[Check]:
        stage = self.reader.stage(step.name)
        return self.before.before(step.name, stage, self._recipe(step.name, stage), reads)

    def _order(self) -> list[str]:
        """The stages so that each comes after those it needs, otherwise as they are written."""
        waiting = list(self.spec["stages"])
        done: list[str] = []
        while waiting:
            ready = next((name for name in waiting if not set(self._before(name)) & set(waiting) - {name}), waiting[0])
            waiting.remove(ready)
            done.append(ready)
        return done

    def _before(self, name: str) -> list[str]:
        stage = self.reader.stage(name)
        needs = stage.get("needs", [])
        named = [str(dep.get("from")) for dep in stage.get("deps", {}).values() if isinstance(dep, Mapping)]
        return [*([needs] if isinstance(needs, str) else [str(each) for each in needs]), *named]

    def _setup(self) -> Step | None:
        profile = str(self.spec.get("environment", {}).get("profile", ""))
        setup = self.book.setups.get(profile)
        if setup is None:
            return None
        folder = self.reader.shown(self._folder({}))
        commands = tuple(command for command, _ in setup.commands)
        touches = tuple(dict.fromkeys(each for _, touched in setup.commands for each in touched))
        title = f"prepare the environment on every node ({profile})"
        return Step(SETUP, SETUP, title, commands, folder=folder, touches=touches)

    def _step(self, name: str, stage: Mapping[str, Any]) -> Step:
        recipe = self._recipe(name, stage)
        branch = str(stage.get("branch", ""))
        commands = self.caller.commands(stage, recipe)
        if branch:
            commands.insert(0, f"git -C {self.reader.shell(self._below(stage))} switch {self.reader.shell(branch)}")
        keys = stage.get("credentials", recipe.credentials if recipe is not None else ())
        touches = recipe.touches if recipe is not None else (GPU,)
        if API_KEY not in keys:
            touches = tuple(each for each in touches if each != API)
        if branch and BRANCH not in touches:
            touches = (*touches, BRANCH)
        gpus = self.spec.get("resources", {}).get("accelerators", "")
        return Step(
            name=name,
            kind=str(stage.get("kind", "")),
            title=recipe.title if recipe is not None else f"stage {name}",
            commands=tuple(commands),
            round=int(stage.get("round", 0)),
            folder=self.reader.shown(self._folder(stage)),
            touches=touches,
            after=tuple(dict.fromkeys(self._after(name, stage))),
            reads=tuple(self.artifacts.reads(name, stage, recipe)),
            writes=tuple(self.artifacts.writes(stage)),
            credentials=tuple(str(key) for key in keys),
            branch=branch,
            resources=f"{self._nodes()} x {gpus}" if gpus and "GPU" in touches else "",
            approvals=tuple(str(each) for each in stage.get("approvals", ())),
            optional=stage.get("optional") is True,
            traps=tuple(self._traps(stage, recipe)),
            notes=tuple(self._notes(stage, recipe)),
        )

    def _after(self, name: str, stage: Mapping[str, Any]) -> Iterator[str]:
        """The steps to run before; a checkpoint that is copied comes from its copy."""
        staged = {str(dep.get("from")) for dep in _staged(stage)}
        for each in self._before(name):
            yield f"{name}-handover" if each in staged else each

    def _recipe(self, name: str, stage: Mapping[str, Any]) -> Recipe | None:
        kind = self.family.stage(str(stage.get("kind")))
        kinds = {str(stage.get("kind")), *((kind.name, *kind.aliases) if kind is not None else ())}
        found = [
            each
            for each in self.book.recipes
            if each.kind in kinds and (not each.tracks or self.track in each.tracks or not self.track)
        ]
        same = [each for each in found if each.launcher and each.launcher == stage.get("launcher")]
        return next(iter(same or found), None)

    def _folder(self, stage: Mapping[str, Any]) -> str:
        """Where the commands of a stage are started: the family's folder, of which the switched checkout is a part."""
        checkouts = self.spec.get("checkout", {})
        first = next(iter(checkouts), "")
        path = str(checkouts.get(str(stage.get("checkout", first)), {}).get("path", "."))
        return self.family.launchers_in(path)

    def _below(self, stage: Mapping[str, Any]) -> str:
        """The checkout of a stage as seen from where its commands are started."""
        path = str(self.spec.get("checkout", {}).get(str(stage.get("checkout")), {}).get("path", "."))
        folder = self._folder(stage)
        if folder == ".":
            return path
        return path.removeprefix(folder).lstrip("/") or "." if path.startswith(folder) else path

    def _notes(self, stage: Mapping[str, Any], recipe: Recipe | None) -> Iterator[str]:
        """The notes of a recipe; one about an override says its value in this spec."""
        overrides = stage.get("overrides", {})
        for note in recipe.notes if recipe is not None else ():
            key, sign, rest = note.partition("=")
            if sign and key in overrides:
                note = f"{key}={self.reader.shown(overrides[key], stage)}:{rest.partition(':')[2]}"
            yield re.sub(r"\{\w+\}", "N", note)

    def _handover(self, name: str, stage: Mapping[str, Any]) -> Iterator[Step]:
        """The copy of a checkpoint into the run of a stage, which its launcher expects and nobody else makes."""
        staged = _staged(stage)
        seen: set[tuple[str, str]] = set()
        for dep in staged:
            source, step, into = str(dep.get("from")), dep.get("step", "<RESUME_STEP>"), dep["stage_into"]
            if (source, str(into)) in seen:
                continue
            seen.add((source, str(into)))
            run = self.reader.stage(source).get("args", {}).get("exp_name", source)
            base = "${roots.checkpoints}"
            old, new = f"{base}/{run}/global_step_{step}", f"{base}/{into}"
            tracker = f"{new}/{TRACKER}"
            roles = [str(each["role"]) for each in staged if "role" in each]
            yield Step(
                name=f"{name}-handover",
                kind="handover",
                title=f"copy the checkpoint of {source} into the run {self.reader.shown(into)}",
                commands=(
                    f"mkdir -p {self.reader.shell(new)}",
                    f"cp -r {self.reader.shell(old)} {self.reader.shell(new + '/')}",
                    f"printf '%s\\n' {self.reader.shell(step)} > {self.reader.shell(tracker)}",
                ),
                after=(source,),
                reads=tuple(self.artifacts.checkpoint(run, step, role, source) for role in roles),
                writes=(
                    *(self.artifacts.checkpoint(into, step, role) for role in roles),
                    Artifact("tracker", self.reader.shown(tracker), note=f"holds {steps_said(step)}"),
                ),
                traps=(Trap("the tracker file is left out", "training starts at step 0, without a word"),),
            )

    def _traps(self, stage: Mapping[str, Any], recipe: Recipe | None) -> Iterator[Trap]:
        for each in recipe.pitfalls if recipe is not None else ():
            yield Trap(each.what, each.symptom)
        for handover in HANDOVERS.get(self.family.name, ()):
            if handover.consumer != stage.get("kind") or handover.option not in stage.get("args", {}):
                continue
            if handover.missing and (self.track, handover.producer) not in self.book.without:
                yield Trap(f"missing: {handover.what} of stage {handover.producer}", handover.missing)


def _staged(stage: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The inputs of a stage that are copied into its run."""
    return [dep for dep in stage.get("deps", {}).values() if isinstance(dep, Mapping) and dep.get("stage_into")]


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
