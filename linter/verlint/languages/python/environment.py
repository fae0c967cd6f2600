"""Credentials that a Python tool takes from its environment."""

from __future__ import annotations

import libcst as cst

from verlint.languages.python.facts import Credential
from verlint.languages.python.syntax import arguments, constant, index_of, last_name, walk
from verlint.languages.python.values import Values
from verlint.lazy import pattern

_SECRET = pattern(r"(?:^|_)(?:API_?KEY|TOKEN|SECRET(?:_KEY)?|ACCESS_KEY(?:_ID)?|PASSWORD|AUTH_KEY)$")
_NO_SECRET = pattern(r"^TOKENIZERS_|(?:MAX|MIN|NUM|PAD|EOS|BOS)_TOKEN$")

_CLIENTS = {
    "openai.OpenAI": ("OPENAI_API_KEY", "api_key"),
    "openai.AsyncOpenAI": ("OPENAI_API_KEY", "api_key"),
    "openai.AzureOpenAI": ("AZURE_OPENAI_API_KEY", "api_key"),
    "anthropic.Anthropic": ("ANTHROPIC_API_KEY", "api_key"),
    "anthropic.AsyncAnthropic": ("ANTHROPIC_API_KEY", "api_key"),
    "wandb.init": ("WANDB_API_KEY", ""),
    "wandb.login": ("WANDB_API_KEY", "key"),
}
"""Clients that take their key from the environment, with the argument that gives it otherwise. Sources: the
documentation of openai, anthropic, wandb."""

_UPLOADS = frozenset(["push_to_hub", "upload_folder", "upload_file", "create_repo"])


def credentials(values: Values) -> list[Credential]:
    """The credentials that a text asks for, each name once, in its order."""
    found: dict[str, Credential] = {}
    checked = _checked(values)
    for node in walk(values.parsed.module):
        each = _of_subscript(node, values) or _of_call(node, values)
        if each is not None and any(start <= each.span.start and each.span.end <= end for start, end in checked):
            each = Credential(each.name, each.span, True, each.by)
        if each is not None and (each.name not in found or (each.required and not found[each.name].required)):
            found[each.name] = each
    return list(found.values())


def _checked(values: Values) -> list[tuple[int, int]]:
    """The conditions under which the tool gives up: `if not os.environ.get("KEY"): raise …`."""
    out = []
    for node in walk(values.parsed.module):
        if not isinstance(node, cst.If) or not isinstance(node.test, cst.UnaryOperation):
            continue
        body = list(walk(node.body))
        exits = ("sys.exit", "exit", "quit", "os._exit", "parser.error")
        gives_up = any(isinstance(each, cst.Raise) for each in body) or any(
            isinstance(each, cst.Call) and values.names.full_name(each.func) in exits for each in body
        )
        if gives_up:
            span = values.parsed.span(node.test)
            out.append((span.start, span.end))
    return out


def _is_secret(name: object) -> bool:
    return isinstance(name, str) and _SECRET.search(name) is not None and _NO_SECRET.search(name) is None


def _of_subscript(node: cst.CSTNode, values: Values) -> Credential | None:
    if not isinstance(node, cst.Subscript) or values.names.full_name(node.value) not in ("os.environ", "environ"):
        return None
    index = index_of(node)
    name = constant(index) if index is not None else ...
    if not _is_secret(name):
        return None
    return Credential(str(name), values.parsed.span(node), True, "os.environ")


def _of_call(node: cst.CSTNode, values: Values) -> Credential | None:
    if not isinstance(node, cst.Call):
        return None
    name, given = values.names.full_name(node.func), arguments(node)
    span = values.parsed.span(node)
    if name in ("os.environ.get", "os.getenv") and given.positional:
        variable = constant(given.positional[0])
        return Credential(str(variable), span, False, name) if _is_secret(variable) else None
    if name in _CLIENTS:
        variable, argument = _CLIENTS[name]
        own = argument in given.named or given.open or "base_url" in given.named or given.named.get("mode") is not None
        return None if own else Credential(variable, span, True, name)
    if isinstance(node.func, cst.Attribute) and last_name(node.func) in _UPLOADS and "token" not in given.named:
        return Credential("HF_TOKEN", span, False, last_name(node.func))
    return None
