"""Experiments: the stages of whole drivers, documents and specs, and the checkpoints they save and use."""

from __future__ import annotations

from pathlib import Path

import pytest

from fixture_cases import FIXTURES
from verlint.experiment.checkpoints import Ledger, Save, Use, ledger_of, own_sources
from verlint.experiment.paths import absolute, components, in_tree, last_component, parent, shown
from verlint.experiment.project import Project
from verlint.experiment.records import fields, records_of
from verlint.experiment.stage import Stage
from verlint.files.loading import load
from verlint.settings import Settings
from verlint.value import Hole, Literal, Text, Value, literal

# Stages --------------------------------------------------------------------------------------------------------------

STAGES = {
    "oel": """
oel-lake.exp.yaml
    r1-extract: oel / extract
    r1-list: oel / experience-list
    r1-deploy: oel / deploy
    r1-consolidate: oel / consolidate
    r1-eval: oel / eval
oel-sokoban.exp.yaml
    r1-extract: oel / extract
    r1-list: oel / experience-list
    r1-deploy: oel / deploy
    r1-consolidate: oel / consolidate
    r1-eval: oel / eval
    r2-extract: oel / extract
    r2-list: oel / experience-list
    r2-deploy: oel / deploy
    r2-consolidate: oel / consolidate
    r2-eval: oel / eval
README.md
    scripts/textgame_extract_inturn.sh: oel / extract
    tools/make_exp_list.py: oel / experience-list
    scripts/textgame_generate_deploy.sh: oel / deploy
    scripts/textgame_consolidate.sh: oel / consolidate
    scripts/textgame_eval_inturn.sh: oel / eval
    scripts/textgame_extract_inturn.sh: oel / extract
    tools/make_exp_list.py: oel / experience-list
    scripts/textgame_generate_deploy.sh: oel / deploy
    scripts/textgame_consolidate.sh: oel / consolidate
    scripts/textgame_eval_inturn.sh: oel / eval
usage_example.sh
    scripts/textgame_extract_inturn.sh: oel / extract
    tools/make_exp_list.py: oel / experience-list
    scripts/textgame_generate_deploy.sh: oel / deploy
    scripts/textgame_consolidate.sh: oel / consolidate
    scripts/textgame_eval_inturn.sh: oel / eval
""",
    "opcd": """
math.exp.yaml
    data: opcd / data-prep
    extract: opcd / extract
    on-policy: opcd / on-policy
    teacher-data: opcd / off-policy-data
    off-policy: opcd / off-policy
    eval-on-policy: opcd / eval
    eval-off-policy: opcd / eval
short.exp.yaml
    data: opcd / data-prep
    extract: opcd / extract
    on-policy: opcd / on-policy
    eval: opcd / eval
README.md
    tools/prepare_data.py: opcd / data-prep
    scripts/math_extract_inturn.sh: opcd / extract
    scripts/math_consolidate.sh: opcd / on-policy
    scripts/math_generate_offp.sh: opcd / off-policy-data
    scripts/math_train_offp.sh: opcd / off-policy
    scripts/math_eval_inturn.sh: opcd / eval
run_all.sh
    tools/prepare_data.py: opcd / data-prep
    scripts/math_extract_inturn.sh: opcd / extract
    scripts/math_consolidate.sh: opcd / on-policy
    scripts/math_generate_offp.sh: opcd / off-policy-data
    scripts/math_train_offp.sh: opcd / off-policy
    scripts/math_eval_inturn.sh: opcd / eval
""",
    "coach": """
coach.exp.yaml
    data: coach / data-prep
    train-el: coach / train
    train-rl: coach / train
    second-el: coach / train
    eval-el: coach / eval
    eval-rl: coach / eval
    eval-second: coach / eval
    ifeval: coach / eval-endtask
    score: coach / score
el-only.exp.yaml
    data: coach / data-prep
    train: coach / train
    eval: coach / eval
rl-only.exp.yaml
    data: coach / data-prep
    train: coach / train
    eval: coach / eval
README.md
    tools/download_data.sh: coach / data-prep
    scripts/train/train_el.sh: coach / train
    scripts/train/train_rl.sh: coach / train
    scripts/train/train_el.sh: coach / train
    scripts/train/eval.sh: coach / eval
    scripts/train/eval.sh: coach / eval
    scripts/train/eval.sh: coach / eval
    scripts/train/eval_endtask.sh: coach / eval-endtask
    scripts/eval/eval_gpt4o.py: coach / score
""",
    "gad": """
gad-short.exp.yaml
    data: gad / data-prep
    seqkd: gad / seqkd on seqkd
gad.exp.yaml
    data: gad / data-prep
    seqkd: gad / seqkd on seqkd
    warmup: gad / warmup on warmup
    adversarial: gad / adversarial on gad
    generation: gad / generation on eval
    baseline-generation: gad / generation on eval
    instruction-check: gad / eval-endtask
README.md
    tools/export_lmsys_parquet.py: gad / data-prep
    scripts/train/lmsys-7b-seqkd-lr5e-6.sh: gad / seqkd on seqkd
    scripts/train/lmsys-7b-warmup-lr1e-6.sh: gad / warmup on warmup
    scripts/train/lmsys-7b-adversarial-lr1e-6.sh: gad / adversarial on gad
    scripts/generate/parallel_generate.sh: gad / generation on eval
    scripts/generate/generate.sh: gad / generation on eval
    scripts/evaluate/instruction_check.sh: unknown
""",
    "opo": """
opo.exp.yaml
    data: opo / data-prep
    train: opo / config
    eval: opo / eval
README.md
    tools/make_math_parquet.py: unknown
    scripts/opo_train.sh: opo / train
    scripts/opo_train_long.sh: opo / train
    scripts/opo_eval_inturn.sh: unknown
run_all.sh
    tools/make_math_parquet.py: unknown
    scripts/opo_train.sh: opo / train
    scripts/opo_train_long.sh: opo / train
    scripts/opo_eval_inturn.sh: unknown
""",
}


