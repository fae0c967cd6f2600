"""Weights, answers or logs are uploaded to where everybody can read them.

A repository on the Hugging Face Hub is public unless it is made private when it is created, and what was public for a
minute has been copied. `--hf_upload_path` of the model merger creates one behind an option that does not say so. The
licence of the base model, of the data and of a teacher's answers may not allow it, and a deanonymised review is lost.

Found are uploads that create a public repository (`hf upload`, `--hf_upload_path`, `create_repo`, `push_to_hub`
without `private`), objects written for all readers (`--acl public-read`), and posts to public paste and file
services. Silent where the same launcher created the repository as a private one.

Fix: create the repository first, as a private one (`hf repo create NAME --private`), or pass `--private`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from verlint.experiment.places import commands_in
from verlint.experiment.python_programs import python_program
from verlint.files.kinds import Kind
from verlint.files.loading import Loaded
from verlint.finding import Finding
from verlint.languages.bash.command import Command
from verlint.languages.bash.wrappers import program_name, unwrap
from verlint.lazy import pattern
from verlint.record import dataclass
from verlint.rule import INFO, WARNING, Context, rule
from verlint.source import Span
from verlint.value import Text
from verlint_rules.evaluation.python_switches import public_repositories

_HELP = "pass --private, or create it first with `hf repo create … --private`"
_HUB = frozenset(["hf", "huggingface-cli"])
_UPLOADS = frozenset(["upload", "upload-large-folder"])
_PRIVATE = pattern(r"--private(?:=(?i:true|1))?")
_READABLE_BY_ALL = frozenset(["public-read", "public-read-write", "publicRead", "AllUsers:R", "allUsers:R"])
_PASTE = pattern(
    r"(?:https?://)?(?:transfer\.sh|0x0\.st|file\.io|paste\.rs|ix\.io|termbin\.com|bashupload\.com)(?:[/:]|$)"
)
_SENDS = frozenset(["-T", "--upload-file", "-F", "--form", "-d", "--data", "--data-binary"])


@dataclass(frozen=True, slots=True)
class Upload:
    """Something that becomes public: what does it, where, and the repository ("" for another place)."""

    span: Span
    message: str
    help: str
    repository: str = ""


@rule(
    "VL508",
    "public-upload",
    on=Loaded,
    severity=WARNING,
    since="0.1",
    words=("upload", "push_to_hub", "create_repo", "public-read", "publicread", "allusers", "transfer.sh", "0x0.st"),
)
def check(file: Loaded, ctx: Context) -> Iterator[Finding]:
    if file.kind is Kind.PYTHON:
        for span, what in public_repositories(file.source):
            message = f"`{what}` makes the repository public"
            yield ctx.fail(span, message, help="pass private=True, and let an option open it")
    if file.kind not in (Kind.LAUNCHER, Kind.DOCUMENT, Kind.SPEC, Kind.JOB):
        return
    commands = commands_in(ctx.project, file)
    private = {name for command in commands for name in _created_private(command)}
    seen: set[int] = set()
    for command in commands:
        for upload in _uploads(command):
            if upload.repository in private or upload.span.in_file().start in seen:
                continue
            seen.add(upload.span.in_file().start)
            severity = INFO if file.kind is Kind.DOCUMENT else None
            yield ctx.fail(upload.span, upload.message, help=upload.help, severity=severity)


def _uploads(command: Command) -> Iterator[Upload]:
    if command.builtin or command.function:
        return
    argv = unwrap(command.argv).argv
    name = program_name(argv[0]) if argv else ""
    if name in _HUB and len(argv) > 2 and argv[1].known in _UPLOADS:
        yield from _to_hub(argv)
    elif name in ("aws", "gsutil", "gcloud", "s3cmd"):
        for word in argv:
            if (word.known or "").rpartition("=")[2] in _READABLE_BY_ALL and word.span is not None:
                yield Upload(word.span, f"`{word.known}` lets everybody read what is stored", "leave it out")
    elif name in ("curl", "wget", "nc"):
        place = next((word for word in argv if _PASTE.match(word.known or word.prefix)), None)
        if place is not None and place.span is not None and (name == "nc" or _sends(argv)):
            message = f"whatever is sent to {place.shown} can be read by everybody who has or guesses the link"
            yield Upload(place.span, message, "copy it to a place of your own")
    elif python_program(argv) is not None:
        yield from _by_the_merger(argv)


def _sends(argv: Sequence[Text]) -> bool:
    return any((word.known or "") in _SENDS for word in argv)


def _to_hub(argv: Sequence[Text]) -> Iterator[Upload]:
    if any(_PRIVATE.fullmatch(word.known or "") or word.elastic for word in argv):
        return
    repository = next((word for word in argv[2:] if not (word.known or word.prefix).startswith("-")), None)
    if repository is None or repository.span is None or _revision_only(argv):
        return
    message = f"the repository {repository.shown} is created for everybody to read, unless it exists"
    yield Upload(
        repository.span,
        message,
        _HELP,
        repository.shown,
    )


def _revision_only(argv: Sequence[Text]) -> bool:
    """`--create-pr` sends a change to a repository that exists."""
    return any(word.known == "--create-pr" for word in argv)


def _by_the_merger(argv: Sequence[Text]) -> Iterator[Upload]:
    for at, word in enumerate(argv):
        text = word.known or word.prefix
        if not text.startswith("--hf_upload_path") or word.span is None:
            continue
        after = word if "=" in text else argv[at + 1] if at + 1 < len(argv) else None
        value = after.shown.partition("=")[2] if after is word else after.shown if after is not None else ""
        if not value or any(_PRIVATE.fullmatch(each.known or "") for each in argv):
            return
        message = f"the merger creates {value} as a public repository and uploads the weights"
        yield Upload(word.span, message, _HELP, value)


def _created_private(command: Command) -> Iterator[str]:
    """The repositories that `hf repo create NAME --private` makes."""
    argv = unwrap(command.argv).argv
    name = program_name(argv[0]) if argv else ""
    known = [word.known or "" for word in argv]
    if name in _HUB and "repo" in known[1:3] and "create" in known and any(_PRIVATE.fullmatch(each) for each in known):
        after = argv[known.index("create") + 1 :]
        yield from (word.shown for word in after if not (word.known or word.prefix).startswith("-"))
