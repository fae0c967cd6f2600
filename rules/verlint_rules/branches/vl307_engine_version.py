"""An environment variable must be one that the engine in use reads.

vLLM takes its switches from the environment and says nothing about those it does not know. A launcher of an older
checkout keeps setting `VLLM_ATTENTION_BACKEND` or asks for the V0 engine with `VLLM_USE_V1=0`; a newer vLLM ignores
both and runs another backend or engine than the numbers it is compared with.

Some variables take certain values only: `VLLM_USE_V1=true` is no number, and vLLM stops when it is imported;
`VLLM_USE_MODELSCOPE=1` is not `True`; `WANDB_MODE=off` is no mode.

The version is the one that the project installs (`pip install vllm==0.9.0`, in one version only), else the range that
the VeRL in use asks for. A checkout between two releases leaves it to be verified. Silent for other engines, for ranges
in which some version reads the variable, and for values that change nothing (`VLLM_USE_V1=1` where V1 is all there is).

Fix: delete the variable, use what took its place, or pin the engine that reads it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from verlint.experiment.installs import install_of, package_name
from verlint.experiment.launch import Launch
from verlint.experiment.project import Project
from verlint.finding import Finding
from verlint.lazy import pattern
from verlint.memo import WeakKeyDictionary
from verlint.record import dataclass
from verlint.rule import WARNING, Context, rule
from verlint.source import Span
from verlint.value import Text
from verlint.verl.engines import READ_VALUES, VARIABLES, VLLM_OF, Variable
from verlint.verl.versions import padded

_PIN = pattern(r"==\s*v?(\d[\w.]*)")
_NAME = "actor_rollout_ref.rollout.name"


@rule(
    "VL307",
    "engine-version",
    on=Launch,
    severity=WARNING,
    since="0.1",
    words=("vllm_use_", "vllm_attention_backend", "vllm_enable_v1", "vllm_disable_c", "wandb_mode"),
)
def check(launch: Launch, ctx: Context) -> Iterator[Finding]:
    around = launch.command
    given = {**around.around.environment, **around.prefix}
    yield from _misread(launch, given, ctx)
    variables = [each for each in VARIABLES if each.name in given]
    if not variables or launch[_NAME].equals("vllm") is False:
        return
    engine = _engine(launch, ctx.project)
    for variable in variables if engine is not None else ():
        value = given[variable.name]
        if value.known and (not variable.values or value.known in variable.values):
            yield from _of_variable(launch, variable, value, engine, ctx)


def _misread(launch: Launch, given: Mapping[str, Text], ctx: Context) -> Iterator[Finding]:
    """Values that the program which reads the variable takes for something else."""
    for each in READ_VALUES:
        value = given.get(each.name)
        text = "" if value is None else value.known or ""
        if value is None or not text or text.lower() in each.known or (each.numbers and text.strip("+-").isdecimal()):
            continue
        gone = next((one.gone for one in VARIABLES if one.name == each.name), "")
        engine = _engine(launch, ctx.project) if gone else None
        if engine is not None and padded(engine.newest) >= padded(gone):
            continue  # nobody reads it there
        loggers = launch["trainer.logger"].data
        if each.logger and each.logger not in (loggers if isinstance(loggers, list) else [loggers]):
            continue
        if not each.logger and launch[_NAME].equals("vllm") is not True:
            continue
        at = next((part.span for part in value.parts if part.span is not None), None) or value.span or launch.head
        told = f"{each.name}={text}"
        found = ctx.fail(at, f"{told}: {each.effect}", value=told, hops=value.trail(), help=each.instead)
        yield found.with_related(launch.head, "the run that it is meant for")


@dataclass(frozen=True)
class _Engine:
    """The oldest and newest vLLM that may run, who says so, and whether that is certain."""

    oldest: str
    newest: str
    words: str
    certain: bool
    span: Span | None = None


_PINS: WeakKeyDictionary[Project, dict[str, Span]] = WeakKeyDictionary()


def _pins(project: Project) -> Mapping[str, Span]:
    """The versions of vLLM that the scripts of a project install, each with its first place."""
    found = _PINS.get(project)
    if found is None:
        found = _PINS[project] = {}
        for script in project.scripts:
            for path in script.resolution.paths[:1] if "vllm" in script.source.text else ():
                for command in path.commands:
                    install = install_of(command)
                    for word in install.packages if install is not None else ():
                        match = _PIN.search(word.known or "")
                        if package_name(word) == "vllm" and match is not None:
                            found.setdefault(match.group(1), word.span or command.span)
    return found


def _engine(launch: Launch, project: Project) -> _Engine | None:
    pins = _pins(project)
    if len(pins) > 1:
        return None
    for version, span in pins.items():
        return _Engine(version, version, f"vLLM {version}", True, span)
    used = launch.verl
    known = VLLM_OF.get(launch.version) if used is not None else None
    if used is None or known is None:
        return None
    oldest, newest = known
    certain = used.source not in ("checkout", "family", "installed")
    return _Engine(oldest, newest, f"the vLLM of {used.label} ({oldest} or later)", certain)


def _of_variable(
    launch: Launch, variable: Variable, value: Text, engine: _Engine | None, ctx: Context
) -> Iterator[Finding]:
    assert engine is not None
    late = padded(engine.oldest) >= padded(variable.gone)
    early = padded(engine.newest) < padded(variable.since)
    if not late and not early:
        return
    told = f"{variable.name}={value.known}"
    message = f"{told} is not read by {engine.words}: {variable.effect}"
    help_ = variable.instead if late else f"pin vLLM {variable.since} or later, or delete it"
    at = next((part.span for part in value.parts if part.span is not None), None) or value.span or launch.head
    if engine.certain:
        found = ctx.fail(at, message, value=told, hops=value.trail(), help=help_)
    else:
        verify = "python3 -c 'import vllm; print(vllm.__version__)'"
        found = ctx.unsure(at, message, value=told, hops=value.trail(), help=help_, verify=verify)
    found = found.with_related(launch.head, "the run that it is meant for")
    yield found.with_related(engine.span, "the engine is installed here")
