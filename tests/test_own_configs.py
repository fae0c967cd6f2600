"""Configs of a project on a released VeRL: composed as real Hydra would, and seen by launches."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from shutil import copytree

import pytest

import hydra_oracle as oracle
import verlint
from test_verl_compose import overrides, plain
from test_verl_in_use import launches, put
from verlint.experiment.launch import Launch
from verlint.experiment.runtime_envs import runtime_env_of
from verlint.files.tree import Tree
from verlint.verl import release_files
from verlint.verl.compose import ConfigFolders
from verlint.verl.config_yaml import ConfigError
from verlint.verl.programs import HydraMain, hydra_main, stands_for
from verlint.verl.schema import leaves_of, recipe_sources, schema, versions

VERSION = "0.7.1"
TRAINER = "verl/trainer/config"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with a package `verl` that holds the config files of the release, and can be imported."""
    root = tmp_path_factory.mktemp("site")
    folders = [TRAINER, *(f"{TRAINER}/{name}" for name in schema_groups())]
    for folder in folders:
        for name in release_files.names_in(VERSION, folder):
            write_released(root, f"{folder}/{name}")
    for folder in ("verl", "verl/trainer", TRAINER):
        (root / folder / "__init__.py").touch()
    sys.path.insert(0, str(root))
    yield root
    sys.path.remove(str(root))
    for name in [each for each in sys.modules if each.partition(".")[0] == "verl"]:
        del sys.modules[name]


def schema_groups() -> list[str]:
    found = schema(VERSION)
    assert found is not None
    return [*found.groups, "ref", "rollout/more"]


def write_released(root: Path, path: str) -> None:
    file = release_files.config_file(VERSION, path)
    assert file is not None
    data = {"defaults": file.defaults, **file.data} if file.defaults else file.data
    header = f"# @package {file.package}\n" if file.package else ""
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(header + json.dumps(data))


SEARCH = "hydra:\n  searchpath: [pkg://verl.trainer.config]\n"
FILES = {
    "plain": SEARCH + "defaults: [ppo_trainer, _self_]\nmethod: {alpha: 1}\ndata:\n  train_batch_size: 96\n",
    "no_self": SEARCH + "defaults: [ppo_trainer]\ndata:\n  train_batch_size: 96\n",
    "self_first": SEARCH + "defaults: [_self_, ppo_trainer]\nmethod: {alpha: 1}\ndata:\n  train_batch_size: 96\n",
    "chain": SEARCH + "defaults: [below, _self_]\ndata:\n  train_batch_size: 48\n",
    "below": "defaults: [ppo_trainer, _self_]\nmethod: {alpha: 1, size: '${data.train_batch_size}'}\n",
    "group": SEARCH
    + "defaults:\n  - ppo_trainer\n  - override actor@actor_rollout_ref.actor: mine\n  - _self_\nmethod: {alpha: 2}\n",
    "engine": SEARCH
    + "defaults:\n  - ppo_trainer\n  - override model_engine: megatron\n  - _self_\nmethod: {alpha: 2}\n",
    "tweaked": SEARCH
    + "defaults:\n  - ppo_trainer\n  - tweaks: small\n  - optional tweaks@critic: none_such\n  - _self_\n",
    "packaged": SEARCH + "defaults:\n  - ppo_trainer\n  - tweaks@actor_rollout_ref.rollout: small\n  - _self_\n",
    "at_here": SEARCH + "defaults:\n  - ppo_trainer\n  - tweaks@_here_: small\n  - _self_\n",
    "megatron": SEARCH + "defaults: [ppo_megatron_trainer, _self_]\nmethod: {alpha: 1}\n",
    "bare": "defaults: [ppo_trainer, _self_]\nmethod: {alpha: 1}\n",
    "by_file": "hydra:\n  searchpath: [file://verl/trainer/config]\ndefaults: [ppo_trainer, _self_]\nmethod: {alpha: 1}\n",
    "twice": SEARCH + "defaults: [plain, _self_]\n",
    "broken": SEARCH + "defaults: [ppo_trainer, _self_]\ndata: [1, 2]\n",
    "headed": SEARCH + "defaults:\n  - ppo_trainer\n  - headed: one\n  - _self_\n",
    "actor/mine": "defaults: [dp_actor, _self_]\nppo_mini_batch_size: 24\nbeta: 3\n",
    "tweaks/small": "n: 2\nseed: ${data.seed}\n",
    "tweaks/large": "n: 16\n",
    "headed/one": "# @package actor_rollout_ref.actor\nentropy_coeff: 0.5\nown: true\n",
}
CASES = """
plain method.alpha=2 method.beta=1
plain +tweaks@critic=large critic.n=3 data.train_batch_size=5
self_first
chain method.size=3
group actor_rollout_ref.actor.beta=4
engine actor_rollout_ref.actor.megatron.tensor_model_parallel_size=2
tweaked tweaks=large
bare
bare hydra.searchpath=[pkg://verl.trainer.config] method.alpha=3
headed actor_rollout_ref.actor.own=false
""".strip().splitlines()
MORE = """
plain
plain +method.beta=1
plain model_engine=megatron actor_rollout_ref.actor.megatron.tensor_model_parallel_size=2
plain +tweaks=small
plain actor@actor_rollout_ref.actor=mine actor_rollout_ref.actor.beta=1
plain actor@actor_rollout_ref.actor=no_such
no_self
chain
group actor_rollout_ref.actor.betta=4
group actor@actor_rollout_ref.actor=dp_actor
engine actor_rollout_ref.actor.fsdp_config.param_offload=True
tweaked
tweaked ~tweaks
packaged
at_here
megatron actor_rollout_ref.actor.megatron.tensor_model_parallel_size=2
bare hydra.searchpath=[file://verl/trainer/config]
by_file method.alpha=3
twice
broken
""".strip().splitlines()


