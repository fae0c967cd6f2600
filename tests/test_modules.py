"""The short way of importing our own modules gives what Python's own way gives."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ELSEWHERE = ("PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX")
START = "import sys\nfrom verlint.modules import find_quickly\nfind_quickly()\n"


def run(code: str, *options: str, path: tuple[Path, ...] = ()) -> str:
    """What a fresh Python prints."""
    folders = [*map(str, path), str(ROOT / "linter"), str(ROOT / "rules")]
    env = {name: value for name, value in os.environ.items() if name not in ELSEWHERE}
    env["PYTHONPATH"] = os.pathsep.join(folders)
    done = subprocess.run(
        [sys.executable, *options, "-c", code],
        env=env,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


@pytest.mark.parametrize("options", [(), ("-O",), ("-B",), ("-X", "pycache_prefix=elsewhere")], ids=" ".join)
def test_modules_are_as_python_makes_them(
    options: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shown = """
from verlint.languages.bash.parser import parse
from verlint.verl import code
import verlint.finding
for name in ("verlint", "verlint.languages.bash.parser", "verlint.verl.code", "verlint.finding", "verlint.value"):
    module = sys.modules[name]
    above, _, last = name.rpartition(".")
    assert not above or getattr(sys.modules[above], last) is module
    print(name, module.__package__, module.__file__, module.__cached__, module.__spec__.name, module.__spec__.origin,
          module.__spec__.has_location, module.__loader__.get_source(name)[:20], hasattr(module, "__path__"))
try:
    from verlint.languages import nothing
except ImportError as error:
    print(error)
try:
    from verlint.languages.nothing import more
except ModuleNotFoundError as error:
    print(error, error.name)
"""
    assert run(START + shown, *options) == run("import sys\n" + shown, *options)


def test_a_source_that_has_changed_is_read_again(tmp_path: Path) -> None:
    package = tmp_path / "verlint_rules" / "config"
    package.mkdir(parents=True)
    (tmp_path / "verlint_rules" / "__init__.py").touch()
    (package / "__init__.py").touch()
    module = package / "some.py"
    for text in ("first", "the second"):
        module.write_text(f"WHAT = {text!r}\n")
        for _ in range(2):  # compiled, and from what was compiled
            said = run(START + "from verlint_rules.config.some import WHAT\nprint(WHAT)", path=(tmp_path,))
            assert said.strip() == text
    (package / "__pycache__" / f"some.{sys.implementation.cache_tag}.pyc").write_bytes(b"no code")
    assert run(START + "from verlint_rules.config.some import WHAT\nprint(WHAT)", path=(tmp_path,)) == "the second\n"


def test_a_module_that_fails_is_not_kept(tmp_path: Path) -> None:
    (tmp_path / "verlint_rules").mkdir()
    (tmp_path / "verlint_rules" / "__init__.py").touch()
    (tmp_path / "verlint_rules" / "some.py").write_text("1 / 0\n")
    code = "try:\n    from verlint_rules.some import x\nexcept ZeroDivisionError:\n    print('verlint_rules.some' in sys.modules)"
    assert run(START + code, path=(tmp_path,)) == "False\n"


def test_paths_need_no_module_for_addresses_until_one_is_asked_for() -> None:
    code = """
print("urllib.parse" in sys.modules)
from pathlib import Path
print(Path("/a b").as_uri())
import urllib.parse
print(urllib.parse.quote("a b"))
"""
    assert run(START + code) == "False\nfile:///a%20b\na%20b\n"
