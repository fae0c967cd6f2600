"""Which entry points each released VeRL has."""

from __future__ import annotations

from collections.abc import Mapping

from verlint.record import dataclass
from verlint.verl.versions import padded


@dataclass(frozen=True, slots=True)
class Entry:
    """A module that can be started: the first and the last release that has it ("" for no end), and what took its place
    or stood there before."""

    first: str = ""
    last: str = ""
    instead: str = ""

    def missing_from(self, version: str) -> bool:
        """Whether a release is without it."""
        key = padded(version)
        return bool(self.first and key < padded(self.first)) or bool(self.last and key > padded(self.last))

    @property
    def words(self) -> str:
        """`0.6.0 to 0.8.0`, `from 0.6.0 on`, `up to 0.7.0`."""
        if self.first and self.last:
            return f"{self.first} to {self.last}" if self.first != self.last else f"{self.first} only"
        return f"from {self.first} on" if self.first else f"up to {self.last}"


ENTRIES: Mapping[str, Entry] = {
    "verl.trainer.fsdp_sft_trainer": Entry(last="0.7.0", instead="verl.trainer.sft_trainer"),
    "verl.trainer.sft_trainer": Entry(first="0.6.0", instead="verl.trainer.fsdp_sft_trainer"),
    "verl.trainer.sft_trainer_ray": Entry(first="0.7.0", instead="verl.trainer.sft_trainer"),
    "verl.trainer.main_generation": Entry(last="0.7.0", instead="verl.trainer.main_generation_server"),
    "verl.trainer.main_generation_server": Entry(first="0.6.0", instead="verl.trainer.main_generation"),
    "verl.trainer.main_ppo_sync": Entry(first="0.8.0", last="0.8.0", instead="verl.trainer.main_ppo"),
    "verl.trainer.main_ppo_v0": Entry(first="0.9.0", instead="verl.trainer.main_ppo"),
    "verl.model_merger": Entry(first="0.4.1", instead="scripts/model_merger.py"),
}
"""Source: the files of the wheels 0.2.0.post2 to 0.9.1; `verl.trainer.main_ppo` and `main_eval` are in all of them."""