@pytest.fixture(scope="module")
def project(site: Path) -> Path:
    for name, text in FILES.items():
        path = site / "my_pkg/config" / f"{name}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return site


@pytest.mark.parametrize("case", [*CASES, *(pytest.param(case, marks=pytest.mark.slow) for case in MORE)])
def test_a_config_of_a_project_composes_as_in_hydra(project: Path, tmp_path: Path, case: str) -> None:
    name, *words = case.split()
    try:
        real = oracle.compose(project, project / "my_pkg/config", name, words)
    except oracle.REFUSED:
        real = None
    alone = tmp_path / "my_pkg/config"  # the files of the release are not on disk here
    alone.parent.mkdir()
    copytree(project / "my_pkg/config", alone)
    paths = [word.partition("=")[2].strip("[]") for word in words if word.startswith("hydra.searchpath")]
    folders = ConfigFolders(
        Tree(tmp_path), ["my_pkg/config"], places=[""], release=VERSION, searchpath=paths if paths else None
    )
    try:
        mine = folders.apply(name, overrides(words))
    except ConfigError:
        mine = None
    if real is None:
        assert mine is None or mine.refusals
        return
    assert mine is not None
    assert mine.refusals == []
    assert plain(mine.config) == plain(oracle.unresolved(real))


# ---- launches

PROGRAM = """import hydra
from verl.trainer.main_ppo import run_ppo


@hydra.main(version_base=None, config_path="config", config_name="mine")
def main(config):
    run_ppo(config)
"""
OWN_TRAINER = PROGRAM.replace("from verl.trainer.main_ppo import run_ppo", "from .trainer import run_ppo")
MINE = (
    SEARCH
    + """defaults:
  - ppo_trainer
  - _self_
method:
  alpha: 1
data:
  train_batch_size: 96
actor_rollout_ref:
  actor:
    ppo_mini_batch_size: ${data.train_batch_size}
"""
)
RUN = "python -m my_pkg.main_ppo method.alpha=2 trainer.n_gpus_per_node=4 data.max_prompt_length=7\n"
PROJECT = {"my_pkg/main_ppo.py": PROGRAM, "my_pkg/config/mine.yaml": MINE, "run.sh": RUN}


def launch_in(
    folder: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, str], verl: str = VERSION, **more: str
) -> Launch:
    put(folder, {**files, **more})
    (found,) = launches(folder, monkeypatch, verl=verl)
    return found


