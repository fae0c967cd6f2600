"""Which checkpoints the commands of an experiment save and which they use, in order.

A checkpoint is `FOLDER/global_step_N/ROLE`: a run saves every step that `trainer.save_freq` divides, and its last step.
Copies hand a step over to another folder. A command whose effect is not known may have made every folder it names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise

from verlint.experiment.launch import Launch
from verlint.experiment.paths import Components, absolute, components, is_below, last_component, written_at
from verlint.experiment.python_programs import enters_container
from verlint.experiment.saved_roles import ROLES, saved_roles
from verlint.experiment.script import Script
from verlint.experiment.stage import Stage, called_file
from verlint.families import stages_of_launcher
from verlint.languages.bash.command import Command
from verlint.languages.bash.pieces import MARK, flat
from verlint.languages.bash.replay import Path
from verlint.languages.bash.wrappers import CONTAINERS, program_name, unwrap
from verlint.lazy import pattern
from verlint.memo import WeakKeyDictionary
from verlint.record import dataclass, field, replace
from verlint.source import Source, Span
from verlint.value import Literal, Text, Value, literal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    from verlint.experiment.taught import TaughtCall

_STEP = pattern(
    r"(?P<folder>[^,\s=]+)/global_step_(?P<step>[^/,\s]+)(?:/(?P<role>actor|critic)(?=$|[/,\s\"']))?(?P<rest>[^,\s]*)"
)
_COPIES = frozenset(["cp", "mv", "rsync", "ln"])
_QUIET = frozenset(
    ["chmod", "chown", "du", "echo", "find", "ls", "mkdir", "printf", "rm", "rmdir", "stat", "test", "touch"]
)
"""Programs that do not read what lies in the folders they name."""

_HARMLESS = _QUIET | frozenset(
    ["awk", "basename", "cat", "cut", "date", "df", "diff", "dirname", "false", "free", "grep", "head", "hostname",
     "id", "kill", "less", "nproc", "nvidia-smi", "pip", "pip3", "ps", "pwd", "ray", "readlink", "realpath", "sed",
     "seq", "sleep", "sort", "tail", "tee", "true", "uname", "wandb", "wc", "which"]
)  # fmt: skip
"""Programs that make no checkpoints, whatever paths they are given."""

_OUTPUT = pattern(r"--?(?:o|out|output|target|save|dest|log|result|hf_upload)(?:[-_]\w+)*$")
_RANK = pattern(r"rank|node.?id|procid", re.IGNORECASE)
"""Conditions that choose one of several processes: on that one they hold."""

_KEY = pattern(r"[+~]{0,2}([\w.@/-]*)=")
_RESUME = pattern(r"--?resume\w*(?:[-_]\w+)*$")
DriverCall: TypeAlias = tuple[object, ...]
_KNOWN: WeakKeyDictionary[Script, Ledger] = WeakKeyDictionary()


@dataclass(frozen=True)
class Place:
    """When something happens: in which command of the driver, on which of its paths, and where on that path."""

    call: int
    path: int
    inner: int

    def before(self, other: Place) -> bool:
        """Whether it happens first; within one command of the driver only events of one path can be told apart."""
        if self.call != other.call:
            return self.call < other.call
        return self.path != other.path or self.inner < other.inner


@dataclass(frozen=True, eq=False)
class Save:
    """Checkpoints that are written: by a launch, or by a command that copies a step.

    `roles` is None when they are not known; `every` and `last` are the steps between two saves and the last step, None
    when not known; `steps` are those of a copy. `never` says that the launch is told to save nothing. `every_span` is
    where the distance of the steps is written, `kept` what says how many checkpoints of a role are kept; `newest` holds
    `True` when each save removes the one before.
    """

    folder: Text
    key: Components
    span: Span
    place: Place
    command: Command
    roles: frozenset[str] | None = None
    every: int | None = None
    last: int | None = None
    steps: frozenset[int] = frozenset()
    never: bool = False
    every_span: Span | None = None
    kept: Mapping[str, Value] = field(default_factory=dict)
    newest: Value | None = None

    def keep(self, role: str) -> int | None:
        """How many checkpoints of a role ("" for a whole step) are kept, None for all of them or an unknown number."""
        if self.newest is not None and self.newest.truthy():
            return 1
        values = [self.kept.get(each) for each in ((role,) if role else ROLES)]
        numbers = [value.number() for value in values if value is not None and value.given]
        return min((int(number) for number in numbers if number is not None and number > 0), default=None)


@dataclass(frozen=True, slots=True, eq=False)
class Use:
    """A checkpoint that is read. `role` is "" for the whole step, `step` None when it is not known.

    `span` is where the name of the run is written, `step_span` where the step is, `word` the whole word. `conditional`
    says that the command stands under a condition that nobody can decide here.
    """

    folder: Text
    key: Components
    role: str
    step: int | None
    span: Span
    word: Text
    place: Place
    command: Command
    conditional: bool = False
    step_span: Span | None = None

    @property
    def at(self) -> Span:
        """Where to point for the name of the run: where it is written, or the call that gets it when it is put together
        of pieces that stand elsewhere (`NAME=${PREFIX}-r${R}`)."""
        stack = self.command.around.stack
        call = stack[0].span if stack else None
        pieces = [part for part in last_component(self.folder).parts if isinstance(part, Literal)]
        if call is None or len(pieces) < 2 or call.source is not self.span.source:
            return self.span
        return self.span if call.start <= self.span.start < call.end else call


@dataclass
class Ledger:
    """What is saved and used, in order.

    `roleless` are uses of a step by words that neither name a role nor resume. `makers` are folders that other
    commands may have filled (() for any folder); `unseen` are the words of calls whose script was not followed to a
    launch on any path; `cut_short` says that not everything was looked at.
    """

    saves: list[Save] = field(default_factory=list)
    uses: list[Use] = field(default_factory=list)
    roleless: list[Use] = field(default_factory=list)
    makers: list[tuple[Components, Place]] = field(default_factory=list)
    unseen: list[tuple[Text, Place]] = field(default_factory=list)
    cut_short: bool = False

    def made_otherwise(self, use: Use) -> bool:
        """Whether a command before the use may have filled the folder in a way that is not known."""
        if any(is_below(use.key, folder) and at.before(use.place) for folder, at in self.makers):
            return True
        name = last_component(use.folder)
        return any(_names(word, name) and at.before(use.place) for word, at in self.unseen)


def ledger_of_script(script: Script, launch_of: Callable[[Command], Launch | None]) -> Ledger:
    """The checkpoints of a driver or document; each is looked at once."""
    known = _KNOWN.get(script)
    if known is None:
        taught = script.taught.call if script.taught else None
        paths = script.resolution.paths
        known = _KNOWN[script] = ledger_of(paths, own_sources(script.texts), launch_of, taught)
        for mount in script.job.mounts if script.job is not None else ():  # filled before the job begins
            folder = components(literal(mount.path, mount.span))
            known.makers += [(folder, Place(-1, number, -1)) for number in range(len(paths))]
    return known


def ledger_of(
    paths: Sequence[Path],
    own: set[int],
    launch_of: Callable[[Command], Launch | None],
    taught: Callable[[Command], TaughtCall | None] | None = None,
) -> Ledger:
    """The checkpoints of a driver, of all its paths together.

    `own` are the identities of the driver's own sources, `launch_of` gives the launch that a command is, `taught` what
    the call of a launcher says that the settings teach.
    """
    out = Ledger(cut_short=any(path.over_budget for path in paths))
    steps = list(_steps(paths, own))
    if taught is not None:
        steps = [replace(step, told=taught(step.command)) for step in steps]
    for step in steps:
        _read(out, step, launch_of)
    out.saves = [_with_source_roles(save, out) for save in out.saves]
    _read_unseen(out, steps, launch_of)
    return out


def ledger_of_stage(stage: Stage) -> Ledger:
    """The checkpoints of one stage of a spec, called as the spec says."""
    launches = {id(launch.command): launch for launch in stage.launches}
    commands = [each for each in stage.events if isinstance(each, Command)]
    commands += [launch.command for launch in stage.launches if all(launch.command is not each for each in commands)]
    out = Ledger()
    for inner, command in enumerate(commands):
        step = _Step(command, Place(stage.order, 0, inner), False, False)
        _read(out, step, lambda each: launches.get(id(each)))
    return out


@dataclass(frozen=True, slots=True, eq=False)
class _Step:
    """One command of one path. `deeper` says that the next one belongs to a script it calls."""

    command: Command
    place: Place
    conditional: bool
    deeper: bool
    told: TaughtCall | None = None


def _is_of_rank(condition: str) -> bool:
    """Whether a condition chooses among the nodes or processes of one run."""
    lower = condition.lower()
    return ("rank" in lower or "id" in lower) and _RANK.search(condition) is not None


def _steps(paths: Sequence[Path], own: set[int]) -> Iterator[_Step]:
    commands = [path.commands for path in paths]
    calls = [driver_calls(each, own) for each in commands]
    order = _merged(calls)
    for number, path in enumerate(paths):
        undecided = frozenset(guard for guard in path.conditions if not _is_of_rank(guard.text))
        following = (*commands[number][1:], None)
        for inner, (command, call) in enumerate(zip(commands[number], calls[number], strict=True)):
            after = following[inner]
            deeper = after is not None and len(after.around.stack) > len(command.around.stack)
            conditional = bool(undecided) and not undecided.isdisjoint(command.around.guards)
            yield _Step(command, Place(order.get(call, -1), number, inner), conditional, deeper)


def _read_unseen(out: Ledger, steps: Sequence[_Step], launch_of: Callable[[Command], Launch | None]) -> None:
    """Calls of the driver that start no launch on any path: what they would have made is told by their words only."""
    heads: dict[int, _Step] = {}
    seen: set[int] = set()
    for step in steps:
        call = step.place.call
        heads.setdefault(call, step)
        if call not in seen and not step.command.builtin and launch_of(step.command) is not None:
            seen.add(call)
    for call, step in heads.items():
        called = called_file(step.command) if call not in seen else None
        if called is not None and not _only_evaluates(called.path):
            out.unseen.extend((word, step.place) for word in step.command.argv[1:])


def _only_evaluates(path: Text) -> bool:
    """Whether a script is one that a family evaluates or scores with: it saves no checkpoints."""
    kinds = [kind.name for _, kind in stages_of_launcher(path.known or path.suffix)]
    return bool(kinds) and all(kind == "score" or kind.startswith("eval") for kind in kinds)


def _names(word: Text, name: Text) -> bool:
    """Whether a word is a name, or a record or path that holds it."""
    known = name.known
    return known is not None and any(
        known in re.split(r"[,/=]", part.text) for part in word.parts if isinstance(part, Literal)
    )


def driver_calls(commands: Sequence[Command], own: set[int]) -> list[DriverCall]:
    """For every command of a path the driver's command it belongs to: its place, and how often that was reached."""
    out: list[DriverCall] = []
    seen: dict[object, int] = {}
    current: DriverCall = ()
    for command in commands:
        source = command.span.source
        while id(source) not in own and source.parent is not None:
            source = source.parent
        if id(source) in own:
            where = command.span.order()
            seen[where] = seen.get(where, 0) + 1
            current = (where, seen[where])
        out.append(current)
    return out


