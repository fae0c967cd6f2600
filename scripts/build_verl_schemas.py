#!/usr/bin/env python3
"""Make the data of linter/verlint/verl: what each released VeRL takes as configuration.

    python scripts/build_verl_schemas.py                     # downloads the wheels with pip, writes the files
    python scripts/build_verl_schemas.py --wheels FOLDER     # uses wheels that are there
    python scripts/build_verl_schemas.py --forks FOLDER      # reads the forks of LMOps anew (a checkout of LMOps)
    python scripts/build_verl_schemas.py --recipes FOLDER    # reads the recipes anew (FOLDER/v0.7.0: its checkout)
    python scripts/build_verl_schemas.py --check 0.9.1       # does the file hold what this version's wheel says?

Wheels are unpacked into a temporary folder and read as text: configs are composed by `verlint.verl.compose`, the rest
is taken from syntax trees. Nothing of a wheel is imported or run. Without `--forks` the forks' part of the present file
is kept, without `--recipes` that of the recipes, which no wheel holds.

`schemas.json.gz` is a gzip of lines, each a name, a tab, and JSON, in three members, so that what most launches need is
unpacked alone: the lines of `FIRST`, those of data classes, the rest. The lines (docs/verl-data.md describes them for
readers):

    meta                    {"format", "versions", "forks": {name: {"base", "commit", "source"}}, "recipes": {version:
                            source}}
    entries                 [version, {module: [folder, config]}] by version, as changes
    recipes                 the same of the modules of `recipe/`
    config NAME             [version, base, [removed keys], {key: default}] by version; base "" is the version before,
                            any other text is the config of that name of the same version
    fork NAME CONFIG        [base version, [removed keys], {key: default}]
    groups, registries, dead
                            [version, {name: ... or null when it is gone}] by version, as changes
    class NAME              [version, fields or null when it is gone] by version, as changes

Configs of recipes are named with their folder (`config recipe/dapo/config/dapo_trainer`). `config_files.json.gz` is a
gzip of such lines too: the path of each config file, and [version, [content, package, defaults] or null when it is
gone] by version, as changes.
"""

from __future__ import annotations

import argparse
import ast
import gzip
import json
import re
import subprocess
import sys
import tempfile
import warnings
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "linter/verlint/verl/schemas.json.gz"
FILES = "config_files.json.gz"
"""The name of the file with the config files, beside the other."""
FORMAT = 2
VERSIONS = (
    *("0.2", "0.2.0.post2", "0.3.0.post1", "0.4.0", "0.4.1", "0.5.0", "0.6.0", "0.6.1"),
    *("0.7.0", "0.7.1", "0.8.0", "0.9.0", "0.9.1"),
)
FORKS = {"oel": "oel/verl", "opcd": "opcd/verl", "coach": "llm-as-a-coach/verl"}
FORK_BASE = "0.4.1"
FORK_SOURCE = "https://github.com/microsoft/LMOps"
COMPONENTS = frozenset(["reward_manager", "legacy_reward_impl", "runtime_env"])
"""Files beside the entries' configs that are parts of them."""
RECIPES_SOURCE = "https://github.com/volcengine/verl"
BASES = ("ppo_trainer", "ppo_megatron_trainer")
"""Configs that others are written as changes of."""
FIRST = ("meta", "entries", "recipes", "groups", "registries", "dead", f"config {BASES[0]}")
"""The lines of the first member."""

sys.path.insert(0, str(ROOT / "linter"))

from verlint.files.tree import Tree  # noqa: E402
from verlint.verl.compose import ConfigFolders  # noqa: E402
from verlint.verl.config_yaml import ConfigError, read_config  # noqa: E402
from verlint.verl.group_choices import Choices  # noqa: E402
from verlint.verl.interpolation import leaves  # noqa: E402
from verlint.verl.passthrough import is_handed_on  # noqa: E402

Json = Any


class WheelError(Exception):
    """A wheel cannot be had; the text says why."""


def fetch(version: str, folder: Path) -> Path:
    """The wheel of a version, downloaded through pip."""
    found = wheel_in(folder, version)
    if found is None:
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(folder), f"verl=={version}"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise WheelError(done.stderr.strip()[-500:])
        found = wheel_in(folder, version)
    if found is None:
        raise WheelError(f"pip gave no wheel of verl {version}")
    return found


def wheel_in(folder: Path, version: str) -> Path | None:
    """The wheel of a version in a folder."""
    return next(iter(sorted(folder.glob(f"verl-{version}-*.whl"))), None)


