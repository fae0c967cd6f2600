"""A key in a config file of one's own must be one that VeRL has.

On the command line Hydra refuses a key that is not there. A config file that is built on VeRL's (`defaults:
[ppo_trainer, _self_]`) may add whatever it likes: `clip_ratio_hi: 0.28` is composed without a word, nobody reads it,
and the run clips at the default. A section that stands one level too deep, `custom_reward_function` below
`reward_model`, is lost as a whole. Since VeRL 0.6 sections such as `actor_rollout_ref.actor` are made into data
classes, and the workers stop with `unexpected keyword argument`.

Looked at are files that VeRL's own entry points, or programs that only start them, take as their config. Reported are
keys that the version does not have and that look like another key of it, are there in another version or in another
section, and keys against a data class. Silent for sections that take any key, for keys that a `${…}` of the configs
refers to, and for names that stand in Python code of the project or of the checkout.

Fix: write the key that is meant, in the section that VeRL reads it from.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache, partial

from verlint.experiment.launch import Launch
from verlint.experiment.project import Project
from verlint.finding import Finding
from verlint.languages.hydra.override import Override
from verlint.memo import by_identity
from verlint.rule import ERROR, WARNING, Context, rule
from verlint.verl.passthrough import is_handed_on, is_open
from verlint.verl.renames import rename_of
from verlint.verl.rows import in_versions
from verlint.verl.schema import Schema, leaves_of
from verlint_rules.config.reporting import label_of, report
from verlint_rules.config.view import View, everywhere, view_of
from verlint_rules.config.vl705_unexpected_field import INSTANTIATED

_ALIKE = 0.85


@rule(
    "VL734",
    "unread-config-key",
    on=Launch,
    severity=WARNING,
    since="0.1",
    words=(
        "--config-",
        "-cn",
        "-cp",
        "-cd",
        ".py ",
        "-m agent",
        "-m recipe",
        "-m src",
        "-m train",
        "-m main",
        "-m scripts",
    ),
)
def check(launch: Launch, ctx: Context) -> Iterator[Finding]:
    if not launch.of_file or launch.stands_alone:
        return
    view = view_of(launch)
    if view is None or not view.stock:
        return
    parts: dict[str, Override] = {}
    for override in launch.of_file:
        if _lacks(view, override.key) and not _is_used(override, launch, view, ctx.project):
            parts.setdefault(_missing(view, override.key), override)
    for part, override in parts.items():
        if everywhere(launch, partial(_lacks, key=override.key)):
            yield from _finding(ctx, view, part, override)


# ---- the config of VeRL


@lru_cache(maxsize=32)
def _stock(version: str, name: str) -> Schema | None:
    leaves = leaves_of(version, name)
    return None if leaves is None else Schema(version, name, leaves)


def _base(view: View) -> Schema | None:
    """VeRL's config that the file is built on, without the file."""
    return _stock(view.version, view.schema.name)


def _is_release(view: View) -> bool:
    """Whether the file is built on a released version, no checkout and no fork."""
    return view.checkout is None and view.schema.title.startswith(f"VeRL {view.version}")


def _lacks(view: View, key: str) -> bool:
    """Whether VeRL has no such key, and would have it in a section of its own."""
    base = _base(view)
    if base is None or not (_is_release(view) or view.checkout) or key in base or is_open(key) or is_handed_on(key):
        return False
    head, _, name = key.rpartition(".")
    if not head or name in ("_target_", "defaults") or name in base.fields(base.target(head)):
        return False
    part = _missing(view, key)
    section = part.rpartition(".")[0]
    if not section:
        return False  # a section of one's own
    return any(each.startswith(f"{section}.") for each in base.leaves)  # no list or text, and not filled by others


def _missing(view: View, key: str) -> str:
    """The first part of a key that VeRL's config does not have."""
    base, names = _base(view), key.split(".")
    heads = (".".join(names[:count]) for count in range(1, len(names)))
    return next((head for head in heads if base is not None and head not in base), key)


# ---- uses


def _is_used(override: Override, launch: Launch, view: View, project: Project) -> bool:
    """Whether a reference of a config takes the value up, or code may ask for it."""
    part = _missing(view, override.key)
    names = {part.rpartition(".")[2], override.key.rpartition(".")[2]}
    if any(_is_referred_to(name, launch) for name in names):
        return True
    from verlint.verl import code

    if any(code.mentions(project.root, name) for name in names):
        return True
    return view.checkout is not None and any(code.reads(view.checkout, name) for name in names)


@by_identity
def _references(launch: Launch) -> str:
    """All `${…}` of the configs and of the words."""
    sources = {id(each.key_span.source): each.key_span.source for each in launch.of_file if each.key_span is not None}
    texts = [source.text for source in sources.values()] + [each.word.shown for each in launch.overrides]
    return "\n".join(found for text in texts for found in re.findall(r"\$\{[^}\n]*\}?", text))


def _is_referred_to(name: str, launch: Launch) -> bool:
    return re.search(rf"\b{re.escape(name)}\b", _references(launch)) is not None


# ---- what is said


def _finding(ctx: Context, view: View, part: str, override: Override) -> Iterator[Finding]:
    base = _base(view)
    if base is None:
        return
    section, _, name = part.rpartition(".")
    root = next((each for each in INSTANTIATED if section == each or section.startswith(each + ".")), "")
    fields = base.fields(base.target(section)) if _is_release(view) else {}
    stops = bool(root and fields) and root != "critic" and in_versions(INSTANTIATED[root], "", view.version)
    near = _near(base, part, override.key)
    history = base.history(part).text
    renamed = rename_of(override.key, view.version)
    if not (stops or near or history or renamed):
        return
    what = "section" if part != override.key else "key"
    then = (
        f"the workers stop with 'unexpected keyword argument {name}'"
        if stops
        else f"Hydra takes it from a file, and nobody reads it: {_said(override)} has no effect"
    )
    hint = f"did you mean {near}?" if near else ""
    help_ = "; ".join(each for each in (hint, f"the {what} {history}" if history else "") if each)
    yield report(
        ctx,
        override,
        f"{label_of(view)} has no {what} {part}: {then}",
        near=near,
        help=help_ or "take it away, or write the key that is meant",
        severity=ERROR if stops else WARNING,
    )


def _said(override: Override) -> str:
    text = override.value_text.known or override.value_text.shown
    return text if len(text) < 40 else "it"


def _near(base: Schema, part: str, key: str) -> str:
    """The key that is meant: a neighbour of nearly the same name, or what stands in another section."""
    from difflib import SequenceMatcher

    from verlint.verl.slips import is_misplaced, is_misspelt

    section, _, name = part.rpartition(".")
    beside = {each[len(section) + 1 :].partition(".")[0] for each in base.leaves if each.startswith(f"{section}.")}
    ranked = sorted(((SequenceMatcher(None, name, each).ratio(), each) for each in beside), reverse=True)
    if ranked and ranked[0][0] >= _ALIKE and name[-1:] not in "0123456789":
        return f"{section}.{ranked[0][1]}"
    pieces = key.split(".")
    for count in range(1, len(pieces) - 1):
        if (rest := ".".join(pieces[count:])) in base:
            return rest
    if is_misspelt(base, key) or is_misplaced(base, key):
        return next(iter(base.near(key)), "")
    return ""
