"""Where the value of a credential shows: which parts of a word hold one, what the credential is called, and how a
launcher asks for one without showing it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from verlint.memo import by_identity
from verlint.record import dataclass
from verlint.secret import find_secrets, is_secret_name
from verlint.value import Hole, Part, Text

PROVIDERS = {
    "anthropic": "Anthropic key",
    "aws": "AWS key",
    "bearer": "bearer token",
    "docker": "Docker token",
    "generic": "credential",
    "github": "GitHub token",
    "gitlab": "GitLab token",
    "google": "Google key",
    "groq": "Groq key",
    "huggingface": "Hugging Face token",
    "jwt": "JSON web token",
    "nvidia": "NVIDIA key",
    "openai": "OpenAI key",
    "openrouter": "OpenRouter key",
    "pypi": "package index token",
    "private-key": "private key",
    "replicate": "Replicate token",
    "slack": "Slack token",
    "url": "password in a URL",
    "wandb": "Weights & Biases key",
    "xai": "xAI key",
}


@dataclass(frozen=True)
class Exposed:
    """A part of a word that is a credential: what to call it, and whether the value itself is written in a file."""

    name: str
    written: bool


def exposed(text: Text) -> Iterator[Exposed]:
    """The credentials that a word holds once it is expanded; placeholders are none."""
    for part in text.parts:
        name = secret_name(part)
        if isinstance(part, Hole):
            if name:
                yield Exposed(name, False)
        elif name and len(part.text) >= 8 and _real(f"{name}={part.text}"):
            yield Exposed(name, True)


@by_identity
def secret_name(part: Part) -> str:
    """The variable or option that makes a part a credential, "" when none does."""
    hole = isinstance(part, Hole)
    for hop in reversed(part.hops) if hole else part.hops:
        at = hop.span
        end = at.source.text.find("=", at.start, at.end) if at is not None else -1
        if at is None or end < 0:
            continue
        name = at.source.text[at.start : end].removesuffix("+")
        if name.isidentifier() and is_secret_name(name) and not _measured(part):
            return name
    if isinstance(part, Hole) and isinstance(part.key, tuple) and part.key[0] in ("env", "option", "given"):
        name = str(part.key[-1])
        if is_secret_name(name):
            return name
    return ""


@lru_cache(maxsize=1024)
def written_secret(text: str) -> str:
    """What the first real secret in a text is, in words; "" when there is none."""
    return next((PROVIDERS.get(each.provider, "credential") for each in find_secrets(text) if not each.placeholder), "")


def _measured(part: Part) -> bool:
    """`${#KEY}` tells the length only."""
    return isinstance(part, Hole) and part.name.startswith("${#")


def _real(text: str) -> bool:
    return any(not each.placeholder for each in find_secrets(text))


def ask_for(name: str, *, traced: bool) -> str:
    """A line that ends the launcher with a message when a variable is unset or empty; while `set -x` is on one that
    does not print the value."""
    if traced:  # `${NAME:?}` would print the value into the trace
        return f'[ -n "${{{name}:+set}}" ] || {{ echo "set {name}" >&2; exit 1; }}'
    return f': "${{{name}:?set {name}}}"'
