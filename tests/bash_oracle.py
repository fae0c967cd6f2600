"""What bash itself starts: harmless snippets run where no program exists, so that every command is only recorded.

Each snippet runs in an empty temporary folder with an empty environment. The one folder of PATH holds links to bash
and to a few programs that only print (`TOOLS`); any other command ends in `command_not_found_handle`, which writes its
words down and succeeds. Snippets must not name programs by path, redirect outside their folder or leave jobs behind."""

from __future__ import annotations

import functools
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from verlint.languages.bash.command import Command
from verlint.languages.bash.replay import Entry, explore
from verlint.languages.bash.replay import Path as Way
from verlint.source import Source
from verlint.value import Literal, Text

TOOLS = ("dirname", "basename", "seq", "cat", "wc", "tr", "head", "cut")
"""Programs that really run, because the interpreter computes what they print; calls of them are not compared."""

BASE = {"HOME": "/home/user", "USER": "user", "LC_ALL": "C.UTF-8"}
"""The environment of every snippet."""

ENDLESS = 152
"""Status of a snippet that used up its processor time: 128 + SIGXCPU."""

_HANDLER = """\
() {{ {{ set +eux; }} 2>/dev/null
 builtin printf '%s\\0' "$#" "$@" >> {record}
 case $1 in
 ssh) shift 2; set -- bash -c "$*"; given=() ;;
 docker) shift 2; given=()
  while [[ $1 == -e ]]; do
   if [[ $2 == *=* ]]; then given+=("$2"); elif [[ ${{!2@a}} == *x* ]]; then given+=("$2=${{!2}}"); fi
   shift 2
  done
  shift ;;
 *) return 0 ;;
 esac
 for name in $(compgen -e); do case $name in PATH|HOME|USER|LC_ALL) ;; *) unset "$name" ;; esac; done
 for name in "${{given[@]}}"; do export "$name"; done
 unset given name; cd /; "$@"
}}"""
"""Writes down the words of a program. `ssh HOST …` and `docker run|exec [-e …]… NAME …` run their command as they would
elsewhere: with the variables that get there, and in another folder."""


@dataclass(frozen=True)
class Snippet:
    """A script, its arguments, exported variables, and the files around it (a path that ends in "/" is a folder)."""

    text: str
    arguments: Sequence[str] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Ran:
    """The commands that were started, the exit status, and what was printed to the standard error."""

    commands: tuple[tuple[str, ...], ...]
    status: int
    errors: str = ""


