"""bash itself as the judge: what it starts, what it rejects, and where words begin and end.

Needs user namespaces (see `oracle.sandbox`); where they are not allowed the tests are skipped, but fail where CI=true.
"""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from _pytest.mark.structures import ParameterSet

from fixture_cases import FIXTURES
from oracle import mutants, shfmt_words
from oracle.calls import experiment_calls, rule_fixture_calls
from oracle.compare import compare, resolve, with_assumed
from oracle.generator import FILES, generate
from oracle.sandbox import Job, Sandbox, available
from oracle.shrink import differences, report
from verlint.languages.bash.parser import parse
from verlint.languages.bash.replay import Resolution

pytestmark = pytest.mark.oracle

SEED = int(os.environ.get("VERLINT_ORACLE_SEED", "20261130"))
PARTS, PER_PART = 8, 250
EXPERIMENTS = sorted(path for path in (FIXTURES / "experiments").glob("*/*") if path.is_dir())
SHOWN = 3

RACES: dict[str, str] = {
    "VL910/good-whole-node/before.sh": "a server in the background is killed, on a busy machine before it is on record",
    "VL910/good-server-apart/run.sh": "the server of the sandbox has mostly ended when it is to be stopped",
}
"""Calls of which bash itself does not always do the same."""

EXPLAINED: dict[str, str] = {
    "VL010/good-made-by-the-run/scripts/train.sh": "sbatch runs a script later, where the sandbox has no scheduler",
    "VL507/bad-other-forms/setup.sh": "what the downloads print is run, and those of the sandbox print nothing",
    "VL101/good-script-written-here/run.sh": "sbatch runs a script later, where the sandbox has no scheduler",
    "VL910/good-batch-jobs/submit.sh": "sbatch runs a script later, where the sandbox has no scheduler",
    "VL931/bad-submitted-in-loop/submit.sh": "sbatch runs a script later, where the sandbox has no scheduler",
    "VL402/bad-runtime-env/submit.sh": "ray job submit runs a script, where the sandbox has no cluster",
    "VL402/bad-after-the-files/train.sh": "a file that is sourced sets what is asked for, and the sandbox has no such file",
    "VL402/good-from-a-file/train.sh": "a file that is sourced sets what is asked for, and the sandbox has no such file",
    "VL702/bad-carried/run.sh": "terminals and containers run commands, which those of the sandbox do not",
    "VL910/good-ended/run.sh": "the file with the number of the server is there while it runs",
    "VL214/bad-without-number/submit.sh": "sbatch prints the number of a job, where the sandbox has no scheduler",
    "VL214/good-asks-slurm/submit.sh": "squeue prints the jobs that run, where the sandbox has no scheduler",
    "VL802/bad-batch-jobs/submit.sh": "sbatch prints the number of a job, where the sandbox has no scheduler",
    "VL802/good-batch-jobs/submit.sh": "sbatch prints the number of a job, where the sandbox has no scheduler",
    "VL913/good-asked-in-the-call/submit.sh": "sbatch runs a script later, where the sandbox has no scheduler",
    "VL913/good-header-in-a-document/submit.sh": "sbatch runs a script later, where the sandbox has no scheduler",
    "VL931/bad-submitted/submit.sh": "sbatch runs a script later, where the sandbox has no scheduler",
    "VL932/bad-lost/run.sh": "other hosts and containers run commands, which those of the sandbox do not",
    "VL932/good-handed-on/run.sh": "other hosts and containers run commands, which those of the sandbox do not",
    "VL913/bad-here-document/submit.sh": "sbatch runs a script later, where the sandbox has no scheduler",
    "VL002/bad-inner-text/submit.sh": "sbatch runs a script later, where the sandbox has no scheduler",
    "VL927/bad-inner-text/submit.sh": "sbatch runs a script later, where the sandbox has no scheduler",
    "VL722/bad-makefile/run.sh": "make runs recipes, which that of the sandbox does not",
    "VL722/good-makefile/run.sh": "make runs recipes, which that of the sandbox does not",
    "VL938/bad-devices/submit.sh": "sbatch runs a script later, where the sandbox has no scheduler",
    "VL938/good-quoted/submit.sh": "sbatch runs a script later, where the sandbox has no scheduler",
    "VL928/bad-job/run.sh": "sbatch runs a script later, where the sandbox has no scheduler",
    "VL928/good-elsewhere/run.sh": "terminals, containers and schedulers run commands, which those of the sandbox do not",
    "VL402/bad-container/run.sh": "other hosts and containers run commands, which those of the sandbox do not",
    "VL407/good-on-a-host/run.sh": "other hosts and containers run commands, which those of the sandbox do not",
    "VL702/bad-on-other-hosts/run.sh": "other hosts and containers run commands, which those of the sandbox do not",
    "VL909/bad-on-a-host/run.sh": "other hosts and containers run commands, which those of the sandbox do not",
    "VL909/good-in-a-container/run.sh": "other hosts and containers run commands, which those of the sandbox do not",
    "VL909/good-several-nodes/train.sh": "other hosts and containers run commands, which those of the sandbox do not",
    "VL910/bad-on-one-host/run.sh": "other hosts and containers run commands, which those of the sandbox do not",
    "VL912/good-in-a-container/run.sh": "other hosts and containers run commands, which those of the sandbox do not",
    "VL928/good-in-the-background/run.sh": "a terminal runs a command, which that of the sandbox does not",
}
"""Calls on which both may differ, as the tests name them, each with the reason."""


