"""The rules about VeRL's config: an old launcher on a new version, and each row of facts at the edges of its versions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from verlint.cli.main import main
from verlint.verl.choices import CHOICES, Choice
from verlint.verl.inert import DEAD, INERT, TELLING_DEFAULTS, TRUNCATION
from verlint.verl.renames import MIGRATED, RENAMES, rename_of
from verlint.verl.rows import Term, in_versions
from verlint.verl.schema import schema, versions

MAIN = "python3 -m verl.trainer.main_ppo"
NAME = "actor_rollout_ref.rollout.name=vllm"

OLD = """\
algorithm.adv_estimator=grpo
algorithm.kl_ctrl.kl_coef=0.01
custom_reward_function.path=reward.py
data.train_batch_size=64
data.truncation=error
reward_model.reward_manager=dapo
reward_model.micro_batch_size_per_gpu=4
actor_rollout_ref.actor.ppo_mini_batch_size=64
actor_rollout_ref.actor.ppo_micro_batch_size=16
actor_rollout_ref.actor.grad_clip=0.2
actor_rollout_ref.actor.clip_ratio=0.1
actor_rollout_ref.actor.use_torch_compile=False
actor_rollout_ref.actor.fsdp_config.grad_offload=False
actor_rollout_ref.actor.checkpoint.contents=[model]
actor_rollout_ref.rollout.name=vllm
actor_rollout_ref.rollout.mode=sync
actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu=2
actor_rollout_ref.rollout.multi_turn.max_turns=3
actor_rollout_ref.rollout.engine_kwargs.vllm.swap_space=8
critic.model.fsdp_config.param_offload=True
ray_init.num_cpus=8
+trainer.val_only=False
trainer.val_generations_to_log_to_wandb=4
""".splitlines()

SAID = """\
3 VL715 kl_coef 0.01 has no effect: use_kl_in_reward is False
4 VL716 VeRL 0.9.1 ignores custom_reward_function.path and 1 more: reward.custom_reward_function.path counts
6 VL717 truncation=error has no effect
8 VL703 reward_model.micro_batch_size_per_gpu is gone since 0.7.1
11 VL714 VeRL 0.9.1 does not read actor_rollout_ref.actor.grad_clip: optim.clip_grad 1.0 counts, not 0.2
12 VL714 VeRL 0.9.1 does not read actor_rollout_ref.actor.clip_ratio: actor.clip_ratio_low 0.2
13 VL714 VeRL 0.9.1 does not read actor_rollout_ref.actor.use_torch_compile: fsdp_config.use_torch_compile True counts
14 VL703 actor_rollout_ref.actor.fsdp_config.grad_offload is gone since 0.3
15 VL703 actor_rollout_ref.actor.checkpoint.contents is actor_rollout_ref.actor.checkpoint.save_contents since 0.4.1
19 VL703 actor_rollout_ref.rollout.multi_turn.max_turns is actor_rollout_ref.rollout.multi_turn.max_assistant_turns
20 VL702 the config of VeRL 0.9.1 does not list actor_rollout_ref.rollout.engine_kwargs.vllm.swap_space
21 VL703 critic.model.fsdp_config.param_offload is critic.fsdp.param_offload since 0.8.0
22 VL703 ray_init.num_cpus is ray_kwargs.ray_init.num_cpus since 0.6.0
23 VL704 the config of VeRL 0.9.1 has trainer.val_only, it is False
24 VL703 trainer.val_generations_to_log_to_wandb is trainer.log_val_generations since 0.4.0
""".splitlines()


def said(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    version: str,
    select: str = "VL70,VL71",
    entry: str = MAIN,
) -> list[str]:
    """What the rules say about a call on a version, each finding as `line CODE message`."""
    monkeypatch.chdir(tmp_path)
    Path("run.sh").write_text(" \\\n    ".join([entry, *words]) + "\n")
    assert main(["check", "run.sh", "--verl", version, "--select", select, "--output-format", "concise"]) in (0, 1)
    lines = [line.split(":", 3) for line in capsys.readouterr().out.splitlines() if line.startswith("run.sh:")]
    out = []
    for _, line, _, rest in lines:
        code, _, message = rest.strip().partition(" ")
        out.append(f"{line} {code.removesuffix('[*]')} {message}")
    return out


def test_a_launcher_of_0_4_on_0_9_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = said(tmp_path, monkeypatch, capsys, OLD, "0.9.1")
    assert [line[: len(wanted)] for line, wanted in zip(found, SAID, strict=True)] == SAID


# ---- rows at the edges of their versions


def edges(since: str, until: str) -> Iterator[tuple[str, bool]]:
    """Released versions just within and just outside of a range, each with whether it is within."""
    inside = [each for each in versions() if each != "0.2" and in_versions(since, until, each)]
    assert inside, "no version is within"
    everything = [each for each in versions() if each != "0.2"]
    first, last = everything.index(inside[0]), everything.index(inside[-1])
    yield inside[0], True
    if inside[-1] != inside[0]:
        yield inside[-1], True
    if first:
        yield everything[first - 1], False
    if last + 1 < len(everything):
        yield everything[last + 1], False


def words_for(terms: tuple[Term, ...], key: str) -> list[str]:
    """Overrides that make conditions true, apart from those on the key itself and those that defaults meet."""
    return [f"{term.key}={term.values[0]}" for term in terms if not term.negated and term.key != key]


def has_key(version: str, key: str, config: str = "ppo_trainer") -> bool:
    found = schema(version, config)
    return found is not None and key in found


def wanted_of(row: Choice) -> list[Term]:
    """The conditions that words can make true."""
    return [term for term in row.when if not term.negated]


def config_of(row: Choice, version: str) -> str:
    """The config that has the engine which a row is about."""
    engine = next((str(term.values[0]) for term in row.when if term.key.endswith("actor.strategy")), "")
    if engine in ("torchtitan", "veomni"):
        return f"ppo_trainer model_engine={engine}"
    return "ppo_megatron_trainer" if engine == "megatron" else "ppo_trainer"


def words_of(config: str) -> list[str]:
    """The words that choose a config."""
    name, _, engine = config.partition(" ")
    return [engine] if engine else [] if name == "ppo_trainer" else [f"--config-name={name}"]


ONLY_FIELDS = ("actor_rollout_ref.rollout.disaggregation.mooncake_protocol",)
"""Keys that a data class has and no config lists."""

CHOICE_CASES = [(row, version, within) for row in CHOICES for version, within in edges(row.since, row.until)]


@pytest.mark.parametrize(("row", "version", "within"), CHOICE_CASES, ids=lambda each: getattr(each, "key", str(each)))
def test_choices(
    row: Choice,
    version: str,
    within: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    others = [
        each
        for each in CHOICES
        if (each.key, wanted_of(each)) == (row.key, wanted_of(row)) and in_versions(each.since, each.until, version)
    ]
    config = config_of(row, version)
    listed = has_key(version, row.key, config)
    if not listed and not (within and row.key in ONLY_FIELDS):
        assert not within
        return
    name, key = "no_such_name", row.key if listed else f"+{row.key}"
    terms = [word for word in words_for(row.when, row.key) if has_key(version, word.partition("=")[0], config)]
    words = [*words_of(config), NAME, *terms] if row.key != "actor_rollout_ref.rollout.name" else terms
    refused = said(tmp_path, monkeypatch, capsys, [*words, f"{key}={name}"], version, "VL713")
    assert bool(refused) is bool(others)
    if within:
        good = row.names[0] if row.names else sorted(schema(version).registry(row.registry))[0]  # type: ignore[union-attr]
        assert said(tmp_path, monkeypatch, capsys, [*words, f"{key}={good}"], version, "VL713") == []


DEAD_CASES = [(row, version, within) for row in DEAD for version, within in edges(row.since, row.until)]


@pytest.mark.parametrize(("row", "version", "within"), DEAD_CASES, ids=lambda each: getattr(each, "key", str(each)))
def test_dead_keys(
    row: object,
    version: str,
    within: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    key = row.key
    if not has_key(version, key):
        assert not within
        return
    default = schema(version).default(key)  # type: ignore[union-attr]
    value = (not default) if isinstance(default, bool) else 3
    found = said(tmp_path, monkeypatch, capsys, [NAME, f"{key}={value}"], version, "VL714")
    assert bool(found) is within
    assert said(tmp_path, monkeypatch, capsys, [NAME, f"{key}={default}"], version, "VL714") == []
    instead = [f"{each}={value}" for each in row.instead]
    if within and instead:
        assert said(tmp_path, monkeypatch, capsys, [NAME, f"{key}={value}", *instead], version, "VL714") == []


INERT_CASES = [
    (each.row, version, within, "VL715") for each in INERT for version, within in edges(each.row.since, each.row.until)
]
INERT_CASES += [
    (row, version, within, "VL717") for row in TRUNCATION for version, within in edges(row.since, row.until)
]


@pytest.mark.parametrize(
    ("row", "version", "within", "code"), INERT_CASES, ids=lambda each: getattr(each, "key", str(each))
)
def test_inert_values(
    row: object,
    version: str,
    within: bool,
    code: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    key, terms = row.key, row.when
    if not has_key(version, key):
        assert not within
        return
    value = {"data.truncation": "right", "algorithm.norm_adv_by_std_in_grpo": "False"}.get(key, "0.5")
    words = [NAME, *words_for(terms, key), "algorithm.adv_estimator=grpo" if "critic" in key else "data.shuffle=True"]
    words = [each for each in words if has_key(version, each.partition("=")[0])]
    found = said(tmp_path, monkeypatch, capsys, [*words, f"{key}={value}"], version, code)
    others = [each for each in TRUNCATION if key == each.key and in_versions(each.since, each.until, version)]
    assert bool(found) is (within or bool(others))
    assert said(tmp_path, monkeypatch, capsys, words, version, code) == []


@pytest.mark.parametrize("row", MIGRATED, ids=lambda row: row.old)
def test_rewards_move(
    row: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    old, new = row.old, row.new
    for version, within in edges("0.9.0", ""):
        assert bool(said(tmp_path, monkeypatch, capsys, [NAME, f"{old}=9"], version, "VL716")) is within
    assert said(tmp_path, monkeypatch, capsys, [NAME, f"{new}=9"], "0.9.1", "VL716") == []


@pytest.mark.parametrize("row", [row for row in RENAMES if not row.still_there], ids=lambda row: row.old)
def test_renamed_keys(
    row: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    old, since = row.old, row.since
    if old in schema(versions()[1]).sections or any(each.old.startswith(old + ".") for each in RENAMES):  # type: ignore[union-attr]
        return  # a section: the keys below have their own rows
    for version, within in edges(since, ""):
        found = said(tmp_path, monkeypatch, capsys, [NAME, f"{old}=1"], version, "VL702,VL703")
        assert [line.split()[1] for line in found] == (["VL703"] if within else [])


def test_renames_are_followed_to_their_end() -> None:
    key = "actor_rollout_ref.rollout.skip_rollout"
    assert [getattr(rename_of(key, version), "new", None) for version in ("0.7.1", "0.8.0", "0.9.1")] == [
        None,
        "actor_rollout_ref.rollout.skip.enable",
        "skip.rollout.enable",
    ]
    section = rename_of("critic.model.fsdp_config.forward_prefetch", "0.9.1")
    assert section is not None
    assert section.new == "critic.fsdp.forward_prefetch"


def test_telling_defaults_are_keys_that_changed() -> None:
    for key in TELLING_DEFAULTS:
        known = [schema(version) for version in versions() if has_key(version, key)]
        assert known, key
