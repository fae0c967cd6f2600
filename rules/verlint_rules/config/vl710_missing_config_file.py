"""The config that a call names, and each group and option, must exist.

`--config-name=ppo_fsdp_trainer` starts the config of that name, and Hydra stops when there is none in
`verl/trainer/config`. The same goes for config groups (`model_engine=megatron`), whose options change with the version:
`Could not find 'model_engine/mindspeed'`. `++` is no sign for groups.

A relative `--config-path` counts from the folder of the entry point, so that `--config-path=config` means
`verl/trainer/config` and never a folder of one's own.

Judged are names on a checkout that is on disk, and names of other versions on a version that somebody named. A name
that is only like one of VeRL's is to be verified, and any other is taken for a config of one's own; so is every name
with `--config-dir` or a search path. A name is looked for in a folder of the project where `--config-path` names one,
or `@hydra.main` of the project's own program; not if the launcher writes a file of that name.

Fix: write the name of a config or an option that the version has, as listed in the finding.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from verlint.experiment.launch import Launch
from verlint.finding import Finding
from verlint.rule import ERROR, Context, rule
from verlint.value import Hole, Text
from verlint.verl.in_use import ROOT, Call, call_of
from verlint.verl.schema import config_of, facts, known_version, leaves_of, versions
from verlint_rules.config.reporting import label_of, report
from verlint_rules.config.view import everywhere, pictures, view_of

_STOCK = ("ppo_trainer", "ppo_megatron_trainer", "sft_trainer", "sft_trainer_engine", "evaluation", "generation")


@rule(
    "VL710", "missing-config-file", on=Launch, severity=ERROR, since="0.1", words=("config", "-cn", "model_engine", "@")
)
def check(launch: Launch, ctx: Context) -> Iterator[Finding]:
    if launch.verl is None or pictures(launch):
        return
    call = call_of(launch.program.entry, launch.program.arguments)
    if call.config_name and not (call.undecided or call.config_path or call.config_dir):
        finding = _config(launch, ctx, call.config_name, call.module)
        if finding is not None:
            yield finding
        else:
            yield from _of_own(launch, ctx, call.config_name)
    elif call.config_name and not call.undecided and call.config_path.startswith(ROOT):
        yield from _of_folder(launch, ctx, call.config_name, posixpath.normpath(call.config_path.removeprefix(ROOT)))
    elif call.config_name and not call.undecided:
        yield from _beside_the_entry(launch, ctx, call)
    yield from _groups(launch, ctx)


def _beside_the_entry(launch: Launch, ctx: Context, call: Call) -> Iterator[Finding]:
    """A config of the project whose folder is given relative, and so is looked for beside VeRL's entry point."""
    folder, tree = call.config_path, ctx.project.tree
    if not folder or folder.startswith(("/", "pkg:", "file:")) or call.entry.endswith(".py") or call.config_dir:
        return
    cwd = launch.command.around.cwd
    first, rest = cwd.parts[0] if cwd.parts else None, Text(cwd.parts[1:]).known
    if not isinstance(first, Hole) or not (isinstance(first.key, tuple) and first.key[0] == "cwd") or rest is None:
        return
    start = posixpath.join(str(first.key[1]), rest.strip("/"), folder)
    file = posixpath.normpath(posixpath.join(start, f"{call.config_name}.yaml"))
    beside = f"{call.module.rpartition('.')[0].replace('.', '/')}/{folder}"
    if file.startswith("..") or not tree.exists(file) or tree.exists(posixpath.normpath(beside)):
        return
    if not call.module.startswith("verl.") or any(leaves_of(each, call.config_name) is not None for each in versions()):
        return
    at = next((word for word in launch.options if folder in (word.known or "")), None)
    yield ctx.fail(
        at if at is not None else launch.head,
        f"Hydra looks for a relative --config-path beside {call.module}, not in the working directory, and stops with "
        "'Primary config directory not found' or 'Cannot find primary config'",
        help=f'--config-path="$PWD/{posixpath.normpath(folder)}"',
    )


