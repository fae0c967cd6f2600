"""Which stage of an experiment reads what another one makes."""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.stage import Experiment, Stage
from verlint.experiment.stage_settings import Setting, setting
from verlint.memo import WeakKeyDictionary
from verlint.record import dataclass

TYPE_CHECKING = False  # as `typing` says it, without its import
if TYPE_CHECKING:
    from verlint.families.sharing import Handover

_LIST = "experience-list"
"""The kind of stage that only lists what an earlier one made."""


@dataclass(frozen=True)
class Link:
    """A producer and a consumer. `by` is the setting of the consumer that names the producer, None when a spec says so
    in `deps`. `late` says that the producer only comes after the consumer, or waits for it."""

    producer: Stage
    consumer: Stage
    kind: Handover
    by: Setting | None
    late: bool = False


_KNOWN: WeakKeyDictionary[Experiment, list[Link]] = WeakKeyDictionary()
"""Several rules ask for the same ones."""


def links_of(experiment: Experiment) -> list[Link]:
    """The links of an experiment, in the order of the consumers."""
    if not any(stage.family for stage in experiment.stages):
        return []
    found = _KNOWN.get(experiment)
    if found is None:
        from verlint.families.sharing import HANDOVERS

        found = _KNOWN[experiment] = [
            link
            for consumer in experiment.stages
            for kind in HANDOVERS.get(consumer.family, ())
            if kind.consumer == consumer.kind
            for link in _links(experiment, consumer, kind)
        ]
    return found


def _links(experiment: Experiment, consumer: Stage, kind: Handover) -> Iterator[Link]:
    producers = [
        stage
        for stage in experiment.stages
        if stage is not consumer and stage.kind == kind.producer and stage.family == consumer.family
    ]
    if consumer.spec is not None:
        named = _named(consumer)
        lists = [each for each in experiment.stages if each.id in named and each.kind == _LIST]
        named = named.union(*(_named(each) for each in lists))
        for stage in producers:
            if stage.id in named:
                yield Link(stage, consumer, kind, None, late=consumer.id in _before(stage, experiment))
        return
    by = setting(consumer, kind.option)
    if by is None:
        return
    made = [stage for stage in producers if (name := setting(stage, "exp_name")) is not None and by.names(name)]
    before = [stage for stage in made if stage.order < consumer.order]
    if before:
        yield Link(before[-1], consumer, kind, by)
    elif made:
        yield Link(made[0], consumer, kind, by, late=True)


def _named(stage: Stage) -> frozenset[str]:
    """The stages that a stage of a spec takes something from."""
    assert stage.spec is not None
    return frozenset(str(dep.from_stage) for dep in stage.spec.deps.values() if dep.from_stage.decided)


def _before(stage: Stage, experiment: Experiment) -> frozenset[str]:
    """All stages that must run before a stage of a spec."""
    stages = {each.id: each for each in experiment.stages}
    found: set[str] = set()
    waiting = [stage.id]
    while waiting:
        each = stages.get(waiting.pop())
        if each is not None and each.spec is not None:
            needed = _named(each).union(str(need) for need in each.spec.needs if need.decided) - found
            found |= needed
            waiting += needed
    return frozenset(found)
