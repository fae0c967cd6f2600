"""Calls of launchers and tools, with the options that these take."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase

from verlint.experiment.launch import HYDRA_OPTIONS, Launch
from verlint.experiment.paths import in_tree
from verlint.experiment.project import Project
from verlint.experiment.stage import Called, Experiment, Stage, called_file
from verlint.experiment.tools import CalledTool, called_tool
from verlint.experiment.variants import Variant
from verlint.files.kinds import SHELL_SUFFIXES, Kind
from verlint.files.loading import Loaded
from verlint.languages.bash.command import Command
from verlint.languages.bash.options import option_case
from verlint.languages.bash.syntax import Assign, CaseArm, Param, Simple, Word
from verlint.languages.bash.walk import literal_word, walk
from verlint.memo import WeakKeyDictionary, by_identity
from verlint.record import dataclass
from verlint.source import Source, Span
from verlint.value import Text
from verlint_rules.shell.call_words import called_source, program_of_source

TYPE_CHECKING = False  # as `typing` says it, without its import
if TYPE_CHECKING:
    from verlint_rules.shell.argument_loops import ArgumentLoop

ENDS = frozenset(["exit", "return", "usage", "die", "help", "print_usage", "show_help", "error", "fail", "false"])
"""Commands that say in an arm of an argument loop that the call is wrong."""
_HYDRA_FLAGS = frozenset(
    ["--multirun", "-m", "--info", "-i", "--help", "-h", "--hydra-help", "--version", "--run", "-r", "--resolve",
     "--shell-completion", "-sc", "--experimental-rerun"]
)  # fmt: skip
"""Options of a Hydra program without a value. Source: hydra-core 1.3 `hydra/_internal/utils.py`."""


@dataclass(frozen=True, slots=True)
class LauncherCall:
    """A call of a launcher that reads its options in a loop."""

    loop: ArgumentLoop
    called: Called
    variant: Variant


def launcher_call(project: Project, variant: Variant) -> LauncherCall | None:
    """The call of a launcher of the project, when it has one argument loop of the usual shape."""
    called = called_file(variant.command)
    source = None if called is None else launcher_source(project, variant, called)
    loop = None if source is None else loop_of(project, source)
    return None if loop is None or called is None else LauncherCall(loop, called, variant)


def launcher_source(project: Project, variant: Variant, called: Called) -> Source | None:
    """The text of the shell script that a command calls. The reader of a document may have gone into a clone: then it
    is looked for below the folder of the document."""
    source = called_source(project, variant, called)
    if source is None and variant.in_document:
        place = _below_document(project, variant, called)
        source = None if place is None else project.tree.source(place)
    if source is None or not source.path.endswith(tuple(SHELL_SUFFIXES)):
        return None
    return source


def _below_document(project: Project, variant: Variant, called: Called) -> str | None:
    path, folder = called.path.known, in_tree(variant.command.around.cwd)
    if path is None or path.startswith(("/", "..")) or (folder is not None and project.tree.is_dir(folder)):
        return None
    return posixpath.normpath(posixpath.join(variant.entry.start, path))


def tool_call(project: Project, variant: Variant) -> CalledTool | None:
    """The call of a Python tool of the project that is no launch."""
    command = variant.command
    if project.launch(command) is not None:
        return None
    return called_tool(command, project.tree, variant.entry.start)


def is_surely_right(called: CalledTool) -> bool:
    """Whether a quick look shows that a tool takes the words of a call and needs no more."""
    from verlint.languages.python.prescan import surely_takes

    known = [word.known for word in called.words]
    options = {each.partition("=")[0] for each in known if each is not None and each.startswith("-") and len(each) > 1}
    plain = all(each.startswith("--") for each in options) and None not in known[:1]
    return plain and surely_takes(called.tool.source.text, options)


def loop_of(project: Project, source: Source) -> ArgumentLoop | None:
    """The one argument loop of a launcher."""
    from verlint_rules.shell.argument_loops import argument_loops

    loops = argument_loops(source, program_of_source(project, source))
    return loops[0] if len(loops) == 1 else None


def stages_in(file: Loaded, project: Project) -> list[tuple[Experiment, Stage]]:
    """The stages of a spec, each with its experiment; none for other files."""
    if file.kind is not Kind.SPEC:
        return []
    own = [each for each in project.experiments if each.is_spec and each.source is file.source]
    return [(each, stage) for each in own for stage in each.stages]


def launcher_of_stage(experiment: Experiment, stage: Stage, project: Project) -> Source | None:
    """The text of the launcher that a stage of a spec names, when it is in the project."""
    spec = None if experiment.spec is None else experiment.spec.spec
    if spec is None or stage.spec is None:
        return None
    from verlint.experiment.spec_calls import launcher_place

    path = next((project.tree.relative(each.path) for each in project.files if each.source is experiment.source), None)
    place = None if path is None else launcher_place(path, spec, stage.spec, project.tree)
    return None if place is None else place.source


def arms(loop: ArgumentLoop) -> Sequence[CaseArm]:
    """All arms of the loop."""
    found = option_case(loop.node)
    return () if found is None else found[0].arms


def star_arm(loop: ArgumentLoop) -> CaseArm | None:
    """The arm for what no other arm takes."""
    for arm in arms(loop):
        if any(loop.text.text[each.start : each.end] in ("*", "-*", "--*") for each in arm.patterns):
            return arm
    return None


def is_taken(loop: ArgumentLoop, text: str) -> bool:
    """Whether some arm takes a word, be it by a pattern such as `--model=*`."""
    for arm in arms(loop):
        for each in arm.patterns:
            written = loop.text.text[each.start : each.end].replace('"', "").replace("'", "")
            if written not in ("*", "-*", "--*") and (written == text or fnmatchcase(text, written)):
                return True
    return False


def collects(loop: ArgumentLoop) -> bool:
    """Whether the arm for unknown words keeps them for later."""
    arm = star_arm(loop)
    return arm is not None and any(isinstance(each, Assign) for each in walk(arm.body))


def refuses(loop: ArgumentLoop) -> bool:
    """Whether the arm for unknown words ends the script."""
    arm = star_arm(loop)
    return arm is not None and any(
        isinstance(each, Simple) and each.words and literal_word(each.words[0]) in ENDS for each in walk(arm.body)
    )


def hands_on(project: Project, loop: ArgumentLoop) -> bool:
    """Whether the launcher uses what is left of its arguments behind the loop."""
    nodes = program_of_source(project, loop.text).nodes
    return any(
        isinstance(each, Param) and each.name in ("@", "*", "1", "2") and each.start > loop.node.end for each in nodes
    )


_INSIDE: WeakKeyDictionary[Project, Mapping[tuple[str, int, int], list[Command]]] = WeakKeyDictionary()


def within_call(project: Project, call: LauncherCall) -> list[Command]:
    """The commands that a call leads to, as that call starts them."""
    found = _inside(project).get(call.variant.command.span.order(), [])
    if found or not call.variant.in_document or _below_document(project, call.variant, call.called) is None:
        return found
    from verlint.experiment.spec_calls import LauncherPlace, commands_of

    here = LauncherPlace(call.loop.text, call.variant.entry.start, call.called.path.known or "")
    return commands_of(here, list(call.called.arguments), project.tree, project.programs)


def _inside(project: Project) -> Mapping[tuple[str, int, int], list[Command]]:
    """The commands of called scripts, by the place of each call on the way to them."""
    known = _INSIDE.get(project)
    if known is None:
        found: dict[tuple[str, int, int], list[Command]] = {}
        for variants in project.sites.values():
            for variant in variants:
                for place in dict.fromkeys(each.span.order() for each in variant.command.around.stack):
                    found.setdefault(place, []).append(variant.command)
        known = _INSIDE[project] = found
    return known


def is_hydra_option(text: str) -> bool:
    """Whether a word is an option of Hydra itself."""
    name = text.partition("=")[0]
    return name in HYDRA_OPTIONS or name in _HYDRA_FLAGS


@by_identity
def variables(loop: ArgumentLoop) -> dict[str, str]:
    """The variable that takes the value of each option, by the option's longest name."""
    found: dict[str, str] = {}
    for option in loop.options:
        for node in walk(option.arm.body):
            if isinstance(node, Assign) and isinstance(node.value, Word) and _is_second(node.value):
                found.setdefault(max(option.names, key=len), node.name)
    return found


def _is_second(word: Word) -> bool:
    params = [each for each in walk(word) if isinstance(each, Param)]
    return len(params) == 1 and params[0].name == "2" and not params[0].op.endswith(("-", "="))


def file_name(source: Source) -> str:
    """The name of a file without its folders."""
    return source.path.rsplit("/", 1)[-1]


def written_place(word: Text) -> Span | None:
    """Where an option is written: in the call, however many launchers hand it on."""
    first = next((part.span for part in word.parts if part.span is not None), None)
    return first or word.span


def launches_within(project: Project, call: LauncherCall) -> list[Launch]:
    """The launches that a call leads to."""
    return [launch for each in within_call(project, call) if (launch := project.launch(each)) is not None]
