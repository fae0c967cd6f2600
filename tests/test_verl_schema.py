"""The schema file: that the script makes it, and what its reader says."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from verl_wheels import builder, unpacked, wheels_folder
from verlint.verl import schema as reader
from verlint.verl.defaults import CONSTANT, defaults_of
from verlint.verl.passthrough import is_open
from verlint.verl.renames import RENAMES, Rename
from verlint.verl.schema import Schema, schema
from verlint.verl.versions import version_key

FILE = Path(reader.__file__).parent / reader.FILE
ACTOR = "actor_rollout_ref.actor"
ROLLOUT = "actor_rollout_ref.rollout"


def of(version: str, entry: str = "ppo_trainer") -> Schema:
    """A schema that must be there."""
    found = schema(version, entry)
    assert found is not None
    return found


# ---- the file


def test_the_file_is_small() -> None:
    assert FILE.stat().st_size < 60_000


def test_the_file_has_no_line_that_is_no_json() -> None:
    for line in gzip.decompress(FILE.read_bytes()).decode().splitlines():
        json.loads(line.split("\t", 1)[1])


@pytest.mark.network
@pytest.mark.parametrize("version", ["0.9.1"])
def test_the_script_makes_what_the_file_holds(version: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    wheels = wheels_folder(tmp_path_factory)
    unpacked(version, wheels)
    assert builder().check(version, wheels, wheels) == []


@pytest.mark.network
@pytest.mark.slow
def test_the_script_makes_the_file(tmp_path_factory: pytest.TempPathFactory) -> None:
    wheels = wheels_folder(tmp_path_factory)
    script = builder()
    facts = {version: script.Wheel(unpacked(version, wheels)).facts() for version in script.VERSIONS}
    made = script.encode(facts, script.kept_forks(FILE), script.kept_recipes())
    assert gzip.decompress(made) == gzip.decompress(FILE.read_bytes())


# ---- the reader


@pytest.mark.parametrize(
    ("said", "known"),
    [
        *(("0.2", "0.2"), ("0.2.0", "0.2.0.post2"), ("v0.3.0", "0.3.0.post1"), ("0.4.1", "0.4.1"), ("v0.7.1", "0.7.1")),
        *(("0.9.5", "0.9.1"), ("0.10.0.dev", "0.9.1"), ("0.6.0rc1", "0.6.0"), ("0.1", ""), ("main", ""), ("", "")),
    ],
)
def test_which_version_is_meant(said: str, known: str) -> None:
    assert reader.known_version(said) == known


@pytest.mark.parametrize(
    ("version", "leaves"),
    [("0.2.0.post2", 141), ("0.4.1", 278), ("0.5.0", 306), ("0.6.0", 448), ("0.7.1", 605), ("0.9.1", 899)],
)
def test_how_many_keys_there_are(version: str, leaves: int) -> None:
    assert len(of(version).keys) == leaves


@pytest.mark.parametrize(
    ("version", "entry", "key", "default"),
    [
        ("0.3.0", "ppo_trainer", f"{ACTOR}.entropy_coeff", 0.001),
        ("0.4.0", "ppo_trainer", f"{ACTOR}.entropy_coeff", 0),
        ("0.4.1", "ppo_trainer", "critic.ppo_mini_batch_size", 256),
        ("0.7.0", "ppo_trainer", f"{ROLLOUT}.mode", "async"),
        ("0.6.1", "ppo_trainer", f"{ROLLOUT}.name", "???"),
        ("0.9.1", "ppo_trainer", f"{ROLLOUT}.prompt_length", 512),
        ("0.9.1", "ppo_trainer", "trainer.default_local_dir", "checkpoints/verl_examples/gsm8k"),
        ("0.9.1", "ppo_trainer model_engine=megatron", f"{ACTOR}.strategy", "megatron"),
        ("0.4.1", "sft_trainer", "data.train_batch_size", 256),
        ("0.9.1", "fully_async_ppo_trainer", "async_training.staleness_threshold", 0.1),
        ("0.9.1", "fully_async_ppo_megatron_trainer", f"{ROLLOUT}.calculate_log_probs", True),
        ("oel", "ppo_trainer", f"{ACTOR}.kl_loss_type", "full"),
        ("coach", "ppo_trainer", f"{ACTOR}.jsd_beta", -1),
    ],
)  # fmt: skip
def test_defaults(version: str, entry: str, key: str, default: object) -> None:
    found = of(version, entry).default(key)
    assert (type(found), found) == (type(default), default)


def test_what_is_not_there() -> None:
    assert schema("0.2", "sft_trainer_engine") is None
    assert schema("no version") is None
    assert schema("oel", "no_config") is None
    with pytest.raises(KeyError):
        of("0.4.1").default("data.nothing")


def test_forks_add_keys_to_their_base() -> None:
    base = of("0.4.1").keys
    extra = {name: len(of(name).keys - base) for name in reader.forks()}
    assert {name: base <= of(name).keys for name in extra} == dict.fromkeys(extra, True)
    assert extra == {"oel": 107, "opcd": 107, "coach": 107}
    assert of("oel").title == "the oel fork of VeRL 0.4.1"


@pytest.mark.parametrize(
    ("version", "key", "kinds"),
    [
        ("0.4.1", "data.train_batch_size", {"int"}),
        ("0.4.1", "data.filter_overlong_prompts", {"bool"}),
        ("0.9.1", f"{ACTOR}.clip_ratio", {"int", "float"}),
        ("0.9.1", f"{ACTOR}.ppo_micro_batch_size_per_gpu", {"int", "null"}),
        ("0.9.1", f"{ACTOR}.checkpoint", {"dict"}),
        ("0.9.1", "trainer.logger", {"list"}),
        ("0.9.1", "data.nothing", set()),
    ],
)
def test_kinds(version: str, key: str, kinds: set[str]) -> None:
    assert of(version).kind(key) == kinds


@pytest.mark.parametrize(
    ("annotation", "kinds"),
    [
        ("int", {"int"}), ("Optional[int]", {"int", "null"}), ("str | None", {"str", "null"}), ("float", {"int", "float"}),
        ("Union[int, list[str]]", {"int", "list"}), ("Any", set()), ("Optional[Any]", set()), ("dict[str, int]", {"dict"}),
        ("OptimizerConfig", {"dict"}), ("Literal['a', 'b']", {"str"}), ("'list[int]'", {"list"}),
    ],
)  # fmt: skip
def test_annotations(annotation: str, kinds: set[str]) -> None:
    assert reader.annotation_kinds(annotation) == kinds


def test_data_classes() -> None:
    new = of("0.9.1")
    target = new.target(ACTOR)
    assert target == "verl.workers.config.FSDPActorConfig"
    fields = new.fields(target)
    assert (fields["clip_ratio"].annotation, fields["clip_ratio"].default, fields["strategy"].required) == (
        "float",
        0.2,
        False,
    )
    assert "use_dynamic_bsz" in fields  # of a base class
    assert of("0.4.1").target(ACTOR) == ""
    assert of("0.4.1").fields("verl.workers.config.FSDPActorConfig") == {}


@pytest.mark.parametrize(
    ("version", "registry", "has", "lacks"),
    [
        ("0.2", "adv_estimator", {"gae", "grpo", "remax"}, {"opo", "rloo"}),
        ("0.4.0", "adv_estimator", {"opo", "grpo_passk"}, {"gpg"}),
        ("0.9.1", "adv_estimator", {"gdpo", "optimal_token_baseline", "rloo_vectorized"}, set()),
        ("0.4.1", "policy_loss", {"vanilla", "clip_cov", "kl_cov"}, {"gspo"}),
        ("0.9.1", "policy_loss", {"cispo", "gspo", "sapo"}, {"k1"}),
        ("0.3.0", "logger", {"wandb", "tensorboard"}, {"clearml", "file"}),
        ("0.2", "rollout", {"hf", "vllm"}, {"sglang"}),
        ("0.9.1", "rollout", {"vllm", "sglang", "trtllm"}, {"hf"}),
        ("0.4.0", "reward_manager", {"naive", "prime", "dapo", "batch"}, {"remote"}),
        ("0.4.0", "kl_penalty", {"k1", "kl", "low_var_kl"}, set()),
        ("0.9.1", "trainer_mode", {"sync", "colocate_async", "separate_async"}, set()),
    ],
)  # fmt: skip
def test_registries(version: str, registry: str, has: set[str], lacks: set[str]) -> None:
    found = of(version).registry(registry)
    assert has <= found
    assert not lacks & found


@pytest.mark.parametrize(
    ("version", "key", "dead"),
    [
        ("0.4.1", f"{ROLLOUT}.max_num_seqs", True),
        ("0.4.1", "data.return_raw_input_ids", True),
        ("0.4.1", "data.train_batch_size", False),
        ("0.9.1", "actor_rollout_ref.nccl_timeout", True),
        ("0.9.1", f"{ROLLOUT}.over_sample_rate", True),
        ("0.9.1", f"{ROLLOUT}.max_num_seqs", False),
        ("0.9.1", "global_profiler.global_tool_config.nsys.worker_nsight_options.cuda-graph-trace", False),
    ],
)
def test_dead_keys(version: str, key: str, dead: bool) -> None:
    assert of(version).is_dead(key) is dead


@pytest.mark.parametrize(
    ("key", "is_it"),
    [
        (f"{ROLLOUT}.engine_kwargs.vllm.swap_space", True), ("actor_rollout_ref.model.override_config.x", True),
        (f"{ROLLOUT}.engine_kwargs", False), ("ray_kwargs.ray_init.num_cpus", False), ("data.x", False),
        ("ray_kwargs.ray_init.runtime_env.env_vars.A", True), ("reward.reward_kwargs.max_resp_len", True),
    ],
)  # fmt: skip
def test_open_sections(key: str, is_it: bool) -> None:
    assert is_open(key) is is_it


@pytest.mark.parametrize(
    ("version", "key", "near"),
    [
        ("0.4.1", "data.train_batch_sizes", "data.train_batch_size"),
        ("0.4.1", f"{ACTOR}.gpu_memory_utilization", f"{ROLLOUT}.gpu_memory_utilization"),
        ("0.9.1", f"{ACTOR}.ppo_mini_batchsize", f"{ACTOR}.ppo_mini_batch_size"),
    ],
)
def test_near_keys(version: str, key: str, near: str) -> None:
    assert of(version).near(key)[0] == near


@pytest.mark.parametrize(
    ("version", "key", "text"),
    [
        ("0.9.1", "trainer.val_generations_to_log_to_wandb",
         "exists in VeRL 0.2-0.3.0.post1; renamed to trainer.log_val_generations since 0.4.0"),
        ("0.9.1", f"{ROLLOUT}.chat_scheduler",
         "exists in VeRL 0.4.0; removed in 0.4.1; agent loops took its place"),
        ("0.4.1", "trainer.use_legacy_worker_impl", "exists in VeRL 0.5.0-0.7.1"),
        ("0.4.1", "trainer.no_such_key", ""),
    ],
)  # fmt: skip
def test_histories(version: str, key: str, text: str) -> None:
    assert of(version).history(key).text == text


@pytest.mark.parametrize("row", RENAMES, ids=lambda row: row.old)
def test_each_rename_is_true_of_the_wheels(row: Rename) -> None:
    since = version_key(row.since)
    assert since is not None
    before = [each for each in reader.versions() if (version_key(each) or ()) < since]
    after = [each for each in reader.versions() if (version_key(each) or ()) >= since]
    assert row.old in of(before[-1])
    assert (row.old in of(after[0])) is row.still_there
    if row.new:
        assert row.new in of(after[0])


def test_constant_defaults_are_constant() -> None:
    for key, default in CONSTANT.items():
        assert {version: of(version).default(key) for version in reader.versions()} == dict.fromkeys(
            reader.versions(), default
        )


def test_defaults_of() -> None:
    assert defaults_of("") is CONSTANT
    assert defaults_of("0.3.0")[f"{ACTOR}.entropy_coeff"] == 0.001
    assert defaults_of("0.9.1").get("trainer.nothing") is None
    assert defaults_of("0.9.1")["critic.ppo_mini_batch_size"] == 256
