"""Making a disagreement small: drop lines of the launcher as long as bash and the interpreter disagree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from oracle.compare import Difference, compare, resolve, with_assumed
from oracle.generator import Script
from oracle.sandbox import Job, Outcome, Sandbox


def job_of(script: Script) -> Job:
    """The call of a generated launcher."""
    return Job("main.sh", script.arguments, script.environment, texts=script.texts)


def differences(sandbox: Sandbox, scripts: Sequence[Script]) -> list[tuple[Difference | None, Outcome]]:
    """What bash does with each launcher, and what it does not agree to."""
    jobs = [job_of(script) for script in scripts]
    resolutions = [resolve(job) for job in jobs]
    outcomes = sandbox.run(with_assumed(job, each) for job, each in zip(jobs, resolutions, strict=True))
    return [
        (compare(job, resolution, outcome), outcome)
        for job, resolution, outcome in zip(jobs, resolutions, outcomes, strict=True)
    ]


def shrink(sandbox: Sandbox, script: Script, *, rounds: int = 20) -> Script:
    """A launcher of fewer lines on which both still disagree; one that bash rejects does not count."""
    ((difference, _),) = differences(sandbox, [script])
    about = _kind(difference)
    size = max(len(script.lines) // 3, 1)
    for _ in range(rounds):
        places = range(0, len(script.lines), size)
        candidates = [_without(script, {at}, size) for at in places]
        droppable = {at for at, differs in zip(places, _differ(sandbox, candidates, about), strict=True) if differs}
        halves = [set(sorted(droppable)[::step]) for step in (1, 2, 3)] + [
            set(sorted(droppable)[1::2]),
            {*list(droppable)[:1]},
        ]
        unions = [_without(script, chosen, size) for chosen in halves if chosen]
        found = [union for union, differs in zip(unions, _differ(sandbox, unions, about), strict=True) if differs]
        if found:
            script = min(found, key=lambda each: len(each.lines))
        elif size == 1:
            break
        size = max(size // 2, 1)
    return script


def _kind(difference: Difference | None) -> str:
    """The first word of what both differ on, so that one disagreement does not turn into another."""
    return difference.about.split()[0] if difference is not None else ""


def _differ(sandbox: Sandbox, scripts: Sequence[Script], about: str) -> list[bool]:
    return [
        difference is not None and _kind(difference) == about and "syntax error" not in outcome.errors
        for difference, outcome in differences(sandbox, scripts)
    ]


def _without(script: Script, chosen: set[int], size: int) -> Script:
    gone = {at + offset for at in chosen for offset in range(size)}
    return replace(script, lines=tuple(line for number, line in enumerate(script.lines) if number not in gone))


def report(sandbox: Sandbox, script: Script) -> str:
    """The smallest disagreeing launcher with what both sides make of it."""
    small = shrink(sandbox, script)
    ((difference, outcome),) = differences(sandbox, [small])
    called = f"main.sh {' '.join(map(repr, small.arguments))} with {dict(small.environment)}"
    return "\n".join([called, *small.lines, str(difference), outcome.errors[-500:]])
