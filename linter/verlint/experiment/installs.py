"""What a command installs, and where: `pip install`, `uv pip install`, `python setup.py install`."""

from __future__ import annotations

from collections.abc import Sequence

from verlint.experiment.python_programs import python_program
from verlint.languages.bash.command import Command
from verlint.languages.bash.wrappers import program_name, unwrap
from verlint.lazy import pattern
from verlint.memo import by_identity
from verlint.record import dataclass
from verlint.value import Literal, Text

_PIP = pattern(r"pip(?:3(?:\.\d+)?)?")
_NAME = pattern(r"([A-Za-z0-9][\w.-]*?)(?=$|[\[=<>!~;@ ])")
_WITH_VALUE = frozenset(
    ["-i", "--index-url", "--extra-index-url", "-f", "--find-links", "-c", "--constraint", "-t", "--target", "--prefix",
     "--root", "--trusted-host", "--torch-backend", "--python", "-p", "--config-settings", "-C", "--cache-dir",
     "--progress-bar", "--timeout", "--retries", "--proxy", "--platform", "--python-version", "--no-binary",
     "--only-binary", "--index-strategy", "--no-build-isolation-package", "--extra", "--group"]
)  # fmt: skip
"""Options of `pip install` and `uv pip install` that take the next word. Source: their own `--help`."""

_FORCED = frozenset(["-U", "--upgrade", "--force-reinstall", "-I", "--ignore-installed", "--reinstall"])


@dataclass(frozen=True)
class Install:
    """What an install command names: folders of source trees (installed as a copy or, as `editable`, in place),
    `packages` as requirements or addresses, and `files` of requirements. `forced` says that it replaces what is there.
    """

    command: Command
    folders: tuple[Text, ...] = ()
    editable: tuple[Text, ...] = ()
    packages: tuple[Text, ...] = ()
    files: tuple[Text, ...] = ()
    forced: bool = False


@by_identity
def install_of(command: Command) -> Install | None:
    """What a command installs, None for other commands."""
    if command.builtin or command.function:
        return None
    words = _behind_install(command)
    if words is not None:
        return _install(command, words)
    return _by_setup_file(command)


def package_name(requirement: Text) -> str:
    """The name of a package in a requirement, in lower case with `-`; "" for an address or what is not known."""
    text = requirement.prefix
    match = _NAME.match(text)
    if match is None or "://" in text or "+" in text.split(":")[0] or "/" in text:
        return ""
    if match.end() == len(text) and requirement.known is None:
        return ""
    return match.group(1).lower().replace("_", "-").replace(".", "-")


def _behind_install(command: Command) -> tuple[Text, ...] | None:
    argv = unwrap(command.argv).argv
    name = program_name(argv[0]) if argv else ""
    if name.startswith("pip") and _PIP.fullmatch(name):
        return _behind(argv[1:], "install")
    if name == "uv":
        return _behind(argv[2:], "install") if len(argv) > 2 and argv[1].known == "pip" else None
    program = python_program(command.argv)
    if program is None or not program.module or program.entry not in ("pip", "uv"):
        return None
    arguments = program.arguments
    if program.entry == "uv":
        if not arguments or arguments[0].known != "pip":
            return None
        arguments = arguments[1:]
    return _behind(arguments, "install")


def _behind(words: Sequence[Text], verb: str) -> tuple[Text, ...] | None:
    for at, word in enumerate(words):
        if word.known == verb:
            return tuple(words[at + 1 :])
        if not (word.known or "").startswith("-"):
            return None
    return None


def _install(command: Command, words: Sequence[Text]) -> Install:
    found: dict[str, list[Text]] = {"folders": [], "editable": [], "packages": [], "files": []}
    forced = False
    at = 0
    while at < len(words):
        text = words[at].known or words[at].prefix
        option, equals, _ = text.partition("=")
        kind = {"-e": "editable", "--editable": "editable", "-r": "files", "--requirement": "files"}.get(option)
        if kind is not None and text.startswith("-"):
            value = words[at].slice(len(option) + 1, 1_000_000) if equals else None
            if value is None and at + 1 < len(words):
                at += 1
                value = words[at]
            if value is not None:
                found[kind].append(_without_extras(value))
        elif text.startswith("-") and text != "-":
            forced = forced or option in _FORCED
            at += option in _WITH_VALUE and not equals
        elif text or words[at].parts:
            found["folders" if _is_folder(words[at]) else "packages"].append(
                _without_extras(words[at]) if _is_folder(words[at]) else words[at]
            )
        at += 1
    return Install(
        command,
        folders=tuple(found["folders"]),
        editable=tuple(found["editable"]),
        packages=tuple(found["packages"]),
        files=tuple(found["files"]),
        forced=forced,
    )


def _is_folder(word: Text) -> bool:
    """Whether a word names a source tree: pip takes a word with a slash, or `.`, for a path."""
    text = word.shown
    if "://" in text or text.endswith((".whl", ".gz", ".zip")) or "git+" in text or "@" in text:
        return False
    return text.split("[")[0] in (".", "..") or "/" in text


def _without_extras(word: Text) -> Text:
    """`./verl[vllm]` without what stands in brackets."""
    at = 0
    for part in word.parts:
        if not isinstance(part, Literal):
            at += 1
            continue
        if "[" in part.text:
            return word.slice(0, at + part.text.index("["))
        at += len(part.text)
    return word


def _by_setup_file(command: Command) -> Install | None:
    program = python_program(command.argv)
    if program is None or program.module or program_name(program.name) != "setup.py":
        return None
    verbs = {word.known for word in program.arguments}
    here = (Text((*program.name.slice(0, max(len(program.entry) - len("setup.py"), 0)).parts, Literal("."))),)
    if "install" in verbs:
        return Install(command, folders=here)
    return Install(command, editable=here) if "develop" in verbs else None
