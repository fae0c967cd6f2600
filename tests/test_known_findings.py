"""Baselines, comments written by verlint, counts and settings as shown: through the program, on real projects."""

from __future__ import annotations

import json
import shutil
import tomllib
from pathlib import Path

import pytest

from fixture_cases import ROOT
from verlint.baseline import baseline_text, key_of
from verlint.cli.main import main
from verlint.finding import Finding, Severity, Verdict
from verlint.source import Source

BROKEN = sorted((ROOT / "fixtures" / "experiments").glob("*/broken"))
LAUNCHER = """\
#!/bin/bash
export HF_HOME=/tmp/huggingface
if [ $RANK -eq 0 ]; then
    python3 -m verl.trainer.main_ppo \\
        trainer.nnodes=1 \\
        trainer.save_freq=10
        trainer.total_epochs=3
fi
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "run.sh").write_text(LAUNCHER)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("VERLINT_OUTPUT_FORMAT", raising=False)
    return tmp_path


def check(capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, str, str]:
    code = main(["check", "--select", "VL101,VL901,VL903", *options, "."])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_a_baseline_hides_what_it_holds_until_the_line_changes(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check(capsys, "--write-baseline") == (
        0,
        (
            "Wrote 3 findings to verlint-baseline.json.\n"
            'Use it with `--baseline verlint-baseline.json`, or with `baseline = "verlint-baseline.json"` in the settings.\n'
        ),
        "",
    )
    assert (project / "verlint-baseline.json").read_text() == (
        '{\n  "version": 1,\n  "findings": [\n'
        '    {"path": "run.sh", "code": "VL101", "verdict": "fail", "line": "export HF_HOME=/tmp/huggingface"},\n'
        '    {"path": "run.sh", "code": "VL901", "verdict": "fail", "line": "trainer.save_freq=10"},\n'
        '    {"path": "run.sh", "code": "VL903", "verdict": "unsure", "line": "if [ $RANK -eq 0 ]; then"}\n'
        "  ]\n}\n"
    )
    (project / "verlint.toml").write_text('baseline = "verlint-baseline.json"\n')
    moved = LAUNCHER.replace("#!/bin/bash\n", "#!/bin/bash\n# moved down\n\n").replace("export HF", "  export  HF")
    (project / "run.sh").write_text(moved)
    assert check(capsys, "--output-format", "concise") == (
        0,
        "All checks passed! 3 known from the baseline. (checked 1 launcher in 1 file)\n",
        "",
    )
    (project / "run.sh").write_text(moved.replace("/tmp/huggingface", "/tmp/hf"))
    code, out, err = check(capsys, "--output-format", "concise")
    assert code == 1
    assert [line.partition(" ")[0] for line in out.splitlines()] == ["run.sh:4:19:", "Found"]
    assert err == (
        "warning: 1 entry of the baseline matches nothing any more (--write-baseline takes them out):\n"
        "  run.sh: VL101 export HF_HOME=/tmp/huggingface\n"
    )
    assert check(capsys, "--write-baseline") == (0, "Wrote 3 findings to verlint-baseline.json.\n", "")
    assert check(capsys, "--output-format", "concise")[0] == 0


def test_entries_expire_only_where_the_run_has_looked(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "other.sh").write_text(LAUNCHER)
    (project / "third.sh").write_text(LAUNCHER)
    check(capsys, "--write-baseline")
    (project / "run.sh").write_text(LAUNCHER.replace("/tmp/huggingface", "${HF_HOME:-/tmp/huggingface}"))
    (project / "other.sh").write_text("python3 -m verl.trainer.main_ppo trainer.nnodes=1\n")
    (project / "third.sh").unlink()
    main(["check", "--baseline", "verlint-baseline.json", "--select", "VL101", "run.sh"])
    expired = [line.strip() for line in capsys.readouterr().err.splitlines()[1:]]
    assert expired == [f"{name}: VL101 export HF_HOME=/tmp/huggingface" for name in ("run.sh", "third.sh")]


def test_equal_lines_are_counted(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = Source("a.sh", "x\nx\nx\n")
    found = [
        Finding("VL901", "odd", Severity.ERROR, Verdict.FAIL, f"m{n}", source.span(2 * n, 2 * n + 1)) for n in range(3)
    ]
    text = baseline_text(found[:2], project)
    (project / "b.json").write_text(text)
    assert json.loads(text)["findings"] == [{**key_of(found[0], project)._asdict(), "count": 2}]
    from verlint.baseline import read_baseline

    split = read_baseline(project / "b.json").split(found, checked={"a.sh"}, ran={"VL901"})
    assert (split.new, split.known, split.expired) == ((found[2],), 2, ())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "there is no baseline b.json: --write-baseline makes it"),
        ("{", "the baseline b.json is not JSON: "),
        ("[]", "b.json is no baseline of version 1: write it with --write-baseline"),
        ('{"version": 2, "findings": []}', "b.json is no baseline of version 1: write it with --write-baseline"),
        ('{"version": 1, "findings": [1]}', "the baseline b.json has an entry without path, code, verdict, line: 1"),
    ],
)
def test_a_baseline_that_cannot_be_used(
    project: Path, capsys: pytest.CaptureFixture[str], text: str | None, message: str
) -> None:
    if text is not None:
        (project / "b.json").write_text(text)
    code, out, err = check(capsys, "--baseline", "b.json")
    assert (code, out) == (2, "")
    assert err.startswith(f"verlint: error: {message}")


def test_a_baseline_holds_no_secret(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    key = "0123456789abcdef0123456789abcdef01234567"
    (project / "run.sh").write_text(f"export WANDB_API_KEY={key}\npython3 -m verl.trainer.main_ppo a=1\n")
    main(["check", "--select", "VL401", "--write-baseline", "."])
    assert "VL401" in (text := (project / "verlint-baseline.json").read_text())
    assert key[:12] not in text


@pytest.mark.parametrize("folder", BROKEN, ids=lambda folder: folder.parent.name)
def test_comments_are_added_above_everything_found(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(folder, tmp_path / "p")
    monkeypatch.chdir(tmp_path / "p")
    assert main(["check", "--isolated", "--add-ignore", "known since  March", "."]) == 0
    added = capsys.readouterr()
    assert added.err == ""
    assert main(["check", "--isolated", "--strict", "--output-format", "concise", "."]) == 0
    after = capsys.readouterr().out
    assert added.out.split()[1] == after.split(" passed! ")[1].split()[0]
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            new = (tmp_path / "p" / path.relative_to(folder)).read_bytes().decode().splitlines(keepends=True)
            kept = [line for line in new if "] known since March" not in line]
            assert kept == path.read_bytes().decode().splitlines(keepends=True)


def test_what_no_comment_can_cover_is_told(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "run.sh").write_bytes(b"python3 -m verl.trainer.main_ppo \xff\xfe\x00\n")
    assert main(["check", "--select", "VL001", "--add-ignore", "x", "run.sh"]) == 2
    captured = capsys.readouterr()
    assert captured.out == "Ignored 0 findings.\n"
    assert captured.err.startswith("no comment can cover run.sh: VL001 ")


def test_a_comment_needs_a_reason(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check(capsys, "--add-ignore", " ") == (
        2,
        "",
        "verlint: error: --add-ignore wants the reason, which later readers will ask for\n",
    )


def test_statistics(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "b.sh").write_text("export HF_HOME=/tmp/huggingface\npython3 -m verl.trainer.main_ppo a=1\n")
    assert check(capsys, "--statistics")[:2] == (
        1,
        (
            "  findings  rule    name                   to verify    fixable\n"
            "         2  VL101   hard-coded-path                           2\n"
            "         1  VL901   broken-continuation                       1\n"
            "         1  VL903   unguarded-test                 1\n"
            "\n"
            "Found 1 error, 2 warnings (1 fixable with --fix, 2 more with --fix --unsafe-fixes), 1 to verify.\n"
        ),
    )
    code, out, _ = check(capsys, "--statistics", "--output-format", "json", "--output-format", "sarif:x.sarif")
    assert code == 1
    assert len(json.loads((project / "x.sarif").read_text())["runs"][0]["results"]) == 4
    assert json.loads(out)[0] == {"code": "VL101", "name": "hard-coded-path", "findings": 2, "unsure": 0, "fixable": 2}


def test_settings_are_shown_as_they_hold(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "verlint.toml").write_text(
        'ignore = ["VL102"]\nfail-on = "never"\n[severity]\nVL1 = "info"\n[per-path-ignores]\n"a/**" = ["VL9"]\n'
        '[rules.VL101]\nallow = ["/mnt/x"]\n'
    )
    code, out, _ = check(capsys, "--show-settings", "--verl", "0.7.1")
    assert (code, out) == (
        0,
        (
            "# verlint.toml\n"
            'select = ["VL101", "VL901", "VL903"]  # call\n'
            "extend-select = []  # default\n"
            'ignore = ["VL102"]  # settings\n'
            "exclude = []  # default\n"
            'fail-on = "never"  # settings\n'
            "strict = false  # default\n"
            "ready = false  # default\n"
            'verl = "0.7.1"  # call\n'
            '# model-config = ""  # default\n'
            '# baseline = ""  # default\n'
            'output-format = ["full"]  # default\n'
            "show-files = false  # default\n"
            '# scope = ""  # default\n'
            "plugins = []  # default\n"
            "cache = true  # default\n"
            "\n"
            "[severity]\n"
            '"VL1" = "info"\n'
            "\n"
            "[per-path-ignores]\n"
            '"a/**" = ["VL9"]\n'
            "\n"
            '[rules."VL101"]\n'
            '"allow" = ["/mnt/x"]\n'
        ),
    )
    assert tomllib.loads(out)["rules"] == {"VL101": {"allow": ["/mnt/x"]}}
