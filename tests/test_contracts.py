"""What holds for every rule, found by looking at all of them; a new rule is covered without an edit here."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fixture_cases import EXAMPLES, FIXTURES, ROOT
from verlint.docs import differences, read_doc
from verlint.families.fork import FORK_KEYS
from verlint.header import headers
from verlint.rule import THEMES, Rule, load_rules

RULES = load_rules()
HEAVY = (
    *("networkx", "libcst", "tabulate", "ruamel.yaml", "importlib.metadata", "hydra", "omegaconf", "yaml"),
    *("dataclasses", "inspect", "typing", "argparse", "gettext", "shutil", "contextlib", "difflib", "ast"),
    *("tomllib", "importlib.resources", "tempfile", "subprocess", "logging", "random"),
    *("verlint.experiment.spec", "verlint.experiment.spec_reader", "verlint.experiment.spec_schema"),
    *("verlint.languages.yaml", "verlint.languages.documents", "verlint.suppress", "verlint.report.json_v1"),
    *("verlint_rules.reading.vl003_yaml_syntax", "verlint_rules.on_policy.vl601_split_batch"),
    "verlint_rules.shell.vl905_endless_argument_loop",
)
"""What the check of one plain launcher has no use for."""

each_rule = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)


@each_rule
def test_a_rule_is_called_as_its_module(rule: Rule) -> None:
    module = rule.module.rsplit(".", 1)[-1]
    assert re.fullmatch(r"VL\d{3}", rule.code)
    assert rule.code[2] in THEMES
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", rule.slug)
    assert module == f"{rule.code.lower()}_{rule.slug.replace('-', '_')}"


@each_rule
def test_the_header_of_a_rule_says_what_the_rule_says(rule: Rule) -> None:
    header = next(each for each in headers() if each.code == rule.code)
    said = (header.slug, header.module, header.subject, header.families, header.aliases, header.words)
    assert said == (rule.slug, rule.module, rule.subject, rule.families, rule.aliases, rule.words)
    assert all(word == word.lower() and word for word in rule.words)


ALWAYS_UNSURE = frozenset(["VL208", "VL611"])
"""Rules that are never certain, so that a fault is an `unsure-` example: a file may come from elsewhere, and no key
shows whether a port kept the mathematics."""


def test_codes_and_names_are_unique() -> None:
    names = [name for rule in RULES for name in rule.names()]
    assert sorted(names) == sorted(set(names))


@each_rule
def test_a_rule_explains_itself(rule: Rule) -> None:
    doc = read_doc(rule.doc)
    assert doc.summary.endswith("."), "the first line is a sentence"
    assert len(doc.summary) <= 100
    assert doc.why, "paragraphs after the first line say why"
    assert doc.fix, "a last paragraph `Fix: …` says what to do"


@each_rule
def test_a_rule_has_examples(rule: Rule) -> None:
    kinds = {example.kind for example in EXAMPLES if example.code == rule.code}
    assert "good" in kinds
    assert ("unsure" if rule.code in ALWAYS_UNSURE else "bad") in kinds


def test_fixtures_belong_to_rules() -> None:
    assert {example.code for example in EXAMPLES} <= {rule.code for rule in RULES}
    odd = [folder for folder in FIXTURES.glob("VL*/*") if folder not in {example.folder for example in EXAMPLES}]
    assert odd == []


def test_pages_are_up_to_date() -> None:
    assert differences(ROOT) == [], "run python -m verlint.docs"


def test_output_does_not_depend_on_the_hash_seed() -> None:
    """Findings do not either: each run holds those of all fixtures, by its own seed, against what is written down."""
    first, second = (_outputs(seed) for seed in ("0", "1"))
    assert first == second


def test_checking_a_launcher_imports_nothing_heavy(tmp_path: Path) -> None:
    launcher = tmp_path / "one.sh"
    launcher.write_text('#!/bin/bash\npython3 -m verl.trainer.main_ppo data.train_batch_size=64 "$@"\n')
    script = (
        "import sys\nfrom verlint.cli.main import main\nmain(['check', 'one.sh'])\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env=_environment("0"),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines()[-1] == "[]", done.stderr


def _modules_of_check(launcher: Path, asked: str) -> str:
    """What Python says of a process that has checked a launcher."""
    script = (
        "import sys\nfrom verlint.cli.main import main\n"
        f"main(['check', {launcher.name!r}])\nown = [each for each in sys.modules if each.startswith('verlint')]\n"
        f"print({asked})"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=launcher.parent,
        env=_environment("0"),
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()[-1]


def test_comments_in_prose_do_not_count_for_the_words_of_rules(tmp_path: Path) -> None:
    launcher = tmp_path / "one.sh"
    launcher.write_text("# ray start on each node, then:\n#SBATCH -N 2\npython3 -m verl.trainer.main_ppo\n")
    loaded = (
        "[each for each in ('vl908_missing_rank_guard', 'vl913_scheduler_header') if any(each in one for one in own)]"
    )
    assert _modules_of_check(launcher, loaded) == "['vl913_scheduler_header']"


MOST_MODULES = 270
"""Modules of verlint for a plain launcher of 200 lines. Each takes its time to load: a rule that has nothing to say
about most launchers must say so by its `words`, and what only some launchers need is imported where it is needed."""


def test_checking_a_launcher_imports_few_modules(tmp_path: Path) -> None:
    launcher = Path(shutil.copy(ROOT / "benchmarks" / "launcher_200.sh", tmp_path))
    assert int(_modules_of_check(launcher, "len(own)")) <= MOST_MODULES


MOST_EXPRESSIONS = 45
"""Expressions that are compiled for the same launcher, which takes as long as loading modules does: a quick look
(`in`, `startswith`, `isidentifier`) comes before an expression that hardly ever matches."""


def test_checking_a_launcher_compiles_few_expressions(tmp_path: Path) -> None:
    launcher = Path(shutil.copy(ROOT / "benchmarks" / "launcher_200.sh", tmp_path))
    assert int(_modules_of_check(launcher, "len(sys.modules['re']._cache)")) <= MOST_EXPRESSIONS


def test_no_config_of_verl_is_read_for_another_program(tmp_path: Path) -> None:
    launcher = tmp_path / "train.sh"
    launcher.write_text('#!/bin/bash\nset -e\npython3 train.py --model "${MODEL:-base}" --lr 1e-5\n')
    unwanted = [f"verlint.verl.{name}" for name in ("schema", "effective", "checkout", "compose", "constraints")]
    assert _modules_of_check(launcher, f"[each for each in {unwanted!r} if each in own]") == "[]"


def test_only_what_is_asked_for_is_unpacked_of_the_known_configs(tmp_path: Path) -> None:
    launcher = tmp_path / "one.sh"
    launcher.write_text("python3 -m verl.trainer.main_ppo data.train_batch_size=64 trainer.nnodes=1\n")
    unpacked = "sys.modules['verlint.verl.schema']._member.cache_info().currsize"
    assert int(_modules_of_check(launcher, unpacked)) <= 2, "the configs of other trainers and engines, and the forks"


@pytest.mark.parametrize("code", ["VL808", "VL809"])
def test_the_words_of_a_rule_about_forks_are_in_all_their_keys(code: str) -> None:
    words = next(header.words for header in headers() if header.code == code)
    assert [key for key in sorted(FORK_KEYS) if not any(word in key for word in words)] == []


def _outputs(seed: str) -> str:
    script = ROOT / "tests" / "fixture_cases.py"
    return subprocess.run(
        [sys.executable, str(script)], env=_environment(seed), capture_output=True, text=True, check=True
    ).stdout


def _environment(seed: str) -> dict[str, str]:
    path = [str(ROOT / "linter"), str(ROOT / "rules"), str(ROOT / "tests")]
    return {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(path), "VERLINT_TRACEBACK": "1"}
