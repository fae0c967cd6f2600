"""Keys that are misspelt or misplaced keys of a config, told apart from keys that somebody added to it."""

from __future__ import annotations

from collections.abc import Iterable

TYPE_CHECKING = False  # as `typing` says it, without its import
if TYPE_CHECKING:
    from verlint.verl.schema import Schema

_SHORTEST = 4
"""Letters that a word must have for one wrong letter to be a slip: `clip_ratio_d` is not `clip_ratio_c`."""


def is_misspelt(schema: Schema, key: str) -> bool:
    """Whether a key is a key of the config with a letter or two wrong, a word in two, or an `_` more or less."""
    return any(_same_but_spelling(key, each) for each in schema.near(key))


def is_misplaced(schema: Schema, key: str) -> bool:
    """Whether a key of the config has the same name below the same section, or in another place under the same two
    names. Names that are short and general (`path`, `enable`) are found everywhere, and prove nothing."""
    top, _, rest = key.partition(".")
    if not rest:
        return False
    head, _, name = key.rpartition(".")
    short = f".{'.'.join(key.split('.')[-2:])}"
    for each in schema.near(key):
        if each.endswith(f".{key}") or (each.endswith(short) and each.startswith(f"{top}.")):
            return True
        same_name = each.rpartition(".")[2] == name
        if same_name and (
            (each.startswith(f"{head}.") and "_" in name) or (name.count("_") > 1 and top in _tops(schema))
        ):
            return True
    return False


def _tops(schema: Schema) -> set[str]:
    return {each.partition(".")[0] for each in schema.leaves}


def _same_but_spelling(key: str, other: str) -> bool:
    """Whether two keys differ in the spelling of one of their parts."""
    ours, theirs = key.split("."), other.split(".")
    if len(ours) != len(theirs):
        return False
    apart = [(one, two) for one, two in zip(ours, theirs, strict=True) if one != two]
    return len(apart) == 1 and alike(*apart[0])


def alike(name: str, other: str) -> bool:
    """Whether two names are the same but for a letter, a plural, the order of words, or an `_` more or less."""
    if name.replace("_", "").replace("-", "").lower() == other.replace("_", "").lower():
        return True
    ours, theirs = name.split("_"), other.split("_")
    if sorted(ours) == sorted(theirs):
        return True
    if len(ours) == len(theirs):
        apart = [(one, two) for one, two in zip(ours, theirs, strict=True) if one != two]
        return len(apart) == 1 and _slip_of_letters(*apart[0])
    return len(ours) == len(theirs) - 1 >= 3 and _without_one(ours, theirs)


def _slip_of_letters(word: str, other: str) -> bool:
    """Whether one letter is wrong, left out or too many, or two stand in the wrong order."""
    if word + "s" == other or other + "s" == word:
        return True
    if min(len(word), len(other)) < _SHORTEST or abs(len(word) - len(other)) > 1 or word[0] != other[0]:
        return False
    if len(word) == len(other):
        apart = [at for at in range(len(word)) if word[at] != other[at]]
        if len(apart) == 2:
            one, two = apart
            return two == one + 1 and word[one] == other[two] and word[two] == other[one]
        return len(apart) == 1 and not word[apart[0]].isdigit()
    longer, shorter = sorted((word, other), key=len, reverse=True)
    return any(longer[:at] + longer[at + 1 :] == shorter for at in range(len(longer)))


def _without_one(words: Iterable[str], others: list[str]) -> bool:
    left = list(words)
    return any(others[:at] + others[at + 1 :] == left for at in range(len(others)))
