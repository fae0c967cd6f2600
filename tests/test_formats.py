"""The formats that other programs read: official schemas, places that lead back to the text, escaping."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree
from contextlib import chdir
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fixture_cases import ROOT
from test_report import DANGLING, NOTE, REPORT, SECRET, SPLIT, at, finding
from verlint.cli.main import main
from verlint.finding import Edit, Fix, Related, Safety, Severity
from verlint.record import replace
from verlint.report import render
from verlint.report.fingerprints import line_hashes
from verlint.report.markdown import LIMIT
from verlint.report.repository import repository_path
from verlint.result import Report
from verlint.source import Source
from verlint.value import Hop

SCHEMAS = Path(__file__).parent / "schemas"
BROKEN = sorted((ROOT / "fixtures" / "experiments").glob("*/broken"))
LINES = st.text(alphabet="ab \t模🚀\u0301%,:]<&\\\n\r", max_size=60)


def schema(name: str) -> Any:
    return json.loads((SCHEMAS / f"{name}.schema.json").read_text("utf-8"))


SARIF = jsonschema.Draft4Validator(schema("sarif-2.1.0"))
RDF = jsonschema.Draft4Validator(schema("rdf-diagnostic-result"))
GITLAB = jsonschema.Draft202012Validator(schema("gitlab-code-quality"))
VALIDATORS = {"sarif": SARIF, "rdjson": RDF, "gitlab": GITLAB}


@pytest.mark.parametrize("format", VALIDATORS)
@pytest.mark.parametrize("report", [Report(), REPORT], ids=["empty", "full"])
def test_official_schemas(format: str, report: Report) -> None:
    VALIDATORS[format].validate(json.loads(render(report, format)))


@pytest.mark.parametrize("folder", BROKEN, ids=lambda folder: folder.parent.name)
def test_broken_experiments_in_every_format(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    formats = [*VALIDATORS, "junit", "json", "markdown", "html"]
    outputs = {name: tmp_path / name for name in formats}
    options = [text for name, file in outputs.items() for text in ("--output-format", f"{name}:{file}")]
    with chdir(folder):
        main(["check", "--isolated", "--output-format", "github", *options, "."])
    for name, validator in VALIDATORS.items():
        validator.validate(json.loads(outputs[name].read_text("utf-8")))
    findings = json.loads(outputs["json"].read_text("utf-8"))["findings"]
    [run] = json.loads(outputs["sarif"].read_text("utf-8"))["runs"]
    assert [result["ruleId"] for result in run["results"]] == [each["code"] for each in findings]
    for result, each in zip(run["results"], findings, strict=True):
        steps = [hop for hop in each["hops"] if hop["path"]]
        flows = result.get("codeFlows", [])
        assert [len(flow["threadFlows"][0]["locations"]) for flow in flows] == ([len(steps)] if steps else [])
        rule = run["tool"]["driver"]["rules"][result["ruleIndex"]]
        assert (rule["id"], rule["name"]) == (each["code"], each["slug"])
    cases = ElementTree.parse(outputs["junit"]).getroot().findall("*/testcase")
    assert len(cases) == len(findings)
    assert outputs["html"].read_text("utf-8").count("<article ") == len(findings)
    commands = [line for line in capsys.readouterr().out.splitlines() if line.startswith("::")]
    assert len(commands) == len(findings)


GITHUB = """\
::error file=data/odd.sh,line=1,col=1,endColumn=1,title=VL001 unreadable-source::is not text
::error file=scripts/generate.sh,line=4,col=22,endColumn=62,title=VL401 literal-secret::a key is written in the \
launcher: **** (WANDB_API_KEY = ****)%0Ahelp: delete ****%0Averify: echo ****
::error file=scripts/generate.sh,line=6,col=20,endColumn=52,title=VL208 dangling-input::no stage produces this \
evaluation data (data.val_files = /tmp/dolly_4k_test.parquet)%0Ahelp: export that file first, or pass data.val_files
::warning file=scripts/generate.sh,line=3,col=6,endColumn=21,title=VL101 hard-coded-path::path of one machine \
(/mnt/team/alpha)
::notice file=scripts/generate.sh,line=5,col=1,endColumn=33,title=VL916 literal-topology::GPUs are fixed
::notice file=scripts/generate.sh,line=7,col=29,endColumn=51,title=VL601 split-batch (needs verification)::cannot tell \
whether 64 is the rollout batch ${GLOBAL_BSZ}%0Averify: echo $GLOBAL_BSZ
verlint: Found 3 errors, 1 warning, 1 info (1 fixable with --fix, 1 more with --fix --unsafe-fixes), 1 to verify. 2 suppressed. \
(checked 2 experiments, 11 stages, 14 launchers in 20 files)
"""


def test_github() -> None:
    assert render(REPORT, "github") == GITHUB


def test_github_escapes() -> None:
    source = Source("a,b:c%.sh", "x\ny\n")
    odd = finding("VL999", "odd", Severity.ERROR, "50% of a,b: c", source.whole(), verify="a\nb")
    assert render(Report((odd,)), "github").splitlines()[0] == (
        "::error file=a%2Cb%3Ac%25.sh,line=1,endLine=3,title=VL999 odd::50%25 of a,b: c%0Averify: a%0Ab"
    )


JUNIT = """\
<?xml version="1.0" encoding="UTF-8"?>
<testsuites tests="2" failures="1" errors="0" skipped="1">
  <testsuite name="scripts/generate.sh" tests="2" failures="1" errors="0" skipped="1">
    <testcase name="VL916 literal-topology (line 5)" classname="scripts/generate.sh" file="scripts/generate.sh" line="5">
      <failure type="info" message="GPUs are fixed">scripts/generate.sh:5:1: VL916 GPUs are fixed</failure>
    </testcase>
    <testcase name="VL601 split-batch (line 7)" classname="scripts/generate.sh" file="scripts/generate.sh" line="7">
      <skipped message="cannot tell whether 64 is the rollout batch ${GLOBAL_BSZ}"/>
    </testcase>
  </testsuite>
