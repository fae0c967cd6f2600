"""What can be seen of a checkout's code without importing it."""

from __future__ import annotations

from pathlib import Path

import pytest

from verlint.verl import code

FILES = {
    "recipe/turns/loop.py": "def turns(config):\n    return config.rollout.repeats\n",
    "verl/trainer/main_ppo.py": "import hydra\n\n\ndef run(config):\n    return migrate_rewards(config)\n",
    "verl/trainer/ppo/losses.py": '@register("my_loss")\ndef loss(config):\n    return config.clip\n',
    "verl/workers/config/actor.py": '''\
class Base(BaseConfig):
    """Options.

    Args:
        lr (float): How fast.
    """

    lr: float = 0.1
    unread: int = 3


class Actor(Base):
    clip: float = 0.2
    read_here: int = 1

    def check(self):
        assert self.read_here
        inner: int = 2


class Odd(elsewhere.Unknown):
    name: str = ""
''',
}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A small checkout."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_names(checkout: Path) -> None:
    assert code.names(checkout, "my_loss")
    assert not code.names(checkout, "loss")


@pytest.mark.parametrize(
    ("name", "read"),
    [("clip", True), ("read_here", True), ("repeats", True), ("unread", False), ("nothing", False)],
)
def test_reads(checkout: Path, name: str, read: bool) -> None:
    assert code.reads(checkout, name) is read


def test_has(checkout: Path) -> None:
    assert code.has(checkout, "verl/trainer/main_ppo.py", "migrate_rewards")
    assert not code.has(checkout, "verl/trainer/main_ppo.py", "migrate")
    assert not code.has(checkout, "verl/no_such_file.py", "hydra")


def test_fields(checkout: Path) -> None:
    found = code.fields(checkout, "verl.workers.config.Actor")
    assert found is not None
    assert {"lr", "unread", "clip", "read_here"} <= found
    assert "inner" not in found
    assert code.fields(checkout, "verl.workers.config.Odd") is None
    assert code.fields(checkout, "verl.workers.config.Missing") is None


def test_a_link_to_nothing_is_passed_by(checkout: Path) -> None:
    (checkout / "verl/gone.py").symlink_to("nowhere.py")
    assert code.names(checkout, "my_loss")
    assert not code.has(checkout, "verl/gone.py", "run")
