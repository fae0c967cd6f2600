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


def shrink(sandbox: Sandbox, script: Script, *, rounds: int = 40) -> Script:
    """A launcher of fewer lines on which both still disagree; one that bash rejects does not count."""
    size = max(len(script.lines) // 2, 1)
    for _ in range(rounds):
        smaller = _without(script, size)
        found = next(
            (
                candidate
                for candidate, (difference, outcome) in zip(smaller, differences(sandbox, smaller), strict=True)
                if difference is not None and "syntax error" not in outcome.errors
            ),
            None,
        )
        if found is not None:
            script = found
        elif size > 1:
            size //= 2
        else:
            break
    return script


def _without(script: Script, size: int) -> list[Script]:
    lines = script.lines
    return [replace(script, lines=lines[:at] + lines[at + size :]) for at in range(0, len(lines), size)]


def report(sandbox: Sandbox, script: Script) -> str:
    """The smallest disagreeing launcher with what both sides make of it."""
    small = shrink(sandbox, script)
    ((difference, outcome),) = differences(sandbox, [small])
    called = f"main.sh {' '.join(map(repr, small.arguments))} with {dict(small.environment)}"
    return "\n".join([called, *small.lines, str(difference), outcome.errors[-500:]])
