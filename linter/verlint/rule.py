"""What a rule is, and how rules are found.

A rule is one file under `verlint_rules`: a module docstring (its page), and one function under `@rule`. The function
is a pure generator over the smallest thing it needs. Nothing else is to be edited to add one."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from typing import Any, TypeVar

from verlint.finding import Finding, Severity, Verdict
from verlint.source import Span
from verlint.value import Hop, Text, Value

ERROR, WARNING, INFO = Severity.ERROR, Severity.WARNING, Severity.INFO

Check = Callable[[Any, "Context"], Iterable[Finding]]
F = TypeVar("F", bound=Callable[..., Iterable[Finding]])

THEMES = {
    "0": "reading and the spec",
    "1": "paths and roots",
    "2": "artifacts and checkpoints",
    "3": "branches, checkouts, environments",
    "4": "credentials",
    "5": "evaluation safety",
    "6": "on-policy",
    "7": "VeRL config",
    "8": "families and stages",
    "9": "shell and cluster",
}


@dataclass(frozen=True, slots=True)
class Rule:
    """A numbered rule.

    `on` is the class of the things it is given (`Launch`, `Command`, `Script`, `SpecFile`, …). `families` limits it
    to launches of these families; empty means all. `fixable` is "safe", "unsafe" or "". `doc` is the module
    docstring, whose first line is the summary."""

    code: str
    slug: str
    on: type
    severity: Severity
    check: Check
    doc: str
    module: str
    families: frozenset[str] = frozenset()
    since: str = "0.1"
    aliases: tuple[str, ...] = ()
    fixable: str = ""

    @property
    def summary(self) -> str:
        """First line of the docstring, without its final full stop."""
        return self.doc.strip().splitlines()[0].rstrip(".")

    @property
    def theme(self) -> str:
        """What the hundred of the code is about."""
        return THEMES[self.code[2]]

    def names(self) -> tuple[str, ...]:
        """Everything a user may call it: code, slug, old names."""
        return (self.code, self.slug, *self.aliases)


@dataclass(frozen=True)
class Context:
    """What a rule needs to make findings: its own metadata and options, and the project it looks at.

    `project` is the engine's view of all that was loaded (its public methods answer questions across files);
    `options` are the rule's settings (`[rules.VL101] allow = [...]`)."""

    rule: Rule
    project: Any
    options: Mapping[str, Any] = field(default_factory=dict)

    def fail(
        self,
        at: Span | Value | Text,
        message: str,
        *,
        value: str = "",
        hops: tuple[Hop, ...] | None = None,
        near: str = "",
        help: str = "",
        severity: Severity | None = None,
    ) -> Finding:
        """A finding that is certain. `at` gives the place and, for values and texts, the provenance and the shown
        value."""
        return self._finding(Verdict.FAIL, at, message, value, hops, near, help, "", severity)

    def unsure(
        self,
        at: Span | Value | Text,
        message: str,
        *,
        verify: str,
        value: str = "",
        hops: tuple[Hop, ...] | None = None,
        near: str = "",
        help: str = "",
        severity: Severity | None = None,
    ) -> Finding:
        """A finding that cannot be decided here; `verify` is the command that settles it on the target host."""
        return self._finding(Verdict.UNSURE, at, message, value, hops, near, help, verify, severity)

    def _finding(
        self,
        verdict: Verdict,
        at: Span | Value | Text,
        message: str,
        value: str,
        hops: tuple[Hop, ...] | None,
        near: str,
        help: str,
        verify: str,
        severity: Severity | None,
    ) -> Finding:
        span, shown, way = _place(at)
        return Finding(
            code=self.rule.code,
            slug=self.rule.slug,
            severity=severity or self.rule.severity,
            verdict=verdict,
            message=message,
            span=span,
            value=value or shown,
            hops=way if hops is None else hops,
            near=near,
            help=help,
            verify=verify,
        )


def _place(at: Span | Value | Text) -> tuple[Span | None, str, tuple[Hop, ...]]:
    if isinstance(at, Value):
        return at.span, f"{at.key} = {at}" if at.key else str(at), at.hops
    if isinstance(at, Text):
        return at.span, at.shown, at.trail()
    return at, "", ()


def rule(
    code: str,
    slug: str,
    *,
    on: type,
    severity: Severity,
    families: Iterable[str] = (),
    since: str = "0.1",
    aliases: tuple[str, ...] = (),
    fixable: str = "",
) -> Callable[[F], F]:
    """Declare the function below as the check of a rule. The module docstring is its page."""

    def declare(check: F) -> F:
        module = importlib.import_module(check.__module__)
        check.__dict__["verlint_rule"] = Rule(
            code=code,
            slug=slug,
            on=on,
            severity=severity,
            check=check,
            doc=module.__doc__ or "",
            module=check.__module__,
            families=frozenset(families),
            since=since,
            aliases=aliases,
            fixable=fixable,
        )
        return check

    return declare


class UnknownRule(ValueError):
    """A name that no rule has; `near` holds similar names."""

    def __init__(self, name: str, near: list[str]) -> None:
        hint = f" (did you mean {', '.join(near)}?)" if near else ""
        super().__init__(f"unknown rule {name!r}{hint}")
        self.name = name
        self.near = near


@cache
def load_rules(package: str = "verlint_rules") -> tuple[Rule, ...]:
    """All rules of a package, by code: every module `vlNNN_*.py` in any of its folders."""
    found: dict[str, Rule] = {}
    root = importlib.import_module(package)
    for info in pkgutil.walk_packages(root.__path__, package + "."):
        if not info.name.rsplit(".", 1)[-1].startswith("vl"):
            continue
        module = importlib.import_module(info.name)
        for declared in (getattr(item, "verlint_rule", None) for item in vars(module).values()):
            if declared is None or declared.module != info.name:
                continue
            if declared.code in found:
                raise RuntimeError(f"{declared.code} is declared twice: {found[declared.code].module}, {info.name}")
            found[declared.code] = declared
    return tuple(found[code] for code in sorted(found))


def find_rule(name: str) -> Rule:
    """The rule with this code, slug or alias. Raises UnknownRule with similar names."""
    wanted = name.strip().lower()
    names = {each.lower(): rule for rule in load_rules() for each in rule.names()}
    if wanted in names:
        return names[wanted]
    raise UnknownRule(
        name, [near.upper() if near.startswith("vl") else near for near in get_close_matches(wanted, names)]
    )


def match_rules(selector: str) -> list[Rule]:
    """The rules a selector means: a code prefix (`VL`, `VL4`, `VL40`), a code, a slug, an alias, or `ALL`.

    Raises UnknownRule when it means none.
    """
    text = selector.strip()
    if text.upper() == "ALL":
        return list(load_rules())
    matches = [rule for rule in load_rules() if text.upper().startswith("VL") and rule.code.startswith(text.upper())]
    return matches or [find_rule(text)]


def iterate(rules: Iterable[Rule], subject: object) -> Iterator[Rule]:
    """The rules that look at things of the subject's class."""
    return (rule for rule in rules if isinstance(subject, rule.on))
