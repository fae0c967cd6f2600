"""A batch script must not look for files beside itself.

`sbatch` copies the script into a spool folder of the node and runs the copy there. `$0` and `${BASH_SOURCE[0]}` name
that copy: `cd "$(dirname "$0")"` goes into the spool folder, and everything that is looked for from there is missing.
The same line is right when the script is started by hand with `bash`, so the fault shows in the queue only.

Reported where a script with an `#SBATCH` header takes a folder from its own path. Silent where only the name is taken
(`basename`), where the script asks Slurm (`scontrol show job`), and where the line is for runs without Slurm only.

Fix: use `${SLURM_SUBMIT_DIR}`, the folder that `sbatch` was called in, or ask for the folder of the project as a
variable: `cd "${PROJECT_DIR:?}"`. The unsafe fix writes `${SLURM_SUBMIT_DIR}` where nothing goes up from there.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.script import Script
from verlint.finding import Edit, Finding, Safety
from verlint.lazy import pattern
from verlint.rule import WARNING, Context, rule
from verlint.source import Source, Span

_SELF = r"(?:\$0|\$\{0\}|\$\{?BASH_SOURCE(?:\[0\])?\}?)"
_FOLDER = pattern(
    rf"\b(?:dirname|realpath|readlink)\b[^\n|;&)]*?(?P<by_tool>{_SELF})|\$\{{(?P<by_cut>0|BASH_SOURCE(?:\[0\])?)%/\*\}}"
)
_WHOLE = pattern(rf'\$\(dirname (?:-- )?"?{_SELF}"?\)')
_ASKS = pattern(r"\bscontrol\b[^\n]*\bshow\b|SLURM_SUBMIT_DIR|SLURM_JOB_ID|SLURM_JOBID")


@rule("VL918", "spooled-script-path", on=Script, severity=WARNING, since="0.1", fixable="unsafe", words=("#sbatch",))
def check(script: Script, ctx: Context) -> Iterator[Finding]:
    source = script.source
    scheduler = script.scheduler
    if scheduler is None or _ASKS.search(source.text):
        return
    header = scheduler.directives[0].span
    spans = list(_own_folders(source))
    edits = [_edit(span) for span in spans]
    for span, edit in zip(spans, edits, strict=True):
        finding = ctx.fail(
            span,
            "Slurm runs a copy of this script from its spool folder: this is not the folder of the script",
            value=f"{span.text} = a folder like /var/spool/slurmd/job42",
            help='use "${SLURM_SUBMIT_DIR}", the folder that sbatch was called in',
        ).with_related(header, "makes it a batch script")
        if edit is not None and None not in edits:  # half a fix would look as if the script knew of Slurm
            finding = finding.with_fix("take the folder that sbatch was called in", edit, safety=Safety.UNSAFE)
        yield finding


def _edit(span: Span) -> Edit | None:
    """The folder that `sbatch` was called in, for that of the script; None where something else is made of it."""
    source = span.source
    if not span.text.endswith("%/*}"):
        whole = _WHOLE.match(source.text, max(source.text.rfind("$(", 0, span.start), 0))
        if whole is None or not whole.start() < span.start < whole.end():
            return None
        span = source.span(*whole.span())
    above = source.text[span.end :].lstrip('"').startswith("/..")
    return None if above else Edit(span, "${SLURM_SUBMIT_DIR}")


def _own_folders(source: Source) -> Iterator[Span]:
    for match in _FOLDER.finditer(source.text):
        line = source.text[source.text.rfind("\n", 0, match.start()) + 1 : match.start()]
        if "#" in line:
            continue
        group = "by_tool" if match["by_tool"] else 0
        yield source.span(match.start(group), match.end(group))
