"""Secrets in text: where they are, what only looks like one, and how they are masked.

Every output of verlint goes through `mask` (or `mask_spans`, where places must be kept). Two kinds of evidence count:
the shape of the value (providers give their tokens a prefix), or the name it is given to (`WANDB_API_KEY=…`). A commit
id, a digest or an encoded image has neither and is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from functools import cache, lru_cache

from verlint.record import dataclass

MASK = "****"


@dataclass(frozen=True)
class Secret:
    """A secret or the place of one: code points `start`..`end` of the text, and whose it is.

    `placeholder` says that the value is a stand-in (`YOUR_KEY`, `<token>`, `changeme`): nothing is leaked by it.
    """

    start: int
    end: int
    provider: str
    placeholder: bool = False


@dataclass(frozen=True)
class Masked:
    """Code points `start`..`end` of a text are to be shown as `text`."""

    start: int
    end: int
    text: str


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Shapes published by the providers.
_SHAPES = (
    ("huggingface", r"hf_[A-Za-z0-9]{30,}"),
    ("huggingface", r"api_org_[A-Za-z0-9]{30,}"),
    ("anthropic", r"sk-ant-[A-Za-z0-9_-]{20,}"),
    ("openrouter", r"sk-or-[A-Za-z0-9_-]{20,}"),
    ("openai", r"sk-(?=[A-Za-z0-9_-]{0,200}\d)[A-Za-z0-9_-]{20,}"),
    ("github", r"github_pat_[A-Za-z0-9_]{22,}"),
    ("github", r"gh[pousr]_[A-Za-z0-9]{30,}"),
    ("gitlab", r"glpat-[A-Za-z0-9_-]{20,}"),
    ("aws", r"(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])"),
    ("google", r"AIza[A-Za-z0-9_-]{30,}"),
    ("slack", r"xox[abeoprs]-[A-Za-z0-9-]{10,}"),
    ("wandb", r"wandb_v1_[A-Za-z0-9_]{20,}"),
    ("nvidia", r"nvapi-[A-Za-z0-9_-]{20,}"),
    ("groq", r"gsk_[A-Za-z0-9]{30,}"),
    ("xai", r"xai-[A-Za-z0-9]{40,}"),
    ("replicate", r"r8_[A-Za-z0-9]{30,}"),
    ("docker", r"dckr_(?:pat|oat)_[A-Za-z0-9_-]{20,}"),
    ("pypi", r"pypi-Ag[A-Za-z0-9_-]{50,}"),
    ("slack", r"hooks\.slack\.com/services/T[A-Z0-9]{6,}/B[A-Z0-9]{6,}/[A-Za-z0-9]{16,}"),
    ("jwt", r"eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"),
)
_HEADS = _words(
    "hf_ api_org_ sk- github_pat_ ghp_ gho_ ghu_ ghs_ ghr_ glpat- AKIA ASIA AIza xox wandb_v1_ nvapi- gsk_ eyJ "
    "xai- r8_ dckr_ pypi-Ag hooks.slack"
)
_PREFIX = (
    r"hf_|api_org_|sk-(?:ant-|or-|proj-|svcacct-|admin-|None-)?(?:v\d-|api\d+-)?"
    r"|github_pat_|gh[pousr]_|glpat-|AKIA|ASIA|AIza|xox[abeoprs]-"
    r"|wandb_v1_|nvapi-|gsk_|eyJ|local-|xai-|r8_|dckr_|pypi-|hooks"
)

# Expressions are kept as text and compiled when first used: most runs need few of them.
_NAMED = ("key", "token", "secret", "passw", "passphrase")
_SPELLINGS = tuple(
    spelling for word in _NAMED for spelling in (word, word.capitalize(), word.upper(), word[0] + word[1:].upper())
)
_NAME_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.")
_LONGEST_NAME, _LONGEST_REST = 80, 40
_A_DAY = 86400  # seconds
_AFTER_NAME = (
    rf"[\w-]{{0,{_LONGEST_REST}}}(?P<delimiter>"
    r"\\?[\"']?\]?[ \t]*(?::?=(?!=)|:(?:[ \t]+|(?=\\?[\"'])))[ \t]*"  # NAME=, name: , "name":, ["NAME"] =
    r"|(?:[ \t]*:)?[ \t]*(?:\r?\n[ \t]+|\{[ \t]*)value[ \t]*:[ \t]+"  # name: {value: …}, or "value:" on the next line
    r"|:-|\\?[\"'][ \t]*,[ \t]*|[ \t]+|[ \t]*\\\n[ \t]*)"  # ${NAME:-, ("NAME", , --name value
    r"(?:\\?(?P<quote>[\"'])(?P<quoted>[^\"'\n\\]*)|(?P<bare><[^<>\n]*>|\[[\w -]*\]|[^\s\"'`;&|<>(){},\\]+))"
)
_SIGNS = (
    *("://", "wandb", "earer", "PRIVATE KEY", "machine", "login", "curl", "sshpass", *sorted(_HEADS)),
    *(first + rest for word in _NAMED for first in (word[0], word[0].upper()) for rest in (word[1:], word[1:].upper())),
)
"""One of these stands in every text with a secret."""
_WANDB_LOGIN = r"wandb(?:[ \t]+login\b|\.login\()(?P<rest>(?:\\\r?\n|[^\n;&|]){0,400})"
_WANDB_KEY = r"(?<![A-Za-z0-9])(?:local-)?[0-9a-fA-F]{40}(?![A-Za-z0-9])"
_IN_URL = r"://[^\s/:@\"']{1,80}:(?P<value>[^\s/@\"']{3,200})@"
_BEARER = r"\b[Bb]earer[ \t]+(?P<value>[A-Za-z0-9._~+/=-]{16,})"
_NETRC = r"\bpassword[ \t]+(?P<value>[^\s\"'\\]{6,200})"
_AFTER_LOGIN = (
    r"\b(?:docker|podman|helm|oras)[ \t]+(?:registry[ \t]+)?login\b[^\n;&|]{0,200}?[ \t]-p[ \t=]*"
    r"(?P<value>[^\s\"';&|]{6,200})"
)
_USER_OPTION = r"\bcurl\b[^\n;&|]{0,400}?[ \t](?:-u|--user)[ \t=]+[\"']?[\w.@-]{1,80}:(?P<value>[^\s\"'@/]{6,200})"
_SSHPASS = r"\bsshpass[ \t]+-p[ \t]*[\"']?(?P<value>[^\s\"']{4,200})"
_LOGIN_VARIABLE = r"wandb[ \t]+login\b[^\n;&|]{0,200}?\$\{?(?P<name>[A-Za-z_]\w*)"
_PRIVATE_KEY = r"(?s)-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----.*?(?:-----END [A-Z ]{0,20}PRIVATE KEY-----|\Z)"
_ENCODED = r"base64,[A-Za-z0-9+/=]+|[A-Za-z0-9+/]{200,}={0,2}"

# Words that make `…_TOKEN` the name of a vocabulary item or a count.
_VOCABULARY = _words(
    "ACTION ASSISTANT BATCHED BEGIN BOS CLS COMPLETION DECODER END EOS EOT FIM FIRST IMAGE IMG INPUT LAST LINK "
    "MASK MAX MIN NEW NEXT NUM OUTPUT PAD PER PREFIX PROMPT RESPONSE SEP SPECIAL START STOP SUFFIX THINK THINKING "
    "TOTAL UNK USER VIDEO VISION VOCAB"
)
# Words before KEY that make it a credential; `prompt_key` and `reward_fn_key` name fields of a record.
_KEY_OWNERS = _words(
    "ACCESS ACCOUNT ANTHROPIC API AUTH AZURE CLAUDE DASHSCOPE DEEPSEEK ENCRYPTION GEMINI GOOGLE HF HUGGINGFACE LICENSE "
    "OPENAI OPENROUTER PRIVATE SECRET SERVICE SIGNING SSH SUBSCRIPTION SWANLAB WANDB"
)
_STAND_INS = _words(
    "a abc abc123 abcd abcdef admin bar changeit changeme default disabled dummy empty example fake false fixme "
    "foo foobar hidden hunter2 insecure key local localhost masked my mykey myself na no nokey none noop not null "
    "off on pass passwd password postgres pwd redacted removed replace replaceme root sample secret set somekey "
    "string tbd test tester testing todo token token-abc123 true undefined unset unused user value xxx yes "
    "yourkey yourtoken"
)
_STAND_IN_PART = (
    r"(?i)(?:^|[^a-z0-9])(?:your|changeme|change[-_ ]me|placeholder|dummy|redacted|replace[-_ ]?(?:me|with|this)"
    r"|(?:insert|put|enter|fill)[-_ ]|not[-_ ](?:needed|used|required|set|a[-_ ]real)|no[-_ ]key|goes[-_ ]here"
    r"|my[-_](?:api[-_]?)?(?:key|token|secret|password)|x{3,})|example$"
)
_ENV_LINE = r"(?:^|\n)[ \t]*(?:ENV|ARG|setenv)[ \t]+\Z"
_NO_VALUE = r"(?i)(?:[-+]?\d[\d.,]{0,15}|true|false|null|none|<\|.*)$|#"
_CODE = r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+$"
_REFERENCE = r"[$`%]|\{\{"
_WORDS = r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+"


def find_secrets(text: str) -> list[Secret]:
    """The secrets of a text and the placeholders that stand where one belongs, by place, without overlap.

    References (`$HF_TOKEN`, `${KEY:-}`, `$(cat key)`) are neither.
    """
    if not any(map(text.__contains__, _SIGNS)):
        return []
    candidates = list(_candidates(text))
    if not candidates:
        return []
    encoded = [match.span() for match in re.compile(_ENCODED).finditer(text)]
    found = [
        secret
        for secret in candidates
        if not any(start <= secret.start < end and secret.provider != "private-key" for start, end in encoded)
    ]
    found.sort(key=lambda secret: (secret.start, -secret.end))
    kept: list[Secret] = []
    for secret in found:
        if kept and secret.start < kept[-1].end:
            if kept[-1].placeholder and not secret.placeholder:
                kept[-1] = secret
            continue
        kept.append(secret)
    return kept


def secret_values(text: str) -> frozenset[str]:
    """The values of the secrets of a text, for `mask(…, extra=…)`."""
    return frozenset(text[each.start : each.end] for each in find_secrets(text) if not each.placeholder)


def names_secret(text: str) -> bool:
    """Whether some name in a text is that of a credential."""
    rest = re.compile(r"\w*")
    for start, behind in _name_words(text):
        end = rest.match(text, behind).end()  # type: ignore[union-attr]
        if is_secret_name(text[_name_start(text, start) : end]):
            return True
    return False


def _name_words(text: str) -> Iterator[tuple[int, int]]:
    """Where the words stand that the name of a credential holds. To look for each spelling takes a tenth of the time
    of one expression for all."""
    found: list[tuple[int, int]] = []
    for spelling in _SPELLINGS:
        at = text.find(spelling)
        while at >= 0:
            found.append((at, at + len(spelling)))
            at = text.find(spelling, at + len(spelling))
    before = 0
    for start, end in sorted(found):
        if start >= before:
            yield start, end
            before = end


@lru_cache(maxsize=4096)
def is_secret_name(name: str) -> bool:
    """Whether a variable, key or option of this name holds a credential (`HF_TOKEN`, `api_key`, `--password`)."""
    words = [word.upper() for word in re.compile(_WORDS).findall(name.rsplit(".", 1)[-1])]
    if len(words) >= 3 and words[-2:] == ["KEY", "ID"]:
        return "ACCESS" in words
    if not words:
        return False
    last, before = words[-1], words[:-1]
    if last in {"PASSWORD", "PASSWD", "PASSPHRASE", "SECRET", "APIKEY"}:
        return True
    if last == "TOKEN":
        return not _VOCABULARY.intersection(before)
    return last == "KEY" and bool(before) and (before[-1] in _KEY_OWNERS) and "PUBLIC" not in before


def is_placeholder(value: str) -> bool:
    """Whether a value is no secret but a stand-in for one: empty, a reference, `YOUR_…`, `<…>`, `xxx`, `changeme`, …"""
    bare = value.strip().strip("\"'").strip()
    if not bare or _is_reference(bare) or _is_stand_in(bare):
        return True
    prefix = re.compile(_PREFIX).match(bare)
    return prefix is not None and _is_stand_in(bare[prefix.end() :])


def mask(text: str, extra: Collection[str] = ()) -> str:
    """The text with every secret as its public prefix (4 characters at most) and `****`.

    `extra` are values known to be secret from elsewhere; they are masked wherever they stand, also when the text
    breaks off in the middle of one.
    """
    out: list[str] = []
    at = 0
    for masked in mask_spans(text, extra):
        out += (text[at : masked.start], masked.text)
        at = masked.end
    return "".join(out) + text[at:] if out else text


def mask_spans(text: str, extra: Collection[str] = ()) -> list[Masked]:
    """What `mask` replaces, by place, without overlap."""
    found = [(each.start, each.end) for each in find_secrets(text) if not each.placeholder]
    found += _broken_off(text)
    for value in extra:
        found += _occurrences(text, value)
    merged: list[tuple[int, int]] = []
    for start, end in sorted(found):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return [Masked(start, end, _public_prefix(text[start:end]) + MASK) for start, end in merged]


def _candidates(text: str) -> Iterator[Secret]:
    if any(head in text for head in _HEADS):
        for match in _shapes().finditer(text):
            if not _is_dead(text, match):
                provider = _SHAPES[(match.lastindex or 1) - 1][0]
                yield Secret(match.start(), match.end(), provider, is_placeholder(match.group()))
    if "wandb" in text and "login" in text:
        for login in re.compile(_WANDB_LOGIN).finditer(text):
            for key in re.compile(_WANDB_KEY).finditer(text, login.start("rest"), login.end("rest")):
                yield Secret(key.start(), key.end(), "wandb", is_placeholder(key.group()))
    if "wandb" in text and "login" in text:
        yield from _of_variables(text)
    if "://" in text:
        yield from _plain(re.compile(_IN_URL).finditer(text), "url")
    yield from _passwords(text)
    if "earer" in text:
        yield from _plain(
            (match for match in re.compile(_BEARER).finditer(text) if _looks_random(match["value"])), "bearer"
        )
    if "PRIVATE KEY-----" in text:
        for match in re.compile(_PRIVATE_KEY).finditer(text):
            yield Secret(match.start(), match.end(), "private-key")
    yield from _named(text)


def _is_dead(text: str, token: re.Match[str]) -> bool:
    """Whether a token opens nothing: the key id in the address of a signed request, which is public and has its secret
    elsewhere, and a JSON web token that says itself that it is good for a day at most, like those of pictures."""
    if text.startswith("Credential=", token.start() - len("Credential=")):
        return True
    if not token.group().startswith("eyJ"):
        return False
    import json
    from base64 import urlsafe_b64decode

    payload = token.group().split(".")[1]
    try:
        claims = json.loads(urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
        return 0 < int(claims["exp"]) - int(claims.get("nbf", claims.get("iat"))) <= _A_DAY
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
        return False  # what it says of its time is no number, or it is no token at all


def _of_variables(text: str) -> Iterator[Secret]:
    """Keys of wandb in variables of any name that `wandb login` gets."""
    for name in {match["name"] for match in re.compile(_LOGIN_VARIABLE).finditer(text)}:
        for match in re.finditer(rf"(?<![\w$]){name}=[\"']?(?P<value>{_WANDB_KEY})", text):
            yield Secret(match.start("value"), match.end("value"), "wandb", is_placeholder(match["value"]))


def _passwords(text: str) -> Iterator[Secret]:
    """Passwords that no name stands before: in a netrc, behind `-p` of a login, behind `user:`."""
    found: list[tuple[str, str]] = []
    if "machine" in text and "password" in text:
        found.append((_NETRC, "netrc"))
    if "login" in text:
        found.append((_AFTER_LOGIN, "generic"))
    if "curl" in text:
        found.append((_USER_OPTION, "generic"))
    if "sshpass" in text:
        found.append((_SSHPASS, "generic"))
    for expression, provider in found:
        for match in re.compile(expression).finditer(text):
            value = match["value"]
            if _is_reference(value) or not (_looks_random(value) or _is_password(value)):
                continue
            if provider == "netrc" and "machine" not in text[max(match.start() - 200, 0) : match.start()]:
                continue
            yield Secret(match.start("value"), match.end("value"), "generic", is_placeholder(value))


def _is_password(value: str) -> bool:
    """Whether a value has characters of two kinds at least."""
    tests = (any(map(str.isdigit, value)), any(map(str.isupper, value)), any(map(str.islower, value)))
    return len(value) >= 6 and sum(tests) + (not value.isalnum()) >= 2


def _plain(matches: Iterable[re.Match[str]], provider: str) -> Iterator[Secret]:
    for match in matches:
        if not _is_reference(match["value"]):
            yield Secret(match.start("value"), match.end("value"), provider, is_placeholder(match["value"]))


def _named(text: str) -> Iterator[Secret]:
    """Values given to a name that holds a credential."""
    for first, behind in _name_words(text):
        start, end = _name_start(text, first), _name_end(text, behind)
        if not is_secret_name(text[start:end]) or text.startswith(("}", ":-}"), end):  # `${NAME}`, `${NAME:-}`
            continue
        after = re.compile(_AFTER_NAME).match(text, behind)
        if after is None:
            continue
        name = text[start : after.start("delimiter")]
        if not is_secret_name(name) or not _gives(text, start, name, after["delimiter"]):
            continue
        group = "quoted" if after["quote"] else "bare"
        value = after[group]
        if (
            not value.strip()
            or _is_reference(value)
            or re.compile(_NO_VALUE).match(value)
            or (after.start(group) == after.start("bare") and re.compile(_CODE).match(value))
        ):
            continue
        if not after["delimiter"].strip(" \t\\\n") and is_secret_name(value):
            continue  # `--secret HF_TOKEN` passes a name on
        placeholder = is_placeholder(value)
        if placeholder or _looks_secret(name, value):
            yield Secret(after.start(group), after.end(group), _owner(name), placeholder)


def _name_start(text: str, at: int) -> int:
    """Where the name begins that has the character at `at`."""
    start = at
    while start > 0 and at - start < _LONGEST_NAME and text[start - 1] in _NAME_CHARACTERS:
        start -= 1
    return start


def _name_end(text: str, at: int) -> int:
    """Where the name ends that has the character before `at`: a longer one than the expression reads is cut."""
    end = at
    while end < len(text) and end - at < _LONGEST_REST and (text[end].isalnum() or text[end] in "_-"):
        end += 1
    return end


def _gives(text: str, start: int, name: str, delimiter: str) -> bool:
    """Whether what follows is the name's value: `NAME=`, `name:`, `--name value`, `${NAME:-value}`, `("NAME", "…")`."""
    before = text[max(start - 2, 0) : start]
    if delimiter in (":-", ":="):
        return before == "${"
    if before.endswith(("$", "${")):
        return False
    if name.startswith("-") or delimiter.strip(" \t\\\n") != "":
        return True
    return re.compile(_ENV_LINE).search(text, max(start - 12, 0), start) is not None


