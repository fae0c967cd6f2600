"""Launches on the forks of the families: which fork it is, what its keys hold there, and which conditions they meet."""

from __future__ import annotations

import posixpath
import re

from verlint.experiment.launch import Launch
from verlint.families import family_of_folder
from verlint.families.conditions import Test
from verlint.families.fork import DEFAULTS, FORK_KEYS, PER_FORK_KEYS, STAGES
from verlint.rule import Context, look_into
from verlint.value import Literal, State, Value

_FORKS = frozenset(STAGES)


def forks_of(launch: Launch, ctx: Context) -> frozenset[str]:
    """The families whose fork a launch may be on; empty when nothing says that it is on one."""
    if FORK_KEYS.isdisjoint(launch.by_key):
        return frozenset()
    own = [name for name, keys in PER_FORK_KEYS.items() if not keys.isdisjoint(launch.by_key)]
    if "coach" in own or launch["trainer.stage"].equals("rl"):
        return frozenset(["coach"])
    if launch.family in _FORKS and not (launch.family == "opcd" and own == ["oel"]):
        return frozenset([launch.family])
    if len(own) == 1:
        return frozenset(own)
    source = launch.command.span.in_file().source
    folder = family_of_folder(posixpath.join(ctx.project.root.name, source.path))
    if folder is not None and folder.name in _FORKS:
        return frozenset([folder.name])
    games = any(key.startswith("trainer.textgame_") for key in launch.by_key) or "trainer.setting" in launch
    return frozenset(["oel", "opcd"]) if games or launch["data.prompt_key"].equals("content") else _FORKS


def held(launch: Launch, key: str) -> Value:
    """What a key holds on the fork: as written, else the default of the fork."""
    value = launch[key]
    if value.given or value.decided or key not in DEFAULTS:
        return value
    return Value(State.ABSENT, key, DEFAULTS[key], span=launch.head, has_default=True)


def end_of(value: Value) -> str:
    """The characters that a value surely ends with."""
    if value.decided:
        return value.data if isinstance(value.data, str) else ""
    return value.text.suffix if value.text is not None else ""


def holds(launch: Launch, test: Test) -> bool:
    """Whether a test is certain to hold."""
    value = held(launch, test.key)
    if test.op == "has":
        return value.given
    if test.op == "ends":
        return re.search(rf"(?:^|/)(?:{test.operand})$", end_of(value)) is not None
    if not value.decided:
        return False
    data = value.data
    match test.op:
        case "is":
            return value.equals(test.operand) is True
        case "not":
            return value.equals(test.operand) is False
        case "empty":
            return data is None or data == ""
        case "like":
            return isinstance(data, str) and re.search(str(test.operand), data) is not None
        case "differs":
            return value.same_as(held(launch, str(test.operand))) is False
        case "fewer-than-gpus":
            number, gpus = value.number(), _gpus(launch)
            return number is not None and gpus is not None and number < gpus
        case "above" | "below":
            number = value.number()
            limit = test.operand
            if number is None or not isinstance(limit, (int, float)):
                return False
            return number > limit if test.op == "above" else number < limit
    return False


def _gpus(launch: Launch) -> int | float | None:
    """The GPUs of all nodes of a launch, None when not known."""
    nodes, each = (held(launch, f"trainer.{name}").number() for name in ("nnodes", "n_gpus_per_node"))
    return None if nodes is None or each is None else nodes * each


def replaceable(value: Value) -> str:
    """The environment variable or option that may replace a value, "" when none can."""
    parts = value.text.parts if value.text is not None else ()
    return next((part.overridable for part in parts if isinstance(part, Literal) and part.overridable), "")


def replaced(name: str) -> str:
    """The command that shows whether a variable or option replaces a value."""
    if " " in name:
        return look_into(name)
    return f"grep -rn -e '{name}' ." if name.startswith("-") else f'echo "${{{name}:-unset}}"'


def filled(template: str, launch: Launch) -> str:
    """A message with the values of the keys it names."""
    return re.sub(r"\{([\w.]+)\}", lambda match: str(held(launch, match.group(1))), template)
