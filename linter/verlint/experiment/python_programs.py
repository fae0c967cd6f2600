"""Python programs: what a command starts through wrappers, launchers and debuggers, and which modules are VeRL's."""

from __future__ import annotations

from collections.abc import Mapping

from verlint.languages.bash.wrappers import CARRIERS, CONTAINERS, RUNNERS, program_name, unwrap
from verlint.lazy import pattern
from verlint.memo import by_identity
from verlint.record import dataclass
from verlint.value import Text, literal

_PYTHON = pattern(r"(?:python|pypy)(?:\d+(?:\.\d+)*)?w?")
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
        elif name == "torchx":
            return _by_torchx(words)
        elif name in LAUNCHERS:
            rest = _behind_launcher(words, name)
            if name == "hatch" and rest and ":" in rest[0].prefix:  # `hatch run ENV:python`
                rest = (rest[0].slice(rest[0].prefix.index(":") + 1, 1_000_000), *rest[1:])
            if name not in _NEEDS_PYTHON or (rest and _is_for_python(rest[0])):
                return _behind_python(rest)
            words = unwrap(rest).argv
        else:
            return _behind_stranger(words)
    return None


def _by_torchx(words: tuple[Text, ...]) -> Program | None:
    """`torchx run … dist.ddp -j 1x8 -m MODULE -- WORDS`, or `-- -m MODULE WORDS`"""
    behind = next((at for at, word in enumerate(words) if word.known == "--"), len(words))
    for at, word in enumerate(words[: max(behind - 1, 0)]):
        if word.known in ("-m", "--m", "--module", "--script"):
            return Program(words[at + 1], word.known != "--script", words[behind + 1 :])
    return _behind_python(words[behind + 1 :])


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
