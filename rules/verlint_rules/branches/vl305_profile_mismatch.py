"""One set-up is for one kind of GPU: that for the B200 does not mix with that for A100, H100 and H200.

The image of the older machines has a PyTorch without kernels for the B200: the first operation on the GPU fails, after
the cluster has started. The set-up for the B200 replaces vLLM and the CUDA libraries, which the older image then loads
only in part. Both are called alike and stand next to each other, so a line is quickly copied from the other one.

A container and what is set up in it are compared, several set-ups of one container, and both with the GPUs that a batch
header or a spec asks for; in a spec also `profile`, `image` and `accelerators`. Of a document only commands of one
block are compared: its blocks are the alternatives. Silent for images and scripts that name no kind of GPU.

Fix: use the container, the set-up script, the requirements and the GPUs of one profile.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from verlint.experiment.environments import goes_inside
from verlint.experiment.installs import install_of
from verlint.experiment.script import Script
from verlint.experiment.stage import Experiment, called_file
from verlint.families.profiles import PROFILES, WITHOUT, Profile, profile_of_gpu, profile_of_image
from verlint.finding import Finding
from verlint.languages.bash.command import Command
from verlint.languages.bash.wrappers import CONTAINERS, program_name, unwrap
from verlint.lazy import pattern
from verlint.record import dataclass
from verlint.rule import ERROR, Context, rule
from verlint.source import Span
from verlint.value import Text, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from verlint.experiment.spec import Spec

_HEADER = pattern(r"^#SBATCH[ \t]+(--(?:gres|gpus[\w-]*|constraint|partition)[= ]\S+|-[CpG][ ]?\S+)", 8)


@rule(
    "VL305",
    "profile-mismatch",
    on=Experiment,
    severity=ERROR,
    since="0.1",
    words=("b200", "2.8.0-cuda12.8"),
)
def check(experiment: Experiment, ctx: Context) -> Iterator[Finding]:
    if experiment.spec is not None:
        if experiment.spec.spec is not None:
            yield from _of_spec(experiment.spec.spec, ctx)
    elif experiment.script is not None and experiment.root:
        yield from _of_script(experiment.script, ctx)


# ---- drivers and documents


@dataclass(frozen=True, slots=True)
class _Sign:
    """What shows the profile: `what` in words, where it is written, and the command of the driver."""

    profile: Profile
    what: str
    span: Span
    driver: Span


def _of_script(script: Script, ctx: Context) -> Iterator[Finding]:
    asked = None if script.document else _asked(script)
    known: _Sign | None = asked
    for command in script.resolution.paths[0].commands if script.resolution.paths else ():
        sign = _sign(command, script)
        if goes_inside(command) and (sign is None or not _clash(asked, sign, script)):
            known = sign or asked
            continue
        if sign is None:
            continue
        if known is None:
            known = sign
        elif _clash(known, sign, script):
            yield _finding(known, sign, ctx)
            known = sign


def _clash(known: _Sign | None, sign: _Sign, script: Script) -> bool:
    if known is None or known.profile is sign.profile:
        return False
    return not script.document or known.driver.source is sign.driver.source


def _asked(script: Script) -> _Sign | None:
    """The GPUs that the batch header asks for."""
    for match in _HEADER.finditer(script.source.text):
        profile = profile_of_gpu(match.group(1))
        if profile is not None:
            span = script.source.span(match.start(1), match.end(1))
            return _Sign(profile, f"the batch header asks for {match.group(1)}", span, span)
    return None


def _sign(command: Command, script: Script) -> _Sign | None:
    if command.builtin or command.function:
        return None
    stack = command.around.stack
    driver = stack[0].span if stack else command.span
    argv = unwrap(command.argv).argv
    name = program_name(argv[0]) if argv else ""
    if name in CONTAINERS:
        for word in argv[2:]:
            profile = profile_of_image(word.known or "")
            if profile is not None:
                return _Sign(profile, f"image `{word.known}`", word.span or command.span, driver)
        return None
    install = install_of(command)
    for file in install.files if install is not None else ():
        profile = profile_of_gpu(posixpath.basename(file.known or ""))
        if profile is not None:
            return _Sign(profile, f"requirements `{file.known}`", file.span or command.span, driver)
    called = called_file(command)
    return None if called is None else _of_called(called.path, command, driver, script)


def _of_called(path: Text, command: Command, driver: Span, script: Script) -> _Sign | None:
    """The profile that a set-up script's name tells: that of the GPU in it; without one it is for the other profile
    where a sibling names a GPU."""
    known = path.known or ""
    folder, name = posixpath.split(known)
    stem, dot, suffix = name.rpartition(".")
    if suffix not in ("sh", "bash") or not ("setup" in stem or "install" in stem):
        return None
    profile = profile_of_gpu(name)
    if profile is None:
        sibling = posixpath.normpath(posixpath.join(script.start, folder, f"{stem}_b200{dot}{suffix}"))
        profile = PROFILES["a100-h200"] if script.tree.exists(sibling) else None
    return None if profile is None else _Sign(profile, f"set-up `{known}`", path.span or command.span, driver)


def _finding(known: _Sign, sign: _Sign, ctx: Context) -> Finding:
    found = ctx.fail(
        sign.span,
        f"{sign.what} is for {sign.profile.title} machines, what stands before it is for {known.profile.title}: "
        "the two do not mix",
        value=sign.what,
        help=f"use what belongs to {known.profile.title}, or begin with the container of {sign.profile.title}",
    )
    if sign.driver.in_file().source is not sign.span.in_file().source:
        found = found.with_related(sign.driver, "called here")
    return found.with_related(known.span, known.what)


# ---- specs


def _of_spec(spec: Spec, ctx: Context) -> Iterator[Finding]:
    environment = spec.environment
    profile: Profile | None = None
    declared: Value | None = None
    if environment is not None:
        declared = environment.profile
        profile = PROFILES.get(str(declared)) if declared.given and declared.decided else None
        image = profile_of_image(str(environment.image)) if environment.image.decided else None
        if image is not None and profile is not None and image is not profile:
            message = f"the image is for {image.title} machines, the profile for {profile.title}"
            found = ctx.fail(environment.image, message, help=f"use the image of {profile.name}, or that profile")
            yield found.with_related(declared.span, f"profile: {profile.name}")
        elif profile is None and image is not None:
            profile, declared = image, environment.image
    yield from _of_family(spec, profile, declared, ctx)
    asked = [spec.resources.get("accelerators"), *(each.resources.get("accelerators") for each in spec.stages.values())]
    for value in asked:
        gpu = profile_of_gpu(str(value)) if value is not None and value.given and value.decided else None
        if value is None or gpu is None or profile is None or gpu is profile:
            continue
        message = f"{value} is asked for, the set-up is for {profile.title} machines"
        found = ctx.fail(value, message, help=f"ask for {profile.title}, or set up for {gpu.title}")
        yield found.with_related(declared.span if declared is not None else None, f"the set-up: {declared}")


def _of_family(spec: Spec, profile: Profile | None, declared: Value | None, ctx: Context) -> Iterator[Finding]:
    family = str(spec.family)
    if profile is not None and declared is not None and profile.name in WITHOUT.get(family, ()):
        message = f"family {family} has no set-up for {profile.title} machines: its script installs for the others"
        found = ctx.fail(declared, message, help="use A100, H100 or H200 machines, or write a set-up of your own")
        yield found.with_related(spec.family.span, f"family: {family}")
