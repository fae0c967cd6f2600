"""The calls that the fixtures make or describe, each as a job with a name."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path

from oracle.sandbox import Job
from verlint.experiment.spec_calls import call_arguments, launcher_place
from verlint.experiment.spec_reader import read_spec
from verlint.files.tree import Tree
from verlint.languages.documents import shell_fences
from verlint.source import Source
from verlint.value import Literal, Text


def experiment_calls(folder: Path) -> dict[str, Job]:
    """Every launcher without arguments, every fence of the documents, every stage of the specs; each in an empty
    environment and in one where what is asked for is set."""
    calls: dict[str, Job] = {}
    environment = wanted_environment(folder)
    for name, job in (*_launchers(folder), *_fences(folder), *_stages(folder)):
        while name in calls:
            name += "'"
        calls[name] = job
        calls[f"{name} (environment set)"] = Job(job.script, job.arguments, environment, job.start, folder, job.texts)
    return calls


def rule_fixture_calls(fixtures: Path) -> dict[str, Job]:
    """Every launcher of the rules' fixtures without arguments, seen from its fixture; not those that never end."""
    calls: dict[str, Job] = {}
    for case in sorted(fixtures.glob("VL*/*")):
        if case.parent.name == "VL923" and case.name != "good-left":
            continue
        for name, job in _launchers(case):
            calls[f"{case.parent.name}/{case.name}/{name}"] = job
    return calls


def wanted_environment(folder: Path) -> dict[str, str]:
    """A value for each variable that a launcher or document insists on (`${NAME:?}`) and nothing assigns."""
    texts = [path.read_text("utf-8") for end in ("sh", "md") for path in folder.rglob(f"*.{end}")]
    wanted = {name for text in texts for name in re.findall(r"\$\{([A-Z][A-Z0-9_]+):?\?", text)}
    assigned = {name for text in texts for name in re.findall(r"(?:^|[\s;])([A-Z][A-Z0-9_]+)\+?=", text)}
    return {name: f"/data/{name.lower()}" for name in sorted(wanted - assigned)}


def _launchers(folder: Path) -> Iterator[tuple[str, Job]]:
    for path in sorted(folder.rglob("*.sh")):
        name = path.relative_to(folder).as_posix()
        yield name, Job(name, folder=folder)


def _fences(folder: Path) -> Iterator[tuple[str, Job]]:
    for path in sorted(folder.rglob("*.md")):
        document = path.relative_to(folder).as_posix()
        for number, fence in enumerate(shell_fences(Source(document, path.read_text("utf-8")))):
            first = fence.source.text.strip().partition("\n")[0][:80]
            script = f".fence-{number}.sh"
            yield f"{document}: {first}", Job(script, folder=folder, texts={script: fence.source.text})


def _stages(folder: Path) -> Iterator[tuple[str, Job]]:
    tree = Tree(folder)
    for path in sorted(folder.rglob("*.exp.yaml")):
        name = path.relative_to(folder).as_posix()
        file = read_spec(Source(name, path.read_text("utf-8")))
        if file.spec is None:
            continue
        for stage_name, stage in file.spec.stages.items():
            place = launcher_place(name, file.spec, stage, tree)
            arguments = None if place is None else call_arguments(stage, place.source)
            if place is not None and arguments is not None:
                words = tuple(_filled(word) for word in arguments)
                yield (
                    f"{name} {stage_name}",
                    Job(posixpath.normpath(place.name), words, start=place.start, folder=folder),
                )


def _filled(word: Text) -> str:
    """A word with some text for each hole."""
    return "".join(each.text if isinstance(each, Literal) else f"/data/{len(str(each.name))}" for each in word.parts)
