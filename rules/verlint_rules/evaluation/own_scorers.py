"""VeRL's own scorers that run what a model wrote: which data they score, and which launches read such data.

Source: `default_compute_score` of `verl/utils/reward_score/__init__.py`, the same in 0.2 to 0.9.1;
`prime_math/grader.py` (`eval` of answers with π or matrices) and `prime_code`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from verlint.experiment.launch import Launch
from verlint.experiment.paths import absolute
from verlint.experiment.tools import CalledTool, called_tool, touched
from verlint.experiment.variants import Variant
from verlint.finding import Finding
from verlint.lazy import pattern
from verlint.record import dataclass
from verlint.rule import Context
from verlint.source import Source, Span
from verlint.value import Value
from verlint_rules.config.view import view_of
from verlint_rules.evaluation.validation import files_of

TYPE_CHECKING = False  # as `typing` says it, without its import
if TYPE_CHECKING:
    from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Scorer:
    """A scorer: its module, what it does with an answer, and what to use instead."""

    module: str
    does: str
    instead: str


_MATH = Scorer(
    "prime_math",
    "calls eval() on them",
    "name a scorer of your own that only parses (custom_reward_function.path), or give the data another data_source",
)
_CODE = Scorer("prime_code", "runs them as programs", "name a sandbox: reward_model.sandbox_fusion.url")
SCORERS: Mapping[str, Scorer] = {
    **dict.fromkeys(
        (
            *("numina_aops_forum", "numina_synthetic_math", "numina_amc_aime", "numina_synthetic_amc"),
            *("numina_cn_k12", "numina_olympiads"),
        ),
        _MATH,
    ),
    **dict.fromkeys(("codecontests", "apps", "codeforces", "taco"), _CODE),
}
"""By the `data_source` of a row."""

_SAID = pattern(r"""["']?data_source["']?\s*[:=]\s*["']([\w-]+)["']""")
Writers: TypeAlias = "dict[tuple[int, int], list[CalledTool]]"

_DATA = ("data.train_files", "data.val_files")
_MANAGERS = ("reward_model.reward_manager", "reward.reward_manager.name")
_OWN = frozenset(["naive", "prime", "dapo"])
"""Reward managers that call the default scorer."""
_SANDBOXES = ("reward_model.sandbox_fusion.url", "reward.sandbox_fusion.url")
_REWARD_MODELS = ("reward_model.enable", "reward.reward_model.enable")


def scored_by_running(variant: Variant, launch: Launch, writers: Writers, ctx: Context) -> Iterator[Finding]:
    """A finding for a launch whose data, as a tool that writes them says, are scored by such a scorer. `writers`
    remembers the tools of each way through a script."""
    if not _writers(variant, writers, ctx) or not _default_scorer(launch):
        return
    sandbox = any(launch[key].given for key in _SANDBOXES)
    for key in _DATA:
        value = launch[key]
        for name, said in _sources_of(value, variant, writers, ctx) if value.given else ():
            scorer = SCORERS[name]
            if scorer is _CODE and sandbox:
                continue
            message = (
                f"answers to data of the source {name} are scored by VeRL's {scorer.module}, which {scorer.does}, "
                "with the rights and credentials of the job"
            )
            yield ctx.fail(value, message, help=scorer.instead).with_related(said, f"data_source {name}")
            return


def _default_scorer(launch: Launch) -> bool:
    """Whether answers are scored by the function of the released VeRL, by their data source."""
    if any(launch[key].given and launch[key].equals(False) is not True for key in _REWARD_MODELS):
        return False
    if any(launch[key].given and str(launch[key]) not in _OWN for key in _MANAGERS):
        return False
    view = view_of(launch)
    return view is not None and view.stock


def _sources_of(value: Value, variant: Variant, writers: Writers, ctx: Context) -> Iterator[tuple[str, Span]]:
    """The data sources that tools called on the way to the launch give to the data of a key."""
    cwd = variant.command.around.cwd
    read = [absolute(path, cwd) for path in files_of(value)]
    for called in _writers(variant, writers, ctx):
        if any(each.path.same_as(path) for each in touched(called) for path in read):
            yield from _said(called.tool.source)


def _writers(variant: Variant, writers: Writers, ctx: Context) -> list[CalledTool]:
    """The tools called in the run that starts the launch which speak of data that are scored so."""
    number = min(variant.paths)
    key = (id(variant.entry), number)
    if key not in writers:
        commands = variant.entry.resolution.paths[number].commands
        tools = (called_tool(command, ctx.project.tree, variant.entry.start) for command in commands)
        writers[key] = [tool for tool in tools if tool is not None and any(_said(tool.tool.source))]
    return writers[key]


def _said(source: Source) -> Iterator[tuple[str, Span]]:
    if "data_source" not in source.text:
        return
    for match in _SAID.finditer(source.text):
        line = source.text.rfind("\n", 0, match.start()) + 1
        if match[1] in SCORERS and not source.text[line:].lstrip().startswith("#"):
            yield match[1], Span(source, match.start(), match.end())
