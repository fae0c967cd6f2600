"""From what a user says to what is planned: family, track, recipes and the value of every setting."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from verlint.experiment.spec import step_range
from verlint.families import FAMILIES
from verlint.families.models import TOKENIZERS
from verlint.families.profiles import WITHOUT
from verlint.families.recipes import COOKBOOKS, NOT_THESE
from verlint.families.recipes.games import GAMES
from verlint.families.recipes.model import Alias, Cookbook, Recipe
from verlint.families.sharing import PROMPT_TYPES
from verlint.lazy import pattern
from verlint.plan.options import BY_NAME, GPU_CLASSES, OPTIONS, PlanError, read_value, unknown
from verlint.record import dataclass

_SETTING = pattern(r"(?<!\$)\{(\w+)\}")
_MODEL = pattern(r"\$\{models\.(\w+)\}")
_RUN_STEP = pattern(r"(?:(?P<run>[\w.-]+):)?(?P<step>\d{1,7})")
_NAME = pattern(r"[A-Za-z0-9<][\w.<>-]*")

ALWAYS = frozenset(["exp_name", "nodes", "gpus_per_node", "gpu_class", "credentials"])
"""Options that have a meaning in every plan."""

_WHOLE = ("all", "round", "config")
"""What is planned when no stage is named: the first of these that a family has."""

_DERIVED: Mapping[str, frozenset[str]] = {
    "checkpoint": frozenset(["eval_steps", "first_step", "if_eval_step", "seeds"]),
    "checkpoint_start": frozenset(["eval_steps", "first_step", "seeds"]),
    "checkpoint_end": frozenset(["eval_steps", "first_step", "seeds"]),
    "checkpoint_step": frozenset(["eval_steps", "first_step", "seeds"]),
}
"""Options that settings of a recipe are made of."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What is planned. `given` holds the options that the user gave, `settings` the value of every setting."""

    book: Cookbook
    track: str
    stage: str
    recipes: tuple[Recipe, ...]
    given: Mapping[str, object]
    settings: Mapping[str, object]
    alias: Alias | None = None
    resumes: tuple[str, int] | None = None

    @property
    def rounds(self) -> range:
        """The rounds that are planned; round 0 stands for an experiment without rounds."""
        if self.stage == "rounds":
            return range(1, int(str(self.settings.get("rounds", 2))) + 1)
        number = int(str(self.settings.get("round", 1))) if self.book.rounds else 0
        return range(number, number + 1)


def find_family(name: str) -> Cookbook:
    """The cookbook of a family. Raises PlanError."""
    if name.lower() in NOT_THESE:
        raise PlanError(f"{name} is not one of these families: {', '.join(COOKBOOKS)}")
    book = COOKBOOKS.get(name.lower())
    if book is None:
        raise PlanError(unknown("family", name, tuple(COOKBOOKS)))
    return book


def whole_stage(book: Cookbook) -> str:
    """What is planned of a family when no stage is named."""
    return next(name for name in _WHOLE if name in book.plans)


def tracks_of(book: Cookbook, stage: str) -> tuple[str, ...]:
    """The tracks that have a stage."""
    return tuple(track for track in book.tracks if (track, stage) not in book.without)


def make_wish(family: str, track: str, stage: str, texts: Mapping[str, str]) -> Wish:
    """What is planned for the options of a call, each as text. Raises PlanError with what is allowed."""
    book = find_family(family)
    given = {name: read_value(BY_NAME[name], text) for name, text in texts.items()}
    alias = _alias(book, given)
    stage = stage or whole_stage(book)
    track = _track(book, track, stage, alias, given)
    if stage not in book.plans:
        raise PlanError(_no_stage(book, stage))
    if track and track not in tracks_of(book, stage):
        raise PlanError(
            f"track {track} has no stage {stage}; stages of it: "
            + ", ".join(name for name in book.plans if (track, name) not in book.without)
        )
    recipes = _recipes(book, track, stage)
    _refuse_idle(book, track, stage, recipes, given)
    _refuse_machines(book, given)
    settings = {**book.defaults, **_track_defaults(book, track), **(alias.settings if alias else {}), **given}
    _save_in_time(settings, given)
    wish = Wish(book, track, stage, recipes, given, settings, alias, _resumed(given))
    _check(wish)
    return wish


def _refuse_machines(book: Cookbook, given: Mapping[str, object]) -> None:
    wanted, lacking = given.get("gpu_class"), WITHOUT.get(book.family, frozenset())
    if wanted in lacking:
        allowed = ", ".join(name for name in GPU_CLASSES if name not in lacking)
        raise PlanError(f"{book.family} has no set-up for {wanted} machines; --gpu-class takes {allowed}")


