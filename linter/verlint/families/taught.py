"""Launchers that a settings file teaches: which stage of which family they run, how they are called, and what their
words mean. A taught launcher is then read as those of the catalogue are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from verlint.families import FAMILIES
from verlint.families.model import Record
from verlint.lazy import pattern
from verlint.pathglob import matches
from verlint.record import dataclass, field
from verlint.settings import meant

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

CONVENTIONS: Mapping[str, str] = {
    "options": "`--name value` and `--name=value` words; the default",
    "record": "one word that holds a whole run, its fields separated by commas",
    "verb": "a first word that chooses the stage, then words in a fixed order",
    "overrides": "`key=value` words for the trainer, as Hydra takes them",
}
"""How a launcher takes its arguments."""

MEANINGS: Mapping[str, str] = {
    "exp_name": "name of the run, under which it saves",
    "model": "model that is trained or asked",
    "ref_model_path": "model of the KL term",
    "resume_policy_name": "run whose checkpoint is started from",
    "resume_policy_ckpt": "step of that checkpoint",
    "exp_path": "experience, or list of experience files, that is read",
    "deploy_save_dir": "trajectories of the deploy stage",
    "off_policy_save_dir": "answers of the off-policy data stage",
    "oel_round": "round of the experiment",
    "ckpts": "steps that are gone through",
    "ckpt_start": "first step that is gone through",
    "ckpt_end": "last step that is gone through",
    "ckpt_step": "distance of the steps that are gone through",
    "total_training_steps": "number of steps that are trained",
    "save_freq": "steps between two checkpoints",
    "max_response_length": "tokens of an answer",
    "experience_max_length": "tokens of the experience",
    "rollout_n": "answers to a prompt",
    "kl_loss_type": "kind of the KL term",
    "kl_topk": "tokens that the KL term looks at",
    "val_samples_limit": "samples that are validated",
    "val_samples_use": "samples that are used of those",
    "system_prompt_type": "kind of system prompt",
    "textgame_name": "text game",
    "textgame_max_steps": "turns of the text game",
    "textgame_no_think": "whether the player answers without thinking",
    "reads": "file or folder that is only read",
    "writes": "file or folder that is written",
}
"""What a word of a call may mean, by the names that the launchers of the families use. A configuration key with a dot
(`data.train_batch_size`) is a meaning too."""

PATHS = ("reads", "writes")
"""Meanings that several words of one call may have."""

SYNONYMS: Mapping[str, str] = {
    "run": "exp_name",
    "policy": "resume_policy_name",
    "step": "resume_policy_ckpt",
    "round": "oel_round",
}
"""Short names of meanings."""

CONFIG_KEY = r"^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z0-9_]+)+$"
_CONFIG_KEY = pattern(CONFIG_KEY)

KEYS: Mapping[str, str] = {
    "family": "Family of the stage.",
    "stage": "Kind of the stage, as the family calls it.",
    "convention": "How the launcher takes its arguments.",
    "options": "What each option means.",
    "fields": 'What each field of a record means, or each word behind a verb, in order; "" for nothing.',
    "verbs": "The stage that each verb runs.",
}
"""The keys of a taught launcher."""


@dataclass(frozen=True, slots=True)
class TaughtLauncher:
    """A launcher as a settings file teaches it.

    `glob` says which files are meant, relative to the settings file. `family` and `stage` are "" where they are not
    told. `options` gives the meaning of each option, `fields` those of the fields (words behind a verb), "" for
    none."""

    glob: str
    family: str = ""
    stage: str = ""
    convention: str = "options"
    options: Mapping[str, str] = field(default_factory=dict)
    fields: tuple[str, ...] = ()
    verbs: Mapping[str, str] = field(default_factory=dict)

    def means(self, path: str) -> bool:
        """Whether a path, relative to the settings file, is one of this launcher."""
        return matches(self.glob, path)

    def ends(self, path: str) -> bool:
        """Whether a path of which only the end is known may be one of this launcher."""
        body = self.glob.removeprefix("./")
        return matches(body if body.startswith("**/") else f"**/{body}", path.lstrip("/"))

    def spelling(self, meaning: str) -> str:
        """The option of this meaning, "" when there is none."""
        return next((name for name, each in self.options.items() if each == meaning), "")

    @property
    def record(self) -> Record | None:
        """The comma record that it takes, as the catalogue writes it; None for another convention."""
        if self.convention != "record":
            return None
        named = tuple("MODEL_PATH" if name == "model" else name.upper() for name in self.fields)
        pair = ("RESUME_POLICY_NAME", "RESUME_POLICY_CKPT")
        return Record((), named, (pair,) if set(pair) <= set(named) else ())

    @property
    def sets_keys(self) -> bool:
        """Whether its calls say what the trainer is told."""
        return self.convention == "overrides" or any("." in each for each in (*self.options.values(), *self.fields))


def taught_launchers(tables: Mapping[str, Mapping[str, Any]]) -> tuple[TaughtLauncher, ...]:
    """The launchers of `[launchers]` tables that have no problem, in the order written."""
    return tuple(_launcher(glob, table) for glob, table in tables.items())


def _launcher(glob: str, table: Mapping[str, Any]) -> TaughtLauncher:
    return TaughtLauncher(
        glob,
        family=table.get("family", ""),
        stage=table.get("stage", ""),
        convention=table.get("convention", "options"),
        options={name: _meaning(text) for name, text in table.get("options", {}).items()},
        fields=tuple(_meaning(text) for text in table.get("fields", ())),
        verbs=table.get("verbs", {}),
    )


def _meaning(text: str) -> str:
    return SYNONYMS.get(text, text)


# ---- what may be wrong


def launcher_problems(tables: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[Sequence[str], str]]:
    """What is wrong with `[launchers]` tables: keys below `launchers` that lead to the place, and a text."""
    for glob, table in tables.items():
        wrong = list(_wrong_types(table))
        for key, text in wrong or [*_of_stage(table), *_of_convention(table), *_of_meanings(table)]:
            yield (glob, *key), f"`launchers` [{glob!r}] {text}"


def _wrong_types(table: Mapping[str, Any]) -> Iterator[tuple[Sequence[str], str]]:
    for key, value in table.items():
        if key not in KEYS:
            yield (key,), f"has no key `{key}`" + (meant(key, KEYS) or f"; it has {_listed(KEYS)}")
        elif key in ("options", "verbs"):
            if not isinstance(value, dict) or not all(isinstance(each, str) for each in value.values()):
                yield (key,), f"`{key}` must be a table of strings"
        elif key == "fields":
            if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
                yield (key,), "`fields` must be a list of strings"
        elif not isinstance(value, str):
            yield (key,), f"`{key}` must be a string"


def _of_stage(table: Mapping[str, Any]) -> Iterator[tuple[Sequence[str], str]]:
    name = table.get("family", "")
    if "family" in table and name not in FAMILIES:
        yield ("family",), f"`family`: there is no family `{name}`" + (meant(name, FAMILIES) or _known(FAMILIES))
        return
    stages: list[tuple[tuple[str, ...], str]] = [(("stage",), table["stage"])] if "stage" in table else []
    stages += [(("verbs", verb), stage) for verb, stage in table.get("verbs", {}).items()]
    for key, stage in stages:
        if not name:
            yield key, f"`{'.'.join(key)}` goes with `family`, which is not given"
        elif FAMILIES[name].stage(stage) is None:
            near = meant(stage, FAMILIES[name].stages) or _known(FAMILIES[name].stages)
            yield key, f"`{'.'.join(key)}`: {name} has no stage `{stage}`{near}"


def _of_convention(table: Mapping[str, Any]) -> Iterator[tuple[Sequence[str], str]]:
    name = table.get("convention", "options")
    if name not in CONVENTIONS:
        near = meant(name, CONVENTIONS) or _known(CONVENTIONS)
        yield ("convention",), f"`convention`: there is no convention `{name}`{near}"
        return
    goes = {"fields": ("record", "verb"), "verbs": ("verb",), "options": ("options", "verb", "overrides")}
    for key, conventions in goes.items():
        if key in table and name not in conventions:
            wanted = " or ".join(f'"{each}"' for each in conventions)
            yield (key,), f'`{key}` goes with convention {wanted}, not "{name}"'


def _of_meanings(table: Mapping[str, Any]) -> Iterator[tuple[Sequence[str], str]]:
    for option, text in table.get("options", {}).items():
        if not option.startswith("-"):
            yield ("options", option), f"`options`: `{option}` is no option (did you mean `--{option}`?)"
        elif wrong := _wrong_meaning(text):
            yield ("options", option), f"`options.{option}`: {wrong}"
    for text in table.get("fields", ()):
        if text and (wrong := _wrong_meaning(text)):
            yield ("fields",), f"`fields`: {wrong}"


def _wrong_meaning(text: str) -> str:
    names = [*MEANINGS, *SYNONYMS]
    if text in names or _CONFIG_KEY.search(text):
        return ""
    near = meant(text, names)
    return f"`{text}` is no meaning" + (near or "; write the name of a setting or a configuration key with a dot")


def _known(names: Iterable[str]) -> str:
    return f"; there is {_listed(names)}"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