def _looks_secret(name: str, value: str) -> bool:
    if _is_path(value) or " " in value:
        return False
    if "PASS" in name.upper():
        return _is_password(value)
    return _looks_random(value)


def _looks_random(value: str) -> bool:
    """Whether a value is too irregular to be a word, a number or a path."""
    if re.fullmatch(r"(?:local-)?[0-9a-fA-F]{32,}", value):
        return len(set(value)) > 2
    letters, digits = any(map(str.isalpha, value)), any(map(str.isdigit, value))
    if not letters or _is_path(value):
        return False
    if digits:
        return len(value) >= 12 and _entropy(value) >= 2.8
    return len(value) >= 20 and value.upper() != value != value.lower() and "_" not in value and _entropy(value) >= 3.5


def _entropy(value: str) -> float:
    """Shannon entropy in bits a character."""
    from math import log2

    return -sum((share := value.count(each) / len(value)) * log2(share) for each in set(value))


def _is_path(value: str) -> bool:
    return (
        value.startswith(("/", "./", "../", "~"))
        or "://" in value
        or bool(re.search(r"\.(?:json|txt|ya?ml|pem|env|key|sh|py)$", value))
    )


def _is_reference(value: str) -> bool:
    return bool(re.compile(_REFERENCE).search(value))


def _is_stand_in(value: str) -> bool:
    plain = value.strip("-_. ").lower()
    if len(set(plain)) <= 1 or plain in _STAND_INS or re.sub(r"[-_ ]", "", plain) in _STAND_INS:
        return True
    if (value[0], value[-1]) in {("<", ">"), ("[", "]"), ("{", "}")} or value.endswith(("...", "…")) or MASK in value:
        return True
    if re.compile(_STAND_IN_PART).search(value):
        return True
    return is_secret_name(value) and not any(map(str.isdigit, value))


