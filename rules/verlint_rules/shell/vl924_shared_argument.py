"""An argument that the launcher uses itself should not reach Hydra as well.

`ENGINE=${1:-vllm}` takes the first argument, and `"$@"` at the end of the command passes all of them on, the first one
again. `bash train.sh sglang` then gives Hydra the word `sglang`, which it refuses because it sets no key; `bash
train.sh trainer.total_epochs=1` makes that override the name of the engine. The launcher runs as long as nobody gives
it an argument.

Reported once for each command, where the argument reaches the value of a key. Silent when it is taken away before
(`shift`, `"${@:2}"`).

Fix: take it away, `[ $# -eq 0 ] || shift` behind the assignment, or read it from the environment,
`ENGINE=${ENGINE:-vllm}`.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.launch import Launch
from verlint.finding import Finding
from verlint.lazy import pattern
from verlint.rule import WARNING, Context, rule
from verlint.source import Span
from verlint.value import Hole, Part, Text, whole

_ORDER = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")

_TAKEN_AWAY = pattern(r"(?m)^(?:[^#\n]|(?<=\S)#)*?(?:\bshift\b|\bset[ \t]+--)")


@rule("VL924", "shared-argument", on=Launch, severity=WARNING, since="0.1", words=("$1", "${1"))
def check(launch: Launch, ctx: Context) -> Iterator[Finding]:
    passed = next((word for word in launch.options if _passes_all(word)), None)
    if passed is None:
        return
    for override in launch.overrides:
        found = next(((part, number) for part in override.value_text.parts if (number := _argument(part))), None)
        if not override.key or found is None:
            continue
        part, number = found
        if _is_taken_away(part, launch):
            return
        how = passed.span.text if passed.span is not None else "$@"
        finding = ctx.fail(
            _read_at(part) or launch.head,
            f"the {_ORDER[number - 1]} argument gives {override.key} and reaches Hydra through {how} too: "
            "no word is right in both places",
            help="take it away behind the assignment: [ $# -eq 0 ] || shift; or read it from the environment",
        )
        yield finding.with_related(passed.span, "passed on here").with_related(override.word.span, "used here")
        return


def _passes_all(word: Text) -> bool:
    """Whether a word is all arguments of the caller, from the first one on."""
    return word.elastic and any(isinstance(hole.key, tuple) and hole.key[0] == "arguments" for hole in word.holes)


def _argument(part: Part) -> int:
    """Which argument of the caller a part is or may be replaced by, 0 for none."""
    if isinstance(part, Hole):
        is_one = isinstance(part.key, tuple) and part.key[0] == "argument"
        name = part.name if is_one else ""
    else:
        name = part.overridable
    number = whole(name.removeprefix("$")) or 0
    return number if name.startswith("$") and number < 10 else 0


def _is_taken_away(part: Part, launch: Launch) -> bool:
    """Whether something between the reading of an argument and the launch changes the arguments."""
    place, end = _read_at(part), launch.command.span
    if place is None or place.source is not end.source:
        return True  # read in another file, which may have its own arguments
    return _TAKEN_AWAY.search(end.source.text, place.start, end.start) is not None


def _read_at(part: Part) -> Span | None:
    """Where the argument is read: the first assignment it passed, or the word itself."""
    first = part.hops[0].span if part.hops else None
    return first or part.span
