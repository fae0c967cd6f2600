"""Staged plans of experiments: from options or a spec to commands that nothing here runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from verlint.plan.model import Plan
from verlint.plan.options import PlanError as PlanError


def spec_of(family: str, track: str, stage: str, options: Mapping[str, str]) -> dict[str, Any]:
    """The spec that the options stand for. Raises PlanError with what is allowed."""
    from verlint.plan.draft import Draft
    from verlint.plan.wish import make_wish

    return Draft(make_wish(family, track, stage, options)).spec()


def plan_of(
    spec: Mapping[str, Any],
    stage: str = "",
    intended: tuple[str, ...] | None = None,
    checks: tuple[str, ...] = (),
    notes: tuple[str, ...] = (),
    variables: frozenset[str] = frozenset(),
) -> Plan:
    """The plan of a spec, given as plain data. `intended` are the services whose credentials will be given, `checks`
    the calls to make before the first step, `notes` what to say of it beside its own notes, `variables` those that its
    launchers are seen to read."""
    from verlint.plan.staging import SPEC_CHECKS, Staging

    return Staging(spec, variables).plan(stage, intended, checks or SPEC_CHECKS, notes)