def unpack(wheel: Path, folder: Path) -> Path:
    """The unpacked wheel."""
    out = folder / wheel.name.removesuffix(".whl")
    if not out.is_dir():
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(out)
    return out


# ---- what one version holds


class Wheel:
    """An unpacked wheel, or a checkout."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.files = Tree(root)
        self.modules = {
            path.relative_to(root).as_posix(): path.read_text(encoding="utf-8", errors="replace")
            for path in sorted(root.glob("verl/**/*.py"))
            if "third_party" not in path.parts
        }
        self._trees: dict[str, ast.Module] = {}

    def tree(self, path: str) -> ast.Module:
        """The syntax tree of a module, an empty one when it has a fault."""
        if path not in self._trees:
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # escapes in old modules
                    self._trees[path] = ast.parse(self.modules[path])
            except SyntaxError:
                self._trees[path] = ast.Module([], [])
        return self._trees[path]

    def facts(self) -> dict[str, dict[str, Json]]:
        """All facts by their line in the file, each by name."""
        configs = self.configs()
        targets = {value for config in configs.values() for key, value in config.items() if key.endswith("_target_")}
        return {
            "entries": self.entries(),
            "configs": configs,
            "groups": self.groups(),
            "registries": {name: sorted(values) for name, values in self.registries().items() if values},
            "classes": self.classes(str(each) for each in targets if each),
            "dead": self.dead(configs),
            "files": self.config_files(),
        }

    def entries(self) -> dict[str, list[str]]:
        """Modules with a Hydra entry point: the folder of their configs and the config they start with."""
        return entries_in(self.modules)

    def configs(self) -> dict[str, dict[str, Json]]:
        """The leaves of each config that an entry can start with, before references are resolved."""
        out = {}
        for path in sorted(self.root.glob("verl/**/config/*.yaml")):
            if path.name.startswith("_") or path.stem in COMPONENTS:
                continue
            folder = path.parent.relative_to(self.root).as_posix()
            for choice in self._engines(path):
                choices = Choices({"model_engine": choice} if choice else {})
                try:
                    tree, _ = ConfigFolders(self.files, [folder]).compose(path.stem, choices)
                except ConfigError as error:
                    print(f"{self.root.name}: {path.stem}: {error}", file=sys.stderr)
                    continue
                out[path.stem + (f" model_engine={choice}" if choice else "")] = leaves(tree)
        return out

    def config_files(self) -> dict[str, Json]:
        """The content of each config file, its `@package` header and its defaults list, by path."""
        out = {}
        for path in sorted(self.root.glob("verl/**/config/**/*.yaml")):
            source = self.files.source(path.relative_to(self.root).as_posix())
            if source is not None and not path.name.startswith("_generated"):
                try:
                    file = read_config(source)
                except ConfigError as error:
                    print(f"{self.root.name}: {error}", file=sys.stderr)
                    continue
                out[path.relative_to(self.root).as_posix()] = [file.data, file.package, file.defaults]
        return out

    def _engines(self, path: Path) -> list[str]:
        folder = path.parent / "model_engine"
        if path.stem != "ppo_trainer" or not folder.is_dir():
            return [""]
        return ["", *(each.stem for each in sorted(folder.glob("*.yaml")) if each.stem != "dp")]

    def groups(self) -> dict[str, list[str]]:
        """The config groups of the trainers' folder, with their options."""
        base = self.root / "verl/trainer/config"
        found = {
            each.name: sorted(file.stem for file in each.glob("*.yaml")) for each in base.iterdir() if each.is_dir()
        }
        return {name: options for name, options in sorted(found.items()) if options}

    # ---- registries

    def registries(self) -> dict[str, set[str]]:
        """Names that config values are looked up by."""
        algorithms = self._under("verl/trainer/ppo/core_algos.py")
        trainer = [*algorithms, *self._under("verl/trainer/ppo/ray_trainer.py")]
        workers = self._under("verl/workers/fsdp_workers.py", "verl/workers/megatron_workers.py")
        rewards = self._under(
            "verl/workers/reward_manager/", "verl/experimental/reward_loop/", "verl/experimental/reward/"
        )
        estimators = self._enum(trainer, "AdvantageEstimator")
        estimators |= set(self._decorated(algorithms, "register_adv_est"))
        choosing = self._under("verl/trainer/main_ppo.py", "verl/trainer/ppo/reward.py")
        actors = self._under("verl/workers/actor/")
        losses = set(self._decorated(algorithms, "register_policy_loss"))
        managers = set(self._decorated(rewards, "register", "register_manager", "register_manager_legacy"))
        out = {
            "adv_estimator": estimators or set(self._compared(trainer, "adv_estimator")),
            "policy_loss": losses | set(self._compared(actors, "loss_mode")) if losses else losses,
            "kl_penalty": set(self._compared(algorithms, "kl_penalty")),
            "loss_agg_mode": set(self._compared(algorithms, "loss_agg_mode")),
            "logger": set(self._listed("verl/utils/tracking.py", "supported_backend")),
            "reward_manager": managers or set(self._compared(choosing, "reward_manager_name")),
            "rollout": self._rollouts() or set(self._compared(workers, "rollout_name", "name", inside="rollout")),
            "agent_loop": set(self._decorated(self._under("verl/experimental/agent_loop/"), "register")),
            "checkpoint_engine": set(self._called(self._under("verl/checkpoint_engine/"), "CheckpointEngineRegistry")),
            "trainer_mode": set(self._decorated(self._under("verl/trainer/"), "register_trainer")),
        }
        return {name: values for name, values in out.items() if values}

    def _under(self, *starts: str) -> list[str]:
        return [path for path in self.modules if path.startswith(starts)]

    def _nodes(self, paths: Iterable[str]) -> Iterator[ast.AST]:
        for path in paths:
            yield from ast.walk(self.tree(path))

    def _enum(self, paths: Iterable[str], name: str) -> set[str]:
        return {
            str(line.value.value)
            for node in self._nodes(paths)
            if isinstance(node, ast.ClassDef) and node.name == name
            for line in node.body
            if isinstance(line, ast.Assign) and isinstance(line.value, ast.Constant)
        }

    def _decorated(self, paths: Iterable[str], *names: str) -> Iterator[str]:
        for node in self._nodes(paths):
            for each in getattr(node, "decorator_list", ()):
                if isinstance(each, ast.Call) and isinstance(each.func, ast.Name) and each.func.id in names:
                    yield from _texts(each.args[:1])

    def _called(self, paths: Iterable[str], registry: str) -> Iterator[str]:
        for node in self._nodes(path for path in paths if registry in self.modules[path]):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == f"{registry}.register":
                yield from _texts(node.args[:1])

    def _rollouts(self) -> set[str]:
        found = set(self._called(self.modules, "RolloutReplicaRegistry"))
        for node in self._nodes(self._under("verl/workers/rollout/base.py")):
            if isinstance(node, ast.AnnAssign | ast.Assign) and isinstance(node.value, ast.Dict):
                keys = [key for key in node.value.keys if isinstance(key, ast.Tuple)]
                found.update(text for key in keys for text in _texts(key.elts[:1]))
        return found

    def _compared(self, paths: Iterable[str], *names: str, inside: str = "") -> Iterator[str]:
        """Texts that a name or attribute is compared with."""
        for node in self._nodes(paths):
            if not isinstance(node, ast.Compare) or not isinstance(node.ops[0], ast.Eq | ast.In):
                continue
            left = ast.unparse(node.left)
            if left.rpartition(".")[2] in names and (left in names or inside in left):
                right = node.comparators[0]
                yield from _texts(right.elts if isinstance(right, ast.Tuple | ast.List) else [right])

    def _listed(self, path: str, name: str) -> Iterator[str]:
        for node in self._nodes([path] if path in self.modules else ()):
            if (
                isinstance(node, ast.Assign)
                and ast.unparse(node.targets[0]) == name
                and isinstance(node.value, ast.List)
            ):
                yield from _texts(node.value.elts)

    # ---- data classes

    def classes(self, targets: Iterable[str]) -> dict[str, dict[str, list[Json]]]:
        """Fields of the data classes that configs are made into: name -> [type] or [type, default]."""
        index: dict[str, list[tuple[str, ast.ClassDef]]] = {}
        for path in self.modules:
            if "class " in self.modules[path]:
                for node in self.tree(path).body:
                    if isinstance(node, ast.ClassDef):
                        index.setdefault(node.name, []).append((path, node))
        out = {}
        for target in sorted(targets):
            fields = _fields(target.rpartition(".")[2], target.replace(".", "/"), index, 0)
            if fields is not None:
                out[target] = {name: value for name, value in fields.items() if name != "_target_"}
        return out

    # ---- dead keys

    def dead(self, configs: Mapping[str, Mapping[str, Json]]) -> dict[str, list[str]]:
        """Last names of keys that no code reads, by config: they stand in no module but as a field of a config's data
        class. A key that is handed on with its section is left out."""
        words: set[str] = set()
        for path, text in self.modules.items():
            if "/config/" in path or path.endswith("_config.py"):
                words |= _read_names(self.tree(path))
            else:
                words.update(re.findall(r"[\w-]+", text))
                words.update(re.findall(r"\w+", text))
        out: dict[str, set[str]] = {}
        for config, flat in configs.items():
            for key in flat:
                name = key.rpartition(".")[2]
                if name not in words and name != "_target_" and not is_handed_on(key):
                    out.setdefault(config.partition(" ")[0], set()).add(name)
        return {config: sorted(names) for config, names in sorted(out.items())}


