"""What a launcher would start: commands and assignments with their words, conditions and surroundings."""

from __future__ import annotations

import re
from collections.abc import Mapping

from verlint.record import dataclass, field
from verlint.source import Source, Span
from verlint.value import Text

CONTAINER = "the container"
"""What `Surroundings.elsewhere` says of commands in a container."""


@dataclass(frozen=True, slots=True)
class Guard:
    """A condition that could not be decided and was taken to be `holds`; `text` says it in words with the outcome."""

    text: str
    span: Span
    holds: bool

    @property
    def words(self) -> str:
        """The condition with its outcome: "RANK is not 0"."""
        text = re.sub(r"\$\{(\w+)\}", r"\1", self.text)
        if self.holds:
            return text
        for positive, negative in ((" is not ", " is "), (" is ", " is not ")):
            if positive in text:
                return text.replace(positive, negative, 1)
        return f"not ({text})"


@dataclass(frozen=True, slots=True)
class Redirect:
    """A redirection: operator (`>`, `2>&1` has operator `>&` and descriptor `2`), and the word it goes to."""

    operator: str
    descriptor: str
    target: Text
    span: Span


@dataclass(frozen=True, slots=True)
class Call:
    """One step from an entry point into a nested script or function: the calling command and what it runs."""

    span: Span
    name: str


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What holds around a command or assignment when it runs.

    `cwd` is the working directory; `environment` the exported variables; `guards` the undecided conditions on the
    way; `stack` the calls from the entry point, outermost first. `xtrace`, `errexit`, `nounset`, `pipefail` are the
    shell options at that moment. `elsewhere` names the container or host that it runs in, when the variables of the
    launcher do not get there; "" for this one."""

    cwd: Text
    environment: Mapping[str, Text]
    guards: tuple[Guard, ...] = ()
    stack: tuple[Call, ...] = ()
    xtrace: bool = False
    errexit: bool = False
    nounset: bool = False
    pipefail: bool = False
    background: bool = False
    substitution: bool = False
    elsewhere: str = ""

    @property
    def in_container(self) -> bool:
        """Whether it runs in a container, whose paths are those of its image and of what is mounted there."""
        return self.elsewhere == CONTAINER


@dataclass(frozen=True, slots=True)
class Command:
    """One simple command as it would be started.

    `argv` are its words after expansion, each with its span; `span` is the whole command as written, continuations
    included. `prefix` holds the assignments written before it. `builtin` says that the shell runs it itself. `pipe`
    is (position, length) in a pipeline. `raw` are the spans of the words as written (before expansion). `made` are the
    configs and modules that the launcher has written by then, by their path below the root or on the disk, each as a
    text of the launcher."""

    argv: tuple[Text, ...]
    span: Span
    around: Surroundings
    prefix: Mapping[str, Text] = field(default_factory=dict)
    redirects: tuple[Redirect, ...] = ()
    builtin: bool = False
    function: bool = False
    pipe: tuple[int, int] = (0, 1)
    raw: tuple[Span, ...] = ()
    made: Mapping[str, Source] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The command's name without its folder, or "" when it is not known."""
        if not self.argv:
            return ""
        return (self.argv[0].known or "").rsplit("/", 1)[-1]

    @property
    def words(self) -> tuple[Text, ...]:
        """The arguments without the command's name."""
        return self.argv[1:]


@dataclass(frozen=True, slots=True)
class Assignment:
    """A variable that gets a value: by `NAME=value`, `export`, `declare`, `read` or an option loop.

    `value` is None for arrays (`items` holds their elements). `span` is the assignment as written, `value_span` its
    right side."""

    name: str
    value: Text | None
    span: Span
    value_span: Span
    around: Surroundings
    exported: bool = False
    items: tuple[Text, ...] = ()
    prefix_of: str = ""