def _save_in_time(settings: dict[str, object], given: Mapping[str, object]) -> None:
    """A short training saves at its end where nobody said how often."""
    saves, total = settings.get("save_freq"), settings.get("total_training_steps")
    if "save_freq" not in given and isinstance(saves, int) and isinstance(total, int):
        settings["save_freq"] = min(saves, total)


def _alias(book: Cookbook, given: Mapping[str, object]) -> Alias | None:
    name = given.get("alias")
    if name is None:
        return None
    if not book.aliases:
        raise PlanError(f"--alias is for family coach, not for {book.family}")
    found = book.alias(str(name))
    if found is None:
        raise PlanError(unknown("alias", str(name), tuple(each.name for each in book.aliases)))
    return found


def _track(book: Cookbook, track: str, stage: str, alias: Alias | None, given: Mapping[str, object]) -> str:
    if track and track not in book.tracks:
        allowed = f"family {book.family} has no tracks" if not book.tracks else ""
        raise PlanError(allowed or unknown(f"track of {book.family}", track, book.tracks))
    if alias is not None:
        if track and track != alias.track:
            raise PlanError(f"alias {alias.name} is of track {alias.track}, not {track}")
        return alias.track
    if track or not book.tracks:
        return track
    fitting = tracks_of(book, stage) if stage in book.plans else book.tracks
    if "prompt_type" in given and "system-prompt" in fitting:
        return "system-prompt"
    if len(fitting) == 1 or (stage in book.plans and not _by_track(book, stage)):
        return fitting[0]
    raise PlanError(f"--track is needed for {book.family} {stage}: {', '.join(fitting)}".replace("  ", " "))


def _by_track(book: Cookbook, stage: str) -> bool:
    return any(recipe.tracks for recipe in book.recipes if recipe.name in book.plans[stage])


def _no_stage(book: Cookbook, stage: str) -> str:
    others = [name for name, other in COOKBOOKS.items() if stage in other.plans]
    text = unknown(f"stage of {book.family}", stage, tuple(book.plans))
    return f"{text} (`{stage}` is a stage of {', '.join(others)})" if others else text


def _recipes(book: Cookbook, track: str, stage: str) -> tuple[Recipe, ...]:
    found = [book.recipe(name, track) for name in book.plans[stage]]
    return tuple(each for each in found if each is not None)


def _track_defaults(book: Cookbook, track: str) -> Mapping[str, object]:
    return {"max_response_length": 16384} if (book.family, track) == ("opcd", "math") else {}


# Which options count -------------------------------------------------------------------------------------------------


def legal_options(book: Cookbook, track: str, stage: str) -> frozenset[str]:
    """The options that have a meaning for a stage."""
    return _used(book, stage, _recipes(book, track, stage))


def defaults_of(wish: Wish) -> list[str]:
    """The options that were not given and have a default which counts, each with its value."""
    legal = legal_options(wish.book, wish.track, wish.stage)
    return [
        f"{option.flag} {wish.settings[option.name]}"
        for option in OPTIONS
        if option.name in legal and option.name in wish.settings
        if option.name not in wish.given and (wish.alias is None or option.name not in wish.alias.settings)
    ]


def _used(book: Cookbook, stage: str, recipes: Iterable[Recipe]) -> frozenset[str]:
    recipes = tuple(recipes)
    texts = [text for recipe in recipes for text in _templates(recipe)]
    names = {name for text in texts for name in _SETTING.findall(text)}
    for role in {role for text in texts for role in _MODEL.findall(text)}:
        names.update(each for each in re.split(r"\||=\w+", book.models.get(role, "")) if each)
    names.discard("")
    found = {option.name for option in OPTIONS if option.name in names}
    found.update(option for option, settings in _DERIVED.items() if settings & names)
    if "resume_step" in names or any(each.option == "resume_policy" for recipe in recipes for each in recipe.inputs):
        found.add("resume_checkpoint")
    if "experience_path" in found and any(recipe.name == "extract" for recipe in recipes):
        found.discard("experience_path")
    if "reward_model" in found and all(recipe.name != "warmup" for recipe in recipes):
        found.discard("reward_model")
    if book.rounds:
        found.discard("round")
        found.add("rounds" if stage == "rounds" else "round")
    if stage == "rounds":
        found -= {"resume_checkpoint"}
    if book.aliases:
        found.add("alias")
    fixed = {name for recipe in recipes for name in recipe.fixed}
    return frozenset(found | ALWAYS) - (fixed - names)


