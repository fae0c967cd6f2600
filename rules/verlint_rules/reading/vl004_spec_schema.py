"""A spec must follow the format it declares.

A misspelt key is not read, so the value meant for it silently falls back to a default: `lancher:` leaves a stage
without a launcher, `num_node: 4` leaves the run on one node. A value of the wrong type or a reference that names
nothing fails only when the launcher runs, after the queue and the model load. All departures from the format are
reported at once.

Fix: use the key, type or name that the message gives. Keys of your own, such as anchors for `<<` merges, start with
`x-`. Values may be literals, references into the same file (`${vars.NAME}`, `${models.ROLE}`, `${roots.NAME}`,
`${deps.NAME}`), environment variables (`${oc.env:NAME}`) or placeholders (`<NAME>`) that are decided later. The unsafe
fix writes the one name that looks alike.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.spec import SpecFile
from verlint.finding import Edit, Finding, Safety
from verlint.rule import ERROR, Context, rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from verlint.experiment.spec import SpecProblem


@rule("VL004", "spec-schema", on=SpecFile, severity=ERROR, since="0.1", fixable="unsafe")
def check(file: SpecFile, ctx: Context) -> Iterator[Finding]:
    for problem in file.problems:
        near = ", ".join(problem.near)
        yield _with_fix(ctx.fail(problem.span, problem.message, near=near, help=problem.hint), problem)


def _with_fix(finding: Finding, problem: SpecProblem) -> Finding:
    """Offer the only similar name, where the place holds the name and nothing else."""
    if len(problem.near) != 1:
        return finding
    written, name = problem.span.text, problem.near[0]
    if problem.kind == "bad-reference" and written.startswith("${"):
        return finding.with_fix(f"write {name}", Edit(problem.span, "${" + name + "}"), safety=Safety.UNSAFE)
    bare = written.strip("\"'")
    if not bare or any(sign in bare for sign in "${}\n*"):
        return finding
    edit = Edit(problem.span, written.replace(bare, name))
    return finding.with_fix(f"write {name}", edit, safety=Safety.UNSAFE)
