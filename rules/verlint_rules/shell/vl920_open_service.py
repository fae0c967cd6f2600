"""A service of a run should listen on this host only, unless other hosts call it.

Ray's dashboard takes jobs without a password: whoever reaches its port runs any command as you, with your keys and
data. With `--dashboard-host=0.0.0.0` that is everybody in the network. A notebook server without a token is the same.
A model server on `0.0.0.0` without `--api-key` answers, and bills, everybody.

Reported for Ray's dashboard, for notebooks without a token, and for model servers (vLLM, SGLang) without a key whose
only callers in the project ask `localhost` or `127.0.0.1`. Silent where the address comes from the environment, and for
servers that other hosts call.

Fix: `--dashboard-host=127.0.0.1` and a tunnel, `ssh -L 8265:127.0.0.1:8265 HEAD`; `--host 127.0.0.1` for servers of the
same host.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.python_programs import python_program
from verlint.finding import Edit, Finding, Safety
from verlint.languages.bash.command import Command
from verlint.languages.bash.wrappers import unwrap
from verlint.lazy import pattern
from verlint.rule import WARNING, Context, rule
from verlint.value import Text
from verlint_rules.shell.nodes import ray_verb

_OPEN = frozenset(["0.0.0.0", "::", "*"])
_SERVERS = pattern(r"(?:vllm\.entrypoints\.\w+(?:\.\w+)*|sglang\.launch_server|verl\.\w*server\w*)")
_LOCAL = pattern(r"https?://(?:localhost|127\.0\.0\.1)(?::(?P<port>\d+))?")
_REMOTE = pattern(r"https?://(?!localhost|127\.|0\.0\.0\.0)[^\s/:\"']+:\d+|\bssh\b|\bsrun\b")


@rule("VL920", "open-service", on=Command, severity=WARNING, since="0.1", fixable="unsafe", words=("0.0.0.0", "::"))
def check(command: Command, ctx: Context) -> Iterator[Finding]:
    words = unwrap(command.argv).argv
    name = (words[0].known or "").rsplit("/", 1)[-1] if words else ""
    if ray_verb(command) == "start":
        if (address := _option(words, "--dashboard-host")) is not None:
            message = "Ray's dashboard runs any job without a password, and listens on every interface"
            yield _finding(address, message, "ssh -L 8265:127.0.0.1:8265 to the head reaches it from elsewhere", ctx)
    elif name in ("jupyter", "jupyter-lab", "jupyter-notebook"):
        address = _option(words, "--ip")
        if address is not None and any(_is_empty_token(word) for word in words):
            yield _finding(address, "this notebook has no token, and listens on every interface", "keep the token", ctx)
    elif _is_server(name, words) and _option(words, "--api-key", any_value=True) is None:
        address = _option(words, "--host")
        if address is not None and _is_called_here_only(command, words):
            message = "this server has no key and listens on every interface, and only this host calls it"
            yield _finding(address, message, "give it an --api-key if other hosts are to call it", ctx)


def _option(words: tuple[Text, ...], option: str, *, any_value: bool = False) -> Text | None:
    """The value of an option when it stands for every interface (or whatever it is)."""
    for at, word in enumerate(words):
        text = word.known or word.prefix
        if text.startswith(f"{option}="):
            value = word.slice(len(option) + 1, len(word.shown))
        elif text == option and at + 1 < len(words):
            value = words[at + 1]
        else:
            continue
        return value if any_value or value.known in _OPEN else None
    return None


def _is_empty_token(word: Text) -> bool:
    return (word.known or "") in ("--NotebookApp.token=", "--ServerApp.token=", "--IdentityProvider.token=")


def _is_server(name: str, words: tuple[Text, ...]) -> bool:
    if name == "vllm":
        return len(words) > 1 and words[1].known == "serve"
    program = python_program(words)
    return program is not None and program.module and _SERVERS.fullmatch(program.entry) is not None


def _is_called_here_only(command: Command, words: tuple[Text, ...]) -> bool:
    text = command.span.in_file().source.text
    port = _option(words, "--port", any_value=True)
    number = "8000" if port is None else port.known
    local = {match["port"] for match in _LOCAL.finditer(text)}
    return number in local and _REMOTE.search(text) is None


def _finding(address: Text, message: str, more: str, ctx: Context) -> Finding:
    found = ctx.fail(address, message, value=f"address = {address.shown}", help=f"listen on 127.0.0.1; {more}")
    span = address.span
    if span is None or not span.text.endswith(address.shown):
        return found
    place = span.in_file()
    edit = Edit(place.source.span(place.end - len(address.shown), place.end), "127.0.0.1")
    return found.with_fix("listen on this host only", edit, safety=Safety.UNSAFE)