</testsuites>
"""
CLEAN_JUNIT = """\
<?xml version="1.0" encoding="UTF-8"?>
<testsuites tests="1" failures="0" errors="0" skipped="0">
  <testsuite name="verlint" tests="1" failures="0" errors="0" skipped="0">
    <testcase name="no findings" classname="verlint"/>
  </testsuite>
</testsuites>
"""


def test_junit() -> None:
    assert render(Report((SPLIT, NOTE)), "junit") == JUNIT
    assert render(Report(), "junit") == CLEAN_JUNIT


MARKDOWN = """\
## verlint

**Found 1 error, 1 to verify.** checked 0 files

### Errors (1)

- **VL208** no stage produces this evaluation data (`data.val_files = /tmp/dolly_4k_test.parquet`)\\
  `scripts/generate.sh:6:20`
  <details><summary>details</summary>

  - value: `data.val_files = /tmp/dolly_4k_test.parquet`
  - from: `run_all.sh:2:26 --val_data dolly`
  - from: `scripts/generate.sh:2:1 --val_data -> VAL_DATA`
  - from: `scripts/generate.sh:6:20 /tmp/${VAL_DATA}_4k_test.parquet`
  - from: `the default of VeRL 0.7.1`
  - see: run\\_all.sh:2:1 called here
  - near: tools/export.py:8 writes lmsys\\_test.parquet
  - help: export that file first, or pass data.val\\_files
  - also: run\\_all.sh:2
  - also: run\\_all.sh:3

  </details>

### Needs verification (1)

- **VL601** cannot tell whether 64 is the rollout batch \\${GLOBAL\\_BSZ}\\
  `scripts/generate.sh:7:29`
  <details><summary>details</summary>

  - verify: `echo $GLOBAL_BSZ`
  - when: if \\[ -n \\$FAST \\] holds

  </details>
