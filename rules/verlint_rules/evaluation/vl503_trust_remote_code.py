"""Code from a model repository runs without having been read.

With `trust_remote_code=True` the Python files of the model or data set repository are imported in every worker, with
the credentials and files of the job. Whoever can push to that repository can run code there, on the next start and
without a change in this checkout. Most current models need no such code: `transformers` knows them.

One finding a command, all its keys together. Silent when the same command pins the repository to a commit
(`revision=` with 40 hexadecimal digits), and in Python files of tests.

Fix: leave the key out (the default is False). Where the model needs it, read the code, pin the commit that was read
(`revision=COMMIT`), or download that commit and give its folder.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from verlint.experiment.places import variants_in
from verlint.files.kinds import Kind
from verlint.files.loading import Loaded
from verlint.finding import Finding
from verlint.languages.bash.command import Command
from verlint.lazy import pattern
from verlint.rule import WARNING, Context, rule
from verlint.source import Span
from verlint.value import Text, Value
from verlint_rules.evaluation.python_switches import trusted_code

TYPE_CHECKING = False
if TYPE_CHECKING:
    from verlint.experiment.spec import SpecStage

SHOWN = 10
_NAME = pattern(r"(?:^|[.+-])trust[_-]remote[_-]code$")
_IN_LIST = pattern(r"(?i)(?:^|[,=\s])trust_remote_code=(?:true|1)\b")  # --model_args a=b,trust_remote_code=True
_PINNED = pattern(r"revision[=:]?[\"']?([0-9a-f]{40})\b")
_TEST = pattern(r"(?:^|/)(?:tests?/|test_[^/]*\.py$|conftest\.py$)")
_YES = frozenset(["true", "1", "yes", "on"])
_NO = frozenset(["false", "0", "no", "off"])
_LEAVE_OUT = "leave it out if the model needs no code of its own; else read that code and"
_PIN = "pin the commit with revision="
_FOLDER = "give the folder of that commit: hf download REPOSITORY --revision COMMIT"
"""For VeRL's keys, which have no revision beside them."""
_KEY = pattern(r"\.trust_remote_code\b")


@rule("VL503", "trust-remote-code", on=Loaded, severity=WARNING, since="0.1", words=("trust",))
def check(file: Loaded, ctx: Context) -> Iterator[Finding]:
    match file.kind:
        case Kind.LAUNCHER | Kind.DOCUMENT | Kind.JOB:
            yield from _in_shell(file, ctx)
        case Kind.PYTHON:
            spans = [] if _TEST.search(file.source.path) else list(trusted_code(file.source))
            if spans:
                yield _finding(ctx, "trust_remote_code=True", [(span, span.text) for span in spans])
        case Kind.SPEC:
            for spec in (each.spec for each in ctx.project.specs if each.source is file.source):
                for stage in spec.stages.values() if spec is not None else ():
                    yield from _in_stage(stage, ctx)


def _finding(ctx: Context, what: str, places: Sequence[tuple[Span, str]]) -> Finding:
    finding = ctx.fail(
        places[0][0],
        f"`{what}` runs whatever code the model or data repository holds, unread, with the job's credentials",
        help=f"{_LEAVE_OUT} {_FOLDER if _KEY.search(what) else _PIN}",
    )
    for span, label in places[1 : SHOWN + 1]:
        finding = finding.with_related(span, label)
    return finding


def _in_shell(file: Loaded, ctx: Context) -> Iterator[Finding]:
    by_command: dict[int, list[tuple[Span, str]]] = {}
    for variant in variants_in(ctx.project, file.source):
        command = variant.command
        found = [] if command.builtin or command.function or _pinned(command) else list(_trusting(command.argv))
        if found:
            by_command.setdefault(command.span.in_file().start, found)
    for _, places in sorted(by_command.items()):
        yield _finding(ctx, places[0][1], places)


def _pinned(command: Command) -> bool:
    return bool(_PINNED.search(" ".join(word.known or word.prefix for word in command.argv)))


def _trusting(argv: Sequence[Text]) -> Iterator[tuple[Span, str]]:
    for at, word in enumerate(argv):
        text = word.shown
        span = _where(word)
        if span is None or "trust" not in text:
            continue
        name, sign, value = text.partition("=")
        if not _NAME.search(name):
            if _IN_LIST.search(text):
                yield span, "trust_remote_code=True"
            continue
        after = (argv[at + 1].known or "").lower() if at + 1 < len(argv) else ""
        known_option = not sign and name.startswith("-") and after not in _NO and not _unknown(argv, at + 1)
        if value.lower() in _YES or known_option:
            yield span, text


def _where(word: Text) -> Span | None:
    """The word in the command, or where it is written when it comes from an array or a variable."""
    span = word.span
    written = next((part.span for part in word.parts if part.span is not None), None)
    if span is None or written is None:
        return span or written
    inside = written.source is span.source and span.start <= written.start and written.end <= span.end
    return span if inside else written


def _unknown(argv: Sequence[Text], at: int) -> bool:
    """Whether the word behind an option is one that nobody knows (`--trust_remote_code "$TRUST"`)."""
    return at < len(argv) and argv[at].known is None and not argv[at].prefix


def _in_stage(stage: SpecStage, ctx: Context) -> Iterator[Finding]:
    values = {**stage.args, **stage.overrides}
    if any(
        name.rsplit(".", 1)[-1].endswith("revision") and re.fullmatch(r"[0-9a-f]{40}", str(value))
        for name, value in values.items()
    ):
        return
    places = [
        (value.span, f"{name}: {value}")
        for name, value in values.items()
        if _NAME.search(name) and _yes(value) and value.span is not None
    ]
    if places:
        yield _finding(ctx, places[0][1], places)


def _yes(value: Value) -> bool:
    return value.decided and str(value).lower() in _YES
