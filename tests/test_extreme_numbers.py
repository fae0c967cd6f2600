"""Numbers beyond what anybody means are neither reckoned with nor waited for."""

from __future__ import annotations

from pathlib import Path

import pytest

import verlint
from verlint.value import whole
from verlint.verl.divisors import divisors
from verlint.verl.interpolation import place_in_list
from verlint_rules.shell.tests_of_variables import Outcome, Word, judge

LAUNCH = """\
set -e
ray start --head --num-gpus {n}
python3 -m verl.trainer.main_ppo \\
    data.train_files=train.parquet data.val_files=val.parquet \\
    data.train_batch_size={n} data.max_prompt_length=64 data.max_response_length={n} \\
    actor_rollout_ref.model.path=org/model actor_rollout_ref.rollout.n={n} \\
    actor_rollout_ref.actor.ppo_mini_batch_size={n} actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu={n} \\
    actor_rollout_ref.rollout.tensor_model_parallel_size={n} \\
    trainer.n_gpus_per_node={n} trainer.nnodes={n} trainer.save_freq={n} trainer.total_training_steps={n} \\
    trainer.max_actor_ckpt_to_keep={n} trainer.default_local_dir=/srv/out
python3 -m verl.model_merger merge --local_dir /srv/out/global_step_{n}/actor --target_dir /srv/merged
[ $LEFT -eq {n} x-o $RIGHT -eq {n} ] && echo {n} | head -n {n} | cut -d ' ' -f {n}
"""


@pytest.mark.parametrize("number", ["0", "-1", "1e999", ".inf", "nan", "²", "1" + "0" * 12, "9" * 25, "1" * 5000])
def test_any_number_is_taken(number: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("run.sh").write_text(LAUNCH.format(n=number), "utf-8")
    assert not verlint.check(".").crashed


@pytest.mark.parametrize("number", [1, 2, 36, 97, 1024, 3 * 5 * 7 * 64])
def test_divisors(number: int) -> None:
    assert divisors(number) == [each for each in range(1, number + 1) if number % each == 0]


def test_divisors_of_more_than_anybody_means() -> None:
    assert divisors(0) == [1]
    assert divisors(10**24)[:3] == [1, 2, 4]
    assert divisors(10**24)[-1] == 10**24


def test_whole_numbers() -> None:
    assert [whole(each) for each in ("0", "007", "12", "-1", "", "1.0", "²", "٣", "9" * 19)] == [0, 7, 12] + [None] * 6
    assert [place_in_list(each) for each in ("0", "+2", "-1", "+-1", "a", "²")] == [0, 2, -1, None, None, None]


def test_words_that_nothing_joins() -> None:
    """bash: too many arguments."""
    assert judge([Word(each) for each in ("-eq", "1", "x-o", "-eq", "1")]) is Outcome.ARGUMENTS


@pytest.mark.parametrize("ratio", ["1e999", "1e-999", "1" * 400])
def test_any_ratio_is_taken(ratio: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scripts/train").mkdir(parents=True)
    Path("run.sh").write_text(
        "bash scripts/train/train_el.sh --model m --exp_name el --batch_size 256 --use_dataset wildchat,tulu3 "
        f"--multidata_ratio 1,{ratio} --multidata_rm_prompt v2,empty\n"
    )
    report = verlint.check(".")
    assert not report.crashed
    assert ("VL805" in {each.code for each in report.findings}) == (ratio == "1e-999")


@pytest.mark.parametrize("number", ["1" * 5000, "9" * 400, "9" * 19, "0" * 4999 + "8", "-" + "9" * 5000])
@pytest.mark.parametrize(
    "line",
    [
        "echo {1..N} {N..3..N} {a..c..N}",
        "a[N]=x; b=([N]=x y); echo ${b[N]} ${x:N:N} ${N}",
        "for ((i=N; i<N; i++)); do echo $((i%N)); done",
        "[ N -eq 1 ] || [[ N -gt 1 ]] || ((N > 1)); shift N; OPTIND=N; getopts ab opt",
        "seq N | head -n N | cut -c N",
        "seq 1 N 3; seq N 1 N",
        "echo a b | awk '{print $N}'; expr N + 1; xargs -n N echo <<<a; printf '%Nd' 1",
        "parallel -j N echo {N} ::: a; sbatch -N N --gres=gpu:N run.sh; ray start --head --port N",
    ],
)
def test_any_number_is_taken_by_bash(line: str, number: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("run.sh").write_text(f"{line.replace('N', number)}\npython3 -m verl.trainer.main_ppo data.train_files=a\n")
    assert not verlint.check(".").crashed