@cache
def _sandbox() -> Sandbox:
    return Sandbox()


@pytest.fixture
def sandbox() -> Sandbox:
    """Where bash runs; the test is skipped, or fails where CI=true, when none can be made."""
    reason = available()
    if reason and os.environ.get("CI", "").lower() in ("1", "true"):
        pytest.fail(reason)
    if reason:
        pytest.skip(reason)
    return _sandbox()


# ---- launchers


def disagreements(sandbox: Sandbox, calls: dict[str, Job]) -> dict[str, str]:
    """What bash does not agree to, by name of the call."""
    resolutions: dict[str, Resolution] = {name: resolve(job) for name, job in calls.items()}
    jobs = [with_assumed(job, resolutions[name]) for name, job in calls.items()]
    out: dict[str, str] = {}
    for name, job, outcome in zip(calls, jobs, sandbox.run(jobs), strict=True):
        difference = compare(job, resolutions[name], outcome)
        if difference is not None:
            out[name] = f"{difference}\n  bash says: {outcome.errors[-300:]}"
    return out


def check_calls(sandbox: Sandbox, calls: dict[str, Job]) -> None:
    found = disagreements(sandbox, calls)
    assert {name: text for name, text in found.items() if name not in EXPLAINED and name not in RACES} == {}
    settled = [name for name in EXPLAINED if name in calls and name not in found]
    assert settled == [], "no longer different: take them out of EXPLAINED"


