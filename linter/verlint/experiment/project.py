"""The project: all scripts, documents and specs of a run, and the experiments they make."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from verlint.experiment.branches import branch_change
from verlint.experiment.inference import home_of, infer, stage_in
from verlint.experiment.launch import Launch, Program, as_launch
from verlint.experiment.script import Script, start_folder
from verlint.experiment.stage import Called, Experiment, Stage, called_file, identify, options_of, settled
from verlint.families import FAMILIES
from verlint.files.comments import Directive, directives, is_known
from verlint.files.kinds import Kind
from verlint.files.loading import Loaded
from verlint.files.tree import Tree
from verlint.languages.bash.command import Command, Surroundings
from verlint.languages.bash.replay import Path as Way
from verlint.languages.bash.replay import Resolution
from verlint.languages.bash.state import Event
from verlint.languages.bash.syntax import Program as Syntax
from verlint.languages.hydra.override import Form, Override
from verlint.lazy import pattern
from verlint.record import dataclass, replace
from verlint.settings import Settings
from verlint.source import Source, Span
from verlint.value import Hole, Literal, Text, Value
from verlint.verl.in_use import VerlInUse, call_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from verlint.experiment.spec import Spec, SpecFile, SpecStage
    from verlint.verl.checkout import Finder
    from verlint.verl.in_use import Found


_EDITABLE = pattern(r"\bpip3?\s+install\s[^\n;&|]*?(?:-e|--editable)[ =]['\"]?([\w./-]+)")


@dataclass(frozen=True, slots=True)
class Variant:
    """A command as one way of starting it gives it: the script it was reached from, and on how many of its paths."""

    command: Command
    entry: Script
    paths: frozenset[int]

    @property
    def in_document(self) -> bool:
        """Whether the command itself is written in a document, not in a script that one calls."""
        return self.entry.document and self.command.span.in_file().source is self.entry.source

    @property
    def called(self) -> bool:
        """Whether the arguments are those of a real call, not those of anybody."""
        return bool(self.command.around.stack) or self.entry.document


class Project:
    """Everything loaded for one run. Rules ask it about what lies beyond the thing they look at."""

    def __init__(self, files: Sequence[Loaded], settings: Settings, root: Path) -> None:
        self.settings = settings
        self.root = _common_root(root, files)
        self.files = list(files)
        self.tree = Tree(self.root, files)
        self.programs: dict[int, Syntax] = {}
        self.kinds = {id(file.source): file.kind for file in files}

    # ---- scripts

    @cached_property
    def scripts(self) -> list[Script]:
        """Launchers and documents, by path, then the scripts of the checkout that they call."""
        found: list[Script] = []
        for file in self.files:
            path = self.tree.relative(file.path)
            if path is None:
                continue
            if file.kind is Kind.LAUNCHER:
                found.append(self._launcher(file.source, path))
            elif file.kind is Kind.MARKDOWN:
                from verlint.languages.markdown import shell_fences

                texts = tuple(fence.source for fence in shell_fences(file.source))
                if texts:
                    found.append(self._script(file.source, path, texts, document=True))
        return found

    def _launcher(self, source: Source, path: str) -> Script:
        return self._script(source, path, (source,), document=False)

    def _script(self, source: Source, path: str, texts: tuple[Source, ...], *, document: bool) -> Script:
        kind = Kind.MARKDOWN if document else Kind.LAUNCHER
        start = posixpath.dirname(path) if document else start_folder(source, path, self.tree)
        return Script(source, path, texts, start, document, self.tree, self.programs, tuple(directives(source, kind)))

    @cached_property
    def specs(self) -> list[SpecFile]:
        """The specs, by path."""
        files = [file for file in self.files if file.kind is Kind.SPEC]
        if not files:
            return []
        from verlint.experiment.spec_reader import read_spec

        return [read_spec(file.source) for file in files]

    def mentions(self, words: Iterable[str]) -> bool:
        """Whether one of the words (in lower case) stands in a file that is loaded or called, or in its path."""
        return any(word in text for word in words for text in self._lower_texts)

    @cached_property
    def _lower_texts(self) -> list[str]:
        assert self.variants is not None  # the scripts that are called are read by now
        files = [(self.root.name, "")] + [(file.source.path, file.source.text) for file in self.files]
        return [each.lower() for pair in (*files, *self.tree.texts()) for each in pair]

    # ---- commands

    @cached_property
    def variants(self) -> list[Variant]:
        """Every distinct command that any script would start, in order of scripts and commands."""
        out: list[Variant] = []
        for script in self.scripts:
            out.extend(_variants(script))
        return out

    @cached_property
    def sites(self) -> Mapping[tuple[str, int, int], list[Variant]]:
        """Variants by the place of the command. Where real calls reach it, the launcher's own open run is left out."""
        found: dict[tuple[str, int, int], list[Variant]] = {}
        for variant in self.variants:
            found.setdefault(variant.command.span.order(), []).append(variant)
        return {place: [v for v in each if v.called] or each for place, each in sorted(found.items())}

    @cached_property
    def tests(self) -> Mapping[str, Mapping[tuple[str, int, int], list[Variant]]]:
        """Calls of `[` and `test` by the path of their file and their place, as `sites` gives commands."""
        found: dict[str, dict[tuple[str, int, int], list[Variant]]] = {}
        for script in self.scripts:
            for variant in _variants(script, lambda path: path.tests):
                place = variant.command.span.order()
                found.setdefault(place[0], {}).setdefault(place, []).append(variant)
        return {
            path: {place: [v for v in each if v.called] or each for place, each in sorted(places.items())}
            for path, places in found.items()
        }

    def launch(self, command: Command) -> Launch | None:
        """The launch that a command is, with family, stage, intent and the defaults of the VeRL version in use."""
        known = self._known_launches.get(id(command))
        if known is None:
            known = self._known_launches[id(command)] = (command, self._launch(command))
        return known[1]

    @cached_property
    def _known_launches(self) -> dict[int, tuple[Command, Launch | None]]:
        """Launches by the identity of their command, which is kept so that no other object gets its identity."""
        return {}

    def _launch(self, command: Command) -> Launch | None:
        found = as_launch(command)
        if found is None:
            return None
        source = command.span.in_file().source
        said = self._directives(source, command)
        family, stage = infer(found) or ("", "")
        family = said.get("family", family or home_of(posixpath.join(self.root.name, source.path)))
        intent = said.get("on-policy", "exact" if family == "opo" else "")
        named = [("--verl", self.settings.verl_of_call), ("directive", said.get("verl", ""))]
        verl = VerlInUse(lambda: self._verl(found, family, [*named, ("settings", self.settings.verl)], source))
        stage = stage or stage_in(family, found)
        return replace(found, family=family, stage=stage, intent=intent, verl=verl)

    def _verl(self, launch: Launch, family: str, named: Sequence[tuple[str, str]], source: Source | None) -> Found:
        """The VeRL in use: what is named, else what is on disk or fits."""
        from verlint.verl.checkout import Asked

        call = call_of(launch.program.entry, launch.program.arguments)
        base = _base_version(family, launch["algorithm.adv_estimator"])
        folders = self._homes(launch.command, source)
        return self._finder.find(Asked(call, launch.overrides, named, folders, family, base))

    @cached_property
    def _finder(self) -> Finder:
        from verlint.verl.checkout import Finder

        return Finder(self.root)

    def _homes(self, command: Command, source: Source | None) -> list[Path]:
        """Where a checkout of VeRL may lie: the folder a command runs in, those of PYTHONPATH and of `pip install -e`,
        and that of its launcher."""
        around = command.around
        texts = [around.cwd, *([around.environment["PYTHONPATH"]] if "PYTHONPATH" in around.environment else [])]
        found = [self.root / place for text in texts for place in _places_of(text, around.cwd)]
        if source is not None:
            own = (Path.cwd() / source.path).parent
            found += [own / each for each in _EDITABLE.findall(source.text)] if "pip" in source.text else []
            found.append(own)
        return [Path(posixpath.normpath(each.as_posix())) for each in dict.fromkeys(found)]

    def _directives(self, source: Source, command: Command) -> dict[str, str]:
        """What the comments of a file say for a command: those of the whole file, then those just above it."""
        span = command.span.in_file()
        out: dict[str, str] = {}
        for each in self._directives_of(source):
            if is_known(each) and (each.file_wide or each.scope.start <= span.start < each.scope.end):
                out[each.name] = each.value
        return out

    def _directives_of(self, source: Source) -> list[Directive]:
        found = self._known_directives.get(id(source))
        if found is None:
            kind = self.kinds.get(id(source), Kind.LAUNCHER)
            found = self._known_directives[id(source)] = directives(source, kind)
        return found

    @cached_property
    def _known_directives(self) -> dict[int, list[Directive]]:
        return {}

    @cached_property
    def launches(self) -> list[tuple[Launch, Variant]]:
        """Every launch, with the variant it comes from; launches of specs have none of their own here."""
        return [
            (launch, variant)
            for variants in self.sites.values()
            for variant in variants
            if (launch := self.launch(variant.command)) is not None
        ]

    @cached_property
    def spec_launches(self) -> list[Launch]:
        """The launches of specs."""
        if not self.specs:
            return []
        stages = [stage for experiment in self.experiments if experiment.is_spec for stage in experiment.stages]
        return [launch for stage in stages for launch in stage.launches]

    @cached_property
    def families(self) -> frozenset[str]:
        """The families of all launches, "" among them for a launch of none."""
        return frozenset(launch.family for launch in (*(each for each, _ in self.launches), *self.spec_launches))

    # ---- experiments

    @cached_property
    def experiments(self) -> list[Experiment]:
        """The experiments: specs, documents and scripts that call others. `root` marks those that nothing calls."""
        called = self._called_paths()
        out = [self._spec_experiment(spec) for spec in self.specs if spec.spec is not None]
        for script in self.scripts:
            stages = self._stages(script)
            if stages:
                out.append(Experiment(script.source, stages, script=script, root=script.path not in called))
        return out

    def _called_paths(self) -> set[str]:
        paths = {self.tree.relative(file.path): file.source for file in self.files}
        sources = {id(source): path for path, source in paths.items() if path is not None}
        found: set[str] = set()
        for variant in self.variants:
            if variant.command.around.stack:
                path = sources.get(id(variant.command.span.in_file().source))
                if path is not None and path != variant.entry.path:
                    found.add(path)
        return found

    def _stages(self, script: Script) -> list[Stage]:
        """The stages a script runs on its expected path: calls of scripts and tools, and launches of its own."""
        own = {id(text) for text in script.texts}
        events = _expected_events(script.resolution, own)
        found: list[Stage] = []
        started: list[Mapping[str, tuple[Text, Span]]] = []
        branches: dict[str, tuple[Text, Span]] = {}
        for at, event in enumerate(events):
            if not isinstance(event, Command):
                continue
            change = branch_change(event)
            if change is not None:
                branches[change.folder] = (change.branch, event.span)
            if id(_own_source(event.span.source, own)) not in own:
                continue
            stage = self._stage(script, event, events[at + 1 :], own, len(found))
            if stage is not None:
                found.append(stage)
                started.append(_at_start(stage, branches))
        return [_on_branch(stage, each) for stage, each in zip(settled(found), started, strict=True)]

    def _stage(
        self, script: Script, command: Command, following: Sequence[Event], own: set[int], order: int
    ) -> Stage | None:
        called = called_file(command)
        launch = self.launch(command)
        if called is None and launch is None:
            return None
        inner = _inner(following, own)
        launches = [found for each in inner if isinstance(each, Command) and (found := self.launch(each)) is not None]
        if launch is not None:
            launches.insert(0, launch)
        path = _shown_path(called)
        family, kind = identify(path, launches, self._home(script))
        options = options_of(called.arguments) if called is not None else {}
        name = path or (launch.program.entry if launch is not None else "")
        return Stage(
            id=name,
            span=command.span,
            order=order,
            launcher=path,
            family=family,
            kind=kind,
            options=options,
            command=command,
            events=(command, *inner),
            launches=launches,
        )

    def _home(self, script: Script) -> str:
        """The start folder, with the folder the project stands in, so that the family's own folder name counts."""
        return posixpath.join(self.root.as_posix().rsplit("/", 1)[-1], script.start)

    def _spec_experiment(self, file: SpecFile) -> Experiment:
        spec = file.spec
        assert spec is not None
        family = _said(spec.family)
        given = enumerate(spec.stages.values())
        stages = [self._spec_stage(file, spec, stage, family, order) for order, stage in given]
        return Experiment(file.source, stages, spec=file)

    def _spec_stage(self, file: SpecFile, spec: Spec, stage: SpecStage, family: str, order: int) -> Stage:
        branch = stage.branch if stage.branch.given else None
        return Stage(
            id=stage.id,
            span=stage.id_span,
            order=order,
            launcher=_said(stage.launcher),
            family=family,
            kind=_said(stage.kind),
            launches=[self.spec_launch(spec, stage)] if stage.entry.given else self._called_launches(file, spec, stage),
            branch=branch,
            branch_span=None if branch is None else branch.span,
            spec=stage,
        )

    def _called_launches(self, file: SpecFile, spec: Spec, stage: SpecStage) -> list[Launch]:
        """What the launcher of a stage starts when it is called as the stage says."""
        from verlint.experiment.spec_calls import call_arguments, commands_of, launcher_place

        path = next((self.tree.relative(each.path) for each in self.files if each.source is file.source), None)
        place = None if path is None else launcher_place(file, path, spec, stage, self.tree)
        arguments = None if place is None else call_arguments(stage, place.source)
        if place is None or arguments is None:
            return []
        commands = commands_of(place, arguments, self.tree, self.programs)
        launches = [launch for command in commands if (launch := self.launch(command)) is not None]
        return [self._as_said(launch, spec, stage) for launch in launches]

    def _as_said(self, launch: Launch, spec: Spec, stage: SpecStage) -> Launch:
        """A launch with the family, intent and VeRL base that the spec gives it."""
        family, kind, intent, base = self._spec_facts(spec, stage)
        family = family or launch.family
        source = launch.command.span.in_file().source
        named = self._named(base, self._directives(source, launch.command).get("verl", ""))
        return replace(
            launch,
            family=family,
            stage=kind or launch.stage,
            intent=intent or launch.intent,
            verl=VerlInUse(lambda: self._verl(launch, family, named, source)),
        )

    def _named(self, base: str, directive: str = "") -> list[tuple[str, str]]:
        """Who names the VeRL of a launch, the first counts."""
        said = (("directive", directive), ("spec", base), ("settings", self.settings.verl))
        return [("--verl", self.settings.verl_of_call), *said]

    def spec_launch(self, spec: Spec, stage: SpecStage) -> Launch:
        """The launch that a stage with `entry` and `overrides` stands for."""
        overrides = tuple(_spec_override(stage, key, value) for key, value in stage.overrides.items())
        entry = Text((Literal(str(stage.entry), stage.entry.span),), stage.entry.span or stage.id_span)
        command = Command((entry, *(override.word for override in overrides)), stage.span, Surroundings(Text(), {}))
        family, kind, intent, base = self._spec_facts(spec, stage)
        found = Launch(
            command=command,
            program=Program(entry, True, command.argv[1:]),
            overrides=overrides,
            options=(),
            family=family,
            stage=kind,
            intent=intent or ("exact" if family == "opo" else ""),
        )
        verl = VerlInUse(lambda: self._verl(found, family, self._named(base), stage.span.in_file().source))
        return replace(found, verl=verl)

    def _spec_facts(self, spec: Spec, stage: SpecStage) -> tuple[str, str, str, str]:
        """Family, kind, on-policy intent and VeRL base of a stage, "" for what the spec does not say."""
        family = _said(spec.family)
        checkout = spec.checkouts.get(str(stage.checkout))
        base = _said(checkout.base) if checkout is not None else ""
        return family, _said(stage.kind), _said(spec.intent(stage)), base