class Checkout:
    """The files around a snippet, in memory, as the interpreter asks for them."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self.sources = {path: Source(path, text) for path, text in files.items() if not path.endswith("/")}
        self.folders = {""} | {path.rstrip("/") for path in files if path.endswith("/")}
        for path in files:
            while "/" in path:
                path = path.rpartition("/")[0]
                self.folders.add(path)

    def exists(self, path: str) -> bool:
        return path in self.sources or path in self.folders

    def is_dir(self, path: str) -> bool:
        return path in self.folders

    def is_executable(self, path: str) -> bool:
        return path in self.folders or path.endswith(".sh")

    def listing(self, path: str) -> list[str]:
        prefix = path + "/" if path else ""
        found = {
            each[len(prefix) :].partition("/")[0]
            for each in (*self.sources, *self.folders)
            if each != path and each.startswith(prefix)
        }
        return sorted(found - {""})

    def source(self, path: str) -> Source | None:
        return self.sources.get(path)


@functools.cache
def bash() -> str | None:
    """The path of a bash of version 5 or later."""
    found = shutil.which("bash")
    if found is None:
        return None
    version = subprocess.run(
        [found, "-c", "echo ${BASH_VERSINFO[0]}"], capture_output=True, text=True, check=False
    ).stdout
    return found if version.strip().isdigit() and int(version) >= 5 else None


def required_bash() -> str:
    """The path of bash; skips the test where there is none that is new enough."""
    found = bash()
    if found is None:
        pytest.skip("needs bash 5 or later")
    return found


def run_in_bash(snippets: Sequence[Snippet], folder: Path, *, seconds: int = 1) -> list[Ran]:
    """Run snippets one after the other, each in the folder of its number below `folder`, with so much processor
    time."""
    program = required_bash()
    (folder / "bin").mkdir()
    (folder / "bin" / "bash").symlink_to(program)
    for tool in TOOLS:
        if (found := shutil.which(tool)) is None:
            pytest.skip(f"needs {tool}")
        (folder / "bin" / tool).symlink_to(found)
    record = folder / "record"
    driver = [f"exec 3>>{record}"]
    for number, snippet in enumerate(snippets):
        _write(folder / str(number), {**snippet.files, "main.sh": snippet.text})
        exports = "".join(f"export {name}={shlex.quote(value)}; " for name, value in snippet.environment.items())
        command = shlex.join(["bash", "main.sh", *snippet.arguments])
        driver.append("printf '@\\0' >&3")
        driver.append(
            f"( cd {folder / str(number)} && {exports}ulimit -t {seconds} && exec {command} 3>&- 2>../{number}.err )"
        )
        driver.append("printf '=\\0%s\\0' $? >&3")
    (folder / "driver").write_text("\n".join(driver) + "\n", encoding="utf-8")
    environment = {
        **BASE,
        "PATH": str(folder / "bin"),
        "BASH_FUNC_command_not_found_handle%%": _HANDLER.format(record=record),
    }
    subprocess.run(
        [program, folder / "driver"],
        env=environment, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        timeout=60 + 2 * seconds * len(snippets), check=True,
    )  # fmt: skip
    errors = [(folder / f"{number}.err").read_text("utf-8", "replace") for number in range(len(snippets))]
    return [
        Ran(*run, errors[number])
        for number, run in enumerate(_runs(record.read_bytes().decode("utf-8", "surrogateescape")))
    ]


def _write(folder: Path, files: Mapping[str, str]) -> None:
    folder.mkdir()
    for path, text in files.items():
        if path.endswith("/"):
            (folder / path).mkdir(parents=True, exist_ok=True)
            continue
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(text.encode())
        (folder / path).chmod(0o755 if path.endswith(".sh") else 0o644)


def _runs(record: str) -> Iterable[tuple[tuple[tuple[str, ...], ...], int]]:
    fields = iter(record.split("\0"))
    commands: list[tuple[str, ...]] = []
    for each in fields:
        if each == "@":
            commands = []
        elif each == "=":
            yield tuple(commands), int(next(fields))
        elif each:
            commands.append(tuple(next(fields) for _ in range(int(each))))


def run_in_verlint(snippet: Snippet, mount: str) -> Way:
    """The first path of a snippet in a closed world: nothing is known but what is given."""
    source = Source("main.sh", snippet.text)
    entry = Entry(
        name="main.sh",
        arguments=snippet.arguments,
        environment={**BASE, "PATH": "/bin", **snippet.environment},
        mount=mount,
        closed=True,
    )
    return explore([source], Checkout({**snippet.files, "main.sh": snippet.text}), entry, max_paths=1).paths[0]


def started(way: Way) -> list[Command]:
    """The commands of a path that the oracle records: those that are no builtin, no path and no tool."""
    return [
        command
        for command in way.commands
        if not (command.builtin or command.function or "/" in command.argv[0].shown or command.name in (*TOOLS, "bash"))
    ]


def agree(ours: Sequence[Text], theirs: Sequence[str]) -> bool:
    """Whether words that may hold unknowns can be these words."""
    if not ours:
        return not theirs
    if ours[0].elastic:
        return any(agree(ours[1:], theirs[at:]) for at in range(len(theirs) + 1))
    return bool(theirs) and _fits(ours[0], theirs[0]) and agree(ours[1:], theirs[1:])


def _fits(word: Text, text: str) -> bool:
    if not word.holes:
        return word.known == text
    middle = [part.text for part in word.parts if isinstance(part, Literal)]
    return text.startswith(word.prefix) and text.endswith(word.suffix) and all(each in text for each in middle)


def temporary() -> tempfile.TemporaryDirectory[str]:
    """A folder whose path holds no link, as `pwd` shows it."""
    return tempfile.TemporaryDirectory(prefix="verlint-bash-", dir=Path(tempfile.gettempdir()).resolve())
