"""Projects with a fault that has a fix: the bad fixtures of a rule, changed at random in ways that leave the fault.

Each change is one that people's files differ by: names, indents, comments, line ends, marks, places, embeddings."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from verlint.example import Example, project_copy

BOM = b"\xef\xbb\xbf"
NOTE = "# note {} of the run \N{SNOWMAN} \N{OCTOPUS}"
EXTRA = (
    "trainer.project_name=maths",
    "trainer.experiment_name='second try'",
    "trainer.test_freq=25",
    'data.prompt_key="prompt"',
    "data.shuffle=True",
    "trainer.total_epochs=3",
)


@dataclass(frozen=True)
class Planted:
    """A project with a fault: its files by path, what was done to it, and whether paths are what is checked."""

    code: str
    name: str
    files: Mapping[str, bytes]
    done: tuple[str, ...] = ()

    def with_file(self, path: str, data: bytes, done: str) -> Planted:
        """The project with one file changed."""
        return replace(self, files={**self.files, path: data}, done=(*self.done, done))


Change = Callable[[Planted, random.Random], Planted]


def of_example(example: Example) -> Planted:
    """A fixture as it is."""
    with project_copy(example) as folder:
        files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in _files(folder)}
    return Planted(example.code, example.name, files)


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def changed(planted: Planted, chance: random.Random) -> Planted:
    """The project after some changes: those of its texts first, those of its bytes last."""
    for change in chance.sample(TEXT_CHANGES, chance.randint(1, 3)):
        planted = change(planted, chance)
    for change in chance.sample(BYTE_CHANGES, chance.randint(0, 2)):
        planted = change(planted, chance)
    return planted


def _launchers(planted: Planted) -> list[str]:
    return [path for path in planted.files if path.endswith(".sh")]


def _each(planted: Planted, ends: tuple[str, ...], done: str, change: Callable[[str], str]) -> Planted:
    for path, data in list(planted.files.items()):
        if path.endswith(ends):
            text = change(data.decode())
            if text.encode() != data:
                planted = planted.with_file(path, text.encode(), done)
    return planted


def _open_text(text: str) -> bool:
    """Whether lines may stand in a text that goes over several: a here-document, a quoted text."""
    return "<<" in text or any(line.count('"') % 2 or line.count("'") % 2 for line in text.split("\n"))


def notes(planted: Planted, chance: random.Random) -> Planted:
    """Comments with characters outside of the first plane, between statements."""

    def change(text: str) -> str:
        if _open_text(text):
            return text
        lines = text.split("\n")
        out: list[str] = []
        for number, line in enumerate(lines):
            before = lines[number - 1] if number else "\\"
            above = not before.strip() or (before.startswith("#") and not before.endswith("\\"))
            between = above and "verlint:" not in before and not line.startswith((" ", "\t", ")"))
            if between and chance.random() < 0.4:
                out.append(NOTE.format(chance.randint(0, 99)))
            out.append(line)
        return "\n".join(out)

    return _each(planted, (".sh",), "notes", change)


def indents(planted: Planted, chance: random.Random) -> Planted:
    """Continued lines with another indent."""
    indent = chance.choice(["  ", "\t", "      "])

    def change(text: str) -> str:
        return text if _open_text(text) else re.sub(r"(?m)^    (?=\S)", indent, text)

    return _each(planted, (".sh",), "indents", change)


def overrides(planted: Planted, chance: random.Random) -> Planted:
    """More overrides in front of those of a launch."""

    def change(text: str) -> str:
        chosen = [each for each in chance.sample(EXTRA, 3) if each.partition("=")[0] not in text]
        new = "".join(f"\n    {each} \\" for each in chosen)
        return re.sub(r"(?m)^((?:[^#\n]* )?-m verl\.trainer\.main_ppo \\)$", lambda found: found[1] + new, text)

    return _each(planted, (".sh", ".md"), "overrides", change)


def tail(planted: Planted, chance: random.Random) -> Planted:
    """Something below."""
    del chance
    return _each(
        planted, (".sh",), "tail", lambda text: text + ("" if _open_text(text) else "\n# the end\necho done\n")
    )


def function(planted: Planted, chance: random.Random) -> Planted:
    """The body of the launcher as a function."""
    del chance

    def change(text: str) -> str:
        head, lines = [], text.split("\n")
        while lines and lines[0].startswith("#"):
            head.append(lines.pop(0))
        if _open_text(text) or "main_ppo" not in text or "getopts" in text or re.search(r"(?m)^\w+\(\)", text):
            return text
        return "\n".join([*head, "", "main() {", *lines, "}", "", 'main "$@"', ""])

    return _each(planted, (".sh",), "function", change)


def copies(planted: Planted, chance: random.Random) -> Planted:
    """The same launcher twice, with a name with a blank."""
    del chance
    for path in _launchers(planted):
        name = re.sub(r"([^/]+)\.sh$", r"\1 (copy).sh", path)
        planted = planted.with_file(name, planted.files[path], "copies")
    return planted


def page(planted: Planted, chance: random.Random) -> Planted:
    """The launcher as a block of a README, maybe of a list."""
    found = _launchers(planted)
    if len(found) != 1 or len(planted.files) != 1 or "```" in planted.files[found[0]].decode():
        return planted
    indent = chance.choice(["", "   "])
    lines = [f"{indent}{line}" if line else line for line in planted.files[found[0]].decode().rstrip("\n").split("\n")]
    head = ["# Train \N{OCTOPUS}", "", "1. Start it:" if indent else "Start it:", "", f"{indent}```bash"]
    text = "\n".join([*head, *lines, f"{indent}```", "", "That is all.", ""])
    return replace(planted, files={"README.md": text.encode()}, done=(*planted.done, "page"))


def job(planted: Planted, chance: random.Random) -> Planted:
    """The launcher as the block of a job, literal."""
    found = _launchers(planted)
    if len(found) != 1 or len(planted.files) != 1:
        return planted
    indent = " " * chance.randint(2, 5)
    text = planted.files[found[0]].decode()
    if "\t" in text or not text.endswith("\n"):
        return planted
    lines = [indent + line if line else line for line in text.rstrip("\n").split("\n")]
    body = "\n".join(["# job \N{OCTOPUS}", "resources: {accelerators: H100:8}", "workdir: .", "run: |", *lines, ""])
    return replace(planted, files={"job.yaml": body.encode()}, done=(*planted.done, "job"))


def yaml_notes(planted: Planted, chance: random.Random) -> Planted:
    """Comments in a spec: above it, between its keys, behind values."""

    def change(text: str) -> str:
        lines = text.split("\n")
        out = []
        for line in lines:
            if re.match(r"[a-z_]+:", line) and chance.random() < 0.5:
                out.append(NOTE.format(chance.randint(0, 99)))
            plain = re.fullmatch(r" *[a-z_.]+: [\w./-]+", line)
            out.append(line + "  # as agreed" if plain and chance.random() < 0.3 else line)
        return "\n".join(out)

    return _each(planted, (".exp.yaml",), "yaml notes", change)


def line_ends(planted: Planted, chance: random.Random) -> Planted:
    """All lines end as those of Windows."""
    del chance
    ends = (".sh", ".md", ".yaml", ".yml", ".py")
    return _each(planted, ends, "line ends", lambda text: text.replace("\r\n", "\n").replace("\n", "\r\n"))


def no_last_end(planted: Planted, chance: random.Random) -> Planted:
    """The last line has no end."""
    del chance
    return _each(planted, (".sh", ".md", ".yaml", ".py"), "no last end", lambda text: text.rstrip("\r\n"))


def mark(planted: Planted, chance: random.Random) -> Planted:
    """A byte order mark in front."""
    del chance
    for path, data in planted.files.items():
        if path.endswith((".sh", ".md", ".exp.yaml", ".py")):
            planted = planted.with_file(path, BOM + data.removeprefix(BOM), "mark")
    return planted


TEXT_CHANGES: list[Change] = [notes, indents, overrides, tail, function, copies, page, job, yaml_notes]
BYTE_CHANGES: list[Change] = [line_ends, no_last_end, mark]