def _merged(calls: Sequence[Sequence[DriverCall]]) -> dict[DriverCall, int]:
    """One order for the commands of all paths: what only some paths reach stands behind what they reached before it."""
    order: list[DriverCall] = []
    known: set[DriverCall] = set()
    for path in calls:
        at = 0
        for call in dict.fromkeys(path):
            if call in known:
                at = order.index(call, 0) + 1
                continue
            known.add(call)
            order.insert(at, call)
            at += 1
    return {call: at for at, call in enumerate(order)}


# ---- one command


def _read(out: Ledger, step: _Step, launch_of: Callable[[Command], Launch | None]) -> None:
    command = step.command
    if command.builtin or command.function:
        return
    argv = unwrap(command.argv).argv
    if not argv:
        return
    name = program_name(argv[0])
    if name in _COPIES:
        _read_copy(out, step, argv)
        return
    trains = any("trainer.default_local_dir=" in word.prefix for word in argv)
    if trains and (launch := launch_of(command)) is not None:
        saved = saved_by(launch, step.place)
        if saved is not None:
            out.saves.append(saved)
    if name not in _QUIET:
        for use, is_whole in _uses(step, argv):
            (out.uses if is_whole else out.roleless).append(use)
    if name not in _HARMLESS and not trains and not step.deeper and not enters_container(argv):
        _read_maker(out, step, argv)


