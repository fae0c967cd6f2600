"""Calls of launchers that the settings teach: which of them a command starts, and what its words mean."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePath

from verlint import disk
from verlint.experiment.launch import Launch
from verlint.experiment.paths import absolute, in_tree
from verlint.experiment.python_programs import Program
from verlint.experiment.records import fields
from verlint.experiment.stage import Called, called_file
from verlint.families.taught import PATHS, TaughtLauncher, taught_launchers
from verlint.files.kinds import SHELL_SUFFIXES
from verlint.languages.bash.command import Command
from verlint.languages.bash.wrappers import unwrap
from verlint.languages.hydra.override import parse_override
from verlint.record import dataclass
from verlint.settings import Settings
from verlint.source import Span
from verlint.value import Hole, Literal, Text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from verlint.experiment.spec import SpecStage

_ALL = 1_000_000


@dataclass(frozen=True, slots=True)
class Given:
    """What a word of a call says. `label` is how the call names it (`--run`, `field 2`, `args.run`); `text` is None for
    an option without a word."""

    label: str
    text: Text | None
    span: Span | None


@dataclass(frozen=True, slots=True, eq=False)
class TaughtCall:
    """A call of a taught launcher: the words by their meaning, those of no known meaning, the stage it runs, and the
    paths that it reads and writes."""

    launcher: TaughtLauncher
    given: Mapping[str, Given]
    rest: tuple[Text, ...] = ()
    stage: str = ""
    paths: tuple[tuple[str, Given], ...] = ()

    def names(self, meaning: str, word: Text) -> bool:
        """Whether a word is one of the paths that are only read, or that are written."""
        spans = [given.span for name, given in self.paths if name == meaning]
        return word.span is not None and word.span in spans


class Taught:
    """The launchers that the settings of a project teach."""

    def __init__(self, settings: Settings, root: Path) -> None:
        self.settings = settings
        self.root = root
        self.launchers = taught_launchers(settings.launchers) if settings.launchers else ()

    def __bool__(self) -> bool:
        return bool(self.launchers)

    def at(self, path: str) -> TaughtLauncher | None:
        """The launcher that a file is, by its path below the root of the project."""
        if not self.launchers:
            return None
        relative = self.settings.relative(self.root / path)
        return next((each for each in self.launchers if each.means(relative)), None)

    def called(self, path: Text, cwd: Text) -> TaughtLauncher | None:
        """The launcher that a call names by its path; where that is known in part, by the end of it."""
        if not self.launchers:
            return None
        found = in_tree(absolute(path, cwd))
        if found is not None:
            return self.at(found)
        end = path.known if path.known is not None else path.suffix
        return next((each for each in self.launchers if each.ends(posixpath.normpath(end))), None) if end else None

    def call(self, command: Command) -> TaughtCall | None:
        """What a command says, when it starts one of the launchers."""
        if not self.launchers or command.builtin or command.function:
            return None
        called = called_file(command) or _program(command)
        launcher = None if called is None else self.called(called.path, command.around.cwd)
        return None if called is None or launcher is None else call_of(launcher, called.arguments)

    def is_followed(self, command: Command) -> bool:
        """Whether a command starts a shell text of the project, so that what it does is seen there."""
        called = called_file(command)
        path = None if called is None else in_tree(absolute(called.path, command.around.cwd))
        if path is None or not disk.is_file(self.root / path):
            return False
        return PurePath(path).suffix in SHELL_SUFFIXES or called is None or called.program in ("bash", "sh")


def _program(command: Command) -> Called | None:
    """A program that is started by its path, whatever it is called."""
    argv = unwrap(command.argv).argv
    return Called(argv[0], argv[1:], "") if argv and "/" in (argv[0].known or argv[0].suffix) else None


def call_of(launcher: TaughtLauncher, arguments: Sequence[Text]) -> TaughtCall:
    """What the words of a call mean, by the convention of its launcher."""
    said = _Said()
    if launcher.convention == "record":
        _read_record(launcher, arguments, said)
        return said.call(launcher, arguments[1:], launcher.stage)
    rest = _read_options(launcher, arguments, said)
    if launcher.convention != "verb":
        return said.call(launcher, rest, launcher.stage)
    verb = (rest[0].known or "") if rest else ""
    words = rest[1:]
    for number, (name, word) in enumerate(zip(launcher.fields, words, strict=False), 1):
        if word.elastic:
            break
        said.add(name, Given(f"word {number} behind {verb}", word, word.span))
    stage = launcher.verbs.get(verb, "") if launcher.verbs else launcher.stage
    return said.call(launcher, words[len(launcher.fields) :], stage)


class _Said:
    """Gathers what the words of one call say."""

    def __init__(self) -> None:
        self.given: dict[str, Given] = {}
        self.paths: list[tuple[str, Given]] = []

    def add(self, meaning: str, given: Given) -> None:
        """Several words may be read or written; of any other meaning the last one counts."""
        if meaning in PATHS:
            self.paths.append((meaning, given))
        elif meaning:
            self.given[meaning] = given

    def call(self, launcher: TaughtLauncher, rest: Sequence[Text], stage: str) -> TaughtCall:
        return TaughtCall(launcher, self.given, tuple(rest), stage, tuple(self.paths))


def _read_record(launcher: TaughtLauncher, arguments: Sequence[Text], said: _Said) -> None:
    found = fields(arguments[0]) if arguments and not arguments[0].elastic else []
    if len(found) != len(launcher.fields):
        return
    for number, (name, text) in enumerate(zip(launcher.fields, found, strict=True), 1):
        if text.parts:
            said.add(name, Given(f"field {number}", text, arguments[0].span))


def _read_options(launcher: TaughtLauncher, arguments: Sequence[Text], said: _Said) -> list[Text]:
    """Note the options of known meaning; gives the words that belong to none."""
    rest: list[Text] = []
    at = 0
    while at < len(arguments):
        word = arguments[at]
        written = word.known or word.prefix
        name = written.partition("=")[0]
        meaning = launcher.options.get(name)
        at += 1
        if meaning is None:
            rest.append(word)
        elif "=" in written:
            said.add(meaning, Given(name, word.slice(len(name) + 1, _ALL), word.span))
        elif at < len(arguments) and not (arguments[at].known or "").startswith("--"):
            said.add(meaning, Given(name, arguments[at], arguments[at].span))
            at += 1
        else:
            said.add(meaning, Given(name, None, word.span))
    return rest


def call_of_stage(launcher: TaughtLauncher, stage: SpecStage) -> TaughtCall:
    """What the arguments of a stage in a spec mean; they are named as the options are, without the dashes."""
    said = _Said()
    rest: list[Text] = []
    for name, value in stage.args.items():
        text = value.text or Text((Literal(str(value), value.span),), value.span)
        meaning = launcher.options.get(f"--{name}", launcher.options.get(f"-{name}", ""))
        if meaning:
            said.add(meaning, Given(f"args.{name}", text, value.span))
        elif "." in name:
            rest.append(Text((Literal(f"{name}=", stage.places.get(f"args.{name}")), *text.parts), value.span))
    return said.call(launcher, rest, launcher.stage)


def overrides_in(call: TaughtCall) -> Iterator[Text]:
    """The words of a call as the trainer would be told them: `key=value` for what means a key, and the overrides."""
    for meaning, given in call.given.items():
        if "." in meaning and given.text is not None:
            yield Text((Literal(f"{meaning}=", given.span), *given.text.parts), given.span)
    if call.launcher.convention == "overrides":
        yield from call.rest


def launch_of(call: TaughtCall, command: Command) -> Launch:
    """The launch that a call stands for. The launcher may tell the trainer more, so no key is known to be absent."""
    argv = unwrap(command.argv).argv
    found = [each for each in map(parse_override, overrides_in(call)) if each is not None]
    more = Text((Hole(("taught", call.launcher.glob), "$@", "what the launcher adds"),), command.span, elastic=True)
    return Launch(command, Program(argv[0], False, argv[1:]), tuple(found), (more,))
