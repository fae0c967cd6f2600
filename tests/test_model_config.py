"""The config of the model at hand: what is read of it, where it is looked for, and what the command line says of a bad
one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from constraint_launches import launches_of
from verlint.cli.main import main
from verlint.verl.model_config import HEADS, KV_HEADS, LONGEST, ModelConfig, ModelConfigError, read_model_config
from verlint.verl.undecided import Undecided

SMALL = {HEADS: 12, KV_HEADS: 2, LONGEST: 4096, "architectures": ["Small"], "vocab_size": 100}
PATH = "actor_rollout_ref.model.path"
OVERRIDE = "+actor_rollout_ref.model.override_config"


def put(path: Path, data: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(data if isinstance(data, str) else json.dumps(data))
    return path


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (
            SMALL,
            ModelConfig(
                "m/config.json",
                {HEADS: 12, KV_HEADS: 2, LONGEST: 4096},
                architectures=("Small",),
                lists_architectures=True,
            ),
        ),
        ({"text_config": SMALL}, ModelConfig("m/config.json", {HEADS: 12, KV_HEADS: 2, LONGEST: 4096})),
        ({HEADS: 16, "text_config": SMALL}, ModelConfig("m/config.json", {KV_HEADS: 2, LONGEST: 4096})),
        ({HEADS: 12, KV_HEADS: "2", LONGEST: True}, ModelConfig("m/config.json", {HEADS: 12})),
        (
            {LONGEST: 8, "rope_scaling": {"type": "yarn", "factor": 4}},
            ModelConfig("m/config.json", {LONGEST: 8}, True, 4.0),
        ),
        ({LONGEST: 8, "rope_scaling": {"type": "mrope"}}, ModelConfig("m/config.json", {LONGEST: 8}, True)),
        ({LONGEST: 8, "rope_scaling": None}, ModelConfig("m/config.json", {LONGEST: 8})),
        ({LONGEST: 8, "rope_parameters": {"factor": 2}}, ModelConfig("m/config.json", {LONGEST: 8}, None)),
        ({LONGEST: 8, "rope_scaling": {"factor": "x"}}, ModelConfig("m/config.json", {LONGEST: 8}, None)),
    ],
)
def test_what_is_read(data: object, expected: ModelConfig, tmp_path: Path) -> None:
    put(tmp_path / "config.json", data)
    assert read_model_config(tmp_path, "m/") == expected
    assert read_model_config(tmp_path / "config.json", "m/config.json") == expected


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[1]", "is no config of a model: not a JSON object"),
        ("{", "is no JSON: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"),
        ("[" * 100_000, "is no JSON: nested too deeply"),
        ('{"a": 1}', "is no config of a model: it has neither num_attention_heads nor max_position_embeddings"),
        (" " * 1_000_001, "cannot be read: is too large (1.0 MB; the limit is 1 MB)"),
    ],
)
def test_a_bad_file_says_why(
    text: str, problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    put(tmp_path / "m/config.json", text)
    with pytest.raises(ModelConfigError) as error:
        read_model_config(tmp_path / "m", "m")
    assert str(error.value) == f"m/config.json: {problem}"
    assert main(["check", "--model-config", "m", "."]) == 2
    assert capsys.readouterr().err == f"verlint: error: --model-config: m/config.json: {problem}\n"


def test_a_missing_file_is_an_error_of_the_call_and_a_warning_of_the_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    put(tmp_path / "run.sh", "python3 -m verl.trainer.main_ppo\n")
    assert main(["check", "--model-config", "no", "."]) == 2
    missing = "cannot be read: No such file or directory"
    assert capsys.readouterr().err == f"verlint: error: --model-config: no: {missing}\n"
    assert main(["check", "--model-config", "", "."]) == 2
    assert capsys.readouterr().err == "verlint: error: --model-config: the path is empty\n"
    put(tmp_path / "verlint.toml", 'model-config = "no"\nselect = ["VL725"]\n')
    assert main(["check", "."]) == 0
    assert f"`model-config`: {tmp_path / 'no'}: {missing}" in capsys.readouterr().err


def test_the_option_holds_for_every_launch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    put(tmp_path / "elsewhere/config.json", SMALL)
    words = (
        f"{PATH}=org/small actor_rollout_ref.rollout.name=vllm actor_rollout_ref.rollout.tensor_model_parallel_size=8"
    )
    put(tmp_path / "run.sh", f"python3 -m verl.trainer.main_ppo {words} trainer.n_gpus_per_node=8\n")
    call = ["check", "--isolated", "--verl", "0.7.1", "--select", "VL725", "--output-format", "concise", "run.sh"]
    assert main(call) == 0
    capsys.readouterr()
    assert main([*call, "--model-config", "elsewhere"]) == 1
    assert "num_attention_heads 12 (elsewhere/config.json) is not a multiple" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "version", "heads"),
    [
        (f"{PATH}=models/small", "0.7.1", 12),
        (f"{PATH}=./models/../models/small/", "0.7.1", 12),
        (f"{PATH}=<tmp>/models/small", "0.7.1", 12),
        (f"{PATH}=models/none", "0.7.1", None),
        (f"{PATH}=/no/where", "0.7.1", None),
        (f"{PATH}=../outside", "0.7.1", None),
        (f"{PATH}=$MODEL", "0.7.1", None),
        (f"{PATH}=/{'a' * 5000}", "0.7.1", None),
        (f"{PATH}=/dev/null", "0.7.1", None),
        ("data.seed=1", "0.7.1", None),
        (f"{PATH}=models/none actor_rollout_ref.model.hf_config_path=models/small", "0.7.1", 12),
        (f"{PATH}=models/small actor_rollout_ref.model.hf_config_path=null", "0.7.1", 12),
        (f"{PATH}=models/small {OVERRIDE}.{HEADS}=16", "0.4.1", 16),
        (f"{PATH}=models/small {OVERRIDE}.model_config.{HEADS}=16", "0.7.1", 16),
    ],
)
def test_where_it_is_looked_for(
    words: str, version: str, heads: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path / "models/small/config.json", SMALL)
    put(tmp_path.parent / "outside/config.json", SMALL)
    given = [word.replace("<tmp>", str(tmp_path)) for word in words.split()]
    (launch,) = launches_of(tmp_path, monkeypatch, [given], version)
    (facts,) = launch.facts
    if heads is not None:
        assert facts.of_model(HEADS) == heads
        return
    with pytest.raises(Undecided):
        facts.of_model(HEADS)


@pytest.mark.parametrize(
    ("words", "heads"),
    [
        ("critic.model.path=models/small", 12),
        ("critic.model.path=models/none", None),
        (f"{PATH}=models/small", None),
        ("critic.model.path=models/small +critic.model.override_config.num_attention_heads=8", None),
    ],
)
def test_the_critic_has_a_model_of_its_own(
    words: str, heads: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path / "models/small/config.json", SMALL)
    (launch,) = launches_of(tmp_path, monkeypatch, [words.split()], "0.7.1")
    (facts,) = launch.facts
    if heads is not None:
        assert facts.of_critic(HEADS) == heads
        assert facts.of_critic_said(HEADS) == "num_attention_heads 12 (models/small/config.json)"
        return
    with pytest.raises(Undecided):
        facts.of_critic(HEADS)


def test_a_critic_of_the_same_model_has_the_config_that_the_call_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    put(tmp_path / "elsewhere/config.json", SMALL)
    words = "algorithm.adv_estimator=gae critic.ulysses_sequence_parallel_size=8 critic.model.use_remove_padding=True"
    call = ["check", "--isolated", "--verl", "0.7.1", "--select", "VL723", "--model-config", "elsewhere", "."]
    for critic, code in (("org/small", 1), ("org/other", 0)):
        text = f"python3 -m verl.trainer.main_ppo {PATH}=org/small critic.model.path={critic} {words}\n"
        put(tmp_path / "run.sh", text)
        assert main(call) == code
        capsys.readouterr()
