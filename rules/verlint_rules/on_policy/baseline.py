"""Whether a launch that means to be OPO has the optimal reward baseline: by its estimator, its checkout, its spec.

Sources: microsoft/LMOps `opo/verl/trainer/ppo/core_algos.py`, VeRL `trainer/ppo/core_algos.py` and `ray_trainer.py` of
the wheels 0.2 to 0.9.1."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from enum import Enum
from pathlib import Path

from verlint import disk
from verlint.experiment.checkout_folders import checkout_folders
from verlint.experiment.inference import home_of
from verlint.experiment.launch import Launch
from verlint.lazy import pattern
from verlint.rule import Context

TYPE_CHECKING = False  # as `typing` says it, without its import
if TYPE_CHECKING:
    import ast

    from verlint.experiment.spec import Spec

FUNCTION = "compute_opo_outcome_advantage"
"""What computes the optimal reward baseline, in OPO's own code as in VeRL's."""

FEATURE = "optimal-reward-baseline"
"""What a spec says of a checkout into which the baseline is built (`checkout.<name>.provides`)."""

TOKEN_BASELINES = frozenset(["optimal_token_baseline", "tir_optimal_token_baseline"])
"""Estimators of another method (arXiv 2602.07078): a baseline for each token, weighted by variance."""

STOCK = frozenset(
    [
        *("gae", "gdpo", "gpg", "grpo", "grpo_passk", "grpo_vectorized"),
        *("reinforce_plus_plus", "reinforce_plus_plus_baseline", "remax", "rloo", "rloo_vectorized"),
    ]
)
"""VeRL's estimators that have another baseline than the optimal one. `TOKEN_BASELINES` come on top."""

_NAMED = pattern(r"(?<![a-z])opo(?![a-z])")
_NAMES = ("trainer.experiment_name", "trainer.project_name")
_FILES = ("ray_trainer.py", "core_algos.py")
_CODE = "verl/trainer/ppo"
_HINTS = pattern(r"optimal|(?<![a-z])opo(?![a-z])")


class Carried(Enum):
    """What the code of a checkout says: the estimator gets the optimal baseline, it does not, or nobody knows."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


def means_opo(launch: Launch) -> bool:
    """Whether the launch means to be OPO: by its family, or as an exact run that calls itself so."""
    if launch.family == "opo":
        return True
    names = (launch[key] for key in _NAMES)
    return launch.intent == "exact" and any(
        _NAMED.search(str(name).lower()) is not None for name in names if name.given and name.text is not None
    )


def is_said_to_be_opo(launch: Launch, ctx: Context) -> bool:
    """Whether a directive, a spec or a folder says that the launch is OPO, not only its estimator."""
    if launch.family != "opo":
        return False
    source = launch.command.span.in_file().source
    said = ctx.project.known_launches.said(source, launch.command).get("family")
    spec_says = any(str(spec.family) == "opo" for spec in _specs_of(launch, ctx))
    return said == "opo" or spec_says or home_of(posixpath.join(ctx.project.root.name, source.path)) == "opo"


def is_declared(launch: Launch, ctx: Context) -> bool:
    """Whether the spec of the launch says that its checkout carries the optimal baseline."""
    return any(
        str(feature) == FEATURE
        for spec in _specs_of(launch, ctx)
        for checkout in spec.checkouts.values()
        for feature in checkout.provides
    )


def carried(launch: Launch, ctx: Context, estimator: str) -> Carried:
    """What the checkout that the launch runs on does for an estimator. Its files are read, never run."""
    folder = _code_of(launch, ctx)
    if folder is None:
        return Carried.UNKNOWN
    from verlint.languages.python.tree import tree

    read = hinted = False
    for name in _FILES:
        try:
            module = tree(disk.content(folder / name))
        except (OSError, ValueError):
            continue
        if module is None:
            continue
        read = read or name == _FILES[0]
        if any(not named or estimator in named for named in _calls(module, frozenset())):
            return Carried.YES
        hinted = hinted or any(_HINTS.search(each) is not None for each in _identifiers(module))
    # a baseline of another name may be the optimal one all the same
    return Carried.NO if read and not hinted else Carried.UNKNOWN


def _specs_of(launch: Launch, ctx: Context) -> Iterator[Spec]:
    """The specs with a stage that starts the launch, be it written there or in the stage's launcher."""
    if not ctx.project.specs:
        return
    here = launch.span.order()
    for experiment in ctx.project.experiments:
        if experiment.spec is None or experiment.spec.spec is None:
            continue
        if any(each.span.order() == here for stage in experiment.stages for each in stage.launches):
            yield experiment.spec.spec


def _code_of(launch: Launch, ctx: Context) -> Path | None:
    """The folder with the trainer's code in the checkout that the launch runs on, None when it is not on disk."""
    verl = launch.verl
    if verl is not None and verl.found.folders is not None:
        return Path("/" + verl.found.folders.packages) / _CODE
    from verlint.verl.checkout import Finder

    root: Path = ctx.project.root
    folders = checkout_folders(launch.command, launch.command.span.in_file().source, root)
    checkout = Finder(root).checkout(folders)
    return None if checkout is None else checkout / _CODE


def _calls(node: ast.AST, named: frozenset[str]) -> Iterator[frozenset[str]]:
    """For each use of the function: the estimators that the condition of its branch names, none for any estimator."""
    import ast

    if isinstance(node, ast.If):
        inside = _estimators(node.test)
        for statement in node.body:
            yield from _calls(statement, inside or named)
        for other in (node.test, *node.orelse):
            yield from _calls(other, named)
        return
    name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    if name == FUNCTION:
        yield named
    for child in ast.iter_child_nodes(node):
        yield from _calls(child, named)


def _estimators(test: ast.expr) -> frozenset[str]:
    """The estimators that a condition names, as text or as member of an enumeration (`AdvantageEstimator.GRPO`)."""
    import ast

    texts = {str(each.value) for each in ast.walk(test) if isinstance(each, ast.Constant)}
    members = {each.attr.lower() for each in ast.walk(test) if isinstance(each, ast.Attribute) and each.attr.isupper()}
    return frozenset(texts | members) & (STOCK | {"opo"})


def _identifiers(tree: ast.AST) -> Iterator[str]:
    """The names of a module apart from what stands in the function itself, in lower case."""
    import ast

    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef) and node.name == FUNCTION:
            continue
        for field in ("id", "attr", "name", "module", "arg"):
            name = getattr(node, field, None)
            if isinstance(name, str) and name != FUNCTION:
                yield name.lower()
        yield from _identifiers(node)
