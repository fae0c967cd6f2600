"""Which VeRL a launch runs on, and the config it gets there.

In this order: what is said for the launch (call, directive, spec, settings), a checkout beside the launcher, a pin in
a requirements file, the fork or version its family builds on, an installed distribution, and last the released
versions that fit its keys best, which is a guess. Nothing is searched for, read or composed before somebody asks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

from verlint.languages.hydra.override import Override
from verlint.record import dataclass, field
from verlint.value import Data, Literal, Text, Value
from verlint.verl.versions import version_key

TYPE_CHECKING = False  # as `typing` says it, without its import
if TYPE_CHECKING:
    from verlint.verl.compose import ConfigFolders, Place
    from verlint.verl.overriding import Applied
    from verlint.verl.schema import Schema


@dataclass(frozen=True, slots=True)
class Call:
    """How a launch calls Hydra: the module or file of its entry point, and what its options say of configs.

    `config_path` and `config_dir` are as given, "" when not, with ROOT for the root of the project. `searchpath` is
    what it gives for `hydra.searchpath`, None when nothing. `undecided`: one of them is not known before the run."""

    entry: str
    config_name: str = ""
    config_path: str = ""
    config_dir: str = ""
    multirun: bool = False
    undecided: bool = False
    searchpath: tuple[str, ...] | None = None

    @property
    def names_configs(self) -> bool:
        """Whether it says where configs are, so that they need not be VeRL's."""
        return bool(self.config_path or self.config_dir or self.searchpath is not None)

    @property
    def module(self) -> str:
        """The dotted name of the entry point; of a file that of its path from the last `verl` or `recipe` folder."""
        if not self.entry.endswith(".py"):
            return self.entry
        pieces = self.entry.removesuffix(".py").split("/")
        at = max((at for at, piece in enumerate(pieces) if piece in ("verl", "recipe")), default=0)
        return ".".join(piece for piece in pieces[at:] if piece not in ("", "."))


_OPTIONS = {"--config-name": "name", "-cn": "name", "--config-path": "path", "-cp": "path", "--config-dir": "dir"}
_OPTIONS["-cd"] = "dir"


def call_of(entry: str, arguments: Sequence[Text]) -> Call:
    """The call of an entry point with these words."""
    if not arguments:
        return Call(entry)
    given: dict[str, str] = {}
    undecided = multirun = False
    searchpath: tuple[str, ...] | None = None
    waiting = ""
    for word in arguments:
        if not waiting and not word.prefix.startswith(("-", "+", "hydra.")):
            continue
        text = _placed(word)
        if waiting:
            given[waiting], undecided, waiting = text or "", undecided or text is None, ""
            continue
        name, equals, value = (word.prefix if text is None else text).partition("=")
        if name in ("-m", "--multirun"):
            multirun = True
        elif name.lstrip("+") == "hydra.searchpath":
            searchpath = searchpath or _folders(value)
            undecided |= text is None or searchpath is None
        elif name in _OPTIONS and equals:
            given[_OPTIONS[name]] = value
            undecided |= text is None
        elif name in _OPTIONS:
            waiting = _OPTIONS[name]
    name = given.get("name", "").removesuffix(".yaml")
    return Call(entry, name, given.get("path", ""), given.get("dir", ""), multirun, undecided, searchpath)


def _folders(text: str) -> tuple[str, ...] | None:
    """The folders in `[pkg://a.b,file://c]`, None for what is no list of plain texts."""
    inner = text.strip()
    if not (inner.startswith("[") and inner.endswith("]")):
        return None
    pieces = tuple(each.strip().strip("'\"") for each in inner[1:-1].split(","))
    return pieces if all(pieces) and not any(sign in inner[1:-1] for sign in "[]{}$") else None


ROOT = "<root>/"
"""What stands before a path that is given from the folder a launcher is started in: the root of the project."""


def _placed(word: Text) -> str | None:
    """The word as text, None when it is not known. The folder a launcher is started in is known by its place."""
    if not word.holes:
        return word.known
    out = []
    for part in word.parts:
        if isinstance(part, Literal):
            out.append(part.text)
        elif isinstance(part.key, tuple) and part.key[0] == "cwd":
            out.append(ROOT + str(part.key[1] or "."))
        else:
            return None
    return "".join(out)


