"""Applying fixes: text edits by offset, never a new dump of a file. What no edit touches stays as it is."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence

from verlint.file_edits import is_line_end, is_plain
from verlint.files.kinds import is_document
from verlint.finding import Finding, Safety, Verdict
from verlint.record import dataclass, replace
from verlint.source import Source

_MOST_TRIED = 50
"""So many fixes of a file are tried one by one, each with a look at the whole file; what is beyond is not offered."""

MAX_ROUNDS = 10
"""Fixes may uncover others; after so many rounds verlint gives up on a file that does not come to rest."""


@dataclass(frozen=True, slots=True)
class Fixed:
    """The new text of each changed file, and the findings whose fixes it holds."""

    texts: dict[Source, str]
    applied: tuple[Finding, ...]


def fixable(findings: Iterable[Finding], *, unsafe: bool) -> list[Finding]:
    """The certain findings whose fix may be applied: safe ones, with `unsafe` the others too."""
    return [
        finding
        for finding in findings
        if finding.fix is not None
        and finding.fix.edits
        and finding.verdict is Verdict.FAIL
        and (unsafe or finding.fix.safety is Safety.SAFE)
    ]


def apply_fixes(findings: Sequence[Finding], *, unsafe: bool = False) -> Fixed:
    """Apply as many fixes as do not get in each other's way, in the order of the findings: all edits of one or none.

    An edit that is the same as one already taken is the same mend for two findings, and no conflict. A fix that would
    make a file unreadable for bash or YAML is left out.
    """
    wanted = sorted(fixable(findings, unsafe=unsafe), key=Finding.order)
    fixed = _apply(wanted)
    if harmed := [source for source, text in fixed.texts.items() if not _still_reads(source, text)]:
        harmless = [each for each in wanted if not _harms(each, harmed)]
        fixed = _apply(harmless)
        if not all(_still_reads(source, text) for source, text in fixed.texts.items()):
            fixed = _apply([each for each in harmless if _sources(each).isdisjoint(harmed)])
    return fixed


def without_harm(findings: Sequence[Finding]) -> list[Finding]:
    """The findings, without those fixes that would make a file unreadable: these are never made, and not offered."""
    asked: dict[Source, list[Finding]] = {}
    for finding in findings:
        if finding.fix is not None and not all(map(is_plain, finding.fix.edits)):
            for source in _sources(finding):
                asked.setdefault(source, []).append(finding)
    harmful: set[int] = set()
    for source, own in asked.items():
        together = _apply(own)  # mostly none does harm, and that is seen at once
        left_out = {id(each) for each in own} - {id(each) for each in together.applied}
        if not left_out and _still_reads(source, together.texts.get(source, source.text)):
            continue
        harmful.update(id(each) for each in own[:_MOST_TRIED] if _harms(each, [source]))
        harmful.update(id(each) for each in own[_MOST_TRIED:])
    return [replace(each, fix=None) if id(each) in harmful else each for each in findings]


def _apply(findings: Iterable[Finding]) -> Fixed:
    taken: dict[Source, list[tuple[int, int, str]]] = {}
    applied: list[Finding] = []
    for finding in findings:
        edits = _edits(finding)
        if all(_fits(source, start, end, text, taken) for source, (start, end, text) in edits):
            for source, edit in edits:
                _take(taken.setdefault(source, []), edit)
            applied.append(finding)
    texts = {source: _edited(source.text, edits) for source, edits in taken.items()}
    return Fixed({source: text for source, text in texts.items() if text != source.text}, tuple(applied))


def _edits(finding: Finding) -> list[tuple[Source, tuple[int, int, str]]]:
    assert finding.fix is not None
    places = [(edit.span.in_file(), edit.text) for edit in finding.fix.edits]
    return [(span.source, (span.start, span.end, text)) for span, text in places]


def _sources(finding: Finding) -> set[Source]:
    return {source for source, _ in _edits(finding)}


def _harms(finding: Finding, sources: Iterable[Source]) -> bool:
    """Whether a fix alone makes one of these files unreadable."""
    return any(source in sources and not _still_reads(source, text) for source, text in _apply([finding]).texts.items())


def _still_reads(source: Source, text: str) -> bool:
    """Whether a text has no fault of syntax that the file did not have before."""
    name = source.path.lower()
    if name.endswith((".yaml", ".yml")):
        return _is_yaml(text) or not _is_yaml(source.text)
    if name.endswith(".py"):
        return _is_python(text) or not _is_python(source.text)
    if is_document(name) or name.endswith((".toml", ".json", ".cfg", ".ini", ".txt")):
        return True
    from verlint.languages.bash.parser import parse

    return parse(text).problem is None or parse(source.text).problem is not None


def _is_yaml(text: str) -> bool:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        for _ in YAML(typ="safe", pure=True).parse(text):
            pass
    except YAMLError:
        return False
    return True


def _is_python(text: str) -> bool:
    import ast
    import warnings

    try:
        with warnings.catch_warnings():  # of escapes that mean nothing
            warnings.simplefilter("ignore")
            ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _take(taken: list[tuple[int, int, str]], edit: tuple[int, int, str]) -> None:
    at = bisect_left(taken, edit)
    if at == len(taken) or taken[at] != edit:
        taken.insert(at, edit)


def _fits(source: Source, start: int, end: int, text: str, taken: dict[Source, list[tuple[int, int, str]]]) -> bool:
    """Whether an edit does not touch those already taken, which are in order: only its neighbours can be in the way."""
    others = taken.get(source, [])
    for at in range(max(bisect_left(others, (start,)) - 2, 0), len(others)):
        other_start, other_end, other_text = others[at]
        if other_start > end:
            break
        if (start, end, text) == (other_start, other_end, other_text):
            return True
        if start < other_end and other_start < end:
            return False
        if start == other_start and (start == end or other_start == other_end):
            return False
    return True


def _edited(text: str, edits: list[tuple[int, int, str]]) -> str:
    out: list[str] = []
    at = 0
    others = False
    for start, end, new in edits:
        out += (text[at:start], new)
        others = others or is_line_end(text[start:end], new)
        at = end
    out.append(text[at:])
    # New lines of other fixes were given the ends that the file had.
    return "".join(out).replace("\r\n", "\n") if others else "".join(out)
