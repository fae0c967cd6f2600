"""Clean experiments with one mistake about credentials or evaluation each: exactly the rules of that mistake speak, in
the file where it was made."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from fixture_cases import FIXTURES
from verlint.engine import check_project
from verlint.files.loading import load
from verlint.settings import Settings

THEMES = ("VL007", "VL4", "VL5")
SETTINGS = "export HYDRA_FULL_ERROR=1\n"
"""A line of every launcher, behind which mistakes are put."""
KEY = "0123456789abcdef0123456789abcdef01234567"
JUDGE = ': "${JUDGE:?folder of the judge}"\n'


@dataclass(frozen=True)
class Mistake:
    """In a file of an experiment `old` becomes `new`; `codes` are found there."""

    family: str
    file: str
    old: str
    new: str
    codes: tuple[str, ...]

    @property
    def name(self) -> str:
        """What to call it in a report."""
        return f"{self.family}-{'-'.join(self.codes)}"


def behind(family: str, file: str, lines: str, *codes: str) -> Mistake:
    """A mistake in lines of its own."""
    return Mistake(family, file, SETTINGS, SETTINGS + lines, codes)


OPO, OPO_EVAL, EXTRACT = "scripts/opo_train.sh", "scripts/opo_eval.sh", "scripts/textgame_extract.sh"
SEQKD, GENERATE = "scripts/train/lmsys-7b-seqkd-lr5e-6.sh", "scripts/generate/generate.sh"
ENDTASK, DAPO = "scripts/train/eval_endtask.sh", "scripts/math_eval.sh"
VAL = "actor_rollout_ref.rollout.val_kwargs"

MISTAKES = (
    behind("opo", OPO, f"export WANDB_API_KEY={KEY}\n", "VL401"),
    behind("gad", SEQKD, "export WANDB_API_KEY='YOUR_WANDB_API_KEY'\n", "VL402"),
    behind("opo", OPO, 'wandb login "$WANDB_API_KEY"\n', "VL403"),
    behind("opo", OPO, 'set -x\nwandb login "$WANDB_API_KEY"\nset +x\n', "VL403", "VL404"),
    behind("gad", SEQKD, 'set -o xtrace\n[ -n "$WANDB_API_KEY" ]\n', "VL404"),
    behind("gad", SEQKD, '(set -x; export KEY_OF_THE_DAY="$WANDB_API_KEY")\nexport OLD=1\n', "VL404"),
    behind("oel", EXTRACT, 'set +u\nhf auth login --token "$HF_TOKEN"\nset -u\n', "VL403", "VL406"),
    Mistake("opo", OPO, ': "${WANDB_API_KEY:?needed for the training log}"\n', "", ("VL406",)),
    behind("opo", OPO, "unset WANDB_API_KEY\n", "VL407"),
    behind("gad", SEQKD, "export WANDB_MODE=disabled\n", "VL407"),
    behind("opo", OPO, 'ray start --head\nexport HF_TOKEN="$(cat "$HOME/.secrets/hf")"\n', "VL408"),
    behind("oel", EXTRACT, "wandb login --relogin\n", "VL409"),
    behind("gad", SEQKD, 'echo "logging with $WANDB_API_KEY"\n', "VL410"),
    behind("opo", OPO, "env | sort\n", "VL410"),
    behind("gad", SEQKD, 'echo "WANDB_API_KEY=$WANDB_API_KEY" > worker.env\n', "VL410"),
    Mistake("coach", ENDTASK, "--tasks ifeval \\\n", "--tasks humaneval --confirm_run_unsafe_code \\\n", ("VL501",)),
    Mistake("coach", ENDTASK, "--tasks ifeval \\\n", "--tasks ifeval --confirm_run_unsafe_code \\\n", ("VL502",)),
    Mistake("opo", OPO, "${DATA_ROOT}/val.parquet", "${DATA_ROOT}/train.parquet", ("VL504",)),
    Mistake("opo", OPO_EVAL, "val_before_train=True", "val_before_train=False", ("VL505",)),
    Mistake("opcd", DAPO, "trainer.val_only=True", "trainer.val_only=False", ("VL505",)),
    behind("opo", OPO, "docker run --rm --privileged example/verl:2.3 nvidia-smi\n", "VL506"),
    behind("gad", SEQKD, "curl -LsSf https://get.example.org/tool/install.sh | sh\n", "VL507"),
    behind("gad", SEQKD, 'hf upload "$EXP_NAME" "$GAD_CKPT_ROOT/$EXP_NAME"\n', "VL508"),
    Mistake("opcd", DAPO, f"{VAL}.temperature=0.6", f"{VAL}.temperature=0 {VAL}.n=8", ("VL509",)),
    behind("gad", GENERATE, "export BEST_CHECKPOINT_METRIC=rouge_l\n", "VL514"),
    behind(
        "opo",
        OPO,
        f'{JUDGE}vllm serve "$JUDGE" --port 8001 &\nexport JUDGE_BASE_URL=http://localhost:8000/v1\n',
        "VL515",
    ),
)


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_one_mistake(mistake: Mistake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / mistake.family
    shutil.copytree(FIXTURES / "experiments" / mistake.family / "clean", folder)
    path = folder / mistake.file
    text = path.read_text("utf-8")
    assert mistake.old in text
    path.write_text(text.replace(mistake.old, mistake.new, 1), "utf-8")
    monkeypatch.chdir(folder)
    settings = Settings(root=folder, select=THEMES)
    loading = load([str(Path(mistake.file).parent)], settings)
    report = check_project(loading.files, settings, folder, unreadable=loading.unreadable)
    assert {(finding.file, finding.code) for finding in report.findings} == {(mistake.file, c) for c in mistake.codes}
