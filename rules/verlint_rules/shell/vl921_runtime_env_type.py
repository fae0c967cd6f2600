"""The variables of a Ray runtime environment must be texts.

Ray checks `env_vars` when it starts: a value that is no text ends the run with TypeError, "runtime_env['env_vars'] must
be of type Dict[str, str]". Hydra reads `…runtime_env.env_vars.NCCL_DEBUG_LEVEL=1` as a number and `=true` as a boolean,
and JSON does the same with what has no quotes. In bash the quotes of `="1"` are gone before Hydra sees them.

The text of `--runtime-env-json` must be JSON; and a `$` at the start of its `working_dir`, kept by single quotes, is
expanded by nobody.

Looked at are overrides of VeRL's `ray_kwargs.ray_init.runtime_env`, `--runtime-env-json`, the file of
`--runtime-env`, and `runtimeEnvYAML` of a RayJob. Silent for `TRANSFER_QUEUE_ENABLE` where `transfer_queue.enable` is
true, as it always is under `main_ppo_sync`: VeRL then writes the text itself.

Fix: give Hydra the quotes, `…env_vars.X="'1'"`, and JSON its own, `{"env_vars": {"X": "1"}}`.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.launch import Launch
from verlint.experiment.places import job_of
from verlint.experiment.runtime_envs import runtime_env_of
from verlint.finding import Edit, Finding, Safety
from verlint.languages.bash.command import Command
from verlint.languages.bash.wrappers import unwrap
from verlint.languages.hydra.override import Override
from verlint.languages.runtime_env import RuntimeEnv, option_of, read_runtime_env
from verlint.languages.yaml import embedded
from verlint.rule import ERROR, Context, rule
from verlint.value import Data, Literal, State, Text, show

_KEYS = ("ray_kwargs.ray_init.runtime_env.env_vars.", "ray_init.runtime_env.env_vars.")
_WRITTEN_BY_VERL = {"TRANSFER_QUEUE_ENABLE": "transfer_queue.enable"}
"""Variables that VeRL sets itself, as texts, when a key is true; main_ppo.py."""
_SWITCHED_ON = {"transfer_queue.enable": ("verl.trainer.main_ppo_sync",)}
"""Entry points that make such a key true; main_ppo_sync.py."""
_TYPES = {bool: "a boolean", int: "a number", float: "a number", type(None): "null", list: "a list", dict: "a table"}


@rule(
    "VL921",
    "runtime-env-type",
    on=Launch,
    severity=ERROR,
    since="0.1",
    fixable="safe",
    words=("env_vars", "runtime-env-json", "runtimeenv", "--config-name"),
)
def check(launch: Launch, ctx: Context) -> Iterator[Finding]:
    for override in launch.overrides if launch.stands_alone else launch.settings:
        name = next((override.key.removeprefix(key) for key in _KEYS if override.key.startswith(key)), "")
        if not name or override.value.state is not State.KNOWN or isinstance(override.value.data, str):
            continue
        if _is_written_by_verl(name, launch):
            continue
        yield _of_override(name, override, override in launch.overrides, ctx)
    yield from _of_job(launch.command, ctx)


def _is_written_by_verl(name: str, launch: Launch) -> bool:
    switch = _WRITTEN_BY_VERL.get(name)
    if switch is None:
        return False
    return launch.program.entry in _SWITCHED_ON.get(switch, ()) or launch[switch].truthy() is not False


def _of_override(name: str, override: Override, of_call: bool, ctx: Context) -> Finding:
    data = override.value.data
    written = override.value.span
    quoted = f"\"'{show(data)}'\"" if of_call else f'"{show(data)}"'
    right = f"{override.key}={quoted}" if of_call else f"{name}: {quoted}"
    found = ctx.fail(
        override.value,
        _message(name, data),
        help=f"write {right}",
    )
    if written is None or written.text != show(data) or (of_call and _is_quoted(override.word)):
        return found
    title = "quote the value for Hydra" if of_call else "quote the value"
    return found.with_fix(title, Edit(written.in_file(), quoted), safety=Safety.SAFE)


def _message(name: str, data: Data) -> str:
    kind = _TYPES[type(data)]
    return f"Ray refuses to start: {name} is {kind}, and the variables of a runtime environment must be texts"


def _is_quoted(word: Text) -> bool:
    """Whether the word is written in quotes, so that quotes within it would mean something else."""
    span = word.span
    return span is None or '"' in span.text or "'" in span.text


def _of_job(command: Command, ctx: Context) -> Iterator[Finding]:
    """What a `ray job submit` gives, JSON on its command line or a file, and the `runtimeEnvYAML` of a RayJob."""
    environment = runtime_env_of(command, ctx.project.tree)
    job = job_of(ctx.project, command) if environment is None else None
    if job is not None and job.runtime_env is not None:
        environment = read_runtime_env(embedded(job.runtime_env))
    yield from _of_text(command, environment, ctx)
    for name, variable in () if environment is None else environment.env_vars.items():
        if not variable.is_string:
            written = variable.value.shown
            yield ctx.fail(
                variable.span,
                f"Ray refuses to start: {name} is no text, and the variables of a runtime environment must be texts",
                value=f"env_vars.{name} = {written}",
                help=f'write "{written}"',
            )


def _of_text(command: Command, environment: RuntimeEnv | None, ctx: Context) -> Iterator[Finding]:
    """JSON that is none, and a folder whose `$` nobody expands."""
    argv = unwrap(command.argv).argv
    given = option_of(argv, "--runtime-env-json") if command.name == "ray" or "ray" in command.span.text[:40] else None
    problem = None if given is None else _json_problem(given)
    if given is not None and problem is not None:
        yield ctx.fail(
            given,
            f"`ray job submit` stops: the text of --runtime-env-json is no JSON ({problem})",
            help="write JSON: names and texts in double quotes, no comma behind the last entry",
        )
        return
    folder = None if environment is None or given is None else environment.working_dir
    text = "" if folder is None else folder.known or ""
    if folder is not None and text.startswith("$"):
        yield ctx.fail(
            folder,
            f"working_dir is the text `{text}`: nobody expands the `$` there, and Ray looks for a folder of that name",
            help=f"end the single quotes before it: '…\"{text}\"…' becomes '…\"'\"{text}\"'\"…'",
        )


def _json_problem(given: Text) -> str | None:
    """What is wrong with a JSON text, None where nothing is, or where a value of the shell may decide."""
    import json

    problem = None
    for stand_in in ("x", "0", '"x"'):
        text = "".join(each.text if isinstance(each, Literal) else stand_in for each in given.parts)
        if given.elastic or not text.strip().startswith("{"):
            return None
        try:
            json.loads(text)
        except ValueError as error:
            problem = problem or str(error)
        else:
            return None
    return problem
