"""The words of a command as they are written, beside what became of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from verlint.experiment.paths import absolute, in_tree
from verlint.experiment.project import Project
from verlint.experiment.script import Script
from verlint.experiment.stage import Called, called_file
from verlint.experiment.variants import Variant
from verlint.files.kinds import SHELL_SUFFIXES
from verlint.languages.bash.command import Command
from verlint.languages.bash.parser import parse
from verlint.languages.bash.syntax import Program
from verlint.lazy import pattern
from verlint.record import dataclass
from verlint.source import Source, Span
from verlint.value import Hole, Literal, Text

TYPE_CHECKING = False  # as `typing` says it, without its import
if TYPE_CHECKING:
    from verlint_rules.shell.argument_loops import ArgumentLoop

_BARE = pattern(r"\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\})")


@dataclass(frozen=True)
class Written:
    """A word as written, and the arguments that it became: none, one or several."""

    span: Span
    became: tuple[Text, ...]

    @property
    def variable(self) -> str:
        """The name in a bare `$NAME` or `${NAME}`, "" for any other word."""
        found = _BARE.fullmatch(self.span.text)
        return (found[1] or found[2]) if found is not None else ""


def written_words(command: Command) -> list[Written]:
    """All words of a command, in order."""
    argv = command.argv
    out: list[Written] = []
    end = 0
    for span in command.raw:
        first = end
        while end < len(argv) and _is_within(argv[end].span, span):
            end += 1
        out.append(Written(span, argv[first:end]))
    return out if end == len(argv) else []


def spread_words(command: Command) -> list[Written]:
    """All words of a command as `written_words` gives them, but for each one that becomes several those that stand in
    an array of the same text, at their places there."""
    return [each for word in written_words(command) for each in _spread(word)]


def _spread(word: Written) -> Iterator[Written]:
    if len(word.became) < 2:
        yield word
        return
    for text in word.became:
        parts = [part for part in text.parts if not (isinstance(part, Literal) and not part.text)]
        place = parts[0].span if len(parts) == 1 and isinstance(parts[0], Literal) else None
        here = place is not None and place.source is word.span.source and place.text == text.known
        yield Written(place if here and place is not None else word.span, (text,))


def _is_within(place: Span | None, word: Span) -> bool:
    return place is not None and place.source is word.source and word.start <= place.start < word.end


def sites_in(variants: Iterable[Variant]) -> Iterator[list[Variant]]:
    """The commands of a file place by place, each as all ways of starting it give it."""
    found: dict[tuple[str, int, int], list[Variant]] = {}
    for variant in variants:
        found.setdefault(variant.command.span.order(), []).append(variant)
    yield from found.values()


def is_certain(failing: Sequence[Variant], site: Sequence[Variant]) -> bool:
    """Whether some way of starting the command meets the fault on each of its paths that gets there."""
    return any(_on_all_paths(entry, failing, site) for entry in dict.fromkeys(each.entry for each in failing))


def conditions_of(failing: Sequence[Variant], site: Sequence[Variant]) -> str:
    """Under which undecided conditions the fault is met, in words; "" when there are none to name."""
    entry = failing[0].entry
    met = {number for each in failing if each.entry is entry for number in each.paths}
    reached = {number for each in site if each.entry is entry for number in each.paths}
    ways = {number: entry.resolution.paths[number].conditions for number in sorted(reached)}
    first, *others = ([guard.words for guard in ways[number]] for number in sorted(met))
    always = [words for words in first if all(words in other for other in others)]
    elsewhere = [{guard.words for guard in ways[number]} for number in sorted(reached - met)]
    return " and ".join(dict.fromkeys(words for words in always if not all(words in other for other in elsewhere)))


def called_loop(project: Project, variant: Variant) -> tuple[ArgumentLoop, Called] | None:
    """The argument loop that reads the options of a call of a launcher in the project."""
    called = called_file(variant.command)
    if called is None:
        return None
    source = called_source(project, variant, called)
    if source is None or not source.path.endswith(tuple(SHELL_SUFFIXES)):
        return None
    from verlint_rules.shell.argument_loops import argument_loops

    loops = argument_loops(source, program_of_source(project, source))
    return (loops[0], called) if len(loops) == 1 else None


def called_source(project: Project, variant: Variant, called: Called) -> Source | None:
    """The text of the file that a command calls, when it is in the project."""
    path = in_tree(absolute(called.path, variant.command.around.cwd))
    return None if path is None else project.tree.source(path)


def environment_names(word: Text) -> list[str]:
    """The variables of the environment that a word holds."""
    return [hole.name for hole in word.holes if isinstance(hole.key, tuple) and hole.key[0] == "env"]


def only_hole(word: Text) -> Hole | None:
    """The one unknown that a word is, with nothing around it."""
    rest = [part for part in word.parts if not (isinstance(part, Literal) and not part.text)]
    return rest[0] if len(rest) == 1 and isinstance(rest[0], Hole) else None


def program_of_source(project: Project, source: Source) -> Program:
    """The syntax tree of a text."""
    found = project.programs.get(id(source))
    if found is None:
        found = project.programs[id(source)] = parse(source.text)
    return found


def _on_all_paths(entry: Script, failing: Sequence[Variant], site: Sequence[Variant]) -> bool:
    reached = {number for each in site if each.entry is entry for number in each.paths}
    met = {number for each in failing if each.entry is entry for number in each.paths}
    return bool(reached) and reached <= met
