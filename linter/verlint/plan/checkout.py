"""A first spec for a checkout: the family's stages whose launchers are there, with placeholders for the rest."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from pathlib import Path
from typing import Any

from verlint.experiment.spec_schema import SCHEMA
from verlint.families import FAMILIES, stages_of_launcher
from verlint.families.recipes import COOKBOOKS
from verlint.families.sharing import TRACKS
from verlint.plan.draft import Draft
from verlint.plan.wish import make_wish, tracks_of, whole_stage
from verlint.record import dataclass

_MOST_FILES = 20_000
_LEFT_OUT = ("node_modules", "__pycache__", "site-packages", "fixtures", "tests")
_LONGEST = 1_000_000


@dataclass(frozen=True, slots=True)
class Found:
    """What a checkout holds: the launchers that start a training themselves and the scripts that call launchers, both
    as paths below it, the family (None for none that is known), and the drafted spec (None without a launcher)."""

    launchers: tuple[str, ...]
    drivers: tuple[str, ...]
    family: str
    spec: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class Started:
    """What a launcher or README starts: its path, the family that is known of it ("" for none), and whether it only
    evaluates."""

    path: str
    family: str
    evaluates: bool


def look_at(
    folder: Path, launchers: tuple[str, ...], drivers: tuple[str, ...], look_inside: Callable[[], Iterable[Started]]
) -> Found:
    """The draft for a checkout, of which the launchers and drivers are known; `look_inside` tells what they start,
    which is asked where their names say nothing."""
    kinds = _kinds(folder)
    family = _family(folder, kinds)
    if family:
        return Found(launchers, drivers, family, _of_family(folder, family, kinds[family]))
    started = set(look_inside())
    evaluating = {path for path in launchers if all(each.evaluates for each in started if each.path == path)}
    evaluating &= {each.path for each in started}
    if {each.family for each in started} == {"opo"}:
        return Found(launchers, drivers, "opo", _of_opo(folder, launchers, evaluating))
    return Found(launchers, drivers, "", _of_launchers(folder, launchers, evaluating) if launchers else None)


def _kinds(folder: Path) -> dict[str, dict[str, list[str]]]:
    """The launchers of each family, by kind of stage."""
    found: dict[str, dict[str, list[str]]] = {}
    for path in _scripts(folder):
        for family, kind in stages_of_launcher(path):
            found.setdefault(family.name, {}).setdefault(kind.name, []).append(path)
    return found


def _scripts(folder: Path) -> Iterator[str]:
    """Shell files and Python tools, without those of a trainer's own checkout."""
    seen = 0
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(
            name for name in folders if not name.startswith(".") and name != "verl" and name not in _LEFT_OUT
        )
        for name in sorted(files):
            seen += 1
            if seen > _MOST_FILES:
                return
            if name.endswith((".sh", ".py")):
                yield Path(place, name).relative_to(folder).as_posix()


def _family(folder: Path, kinds: Mapping[str, Mapping[str, list[str]]]) -> str:
    """The family most of whose kinds are there; two kinds at least, as names such as `train.sh` say little."""
    by_name = {name for name, family in FAMILIES.items() if folder.name in family.folders}
    best = max(kinds, key=lambda name: (len(kinds[name]), _files(kinds[name]), name in by_name), default="")
    return best if best and len(kinds[best]) > 1 else ""


def _files(kinds: Mapping[str, list[str]]) -> int:
    return sum(len(paths) for paths in kinds.values())


def _of_family(folder: Path, family: str, kinds: Mapping[str, list[str]]) -> dict[str, Any]:
    book = COOKBOOKS[family]
    stage = whole_stage(book)
    tracks = tracks_of(book, stage) or ("",)
    track = max(tracks, key=lambda name: sum(_is_of(path, name, family) for paths in kinds.values() for path in paths))
    spec = Draft(make_wish(family, track, stage, {})).spec()
    spec["name"] = f"{family}-{_plain(folder.name)}"
    for name, checkout in spec["checkout"].items():
        checkout["path"] = "." if name == family else FAMILIES[family].checkout
    for name, each in list(spec["stages"].items()):
        launcher = each.get("launcher")
        if launcher is None:
            continue
        recipe = next(recipe for recipe in book.recipes if recipe.launcher == launcher)
        others = {each.launcher for each in book.recipes}
        there = [path for path in kinds.get(recipe.kind, ()) if _is_of(path, track, family) and path not in others]
        path = launcher if (folder / launcher).is_file() else next(iter(there), "")
        if not path:
            del spec["stages"][name]
            continue
        each["launcher"] = path
        _fit(each, folder / path)
    _close(spec)
    return spec


