"""Files that commands and specs name, and whether they are there."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence

from verlint.experiment.all_files import of_all_files
from verlint.experiment.branches import branch_change
from verlint.experiment.project import Project
from verlint.experiment.python_programs import python_program
from verlint.experiment.stage import called_file
from verlint.experiment.variants import Variant
from verlint.files.tree import Tree
from verlint.languages.bash.command import Command
from verlint.languages.bash.state import Event
from verlint.languages.bash.wrappers import program_name, unwrap
from verlint.lazy import pattern
from verlint.pathglob import matches
from verlint.record import dataclass
from verlint.value import Hole, Text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from verlint.experiment.spec import Spec, SpecCheckout, SpecStage

_SCRIPT = pattern(r"\.(?:sh|bash|sbatch|slurm|pbs|lsf|sge|qsub)$")
_FILE = pattern(r"[\w.@+/-]+\.(?:sh|bash|sbatch|slurm|pbs|lsf|sge|qsub|py)")
_CONFIG = pattern(r"[\w.@+/-]+\.(?:ya?ml|json|toml)")
_CONFIG_OPTION = pattern(r"--(?:config[-_]file|runtime-env|deepspeed|env-file)")
_CONFIG_READERS = frozenset(["accelerate", "ray", "deepspeed", "torchrun", "uv"])
_PLACEHOLDER = pattern(
    r"(?:^|[/_.-])(?:path|your|my|some|xxx+|foo|bar|example)(?:$|[/_.-])|path[_-]?to|\.\.\.", re.IGNORECASE
)
_MAKERS = frozenset(
    ["git", "gh", "cp", "mv", "ln", "install", "wget", "curl", "tar", "unzip", "gunzip", "rsync", "scp", "svn", "hf",
     "huggingface-cli", "modelscope", "aws", "gsutil", "gcloud", "azcopy", "dvc", "tee", "touch", "make", "cmake"]
)  # fmt: skip
"""Programs that bring or make files."""
_ELSEWHERE = frozenset(["docker", "podman", "ssh", "kubectl", "singularity", "apptainer", "enroot", "salloc"])
"""Programs behind which a reader of a document is on another machine or in a container."""
_LOOKED_AT = 5
"""How many similar names are looked at for one with the same purpose."""
_SAYS_ONLY = frozenset(["echo", "printf", "cd", "pushd", "export", "set", "ls", "rm", "mkdir", "cat", "chmod"])


@dataclass(frozen=True)
class Missing:
    """A file that is not there.

    `path` is as written, `kind` is "script", "tool", "code" or "config", `near` a similar path written alike,
    `near_file` that below the root of the project. `word` names it in a command; in a spec `folder` is the checkout it
    is looked for in, and `on_branch` the branch that is declared.
    """

    path: str
    kind: str
    near: str = ""
    near_file: str = ""
    word: Text | None = None
    folder: str = ""
    on_branch: str = ""


# ---- commands


def missing_of_command(variant: Variant, project: Project) -> Iterator[Missing]:
    """The files that a command names and that are surely not there when it runs."""
    command = variant.command
    for word, kind in (*_named_files(command), *_in_config(command, project)):
        path = word.known or ""
        if path.startswith("/") or _PLACEHOLDER.search(path):
            continue
        bases = bases_of(variant, project.tree)
        sure = bool(bases)
        if not sure and variant.in_document:
            bases = _bases_of_document(path, variant, project)
        if not bases or any(project.tree.exists(join(base, path)) for base in bases):
            continue
        near = _near(path, bases, project, 0.75 if sure else 0.9)
        folders = [join(base, posixpath.dirname(path)) for base in bases] if sure and "/" in path else []
        if not near[0] and not any(is_filled(project.tree, folder) for folder in folders):
            continue
        if near[1] and project.tree.pointed_at(near[1]) is command.span.in_file().source:
            near = "", ""  # a script that called itself would never end
        if not is_left_alone(path, variant, project):  # looks at all that ran before, so it comes last
            yield Missing(path, kind, *near, word)


def _named_files(command: Command) -> Iterator[tuple[Text, str]]:
    """The words of a command that name a script, tool or config to be read."""
    argv = unwrap(command.argv).argv
    if not argv or _has(argv, "--working-dir"):
        return
    name = program_name(argv[0])
    called = called_file(command)
    program = python_program(command.argv)
    word: Text | None = None
    if called is not None:
        word = called.path
    elif program is not None and not program.module:
        word = program.name
    elif name in ("sbatch", "qsub"):
        word = next((each for each in argv[1:] if _SCRIPT.search(each.known or "")), None)
    if word is not None and _FILE.fullmatch(word.known or ""):
        yield word, "script" if _SCRIPT.search(word.known or "") else "tool"
    if name in _CONFIG_READERS:
        yield from ((each, "config") for each in _configs(argv))


def _in_config(command: Command, project: Project) -> Iterator[tuple[Text, str]]:
    """The files of code and settings that the overrides of a launch name."""
    launch = project.launch(command)
    for key in READ_KEYS if launch is not None else ():
        override = launch.by_key.get(key) if launch is not None else None
        if override is None or launch is None or (key == "config" and launch.program.entry != "verl.trainer.main"):
            continue
        if override not in launch.overrides and launch.stands_alone:
            continue
        value = seen_from(override.value_text, command)
        path, _, name = (value.known or "").partition(":")
        if _READ.fullmatch(path) and not name.startswith("/"):
            yield value.slice(0, len(path)), "code" if path.endswith(".py") else "config"


def seen_from(value: Text, command: Command) -> Text:
    """A path below the working directory (`$PWD/config/tool.yaml`) as seen from there; others as they are. Where a job
    of Slurm was submitted is taken for the same: it is looked for from all folders above the script."""
    cwd, parts = command.around.cwd.parts, value.parts
    if parts and isinstance(parts[0], Hole) and parts[0].name == "SLURM_SUBMIT_DIR":
        return value.slice(2, 1_000_000)
    here = len(cwd) == 1 and isinstance(cwd[0], Hole) and parts and isinstance(parts[0], Hole)
    if not here or parts[0].key != cwd[0].key:  # type: ignore[union-attr]
        return value
    return value.slice(2, 1_000_000)


READ_KEYS = (
    *("custom_reward_function.path", "reward.custom_reward_function.path", "data.custom_cls.path"),
    *("actor_rollout_ref.rollout.multi_turn.tool_config_path", "worker.reward.reward_function"),
    *("actor_rollout_ref.rollout.multi_turn.interaction_config_path", "data.format_prompt"),
    *("actor_rollout_ref.rollout.agent.agent_loop_config_path", "data.datagen.path", "config"),
)
"""Keys of VeRL and EasyR1 that name a file of the checkout. Behind a colon EasyR1 takes the name of the function."""
_READ = pattern(r"[\w.@+/-]+\.(?:py|ya?ml|json|jinja2?)")


def _configs(argv: Sequence[Text]) -> Iterator[Text]:
    for at, word in enumerate(argv):
        text = word.known or ""
        option, equals, _ = text.partition("=")
        if not _CONFIG_OPTION.fullmatch(option):
            continue
        given = word.slice(len(option) + 1, len(text)) if equals else argv[at + 1] if at + 1 < len(argv) else None
        if given is not None and _CONFIG.fullmatch(given.known or ""):
            yield given


def _has(argv: Sequence[Text], option: str) -> bool:
    return any((word.known or word.prefix).startswith(option) for word in argv)


# ---- where it is looked for


def bases_of(variant: Variant, tree: Tree) -> list[str]:
    """The folders that the command may be started in, seen from the root of the project: the working directory first,
    then the same way from each folder above the script. None when the directory is not known or not on disk."""
    way = _way(variant.command.around.cwd)
    if way is None:
        return []
    start, rest = way
    first = join(start, rest)
    if not tree.is_dir(first or "."):
        return []
    out = [first]
    folder = posixpath.dirname(variant.entry.path)
    while True:
        base = join(folder, rest)
        if base not in out and not base.startswith("..") and tree.is_dir(base or "."):
            out.append(base)
        if not folder:
            return out
        folder = posixpath.dirname(folder)


def _bases_of_document(path: str, variant: Variant, project: Project) -> list[str]:
    """The folders above a document whose reader has gone somewhere unknown (into a container, a clone): only where
    another call of the document names a file that is there, in the same folder."""
    folder = posixpath.dirname(path)
    if not folder:
        return []
    above = [posixpath.dirname(variant.entry.path)]
    while above[-1]:
        above.append(posixpath.dirname(above[-1]))
    siblings = {
        word.known or ""
        for command in variant.entry.resolution.paths[0].commands
        for word, _ in _named_files(command)
        if posixpath.dirname(word.known or "") == folder
    }
    return [base for base in above if any(project.tree.exists(join(base, each)) for each in siblings)]


def _way(cwd: Text) -> tuple[str, str] | None:
    """The folder a script is started in and the way from there to the working directory, when both are known."""
    first = cwd.parts[0] if cwd.parts else None
    if not isinstance(first, Hole) or not (isinstance(first.key, tuple) and first.key[0] == "cwd"):
        return None
    rest = Text(cwd.parts[1:]).known
    if rest is None or join(str(first.key[1]), rest.strip("/")).startswith(".."):
        return None
    return str(first.key[1]), rest.strip("/")


def join(base: str, path: str) -> str:
    joined = posixpath.normpath(posixpath.join(base or ".", path or "."))
    return "" if joined == "." else joined


def is_filled(tree: Tree, folder: str) -> bool:
    """Whether a folder is there with something in it; a submodule that was not fetched is an empty one."""
    return not folder.startswith("..") and tree.is_dir(folder or ".") and bool(tree.listing(folder or "."))


@of_all_files
def _of_suffix(project: Project, suffix: str) -> list[str]:
    """The files that end in a suffix, by their paths."""
    paths = (project.tree.relative(file.path) for file in project.files)
    return [path for path in paths if path and path.endswith(suffix)]


def _near(path: str, bases: Sequence[str], project: Project, cutoff: float = 0.75) -> tuple[str, str]:
    """A path like the missing one that is there, written in the same way, and below the root; "" when there is none.

    A script for something else is none, however alike the names are: `extract.sh` does not do what `eval.sh` was to."""
    from difflib import get_close_matches

    from verlint_rules.reading.purposes import same_purpose

    folder, name = posixpath.split(path)
    suffix = posixpath.splitext(name)[1]
    for base in bases:
        names = [each for each in project.tree.listing(join(base, folder) or ".") if each.endswith(suffix)]
        close = get_close_matches(name, names, _LOOKED_AT, cutoff if folder else max(cutoff, 0.85))
        close = [each for each in close if same_purpose(name, each)]
        if close:
            return posixpath.join(folder, close[0]), join(base, posixpath.join(folder, close[0]))
    if not folder:
        return "", ""
    for base in bases[:1]:
        found = _in_folder_alike(base, path, project.tree)
        if found:
            return found, join(base, found)
    known = _of_suffix(project, suffix)
    for base in bases[:1]:
        seen = [posixpath.relpath(each, base or ".") for each in known]
        same = [each for each in seen if posixpath.basename(each) == name and not each.startswith("..")]
        close = same[:1] if len(same) == 1 else get_close_matches(path, seen, _LOOKED_AT, 0.9)
        close = [each for each in close if same_purpose(path, each)]
        if close:
            return close[0], join(base, close[0])
    return "", ""


def _in_folder_alike(base: str, path: str, tree: Tree) -> str:
    """The path with its first missing folder written as one of a similar name, where the file lies in that."""
    from difflib import get_close_matches

    pieces = posixpath.normpath(path).split("/")
    for at, piece in enumerate(pieces[:-1]):
        above = join(base, "/".join(pieces[:at]))
        if tree.is_dir(join(above, piece)):
            continue
        for name in get_close_matches(piece, tree.listing(above or "."), _LOOKED_AT, 0.75):
            found = "/".join([*pieces[:at], name, *pieces[at + 1 :]])
            if tree.exists(join(base, found)):
                return found
        return ""
    return ""


# ---- what speaks against a finding


def is_left_alone(path: str, variant: Variant, project: Project) -> bool:
    name = posixpath.basename(path)
    if name.startswith(".") or path.endswith(("bin/activate", ".env.sh")) or _is_tolerated(variant.command):
        return True
    paths = variant.entry.resolution.paths
    if any(name in guard.text for way in paths for guard in way.conditions):
        return True
    if any(_is_ignored(join(base, path), project.tree) for base in bases_of(variant, project.tree)[:2]):
        return True
    events = paths[min(variant.paths)].events
    return any(_may_make(event, path, variant) for event in _before(events, variant.command))


def may_be_made(variant: Variant, path: str, project: Project) -> bool:
    """Whether a command that is run before, and is no launch itself, may write the file or bring another one."""
    events = _before(variant.entry.resolution.paths[min(variant.paths)].events, variant.command)
    others = (event for event in events if project.launch(event) is None)
    return any(branch_change(event) is not None or _may_make(event, path, variant) for event in others)


def _before(events: Sequence[Event], command: Command) -> Iterator[Command]:
    for event in events:
        if not isinstance(event, Command):
            continue
        if event.span == command.span and event.argv == command.argv:
            return
        yield event


def _may_make(event: Command, path: str, variant: Variant) -> bool:
    """Whether an earlier command may have put the file there, or the reader somewhere else."""
    argv = unwrap(event.argv).argv
    name = program_name(argv[0]) if argv else ""
    pieces = set(path.split("/"))
    if any(posixpath.basename(each.target.known or "") == posixpath.basename(path) for each in event.redirects):
        return True
    if name in _ELSEWHERE and variant.entry.document and bases_of(variant, variant.entry.tree):
        return not _comes_home(event, variant)
    change = branch_change(event)
    if change is not None and name == "git" and change.folder in ("", *pieces, *variant.entry.path.split("/")[:-1]):
        return True
    if name == "git" and any(word.known in ("pull", "submodule", "lfs", "checkout", "switch") for word in argv[1:3]):
        return change is None or _way(event.around.cwd) is None or not pieces.isdisjoint({change.folder})
    if name in _SAYS_ONLY or not argv:
        return False
    called = called_file(event)
    words = called.arguments if called is not None else argv[1:]
    last = {posixpath.basename((word.known or "").rstrip("/")).removesuffix(".git") for word in words}
    if posixpath.basename(path) in last:
        return True
    return name in _MAKERS and (not pieces.isdisjoint(last - {""}) or "." in last)


def _comes_home(event: Command, variant: Variant) -> bool:
    """Whether the reader goes to the document's folder between an event and a command."""
    begin, end = event.span.in_file().end, variant.command.span.in_file().start
    notes = variant.entry.resolution.paths[min(variant.paths)].notes
    return any(note.kind == "home" and begin <= note.span.in_file().start < end for note in notes)


