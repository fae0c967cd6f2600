"""Validation reads a file that training reads too.

The score then says how well the run remembers, not what it can do: it goes up with every epoch, and checkpoints are
chosen by it. Paths are compared after expansion, inside lists, and through glob patterns.

An error when the file is named as training data; else it is a warning, for the file may be a test set on which the
run trains, which spoils the score just as well. Silent are test-time training, which does so on purpose (`ttrl` or
`test-time` in the names or the estimator), runs with `val_only`, which train on nothing, and launches that never
validate (`test_freq` of -1 and no validation before training), where the key is only filled in because it must be.

Fix: give `data.val_files` the file that was held out, such as `test.parquet` beside `train.parquet`.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from fnmatch import fnmatchcase

from verlint.experiment.launch import Launch
from verlint.finding import Finding
from verlint.lazy import pattern
from verlint.rule import ERROR, WARNING, Context, rule
from verlint.value import Text
from verlint_rules.evaluation.validation import VAL_ONLY, files_of, never_trains, validates

_TRAIN = "data.train_files"
_VAL = "data.val_files"
_TEST_TIME = pattern(r"(?i)ttrl|test[-_]?time|(?<![a-z])ttt(?![a-z])")
_TRAINING_NAME = pattern(r"(?i)(?<![a-z])(?:train|training|trainset)(?![a-z])")
_STAND_IN = pattern(r"(?i)your|<[^>]*>|path/to|placeholder|(?:^|/)x{3,}")
_GLOB = frozenset("*?[")


@rule("VL504", "evaluates-on-train", on=Launch, severity=ERROR, since="0.1", words=("val_files",))
def check(launch: Launch, ctx: Context) -> Iterator[Finding]:
    if _TRAIN not in launch or _VAL not in launch:
        return
    train, val = launch[_TRAIN], launch[_VAL]
    if not (train.given and val.given) or (launch[VAL_ONLY].truthy() is not False and launch[VAL_ONLY].given):
        return
    if never_trains(launch) or _in_test_time_training(launch):
        return
    shared = [(a, b) for b in files_of(val) for a in files_of(train) if _covers(a, b)]
    if not shared:
        return
    _, path = shared[0]
    named = _TRAINING_NAME.search(path.shown.rsplit("/", 1)[-1]) is not None
    more = f" and {len(shared) - 1} more" if len(shared) > 1 else ""
    does = validates(launch)
    if does is False:
        return
    message = f"validation reads `{path.shown}`{more}, which training reads too: its score tells nothing about new data"
    help_ = f"give {_VAL} a file that training does not read" + _held_out(path)
    severity = ERROR if named else WARNING
    if does is None and not _default_validates(launch):
        yield ctx.unsure(
            val,
            message,
            help=help_,
            verify="grep -n -e test_freq -e val_before_train <trainer config>",
            severity=severity,
        )
        return
    yield ctx.fail(val, message, help=help_, severity=severity).with_related(train.span, "the training files")


def _default_validates(launch: Launch) -> bool:
    """Whether nothing is said of the validation before training, which is on by default in all versions."""
    return not launch["trainer.val_before_train"].given


def _covers(train: Text, val: Text) -> bool:
    """Whether the path of training is surely that of validation, or a pattern that takes it in."""
    if train.same_as(val):
        return bool(val.shown) and _STAND_IN.search(val.shown) is None
    if train.known is None or val.known is None:
        return False
    pattern_, path = posixpath.normpath(train.known), posixpath.normpath(val.known)
    if _GLOB & set(pattern_):
        return fnmatchcase(path, pattern_)
    return bool(val.known) and pattern_ == path and _STAND_IN.search(path) is None


def _in_test_time_training(launch: Launch) -> bool:
    names = [
        "algorithm.adv_estimator",
        "trainer.experiment_name",
        "trainer.project_name",
        "reward_model.reward_manager",
    ]
    texts = [str(launch[name]) for name in names if launch[name].given]
    texts += [launch.program.entry, launch.command.span.in_file().source.path]
    said = [text for text in texts if "tt" in (lower := text.lower()) or "test" in lower]
    return any(_TEST_TIME.search(text) for text in said) or any(
        "ttrl" in override.key.lower() for override in launch.overrides
    )


def _held_out(path: Text) -> str:
    """`, such as …/test.parquet` for a path that says train."""
    name = path.shown
    folder, _, last = name.rpartition("/")
    return f", such as {folder}/{last.replace('train', 'test', 1)}" if folder and last.startswith("train.") else ""
