"""An environment variable must be one that the engine in use reads.

vLLM takes its switches from the environment and says nothing about those it does not know. A launcher of an older
checkout keeps setting `VLLM_ATTENTION_BACKEND` or asks for the V0 engine with `VLLM_USE_V1=0`; a newer vLLM ignores
both and runs another backend or engine than the numbers it is compared with.

Some variables take certain values only: `VLLM_USE_V1=true` is no number, and vLLM stops when it is imported;
`VLLM_USE_MODELSCOPE=1` is not `True`; `WANDB_MODE=off` is no mode.

vLLM 0.8 to 0.18 stops when it shall sleep between the steps, as it does under VeRL from 0.3 to 0.8, and
`PYTORCH_CUDA_ALLOC_CONF` holds `expandable_segments:True`, the remedy that PyTorch names when memory runs out. VeRL
switches these segments on and off by itself since 0.6. A Ray that is started elsewhere may not hand the variable on,
so a launcher that speaks of one leaves it to be verified.

The servers of `rollout.mode=async` (since 0.7 of all runs) are made of vLLM's `AsyncLLM`, which is of the V1 engine and
stops where `VLLM_USE_V1=0` is still read, up to vLLM 0.10.

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
_ALLOCATOR = "PYTORCH_CUDA_ALLOC_CONF"
_SEGMENTS = "expandable_segments:True"
_SLEEPS = ("actor_rollout_ref.rollout.free_cache_engine", "actor_rollout_ref.rollout.enable_sleep_mode")
_SLEEPING = ("0.3.0", "0.9.0")
_REFUSING = ("0.8.0", "0.19.0")
"""The first VeRL and vLLM of which this holds, and the first that is not known to. Sources: `enable_sleep_mode` in
`vllm_rollout_spmd.py` and `vllm_async_server.py` of VeRL; `CuMemAllocator.__init__` of vLLM, from pull request 14189 to
40812."""
_SERVING = ("0.4.0", "0.7.0", "0.9.0")
"""The VeRL that has servers, the one that has nothing else, and the first whose vLLM does not read the switch."""
_CLUSTER = pattern(
    r"\bray[\"']?\s+(?:start|symmetric-run|job|up|attach|exec)\b|RAY_ADDRESS|symmetric_run|ray_init\.address"
)


@rule(
    "VL307",
    "engine-version",
    on=Launch,
    severity=WARNING,
    since="0.1",
    words=(
        "vllm_use_",
        "vllm_attention_backend",
        "vllm_enable_v1",
        "vllm_disable_c",
        "wandb_mode",
        "expandable_segments:true",
    ),
)
def check(launch: Launch, ctx: Context) -> Iterator[Finding]:
    around = launch.command
    given = {**around.around.environment, **around.prefix}
    yield from _misread(launch, given, ctx)
    variables = [each for each in VARIABLES if each.name in given]
    if (not variables and _ALLOCATOR not in given) or launch[_NAME].equals("vllm") is False:
        return
    engine = _engine(launch, ctx.project)
    if engine is not None and _ALLOCATOR in given:
        yield from _of_allocator(launch, given[_ALLOCATOR], engine, ctx)
    if engine is not None and "VLLM_USE_V1" in given:
        yield from _of_server(launch, given["VLLM_USE_V1"], engine, ctx)
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
    yield _found(launch, value, told, message, help_, engine, engine.certain, ctx)


def _of_allocator(launch: Launch, value: Text, engine: _Engine, ctx: Context) -> Iterator[Finding]:
    """vLLM asks this variable itself when it makes the pool that it can put to sleep."""
    if launch.program.entry != "verl.trainer.main_ppo" or _SEGMENTS not in (value.known or ""):
        return
    if launch[_NAME].equals("vllm") is not True or any(launch[key].given for key in _SLEEPS):
        return
    if not padded(_SLEEPING[0]) <= padded(launch.version) < padded(_SLEEPING[1]):
        return
    if not padded(_REFUSING[0]) <= padded(engine.newest) < padded(_REFUSING[1]):
        return
    text = launch.command.span.source.text
    if f"env_vars.{_ALLOCATOR}" in text:
        return
    told = f"{_ALLOCATOR}={value.known}"
    words = engine.words if engine.certain else f"vLLM {engine.newest}"
    message = f"{words} stops with {told}: 'Expandable segments are not compatible with memory pool' (its sleep mode)"
    certain = engine.certain and padded(engine.oldest) >= padded(_REFUSING[0]) and not _CLUSTER.search(text)
    yield _found(launch, value, told, message, "leave the variable out", engine, certain, ctx)


def _of_server(launch: Launch, value: Text, engine: _Engine, ctx: Context) -> Iterator[Finding]:
    """`AsyncLLM.__init__` of vLLM raises unless the V1 engine is on."""
    if launch.program.entry != "verl.trainer.main_ppo" or value.known != "0":
        return
    version, gone = padded(launch.version), padded("0.11.0")
    if launch[_NAME].equals("vllm") is not True or padded(engine.oldest) >= gone:
        return
    if not padded(_SERVING[0]) <= version < padded(_SERVING[2]):
        return
    if version < padded(_SERVING[1]) and launch["actor_rollout_ref.rollout.mode"].equals("async") is not True:
        return
    text = launch.command.span.source.text
    if "env_vars.VLLM_USE_V1" in text:
        return
    message = (
        f"the servers of VeRL {launch.version} are of vLLM's V1 engine, which stops with VLLM_USE_V1=0: 'Using V1 "
        "AsyncLLMEngine, but envs.VLLM_USE_V1=False'"
    )
    certain = engine.certain and padded(engine.newest) < gone and not _CLUSTER.search(text)
    told = "VLLM_USE_V1=0"
    yield _found(launch, value, told, message, "leave the variable out, or set it to 1", engine, certain, ctx)


def _found(
    launch: Launch, value: Text, told: str, message: str, help_: str, engine: _Engine, certain: bool, ctx: Context
) -> Finding:
    at = next((part.span for part in value.parts if part.span is not None), None) or value.span or launch.head
    if certain:
        found = ctx.fail(at, message, value=told, hops=value.trail(), help=help_)
    else:
        verify = "python3 -c 'import vllm; print(vllm.__version__)'"
        found = ctx.unsure(at, message, value=told, hops=value.trail(), help=help_, verify=verify)
    found = found.with_related(launch.head, "the run that it is meant for")
    return found.with_related(engine.span, "the engine is installed here")
