"""The lists of a multi-dataset run have one entry for each data set.

LLM-as-a-Coach trains on several data sets at once: `data.train_files` is a list, `data.multidata_ratio` says how much
of a batch comes from each, `trainer.multidata_rm_prompt` which prompt its teacher gets, and
`trainer.multidata_fixed_teacher` whether that teacher stays. The launchers take them as comma lists. A list that is too
short stops the run when its data loaders are made, after the models were loaded; a fixed-teacher list even later, with
an IndexError. A prompt other than `v2` or `empty` is refused, and a ratio that leaves a data set no sample of the batch
makes an empty loader.

Silent for runs on one data set, for lists that are not known before the run, and for calls that leave out the fixed
teachers.

Fix: give every list one entry for each data set, in the same order.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from verlint.experiment.launch import Launch
from verlint.experiment.stage import called_file, options_of
from verlint.finding import Finding
from verlint.languages.bash.command import Command
from verlint.record import dataclass
from verlint.rule import ERROR, Context, rule
from verlint.source import Span
from verlint.value import Hop, Text, whole

_PROMPTS = ("v2", "empty")
"""Source: llm-as-a-coach trainer, `fit`: multidata_rm_prompt only supports 'v2' and 'empty'."""

_KEYS = {
    "use_dataset": "data.train_files",
    "multidata_ratio": "data.multidata_ratio",
    "multidata_rm_prompt": "trainer.multidata_rm_prompt",
    "multidata_fixed_teacher": "trainer.multidata_fixed_teacher",
}
_BATCH = 64
"""Samples of a batch unless `--batch_size` says otherwise. Source: llm-as-a-coach/scripts/train/train_el.sh."""


@dataclass(frozen=True, slots=True)
class _List:
    label: str
    entries: tuple[str, ...]
    span: Span
    hops: tuple[Hop, ...] = ()

    @property
    def value(self) -> str:
        return f"{self.label} = {', '.join(self.entries)}"


@rule("VL805", "list-lengths", on=Command, severity=ERROR, since="0.1", words=("multidata", "use_dataset"))
def check(command: Command, ctx: Context) -> Iterator[Finding]:
    launch = ctx.project.launch(command)
    if launch is not None:
        if not command.around.stack:
            yield from _judged(_of_launch(launch), launch["data.train_batch_size"].number(), command.span, ctx, False)
        return
    called = called_file(command)
    if called is None or not called.path.suffix.endswith("train_el.sh"):
        return
    options = options_of(called.arguments)
    batch = options.get("--batch_size")
    given = str(_BATCH) if batch is None else batch.known or ""
    size = whole(given)
    yield from _judged(_of_options(options), size, command.span, ctx, True)


def _of_options(options: Mapping[str, Text | None]) -> dict[str, _List]:
    found: dict[str, _List] = {}
    for name in _KEYS:
        word = options.get(f"--{name}")
        if word is not None and word.known is not None and word.span is not None:
            found[name] = _List(
                f"--{name}", tuple(word.known.split(",")) if word.known else (), word.span, word.trail()
            )
        elif word is not None:
            return {}
    return found


def _of_launch(launch: Launch) -> dict[str, _List]:
    found: dict[str, _List] = {}
    for name, key in _KEYS.items():
        value = launch[key]
        if value.given and value.decided and isinstance(value.data, list) and value.span is not None:
            found[name] = _List(key, tuple(str(each) for each in value.data), value.span, value.hops)
        elif value.given and not value.decided:
            return {}
    return found


def _judged(
    lists: dict[str, _List], batch: int | float | None, call: Span, ctx: Context, by_options: bool
) -> Iterator[Finding]:
    files = lists.get("use_dataset")
    if files is None or len(files.entries) < 2 or (not by_options and "multidata_ratio" not in lists):
        return
    wanted = len(files.entries)
    for name in ("multidata_ratio", "multidata_rm_prompt", "multidata_fixed_teacher"):
        given = lists.get(name)
        if given is not None and len(given.entries) != wanted:
            found = _short(name, given, wanted, ctx)
            yield found.with_related(files.span, f"{files.label}: {wanted} data sets")
        elif given is None and by_options and name != "multidata_fixed_teacher":
            message = f"{wanted} data sets, but no --{name}: the launcher passes an empty list, and the VeRL fork stops"
            yield ctx.fail(
                files.span, message, value=files.value, hops=files.hops, help=f"give --{name} {wanted} entries"
            )
    yield from _entries(lists, batch, ctx)


def _short(name: str, given: _List, wanted: int, ctx: Context) -> Finding:
    count = len(given.entries)
    late = name == "multidata_fixed_teacher"
    if late and count > wanted:
        effect = "the last ones are not used"
    elif late:
        effect = "the VeRL fork stops with an IndexError when it makes the batch"
    else:
        effect = "the VeRL fork asserts equal lengths when it makes the data loaders"
    entries = "entry" if count == 1 else "entries"
    message = f"{given.label} has {count} {entries} for {wanted} data sets: {effect}"
    return ctx.fail(given.span, message, value=given.value, hops=given.hops, help=f"give it {wanted} entries")


def _entries(lists: dict[str, _List], batch: int | float | None, ctx: Context) -> Iterator[Finding]:
    prompts, ratios = lists.get("multidata_rm_prompt"), lists.get("multidata_ratio")
    for each in prompts.entries if prompts is not None else ():
        if prompts is not None and each not in _PROMPTS:
            message = (
                f"the teacher's prompt `{each}` is none of `v2` and `empty`: the VeRL fork stops with a ValueError"
            )
            yield ctx.fail(prompts.span, message, value=prompts.value, hops=prompts.hops, help="write v2 or empty")
    for each in ratios.entries if ratios is not None else ():
        number = re.fullmatch(r"\d*\.?\d+(?:e-?\d+)?", each)
        if ratios is not None and batch is not None and number is not None and abs(batch * float(each)) < 1:
            message = f"ratio {each} of a batch of {int(batch)} leaves a data set no sample: its loader is empty"
            help = f"take at least {1 / batch:g}" if batch else "give the batch samples"
            yield ctx.fail(ratios.span, message, value=ratios.value, hops=ratios.hops, help=help)
