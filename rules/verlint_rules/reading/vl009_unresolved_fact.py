"""Six facts must be known before an experiment is called ready.

Which family it is; which stages it has; which checkout runs in which environment on which machines; which model plays
which role; where data, checkpoints and results live; which credentials are meant to be used. Each of them is decided by
somebody in any case: what the spec does not say is decided by what the next person finds in the shell.

Without `--ready` a spec that leaves some of them out is one to verify, with all that is missing in one finding: it may
be a draft. With `--ready` each missing fact is an error. Values that are placeholders are VL005, credentials that a
stage needs VL405, roles that a family needs VL810.

Fix: add the key that the message names; `credentials: {}` says that none is needed.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from verlint.experiment.stage import Experiment
from verlint.finding import Finding
from verlint.record import dataclass
from verlint.rule import ERROR, Context, rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from verlint.experiment.spec import Spec


@dataclass(frozen=True, slots=True)
class _Fact:
    """A fact: what it is called, what is missing of it, and what to write; `short` names what is missing."""

    name: str
    missing: str
    write: str
    short: str = ""


@rule("VL009", "unresolved-fact", on=Experiment, severity=ERROR, since="0.1", words=("verlint/exp",))
def check(experiment: Experiment, ctx: Context) -> Iterator[Finding]:
    spec = experiment.spec.spec if experiment.spec is not None else None
    if spec is None:
        return
    missing = list(_missing(experiment, spec, ctx))
    at = spec.name if spec.name.given else spec.span
    if ctx.project.settings.ready:
        for fact in missing:
            yield ctx.fail(at, f"{fact.name} {fact.missing}", value=f"missing: {fact.name}", help=fact.write)
    elif missing:
        shown = [fact.short or fact.name for fact in missing]
        are = "is" if len(shown) == 1 and "," not in shown[0] else "are"
        yield ctx.unsure(
            at,
            f"not ready to start: {', '.join(shown)} {are} not said",
            value=f"missing: {', '.join(shown)}",
            help="; ".join(fact.write for fact in missing),
            verify=f"verlint check --ready {experiment.source.path}",
        )


def _missing(experiment: Experiment, spec: Spec, ctx: Context) -> Iterator[_Fact]:
    if not spec.family.given and not experiment.family:
        yield _Fact("family", "is not said", "write family: oel, opcd, coach, gad or opo")
    without = [stage.id for stage in spec.stages.values() if not stage.kind.given]
    if not spec.stages or without:
        names = ", ".join(without) or "none is written"
        yield _Fact("stages", f"have no kind: {names}", "give each stage a kind:")
    yield from _of_machines(spec, _lies_here(experiment, spec, ctx))
    if not spec.models:
        yield _Fact("model roles", "are not said", "write models: with the id of each role, such as policy: {id: …}")
    if not spec.roots:
        yield _Fact("roots", "are not said", 'write roots: such as checkpoints: "${oc.env:CKPT_ROOT}"')
    if not spec.credentials and "credentials" not in spec.places:
        yield _Fact("credentials", "are not said", "write credentials: such as WANDB_API_KEY: null, or {} for none")


def _lies_here(experiment: Experiment, spec: Spec, ctx: Context) -> bool:
    """Whether the launchers of all stages lie in the folder of the spec, which is the checkout then."""
    folder = posixpath.dirname(experiment.source.path)
    called = [stage.launcher for stage in spec.stages.values() if stage.launcher.given]
    return bool(called) and all(
        isinstance(each.data, str) and ctx.project.tree.exists(posixpath.normpath(posixpath.join(folder, each.data)))
        for each in called
        if each.decided
    )


def _of_machines(spec: Spec, here: bool) -> Iterator[_Fact]:
    """Checkout, environment and machines; `here` says that the spec lies in the checkout."""
    lacking: list[str] = []
    if not spec.checkouts and not here:
        lacking.append("checkout")
    environment = spec.environment
    if environment is None or not (environment.setup.given or environment.image.given):
        lacking.append("environment")
    said = [spec.resources, *(stage.resources for stage in spec.stages.values())]
    keys = ("accelerators", "num_nodes")
    lacking += [f"resources.{key}" for key in keys if not any(key in each for each in said)]
    if lacking:
        yield _Fact(
            "checkout and environment",
            f"lack {', '.join(lacking)}",
            f"write {', '.join(f'{each}:' for each in lacking)}",
            ", ".join(lacking),
        )
