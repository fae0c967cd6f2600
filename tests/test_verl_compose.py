"""Composing configs: the same keys, values and refusals as real Hydra and OmegaConf."""

from __future__ import annotations

import os
import random
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import hydra_oracle as oracle
from verl_wheels import unpacked, wheels_folder
from verlint.files.tree import Tree
from verlint.languages.hydra.override import Override, parse_override
from verlint.source import Source
from verlint.value import literal
from verlint.verl.compose import ConfigFolders
from verlint.verl.config_yaml import ConfigError, read_config
from verlint.verl.interpolation import Resolver, Unknown, leaves
from verlint.verl.overriding import Applied

TREES = Path(__file__).parent / "verl_trees"
TRAINER = "verl/trainer/config"
LATER = "verl/experimental/later/config"
SETS = int(os.environ.get("VERLINT_HYDRA_SETS", "150"))
GROUP_SETS = 25
SEED = 20_250


def overrides(words: Sequence[str]) -> list[Override]:
    """The override words as they are parsed from a launcher."""
    return [found for word in words if (found := parse_override(literal(word))) is not None]


def folders(root: Path, folder: str = TRAINER) -> ConfigFolders:
    """The configs of a tree on disk."""
    return ConfigFolders(Tree(root), [folder])


def ours(configs: ConfigFolders, name: str, words: Sequence[str] = ()) -> Applied | None:
    """Our config, None when an override is refused or the config cannot be composed."""
    try:
        found = configs.apply(name, overrides(words))
    except ConfigError:
        return None
    return None if found.refusals else found


def theirs(root: Path, folder: str, name: str, words: Sequence[str] = ()) -> Any | None:
    """Hydra's config, None when it refuses."""
    try:
        return oracle.compose(root, root / folder, name, words)
    except oracle.REFUSED:
        return None


def plain(config: Any) -> str:
    """Leaves in a form that tells 1 from 1.0 and True."""
    return repr(sorted((key, repr(value)) for key, value in leaves(config).items()))


def assert_same(mine: Applied, real: Any) -> None:
    """The same keys with the same values, before references are resolved and after."""
    assert plain(mine.config) == plain(oracle.unresolved(real))
    known = mine.resolver.deep(mine.config, ())
    assert isinstance(known, dict)
    for key, value in leaves(known).items():
        if not isinstance(value, Unknown):
            value = None if value == "???" else value  # what OmegaConf gives for a mandatory value
            assert (key, repr(value)) == (key, repr(oracle.resolved_at(real, key)))
        elif value.broken:
            assert (key, oracle.resolved_at(real, key)) == (key, oracle.BROKEN)


# ---- the small trees

ENTRIES = [
    ("plain", TRAINER, "ppo_trainer"),
    ("grouped", TRAINER, "ppo_trainer"),
    ("grouped", TRAINER, "ppo_megatron_trainer"),
    ("grouped", LATER, "later_trainer"),
]


@pytest.mark.parametrize(("tree", "folder", "name"), ENTRIES)
def test_a_tree_composes_as_in_hydra(tree: str, folder: str, name: str) -> None:
    mine, real = ours(folders(TREES / tree, folder), name), theirs(TREES / tree, folder, name)
    assert mine is not None
    assert_same(mine, real)


CHOICES = """
model_engine=megatron
model_engine=nothing_of_it
model_engine=
model_engine=1
+model_engine=megatron
++model_engine=megatron
~model_engine
~model_engine=dp
~model_engine=megatron
actor@actor_rollout_ref.actor=megatron_actor
actor=dp_actor
actor@nowhere=dp_actor
data=other_data
data@data=other_data
data=null
data={seed:5}
~data
+data=other_data
+data@more.data=other_data
+data@more=[base_data,other_data]
data=[base_data,other_data]
data@later=other_data
optim=plain
+optim@actor_rollout_ref.optim=plain
+engine@_global_=fsdp
model_engine=megatron actor_rollout_ref.actor.megatron.tp=4
model_engine=megatron actor_rollout_ref.actor.fsdp_config.tp=4
actor_rollout_ref.actor.fsdp_config.tp=4
data=other_data data.extra.deep=2
data.extra.deep=2
hydra.run.dir=/tmp/out
model_engine=dp model_engine=megatron
+data=other_data data.seed=7
""".strip().splitlines()


