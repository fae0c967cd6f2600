"""One fault, one finding: what is seen on several paths, through several calls or in several turns of a loop."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from verlint.experiment.variants import Variant
from verlint.finding import Finding, Verdict
from verlint.record import replace


def in_context(finding: Finding, variant: Variant) -> Finding:
    """A finding on a command that other commands lead to, with the first of these calls."""
    stack = variant.command.around.stack
    if not stack or finding.contexts:
        return finding
    return replace(finding, contexts=(f"called at {stack[0].span}",))


def agreed(group: list[tuple[Variant, list[Finding]]]) -> Iterator[Finding]:
    """One command as one call gives it, on several paths and in several turns of a loop: what holds on each path that
    reaches it is certain, what holds on some of them only is unsure, with the condition."""
    if len(group) == 1:
        yield from group[0][1]
        return
    reached = frozenset[int]().union(*(variant.paths for variant, _ in group))
    for variant, found in group:
        for finding in found:
            failing = [each.paths for each, others in group if any(_same_fault(finding, other) for other in others)]
            if finding.verdict is Verdict.UNSURE:
                yield finding
            elif frozenset[int]().union(*failing) == reached:
                yield finding if variant.paths == reached else _in_its_case(finding, variant)
            else:
                yield _on_some_paths(finding, variant)


def _same_fault(finding: Finding, other: Finding) -> bool:
    """Whether two ways of reaching a command are at fault at the same place; the values, so the words, may differ."""
    return (finding.code, finding.span, finding.path) == (other.code, other.span, other.path) and (
        other.verdict is Verdict.FAIL
    )


def _in_its_case(finding: Finding, variant: Variant) -> Finding:
    """A finding that is certain, with the condition under which it has these values."""
    guards = [each.words for each in variant.command.around.guards] or _decided(variant)
    when = " and ".join(dict.fromkeys(guards))
    return replace(finding, contexts=(*finding.contexts, f"when {when}")) if when else finding


def _decided(variant: Variant) -> list[str]:
    """The conditions that hold on every path to a command as it is."""
    paths = variant.entry.resolution.paths
    told = [[guard.words for guard in paths[number].conditions] for number in sorted(variant.paths)]
    return [words for words in told[0] if all(words in each for each in told)] if told else []


def _on_some_paths(finding: Finding, variant: Variant) -> Finding:
    guards = [each.words for each in variant.command.around.guards] or _decided(variant)
    when = " and ".join(dict.fromkeys(guards)) or "on some paths"
    see = "bash -x" if finding.file != variant.entry.source.path or variant.entry.job is None else "verlint show"
    verify = finding.verify or f"{see} {finding.file}  # see which branch runs"
    return replace(finding, verdict=Verdict.UNSURE, verify=verify, contexts=(*finding.contexts, f"when {when}"))


def _key(finding: Finding) -> tuple[object, ...]:
    place = finding.span.order() if finding.span is not None else finding.path
    return (finding.code, place, finding.message)


def folded(findings: Iterable[Finding]) -> list[Finding]:
    """One finding per place and message; the calls in which it was seen are gathered, a certain one beats an unsure
    one."""
    found: dict[tuple[object, ...], Finding] = {}
    for finding in findings:
        key = _key(finding)
        other = found.get(key)
        if other is None:
            found[key] = finding
            continue
        if other.verdict is not finding.verdict:
            found[key] = other if other.verdict is Verdict.FAIL else finding
            continue
        found[key] = replace(other, contexts=tuple(dict.fromkeys((*other.contexts, *finding.contexts))))
    return list(found.values())
