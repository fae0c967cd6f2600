"""What a script is for, as its name says, so that a similar name with another purpose is not taken for a slip."""

from __future__ import annotations

import posixpath
import re

from verlint.families import stages_of_launcher

_WORDS = (
    ("eval", "evaluate", "evaluation", "evaluator", "test", "validate", "validation", "val", "bench", "benchmark"),
    ("extract", "extraction"),
    ("generate", "generation", "gen", "rollout", "sample", "sampling", "infer", "inference", "predict"),
    ("deploy", "deployment", "serve", "serving", "server", "launch"),
    ("consolidate", "consolidation"),
    ("train", "trainer", "training", "finetune", "pretrain"),
    ("warmup",),
    ("adversarial",),
    ("score", "scoring", "judge", "grade", "rescore"),
    ("merge", "merger"),
    ("convert", "converter", "export"),
    ("download", "fetch"),
    ("upload", "push"),
    ("prepare", "preprocess", "process", "tokenize"),
    ("install", "setup"),
    ("sft",), ("dpo",), ("ppo",), ("grpo",), ("gspo",), ("dapo",), ("opo",), ("rl",), ("el",), ("opd",), ("gkd",),
)  # fmt: skip
_PURPOSE = {word: group[0] for group in _WORDS for word in group}
_SPELT_ALIKE = 0.6
_FEW_LETTERS = 0.9


def same_purpose(wanted: str, near: str) -> bool:
    """Whether two paths may name scripts for the same thing: neither says a purpose that the other says no form of,
    rightly or misspelt, and no family has them for different stages."""
    kinds, others = _stages(wanted), _stages(near)
    if kinds and others and kinds.isdisjoint(others):
        return False
    one, other = _words(wanted), _words(near)
    return _is_said(one, other) and _is_said(other, one)


def _stages(path: str) -> set[str]:
    return {stage.name for _, stage in stages_of_launcher(_without_endings(path))}


def _without_endings(path: str) -> str:
    """`eval.sh` for `eval.sh.sh`."""
    root, ending = posixpath.splitext(path)
    while ending and root.endswith(ending):
        path, root = root, root.removesuffix(ending)
    return path


def _words(path: str) -> set[str]:
    return set(re.findall(r"[a-z]+", posixpath.basename(path).lower()))


def _is_said(words: set[str], others: set[str]) -> bool:
    """Whether each purpose that some words say is said by the others too."""
    said = {_PURPOSE[each] for each in others if each in _PURPOSE}
    unclear = [each for each in others if each not in _PURPOSE]
    return all(
        _PURPOSE[word] in said or any(_likeness(word, each) >= _SPELT_ALIKE for each in unclear)
        for word in words
        if word in _PURPOSE
    )


def _likeness(word: str, other: str) -> float:
    from difflib import SequenceMatcher

    return SequenceMatcher(None, word, other).ratio()


def is_slip(wanted: str, near: str) -> bool:
    """Whether a path is another one misspelt: letters differ, and no whole word is missing or too many, as one is
    between a script and the one that calls it for many runs."""
    one, other = (posixpath.basename(_without_endings(path)).lower() for path in (wanted, near))
    if _likeness(re.sub(r"[-_.]", "", one), re.sub(r"[-_.]", "", other)) >= _FEW_LETTERS:
        return True
    pieces, others = re.split(r"[-_.]", one), re.split(r"[-_.]", other)
    return len(pieces) == len(others) and all(
        _likeness(piece, each) >= _SPELT_ALIKE for piece, each in zip(pieces, others, strict=True)
    )
