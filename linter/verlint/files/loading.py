"""Paths to loaded files: discovery, reading and the choice of a kind put together, with a reason for every file."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path

from verlint import disk
from verlint.files.discovery import Candidate, discover
from verlint.files.kinds import (
    NO_MARK,
    Choice,
    Kind,
    as_caller,
    calls_any,
    calls_beside,
    classify,
    guess,
    mark_of,
    may_matter,
)
from verlint.files.reader import UTF8_BOM, Unreadable, decode, read_bytes, too_long
from verlint.lazy import pattern
from verlint.record import dataclass, field, replace
from verlint.settings import Settings
from verlint.source import Source


@dataclass(frozen=True)
class Loaded:
    """A file that was read. `path` is where it is on disk (absolute), `named` whether the user gave its name, `bom`
    whether a byte order mark was left out in front of the text."""

    source: Source
    kind: Kind
    path: Path
    named: bool = False
    bom: bool = False


@dataclass(frozen=True)
class Decision:
    """What became of a path, for `--show-files`."""

    shown: str
    kind: Kind
    reason: str

    @property
    def kept(self) -> bool:
        """Whether the file is checked."""
        return self.kind is not Kind.NONE


@dataclass
class Loading:
    """The files of a run, those that gave no text, and a decision for every path met; all sorted by shown path."""

    files: list[Loaded] = field(default_factory=list)
    unreadable: list[Unreadable] = field(default_factory=list)
    decisions: list[Decision] = field(default_factory=list)

    @property
    def skipped(self) -> int:
        """Number of files left out without a finding."""
        told = {problem.path for problem in self.unreadable}
        return sum(not decision.kept and decision.shown not in told for decision in self.decisions)


def load(
    paths: Sequence[str | Path], settings: Settings, *, force_exclude: bool = False, names_are_wishes: bool = True
) -> Loading:
    """Read what `paths` stand for. With `names_are_wishes` a named file is checked whatever it holds; without (the
    names come from a tool, such as a hook that passes every changed file) it needs a mark of VeRL like any other."""
    found = discover(paths, settings, force_exclude=force_exclude)
    loading = Loading(unreadable=list(found.problems))
    loading.decisions += [Decision(skipped.shown, Kind.NONE, skipped.reason) for skipped in found.skipped]
    unmarked: list[Loaded] = []
    for candidate in found.candidates:
        _take(candidate, loading, unmarked, names_are_wishes, settings)
    around = set[str]() if names_are_wishes else _launchers_around(unmarked, settings)
    _take_callers(loading, unmarked, around)
    return _sorted(loading)


def load_text(data: bytes, filename: str, settings: Settings) -> Loading:
    """Standard input as the file `filename` (which need not exist; "" means a launcher without a name)."""
    shown = filename or "<stdin>"
    path = Path.cwd() / (filename or "stdin.sh")
    source = decode(data, shown)
    if isinstance(source, Unreadable):
        return Loading(unreadable=[source])
    choice = classify(filename or "stdin.sh", source.text, named=True)
    if choice.kind is Kind.NONE or (not filename and classify("", source.text).kind is Kind.SPEC):
        kind = Kind.SPEC if choice.kind is not Kind.NONE else Kind.NONE
        choice = Choice(kind, choice.reason)
    if choice.kind is Kind.LAUNCHER and (reason := too_long(source.text)):
        return Loading(unreadable=[Unreadable(shown, reason)])
    loading = Loading(decisions=[Decision(shown, choice.kind, choice.reason)])
    if choice.kind is not Kind.NONE:
        loading.files.append(Loaded(source, choice.kind, path, named=True, bom=data.startswith(UTF8_BOM)))
    return loading


def load_around(seeds: Sequence[Loaded], settings: Settings) -> list[Loaded]:
    """The files of the experiments around some files: drivers, documents and specs that call them, and what they call.
    For a run that got only some files."""
    from verlint.files.around import files_around

    loading = Loading()
    unmarked: list[Loaded] = []
    for candidate in files_around([seed.path for seed in seeds], settings):
        _take(candidate, loading, unmarked, True, settings)
    loading.files += seeds
    _take_callers(loading, unmarked)
    named = {seed.path for seed in seeds}
    return [file for file in loading.files if file.path not in named]


def _launchers_around(unmarked: Sequence[Loaded], settings: Settings) -> set[str]:
    """The launchers that files without a mark of their own seem to call: by that such a file may be one too."""
    named = [file for file in unmarked if file.named]
    return {file.source.path for file in load_around(named, settings) if file.kind is Kind.LAUNCHER} if named else set()


def _take(
    candidate: Candidate, loading: Loading, unmarked: list[Loaded], names_are_wishes: bool, settings: Settings
) -> None:
    shown, named = candidate.shown, candidate.named
    wished = named and names_are_wishes
    if not may_matter(shown) and not named:
        loading.decisions.append(Decision(shown, Kind.NONE, "not a kind of file that verlint reads"))
        return
    if not (named or guess(shown) is not Kind.NONE or _has_shebang(candidate.path)):
        loading.decisions.append(Decision(shown, Kind.NONE, "not a kind of file that verlint reads"))
        return
    data = read_bytes(candidate.path, shown)
    source = data if isinstance(data, Unreadable) else decode(data, shown)
    if isinstance(source, Unreadable):
        _take_unreadable(source, data, loading, wished)
        return
    choice = classify(shown, source.text, named=wished)
    if choice.reason == NO_MARK and settings.launchers and guess(shown) in (Kind.LAUNCHER, Kind.NONE):
        choice = _taught(candidate.path, settings) or choice
    if choice.kind is Kind.LAUNCHER and (reason := too_long(source.text)):
        _take_unreadable(Unreadable(shown, reason), data, loading, wished)
        return
    bom = isinstance(data, bytes) and data.startswith(UTF8_BOM)
    loaded = Loaded(source, choice.kind, candidate.path, named, bom)
    if choice.kind is not Kind.NONE:
        loading.files.append(loaded)
    elif choice.reason == NO_MARK and (kind := as_caller(shown, source.text)) is not Kind.NONE:
        unmarked.append(replace(loaded, kind=kind))
        return
    loading.decisions.append(Decision(shown, choice.kind, choice.reason))


def _taught(path: Path, settings: Settings) -> Choice | None:
    """A shell text that the settings call a launcher is one."""
    if not settings.launchers:
        return None
    from verlint.pathglob import matches

    relative = settings.relative(path)
    glob = next((glob for glob in settings.launchers if matches(glob, relative)), None)
    return None if glob is None else Choice(Kind.LAUNCHER, f"taught in the settings as `{glob}`")


def _take_unreadable(problem: Unreadable, data: bytes | Unreadable, loading: Loading, wished: bool) -> None:
    """Report a file without text when it is asked for, called a launcher or spec, or smells of VeRL; skip others."""
    kind = guess(problem.path)
    smells = isinstance(data, bytes) and bool(mark_of(data.decode("latin-1")))
    if wished or kind in (Kind.LAUNCHER, Kind.SPEC) or smells:
        loading.unreadable.append(problem)
    loading.decisions.append(Decision(problem.path, Kind.NONE, problem.reason))


def _take_callers(loading: Loading, unmarked: list[Loaded], around: AbstractSet[str] = frozenset()) -> None:
    """A shell file without a mark of its own is a launcher when it calls one; the callers of callers too. A document
    or a job is one of ours when it calls a launcher. `around` are launchers that are not loaded."""
    launchers = {file.source.path for file in loading.files if file.kind in (Kind.LAUNCHER, Kind.MAKEFILE)}
    new = launchers | around
    while new:
        taken = [(file, why) for file in unmarked if (why := _why_caller(file, new))]
        seen = {file.source.path for file, _ in taken}
        new = {file.source.path for file, _ in taken if file.kind in (Kind.LAUNCHER, Kind.MAKEFILE)}
        unmarked = [file for file in unmarked if file.source.path not in seen]
        loading.files += [file for file, _ in taken]
        loading.decisions += [Decision(file.source.path, file.kind, why) for file, why in taken]
    loading.decisions += [Decision(file.source.path, Kind.NONE, NO_MARK) for file in unmarked]


def _why_caller(file: Loaded, launchers: AbstractSet[str]) -> str:
    by_name = file.kind in (Kind.PYTHON, Kind.MAKEFILE)
    if called := calls_any(file.source.text, launchers, by_name=by_name):
        return f"calls {called}"
    if file.kind is Kind.LAUNCHER and (made := _makefile_called(file.source.text, launchers)):
        return f"calls {made}"
    beside = calls_beside(file.source.text, launchers) if file.kind is Kind.DOCUMENT else ""
    return f"calls a script beside {beside}" if beside else ""


def _makefile_called(text: str, launchers: AbstractSet[str]) -> str:
    """The first Makefile of ours, where a text calls make."""
    made = [path for path in launchers if guess(path) is Kind.MAKEFILE]
    return min(made) if made and "make " in text and _MAKE.search(text) else ""


_MAKE = pattern(r"(?m)^[^#\n]*\bg?make[ \t]+\S")


def _has_shebang(path: Path) -> bool:
    try:
        return disk.content(path, 2) == b"#!"
    except OSError:
        return True  # let the reader say what is wrong with it


def _sorted(loading: Loading) -> Loading:
    loading.files.sort(key=lambda file: file.source.path)
    loading.unreadable.sort(key=lambda problem: problem.path)
    loading.decisions.sort(key=lambda decision: decision.shown)
    return loading