def entries_in(modules: Mapping[str, str]) -> dict[str, list[str]]:
    """The Hydra entry points among some modules, by their dotted names."""
    out = {}
    for path, text in modules.items():
        match = re.search(r"@hydra\.main\(\s*config_path=['\"]([^'\"]+)['\"],\s*config_name=['\"]([^'\"]+)", text)
        if match:
            module = path.removesuffix(".py").replace("/", ".")
            out[module] = [f"{path.rpartition('/')[0]}/{match[1]}", match[2]]
    return out


def _texts(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def _fields(
    name: str, near: str, index: Mapping[str, list[tuple[str, ast.ClassDef]]], depth: int
) -> dict[str, list[Json]] | None:
    if name not in index or depth > 6:
        return None
    path, node = max(index[name], key=lambda found: len(_shared(found[0], near)))
    out: dict[str, list[Json]] = {}
    for base in reversed(node.bases):
        out.update(_fields(ast.unparse(base).rpartition(".")[2], path, index, depth + 1) or {})
    for line in node.body:
        if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name):
            kind = ast.unparse(line.annotation)
            if not kind.startswith(("ClassVar", "InitVar")):
                out[line.target.id] = [kind, *_default(line.value)]
    return out


def _shared(left: str, right: str) -> str:
    size = next((at for at, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))
    return left[:size]


