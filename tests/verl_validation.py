"""VeRL's own start-up checks over many override sets, without its dependencies.

Run as `python verl_validation.py WHEEL_FOLDER VERSION CONFIG`, override sets as JSON on standard input; prints a list with, for each
set, null or the text of the error. Modules that are not installed are replaced by stand-ins, so the real code of
`validate_config` and of the config data classes runs; functions inside of modules that do more are cut out by their
syntax tree."""

from __future__ import annotations

import ast
import contextlib
import enum
import gc
import importlib.abc
import importlib.machinery
import io
import json
import sys
import types
import typing
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from hydra_oracle import REFUSED, Oracle, compose

HOLLOW = (
    *("verl", "verl.utils", "verl.workers", "verl.trainer", "verl.trainer.ppo", "verl.workers.rollout"),
    "verl.trainer.distillation",
)
"""Packages whose own `__init__` would import the trainer."""
OWN = ("verl", "hydra", "omegaconf", "yaml", "antlr4", "packaging")


class _Anything(type):
    """A class that has every attribute, may be a base class, and as a decorator changes nothing."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Anything(name, (), {})

    def __call__(cls, *arguments: Any, **more: Any) -> Any:
        return arguments[0] if len(arguments) == 1 and callable(arguments[0]) else super().__call__()


def _hollow(name: str, folders: list[str]) -> types.ModuleType:
    module = types.ModuleType(name)
    module.__path__ = folders
    return module


class _StandIns(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds a stand-in for every package that is not installed."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if name.partition(".")[0] in OWN or name.partition(".")[0] in sys.stdlib_module_names:
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        module = _hollow(spec.name, [])
        module.__version__ = "1.0.0"  # type: ignore[attr-defined]
        anything = _Anything(spec.name, (), {})
        module.__getattr__ = lambda name: getattr(anything, name)  # type: ignore[method-assign]
        return module

    def exec_module(self, module: types.ModuleType) -> None:
        pass


def prepare(root: Path) -> None:
    """Make the wheel's config modules importable."""
    sys.meta_path.append(_StandIns())
    sys.path.insert(0, str(root))
    for name in HOLLOW:
        sys.modules[name] = _hollow(name, [str(root / name.replace(".", "/"))])
    for name in ("hf_processor", "hf_tokenizer"):
        setattr(sys.modules["verl.utils"], name, _Anything(name, (), {}))
    head = types.ModuleType("verl.trainer.ppo.core_algos")
    head.AdvantageEstimator = estimators(root)  # type: ignore[attr-defined]
    sys.modules[head.__name__] = head


def tree_of(path: Path) -> ast.Module:
    """The syntax tree of a file."""
    return ast.parse(path.read_text("utf-8"))


def find(tree: ast.AST, name: str) -> Any:
    """The function or class of that name, anywhere in a tree."""
    return next(
        node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name == name
    )


def cut_out(node: Any, names: dict[str, Any]) -> Any:
    """A function or class made from its syntax tree alone."""
    node.decorator_list = []
    made = ast.Module([node], [])
    exec(compile(ast.fix_missing_locations(made), "<cut out>", "exec"), names)
    return names[node.name]


def estimators(root: Path) -> Any:
    """The enumeration of advantage estimators."""
    tree = tree_of(root / "verl/trainer/ppo/core_algos.py")
    places = [tree, tree_of(root / "verl/trainer/ppo/ray_trainer.py")]
    names = (found for place in places for found in ast.walk(place) if isinstance(found, ast.ClassDef))
    node = next((found for found in names if found.name == "AdvantageEstimator"), None)  # none before 0.3
    return None if node is None else cut_out(node, {"Enum": enum.Enum, "str": str})


def uses_ref(config: Any, version: tuple[int, ...]) -> bool:
    """As `main_ppo.add_ref_policy_worker` decides."""
    if version < (0, 4):
        return True
    return bool(config.algorithm.use_kl_in_reward or config.actor_rollout_ref.actor.use_kl_loss)


def uses_critic(config: Any, version: tuple[int, ...]) -> bool:
    """As `RayPPOTrainer.__init__` and `need_critic` decide."""
    if version >= (0, 6) and config.critic.enable is not None:
        return bool(config.critic.enable)
    return bool(config.algorithm.adv_estimator == "gae")


def old_check(root: Path, version: tuple[int, ...]) -> Callable[[Any], None]:
    """`RayPPOTrainer._validate_config` of versions to 0.5."""
    node = find(tree_of(root / "verl/trainer/ppo/ray_trainer.py"), "_validate_config")
    check = cut_out(node, {"AdvantageEstimator": sys.modules["verl.trainer.ppo.core_algos"].AdvantageEstimator})

    def run(config: Any) -> None:
        trainer = types.SimpleNamespace(config=config, use_critic=uses_critic(config, version))
        trainer.use_reference_policy = uses_ref(config, version)
        check(trainer)

    return run


def losses_of(root: Path) -> types.ModuleType:
    """A module with the settings of the distillation losses, read from where they are registered."""
    settings: dict[str, Any] = {}
    path = root / "verl/trainer/distillation/losses.py"
    for node in ast.walk(tree_of(path)) if path.is_file() else ():
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "DistillationLossSettings":
            given = {word.arg: ast.literal_eval(word.value) for word in node.keywords}
            for name in given.pop("names"):
                settings[name] = types.SimpleNamespace(**{"use_topk": False, "use_estimator": False, **given})
    module = types.ModuleType("verl.trainer.distillation.losses")
    module.DistillationLossSettings = types.SimpleNamespace  # type: ignore[attr-defined]
    module.get_distillation_loss_settings = settings.__getitem__  # type: ignore[attr-defined]
    return module


