"""How a stage of a family is called: launcher, options with their values, inputs and outputs, what it touches.

Texts are templates. `{name}` stands for a setting of the plan, `${…}` is a reference of the spec format and stays. An
option whose template starts with `?` is left out when a setting in it is not given.
"""

from __future__ import annotations

from collections.abc import Mapping

from verlint.record import dataclass, field

GPU, CONTAINER, CLUSTER, HUB, API, TRACKING, MERGE, BRANCH = (
    "GPU",
    "container",
    "Ray cluster",
    "Hugging Face",
    "OpenAI-compatible API",
    "W&B",
    "checkpoint merge",
    "git branch",
)
"""What a command may touch; a plan names it beside `not executed`."""

WANDB_KEY, WANDB_PROJECT, HF_KEY, API_KEY = "WANDB_API_KEY", "WANDB_PROJECT", "HF_TOKEN", "OPENAI_API_KEY"

SERVICES: Mapping[str, tuple[str, ...]] = {
    "wandb": (WANDB_KEY, WANDB_PROJECT),
    "hf": (HF_KEY,),
    "openai": (API_KEY,),
}
"""The variables of each service whose credentials a user may intend to give."""

OPTIONAL_CREDENTIALS = frozenset([WANDB_PROJECT, HF_KEY])
"""Variables without which the launchers work: a default project, public models."""


@dataclass(frozen=True, slots=True)
class Input:
    """What a stage reads from stages of the kinds `producers`, the first that the plan has.

    `option` takes it, as `${deps.NAME}`; when no stage of the plan makes it, the option takes `alone` ("" leaves it
    out). `role` marks a checkpoint, whose step (or `steps`) is a template. `previous` asks for the round before,
    `staged` says that the checkpoint is copied into this stage's run. `place` says where it lies when nothing in the
    plan makes it, `note` how it comes to be there."""

    name: str
    producers: tuple[str, ...]
    option: str = ""
    alone: str = ""
    role: str = ""
    step: str = ""
    steps: str = ""
    previous: bool = False
    staged: bool = False
    place: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Output:
    """What a stage writes: a path, or (without one) the checkpoints of the roles that its kind saves."""

    name: str
    path: str = ""


@dataclass(frozen=True, slots=True)
class Pitfall:
    """A known failure of a stage and how it shows. It is told where the stage uses `about`, an argument, credential
    or override `key=value` ("" always)."""

    what: str
    symptom: str
    about: str = ""


@dataclass(frozen=True, slots=True)
class ByHand:
    """A step that no launcher makes, needed while the spec holds the placeholder `asks`. `command` shows what to look
    at; `{run}` in it is the folder of the stage's run, other names are its arguments. `after` says that it follows the
    stage."""

    name: str
    asks: str
    title: str
    command: str
    after: bool = False


@dataclass(frozen=True, slots=True)
class Recipe:
    """One way to run a stage of a kind, for `tracks` (all when empty).

    `name` is that of the stage in a plan. `run` names the run that it belongs to: stages with the same one share an
    experiment name. `launcher` is relative to the family's folder; `shell` is a whole command instead, `entry` a Python
    module with `overrides`. `options` are in the order of the call. `append` are words behind all options, `before`
    lines ahead of the call. `fixed` are settings that the launcher does not let anyone change, with their value.
    `ranged` says that the launcher takes first and last checkpoint and their distance; others are called for each one.
    `follows` makes one stage for each training stage of the plan. `by_hand` is what people do before or after it."""

    name: str
    kind: str
    title: str
    tracks: tuple[str, ...] = ()
    run: str = ""
    launcher: str = ""
    shell: str = ""
    entry: str = ""
    overrides: Mapping[str, object] = field(default_factory=dict)
    options: Mapping[str, str] = field(default_factory=dict)
    append: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    inputs: tuple[Input, ...] = ()
    outputs: tuple[Output, ...] = ()
    touches: tuple[str, ...] = ()
    credentials: tuple[str, ...] = ()
    approvals: tuple[str, ...] = ()
    intent: str = ""
    fixed: Mapping[str, object] = field(default_factory=dict)
    ranged: bool = False
    follows: bool = False
    optional: bool = False
    by_hand: ByHand | None = None
    pitfalls: tuple[Pitfall, ...] = ()
    notes: tuple[str, ...] = ()


INSIDE = (
    "`docker run -it` leaves you in a shell of the container: the commands after it, and all other steps, are for it"
)


@dataclass(frozen=True, slots=True)
class Setup:
    """How the environment of a family is made for a class of GPUs: name in a spec, commands, what must be ready, and
    what to know of the commands."""

    setup: str
    commands: tuple[tuple[str, tuple[str, ...]], ...]
    ready: tuple[str, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Alias:
    """A named experiment of a family: its long name, mode (the track), source of feedback, and option values."""

    name: str
    run: str
    track: str
    feedback: str
    settings: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class DataFiles:
    """The files of a data root under the name of a profile, with the column that holds the prompt and, where a stage
    trains on a file, the number of rows it needs at least (the batch of the launchers, or its default)."""

    files: tuple[str, ...]
    prompt_key: str = ""
    trains_on: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Cookbook:
    """All recipes of a family.

    `plans` maps what a user may ask for to the recipes it consists of, in order; `tracks` and `plans` are what exists,
    `without` the pairs (track, plan) that do not. `models` are the roles with the setting that names each one, or the
    role it shares ("=policy"). `roots` are the variables of the roots; `literal_root` is where launchers write that
    have no such variable. `repository` says where the checkout comes from, `folder` is an example of its place, `inner`
    where the checkout inside it comes from whose branches are switched. `labels` say what inputs and outputs are that
    their names do not tell."""

    family: str
    tracks: tuple[str, ...]
    plans: Mapping[str, tuple[str, ...]]
    recipes: tuple[Recipe, ...]
    defaults: Mapping[str, object]
    models: Mapping[str, str]
    roots: Mapping[str, str]
    setups: Mapping[str, Setup]
    checkout: str
    literal_root: str = ""
    repository: str = ""
    folder: str = ""
    inner: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    without: frozenset[tuple[str, str]] = frozenset()
    rounds: bool = False
    aliases: tuple[Alias, ...] = ()
    data: Mapping[str, DataFiles] = field(default_factory=dict)
    profiles: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def recipe(self, name: str, track: str) -> Recipe | None:
        """The recipe of this name for a track."""
        return next(
            (each for each in self.recipes if each.name == name and (not each.tracks or track in each.tracks)), None
        )

    def alias(self, name: str) -> Alias | None:
        """The alias of this name, short or long."""
        return next((each for each in self.aliases if name in (each.name, each.run)), None)
