"""Launches: commands that start a VeRL entry point, with their override set."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property

from verlint.experiment.python_programs import ENTRY_FILE, ENTRY_MODULE, MAIN, Program, python_program
from verlint.languages.bash.command import Command
from verlint.languages.hydra.override import Form, Override, is_override_like, parse_override
from verlint.memo import by_identity
from verlint.record import dataclass, field, replace
from verlint.source import Span
from verlint.value import Data, Hop, State, Text, Value
from verlint.verl.in_use import VerlInUse, call_of

TYPE_CHECKING = False  # as `typing` says it, without its import
if TYPE_CHECKING:
    from typing import Any

    from verlint.verl.facts import AtHand, Facts
    from verlint.verl.overriding import Applied
    from verlint.verl.schema import Schema

_NO_DEFAULT: Any = object()

HYDRA_OPTIONS = frozenset(
    ["--config-name", "-cn", "--config-path", "-cp", "--config-dir", "-cd", "--cfg", "-c", "--package", "-p"]
)
"""Options of a Hydra program that take the next word. Source: hydra-core 1.3 `hydra/_internal/utils.py`."""


@dataclass(frozen=True)
class Launch:
    """A command recognised as a VeRL entry point.

    `launch[key]` is the value of a configuration key: of the last override that sets it, else absent (with the
    default of the VeRL in use, where that is known). `options` are the words that are no overrides
    (`--config-name=…`), `of_file` is what a config file that they name sets, below the words of the call. `verl` is the
    VeRL in use, which is looked for when it is first asked; `find_at_hand` finds the models and data on disk."""

    command: Command
    program: Program
    overrides: tuple[Override, ...]
    options: tuple[Text, ...]
    verl: VerlInUse | None = None
    find_at_hand: Callable[[Launch], AtHand] | None = None
    family: str = ""
    stage: str = ""
    intent: str = ""
    aliases: Mapping[str, str] = field(default_factory=dict)
    of_file: tuple[Override, ...] = ()

    @cached_property
    def settings(self) -> tuple[Override, ...]:
        """All that it sets, by its config file and by its words, what counts last."""
        return (*self.of_file, *self.overrides) if self.of_file else self.overrides

    @property
    def span(self) -> Span:
        """The whole command."""
        return self.command.span

    @property
    def stands_alone(self) -> bool:
        """Whether it is a config file that no launcher names: whoever calls it may add anything."""
        place = self.of_file[0].key_span if self.of_file else None
        return place is not None and self.command.span.source is place.source

    @property
    def head(self) -> Span:
        """The entry point as written: what to point at when a key is missing."""
        return self.program.name.span or self.command.span

    @property
    def passes_arguments(self) -> bool:
        """Whether the caller's own words are passed on (`"$@"`), so keys may be set from outside."""
        return any(word.elastic for word in self.options)

    @property
    def leaves_words_out(self) -> bool:
        """Whether dots stand for words that are not shown, as documents have them: any keys may be among these."""
        return any(word.known in ("...", "…") for word in self.command.argv)

    @property
    def version(self) -> str:
        """The VeRL version in use, "" when it is not known for certain."""
        return "" if self.verl is None or self.verl.guess else self.verl.text

    @cached_property
    def defaults(self) -> Mapping[str, Data]:
        """What holds for keys that are not given: the config of the VeRL in use, references resolved."""
        return {} if self.verl is None else self.verl.defaults(self.settings)

    @cached_property
    def config(self) -> Applied | None:
        """The composed config with all overrides, and what Hydra refuses of them; None when the config is not known."""
        if self.verl is None:
            return None
        return self.verl.applied(self.settings, multirun=call_of("", self.options).multirun)

    @cached_property
    def entry(self) -> str:
        """The entry point of VeRL whose code runs, or the program of the project, by its dotted name."""
        call = call_of(self.program.entry, self.options)
        if self.verl is None or call.module.startswith("verl."):
            return call.module
        return self.verl.found.entry or call.module

    @cached_property
    def facts(self) -> Sequence[Facts]:
        """What follows from the config: on the VeRL in use, or on each version that fits, newest first; empty when the
        config is not known."""
        if self.verl is None:
            return ()
        from verlint.verl.facts import facts_of

        entry = self.entry
        at_hand = None if self.find_at_hand is None else self.find_at_hand(self)
        return facts_of(self.verl, self.settings, entry, lambda: self.config, at_hand)

    @property
    def fits(self) -> Iterator[tuple[Schema, Applied]]:
        """The keys and the composed config of the VeRL in use; of a guess, those of each version that fits, newest
        first. Empty when the config is not known. Each is composed, once, when it is asked for."""
        if self.verl is None or self.config is None:
            return iter(())
        from verlint.verl.effective import fits_of

        return fits_of(self.verl, self.settings, self.config)

    @cached_property
    def by_key(self) -> Mapping[str, Override]:
        """The override that counts for each key: the last one."""
        found: dict[str, Override] = {}
        for override in self.settings:
            if override.key and override.error is None:
                found[override.key] = override
        return found

    def __getitem__(self, key: str) -> Value:
        override = self.by_key.get(key)
        if override is not None and override.form is Form.DELETE:
            return Value(State.ABSENT, key, span=override.word.span, reason=f"~{key} takes the key out of the config")
        if override is not None:
            return self._resolved(override) if self.of_file else override.value
        if self.verl is None:
            return Value(State.ABSENT, key, span=self.head, reason="not given, and the VeRL in use is not known")
        default = self.defaults.get(key, _NO_DEFAULT)
        if default is not _NO_DEFAULT:
            hops = (Hop(None, f"default of {self.verl.origin}"),)
            return Value(State.ABSENT, key, default, span=self.head, hops=hops, has_default=True)
        hangs_on = self.verl.open_default(self.defaults, key)
        if hangs_on is not None:
            return Value(State.ABSENT, key, text=hangs_on.text, span=self.head, reason=hangs_on.reason)
        return Value(State.ABSENT, key, span=self.head, reason="not given, and the default depends on the VeRL version")

    def _resolved(self, override: Override) -> Value:
        """The value of an override; that of a config file's reference is what it comes to, where that is known."""
        value = override.value
        if value.state is not State.UNKNOWN or override.form is not Form.FORCE or self.verl is None or self.verl.guess:
            return value
        found = self.defaults.get(override.key, _NO_DEFAULT)
        return value if found is _NO_DEFAULT else replace(value, state=State.KNOWN, data=found, reason="")

    def __contains__(self, key: str) -> bool:
        return key in self.by_key


