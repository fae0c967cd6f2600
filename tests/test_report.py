"""What reports look like, whole."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verlint import __version__
from verlint.finding import Edit, Finding, Fix, Related, Safety, Severity, Verdict
from verlint.record import replace
from verlint.report import FORMATS, render
from verlint.report.ansi import Style
from verlint.report.display import columns
from verlint.report.frame import frame
from verlint.result import Report, Summary
from verlint.source import Piece, Source, Span
from verlint.value import Hop

SCHEMA = json.loads((Path(__file__).parent / "schemas" / "verlint-json-v1.schema.json").read_text())
KEY = "0123456789abcdef0123456789abcdef01234567"
HF = "hf_" + "0123456789abcdef" * 2 + "ab"

DRIVER = Source("run_all.sh", "set -e\nbash scripts/generate.sh --val_data dolly\n")
SCRIPT = Source(
    "scripts/generate.sh",
    "#!/bin/bash\n"
    'VAL_DATA="$2"\n'
    "ROOT=/mnt/team/alpha\n"
    f"export WANDB_API_KEY={KEY}\n"
    "python3 -m verl.trainer.main_ppo \\\n"
    "    data.val_files=/tmp/${VAL_DATA}_4k_test.parquet \\\n"
    "    actor_rollout_ref.actor.ppo_mini_batch_size=64\n",
)


def at(text: str, source: Source = SCRIPT) -> Span:
    start = source.text.index(text)
    return source.span(start, start + len(text))


def finding(code: str, slug: str, severity: Severity, message: str, span: Span | None, **more: Any) -> Finding:
    return Finding(code, slug, severity, more.pop("verdict", Verdict.FAIL), message, span, **more)


DANGLING = finding(
    "VL208",
    "dangling-input",
    Severity.ERROR,
    "no stage produces this evaluation data",
    at("/tmp/${VAL_DATA}_4k_test.parquet"),
    value="data.val_files = /tmp/dolly_4k_test.parquet",
    hops=(
        Hop(at("--val_data dolly", DRIVER)),
        Hop(at('VAL_DATA="$2"'), "--val_data -> VAL_DATA"),
        Hop(at("/tmp/${VAL_DATA}_4k_test.parquet")),
        Hop(None, "the default of VeRL 0.7.1"),
    ),
    related=(Related(at("bash scripts/generate.sh --val_data dolly", DRIVER), "called here"),),
    near="tools/export.py:8 writes lmsys_test.parquet",
    help="export that file first, or pass data.val_files",
    about="gad / generation",
    contexts=("run_all.sh:2", "run_all.sh:3"),
)
SECRET = finding(
    "VL401",
    "literal-secret",
    Severity.ERROR,
    f"a key is written in the launcher: {KEY}",
    at(KEY),
    value=f"WANDB_API_KEY = {KEY}",
    hops=(Hop(at(f"export WANDB_API_KEY={KEY}")), Hop(at(KEY), f"passed as {KEY}")),
    related=(Related(at(KEY), f"is {KEY}"),),
    near=f"near {KEY[:20]}",
    help=f"delete {KEY}",
    verify=f"echo {KEY}",
    fix=Fix(f"replace {KEY}", (Edit(at(KEY), f"${{WANDB_API_KEY:?}} # {KEY}"),), Safety.UNSAFE),
    about=f"about {KEY}",
    contexts=(f"with {KEY}",),
)
PATH = finding(
    "VL101",
    "hard-coded-path",
    Severity.WARNING,
    "path of one machine",
    at("/mnt/team/alpha"),
    value="/mnt/team/alpha",
    fix=Fix("use ${ROOT:-…}", (Edit(at("/mnt/team/alpha"), "${ROOT:-/mnt/team/alpha}"),), Safety.SAFE),
)
SPLIT = finding(
    "VL601",
    "split-batch",
    Severity.ERROR,
    "cannot tell whether 64 is the rollout batch ${GLOBAL_BSZ}",
    at("ppo_mini_batch_size=64"),
    verdict=Verdict.UNSURE,
    verify="echo $GLOBAL_BSZ",
    contexts=("if [ -n $FAST ] holds",),
)
UNREADABLE = finding("VL001", "unreadable-source", Severity.ERROR, "is not text", None, path="data/odd.sh")
NOTE = finding("VL916", "literal-topology", Severity.INFO, "GPUs are fixed", at("python3 -m verl.trainer.main_ppo"))

REPORT = Report(
    (PATH, UNREADABLE, SPLIT, NOTE, DANGLING, SECRET),
    Summary(files=20, launchers=14, experiments=2, stages=11, skipped=3),
    suppressed=2,
)

FULL = """\
VL001 error: is not text
  --> data/odd.sh

