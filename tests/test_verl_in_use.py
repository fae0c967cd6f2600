"""Which VeRL a launch runs on, what its config is there, and how `verlint show` prints it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from verlint.cli.main import main
from verlint.experiment.launch import Launch
from verlint.experiment.project import Project
from verlint.files.loading import load
from verlint.settings import Settings
from verlint.verl import checkout

TREES = Path(__file__).parent / "verl_trees"
MAIN = "python3 -m verl.trainer.main_ppo"
ENTROPY = "actor_rollout_ref.actor.entropy_coeff"


@pytest.fixture(autouse=True)
def _nothing_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkout, "_installed", lambda: ("", None))


def put(tmp_path: Path, files: dict[str, str], *trees: tuple[str, str]) -> None:
    """Write files, and copy trees of configs to folders."""
    for tree, folder in trees:
        shutil.copytree(TREES / tree, tmp_path / folder, dirs_exist_ok=True)
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def launches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str = "run.sh", verl: str = "", verl_of_call: str = ""
) -> list[Launch]:
    """The launches of a launcher."""
    monkeypatch.chdir(tmp_path)
    settings = Settings(root=tmp_path, verl=verl, verl_of_call=verl_of_call)
    project = Project(load([path], settings).files, settings, tmp_path)
    return [found for found, _ in project.launches]


def facts(launch: Launch) -> tuple[str, str, str, bool]:
    """What is known of the VeRL of a launch."""
    assert launch.verl is not None
    return launch.verl.label, launch.verl.text, launch.verl.source, launch.verl.guess


# ---- the order


PIN = {"requirements.txt": "torch\nverl[vllm]==0.5.0  # fixed\n"}
ORDER = [
    ({}, "0.2.0", "0.6.0", "0.7.1", ("VeRL 0.7.1", "0.7.1", "--verl", False)),
    ({}, "0.2.0", "0.6.0", "", ("VeRL 0.2.0", "0.2.0", "directive", False)),
    (PIN, "", "0.6.0", "", ("VeRL 0.6.0", "0.6.0", "settings", False)),
    (PIN, "", "", "", ("VeRL 0.5.0", "0.5.0", "requirements.txt", False)),
    ({"pyproject.toml": '[project]\ndependencies = ["verl==0.4.1"]\n'}, "", "", "",
     ("VeRL 0.4.1", "0.4.1", "pyproject.toml", False)),
    ({"requirements.txt": "verl @ git+https://github.com/volcengine/verl.git@v0.7.0\n"}, "", "", "",
     ("VeRL 0.7.0", "0.7.0", "requirements.txt", False)),
    ({"requirements.txt": "verl>=0.5\noverl==0.1.0\n"}, "", "", "", ("every VeRL version", "0.9.1", "best fit", True)),
    ({}, "", "", "0.99", ("VeRL 0.9.1, the nearest known to 0.99", "0.99", "--verl", False)),
]  # fmt: skip


@pytest.mark.parametrize(("files", "directive", "settings", "call", "expected"), ORDER)
def test_who_is_asked_first(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    files: dict[str, str],
    directive: str,
    settings: str,
    call: str,
    expected: tuple[str, str, str, bool],
) -> None:
    comment = f"# verlint: verl={directive}\n" if directive else ""
    put(tmp_path, {**files, "run.sh": f"{comment}set -e\n{MAIN} data.train_batch_size=64\n"})
    (found,) = launches(tmp_path, monkeypatch, verl=settings, verl_of_call=call)
    assert facts(found) == expected


PLACES = [
    ("run.sh", MAIN, "verl", "verl/"),
    ("run.sh", MAIN, ".", "this checkout"),
    ("scripts/train/run.sh", MAIN, "verl", "verl/"),
    ("examples/deep/run.sh", MAIN, ".", "this checkout"),
    ("run.sh", f"cd third/trainer\n{MAIN}", "third/trainer", "third/trainer/"),
    ("run.sh", f'export PYTHONPATH="$PWD/code/base:$PYTHONPATH"\n{MAIN}', "code/base", "code/base/"),
    ("run.sh", f"PYTHONPATH=libs/mine {MAIN}", "libs/mine", "libs/mine/"),
    ("run.sh", f"pip install --no-deps -e ./deps/fork\n{MAIN}", "deps/fork", "deps/fork/"),
]


@pytest.mark.parametrize(("path", "command", "folder", "shown"), PLACES)
def test_a_checkout_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, command: str, folder: str, shown: str
) -> None:
    put(tmp_path, {path: f"{command} data.max_prompt_length=7\n", **PIN}, ("plain", folder))
    (found,) = launches(tmp_path, monkeypatch, path)
    label, _, source, guess = facts(found)
    assert (label, source, guess) == (shown if shown == "this checkout" else f"the checkout {shown}", "checkout", False)
    assert found["actor_rollout_ref.rollout.prompt_length"].data == 7


@pytest.mark.parametrize("said", ["other", "./other", "{root}/other"])
def test_a_checkout_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str) -> None:
    put(tmp_path, {"run.sh": f"{MAIN} data.seed=1\n"}, ("grouped", "other"), ("plain", "verl"))
    (found,) = launches(tmp_path, monkeypatch, verl_of_call=said.format(root=tmp_path))
    assert facts(found)[0] == "the checkout other/"
    (found,) = launches(tmp_path, monkeypatch, verl_of_call="./nowhere")
    assert found.verl is not None
    assert (found.verl.schema, found.verl.problem) == (None, "there is no VeRL checkout at ./nowhere")
    assert not found["data.seed"].has_default


def test_best_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, {"run.sh": f"{MAIN} trainer.use_legacy_worker_impl=auto data.train_batch_size=64\n"})
    (found,) = launches(tmp_path, monkeypatch)
    assert facts(found) == ("VeRL 0.5.0 to 0.7.1 (best fit)", "0.7.1", "best fit", True)
    assert found.version == ""
    assert found.verl is not None
    assert found.verl.fitting == ("0.5.0", "0.6.0", "0.6.1", "0.7.0", "0.7.1")
    assert found[ENTROPY].data == 0  # in all of them
    assert not found["actor_rollout_ref.rollout.enforce_eager"].has_default  # they differ


def test_older_configs_are_composed_when_they_are_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, {"run.sh": f"{MAIN} data.train_batch_size=64\n"})
    (found,) = launches(tmp_path, monkeypatch)
    assert found.verl is not None
    asked: list[str] = []
    compose = found.verl.composed
    monkeypatch.setattr(found.verl, "composed", lambda version, words: asked.append(version) or compose(version, words))
    fits = found.fits
    assert next(fits)[0].version == "0.9.1"
    assert asked == []
    assert next(fits)[0].version == asked[0] == "0.9.0"
    assert [schema.version for schema, _ in fits] == list(reversed(found.verl.fitting[:-2]))


def test_a_config_shares_what_no_override_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, {"run.sh": f"{MAIN} data.train_batch_size=64 +data.more={{a:1}}\n"})
    (found,) = launches(tmp_path, monkeypatch, verl="0.7.1")
    assert found.verl is not None
    assert found.verl.schema is not None
    assert found.config is not None
    base, own = found.verl.schema.tree, found.config.config
    assert own["critic"] is base["critic"]
    assert (own["data"]["train_batch_size"], base["data"]["train_batch_size"]) == (64, 1024)
    assert own["data"]["more"] == {"a": 1}
    assert "more" not in base["data"]


def test_a_family_has_its_fork(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = "trainer.stage=extract trainer.oel_round=1 actor_rollout_ref.actor.kl_topk=8"
    put(tmp_path, {"run.sh": f"{MAIN} {words}\n"})
    (found,) = launches(tmp_path, monkeypatch)
    assert facts(found) == ("the oel fork of VeRL 0.4.1", "0.4.1", "family", False)
    assert found["actor_rollout_ref.actor.kl_loss_type"].data == "full"
    assert found.config is not None
    assert found.config.refusals == []


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("", "ppo_trainer"),
        ("--config-name=ppo_megatron_trainer", "ppo_megatron_trainer"),
        ("--config-name ppo_megatron_trainer.yaml", "ppo_megatron_trainer"),
        ("--config-name=$NAME", None),
        ("--config-path=/elsewhere", None),
        ("hydra.searchpath=[pkg://mine]", None),
    ],
)
def test_which_config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str, name: str | None) -> None:
    put(tmp_path, {"run.sh": f"{MAIN} {words} data.seed=1\n"})
    (found,) = launches(tmp_path, monkeypatch, verl="0.4.1")
    assert found.verl is not None
    assert (found.verl.schema.name if found.verl.schema else None) == name
    assert [each.key for each in found.overrides if each.error is None and each.key.startswith("data")] == ["data.seed"]


def test_a_config_folder_of_the_launcher(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = f'CONFIG="$(pwd)/mine/config"\n{MAIN} --config-path="$CONFIG" --config-name=own data.mine=2\n'
    own = "hydra:\n  searchpath:\n    - pkg://verl.trainer.config\ndefaults:\n  - ppo_trainer\n  - _self_\ndata:\n  mine: 1\n"
    put(tmp_path, {"run.sh": run, "mine/config/own.yaml": own}, ("plain", "verl"))
    (found,) = launches(tmp_path, monkeypatch)
    assert found.config is not None
    assert found.config.refusals == []
    assert found["data.train_batch_size"].data == 1024


def test_nothing_is_read_before_it_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkout.Finder, "find", lambda *_: pytest.fail("looked for"))
    put(tmp_path, {"run.sh": f"{MAIN} data.seed=1\n"}, ("plain", "verl"))
    (found,) = launches(tmp_path, monkeypatch)
    assert found["data.seed"].data == 1


def test_a_default_that_hangs_on_the_caller(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, {"run.sh": f'{MAIN} actor_rollout_ref.actor.ppo_mini_batch_size="$MINI"\n'})
    (found,) = launches(tmp_path, monkeypatch, verl="0.4.1")
    mine, critic = found["actor_rollout_ref.actor.ppo_mini_batch_size"], found["critic.ppo_mini_batch_size"]
    assert (critic.given, critic.decided, critic.same_as(mine)) == (False, False, True)


# ---- verlint show --config


LAUNCHER = f'{MAIN} \\\n  data.max_prompt_length=$((2 * 32)) \\\n  data.filters=on \\\n  +trainer.note="$NOTE"\n'
SHOWN = """\
run.sh:1  verl.trainer.main_ppo
  the checkout verl/, config ppo_trainer (by checkout)
  refused  data.filters=on: there is no data.filters
  data.max_prompt_length: 64  # run.sh:2:26
  actor_rollout_ref.rollout.prompt_length: 64  # verl/verl/trainer/config/ppo_trainer.yaml:18 = ${data.max_prompt_length}
  trainer.note: ${NOTE}  # run.sh:4:18