"""


def test_markdown() -> None:
    assert render(Report((DANGLING, SPLIT)), "markdown") == MARKDOWN


def test_markdown_stays_below_the_limit_of_a_job_summary() -> None:
    source = Source("a.sh", "x\n" * 9000)
    many = tuple(finding("VL999", "odd", Severity.ERROR, "m" * 200, source.span(2 * n, 2 * n + 1)) for n in range(9000))
    page = render(Report(many), "markdown")
    assert len(page.encode()) < LIMIT + 1000
    shown = page.count("**VL999**")
    assert page.endswith(f"… and {9000 - shown} more\n")


def test_html_needs_nothing_else_and_shows_text_as_text() -> None:
    odd = replace(NOTE, message="<script>alert('x')</script> & \"quotes\"", slug="odd")
    page = render(Report((odd, DANGLING)), "html")
    assert "<script" not in page
    assert "&lt;script&gt;alert(&#x27;x&#x27;)&lt;/script&gt; &amp; &quot;quotes&quot;" in page
    assert re.findall(r"(?:https?:)?//[\w.]+|url\(|@import|src=|href=", page) == []


def test_gitlab_names_stay_when_lines_move_and_differ_in_one_report() -> None:
    def names(text: str) -> list[str]:
        source = Source("a.sh", text)
        spans = [source.span(match.start(), match.end()) for match in re.finditer("/mnt", text)]
        found = tuple(finding("VL101", "hard-coded-path", Severity.WARNING, "path", span) for span in spans)
        return [issue["fingerprint"] for issue in json.loads(render(Report(found), "gitlab"))]

    before, after = names("cp /mnt a\ncp /mnt a\n"), names("# new\n\n  cp   /mnt a\ncp /mnt a\n")
    assert len(set(before)) == 2
    assert before == after


# Places --------------------------------------------------------------------------------------------------------------


def cut(text: str, start: tuple[int, int], end: tuple[int, int], encoding: str, unit: int) -> str:
    """The text between two places whose columns count units of `unit` bytes of an encoding, as a reader cuts it."""
    lines = [line.encode(encoding) for line in text.split("\n")]

    def place(line: int, column: int) -> int:
        return sum(len(each) + unit for each in lines[: line - 1]) + (column - 1) * unit

    return text.encode(encoding)[place(*start) : place(*end)].decode(encoding)


@settings(max_examples=300, derandomize=True, deadline=None)
@given(LINES, st.integers(0, 60), st.integers(0, 60))
def test_places_lead_back_to_the_text(text: str, first: int, second: int) -> None:
    start, end = sorted((min(first, len(text)), min(second, len(text))))
    source = Source("a.sh", text)
    span = source.span(start, end)
    odd = finding(
        "VL999",
        "odd",
        Severity.ERROR,
        "m",
        span,
        fix=Fix("f", (Edit(span, "x"),), Safety.SAFE),
        related=(Related(span, "there"),),
        hops=(Hop(span, "so"),),
    )
    report = Report((odd,))
    [result] = json.loads(render(report, "sarif"))["runs"][0]["results"]
    change = result["fixes"][0]["artifactChanges"][0]["replacements"][0]["deletedRegion"]
    flow = result["codeFlows"][0]["threadFlows"][0]["locations"][0]["location"]
    places = [
        each["physicalLocation"]["region"] for each in (result["locations"][0], result["relatedLocations"][0], flow)
    ]
    for region in (*places, change):
        begin, finish = (region["startLine"], region["startColumn"]), (region["endLine"], region["endColumn"])
        assert cut(text, begin, finish, "utf-16-le", 2) == span.text
    [diagnostic] = json.loads(render(report, "rdjson"))["diagnostics"]
    for where in (diagnostic["location"]["range"], diagnostic["suggestions"][0]["range"]):
        begin, finish = ((where[name]["line"], where[name]["column"]) for name in ("start", "end"))
        assert cut(text, begin, finish, "utf-8", 1) == span.text


def test_a_sarif_address_is_escaped_and_leads_back() -> None:
    odd = finding("VL999", "odd", Severity.ERROR, "m", Source("ä b/100%#?.sh", "x").whole())
    [result] = json.loads(render(Report((odd,)), "sarif"))["runs"][0]["results"]
    address = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert (address, unquote(address)) == ("%C3%A4%20b/100%25%23%3F.sh", "ä b/100%#?.sh")


def test_sarif_links_each_related_place() -> None:
    odd = replace(DANGLING, related=(Related(at("ROOT"), "a [label](9)"),))
    [result] = json.loads(render(Report((odd,)), "sarif"))["runs"][0]["results"]
    assert result["message"]["text"].splitlines()[-1] == "see [a \\[label\\](9)](1)"
    assert [each["id"] for each in result["relatedLocations"]] == [1]


def test_fixes_that_would_show_a_secret_are_left_out() -> None:
    assert "fixes" not in json.loads(render(Report((SECRET,)), "sarif"))["runs"][0]["results"][0]
    assert "suggestions" not in json.loads(render(Report((SECRET,)), "rdjson"))["diagnostics"][0]


@pytest.mark.parametrize(
    ("text", "hashes"),
    [  # the vectors that GitHub's upload action is tested with
        ("", ["c129715d7a2bc9a3:1"]),
        (
            " a\nb\n  \t\tc\n d",
            ["271789c17abda88f:1", "54703d4cd895b18:1", "180aee12dab6264:1", "a23a3dc5e078b07b:1"],
        ),
        (
            " hello; \t\nworld!!!\n\n\n  \t\tGreetings\n End",
            [
                "8b7cf3e952e7aeb2:1",
                "b1ae1287ec4718d9:1",
                "bff680108adb0fcc:1",
                "c6805c5e1288b612:1",
                "b86d3392aea1be30:1",
                "e6ceba753e1a442:1",
            ],
        ),
        (
            " hello; \t\nworld!!!\n\n\n  \t\tGreetings\n End\n",
            [
                "e9496ae3ebfced30:1",
                "fb7c023a8b9ccb3f:1",
                "ce8ba1a563dcdaca:1",
                "e20e36e16fcb0cc8:1",
                "b3edc88f2938467e:1",
                "c8e28b0b4002a3a0:1",
                "c129715d7a2bc9a3:1",
            ],
        ),
        (
            " hello; \t\nworld!!!\r\r\r  \t\tGreetings\r End\r",
            [
                "e9496ae3ebfced30:1",
                "fb7c023a8b9ccb3f:1",
                "ce8ba1a563dcdaca:1",
                "e20e36e16fcb0cc8:1",
                "b3edc88f2938467e:1",
                "c8e28b0b4002a3a0:1",
                "c129715d7a2bc9a3:1",
            ],
        ),
        (
            "Lorem ipsum dolor sit amet.\n" * 10,
            [f"a7f2ff13bc495cf2:{number}" for number in range(1, 7)]
            + [
                "a7f2ff1481e87703:1",
                "a9cf91f7bbf1862b:1",
                "55ec222b86bcae53:1",
                "cc97dc7b1d7d8f7b:1",
                "c129715d7a2bc9a3:1",
            ],
        ),
        ("x = 2\nx = 1\nprint(x)\nx = 3\nprint(x)\nx = 4\nprint(x)\n", None),
    ],
)
def test_line_hashes(text: str, hashes: list[str] | None) -> None:
    if hashes is None:
        assert len(set(line_hashes(Source("a", text)))) == text.count("\n") + 1
    else:
        assert list(line_hashes(Source("a", text))) == hashes


def test_paths_are_relative_to_the_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GITHUB_WORKSPACE", "CI_PROJECT_DIR"):
        monkeypatch.delenv(name, raising=False)
    inner = tmp_path / "repo" / "oel" / "scripts"
    inner.mkdir(parents=True)
    monkeypatch.chdir(inner)
    assert repository_path("a.sh") == "a.sh"
    (tmp_path / "repo" / ".git").mkdir()
    monkeypatch.chdir(inner.parent)
    assert repository_path("scripts/a.sh") == "oel/scripts/a.sh"
    assert repository_path("../b.sh") == "b.sh"
    assert repository_path("../../b.sh") == "../../b.sh"
    assert repository_path("/etc/b.sh") == "/etc/b.sh"
    monkeypatch.setenv("CI_PROJECT_DIR", str(inner.parent))
    monkeypatch.chdir(inner)
    assert repository_path("a.sh") == "scripts/a.sh"