def test_a_program_of_the_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = launch_in(tmp_path, monkeypatch, PROJECT)
    assert found.verl is not None
    assert (found.verl.label, found.verl.guess, found.entry) == (
        "VeRL 0.7.1 with my_pkg/config/mine.yaml", False, "verl.trainer.main_ppo")  # fmt: skip
    assert found.config is not None
    assert found.config.refusals == []
    batch, mini = found["data.train_batch_size"], found["actor_rollout_ref.actor.ppo_mini_batch_size"]
    assert (batch.data, str(batch.span)) == (96, "my_pkg/config/mine.yaml:9:21")
    assert (mini.data, str(mini.span)) == (96, "my_pkg/config/mine.yaml:12:26")
    assert found["actor_rollout_ref.rollout.prompt_length"].data == 7
    assert found["method.alpha"].data == 2
    assert str(found.verl.place("method.alpha")) == "my_pkg/config/mine.yaml:7"


def test_a_guess_is_composed_for_each_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = RUN.replace("\n", " trainer.use_legacy_worker_impl=auto method.beta=1\n")
    found = launch_in(tmp_path, monkeypatch, {**PROJECT, "run.sh": run}, verl="")
    assert found.verl is not None
    assert found.verl.fitting == ("0.5.0", "0.6.0", "0.6.1", "0.7.0", "0.7.1")
    assert [schema.version for schema, _ in found.fits] == ["0.7.1", "0.7.0", "0.6.1", "0.6.0", "0.5.0"]
    for _, config in found.fits:
        assert [each.override.key for each in config.refusals if each.override] == ["method.beta"]
    assert found["actor_rollout_ref.rollout.prompt_length"].data == 7


@pytest.mark.parametrize(
    ("run", "files", "config", "alpha"),
    [
        ("python my_pkg/main_ppo.py data.seed=1 data.a=1 data.b=2", {}, "mine", 1),
        ("cd my_pkg && python3 main_ppo.py method.alpha=3 data.a=1 data.b=2", {}, "mine", 3),
        ("python -m my_pkg.main_ppo --config-name=other", {"my_pkg/config/other.yaml": MINE + "more: 1\n"}, "other", 1),
        ("python -m my_pkg.main_ppo -cp ../conf -cn other", {"conf/other.yaml": MINE}, "other", 1),
        ("python -m my_pkg.main_ppo --config-path=$PWD/conf --config-name other.yaml", {"conf/other.yaml": MINE},
         "other", 1),
        ("python -m my_pkg.main_ppo --config-dir conf -cn other", {"conf/other.yaml": MINE}, "other", 1),
        ("python -m my_pkg.main_ppo --config-dir conf -cn other", {"conf/other.yaml": SEARCH + "defaults: [mine]\n"},
         None, None),  # its search path is not that of the first config
        ("PYTHONPATH=src python -m mine.main method.alpha=5 data.a=1 data.b=1",
         {"src/mine/main.py": PROGRAM, "src/mine/config/mine.yaml": MINE}, "mine", 5),
        ("python -m mine.main method.alpha=5 data.a=1 data.b=1",
         {"src/mine/main.py": PROGRAM, "src/mine/config/mine.yaml": MINE}, "mine", 5),
        ("python -m verl.trainer.main_ppo --config-path=$PWD/conf -cn other data.a=1", {"conf/other.yaml": MINE},
         "other", 1),
        ("python -m verl.trainer.main_ppo --config-dir=conf -cn other data.a=1",
         {"conf/other.yaml": "defaults: [ppo_trainer, _self_]\nmethod: {alpha: 8}\n"}, "other", 8),
        ("python -m my_pkg.main_ppo data.a=1 data.b=1 data.c=1",
         {"my_pkg/config/mine.yaml": MINE.replace("[pkg://verl.trainer.config]", "[pkg://nobody.knows]")}, None, None),
        ("python -m my_pkg.main_ppo data.a=1 data.b=1 data.c=1",
         {"my_pkg/config/mine.yaml": MINE.replace("[pkg://verl.trainer.config]", "['${oc.env:WHERE}']")}, None, None),
        ("python -m my_pkg.main_ppo hydra.searchpath=[$WHERE] data.a=1 data.b=1 data.c=1", {}, None, None),
        ("python -m my_pkg.main_ppo data.a=1 data.b=1 data.c=1",
         {"my_pkg/main_ppo.py": PROGRAM.replace('"mine"', "NAME")}, None, None),
        ("python -m my_pkg.main_ppo data.a=1 data.b=1 data.c=1",
         {"my_pkg/main_ppo.py": PROGRAM.replace('"config"', '"pkg://verl.trainer.config"').replace(
             '"mine"', '"ppo_trainer"')}, "ppo_trainer", None),
    ],
)  # fmt: skip
def test_which_config_it_gets(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    run: str,
    files: dict[str, str],
    config: str | None,
    alpha: int | None,
) -> None:
    found = launch_in(tmp_path, monkeypatch, {**PROJECT, **files, "run.sh": run + "\n"})
    assert found.verl is not None
    assert (found.verl.found.config if found.verl.schema else None) == config
    if alpha is not None:
        assert found.config is not None
        assert found.config.config["method"]["alpha"] == alpha


