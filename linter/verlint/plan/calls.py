"""The command lines of the stages of a spec, as the launchers of their family take their arguments."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from verlint.experiment.spec import step_range
from verlint.families.model import Family, Record
from verlint.families.recipes.model import Recipe
from verlint.plan.references import Parts, Reader, quoted, written

_MOST_CALLS = 3
"""Calls of one stage that are written out; more of them are a loop."""


class Caller:
    """Writes the calls of the stages of one spec."""

    def __init__(self, reader: Reader, family: Family) -> None:
        self.reader = reader
        self.family = family

    def commands(self, stage: Mapping[str, Any], recipe: Recipe | None) -> list[str]:
        """The command lines of a stage."""
        if "run" in stage:
            return [self.reader.shell_command(str(stage["run"]), stage)]
        if "entry" in stage:
            return [self._entry(stage)]
        launcher = str(stage.get("launcher", ""))
        record = self._record(stage, launcher)
        start = f"{'python' if launcher.endswith('.py') else 'bash'} {self.reader.shell(launcher, stage)}"
        if record is not None:
            return [f"{start} {self._line(stage, record)}"]
        behind = [self.reader.shell(word, stage) for word in stage.get("x-append", ())]
        args = dict(stage.get("args", {}))
        each_call = self._each(args, ranged=recipe is not None and recipe.ranged)
        calls = [" ".join([start, *self._options(each, stage), *behind]) for each in islice(each_call, _MOST_CALLS + 1)]
        return calls if len(calls) <= _MOST_CALLS else [self._loop(args, calls[0])]

    def many(self, stage: Mapping[str, Any]) -> int:
        """How many checkpoints a stage evaluates, 0 when that is open."""
        found = self._ckpts(stage.get("args", {})) if "ckpts" in stage.get("args", {}) else None
        return 0 if found is None or "<" in str(found) else len(_steps(found))

    def _loop(self, args: Mapping[str, Any], call: str) -> str:
        """The calls for many checkpoints as a loop over the steps, made of the first call."""
        steps = _steps(self._ckpts(args))
        found = step_range(str(self._ckpts(args)))
        words = f"$(seq {found.start} {found.step} {found[-1]})" if found else " ".join(str(each) for each in steps)
        return f"for CKPT in {words}; do " + call.replace(f"--ckpt {steps[0]}", '--ckpt "$CKPT"', 1) + " || break; done"

    def _entry(self, stage: Mapping[str, Any]) -> str:
        words = [f"{key}={self._override(value, stage)}" for key, value in _flat(stage.get("overrides", {}), "")]
        return " \\\n    ".join([f"python3 -m {stage['entry']}", *words])

    def _override(self, value: object, stage: Mapping[str, Any]) -> str:
        if isinstance(value, list):
            return quoted(("[" + ",".join(written(each) for each in value) + "]",))
        return self.reader.shell(value, stage)

    def fields(self, stage: Mapping[str, Any]) -> tuple[str, ...]:
        """The fields of the comma record that the launcher of a stage takes, none for other launchers."""
        record = self._record(stage, str(stage.get("launcher", "")))
        return record.fields if record is not None else ()

    def _record(self, stage: Mapping[str, Any], launcher: str) -> Record | None:
        kind = self.family.stage(str(stage.get("kind", "")))
        for record in () if kind is None else kind.records:
            if any(re.search(rf"(?:^|/){each}$", launcher) for each in record.launchers):
                return record
        return None

    def _line(self, stage: Mapping[str, Any], record: Record) -> str:
        """The comma record of a driver of many runs."""
        args = dict(stage.get("args", {}))
        steps = _ends(self._ckpts(args))
        run, step = self._resumed(args, stage)
        values: dict[str, object] = {
            **dict(zip(("CKPT_START", "CKPT_END", "CKPT_STEP"), steps, strict=True)),
            "RESUME_POLICY_NAME": run or args.get("model", ""),
            "RESUME_POLICY_CKPT": step,
            "MODEL_PATH": args.get("model", ""),
            **{name.upper(): value for name, value in args.items()},
        }
        parts: list[Parts] = []
        for name in record.fields:
            value = values.get(name, "")
            parts.append(self.reader.parts(_lowered(name.lower(), value), stage) if value != "" else ("",))
        joined: Parts = ()
        for at, each in enumerate(parts):
            joined += (",", *each) if at else each
        return quoted(joined)

    def _resumed(self, args: Mapping[str, Any], stage: Mapping[str, Any]) -> tuple[object, object]:
        """Run and step of the policy that a stage resumes, empty for none."""
        name = re.fullmatch(r"\$\{deps\.([\w-]+)\}", str(args.get("resume_policy", "")))
        if name is None:
            return args.get("resume_policy_name", ""), args.get("resume_policy_ckpt", "")
        dep = stage.get("deps", {}).get(name[1], {})
        producer = self.reader.stage(str(dep.get("from", "")))
        return producer.get("args", {}).get("exp_name", ""), dep.get("step", "")

    def _options(self, args: Mapping[str, Any], stage: Mapping[str, Any]) -> Iterator[str]:
        for name, value in args.items():
            if name == "resume_policy":
                run, step = self._resumed(args, stage)
                yield f"--resume_policy_name {self.reader.shell(run, stage)}"
                yield f"--resume_policy_ckpt {self.reader.shell(step, stage)}"
            else:
                yield f"--{name} {self.reader.shell(_lowered(name, value), stage)}"

    def _ckpts(self, args: Mapping[str, Any]) -> object:
        """The checkpoints of a stage, references followed."""
        found = args.get("ckpts", args.get("ckpt"))
        return self.reader.shown(found) if isinstance(found, str) else found

    def _each(self, args: dict[str, Any], *, ranged: bool) -> Iterator[dict[str, Any]]:
        """The arguments of each call: a range of checkpoints is one call for each, or three options."""
        if "ckpts" not in args:
            yield args
            return
        if ranged:
            names = ("ckpt_start", "ckpt_end", "ckpt_step")
            yield _replaced(args, dict(zip(names, _ends(self._ckpts(args)), strict=True)))
            return
        for step in _steps(self._ckpts(args)):
            yield _replaced(args, {"ckpt": step})


def _replaced(args: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments with others in the place of `ckpts`."""
    out: dict[str, Any] = {}
    for name, value in args.items():
        out |= new if name == "ckpts" else {name: value}
    return out


def _ends(steps: object) -> tuple[object, object, object]:
    """First and last of a range and their distance."""
    text = written(steps) if steps is not None else ""
    found = step_range(text)
    if found is not None:
        return found.start, found[-1], found.step
    if text.isdecimal():
        return text, text, 1
    name = text.strip("<>")
    return f"<{name}_FIRST>", f"<{name}_LAST>", f"<{name}_DISTANCE>"


def _steps(steps: object) -> Sequence[object]:
    if isinstance(steps, list):
        return [each for item in steps for each in _steps(item)]
    found = step_range(str(steps))
    return found if found is not None else [steps]


def _lowered(name: str, value: object) -> object:
    """`use_bsl` is compared with `true` as it is written."""
    return str(value).lower() if name == "use_bsl" and isinstance(value, bool) else value


def _flat(overrides: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, object]]:
    for key, value in overrides.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value