@pytest.mark.parametrize("folder", EXPERIMENTS, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_experiments_run_as_resolved(sandbox: Sandbox, folder: Path) -> None:
    calls = experiment_calls(folder)
    assert len(calls) > 8
    check_calls(sandbox, calls)


def test_rule_fixtures_run_as_resolved(sandbox: Sandbox) -> None:
    check_calls(sandbox, rule_fixture_calls(FIXTURES))


# ---- made-up launchers


@pytest.mark.parametrize("part", range(PARTS))
def test_generated_launchers_run_as_resolved(sandbox: Sandbox, part: int) -> None:
    print(f"VERLINT_ORACLE_SEED={SEED}")
    scripts = [generate(SEED, number) for number in range(part * PER_PART, (part + 1) * PER_PART)]
    results = differences(sandbox, scripts)
    wrong = [script for script, (difference, _) in zip(scripts, results, strict=True) if difference is not None]
    assert sum("syntax error" in outcome.errors for _, outcome in results) <= PER_PART // 20
    shown = [report(sandbox, script) for script in wrong[:SHOWN]]
    assert not wrong, f"{len(wrong)} of {PER_PART} (seed {SEED})\n" + "\n----\n".join(shown)


@dataclass(frozen=True)
class Snippet:
    """A launcher that both once did not agree on; `open` says that they still do not, and why."""

    name: str
    text: str
    open: str = ""
    arguments: tuple[str, ...] = ()


SNIPPETS = (
    Snippet("bracket-under-nullglob", "shopt -s nullglob\nif [ -d data ]; then probe folder; fi"),
    Snippet("pipe-status", 'false | true\nprobe "${PIPESTATUS[0]}"'),
    Snippet("bad-subscript", 'set -e\na=()\nprobe "${a[-1]}"\nprobe after'),
    Snippet("glob-after-touch", "touch made.txt\nprobe *.txt"),
    Snippet("glob-after-mkdir", "mkdir -p new/folder\nprobe new/*"),
    Snippet("glob-after-redirect", "probe > made.txt\nprobe *.txt"),
    Snippet("glob-after-write", "echo one > made.txt\nprobe *.txt"),
    Snippet("glob-outside", "x='/b*'\nprobe $x"),
    Snippet("basename-option", 'probe "$(basename --opt)"'),
    Snippet("posix-class", 'x=é\nprobe "${x#[[:alpha:]]}"'),
    Snippet("cd-without-oldpwd", "cd -\nprobe $?"),
    Snippet("nounset-length", 'set -u\na=()\nprobe "${#a[0]}"'),
    Snippet("nounset-arithmetic", 'set -u\nprobe "$((nothing % 5))"'),
    Snippet("prefix-before-redirect", 'X="$(dirname a/b)" probe > missing/out'),
    Snippet("tilde-in-array", 'a=(b=~/x)\nprobe "${a[@]}"'),
    Snippet("redirect-to-folder", 'probe one > "data/$nothing"\nprobe two'),
    Snippet("local-append", 'export M=a\nf() { local M+=b; probe "$M"; }\nf'),
    Snippet("prefix-error", 'p=x\nR=alpha R=${p:1:-1} probe one\nprobe "${R-unset}"'),
    Snippet("regex-newline", "n=$'a\\nb'\n[[ $n =~ ^a.b$ ]] && probe yes"),
    Snippet("integer-array", 'declare -a d=(x)\ndeclare -i d="2 ** 3"\nprobe "$d"'),
    Snippet("return-outside", "return 3\nprobe $?"),
    Snippet("function-prefix-local", 'export M=a\nf() { local M=b; probe; }\nM=c f'),
    Snippet("function-prefix-export", 'f() { export M=b; }\nM=c f x\nprobe "${M-unset}"'),
    Snippet("function-prefix-unset", 'export M=a\nf() { unset M; probe "${M-unset}"; }\nM=c f'),
    Snippet("readonly-again", "set -e\nfor x in 1 2; do readonly F=a || true; done\nprobe after"),
    Snippet("nounset-array-length", 'set -u\na="${#nothing[@]}"\nprobe after'),
    Snippet("unknown-words-as-arguments", 'set -- a $(date)\nprobe "$@"'),
    Snippet("quiet-back-quotes", 'x=`(`\nprobe after'),
    Snippet("condition-error", '[[ a != *[ ,]* ]]\nprobe after'),
    Snippet("process-in-default", 'probe "${x:-<(}"'),
    Snippet("local-of-exported", 'export M=a\nf() { local M=b; probe; }\nf'),
    Snippet("printf-number", "printf -v x '%03d' b || true\nprobe \"$x\""),
    Snippet("wait-status", "(exit 3) &\nwait $!\nprobe $?"),
    Snippet("exec-and-trap", "trap 'probe trap' EXIT\nexec probe last"),
)  # fmt: skip


def written_snippets() -> list[Snippet]:
    """The launchers of `oracle/snippets`; a first line `# arguments: …` gives what they are called with."""
    out = []
    for path in sorted((Path(__file__).parent / "oracle" / "snippets").glob("*.sh")):
        text = path.read_text("utf-8")
        first = text.partition("\n")[0]
        given = first.removeprefix("# arguments:") if first.startswith("# arguments:") else ""
        out.append(Snippet(path.stem, text, arguments=tuple(given.split())))
    return out


def _marked(snippets: Sequence[Snippet]) -> list[ParameterSet]:
    out = []
    for each in snippets:
        marks = [pytest.mark.xfail(reason=each.open, strict=True)] if each.open else []
        out.append(pytest.param(each, id=each.name, marks=marks))
    return out


@pytest.mark.parametrize("snippet", _marked([*SNIPPETS, *written_snippets()]))
def test_snippets_run_as_resolved(sandbox: Sandbox, snippet: Snippet) -> None:
    job = Job("main.sh", snippet.arguments, texts={**FILES, "main.sh": snippet.text + "\n"})
    assert disagreements(sandbox, {snippet.name: job}) == {}


# ---- what is rejected


def test_mutants_are_rejected_as_by_bash(tmp_path: Path) -> None:
    if (bash := shutil.which("bash")) is None:
        pytest.skip("needs bash")
    texts = [path.read_bytes().decode() for path in sorted(FIXTURES.rglob("*.sh"))]
    found = mutants.make(random.Random(SEED), texts, 2000)
    verdicts = mutants.bash_verdicts(bash, found, tmp_path)
    wrong = []
    for text, verdict in zip(found, verdicts, strict=True):
        problem = parse(text).problem
        if (problem is None or problem.silent) != (verdict == ""):
            wrong.append(f"bash: {verdict or 'accepts it'}; verlint: {problem and problem.message}\n{text}")
    assert not wrong, f"{len(wrong)} of {len(found)} (seed {SEED})\n" + "\n----\n".join(wrong[:SHOWN])


# ---- words


def test_words_are_those_of_shfmt() -> None:
    program = shfmt_words.find()
    if program is None:
        pytest.skip("needs shfmt (pip install shfmt-py)")
    wrong = {}
    compared = 0
    for path in sorted(FIXTURES.rglob("*.sh")):
        text = path.read_bytes().decode()
        theirs = shfmt_words.theirs(program, text)
        if theirs is None or shfmt_words.differs_by_rule(text):
            continue
        ours = shfmt_words.ours(text)
        compared += len(ours)
        if ours != theirs:
            wrong[str(path.relative_to(FIXTURES))] = [
                pair for pair in zip(ours, theirs, strict=False) if pair[0] != pair[1]
            ][:1]
    assert compared > 1000
    assert wrong == {}
