"""Programs of a project that Hydra starts: the config they name, and which entry point of VeRL they stand for.

Their text is read, nothing of it is run. A program stands for an entry point of VeRL when it hands its config to VeRL's
own code as it is; what VeRL demands of a config is then demanded of theirs. One that changes the config, or has a
trainer or workers of its own, stands for none.
"""

from __future__ import annotations

import re

from verlint.lazy import pattern
from verlint.record import dataclass

MAIN = "verl.trainer.main_ppo"
TRAINER = "recipe.dapo.main_dapo"
"""An entry point with a `TaskRunner` of its own around the trainer and the workers of VeRL."""

_DECORATOR = pattern(r"^[ \t]*@hydra\.main\(([^()]*)\)", re.MULTILINE)
_ARGUMENT = pattern(r"(?:(\w+)\s*=\s*)?(?:(['\"])([^'\"]*)\2|(None))")
_NAMES = ("config_path", "config_name", "version_base")
_IMPORT = pattern(
    r"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n]*)|import[ \t]+([^\n]*))", re.MULTILINE
)
_CHANGES = pattern(
    r"\b(?:config|cfg)(?:\.\w+|\[[^\]]*\])+\s*(?:[-+*/]?=)(?!=)|open_dict|OmegaConf\.(?:update|merge|set_\w+)\(\s*(?:config|cfg)\b|\bsetattr\("
    r"|\b(?:verl|main_ppo|ray_trainer|core_algos)\.[\w.]+\s*=(?!=)"
)
_CALL = pattern(r"\brun_ppo\(([^()]*)\)")
_CLASS = pattern(r"^[ \t]*class\s+\w+\(([^)]*)\)", re.MULTILINE)
_OWN_PART = pattern(r"(?:Trainer|Worker|WorkerGroup|Actor|Critic|[Pp]atch\w*)\b")
_NEUTRAL = frozenset(
    [
        *("hydra", "ray", "verl", "os", "sys", "omegaconf", "torch", "logging", "typing", "pprint", "socket", "json"),
        *("numpy", "warnings", "__future__", "pathlib", "datetime", "time", "random", "transformers", "functools"),
    ]
)
"""Packages whose import changes nothing of VeRL."""


@dataclass(frozen=True, slots=True)
class HydraMain:
    """What `@hydra.main` of a program says: the folder of its configs, seen from the program, and the first config. A
    folder may also be `pkg://a.b`; None when the program adds none."""

    config_path: str | None
    config_name: str


def hydra_main(text: str) -> HydraMain | None:
    """The entry point in the text of a program; None when there is none, or it cannot be told which of several."""
    if "@hydra.main" not in text:
        return None
    found = {_read(match[1]) for match in _DECORATOR.finditer(text)}
    return next(iter(found)) if len(found) == 1 else None


def _read(arguments: str) -> HydraMain | None:
    given: dict[str, str | None] = {}
    for place, argument in enumerate(each.strip() for each in arguments.split(",")):
        if not argument:
            continue
        match = _ARGUMENT.fullmatch(argument)
        if match is None:
            return None
        name = match[1] or (_NAMES[place] if place < len(_NAMES) else "")
        given[name] = None if match[4] else match[3]
    path = given.get("config_path", None if "version_base" in given else ".")
    return HydraMain(path, (given.get("config_name") or "").removesuffix(".yaml"))


def stands_for(text: str, version: tuple[int, ...]) -> str:
    """The entry point of VeRL that a program stands for on a version, "" for none."""
    if _CHANGES.search(text) is not None:
        return ""
    imports = [(match[1] or match[3] or "", match[2] or "") for match in _IMPORT.finditer(text)]
    taken: dict[str, str] = {}
    for module, names in imports:
        taken[module] = f"{taken.get(module, '')} {names}"
    foreign = [each for each in imports if each[0].split(".")[0].split(" ")[0].rstrip(",") not in _NEUTRAL]
    if "run_ppo" in taken.get(MAIN, "") and "class " not in text and not foreign:
        calls = _CALL.findall(text)
        return MAIN if calls and all(each.strip().isidentifier() for each in calls) else ""
    trainer = taken.get("verl.trainer.ppo.ray_trainer", "")
    if "RayPPOTrainer" not in trainer or not re.search(r"\bRayPPOTrainer\(\s", text + " "):
        return ""
    if "verl.workers.fsdp_workers" not in taken and "verl.workers.megatron_workers" not in taken:
        return ""
    bases = [match[1] for match in _CLASS.finditer(text)]
    own = [names for _, names in foreign if _OWN_PART.search(names)] + [
        each for each in bases if _OWN_PART.search(each)
    ]
    if own or (version >= (0, 6) and "validate_config(" not in text):
        return ""
    return TRAINER
