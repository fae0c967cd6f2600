"""A credential is put on the command line of a program.

Every user of the node sees the arguments of running programs (`ps`, `/proc`), process accounting and job systems keep
them, and Ray shows the entry point and runtime environment of a job in its dashboard. `wandb login KEY` also writes
the key to a file in the home folder of the node. The variable is in the environment already, where only the owner of
the process can read it, and the programs that need it look there.

In a document this is a warning. Builtins (`echo`, `[`) start no program and are not counted, nor are here-strings and
what only tests the variable: `${KEY:+set}`, `${#KEY}`.

Fix: pass the name, not the value. `wandb`, `hf` and `huggingface-cli` read `WANDB_API_KEY` and `HF_TOKEN` by
themselves: delete the login or the option, and export the variable before `ray start`, whose environment the workers
have. `docker run -e HF_TOKEN` passes a variable on by name, `curl -H @FILE` reads a header from a file, git takes
tokens from a credential helper.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from verlint.experiment.places import commands_in
from verlint.files.kinds import Kind
from verlint.files.loading import Loaded
from verlint.finding import Edit, Finding, Safety
from verlint.languages.bash.command import Command
from verlint.languages.bash.wrappers import program_name, unwrap
from verlint.rule import ERROR, WARNING, Context, rule
from verlint.secret import is_secret_name
from verlint.value import Text
from verlint_rules.credentials.exposure import Exposed, exposed, secret_name, written_secret

TYPE_CHECKING = False
if TYPE_CHECKING:
    from verlint.experiment.spec import SpecStage

_ANY = "export the variable and let the program read it there"
_HELP = {
    "wandb": "delete the login: wandb reads WANDB_API_KEY, and Ray's workers have what was exported before `ray start`",
    "hf": "delete it: the tool reads HF_TOKEN from the environment",
    "huggingface-cli": "delete it: the tool reads HF_TOKEN from the environment",
    "docker": "pass the variable on by its name: -e NAME",
    "podman": "pass the variable on by its name: -e NAME",
    "curl": "read the header from a file: curl -H @FILE",
    "mpirun": "pass the variable on by its name: -x NAME",
    "ssh": "let sshd accept the variable (SendEnv), or read it on the other node from a file",
    "git": "use a credential helper or GIT_ASKPASS",
    "ray": "export it before `ray start`, or name a file that only the job's user can read",
    "srun": "export it before; srun and sbatch pass the environment on",
    "sbatch": "export it before; srun and sbatch pass the environment on",
}


@rule("VL403", "secret-in-argv", on=Loaded, severity=ERROR, since="0.1", fixable="unsafe")
def check(file: Loaded, ctx: Context) -> Iterator[Finding]:
    if file.kind not in (Kind.LAUNCHER, Kind.DOCUMENT, Kind.SPEC, Kind.JOB):
        return
    for command in commands_in(ctx.project, file):
        yield from _in_command(command, ctx)
    if file.kind is Kind.SPEC:
        for spec in (each.spec for each in ctx.project.specs if each.source is file.source):
            for stage in spec.stages.values() if spec is not None else ():
                yield from _in_arguments(stage, ctx)


def _in_arguments(stage: SpecStage, ctx: Context) -> Iterator[Finding]:
    """Arguments of a stage, which its launcher gets as words."""
    for name, value in stage.args.items():
        holes = value.text.holes if value.text is not None else ()
        outside = next((hole.name for hole in holes if is_secret_name(hole.name)), "")
        if value.span is None or not (outside or (is_secret_name(name) and written_secret(f"{name}={value}"))):
            continue
        what = f"the value of {outside}" if outside else "the credential itself"
        message = f"{what} is an argument of the stage's launcher: everybody on the node can read it"
        help_ = (
            f"leave `{name}` out, name {outside or 'it'} under `credentials`, and let the launcher read the environment"
        )
        yield ctx.fail(value.span, message, help=help_)


def _in_command(command: Command, ctx: Context) -> Iterator[Finding]:
    if command.builtin or command.function or not command.argv:
        return
    name = program_name(command.argv[0])
    inner = command.argv[len(command.argv) - len(unwrap(command.argv).argv) :] if name == "env" else command.argv
    program = program_name(inner[0]) if inner else ""
    reported: set[str] = set()
    for before, word in pairwise(inner):
        for each in _exposed(before, word, program):
            if each.name not in reported:
                reported.add(each.name)
                yield _finding(command, ctx, word, each, program)


def _exposed(before: Text, word: Text, program: str) -> Iterator[Exposed]:
    found = list(exposed(word)) if any(map(secret_name, word.parts)) else []
    yield from found
    if found or not word.known or word.span is None:
        return
    context = f"{program} login {word.known}" if program == "wandb" else f"{before.known or ''} {word.known}"
    if what := written_secret(context):
        yield Exposed(what, True)


def _finding(command: Command, ctx: Context, word: Text, each: Exposed, program: str) -> Finding:
    what = f"the value of {each.name}"
    if each.written and (" " in each.name or each.name == "credential"):
        what = f"the {each.name} itself"
    document = ctx.project.kinds.get(id(command.span.in_file().source)) is Kind.DOCUMENT
    image = _goes_into_an_image(command)
    finding = ctx.fail(
        word.span or command.span,
        f"{what} is an argument of `{program or 'a program'}`: everybody on the node can read it"
        + (", and the image keeps it in its history" if image else ""),
        hops=(),
        help="mount it as a secret: --secret id=NAME,env=NAME" if image else _HELP.get(program, _ANY),
        severity=WARNING if document else None,
    )
    edit = None if image else _by_name(word, each.name, program)
    return finding if edit is None else finding.with_fix("pass the name only", edit, safety=Safety.UNSAFE)


def _goes_into_an_image(command: Command) -> bool:
    """`docker build --build-arg NAME=…`."""
    argv = unwrap(command.argv).argv
    return program_name(argv[0]) in ("docker", "podman", "buildah") and any(
        word.known in ("build", "buildx", "bud") for word in argv[1:3]
    )


def _by_name(word: Text, name: str, program: str) -> Edit | None:
    """`-e NAME=$NAME` of docker as `-e NAME`."""
    if program not in ("docker", "podman") or word.span is None:
        return None
    span = word.span.in_file()
    same = span.text.replace('"', "") in (f"{name}=${name}", f"{name}=${{{name}}}")
    return Edit(span, name) if same else None
