"""A comment for verlint that takes no finding away.

A suppression that matches nothing hides the next fault that appears in its place, and one with a misspelt code never
worked. A comment without a code (`# verlint: ignore`) takes nothing away on purpose: it would hide faults that nobody
has seen yet. A comment that is neither a suppression nor a known directive is reported for the same reason: what it
asks for does not happen.

Suppressions of rules that are off in a run are left alone.

Fix: delete the comment, or name the rule that it is meant for: `# verlint: ignore[VL203] reason`.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.files.comments import DIRECTIVE_VALUES
from verlint.finding import Finding, Safety
from verlint.rule import WARNING, Context, rule
from verlint.suppress import Fault, SuppressionReport


@rule("VL008", "unused-suppression", on=SuppressionReport, severity=WARNING, fixable="safe")
def check(report: SuppressionReport, ctx: Context) -> Iterator[Finding]:
    hint = f"did you mean {report.near[0]}?" if report.near else ""
    name = report.entry.name if report.entry is not None else ""
    key = f" about {report.entry.key}" if report.entry is not None and report.entry.key else ""
    match report.fault:
        case Fault.UNUSED:
            message, help_ = f"no finding of {name}{key} is left to suppress here", "delete the suppression"
        case Fault.UNKNOWN:
            message, help_ = f"no rule is called {name}", hint or "`verlint rules` lists all rules"
        case Fault.NO_CODE:
            message, help_ = "this suppression names no rule, so it suppresses nothing", "write ignore[CODE] reason"
        case Fault.MALFORMED:
            wrong = _wrong_value(report.suppression.reason)
            message = wrong or "this comment is neither a suppression nor a known directive"
            plain = "write ignore[CODE] reason, file-ignore[CODE] reason, or family=, on-policy=, verl="
            help_ = hint or ("correct the value, or delete the comment" if wrong else plain)
    finding = ctx.fail(report.span, message, help=help_)
    renaming = report.renaming()
    if report.fault in (Fault.UNUSED, Fault.NO_CODE):
        yield finding.with_fix("delete the suppression", report.removal(), safety=Safety.SAFE)
    elif renaming is not None:  # then something is hidden that was shown before
        yield finding.with_fix(f"name {report.near[0]}", renaming, safety=Safety.UNSAFE)
    else:
        yield finding


def _wrong_value(body: str) -> str:
    """What to say of a directive that there is, with a value that it does not take; "" for other texts."""
    name, equals, rest = body.partition("=")
    value = rest.split(" ", 1)[0]
    if not equals or name not in DIRECTIVE_VALUES or value in DIRECTIVE_VALUES[name]:
        return ""
    values = ", ".join(DIRECTIVE_VALUES[name])
    if name == "verl":
        return f"verl={value} names no VeRL: it takes a version, a fork ({values}) or the path of a checkout"
    return f"{name}={value} means nothing: {name} takes {values}"
