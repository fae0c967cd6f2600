"""Findings about an override: the place of its key, the word as given, and the way it came."""

from __future__ import annotations

from verlint.finding import Finding, Severity
from verlint.languages.hydra.override import Override
from verlint.rule import Context
from verlint_rules.config.view import View

ASK_VERSION = "pip show verl  # then: verlint check --verl VERSION"
"""The command that settles what hangs on the version in use."""


def report(
    ctx: Context,
    override: Override,
    message: str,
    *,
    certain: bool = True,
    help: str = "",
    severity: Severity | None = None,
    near: str = "",
    verify: str = ASK_VERSION,
    at_value: bool = False,
) -> Finding:
    """A finding at the key of an override, or at its value; not certain: one to be settled by `verify`."""
    place = (override.value.span if at_value else override.key_span) or override.word.span
    value = f"{override.key} = {override.value}" if at_value else override.word.shown
    hops = override.value.hops if at_value else override.word.trail()
    at = place if place is not None else override.word
    if certain:
        return ctx.fail(at, message, value=value, hops=hops, near=near, help=help, severity=severity)
    return ctx.unsure(at, message, value=value, hops=hops, near=near, help=help, severity=severity, verify=verify)


def label_of(view: View) -> str:
    """What to call the VeRL of a view in a message."""
    return view.launch.verl.origin if view.launch.verl is not None else "VeRL"


def lacking(view: View, what: str) -> str:
    """ "VeRL 0.7.1 has no key x": that the VeRL of a view has no such thing."""
    label = view.launch.verl.label if view.launch.verl is not None else "VeRL"
    if label.startswith("every "):
        return f"no{label[5:]} has a {what}"
    return f"{label} has no {what}"