VL401 error: a key is written in the launcher: ****                                       about ****
  --> scripts/generate.sh:4:22
   |
 4 | export WANDB_API_KEY=****
   |                      ^^^^
  ::: scripts/generate.sh:4:22 is ****
 value  WANDB_API_KEY = ****
 from   line 4  export WANDB_API_KEY=****
        line 4  passed as ****
 near   near ****
 help   delete ****
 verify echo ****
 fix    replace **** (unsafe, --unsafe-fixes)
 when   with ****

VL208 error: no stage produces this evaluation data                                 gad / generation
  --> scripts/generate.sh:6:20
   |
 6 |     data.val_files=/tmp/${VAL_DATA}_4k_test.parquet \\
   |                    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  ::: run_all.sh:2:1 called here
 value  data.val_files = /tmp/dolly_4k_test.parquet
 from   run_all.sh:2           --val_data dolly
        scripts/generate.sh:2  --val_data -> VAL_DATA
        scripts/generate.sh:6  /tmp/${VAL_DATA}_4k_test.parquet
                               the default of VeRL 0.7.1
 near   tools/export.py:8 writes lmsys_test.parquet
 help   export that file first, or pass data.val_files
 also   in 2 calls: run_all.sh:2; run_all.sh:3

VL101 warning: path of one machine
  --> scripts/generate.sh:3:6
   |
 3 | ROOT=/mnt/team/alpha
   |      ^^^^^^^^^^^^^^^
 value  /mnt/team/alpha
 fix    use ${ROOT:-…} (safe, --fix)

VL916 info: GPUs are fixed
  --> scripts/generate.sh:5:1
   |
 5 | python3 -m verl.trainer.main_ppo \\
   | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

Needs verification (1): each with the command that tells, on the host it will run on

VL601 unsure: cannot tell whether 64 is the rollout batch ${GLOBAL_BSZ}
  --> scripts/generate.sh:7:29
   |
 7 |     actor_rollout_ref.actor.ppo_mini_batch_size=64
   |                             ^^^^^^^^^^^^^^^^^^^^^^
 verify echo $GLOBAL_BSZ
 when   if [ -n $FAST ] holds

checked 2 experiments, 11 stages, 14 launchers in 20 files (3 skipped, --show-files says why)
Found 3 errors, 1 warning, 1 info (1 fixable with --fix, 1 more with --fix --unsafe-fixes), 1 to verify. 2 suppressed.
  verlint check --fix  make the safe changes (--diff shows them)
  verlint rule VL001   why the rule exists, with an example and the way to fix it