@dataclass(frozen=True)
class Found:
    """What is known of the VeRL in use. `folders` composes its configs when they are on disk. `program` is that of the
    project that is started, below the root of the disk, and `entry` the entry point of VeRL that it stands for; both
    are "" for VeRL's own. `at` gives the keys and the folders on a released version, for a guess of a config of the
    project."""

    label: str
    text: str = ""
    source: str = ""
    guess: bool = False
    schema: Schema | None = None
    folders: ConfigFolders | None = None
    config: str = ""
    fitting: tuple[str, ...] = ()
    problem: str = ""
    places: Mapping[str, Place] = field(default_factory=dict)
    program: str = ""
    entry: str = ""
    at: Callable[[str], tuple[Schema, ConfigFolders] | None] | None = None


class VerlInUse:
    """The VeRL of one launch, found when it is first asked for.

    `label`: what to call it in a message ("VeRL 0.7.1", "the checkout verl/"). `text`: the version, for a checkout or
    a fork the one its keys are nearest to; "" when not known. `version`: the same as numbers. `source`: who says so
    ("--verl", "directive", "spec", "settings", "checkout", the path of a file with a pin, "family", "installed",
    "best fit"). `guess`: it is only the best fit. `schema`: the keys of the launch's config, None when that config is
    not known. `fitting`: for a guess, all released versions that fit as well. `problem`: why there is no schema."""

    def __init__(self, find: Callable[[], Found]) -> None:
        self._find = find
        self._composed: dict[tuple[str, int], Applied | None] = {}

    @cached_property
    def found(self) -> Found:
        """All that is known."""
        return self._find()

    @property
    def label(self) -> str:
        """What to call it in a message."""
        return self.found.label

    @property
    def origin(self) -> str:
        """What to call it where VeRL's own defaults are meant, without the config of the project."""
        return self.label.partition(" with ")[0]

    @property
    def text(self) -> str:
        """The version as text, "" for none."""
        return self.found.text

    @property
    def version(self) -> tuple[int, ...] | None:
        """The version as numbers to compare."""
        return version_key(self.found.text)

    @property
    def source(self) -> str:
        """Who says so."""
        return self.found.source

    @property
    def guess(self) -> bool:
        """Whether it is only the best fit."""
        return self.found.guess

    @property
    def schema(self) -> Schema | None:
        """The keys of the launch's config."""
        return self.found.schema

    @property
    def fitting(self) -> tuple[str, ...]:
        """The released versions that fit equally well; empty when it is no guess."""
        return self.found.fitting

    @property
    def problem(self) -> str:
        """Why there is no schema."""
        return self.found.problem

    def place(self, key: str) -> Place | None:
        """Where a checkout's config file writes the default of a key."""
        return self.found.places.get(key)

    def applied(self, overrides: Sequence[Override], *, multirun: bool = False) -> Applied | None:
        """The config of a launch with these overrides, and what Hydra refuses of them; None without a schema."""
        from verlint.verl.effective import config_of_call

        return config_of_call(self.found, overrides, multirun=multirun)

    def composed(self, version: str, overrides: tuple[Override, ...]) -> Applied | None:
        """The same config with these overrides on a released version; made once for a launch."""
        key = (version, id(overrides))
        if key not in self._composed:
            from verlint.verl.effective import composed_at

            self._composed[key] = composed_at(self.found, version, overrides)
        return self._composed[key]

    def defaults(self, overrides: tuple[Override, ...]) -> Mapping[str, Data]:
        """What holds for keys that the overrides leave out."""
        from verlint.verl.effective import Defaults

        return Defaults(self, overrides)

    def open_default(self, defaults: Mapping[str, Data], key: str) -> Value | None:
        """The value of the override that a default hangs on, when that value is not known before the run."""
        find = getattr(defaults, "unknown", None)
        unknown = None if find is None else find(key)
        found: Value | None = None if unknown is None else unknown.value
        return found


def fixed(text: str, defaults: Mapping[str, Data] | None = None) -> VerlInUse:
    """The released version of that name, with its own or with the given defaults."""
    if defaults is not None:
        return _Fixed(text, defaults)
    from verlint.verl.effective import said_version

    return VerlInUse(lambda: said_version(text, "--verl", "ppo_trainer"))


class _Fixed(VerlInUse):
    """A version whose defaults are given."""

    def __init__(self, text: str, defaults: Mapping[str, Data]) -> None:
        label = f"VeRL {text}" if text else "every VeRL version"
        super().__init__(lambda: Found(label, text))
        self._defaults = defaults

    def defaults(self, overrides: Sequence[Override]) -> Mapping[str, Data]:
        return self._defaults