def _is_tolerated(command: Command) -> bool:
    """Whether the launcher goes on on purpose when the file is not there."""
    text = command.span.source.text[command.span.end : command.span.end + 40]
    return bool(re.match(r"[ \t]*(?:\d?>\S+[ \t]*)*\|\|", text)) or (
        program_name(command.argv[0]) in ("source", ".")
        and any(each.target.known == "/dev/null" for each in command.redirects)
    )


def _is_ignored(path: str, tree: Tree) -> bool:
    """Whether a `.gitignore` above names the file, so that it is made on each machine."""
    folder = posixpath.dirname(path)
    while True:
        source = tree.source(join(folder, ".gitignore"))
        lines = [] if source is None else [line.strip() for line in source.text.split("\n")]
        inner = posixpath.relpath(path, folder or ".")
        if any(matches(line.lstrip("/"), inner) for line in lines if line and line[0] not in "#!"):
            return True
        if not folder:
            return False
        folder = posixpath.dirname(folder)


# ---- specs


def _is_here(checkout: SpecCheckout, beside: str, project: Project) -> bool:
    """Whether a checkout lies in a folder of the project, so that its files are known."""
    place = checkout.path
    if not place.given or not isinstance(place.data, str) or place.data.startswith(("/", "~")):
        return False
    return is_filled(project.tree, join(beside, place.data))


