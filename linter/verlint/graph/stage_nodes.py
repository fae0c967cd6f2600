"""What graphs of specs and of scripts have in common: the nodes of stages, and what their launches read and write."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from verlint.experiment.checkpoints import Place, saved_by
from verlint.experiment.launch import Launch
from verlint.experiment.stage import Stage
from verlint.experiment.stage_settings import setting
from verlint.families.flows import FLOWS, LOGGERS, MODEL_ROLES, NO_MODEL, Flow
from verlint.graph.artifacts import Artifacts, checkpoint_at, path_text, places_of
from verlint.graph.builder import Builder
from verlint.graph.model import EdgeKind, Node, NodeKind
from verlint.graph.steps import without_steps
from verlint.languages.bash.command import Command
from verlint.record import dataclass
from verlint.secret import is_secret_name
from verlint.source import Span
from verlint.value import Value

NOWHERE = Place(0, 0, 0)


@dataclass(frozen=True, slots=True)
class Placed:
    """A path that a launch names: for a flow, or for a model's role."""

    path: str
    span: Span
    flow: Flow | None = None
    role: str = ""
    starts: bool = False


def stage_node(builder: Builder, stage: Stage) -> Node:
    """The node of a stage: called by its id in a spec, else by the launcher's name and the run's."""
    run = _said(stage, "exp_name")
    launcher = stage.launcher.rsplit("/", 1)[-1]
    label = stage.id if stage.spec is not None else launcher or stage.id
    return builder.node(
        NodeKind.STAGE, stage.order, label, stage.span, stage,
        order=str(stage.order + 1),
        family=stage.family,
        kind=stage.kind,
        round=_said(stage, "oel_round"),
        run=run,
        launcher=stage.launcher,
        entry="" if stage.launcher else _entry(stage),
        optional="yes" if stage.spec is not None and stage.spec.optional.equals(True) else "",
    )  # fmt: skip


def _said(stage: Stage, name: str) -> str:
    found = setting(stage, name)
    return "" if found is None or (found.text.holes and not found.text.prefix) else found.shown


def _entry(stage: Stage) -> str:
    return stage.launches[0].program.entry if stage.launches else ""


def trains(stage: Stage, launches: Sequence[Launch]) -> bool:
    """Whether a stage saves checkpoints, as its family or its launches say."""
    kind = stage.kind_data
    return bool(kind is not None and kind.saves) or any(saved_by(each, NOWHERE) is not None for each in launches)


def places(launches: Iterable[Launch], kind: str) -> list[Placed]:
    """The paths that the launches of a stage of some kind name, in order, each once."""
    out: dict[object, Placed] = {}
    for launch in launches:
        for flow in FLOWS:
            if kind not in flow.idle and launch.family not in flow.idle:
                for path, span in _paths(launch, flow.key):
                    out.setdefault((path, flow.key), Placed(path, span, flow))
        for model in MODEL_ROLES:
            for path, span in _paths(launch, model.key):
                out.setdefault((path, model.key), Placed(path, span, None, model.role, model.starts))
    return list(out.values())


def _paths(launch: Launch, key: str) -> list[tuple[str, Span]]:
    value = launch[key]
    if not value.given:
        return []
    cwd = launch.command.around.cwd
    found = [(path_text(text, cwd), text.span or value.span or launch.head) for text in places_of(value)]
    return [(path, span) for path, span in found if path and path not in NO_MODEL]


def read_or_write(artifacts: Artifacts, node: Node, placed: Placed, stage: Stage) -> None:
    """The edge for a path that a launch reads or writes."""
    assert placed.flow is not None
    role = placed.flow.role_in(stage.kind)
    builder = artifacts.builder
    if placed.flow.written_by(stage.kind):
        if _declared(builder, node, placed.path):
            return
        artifact = artifacts.place(placed.path, role, placed.span)
        builder.edge(node, artifact, EdgeKind.WRITES, placed.span)
        return
    artifact = artifacts.at(placed.path) or artifacts.place(placed.path, role, placed.span)
    if not builder.has_edge(artifact, node):
        builder.edge(artifact, node, EdgeKind.READS, placed.span)


def _declared(builder: Builder, node: Node, path: str) -> bool:
    """Whether a stage says already that it writes a folder in which this lies, or something in this folder."""
    written = (each.facts.get("path", "") for each in builder.lines(source=node, kind=EdgeKind.WRITES))
    general, _ = without_steps(path)
    return any(each and (general.startswith(f"{each}/") or each.startswith(f"{general}/")) for each in written)


def start_from_model(builder: Builder, node: Node, placed: Placed, *, training: bool) -> None:
    """The edge for a model that a launch loads; a checkpoint of a run is no model here."""
    if checkpoint_at(placed.path) is not None:
        return
    model = builder.node(NodeKind.MODEL, placed.path, placed.path, placed.span)
    kind = EdgeKind.STARTS_FROM if placed.starts and training else EdgeKind.USES
    builder.edge(model, node, kind, placed.span, placed.role)


def add_credentials(builder: Builder, node: Node, commands: Iterable[Command], launches: Iterable[Launch]) -> None:
    """The credentials that a stage's commands name, and those of the loggers it asks for."""
    for command in commands:
        for word in command.argv:
            for hole in word.holes:
                if isinstance(hole.key, tuple) and hole.key[:1] == ("env",) and is_secret_name(hole.name):
                    _credential(builder, node, hole.name, hole.span or command.span)
    for launch in launches:
        for name, text in launch.command.around.environment.items():
            if is_secret_name(name):
                _credential(builder, node, name, text.span or launch.head)
        value = launch["trainer.logger"]
        for logger in _listed(value):
            if logger in LOGGERS:
                _credential(builder, node, LOGGERS[logger], value.span or launch.head)


def _listed(value: Value) -> list[str]:
    if not (value.given and value.decided):
        return []
    return [str(each) for each in value.data] if isinstance(value.data, list) else [str(value.data)]


def _credential(builder: Builder, node: Node, name: str, span: Span) -> None:
    credential = builder.node(NodeKind.CREDENTIAL, name, name, span)
    if not builder.has_edge(credential, node):
        builder.edge(credential, node, EdgeKind.NEEDS, span)


def add_branch(builder: Builder, node: Node, checkout: str, branch: str, span: Span | None, **facts: str) -> None:
    """The checkout a stage runs from, on a branch where one is known."""
    place = builder.node(NodeKind.CHECKOUT, checkout, checkout, span, **facts)
    if not branch:
        builder.edge(place, node, EdgeKind.RUNS_ON, span)
        return
    on = builder.node(NodeKind.BRANCH, (checkout, branch), f"{checkout} @ {branch}", span, checkout=checkout,
                      branch=branch)  # fmt: skip
    builder.edge(place, on, EdgeKind.HAS, span)
    builder.edge(on, node, EdgeKind.RUNS_ON, span)
