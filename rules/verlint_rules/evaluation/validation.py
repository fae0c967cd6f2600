"""When a launch validates, and on which files it trains and validates."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from verlint.experiment.launch import Launch
from verlint.lazy import pattern
from verlint.value import Data, Literal, Text, Value

VAL_ONLY = "trainer.val_only"
VAL_BEFORE_TRAIN = "trainer.val_before_train"
TEST_FREQ = "trainer.test_freq"
NO_TRAINING = ("trainer.total_training_steps", "trainer.total_epochs", "trainer.textgame_total_steps")

_TRAINER = pattern(r"(?:^|[./])main_(?:ppo|dapo|\w*rl\w*|\w*ppo\w*)(?:\.py)?$")
_EVALUATES = pattern(r"(?i)(?:^|[^a-z0-9])eval(?:uat(?:e|ion|ing))?s?(?:[^a-z0-9]|$)")
_TRAINS = pattern(r"(?i)train|sft|finetun|warmup")


def is_trainer(launch: Launch) -> bool:
    """Whether the entry point trains unless it is told otherwise (`main_ppo` and kin)."""
    return _TRAINER.search(launch.program.entry) is not None


def is_evaluation_name(path: str) -> bool:
    """Whether a launcher is called an evaluation and nothing else (`evaluate.sh`, not `train_and_eval.sh`)."""
    name = posixpath.basename(path)
    return _EVALUATES.search(name) is not None and _TRAINS.search(name) is None


def validates(launch: Launch) -> bool | None:
    """Whether the launch ever computes validation scores; None when that is not known."""
    only, before, every = launch[VAL_ONLY], launch[VAL_BEFORE_TRAIN], launch[TEST_FREQ]
    if before.truthy() or only.truthy():
        return True
    number = every.number()
    if number is not None and number > 0:
        return True
    if before.truthy() is False and number is not None:
        return False
    return None


def never_trains(launch: Launch) -> bool:
    """Whether the number of steps or epochs is given as nothing."""
    return any(launch[key].given and launch[key].number() == 0 for key in NO_TRAINING)


def files_of(value: Value) -> Iterator[Text]:
    """The paths that a key holds, one by one: a path, or each of a list; nothing when that is not known."""
    if value.decided:
        yield from (Text((Literal(path),)) for path in _paths(value.data))
    elif value.text is not None:
        yield from _items(value.text)


def _paths(data: Data) -> Iterator[str]:
    if isinstance(data, str):
        yield data
    elif isinstance(data, list):
        for each in data:
            yield from _paths(each)


def _items(text: Text) -> Iterator[Text]:
    """The elements of a list whose characters are not all known, by its commas; or the one path."""
    from verlint.languages.bash.pieces import flat

    characters = flat(text.parts)
    start = 0
    if not characters.startswith("["):
        if "," not in characters and not text.elastic:
            yield text
        return
    depth = 0
    for at, character in enumerate(characters + ","):
        depth += (character in "[{(") - (character in "]})")
        ends = character == "," and depth <= 1
        if ends or at == len(characters):
            yield _bare(text, characters, start, at)
            start = at + 1


def _bare(text: Text, characters: str, start: int, end: int) -> Text:
    """A run of the characters without brackets, quotes and blanks at its ends."""
    while start < end and characters[start] in "[ '\"\t\n":
        start += 1
    while end > start and characters[end - 1] in "] '\"\t\n":
        end -= 1
    return text.slice(start, end)
