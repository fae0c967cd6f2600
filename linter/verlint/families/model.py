"""What a family is: its stages, the launchers that run them, and what they need."""

from __future__ import annotations

from collections.abc import Mapping

from verlint.record import dataclass, field


@dataclass(frozen=True)
class Record:
    """The comma record that a driver of many runs takes as its argument.

    `launchers` are expressions for the end of the driver's path, `fields` the names of the fields in order, `resumes`
    the pairs of fields that name a checkpoint (run name, step)."""

    launchers: tuple[str, ...]
    fields: tuple[str, ...]
    resumes: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class StageKind:
    """One kind of stage of a family.

    `launchers` are expressions for the end of the launcher's path. `branch` is the branch of the VeRL fork it needs (""
    for any). `saves` are the roles it writes checkpoints of, `resumes` the pairs of options that name a checkpoint (run
    name, step), `records` the comma records that its drivers take.
    """

    name: str
    launchers: tuple[str, ...] = ()
    branch: str = ""
    saves: tuple[str, ...] = ()
    resumes: tuple[tuple[str, str], ...] = ()
    aliases: tuple[str, ...] = ()
    records: tuple[Record, ...] = ()


@dataclass(frozen=True)
class Family:
    """A family of experiments. `verl` is the VeRL version its fork is based on ("" when the fork must be read)."""

    name: str
    title: str
    stages: Mapping[str, StageKind]
    verl: str = ""
    folders: tuple[str, ...] = ()
    checkout: str = ""
    source: str = ""
    notes: Mapping[str, str] = field(default_factory=dict)

    def launchers_in(self, checkout: str) -> str:
        """The folder that the launchers are in, for the path of a checkout: that around the one whose branches are
        switched, the path itself for every other one."""
        outer, _, name = checkout.rstrip("/").rpartition("/")
        return (
            (outer or checkout[:1].strip(self.checkout[:1]) or ".")
            if self.checkout and name == self.checkout
            else checkout
        )

    def stage(self, name: str) -> StageKind | None:
        """The stage of this name or alias."""
        found = self.stages.get(name)
        return found or next((stage for stage in self.stages.values() if name in stage.aliases), None)


def stages(*kinds: StageKind) -> Mapping[str, StageKind]:
    """Stages by name, in the order of the experiment."""
    return {kind.name: kind for kind in kinds}
