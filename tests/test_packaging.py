"""What is installed: both packages and their data, no tests, and nothing that the user's own folders could shadow."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import verlint
from checkout import ROOT, commit_all, copy_checkout


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The release of a repository that holds this checkout as it stands, built with the hatchling that is installed."""
    folder = tmp_path_factory.mktemp("release")
    repository = commit_all(copy_checkout(folder / "verlint"))
    out = folder / "out"
    command = [sys.executable, "scripts/release.py", out, "--no-bill"]
    done = subprocess.run(command, cwd=repository, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return out


@pytest.fixture(scope="module")
def wheel(release: Path) -> Path:
    """The wheel of the release."""
    (built,) = release.glob("*.whl")
    return built


@pytest.mark.slow
def test_a_release_is_built_twice_and_the_same(release: Path) -> None:
    names = [f"verlint-{verlint.__version__}-py3-none-any.whl", f"verlint-{verlint.__version__}.tar.gz"]
    assert sorted(path.name for path in release.iterdir()) == ["SHA256SUMS", *names]
    sums = {name: hashlib.sha256((release / name).read_bytes()).hexdigest() for name in names}
    assert (release / "SHA256SUMS").read_text() == "".join(f"{sums[name]}  {name}\n" for name in names)


@pytest.mark.slow
def test_the_bill_of_materials_names_what_is_installed(release: Path, wheel: Path, tmp_path: Path) -> None:
    pytest.importorskip("cyclonedx_py", reason="needs the extra `release`")
    target = tmp_path / "bill.cdx.json"
    code = (
        "import sys; sys.path.insert(0, 'scripts'); from pathlib import Path; from release import write_bill; "
        f"write_bill(Path({str(wheel)!r}), Path({str(target)!r}), '1000000000')"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True)
    named = {component["name"].lower() for component in json.loads(target.read_text())["components"]}
    assert {"verlint", "libcst", "networkx", "ruamel.yaml", "tabulate"} <= named


def names(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as archive:
        return archive.namelist()


@pytest.mark.slow
def test_the_wheel_holds_both_packages_and_nothing_else(wheel: Path) -> None:
    assert wheel.name == f"verlint-{verlint.__version__}-py3-none-any.whl"
    found = names(wheel)
    top = {name.split("/")[0] for name in found}
    folders = {f"verlint-{verlint.__version__}.{kind}" for kind in ("data", "dist-info")}
    assert top == {"verlint", "verlint_rules", *folders}
    assert [name for name in found if ".data/" in name] == [
        f"verlint-{verlint.__version__}.data/data/share/man/man1/verlint.1"
    ]
    assert {"verlint/py.typed", "verlint_rules/py.typed"} <= set(found)
    assert [
        name for name in found if name.lower().split("/")[-1].startswith(("test_", "conftest")) or name.endswith(".pyc")
    ] == []


@pytest.mark.slow
def test_the_wheel_holds_every_file_of_the_packages(wheel: Path) -> None:
    found = set(names(wheel))
    for folder in (ROOT / "linter", ROOT / "rules"):
        files = [path.relative_to(folder) for path in folder.rglob("*") if path.is_file()]
        own = [path.as_posix() for path in files if "__pycache__" not in path.parts]
        assert [name for name in own if name not in found] == []


@pytest.mark.slow
def test_every_folder_of_the_packages_is_a_package() -> None:
    folders = {
        path.parent for folder in ("linter/verlint", "rules/verlint_rules") for path in (ROOT / folder).rglob("*.py")
    }
    assert sorted(str(folder) for folder in folders if not (folder / "__init__.py").is_file()) == []


@pytest.mark.slow
def test_folders_of_the_user_with_our_names_do_no_harm(wheel: Path, tmp_path: Path) -> None:
    installed, project = tmp_path / "installed", tmp_path / "project"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(installed)
    for name in ("linter", "rules"):
        (project / name).mkdir(parents=True)
        (project / name / "__init__.py").write_text("raise RuntimeError('the wrong package')\n")
    (project / "run.sh").write_text("python3 -m verl.trainer.main_ppo\n")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([".", str(installed)])}

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "verlint", *arguments]
        return subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)

    done = run("--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"verlint {verlint.__version__}\n", "")
    assert "run.sh: launcher" in run("check", "--show-files", ".").stdout
    assert "VL008" in run("rules").stdout


def test_the_import_layers_hold() -> None:
    paths = os.pathsep.join(str(ROOT / folder) for folder in ("linter", "rules"))
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as c; c()", "--no-cache"]
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_the_code_is_typed_and_clean() -> None:
    for command in (["mypy"], ["ruff", "check", "."], ["ruff", "format", "--check", "linter", "rules"]):
        done = subprocess.run([sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
