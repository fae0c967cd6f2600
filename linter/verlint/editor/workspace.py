"""One open file with the project around it, as the editor has it: what is typed counts, not what is on disk."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from verlint.cli.call import Arguments, read_call
from verlint.cli.check import check as check_loaded
from verlint.cli.main import UsageError
from verlint.experiment.launch import Launch
from verlint.experiment.places import assignments_in, variants_in
from verlint.experiment.project import Project
from verlint.files.loading import Loading, load_around, load_text
from verlint.finding import Finding
from verlint.header import PackError
from verlint.languages.bash.command import Assignment, Command
from verlint.record import dataclass
from verlint.result import Loaded
from verlint.settings import Settings, SettingsError
from verlint.source import Source, Span
from verlint.value import Text


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a command, or the right side of an assignment, at a place of a file."""

    text: Text
    span: Span
    command: Command | None = None
    assignment: Assignment | None = None


class OpenFile:
    """A file with the text of the editor. `path` is relative to the working directory.

    Raises UsageError or SettingsError when the settings around it cannot be used.
    """

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.settings: Settings = read_call(Arguments([path]))
        self.loading: Loading = load_text(text.encode("utf-8", "surrogatepass"), path, self.settings)
        self._project: Project | None = None
        self._findings: list[Finding] | None = None

    @property
    def file(self) -> Loaded | None:
        """The file as it was read; None when it is none that verlint checks."""
        return self.loading.files[0] if self.loading.files else None

    @property
    def source(self) -> Source | None:
        """Its text."""
        return None if self.file is None else self.file.source

    def findings(self) -> list[Finding]:
        """What touches this file, in order; nothing where a rule pack is at fault, which the command line tells."""
        if self._findings is None:
            try:
                self._findings = list(check_loaded(self.loading, self.settings, touched=True).findings)
            except PackError:
                self._findings = []
        return self._findings

    @property
    def project(self) -> Project:
        """The file, and the specs around it, as a project."""
        if self._project is None:
            files = [*self.loading.files, *load_around(self.loading.files, self.settings)]
            self._project = Project(files, self.settings, Path.cwd())
        return self._project

    def launch_at(self, offset: int) -> Launch | None:
        """The launch whose command covers an offset."""
        for command in self._commands():
            place = command.span.in_file()
            if place.source is self.source and place.start <= offset <= place.end:
                launch = self.project.launch(command)
                if launch is not None:
                    return launch
        return None

    def words_at(self, offset: int) -> list[Word]:
        """The words at an offset, the narrowest first: one for each way in which the file is run."""
        found: dict[object, Word] = {}
        for word in self._words():
            place = word.span.in_file()
            if place.source is self.source and place.start <= offset <= place.end:
                found.setdefault((place.start, place.end, word.text.identity()), word)
        return sorted(found.values(), key=lambda word: word.span.end - word.span.start)

    def _commands(self) -> Iterator[Command]:
        if self.source is not None:
            yield from (variant.command for variant in variants_in(self.project, self.source))

    def _words(self) -> Iterator[Word]:
        for command in self._commands():
            for text in command.argv:
                if text.span is not None:
                    yield Word(text, text.span, command=command)
        if self.source is not None:
            for assignment in assignments_in(self.project, self.source):
                if assignment.value is not None:
                    yield Word(assignment.value, assignment.span, assignment=assignment)


def open_file(path: Path, text: str) -> OpenFile | None:
    """The open file, or None when the settings around it are at fault: the command line says what is wrong there."""
    try:
        return OpenFile(os.path.relpath(path), text)
    except (UsageError, SettingsError):
        return None