# ---- files that a launcher writes

WRITTEN = """mkdir -p conf
cat > conf/own.yaml <<EOF
hydra: {searchpath: ["pkg://verl.trainer.config"]}
defaults: [ppo_trainer, _self_]
data:
  train_batch_size: $BATCH
method: {alpha: 1}
EOF
"""
CALL = "python3 -m verl.trainer.main_ppo --config-path=$PWD/conf --config-name=own method.alpha=2 data.seed=1\n"


@pytest.mark.parametrize(
    ("before", "batch", "place"),
    [
        ("BATCH=96\n" + WRITTEN, 96, "run.sh:7:21"),
        (WRITTEN, None, "run.sh:6:21"),  # of the environment
        (WRITTEN.replace("$BATCH", "64"), 64, "run.sh:6:21"),
        (WRITTEN.replace("$BATCH", "64") + "cat conf/own.yaml\nls conf/own.yaml\n", 64, "run.sh:6:21"),
        (WRITTEN.replace("$BATCH", "64") + "echo '  beta: 3' | tee -a conf/own.yaml > /dev/null\n", None, None),
        (WRITTEN.replace("  train_batch_size: $BATCH", "$MORE"), None, None),
        (WRITTEN.replace("train_batch_size:", "${KEY}:"), None, None),
        (WRITTEN + "python3 tools/change.py conf/own.yaml\n", None, None),
        (WRITTEN + "envsubst < template.yaml > conf/own.yaml\n", None, None),
    ],
)  # fmt: skip
def test_a_config_that_the_launcher_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: str, batch: int | None, place: str | None
) -> None:
    stale = {"conf/own.yaml": MINE.replace("96", "7")}  # of another run: the launcher overwrites it
    found = launch_in(tmp_path, monkeypatch, {**stale, "run.sh": before + CALL})
    value = found["data.train_batch_size"]
    if place is None:
        assert found.config is None
        return
    assert found.config is not None
    assert found.config.refusals == []
    assert (value.data if value.decided else None, str(value.span)) == (batch, place)
    assert found["method.alpha"].data == 2


def test_a_runtime_environment_that_the_launcher_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "cat > env.yaml <<'EOF'\nenv_vars:\n  A: 1\nEOF\nray job submit --runtime-env env.yaml -- "
    found = launch_in(tmp_path, monkeypatch, {"run.sh": text + "python3 -m verl.trainer.main_ppo data.seed=1\n"})
    env = runtime_env_of(found.command, Tree(tmp_path))
    assert env is not None
    assert [(name, str(each.value.span.in_file())) for name, each in env.env_vars.items()] == [("A", "run.sh:3:6")]


# ---- programs


@pytest.mark.parametrize(
    ("text", "main"),
    [
        (PROGRAM, HydraMain("config", "mine")),
        ('@hydra.main("conf", "a.yaml", None)\n', HydraMain("conf", "a")),
        ("@hydra.main(config_name='a', version_base=None)\n", HydraMain(None, "a")),
        ("@hydra.main(config_name='a')\n", HydraMain(".", "a")),
        ("@hydra.main(config_path=None, config_name='a', version_base='1.3')\n", HydraMain(None, "a")),
        ("@hydra.main(config_path=PATH, config_name='a')\n", None),
        ("@hydra.main(config_path=str(HERE), config_name='a')\n", None),
        ('@hydra.main("a", "b")\ndef x(c): ...\n\n\n@hydra.main("a", "c")\ndef y(c): ...\n', None),
        ("def main(): ...\n", None),
    ],
)
def test_what_hydra_main_says(text: str, main: HydraMain | None) -> None:
    assert hydra_main(text) == main


TASK_RUNNER = """import hydra
import ray
from verl.trainer.ppo.ray_trainer import RayPPOTrainer
from verl.workers.fsdp_workers import ActorRolloutRefWorker
from my_pkg.rewards import score


class TaskRunner:
    def run(self, config):
        trainer = RayPPOTrainer(
            config=config,
        )
"""


