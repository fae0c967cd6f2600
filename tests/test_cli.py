"""The command line: verbs, choices of `check`, exit codes, and what happens when something breaks."""

from __future__ import annotations

import argparse
import io
import os
import subprocess
import sys
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import verlint
from verlint.cli.check import add_parser, plain_call
from verlint.cli.main import main
from verlint.cli.output import output_width, use_color
from verlint.finding import Finding, Related, Severity, Verdict
from verlint.record import names
from verlint.result import Loaded, Report, Summary, Unreadable
from verlint.settings import Settings

ROOT = Path(__file__).resolve().parent.parent
LAUNCHER = "python3 -m verl.trainer.main_ppo trainer.nnodes=1\n"


@dataclass
class Engine:
    """A stand-in for the engine: remembers what it was given, and gives what the test prepared."""

    make: Callable[[Sequence[Loaded]], list[Finding]] = field(default=lambda files: [])
    crashed: bool = False
    files: list[Loaded] = field(default_factory=list)
    unreadable: list[Unreadable] = field(default_factory=list)
    settings: Settings | None = None

    def check_project(
        self,
        files: Sequence[Loaded],
        settings: Settings,
        root: Path,
        unreadable: Sequence[Unreadable] = (),
        jobs: int = 1,
    ) -> Report:
        self.files, self.settings, self.unreadable = list(files), settings, list(unreadable)
        summary = Summary(files=len(files), launchers=len(files))
        return Report(tuple(self.make(files)), summary, self.crashed)


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Engine:
    fake = Engine()
    module = types.ModuleType("verlint.engine")
    module.check_project = fake.check_project  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "verlint.engine", module)

    def render(report: Report, name: str, *, color: bool, width: int) -> str:
        return "\n".join([f"{name} color={color} width={width}", *(finding.message for finding in report.findings)])

    monkeypatch.setattr("verlint.report.render", render, raising=False)
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "VERLINT_OUTPUT_FORMAT", "VERLINT_TRACEBACK"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "90")
    return fake


def put(files: dict[str, str]) -> None:
    for name, text in files.items():
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


def finding(
    file: Loaded,
    severity: Severity = Severity.ERROR,
    verdict: Verdict = Verdict.FAIL,
    message: str = "bad",
    related: Loaded | None = None,
) -> Finding:
    others = () if related is None else (Related(related.source.span(0, 1), "there"),)
    return Finding("VL999", "x", severity, verdict, message, file.source.span(0, 1), related=others)


def python(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    paths = os.pathsep.join(str(ROOT / folder) for folder in ("linter", "rules"))
    environment = {**os.environ, "PYTHONPATH": paths, **variables}
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, env=environment, check=False)


