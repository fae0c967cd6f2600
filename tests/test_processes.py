"""How many processes a command starts."""

from __future__ import annotations

from pathlib import Path

import pytest

from verlint.experiment.processes import processes_of
from verlint.experiment.project import Project
from verlint.files.loading import load
from verlint.settings import Settings


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        ("torchrun", 1),
        ("torchrun --standalone --nnodes=1 --nproc_per_node=8", 8),
        ("torchrun --nnodes 2 --nproc-per-node 4 --master_addr host", 8),
        ("torchrun --nnodes=1:4 --nproc_per_node=8", None),
        ("torchrun --nproc_per_node=gpu", None),
        ("torchrun --nproc_per_node=$GPUS", None),
        ("torchrun $OPTIONS", None),
        ("env A=1 torchrun --nproc_per_node=2", 2),
        ("python3 -m torch.distributed.run --nproc_per_node=2", 2),
        ("python3", None),
        ("accelerate launch --num_processes 8", None),
    ],
)
def test_processes(start: str, expected: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run.sh").write_text(f"{start} -m verl.trainer.fsdp_sft_trainer data.train_batch_size=64\n")
    settings = Settings(root=tmp_path)
    found = [launch for launch, _ in Project(load(["run.sh"], settings).files, settings, tmp_path).launches]
    assert [processes_of(launch) for launch in found] == [expected] * len(found)
    assert found or "$OPTIONS" in start or "distributed" in start
