"""Generating and training stages of OPCD: in which settings the two of a pair differ."""

from __future__ import annotations

import posixpath

from verlint.experiment.handovers import Link
from verlint.experiment.stage import Experiment, Stage
from verlint.families.sharing import PAIR, TRACKS
from verlint_rules.families.agreement import Side, side

_TOP_K = frozenset(["kl_loss_type", "kl_topk"])


def track_of(stage: Stage) -> str:
    """The track of a stage by its launcher, "" when the name does not say it."""
    name = posixpath.basename(stage.launcher)
    return next((track for start, track in TRACKS.items() if name.startswith(start)), "")


def mismatches(consumer: Stage, producer: Stage) -> list[tuple[Side, Side, str]]:
    """The settings that differ for certain: of the training stage, of the generating one, and their name."""
    found: list[tuple[Side, Side, str]] = []
    for name, tracks in PAIR.items():
        if tracks and track_of(consumer) not in tracks:
            continue
        mine, theirs = side(consumer, name), side(producer, name)
        if mine is None or theirs is None or mine.setting.same_as(theirs.setting) is not False:
            continue
        if name not in _TOP_K or _needs_indices(consumer):
            found.append((mine, theirs, name))
    return found


def meant_instead(link: Link, experiment: Experiment) -> Stage | None:
    """The generating stage that a training stage was meant to name, when it names another one: nothing differs from
    it, while several settings differ from the one that is named."""
    if link.by is None or len(mismatches(link.consumer, link.producer)) < 2:
        return None
    for stage in experiment.stages:
        same_kind = (stage.family, stage.kind) == (link.producer.family, link.producer.kind)
        fits = same_kind and stage is not link.producer and track_of(stage) == track_of(link.consumer)
        if fits and not mismatches(link.consumer, stage):
            return stage
    return None


def _needs_indices(stage: Stage) -> bool:
    """Whether a training stage reads saved top-k indices, which it does with the full KL only."""
    kind = side(stage, "kl_loss_type")
    return kind is None or kind.setting.known in (None, "full")
