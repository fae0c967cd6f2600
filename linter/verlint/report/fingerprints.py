"""Names of findings that stay the same while lines move."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cache
from hashlib import sha256

from verlint.finding import Finding
from verlint.source import Source

_BLOCK = 100
_FACTOR = 37
_WORD = 1 << 64
_LEAVING = pow(_FACTOR, _BLOCK, _WORD)
_END_OF_FILE = 65535
_SPACE, _TAB, _LF, _CR = 32, 9, 10, 13


def fingerprints(findings: Iterable[Finding]) -> list[str]:
    """A digest for each finding of its rule, file, message and line of code, without line numbers.

    Equal ones get a running number, in the order given, so that all differ.
    """
    seen: Counter[str] = Counter()
    out: list[str] = []
    for finding in findings:
        digest = sha256("\0".join(_identity(finding)).encode("utf-8", "surrogatepass")).hexdigest()
        seen[digest] += 1
        number = seen[digest]
        out.append(digest if number == 1 else sha256(f"{digest}\0{number}".encode()).hexdigest())
    return out


def _identity(finding: Finding) -> tuple[str, ...]:
    if finding.span is None:
        return finding.code, finding.file, finding.message
    span = finding.span.in_file()
    return finding.code, finding.file, finding.message, " ".join(span.source.line(span.begin.line).split())


def line_hash(finding: Finding) -> str:
    """GitHub's `primaryLocationLineHash` of the line that a finding begins on; "" without a place."""
    if finding.span is None:
        return ""
    span = finding.span.in_file()
    return line_hashes(span.source)[span.begin.line - 1]


@cache
def line_hashes(source: Source) -> tuple[str, ...]:
    """For each line of a file GitHub's hash of the 100 characters from its start, without blanks and tabs.

    The upload action of GitHub computes the same and warns where another value is given. A line whose hash an earlier
    one has gets the next number behind the colon.
    """
    window = [0] * _BLOCK
    starts = [-1] * _BLOCK
    hashes: dict[int, str] = {}
    seen: Counter[int] = Counter()
    at = value = 0
    line, line_starts = 0, True

    def leave(index: int) -> None:
        if starts[index] >= 0:
            seen[value] += 1
            hashes[starts[index]] = f"{value:x}:{seen[value]}"
            starts[index] = -1

    def enter(unit: int) -> None:
        nonlocal at, value
        value = (_FACTOR * value + unit - _LEAVING * window[at]) % _WORD
        window[at] = unit
        at = (at + 1) % _BLOCK

    for unit in (*_units(source.text), _END_OF_FILE):
        leave(at)
        if line_starts:
            starts[at] = line
            line += 1
            line_starts = False
        line_starts = unit == _LF
        enter(unit)
    for _ in range(_BLOCK):
        leave(at)
        enter(0)
    return tuple(hashes[number] for number in range(line))


def _units(text: str) -> list[int]:
    """UTF-16 units without blanks and tabs, each line end as one line feed."""
    data = text.encode("utf-16-le", "surrogatepass")
    out: list[int] = []
    previous = 0
    for low, high in zip(data[::2], data[1::2], strict=True):
        unit = low | high << 8
        if unit in (_SPACE, _TAB) or (unit == _LF and previous == _CR):
            previous = 0 if unit != _LF else unit
            continue
        previous = unit
        out.append(_LF if unit == _CR else unit)
    return out
