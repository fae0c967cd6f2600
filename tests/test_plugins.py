"""Rule packs of others: what works with their rules, and that nothing of what is checked is ever taken for one."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Callable, Iterator
from pathlib import Path

import jsonschema
import pytest

import verlint
from checkout import ROOT
from verlint import docs, header, packs
from verlint.cli.main import main

TEMPLATE = ROOT / "docs" / "rule-pack"
ENTRY = "[verlint.rules]\n{0} = {0}\n"
PLUGINS = 'plugins = ["{}"]\n'.format
LAUNCHER = "python3 -m verl.trainer.main_ppo data.train_batch_size=64 trainer.project_name=sandbox\n"
RULE = '''\
"""It is odd."""
from verlint.experiment.launch import Launch
from verlint.rule import WARNING, rule


@rule("{code}", "{slug}", on=Launch, severity=WARNING)
def check(launch, ctx):
    yield ctx.fail(launch.head, "it is odd")
'''


class Site:
    """A site-packages folder of its own, beside the checked folder, which is the current one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def install(self, name: str, files: dict[str, str], *, entry_points: str | None = None) -> Path:
        """Write a package with its metadata, as an installer would; returns its folder."""
        package = self.folder / name
        info = self.folder / f"{name}-1.0.dist-info"
        for folder in (package, info):
            folder.mkdir(parents=True)
        (info / "entry_points.txt").write_text(ENTRY.format(name) if entry_points is None else entry_points)
        for path, text in {"__init__.py": '"""A pack."""\n', **files}.items():
            (package / path).parent.mkdir(exist_ok=True)
            (package / path).write_text(text)
        return package

    def install_template(self) -> Path:
        source = TEMPLATE / "src" / "house_rules"
        return self.install("house_rules", {each.name: each.read_text() for each in source.glob("*.py")})


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    folder = tmp_path / "site-packages"
    project = tmp_path / "project"
    for each in (folder, project):
        each.mkdir()
    monkeypatch.setattr(packs, "site_folders", lambda: [os.path.realpath(folder)])
    monkeypatch.chdir(project)
    present = set(sys.modules)
    packs._headers_of.cache_clear()
    yield Site(folder)
    packs._headers_of.cache_clear()
    header.use(())
    for name in set(sys.modules) - present:
        if name.partition(".")[0] not in ("verlint", "verlint_rules"):
            del sys.modules[name]


