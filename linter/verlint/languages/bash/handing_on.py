"""What of the environment gets through: `sudo`, `srun --export`, `sbatch --export`, `qsub -v`, `bsub -env`, files of
variables.

Sources: sudo(8) and sudoers(5) with its default `env_reset`, srun(1), sbatch(1), bsub(1), qsub of PBS and of Grid
Engine, the reference of `docker run --env-file`, that of Compose for `env_file`, env(1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from verlint.languages.bash.wrappers import Unwrapped
from verlint.record import dataclass, field, replace
from verlint.source import Source
from verlint.value import Hop, Literal, Text

_NEVER_BY_SUDO = frozenset(
    ["PYTHONHOME", "PYTHONPATH", "PYTHONINSPECT", "PYTHONUSERBASE", "LD_LIBRARY_PATH", "LD_PRELOAD", "BASH_ENV", "ENV",
     "CDPATH", "IFS", "SHELLOPTS", "PATH", "PERLLIB", "RUBYLIB"]
)  # fmt: skip
"""What `sudo -E` takes away all the same. Source: sudoers(5), `env_delete`, and `secure_path`."""
_KEPT_BY_SUDO = frozenset(["TERM", "DISPLAY", "XAUTHORITY", "LANG", "LANGUAGE", "COLORTERM", "XDG_CURRENT_DESKTOP"])
_OF_SLURM = frozenset(["SLURM_*"])
STEP, BATCH, SUDO = "the job step", "the batch job", "sudo"
"""Names of places that get only what is handed on."""


@dataclass(frozen=True, slots=True)
class Export:
    """What a list like that of `--export` lets through: everything (`all`), the `passed` names, those `given` a value.
    `cut` are the pieces that are no names: what a comma in a value cuts off."""

    all: bool
    passed: frozenset[str] = frozenset()
    given: Mapping[str, Text] = field(default_factory=dict)
    cut: tuple[Text, ...] = ()


EVERYTHING = Export(True)


def export_list(given: Text | None) -> Export:
    """The list of `--export` (and of `SLURM_EXPORT_ENV`): `ALL`, `NONE`, `NIL`, `[ALL,]NAME[=VALUE],…`."""
    text = None if given is None else given.known
    if given is None or (text is None and not given.prefix):
        return EVERYTHING
    if (text or "").upper() in ("NONE", "NIL"):
        return Export(False, _OF_SLURM)
    passed, values, cut, everything = set[str](), dict[str, Text](), list[Text](), False
    for piece in pieces_of(given):
        name, equals, _ = piece.prefix.partition("=")
        if piece.known is not None and piece.known.upper() == "ALL":
            everything = True
        elif equals and name.isidentifier():
            values[name] = piece.slice(len(name) + 1, 1_000_000)
        elif piece.known is None:  # nobody knows what it names
            everything = True
        elif name.isidentifier():
            passed.add(name)
        elif values and name:
            cut.append(piece)
    return Export(everything, frozenset(passed) | _OF_SLURM, values, tuple(cut))


def pieces_of(given: Text) -> list[Text]:
    """A list at its commas; those between quotes that Slurm sees belong to a value."""
    flat = "".join(part.text if isinstance(part, Literal) else "\0" for part in given.parts)
    out: list[Text] = []
    start, single, double = 0, False, False
    for at, char in enumerate(flat):
        single ^= char == "'"
        double ^= char == '"'
        if char == "," and not (single or double):
            out.append(given.slice(start, at))
            start = at + 1
    out.append(given.slice(start, len(flat)))
    return [piece for piece in out if piece.parts]


def filtered(inner: Unwrapped, options: Sequence[Text]) -> Unwrapped:
    """A wrapped command with what `sudo` or `srun` lets through."""
    return _by_sudo(inner, options) if inner.wrappers[-1] == "sudo" else _by_srun(inner, options)


def _by_sudo(inner: Unwrapped, options: Sequence[Text]) -> Unwrapped:
    kept = set(_KEPT_BY_SUDO)
    for word in options:
        text = word.known if word.known is not None else word.prefix
        if text == "--preserve-env" or (text.startswith("-") and not text.startswith("--") and "E" in text):
            return replace(inner, without=_NEVER_BY_SUDO.difference(inner.assignments))
        if text.startswith("--preserve-env="):
            if word.known is None:
                return inner
            kept.update(text.partition("=")[2].split(","))
        if word.elastic and not text:
            return inner
    return replace(inner, bare=True, kept=frozenset(kept), place=SUDO)


def _by_srun(inner: Unwrapped, options: Sequence[Text]) -> Unwrapped:
    said = None
    for at, word in enumerate(options):
        text = word.known if word.known is not None else word.prefix
        if text == "--export" and at + 1 < len(options):
            said = options[at + 1]
        elif text.startswith("--export="):
            said = word.slice(len("--export="), 1_000_000)
    if said is None:
        return inner
    found = export_list(said)
    assignments = {**inner.assignments, **found.given}
    if found.all:
        return replace(inner, assignments=assignments)
    return replace(inner, assignments=assignments, bare=True, kept=found.passed, place=STEP)


def split_string(word: Text) -> tuple[Text, ...]:
    """The words of a string as `env -S` splits it; none where it holds quotes, escapes or variables."""
    text = word.known
    if text is None or any(char in text for char in "\\'\"$#"):
        return ()
    out: list[Text] = []
    at = 0
    for each in text.split():
        start = text.index(each, at)
        at = start + len(each)
        out.append(word.slice(start, at))
    return tuple(out)


def read_env_file(source: Source, *, quotes: bool) -> tuple[dict[str, Text], tuple[str, ...]]:
    """The variables of a file, and the names that it only hands on. Docker takes what stands behind `=` as it is;
    Compose, Podman and the tools that read `.env` (`quotes`) take quotes away."""
    given: dict[str, Text] = {}
    passed: list[str] = []
    at = 0
    for line in source.text.split("\n"):
        start, at = at, at + len(line) + 1
        text = line.rstrip("\r")
        bare = text.strip().removeprefix("export ").strip() if quotes else text.lstrip()
        if not bare or bare.startswith("#"):
            continue
        name, equals, value = bare.partition("=")
        name = name.strip()
        if not name.isidentifier():
            continue
        if not equals:
            passed.append(name)
            continue
        span = source.span(start, start + len(text))
        found = _unquoted(value.strip()) if quotes else value
        if found is None:
            given.pop(name, None)
            continue
        given[name] = Text((Literal(found, None, (Hop(span),)),), span)
    return given, tuple(passed)


def _unquoted(value: str) -> str | None:
    """A value of a `.env` file; None where it is put together from others."""
    if value[:1] in ("'", '"'):
        quote = value[0]
        end = value.find(quote, 1)
        return None if end < 0 or (quote == '"' and ("$" in value or "\\" in value)) else value[1:end]
    value = value.partition(" #")[0].rstrip()
    return None if "$" in value else value
