"""The graph of an experiment that is written as a driver script or in the shell blocks of a document."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from verlint.experiment.checkpoints import (
    DriverCall,
    Ledger,
    Save,
    Use,
    driver_calls,
    ledger_of_script,
    own_sources,
    saved_by,
)
from verlint.experiment.handovers import Link, links_of
from verlint.experiment.launch import Launch
from verlint.experiment.paths import absolute, in_tree, shown
from verlint.experiment.script import Script
from verlint.experiment.spec_calls import LauncherPlace
from verlint.experiment.stage import Called, Experiment, Stage, called_file
from verlint.experiment.tools import called_source, data_files, is_named
from verlint.families import FAMILIES
from verlint.families.flows import MERGED, OUTPUT_OPTIONS, SCORES
from verlint.graph.artifacts import Artifacts, checkpoint_at, path_text
from verlint.graph.builder import Builder
from verlint.graph.calls import distinct, launches_of_call
from verlint.graph.model import EdgeKind, ExperimentGraph, Node, NodeKind
from verlint.graph.stage_nodes import (
    NOWHERE,
    Placed,
    add_branch,
    add_credentials,
    places,
    read_or_write,
    stage_node,
    start_from_model,
    trains,
)
from verlint.languages.bash.command import Command
from verlint.lazy import pattern
from verlint.secret import is_secret_name
from verlint.source import Span
from verlint.value import Text, Value

_ENVIRONMENT = pattern(r"(?:\benviron(?:\.get)?|\bgetenv)\W{1,3}[\"'](\w+)[\"']")
_TOOLS = (".py", ".sh")

LaunchOf = Callable[[Command], "Launch | None"]


def graph_of_script(experiment: Experiment, script: Script, launch_of: LaunchOf) -> ExperimentGraph:
    """The graph of a driver: its stages in order, and what the commands of each are known to read and write."""
    return _FromScript(experiment, script, launch_of).made()


class _FromScript:
    def __init__(self, experiment: Experiment, script: Script, launch_of: LaunchOf) -> None:
        self.experiment = experiment
        self.script = script
        self.builder = Builder(experiment)
        mounts = script.job.mounts if script.job is not None else ()
        self.artifacts = Artifacts(self.builder, {each.origin or each.path: (each.path, each.span) for each in mounts})
        self.commands = _StageCommands(script, experiment.stages, launch_of)
        self.ledger = ledger_of_script(script, launch_of)
        self.saved: list[tuple[Save, Node]] = []

    def made(self) -> ExperimentGraph:
        nodes = [stage_node(self.builder, stage) for stage in self.experiment.stages]
        self._copies()
        for stage, node in zip(self.experiment.stages, nodes, strict=True):
            self._stage(stage, node)
        for before, after in pairwise(nodes):
            self.builder.edge(before, after, EdgeKind.BEFORE, after.span)
        self._handovers()
        self._scores()
        self._made_by_tools()
        self._outputs_of_tools()
        return self.builder.finish(self.script.source.path)

    # ---- checkpoints

    def _copies(self) -> None:
        """Steps that commands copy from one run's folder to another's."""
        for save in self.ledger.saves:
            if not save.steps or any(each is save.command for each, _ in self.commands.at.values()):
                continue
            source = next((use for use in self.ledger.uses if use.command is save.command), None)
            if source is None or any(known.key == save.key and known.steps == save.steps for known, _ in self.saved):
                continue
            copy = self.artifacts.checkpoints(
                shown(save.folder), save.span, key=tuple(sorted(save.steps)), label="copied checkpoint",
                roles=", ".join(sorted(save.roles or ())),
            )  # fmt: skip
            self.builder.steps_of(copy, save.steps)
            self.saved.append((save, copy))

    def _copied_from(self, use: Use) -> None:
        for save, copy in self.saved:
            if save.steps and save.command is use.command:
                steps = [] if use.step is None else [use.step]
                for source in self._sources(use):
                    self.builder.edge(source, copy, EdgeKind.COPIED, save.span, use.role, steps)

    def _sources(self, use: Use) -> list[Node]:
        """Where the checkpoint that is used comes from: a copy of this step, else the runs that save there, else from
        outside."""
        same = [(save, node) for save, node in self.saved if save.key == use.key and save.command is not use.command]
        return _made(same, use.step) or [self.artifacts.checkpoints(shown(use.folder), use.span)]

    # ---- one stage

    def _stage(self, stage: Stage, node: Node) -> None:
        launches = self.commands.launches(stage)
        training = trains(stage, launches)
        self._uses(stage, node, training=training)
        followed = self.commands.followed(stage)
        for placed in places(launches, stage.kind):
            if placed.flow is None and not followed:
                self._use_of_call(node, placed, training=training)
            if placed.flow is None:
                start_from_model(self.builder, node, placed, training=training)
            else:
                read_or_write(self.artifacts, node, placed, stage)
        for launch in launches:
            self._save(stage, node, launch)
        commands = [each for each in self.commands.of(stage) if isinstance(each, Command)]
        add_credentials(self.builder, node, commands, launches)
        self._credentials_of_tools(node, commands)
        family = FAMILIES.get(stage.family)
        branch = _branch(stage.branch)
        if family is not None and family.checkout and (branch or (stage.kind_data and stage.kind_data.branch)):
            add_branch(self.builder, node, family.checkout, branch, stage.branch_span)

    def _uses(self, stage: Stage, node: Node, *, training: bool) -> None:
        """The checkpoints that a stage reads; that a whole step is read says nothing where its roles are."""
        uses = self.commands.uses(stage, self.ledger)
        by_source: dict[str, list[tuple[Use, Node]]] = {}
        for use in uses:
            for source in self._sources(use):
                by_source.setdefault(source.id, []).append((use, source))
        for found in by_source.values():
            roles = {use.role for use, _ in found if use.role}
            for use, source in found:
                if use.role or not roles:
                    kind = EdgeKind.STARTS_FROM if training else EdgeKind.READS
                    steps = [] if use.step is None else [use.step]
                    self.builder.edge(source, node, kind, use.span, use.role, steps)

    def _use_of_call(self, node: Node, placed: Placed, *, training: bool) -> None:
        """A checkpoint that a launch names, where only the launch is known."""
        found = checkpoint_at(placed.path)
        if found is None:
            return
        folder, role, step = found
        if "${" in folder.rpartition("/")[2]:
            return  # on a course where nobody says the run's name
        same = [(save, each) for save, each in self.saved if each.facts.get("path") == folder]
        kind = EdgeKind.STARTS_FROM if training and placed.starts else EdgeKind.READS
        for source in _made(same, step) or [self.artifacts.checkpoints(folder, placed.span)]:
            self.builder.edge(source, node, kind, placed.span, role, [] if step is None else [step])

    def _save(self, stage: Stage, node: Node, launch: Launch) -> None:
        save = saved_by(launch, NOWHERE)
        if save is None or save.never:
            return
        every = f"every {save.every}" if save.every else ""
        last = f"last {save.last}" if save.last else ""
        artifact = self.artifacts.checkpoints(
            shown(save.folder), save.span, key=stage.order,
            roles=", ".join(sorted(save.roles or ())),
            steps=", ".join(each for each in (every, last) if each),
        )  # fmt: skip
        self.builder.edge(node, artifact, EdgeKind.WRITES, save.span)
        self.saved.append((save, artifact))
        for use in self.ledger.uses:
            if use.key == save.key:
                self._copied_from(use)

    def _credentials_of_tools(self, node: Node, commands: Sequence[Command]) -> None:
        for command in commands:
            source = called_source(command, self.script.tree, self.script.start, _TOOLS)
            for match in _ENVIRONMENT.finditer(source.text) if source is not None else ():
                name = match.group(1)
                if source is not None and is_secret_name(name):
                    credential = self.builder.node(
                        NodeKind.CREDENTIAL, name, name, source.span(match.start(1), match.end(1))
                    )
                    self.builder.edge(credential, node, EdgeKind.NEEDS, credential.span)

    # ---- what only the words of the driver tell

    def _handovers(self) -> None:
        """What one stage makes and another is told of by the run's name."""
        groups: dict[tuple[int, str], Link] = {}
        for link in links_of(self.experiment):
            if link.kind.checkpoint or link.by is None:
                continue
            key = (link.consumer.order, link.kind.option)
            known = groups.get(key)
            if known is None or link.producer.order > known.producer.order:
                groups[key] = link
        for link in groups.values():
            self._handover(link)

    def _handover(self, link: Link) -> None:
        assert link.by is not None
        builder = self.builder
        producer = builder.find(NodeKind.STAGE, link.producer.order)
        consumer = builder.find(NodeKind.STAGE, link.consumer.order)
        assert producer is not None
        assert consumer is not None
        what = link.kind.what.removeprefix("the ")
        path = _path_of(link)
        if path:
            artifact = self.artifacts.at(path) or self.artifacts.place(path, what, link.by.span)
            if not builder.lines(target=artifact, kind=EdgeKind.WRITES):
                builder.edge(producer, artifact, EdgeKind.WRITES, producer.span)
            made = [artifact]
        else:
            written = builder.lines(source=producer, kind=EdgeKind.WRITES)
            made = [each for each in written if each.label != "checkpoints"]
            if not made:
                made = [self.artifacts.unplaced((link.producer.order, what), what, producer.span)]
                builder.edge(producer, made[0], EdgeKind.WRITES, producer.span)
        for artifact in made:
            if not builder.has_edge(artifact, consumer):
                builder.edge(artifact, consumer, EdgeKind.READS, link.by.span)

    def _scores(self) -> None:
        """Results that a scoring tool reads: those in a folder of its run's name, from stages before it."""
        for stage in self.experiment.stages:
            node = self.builder.find(NodeKind.STAGE, stage.order)
            run = "" if node is None else node.facts.get("run", "")
            for other in self.experiment.stages[: stage.order] if stage.kind in SCORES and run else ():
                producer = self.builder.find(NodeKind.STAGE, other.order)
                if node is None or producer is None or other.kind != SCORES[stage.kind]:
                    continue
                for artifact in self.builder.lines(source=producer, kind=EdgeKind.WRITES):
                    if run in artifact.facts.get("path", "").split("/"):
                        self.builder.edge(artifact, node, EdgeKind.READS, node.span)

    def _made_by_tools(self) -> None:
        """Files that stages read and no launch writes: of an earlier tool that is told their folder, or names them."""
        for artifact in self.builder.nodes(NodeKind.ARTIFACT):
            path = artifact.facts.get("path", "")
            readers = self.builder.lines(source=artifact, kind=EdgeKind.READS)
            if not path or not readers or self.builder.lines(target=artifact, kind=EdgeKind.WRITES):
                continue
            if artifact.label in ("checkpoints", "copied checkpoint"):
                continue
            first = min(each.stage.order for each in readers if each.stage is not None)
            for stage in self.experiment.stages[:first]:
                span = None if self.commands.launches(stage) else self._writes(stage, path)
                node = self.builder.find(NodeKind.STAGE, stage.order)
                if span is not None and node is not None:
                    self.builder.edge(node, artifact, EdgeKind.WRITES, span)
                    break

    def _outputs_of_tools(self) -> None:
        """What stages without launches are told to write, where nothing is known to be read from it."""
        for stage in self.experiment.stages:
            node = self.builder.find(NodeKind.STAGE, stage.order)
            for folder, span in () if self.commands.launches(stage) else self._outputs(stage):
                if node is not None and "/" in folder and not self.artifacts.below(folder):
                    self.builder.edge(node, self.artifacts.place(folder, "results", span), EdgeKind.WRITES, span)

    def _outputs(self, stage: Stage) -> Iterator[tuple[str, Span]]:
        """The places that a stage's commands are told to write to."""
        for command in self.commands.of(stage):
            if command.builtin or command.function or any(MERGED in word.prefix for word in command.argv[:3]):
                continue
            for before, word in pairwise(command.argv):
                if before.known in OUTPUT_OPTIONS and (folder := path_text(word, command.around.cwd)):
                    yield folder, word.span or command.span

    def _writes(self, stage: Stage, path: str) -> Span | None:
        """Where a stage without launches says that it writes into a folder above a path, or its tool names the file."""
        for folder, span in self._outputs(stage):
            if path.startswith(folder + "/"):
                return span
        for command in self.commands.of(stage):
            source = called_source(command, self.script.tree, self.script.start, _TOOLS)
            if source is not None and is_named(posixpath.basename(path), (each.text for each in data_files(source))):
                return command.span
        return None