_override = by_identity(parse_override)
"""The words of a script that hold no variable are the same objects in all its launches."""


def as_launch(command: Command) -> Launch | None:
    """The launch that a command is, or None."""
    if command.builtin or command.function:
        return None
    program = python_program(command.argv)
    return None if program is None or not _is_entry(program) else launch_of(command, program)


def may_be_own(command: Command) -> bool:
    """Whether a command starts a Python program with words of Hydra: an option that names a config, or an override."""
    if command.builtin or command.function:
        return False
    program = python_program(command.argv)
    if program is None:
        return False
    return any(
        word.prefix.startswith(("--config-", "-cn", "-cp", "-cd"))
        or ("." in _key_part(word) and is_override_like(word))
        for word in program.arguments
    )


def launch_of(command: Command, program: Program) -> Launch:
    """A command as the launch that its program makes of it."""
    overrides: list[Override] = []
    options: list[Text] = []
    for before, word in zip((None, *program.arguments), program.arguments, strict=False):
        of_option = before is not None and before.known in HYDRA_OPTIONS
        override = None if of_option or (word.elastic and not word.prefix) else _override(word)
        if override is None:
            options.append(word)
        else:
            overrides.append(override)
    return Launch(command, program, tuple(overrides), tuple(options))


def _is_entry(program: Program) -> bool:
    entry = program.entry
    if not entry:
        return sum("." in _key_part(word) for word in program.arguments if is_override_like(word)) >= 3
    if program.module and (entry == MAIN or ENTRY_MODULE.fullmatch(entry)):
        return True
    if not program.module and ENTRY_FILE.search(entry):
        return True
    return sum("." in _key_part(word) for word in program.arguments if is_override_like(word)) >= 3


def _key_part(word: Text) -> str:
    return word.prefix.split("=", 1)[0]