# The command ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("option", ["--version", "-V"])
def test_version(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([option]) == 0
    assert capsys.readouterr().out == f"verlint {verlint.__version__}\n"


def test_version_loads_nothing_else() -> None:
    code = "import sys; from verlint.cli.main import main; main(['--version']); print(*sorted(sys.modules))"
    out = python("-S", "-c", code).stdout.splitlines()[-1].split()
    assert [name for name in out if name.startswith("verlint")] == ["verlint", "verlint.cli", "verlint.cli.main"]
    assert {"argparse", "re", "typing", "dataclasses", "pathlib", "tomllib"}.isdisjoint(out)


def test_help_names_every_verb_and_the_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    out = capsys.readouterr().out
    for piece in ("check", "rule", "rules", "examples:", "exit codes: 0 clean, 1 findings, 2"):
        assert piece in out


def test_without_a_verb_the_help_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert capsys.readouterr().err.startswith("usage: verlint")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["chek", "x"], "'chek' is not a verb (did you mean `check`?); verbs: check, rule"),
        (["zzz"], "'zzz' is not a verb; verbs: check, rule"),
        (["run.sh", "--strict"], "'run.sh' is not a verb (did you mean `verlint check run.sh --strict`?)"),
        (["check", "--selct", "VL1"], "verlint check: error: there is no option --selct (did you mean --select?)\n"),
        (["check", "--whole=1"], "verlint check: error: there is no option --whole (see verlint check --help)\n"),
        (["check", "-r.sh"], "verlint check: error: there is no option -r.sh (for the file of this name write ./-r.sh)\n"),
        (["rules", "VL101"], "verlint rules: error: nothing is known to do with VL101 (see verlint rules --help)\n"),
        (["--verbose"], "verlint: error: there is no option --verbose (see verlint --help)\n"),
        (["check", "--fix", "--write-baseline"], "--fix and --write-baseline exclude each other"),
        (["check", "--add-ignore", "", "--diff"], "--diff and --add-ignore exclude each other"),
        (["check", "--statistics", "--diff"], "--diff and --statistics exclude each other"),
        (["check", "--statistics", "--output-format", "sarif"], "--statistics prints text or json; for a report as well"),
        (["check", "--fail-on", "bad"], "argument --fail-on: invalid choice: 'bad'"),
        (["check", "--select", "VL8888"], "unknown rule 'VL8888'"),
        (["check", "--select", "unused-supression"], "unknown rule 'unused-supression' (did you mean unused-suppression, unused-setting?)"),
        (["check", "--output-format", "jsn"], "unknown output format `jsn` (did you mean `json`?)"),
        (["check", "--config", "none.toml"], "none.toml: cannot be read: No such file or directory"),
        (["check", "--config", "a", "--isolated"], "--config and --isolated exclude each other"),
        (["check", "-", "x.sh"], "- (standard input) cannot be mixed with other paths"),
        (["check", "--stdin-filename", "x.sh"], "--stdin-filename is for standard input: give - as the path"),
    ],
)  # fmt: skip
def test_wrong_calls_exit_2(
    engine: Engine, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    put({"run.sh": "ls\n", "-r.sh": "ls\n"})
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.out == ""


def test_wrong_settings_exit_2(engine: Engine, capsys: pytest.CaptureFixture[str]) -> None:
    put({"verlint.toml": "selct = []\n", "run.sh": LAUNCHER})
    assert main(["check"]) == 2
    assert capsys.readouterr().err.endswith("verlint.toml:1: unknown key `selct` (did you mean `select`?)\n")


def test_an_unknown_rule_in_ignore_is_only_a_warning(engine: Engine, capsys: pytest.CaptureFixture[str]) -> None:
    put({"run.sh": LAUNCHER})
    assert main(["check", "--ignore", "VL8888"]) == 0
    assert capsys.readouterr().err == "warning: unknown rule 'VL8888'\n"


def test_a_fault_of_verlint_is_one_line_without_secrets(
    engine: Engine, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    put({"run.sh": LAUNCHER})
    secret = "hf_" + "abcdABCD1234" * 3

    def explode(files: Sequence[Loaded]) -> list[Finding]:
        raise ValueError(f"HF_TOKEN={secret}\nsecond line")

    engine.make = explode
    assert main(["check"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("internal error: ValueError: HF_TOKEN=hf_")
    assert "please report it" in captured.err
    assert captured.err.count("\n") == 1
    assert secret not in captured.err
    monkeypatch.setenv("VERLINT_TRACEBACK", "1")
    with pytest.raises(ValueError, match="second line"):
        main(["check"])


def test_an_interrupt_is_told_in_one_line(engine: Engine, capsys: pytest.CaptureFixture[str]) -> None:
    put({"run.sh": LAUNCHER})

    def interrupt(files: Sequence[Loaded]) -> list[Finding]:
        raise KeyboardInterrupt

    engine.make = interrupt
    assert main(["check"]) == 130
    assert capsys.readouterr().err == "interrupted\n"


def test_a_reader_that_goes_away_is_no_error() -> None:
    # The file list is written to a pipe whose reader is gone already.
    code = (
        "import os, sys; r, w = os.pipe(); os.close(r); os.dup2(w, 1);"
        "from verlint.cli.main import main; sys.exit(main(['check', '--isolated', '--show-files', sys.argv[1]]))"
    )
    done = python("-c", code, str(ROOT / "linter"))
    assert (done.returncode, done.stderr) == (0, "")


# Exit codes ----------------------------------------------------------------------------------------------------------

E, W, I = Severity.ERROR, Severity.WARNING, Severity.INFO  # noqa: E741
FAIL, UNSURE = Verdict.FAIL, Verdict.UNSURE


@pytest.mark.parametrize(
    ("findings", "options", "code"),
    [
        ([], "", 0),
        ([(E, FAIL)], "", 1),
        ([(W, FAIL)], "", 1),
        ([(I, FAIL)], "", 0),
        ([(I, FAIL)], "--fail-on info", 1),
        ([(W, FAIL)], "--fail-on error", 0),
        ([(E, FAIL)], "--fail-on never", 0),
        ([(E, FAIL)], "--exit-zero", 0),
        ([(E, UNSURE)], "", 0),
        ([(E, UNSURE)], "--strict", 1),
        ([(I, UNSURE)], "--strict", 0),
        ([(E, UNSURE), (W, FAIL)], "--fail-on error", 0),
    ],
)
def test_exit_codes(engine: Engine, findings: list[tuple[Severity, Verdict]], options: str, code: int) -> None:
    put({"run.sh": LAUNCHER})
    engine.make = lambda files: [finding(files[0], severity, verdict) for severity, verdict in findings]
    assert main(["check", *options.split()]) == code


def test_a_crash_of_a_rule_exits_2_even_with_exit_zero(engine: Engine) -> None:
    put({"run.sh": LAUNCHER})
    engine.crashed = True
    assert main(["check", "--exit-zero"]) == 2


def test_nothing_to_check_is_a_warning_or_an_error_on_demand(
    engine: Engine, capsys: pytest.CaptureFixture[str]
) -> None:
    put({"notes.txt": ""})
    assert main(["check"]) == 0
    assert capsys.readouterr().err == "warning: nothing to check (--show-files says why)\n"
    assert main(["check", "--require-files"]) == 2


def test_a_named_path_that_is_missing_is_handed_to_the_engine(engine: Engine) -> None:
    main(["check", "no.sh"])
    assert engine.unreadable == [Unreadable("no.sh", "does not exist")]


# Settings and files --------------------------------------------------------------------------------------------------


def test_the_call_outdoes_the_settings_file(engine: Engine) -> None:
    put({
        "sub/run.sh": LAUNCHER,
        "sub/verlint.toml": "select = ['VL1']\nignore = ['VL008']\nexclude = ['a']\nfail-on = 'error'\nverl = '0.5'\nstrict = true\n",
        "verlint.toml": "never = 'read'\n",
    })  # fmt: skip
    code = main(
        "check sub/run.sh --select VL0 --select unused-suppression,VL0 --extend-select VL008 --ignore VL008"
        " --exclude b --fail-on info --verl 0.7.1".split()
    )
    assert code == 0
    assert engine.settings == Settings(
        root=Path.cwd() / "sub",
        path=Path.cwd() / "sub" / "verlint.toml",
        select=("VL0", "unused-suppression", "VL0"),
        extend_select=("VL008",),
        ignore=("VL008", "VL008"),
        exclude=("a", "b"),
        fail_on=Severity.INFO,
        verl="0.5",
        verl_of_call="0.7.1",
        strict=True,
    )


def test_isolated_reads_no_settings_and_config_reads_that_file(engine: Engine) -> None:
    put({"run.sh": LAUNCHER, "verlint.toml": "strict = true\n", "other/v.toml": "verl = '0.4'\n"})
    main(["check", "--isolated"])
    assert engine.settings == Settings(root=Path.cwd())
    main(["check", "--config", "other/v.toml"])
    assert engine.settings == Settings(root=Path.cwd() / "other", path=Path.cwd() / "other" / "v.toml", verl="0.4")


def test_standard_input(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"ls\n")))
    main(["check", "-", "--stdin-filename", "a/run.sh"])
    (file,) = engine.files
    assert (file.source.path, file.source.text, file.path) == ("a/run.sh", "ls\n", Path.cwd() / "a" / "run.sh")


def test_show_files_says_why(engine: Engine, capsys: pytest.CaptureFixture[str]) -> None:
    put({"run.sh": LAUNCHER, "other.sh": "ls\n", "a.exp.yaml": "", "old/x.sh": LAUNCHER})
    assert main(["check", ".", "no.sh", "--show-files", "--exclude", "old"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "checked  a.exp.yaml: spec, is named as an experiment spec",
        "skipped  old/x.sh: excluded by `old`",
        "skipped  other.sh: no mark of a VeRL launcher",
        "checked  run.sh: launcher, starts main_ppo",
        "skipped  no.sh: does not exist",
        "2 checked (1 launcher, 1 spec), 3 skipped",
    ]


def test_touched_loads_the_specs_around_and_reports_only_the_named(
    engine: Engine, capsys: pytest.CaptureFixture[str]
) -> None:
    put({"run.sh": LAUNCHER, "x.exp.yaml": "launcher: run.sh\n", "y.exp.yaml": "launcher: no.sh\n", "plain.sh": "ls\n"})

    def both(files: Sequence[Loaded]) -> list[Finding]:
        run, spec = files
        return [
            finding(run, message="in the seed"),
            finding(spec, message="only in the spec"),
            finding(spec, message="from the spec to the seed", related=run),
        ]

    engine.make = both
    assert main(["check", "--scope=touched", "run.sh", "plain.sh"]) == 1
    assert [(file.source.path, file.named) for file in engine.files] == [("run.sh", True), ("x.exp.yaml", False)]
    assert capsys.readouterr().out.splitlines()[1:] == ["in the seed", "from the spec to the seed"]


# Output --------------------------------------------------------------------------------------------------------------


def test_several_formats_at_once(engine: Engine, capsys: pytest.CaptureFixture[str]) -> None:
    put({"run.sh": LAUNCHER})
    main(["check", "--output-format", "concise", "--output-format", "json:out.json", "--color", "always"])
    assert capsys.readouterr().out == "concise color=True width=90\n"
    assert Path("out.json").read_text() == "json color=False width=100\n"


def test_a_report_that_cannot_be_written_exits_2(engine: Engine, capsys: pytest.CaptureFixture[str]) -> None:
    put({"run.sh": LAUNCHER})
    assert main(["check", "--output-format", "json:no/out.json"]) == 2
    assert capsys.readouterr().err == "verlint: error: cannot write no/out.json: No such file or directory\n"


def test_the_format_comes_from_the_call_the_environment_or_the_settings(
    engine: Engine, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    put({"run.sh": LAUNCHER})
    seen = []
    for call in (["check"], ["check", "--output-format", "full"]):
        for variable in ("json", ""):
            for setting in ("output-format = 'concise'\n", ""):
                put({"verlint.toml": setting})
                monkeypatch.setenv("VERLINT_OUTPUT_FORMAT", variable)
                main(call)
                seen.append(capsys.readouterr().out.split()[0])
    assert seen == ["json", "json", "concise", "full", "full", "full", "full", "full"]


class Stream(io.StringIO):
    def __init__(self, tty: bool) -> None:
        super().__init__()
        self.tty = tty

    def isatty(self) -> bool:
        return self.tty


@pytest.mark.parametrize(
    ("wish", "variables", "tty", "expected"),
    [
        ("auto", {}, True, True),
        ("auto", {}, False, False),
        ("auto", {"NO_COLOR": "1"}, True, False),
        ("auto", {"NO_COLOR": ""}, True, True),
        ("auto", {"FORCE_COLOR": "1"}, False, True),
        ("auto", {"CLICOLOR_FORCE": "1"}, False, True),
        ("auto", {"FORCE_COLOR": "1", "NO_COLOR": "1"}, True, False),
        ("auto", {"TERM": "dumb"}, True, False),
        ("always", {"NO_COLOR": "1"}, False, True),
        ("never", {"FORCE_COLOR": "1"}, True, False),
    ],
)
def test_colour(
    monkeypatch: pytest.MonkeyPatch, wish: str, variables: dict[str, str], tty: bool, expected: bool
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert use_color(wish, Stream(tty)) is expected


@pytest.mark.parametrize(("columns", "width"), [("72", 72), ("0", 100), ("wide", 100), ("", 100)])
def test_width(monkeypatch: pytest.MonkeyPatch, columns: str, width: int) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert output_width(Stream(tty=False)) == width


@pytest.mark.parametrize(
    ("call", "is_plain"),
    [
        ("", True),
        ("a b", True),
        ("--no-cache a b", True),
        ("a --strict --exit-zero", True),
        ("--isolated --ready a --require-files --force-exclude", True),
        ("a --strict b", False),
        ("a -", False),
        ("--no-cach a", False),
        ("a --diff", False),
        ("--scope all a", False),
        ("-- a", False),
    ],
)
def test_a_plain_call_says_what_argparse_would_read(call: str, is_plain: bool) -> None:
    words = call.split()
    plain = plain_call(words)
    assert (plain is not None) == is_plain
    if plain is not None:
        parser = argparse.ArgumentParser()
        add_parser(parser.add_subparsers())
        read = parser.parse_args(["check", *words])
        assert {name: getattr(plain, name) for name in names(plain)} == vars(read)


def test_show_of_a_spec_names_the_verbs_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.exp.yaml").write_text("schema: verlint/exp-v1\nname: a\nstages: {}\n")
    assert main(["show", "a.exp.yaml"]) == 2
    assert "`verlint plan a.exp.yaml` prints the commands of its stages" in capsys.readouterr().err
