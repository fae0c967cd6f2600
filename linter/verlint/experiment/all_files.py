"""Questions about all files of a project, asked by a rule that looks at a part of it.

What a part comes to may depend on such an answer, so each is noted with the part: what was found there is taken again
only while the answer is the same (`verlint.known_parts`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps

from verlint.disk import digest
from verlint.record import FIELDS, names
from verlint.source import Source, Span

TYPE_CHECKING = False  # as `typing` says it, without its import
if TYPE_CHECKING:
    from typing import Any, TypeVar

    from verlint.experiment.project import Project

    R = TypeVar("R")

_QUESTIONS: dict[str, Callable[..., Any]] = {}
_PACKAGES = ("verlint.", "verlint_rules.")


def of_all_files(ask: Callable[..., R]) -> Callable[..., R]:
    """A question about the loaded files of a project: a function of the whole project, and of texts, that looks at
    nothing else. It may be asked of a part, and is answered once."""
    name = f"{ask.__module__}:{ask.__name__}"

    @wraps(ask)
    def asked(project: Project, *about: str) -> R:
        answers = project.whole.answers
        key = (name, *about)
        if key not in answers:
            answers[key] = ask(project.whole, *about)
        project.asked[key] = None
        return answers[key]  # type: ignore[no-any-return]

    _QUESTIONS[name] = asked
    return asked


def answers_of(part: Project) -> list[list[str]]:
    """The questions that a part has asked, each with what its answer is known by."""
    return [[*key, known_by(part.whole.answers[key])] for key in part.asked]


def are_answered(asked: Sequence[Sequence[str]], project: Project) -> bool:
    """Whether the files of a project answer all questions in the same way."""
    for name, *about, answer in asked:
        module = name.partition(":")[0]
        if name not in _QUESTIONS and module.startswith(_PACKAGES) and "__" not in module:
            try:
                __import__(module)
            except ImportError:
                return False
        if name not in _QUESTIONS or known_by(_QUESTIONS[name](project, *about)) != answer:
            return False
    return True


def known_by(answer: object) -> str:
    """A text that differs where answers differ."""
    return digest("\0".join(_texts(answer)).encode("utf-8", "surrogatepass"))


def _texts(answer: Any) -> list[str]:
    if isinstance(answer, Source):
        return [answer.path]
    if isinstance(answer, Span):
        return [answer.source.path, str(answer.start), str(answer.end), answer.text]
    if isinstance(answer, Mapping):
        parts: Sequence[Any] = [each for pair in answer.items() for each in pair]
    elif isinstance(answer, (tuple, list)):
        parts = answer
    elif hasattr(answer, FIELDS):
        parts = [getattr(answer, name) for name in names(answer)]
    else:
        return [repr(answer)]
    return ["(", *(text for part in parts for text in _texts(part)), ")"]