@pytest.mark.parametrize("family", STAGES)
def test_the_stages_of_a_clean_checkout(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    project = project_in(FIXTURES / "experiments" / family / "clean", monkeypatch)
    lines: list[str] = []
    for experiment in project.experiments:
        if experiment.root:
            lines.append(experiment.source.path)
            lines.extend(f"    {line_of(stage)}" for stage in experiment.stages)
    assert "\n".join(lines) == STAGES[family].strip()


def line_of(stage: Stage) -> str:
    """`id: family / kind on branch`."""
    branch = stage.branch
    on = "" if branch is None else f" on {branch if isinstance(branch, Value) else branch.shown}"
    return f"{stage.id}: {stage.title or 'unknown'}{on}"


def project_in(folder: Path, monkeypatch: pytest.MonkeyPatch, *paths: str) -> Project:
    """The project of some files of a folder (of all without names), which becomes the working directory."""
    monkeypatch.chdir(folder)
    settings = Settings(root=folder)
    return Project(load(paths or ["."], settings).files, settings, folder)


def test_the_launcher_of_a_stage_may_choose_the_branch_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "warmup.sh").write_text(f"git -C verl checkout warmup\n{TRAIN}")
    (tmp_path / "run.sh").write_text("git -C verl checkout seqkd\nbash warmup.sh --exp_name x\n")
    project = project_in(tmp_path, monkeypatch)
    driver = next(each for each in project.experiments if each.source.path == "run.sh")
    assert [line_of(stage) for stage in driver.stages] == ["warmup.sh: gad / warmup on warmup"]


# Checkpoints ---------------------------------------------------------------------------------------------------------

