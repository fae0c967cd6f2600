"""A baseline: the findings that a project has for now, so that only new ones are reported.

The file is JSON, one entry a line in a fixed order, so that its changes can be reviewed and merged. A finding is known
by its file, rule, verdict and line of code (blanks collapsed, secrets masked), not by its line number: it stays known
when lines move, and becomes new when its line changes."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from verlint import disk
from verlint.finding import Finding, Verdict
from verlint.record import dataclass
from verlint.secret import mask

VERSION = 1
_LONGEST = 200
"""Characters kept of a line."""


class BaselineError(Exception):
    """A baseline file that cannot be used; the text is for the user."""


class Key(NamedTuple):
    """What makes a finding the same one. `path` is relative to the folder of the baseline file, with "/"."""

    path: str
    code: str
    verdict: str
    line: str

    def __str__(self) -> str:
        unsure = " (to verify)" if self.verdict == Verdict.UNSURE.value else ""
        return f"{self.path}: {self.code}{unsure} {self.line}".rstrip()


@dataclass(frozen=True, slots=True)
class Split:
    """The findings that the baseline does not hold, the number of those it holds, and what it holds in vain: each
    entry with how many times."""

    new: tuple[Finding, ...]
    known: int
    expired: tuple[tuple[Key, int], ...]


@dataclass(frozen=True)
class Baseline:
    """The entries of a file, each with the number of findings it stands for."""

    folder: Path
    entries: Mapping[Key, int]

    def split(self, findings: Sequence[Finding], *, checked: Collection[str], ran: Collection[str]) -> Split:
        """Sort findings into new and known ones.

        An entry is expired when nothing matches it although its rule is among those that `ran` and its file is one of
        the `checked` (paths as shown in reports) or is gone. An entry of a certain finding also covers one that needs
        verification, not the reverse.
        """
        left = Counter(self.entries)
        new: list[Finding] = []
        for finding in findings:
            key = key_of(finding, self.folder)
            match = next((each for each in (key, key._replace(verdict=Verdict.FAIL.value)) if left[each] > 0), None)
            if match is None:
                new.append(finding)
            else:
                left[match] -= 1
        seen = {_relative(path, self.folder) for path in checked}
        expired = tuple(
            (key, number)
            for key, number in sorted(left.items())
            if number > 0 and key.code in ran and (key.path in seen or not disk.exists(self.folder / key.path))
        )
        return Split(tuple(new), len(findings) - len(new), expired)


def key_of(finding: Finding, folder: Path) -> Key:
    """What a finding is known by in a baseline of a folder."""
    line = ""
    if finding.span is not None:
        span = finding.span.in_file()
        line = mask(" ".join(span.source.line(span.begin.line).split()))[:_LONGEST]
    return Key(_relative(finding.file, folder), finding.code, finding.verdict.value, line)


def read_baseline(path: Path) -> Baseline:
    """The baseline of a file. Raises BaselineError with the reason when it is not one."""
    try:
        data = json.loads(disk.content(path).decode("utf-8-sig"))
    except FileNotFoundError as error:
        raise BaselineError(f"there is no baseline {path}: --write-baseline makes it") from error
    except OSError as error:
        raise BaselineError(f"cannot read the baseline {path}: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise BaselineError(f"the baseline {path} is not JSON: {error}") from error
    if not isinstance(data, dict) or data.get("version") != VERSION or not isinstance(data.get("findings"), list):
        raise BaselineError(f"{path} is no baseline of version {VERSION}: write it with --write-baseline")
    entries: Counter[Key] = Counter()
    for item in data["findings"]:
        key, number = _entry(item, path)
        entries[key] += number
    return Baseline(path.absolute().parent, entries)


def _entry(item: Any, path: Path) -> tuple[Key, int]:
    if isinstance(item, dict):
        number = item.get("count", 1)
        texts = [item.get(name) for name in Key._fields]
        if all(isinstance(text, str) for text in texts) and isinstance(number, int) and number > 0:
            return Key(*map(str, texts)), number
    raise BaselineError(f"the baseline {path} has an entry without {', '.join(Key._fields)}: {str(item)[:80]}")


def baseline_text(findings: Iterable[Finding], folder: Path) -> str:
    """The file that holds these findings: one entry a line, in order."""
    entries = Counter(key_of(finding, folder) for finding in findings)
    lines = [
        json.dumps({**key._asdict(), **({"count": number} if number > 1 else {})}, ensure_ascii=False)
        for key, number in sorted(entries.items())
    ]
    inside = ",\n".join(f"    {line}" for line in lines)
    text = f'{{\n  "version": {VERSION},\n  "findings": [{chr(10) + inside + chr(10) + "  " if inside else ""}]\n}}\n'
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _relative(path: str, folder: Path) -> str:
    return Path(os.path.relpath(os.path.abspath(path), folder)).as_posix()
