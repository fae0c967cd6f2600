"""Jobs of job files as scripts of the project: where each begins in the checkout, and how its shells do."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from verlint.experiment.script import Script, folder_of_names
from verlint.files.comments import directives
from verlint.files.job_formats import DSTACK
from verlint.files.kinds import Kind, guess
from verlint.files.tree import Tree
from verlint.languages.bash.replay import Entry
from verlint.languages.bash.syntax import Program
from verlint.languages.jobs.expressions import parse_block
from verlint.languages.jobs.job import WORKSPACE, Block, Job
from verlint.languages.jobs.reading import read_jobs
from verlint.record import replace
from verlint.source import Source
from verlint.value import Hole, Literal, Text

_MARKS = (".git", ".github", ".gitlab-ci.yml", "pyproject.toml", "setup.py")


def job_scripts(source: Source, path: str, tree: Tree, programs: dict[int, Program]) -> Iterator[Script]:
    """A script for every job of a file; `path` is that of the file below the root of the project."""
    of_make = guess(path) is Kind.MAKEFILE
    said = tuple(directives(source, Kind.MAKEFILE if of_make else Kind.JOB))
    if of_make:
        from verlint.languages.make import makefile_jobs

        jobs = tuple(makefile_jobs(source))
    else:
        jobs = read_jobs(source)[1]
    for number, job in enumerate(jobs):
        start = _start(job, source, path, tree)
        home = Text((_home(start, number),))
        beside = posixpath.dirname(path)
        for block in job.blocks:
            programs[id(block.source)] = parse_block(block.source.text, block.opening)
        yield Script(
            source,
            path,
            tuple(block.source for block in job.blocks),
            start or "",
            False,
            tree,
            programs,
            said,
            job,
            tuple(
                None if block.joined else _entry(_with_files(block, beside, tree), start, home) for block in job.blocks
            ),
        )


def _with_files(block: Block, beside: str, tree: Tree) -> Block:
    """A block with the variables of its files, as far as these are at hand. Any other may be in one that is not."""
    given: dict[str, Text] = {}
    for name in block.env_files:
        source = tree.source(posixpath.normpath(posixpath.join(beside, name)))
        if source is not None:
            from verlint.languages.bash.handing_on import read_env_file

            given.update(read_env_file(source, quotes=True)[0])
    return replace(block, environment={**given, **block.environment}) if given else block


def _home(start: str | None, number: int) -> Hole:
    """The folder that a job begins in, as a value."""
    if start is None:
        return Hole(("job folder", number), "PWD", "folder of the job")
    return Hole(("cwd", start), "PWD", "directory the launcher is started in")


def _entry(block: Block, start: str | None, home: Text) -> Entry:
    """How the shell of a block begins."""
    folder: Text | None = None
    inside = start or ""
    if block.folder is None:
        folder = Text((Hole(("job folder", block.source.known_as), "PWD", "folder of the job"),))
    elif start is None:
        folder = Text((*home.parts, Literal("/" + block.folder))) if block.folder else home
    elif block.folder:
        inside = posixpath.normpath(posixpath.join(start, block.folder))
    return Entry(
        start="" if inside == "." else inside,
        name="bash",
        arguments=[],
        environment={"GITHUB_WORKSPACE": home, **block.environment}
        if "GITHUB_ENV" in block.environment
        else dict(block.environment),
        folder=folder,
        options=block.options,
        variables={name: _placed(text, home) for name, text in block.expressions.items()},
    )


def _placed(text: Text, home: Text) -> Text:
    """A value in which the folder of the job is known by its place."""
    if not any(isinstance(part, Hole) and part.key == WORKSPACE for part in text.parts):
        return text
    parts = (home.parts if isinstance(part, Hole) and part.key == WORKSPACE else (part,) for part in text.parts)
    return replace(text, parts=tuple(each for group in parts for each in group))


def _start(job: Job, source: Source, path: str, tree: Tree) -> str | None:
    """The folder below the root of the project that a job begins in, None when it begins elsewhere."""
    own = posixpath.dirname(path)
    if job.start == "./":
        return own
    if job.start is None:
        return None
    if job.start == ".":
        return _repository(own, tree)
    if job.start == "?":
        found = folder_of_names(source, path, tree)
        return found if found is not None or job.format != DSTACK else _repository(own, tree)
    folders = [own]
    while folders[-1]:
        folders.append(posixpath.dirname(folders[-1]))
    places = [posixpath.normpath(posixpath.join(each, job.start)) for each in folders]
    found = next((each for each in places if not each.startswith("..") and tree.is_dir(each)), None)
    return "" if found == "." else found


def _repository(folder: str, tree: Tree) -> str:
    """The root of the repository that a folder lies in: the nearest one with a mark of it, else the folder itself
    without a `.github` part."""
    if ".github" in folder.split("/"):
        pieces = folder.split("/")
        return "/".join(pieces[: pieces.index(".github")])
    above = folder
    while True:
        if any(tree.exists(posixpath.join(above, each)) for each in _MARKS):
            return above
        if not above:
            return folder
        above = posixpath.dirname(above)