TRAIN = """
while [ $# -ge 2 ]; do
    case $1 in --exp_name) NAME=$2; shift 2 ;; --from) FROM=$2; shift 2 ;; *) break ;; esac
done
python3 -m verl.trainer.main_ppo algorithm.adv_estimator=grpo data.train_files=d.parquet \\
    actor_rollout_ref.model.path="${FROM:-base}" trainer.default_local_dir="$ROOT/$NAME" trainer.save_freq=20 \\
    trainer.total_training_steps=90 "$@"
"""


def ledger_in(folder: Path, monkeypatch: pytest.MonkeyPatch, driver: str) -> Ledger:
    """The ledger of a driver that may call `train.sh`."""
    (folder / "train.sh").write_text(TRAIN)
    (folder / "run.sh").write_text(driver)
    project = project_in(folder, monkeypatch, "run.sh", "train.sh")
    script = next(each for each in project.scripts if each.path == "run.sh")
    return ledger_of(script.resolution.paths, own_sources(script.texts), project.launch)


def saved(save: Save) -> str:
    roles = "any role" if save.roles is None else "+".join(sorted(save.roles))
    steps = ",".join(map(str, sorted(save.steps))) or f"every {save.every} to {save.last}"
    return f"{shown(save.folder)}: {roles}, {'never' if save.never else steps}"


def used(use: Use) -> str:
    return f"{shown(use.folder)} {use.role or 'step'} {use.step}{' if' if use.conditional else ''} <- {use.span.text}"