def _templates(recipe: Recipe) -> Iterator[str]:
    yield recipe.shell
    yield from recipe.options.values()
    for value in recipe.overrides.values():
        yield str(value)
    for each in recipe.inputs:
        yield from (each.alone, each.step, each.steps)
    for output in recipe.outputs:
        yield output.path


def _refuse_idle(
    book: Cookbook, track: str, stage: str, recipes: tuple[Recipe, ...], given: Mapping[str, object]
) -> None:
    """An option that would change nothing is refused: who gives it believes that it does."""
    legal = _used(book, stage, recipes)
    for recipe in recipes:
        for name, value in recipe.fixed.items():
            if name not in given or given[name] == value:
                continue
            below = any(name in _settings_in(other) for other in recipes) and float(str(given[name])) < float(
                str(value)
            )
            if not below:  # a training may stop before all that a generator made is used
                raise PlanError(f"{BY_NAME[name].flag} is fixed in {recipe.launcher}: {value}")
    if "rounds" in given and "rounds" not in legal and "rounds" in book.plans:
        raise PlanError("--rounds counts with --stage rounds only: add it (--round N plans one round)")
    for name in given:
        if name not in legal and not any(recipe.fixed.get(name) == given[name] for recipe in recipes):
            allowed = ", ".join(option.flag for option in OPTIONS if option.name in legal)
            where = " ".join(each for each in (book.family, track, stage) if each)
            raise PlanError(f"{BY_NAME[name].flag} means nothing for {where}; options that do: {allowed}")


def _settings_in(recipe: Recipe) -> frozenset[str]:
    return frozenset(name for text in _templates(recipe) for name in _SETTING.findall(text))


# Values that do not go together --------------------------------------------------------------------------------------


def _resumed(given: Mapping[str, object]) -> tuple[str, int] | None:
    text = given.get("resume_checkpoint")
    if text is None:
        return None
    found = _RUN_STEP.fullmatch(str(text))
    if found is None:
        raise PlanError(f"--resume-checkpoint takes STEP or RUN:STEP, not `{text}`")
    return found["run"] or "", int(found["step"])


def _check(wish: Wish) -> None:
    settings, book = wish.settings, wish.book
    name = settings.get("exp_name")
    if name is not None and not _NAME.fullmatch(str(name)):
        raise PlanError(f"--exp-name takes letters, digits, `.`, `_` and `-`, not `{name}`")
    game = settings.get("textgame_name")
    if game is not None and not any(each in str(game) for each in GAMES):
        raise PlanError(f"--textgame-name `{game}` is no game of the fork; its name holds {' or '.join(GAMES)}")
    limit, use = settings.get("val_samples_limit"), settings.get("val_samples_use")
    if isinstance(limit, int) and isinstance(use, int) and use > limit:
        raise PlanError(f"--val-samples-use {use} is more than --val-samples-limit {limit}")
    if book.family == "opo" and settings.get("rollout_n") == 1:
        raise PlanError("--rollout-n 1 makes groups of one, whose advantage is 0; take 2 or more")
    kind, path = settings.get("prompt_type"), str(settings.get("experience_path", ""))
    if kind and (other := next((each for each in PROMPT_TYPES if each != kind and each in path), "")):
        raise PlanError(f"--prompt-type {kind} and --experience-path {path}: that is the prompt of {other}")
    data = settings.get("val_data")
    if book.family == "gad" and data is not None and not _NAME.fullmatch(str(data)):
        raise PlanError(f"--val-data takes the name of a data set here, such as lmsys or dolly, not `{data}`")
    _check_tokenizers(settings)
    _check_gpus(wish)
    _check_range(wish)
    if wish.resumes is None and _needs_resume(wish):
        flag = "--resume-checkpoint"
        what = "STEP of the warm-up" if book.family == "gad" else "RUN:STEP of the round before"
        raise PlanError(f"{wish.stage} goes on from a checkpoint, and none is given: {flag} {what}")
    if wish.resumes and not wish.resumes[0] and wish.rounds.start > 1:
        raise PlanError("--resume-checkpoint takes RUN:STEP here: the round before is not part of the plan")
    if wish.resumes and wish.rounds.start == 1 and book.rounds:
        raise PlanError("--resume-checkpoint is for rounds above 1: the first one starts from --model")
    if wish.resumes and wish.resumes[0] and book.family == "gad":
        raise PlanError("--resume-checkpoint takes STEP here: the copied checkpoint lies in the run itself")
    if wish.rounds.start > 1 and "model" in wish.given and wish.stage != "eval" and wish.stage != "round":
        raise PlanError("--model and --resume-checkpoint exclude each other: a later round starts from the checkpoint")


