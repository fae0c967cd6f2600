"""The graph of an experiment that is written as a spec."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from verlint.experiment.checkpoints import saved_by
from verlint.experiment.launch import Launch
from verlint.experiment.paths import shown
from verlint.experiment.project import Project
from verlint.experiment.spec import Spec, SpecDep, SpecOut, SpecStage
from verlint.experiment.spec_calls import call_arguments, launcher_place
from verlint.experiment.stage import Experiment, Stage
from verlint.graph.artifacts import Artifacts
from verlint.graph.builder import Builder
from verlint.graph.calls import launches_of_call
from verlint.graph.model import EdgeKind, ExperimentGraph, Node, NodeKind
from verlint.graph.stage_nodes import (
    NOWHERE,
    add_branch,
    add_credentials,
    places,
    read_or_write,
    stage_node,
    start_from_model,
    trains,
)
from verlint.source import Span
from verlint.value import Value


def graph_of_spec(experiment: Experiment, spec: Spec, project: Project) -> ExperimentGraph:
    """The graph of a spec: what it declares, with what its launchers are known to read and write."""
    return _FromSpec(experiment, spec, project).made()


class _FromSpec:
    def __init__(self, experiment: Experiment, spec: Spec, project: Project) -> None:
        self.experiment = experiment
        self.spec = spec
        self.project = project
        self.launches = {stage.order: self._launches(stage) for stage in experiment.stages}
        self.builder = Builder(experiment)
        roots = {name: (_path(value), value.span) for name, value in spec.roots.items() if _path(value)}
        self.artifacts = Artifacts(self.builder, roots)
        self.outs: dict[tuple[str, str], Node] = {}

    def made(self) -> ExperimentGraph:
        for credential in self.spec.credentials.values():
            optional = "yes" if credential.optional.equals(True) else ""
            self.builder.node(
                NodeKind.CREDENTIAL, credential.name, credential.name, credential.name_span, optional=optional,
                use=_text(credential.use),
            )  # fmt: skip
        for checkout in self.spec.checkouts.values():
            self.builder.node(
                NodeKind.CHECKOUT, checkout.name, checkout.name, checkout.name_span, path=_text(checkout.path),
                url=_text(checkout.url), ref=_text(checkout.ref), base=_text(checkout.base),
            )  # fmt: skip
        for role in self.spec.models:
            self._model(role)
        for approval in self.spec.approvals.values():
            self.builder.node(
                NodeKind.APPROVAL, approval.name, approval.name, approval.name_span,
                **{"granted by": _text(approval.granted_by), "sandbox": _text(approval.sandbox)},
            )  # fmt: skip
        nodes = [stage_node(self.builder, stage) for stage in self.experiment.stages]
        for stage in self.experiment.stages:  # what is declared anywhere comes first, as deps may point forwards
            for out in stage.spec.outs.values() if stage.spec is not None else ():
                self.outs[stage.id, out.name] = self._out(stage, out)
        for stage, node in zip(self.experiment.stages, nodes, strict=True):
            if stage.spec is not None:
                self._stage(stage, stage.spec, node)
        return self.builder.finish(_text(self.spec.name) or self.experiment.source.path)

    def _launches(self, stage: Stage) -> Sequence[Launch]:
        """The launches of a stage; where its launcher starts none on its expected course, those of any course."""
        path = self.project.tree.relative(Path.cwd() / self.experiment.source.path)
        if stage.launches or stage.spec is None or path is None:
            return stage.launches
        place = launcher_place(path, self.spec, stage.spec, self.project.tree)
        arguments = None if place is None else call_arguments(stage.spec, place.source)
        if place is None or arguments is None:
            return ()
        return launches_of_call(place, arguments, self.project.tree, self.project.programs, self.project.launch)

    def _model(self, role: str) -> Node:
        model = self.spec.models[role]
        named = self.spec.model_id(role)
        same_as = _text(model.same_as)
        return self.builder.node(
            NodeKind.MODEL, ("role", role), role, model.role_span,
            model=_text(named) if named is not None else "",
            access=_text(model.access),
            **{"same as": same_as, "VeRL role": _text(model.verl_role)},
        )  # fmt: skip

    def _out(self, stage: Stage, out: SpecOut) -> Node:
        path = _path(out.path)
        if path:
            return self.artifacts.place(path, "", out.name_span, label=out.name)
        roles = ", ".join(_text(role) for role in out.roles if _text(role))
        said = {"roles": roles, "steps": _steps(out)}
        saved = [save for launch in self.launches[stage.order] if (save := saved_by(launch, NOWHERE)) is not None]
        if saved and not saved[0].folder.elastic:
            folder = shown(saved[0].folder)
            return self.artifacts.checkpoints(folder, out.name_span, key=stage.id, label=out.name, **said)
        return self.artifacts.unplaced((stage.id, out.name), out.name, out.name_span, **said)

    def _stage(self, stage: Stage, said: SpecStage, node: Node) -> None:
        launches = self.launches[stage.order]
        training = trains(stage, launches)
        for dep in said.deps.values():
            self._dep(node, dep, training=training)
        for need in said.needs:
            other = self._stage_node(_text(need))
            if other is not None:
                self.builder.edge(other, node, EdgeKind.BEFORE, need.span)
        for out in said.outs.values():
            self.builder.edge(node, self.outs[stage.id, out.name], EdgeKind.WRITES, out.name_span)
        for placed in places(launches, stage.kind):
            if placed.flow is not None and "/" in placed.path:
                read_or_write(self.artifacts, node, placed, stage)
        self._models(stage, said, node, training=training)
        self._rights(stage, said, node)

    def _dep(self, node: Node, dep: SpecDep, *, training: bool) -> None:
        source = self.spec.stages.get(_text(dep.from_stage))
        if source is None:
            return
        role, into = _text(dep.role), _text(dep.stage_into)
        artifact = self._dep_artifact(source, dep, role)
        wanted = dep.wanted
        steps = [step for each in wanted.ranges for step in each] if wanted is not None and wanted.known else []
        if wanted is not None and not wanted.known:
            role = f"{role} step {wanted.text}".strip()
        kind = EdgeKind.STARTS_FROM if dep.role.given and training else EdgeKind.READS
        label = f"{role} (copied to {into})".strip() if into else role
        self.builder.edge(artifact, node, kind, dep.span, label, steps)

    def _dep_artifact(self, source: SpecStage, dep: SpecDep, role: str) -> Node:
        """The output of the source stage that a dep takes: of its name, of its role, else the only one."""
        if dep.name in source.outs:
            return self.outs[source.id, dep.name]
        fitting = [out for out in source.outs.values() if not role or role in {_text(each) for each in out.roles}]
        if role:
            fitting = [out for out in fitting if out.is_checkpoint]
        if len(fitting) == 1:
            return self.outs[source.id, fitting[0].name]
        producer = self._stage_node(source.id)
        artifact = self.artifacts.unplaced((source.id, dep.name, role), dep.name, dep.name_span)
        if producer is not None:
            self.builder.edge(producer, artifact, EdgeKind.WRITES, dep.name_span)
        return artifact

    def _stage_node(self, id: str) -> Node | None:
        for stage in self.experiment.stages:
            if stage.id == id:
                return self.builder.find(NodeKind.STAGE, stage.order)
        return None

    def _models(self, stage: Stage, said: SpecStage, node: Node, *, training: bool) -> None:
        """The models that the arguments of a stage name; of its launches where the arguments name none."""
        named = [
            (role, value, name)
            for name, value in (*said.args.items(), *said.overrides.items())
            for role in self._roles_in(value)
        ]
        for role, value, name in named:
            model = self._model(role)
            starts = training and (name == "model" or name.endswith(("actor_rollout_ref.model.path", "reward_model")))
            self.builder.edge(model, node, EdgeKind.STARTS_FROM if starts else EdgeKind.USES, value.span)
        if named:
            return
        for placed in places(self.launches[stage.order], stage.kind):
            if placed.flow is None and "$" not in placed.path:
                start_from_model(self.builder, node, placed, training=training)

    def _roles_in(self, value: Value) -> Iterator[str]:
        """The model roles through which a value came: the outermost one, where one is the same as another."""
        written = value.span.text if value.span is not None else ""
        direct = [role for role in self.spec.models if f"${{models.{role}}}" in written]
        if direct:
            yield from direct
            return
        for role, model in self.spec.models.items():
            if any(hop.span is not None and _inside(hop.span, model.span) for hop in value.hops):
                yield role

    def _rights(self, stage: Stage, said: SpecStage, node: Node) -> None:
        for credential in self.spec.credentials.values():
            for user in credential.used_by:
                if _text(user) in (stage.id, stage.kind):
                    self._need(credential.name, node, user.span)
        for value in said.credentials:
            self._need(_text(value), node, value.span)
        for value in said.approvals:
            approval = self.builder.node(NodeKind.APPROVAL, _text(value), _text(value), value.span)
            self.builder.edge(approval, node, EdgeKind.AUTHORISES, value.span)
        launches = self.launches[stage.order]
        add_credentials(self.builder, node, (each.command for each in launches), launches)
        checkout, branch = _text(said.checkout), _text(said.branch)
        if not checkout and branch and len(self.spec.checkouts) == 1:
            checkout = next(iter(self.spec.checkouts))
        if checkout:
            span = said.branch.span if branch else said.checkout.span
            add_branch(self.builder, node, checkout, branch, span)

    def _need(self, name: str, node: Node, span: Span | None) -> None:
        credential = self.builder.node(NodeKind.CREDENTIAL, name, name, span)
        self.builder.edge(credential, node, EdgeKind.NEEDS, span)


def _text(value: Value) -> str:
    """What stands there, "" for nothing."""
    if not value.given or (value.decided and value.data is None):
        return ""
    return str(value)


def _path(value: Value) -> str:
    if not value.given or (value.text is None and not value.decided):
        return ""
    return (shown(value.text) if value.text is not None else str(value.data)).rstrip("/")


def _steps(out: SpecOut) -> str:
    if out.steps is not None:
        return out.steps.text
    every, first = _text(out.every), _text(out.from_step)
    return (f"every {every}" if every else "") + (f" from {first}" if first else "")


def _inside(inner: Span, outer: Span) -> bool:
    inner, outer = inner.in_file(), outer.in_file()
    return inner.source is outer.source and outer.start <= inner.start and inner.end <= outer.end
