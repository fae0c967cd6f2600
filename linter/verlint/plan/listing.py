"""What can be planned: families with their tracks and stages, and the presets of a family."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from verlint.families import FAMILIES
from verlint.families.recipes import COOKBOOKS
from verlint.families.recipes.coach import ALIASES
from verlint.plan.wish import tracks_of

STAGES = ("family", "stage", "tracks", "consists of")
PRESETS = ("alias", "run", "mode", "feedback")


def stage_rows() -> Iterator[dict[str, Any]]:
    """Every stage of every family, with its tracks and the kinds of stages it is made of."""
    for book in COOKBOOKS.values():
        for stage, recipes in book.plans.items():
            yield {
                "family": book.family,
                "title": FAMILIES[book.family].title,
                "stage": stage,
                "tracks": list(tracks_of(book, stage)),
                "steps": list(recipes),
            }


def preset_rows() -> Iterator[dict[str, Any]]:
    """The presets of LLM-as-a-Coach."""
    for alias in ALIASES:
        yield {
            "alias": alias.name,
            "run": alias.run,
            "mode": alias.track,
            "feedback": alias.feedback,
            "model": alias.settings["model"],
        }