def _check_tokenizers(settings: Mapping[str, object]) -> None:
    """Distributions of two models are compared token by token."""
    policy, reference = (_tokenizer(str(settings.get(name, ""))) for name in ("model", "ref_model"))
    if policy and reference and policy != reference:
        raise PlanError(
            f"--model {settings['model']} has the tokenizer of {policy}, --ref-model {settings['ref_model']} that of "
            f"{reference}: their distributions are compared token by token"
        )


def _tokenizer(model: str) -> str:
    name = model.rstrip("/").rpartition("/")[2].lower()
    return next((whose for begin, whose in TOKENIZERS if re.match(begin, name)), "")


def _needs_resume(wish: Wish) -> bool:
    if wish.stage == "adversarial":
        return True
    later = wish.book.rounds and wish.rounds.start > 1
    return later and any(each.option == "resume_policy" for recipe in wish.recipes for each in recipe.inputs)


def _check_gpus(wish: Wish) -> None:
    settings = wish.settings
    gpus, nodes = int(str(settings.get("gpus_per_node", 8))), int(str(settings.get("nodes", 1)))
    if gpus != 8 and not any("gpus_per_node" in _settings_in(recipe) for recipe in wish.recipes):
        raise PlanError(f"--gpus-per-node {gpus}: the launchers of {wish.book.family} take 8")
    batch, answers = settings.get("batch_size"), settings.get("rollout_n", 1)
    if isinstance(batch, int) and isinstance(answers, int) and batch * answers % (gpus * nodes):
        raise PlanError(
            f"--batch-size {batch} x --rollout-n {answers} is no multiple of {nodes} x {gpus} GPUs: the trainer refuses"
        )


def _check_range(wish: Wish) -> None:
    ends = [wish.given.get(f"checkpoint_{end}") for end in ("start", "end", "step")]
    if any(end is None for end in ends[:2]) and any(end is not None for end in ends):
        raise PlanError("--checkpoint-start and --checkpoint-end go together (--checkpoint-step is the distance)")
    if ends[0] is not None and "checkpoint" in wish.given:
        raise PlanError("--checkpoint and a range exclude each other")
    if ends[0] is not None and int(str(ends[1])) < int(str(ends[0])):
        raise PlanError(f"--checkpoint-end {ends[1]} is below --checkpoint-start {ends[0]}")
    saves, total = wish.settings.get("save_freq"), wish.settings.get("total_training_steps")
    trains = any(_saves(wish.book, recipe) for recipe in wish.recipes)
    if trains and isinstance(saves, int) and isinstance(total, int):
        if saves > total:
            raise PlanError(f"--save-freq {saves} is more than the {total} steps: nothing is saved before the end")
        missing = [step for step in chosen_steps(wish) if (step % saves and step != total) or step > total]
        if missing and not extracts_only(wish):
            raise PlanError(f"step {missing[0]} is never saved: every {saves} up to {total} steps")
    resumed = wish.resumes
    if resumed and isinstance(saves, int) and resumed[1] % saves and wish.book.family == "gad":
        raise PlanError(f"step {resumed[1]} is never saved: every {saves} steps")


def _saves(book: Cookbook, recipe: Recipe) -> bool:
    kind = FAMILIES[book.family].stage(recipe.kind)
    return kind is not None and bool(kind.saves)


def extracts_only(wish: Wish) -> bool:
    """Whether the range of steps stands for the seeds of an extraction, as the plan evaluates nothing."""
    used = {name for recipe in wish.recipes for name in _settings_in(recipe)}
    return "seeds" in used and "eval_steps" not in used


def chosen_steps(wish: Wish) -> tuple[int, ...]:
    """The steps that the user named, none when the plan is to choose."""
    if "checkpoint" in wish.given:
        return (int(str(wish.given["checkpoint"])),)
    text = given_range(wish)
    return tuple(step_range(text) or ()) if text else ()


def given_range(wish: Wish) -> str:
    """The range that the user gave, `first..last/stride`, "" for none."""
    if "checkpoint_start" not in wish.given:
        return ""
    first, last = (int(str(wish.given[f"checkpoint_{end}"])) for end in ("start", "end"))
    stride = int(str(wish.given.get("checkpoint_step", wish.settings.get("save_freq", 1))))
    last -= (last - first) % stride
    return f"{first}..{last}/{stride}"
