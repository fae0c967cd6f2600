"""The project: all scripts, documents and specs of a run, and the experiments they make."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from verlint.experiment.all_files import of_all_files
from verlint.experiment.driver import stages_of
from verlint.experiment.launch import Launch
from verlint.experiment.launches import Launches
from verlint.experiment.script import Script, directives_in, start_folder
from verlint.experiment.stage import Experiment, Stage
from verlint.experiment.variants import Place, Variant, by_call, by_place, variants_of
from verlint.files.kinds import Kind, called_scripts, mark_of
from verlint.files.loading import Loaded
from verlint.files.tree import Tree
from verlint.languages.bash.command import Command
from verlint.languages.bash.syntax import Program as Syntax
from verlint.settings import Settings
from verlint.source import Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from verlint.experiment.spec import SpecFile
    from verlint.experiment.taught import TaughtCall


class Project:
    """Everything loaded for one run. Rules ask it about what lies beyond the thing they look at.

    A large project is looked at part by part: then this is a part of `whole`, whose files call none of other parts and
    are called by none. What a rule must know of all files it asks of all (`verlint.experiment.all_files`), what of all
    that scripts do, it concludes at the end (`verlint.rule.Pending`)."""

    def __init__(self, files: Sequence[Loaded], settings: Settings, root: Path, whole: Project | None = None) -> None:
        self.settings = settings
        self.root: Path = _common_root(root, files) if whole is None else whole.root
        self.files = list(files)
        self.whole: Project = self if whole is None else whole
        self.tree: Tree = Tree(self.root, files, None if whole is None else whole.tree)
        self.programs: dict[int, Syntax] = {}
        self._mentioned: dict[str, bool] = {}
        self.answers: dict[tuple[str, ...], Any] = {}
        """What all files answer to a question; of the whole."""
        self.asked: dict[tuple[str, ...], None] = {}
        """The questions to all files that this part has asked."""
        self.kinds = {id(file.source): file.kind for file in files}
        self.known_launches: Launches = (
            Launches(self.root, settings, self.kinds, self.tree)
            if whole is None
            else whole.known_launches.of_part(self.kinds, self.tree)
        )

    # ---- parts

    def part(self, files: Sequence[Loaded]) -> Project:
        """The part of a project that holds some of its files."""
        return Project(files, self.settings, self.root, self)

    def speaks_of(self, words: Iterable[str]) -> bool:
        """Whether one of these texts, in lower case, stands in a file of any part, or in one that this part has read
        so far."""
        words = tuple(words)
        return _speaks_of(self, *words) or any(word in text.lower() for _, text in self.tree.texts() for word in words)

    def reached(self) -> list[Source]:
        """The loaded files of other parts that this one has followed: they belong to it. What a Python tool or a config
        says, it says whoever reads it."""
        kinds = self.whole.kinds
        others = [each for each in self.tree.followed() if id(each) in kinds and id(each) not in self.kinds]
        return [each for each in others if kinds[id(each)] not in (Kind.PYTHON, Kind.YAML)]

    # ---- scripts

    @cached_property
    def scripts(self) -> list[Script]:
        """Launchers, documents and jobs, by path, then the scripts of the checkout that they call."""
        found: list[Script] = []
        for file in self.files:
            path = self.tree.relative(file.path)
            if path is None:
                continue
            if file.kind is Kind.LAUNCHER:
                found.append(self._launcher(file.source, path))
            elif file.kind is Kind.DOCUMENT:
                from verlint.languages.documents import shell_fences

                texts = tuple(fence.source for fence in shell_fences(file.source))
                if texts:
                    self._parse_fences(texts)
                    found.append(self._script(file.source, path, texts, document=True))
            elif file.kind in (Kind.JOB, Kind.MAKEFILE):
                from verlint.experiment.job_scripts import job_scripts

                found += job_scripts(file.source, path, self.tree, self.programs)
            elif file.kind is Kind.PYTHON:
                found.extend(self._started_by(file.source, path))
        return found

    def _started_by(self, source: Source, path: str) -> Iterator[Script]:
        """What a Python launcher starts: programs and scripts of VeRL, as one script."""
        if not ("subprocess" in source.text or "os.system" in source.text or "os.exec" in source.text):
            return
        if not (".sh" in source.text or ".slurm" in source.text or ".sbatch" in source.text or mark_of(source.text)):
            return
        from verlint.languages.python.embedded import shell_texts
        from verlint.languages.python.tool import tool

        every = shell_texts(tool(source).started, source)
        texts = tuple(each for each in every if called_scripts(each.text) or mark_of(each.text))
        if texts:
            said = tuple(directives_in(source, Kind.PYTHON))
            start = start_folder(source, path, self.tree)
            yield Script(source, path, texts, start, False, self.tree, self.programs, said)

    def _parse_fences(self, texts: Iterable[Source]) -> None:
        """Read the texts of a document, in which `<words>` and `{WORDS}` are stand-ins."""
        from verlint.languages.bash.parser import parse

        for text in texts:
            self.programs[id(text)] = parse(text.text, stand_ins="<" in text.text or "{" in text.text)

    def _launcher(self, source: Source, path: str) -> Script:
        return self._script(source, path, (source,), document=False)

    def _script(self, source: Source, path: str, texts: tuple[Source, ...], *, document: bool) -> Script:
        kind = Kind.DOCUMENT if document else Kind.LAUNCHER
        start = posixpath.dirname(path) if document else start_folder(source, path, self.tree)
        said, taught = tuple(directives_in(source, kind)), self.known_launches.taught
        return Script(source, path, texts, start, document, self.tree, self.programs, said, taught=taught)

    @cached_property
    def specs(self) -> list[SpecFile]:
        """The specs, by path."""
        files = [file for file in self.files if file.kind is Kind.SPEC]
        if not files:
            return []
        from verlint.experiment.spec_reader import read_spec

        return [read_spec(file.source) for file in files]

    def mentions(self, words: Sequence[str], *, comments: bool = False) -> bool:
        """Whether one of the words (in lower case) stands in a file that is loaded or called, in its path, or in what
        the settings teach of launchers. Lines of a launcher that are a comment in prose count when that is asked."""
        known = self._mentioned
        for word in words:
            if word not in known:
                known[word] = word in self._lower_text
            if known[word]:
                return True
        return comments and any(word in self._lower_comments for word in words)

    @cached_property
    def _lower_text(self) -> str:
        assert self.launches is not None  # the scripts that are called and the configs that are named are read by now
        entries = " ".join(launch.program.entry for launch in self.config_launches)  # which is written nowhere
        taught = f"taught launchers {dict(self.settings.launchers)}" if self.settings.launchers else ""
        files = [(file.source.path, _looked_at(file.source, file.kind)) for file in self.files]
        called = [
            (
                path,
                "" if id(source) in self.kinds else _looked_at(source, Kind.LAUNCHER if _is_shell(path) else Kind.NONE),
            )
            for path, source in self.tree.by_path()
        ]
        return "\n".join(
            each for pair in ((self.root.name, entries + taught), *files, *called) for each in pair
        ).lower()

    @cached_property
    def _lower_comments(self) -> str:
        """The lines that `_lower_text` leaves out."""
        texts = [file.source.text for file in self.files if file.kind is Kind.LAUNCHER]
        texts += [source.text for path, source in self.tree.by_path() if _is_shell(path)]
        return "\n".join(line for text in texts for line in text.split("\n") if _is_prose(line)).lower()

    @property
    def called_sources(self) -> list[Source]:
        """The texts that were read because a script calls or reads them, and that are not among the files."""
        loaded = {id(file.source) for file in self.files}
        return [source for source in self.tree.sources() if id(source) not in loaded]

    # ---- commands

    @cached_property
    def variants(self) -> list[Variant]:
        """Every distinct command that any script would start, in order of scripts and commands."""
        return [variant for script in self.scripts for variant in variants_of(script)]

    @cached_property
    def sites(self) -> Mapping[Place, list[Variant]]:
        """Variants by the place of the command, those of real calls where there are any."""
        return by_place(self.variants)

    def started_at(self, place: Place) -> list[Variant]:
        """The variants of a place, the `exec` that stands before a program left out."""
        return [each for each in self.sites.get(place, []) if not _only_replaces(each.command)]

    @cached_property
    def tests(self) -> Mapping[str, Mapping[Place, list[Variant]]]:
        """Calls of `[` and `test` by the path of their file and their place, as `sites` gives commands."""
        tests = by_place(each for script in self.scripts for each in variants_of(script, lambda path: path.tests))
        found: dict[str, dict[Place, list[Variant]]] = {}
        for place, each in tests.items():
            found.setdefault(place[0], {})[place] = each
        return found

    def launch(self, command: Command) -> Launch | None:
        """The launch that a command is, with family, stage, intent and the defaults of the VeRL version in use."""
        return self.known_launches.launch(command)

    def taught_call(self, command: Command) -> TaughtCall | None:
        """What a command says when it starts a launcher that the settings teach."""
        taught = self.known_launches.taught
        return taught.call(command) if taught is not None else None

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
    def command_groups(self) -> list[list[tuple[Command, Variant]]]:
        """The commands of `sites`, those together that are one command as one call gives it."""
        every = [[(each.command, each) for each in variants] for variants in self.sites.values()]
        return [group for site in every for group in by_call(site)]

    @cached_property
    def launch_groups(self) -> list[list[tuple[Launch, Variant]]]:
        """The launches, grouped as the commands are."""
        sites: dict[Place, list[tuple[Launch, Variant]]] = {}
        for launch, variant in self.launches:
            sites.setdefault(launch.span.order(), []).append((launch, variant))
        return [group for site in sites.values() for group in by_call(site)]

    @cached_property
    def spec_launches(self) -> list[Launch]:
        """The launches of specs."""
        if not self.specs:
            return []
        stages = [stage for experiment in self.experiments if experiment.is_spec for stage in experiment.stages]
        return [launch for stage in stages for launch in stage.launches]

    @cached_property
    def config_launches(self) -> list[Launch]:
        """The launches that trainer configs stand for, those checked by name which no other launch uses."""
        if not any(file.kind is Kind.YAML and file.named for file in self.files):
            return []
        from verlint.experiment.config_launches import config_launches

        used = [*(each for each, _ in self.launches), *self.spec_launches]
        return list(config_launches(self.files, self.tree, self.known_launches, used))

    @cached_property
    def families(self) -> frozenset[str]:
        """The families of all launches, "" among them for a launch of none."""
        launches = (*(each for each, _ in self.launches), *self.spec_launches, *self.config_launches)
        return frozenset(launch.family for launch in launches)

    # ---- experiments

    @cached_property
    def experiments(self) -> list[Experiment]:
        """The experiments: specs, documents and scripts that call others. `root` marks those that nothing calls."""
        called = self._called_paths()
        out = [Experiment(spec.source, stages, spec=spec) for spec, stages in self._spec_stages()]
        for script in self.scripts:
            # the name of the project's own folder comes first: it may be that of a family
            folder = posixpath.join(self.root.as_posix().rsplit("/", 1)[-1], script.start)
            stages = stages_of(script, self.launch, folder, self.known_launches.taught)
            if stages:
                out.append(Experiment(script.source, stages, script=script, root=script.path not in called))
        return out

    def _spec_stages(self) -> Iterator[tuple[SpecFile, Sequence[Stage]]]:
        if not self.specs:
            return
        from verlint.experiment.spec_stages import SpecStages

        maker = SpecStages(self.known_launches, self.tree, self.programs)
        paths = {id(file.source): self.tree.relative(file.path) for file in self.files}
        for spec in self.specs:
            if spec.spec is not None:
                yield spec, maker.stages_of(spec, paths[id(spec.source)])

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


def _only_replaces(command: Command) -> bool:
    """Whether a command is the `exec` before a program, which is a command of its own."""
    return command.builtin and len(command.argv) > 1 and command.argv[0].known == "exec"


def _common_root(root: Path, files: Iterable[Loaded]) -> Path:
    """The folder below which all files are: the working directory, or one above it."""
    common = root
    for file in files:
        while not file.path.is_relative_to(common) and common != common.parent:
            common = common.parent
    return common


def _is_shell(path: str) -> bool:
    return path.endswith((".sh", ".bash"))


def _looked_at(source: Source, kind: Kind) -> str:
    """The text of a file; that of a launcher without lines such as `# start Ray first`, which no rule of ours looks
    at."""
    text = source.text
    if kind is not Kind.LAUNCHER or "# " not in text:
        return text
    return "\n".join(line for line in text.split("\n") if not _is_prose(line))


def _is_prose(line: str) -> bool:
    """Whether a line is a comment for people. What a program reads of comments (`#SBATCH`, `#!`) has no blank behind
    the sign, or names verlint."""
    return line.lstrip().startswith("# ") and "verlint" not in line


@of_all_files
def _speaks_of(project: Project, *words: str) -> bool:
    return any(word in file.source.text.lower() for file in project.files for word in words)
