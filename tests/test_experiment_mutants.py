"""Clean experiments with faults in them: the rule for each finds it, at its place, and no rule about families and stages
finds anything else.

Each mutant replaces one piece of text in one file of `fixtures/experiments/FAMILY/clean`. To look at an experiment
takes a second or more, so faults that have nothing to do with each other (in different files, or for different rules)
are looked at together. `VERLINT_MUTANTS=alone` gives each an experiment of its own.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from fixture_cases import FIXTURES
from verlint.engine import check_project
from verlint.files.loading import load
from verlint.settings import Settings

ALONE = frozenset(["VL010", "VL308", "VL801", "VL808"])
"""Rules about stages that are missing or are no stages any more, of which the others say nothing then."""
MOST = 3
"""Faults in one file that are looked at together."""


@dataclass(frozen=True)
class Mutant:
    """The `nth` place of `old` in a file becomes `new`, which is the fault `found` (place and code; a launcher of
    several experiments has one for each). One that is `alone` changes what is said of the others."""

    family: str
    file: str
    old: str
    new: str
    nth: int
    found: str
    alone: bool = False

    @property
    def code(self) -> str:
        """The rule that finds it."""
        return self.found.split()[-1]

    @property
    def in_scripts(self) -> bool:
        """Whether it is in a script that the documents, drivers and specs of the experiment call."""
        return self.file.startswith("scripts/")

    @property
    def moves_lines(self) -> bool:
        """Whether what follows it stands in other lines than before."""
        return self.old.count("\n") != self.new.count("\n")

    def place(self, text: str) -> int:
        """Where `old` begins in the text of the file."""
        at = -1
        for _ in range(self.nth):
            at = text.index(self.old, at + 1)
        return at

    def bears(self, other: Mutant) -> bool:
        """Whether both may be in one experiment without a word of the one on what is found of the other."""
        if self.family != other.family or self.alone or other.alone or not ALONE.isdisjoint((self.code, other.code)):
            return False
        if self.file == other.file:
            return self.code != other.code and not self.moves_lines and not other.moves_lines
        return self.in_scripts == other.in_scripts


MUTANTS = (
    Mutant("oel", "README.md", "--oel_round 2", "--oel_round 1", 1, "README.md:81 VL802"),
    Mutant("oel", "README.md", "--oel_round 2", "--oel_round 1", 2, "README.md:98 VL802"),
    Mutant("oel", "README.md", "--oel_round 1", "--oel_round 2", 1, "README.md:27 VL802"),
    Mutant("oel", "README.md", "--oel_round 1", "--oel_round 2", 2, "README.md:43 VL802"),
    Mutant("oel", "README.md", ',True,2,"', ',True,1,"', 1, "README.md:69 VL802"),
    Mutant("oel", "README.md", ',True,1,"', ',True,2,"', 1, "README.md:16 VL802", True),
    Mutant(
        "oel",
        "README.md",
        "sokoban-q3-4b-dep-r2/deploy_data",
        "sokoban-q3-4b-dep-r1/deploy_data",
        1,
        "README.md:107 VL802",
    ),
    Mutant(
        "oel",
        "README.md",
        "sokoban-q3-4b-ext-v4-r2/experience_list",
        "sokoban-q3-4b-ext-v4-r1/experience_list",
        1,
        "README.md:108 VL802",
    ),
    Mutant("oel", "README.md", "--textgame_name Sokoban-v0", "--textgame_name FrozenLake-v0", 1, "README.md:30 VL803"),
    Mutant("oel", "README.md", "--textgame_name Sokoban-v0", "--textgame_name FrozenLake-v0", 2, "README.md:49 VL803"),
    Mutant("oel", "README.md", "8192,Sokoban-v0", "8192,FrozenLake-v0", 1, "README.md:16 VL803", True),
    Mutant("oel", "README.md", "--textgame_max_steps 5", "--textgame_max_steps 6", 3, "README.md:85 VL803"),
    Mutant("oel", "README.md", "--textgame_no_think True", "--textgame_no_think False", 4, "README.md:106 VL803"),
    Mutant("oel", "README.md", "--experience_max_length 8192", "--experience_max_length 4096", 2, "README.md:47 VL803"),
    Mutant("oel", "README.md", "--experience_max_length 8192", "--experience_max_length 4096", 1, "README.md:28 VL803"),
    Mutant("oel", "README.md", "--max_response_length 1024", "--max_response_length 512", 1, "README.md:48 VL803"),
    Mutant("oel", "README.md", "r1,50,500,50,100,50", "r1,50,550,50,100,50", 1, "README.md:17 VL803"),
    Mutant("oel", "README.md", "r1,50,500,50,100,50", "r1,50,500,50,100,150", 1, "README.md:17 VL803"),
    Mutant("oel", "README.md", "r1,50,500,50,100,50", "r1,50,500,50,60,50", 1, "README.md:17 VL803"),
    Mutant("oel", "README.md", "--total_training_steps 100", "--total_training_steps 50", 1, "README.md:54 VL811"),
    Mutant("oel", "README.md", "--total_training_steps 100", "--total_training_steps 200", 2, "README.md:54 VL811"),
    Mutant("oel", "README.md", "--resume_policy_ckpt 100", "--resume_policy_ckpt 50", 1, "README.md:78 VL810"),
    Mutant("oel", "README.md", "--resume_policy_ckpt 100", "--resume_policy_ckpt 50", 2, "README.md:95 VL810"),
    Mutant("oel", "README.md", "--model Qwen/Qwen3-4B-Instruct-2507", "--model Qwen/Qwen3-8B", 1, "README.md:24 VL810"),
    Mutant("oel", "README.md", "50,Qwen/Qwen3-4B-Instruct-2507,,", "50,Qwen/Qwen3-8B,,", 1, "README.md:16 VL810", True),
    Mutant(
        "oel",
        "README.md",
        '\npython3 tools/make_exp_list.py "sokoban-q3-4b-ext-v4-r1,50,500,50,100,50"',
        "\necho",
        1,
        "README.md:53 VL801",
    ),
    Mutant(
        "oel",
        "usage_example.sh",
        "--textgame_no_think False",
        "--textgame_no_think True",
        2,
        "usage_example.sh:34 VL803",
    ),
    Mutant(
        "oel",
        "oel-sokoban.exp.yaml",
        "deploy_data: {from: r2-deploy}",
        "deploy_data: {from: r1-deploy}",
        1,
        "oel-sokoban.exp.yaml:114 VL802",
    ),
    Mutant(
        "oel",
        "oel-sokoban.exp.yaml",
        "experience_list: {from: r2-list}",
        "experience_list: {from: r1-list}",
        1,
        "oel-sokoban.exp.yaml:119 VL802",
    ),
    Mutant(
        "oel",
        "oel-sokoban.exp.yaml",
        "deps: {policy: {from: r1-consolidate, role: actor, step: 100}}\n    args: {<<: *extract",
        "deps: {policy: {from: r2-consolidate, role: actor, step: 100}}\n    args: {<<: *extract",
        1,
        "oel-sokoban.exp.yaml:91 VL801",
    ),
    Mutant("oel", "oel-sokoban.exp.yaml", "oel_round: 2}", "oel_round: 3}", 1, "oel-sokoban.exp.yaml:92 VL802"),
    Mutant(
        "oel",
        "oel-sokoban.exp.yaml",
        "      oel_round: 2\n",
        "      oel_round: 1\n",
        1,
        "oel-sokoban.exp.yaml:119 VL802",
    ),
    Mutant(
        "oel",
        "scripts/textgame_consolidate.sh",
        "trainer.stage=consolidate",
        "trainer.stage=consolidat",
        1,
        "scripts/textgame_consolidate.sh:97 VL808",
    ),
    Mutant(
        "oel",
        "scripts/textgame_consolidate.sh",
        "        trainer.stage=consolidate \\\n",
        "",
        1,
        "scripts/textgame_consolidate.sh:72 VL808",
    ),
    Mutant(
        "oel",
        "scripts/textgame_consolidate.sh",
        "trainer.train_oel=True",
        "trainer.train_oel=False",
        1,
        "scripts/textgame_consolidate.sh:99 VL809",
    ),
    Mutant(
        "oel",
        "scripts/textgame_consolidate.sh",
        "use_kl_loss=True",
        "use_kl_loss=False",
        1,
        "scripts/textgame_consolidate.sh:85 VL809",
    ),
    Mutant(
        "oel",
        "scripts/textgame_consolidate.sh",
        "trainer.multi_experience=True",
        "trainer.multi_experience=False",
        1,
        "scripts/textgame_consolidate.sh:111 VL812",
    ),
    Mutant(
        "oel",
        "scripts/textgame_extract.sh",
        "trainer.val_only=True",
        "trainer.val_only=False",
        1,
        "scripts/textgame_extract.sh:82 VL809",
    ),
    Mutant(
        "oel",
        "scripts/textgame_extract.sh",
        "trainer.setting=textgame",
        "trainer.setting=math",
        1,
        "scripts/textgame_extract.sh:71 VL809",
    ),
    Mutant(
        "oel",
        "scripts/textgame_eval.sh",
        "trainer.val_before_train=True",
        "trainer.val_before_train=False",
        1,
        "scripts/textgame_eval.sh:70 VL809",
    ),
    Mutant(
        "opcd",
        "run_all.sh",
        '--exp_path "${BEST_EXP_PATH}"',
        '--exp_path "${OPCD_CKPT}/other.txt"',
        2,
        "run_all.sh:38 VL804",
    ),
    Mutant(
        "opcd",
        "run_all.sh",
        '--max_response_length "${LENGTH}"',
        "--max_response_length 4096",
        2,
        "run_all.sh:41 VL804",
    ),
    Mutant(
        "opcd",
        "run_all.sh",
        '--max_response_length "${LENGTH}"',
        "--max_response_length 4096",
        3,
        "run_all.sh:41 VL804",
    ),
    Mutant(
        "opcd",
        "run_all.sh",
        "--exp_name math-offp-data \\\n",
        "--exp_name math-offp-data \\\n    --rollout_n 2 \\\n",
        1,
        "run_all.sh:30 VL804",
    ),
    Mutant(
        "opcd",
        "run_all.sh",
        "--exp_name math-offp \\\n",
        "--exp_name math-offp \\\n    --kl_topk 128 \\\n",
        1,
        "run_all.sh:37 VL804",
    ),
    Mutant(
        "opcd",
        "run_all.sh",
        'math_generate_offp.sh \\\n    --model "${MODEL}"',
        "math_generate_offp.sh \\\n    --model Qwen/Qwen3-14B",
        1,
        "run_all.sh:35 VL810",
    ),
    Mutant(
        "opcd",
        "math.exp.yaml",
        '      off_policy_save_dir: "${deps.batches}"\n      nnodes: 1\n      actor_lr: 5.0e-6\n      max_response_length: "${vars.length}"',
        '      off_policy_save_dir: "${deps.batches}"\n      nnodes: 1\n      actor_lr: 5.0e-6\n      max_response_length: 4096',
        1,
        "math.exp.yaml:95 VL804",
    ),
    Mutant(
        "opcd",
        "math.exp.yaml",
        '      model: "${models.teacher}"',
        "      model: Qwen/Qwen3-14B",
        1,
        "math.exp.yaml:89 VL810",
    ),
    Mutant(
        "opcd",
        "math.exp.yaml",
        "    deps:\n      train: {from: data}\n      validation: {from: data}\n    args:\n      exp_name: math-ext",
        "    deps:\n      train: {from: data}\n      validation: {from: data}\n      p: {from: on-policy}\n    args:\n      exp_name: math-ext",
        1,
        "math.exp.yaml:37 VL801",
    ),
    Mutant(
        "opcd",
        "scripts/math_generate_offp.sh",
        "on_policy_merge=False",
        "on_policy_merge=True",
        1,
        "scripts/math_generate_offp.sh:84 VL809",
    ),
    Mutant(
        "opcd",
        "scripts/math_train_offp.sh",
        "TOTAL_STEPS=50",
        "TOTAL_STEPS=80",
        1,
        "README.md:52 VL811, math.exp.yaml:79 VL811, run_all.sh:34 VL811",
    ),
    Mutant(
        "opcd",
        "scripts/math_train_offp.sh",
        "trainer.stage=consolidate",
        "trainer.stage=generate",
        1,
        "scripts/math_train_offp.sh:92 VL808",
    ),
    Mutant(
        "coach",
        "scripts/train/train_el.sh",
        "rm_prompt_version=v2",
        "rm_prompt_version=v1",
        1,
        "scripts/train/train_el.sh:103 VL809",
    ),
    Mutant(
        "coach",
        "scripts/train/train_rl.sh",
        "rm_prompt_version=v1",
        "rm_prompt_version=v2",
        1,
        "scripts/train/train_rl.sh:80 VL809",
    ),
    Mutant(
        "coach",
        "scripts/train/train_el.sh",
        "trainer.stage=consolidate",
        "trainer.stage=extract",
        1,
        "scripts/train/train_el.sh:101 VL808",
    ),
    Mutant(
        "coach",
        "scripts/train/eval.sh",
        "rm_prompt_version=v2",
        "rm_prompt_version=v1",
        1,
        "scripts/train/eval.sh:74 VL809",
    ),
    Mutant(
        "coach",
        "scripts/train/train_el.sh",
        "use_kl_loss=True",
        "use_kl_loss=False",
        1,
        "scripts/train/train_el.sh:89 VL809",
    ),
    Mutant(
        "coach",
        "scripts/train/eval.sh",
        "EXP_MODEL_PATH=none",
        "EXP_MODEL_PATH=gpt4o",
        1,
        "scripts/train/eval.sh:61 VL809",
    ),
    Mutant(
        "coach",
        "usage_example.sh",
        "TRAINER=scripts/train/train_rl.sh",
        "TRAINER=scripts/train/train_el.sh",
        1,
        "usage_example.sh:28 VL806",
    ),
    Mutant(
        "oel",
        "README.md",
        "50,500,50,sokoban-q3-4b-con-r1,100",
        "50,500,50,sokoban-q3-4b-con-r1,80",
        1,
        "README.md:69 VL810",
        True,
    ),
    Mutant("oel", "README.md", "--max_response_length 1024", "--max_response_length 512", 3, "README.md:103 VL803"),
    Mutant("oel", "README.md", "--textgame_max_steps 5", "--textgame_max_steps 7", 2, "README.md:50 VL803"),
    Mutant("oel", "README.md", "r2,50,500,50,100,50", "r2,100,500,50,100,50", 1, "README.md:70 VL803"),
    Mutant(
        "oel",
        "usage_example.sh",
        "--total_training_steps 100",
        "--total_training_steps 101",
        2,
        "usage_example.sh:37 VL811",
    ),
    Mutant(
        "oel",
        "scripts/textgame_extract.sh",
        "trainer.held_out_size=128",
        "trainer.held_out_size=4",
        1,
        "scripts/textgame_extract.sh:84 VL809",
    ),
    Mutant(
        "oel",
        "scripts/textgame_consolidate.sh",
        "512 * TEXTGAME_MAX_STEPS",
        "256 * TEXTGAME_MAX_STEPS",
        1,
        "scripts/textgame_consolidate.sh:75 VL807",
    ),
    Mutant(
        "oel", "oel-lake.exp.yaml", "textgame_max_steps: ", "textgame_max_steps: 1", 1, "oel-lake.exp.yaml:31 VL803"
    ),
    Mutant(
        "coach",
        "usage_example.sh",
        "EXP_NAME=wildchat-rl-q3-8b-r8b",
        "EXP_NAME=wildchat-el-q3-8b-r8b",
        1,
        "usage_example.sh:27 VL806",
    ),
    Mutant(
        "gad",
        "README.md",
        "git -C verl checkout seqkd &&",
        "pip install --no-deps ./verl &&\ngit -C verl checkout seqkd &&",
        1,
        "README.md:23 VL303",
    ),
    Mutant("gad", "README.md", "checkout seqkd", "checkout warmup", 1, "README.md:22 VL301"),
    Mutant("gad", "README.md", "checkout warmup", "checkout gad", 1, "README.md:32 VL301"),
    Mutant("gad", "README.md", "checkout gad", "checkout warmup", 1, "README.md:49 VL301"),
    Mutant("gad", "README.md", "checkout eval", "checkout gad", 1, "README.md:59 VL301"),
    Mutant("gad", "README.md", "checkout eval", "checkout seqkd", 2, "README.md:66 VL301"),
    Mutant("gad", "README.md", "git -C verl checkout gad &&\n", "", 1, "README.md:49 VL301"),
    Mutant("gad", "gad.exp.yaml", "branch: seqkd", "branch: eval", 1, "gad.exp.yaml:30 VL301"),
    Mutant("gad", "gad.exp.yaml", "branch: warmup", "branch: gad", 1, "gad.exp.yaml:39 VL301"),
    Mutant("gad", "gad.exp.yaml", "branch: gad", "branch: warmup", 1, "gad.exp.yaml:48 VL301"),
    Mutant("gad", "gad.exp.yaml", "branch: eval", "branch: gad", 1, "gad.exp.yaml:61 VL301"),
    Mutant("gad", "gad.exp.yaml", "    branch: seqkd\n", "", 1, "gad.exp.yaml:27 VL302"),
    Mutant("gad", "gad.exp.yaml", "    branch: gad\n", "", 1, "gad.exp.yaml:45 VL302"),
    Mutant("gad", "gad.exp.yaml", "    branch: eval\n", "", 1, "gad.exp.yaml:58 VL302"),
    Mutant("gad", "README.md", "STEP=800", "STEP=810", 1, "README.md:45 VL202"),
    Mutant("gad", "README.md", '--resume_step "${STEP}"', "--resume_step 850", 1, "README.md:52 VL204"),
    Mutant(
        "gad", "README.md", "/lmsys-7b-warmup/global_step", "/lmsys-7b-warm-up/global_step", 1, "README.md:47 VL203"
    ),
    Mutant(
        "gad", "README.md", '/global_step_${STEP}" "', '/global_step_${STEP}/actor" "', 1, "README.md:47 VL204", True
    ),
    Mutant("gad", "README.md", "--ckpt_start 800", "--ckpt_start 810", 1, "README.md:69 VL202"),
    Mutant("gad", "README.md", "--ckpt_step 50", "--ckpt_step 40", 1, "README.md:69 VL202"),
    Mutant("gad", "gad.exp.yaml", "role: critic, step: 800", "role: critic, step: 850", 1, "gad.exp.yaml:52 VL204"),
    Mutant("gad", "gad.exp.yaml", "step: 1600", "step: 1610", 1, "gad.exp.yaml:77 VL202"),
    Mutant("gad", "gad.exp.yaml", "profile: a100-h200", "profile: b200", 1, "gad.exp.yaml:9 VL305"),
    Mutant("gad", "gad.exp.yaml", "WANDB_API_KEY: null, ", "", 1, "gad.exp.yaml:27 VL405"),
    Mutant(
        "oel",
        "README.md",
        "## Round 1\n",
        "## Round 1\n\n```bash\nuv venv .venv\nray start --head\nsource .venv/bin/activate\n```\n",
        1,
        "README.md:15 VL306",
    ),
    Mutant(
        "oel",
        "README.md",
        "## Round 1\n",
        "## Round 1\n\n```bash\ndocker run --gpus all -it czwin32768/verl2:v0.2.0-vllm085\npip install -r requirements_b200.txt\n```\n",
        1,
        "README.md:15 VL305",
    ),
    Mutant(
        "oel",
        "README.md",
        "scripts/textgame_consolidate.sh",
        "scripts/textgame_consolidate.sh.sh",
        1,
        "README.md:39 VL010",
    ),
    Mutant("oel", "README.md", "  --resume_policy_ckpt 100 \\\n", "", 1, "README.md:77 VL201"),
    Mutant("oel", "oel-sokoban.exp.yaml", "profile: a100-h200", "profile: b200", 1, "oel-sokoban.exp.yaml:8 VL305"),
    Mutant("oel", "oel-sokoban.exp.yaml", "H100:8", "B200:8", 1, "oel-sokoban.exp.yaml:8 VL305"),
    Mutant("oel", "oel-sokoban.exp.yaml", "WANDB_API_KEY: null, ", "", 1, "oel-sokoban.exp.yaml:60 VL405"),
    Mutant(
        "oel",
        "oel-sokoban.exp.yaml",
        "role: actor, step: 100}",
        "role: critic, step: 100}",
        1,
        "oel-sokoban.exp.yaml:91 VL203",
    ),
    Mutant("oel", "scripts/textgame_eval.sh", "set -euo pipefail\n", "", 1, "scripts/textgame_eval.sh:37 VL210"),
    Mutant("opcd", "math.exp.yaml", "profile: a100-h200", "profile: b200", 1, "math.exp.yaml:9 VL305"),
    Mutant("opcd", "math.exp.yaml", "  WANDB_API_KEY: null\n", "", 1, "math.exp.yaml:46 VL405"),
    Mutant(
        "opcd",
        "scripts/math_consolidate.sh",
        "verl.trainer.main_ppo",
        "verl.trainer.main_pro",
        1,
        "scripts/math_consolidate.sh:60 VL308",
    ),
    Mutant("opcd", "short.exp.yaml", "role: actor, step: 50", "role: actor, step: 51", 1, "short.exp.yaml:51 VL202"),
    Mutant("coach", "coach.exp.yaml", "H100:8", "B200:8", 1, "coach.exp.yaml:8 VL305"),
    Mutant(
        "coach",
        "scripts/train/train_el.sh",
        "verl.trainer.main_ppo",
        "verl.trainer.main_eval_el",
        1,
        "scripts/train/train_el.sh:71 VL308",
    ),
    Mutant("opo", "opo.exp.yaml", "A100:8", "B200:8", 1, "opo.exp.yaml:9 VL305"),
)


def together(mutants: Iterable[Mutant]) -> list[list[Mutant]]:
    """The mutants, those together that bear each other."""
    groups: list[list[Mutant]] = []
    for mutant in mutants:
        group = next((group for group in groups if fits(mutant, group)), None)
        if group is None:
            groups.append(group := [])
        group.append(mutant)
    return groups


def fits(mutant: Mutant, group: Sequence[Mutant]) -> bool:
    """Whether a group takes one more mutant."""
    there = sum(each.file == mutant.file for each in group)
    return there < MOST and all(mutant.bears(other) for other in group)


def spoil(path: Path, mutants: Sequence[Mutant]) -> None:
    """Put the faults into a file, the last one first, so that the places of the others stay as they are."""
    text = path.read_text("utf-8")
    for at, mutant in sorted(((each.place(text), each) for each in mutants), key=lambda each: -each[0]):
        text = text[:at] + mutant.new + text[at + len(mutant.old) :]
    path.write_text(text, "utf-8")


GROUPS = [[each] for each in MUTANTS] if os.environ.get("VERLINT_MUTANTS") == "alone" else together(MUTANTS)


@pytest.mark.parametrize("mutants", GROUPS, ids=lambda group: f"{group[0].family}-{group[0].found}-{len(group)}")
def test_faults_are_found_at_their_places(
    mutants: list[Mutant], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / mutants[0].family
    shutil.copytree(FIXTURES / "experiments" / mutants[0].family / "clean", folder)
    for file in {each.file for each in mutants}:
        spoil(folder / file, [each for each in mutants if each.file == file])
    monkeypatch.chdir(folder)
    settings = Settings(root=folder, select=("VL8", *sorted({each.code for each in mutants})))
    loading = load(["."], settings)
    report = check_project(loading.files, settings, folder, unreadable=loading.unreadable)
    found = [f"{each.file}:{each.span.begin.line if each.span else 0} {each.code}" for each in report.findings]
    assert sorted(found) == sorted(place for each in mutants for place in each.found.split(", "))
