"""Stages that hand something over agree in the settings it depends on.

Experience that was extracted from one game, trajectories with another number of turns, a list of seeds that extraction
did not run: the fork compares none of it. Consolidation then trains the student on situations that its teacher's text
is not about, or stops hours later when it opens a file that is not there.

In OEL, extraction, deployment and consolidation of a round share the game, its turns and the thinking flag; the
experience is as long where it is used as where it was written; and the experience list has the seeds and the limit of
its extraction. In OPCD, experience goes to runs of the same game; one experience file is one that its extraction
writes (its seed, its `extract_LIMIT_samples`, its number); and the type of a system prompt is that of its file. Stages
are joined by the run names in the paths they are given, or by `deps` of a spec. Of three stages the one that stands
alone is reported. Different rounds are the matter of VL802, a generating and a training stage that of VL804.

Fix: give the stage the value of the others, or name the run that fits.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterator

from verlint.experiment.handovers import Link
from verlint.experiment.paths import written_at
from verlint.experiment.spec import step_range
from verlint.experiment.stage import Experiment, Stage
from verlint.experiment.stage_settings import Setting, setting
from verlint.families.sharing import PROMPT_TYPES, SHARED, Shared
from verlint.finding import Finding
from verlint.languages.bash.pieces import flat
from verlint.lazy import pattern
from verlint.record import replace
from verlint.rule import ERROR, Context, rule
from verlint.value import literal
from verlint_rules.families.agreement import Side, called, disagreeing, links_to_judge, of_side, rounds_differ, side

_NOTE = pattern(
    r"(?:^|/)(?P<run>[^/]+)/global_step_(?P<seed>[^/]+)/extract_(?P<limit>[^/]+)_samples/experiences/"
    r"experience_(?P<number>[^/]+)\.txt$"
)
"""Source: microsoft/LMOps oel and opcd, trainer `_validate*`: validation_data_dir/experiences/experience_<k>.txt, with
k from 1 to val_samples_limit; validation_data_dir of the extraction launchers."""


@rule(
    "VL803",
    "setting-mismatch",
    on=Experiment,
    severity=ERROR,
    since="0.1",
    words=("textgame", "system_prompt", "_samples/experiences/"),
)
def check(experiment: Experiment, ctx: Context) -> Iterator[Finding]:
    links = [link for link in links_to_judge(experiment) if not rounds_differ(link)]
    seen: set[object] = set()
    for stage in experiment.stages:
        ours = [link for link in links if link.consumer is stage and link.kind.producer == "extract"]
        notes = (found for link in ours for found in _experience(stage, link.producer, ctx))
        for found in (*_of_stage(stage, links, ctx), *notes, *_prompt_type(stage, experiment, ctx)):
            if found.span is not None and found.span.order() not in seen:  # anchors of a spec hold for several stages
                seen.add(found.span.order())
                yield found


def _of_stage(stage: Stage, links: list[Link], ctx: Context) -> Iterator[Finding]:
    mine = [link for link in links if link.consumer is stage and not link.kind.checkpoint]
    rows = [(row, link) for link in mine for row in SHARED.get(stage.family, ()) if _is_of(row, link)]
    names = dict.fromkeys(name.rpartition("=")[2] for row, _ in rows for name in row.names)
    for name in names:
        yield from _compared(stage, name, rows, ctx)
    if stage.kind == "experience-list":
        yield from _listed(stage, ctx)


def _listed(stage: Stage, ctx: Context) -> Iterator[Finding]:
    """A list that takes a later experience than extraction writes, or a seed that its loop leaves out."""
    use, limit = side(stage, "val_samples_use"), side(stage, "val_samples_limit")
    if use is not None and limit is not None and (use.setting.number or 0) > (limit.setting.number or 10**12):
        message = (
            f"the list takes experience {use.setting.shown} of every seed, extraction writes {limit.setting.shown}: "
            "consolidation stops when it opens the first"
        )
        yield of_side(use, limit, message, f"take one up to {limit.setting.shown}", ctx)
    start, end, step = (side(stage, f"ckpt_{name}") for name in ("start", "end", "step"))
    if start is None or end is None or step is None:
        return
    first, last, stride = start.setting.number, end.setting.number, step.setting.number
    if first is None or last is None or not stride or stride < 0 or last < first or (last - first) % stride == 0:
        return
    message = (
        f"the seeds from {first} by {stride} do not meet {last}: the list names seed "
        f"{first + ((last - first) // stride + 1) * stride}, which extraction does not run"
    )
    yield of_side(end, step, message, f"end at {last - (last - first) % stride}", ctx)


def _experience(stage: Stage, extract: Stage, ctx: Context) -> Iterator[Finding]:
    """One experience file that extraction, told its seeds and its limit, does not write."""
    path, run, limit = setting(stage, "exp_path"), setting(extract, "exp_name"), side(extract, "val_samples_limit")
    match = None if path is None else _NOTE.search(flat(path.text.parts))
    if path is None or match is None or run is None or path.text.slice(*match.span("run")).known != run.known:
        return
    end = "the VeRL fork does not find it, and goes on with an empty text"
    samples, number, seed = (_number(path, match, group) for group in ("limit", "number", "seed"))
    most = limit.setting.number if limit is not None else None
    if limit is not None and most is not None and samples is not None and samples[0] != most:
        message = f"the experience is looked for below extract_{samples[0]}_samples, extraction takes {most}: {end}"
        yield of_side(Side(stage, samples[1]), limit, message, f"write extract_{most}_samples", ctx)
    elif limit is not None and most is not None and number is not None and number[0] > most:
        message = f"experience {number[0]} is read, extraction writes {most} for every seed: {end}"
        yield of_side(Side(stage, number[1]), limit, message, f"take one up to {most}", ctx)
    seeds = _seeds(extract)
    if seed is not None and seeds is not None and seed[0] not in seeds[0]:
        message = f"the experience of seed {seed[0]} is read, extraction runs {seeds[1].shown}: {end}"
        yield of_side(Side(stage, seed[1]), Side(extract, seeds[1]), message, "take a seed that is run", ctx)


def _number(path: Setting, match: re.Match[str], group: str) -> tuple[int, Setting] | None:
    """A number in a path, where it is known, and the path with the place of the number."""
    text = path.text.slice(*match.span(group))
    known = text.known
    if known is None or not known.isdecimal() or len(known) > 9:
        return None
    return int(known), Setting(path.label, path.text, written_at(text) or path.span, path.hops)


def _seeds(extract: Stage) -> tuple[Collection[int], Setting] | None:
    """The seeds that an extraction runs, and where it is told so."""
    parts = [setting(extract, f"ckpt_{name}") for name in ("start", "end", "step")]
    numbers = [each.number for each in parts if each is not None]
    first, last = parts[0], parts[1]
    if len(numbers) == 3 and first is not None and last is not None:
        start, end, stride = numbers
        if start is None or end is None or not stride or stride < 0:
            return None
        return range(start, end + 1, stride), replace(first, text=literal(f"{start} to {end} by {stride}", first.span))
    told = setting(extract, "ckpts") or setting(extract, "ckpt")
    if told is None or told.known is None:
        return None
    one = told.number
    steps = step_range(told.known) if one is None else range(one, one + 1)
    return None if steps is None else (steps, told)


def _is_of(row: Shared, link: Link) -> bool:
    return (row.producer, row.consumer) == (link.kind.producer, link.kind.consumer)


def _compared(stage: Stage, name: str, rows: list[tuple[Shared, Link]], ctx: Context) -> Iterator[Finding]:
    """What a stage and all that it reads from are told for one name."""
    own = side(stage, name)
    if own is None:
        return
    producers: list[Side] = []
    effects: dict[int, str] = {}
    for row, link in rows:
        for each in row.names:
            theirs, _, ours = each.rpartition("=")
            found = side(link.producer, theirs or ours) if ours == name else None
            if found is not None:
                producers.append(found)
                effects[id(found.stage)] = row.effect
    for wrong, right in disagreeing(own, producers):
        producer = right if wrong is own else wrong
        message = (
            f"{called(wrong.stage)} has {wrong.setting.label} `{wrong.setting.shown}`, {called(right.stage)} "
            f"`{right.setting.shown}`: {effects[id(producer.stage)]}"
        )
        yield of_side(wrong, right, message, f"write {right.setting.shown}", ctx)


def _prompt_type(stage: Stage, experiment: Experiment, ctx: Context) -> Iterator[Finding]:
    """A system prompt of one type that is trained or evaluated as another one."""
    if stage.family != "opcd" or not (experiment.root or experiment.is_spec):
        return
    kind, path = setting(stage, "system_prompt_type"), setting(stage, "exp_path")
    if kind is None or path is None or kind.known not in PROMPT_TYPES:
        return
    words = set(re.split(r"[^a-z0-9]+", posixpath.basename(path.text.suffix).lower()))
    others = [each for each in PROMPT_TYPES if each in words and each != kind.known]
    if others and kind.known not in words:
        message = (
            f"the system prompt is that of `{others[0]}`, the data and the scores are those of `{kind.known}`: the "
            "student learns to answer one task as the prompt of another asks"
        )
        yield of_side(
            Side(stage, path), Side(stage, kind), message, f"name the prompt of {kind.known}, or write {others[0]}", ctx
        )
