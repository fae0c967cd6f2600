"""A key that is added with `+` must be one that VeRL's data class has a field for.

Since VeRL 0.6 sections such as `actor_rollout_ref.actor` and `actor_rollout_ref.rollout` are made into data classes.
`+actor_rollout_ref.actor.foo=1` passes Hydra, which adds whatever it is told to. The workers then fail to start, after
Ray has placed them: `InstantiationException: … __init__() got an unexpected keyword argument 'foo'`. Only fields that
the data class has and the config leaves out may be added.

Sections that VeRL hands on as they are take any key: `engine_kwargs`, `*_kwargs`, `override_config`. Of a checkout the
fields are read from its code. Of a mere best fit all versions must agree.

Fix: remove the key or write the one that is meant; options of vLLM or SGLang belong to
`+actor_rollout_ref.rollout.engine_kwargs.vllm.…`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import partial

from verlint.experiment.launch import Launch
from verlint.finding import Finding
from verlint.languages.hydra.override import Form, Override
from verlint.rule import ERROR, Context, rule
from verlint.verl.passthrough import is_open
from verlint.verl.rows import in_versions
from verlint_rules.config.reporting import label_of, report
from verlint_rules.config.unknown import engines_with
from verlint_rules.config.view import View, everywhere, view_of

INSTANTIATED = {"actor_rollout_ref.actor": "0.6.0", "actor_rollout_ref.rollout": "0.6.0", "critic": "0.6.0"}
"""Sections that the workers make into data classes, with all that is in them, and since when. Source:
`omega_conf_to_dataclass` in `workers/fsdp_workers.py`, `workers/engine_workers.py`, `trainer/ppo/ray_trainer.py`."""


@rule("VL705", "unexpected-field", on=Launch, severity=ERROR, since="0.1", words=("+",))
def check(launch: Launch, ctx: Context) -> Iterator[Finding]:
    if not any(each.form in (Form.ADD, Form.FORCE) for each in launch.overrides):
        return
    view = view_of(launch)
    if view is None:
        return
    groups: dict[tuple[str, str], list[Override]] = {}
    for override in view.config.set_by.values():
        found = _field(view, override)
        if found is None or engines_with(view, ".".join(found)):
            continue
        if everywhere(launch, partial(_lacks_field, override=override)):
            groups.setdefault(found, []).append(override)
    for (section, name), overrides in groups.items():
        finding = _finding(ctx, view, overrides[0], section, name)
        for other in overrides[1:]:
            finding = finding.with_related(other.key_span, f"added too: {other.key}")
        yield finding


def _lacks_field(view: View, override: Override) -> bool:
    return _field(view, override) is not None


def _field(view: View, override: Override) -> tuple[str, str] | None:
    """The section and the name that an override adds to it against its data class."""
    key = override.key
    if override.form not in (Form.ADD, Form.FORCE) or is_open(key) or key in view.schema:
        return None
    section, name = _added(view, key)
    root = next((each for each in INSTANTIATED if section == each or section.startswith(each + ".")), None)
    if root is None or not in_versions(INSTANTIATED[root], "", view.version):
        return None
    if root == "critic" and not _has_critic(view):
        return None
    fields = fields_of(view, section)
    return (section, name) if fields and name not in fields else None


def fields_of(view: View, section: str) -> Collection[str]:
    """The fields of the data class that a section is made into; those of a checkout are read from its code. None when
    they are not known."""
    target = view.schema.target(section)
    if view.released or not target:
        return view.schema.fields(target)
    if view.checkout is None:
        return ()
    from verlint.verl import code

    return code.fields(view.checkout, target) or ()


def _added(view: View, key: str) -> tuple[str, str]:
    """The nearest section that the config has, and what is added to it."""
    names = key.split(".")
    for count in range(len(names) - 1, 0, -1):
        section = ".".join(names[:count])
        if section in view.schema:
            return section, names[count]
    return "", names[0]


def _has_critic(view: View) -> bool:
    return view.value("critic.enable") is True or view.value("algorithm.adv_estimator") == "gae"


def _finding(ctx: Context, view: View, override: Override, section: str, name: str) -> Finding:
    target = view.schema.target(section).rpartition(".")[2]
    message = (
        f"{target} of {label_of(view)} has no field {name}: Hydra adds it, "
        "and the workers stop with 'unexpected keyword argument'"
    )
    near = _near(view, override, section, name)
    history = view.schema.history(override.key).text
    help_ = "; ".join(each for each in (f"did you mean {near[0]}?" if near else "", history) if each)
    return report(ctx, override, message, near=", ".join(near), help=help_ or f"remove +{override.key}")


def _near(view: View, override: Override, section: str, name: str) -> list[str]:
    from difflib import get_close_matches

    near = [f"{section}.{each}" for each in get_close_matches(name, fields_of(view, section), 2, 0.75)]
    return near or [each for each in view.schema.near(override.key) if each.rpartition(".")[2] == name][:2]
