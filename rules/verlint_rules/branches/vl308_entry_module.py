"""The module that is started must exist in the VeRL that runs.

Entry points move: `verl.trainer.fsdp_sft_trainer` ended with 0.7.0, `main_generation` as well, recipes left the
repository. `python -m` then stops with "No module named …" as soon as the job has its nodes; a launcher that was copied
from a newer or an older checkout often differs in nothing else.

The module is looked for in the checkout that Python finds first: the working directory and `PYTHONPATH`, where they are
on disk and hold the package. Of a checkout that lies beside the launcher, as for `pip install -e ./verl`, it is one to
verify. For a VeRL that is pinned, by a requirements file, a directive or an option, the list of its release decides.
Silent for packages that are not on disk, for a folder that a clone or a submodule fills, and for a version that is only
a guess.

`torchrun verl.trainer.fsdp_sft_trainer` without `-m` starts a file of that name.

Fix: start the module that this VeRL has, or pin the VeRL that has the module.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence

from verlint.experiment.launch import Launch
from verlint.experiment.project import Project
from verlint.experiment.python_programs import MAIN, Program, python_program
from verlint.experiment.stage import Experiment
from verlint.experiment.variants import Variant
from verlint.files.tree import Tree
from verlint.finding import Finding
from verlint.lazy import pattern
from verlint.rule import ERROR, Context, rule
from verlint.verl.in_use import Call
from verlint_rules.reading.named_files import bases_of, is_filled, is_left_alone, join

_OPEN_TOPS = frozenset(["recipe"])
"""Packages that no distribution installs, so a folder without `__init__.py` is the package as well."""

_NAMED = pattern(r"(?:verl|recipe)(?:\.[a-z_]\w*)+")
"""The dotted name of a module of VeRL."""


@rule(
    "VL308",
    "entry-module",
    on=Experiment,
    severity=ERROR,
    since="0.1",
    words=(
        "verl.",
        "recipe.",
        "sft_trainer",
        "main_generation",
        "-m agent",
        "-m src",
        "-m train",
        "-m main",
        "-m scripts",
    ),
)
def check(experiment: Experiment, ctx: Context) -> Iterator[Finding]:
    script = experiment.script
    if script is None:
        return
    places = {
        command.span.order(): None
        for path in script.resolution.paths
        for command in path.commands
        if command.span.in_file().source is script.source and not command.builtin and not command.function
    }
    for place in sorted(places):
        variants = ctx.project.started_at(place)
        found = [_of_variant(variant, ctx) for variant in variants]
        if found and found[0] is not None and all(each is not None for each in found):
            yield found[0]


def _of_variant(variant: Variant, ctx: Context) -> Finding | None:
    program = python_program(variant.command.argv)
    if program is None or not program.entry:
        return None
    if not program.module and _NAMED.fullmatch(program.entry):
        return _as_file(program, variant, ctx)
    launch = ctx.project.launch(variant.command)
    pinned = _of_pin(program, launch, ctx) if launch is not None else None
    if pinned is not None:
        return pinned
    if not program.module or not _is_module(program.entry):
        return None
    return _of_checkout(program, variant, ctx)


def _is_module(entry: str) -> bool:
    """Whether it is the dotted name of a module in a package."""
    return "." in entry and all(map(str.isidentifier, entry.split(".")))


def _as_file(program: Program, variant: Variant, ctx: Context) -> Finding | None:
    """The name of a module of VeRL where a file is started, without `-m`."""
    name = program.entry
    if program.name.known != name or any(
        ctx.project.tree.exists(join(base, name)) for base in bases_of(variant, ctx.project.tree)
    ):
        return None
    return ctx.fail(
        program.name,
        f'without `-m` this is a file called {name}, which is not there: Python stops with "can\'t open file"',
        value=name,
        help=f"write -m {name}",
    )


# ---- a released version


def _of_pin(program: Program, launch: Launch, ctx: Context) -> Finding | None:
    used = launch.verl
    if used is None or used.guess or used.source in ("checkout", "family"):
        return None
    from verlint.verl.entries import ENTRIES

    module = Call(program.entry).module
    entry = ENTRIES.get(module)
    if entry is None:
        return _misspelt(program, module, (*ENTRIES, MAIN), used.label, ctx)
    if used.found.folders is not None:
        return None
    if not launch.version or not entry.missing_from(launch.version):
        return None
    return ctx.fail(
        program.name,
        f"`{module}` is not in {used.label}: releases {entry.words} have it",
        value=module,
        near=entry.instead,
        help=f"start {entry.instead}, or pin another VeRL (this one is said by: {used.source})",
    )


def _misspelt(program: Program, module: str, entries: Sequence[str], label: str, ctx: Context) -> Finding | None:
    """An entry point of VeRL with a letter or two wrong."""
    from verlint.verl.slips import alike

    ours = module.split(".")
    for entry in entries:
        apart = [(one, two) for one, two in zip(ours, entry.split("."), strict=False) if one != two]
        if len(ours) == entry.count(".") + 1 and len(apart) == 1 and alike(*apart[0]) and ours[0] == "verl":
            message = f"`{module}` is not in {label}: no release has a module of this name"
            return ctx.fail(program.name, message, value=module, near=entry, help=f"start {entry}")
    return None


# ---- a checkout on disk


def _of_checkout(program: Program, variant: Variant, ctx: Context) -> Finding | None:
    module, tree = program.entry, ctx.project.tree
    top = module.split(".")[0]
    bases = python_homes(variant, tree)
    homes = [base for base in bases if is_filled(tree, join(base, top))]
    certain = bool(homes) and (tree.exists(join(homes[0], f"{top}/__init__.py")) or top in _OPEN_TOPS)
    if not certain:
        homes = [home for base in bases if tree.exists(join(home := join(base, "verl"), f"{top}/__init__.py"))]
    if not homes or any(_has(tree, home, module) for home in (*homes, *bases)):
        return None
    path = module.replace(".", "/") + ".py"
    if not _is_known(tree, homes[0], module) or is_left_alone(path, variant, ctx.project):
        return None
    return _finding(program, homes[0], certain, ctx.project, ctx)


def python_homes(variant: Variant, tree: Tree) -> list[str]:
    """Where Python looks for packages: the working directory, then `PYTHONPATH`, as far as they are on disk."""
    bases = bases_of(variant, tree)
    command = variant.command
    searched = command.prefix.get("PYTHONPATH") or command.around.environment.get("PYTHONPATH")
    for text in (searched.shown if searched is not None else "").split(":"):
        place = text.removeprefix("${PWD}").lstrip("/") if text.startswith("${PWD}") else text
        if bases and place and not place.startswith(("/", "$", "<")):
            bases.append(join(bases[0], place))
    return bases


def _has(tree: Tree, home: str, module: str) -> bool:
    path = join(home, module.replace(".", "/"))
    return tree.exists(f"{path}.py") or tree.exists(f"{path}/__main__.py") or tree.exists(f"{path}.so")


def _is_known(tree: Tree, home: str, module: str) -> bool:
    """Whether the folders on the way are there and filled up to the one that lacks the rest; an empty one is a
    submodule that was not fetched."""
    pieces = module.split(".")
    folder = join(home, pieces[0])
    for piece in pieces[1:-1]:
        if not tree.is_dir(join(folder, piece)):
            break
        folder = join(folder, piece)
    return is_filled(tree, folder)


def _finding(program: Program, home: str, certain: bool, project: Project, ctx: Context) -> Finding:
    module = program.entry
    near = ", ".join(_near(project.tree, home, module))
    where = posixpath.join(home, module.split(".")[0]) or "."
    message = f"no module `{module}` in the checkout that runs ({where})"
    help_ = (
        f"start {near.split(', ')[0]}" if near else "start a module of this checkout, or use the checkout that has it"
    )
    if certain:
        return ctx.fail(program.name, message, value=module, near=near, help=help_)
    verify = f"python3 -m {module} --help"
    message = f"no module `{module}` in the checkout beside the launcher ({where})"
    return ctx.unsure(program.name, message, value=module, near=near, help=help_, verify=verify)


def _near(tree: Tree, home: str, module: str) -> Sequence[str]:
    """Modules of a similar name in the folder where it should be, or what took its place."""
    from difflib import get_close_matches

    from verlint.verl.entries import ENTRIES

    entry = ENTRIES.get(module)
    if entry is not None and _has(tree, home, entry.instead):
        return [entry.instead]
    parent, _, name = module.rpartition(".")
    names = [each.removesuffix(".py") for each in tree.listing(join(home, parent.replace(".", "/")))]
    names = [each for each in names if not each.startswith("_")]
    return [f"{parent}.{each}" for each in get_close_matches(name, names, 2, 0.75)]