"""


def test_show_config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    put(tmp_path, {"run.sh": LAUNCHER}, ("plain", "verl"))
    monkeypatch.chdir(tmp_path)
    assert main(["show", "run.sh", "--config"]) == 0
    assert capsys.readouterr().out == SHOWN
    assert main(["show", "run.sh", "--config", "--all"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "  critic.cache: ${oc.env:HOME}/cache  # verl/verl/trainer/config/ppo_trainer.yaml:27" in lines
    assert "  trainer.logger: [console, wandb]  # verl/verl/trainer/config/ppo_trainer.yaml:32" in lines


OLD = f"""\
{MAIN} \\
  trainer.val_generations_to_log_to_wandb=1 \\
  actor_rollout_ref.rollout.chat_scheduler=a \\
  reward_model.reward_manager=dapo \\
  actor_rollout_ref.actor.clip_ratio=0.1 \\
  actor_rollout_ref.rollout.ignore_eos=False \\
  data.train_batch_sizes=1
"""
CHANGES = [
    "trainer.val_generations_to_log_to_wandb: renamed to trainer.log_val_generations since 0.4.0",
    "actor_rollout_ref.rollout.chat_scheduler: unknown; exists in VeRL 0.4.0; removed in 0.4.1; agent loops took its place",
    (
        "reward_model.reward_manager: still there, but reward.reward_manager.name counts instead"
        " (0.7.1 and 0.8.0 copy it to its new place, later versions ignore it)"
    ),
    (
        "actor_rollout_ref.actor.clip_ratio: still there, but actor_rollout_ref.actor.clip_ratio_low counts instead"
        " (and clip_ratio_high: both have own defaults)"
    ),
    "data.train_batch_sizes: unknown, near: data.train_batch_size, data.val_batch_size, data.gen_batch_size",
    "actor_rollout_ref.rollout.mode: default sync becomes async",
]


def test_show_diff(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    put(tmp_path, {"run.sh": OLD})
    monkeypatch.chdir(tmp_path)
    assert main(["show", "run.sh", "--verl", "0.4.0", "--diff", "0.9.1"]) == 0
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert [line for line in CHANGES if line not in lines] == []
    assert main(["show", "run.sh", "--verl", "0.9.0", "--diff", "0.9.0"]) == 0


def test_show_says_why_there_is_no_config(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    put(tmp_path, {"run.sh": f"{MAIN} --config-name=mine data.seed=1\npython3 other.py\n", "none.sh": "echo hi\n"})
    monkeypatch.chdir(tmp_path)
    assert main(["show", "run.sh", "--config", "--verl", "0.9.1"]) == 0
    said = "run.sh:1  verl.trainer.main_ppo\n  the config of VeRL 0.9.1 is not known: VeRL 0.9.1 has no config mine\n"
    assert capsys.readouterr().out == said
    assert main(["show", "none.sh", "--config"]) == 0
    assert capsys.readouterr().out == "No launch of VeRL.\n"
