"""What a rule says: a finding with its place, value, way and mend."""

from __future__ import annotations

from enum import Enum, IntEnum

from verlint.record import dataclass, replace
from verlint.source import Span
from verlint.value import Hop


class Severity(IntEnum):
    """How bad it is when it is true; a larger number is worse."""

    INFO = 1
    WARNING = 2
    ERROR = 3

    @property
    def label(self) -> str:
        """`error`, `warning` or `info`."""
        return self.name.lower()


class Verdict(Enum):
    """FAIL: it is so. UNSURE: it may be so, and `Finding.verify` settles it on the target host."""

    FAIL = "fail"
    UNSURE = "unsure"


class Safety(Enum):
    """SAFE fixes keep what the author meant; UNSAFE ones may not, and are applied only on demand."""

    SAFE = "safe"
    UNSAFE = "unsafe"


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the characters of a span by a text.

    New lines in a text for an embedded source (a block of a README, of a job) are written without the margin of the
    embedding, and everywhere with a plain line end: the engine puts in what the file has."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Fix:
    """Edits that mend one finding, all or none."""

    title: str
    edits: tuple[Edit, ...]
    safety: Safety


@dataclass(frozen=True, slots=True)
class Related:
    """A second place that explains a finding."""

    span: Span
    label: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One message of one rule.

    `span` is what is wrong; None only where no text exists (an unreadable file), then `path` says where. `value` is
    the resolved value ("data.val_files = /tmp/x.parquet"), `hops` the way it came, first step first. `near` names
    similar right things, `help` what to do, `verify` the command that settles an UNSURE finding. `about` names family
    and stage, `contexts` the calls and conditions under which it holds."""

    code: str
    slug: str
    severity: Severity
    verdict: Verdict
    message: str
    span: Span | None
    path: str = ""
    value: str = ""
    hops: tuple[Hop, ...] = ()
    related: tuple[Related, ...] = ()
    near: str = ""
    help: str = ""
    verify: str = ""
    fix: Fix | None = None
    about: str = ""
    contexts: tuple[str, ...] = ()

    @property
    def file(self) -> str:
        """Path of the file the finding is in, as shown."""
        return self.span.in_file().source.path if self.span is not None else self.path

    def order(self) -> tuple[str, int, int, str, str]:
        """Sort key: path, offsets, code, message."""
        path, start, end = self.span.order() if self.span is not None else (self.path, 0, 0)
        return (path, start, end, self.code, self.message)

    def with_related(self, span: Span | None, label: str) -> Finding:
        """The finding with one more related place; nothing is added without a span."""
        if span is None:
            return self
        return replace(self, related=(*self.related, Related(span, label)))

    def with_fix(self, title: str, *edits: Edit, safety: Safety) -> Finding:
        """The finding with a fix."""
        return replace(self, fix=Fix(title, edits, safety))
