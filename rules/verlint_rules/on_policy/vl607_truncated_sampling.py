"""Training rollouts are sampled from the distribution that is trained.

VeRL computes the log-probabilities of the sampled tokens again with the full softmax; of the sampling options it takes
over the temperature only. With `top_p` below 1, a positive `top_k`, a `min_p`, or a penalty, tokens are drawn from
another distribution than the one whose probabilities are used, so the very first update is off-policy, and no ratio or
metric shows it. A temperature other than 1 is taken over and fine.

The rule looks at the options of the training rollout, `actor_rollout_ref.rollout.*`. Those of the validation
(`rollout.val_kwargs.*`) may be anything, and so may all of them in runs that generate or validate only, and in the
recipe `gkd`, whose loss compares whole distributions and takes samples from anywhere.

Under a claim (the spec's intent `exact` or `single-update`, the OPO family, `algorithm.adv_estimator=opo`, a directive)
it is an error, elsewhere a warning. Options that have no effect are warnings too: the agent loop of VeRL up to 0.7.0
drops `top_k`, agent loops of every version drop `min_p` and the penalties, and `do_sample=False` never stops vLLM and
SGLang from sampling.

Fix: remove the option or set its neutral value: `top_p=1.0`, `top_k=-1`, `min_p=0`, `repetition_penalty=1.0`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from verlint.experiment.launch import Launch
from verlint.finding import Finding
from verlint.lazy import pattern
from verlint.record import dataclass
from verlint.rule import ERROR, WARNING, Context, rule
from verlint.value import Value
from verlint_rules.on_policy.claim import claims_one_update, look_up, open_holes, trains
from verlint_rules.on_policy.in_versions import in_versions
from verlint_rules.on_policy.rewriting import spelled_like, with_value

_COMPARES = pattern(r"(?:^|[./])main_gkd(?:\.py)?$")
"""Entry points whose loss is a distance to a teacher's distribution at each token, without a ratio."""
_ROLLOUT = "actor_rollout_ref.rollout"
MODE = f"{_ROLLOUT}.mode"
ENGINE = f"{_ROLLOUT}.name"


@dataclass(frozen=True)
class _Option:
    """A sampling option: the values that change the distribution, what they do, and the value that does nothing.

    `agent_loop` is the version since which the agent loop hands the option on, "" for never."""

    name: str
    changes: Callable[[float], bool]
    does: str
    neutral: str
    agent_loop: str = ""

    @property
    def key(self) -> str:
        """Its key."""
        return f"{_ROLLOUT}.{self.name}"


_OPTIONS = (
    _Option("top_p", lambda number: 0 < number < 1, "leaves out the least likely tokens", "1.0", agent_loop="0.5"),
    _Option("top_k", lambda number: number > 0, "leaves out all but the likeliest tokens", "-1", agent_loop="0.7.1"),
    _Option("min_p", lambda number: number > 0, "leaves out the least likely tokens", "0"),
    _Option("repetition_penalty", lambda number: number != 1, "shifts the probabilities of seen tokens", "1.0"),
    _Option("presence_penalty", lambda number: number != 0, "shifts the probabilities of seen tokens", "0"),
    _Option("frequency_penalty", lambda number: number != 0, "shifts the probabilities of seen tokens", "0"),
)
"""Sources: the attributes of vLLM's `SamplingParams` that `vllm_rollout_spmd.py` takes from the config (0.2 to 0.6.1),
and `agent_loop.py` and `vllm_async_server.py` (0.5 to 0.9.1)."""


@rule(
    "VL607",
    "truncated-sampling",
    on=Launch,
    severity=ERROR,
    since="0.1",
    fixable="safe",
    words=("top_p", "top_k", "min_p", "_penalty", "do_sample"),
)
def check(launch: Launch, ctx: Context) -> Iterator[Finding]:
    given = [option for option in _OPTIONS if option.key in launch]
    greedy = launch[f"{_ROLLOUT}.do_sample"]
    if not (given or greedy.given) or not trains(launch) or _COMPARES.search(launch.program.entry):
        return
    claimed = claims_one_update(launch)
    for option in given:
        yield from _of(option, launch, ctx, claimed)
    if greedy.given and greedy.equals(False) and _samples_anyway(launch):
        message = f"do_sample=False has no effect: {launch[ENGINE]} samples all the same"
        finding = ctx.fail(greedy, message, help=f"remove {_ROLLOUT}.do_sample", severity=WARNING)
        yield with_value(finding, greedy, spelled_like(greedy, on=True), safe=True)


def _of(option: _Option, launch: Launch, ctx: Context, claimed: bool) -> Iterator[Finding]:
    value = launch[option.key]
    number = value.number()
    help_ = f"set {option.key}={option.neutral}"
    if number is None:
        if claimed and open_holes(value) and _handed_on(option, launch) is not False:
            message = f"the rollouts come from another distribution than is trained unless {option.name} is neutral"
            yield ctx.unsure(value, message, help=help_, verify=look_up(value))
        return
    if not option.changes(number):
        return
    handed_on = _handed_on(option, launch)
    if handed_on is False:
        message = f"{option.name} {value} has no effect: the agent loop of {_version(launch)} does not hand it on"
        finding = ctx.fail(value, message, help=help_, severity=WARNING)
    else:  # where that is not known, the option does harm or nothing, so it is a fault in either case
        severity = ERROR if claimed and handed_on else WARNING
        finding = ctx.fail(value, _message(option, value), help=help_, severity=severity)
    yield with_value(finding, value, option.neutral, safe=True)


def _message(option: _Option, value: Value) -> str:
    return (
        f"{option.name} {value} {option.does}, but the log-probabilities are those of the full softmax: "
        "rollouts come from another distribution than is trained"
    )


def _handed_on(option: _Option, launch: Launch) -> bool | None:
    """Whether the option reaches the engine; not known where the code path or the version is not."""
    if option.agent_loop == "0.5":
        return True
    loop = _agent_loop(launch)
    if not loop:
        return None if loop is None else True
    return in_versions(launch, since=option.agent_loop) if option.agent_loop else False


def _agent_loop(launch: Launch) -> bool | None:
    """Whether a server answers requests one by one: always since 0.7, before that with `rollout.mode=async`."""
    since = in_versions(launch, since="0.7")
    if since:
        return True
    asynchronous = launch[MODE].equals("async") is True
    if since is None:
        return None
    return asynchronous and (in_versions(launch, since="0.5") or None)


def _samples_anyway(launch: Launch) -> bool:
    return launch[ENGINE].equals("vllm") is True or launch[ENGINE].equals("sglang") is True


def _version(launch: Launch) -> str:
    return f"VeRL {launch.version}" if launch.version else "VeRL"