@pytest.mark.parametrize("words", CHOICES)
def test_group_choices(words: str) -> None:
    root = TREES / "grouped"
    mine, real = ours(folders(root), "ppo_trainer", words.split()), theirs(root, TRAINER, "ppo_trainer", words.split())
    assert (mine is None) == (real is None)
    if mine is not None:
        assert_same(mine, real)


@pytest.mark.parametrize(("tree", "folder", "name"), ENTRIES)
def test_overrides_of_the_trees(tree: str, folder: str, name: str) -> None:
    check_overrides(TREES / tree, folder, name, 400)


def check_overrides(root: Path, folder: str, name: str, count: int) -> None:
    """The same verdict and the same values as Hydra on generated override sets."""
    configs = folders(root, folder)
    base = theirs(root, folder, name)
    keys = sorted(key for key in leaves(configs.compose(name)[0]) if key != "critic.cache")  # of the environment
    real_side = oracle.Oracle(base)
    draw = random.Random(SEED)
    accepted = 0
    for words in oracle.override_sets(keys, count, SEED):
        if any(configs.is_group(word.lstrip("+~").partition("=")[0]) for word in words):
            continue
        real, mine = real_side.apply(words), ours(configs, name, words)
        assert (words, mine is None) == (words, real is None)
        if mine is None:
            continue
        accepted += 1
        assert (words, plain(mine.config)) == (words, plain(oracle.unresolved(real)))
        for key in draw.sample(keys, min(20, len(keys))):
            found = resolved(mine, key)
            if "Unknown(" not in repr(found):
                assert (words, key, repr(found)) == (words, key, repr(oracle.resolved_at(real, key)))
    assert accepted > count / 5


def resolved(mine: Applied, key: str) -> object:
    """Our value at a key as the oracle gives it; `Unknown` where only the host knows it."""
    resolver = Resolver(mine.config)
    try:
        found = resolver.deep(resolver.select(key), tuple(key.split(".")))
    except Exception as error:
        return oracle.BROKEN if type(error).__name__ == "Broken" else error
    return oracle.BROKEN if isinstance(found, Unknown) and found.broken else found


# ---- parts


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ("a: 1\nb: {c: [x, 'y', \"z\"]}", {"a": 1, "b": {"c": ["x", "y", "z"]}}),
        ("a: yes\nb: 'yes'\nc: 1e-6\nd: 0o7\ne: 010\nf: 1_0\ng: ~", {
            "a": True, "b": "yes", "c": 1e-6, "d": "0o7", "e": 8, "f": 10, "g": None}),
        ("a: x # why\nb: 'x # y' # why\nc: x#y", {"a": "x", "b": "x # y", "c": "x#y"}),
        ("a:\n- 1\n- b: 2\nc: 3", {"a": [1, {"b": 2}], "c": 3}),
        ("a: |\n  text\nb: >-\n  long\n  text", {"a": "text\n", "b": "long text"}),
        ("a: &x {b: 1}\nc: *x", {"a": {"b": 1}, "c": {"b": 1}}),
        ("", {}),
        ("# nothing", {}),
    ],
)  # fmt: skip
def test_config_files(text: str, data: object) -> None:
    assert read_config(Source("a.yaml", text)).data == data


@pytest.mark.parametrize("text", ["a: 1\na: 2", "- a", "a: [1", "a:\n\t- b", "a: b: c"])
def test_files_that_are_no_config(text: str) -> None:
    with pytest.raises(ConfigError):
        read_config(Source("a.yaml", text))


def test_defaults_know_their_line() -> None:
    _, places = folders(TREES / "grouped").compose("ppo_trainer")
    shown = {
        key: str(places[key]).rpartition("config/")[2] for key in ("data.seed", "actor_rollout_ref.actor.ppo_epochs")
    }
    assert shown == {"data.seed": "data/base_data.yaml:1", "actor_rollout_ref.actor.ppo_epochs": "ppo_trainer.yaml:12"}


