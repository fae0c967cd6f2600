"""A spec as a plan: its stages in the order of their dependencies, with their commands and surroundings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from verlint.families import FAMILIES
from verlint.families.model import Family
from verlint.families.recipes import COOKBOOKS
from verlint.families.recipes.model import API, API_KEY, BRANCH, GPU, MERGE, Cookbook, Recipe
from verlint.families.sharing import HANDOVERS
from verlint.lazy import pattern
from verlint.plan.artifacts import TRACKER, Artifacts, is_saved, with_sources
from verlint.plan.calls import Caller
from verlint.plan.checks import Check, Checks
from verlint.plan.model import Artifact, Plan, Prerequisite, Step, Trap
from verlint.plan.prerequisites import given_inputs, prerequisites
from verlint.plan.references import Reader, Variable
from verlint.plan.wording import machines, steps_said
from verlint.record import replace

SPEC_CHECKS = ("verlint check SPEC", "verlint inputs SPEC")

SETUP = "environment"
"""The step that prepares the machines."""

_MANY_MERGES = 20
"""Evaluated checkpoints past which a plan warns of their time and place on disk."""

_NO_FAMILY = Family(name="", title="stages of no known family", stages={})
_NO_COOKBOOK = Cookbook("", (), {}, (), {}, {}, {}, {}, ".")
"""What is known of a spec that names no family: its stages are planned, the family stays open."""


class Staging:
    """Makes the plan of one spec, given as plain data. `variables` are those that its launchers are seen to read."""

    def __init__(self, spec: Mapping[str, Any], variables: frozenset[str] = frozenset()) -> None:
        family = FAMILIES.get(str(spec.get("family")), _NO_FAMILY)
        self.spec = spec
        self.family = family
        self.book = COOKBOOKS.get(family.name, _NO_COOKBOOK)
        read = variables.intersection(self.book.roots.values())
        self.literal_root = "" if read else self.book.literal_root  # such launchers are those of the family no more
        self.track = str(spec.get("track", ""))
        self.reader = Reader(spec)
        self.caller = Caller(self.reader, family)
        self.artifacts = Artifacts(self.reader, self.book, self.track)
        self.before = Checks(self.reader, self.book, self.track)

    def plan(
        self,
        stage: str = "",
        intended: tuple[str, ...] | None = None,
        checks: tuple[str, ...] = SPEC_CHECKS,
        notes: tuple[str, ...] = (),
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
            inputs=(*self._inner_checkouts(), *given_inputs(steps)),
            steps=steps,
            checks=(*self._exports(steps), *checks),
            warnings=tuple(self._warnings(steps)),
            notes=(*notes, *self.book.notes),
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
        if profile and not profile.startswith("<") and self.book.setups and profile not in self.book.setups:
            has = ", ".join(self.book.setups)
            yield f"{self.family.title} has no set-up for {profile} machines, so no step prepares them; it has {has}"
        if self.literal_root:
            variables = ", ".join(
                self.book.roots[name] for name in self.spec.get("roots", {}) if name in self.book.roots
            )
            if variables:
                yield (
                    f"the launchers read and write below {self.literal_root}, scores beside the checkpoints, and "
                    f"have no option for it: set {variables} to {self.literal_root}, or give the launchers "
                    "such variables (VL102)"
                )
        saved = {step.name: self.caller.many(self.reader.stage(step.name)) for step in steps
                 if MERGE in step.touches and step.kind != "extract"}  # fmt: skip
        if (many := sum(saved.values())) > _MANY_MERGES:
            yield (
                f"{many} checkpoints are merged and evaluated one by one, each of which writes the whole model again: "
                "--checkpoint, or --checkpoint-start, --checkpoint-end and --checkpoint-step, choose fewer"
            )
        if self._nodes().isdecimal() and int(self._nodes()) > 1:
            yield "with more than one node the root of the checkpoints must be a file system that all nodes share"

    def _exports(self, steps: Sequence[Step]) -> Iterator[str]:
        """The line that sets the variables of the roots and of the commands; where launchers have a place of their own,
        to that."""
        given = {part.name for name in self.spec.get("roots", {})
                 for part in self.reader.parts("${roots." + name + "}") if isinstance(part, Variable)}  # fmt: skip
        own = self.literal_root or "…"
        names = [
            *(each for each in self.book.roots.values() if each in given),
            *sorted(given - set(self.book.roots.values())),
        ]
        read = dict.fromkeys(name for step in steps for text in step.commands for name in _NEEDED.findall(text))
        names += [each for each in read if each not in names and not each.endswith(("_KEY", "_TOKEN"))]
        said = [f"{each}={own if each in self.book.roots.values() else '…'}" for each in names]
        if said:
            yield f"export {' '.join(said)}"

    def _inner_checkouts(self) -> Iterator[Prerequisite]:
        """The checkouts whose branches the plan switches."""
        for name, checkout in self.spec.get("checkout", {}).items():
            if branches := checkout.get("branches", ()):
                names = ", ".join(str(each) for each in branches)
                what = f"branch{'' if len(branches) == 1 else 'es'} {names}"
                said = f"{self.book.inner}, with {what}" if self.book.inner else f"a checkout with {what}"
                users = tuple(each for each, stage in self.spec["stages"].items() if stage.get("checkout") == name)
                yield Prerequisite(self.reader.shown(checkout.get("path", name)), 3, "", said, "", users)

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
            chosen = {each.source: made[each.path] for each in reads if made.get(each.path, each.source) != each.source}
            if chosen:  # made by a stage, and picked out of it by hand
                reads = tuple(replace(each, source=made.get(each.path, each.source)) for each in reads)
                step = replace(step, after=tuple(chosen.get(each, each) for each in step.after))
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
            by_hand, step = self._by_hand(name, stage), self._step(name, stage)
            yield from (each for each in by_hand if not each.after)
            yield step if not by_hand or by_hand[0].after else replace(step, after=(*step.after, by_hand[0].name))
            yield from (each for each in by_hand if each.after)

    def checks(self) -> list[tuple[str, Check]]:
        """The calls to make before the stages, each with the folder that it is made in."""
        return [(self._folder(each.stage), each) for step in self._linked() for each in self._checks(step, step.reads)]

    def _checks(self, step: Step, reads: tuple[Artifact, ...]) -> Iterator[Check]:
        stage = self.reader.stage(step.name)
        return self.before.before(step.name, stage, self._recipe(step.name, stage), reads)

    def _by_hand(self, name: str, stage: Mapping[str, Any]) -> list[Step]:
        """What people do before or after a stage, while its outcome is open."""
        recipe = self._recipe(name, stage)
        known = recipe.by_hand if recipe is not None else None
        if recipe is None or known is None or f"<{known.asks}>" not in str(self.spec):
            return []
        args = {key: str(value) for key, value in stage.get("args", {}).items()}
        args["run"] = self.reader.shell(f"${{roots.checkpoints}}/{args.get('exp_name', '')}")
        command = re.sub(r"\{(\w+)\}", lambda found: args.get(found[1], "*"), known.command)
        made = self.artifacts.writes(stage)
        return [
            Step(
                name=known.name,
                kind="by hand",
                title=f"by hand: {known.title}",
                commands=(command,),
                folder=self.reader.shown(self._folder(stage)),
                after=(name,) if known.after else (),
                reads=tuple(replace(each, source=name) for each in self._of_seeds(made, stage)) if known.after else (),
                writes=tuple(made) if known.after else (),
            )
        ]

    def _of_seeds(self, made: Iterable[Artifact], stage: Mapping[str, Any]) -> list[Artifact]:
        """What an extraction writes: the same for each of its seeds."""
        seeds = _seeds_said(self.reader.shown(stage.get("args", {}).get("ckpts", "")))
        return [
            Artifact(f"{each.label} ({seeds})", each.path.replace("<BEST_SEED>", "N"), each.source, each.note)
            if "<BEST_SEED>" in each.path
            else each
            for each in made
        ]

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
        return Step(SETUP, SETUP, title, commands, folder=folder, touches=touches, notes=setup.notes)

    def _step(self, name: str, stage: Mapping[str, Any]) -> Step:
        recipe = self._recipe(name, stage)
        branch = str(stage.get("branch", ""))
        commands = [*(recipe.before if recipe is not None else ()), *self.caller.commands(stage, recipe)]
        if branch:
            commands.insert(0, f"git -C {self.reader.shell(self._below(stage))} switch {self.reader.shell(branch)}")
        keys = stage.get("credentials", recipe.credentials if recipe is not None else ())
        touches = recipe.touches if recipe is not None else (GPU,)
        reads = tuple(self.artifacts.reads(name, stage, recipe))
        idle = {API} if API_KEY not in keys else set()
        if not any(is_saved(each) for each in reads):  # there is nothing to merge
            idle.add(MERGE)
        touches = tuple(each for each in touches if each not in idle)
        if branch and BRANCH not in touches:
            touches = (*touches, BRANCH)
        asked = {**self.spec.get("resources", {}), **stage.get("resources", {})}
        gpus = self.reader.shown(asked.get("accelerators", ""))
        return Step(
            name=name,
            kind=str(stage.get("kind", "")),
            title=recipe.title if recipe is not None else f"stage {name}",
            commands=tuple(commands),
            round=int(stage.get("round", 0)),
            folder=self.reader.shown(self._folder(stage)),
            touches=touches,
            after=tuple(dict.fromkeys(self._after(name, stage))),
            reads=reads,
            writes=tuple(self._of_seeds(self.artifacts.writes(stage), stage)),
            credentials=tuple(str(key) for key in keys),
            branch=branch,
            resources=machines(self._nodes_of(stage, recipe), str(gpus)) if gpus and GPU in touches else "",
            approvals=tuple(str(each) for each in stage.get("approvals", ())),
            optional=stage.get("optional") is True,
            traps=tuple(self._traps(stage, recipe)),
            notes=tuple(self._notes(stage, recipe)),
        )

    def _nodes_of(self, stage: Mapping[str, Any], recipe: Recipe | None) -> str:
        """The nodes of a stage: one where its launcher is known and is not told a number."""
        if "num_nodes" in stage.get("resources", {}):
            return self.reader.shown(stage["resources"]["num_nodes"])
        told = "nnodes" in stage.get("args", {}) or "trainer.nnodes" in stage.get("overrides", {})
        known = recipe is not None and recipe.launcher == stage.get("launcher", "")
        return self._nodes() if told or not known else "1"

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
        if stage and "checkout" not in stage and len(checkouts) > 1:
            return "."
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
            if sign and "." in key and overrides and not _holds(overrides.get(key), rest.partition(":")[0]):
                continue
            if sign and key in overrides:
                note = f"{key}={self.reader.shown(overrides[key], stage)}:{rest.partition(':')[2]}"
            yield re.sub(r"\{\w+\}", "N", note)
        if fields := self.caller.fields(stage):
            yield f"the fields of the record: {', '.join(fields)}"
        args = stage.get("args", {})
        if "model" in args and str(args.get("use_bsl", "")).lower() == "false":
            yield "the call names a model and does not read it: use_bsl=false evaluates the checkpoint"

    def _handover(self, name: str, stage: Mapping[str, Any]) -> Iterator[Step]:
        """The copy of a checkpoint into the run of a stage, which its launcher expects and nobody else makes."""
        staged = _staged(stage)
        seen: set[tuple[str, str]] = set()
        for dep in staged:
            source, step, into = str(dep.get("from")), dep.get("step", "<RESUME_STEP>"), dep["stage_into"]
            if (source, str(into)) in seen:
                continue
            seen.add((source, str(into)))
            run = self.artifacts.run_of(self.reader.stage(source), source)
            base = "${roots.checkpoints}"
            old, new = f"{base}/{run}/global_step_{step}", f"{base}/{into}"
            tracker = f"{new}/{TRACKER}"
            roles = [str(each["role"]) for each in staged if "role" in each]
            yield Step(
                name=f"{name}-handover",
                kind="handover",
                title=f"copy the checkpoint of {source} into the run {self.reader.shown(into)}",
                commands=(
                    (
                        f"mkdir -p {self.reader.shell(new)} &&\n"
                        f"    cp -r {self.reader.shell(old)} {self.reader.shell(new + '/')} &&\n"
                        f"    printf '%s\\n' {self.reader.shell(step)} > {self.reader.shell(tracker)}"
                    ),
                ),
                folder=self.reader.shown(self._folder(stage)),
                after=(source,),
                reads=tuple(self.artifacts.checkpoint(run, step, role, source) for role in roles),
                writes=(
                    *(self.artifacts.checkpoint(into, step, role) for role in roles),
                    Artifact(
                        "tracker", self.reader.shown(tracker), note=f"holds {steps_said(self.reader.shown(step))}"
                    ),
                ),
                traps=(Trap("the tracker file is left out", "training starts at step 0, without a word"),),
            )

    def _traps(self, stage: Mapping[str, Any], recipe: Recipe | None) -> Iterator[Trap]:
        keys = stage.get("credentials", recipe.credentials if recipe is not None else ())
        for each in recipe.pitfalls if recipe is not None else ():
            said = (f"{key}={value}" for key, value in stage.get("overrides", {}).items())
            if not each.about or each.about in (*stage.get("args", {}), *keys, *said):
                yield Trap(each.what, each.symptom)
        for handover in HANDOVERS.get(self.family.name, ()):
            if handover.consumer != stage.get("kind") or handover.option not in stage.get("args", {}):
                continue
            if handover.missing and (self.track, handover.producer) not in self.book.without:
                are = "are" if handover.what.endswith("s") else "is"
                yield Trap(f"{handover.what} of stage {handover.producer} {are} missing", handover.missing)


_NEEDED = pattern(r"\$\{(\w+):\?\}")
"""A variable that a command stops without."""


def _holds(value: object, noted: str) -> bool:
    """Whether a note about a key holds for the value that a spec gives it: another name is another matter."""
    return value is not None and (not isinstance(value, str) or "{" in noted or "$" in value or value == noted)


def _seeds_said(seeds: str) -> str:
    return steps_said(seeds).replace("steps", "seeds", 1).replace("step", "seed", 1)


def _staged(stage: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The inputs of a stage that are copied into its run."""
    return [dep for dep in stage.get("deps", {}).values() if isinstance(dep, Mapping) and dep.get("stage_into")]


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
