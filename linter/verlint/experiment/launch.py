"""Launches: commands that start a VeRL entry point, with their override set."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property

from verlint.languages.bash.command import Command
from verlint.languages.bash.wrappers import CARRIERS, RUNNERS, program_name, unwrap
from verlint.languages.bash.wrappers import CONTAINERS as CONTAINERS
from verlint.languages.hydra.override import Form, Override, is_override_like, parse_override
from verlint.lazy import pattern
from verlint.memo import by_identity
from verlint.record import dataclass, field, replace
from verlint.source import Span
from verlint.value import Data, Hop, State, Text, Value, literal
from verlint.verl.in_use import VerlInUse, call_of

TYPE_CHECKING = False  # as `typing` says it, without its import
if TYPE_CHECKING:
    from typing import Any

    from verlint.verl.facts import AtHand, Facts
    from verlint.verl.overriding import Applied
    from verlint.verl.schema import Schema

_PYTHON = pattern(r"(?:python|pypy)(?:\d+(?:\.\d+)*)?w?")
_NO_DEFAULT: Any = object()
_PYTHON_WITH_VALUE = frozenset(["-X", "-W", "-Q"])

LAUNCHERS: Mapping[str, frozenset[str]] = {
    "torchrun": frozenset(
        ["--nnodes", "--nproc_per_node", "--nproc-per-node", "--node_rank", "--node-rank", "--master_addr",
         "--master-addr", "--master_port", "--master-port", "--rdzv_backend", "--rdzv-backend", "--rdzv_endpoint",
         "--rdzv-endpoint", "--rdzv_id", "--rdzv-id", "--max_restarts", "--max-restarts", "--log_dir", "--log-dir",
         "-r", "-t", "--tee", "--local_addr"]
    ),
    "accelerate": frozenset(
        ["--config_file", "--num_processes", "--num_machines", "--machine_rank", "--main_process_ip",
         "--main_process_port", "--mixed_precision"]
    ),
    "deepspeed": frozenset(
        ["--num_gpus", "--num_nodes", "--hostfile", "--include", "--exclude", "--master_port", "--master_addr"]
    ),
    **RUNNERS,
    "coverage": frozenset(["--source", "--include", "--omit", "--rcfile", "--data-file", "--context"]),
    "memray": frozenset(["-o", "--output", "-p", "--live-port"]),
    "debugpy": frozenset(["--listen", "--connect", "--log-to", "--adapter-access-token", "--parent-session-pid"]),
    "viztracer": frozenset(["-o", "--output_file", "--output_dir", "--tracer_entries", "--max_stack_depth"]),
    "scalene": frozenset(["--outfile", "--profile-only", "--profile-exclude", "--cpu-percent-threshold"]),
    "kernprof": frozenset(["-o", "--outfile", "-s", "--setup", "-p", "--prof-mod"]),
}  # fmt: skip
"""Programs that start a Python program, with their options that take the next word. Source: their own `--help`."""

_RUNNING_MODULES: Mapping[str, tuple[str, frozenset[str]]] = {
    "torch.distributed.run": ("torchrun", frozenset()),
    "torch.distributed.launch": ("torchrun", frozenset()),
    "torch.distributed.elastic.run": ("torchrun", frozenset()),
    "accelerate.commands.launch": ("accelerate", frozenset(["launch"])),
    "deepspeed.launcher.runner": ("deepspeed", frozenset()),
    **{name: (name, frozenset()) for name in ("debugpy", "viztracer", "scalene", "kernprof", "memray", "coverage")},
}
"""Modules that start another Python program, with the program they are, and its word that they stand for."""

_DEBUGGERS: Mapping[str, frozenset[str]] = {
    "pdb": frozenset(["-c"]),
    "ipdb": frozenset(["-c"]),
    "pudb": frozenset(),
    "cProfile": frozenset(["-o", "-s"]),
    "profile": frozenset(["-o", "-s"]),
    "trace": frozenset(["-f", "--file", "-C", "--coverdir"]),
    "line_profiler": frozenset(),
    "torch.utils.bottleneck": frozenset(),
}
"""Modules of Python, and kin, whose words are those of the program behind their own options."""

_WAITING = frozenset(["bash", "sh", "zsh", "sleep", "tail", "cat"])

_VERBS = {
    "accelerate": ("launch",),
    "coverage": ("run",),
    "memray": ("run",),
    **dict.fromkeys((name for name in RUNNERS if name != "uvx"), ("run",)),
}
_NEEDS_PYTHON = frozenset(RUNNERS)
_FOLLOWED = CARRIERS | frozenset(["sbatch", "bash", "sh", "dash", "zsh", "ksh"])
_LOOKING = frozenset(["pgrep", "pkill", "killall", "ps", "grep", "rg", "ls", "which", "logger", "cat", "tee", "git"])
_DISTRIBUTED = frozenset(["torchrun", "accelerate", "deepspeed"])

MAIN = "verl.trainer.main_ppo"
"""The entry point of nearly all launches, which needs no look at an expression."""

ENTRY_MODULE = pattern(
    r"verl\.(?:trainer\.(?:main_\w+|fsdp_sft_trainer|sft_trainer\w*|main)|experimental(?:\.\w+)*\.(?:main_\w+|\w+_main|main)|model_merger\b.*)"
    r"|recipe(?:\.\w+)*\.(?:main_\w+|\w+_main|main|\w+_trainer\w*|\w*sft\w*)"
    r"|verl\.trainer\.\w+|verl_\w+(?:\.\w+)*\.main_\w+"
)
"""Modules that start training, evaluation or generation. Sources: VeRL 0.1 to 0.9.1 `verl/trainer`, `recipe/`,
EasyR1."""

ENTRY_FILE = pattern(
    r"(?:^|/)(?:main_\w*(?:ppo|eval|generation|sft|dapo|spin|prime|sppo|gkd|opo|rl)\w*|\w*sft_trainer\w*|fully_async_main|main_ppo)\.py$"
)


HYDRA_OPTIONS = frozenset(
    ["--config-name", "-cn", "--config-path", "-cp", "--config-dir", "-cd", "--cfg", "-c", "--package", "-p"]
)
"""Options of a Hydra program that take the next word. Source: hydra-core 1.3 `hydra/_internal/utils.py`."""


def is_python(name: str) -> bool:
    """Whether a program is a Python interpreter."""
    return name in ("python3", "python") or (name.startswith("py") and _PYTHON.fullmatch(name) is not None)


@dataclass(frozen=True)
class Program:
    """A Python program that a command starts: its module or file, and the words behind it."""

    name: Text
    module: bool
    arguments: tuple[Text, ...]

    @property
    def entry(self) -> str:
        """The dotted name of the module, or the path of the file; "" when not known."""
        return self.name.known or ""


@by_identity
def python_program(argv: tuple[Text, ...]) -> Program | None:
    """The Python program that a command starts, through wrappers and launchers; None when it starts none."""
    words = unwrap(argv).argv
    for _ in range(4):
        if not words:
            return None
        name = program_name(words[0])
        if is_python(name) or (not name and _is_entry_of(words)):
            return _started_by(_behind_python(words[1:]))
        if name == "ray" and (_is(words, 1, "symmetric-run") or (_is(words, 1, "job") and _is(words, 2, "submit"))):
            words = unwrap(_behind_dashes(words)).argv
        elif name in LAUNCHERS:
            rest = _behind_launcher(words, name)
            if name not in _NEEDS_PYTHON or (rest and _is_for_python(rest[0])):
                return _behind_python(rest)
            words = unwrap(rest).argv
        else:
            return _behind_stranger(words)
    return None


def _behind_stranger(words: tuple[Text, ...]) -> Program | None:
    """`doppler run -- python3 -m verl.trainer.main_ppo`: what a program nobody knows is given can only be started by
    it. Those that are followed are not looked at, nor those that look for processes."""
    name = program_name(words[0])
    if not name or name in _FOLLOWED or name in _LOOKING or name.endswith("sh"):
        return None
    for at, word in enumerate(words[1:], 1):
        if is_python(program_name(word)):
            return _behind_python(words[at + 1 :]) if _is_entry_of(words[at:]) else None
    return None


def _is_entry_of(words: tuple[Text, ...]) -> bool:
    """Whether an unknown program is given an entry point of VeRL as a module (`$PYTHON -m verl.trainer.main_ppo`)."""
    return len(words) > 2 and words[1].known == "-m" and ENTRY_MODULE.fullmatch(words[2].known or "") is not None


def _is_for_python(word: Text) -> bool:
    """`uv run -m MODULE`, `uv run train.py`: words for a Python program without the name of one."""
    return word.known in ("-m", "--module") or word.suffix.endswith(".py")


def _started_by(program: Program | None) -> Program | None:
    """The program that a debugger, a profiler or a launcher started as a module (`python -m debugpy …`) starts."""
    for _ in range(3):
        if program is None or not program.module:
            return program
        running = _RUNNING_MODULES.get(program.entry)
        values = _DEBUGGERS.get(program.entry)
        if running is not None:
            name, verbs = running
            words = (literal(name), *map(literal, sorted(verbs)), *program.arguments)
            inner = _behind_python(_behind_launcher(words, name))
        elif values is not None:
            inner = _behind_python(_behind_options(program.arguments, values))
        else:
            return program
        if inner is None:
            return program
        program = inner
    return program


def _behind_options(words: tuple[Text, ...], values: frozenset[str]) -> tuple[Text, ...]:
    at = 0
    while at < len(words) and (words[at].known or "").startswith("-") and words[at].known not in ("-m", "--module"):
        at += 2 if words[at].known in values else 1
    return words[at:]


def _is(words: tuple[Text, ...], at: int, text: str) -> bool:
    return len(words) > at and words[at].known == text


def _behind_dashes(words: tuple[Text, ...]) -> tuple[Text, ...]:
    for at, word in enumerate(words):
        if word.known == "--":
            return words[at + 1 :]
    for at, word in enumerate(words[3:], 3):
        if is_python(program_name(word)) or program_name(word) in ("bash", "torchrun"):
            return words[at:]
    return ()


def _behind_container(words: tuple[Text, ...], name: str) -> tuple[Text, ...]:
    """The command behind the image (or the running container) of `run` and `exec`."""
    if not (_is(words, 1, "run") or _is(words, 1, "exec")):
        return ()
    at = 2
    while at < len(words):
        text = words[at].known or words[at].prefix
        if not text.startswith("-"):
            return words[at + 1 :]
        at += 2 if text in CONTAINERS[name] else 1
    return ()


def enters_container(argv: tuple[Text, ...]) -> bool:
    """Whether a command only starts a container to work in: `docker run -it IMAGE`, with a shell or with a program that
    waits."""
    if not argv or program_name(argv[0]) not in CONTAINERS:
        return False
    words = _behind_container(argv, program_name(argv[0]))
    return not words or (len(words) < 3 and program_name(words[0]) in _WAITING)


def _behind_launcher(words: tuple[Text, ...], name: str) -> tuple[Text, ...]:
    at = 1
    if name in _VERBS:
        if not any(_is(words, 1, verb) for verb in _VERBS[name]):
            return ()
        at = 2
    if name in _DISTRIBUTED and (entry := _entry_among(words)):
        return words[entry:]
    while at < len(words):
        text = words[at].known or words[at].prefix
        if text == "--":
            return words[at + 1 :]
        if text in ("-m", "--module") and (name not in _NEEDS_PYTHON or name in ("uv", "rye")):
            return words[at:]
        if not text.startswith("-"):
            return words[at:] if text or not words[at].elastic else words[at + 1 :]
        at += 2 if text in LAUNCHERS[name] else 1
    return ()


def _entry_among(words: tuple[Text, ...]) -> int:
    """Where the entry point of VeRL is named, behind options of which not all are known; 0 when it is not."""
    for at, word in enumerate(words):
        if word.known in ("-m", "--module"):
            return at if _is_entry_of(words[at - 1 :]) or _is(words, at, "--module") else 0
        if word.known is not None and ENTRY_FILE.search(word.known):
            return at
    return 0


def _behind_python(words: tuple[Text, ...]) -> Program | None:
    at = 0
    while at < len(words):
        text = words[at].known
        if text in ("-m", "--module"):
            if at + 1 >= len(words):
                return None
            return Program(words[at + 1], True, words[at + 2 :])
        if text == "-c":
            return None
        if text is None or not text.startswith("-") or text == "-":
            return Program(words[at], False, words[at + 1 :])
        at += 2 if text in _PYTHON_WITH_VALUE else 1
    return None


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