def test_unknown_values_pass_through() -> None:
    from verlint.value import Hole, Literal, Text

    word = Text((Literal("data.max_prompt_length="), Hole(("env", "N"), "N", "not set here")))
    found = folders(TREES / "plain").apply("ppo_trainer", [each for each in [parse_override(word)] if each])
    value = found.resolver.select("actor_rollout_ref.rollout.prompt_length")
    assert isinstance(value, Unknown)
    assert str(value) == "${N}"
    environment = found.resolver.select("critic.cache")
    assert isinstance(environment, Unknown)


REFUSALS = [
    ("data.train_batch=1", "unknown-key", "there is no data.train_batch"),
    ("data.seed.x=1", "unknown-key", "data.seed holds no keys"),
    ("+data.train_batch_size=1", "exists", "data.train_batch_size is already there, so it takes no +"),
    ("~data.nothing", "missing", "there is no data.nothing to delete"),
    ("~data.seed", "missing", "there is no data.seed to delete"),
    ("data.seed=1,2", "sweep", "several values without --multirun"),
    ("data.seed=a=b", "syntax", None),
    ("trainer.logger={a:1}", "type", "trainer.logger: a list and a mapping do not merge"),
    ("data={other:1}", "unknown-key", "there is no data.other"),
]


@pytest.mark.parametrize(("word", "kind", "message"), REFUSALS)
def test_what_a_refusal_says(word: str, kind: str, message: str | None) -> None:
    (refusal,) = folders(TREES / "plain").apply("ppo_trainer", overrides([word])).refusals
    assert refusal.kind == kind
    assert message is None or refusal.message == message


# ---- the wheels


@cache
def wheel(version: str, folder: Path) -> Path:
    return unpacked(version, folder)


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the wheels of this run lie."""
    return wheels_folder(tmp_path_factory)


WHEELS = ["0.4.1", "0.5.0", "0.7.1", "0.9.1"]


@pytest.mark.network
@pytest.mark.parametrize("version", WHEELS)
def test_wheels_compose_as_in_hydra(version: str, wheels: Path) -> None:
    root = wheel(version, wheels)
    base = root / TRAINER
    names = sorted(path.stem for path in base.glob("*.yaml") if not path.name.startswith("_"))
    calls: list[tuple[str, list[str]]] = [(name, []) for name in names]
    engines = base / "model_engine"
    calls += [("ppo_trainer", [f"model_engine={path.stem}"]) for path in sorted(engines.glob("*.yaml"))]
    for name, words in calls:
        mine = ours(folders(root), name, words)
        assert mine is not None
        assert_same(mine, theirs(root, TRAINER, name, words))


@pytest.mark.network
@pytest.mark.slow
@pytest.mark.parametrize("version", WHEELS)
def test_overrides_of_the_wheels(version: str, wheels: Path) -> None:
    check_overrides(wheel(version, wheels), TRAINER, "ppo_trainer", SETS)


@pytest.mark.network
@pytest.mark.slow
@pytest.mark.parametrize("version", WHEELS[1:])
def test_group_choices_of_the_wheels(version: str, wheels: Path) -> None:
    root = wheel(version, wheels)
    configs = folders(root)
    keys = sorted(leaves(configs.compose("ppo_trainer")[0]))
    draw = random.Random(SEED)
    groups = sorted(path.name for path in (root / TRAINER).iterdir() if path.is_dir() and list(path.glob("*.yaml")))
    packages = {"actor": "actor_rollout_ref.actor", "ref": "actor_rollout_ref.ref", "model": "critic.model"}
    for words in oracle.override_sets(keys, GROUP_SETS, SEED):
        group = draw.choice([*groups, "model_engine"])
        key = f"{group}@{packages[group]}" if group in packages and draw.random() < 0.8 else group
        option = draw.choice([*configs.options(group), "not_there"])
        called = [f"{draw.choice(('', '', '', '+', '~'))}{key}={option}", *words]
        mine, real = ours(configs, "ppo_trainer", called), theirs(root, TRAINER, "ppo_trainer", called)
        assert (called, mine is None) == (called, real is None)
        if mine is not None:
            assert (called, plain(mine.config)) == (called, plain(oracle.unresolved(real)))
