"""Faults planted at random: after the fix they are gone, nothing new is found, the files are as before but for the
fixed words, and bash starts the same commands.

Each rule with a fix is tried on its bad fixtures after random changes (`planted_fixes`). Those of `FAULTS` are tried on
launchers made at random too (`planted_launchers`): there the fix must give back the clean launcher, letter by letter.
VERLINT_PLANTED says how many projects are made for each rule."""

from __future__ import annotations

import contextlib
import os
import random
import re
import tempfile
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from bash_oracle import Snippet, required_bash, run_in_bash
from fixture_cases import EXAMPLES
from planted_fixes import BOM, Planted, changed, of_example
from planted_launchers import FAULTS
from verlint.cli.fixing import fix_files
from verlint.engine import check_project
from verlint.example import check_example
from verlint.files.loading import Loading, load
from verlint.finding import Verdict
from verlint.fix import apply_fixes, fixable
from verlint.record import replace
from verlint.result import Report
from verlint.rule import load_rules
from verlint.settings import Settings, read_settings

COUNT = int(os.environ.get("VERLINT_PLANTED", "5"))

FIXABLE = [rule.code for rule in load_rules() if rule.fixable]
IN_LAUNCHERS = sorted(FAULTS)
IN_FIXTURES_ONLY = [code for code in FIXABLE if code not in FAULTS]
"""Rules of specs, of several files, and of forks: VL004, VL008, VL010, VL011, VL103, VL301, VL302 and so on."""

UNCOVERED = {
    ("VL004", "VL004"): "a spec that names another format is not read further",
    ("VL004", "VL009"): "a spec that names another format is not read further",
    ("VL010", "VL505"): "the script that is there has a fault of its own",
    ("VL606", "VL611"): "only a run that is OPO is asked whether the port kept its mathematics",
    ("VL702", "VL709"): "the key that was misspelt is given once more, by a line that was added",
    ("VL703", "VL205"): "a run that did not start at all saves nothing",
    ("VL720", "VL616"): "the batch is mended, the update is as wrong as it was",
    ("VL720", "VL722"): "the batch is mended, the update is as wrong as it was",
    ("VL901", "VL702"): "of a file with Windows line ends only these are told",
    ("VL901", "VL901"): "of a file with Windows line ends only these are told",
    ("VL902", "VL101"): "a folder that was lost with the variable",
    ("VL902", "VL102"): "a folder that was lost with the variable",
    ("VL904", "VL011"): "a second fault of the fixture's call",
    ("VL905", "VL808"): "a launcher that hung says now what it misses",
    ("VL914", "VL612"): "the overrides that were one word are read now",
    ("VL914", "VL701"): "the overrides that were one word are read now, with their Windows line ends",
}
"""What a fix may bring to light in the fixtures, which have more than one fault: the rules of the fix and of the
finding, and why."""


@cache
def originals(code: str) -> list[Planted]:
    """The bad fixtures of a rule that have something to fix."""
    bad = [each for each in EXAMPLES if each.code == code and each.kind == "bad"]
    return [of_example(each) for each in bad if fixable(check_example(each).findings, unsafe=True)]


@contextlib.contextmanager
def on_disk(planted: Planted) -> Iterator[Path]:
    """A folder with the project, which is the current one meanwhile."""
    with tempfile.TemporaryDirectory(prefix="verlint-") as temporary:
        folder = Path(temporary).resolve()
        for path, data in planted.files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(data)
        with contextlib.chdir(folder):
            yield folder


def settings_here(folder: Path, *select: str) -> Settings:
    settings = read_settings(folder)
    if settings.path is None or not settings.path.is_relative_to(folder):
        settings = Settings(root=folder)
    return replace(settings, ignore=(), select=select or settings.select)


def check_here(folder: Path, *select: str) -> Report:
    settings = settings_here(folder, *select)
    loading = load(["."], settings)
    return check_project(loading.files, settings, folder, unreadable=loading.unreadable)


def fix_here(folder: Path, code: str) -> Report:
    settings = settings_here(folder, code)

    def check(loading: Loading) -> Report:
        return check_project(loading.files, settings, folder, unreadable=loading.unreadable)

    return fix_files(load(["."], settings), check, lambda: load(["."], settings), unsafe=True)[0]


def bytes_here(folder: Path) -> dict[str, bytes]:
    found = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


def fixed(planted: Planted) -> tuple[dict[str, bytes], list[str]]:
    """The files after the fix, as they were where nothing can be fixed, and what is wrong with them."""
    with on_disk(planted) as folder:
        before, own = check_here(folder), check_here(folder, planted.code)
        if not apply_fixes(own.findings, unsafe=True).texts:
            return dict(planted.files), []
        report = fix_here(folder, planted.code)
        files = bytes_here(folder)
        after = check_here(folder)
        wrong = ["a rule failed"] if report.crashed or after.crashed else []
        if apply_fixes(report.findings, unsafe=True).texts:
            wrong.append("something is left to fix")
        fix_here(folder, planted.code)
        if bytes_here(folder) != files:
            wrong.append("a second run changes the files")
    return files, [*wrong, *new_findings(planted.code, before, after), *damage(planted, files)]


def new_findings(code: str, before: Report, after: Report) -> list[str]:
    """Findings of rules that find more than before."""
    old, new = Counter(f.code for f in before.findings), Counter(f.code for f in after.findings)
    worse = {each for each in new if new[each] > old[each] and (code, each) not in UNCOVERED}
    return [f"new: {f.code} {f.span}: {f.message}" for f in after.findings if f.code in worse]