def saved_by(launch: Launch, place: Place) -> Save | None:
    """What a launch saves; None when it saves nothing by its nature or says no folder."""
    folder = launch["trainer.default_local_dir"]
    if not folder.given or launch["trainer.val_only"].truthy():
        return None
    roles = saved_roles(launch)
    if roles is not None and not roles:
        return None
    text = absolute(folder.text or Text((Literal(str(folder)),)), launch.command.around.cwd)
    frequency = launch["trainer.save_freq"]
    every = frequency.number() if frequency.given else None
    totals = (launch[key].number() for key in ("trainer.total_training_steps", "trainer.textgame_total_steps"))
    last = next((int(total) for total in totals if total is not None), None)
    return Save(
        folder=text,
        key=components(text),
        span=folder.span or launch.head,
        place=place,
        command=launch.command,
        roles=roles,
        every=int(every) if every is not None and every > 0 else None,
        last=last,
        never=every is not None and every <= 0,
        every_span=frequency.span,
        kept={role: launch[f"trainer.max_{role}_ckpt_to_keep"] for role in ROLES},
        newest=launch["trainer.remove_previous_ckpt_in_save"],
    )


def _uses(step: _Step, argv: Sequence[Text]) -> Iterator[tuple[Use, bool]]:
    """The checkpoints that a command names, each with whether a role of it, or the whole step to resume, is read."""
    for at, word in enumerate(argv):
        if not _mentions_step(word):
            continue
        option = (argv[at - 1].known or "") if at else ""
        key, value = _key_and_value(word)
        if step.told is not None and step.told.names("writes", word):
            continue
        if step.told is not None and step.told.names("reads", word):
            option = "--resume"
        if _OUTPUT.match(option) or _OUTPUT.match(key) or _writes(key):
            continue
        use = _use(value, step)
        if use is not None:
            yield use, bool(use.role or key == "trainer.resume_from_path" or _RESUME.match(key or option))


