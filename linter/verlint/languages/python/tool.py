"""A Python tool as its callers see it: what it takes, reads, writes, needs and starts.

libcst is only loaded for texts that are asked about and may hold something of it.
"""

from __future__ import annotations

from functools import cached_property

from verlint.memo import WeakKeyDictionary
from verlint.record import dataclass
from verlint.source import Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from verlint.languages.python.facts import Credential, FileUse, Started
    from verlint.languages.python.options import Interface
    from verlint.languages.python.records import RecordShape
    from verlint.languages.python.taint import Flow
    from verlint.languages.python.values import Values

_OPTIONS = ("ArgumentParser", "click", "fire", "typer", "tyro")
_SINKS = ("eval(", "exec(", "os.system", "os.popen", "subprocess", "getoutput", "compile(", "Popen(", "run(")

STARTING = ("subprocess", "os.system", "popen", "os.exec")
"""Words one of which a text holds that starts programs."""

_KNOWN: WeakKeyDictionary[Source, Tool] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class Tool:
    """One Python text. Everything is found when it is asked for; what cannot be told is empty or None."""

    source: Source

    @cached_property
    def _values(self) -> Values | None:
        from verlint.languages.python.names import names_of
        from verlint.languages.python.syntax import parse
        from verlint.languages.python.values import Values

        parsed = parse(self.source)
        try:
            return None if parsed is None else Values(names_of(parsed))
        except RecursionError:
            return None

    @cached_property
    def readable(self) -> bool:
        """Whether the text could be parsed at all."""
        return self._values is not None

    @cached_property
    def interface(self) -> Interface | None:
        """What the tool takes, None when it reads its command line in no way that is known."""
        if not any(word in self.source.text for word in _OPTIONS) or self._values is None:
            return None
        from verlint.languages.python.argparse_options import argparse_interface, dataclass_interface
        from verlint.languages.python.function_options import function_interface
        from verlint.languages.python.values import OutOfSteps

        values = self._values
        try:
            return argparse_interface(values) or dataclass_interface(values) or function_interface(values)
        except (OutOfSteps, RecursionError):
            return None

    @cached_property
    def files(self) -> tuple[FileUse, ...]:
        """The files it reads and writes, in the order of the text."""
        _ = self.interface  # it tells what the parameters of the tool's function stand for
        if self._values is None:
            return ()
        from verlint.languages.python.files import file_uses
        from verlint.languages.python.values import OutOfSteps

        try:
            return tuple(file_uses(self._values))
        except (OutOfSteps, RecursionError):
            return ()

    @cached_property
    def credentials(self) -> tuple[Credential, ...]:
        """The keys that it takes from its environment."""
        if self._values is None:
            return ()
        from verlint.languages.python.environment import credentials
        from verlint.languages.python.values import OutOfSteps

        try:
            return tuple(credentials(self._values))
        except (OutOfSteps, RecursionError):
            return ()

    @cached_property
    def started(self) -> tuple[Started, ...]:
        """The programs it starts."""
        if self._values is None or not any(word in self.source.text for word in STARTING):
            return ()
        from verlint.languages.python.started import started
        from verlint.languages.python.values import OutOfSteps

        try:
            return tuple(started(self._values, self.interface))
        except (OutOfSteps, RecursionError):
            return ()

    @cached_property
    def record(self) -> RecordShape | None:
        """The comma record that it takes as its first argument, None for others."""
        text = self.source.text
        if "split(" not in text or ("argv" not in text and "add_argument" not in text) or self._values is None:
            return None
        from verlint.languages.python.records import record_shape
        from verlint.languages.python.values import OutOfSteps

        try:
            placed = [each.dest for each in self.interface.options if each.by_place] if self.interface else []
            return record_shape(self._values, placed[0] if placed else "")
        except (OutOfSteps, RecursionError):
            return None

    @cached_property
    def flows(self) -> tuple[Flow, ...]:
        """Where what a model wrote is run as code."""
        if not any(word in self.source.text for word in _SINKS):
            return ()
        from verlint.languages.python.taint import may_flow

        if not may_flow(self.source.text) or self._values is None:
            return ()
        from verlint.languages.python.taint import flows
        from verlint.languages.python.values import OutOfSteps

        try:
            return tuple(flows(self._values))
        except (OutOfSteps, RecursionError):
            return ()


def tool(source: Source) -> Tool:
    """The tool that a text is; asked for again it is the same object."""
    found = _KNOWN.get(source)
    if found is None:
        found = _KNOWN[source] = Tool(source)
    return found
