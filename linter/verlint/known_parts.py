"""What was found in parts of a project before, for as long as it would be found again.

A part is known by the code in use, the settings, its files and their texts. What else its findings depend on was noted
when it was looked at: what was asked of the disk and of the environment (`verlint.disk`), of all files
(`verlint.experiment.all_files`), and which files of other parts were read. All of it must be as it was."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from verlint import disk
from verlint.cache.plain import NotPlain, as_data, from_data
from verlint.experiment.all_files import are_answered
from verlint.experiment.project import Project
from verlint.files.loading import Loaded
from verlint.source import Source

TYPE_CHECKING = False  # as `typing` says it, without its import
if TYPE_CHECKING:
    from typing import Any

    from verlint.cache.store import Store
    from verlint.workers import Looked

KIND = "parts"


class KnownParts:
    """The parts of a project that were looked at before. `code` is what the code in use is known by;
    `is_outcome` says whether what an entry holds is what can be found in a part."""

    def __init__(self, project: Project, store: Store, code: str, is_outcome: Callable[[object], bool]) -> None:
        self._project = project
        self._store = store
        self._is_outcome = is_outcome
        self._numbers = {id(file.source): number for number, file in enumerate(project.files)}
        self._places = {str(file.path): number for number, file in enumerate(project.files)}
        self._answers = disk.Answers()
        self._base = [code, repr(project.settings), str(project.root), disk.here()]

    def find(self, numbers: Sequence[int]) -> Looked | None:
        """What was found in a part, None when it must be looked at. The files are given by their numbers."""
        texts = self._store.get(KIND, self._key(numbers))
        if texts is None or len(texts) != 1:
            return None
        import json

        try:
            asked, of_all, read, found = json.loads(texts[0])
            if not self._answers.are_same(asked) or not are_answered(of_all, self._project):
                return None
            for name in read:
                self._source(name)  # it may hold suppressions
            outcome, reached = from_data(found, self._source)
            numbers_reached = tuple(sorted(self._numbers[id(source)] for source in reached))
        except (NotPlain, ValueError, TypeError, KeyError, RecursionError):
            return None
        if not self._is_outcome(outcome):
            return None
        questions = disk.Gathered()
        for kind, about, answer in asked:
            questions.note(kind, about, answer)
        disk.add(questions)
        from verlint.workers import Looked

        return Looked(outcome, numbers_reached, questions, [], [])

    def each(
        self, parts: Sequence[Sequence[int]], look: Callable[[list[Sequence[int]]], Iterator[Looked]]
    ) -> Iterator[Looked]:
        """What is found in each of the parts; those that are not known are looked at by `look`."""
        known = [self.find(part) for part in parts]
        new = look([part for part, found in zip(parts, known, strict=True) if found is None])
        for part, found in zip(parts, known, strict=True):
            if found is None:
                found = next(new)
                self.keep(part, found)
            yield found

    def keep(self, numbers: Sequence[int], looked: Looked) -> None:
        """Keep what was found in a part, if it can be kept."""
        if not looked.questions.whole or looked.outcome.crashed:
            return
        import json

        tree = self._project.tree
        paths = {id(source): path for path, source in tree.by_path()}

        def apart(value: object) -> Any:
            if not isinstance(value, Source) or value.parent is not None:
                return None
            number = self._numbers.get(id(value))
            if number is not None:
                file = self._project.files[number]
                return ["file", str(file.path), f"{file.kind.value} {_known_by(value)}"]
            path = paths.get(id(value))
            return None if path is None else ["read", path, _known_by(value)]

        try:
            reached = [self._project.files[number].source for number in looked.reached]
            found = as_data((looked.outcome, reached), apart)
            read = [apart(source) for source in looked.read]
        except NotPlain:
            return
        if None in read:
            return
        asked = [[kind, about, answer] for (kind, about), answer in looked.questions.asked.items()]
        try:
            text = json.dumps([asked, looked.asked, read, found], separators=(",", ":"))
        except (ValueError, TypeError, RecursionError):
            return
        self._store.put(KIND, self._key(numbers), [text])

    def _key(self, numbers: Sequence[int]) -> str:
        files = [self._project.files[number] for number in numbers]
        said = [*self._base, *(text for file in files for text in _said(file))]
        return disk.digest("\0".join(said).encode("utf-8", "surrogatepass"))

    def _source(self, name: Any) -> Source:
        """The source that an entry names, if it has the same text. Raises NotPlain."""
        kind, path, known_by = name
        found: Source | None = None
        said = ""
        if kind == "file" and path in self._places:
            file = self._project.files[self._places[path]]
            found, said = file.source, f"{file.kind.value} "
        elif kind == "read" and not self._project.tree.is_loaded(path):
            found = self._project.tree.source(path)
        if found is None or said + _known_by(found) != known_by:
            raise NotPlain(path)
        return found


def _said(file: Loaded) -> tuple[str, ...]:
    return (str(file.path), file.source.path, file.kind.value, str(file.named), str(file.bom), _known_by(file.source))


def _known_by(source: Source) -> str:
    return disk.digest(source.text.encode("utf-8", "surrogatepass"))