def new_check(root: Path, version: tuple[int, ...]) -> Callable[[Any], None]:
    """`validate_config` with the config data classes, from 0.6 on."""
    import verl.utils.config as real  # type: ignore[import-not-found]
    import verl.workers.config as classes  # type: ignore[import-not-found]

    classes.HFModelConfig.__post_init__ = lambda self: None  # reads the model
    sys.modules["verl.trainer.distillation.losses"] = losses_of(root)
    path = root / "verl/workers/rollout/vllm_rollout/utils.py"
    if path.is_file() and "def get_vllm_max_lora_rank" in path.read_text("utf-8"):
        names = {"Literal": typing.Literal, "get_args": typing.get_args, "__import__": None}
        module = types.ModuleType("verl.workers.rollout.vllm_rollout.utils")
        node = find(tree_of(path), "get_vllm_max_lora_rank")
        node.body = [each.handlers[0].body[0] if isinstance(each, ast.Try) else each for each in node.body]
        for at, each in enumerate(node.body):
            if isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant) and at:
                node.body.pop(at)
        module.get_vllm_max_lora_rank = cut_out(node, names)  # type: ignore[attr-defined]
        sys.modules["verl.workers.rollout.vllm_rollout"] = types.ModuleType("verl.workers.rollout.vllm_rollout")
        sys.modules[module.__name__] = module

    def run(config: Any) -> None:
        real.validate_config(config, uses_ref(config, version), uses_critic(config, version))
        rollout = real.omega_conf_to_dataclass(config.actor_rollout_ref.rollout)
        assert rollout is not None
        if "distillation" in config and config.distillation.enabled:
            assert real.omega_conf_to_dataclass(config.distillation) is not None

    return run


class _Mesh:
    def __init__(self, size: int) -> None:
        self._size = size
        self.shape = (size,)

    def size(self) -> int:
        return self._size


def normalisation(root: Path) -> Callable[[Any], None]:
    """What the legacy FSDP worker makes of the actor's batch sizes, with its asserts."""
    worker = find(tree_of(root / "verl/workers/fsdp_workers.py"), "ActorRolloutRefWorker")
    block = next(node for node in ast.walk(find(worker, "__init__")) if isinstance(node, ast.If)
                 and ast.unparse(node.test) == "self._is_actor" and "ppo_mini_batch_size" in ast.unparse(node))  # fmt: skip
    code = compile(ast.fix_missing_locations(ast.Module(block.body, [])), "<normalize config>", "exec")

    def run(config: Any) -> None:
        if config.actor_rollout_ref.actor.strategy not in ("fsdp", "fsdp2"):
            return
        size = config.trainer.n_gpus_per_node * config.trainer.nnodes
        parallel = config.actor_rollout_ref.actor.ulysses_sequence_parallel_size
        worker = types.SimpleNamespace(config=config.actor_rollout_ref, device_mesh=_Mesh(size), _is_actor=True)
        worker.ulysses_sequence_parallel_size = parallel
        if size % parallel == 0:
            exec(code, {"self": worker})

    return run


def _looks_at_batching(node: ast.AST) -> bool:
    if isinstance(node, ast.Assert):
        return "log_prob_use_dynamic_bsz" in ast.unparse(node)
    return isinstance(node, ast.If) and ast.unparse(node.test) == "self.config.actor.use_dynamic_bsz"


def engine_asserts(root: Path) -> Callable[[Any], None]:
    """The asserts of the engine's worker that look at the config alone."""
    worker = find(tree_of(root / "verl/workers/engine_workers.py"), "ActorRolloutRefWorker")
    found = [node for node in ast.walk(find(worker, "init_model")) if _looks_at_batching(node)]
    code = compile(
        ast.fix_missing_locations(ast.Module(typing.cast(list[ast.stmt], found), [])), "<init_model>", "exec"
    )

    def run(config: Any) -> None:
        exec(code, {"self": types.SimpleNamespace(config=config.actor_rollout_ref)})

    return run


def checks_of(root: Path, version: tuple[int, ...]) -> Iterator[Callable[[Any], None]]:
    """All checks of a version, in their order."""
    yield (old_check if version < (0, 6) else new_check)(root, version)
    yield normalisation(root) if version < (0, 8) else engine_asserts(root)


def main() -> None:
    """Check the override sets on standard input."""
    gc.disable()  # a config holds thousands of nodes that refer to each other, and the process is short
    root, text = Path(sys.argv[1]), sys.argv[2]
    version = tuple(int(each) for each in text.split(".")[:3])
    config = compose(root, root / "verl/trainer/config", sys.argv[3])
    oracle = Oracle(config)
    prepare(root)
    checks = list(checks_of(root, version))
    out: list[str | None] = []
    for words in json.load(sys.stdin):
        changed = oracle.apply(words)
        assert changed is not None, words
        error: str | None = None
        for check in checks:
            try:
                with contextlib.redirect_stdout(io.StringIO()):
                    check(changed)
            except (AssertionError, ValueError, NotImplementedError, ZeroDivisionError, *REFUSED) as problem:
                error = f"{type(problem).__name__}: {problem}"
                break
        out.append(error)
    json.dump(out, sys.stdout)


if __name__ == "__main__":
    main()
