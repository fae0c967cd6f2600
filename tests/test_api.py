"""verlint as a library: what the page about it says is what happens."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import verlint
from fixture_cases import ROOT

PAGE = (ROOT / "docs" / "library.md").read_text("utf-8")


def test_the_example_of_the_page(tmp_path: Path) -> None:
    code = re.search(r"```python\n(.*?)```", PAGE, re.DOTALL)
    first = re.search(r"```text\n(.*?)```", PAGE, re.DOTALL)
    assert code is not None
    assert first is not None
    ran = subprocess.run(
        [sys.executable, "-c", code[1]],
        cwd=ROOT,
        env={"PYTHONPATH": f"{ROOT / 'linter'}:{ROOT / 'rules'}", "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.startswith(first[1])
    assert ran.stdout.splitlines()[-1].startswith("Found 3 errors")


def test_a_call_like_that_of_the_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "run.sh").write_text("export HF_HOME=/tmp/huggingface\npython3 -m verl.trainer.main_ppo a=1\n")
    (tmp_path / "verlint.toml").write_text('ignore = ["VL101"]\n')
    monkeypatch.chdir(tmp_path)
    codes = [finding.code for finding in verlint.check(isolated=True, select=["VL101", "VL702"]).findings]
    assert "VL101" in codes
    assert [finding.code for finding in verlint.check("run.sh", select=["VL101"]).findings] == []
    assert verlint.check(Path("run.sh"), isolated=True, select=["VL1"], ignore=["VL101"]).findings == ()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"select": ["VL999"]}, "unknown rule 'VL999'"),
        ({"settings": "no.toml"}, "no.toml"),
        ({"verl": "new"}, "new"),
    ],
)
def test_a_wrong_call(
    options: dict[str, object], message: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(verlint.CheckError, match=re.escape(message)):
        verlint.check(**options)  # type: ignore[arg-type]


def test_every_name_is_there_and_described() -> None:
    for name in verlint.__all__:
        assert getattr(verlint, name) is not None
        assert name in PAGE or name in ("__version__", "Summary")
    with pytest.raises(AttributeError, match="no attribute 'lint'"):
        verlint.lint  # type: ignore[attr-defined]  # noqa: B018
