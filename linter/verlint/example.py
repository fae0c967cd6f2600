"""Examples: small projects that show a rule at work, and what verlint says about them.

`fixtures/VL203/{bad-*,good-*,unsure-*}/` hold one project each. They are the tests of the rule and the examples of its
page. Beside its files a project may hold `expected.txt` (what the test expects), `fixed/` (the project after the fix)
and `case.toml`:

    paths = ["scripts/run.sh"]      # what is checked; without it "."
    [[files]]                       # files that cannot be kept as they are
    path = "scripts/broken.sh"
    bytes_hex = "ff00"              # or text = "…", or link = "target"
    repeat = 1000                   # how often the bytes or the text are written (1)
    mode = "000"                    # permissions, octal

Settings are given as they are to users, by a `verlint.toml` in the project.
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from verlint.record import dataclass, replace
from verlint.result import Report

TYPE_CHECKING = False
if TYPE_CHECKING:
    from verlint.inputs import Input

CASE, EXPECTED, FIXED = "case.toml", "expected.txt", "fixed"
KINDS = ("bad", "good", "unsure")
_CASE_KEYS = {"paths", "files", "inputs"}
_FILE_KEYS = {"path", "text", "bytes_hex", "link", "repeat", "mode"}


@dataclass(frozen=True, slots=True)
class Example:
    """One small project: the rule it belongs to, and whether it is `bad`, `good` or `unsure`."""

    folder: Path
    code: str
    kind: str

    @property
    def name(self) -> str:
        """`VL203/bad-later-stage`."""
        return f"{self.code}/{self.folder.name}"

    @property
    def expected(self) -> Path:
        """The file that says what is expected."""
        return self.folder / EXPECTED

    def files(self) -> list[Path]:
        """The project's own files, sorted, relative to its folder."""
        own = (path.relative_to(self.folder) for path in self.folder.rglob("*") if not path.is_dir())
        return sorted(path for path in own if path.parts[0] not in (CASE, EXPECTED, FIXED))


def find_examples(fixtures: Path) -> list[Example]:
    """All examples below a folder, by code, then bad before good before unsure, then by name."""
    folders = (path for path in fixtures.glob("[A-Z][A-Z]*[0-9][0-9][0-9]/*-*") if path.is_dir())
    found = [Example(path, path.parent.name, path.name.split("-")[0]) for path in folders]
    return sorted(
        (each for each in found if each.kind in KINDS), key=lambda each: (each.code, KINDS.index(each.kind), each.name)
    )


def check_example(example: Example, select: Sequence[str] | None = None, *, folder: Path | None = None) -> Report:
    """What verlint says about a copy of the example. `select` names the rules; without it the example's own rule. Rule
    packs that are in use stay so. `folder` is a copy made before (`project_copy`), which is the current folder."""
    from verlint.engine import check_project
    from verlint.files.loading import load
    from verlint.header import packs_in_use
    from verlint.settings import Settings, read_settings

    with project_copy(example) if folder is None else contextlib.nullcontext(folder) as folder:
        settings = read_settings(folder)
        if settings.path is None or not settings.path.is_relative_to(folder):
            settings = Settings(root=folder)
        if select is None:
            select = (example.code,)
        plugins = settings.plugins or packs_in_use()
        settings = replace(settings, select=tuple(select), extend_select=(), ignore=(), plugins=plugins)
        loading = load(_paths(example), settings)
        report: Report = check_project(
            loading.files, settings, folder, unreadable=loading.unreadable, inputs=_inputs(example)
        )
        return replace(report, summary=replace(report.summary, skipped=loading.skipped))


@contextlib.contextmanager
def project_copy(example: Example) -> Iterator[Path]:
    """A temporary copy of the project, which is the current folder meanwhile."""
    with tempfile.TemporaryDirectory(prefix="verlint-") as temporary:
        folder = Path(temporary).resolve() / "project"
        ignore = shutil.ignore_patterns(CASE, EXPECTED, FIXED)
        shutil.copytree(example.folder, folder, ignore=ignore, symlinks=True)
        for entry in _case(example).get("files", []):
            _make(folder, entry)
        with contextlib.chdir(folder):
            yield folder


def _paths(example: Example) -> list[str | Path]:
    return list(_case(example).get("paths", ["."]))


def input_words(example: Example) -> list[str]:
    """The words of the `verlint inputs` that an example is about, none for the others."""
    return list(_case(example).get("inputs", []))


def _inputs(example: Example) -> list[Input]:
    """The inputs of the run, which a case gives as the words of `verlint inputs`."""
    words = input_words(example)
    if not words:
        return []
    from verlint.inputs import inputs_of_words

    return inputs_of_words(words)


def _case(example: Example) -> Mapping[str, Any]:
    path = example.folder / CASE
    if not path.is_file():
        return {}
    import tomllib

    case = tomllib.loads(path.read_text("utf-8"))
    unknown = set(case) - _CASE_KEYS | {key for entry in case.get("files", []) for key in entry} - _FILE_KEYS
    if unknown:
        raise ValueError(f"{path}: unknown keys {', '.join(sorted(unknown))}")
    return case


def _make(folder: Path, entry: Mapping[str, Any]) -> None:
    path = folder / entry["path"]
    path.parent.mkdir(parents=True, exist_ok=True)
    if "link" in entry:
        path.symlink_to(entry["link"])
        return
    data = bytes.fromhex(entry["bytes_hex"]) if "bytes_hex" in entry else entry.get("text", "").encode()
    path.write_bytes(data * entry.get("repeat", 1))
    if "mode" in entry:
        path.chmod(int(entry["mode"], 8))
