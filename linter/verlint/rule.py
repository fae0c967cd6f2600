"""What a rule is, and how rules are loaded.

A rule is one file under `verlint_rules`: a module docstring (its page), and one function under `@rule`. The function
is a pure generator over the smallest thing it needs. Nothing else is to be edited to add one."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence

from verlint.finding import Finding, Severity, Verdict
from verlint.header import OWN_LETTERS, OWN_PACKAGE, Header, PackError, find_header, headers, match_headers
from verlint.header import UnknownRule as UnknownRule
from verlint.record import dataclass, field
from verlint.source import Span
from verlint.value import MAY_SET, Hop, Text, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias, TypeVar

    F = TypeVar("F", bound=Callable[..., "Iterable[Finding | Pending]"])

Check: TypeAlias = "Callable[[Any, Context], Iterable[Finding | Pending]]"

ERROR, WARNING, INFO = Severity.ERROR, Severity.WARNING, Severity.INFO


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


class Pending:
    """What a rule can judge only when all parts of a large project were looked at. It may come from another process, so
    it holds plain data, and no more of it than is needed."""

    __slots__ = ()

    def conclude(self, surveys: Sequence[Any], context: Context) -> Iterable[Finding]:
        """The findings, from what the rule's `survey` says of each part."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Rule:
    """A numbered rule.

    `on` is the class of the things it is given (`Launch`, `Command`, `Script`, `SpecFile`, …). `families` limits it
    to launches of these families, or to specs and other experiments with a stage of them; empty means all. `fixable` is
    "safe", "unsafe" or "". `words`, in lower case, are texts one of which must stand in some file of the project, or in
    its path, for the rule to have anything to say; empty means that it may always have. Comments in prose of launchers
    (`# words`) do not count for the rules that come with verlint. `options` are the settings it takes, each with its
    default, whose type a given one must have. `doc` is the module docstring, whose first line is the summary. `survey`
    gathers of a part of the project, as plain data, what the `Pending` findings of the rule must know of
    all parts."""

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
    words: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    survey: Callable[[Any], Any] | None = None

    @property
    def summary(self) -> str:
        """First line of the docstring, without its final full stop."""
        return self.doc.strip().splitlines()[0].rstrip(".")

    @property
    def theme(self) -> str:
        """What the hundred of the code is about; of a pack, which pack."""
        return THEMES[self.code[2]] if self.is_own else f"pack {self.module.partition('.')[0]}"

    @property
    def is_own(self) -> bool:
        """Whether it comes with verlint, and not with a pack."""
        return self.code.startswith(OWN_LETTERS)

    @property
    def subject(self) -> str:
        """Name of the class of the things it is given."""
        return self.on.__name__

    def names(self) -> tuple[str, ...]:
        """Everything a user may call it: code, slug, old names."""
        return (self.code, self.slug, *self.aliases)


@dataclass(frozen=True)
class Context:
    """What a rule needs to make findings: its own metadata and options, and the project it looks at.

    `project` is the engine's view of all that was loaded (its public methods answer questions across files);
    `options` are the rule's settings (`[rules.VL101] allow = [...]`), those that are not given with their default."""

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
        value. It is unsure where a file that is not here, and is sourced on the way, may set another value."""
        way = _place(at)[2] if hops is None else hops
        command = next((hop.note.removesuffix(MAY_SET) for hop in way if hop.note.endswith(MAY_SET)), "")
        verdict, verify = (Verdict.UNSURE, look_into(command)) if command else (Verdict.FAIL, "")
        return self._finding(verdict, at, message, value, way, near, help, verify, severity)

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


def look_into(command: str) -> str:
    """How to see what a command sets, `source FILE` or `eval "$(…)"`."""
    name, _, rest = command.partition(" ")
    return f"cat {rest}" if name == "source" else f"echo {rest}" if name == "eval" else command


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
    words: tuple[str, ...] = (),
    options: Mapping[str, Any] | None = None,
    survey: Callable[[Any], Any] | None = None,
) -> Callable[[F], F]:
    """Declare the function below as the check of a rule. The module docstring is its page."""

    def declare(check: F) -> F:
        check.__dict__["verlint_rule"] = Rule(
            code=code,
            slug=slug,
            on=on,
            severity=severity,
            check=check,
            doc=sys.modules[check.__module__].__doc__ or "",
            module=check.__module__,
            families=frozenset(families),
            since=since,
            aliases=aliases,
            fixable=fixable,
            words=words,
            options=options or {},
            survey=survey,
        )
        return check

    return declare


def load_rule(header: Header | Rule) -> Rule:
    """The rule that a header speaks of: its module is imported. Raises PackError for a rule of a pack that is not what
    its header says, or has none that can be imported."""
    if isinstance(header, Rule):
        return header
    if header.package == OWN_PACKAGE:
        return _imported(header.module)
    try:
        rule = _imported(header.module)
    except (Exception, SystemExit) as error:
        raise PackError(f"{header.module} cannot be imported: {type(error).__name__}: {error}") from error
    if (rule.code, rule.slug, rule.subject) != (header.code, header.slug, header.subject):
        raise PackError(f"{header.module} declares {rule.code} {rule.slug} in a way that cannot be read from its file")
    return rule


def _imported(module: str) -> Rule:
    """The rule that a module declares."""
    __import__(module, fromlist=["check"])
    names = vars(sys.modules[module])
    for item in (names.get("check"), *names.values()):  # nearly all are called so, and a look at all takes its time
        declared = getattr(item, "verlint_rule", None)
        if isinstance(declared, Rule) and declared.module == module:
            return declared
    raise RuntimeError(f"{module} declares no rule")


def load_rules() -> tuple[Rule, ...]:
    """All rules of this run, by code: our own, and those of the packs in use."""
    return tuple(load_rule(header) for header in headers())


def find_rule(name: str) -> Rule:
    """The rule with this code, slug or alias. Raises UnknownRule with similar names."""
    return load_rule(find_header(name))


def match_rules(selector: str) -> list[Rule]:
    """The rules a selector means, see `match_headers`. Raises UnknownRule when it means none."""
    return [load_rule(header) for header in match_headers(selector)]
