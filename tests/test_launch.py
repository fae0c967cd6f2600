"""Which commands start VeRL, and what `launch[key]` says of their configuration."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from verlint.experiment.launch import Launch, as_launch
from verlint.experiment.project import Project
from verlint.files.loading import load
from verlint.files.tree import Tree
from verlint.languages.bash.command import Command
from verlint.languages.bash.replay import Entry, explore
from verlint.record import replace
from verlint.settings import Settings
from verlint.source import Source
from verlint.value import Data, State
from verlint.verl.defaults import defaults_of
from verlint.verl.in_use import fixed

MAIN = "verl.trainer.main_ppo"
BATCH = "data.train_batch_size"
MINI = "actor_rollout_ref.actor.ppo_mini_batch_size"
EPOCHS = "actor_rollout_ref.actor.ppo_epochs"
ENTROPY = "actor_rollout_ref.actor.entropy_coeff"
TESTED = f"{BATCH}=64"


def commands(tmp_path: Path, text: str) -> list[Command]:
    """The commands of a launcher on its expected path."""
    resolution = explore([Source("run.sh", text)], Tree(tmp_path), Entry(name="run.sh"))
    return list(resolution.paths[0].commands)


def launches(tmp_path: Path, text: str) -> list[Launch]:
    """The launches of a launcher on its expected path."""
    return [found for command in commands(tmp_path, text) if (found := as_launch(command)) is not None]


def launch(tmp_path: Path, *words: str, version: str = "", defaults: Mapping[str, Data] | None = None) -> Launch:
    """One launch of `main_ppo` with these words behind it."""
    (found,) = launches(tmp_path, " ".join(["python3 -m", MAIN, *words]) + "\n")
    return replace(found, verl=fixed(version, defaults_of(version) if defaults is None else defaults))


# ---- recognition


@pytest.mark.parametrize(
    ("command", "entry"),
    [
        (f"python3 -m {MAIN} {TESTED}", MAIN),
        (f"python -u -X dev -m {MAIN} {TESTED}", MAIN),
        (f"/opt/conda/bin/python3.11 -m {MAIN} {TESTED}", MAIN),
        (f"PYTHONUNBUFFERED=1 python3 -m {MAIN} {TESTED}", MAIN),
        (f"env -u LANG HYDRA_FULL_ERROR=1 python3 -m {MAIN} {TESTED}", MAIN),
        (f"nohup python3 -m {MAIN} {TESTED} > train.log 2>&1 &", MAIN),
        (f"timeout -k 30 12h python3 -m {MAIN} {TESTED}", MAIN),
        (f"srun --nodes 2 --gres=gpu:8 python3 -m {MAIN} {TESTED}", MAIN),
        (f"nohup timeout 12h env A=1 python3 -m {MAIN} {TESTED}", MAIN),
        (f"torchrun --nnodes 1 --nproc_per_node=8 -m {MAIN} {TESTED}", MAIN),
        (f"accelerate launch --num_processes 8 -m {MAIN} {TESTED}", MAIN),
        (f"uv run --with verl python -m {MAIN} {TESTED}", MAIN),
        (f"conda run -n verl --no-capture-output python -m {MAIN} {TESTED}", MAIN),
        (f"ray job submit --address http://127.0.0.1:8265 -- python3 -m {MAIN} {TESTED}", MAIN),
        (f"ray job submit --no-wait -- env A=1 python3 -m {MAIN} {TESTED}", MAIN),
        (f"python3 verl/trainer/main_ppo.py {TESTED}", "verl/trainer/main_ppo.py"),
        (f"torchrun --nproc_per_node=8 verl/trainer/fsdp_sft_trainer.py {TESTED}", "verl/trainer/fsdp_sft_trainer.py"),
        (f"python3 -m recipe.dapo.main_dapo {TESTED}", "recipe.dapo.main_dapo"),
        (f"python3 -m verl.experimental.fully_async_policy.fully_async_main {TESTED}", "verl.experimental.fully_async_policy.fully_async_main"),
        (f"python3 -m verl.trainer.main data.rollout_batch_size=512 {TESTED}", "verl.trainer.main"),
        (f"python3 own/start.py {TESTED} {MINI}=64 {EPOCHS}=1", "own/start.py"),
        (f"COMMAND='python3 -m {MAIN} {TESTED}'\n$COMMAND", MAIN),
        (f"COMMAND=(python3 -m {MAIN})\n\"${{COMMAND[@]}}\" {TESTED}", MAIN),
        (f"MODULE={MAIN}\npython3 -m \"$MODULE\" {TESTED}", MAIN),
        (f"set -x\nif [ \"${{RANK:-0}}\" -eq 0 ]; then\n    python3 -m {MAIN} {TESTED} \"$@\"\nfi", MAIN),
        (f"numactl -N 0 -m 0 stdbuf -oL setsid python3 -m {MAIN} {TESTED}", MAIN),
        (f"srun -N$NODES $OPTIONS --container-image x --cpu-bind none python3 -m {MAIN} {TESTED}", MAIN),
        (f"timeout \"$LIMIT\" python3 -m {MAIN} {TESTED}", MAIN),
        (f"mpirun --mca btl tcp -np 1 -x A=1 python3 -m {MAIN} {TESTED}", MAIN),
        (f"nsys profile -o out ncu --set full python3 -m {MAIN} {TESTED}", MAIN),
        (f"accelerate launch --new_option 3 --num_processes 8 -m {MAIN} {TESTED}", MAIN),
        (f"deepspeed --num_gpus 8 --module {MAIN} {TESTED}", MAIN),
        (f"python -m debugpy --listen 5678 --wait-for-client -m {MAIN} {TESTED}", MAIN),
        (f"python -m pdb -c continue -m {MAIN} {TESTED}", MAIN),
        (f"python -m cProfile -o out.prof -m {MAIN} {TESTED}", MAIN),
        (f"python -m torch.distributed.run --nproc_per_node 8 -m {MAIN} {TESTED}", MAIN),
        (f"python -m torch.distributed.launch --nproc_per_node=8 verl/trainer/fsdp_sft_trainer.py {TESTED}", "verl/trainer/fsdp_sft_trainer.py"),
        (f"coverage run -m {MAIN} {TESTED}", MAIN),
        (f"$PYTHON -m {MAIN} {TESTED}", MAIN),
        (f"uv run -m {MAIN} {TESTED}", MAIN),
        (f"uvx --from verl python -m {MAIN} {TESTED}", MAIN),
        (f"pdm run python -m {MAIN} {TESTED}", MAIN),
        (f"hatch run python -m {MAIN} {TESTED}", MAIN),
        (f"poetry run bash -c 'python -m {MAIN} {TESTED}'", MAIN),
        (f"doppler run -- python3 -m {MAIN} {TESTED}", MAIN),
        (f"pueue add -g gpu -- python3 -m {MAIN} {TESTED}", MAIN),
        (f"flock /srv/lock -c 'python3 -m {MAIN} {TESTED}'", MAIN),
        (f"sbatch --wrap='python3 -m {MAIN} {TESTED}'", MAIN),
        (f"salloc -N1 bash -c 'python3 -m {MAIN} {TESTED}'", MAIN),
        (f"ssh -p 22 -o A=b me@node1 'cd /srv && python3 -m {MAIN} {TESTED}'", MAIN),
        (f"ssh node1 nohup python3 -m {MAIN} {TESTED} '>' log '2>&1' '&'", MAIN),
        (f"ssh $SSH_OPTS $NODE bash -s <<END\npython3 -m {MAIN} {TESTED}\nEND", MAIN),
        (f"ssh node1 <<'END'\npython3 -m {MAIN} {TESTED}\nEND", MAIN),
        (f"echo 'python3 -m {MAIN} {TESTED}' | ssh node1", MAIN),
        (f"ssh -t node1 docker exec box bash -c \"'python3 -m {MAIN} {TESTED}'\"", MAIN),
        (f"pdsh -R ssh -w node[1-2] 'python3 -m {MAIN} {TESTED}'", MAIN),
        (f"docker compose run --rm trainer python3 -m {MAIN} {TESTED}", MAIN),
        (f"docker run --entrypoint python3 image -m {MAIN} {TESTED}", MAIN),
        (f"docker exec -i box bash <<END\npython3 -m {MAIN} {TESTED}\nEND", MAIN),
        (f"kubectl exec pod -c main -- python3 -m {MAIN} {TESTED}", MAIN),
        (f"apptainer exec --nv image.sif python3 -m {MAIN} {TESTED}", MAIN),
        (f"echo 64 | xargs -I% python3 -m {MAIN} {BATCH}=%", MAIN),
        (f"echo 64 | xargs -n 1 bash -c 'python3 -m {MAIN} {BATCH}=$0'", MAIN),
        (f"parallel -j 1 python3 -m {MAIN} {BATCH}={{}} ::: 64", MAIN),
        (f"parallel python3 -m {MAIN} {BATCH}={{2}} trainer.nnodes={{1}} ::: 1 ::: 64", MAIN),
    ],
)  # fmt: skip
def test_a_launch_is_found(tmp_path: Path, command: str, entry: str) -> None:
    (found,) = launches(tmp_path, command + "\n")
    assert found.program.entry == entry
    assert found[BATCH].equals(64)


def carried(tmp_path: Path, text: str) -> tuple[str, str, dict[str, str]]:
    """What a launch gets as batch, where it runs, and its variables, behind a launcher that exports two of three."""
    (found,) = launches(tmp_path, f"export A=64 B=8\nC=2\n{text}\n")
    around = found.command.around
    return str(found[BATCH]), around.elsewhere, {name: value.shown for name, value in around.environment.items()}


@pytest.mark.parametrize(
    ("text", "batch", "place", "environment"),
    [
        ("bash -c 'python3 -m {} {}=$A'", "64", "", {"A": "64", "B": "8"}),
        ("bash -c 'python3 -m {} {}=$C$A'", "${C}64", "", {"A": "64", "B": "8"}),
        ("ssh node1 'python3 -m {} {}=$A'", "${A}", "host node1", {}),
        ("ssh node1 \"python3 -m {} {}=$A\"", "64", "host node1", {}),
        ("ssh node1 \"export A=$A; python3 -m {} {}=\\$A\"", "64", "host node1", {"A": "64"}),
        ("ssh node1 'python3 -m {} {}=${A:-16}'", "16", "host node1", {}),
        ("pdsh -w node[1-2] 'B=4 python3 -m {} {}=$A'", "${A}", "hosts node[1-2]", {"B": "4"}),
        ("docker run image bash -c 'python3 -m {} {}=$A'", "${A}", "the container", {}),
        ("docker run -e A image bash -c 'python3 -m {} {}=$A'", "64", "the container", {"A": "64"}),
        ("docker run -e C image bash -c 'python3 -m {} {}=$C'", "${C}", "the container", {}),
        ("docker run -e D image bash -c 'python3 -m {} {}=$D'", "${D}", "the container", {"D": "${D}"}),
        ("docker run --env=A=5 -e B=1 image bash -c 'python3 -m {} {}=$A'", "5", "the container", {"A": "5", "B": "1"}),
        ("docker exec -e A=$C box python3 -m {} {}=$A", "64", "the container", {"A": "2"}),
        ("kubectl exec pod -- bash -c 'python3 -m {} {}=$A'", "${A}", "the container", {}),
        ("apptainer exec image.sif bash -c 'python3 -m {} {}=$A'", "64", "", {"A": "64", "B": "8"}),
        ("apptainer exec -e --env A=1,C=3 i.sif bash -c 'python3 -m {} {}=$A'", "1", "the container", {"A": "1", "C": "3"}),
        ("env -i A=1 bash -c 'python3 -m {} {}=$A'", "1", "", {"A": "1"}),
        ("env -u B bash -c 'python3 -m {} {}=$A'", "64", "", {"A": "64"}),
        ("sbatch --wrap='python3 -m {} {}=$A'", "64", "", {"A": "64", "B": "8"}),
    ],
)  # fmt: skip
def test_variables_reach_a_launch_or_not(
    tmp_path: Path, text: str, batch: str, place: str, environment: dict[str, str]
) -> None:
    assert carried(tmp_path, text.replace("{}", MAIN, 1).replace("{}", BATCH, 1)) == (batch, place, environment)


@pytest.mark.parametrize(
    "command",
    [
        f"echo python3 -m {MAIN} {TESTED}",
        f"ssh node1 echo python3 -m {MAIN} {TESTED}",
        f"ssh -N node1 python3 -m {MAIN} {TESTED}",
        f"pgrep -a python3 -m {MAIN} {TESTED}",
        f"pgrep -f 'python3 -m {MAIN} {TESTED}' | xargs kill",
        f"clush -w node1 --copy 'python3 -m {MAIN} {TESTED}'",
        f"pkill -f {MAIN}",
        f"grep -rn {BATCH} scripts",
        "python3 tools/merge_model2hf.py --local_dir out/actor",
        "python3 -c 'import verl'",
        "python3 -m pip install verl",
        "python3",
        "torchrun --nproc_per_node=8",
        "accelerate config",
        "conda activate verl",
        "uv pip install verl",
        "ray start --head --port 6379",
        "ray job stop raysubmit_1",
        f"bash train.sh {TESTED}",
        "python3 own/start.py lr=1 batch=2 steps=3",
        f"export CONFIG='{TESTED} {MINI}=64'",
    ],
)
def test_other_commands_are_no_launches(tmp_path: Path, command: str) -> None:
    assert launches(tmp_path, command + "\n") == []


def test_a_function_that_is_called_as_a_program_is_no_launch(tmp_path: Path) -> None:
    assert launches(tmp_path, f'python3() {{ echo "$@"; }}\npython3 -m {MAIN} {TESTED}\n') == []


def test_words_that_are_no_overrides_are_options(tmp_path: Path) -> None:
    found = launch(tmp_path, "--config-path=./config", TESTED, "--config-name=ppo_trainer")
    assert [word.known for word in found.options] == ["--config-path=./config", "--config-name=ppo_trainer"]
    assert [override.key for override in found.overrides] == [BATCH]


def test_the_words_of_the_caller_are_passed_on(tmp_path: Path) -> None:
    assert launch(tmp_path, TESTED, '"$@"').passes_arguments
    assert not launch(tmp_path, TESTED).passes_arguments


def test_the_head_is_the_entry_point(tmp_path: Path) -> None:
    assert launch(tmp_path, TESTED).head.text == MAIN


# ---- values


@pytest.mark.parametrize(
    ("words", "state", "data"),
    [
        ((f"{BATCH}=64",), State.KNOWN, 64),
        ((f"+{BATCH}=64",), State.KNOWN, 64),
        ((f"++{BATCH}=64",), State.KNOWN, 64),
        ((f"{BATCH}=64", f"{BATCH}=32"), State.KNOWN, 32),
        ((f"{BATCH}=64", f"++{BATCH}=32"), State.KNOWN, 32),
        ((f"~{BATCH}",), State.ABSENT, None),
        ((f"~{BATCH}=64",), State.ABSENT, None),
        ((f"~{BATCH}", f"+{BATCH}=16"), State.KNOWN, 16),
        ((f"{BATCH}=64 32",), State.KNOWN, 64),
        ((f"{BATCH}=$((2 * 32))",), State.KNOWN, 64),
        ((f"{BATCH}=null",), State.KNOWN, None),
        ((f"{BATCH}=",), State.KNOWN, ""),
        ((f"'{BATCH}=\"64\"'",), State.KNOWN, "64"),
        ((f'{BATCH}="${{BATCH}}"',), State.SYMBOLIC, None),
        ((f"{BATCH}=64,128",), State.UNKNOWN, None),
        ((MINI + "=1",), State.ABSENT, 1024),
    ],
)
def test_a_value(tmp_path: Path, words: tuple[str, ...], state: State, data: Data) -> None:
    value = launch(tmp_path, *words)[BATCH]
    assert (value.state, value.data, value.key) == (state, data, BATCH)


def test_a_deleted_key_has_no_default(tmp_path: Path) -> None:
    value = launch(tmp_path, f"~{BATCH}", version="0.7.1")[BATCH]
    assert (value.given, value.decided, value.reason) == (False, False, f"~{BATCH} takes the key out of the config")
    assert value.span is not None
    assert value.span.text == f"~{BATCH}"


@pytest.mark.parametrize(
    ("key", "version", "decided", "data", "note"),
    [
        (ENTROPY, "0.2.0.post2", True, 0.001, "default of VeRL 0.2.0.post2"),
        (ENTROPY, "v0.3", True, 0.001, "default of VeRL v0.3"),
        (ENTROPY, "0.4.0", True, 0, "default of VeRL 0.4.0"),
        (ENTROPY, "0.10.0.dev", True, 0, "default of VeRL 0.10.0.dev"),
        (ENTROPY, "", False, None, ""),
        (ENTROPY, "main", False, None, ""),
        (EPOCHS, "0.9.1", True, 1, "default of VeRL 0.9.1"),
        (EPOCHS, "", True, 1, "default of every VeRL version"),
        ("trainer.own_key", "0.9.1", False, None, ""),
    ],
)
def test_the_default_of_an_absent_key(
    tmp_path: Path, key: str, version: str, decided: bool, data: Data, note: str
) -> None:
    found = launch(tmp_path, TESTED, version=version)
    value = found[key]
    assert (value.state, value.decided, value.data) == (State.ABSENT, decided, data)
    assert [hop.note for hop in value.hops] == ([note] if note else [])
    assert value.span == found.head
    assert key not in found


def test_one_variable_is_the_same_value_for_two_keys(tmp_path: Path) -> None:
    found = launch(tmp_path, f'{BATCH}="${{BSZ}}"', f"{MINI}=${{BSZ}}", f"{EPOCHS}=${{OTHER}}")
    assert found[BATCH].same_as(found[MINI]) is True
    assert found[BATCH].same_as(found[EPOCHS]) is None


# ---- family, intent and version

ALL_OFF = (
    f"{BATCH}=32 {MINI}=32 actor_rollout_ref.actor.use_kl_loss=False actor_rollout_ref.actor.kl_loss_coef=0.0 "
    f"{ENTROPY}=0 algorithm.kl_ctrl.kl_coef=0.0 algorithm.adv_estimator=grpo"
)


def in_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, text: str, verl: str = "", verl_of_call: str = ""
) -> list[Launch]:
    """The launches of a project that holds one file."""
    file = tmp_path / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    monkeypatch.chdir(tmp_path)
    settings = Settings(root=tmp_path, verl=verl, verl_of_call=verl_of_call)
    project = Project(load(["."], settings).files, settings, tmp_path)
    return [found for found, _ in project.launches]


@pytest.mark.parametrize(
    ("path", "directive", "words", "expected"),
    [
        ("run.sh", "", ALL_OFF, ("", "", "", "")),
        ("examples/grpo_trainer/run.sh", "", ALL_OFF, ("", "", "", "")),
        ("opo/verl/examples/grpo_trainer/run.sh", "", ALL_OFF, ("", "", "", "")),
        ("opo/scripts/train.sh", "", ALL_OFF, ("opo", "train", "exact", "0.2.0")),
        ("opo/examples/opo_trainer/run.sh", "", ALL_OFF, ("opo", "train", "exact", "0.2.0")),
        ("run.sh", "family=opo", TESTED, ("opo", "train", "exact", "0.2.0")),
        ("run.sh", "family=opo", f"{TESTED} +trainer.val_only=True", ("opo", "", "exact", "0.2.0")),
        ("run.sh", "family=opo verl=0.3.0", TESTED, ("opo", "train", "exact", "0.3.0")),
        ("run.sh", "on-policy=exact", TESTED, ("", "", "exact", "")),
        ("run.sh", "", "algorithm.adv_estimator=opo", ("opo", "train", "exact", "")),
        ("run.sh", "on-policy=clipped", "algorithm.adv_estimator=opo", ("opo", "train", "clipped", "")),
        ("run.sh", "", "algorithm.adv_estimator=optimal_token_baseline", ("", "", "", "")),
    ],
)  # fmt: skip
def test_what_a_launch_is_taken_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, directive: str, words: str, expected: tuple[str, ...]
) -> None:
    said = f"# verlint: {directive}\n" if directive else ""
    (found,) = in_project(tmp_path, monkeypatch, path, f"{said}set -e\npython3 -m {MAIN} {words}\n")
    assert (found.family, found.stage, found.intent, found.version) == expected


def test_a_directive_above_a_command_holds_for_that_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = f"set -e\n# verlint: on-policy=exact\npython3 -m {MAIN} {TESTED}\npython3 -m {MAIN} {TESTED}\n"
    assert [found.intent for found in in_project(tmp_path, monkeypatch, "run.sh", text)] == ["exact", ""]


def test_the_settings_name_the_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = f"# verlint: verl=0.2.0\nset -e\npython3 -m {MAIN} {TESTED}\n"
    (found,) = in_project(tmp_path, monkeypatch, "run.sh", text, verl_of_call="0.7.1")
    assert (found.version, found[ENTROPY].data) == ("0.7.1", 0)
    (found,) = in_project(tmp_path, monkeypatch, "run.sh", text, verl="0.7.1")
    assert (found.version, found[ENTROPY].data) == ("0.2.0", 0.001)
    (found,) = in_project(tmp_path, monkeypatch, "run.sh", text.partition("\n")[2], verl="0.7.1")
    assert (found.version, found[ENTROPY].data) == ("0.7.1", 0)