def _mentions_step(word: Text) -> bool:
    return any(isinstance(part, Literal) and "global_step_" in part.text for part in word.parts)


def _key_and_value(word: Text) -> tuple[str, Text]:
    """`key=value` and `--option=value` in their parts; "" and the word for others."""
    key, start = _key(word)
    return key, word.slice(start, 1_000_000) if start else word


def _key(word: Text) -> tuple[str, int]:
    """What stands before the "=" of a word, and where its value begins; "" and 0 for a word without."""
    match = _KEY.match(word.prefix)
    if match is None or "/" in match.group(1):
        return "", 0
    return match.group(1), match.end()


def _writes(key: str) -> bool:
    """Whether a configuration key names a place that is written."""
    return key.endswith(("_save_dir", "_data_dir", "default_local_dir", "run.dir", "output_path", "output_dir"))


def _use(value: Text, at: _Step) -> Use | None:
    command = at.command
    match = _STEP.search(flat(value.parts))
    if match is None:
        return None
    written = value.slice(match.start("folder"), match.end("folder"))
    folder = absolute(written, command.around.cwd)
    step_text = value.slice(match.start("step"), match.end("step"))
    step = step_text.known
    span = written_at(last_component(written)) or value.span or command.span
    return Use(
        folder=folder,
        key=components(folder),
        role=match.group("role") or "",
        step=int(step) if step is not None and step.isdecimal() and len(step) < 12 else None,
        span=span,
        word=value,
        place=at.place,
        command=command,
        conditional=at.conditional,
        step_span=written_at(step_text),
    )