@pytest.mark.parametrize(
    ("text", "version", "entry"),
    [
        (PROGRAM, (0, 7, 1), "verl.trainer.main_ppo"),
        (PROGRAM.replace("run_ppo(config)", "run_ppo(config, task_runner_class=Mine)"), (0, 7, 1), ""),
        (PROGRAM.replace("    run_ppo", "    config.data.seed = 1\n    run_ppo"), (0, 7, 1), ""),
        ("import my_pkg.patches\n" + PROGRAM, (0, 7, 1), ""),
        (OWN_TRAINER, (0, 7, 1), ""),
        (TASK_RUNNER, (0, 5), "recipe.dapo.main_dapo"),
        (TASK_RUNNER, (0, 7), ""),  # nobody validates the config
        (TASK_RUNNER + "        validate_config(config)\n", (0, 7), "recipe.dapo.main_dapo"),
        (TASK_RUNNER.replace("import score", "import MyTrainer"), (0, 5), ""),
        (TASK_RUNNER + "\n\nclass Mine(RayPPOTrainer):\n    pass\n", (0, 5), ""),
    ],
)
def test_which_entry_point_a_program_stands_for(text: str, version: tuple[int, ...], entry: str) -> None:
    assert stands_for(text, version) == entry


# ---- recipes


def test_recipes_of_releases() -> None:
    assert list(recipe_sources()) == ["0.3.0.post1", "0.4.0", "0.4.1", "0.5.0", "0.6.0", "0.7.0"]
    dapo = [version for version in versions() if leaves_of(version, "recipe/dapo/config/dapo_trainer") is not None]
    assert dapo == ["0.4.0", "0.4.1", "0.5.0", "0.6.0", "0.7.0"]


@pytest.mark.parametrize(
    ("run", "verl", "expected"),
    [
        ("python -m recipe.dapo.main_dapo algorithm.filter_groups.enable=True", "0.4.1", []),
        ("python3 recipe/dapo/main_dapo.py algorithm.filter_groups.enabled=True data.a=1", "0.4.1",
         ["algorithm.filter_groups.enabled", "data.a"]),
        ("python -m recipe.dapo.main_dapo --config-name=dapo_megatron_trainer actor_rollout_ref.actor.megatron.seed=1",
         "0.6.0", []),
        ("python -m recipe.sppo.main_sppo actor_rollout_ref.actor.sppo_eta=2 trainer.a=1", "0.5.0", ["trainer.a"]),
        ("python -m recipe.dapo.main_dapo data.a=1", "0.6.1", None),  # its recipes are not at hand
        ("python -m recipe.mine.main_mine data.a=1 data.b=1 data.c=1", "0.6.0", None),
    ],
)  # fmt: skip
def test_a_recipe_of_a_release(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: str, verl: str, expected: list[str] | None
) -> None:
    found = launch_in(tmp_path, monkeypatch, {"run.sh": run + "\n"}, verl=verl)
    refused = None if found.config is None else [each.override.key for each in found.config.refusals if each.override]
    assert refused == expected


ENDLESS = {
    "itself": {"a": "defaults: [a, _self_]\n"},
    "circle": {"a": "defaults: [b]\n", "b": "defaults: [c]\n", "c": "defaults: [a]\n"},
    "group": {"a": "defaults:\n  - g: x\n", "g/x": "defaults:\n  - /g: x\n"},
    "fan": {f"{'abcdefghijklmnopqrstuvwxyz'[at]}": f"defaults: [{', '.join('bcdefghijklmnopqrstuvwxyz'[at:] or 'z')}]\n" for at in range(25)} | {"z": "k: 1\n"},
    "levels": {"a": "".join(f"{'  ' * at}k{at}:\n" for at in range(900)) + "  " * 900 + "v: 1\n"},
    "brackets": {"a": "k: " + "[" * 5000 + "]" * 5000 + "\n"},
}  # fmt: skip


@pytest.mark.parametrize("case", ENDLESS)
def test_configs_without_end(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    launcher = 'python3 -m verl.trainer.main_ppo --config-path="$PWD/conf" --config-name=a trainer.nnodes=1\n'
    put(tmp_path, {"run.sh": launcher, **{f"conf/{name}.yaml": text for name, text in ENDLESS[case].items()}})
    assert not verlint.check(".").crashed