@pytest.mark.parametrize(
    ("driver", "saves", "uses"),
    [
        pytest.param(
            "bash train.sh --exp_name a\nbash train.sh --exp_name b --from $ROOT/a/global_step_80/actor/huggingface\n",
            ["${ROOT}/a: actor, every 20 to 90", "${ROOT}/b: actor, every 20 to 90"],
            ["${ROOT}/a actor 80 <- a"],
            id="a run that starts from another",
        ),
        pytest.param(
            "bash train.sh --exp_name a trainer.save_freq=-1\nbash train.sh --exp_name b trainer.val_only=True\n",
            ["${ROOT}/a: actor, never"],
            [],
            id="runs that save nothing",
        ),
        pytest.param(
            "bash train.sh --exp_name a critic.model.path=base\nbash train.sh --exp_name b trainer.save_freq=$FREQ\n",
            ["${ROOT}/a: actor+critic, every 20 to 90", "${ROOT}/b: actor, every None to 90"],
            [],
            id="a critic, and a frequency that is not known",
        ),
        pytest.param(
            "bash train.sh --exp_name a\nmkdir -p $ROOT/b/global_step_80\ncp -r $ROOT/a/global_step_80 $ROOT/b/\n",
            ["${ROOT}/a: actor, every 20 to 90", "${ROOT}/b: actor, 80"],
            ["${ROOT}/a step 80 <- a"],
            id="a step that is handed over",
        ),
        pytest.param(
            "cp -r $ROOT/a/global_step_80/critic $ROOT/b/global_step_7/\nmv -t new $ROOT/a/global_step_9\n",
            ["${ROOT}/b: critic, 7", "new: any role, 9"],
            ["${ROOT}/a critic 80 <- a", "${ROOT}/a step 9 <- a"],
            id="one role into another step",
        ),
        pytest.param(
            "lm_eval --model_args pretrained=out/x/global_step_5/actor/huggingface,dtype=auto --output_path res/global_step_5\n"
            "echo out/y/global_step_5/actor; ls out/y/global_step_5/actor\n"
            "python m.py --local_dir=out/z/global_step_$N/actor --target_dir out/z/global_step_1/actor/huggingface\n"
            "python3 -m verl.trainer.main_ppo trainer.resume_from_path=out/w/global_step_3 trainer.validation_data_dir=r/global_step_3 a.b=1\n",
            [],
            ["out/x actor 5 <- x", "out/z actor None <- z", "out/w step 3 <- w"],
            id="words that read a checkpoint, and words that do not",
        ),
        pytest.param(
            "if [ -d old ]; then python m.py --local_dir old/global_step_1/actor; fi\n",
            [],
            ["old actor 1 if <- old"],
            id="under a condition",
        ),
    ],
)
def test_what_a_driver_saves_and_uses(
    driver: str, saves: list[str], uses: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = ledger_in(tmp_path, monkeypatch, driver)
    assert list(dict.fromkeys(map(saved, ledger.saves))) == saves
    assert list(dict.fromkeys(map(used, ledger.uses))) == uses


def test_order_holds_over_all_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    driver = (
        "if [ -f skip ]; then bash train.sh --exp_name a; fi\nbash train.sh --exp_name b\n"
        "python m.py --local_dir $ROOT/a/global_step_1/actor\nbash train.sh --exp_name c\n"
    )
    ledger = ledger_in(tmp_path, monkeypatch, driver)
    (use, *_) = ledger.uses
    before = {saved(save) for save in ledger.saves if save.place.before(use.place)}
    assert before == {"${ROOT}/a: actor, every 20 to 90", "${ROOT}/b: actor, every 20 to 90"}


@pytest.mark.parametrize(
    ("driver", "known"),
    [
        ("hf download org/runs --local-dir $ROOT/a", False),
        ("git clone https://example.org/runs.git", True),
        ("aws s3 cp --recursive s3://bucket/runs $ROOT", False),
        ("cp -r backup/. $ROOT/a", False),
        ("bash missing.sh", False),
        ("mkdir -p $ROOT/a; ls $ROOT; python tool.py --out_dir $OTHER", True),
    ],
)
def test_folders_that_other_commands_may_have_filled(
    driver: str, known: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    after = "bash train.sh --exp_name c\npython m.py --local_dir $ROOT/a/global_step_1/actor\n"
    ledger = ledger_in(tmp_path, monkeypatch, f"{driver}\n{after}")
    assert [ledger.made_otherwise(use) for use in ledger.uses[:1]] == [not known]


@pytest.mark.parametrize(("every", "last"), [(20, 90), (20, None), (None, 90)])
def test_steps_that_a_run_saves(
    every: int | None, last: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    overrides = [f"trainer.save_freq={every or '$FREQ'}", f"trainer.total_training_steps={last or '$LAST'}"]
    (save,) = ledger_in(tmp_path, monkeypatch, f"bash train.sh --exp_name a {' '.join(overrides)}\n").saves
    assert (save.every, save.last, save.never) == (every, last, False)


# Paths and records ---------------------------------------------------------------------------------------------------

ROOT_HOLE = Hole(("env", "ROOT"), "ROOT", "environment variable")
START = Text((Hole(("cwd", "jobs"), "PWD", "start folder"),))


def test_paths_in_pieces() -> None:
    path = absolute(Text((ROOT_HOLE, Literal("/a//b/../run-1/"))), START)
    assert shown(path) == "${ROOT}/a/run-1"
    assert last_component(path).known == "run-1"
    assert shown(parent(path)) == "${ROOT}/a"
    assert components(path) == components(Text((ROOT_HOLE, Literal("/a/"), Literal("run-1"))))
    relative = absolute(literal("../out/x"), START)
    assert (shown(relative), in_tree(absolute(literal("out/x"), START))) == ("../out/x", "jobs/out/x")
    assert in_tree(path) is None


def test_records() -> None:
    word = Text((Literal("run-"), ROOT_HOLE, Literal(",50,,Org/Model")))
    assert [field.shown for field in fields(word)] == ["run-${ROOT}", "50", "", "Org/Model"]
    counts = [len(record.fields) for record in records_of("scripts/textgame_extract_inturn.sh")]
    assert counts == [16, 15]
    assert records_of("scripts/textgame_extract_inturn.sh", "opcd")[0].resumes == (
        ("RESUME_POLICY_NAME", "RESUME_POLICY_CKPT"),
    )