# ---- copies and commands of unknown effect


def _read_copy(out: Ledger, at: _Step, argv: Sequence[Text]) -> None:
    """`cp -r A/global_step_N B/` saves step N in B; what else is copied may be anything."""
    command, place = at.command, at.place
    operands = [word for word in argv[1:] if not (word.known or word.prefix).startswith("-")]
    given = (after for word, after in pairwise(argv) if word.known in ("-t", "--target-directory"))
    target = next(given, None)
    if target is None:
        if len(operands) < 2:
            return
        target = operands.pop()
    goal = absolute(target, command.around.cwd)
    into = _use(goal, at)
    for word in operands:
        used = _use(word, at) if _mentions_step(word) else None
        if used is None:
            out.makers.append((components(goal), place))
            continue
        out.uses.append(used)
        folder, step = (into.folder, into.step) if into is not None else (goal, used.step)
        role = used.role or (into.role if into is not None else "")
        steps = frozenset() if step is None else frozenset([step])
        roles = frozenset([role]) if role else None
        out.saves.append(Save(folder, components(folder), command.span, place, command, roles, steps=steps))


def _with_source_roles(save: Save, ledger: Ledger) -> Save:
    """A copy of a whole step has the roles that its source has."""
    if not save.steps or save.roles is not None:
        return save
    sources = [use for use in ledger.uses if use.command is save.command]
    roles: set[str] = set()
    for use in sources:
        found = [each.roles for each in ledger.saves if each.key == use.key and each.place.before(use.place)]
        if not found or None in found:
            return save
        roles.update(role for each in found if each is not None for role in each)
    return Save(
        save.folder,
        save.key,
        save.span,
        save.place,
        save.command,
        frozenset(roles) if sources else None,
        steps=save.steps,
    )


def _read_maker(out: Ledger, at: _Step, argv: Sequence[Text]) -> None:
    """A program of unknown effect may have filled every folder it names; a script nobody can read, any folder."""
    command, place = at.command, at.place
    name = program_name(argv[0])
    says_where = at.told is not None and bool(at.told.paths)
    if not says_where and (not name or _is_script(command)):
        out.makers.append(((), place))
        return
    if name == "git" and any(word.known == "clone" for word in argv[1:]):
        cloned = absolute(Text((Literal(_repository(argv[-1])),)), command.around.cwd)
        out.makers.append((components(cloned), place))
    for before, word in pairwise(argv):
        if name in CONTAINERS and before.known in ("-w", "--workdir"):
            continue  # where the container is entered: it makes nothing there
        if at.told is not None and at.told.names("reads", word):
            continue
        key, start = _key(word)
        if "." in key and not key.startswith("-"):
            continue
        value = word.slice(start, 1_000_000) if start else word
        text = flat(value.parts)
        if _mentions_step(value) or "://" in text or not ("/" in text or text == MARK):
            continue
        out.makers.append((components(absolute(value, command.around.cwd)), place))


def _is_script(command: Command) -> bool:
    called = called_file(command)
    return called is not None and (called.program in ("bash", "sh", "dash", "zsh") or called.path.suffix.endswith("sh"))


def _repository(url: Text) -> str:
    """The folder that `git clone URL` makes."""
    return url.suffix.rstrip("/").rsplit("/", 1)[-1].removesuffix(".git")


def own_sources(texts: Sequence[Source]) -> set[int]:
    """The identities of a driver's own sources, for `ledger_of`."""
    return {id(text) for text in texts}