def _launchers_in(spec: Spec, checkout: str) -> str:
    """The folder of the launchers, for the path of a checkout that stages are run in."""
    from verlint.families import FAMILIES

    family = FAMILIES.get(str(spec.family))
    return checkout if family is None else family.launchers_in(checkout)


def absent_checkouts(spec: Spec, project: Project) -> Iterator[tuple[SpecCheckout, str, int]]:
    """The checkouts of a spec that are not seen on disk: each with what is the matter, and how many launchers nothing
    was seen of for that reason. One that no launcher and no branch is wanted of is left alone."""
    from verlint.experiment.spec_calls import checkout_of, homes

    home = next((project.tree.relative(file.path) for file in project.files if file.source is spec.source), None)
    for checkout in spec.checkouts.values():
        place = checkout.path
        if home is None or not place.given or not place.decided or not isinstance(place.data, str):
            continue
        folder = join(posixpath.dirname(home), place.data)
        if place.data.startswith(("/", "~")) or folder.startswith(".."):
            what = "lies outside of what is checked"
        elif is_filled(project.tree, folder):
            continue
        else:
            what = "is empty" if project.tree.is_dir(folder or ".") else "is not there"
        unseen = {
            str(stage.launcher)
            for stage in spec.stages.values()
            if checkout_of(spec, stage) is checkout and stage.launcher.given
            if not any(
                project.tree.exists(join(each, str(stage.launcher)))
                for each in homes(home, spec, stage)
                if not each.startswith(("..", "/", "~"))
            )
        }
        if unseen or checkout.branches:
            yield checkout, what, len(unseen)


