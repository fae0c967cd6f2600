"""The run logs to Weights & Biases, but in a way that cannot work or records nothing.

Found are: a key that the launcher takes out of the environment before the launch (`unset WANDB_API_KEY`, `env -u`,
`env -i`), a container that does not get it (`docker run` without `-e WANDB_API_KEY`, `--env-file` or a mounted home;
`sudo docker run -e WANDB_API_KEY`, for `sudo` takes away what docker should hand on),
and the reverse contradiction: the logger is on while `WANDB_MODE=disabled` or `WANDB_DISABLED=true` throws everything
away that a training run sends to it.

An image may bring a mode of its own, so a container is looked at only where the launch names its loggers.

A job that nobody watches (Slurm, `ray job submit`, `nohup`) in a project that nowhere speaks of a key, a login or a
mode needs verification: without a login on the node wandb asks for a key there, and nobody answers. Launchers that
are started by hand are left alone, for most people have logged in once.

Fix: export WANDB_API_KEY before the launch and pass it into the container by name, set `WANDB_MODE=offline`, or take
`wandb` out of `trainer.logger`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from verlint.experiment.launch import Launch
from verlint.experiment.paths import written_at
from verlint.experiment.places import variants_in
from verlint.experiment.project import Project
from verlint.finding import Finding
from verlint.languages.bash.command import Command
from verlint.languages.bash.wrappers import CONTAINERS, program_name, unwrap
from verlint.lazy import pattern
from verlint.rule import WARNING, Context, rule
from verlint.source import Span
from verlint.value import Text
from verlint_rules.credentials.exposure import ask_for
from verlint_rules.credentials.logger import KEY, LOGGER, drops_everything, is_login, logs_to_wandb, switched_off

_SPEAKS = ("wandb_api_key", "wandb login", "wandb.login", "wandb_mode", "wandb_disabled", ".netrc")
_BATCH = pattern(r"(?m)^#SBATCH\b")
_HOME = pattern(r"(?:^|source=|src=)(?:~|\$\{?HOME\}?|/root|/home)(?:/\.netrc)?/?(?::|,|$)")


@rule("VL407", "logger-without-credential", on=Launch, severity=WARNING, since="0.1", words=("wandb",))
def check(launch: Launch, ctx: Context) -> Iterator[Finding]:
    if logs_to_wandb(launch) is not True:
        return
    logger = launch[LOGGER]
    at = logger if logger.given else launch.head
    off = switched_off(launch.command)
    if off is not None:
        if drops_everything(off[0]) and launch["trainer.val_only"].truthy() is not True and logger.given:
            message = f"the logger wandb is on, but {off[0]} throws away what it is given"
            help_ = "take wandb out of trainer.logger, or set WANDB_MODE=offline to keep the records"
            yield ctx.fail(at, message, help=help_).with_related(written_at(off[1]), off[0])
        return
    if launch.command.around.elsewhere:
        taken = _kept_out(launch.command, ctx.project) if logger.given else None
    else:
        taken = _taken_away(launch.command, ctx.project)
    if taken is not None:
        why, place = taken
        help_ = f"pass {KEY} on, set WANDB_MODE=offline, or take wandb out of trainer.logger"
        yield ctx.fail(at, f"the logger wandb is on, but {why}", help=help_).with_related(place, "here")
    elif logger.given and _unwatched(launch) and not ctx.project.speaks_of(_SPEAKS):
        yield ctx.unsure(
            at,
            "the logger wandb is on, and nothing here gives a key, a login or a mode: the job may wait for a key",
            help=f"check it before the launch, or set WANDB_MODE=offline: {_ask(launch)}",
            verify=f'[ -n "${{{KEY}:+set}}" ] || grep -c api.wandb.ai ~/.netrc',
        )


def _ask(launch: Launch) -> str:
    return ask_for(KEY, traced=launch.command.around.xtrace)


def _taken_away(command: Command, project: Project) -> tuple[str, Span | None] | None:
    """What removes the key from the environment of a command: an option of `env`, an `unset` before it."""
    for at, word in enumerate(command.argv):
        if program_name(word) != "env" or (at and word.known != "env"):
            continue
        if KEY not in unwrap(command.argv).assignments:
            for before, option in zip(command.argv[at:], command.argv[at + 1 :], strict=False):
                if option.known in ("-i", "--ignore-environment", "-") or (
                    (before.known in ("-u", "--unset") and option.known == KEY) or option.known == f"--unset={KEY}"
                ):
                    return f"`env` takes {KEY} away", option.span
        break
    if KEY in command.around.environment or KEY in command.prefix:
        return None
    place: Span | None = None
    source = command.span.in_file().source
    for variant in variants_in(project, source):
        other = variant.command
        if other.span.in_file().start >= command.span.in_file().start:
            break
        if is_login(other):
            return None
        if other.builtin and other.name == "unset" and any(word.known == KEY for word in other.words):
            place = other.span if not other.around.guards else None
    return None if place is None else (f"{KEY} was unset before the launch", place)


def _kept_out(command: Command, project: Project) -> tuple[str, Span | None] | None:
    """A container that the key does not get into, whose command is the launch."""
    place, last = command.span, command.argv[-1]
    for variant in variants_in(project, place.in_file().source):
        outer = variant.command
        if outer.span == place and outer.argv[-1] is last and (found := _of_container(outer)) is not None:
            return found
    return None


def _of_container(command: Command) -> tuple[str, Span | None] | None:
    argv = unwrap(command.argv).argv
    name = program_name(argv[0]) if argv else ""
    if name not in ("docker", "podman", "nerdctl") or name not in CONTAINERS or len(argv) < 2 or argv[1].known != "run":
        return None
    options = _options(argv[2:], CONTAINERS[name])
    lost = _lost_before(command, options)
    if lost is not None:
        return lost
    for option, value in options:
        if option in ("-e", "--env") and value.split("=", 1)[0] in (KEY, "WANDB_MODE", "WANDB_DISABLED", ""):
            return None
        if option == "--env-file" or (option in ("-v", "--volume", "--mount") and _HOME.search(value)):
            return None
        if not option:  # words that are not known before the run may be options
            return None
    return f"`{name} run` does not pass {KEY} into the container", argv[0].span


def _lost_before(command: Command, options: Sequence[tuple[str, str]]) -> tuple[str, Span | None] | None:
    """A key that docker is to hand on by its name, and that `sudo` has taken away before."""
    around = unwrap(command.argv)
    if "sudo" not in around.wrappers or around.hands_on(KEY) or KEY in around.assignments:
        return None
    named = any(option in ("-e", "--env") and value == KEY for option, value in options)
    if not named or KEY not in {**command.around.environment, **command.prefix}:
        return None
    sudo = next(word for word in command.argv if program_name(word) == "sudo")
    return f"`sudo` takes {KEY} away before docker can hand it on", sudo.span


def _options(words: Sequence[Text], with_value: frozenset[str]) -> list[tuple[str, str]]:
    """The options before the image, each with its value; an option without a name for a word that is not known."""
    found: list[tuple[str, str]] = []
    at = 0
    while at < len(words):
        text = words[at].known if words[at].known is not None else words[at].prefix
        if words[at].elastic and not text:
            found.append(("", ""))
            at += 1
            continue
        if text is None or not text.startswith("-"):
            break
        if "=" in text:
            name, _, value = text.partition("=")
            found.append((name, words[at].shown.partition("=")[2] or value))
        elif text in with_value and at + 1 < len(words):
            found.append((text, words[at + 1].shown))
            at += 1
        else:
            found.append((text, ""))
        at += 1
    return found


def _unwatched(launch: Launch) -> bool:
    """Whether the launch runs where nobody can answer a question."""
    command = launch.command
    names = [program_name(word) for word in command.argv[:6]]
    submitted = "ray" in names and any(word.known == "submit" for word in command.argv[:6])
    text = command.span.in_file().source.text
    batch = "#SBATCH" in text and _BATCH.search(text) is not None
    return batch or submitted or "nohup" in names or "srun" in names
