"""A key without a default must be given.

`???` in a config of VeRL marks a key that each launch must set. Hydra does not ask for it at start-up: the run stops
when the key is first read, after Ray has started (`Missing mandatory value: actor_rollout_ref.rollout.name`). That key
had the default `vllm` until VeRL 0.5, so launchers of that time lack it.

`critic.model.path` has a default, but that of VeRL's examples: without it PPO loads `~/models/deepseek-llm-7b-chat` as
its critic, whatever the policy is. Where a policy is named, and the estimator or a key of the critic, this is to be
verified.

Silent under a mere best fit, for commands that a broken continuation cuts short, and for those that a document shows.
Where the caller's words are passed on (`"$@"`) the key may come from there: then it is to be verified.

Fix: set the key, for instance `actor_rollout_ref.rollout.name=vllm`.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.launch import Launch
from verlint.finding import Finding
from verlint.rule import ERROR, Context, rule
from verlint.verl.in_use import call_of
from verlint.verl.undecided import Undecided
from verlint_rules.config.reporting import label_of
from verlint_rules.config.view import in_document, is_cut, view_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from verlint.verl.facts import Facts

_ESTIMATOR = "algorithm.adv_estimator"
_POLICY = "actor_rollout_ref.model.path"
NEEDED = {"actor_rollout_ref.rollout.name": "vllm"}
"""Keys that every training run reads, with what most set. Source: `workers/rollout/base.py` and
`workers/config/rollout.py` since 0.6.0. Others with `???` belong to parts that are off by default."""
_READ = {
    "actor_rollout_ref.model.path": "…",
    "data.train_files": "…",
    "data.val_files": "…",
    "trainer.project_name": "…",
    "trainer.experiment_name": "…",
}
"""Keys that every run reads, and that a config of one's own may leave open."""


@rule("VL711", "mandatory-missing", on=Launch, severity=ERROR, since="0.1")
def check(launch: Launch, ctx: Context) -> Iterator[Finding]:
    if not call_of(launch.program.entry, ()).module.endswith("main_ppo"):
        return
    view = view_of(launch)
    if view is None or launch.verl is None:
        return
    yield from _critic(launch, ctx)
    if launch.verl.guess:
        return
    for key, usual in {**NEEDED, **(_READ if launch.of_file else {})}.items():
        if view.value(key) == "???":
            if in_document(launch) or launch.stands_alone or is_cut(launch, ctx.project):
                continue
            message = f"{key} is not given and has no default in {label_of(view)}: the run stops when it is read"
            help_ = f"write {key}={usual}"
            if launch.passes_arguments or any(not each.key and each.error is None for each in launch.overrides):
                verify = f"grep -rn {key.rpartition('.')[0].rpartition('.')[2]}.{key.rpartition('.')[2]}= ."
                yield ctx.unsure(launch.head, message, verify=verify, help=help_)
            else:
                yield ctx.fail(launch.head, message, help=help_)


def _critic(launch: Launch, ctx: Context) -> Iterator[Finding]:
    """A critic that nobody named beside a policy that is: that of VeRL's examples is loaded."""
    key = "critic.model.path"
    value, facts = launch[key], next(iter(launch.facts), None)
    if value.given or facts is None or _POLICY not in launch.by_key:
        return
    if not any(each.startswith("critic.") for each in launch.by_key) and not launch[_ESTIMATOR].given:
        return  # whoever speaks of neither may picture the rest too
    if not (isinstance(value.data, str) and value.data.startswith("~/models/") and _trains_critic(facts)):
        return
    if in_document(launch) or launch.stands_alone or launch.passes_arguments or is_cut(launch, ctx.project):
        return
    yield ctx.unsure(
        launch.head,
        f"{key} is not given: the critic is {value.data}, the model of VeRL's examples, beside the policy "
        f"{launch[_POLICY]}",
        verify=f"ls {value.data}",
        value=f"{key} = {value.data} (the default)",
        help=f"set {key}={launch[_POLICY]}, or an algorithm.adv_estimator without a critic",
    ).with_related(launch[_POLICY].span, "the policy")


def _trains_critic(facts: Facts) -> bool:
    try:
        return facts.critic_used and facts.trains
    except Undecided:
        return False
