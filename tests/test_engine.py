"""The engine: what rules are given, how their findings are folded, and what happens when a rule fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import verlint.engine
from verlint.engine import check_project, selected_rules
from verlint.experiment.launch import Launch
from verlint.experiment.script import Script
from verlint.files.loading import load
from verlint.finding import Finding, Severity
from verlint.languages.bash.command import Command, Guard
from verlint.record import replace
from verlint.result import Report
from verlint.rule import Check, Context, Rule, UnknownRule
from verlint.settings import Settings
from verlint.source import Source

TRAIN = "python3 -m verl.trainer.main_ppo data.train_batch_size={} trainer.nnodes=1\n"


def made_up(on: type, check: Check, code: str = "VL999") -> Rule:
    """A rule that only exists here."""
    return Rule(code, "made-up", on, Severity.ERROR, check, "A rule.", "tests.test_engine")


@pytest.fixture
def lint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Report]:
    """Lint a project given as {path: text} with the given rules only."""
    monkeypatch.chdir(tmp_path)

    def run(files: dict[str, str], *rules: Rule, **changes: object) -> Report:
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        settings = replace(Settings(root=tmp_path), **changes)  # type: ignore[arg-type]
        monkeypatch.setattr(verlint.engine, "selected_rules", lambda settings: list(rules))
        loading = load(["."], settings)
        return check_project(loading.files, settings, tmp_path, unreadable=loading.unreadable)

    return run


def batch(launch: Launch, ctx: Context) -> Iterator[Finding]:
    """Complains of every train batch that is not 64, or not known."""
    value = launch["data.train_batch_size"]
    if value.equals(64) is False:
        yield ctx.fail(value, f"batch {value}")
    elif value.equals(64) is None:
        yield ctx.unsure(value, f"batch {value}", verify="echo")


def lines(report: Report) -> list[str]:
    """The findings of a report, short."""
    return [
        f"{each.file}:{each.span.begin.line if each.span else 0} {each.code} {each.verdict.value} {each.message}"
        for each in report.findings
    ]


def test_a_launch_is_judged_with_the_values_of_its_calls(lint: Callable[..., Report]) -> None:
    report = lint(
        {
            "scripts/train.sh": 'while [[ $# -gt 0 ]]; do case $1 in --bs) BS="$2"; shift 2 ;; *) break ;; esac; done\n'
            + TRAIN.format("$BS"),
            "run.sh": "bash scripts/train.sh --bs 64\nbash scripts/train.sh --bs 32\nbash scripts/train.sh --bs 32\n",
        },
        made_up(Launch, batch),
    )
    assert lines(report) == ["scripts/train.sh:2 VL999 fail batch 32"]
    assert report.findings[0].contexts == ("called at run.sh:2:1", "called at run.sh:3:1")


def test_alone_an_option_without_a_default_is_not_known(lint: Callable[..., Report]) -> None:
    text = 'while [[ $# -gt 0 ]]; do case $1 in --bs) BS="$2"; shift 2 ;; esac; done\n' + TRAIN.format("$BS")
    assert lines(lint({"train.sh": text}, made_up(Launch, batch))) == ["train.sh:2 VL999 unsure batch <--bs>"]


def test_what_holds_on_some_paths_only_is_unsure(lint: Callable[..., Report]) -> None:
    text = 'if [ "$MODE" = small ]; then BS=32; else BS=64; fi\n' + TRAIN.format("$BS")
    report = lint({"train.sh": text}, made_up(Launch, batch))
    assert lines(report) == ["train.sh:2 VL999 unsure batch 32"]


def test_what_holds_on_all_paths_is_certain(lint: Callable[..., Report]) -> None:
    text = 'if [ "$MODE" = small ]; then LR=1; else LR=2; fi\n' + TRAIN.format("32")
    assert lines(lint({"train.sh": text}, made_up(Launch, batch))) == ["train.sh:2 VL999 fail batch 32"]


def test_a_fault_on_every_path_is_certain_with_the_value_of_each(lint: Callable[..., Report]) -> None:
    text = 'if [ "$MODE" = small ]; then BS=16; else BS=32; fi\n' + TRAIN.format("$BS")
    report = lint({"train.sh": text}, made_up(Launch, batch))
    assert lines(report) == ["train.sh:2 VL999 fail batch 16", "train.sh:2 VL999 fail batch 32"]
    assert [finding.contexts for finding in report.findings] == [("when MODE is small",), ("when MODE is not small",)]


def test_other_commands_at_the_place_of_a_launch_are_no_end(lint: Callable[..., Report]) -> None:
    text = 'run() { "$@"; }\nrun pip install -e .\nrun ' + TRAIN.format(32)
    assert lines(lint({"train.sh": text}, made_up(Launch, batch))) == ["train.sh:3 VL999 fail batch 32"]


def test_one_turn_of_a_loop_is_no_other_path(lint: Callable[..., Report]) -> None:
    text = "for BS in 64 32; do\n" + TRAIN.format("$BS") + "done\n"
    assert lines(lint({"train.sh": text}, made_up(Launch, batch))) == ["train.sh:2 VL999 fail batch 32"]


def test_a_rule_that_crashes_is_a_finding_and_the_others_go_on(lint: Callable[..., Report]) -> None:
    def crash(script: Script, ctx: Context) -> Iterator[Finding]:
        raise ZeroDivisionError("oh")
        yield  # the function is to be a generator

    report = lint({"train.sh": TRAIN.format(32)}, made_up(Script, crash, "VL998"), made_up(Launch, batch))
    assert report.crashed
    assert lines(report) == [
        "train.sh:1 VL998 fail the rule itself failed here (ZeroDivisionError: oh); please report it",
        "train.sh:1 VL999 fail batch 32",
    ]


def test_a_command_is_given_once_for_equal_words(lint: Callable[..., Report]) -> None:
    def each(command: Command, ctx: Context) -> Iterator[Finding]:
        yield ctx.fail(command.span, " ".join(word.shown for word in command.argv))

    text = "for i in 1 2 1; do python3 -m verl.trainer.main_eval x=$i; done\n"
    assert [line.rsplit("=", 1)[1] for line in lines(lint({"run.sh": text}, made_up(Command, each)))] == ["1", "2"]


def test_severities_of_the_settings_count(lint: Callable[..., Report]) -> None:
    severity = {"VL": Severity.WARNING, "VL999": Severity.INFO}
    report = lint({"train.sh": TRAIN.format(32)}, made_up(Launch, batch), severity=severity)
    assert [finding.severity for finding in report.findings] == [Severity.INFO]


def test_rules_of_other_families_are_not_run(lint: Callable[..., Report]) -> None:
    rule = replace(made_up(Launch, batch), families=frozenset(["opo"]))
    assert lines(lint({"train.sh": TRAIN.format(32)}, rule)) == []
    text = "# verlint: family=opo\n" + TRAIN.format(32)
    assert lines(lint({"train.sh": text}, rule)) == ["train.sh:2 VL999 fail batch 32"]


def test_suppressed_findings_are_counted(lint: Callable[..., Report], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("verlint.suppress.codes_of", lambda name: frozenset([name]))
    text = "# verlint: ignore[VL999] it is a test\n" + TRAIN.format(32)
    report = lint({"train.sh": text}, made_up(Launch, batch))
    assert (report.findings, report.suppressed) == ((), 1)


def test_rules_are_selected_by_prefix_code_and_slug(tmp_path: Path) -> None:
    settings = Settings(root=tmp_path, select=("VL60", "literal-secret"), ignore=("kl-loss",), extend_select=("VL001",))
    assert [rule.code for rule in selected_rules(settings)] == [
        "VL001",
        "VL401",
        "VL601",
        "VL602",
        *(f"VL60{each}" for each in "456789"),
    ]


def test_an_unknown_rule_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnknownRule, match="did you mean literal-secret"):
        selected_rules(Settings(root=tmp_path, select=("literal-secrets",)))


@pytest.mark.parametrize(
    ("text", "holds", "words"),
    [
        ("RANK is 0", True, "RANK is 0"),
        ("RANK is 0", False, "RANK is not 0"),
        ("X is not set", False, "X is set"),
        ("nvcc succeeds", False, "not (nvcc succeeds)"),
    ],
)
def test_conditions_in_words(text: str, holds: bool, words: str) -> None:
    assert Guard(text, Source("run.sh", "").whole(), holds).words == words
