"""A spec as a plan: its stages in the order of their dependencies, with their commands and surroundings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from verlint.families import FAMILIES
from verlint.families.recipes import COOKBOOKS
from verlint.families.recipes.model import API, API_KEY, BRANCH, GPU, Cookbook, Recipe
from verlint.families.sharing import HANDOVERS
from verlint.plan.calls import Caller
from verlint.plan.model import Plan, Step, Trap
from verlint.plan.options import PlanError
from verlint.plan.prerequisites import prerequisites
from verlint.plan.references import Reader, quoted

_SPEC_CHECKS = ("verlint check SPEC", "verlint inputs SPEC")


class Staging:
    """Makes the plan of one spec, given as plain data."""

    def __init__(self, spec: Mapping[str, Any]) -> None:
        family = FAMILIES.get(str(spec.get("family")))
        if family is None:
            raise PlanError(f"a plan needs the family of the spec: {', '.join(FAMILIES)}")
        self.spec = spec
        self.family = family
        self.book: Cookbook = COOKBOOKS[family.name]
        self.track = str(spec.get("track", ""))
        self.reader = Reader(spec)
        self.caller = Caller(self.reader, family)

    def plan(self, stage: str = "", intended: tuple[str, ...] | None = None) -> Plan:
        """The plan; `stage` is what was asked for, "" for all of a spec."""
        steps = tuple(self._steps())
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
            steps=steps,
            checks=_SPEC_CHECKS,
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
                    f"the launchers read and write below {self.book.literal_root} and have no option for it: set "
                    f"{variables} to that folder, or give the launchers such variables (VL102)"
                )
        if int(self._nodes() or 1) > 1:
            yield "with more than one node the root of the checkpoints must be a file system that all nodes share"

    def _nodes(self) -> str:
        nodes = str(self.spec.get("resources", {}).get("num_nodes", 1))
        return nodes if nodes.isdecimal() else "1"

    # ---- steps

    def _steps(self) -> Iterator[Step]:
        if (setup := self._setup()) is not None:
            yield setup
        for name in self._order():
            stage = self.reader.stage(name)
            yield from self._handover(name, stage)
            yield self._step(name, stage)

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
        commands = (f"cd {quoted(self.reader.parts(self._folder({})))}", *(command for command, _ in setup.commands))
        touches = tuple(dict.fromkeys(each for _, touched in setup.commands for each in touched))
        title = f"prepare the environment on every node ({profile})"
        return Step("environment", "environment", title, commands, folder=folder, touches=touches)

    def _step(self, name: str, stage: Mapping[str, Any]) -> Step:
        recipe = self._recipe(name, stage)
        branch = str(stage.get("branch", ""))
        commands = self.caller.commands(stage, recipe)
        if branch:
            path = self.spec.get("checkout", {}).get(str(stage.get("checkout")), {}).get("path", ".")
            commands.insert(0, f"git -C {self.reader.shell(path)} switch {self.reader.shell(branch)}")
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
            reads=tuple(dict.fromkeys(self._reads(stage, recipe))),
            writes=tuple(self._writes(stage)),
            credentials=tuple(str(key) for key in keys),
            branch=branch,
            resources=f"{self._nodes()} x {gpus}" if gpus and "GPU" in touches else "",
            approvals=tuple(str(each) for each in stage.get("approvals", ())),
            optional=stage.get("optional") is True,
            checks=tuple(self._checks(stage, recipe)),
            traps=tuple(self._traps(stage, recipe)),
            notes=recipe.notes if recipe is not None else (),
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
        inner = self.family.checkout
        if inner and (path == inner or path.endswith(f"/{inner}")):
            path = path[: -len(inner)].rstrip("/") or "."
        return path

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
            tracker = f"{new}/latest_checkpointed_iteration.txt"
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
                reads=tuple(f"{self.reader.shown(old)}/{each['role']}" for each in staged if "role" in each),
                writes=(self.reader.shown(f"{new}/global_step_{step}"), self.reader.shown(tracker)),
                traps=(Trap("the tracker file is left out", "training starts at step 0, without a word"),),
            )

    # ---- what a step reads and writes

    def _reads(self, stage: Mapping[str, Any], recipe: Recipe | None) -> Iterator[str]:
        deps = stage.get("deps", {})
        for name, dep in deps.items():
            if not isinstance(dep, Mapping):
                continue
            if (made := self.reader.made(name, stage)) is not None and "role" not in dep:
                yield self.reader.shown(made)
                continue
            run = dep.get("stage_into") or self.reader.stage(str(dep.get("from"))).get("args", {}).get("exp_name", "")
            step = dep.get("step", dep.get("steps", "<STEP>"))
            yield self.reader.shown(f"${{roots.checkpoints}}/{run}/global_step_{step}/{dep.get('role', 'actor')}")
        args = stage.get("args", {})
        for each in recipe.inputs if recipe is not None else ():
            if each.name in deps:
                continue
            if each.option and each.option in args:
                yield self.reader.shown(args[each.option], stage)
            elif each.option == "resume_policy" and "resume_policy_name" in args:
                run, step = args["resume_policy_name"], args.get("resume_policy_ckpt")
                yield self.reader.shown(f"${{roots.checkpoints}}/{run}/global_step_{step}/actor")
            elif each.place and not each.role:
                yield self.reader.shown(each.place.replace("{val_data}", str(args.get("val_data", ""))))
            elif each.role and each.option != "resume_policy" and "exp_name" in args:
                step = args.get("ckpts", args.get("resume_step", "<STEP>"))
                yield self.reader.shown(
                    f"${{roots.checkpoints}}/{args.get('exp_name', '')}/global_step_{step}/{each.role}"
                )
        for key in ("data.train_files", "data.val_files"):
            if key in stage.get("overrides", {}):
                yield self.reader.shown(stage["overrides"][key], stage)

    def _writes(self, stage: Mapping[str, Any]) -> Iterator[str]:
        run = stage.get("args", {}).get("exp_name")
        if run is None:
            run = str(stage.get("overrides", {}).get("trainer.default_local_dir", "")).rpartition("/")[2]
        for out in stage.get("outs", {}).values():
            if isinstance(out, Mapping):
                step = out.get("steps", f"N (every {out.get('every', '')})")
                for role in out.get("roles", ()):
                    yield self.reader.shown(f"${{roots.checkpoints}}/{run}/global_step_{_shown_steps(step)}/{role}")
            else:
                yield self.reader.shown(out, stage)

    def _checks(self, stage: Mapping[str, Any], recipe: Recipe | None) -> Iterator[str]:
        """The calls of `verlint inputs` that look at what a stage reads."""
        args = stage.get("args", {})
        lists = recipe is not None and any(each.name == "experience_list" for each in recipe.inputs)
        if lists and "exp_path" in args:
            path = self.reader.shell(args["exp_path"], stage)
            yield f"verlint inputs --experience-list {path} --require-listed-files"
        elif "system_prompt_type" in args and "exp_path" in args:
            path, kind = (
                self.reader.shell(args["exp_path"], stage),
                self.reader.shell(args["system_prompt_type"], stage),
            )
            length = self.reader.shell(args.get("experience_max_length", "<TOKENS>"), stage)
            yield f"verlint inputs --system-prompt-file {path} --prompt-type {kind} --experience-max-length {length}"
        reads_data = recipe is not None and any("data-prep" in each.producers for each in recipe.inputs)
        profile = self.book.profiles.get(self.track)
        if reads_data and profile and "data" in self.book.roots:
            profile = profile.replace("{prompt_type}", str(args.get("system_prompt_type", "<PROMPT_TYPE>")))
            root = quoted(self.reader.parts("${oc.env:" + self.book.roots["data"] + "}"))
            yield f"verlint inputs --data-root {root} --profile {self.reader.shell(profile)}"

    def _traps(self, stage: Mapping[str, Any], recipe: Recipe | None) -> Iterator[Trap]:
        for each in recipe.pitfalls if recipe is not None else ():
            yield Trap(each.what, each.symptom)
        for handover in HANDOVERS.get(self.family.name, ()):
            if handover.consumer == stage.get("kind") and handover.missing and handover.option in stage.get("args", {}):
                yield Trap(f"missing: {handover.what} of stage {handover.producer}", handover.missing)


def _staged(stage: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The inputs of a stage that are copied into its run."""
    return [dep for dep in stage.get("deps", {}).values() if isinstance(dep, Mapping) and dep.get("stage_into")]


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _shown_steps(steps: object) -> str:
    return ",".join(str(each) for each in steps) if isinstance(steps, list) else str(steps)