@pytest.fixture
def house(site: Site) -> Site:
    """The template is installed, and the checked folder chooses it."""
    site.install_template()
    Path("verlint.toml").write_text(PLUGINS("house_rules"))
    Path("train.sh").write_text(LAUNCHER)
    return site


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What a call prints."""
    main(arguments)
    return capsys.readouterr().out


def concise(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    """The findings of a check about rules of the pack and about suppressions, a line each."""
    out = said(capsys, "check", "--select=HR,VL008", "--output-format=concise", *arguments, "train.sh")
    return [line for line in out.splitlines() if line.startswith("train.sh")]


FOUND = "train.sh:1:80: HR101 the project sandbox is not one of ours (trainer.project_name = sandbox)"


# Everything works with the rules of a pack ---------------------------------------------------------------------------


def test_its_rules_run_beside_our_own(house: Site, capsys: pytest.CaptureFixture[str]) -> None:
    Path("train.sh").write_text(LAUNCHER + "# verlint: ignore[VL101] no reason\n")
    assert concise(capsys) == [FOUND, *(line for line in concise(capsys, "--ignore=HR") if "VL008" in line)]
    assert "HR101" in said(capsys, "check", "--output-format=concise", "train.sh")


@pytest.mark.parametrize("name", ["HR", "HR1", "HR101", "hr101", "foreign-project"])
def test_its_rules_are_named_as_ours_are(name: str, house: Site, capsys: pytest.CaptureFixture[str]) -> None:
    assert FOUND in said(capsys, "check", f"--select={name}", "--output-format=concise", ".")
    assert "HR101" not in said(capsys, "check", f"--ignore={name}", "--output-format=concise", ".")
    Path("train.sh").write_text(f"# verlint: ignore[{name}] a test\n{LAUNCHER}")
    assert concise(capsys) == []
    Path("train.sh").write_text(f"# verlint: ignore[{name}] a test\n{LAUNCHER.replace('sandbox', 'alignment')}")
    assert [line.split()[1] for line in concise(capsys)] == ["VL008[*]"]


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ('[severity]\nHR = "error"\nVL = "info"\n', ["HR101 error"]),
        ('[severity]\nHR101 = "info"\nHR = "error"\n', ["HR101 info"]),
        ('[rules.HR101]\nprojects = ["sandbox"]\n', []),
        ('[rules.foreign-project]\nprojects = ["other"]\n', ["HR101 warning"]),
        ('[per-path-ignores]\n"*.sh" = ["HR1"]\n', []),
    ],
    ids=["severity", "narrowest severity", "option", "option that leaves it", "per path"],
)
def test_the_settings_of_rules(
    settings: str, expected: list[str], house: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("verlint.toml").write_text(PLUGINS("house_rules") + settings)
    found = json.loads(said(capsys, "check", "--select=HR", "--output-format=json", "train.sh"))["findings"]
    assert [f"{each['code']} {each['severity']}" for each in found] == expected


def test_wrong_options_are_told(house: Site, capsys: pytest.CaptureFixture[str]) -> None:
    Path("verlint.toml").write_text(PLUGINS("house_rules") + "[rules.HR101]\nproject = []\n")
    assert main(["check", "train.sh"]) == 2
    assert "has no option `project` (did you mean `projects`?)" in capsys.readouterr().err


def test_every_format_tells_them(house: Site, capsys: pytest.CaptureFixture[str]) -> None:
    for name in verlint.FORMATS:
        assert "HR101" in said(capsys, "check", "--select=HR", f"--output-format={name}", "train.sh"), name
    for name, schema in (("json", "verlint-json-v1"), ("sarif", "sarif-2.1.0"), ("gitlab", "gitlab-code-quality")):
        document = json.loads(said(capsys, "check", "--select=HR", f"--output-format={name}", "train.sh"))
        jsonschema.validate(document, json.loads((ROOT / "tests" / "schemas" / f"{schema}.schema.json").read_text()))
    sarif = json.loads(said(capsys, "check", "--select=HR", "--output-format=sarif", "train.sh"))
    (rule,) = sarif["runs"][0]["tool"]["driver"]["rules"]
    assert rule["shortDescription"] == {"text": "A run is logged to a project that is not one of ours"}
    assert rule["properties"] == {
        "tags": ["pack house_rules"],
        "precision": "high",
        "problem.severity": "warning",
    }


def test_statistics_baseline_and_comments(house: Site, capsys: pytest.CaptureFixture[str]) -> None:
    assert "HR101   foreign-project" in said(capsys, "check", "--select=HR", "--statistics", "train.sh")
    main(["check", "--select=HR", "--write-baseline", "train.sh"])
    assert concise(capsys, "--baseline=verlint-baseline.json") == []
    Path("train.sh").write_text(LAUNCHER.replace("sandbox", "alignment"))
    main(["check", "--select=HR", "--baseline=verlint-baseline.json", "train.sh"])
    assert "1 entry of the baseline matches nothing any more" in capsys.readouterr().err
    Path("train.sh").write_text(LAUNCHER)
    main(["check", "--select=HR", "--add-ignore", "a trial", "train.sh"])
    assert Path("train.sh").read_text() == f"# verlint: ignore[HR101] a trial\n{LAUNCHER}"


def test_the_lists_and_pages_know_them(house: Site, capsys: pytest.CaptureFixture[str]) -> None:
    assert said(capsys, "rule", "HR101").startswith("# HR101 foreign-project\n")
    assert [each["theme"] for each in json.loads(said(capsys, "rules", "--select=HR", "--format=json"))] == [
        "pack house_rules"
    ]
    assert "VL101" in said(capsys, "rules")
    assert main(["rule", "HR102"]) == 2
    assert "did you mean" not in capsys.readouterr().err


def test_pages_are_written_into_the_checkout_of_a_pack(
    house: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    here = shutil.copytree(TEMPLATE, tmp_path / "house-rules")
    assert docs.main(["--pack", "house_rules", "--root", str(here)]) == 0
    assert capsys.readouterr().out == "wrote 3 files under docs/rules and src/house_rules/pages\n"
    page = (here / "src/house_rules/pages/HR101.md").read_text()
    assert "`train.sh`" in page
    assert "HR101 warning: the project sandbox is not one of ours" in page
    assert "## Pack house_rules" in (here / "docs/rules/index.md").read_text()
    assert docs.main(["--pack", "house_rules", "--root", str(here), "--check"]) == 0
    assert docs.main(["--pack", "other_rules", "--root", str(here)]) == 2


def test_as_a_library(house: Site) -> None:
    assert [finding.code for finding in verlint.check("train.sh", select=["HR"]).findings] == ["HR101"]
    with pytest.raises(verlint.CheckError, match="rules of a pack need its name in `plugins`"):
        verlint.check("train.sh", select=["HR101"], isolated=True)
    Path("verlint.toml").write_text(PLUGINS("others"))
    with pytest.raises(verlint.CheckError, match="no rule pack `others` is installed"):
        verlint.check("train.sh")


def test_a_pack_is_not_in_use_for_the_next_call(house: Site, capsys: pytest.CaptureFixture[str]) -> None:
    assert "HR101" in said(capsys, "check", "--output-format=concise", "train.sh")
    assert "HR101" not in said(capsys, "check", "--isolated", "--output-format=concise", "train.sh")
    assert "HR101" in said(capsys, "check", "--output-format=concise", "train.sh")


def test_a_rule_whose_words_do_not_occur_is_not_imported(house: Site, capsys: pytest.CaptureFixture[str]) -> None:
    Path("train.sh").write_text(LAUNCHER.replace("project_name", "experiment_name"))
    assert concise(capsys) == []
    assert "house_rules" in sys.modules
    assert "house_rules.hr101_foreign_project" not in sys.modules
    with Path("train.sh").open("a") as launcher:
        launcher.write("# project_name: of whom it is\n")  # a rule of a pack may look at comments
    assert concise(capsys) == []
    assert "house_rules.hr101_foreign_project" in sys.modules


def test_rules_in_folders_of_a_pack(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    odd = RULE.format(code="HR205", slug="odd-thing")
    site.install("house_rules", {"shell/__init__.py": "", "shell/hr205_odd_thing.py": odd})
    Path("verlint.toml").write_text(PLUGINS("house_rules"))
    Path("train.sh").write_text(LAUNCHER)
    assert concise(capsys) == ["train.sh:1:12: HR205 it is odd"]


# What is no installed pack is refused ---------------------------------------------------------------------------------

MARK = "open('was-run', 'w').close()\n"


def refused(capsys: pytest.CaptureFixture[str]) -> list[str]:
    """What a check says that is refused, a line each without the settings file; nothing of the project was run."""
    assert main(["check", "."]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert not Path("was-run").exists()
    place = f"{Path.cwd() / 'verlint.toml'}:1: `plugins`: "
    return [line.removeprefix("verlint: error: ").removeprefix(place) for line in err.splitlines()]


@pytest.mark.parametrize("way", ["working directory", "PYTHONPATH", "with metadata", "as a module"])
def test_a_package_of_the_project_is_no_pack(
    way: str, site: Site, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Site(Path.cwd()).install("house_rules", {"__init__.py": MARK, "hr101_odd.py": MARK}, entry_points="")
    if way == "PYTHONPATH":
        monkeypatch.syspath_prepend(Path.cwd())
    if way == "with metadata":
        monkeypatch.syspath_prepend(Path.cwd())
        Path("house_rules-1.0.dist-info/entry_points.txt").write_text(ENTRY.format("house_rules"))
    if way == "as a module":
        shutil.rmtree("house_rules")
        Path("house_rules.py").write_text(MARK)
        monkeypatch.syspath_prepend(Path.cwd())
    Path("verlint.toml").write_text(PLUGINS("house_rules"))
    assert refused(capsys) == [
        "no rule pack `house_rules` is installed beside verlint (none is); only site-packages is looked at"
    ]


@pytest.mark.parametrize("path", [".", ""], ids=["absolute", "empty"])
def test_a_package_of_the_project_does_not_hide_the_pack(
    path: str, house: Site, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Site(Path.cwd()).install("house_rules", {"__init__.py": MARK, "hr101_foreign_project.py": MARK})
    monkeypatch.setattr(sys, "path", [os.path.abspath(path) if path else "", *sys.path])
    assert concise(capsys) == [FOUND]
    assert not Path("was-run").exists()


@pytest.mark.parametrize("name", ["json", "verlint", "os.path", "../house_rules", "", "house rules"])
def test_what_python_could_import_is_no_pack(name: str, site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    Path("verlint.toml").write_text(PLUGINS(name))
    assert refused(capsys) == [
        f"no rule pack `{name}` is installed beside verlint (none is); only site-packages is looked at"
    ]


def test_a_package_without_the_entry_point(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    site.install("tools", {"__init__.py": MARK}, entry_points="[console_scripts]\ntools = tools:main\n")
    Path("verlint.toml").write_text(PLUGINS("tools"))
    assert refused(capsys) == ["`tools` is installed, but is no rule pack: it has no entry point `verlint.rules`"]


def test_a_misspelt_pack(house: Site, capsys: pytest.CaptureFixture[str]) -> None:
    Path("verlint.toml").write_text('plugins = ["house_rule", "quite_other"]\n')
    assert refused(capsys) == [
        "no rule pack `house_rule` is installed (did you mean `house_rules`?)",
        (
            "no rule pack `quite_other` is installed beside verlint (installed: house_rules); "
            "only site-packages is looked at"
        ),
    ]


def test_an_editable_install(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    package = site.install("house_rules", {})
    shutil.rmtree(package)
    (site.folder / "house_rules.pth").write_text(f"{Path.cwd()}\n")
    Site(Path.cwd()).install("house_rules", {"__init__.py": MARK})
    Path("verlint.toml").write_text(PLUGINS("house_rules"))
    assert refused(capsys) == [
        (
            f"rule pack `house_rules`: there is no package house_rules in {site.folder.resolve()}; an editable install is "
            "not taken, as its files may be what is checked: install it with `pip install FOLDER`"
        )
    ]


def test_a_link_in_site_packages(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    package = site.install("house_rules", {"__init__.py": MARK})
    shutil.move(package, "house_rules")
    package.symlink_to(Path("house_rules").absolute())
    Path("verlint.toml").write_text(PLUGINS("house_rules"))
    assert refused(capsys) == [
        (
            f"rule pack `house_rules`: {package.parent.resolve() / 'house_rules'} is a link out of site-packages: "
            "install it with `pip install FOLDER`"
        )
    ]


def declared(code: str, slug: str = "odd-thing", extra: str = "") -> dict[str, str]:
    """A module that declares a rule, and is called as it."""
    text = RULE.format(code=code, slug=slug).replace("severity=WARNING", f"severity=WARNING{extra}")
    return {f"{code.lower()}_{slug.replace('-', '_')}.py": text}


WRONG: dict[str, tuple[dict[str, str], list[str]]] = {
    "nothing in it": ({}, ["it holds no rules: modules with names like `hr101_what_is_wrong.py`"]),
    "no declaration": (
        {"hr101_odd.py": "def check(): ...\n"},
        ['hr101_odd.py has no `@rule("VLnnn", "slug", on=…)`'],
    ),
    "our letters": (declared("VL999"), ["codes with VL could not be told from those of verlint itself"]),
    "letters that begin with ours": (
        declared("VLX101"),
        ["codes with VLX could not be told from those of verlint itself"],
    ),
    "a reserved word": (declared("ALL101"), ["codes with ALL could not be told from those of verlint itself"]),
    "two letters": (
        {**declared("HR101"), **declared("XY101", "other-thing")},
        ["odd_rules.xy101_other_thing: all codes of a pack begin with the same letters, these with HR"],
    ),
    "another name than its module": (
        {"hr101_even.py": RULE.format(code="HR101", slug="odd-thing")},
        ["odd_rules.hr101_even: HR101 odd-thing belongs into a module of that name"],
    ),
    "a name of ours": (
        declared("HR101", "missing-checkpoint"),
        ["HR101: the name missing-checkpoint is that of VL203 (verlint_rules.artifacts.vl203_missing_checkpoint)"],
    ),
    "a name twice": (
        {**declared("HR101"), **declared("HR102", extra=', aliases=("HR101",)')},
        ["HR102: the name odd-thing is that of HR101 (odd_rules.hr101_odd_thing)",
         "HR102: the name HR101 is that of HR101 (odd_rules.hr101_odd_thing)"],
    ),
    "words with capitals": (
        declared("HR101", extra=', words=("Trainer",)'),
        ["odd_rules.hr101_odd_thing: `words` are in lower case"],
    ),
    "a package that fails": (
        {"__init__.py": "import no_such_module\n", **declared("HR101")},
        ["odd_rules cannot be imported: ModuleNotFoundError: No module named 'no_such_module'"],
    ),
    "another entry point": ({}, ['its entry point is not `odd_rules = "odd_rules"`: a pack is called as its package']),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_packs_that_cannot_be_used(case: str, site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    files, expected = WRONG[case]
    entry = "[verlint.rules]\nodd_rules = odd_rules.inside\n" if case == "another entry point" else None
    package = site.install("odd_rules", files, entry_points=entry)
    Path("verlint.toml").write_text(PLUGINS("odd_rules"))
    place = f"{package.resolve()}{os.sep}"
    assert [line.replace(place, "") for line in refused(capsys)] == [
        f"rule pack `odd_rules`: {text}" for text in expected
    ]


def test_packs_that_clash_with_each_other(house: Site, capsys: pytest.CaptureFixture[str]) -> None:
    house.install("more_rules", declared("HRX101", "foreign-project"))
    Path("verlint.toml").write_text('plugins = ["house_rules", "more_rules"]\n')
    assert refused(capsys) == [
        "rule pack `more_rules`: codes with HRX could not be told from those of the pack with HR",
        "rule pack `more_rules`: HRX101: the name foreign-project is that of HR101 (house_rules.hr101_foreign_project)",
    ]


def test_a_package_of_that_name_is_loaded_already(
    house: Site, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "house_rules", type(sys)("house_rules"))
    assert refused(capsys) == ["rule pack `house_rules`: another house_rules is loaded, from elsewhere"]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda text: "import no_such_module\n" + text, "cannot be imported: ModuleNotFoundError: No module named"),
        (lambda text: text.replace("on=Launch", "on=Launches"), "cannot be imported: NameError: name 'Launches'"),
        (lambda text: text.replace("on=Launch", "on=(Launch)"), "in a way that cannot be read from its file"),
        (lambda text: "raise SystemExit(0)\n" + text, "cannot be imported: SystemExit: 0"),
    ],
    ids=["an import that fails", "an unknown subject", "a declaration in other words", "an exit"],
)
def test_a_rule_that_cannot_be_loaded(
    change: Callable[[str], str], expected: str, site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {name: change(text) for name, text in declared("HR101").items()}
    site.install("house_rules", files)
    Path("verlint.toml").write_text(PLUGINS("house_rules"))
    Path("train.sh").write_text(LAUNCHER)
    assert main(["check", "train.sh"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("verlint: error: house_rules.hr101_odd_thing ")
    assert expected in err
    with pytest.raises(verlint.CheckError, match=r"house_rules\.hr101_odd_thing"):
        verlint.check("train.sh")


def test_without_usable_settings_our_own_rules_are_explained(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    Path("verlint.toml").write_text(PLUGINS("others"))
    assert main(["rule", "VL101"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("# VL101 ")
    assert err.startswith("warning: only the rules of verlint itself are known here: ")


# As it is installed ---------------------------------------------------------------------------------------------------


def python(*arguments: str, cwd: Path, program: str = sys.executable) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYTEST"))}
    environment |= {"COLUMNS": "100", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    return subprocess.run([program, *arguments], cwd=cwd, env=environment, capture_output=True, text=True, check=False)


def test_libraries_are_not_taken_from_the_checked_folder(tmp_path: Path) -> None:
    for name in ("tabulate", "tomllib", "verlint_rules", "house_rules"):
        (tmp_path / f"{name}.py").write_text(MARK)
    (tmp_path / "verlint.toml").write_text("ignore = []\n")
    start = (
        f"import runpy, sys; sys.path[1:1] = {[str(ROOT / 'linter'), str(ROOT / 'rules')]!r}; "
        "sys.argv = ['verlint', 'rules', '--select', 'VL101']; sys.path[0] = ''; import verlint; "
        "runpy.run_module('verlint', run_name='__main__', alter_sys=True)"
    )
    done = python("-c", start, cwd=tmp_path)
    assert "VL101" in done.stdout, done.stderr
    assert not (tmp_path / "was-run").exists()


@pytest.mark.slow
def test_the_template_passes_its_tests_as_an_installed_package(tmp_path: Path) -> None:
    here = shutil.copytree(TEMPLATE, tmp_path / "house-rules")
    venv.create(tmp_path / "venv", with_pip=False, symlinks=os.name != "nt")
    program = str(next((tmp_path / "venv").glob("*/python")))
    purelib = "import sysconfig; print(sysconfig.get_path('purelib'), end='')"
    folder = Path(python("-c", purelib, cwd=tmp_path, program=program).stdout)
    ours = [str(ROOT / "linter"), str(ROOT / "rules"), *(path for path in sys.path if path.endswith("-packages"))]
    (folder / "beside.pth").write_text("\n".join(ours) + "\n")
    build = ["pip", "install", "-q", "--no-deps", "--no-build-isolation", "--no-index", "--target", str(folder)]
    done = python("-m", *build, str(here), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    shutil.rmtree(here / "src")
    done = python("-m", "pytest", "-q", "-p", "no:cacheprovider", cwd=here, program=program)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 passed" in done.stdout
    done = python("-m", "verlint", "rules", "--select", "HR", cwd=here, program=program)
    assert "HR101   foreign-project" in done.stdout
