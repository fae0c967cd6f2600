"""Parts of a large project, looked at one after the other or by several processes, with the same outcome.

What a process finds comes back pickled. A source is told by what it is of the project, so that all that points into one
file goes on pointing into the same one."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path

from verlint.disk import Gathered, add, gathers
from verlint.experiment.all_files import answers_of
from verlint.experiment.project import Project
from verlint.files.loading import Loaded
from verlint.record import dataclass
from verlint.settings import Settings
from verlint.source import Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

Look: TypeAlias = "Callable[[Project, Sequence[Loaded]], tuple[Any, Project]]"
"""Looks at a part, of the whole and of the part's files: what it finds, and the part."""


@dataclass(frozen=True, slots=True)
class Looked:
    """What was found in a part, and the numbers of the files of other parts that it has followed. What it depends on:
    the `questions` to the disk, those `asked` of all files, and all that was `read` beside the part's own files."""

    outcome: Any
    reached: tuple[int, ...]
    questions: Gathered
    asked: list[list[str]]
    read: list[Source]


class Alone:
    """Looks at the parts in this process."""

    def __init__(self, project: Project, look: Look) -> None:
        self._project = project
        self._look = look
        self._gathers = gathers()
        self._numbers = {id(file.source): number for number, file in enumerate(project.files)}

    def __enter__(self) -> Alone:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def each(self, parts: Sequence[Sequence[int]]) -> Iterator[Looked]:
        """What is found in each of the parts, which are given by the numbers of their files."""
        return map(self.one, parts)

    def one(self, numbers: Sequence[int]) -> Looked:
        """What is found in one part, of which nothing else is kept."""
        questions = Gathered()
        with questions if self._gathers else nullcontext():
            outcome, part = self._look(self._project, [self._project.files[number] for number in numbers])
        reached = tuple(sorted(self._numbers[id(source)] for source in part.reached()))
        read = [source for source in part.tree.sources() if id(source) not in part.kinds]
        looked = Looked(outcome, reached, questions, answers_of(part), read)
        del part
        _let_go()
        return looked


class Workers(Alone):
    """Looks at the parts in several processes."""

    def __init__(self, project: Project, look: Look, jobs: int) -> None:
        super().__init__(project, look)
        from concurrent.futures import ProcessPoolExecutor
        from multiprocessing import active_children

        self._others = set(active_children())
        self._pool = ProcessPoolExecutor(jobs, initializer=_begin, initargs=self.begun_with(look))

    def begun_with(self, look: Look) -> tuple[Any, ...]:
        """What each process is given first."""
        return self._project.files, self._project.settings, self._project.root, look, self._gathers

    def __exit__(self, *_: object) -> None:
        from multiprocessing import active_children

        self._pool.shutdown(wait=False, cancel_futures=True)
        for process in set(active_children()) - self._others:  # also those that an interrupt leaves at work
            process.terminate()

    def each(self, parts: Sequence[Sequence[int]]) -> Iterator[Looked]:
        """What is found in each of the parts, in their order. What a process was looking at when it was killed is
        looked at here, and so is a single part."""
        if len(parts) == 1:
            yield self.one(parts[0])
            return
        from concurrent.futures.process import BrokenProcessPool

        try:
            waiting = [self._pool.submit(_one, numbers) for numbers in parts]
        except BrokenProcessPool:
            waiting = []
        for number, numbers in enumerate(parts):
            try:
                found = waiting[number].result() if waiting else None
            except BrokenProcessPool:
                found = None
            yield self.one(numbers) if found is None else _unpacked(found, self._project)


def workers(project: Project, look: Look, jobs: int, parts: int) -> Alone:
    """Who looks at so many parts: at most `jobs` processes (0: as many as there are processors), or this one."""
    most = min(jobs or _processors(), parts)
    return Workers(project, look, most) if most > 1 else Alone(project, look)


def _processors() -> int:
    """How many processors this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1


def _let_go() -> None:
    """Free what a part was made of: its objects hold each other."""
    import gc

    from verlint.memo import forget

    forget()
    gc.collect()


# ---- in a process of its own

_WORKER: list[Alone] = []


def _begin(files: Sequence[Loaded], settings: Settings, root: Path, look: Look, gathers: bool) -> None:
    import gc
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that waits for this one ends it
    gc.disable()
    gc.freeze()
    alone = Alone(Project(files, settings, root), look)
    alone._gathers = gathers
    _WORKER.append(alone)


def _one(numbers: Sequence[int]) -> bytes:
    alone = _WORKER[0]
    return _packed(alone.one(numbers), alone._project)


def _packed(looked: Looked, project: Project) -> bytes:
    import io
    import pickle

    files = {id(file.source): number for number, file in enumerate(project.files)}
    read = {id(source): path for path, source in project.tree.by_path()}

    class Packer(pickle.Pickler):
        def persistent_id(self, each: object) -> object:
            if not isinstance(each, Source) or each.parent is not None:
                return None
            number = files.get(id(each))
            if number is not None:
                return number
            path = read.get(id(each))
            return None if path is None else (path, each.path, each.text)

    # what was read and is no file of the project goes along, as it may hold suppressions
    others = [source for source in project.tree.sources() if id(source) not in files]
    stream = io.BytesIO()
    Packer(stream, protocol=pickle.HIGHEST_PROTOCOL).dump((looked, others))
    return stream.getvalue()


def _unpacked(packed: bytes, project: Project) -> Looked:
    import io
    import pickle

    class Unpacker(pickle.Unpickler):
        def persistent_load(self, each: Any) -> Source:
            if isinstance(each, int):
                return project.files[each].source
            path, shown, text = each
            return project.tree.adopted(path, shown, text)

    looked, _ = Unpacker(io.BytesIO(packed)).load()
    assert isinstance(looked, Looked)
    add(looked.questions)
    return looked