def _owner(name: str) -> str:
    words = re.compile(_WORDS).findall(name.rsplit(".", 1)[-1])
    known = {
        "WANDB": "wandb",
        "HF": "huggingface",
        "HUGGINGFACE": "huggingface",
        "HUGGING": "huggingface",
        "OPENAI": "openai",
        "AWS": "aws",
    }
    known |= {
        "ANTHROPIC": "anthropic",
        "GITHUB": "github",
        "GH": "github",
        "SLACK": "slack",
        "GOOGLE": "google",
        "GEMINI": "google",
    }
    return next((known[word.upper()] for word in words if word.upper() in known), "generic")


def _public_prefix(value: str) -> str:
    prefix = re.compile(_PREFIX).match(value)
    return prefix.group()[:4] if prefix else ""


def _broken_off(text: str) -> list[tuple[int, int]]:
    """Tokens of a known shape that were cut short with an ellipsis."""
    if "…" not in text and "..." not in text:
        return []
    return [
        match.span()
        for match in re.finditer(rf"(?<![A-Za-z0-9_])(?:{_PREFIX})[A-Za-z0-9_-]{{4,}}(?=…|\.\.\.)", text)
        if not is_placeholder(match.group())
    ]


def _occurrences(text: str, value: str) -> list[tuple[int, int]]:
    """Where a value stands in a text: whole, or its beginning as far as it goes, also without its public prefix."""
    if len(value) < 6:
        return []
    prefix = re.compile(_PREFIX).match(value)
    if prefix and len(value) - prefix.end() >= 16:
        return _runs(text, value) + _runs(text, value[prefix.end() :])
    return _runs(text, value)


def _runs(text: str, value: str) -> list[tuple[int, int]]:
    head = value if len(value) < 16 else value[: len(_public_prefix(value)) + 8]
    found: list[tuple[int, int]] = []
    at = text.find(head)
    while at >= 0:
        end = at + len(head)
        while end < len(text) and end - at < len(value) and text[end] == value[end - at]:
            end += 1
        found.append((at, end))
        at = text.find(head, end)
    return found


@cache
def _shapes() -> re.Pattern[str]:
    return re.compile(r"(?<![A-Za-z0-9_])(?:" + "|".join(f"({shape})" for _, shape in _SHAPES) + ")")