class _StageCommands:
    """The commands of each stage on all paths of a driver. `at` gives the command and stage of a place: path, number
    on it."""

    def __init__(self, script: Script, stages: Sequence[Stage], launch_of: LaunchOf) -> None:
        self.script = script
        self.launch_of = launch_of
        self.at: dict[tuple[int, int], tuple[Command, Stage]] = {}
        self._every: dict[int, list[Command]] = {stage.order: [] for stage in stages}
        unfolded = {id(each.command.span.in_file().source) for each in stages if each.command is not None}
        own = own_sources(script.texts) | unfolded
        paths = [path.commands for path in script.resolution.paths]
        calls = [driver_calls(path, own) for path in paths]
        named = {id(stage.command): stage for stage in stages}
        by_call: dict[DriverCall, Stage] = {}
        for path, called in zip(paths, calls, strict=True):
            for command, call in zip(path, called, strict=True):
                if id(command) in named:
                    by_call.setdefault(call, named[id(command)])
        for number, (path, called) in enumerate(zip(paths, calls, strict=True)):
            for inner, (command, call) in enumerate(zip(path, called, strict=True)):
                stage = by_call.get(call)
                if stage is not None:
                    self.at[number, inner] = (command, stage)
                    self._every[stage.order].append(command)
        self._launches: dict[int, list[Launch]] = {}

    def of(self, stage: Stage) -> list[Command]:
        """The commands of a stage: those of its expected course, of all courses when nothing is launched there."""
        expected = [each for each in stage.events if isinstance(each, Command)]
        return expected if stage.launches or not self._every[stage.order] else self._every[stage.order]

    def launches(self, stage: Stage) -> list[Launch]:
        """The launches of a stage, each distinct one once."""
        known = self._launches.get(stage.order)
        if known is None:
            launches = stage.launches or self._of_every_course(stage) or self._of_call(stage)
            known = self._launches[stage.order] = distinct(launches)
        return known

    def _of_every_course(self, stage: Stage) -> list[Launch]:
        commands = (each for each in self._every[stage.order] if not (each.builtin or each.function))
        return [launch for each in commands if (launch := self.launch_of(each)) is not None]

    def _of_call(self, stage: Stage) -> list[Launch]:
        """What the launcher of a stage starts when it is called like this by itself."""
        called = None if stage.command is None else called_file(stage.command)
        if called is None or stage.command is None:
            return []
        found = self._found(called, stage.command)
        if found is None or not found.name.endswith(".sh"):
            return []
        return launches_of_call(found, list(called.arguments), self.script.tree, self.script.programs, self.launch_of)

    def _found(self, called: Called, command: Command) -> LauncherPlace | None:
        """The script that is called; where the working directory is not known, seen from the driver's start folder."""
        tree, cwd = self.script.tree, command.around.cwd
        name, start = in_tree(absolute(called.path, cwd)), in_tree(cwd)
        if name is None or start is None:
            relative, start = called.path.known, self.script.start or "."
            if relative is None or relative.startswith("/"):
                return None
            name = posixpath.normpath(posixpath.join(start, relative))
        source = None if name.startswith("..") else tree.source(name)
        return (
            None
            if source is None
            else LauncherPlace(source, "" if start == "." else start, posixpath.relpath(name, start))
        )

    def followed(self, stage: Stage) -> bool:
        """Whether the driver is followed to the launches of a stage, so that the ledger knows their checkpoints."""
        return bool(stage.launches or self._of_every_course(stage))

    def uses(self, stage: Stage, ledger: Ledger) -> list[Use]:
        """The checkpoints that a stage uses: on its expected course, on any when none is used there."""
        expected = {id(each) for each in stage.events}
        every = [use for use in ledger.uses if self._is_of(use, stage)]
        return [use for use in every if id(use.command) in expected] or every

    def _is_of(self, use: Use, stage: Stage) -> bool:
        found = self.at.get((use.place.path, use.place.inner))
        return found is not None and found[1] is stage


def _made(saved: Sequence[tuple[Save, Node]], step: int | None) -> list[Node]:
    """What makes a step in a folder: a copy of this step, else the runs that save there."""
    copies = [node for save, node in saved if step is not None and step in save.steps]
    return list(dict.fromkeys(copies or [node for save, node in saved if not save.steps]))


def _branch(branch: Value | Text | None) -> str:
    if branch is None:
        return ""
    return str(branch) if isinstance(branch, Value) else branch.shown


def _path_of(link: Link) -> str:
    assert link.by is not None
    command = link.consumer.command
    if command is None or "/" not in link.by.shown or "," in link.by.shown:
        return ""
    return path_text(link.by.text, command.around.cwd)