def damage(planted: Planted, after: dict[str, bytes]) -> list[str]:
    """What a fix has done to files beyond its words."""
    wrong = []
    for path, old in planted.files.items():
        new = after[path]
        if old.startswith(BOM) != new.startswith(BOM):
            wrong.append(f"{path}: another mark")
        if old.endswith(b"\n") != new.endswith(b"\n"):
            wrong.append(f"{path}: another last line end")
        if _all_windows(old) and not _all_windows(new) and not (planted.code == "VL901" and b"\r" not in new):
            wrong.append(f"{path}: other line ends")
        if planted.code != "VL008" and _comments(old) - _comments(new):
            wrong.append(f"{path}: lost {_comments(old) - _comments(new)}")
    return wrong


def _all_windows(data: bytes) -> bool:
    return b"\n" in data and data.count(b"\n") == data.count(b"\r\n")


def _comments(data: bytes) -> Counter[str]:
    return Counter(found.strip(" \t\\\r") for found in re.findall(r"(?m)(?:^|[ \t])#[^!\r\n][^\n]*", data.decode()))


def in_fixtures(code: str) -> list[Planted]:
    made = originals(code)[:1]
    for seed in range(COUNT):
        chance = random.Random(f"{code} {seed}")
        made.append(changed(chance.choice(originals(code)), chance))
    return made


def in_launchers(code: str) -> list[tuple[str, str]]:
    made = []
    for seed in range(COUNT):
        chance = random.Random(f"{code} {seed}")
        made.append(chance.choice(FAULTS[code])(chance))
    return made


@pytest.mark.parametrize("code", FIXABLE)
def test_fixtures_that_differ_as_files_do(code: str) -> None:
    cases = [(planted, *fixed(planted)) for planted in in_fixtures(code)]
    assert [(planted.name, planted.done, wrong) for planted, _, wrong in cases if wrong] == []
    assert [planted for planted, files, _ in cases if files != planted.files], "nothing was fixed"


@pytest.mark.parametrize("code", IN_LAUNCHERS)
def test_the_clean_launcher_is_given_back(code: str) -> None:
    for clean, broken in in_launchers(code):
        with on_disk(Planted(code, "clean", {"train.sh": clean.encode()})) as folder:
            assert [f.message for f in check_here(folder).findings if f.verdict is Verdict.FAIL] == []
        files, _ = fixed(Planted(code, "broken", {"train.sh": broken.encode()}))
        assert files["train.sh"].decode() == clean


# ---- what bash starts


AROUND = {
    name: f"/{name.lower()}" for name in ("DATA_ROOT", "CKPT_ROOT", "POLICY", "RUN_NAME", "MODEL", "WORK", "DATA")
}
KEYS = dict.fromkeys(("WANDB_API_KEY", "HF_TOKEN"), "k" * 8)

OTHER_COMMANDS = {
    "VL406": "the script ends where the credential is not set",
    "VL404": "tracing is switched off and on",
    "VL901": "the rest of a command was started as one, or not at all",
    "VL903": "a test that stopped the script or took the other way",
    "VL904": "the options behind an empty value",
    "VL905": "a launcher that never came to an end",
    "VL914": "one word becomes several",
    "VL922": "a folder is made first",
}
"""Rules whose fault is that other commands or more words are started than are meant, and how."""


@pytest.mark.oracle
def test_bash_starts_the_same_but_for_the_fixed_words(tmp_path: Path) -> None:
    required_bash()
    cases: list[tuple[str, str, int, str, str]] = []
    for code in FIXABLE:
        for planted in originals(code):
            files, _ = fixed(planted)
            pairs = [(_shell_text(path, data), _shell_text(path, files[path])) for path, data in planted.files.items()]
            texts = [pair for pair in pairs if pair[0] != pair[1]]
            cases += [(code, planted.name, _edits(planted), *pair) for pair in texts]
    for code in IN_LAUNCHERS:
        cases += [(code, "launcher", 1, broken, clean) for clean, broken in in_launchers(code)]
    texts_run = [text + "\nwait\n" for case in cases for text in case[3:]]  # no job is left behind
    ran = run_in_bash([Snippet(text, (), {**AROUND, **KEYS}) for text in texts_run], tmp_path)
    wrong = []
    for number, (code, name, edits, *_) in enumerate(cases):
        before, after = (sorted(ran[2 * number + side].commands, key=lambda each: each[:3]) for side in (0, 1))
        if code in OTHER_COMMANDS:
            continue
        lost = {word for old, new in zip(before, after, strict=False) for word in set(old) - set(new)}
        come = {word for old, new in zip(before, after, strict=False) for word in set(new) - set(old)}
        if len(before) != len(after) or len(lost) > edits or len(come) > edits:
            wrong.append((code, name, lost, come))
    assert wrong == []


def _shell_text(path: str, data: bytes) -> str:
    """What bash reads of a file: a launcher, the blocks of a page."""
    if path.endswith((".sh", ".sbatch", ".slurm")):
        return data.decode()
    blocks = re.findall(r"(?ms)^```(?:bash|sh|shell)\n(.*?)^```", data.decode()) if path.endswith(".md") else []
    return "\n".join(blocks)


def _edits(planted: Planted) -> int:
    with on_disk(planted) as folder:
        found = fixable(check_here(folder, planted.code).findings, unsafe=True)
    return sum(len(each.fix.edits) for each in found if each.fix is not None)
