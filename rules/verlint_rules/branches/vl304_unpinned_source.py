"""Code, images and engines that a run is built from should have a version.

`git clone` without a tag or commit, `pip install git+https://…` without `@`, an image without a tag and `vllm` without
a version are whatever is newest on the day of the run. A second round, a second node or a repetition in a month then
runs other code: scores change, keys are refused, and nothing of the experiment's own files tells why.

One finding for a launcher, document or spec, with all places. Of packages only those count that decide how a run
behaves (VeRL, PyTorch, vLLM, SGLang, Ray, Transformers, …). Of a document only what it installs from a clone of
somebody else's code beside the stages of an experiment, since installing the newest is what a manual is for. A later
`git checkout` in the clone pins it, and so does a constraint of any kind.

Fix: name a tag, a commit, a digest or a version.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from verlint.experiment.installs import install_of, package_name
from verlint.experiment.script import Script
from verlint.experiment.stage import Experiment
from verlint.finding import Finding
from verlint.languages.bash.command import Command
from verlint.languages.bash.wrappers import CONTAINERS, program_name, unwrap
from verlint.lazy import pattern
from verlint.record import dataclass
from verlint.rule import WARNING, Context, rule
from verlint.source import Span
from verlint.value import Text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from verlint.experiment.spec import Spec

_CORE = frozenset(
    ["verl", "torch", "vllm", "sglang", "ray", "transformers", "tensordict", "megatron-core", "flash-attn", "trl",
     "lm-eval"]
)  # fmt: skip
_MOVING = frozenset(["main", "master", "dev", "develop", "nightly", "latest", "HEAD"])
_CONSTRAINED = pattern(r"[=<>~@]|\.whl$")
_IMAGE = pattern(r"[a-z0-9][a-z0-9._-]*(?::\d+)?(?:/[a-z0-9._-]+)*(?::[\w.-]+)?(?:@sha256:[0-9a-f]+)?")
_REF_OPTIONS = ("-b", "--branch", "--revision")


@rule(
    "VL304",
    "unpinned-source",
    on=Experiment,
    severity=WARNING,
    since="0.1",
    words=("git clone", "git+", "docker run", "docker pull", "podman", "pip install", "-m pip", "verlint/exp"),
)
def check(experiment: Experiment, ctx: Context) -> Iterator[Finding]:
    if experiment.spec is not None:
        if experiment.spec.spec is not None:
            yield from _told(list(_of_spec(experiment.spec.spec)), ctx)
        return
    script = experiment.script
    if script is None or not script.resolution.paths:
        return
    if script.document and not (experiment.root and experiment.family):
        return
    commands = [each for each in script.resolution.paths[0].commands if each.span.in_file().source is script.source]
    yield from _told(list(_of_commands(commands, script)), ctx)


@dataclass(frozen=True, slots=True)
class _Moving:
    """Something that moves: what it is, in words, and where it is named."""

    what: str
    help: str
    span: Span


def _told(found: Sequence[_Moving], ctx: Context) -> Iterator[Finding]:
    if not found:
        return
    first, *others = found
    more = f", and {len(others)} more" if others else ""
    finding = ctx.fail(
        first.span,
        f"{first.what} has no version{more}: the next run may be built from other code",
        value=first.span.text.split("\n")[0],
        help=first.help,
    )
    for each in others[:6]:
        finding = finding.with_related(each.span, f"{each.what} has none either")
    yield finding


# ---- commands


def _of_commands(commands: Sequence[Command], script: Script) -> Iterator[_Moving]:
    for at, command in enumerate(commands):
        if command.builtin or command.function:
            continue
        argv = unwrap(command.argv).argv
        name = program_name(argv[0]) if argv else ""
        if name == "git" and len(argv) > 2 and argv[1].known == "clone":
            moving = _clone(argv[2:], command, commands[at + 1 :], script)
            if moving is not None:
                yield moving
        elif not script.document and name in CONTAINERS:
            yield from _image(name, argv)
        elif not script.document:
            yield from _packages(command)


def _clone(words: Sequence[Text], command: Command, following: Sequence[Command], script: Script) -> _Moving | None:
    url = next((word for word in words if "://" in word.shown or "git@" in word.shown), None)
    if url is None:
        return None
    for word, after in zip(words, (*words[1:], None), strict=False):
        text = word.known or word.prefix
        ref = after if text in _REF_OPTIONS else None
        if text.startswith(("--branch=", "--revision=")):
            ref = word.slice(text.index("=") + 1, 10_000)
        if ref is not None and ref.known not in _MOVING:
            return None
    folder = _folder(words, url)
    installed = False
    for later in following:
        later_words = [word.known or "" for word in later.argv]
        if (
            later_words[:1] == ["git"]
            and _names_ref(later_words)
            and (folder in " ".join(later_words) or _in(later, folder))
        ):
            return None
        install = install_of(later)
        if install is not None:
            trees = [each.shown for each in (*install.folders, *install.editable)]
            installed = installed or any(folder in each or (each == "." and _in(later, folder)) for each in trees)
    if script.document and (not installed or _is_own(folder, script)):
        return None
    return _Moving(
        f"the clone of {folder}", "clone a tag with --branch, or check out a commit behind it", url.span or command.span
    )


def _folder(words: Sequence[Text], url: Text) -> str:
    behind = [word.known or "" for word in words[list(words).index(url) + 1 :]]
    name = next((each for each in behind if each and not each.startswith("-")), "")
    return (name or url.suffix).rstrip("/").rsplit("/", 1)[-1].removesuffix(".git")


def _names_ref(words: Sequence[str]) -> bool:
    return any(verb in words for verb in ("checkout", "switch", "reset", "fetch", "worktree", "submodule"))


def _in(command: Command, folder: str) -> bool:
    return command.around.cwd.shown.rstrip("/").endswith("/" + folder)


def _is_own(folder: str, script: Script) -> bool:
    """Whether a document clones the repository that it belongs to: its reader goes to its folder behind that."""
    notes = script.resolution.paths[0].notes
    return any(note.kind == "home" and folder in note.span.text.split("/") for note in notes)


def _image(name: str, argv: Sequence[Text]) -> Iterator[_Moving]:
    """The image of `docker run` and `docker pull` that has no tag, or `latest`."""
    if len(argv) < 3 or argv[1].known not in ("run", "pull", "create"):
        return
    at = 2
    while at < len(argv):
        text = argv[at].known or argv[at].prefix
        if not text.startswith("-"):
            break
        at += 2 if text in CONTAINERS[name] else 1
    image = argv[at].known if at < len(argv) else None
    span = argv[at].span if image is not None else None
    if image is not None and span is not None and "/" in image and _IMAGE.fullmatch(image) and _moves(image):
        yield _Moving(f"image `{image}`", "name a tag or a digest", span)


def _moves(image: str) -> bool:
    last = image.rsplit("/", 1)[-1]
    return "@sha256:" not in image and (":" not in last or last.rsplit(":", 1)[-1] in _MOVING)


def _packages(command: Command) -> Iterator[_Moving]:
    install = install_of(command)
    for word in install.packages if install is not None else ():
        span = word.span or command.span
        text = word.shown
        if "git+" in text:
            ref = text.rsplit("@", 1)[-1].split("#")[0] if "@" in text.split("://", 1)[-1] else ""
            if word.known and (not ref or ref in _MOVING):
                name = text.split("#")[0].rstrip("/").rsplit("/", 1)[-1].split("@")[0].removesuffix(".git")
                yield _Moving(f"{name} from its repository", "write @TAG or @COMMIT behind the address", span)
        elif package_name(word) in _CORE and not _CONSTRAINED.search(text):
            yield _Moving(f"package `{package_name(word)}`", f"write {package_name(word)}==VERSION", span)


# ---- specs


def _of_spec(spec: Spec) -> Iterator[_Moving]:
    for checkout in spec.checkouts.values():
        if not checkout.url.given or checkout.branches or checkout.base.given:
            continue
        if checkout.ref.given and not (checkout.ref.decided and str(checkout.ref) in _MOVING):
            continue
        yield _Moving(
            f"checkout `{checkout.name}`", "write ref: with a tag or commit", checkout.ref.span or checkout.name_span
        )
    environment = spec.environment
    if environment is None or not environment.image.decided or environment.image.span is None:
        return
    image = str(environment.image)
    if environment.image.given and _IMAGE.fullmatch(image) and _moves(image):
        yield _Moving(f"image `{image}`", "name a tag or a digest", environment.image.span)