def _places_of(text: Text, cwd: Text) -> list[str]:
    """The folders of a list like PYTHONPATH, below the root of the project; those that are not known are left out.

    The folder a launcher is started in is a hole that carries its place."""
    start = cwd.parts[0] if cwd.parts else None
    out: list[str] = []
    for pieces in _split_at_colons(text):
        known = "".join(part.text for part in pieces if isinstance(part, Literal))
        holes = [part for part in pieces if isinstance(part, Hole)]
        if not holes and known.startswith("/"):
            out.append(known)
        elif not holes and known and isinstance(start, Hole) and _start_of(start) is not None:
            out.append(posixpath.join(_start_of(start) or "", known))
        elif len(holes) == 1 and pieces[0] is holes[0] and _start_of(holes[0]) is not None:
            out.append((_start_of(holes[0]) or ".") + known)
    return out


def _start_of(hole: Hole) -> str | None:
    return str(hole.key[1]) if isinstance(hole.key, tuple) and hole.key[0] == "cwd" else None


def _split_at_colons(text: Text) -> list[list[Literal | Hole]]:
    out: list[list[Literal | Hole]] = [[]]
    for part in text.parts:
        if isinstance(part, Hole):
            out[-1].append(part)
            continue
        for number, piece in enumerate(part.text.split(":")):
            if number:
                out.append([])
            if piece:
                out[-1].append(Literal(piece))
    return out


