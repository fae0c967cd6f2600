"""Readers of a run that no stage is, beside a stage whose run has nearly that name and that nobody reads."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from verlint.experiment.alike import alike
from verlint.experiment.handovers import links_of
from verlint.experiment.stage import Experiment, Stage
from verlint.experiment.stage_settings import Setting, setting
from verlint.families.sharing import HANDOVERS, Handover
from verlint.record import dataclass
from verlint.value import Text


@dataclass(frozen=True, slots=True)
class Misnamed:
    """`consumer` reads, by the setting `by`, what a run `name` would make; `producer` makes such a thing as `near`.
    `version` says that the names differ in numbers only, as those of an earlier session do."""

    consumer: Stage
    by: Setting
    kind: Handover
    producer: Stage
    name: str
    near: str
    version: bool


def misnamed(experiment: Experiment) -> Iterator[Misnamed]:
    """The readers of a driver or document, in order."""
    if experiment.is_spec:
        return
    links = links_of(experiment)
    read = {id(link.producer) for link in links}
    for consumer in experiment.stages:
        kinds = [
            each
            for each in HANDOVERS.get(consumer.family, ())
            if each.consumer == consumer.kind and not each.checkpoint and each.option != "exp_name"
        ]
        for option in dict.fromkeys(each.option for each in kinds):
            by = setting(consumer, option)
            if by is None or not by.written:
                continue
            if any(link.consumer is consumer and link.kind.option == option for link in links):
                continue
            makers = {each.producer: each for each in kinds if each.option == option}
            before = [stage for stage in experiment.stages if stage.order < consumer.order and stage.kind in makers]
            found = _like(by, [stage for stage in before if id(stage) not in read])
            if found is not None:
                producer, name, near = found
                version = re.sub(r"\d+", "#", name) == re.sub(r"\d+", "#", near)
                yield Misnamed(consumer, by, makers[producer.kind], producer, name, near, version)


def _like(by: Setting, unread: Sequence[Stage]) -> tuple[Stage, str, str] | None:
    """The stage whose run has nearly a name of a path, with the name as it is there and the right one."""
    path = by.text.known or Text(by.text.parts[1:]).known
    if not path:
        return None  # a name that is not known before the run
    made = {str(name.known): each for each in unread if (name := setting(each, "exp_name")) and name.known}
    for component in path.split("/"):
        near = alike(component, list(made), 1) if component and "." not in component else []
        if near and not component.endswith("_data"):
            return made[near[0]], component, near[0]
    return None