def _is_of(path: str, track: str, family: str) -> bool:
    """Whether a launcher is of a track, as far as its name says."""
    name = path.rpartition("/")[2]
    if family == "coach":
        return f"_{track}." in name or not re.search(r"_(el|rl)\.", name)
    prefix = next((whose for start, whose in TRACKS.items() if name.startswith(start)), "")
    return not prefix or {"sys": "system-prompt"}.get(prefix, prefix) == track


def _fit(stage: dict[str, Any], path: Path) -> None:
    """Leave out the arguments that a launcher does not take."""
    text = path.read_text("utf-8", "replace") if path.stat().st_size < _LONGEST else ""
    if not re.search(r"(?m)--\w+", text):
        return  # a driver that takes a record
    together = {"ckpts": "ckpt", "resume_policy": "resume_policy_name"}
    stage["args"] = {
        name: value for name, value in stage.get("args", {}).items() if f"--{together.get(name, name)}" in text
    }
    if not stage["args"]:
        del stage["args"]


def _close(spec: dict[str, Any]) -> None:
    """After stages were left out: nothing refers to them any more."""
    stages = spec["stages"]
    for stage in stages.values():
        deps = {name: dep for name, dep in stage.get("deps", {}).items() if dep["from"] in stages}
        gone = [name for name in stage.get("deps", {}) if name not in deps]
        for name in gone:
            mark, stand_in = "${deps." + name + "}", f"<{name.upper()}>"
            stage["args"] = {key: stand_in if value == mark else value for key, value in stage.get("args", {}).items()}
        stage.pop("deps", None)
        if deps:
            stage["deps"] = deps
        if not stage.get("args", True):
            del stage["args"]
    text = str(stages)
    for section in ("models", "roots", "approvals", "credentials"):
        marks = {name: f"${{{section}.{name}}}" if section in ("models", "roots") else f"'{name}'"
                 for name in spec.get(section, {})}  # fmt: skip
        shared = {str(each.get("same_as")) for each in spec.get(section, {}).values() if isinstance(each, Mapping)}
        kept = {name: each for name, each in spec.get(section, {}).items() if marks[name] in text or name in shared}
        spec.pop(section, None)
        if kept:
            spec[section] = kept
    used = {stage.get("checkout") for stage in stages.values()}
    spec["checkout"] = {name: each for name, each in spec["checkout"].items() if name in used}
    for name, each in spec["checkout"].items():
        if "branches" in each:
            each["branches"] = [stage["branch"] for stage in stages.values() if stage.get("checkout") == name]
    spec["stages"] = spec.pop("stages")


def _of_opo(folder: Path, launchers: tuple[str, ...], evaluating: Set[str]) -> dict[str, Any]:
    """A spec of OPO: its configuration, or the launchers that hold it."""
    spec = Draft(make_wish("opo", "", "config", {})).spec()
    spec["name"] = f"opo-{_plain(folder.name)}"
    for checkout in spec["checkout"].values():
        checkout["path"] = "."
    if launchers:
        stages = _stages(launchers, evaluating)
        training = [name for name, stage in stages.items() if stage["kind"] == "train"]
        for name, stage in stages.items():
            run = "<EXP_NAME>" if len(training) == 1 else f"<EXP_NAME>-{name}"
            more = {"exp_name": run} if name in training else {"exp_name": "<EVALUATED_RUN>", "ckpt": "<EVAL_STEP>"}
            args = {"model": "${models.policy}", **more, "nnodes": "${resources.num_nodes}"}
            stage |= {"checkout": next(iter(spec["checkout"])), "args": args}
            _fit(stage, folder / stage["launcher"])  # which leaves out what a launcher takes under other names
            if name in training:
                stage["credentials"] = list(spec["credentials"])
        spec["stages"] = stages
    return spec


def _stages(launchers: tuple[str, ...], evaluating: Set[str]) -> dict[str, Any]:
    """A stage for each launcher, named after it, those that train first."""
    stages: dict[str, Any] = {}
    for path in sorted(launchers, key=lambda path: path in evaluating):
        name = base = _plain(path.rpartition("/")[2].removesuffix(".sh"))
        number = 2
        while name in stages:
            name, number = f"{base}-{number}", number + 1
        stages[name] = {"kind": "eval" if path in evaluating else "train", "launcher": path, "optional": True}
    return stages


def _of_launchers(folder: Path, launchers: tuple[str, ...], evaluating: Set[str]) -> dict[str, Any]:
    """A spec of launchers that are of no known family, each a stage of its own."""
    return {
        "schema": SCHEMA,
        "name": _plain(folder.name),
        "checkout": {"code": {"path": "."}},
        "environment": {"setup": "<SETUP>", "profile": "<GPU_PROFILE>"},
        "resources": {"accelerators": "<ACCELERATORS>", "num_nodes": "<NODES>"},
        "stages": _stages(launchers, evaluating),
    }


def _plain(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]+", "-", text).strip("-_") or "experiment"