def _default(node: ast.expr | None) -> list[Json]:
    """The default of a field as a list of one, [] when it has none; an expression as {"=": its text}."""
    if node is None:
        return []
    if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] == "field":
        words = {each.arg: each.value for each in node.keywords}
        if "default" in words:
            return _default(words["default"])
        if "default_factory" in words:
            text = ast.unparse(words["default_factory"])
            return [{"list": [], "dict": {}}.get(text, {"=": text})]
        return []
    try:
        value = ast.literal_eval(node)
        json.dumps(value)
    except (ValueError, TypeError):
        return [{"=": ast.unparse(node)}]
    return [list(value) if isinstance(value, tuple) else value]


def _read_names(tree: ast.Module) -> set[str]:
    """Names that a module of data classes reads: attributes, arguments, texts that are no docstrings."""
    out: set[str] = set()
    documented = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.Module)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    frozen = {
        id(each)
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and "_fields" in ast.unparse(node.targets[0])
        for each in ast.walk(node)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            out.add(node.attr)
        elif isinstance(node, ast.keyword) and node.arg:
            out.add(node.arg)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documented | frozen:
            out.update(re.findall(r"\w+", node.value))
    return out


# ---- the file


def encode(
    facts: Mapping[str, Mapping[str, Mapping[str, Json]]], forks: Mapping[str, Json], recipes: Mapping[str, Json]
) -> bytes:
    """The file for the facts of all versions, oldest first, the forks' lines, and the recipes by version."""
    versions = list(facts)
    meta = {"format": FORMAT, "versions": versions, "forks": forks["meta"]}
    meta["recipes"] = {version: recipes[version]["source"] for version in versions if version in recipes}
    lines: dict[str, Json] = {"meta": meta}
    for kind in ("entries", "groups", "registries", "dead"):
        lines[kind] = _changes({version: each[kind] for version, each in facts.items()})
    lines |= _class_lines(_changes({version: each["classes"] for version, each in facts.items()}))
    none: dict[str, Json] = {"entries": {}, "configs": {}}
    lines["recipes"] = _changes({version: recipes.get(version, none)["entries"] for version in versions})
    configs = {version: {**each["configs"], **recipes.get(version, none)["configs"]} for version, each in facts.items()}
    names = {name for each in configs.values() for name in each}
    for name in [*BASES, *sorted(names.difference(BASES))]:
        lines[f"config {name}"] = list(_config_rows(name, configs))
    lines |= forks["lines"]
    return members(lines)


def encode_files(facts: Mapping[str, Mapping[str, Mapping[str, Json]]]) -> bytes:
    """The file with the config files of all versions."""
    paths = sorted({path for each in facts.values() for path in each["files"]})
    rows: dict[str, list[Json]] = {path: [] for path in paths}
    for version, changed in _changes({version: each["files"] for version, each in facts.items()}):
        for path, content in changed.items():
            rows[path].append([version, content])
    return gzip.compress("".join(f"{path}\t{_dumps(rows[path])}\n" for path in paths).encode(), 9, mtime=0)


def members(lines: Mapping[str, Json]) -> bytes:
    """The file for its lines."""
    out: list[list[str]] = [[], [], []]
    for name, value in lines.items():
        out[0 if name in FIRST else 1 if name.startswith("class ") else 2].append(f"{name}\t{_dumps(value)}\n")
    return b"".join(gzip.compress("".join(texts).encode(), 9, mtime=0) for texts in out)


def _class_lines(changes: list[Json]) -> dict[str, Json]:
    out: dict[str, Json] = {}
    for version, changed in changes:
        for name, fields in changed.items():
            out.setdefault(f"class {name}", []).append([version, fields])
    return out


def _dumps(value: Json) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def _changes(by_version: Mapping[str, Mapping[str, Json]]) -> list[Json]:
    rows = []
    before: Mapping[str, Json] = {}
    for version, now in by_version.items():
        changed = {name: value for name, value in now.items() if name not in before or before[name] != value}
        changed |= dict.fromkeys(name for name in before if name not in now)
        if changed:
            rows.append([version, changed])
        before = now
    return rows


def _config_rows(name: str, by_version: Mapping[str, Mapping[str, Mapping[str, Json]]]) -> Iterator[Json]:
    before: Mapping[str, Json] = {}
    seen = False
    for version, configs in by_version.items():
        if name not in configs:
            if seen:
                yield [version, None, [], {}]
            seen = False
            continue
        choices = [["", *difference(before if seen else {}, configs[name])]]
        bases = BASES[: BASES.index(name)] if name in BASES else BASES
        choices += [[base, *difference(configs[base], configs[name])] for base in bases if base in configs]
        yield [version, *min(choices, key=lambda each: len(_dumps(each)))]
        before, seen = configs[name], True


def difference(old: Mapping[str, Json], new: Mapping[str, Json]) -> list[Json]:
    """What makes the new leaves of the old ones: removed keys, and set ones. `True` is not 1 here."""
    gone = [key for key in old if key not in new]
    put = {key: value for key, value in new.items() if key not in old or _dumps(old[key]) != _dumps(value)}
    return [gone, put]


def read_forks(checkout: Path, commit: str, base: Mapping[str, Mapping[str, Json]]) -> dict[str, Json]:
    """The forks' lines: their configs as changes of the base version's."""
    lines, meta = {}, {}
    for name, folder in FORKS.items():
        meta[name] = {"base": FORK_BASE, "commit": commit, "source": f"{FORK_SOURCE}/tree/{commit}/{folder}"}
        for config, flat in sorted(Wheel(checkout / folder).configs().items()):
            lines[f"fork {name} {config}"] = [FORK_BASE, *difference(base[config], flat)]
    return {"meta": meta, "lines": lines}


def read_recipes(folder: Path) -> dict[str, Json]:
    """The recipes of the releases whose checkouts lie in a folder (`v0.7.0`), by version: their entry points, and the
    configs in their folders."""
    out = {}
    for version in VERSIONS:
        root = folder / f"v{version}"
        if not (root / "recipe").is_dir():
            continue
        files = sorted(root.glob("recipe/**/*.py"))
        modules = {path.relative_to(root).as_posix(): path.read_text(errors="replace") for path in files}
        entries = entries_in(modules)
        source = f"{RECIPES_SOURCE}/tree/v{version}/recipe"
        out[version] = {"source": source, "entries": entries, "configs": _recipe_configs(root, entries)}
    return {version: each for version, each in out.items() if each["entries"]}


def _recipe_configs(root: Path, entries: Mapping[str, list[str]]) -> dict[str, dict[str, Json]]:
    out = {}
    for folder in sorted({folder for folder, _ in entries.values()}):
        for path in sorted((root / folder).glob("*.yaml")):
            if path.stem in COMPONENTS:
                continue
            try:
                tree, _ = ConfigFolders(Tree(root), [folder]).compose(path.stem)
            except ConfigError as error:
                print(f"{root.name}: {folder}/{path.stem}: {error}", file=sys.stderr)
                continue
            out[f"{folder}/{path.stem}"] = leaves(tree)
    return out


def kept_recipes() -> dict[str, Json]:
    """The recipes of the present file."""
    from verlint.verl import schema

    out = {}
    for version, source in schema.recipe_sources().items():
        entries = {module: list(row) for module, row in schema.facts("recipes", version).items()}
        folders = tuple(f"{folder}/" for folder, _ in entries.values())
        names = [name for name in schema.configs() if name.startswith(folders)]
        known = {name: schema.leaves_of(version, name) for name in names}
        configs = {name: dict(flat) for name, flat in known.items() if flat is not None}
        out[version] = {"source": source, "entries": entries, "configs": configs}
    return out


def kept_forks(path: Path) -> dict[str, Json]:
    """The forks' lines of the present file."""
    if not path.exists():
        return {"meta": {}, "lines": {}}
    lines = dict(line.split("\t", 1) for line in gzip.decompress(path.read_bytes()).decode().splitlines())
    return {
        "meta": json.loads(lines["meta"])["forks"],
        "lines": {name: json.loads(text) for name, text in lines.items() if name.startswith("fork ")},
    }


def facts_of(version: str, wheels: Path, unpacked: Path) -> dict[str, dict[str, Json]]:
    """The facts of one version, from its wheel."""
    return Wheel(unpack(fetch(version, wheels), unpacked)).facts()


def check(version: str, wheels: Path, unpacked: Path) -> list[str]:
    """How the file differs from what the wheel of a version says; nothing when they agree."""
    from verlint.verl import release_files, schema

    facts = facts_of(version, wheels, unpacked)
    out = []
    for name, flat in facts["configs"].items():
        gone, put = difference(schema.leaves_of(version, name) or {}, flat)
        out += [f"{name}: {key} is not in the wheel" for key in gone]
        out += [f"{name}: {key} = {value!r}" for key, value in put.items()]
    for kind in ("entries", "groups", "registries", "classes", "dead", "files"):
        if kind == "classes":
            held = {name: schema.class_fields(version, name) for name in facts[kind]}
        elif kind == "files":
            found = {path: release_files.config_file(version, path) for path in facts[kind]}
            held = {path: [file.data, file.package, file.defaults] for path, file in found.items() if file is not None}
        else:
            held = schema.facts(kind, version)
        if _dumps(held) != _dumps(facts[kind]) and held != facts[kind]:
            names = [name for name in {**held, **facts[kind]} if held.get(name) != facts[kind].get(name)]
            out.append(f"{kind}: {', '.join(names)}")
    return out


def main() -> int:
    """Build or check the file."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--wheels", type=Path, help="folder with wheels; missing ones are downloaded into it")
    parser.add_argument("--forks", type=Path, help="a checkout of LMOps")
    parser.add_argument("--commit", default="", help="the commit of that checkout")
    parser.add_argument("--recipes", type=Path, help="a folder with checkouts of releases that have recipes")
    parser.add_argument("--check", metavar="VERSION", help="compare the file with the wheel of a version")
    parser.add_argument("--output", type=Path, default=TARGET)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        wheels, unpacked = arguments.wheels or Path(temporary), Path(temporary)
        if arguments.check:
            found = check(arguments.check, wheels, unpacked)
            print("\n".join(found) or f"the file holds what the wheel of {arguments.check} says")
            return 1 if found else 0
        facts = {version: facts_of(version, wheels, unpacked) for version in VERSIONS}
    forks = kept_forks(TARGET)
    if arguments.forks:
        forks = read_forks(arguments.forks, arguments.commit, facts[FORK_BASE]["configs"])
    recipes = read_recipes(arguments.recipes) if arguments.recipes else kept_recipes()
    data = encode(facts, forks, recipes)
    arguments.output.write_bytes(data)
    about = f"{len(facts)} versions, {len(forks['meta'])} forks, recipes of {len(recipes)}"
    print(f"{arguments.output}: {len(data)} bytes, {about}")
    data = encode_files(facts)
    arguments.output.with_name(FILES).write_bytes(data)
    print(f"{arguments.output.with_name(FILES)}: {len(data)} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
