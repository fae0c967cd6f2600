"""Whether a launch logs to Weights & Biases, and what switches that off."""

from __future__ import annotations

from collections.abc import Mapping

from verlint.experiment.launch import Launch
from verlint.languages.bash.command import Command
from verlint.languages.bash.wrappers import program_name, unwrap
from verlint.value import Text, Value

LOGGER = "trainer.logger"
KEY = "WANDB_API_KEY"
OFF: Mapping[str, frozenset[str]] = {
    "WANDB_MODE": frozenset(["disabled", "dryrun", "offline"]),
    "WANDB_DISABLED": frozenset(["true", "1", "yes"]),
}
"""What keeps runs from the server. Source: wandb, environment variables."""
_DROPS = frozenset(["WANDB_MODE=disabled", "WANDB_DISABLED=true", "WANDB_DISABLED=1", "WANDB_DISABLED=yes"])


def logs_to_wandb(launch: Launch) -> bool | None:
    """Whether the loggers of a launch name wandb; None when they are not known."""
    value = launch[LOGGER]
    if value.decided:
        return "wandb" in _names(value)
    if value.text is not None and "wandb" in value.text.shown:
        return True
    return None


def _names(value: Value) -> list[str]:
    data = value.data
    return [str(each) for each in data] if isinstance(data, list) else [str(data)]


def switched_off(command: Command) -> tuple[str, Text] | None:
    """What keeps a command's runs from the server ("WANDB_MODE=offline"), with the text that says so; None when nothing
    does, or when the caller may say otherwise."""
    given = unwrap(command.argv).environment({**command.around.environment, **command.prefix})
    for name, offs in OFF.items():
        text = given.get(name)
        if text is None or text.known is None or any(getattr(part, "overridable", "") for part in text.parts):
            continue
        if text.known.lower() in offs:
            return f"{name}={text.known}", text
    return None


def drops_everything(what: str) -> bool:
    """Whether a switch throws the records away; `offline` keeps them in a folder."""
    return what.lower() in {each.lower() for each in _DROPS}


def is_login(command: Command) -> bool:
    """Whether a command is `wandb login`."""
    argv = unwrap(command.argv).argv
    return len(argv) > 1 and program_name(argv[0]) == "wandb" and argv[1].known == "login"
