"""ROUGE-L is logged as a diagnostic of GAD, and checkpoints are chosen by it.

GAD learns to write answers that a discriminator cannot tell from the teacher's, not to repeat their words. ROUGE-L
counts common subsequences with one reference, so it prefers the checkpoint that copies, often one of the first, and
it is lower for GAD than for plain distillation although people and judges prefer GAD.

Nothing is said of files of other families in the same project, nor where a file is about none and GAD is only one of
those around it.

Fix: choose by the judged win rate on held-out prompts, or evaluate several checkpoints and report all.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence

from verlint.experiment.places import assignments_in, commands_in
from verlint.experiment.project import Project
from verlint.files.kinds import Kind
from verlint.files.loading import Loaded
from verlint.finding import Finding
from verlint.languages.bash.command import Command
from verlint.lazy import pattern
from verlint.record import dataclass
from verlint.rule import INFO, Context, Pending, rule
from verlint.source import Span

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

_ROUGE = pattern(r"(?i)rouge")
_GAD = pattern(r"(?i)(?:^|[^a-z])gad(?:[^a-z]|$)")
_CHOICE = pattern(
    r"(?i)(?:^|[^a-z])(?:select|selection|best|choose|pick|criterion|rank|monitor|early[-_]?stop(?:ping)?)(?:[^a-z]|$)"
    r"|metric[-_]for|(?:ckpt|checkpoint)s?[-_](?:by|metric)|(?:sort|rank|select|chosen?)[-_]by"
)


Launches: TypeAlias = "frozenset[tuple[str, str]]"
"""Where launches stand, "" for those of specs and configs, and their families."""


def _families_of_launches(project: Project) -> Launches:
    """The launches of a part of the project."""
    written = ((launch.span.in_file().source.path, launch.family) for launch, _ in project.launches)
    return frozenset([*written, *(("", family) for family in project.families)])


@rule(
    "VL514",
    "diagnostic-as-metric",
    on=Loaded,
    severity=INFO,
    since="0.1",
    words=("rouge",),
    survey=_families_of_launches,
)
def check(file: Loaded, ctx: Context) -> Iterator[Finding | Pending]:
    if not _ROUGE.search(file.source.text):
        return
    families = _own_families(file, ctx)
    if families and "gad" not in families:
        return
    found = tuple(_choices(file, ctx))
    if families or "gad" in file.source.path.lower().split("/") or ctx.project.root.name == "gad":
        yield from found
    elif found:
        says = _GAD.search(file.source.path + "\n" + file.source.text) is not None
        yield _OfWhom(file.source.path, says, found)


def _choices(file: Loaded, ctx: Context) -> Iterator[Finding]:
    seen: set[int] = set()
    for span, what in (*_in_shell(file, ctx), *_in_spec(file, ctx)):
        if span.in_file().start not in seen:
            seen.add(span.in_file().start)
            yield ctx.fail(
                span,
                f"{what} chooses by ROUGE-L, which GAD logs only as a diagnostic: it prefers checkpoints that copy",
                help="choose by the judged win rate on held-out prompts",
            )


@dataclass(frozen=True, slots=True)
class _OfWhom(Pending):
    """What is found in a file that is about no family: it counts where GAD is launched, if the file says that it is
    about it (`says`), or the launches nearest to it do."""

    path: str
    says: bool
    found: tuple[Finding, ...]

    def conclude(self, surveys: Sequence[Launches], context: Context) -> Iterator[Finding]:
        launches = frozenset[tuple[str, str]]().union(*surveys)
        if any(family == "gad" for _, family in launches) and (self.says or _among_gad(self.path, launches)):
            yield from self.found


def _own_families(file: Loaded, ctx: Context) -> set[str]:
    """The families of what a file starts, is a part of, or says it is about."""
    source, project = file.source, ctx.project
    found = {script.directive("family") for script in project.scripts if script.source is source}
    for launch, variant in project.launches:
        places = (launch.span, *(call.span for call in variant.command.around.stack))
        if variant.entry.source is source or any(span.in_file().source is source for span in places):
            found.add(launch.family)
    for experiment in project.experiments:
        if experiment.source is source:
            found.update(stage.family for stage in experiment.stages)
    return found - {""}


def _among_gad(path: str, launches: Launches) -> bool:
    """Whether the launches nearest to a file are all of GAD."""
    folder = posixpath.dirname(path)
    while True:
        near = {family for place, family in launches if place and (not folder or place.startswith(f"{folder}/"))}
        if near or not folder:
            return near == {"gad"}
        folder = posixpath.dirname(folder)


def _in_shell(file: Loaded, ctx: Context) -> Iterator[tuple[Span, str]]:
    if file.kind not in (Kind.LAUNCHER, Kind.DOCUMENT, Kind.JOB):
        return
    commands = commands_in(ctx.project, file)
    for at, command in enumerate(commands):
        yield from _chooses(command)
        yield from _sorts(command, commands[at + 1 : at + 6])
    for each in assignments_in(ctx.project, file.source):
        if each.value is not None and _CHOICE.search(each.name) and _ROUGE.search(each.value.known or ""):
            yield each.span, f"{each.name}={each.value.shown}"


def _sorts(command: Command, following: Sequence[Command]) -> Iterator[tuple[Span, str]]:
    """`grep rouge … | sort | tail -1`."""
    at, length = command.pipe
    if command.name not in ("grep", "egrep", "jq", "awk", "rg") or length - at < 3:
        return
    behind = [other.name for other in following if other.pipe[1] == length and other.pipe[0] > at]
    word = next((word for word in command.words if _ROUGE.search(word.shown)), None)
    if word is not None and word.span is not None and "sort" in behind and {"head", "tail"} & set(behind):
        yield word.span, "this pipeline"


def _chooses(command: Command) -> Iterator[tuple[Span, str]]:
    """An option or key that chooses, with ROUGE as its value, or a program that chooses with ROUGE among its words."""
    if command.builtin and command.name != "export":
        return
    words = command.argv
    program = _CHOICE.search(" ".join(word.shown for word in words[:3]).replace("/", " ")) is not None
    for at, word in enumerate(words):
        text = word.shown
        if not _ROUGE.search(text) or word.span is None:
            continue
        name, sign, value = text.partition("=")
        before = words[at - 1].shown if at else ""
        if sign and _ROUGE.search(value) and _CHOICE.search(name):
            yield word.span, f"`{name}`"
        elif not sign and (_CHOICE.search(before) or (program and at >= 1)):
            yield word.span, f"`{before if _CHOICE.search(before) else command.name}`"


def _in_spec(file: Loaded, ctx: Context) -> Iterator[tuple[Span, str]]:
    if file.kind is not Kind.SPEC:
        return
    for spec in (each.spec for each in ctx.project.specs if each.source is file.source):
        for stage in spec.stages.values() if spec is not None else ():
            for name, value in {**stage.args, **stage.overrides, **stage.env}.items():
                if value.span is not None and _CHOICE.search(name) and _ROUGE.search(str(value)):
                    yield value.span, f"`{name}`"
