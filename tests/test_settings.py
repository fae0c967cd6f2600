"""Settings files: which one holds, what may stand in it, and what is said when something else does."""

from __future__ import annotations

from pathlib import Path

import pytest

from verlint.finding import Severity
from verlint.pathglob import matches
from verlint.settings import Settings, SettingsError, read_settings, read_settings_file


def put(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def test_without_a_file_the_defaults_hold(tmp_path: Path) -> None:
    settings = read_settings(tmp_path)
    assert settings == Settings(root=tmp_path)
    assert settings.fail_on is Severity.WARNING


def test_every_key_is_read(tmp_path: Path) -> None:
    path = put(
        tmp_path / "verlint.toml",
        """
        select = ["VL1", "split-batch"]
        extend-select = ["VL209"]
        ignore = ["VL104"]
        exclude = ["third_party", "runs/**/*.sh"]
        fail-on = "error"
        strict = true
        ready = true
        verl = "0.7.1"
        model-config = "models/policy"
        output-format = ["concise", "json:out.json"]
        show-files = true
        [severity]
        VL101 = "info"
        [per-path-ignores]
        "tests/**" = ["VL101", "VL2"]
        [launchers."scripts/my.sh"]
        family = "opo"
        [rules.VL101]
        allow = ["/mnt"]
        """,
    )
    assert read_settings(tmp_path / "deep" / "down") == Settings(
        root=tmp_path,
        path=path,
        select=("VL1", "split-batch"),
        extend_select=("VL209",),
        ignore=("VL104",),
        exclude=("third_party", "runs/**/*.sh"),
        severity={"VL101": Severity.INFO},
        fail_on=Severity.ERROR,
        strict=True,
        ready=True,
        verl="0.7.1",
        model_config=str(tmp_path / "models" / "policy"),
        per_path_ignores={"tests/**": ("VL101", "VL2")},
        launchers={"scripts/my.sh": {"family": "opo"}},
        rules={"VL101": {"allow": ["/mnt"]}},
        output_format=("concise", "json:out.json"),
        show_files=True,
    )


@pytest.mark.parametrize(
    ("files", "start", "winner"),
    [
        ([".verlint.toml", "verlint.toml", "pyproject.toml"], ".", ".verlint.toml"),
        (["verlint.toml", "pyproject.toml"], ".", "verlint.toml"),
        (["pyproject.toml"], "a/b", "pyproject.toml"),
        ([".verlint.toml", "a/pyproject.toml"], "a/b", "a/pyproject.toml"),
        (["verlint.toml", "a/verlint.toml"], "c", "verlint.toml"),
    ],
)
def test_the_nearest_file_wins_and_then_its_name(tmp_path: Path, files: list[str], start: str, winner: str) -> None:
    for name in files:
        put(
            tmp_path / name, "[tool.verlint]\nstrict = true\n" if name.endswith("pyproject.toml") else "strict = true\n"
        )
    assert read_settings(tmp_path / start).path == tmp_path / winner


def test_a_pyproject_without_our_section_is_passed_over(tmp_path: Path) -> None:
    put(tmp_path / "verlint.toml", "strict = true\n")
    put(tmp_path / "a" / "pyproject.toml", "[project]\nname = 'x'\ndependencies = ['verlint']\n")
    put(tmp_path / "b" / "pyproject.toml", "not toml at all")
    assert read_settings(tmp_path / "a").path == tmp_path / "verlint.toml"
    assert read_settings(tmp_path / "b").path == tmp_path / "verlint.toml"


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ("selct = []", ["unknown key `selct` (did you mean `select`?)"]),
        ("fail_on = 'error'", ["unknown key `fail_on` (did you mean `fail-on`?)"]),
        ("banana = 1", ["unknown key `banana`"]),
        ("select = 'VL1'", ["`select` must be a list of strings"]),
        ("strict = 'yes'", ["`strict` must be true or false"]),
        ("verl = 0.7", ["`verl` must be a string"]),
        ("output-format = 3", ["`output-format` must be a string or a list of strings"]),
        ("fail-on = 'warn'", ["`fail-on` must be one of error, warning, info, never (did you mean `warning`?)"]),
        (
            "[severity]\nVL1 = 'eror'",
            ["`severity` ['VL1'] must be one of info, warning, error (did you mean `error`?)"],
        ),
        (
            "[severity]\nVL1 = 'off'",
            [
                "`severity` ['VL1'] must be one of info, warning, error; `ignore` and `per-path-ignores` switch rules off"
            ],
        ),
        ("[per-path-ignores]\nx = 'VL1'", ["`per-path-ignores` ['x'] must be a list of strings"]),
        ("launchers = ['a.sh']", ["`launchers` must be a table"]),
        ("[rules]\nVL101 = 1", ["`rules` ['VL101'] must be a table"]),
        ("strict = 1\nverl = 2", ["`strict` must be true or false", "`verl` must be a string"]),
    ],
)
def test_wrong_keys_and_types_are_all_told_with_the_file(tmp_path: Path, text: str, problems: list[str]) -> None:
    path = put(tmp_path / "verlint.toml", text)
    with pytest.raises(SettingsError) as caught:
        read_settings(tmp_path)
    first = 2 if text.startswith("[") else 1
    lines = [f"{path}:{line}: {problem}" for line, problem in enumerate(problems, first)]
    assert str(caught.value) == "\n".join(lines)


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("verlint.toml", b"select = [", "is not valid TOML: "),
        ("verlint.toml", b"a = '\xff'", "is not UTF-8 (byte 5)"),
        ("pyproject.toml", b"[project]\nname = 'x'\n", "has no [tool.verlint] section"),
        ("pyproject.toml", b"[tool]\nverlint = 3\n", "[tool.verlint] must be a table"),
    ],
)
def test_a_file_that_cannot_be_used_is_an_error(tmp_path: Path, name: str, content: bytes, problem: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(SettingsError) as caught:
        read_settings_file(path)
    assert str(caught.value).startswith(f"{path}: {problem}")


def test_a_missing_settings_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="cannot be read: No such file"):
        read_settings_file(tmp_path / "none.toml")


