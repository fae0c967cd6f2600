"""What stands in one file: the commands and assignments of all scripts of a project, by the file they are written
in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from verlint.experiment.project import Project
from verlint.experiment.script import Script
from verlint.experiment.variants import Variant
from verlint.files.kinds import Kind
from verlint.files.loading import Loaded
from verlint.languages.bash.command import Assignment, Command
from verlint.memo import WeakKeyDictionary, by_identity
from verlint.record import dataclass, field
from verlint.source import Source, Span
from verlint.value import Hole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from verlint.languages.jobs.job import Job, Mount

_KNOWN: WeakKeyDictionary[Project, Mapping[int, _Written]] = WeakKeyDictionary()
_CALLED: WeakKeyDictionary[Project, Mapping[int, list[Source]]] = WeakKeyDictionary()

_SCRIPTS: WeakKeyDictionary[Project, dict[int, list[Script]]] = WeakKeyDictionary()


@dataclass
class _Written:
    variants: list[Variant] = field(default_factory=list)
    assignments: list[Assignment] = field(default_factory=list)
    by_name: dict[str, list[Assignment]] = field(default_factory=dict)


def variants_in(project: Project, source: Source) -> Sequence[Variant]:
    """The commands written in a file, as every way of starting them gives them; by place."""
    return _of(project, source).variants


def assignments_in(project: Project, source: Source) -> Sequence[Assignment]:
    """The assignments written in a file, each distinct result once; by place."""
    return _of(project, source).assignments


def assignments_by_name(project: Project, source: Source) -> Mapping[str, Sequence[Assignment]]:
    """The same, by the name that gets a value."""
    return _of(project, source).by_name


def scripts_in(project: Project, source: Source) -> Sequence[Script]:
    """The scripts of a file: the launcher, the fences of a document, the jobs of a job file."""
    found = _SCRIPTS.get(project)
    if found is None:
        found = _SCRIPTS[project] = {}
        for script in project.scripts:
            found.setdefault(id(script.source), []).append(script)
    return found.get(id(source), ())


def commands_in(project: Project, file: Loaded) -> list[Command]:
    """The commands written in a file, as every way of starting them gives them, and in the files it calls that are not
    looked at themselves; of a spec those of its `run` texts."""
    if file.kind is not Kind.SPEC:
        sources = [file.source, *only_called(project, file.source)]
        return [variant.command for source in sources for variant in variants_in(project, source)]
    from verlint.experiment.spec_runs import commands_of_run

    specs = [each.spec for each in project.specs if each.source is file.source and each.spec is not None]
    return [
        command for spec in specs for stage in spec.stages.values() for command in commands_of_run(stage, project.tree)
    ]


def only_called(project: Project, source: Source) -> list[Source]:
    """The files that a script runs or sources and that are not looked at themselves, each with the first script that
    does."""
    found = _CALLED.get(project)
    if found is None:
        found = _CALLED[project] = _collect_called(project)
    return found.get(id(source), [])


def _collect_called(project: Project) -> dict[int, list[Source]]:
    known = {id(file.source) for file in project.files}
    out: dict[int, list[Source]] = {}
    for script in project.scripts:
        for path in script.resolution.paths:
            for event in path.events:
                source = event.span.in_file().source
                if id(source) not in known:
                    known.add(id(source))
                    out.setdefault(id(script.source), []).append(source)
    return out


def job_of(project: Project, command: Command) -> Job | None:
    """The job that runs a command, None for a command of a script."""
    sites = project.sites.get(command.span.order(), ())
    return next((each.entry.job for each in sites if each.command is command and each.entry.job is not None), None)


def mount_of(project: Project, command: Command, path: str) -> Mount | None:
    """The folder, filled or shared by the platform, that a path of a job's command lies in; None for other paths."""
    for variant in project.sites.get(command.span.order(), ()):
        if variant.command is command and variant.entry.job is not None:
            return variant.entry.job.mount(path)
    return None


def within(inner: Span, outer: Span) -> bool:
    """Whether a range lies in another one of the same file."""
    inner, outer = inner.in_file(), outer.in_file()
    return inner.source is outer.source and outer.start <= inner.start and inner.end <= outer.end


def _holds_word(text: str, word: str) -> bool:
    """Whether a word stands in a text, and is no part of a longer one."""
    at = text.find(word)
    while at >= 0:
        around = text[at - 1 : at] if at else "", text[at + len(word) : at + len(word) + 1]
        if not any(each.isalnum() or each == "_" for each in around):
            return True
        at = text.find(word, at + 1)
    return False


def replaceable(assignment: Assignment, assignments: Mapping[str, Sequence[Assignment]]) -> bool:
    """Whether the caller has a say in the variable: it is set only when unset, or an option or argument may set it.
    `assignments` are those of its file, by name."""
    guards = [guard.text for guard in assignment.around.guards if assignment.name in guard.text]
    if any(_holds_word(text, assignment.name) for text in guards):
        return True
    others = assignments.get(assignment.name)
    return others is not None and _is_from_outside(others)


@by_identity
def _is_from_outside(assignments: Sequence[Assignment]) -> bool:
    """Whether one of the assignments of a variable gives it what the caller says."""
    for each in assignments:
        if each.value is not None and each.value.parts:
            first = each.value.parts[0]
            if isinstance(first, Hole) or first.overridable:
                return True
    return False


def _of(project: Project, source: Source) -> _Written:
    found = _KNOWN.get(project)
    if found is None:
        found = _KNOWN[project] = _collect(project)
    return found.get(id(source)) or _Written()


def _collect(project: Project) -> dict[int, _Written]:
    out: dict[int, _Written] = {}
    for variants in project.sites.values():
        for variant in variants:
            out.setdefault(id(variant.command.span.in_file().source), _Written()).variants.append(variant)
    seen: set[object] = set()
    for script in project.scripts:
        same: set[int] = set()  # paths that begin alike share what they have in common
        for path in script.resolution.paths:
            for each in path.assignments:
                if id(each) in same:
                    continue
                same.add(id(each))
                value = None if each.value is None else each.value.identity()
                key = (each.span.order(), value, tuple(guard.text for guard in each.around.guards))
                if key not in seen:
                    seen.add(key)
                    out.setdefault(id(each.span.in_file().source), _Written()).assignments.append(each)
    for written in out.values():
        written.assignments.sort(key=lambda each: each.span.order())
        for each in written.assignments:
            written.by_name.setdefault(each.name, []).append(each)
    return out