def _said(value: Value) -> str:
    """What is written for a field, "" when it is absent or not known."""
    return str(value) if value.given and value.decided else ""


def _base_version(family: str, estimator: Value | None) -> str:
    """The VeRL version a family builds on; not known with `adv_estimator=opo`, which exists in later ones only."""
    if family not in FAMILIES or (estimator is not None and estimator.equals("opo")):
        return ""
    return FAMILIES[family].verl


def _common_root(root: Path, files: Iterable[Loaded]) -> Path:
    """The folder below which all files are: the working directory, or one above it."""
    common = root
    for file in files:
        while not file.path.is_relative_to(common) and common != common.parent:
            common = common.parent
    return common


def _variants(script: Script, of: Callable[[Way], Iterable[Command]] = lambda path: path.commands) -> list[Variant]:
    found: dict[object, tuple[Command, set[int]]] = {}
    for number, path in enumerate(script.resolution.paths):
        for command in of(path):
            key = (
                command.span.order(),
                tuple(word.identity() for word in command.argv),
                tuple(call.span.order() for call in command.around.stack),
                command.around.xtrace,
            )
            if key in found:
                found[key][1].add(number)
            else:
                found[key] = (command, {number})
    return [Variant(command, script, frozenset(paths)) for command, paths in found.values()]


