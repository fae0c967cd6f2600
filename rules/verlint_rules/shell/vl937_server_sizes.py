"""A server of vLLM or SGLang must be given sizes that go together.

- The attention heads of the model are shared out: `--tensor-parallel-size 8` does not go with 28 heads.
- vLLM takes no `--max-num-batched-tokens` below `--max-model-len` with `--no-enable-chunked-prefill`, as then each
  prompt must fit in one batch, and none below `--max-num-seqs`.
- SGLang shares attention with `--enable-dp-attention`: `--tp-size` is a multiple of `--dp-size`. Without that
  `--dp-size` makes copies, which more than one node (`--nnodes`) cannot have.

The server stops before it listens, and a launcher that waits for it waits for ever.

Heads are read from the `config.json` of a model at hand. Silent where more arguments may follow (`"$@"`), and where a
size is not known before the run.

Fix: take a size that the message allows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from verlint.finding import Finding
from verlint.languages.bash.command import Command
from verlint.languages.bash.wrappers import program_name, unwrap
from verlint.record import dataclass
from verlint.rule import ERROR, Context, rule
from verlint.value import Text, whole

_VLLM = frozenset(["vllm.entrypoints.openai.api_server", "vllm.entrypoints.api_server"])
_SGLANG = "sglang.launch_server"
_ALIASES = {
    "-tp": "--tensor-parallel-size",
    "--tp": "--tensor-parallel-size",
    "--tp-size": "--tensor-parallel-size",
    "--dp": "--data-parallel-size",
    "--dp-size": "--data-parallel-size",
    "--model-path": "--model",
}
"""Sources: `--help` of vLLM and SGLang, both of which take `_` for `-` in the names of options."""
_TENSOR, _COPIES, _MODEL = "--tensor-parallel-size", "--data-parallel-size", "--model"
_BATCHED, _LONGEST, _SEQUENCES = "--max-num-batched-tokens", "--max-model-len", "--max-num-seqs"
_WHOLE, _SHARED = "--no-enable-chunked-prefill", "--enable-dp-attention"


@dataclass(frozen=True, slots=True)
class _Server:
    """A server with its options; a switch has no value."""

    kind: str
    options: Mapping[str, Text | None]

    def size(self, name: str) -> int | None:
        """The whole number that an option gives, None where it gives none."""
        found = self.options.get(name)
        return None if found is None or found.known is None else whole(found.known)

    def at(self, name: str, command: Command) -> Text:
        """Where an option is given."""
        return self.options.get(name) or command.argv[0]


@rule(
    "VL937",
    "server-sizes",
    on=Command,
    severity=ERROR,
    since="0.1",
    words=("vllm serve", "sglang serve", "api_server", "sglang.launch_server"),
)
def check(command: Command, ctx: Context) -> Iterator[Finding]:
    server = _server(command)
    if server is None:
        return
    yield from _of_heads(server, command, ctx)
    if server.kind == "vllm":
        yield from _of_batches(server, command, ctx)
    else:
        yield from _of_copies(server, command, ctx)


def _server(command: Command) -> _Server | None:
    argv = unwrap(command.argv).argv
    if len(argv) < 2 or any(word.elastic for word in argv):
        return None
    name, verb = program_name(argv[0]), argv[1].known
    if name in ("vllm", "sglang") and verb == "serve":
        return _Server(name, _options(argv[2:]))
    from verlint.experiment.python_programs import python_program

    program = python_program(argv)
    if program is None or not program.module:
        return None
    kind = "vllm" if program.entry in _VLLM else "sglang" if program.entry == _SGLANG else ""
    return _Server(kind, _options(program.arguments)) if kind else None


def _options(words: tuple[Text, ...]) -> dict[str, Text | None]:
    """What options are given, by the one name of each; the first word that is none is the model."""
    found: dict[str, Text | None] = {}
    waiting = ""
    for word in words:
        text = word.known or word.prefix
        if text.startswith("-") and not text[1:2].isdigit():
            name, equals, _ = text.partition("=")
            name = name.replace("_", "-")
            waiting = _ALIASES.get(name, name)
            found[waiting] = word.slice(text.index("=") + 1, 1_000_000) if equals else None
            waiting = "" if equals else waiting
        elif waiting:
            found[waiting], waiting = word, ""
        else:
            found.setdefault(_MODEL, word)
    return found


def _of_heads(server: _Server, command: Command, ctx: Context) -> Iterator[Finding]:
    size, model = server.size(_TENSOR), server.options.get(_MODEL)
    if not size or size < 2 or model is None or _SHARED in server.options or "--hf-overrides" in server.options:
        return
    from verlint import disk
    from verlint.experiment.paths import absolute, in_tree
    from verlint.verl.facts import HEADS
    from verlint.verl.model_config import ModelConfigError, read_model_config

    place = in_tree(absolute(model, command.around.cwd)) if command.around.cwd.parts else None
    if place is None or not disk.exists(ctx.project.tree.root / place):
        return
    try:
        config = read_model_config(ctx.project.tree.root / place, place)
    except ModelConfigError:
        return
    heads = config.numbers.get(HEADS)
    if heads is not None and heads % size:
        fitting = max(each for each in range(1, size) if heads % each == 0)
        message = f"{HEADS} {heads} ({config.path}) is not a multiple of {_TENSOR} {size}: the server stops"
        yield ctx.fail(server.at(_TENSOR, command), message, help=f"set it to {fitting}")


def _of_batches(server: _Server, command: Command, ctx: Context) -> Iterator[Finding]:
    batched, longest, sequences = (server.size(each) for each in (_BATCHED, _LONGEST, _SEQUENCES))
    if batched is None:
        return
    at = server.at(_BATCHED, command)
    if longest is not None and batched < longest and _WHOLE in server.options:
        message = f"{_BATCHED} {batched} is below {_LONGEST} {longest}, and prompts are not cut: the server stops"
        yield ctx.fail(at, message, help=f"set it to {longest} or more, or take {_WHOLE} away")
    elif sequences is not None and batched < sequences:
        message = f"{_BATCHED} {batched} is below {_SEQUENCES} {sequences}: the server stops"
        yield ctx.fail(at, message, help=f"set it to {sequences} or more")


def _of_copies(server: _Server, command: Command, ctx: Context) -> Iterator[Finding]:
    copies = server.size(_COPIES)
    if copies is None or copies < 2:
        return
    at = server.at(_COPIES, command)
    if _SHARED in server.options:
        size = server.size(_TENSOR) if _TENSOR in server.options else 1
        if size is not None and size % copies:
            message = f"{_SHARED} needs --tp-size {size} to be a multiple of --dp-size {copies}: the server stops"
            yield ctx.fail(at, message, help="set --dp-size to a divisor of --tp-size")
    elif (server.size("--nnodes") or 1) > 1:
        message = f"--dp-size {copies} makes copies, which --nnodes {server.size('--nnodes')} cannot have"
        yield ctx.fail(at, message, help=f"add {_SHARED}, or start a server on each node")