def _of_own(launch: Launch, ctx: Context, name: str) -> Iterator[Finding]:
    """A config that is not in the folder of the project's program."""
    if launch.program.entry.startswith("verl."):
        return
    from verlint.experiment.config_files import own_program

    found = own_program(launch, ctx.project.tree)
    folder = None if found is None else found[1].config_path
    if found is not None and folder is not None and not folder.startswith(("pkg://", "/")):
        yield from _of_folder(
            launch, ctx, name, posixpath.normpath(posixpath.join(posixpath.dirname(found[0]), folder))
        )


def _of_folder(launch: Launch, ctx: Context, name: str, folder: str) -> Iterator[Finding]:
    """A config that is not in a folder of the project."""
    tree = ctx.project.tree
    there = [each.removesuffix(".yaml") for each in tree.listing(folder) if each.endswith(".yaml")]
    made_here = f"{name}.yaml" in launch.command.span.in_file().source.text
    if not there or made_here or tree.exists(f"{folder}/{name}.yaml"):
        return
    from difflib import get_close_matches

    near = get_close_matches(name, there, 1, 0.6)
    at = next((word for word in launch.options if name in (word.known or "")), None)
    yield ctx.fail(
        at if at is not None else launch.head,
        f"{folder} has no config {name}: Hydra stops with 'Cannot find primary config'",
        near=near[0] if near else "",
        help=f"did you mean {near[0]}?" if near else f"it has {', '.join(there[:5])}",
    )


def _config(launch: Launch, ctx: Context, name: str, module: str) -> Finding | None:
    verl = launch.verl
    if verl is None or verl.guess or verl.schema is not None:
        return None
    on_disk = verl.problem == f"there is no config {name}" and verl.found.config == name
    known = known_version(verl.text)
    of_release = bool(known) and verl.source in ("--verl", "directive", "settings") and bool(config_of(known, module))
    of_release = of_release and verl.problem.endswith(f"has no config {name}")
    if not (on_disk or of_release):
        return None
    from difflib import get_close_matches

    near = [each for each in get_close_matches(name, _STOCK, 3, 0.6) if _is_there(launch, each)]
    of_others = [version for version in versions() if leaves_of(version, name) is not None]
    if not (on_disk or of_others or near):
        return None
    message = f"{verl.label} has no config {name}: Hydra stops with 'Cannot find primary config'"
    help_ = (
        f"did you mean {near[0]}?" if near else "name one of verl/trainer/config, or say where it is with --config-path"
    )
    at = next((word for word in launch.options if name in (word.known or "")), None)
    place = at if at is not None else launch.head
    if on_disk or of_others:
        if of_others and not on_disk:
            help_ = f"it is there in VeRL {of_others[0]} to {of_others[-1]}"
        return ctx.fail(place, message, near=", ".join(near), help=help_)
    verify = f"ls verl/trainer/config/{name}.yaml"
    return ctx.unsure(place, message, verify=verify, near=", ".join(near), help=help_)


def _is_there(launch: Launch, name: str) -> bool:
    known = known_version(launch.verl.text) if launch.verl is not None else ""
    return bool(known) and leaves_of(known, name) is not None


def _groups(launch: Launch, ctx: Context) -> Iterator[Finding]:
    view = view_of(launch)
    if view is None:
        return
    for refusal in view.config.refusals:
        if refusal.kind != "group":
            continue
        message = f"{refusal.message}: Hydra stops on {label_of(view)}"
        if not everywhere(launch, lambda each: any(one.kind == "group" for one in each.config.refusals)):
            continue
        override = refusal.override or next((each for each in launch.overrides if each.key == "model_engine"), None)
        options = facts("groups", view.schema.version).get("model_engine", []) if view.released else []
        help_ = (
            f"model_engine is one of {', '.join(options)}" if options else "name a group and an option that is there"
        )
        if override is not None:
            yield report(ctx, override, message, help=help_)
        else:
            yield ctx.fail(launch.head, message, help=help_)