"""

CONCISE = """\
data/odd.sh:1:1: VL001 is not text
scripts/generate.sh:3:6: VL101[*] path of one machine (/mnt/team/alpha)
scripts/generate.sh:4:22: VL401[*] a key is written in the launcher: **** (WANDB_API_KEY = ****)
scripts/generate.sh:5:1: VL916 GPUs are fixed
scripts/generate.sh:6:20: VL208 no stage produces this evaluation data (data.val_files = /tmp/dolly_4k_test.parquet)
scripts/generate.sh:7:29: VL601? cannot tell whether 64 is the rollout batch ${GLOBAL_BSZ}
Found 3 errors, 1 warning, 1 info (1 fixable with --fix, 1 more with --fix --unsafe-fixes), 1 to verify. 2 suppressed. \
(checked 2 experiments, 11 stages, 14 launchers in 20 files)
"""


def test_full() -> None:
    assert render(REPORT, "full", width=100) == FULL


def test_concise() -> None:
    assert render(REPORT, "concise") == CONCISE


def test_json() -> None:
    data = json.loads(render(Report((DANGLING, PATH), REPORT.summary), "json"))
    assert data == {
        "version": 1,
        "tool": {"name": "verlint", "version": __version__},
        "findings": [
            {
                "code": "VL101",
                "slug": "hard-coded-path",
                "severity": "warning",
                "verdict": "fail",
                "message": "path of one machine",
                "path": "scripts/generate.sh",
                "start": {"line": 3, "column": 6},
                "end": {"line": 3, "column": 21},
                "value": "/mnt/team/alpha",
                "hops": [],
                "related": [],
                "help": "",
                "verify": "",
                "fix": {
                    "title": "use ${ROOT:-…}",
                    "safety": "safe",
                    "edits": [
                        {
                            "path": "scripts/generate.sh",
                            "start": {"line": 3, "column": 6},
                            "end": {"line": 3, "column": 21},
                            "text": "${ROOT:-/mnt/team/alpha}",
                        }
                    ],
                },
                "contexts": [],
            },
            {
                "code": "VL208",
                "slug": "dangling-input",
                "severity": "error",
                "verdict": "fail",
                "message": "no stage produces this evaluation data",
                "path": "scripts/generate.sh",
                "start": {"line": 6, "column": 20},
                "end": {"line": 6, "column": 52},
                "value": "data.val_files = /tmp/dolly_4k_test.parquet",
                "hops": [
                    {
                        "path": "run_all.sh",
                        "start": {"line": 2, "column": 26},
                        "end": {"line": 2, "column": 42},
                        "text": "--val_data dolly",
                    },
                    {
                        "path": "scripts/generate.sh",
                        "start": {"line": 2, "column": 1},
                        "end": {"line": 2, "column": 14},
                        "text": "--val_data -> VAL_DATA",
                    },
                    {
                        "path": "scripts/generate.sh",
                        "start": {"line": 6, "column": 20},
                        "end": {"line": 6, "column": 52},
                        "text": "/tmp/${VAL_DATA}_4k_test.parquet",
                    },
                    {"path": None, "start": None, "end": None, "text": "the default of VeRL 0.7.1"},
                ],
                "related": [
                    {
                        "path": "run_all.sh",
                        "start": {"line": 2, "column": 1},
                        "end": {"line": 2, "column": 42},
                        "label": "called here",
                    }
                ],
                "help": "export that file first, or pass data.val_files",
                "verify": "",
                "fix": None,
                "contexts": ["run_all.sh:2", "run_all.sh:3"],
            },
        ],
        "summary": {"files": 20, "launchers": 14, "experiments": 2, "stages": 11, "skipped": 3},
    }


@pytest.mark.parametrize("report", [Report(), REPORT], ids=["empty", "full"])
def test_json_follows_its_schema(report: Report) -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.validate(json.loads(render(report, "json")), SCHEMA)


def test_json_is_described() -> None:
    page = (Path(__file__).parent.parent / "docs" / "json.md").read_text("utf-8")
    names = set(SCHEMA["properties"]) | set(SCHEMA["properties"]["summary"]["properties"])
    for definition in SCHEMA["$defs"].values():
        names |= set(definition.get("properties", {}))
    assert [name for name in sorted(names) if f"`{name}`" not in page] == []


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("width", [40, 55, 100])
def test_secrets_never_leave(format: str, width: int) -> None:
    text = render(REPORT, format, color=True, width=width)
    assert KEY[:12] not in text


def test_a_secret_is_masked_far_from_its_context() -> None:
    source = Source("a.sh", f"export HF_TOKEN={HF}\nX=1\n")
    odd = finding("VL999", "odd", Severity.ERROR, f"X is {HF[3:30]} or {HF}", at("X=1", source), path=f"{HF}/x")
    text = render(Report((odd,)), "full")
    assert HF[3:12] not in text
    assert "X is 0123" not in text


def test_order_and_input_order_do_not_matter() -> None:
    turned = replace(REPORT, findings=REPORT.findings[::-1])
    for format in FORMATS:
        assert render(turned, format) == render(REPORT, format)


RULE = "  verlint rule {}  why the rule exists, with an example and the way to fix it\n"


@pytest.mark.parametrize(
    ("report", "last"),
    [
        (Report((), Summary(3, 2, 0, 0, 0)), "checked 2 launchers in 3 files\nAll checks passed!\n"),
        (
            Report((), Summary(1, 1, 1, 1, 1)),
            "1 experiment, 1 stage, 1 launcher in 1 file (1 skipped, --show-files says why)\nAll checks passed!\n",
        ),
        (Report((), Summary(), suppressed=1), "checked 0 files\nAll checks passed! 1 suppressed.\n"),
        (Report((SPLIT,), Summary(1)), "checked 1 file\nNo faults found, 1 to verify.\n" + RULE.format("VL601")),
        (
            Report((UNREADABLE,), Summary(1), crashed=True),
            "checked 1 file\nFound 1 error.\nverlint failed on some of the input, see above; the rest was checked.\n"
            + RULE.format("VL001"),
        ),
    ],
    ids=["clean", "skipped", "suppressed", "unsure", "crashed"],
)
def test_summary(report: Report, last: str) -> None:
    assert render(report, "full").endswith(last)


def test_a_baseline_is_proposed_for_many_findings() -> None:
    source = Source("a.sh", "".join(f"export P{number}=/mnt/{number}\n" for number in range(21)))
    many = tuple(finding("VL101", "odd", Severity.WARNING, "m", source.span(n, n + 1)) for n in range(21))
    line = "  verlint check --write-baseline  take these as known: only new ones are reported then\n"
    assert render(Report(many), "full").endswith(line)
    assert line not in render(Report(many[:20]), "full") + render(Report(many, known=1), "full")


def test_the_next_calls_are_for_the_same_paths() -> None:
    line = "  verlint check --fix --select VL101 'my runs' b.sh  make the safe changes (--diff shows them)\n"
    asked = ("--select", "VL101", "my runs", "b.sh")
    assert line in render(Report((PATH,), asked=asked), "full")
    assert "--fix " not in render(Report((PATH,), asked=("-",)), "full").splitlines()[-1]


def test_errors_are_shown_by_place_whatever_their_rule() -> None:
    source = Source("a.sh", "a b c d\n")
    odd = [
        finding(code, "odd", Severity.ERROR, code, source.span(n, n + 1))
        for n, code in enumerate(("VL9", "VL1", "VL9"))
    ]
    shown = [line for line in render(Report(tuple(odd)), "full").splitlines() if line.startswith("VL")]
    assert shown == ["VL9 error: VL9", "VL1 error: VL1", "VL9 error: VL9"]


def test_many_findings_of_a_rule_are_folded() -> None:
    source = Source("a.sh", "".join(f"export P{number}=/mnt/{number}\n" for number in range(7)))
    paths = tuple(
        finding(
            "VL101",
            "hard-coded-path",
            Severity.WARNING,
            "path of one machine",
            at(f"/mnt/{n}", source),
            value=f"/mnt/{n}",
        )
        for n in range(7)
    )
    assert render(Report(paths[:5]), "full").count("-->") == 5
    text = render(Report(paths), "full")
    assert text.count("-->") == 3
    rest = ["VL101 hard-coded-path: 4 more places", *(f"  a.sh:{n}:11  /mnt/{n - 1}" for n in range(4, 8))]
    assert "\n".join(rest) + "\n\n" in text


def test_control_characters_are_shown_escaped() -> None:
    source = Source("a\x1b[2Jb.sh", "echo \x1b[31m\u202ered \x07\n")
    odd = finding(
        "VL999",
        "odd",
        Severity.ERROR,
        "bell \x07, line\nbreak",
        at("red", source),
        value="\x1b]0;t\x07",
        verify="a\tb\x1b\nc",
    )
    assert render(Report((odd,)), "full").splitlines()[:7] == [
        "VL999 error: bell \\x07, line break",
        "  --> a\\x1b[2Jb.sh:1:12",
        "   |",
        " 1 | echo \\x1b[31m\\u202ered \\x07",
        "   |                    ^^^",
        " value  \\x1b]0;t\\x07",
        " verify a    b\\x1b",
    ]
    for format in FORMATS:
        plain = render(Report((odd,)), format)
        assert not any(ord(character) < 32 and character != "\n" for character in plain)


FRAMES = {
    "tabs": ("\tx=1\ty=2", "y=2", ["   |", " 1 |     x=1 y=2", "   |         ^^^"]),
    "wide": ("名=模型 x", "模型", ["   |", " 1 | 名=模型 x", "   |    ^^^^"]),
    "emoji": ("a=🚀🚀 b", "b", ["   |", " 1 | a=🚀🚀 b", "   |        ^"]),
    "combining": ("e\u0301=1 b", "b", ["   |", " 1 | e\u0301=1 b", "   |     ^"]),
    "crlf": ("a b\r\nc", "b\r\n", ["   |", " 1 | a b", "   |   ^"]),
    "cut": (
        "k=1 " * 30 + "path=/mnt/x " + "z=2 " * 30,
        "path=/mnt/x",
        ["   |", " 1 | … k=1 k=1 path=/mnt/x z=2 z=2 z=2 z=…", "   |           ^^^^^^^^^^^"],
    ),
    "several lines": (
        "run \\\n  a=1 \\\n\n  b=2 \\\n  c=3",
        "run \\\n  a=1 \\\n\n  b=2 \\\n  c=3",
        ["   |", " 1 | run \\", "   | ^^^^^", " 2 |   a=1 \\", "   |   ^^^^^", " 3 |", "   | … 2 more lines"],
    ),
}


@pytest.mark.parametrize(("text", "marked", "lines"), FRAMES.values(), ids=FRAMES)
def test_frames(text: str, marked: str, lines: list[str]) -> None:
    source = Source("a", text)
    assert frame(at(marked, source), [], Style(), "error", 42) == lines


@pytest.mark.parametrize(
    ("start", "lines"),
    [(3, ["   |", " 1 | a b", "   |    ^"]), (0, ["   |", " 1 | a b", "   | ^"]), (4, ["   |", " 2 |", "   | ^"])],
)
def test_a_frame_of_nothing_points_between_characters(start: int, lines: list[str]) -> None:
    assert frame(Source("a", "a b\n").span(start, start), [], Style(), "error", 80) == lines


def test_an_embedded_source_is_shown_in_its_file() -> None:
    outer = Source("README.md", "# Use\n```bash\nx=/mnt/a\n```\n")
    inner = Source("README.md", "x=/mnt/a\n", outer, [Piece(0, outer.text.index("x="), 9)])
    shown = render(Report((finding("VL101", "hard-coded-path", Severity.WARNING, "m", at("/mnt/a", inner)),)), "full")
    assert shown.splitlines()[:5] == [
        "VL101 warning: m",
        "  --> README.md:3:3",
        "   |",
        " 3 | x=/mnt/a",
        "   |   ^^^^^^",
    ]


def test_colours_change_nothing_else() -> None:
    import re

    for format in FORMATS:
        colored = render(REPORT, format, color=True, width=100)
        assert re.sub(r"\x1b\[[\d;]*m", "", colored) == render(REPORT, format, color=False, width=100)
    assert "\x1b[1;31mVL208 error:\x1b[0m" in render(REPORT, "full", color=True)


def test_lines_keep_to_the_width() -> None:
    long = replace(DANGLING, message="word " * 40, help="help " * 40, value="v " * 80)
    for line in render(Report((long,)), "full", width=60).splitlines()[:-2]:
        assert len(line) <= 60


def test_an_unknown_format_is_an_error() -> None:
    with pytest.raises(ValueError, match="unknown output format 'xml'; known are full, concise, json, sarif"):
        render(REPORT, "xml")


@settings(max_examples=300, derandomize=True, deadline=None)
@given(
    st.text(alphabet="ab \t\n\r模🚀\u0301\x1b\u202e\\", max_size=60),
    st.integers(0, 60),
    st.integers(0, 60),
    st.integers(40, 60),
)
def test_any_span_of_any_text_can_be_shown(text: str, first: int, second: int, width: int) -> None:
    start, end = sorted((min(first, len(text)), min(second, len(text))))
    odd = finding(
        "VL999", "odd", Severity.ERROR, "m", Source("a", text).span(start, end), hops=(Hop(None, text),), help=text
    )
    for format in FORMATS:
        render(Report((odd,)), format, width=width)
    for line in frame(odd.span or SCRIPT.whole(), [], Style(), "error", width):
        assert columns(line) <= width