def missing_from_spec(spec: Spec, stage: SpecStage, project: Project) -> Missing | None:
    """The launcher of a stage when it is neither in its checkout nor beside the spec; a checkout that is not on disk
    may hold anything."""
    launcher = stage.launcher
    path = launcher.data if launcher.given and launcher.decided else None
    return _missing_in_spec(path, "script", None, spec, stage, project)


def missing_from_run(spec: Spec, stage: SpecStage, project: Project) -> Iterator[Missing]:
    """The scripts and tools that the `run` of a stage calls and that are not there, while one of a similar name is;
    nothing where it goes elsewhere."""
    from verlint.experiment.spec_runs import commands_of_run
    from verlint.experiment.stage import called_file

    commands = commands_of_run(stage, project.tree)
    if any(command.name in ("cd", "pushd", "git", "curl", "wget", "cp", "mv", "tar", "unzip") for command in commands):
        return
    for command in commands:
        called = None if command.builtin or command.around.elsewhere else called_file(command)
        path = called.path.known if called is not None else None
        if called is None or path is None or not path.endswith((".sh", ".py")):
            continue
        kind = "tool" if path.endswith(".py") else "script"
        found = _missing_in_spec(path, kind, called.path, spec, stage, project)
        if found is not None and found.near:
            yield found