def _own_source(source: Source, own: set[int]) -> Source:
    """The text of the script that an embedded source (`eval`, `bash -c`) was made in."""
    while id(source) not in own and source.parent is not None:
        source = source.parent
    return source


def _expected_events(resolution: Resolution, own: set[int]) -> Sequence[Event]:
    """What a script does on its expected path; where that ends in a failure, on the path that gets furthest without."""
    paths = resolution.paths
    if not paths or not paths[0].status:
        return paths[0].events if paths else ()
    passing = [path for path in paths if not path.status]
    far = max(passing, key=lambda path: sum(id(each.span.source) in own for each in path.commands), default=paths[0])
    return far.events


def _at_start(stage: Stage, branches: Mapping[str, tuple[Text, Span]]) -> Mapping[str, tuple[Text, Span]]:
    """The branches when the stage's first launch starts: the launcher may choose one itself."""
    if not stage.launches:
        return dict(branches)
    out = dict(branches)
    for event in stage.events:
        if event is stage.launches[0].command:
            break
        change = branch_change(event) if isinstance(event, Command) else None
        if change is not None:
            out[change.folder] = (change.branch, event.span)
    return out


def _inner(following: Sequence[Event], own: set[int]) -> tuple[Event, ...]:
    """The events up to the next one of the script itself."""
    out: list[Event] = []
    for event in following:
        if id(_own_source(event.span.source, own)) in own:
            break
        out.append(event)
    return tuple(out)


def _shown_path(called: Called | None) -> str:
    if called is None:
        return ""
    text = called.path.shown
    return posixpath.normpath(text) if text and not called.path.holes else text


def _on_branch(stage: Stage, branches: Mapping[str, tuple[Text, Span]]) -> Stage:
    family = FAMILIES.get(stage.family)
    found = branches.get(family.checkout) if family is not None and family.checkout else None
    if found is None:
        return stage
    return replace(stage, branch=found[0], branch_span=found[1])


def _spec_override(stage: SpecStage, key: str, value: Value) -> Override:
    given = replace(value, key=key)
    key_span = stage.places.get(f"overrides.{key}")
    text = value.text or Text((Literal(str(value), value.span),), value.span)
    word = Text((Literal(key + "=", key_span), *text.parts), value.span)
    return Override(word, Form.SET, key, key_span, "", given, text)