def test_a_checkout_is_relative_to_the_settings_file(tmp_path: Path) -> None:
    put(tmp_path / "verlint.toml", "verl = '../verl'\n")
    assert Path(read_settings(tmp_path).verl) == tmp_path / ".." / "verl"


def test_patterns_hold_from_the_settings_folder(tmp_path: Path) -> None:
    put(tmp_path / "verlint.toml", "exclude = ['a/*.sh']\n[per-path-ignores]\n'tests' = ['VL1']\n'*.sh' = ['VL2']\n")
    settings = read_settings(tmp_path)
    assert settings.excluded_by(tmp_path / "a" / "x.sh") == "a/*.sh"
    assert settings.excluded_by(tmp_path / "b" / "a" / "x.sh") is None
    assert settings.ignored_at(tmp_path / "tests" / "deep" / "x.sh") == ("VL1", "VL2")
    assert settings.ignored_at(tmp_path / "x.py") == ()


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("build", "build", True),
        ("build", "a/build/x.sh", True),
        ("build", "a/rebuild/x.sh", False),
        ("build/", "a/build/x.sh", True),
        ("/build", "build/x.sh", True),
        ("/build", "a/build/x.sh", False),
        ("./build", "a/build", True),
        ("*.sh", "a/b.sh", True),
        ("*.sh", "a/b.shx", False),
        ("a/*.sh", "a/b/c.sh", False),
        ("a/**/c.sh", "a/c.sh", True),
        ("a/**/c.sh", "a/b/b/c.sh", True),
        ("a/**", "a/b/c.sh", True),
        ("x?.sh", "x1.sh", True),
        ("x[0-3].sh", "x2.sh", True),
        ("x[!0-3].sh", "x2.sh", False),
        ("a.c", "abc", False),
        ("[", "[", True),
        ("*.sh", "../x.sh", False),
        ("*.sh", "/abs/x.sh", False),
    ],
)
def test_path_patterns(pattern: str, path: str, expected: bool) -> None:
    assert matches(pattern, path) is expected