def _missing_in_spec(
    path: object, kind: str, word: Text | None, spec: Spec, stage: SpecStage, project: Project
) -> Missing | None:
    home = next((project.tree.relative(file.path) for file in project.files if file.source is spec.source), None)
    if not isinstance(path, str) or path.startswith("/") or _PLACEHOLDER.search(path) or home is None:
        return None
    beside = posixpath.dirname(home)
    folders = [beside]
    shown = ""
    if stage.checkout.given:
        checkout = spec.checkouts.get(str(stage.checkout))
        place = checkout.path if checkout is not None else None
        if place is None or not place.given or not isinstance(place.data, str) or place.data.startswith(("/", "~")):
            return None
        folder = join(beside, place.data)
        if not is_filled(project.tree, folder):
            return None
        around = _launchers_in(spec, place.data)
        folders = list(dict.fromkeys([folder, join(beside, around), beside]))
        shown = place.data.rstrip("/")
    elif any(not _is_here(checkout, beside, project) for checkout in spec.checkouts.values()):
        return None
    if any(folder.startswith("..") or project.tree.exists(join(folder, path)) for folder in folders):
        return None
    if any(_is_ignored(join(folder, path), project.tree) for folder in folders):
        return None
    near = _near(path, folders, project)
    branch = str(stage.branch) if stage.branch.given and stage.branch.decided else ""
    return Missing(path, kind, *near, word, "" if shown in ("", ".") else shown, branch if shown else "")
