"""Launchers that the settings teach are read as those of the catalogue."""

from __future__ import annotations

from pathlib import Path

import pytest

from verlint.cli.main import main
from verlint.experiment.project import Project
from verlint.experiment.stage_settings import setting
from verlint.families.taught import launcher_problems, taught_launchers
from verlint.files.loading import load
from verlint.settings import read_settings


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def project(files: dict[str, str]) -> Project:
    for name, text in files.items():
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    settings = read_settings(Path.cwd())
    return Project(load(["."], settings).files, settings, Path.cwd())


def concise(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    main(["check", "--output-format", "concise", *arguments])
    return capsys.readouterr().out.splitlines()[:-1]


OPTIONS = """\
[launchers."jobs/gen.sh"]
family = "oel"
stage = "deploy"
options = { "--run" = "run", "--policy" = "policy", "--at" = "step", "--base" = "model" }

[launchers."jobs/merge.sh"]
family = "oel"
stage = "consolidate"
options = { "--run" = "run", "--policy" = "policy", "--at" = "step", "--collected" = "deploy_save_dir" }
"""
GEN = '#!/usr/bin/env bash\nexec /opt/lab/generate "$@"\n'
DRIVER = """\
#!/usr/bin/env bash
set -euo pipefail
bash jobs/gen.sh --run dep-r2 --policy con-r1 --at 100
bash jobs/merge.sh --run con-r2 --collected "/data/dep-r2/deploy_data" --policy con-r1
"""


def test_options_by_other_names_are_settings_of_the_stage(capsys: pytest.CaptureFixture[str]) -> None:
    found = project({"verlint.toml": OPTIONS, "jobs/gen.sh": GEN, "jobs/merge.sh": GEN, "all.sh": DRIVER})
    (experiment,) = (each for each in found.experiments if each.source.path == "all.sh")
    assert [stage.title for stage in experiment.stages] == ["oel / deploy", "oel / consolidate"]
    told = setting(experiment.stages[0], "resume_policy_name")
    assert told is not None
    assert (told.label, told.known, told.span.text) == ("--policy", "con-r1", "con-r1")
    assert concise(capsys, "--select", "VL201", ".") == [
        "all.sh:4:72: VL201 the policy `con-r1` is named without a step: --at is missing (--policy = con-r1)"
    ]


def test_a_driver_out_of_order_is_found(capsys: pytest.CaptureFixture[str]) -> None:
    head, generate, merge = DRIVER.rpartition("bash jobs/gen.sh")[0], DRIVER.splitlines()[2], DRIVER.splitlines()[3]
    swapped = f"{head}{merge} --at 100\n{generate}\n"
    project({"verlint.toml": OPTIONS, "jobs/gen.sh": GEN, "jobs/merge.sh": GEN, "all.sh": swapped})
    (line,) = concise(capsys, "--select", "VL801", ".")
    assert line.startswith("all.sh:3:")


RECORD = """\
[launchers."extract_many.sh"]
family = "oel"
stage = "extract"
convention = "record"
fields = ["run", "ckpt_start", "ckpt_end", "ckpt_step", "policy", "step", "", "model"]
"""


def test_fields_of_a_record(capsys: pytest.CaptureFixture[str]) -> None:
    call = "bash extract_many.sh ex-r2,50,500,50,con-r1,,x,\n"
    found = project({"verlint.toml": RECORD, "extract_many.sh": GEN, "all.sh": call})
    (experiment,) = (each for each in found.experiments if each.source.path == "all.sh")
    (stage,) = experiment.stages
    named = {name: setting(stage, name) for name in ("exp_name", "ckpt_end", "resume_policy_name", "model")}
    assert {name: each and (each.label, each.known) for name, each in named.items()} == {
        "exp_name": ("field 1", "ex-r2"),
        "ckpt_end": ("field 3", "500"),
        "resume_policy_name": ("field 5", "con-r1"),
        "model": None,
    }
    assert [line.partition(" ")[2][:50] for line in concise(capsys, "--select", "VL201", ".")] == [
        "VL201 the policy `con-r1` is named without a step,"
    ]


VERB = """\
[launchers."lab.sh"]
family = "gad"
convention = "verb"
verbs = { warm = "warmup", fight = "adversarial", write = "generation" }
fields = ["run"]
"""


def test_verbs_choose_the_stage(capsys: pytest.CaptureFixture[str]) -> None:
    driver = "./lab.sh warm first\ngit -C verl checkout gad\n./lab.sh fight second\n./lab.sh write third\n"
    found = project({"verlint.toml": VERB, "lab.sh": GEN, "all.sh": driver})
    (experiment,) = (each for each in found.experiments if each.source.path == "all.sh")
    assert [
        (stage.kind, str(name.known) if (name := setting(stage, "exp_name")) else "") for stage in experiment.stages
    ] == [
        ("warmup", "first"),
        ("adversarial", "second"),
        ("generation", "third"),
    ]
    assert concise(capsys, "--select", "VL3", ".") == [
        "all.sh:1:1: VL302? nothing chooses the branch for warmup, which needs `warmup`",
        "all.sh:4:1: VL301 stage generation needs branch `eval`, the checkout is still on `gad` (branch of verl = gad)",
    ]


KEYS = """\
[launchers."train"]
family = "opo"
stage = "train"
options = { "--rollout" = "data.train_batch_size", "--update" = "actor_rollout_ref.actor.ppo_mini_batch_size" }

[launchers."tools/start.py"]
family = "opo"
stage = "train"
convention = "overrides"
"""


@pytest.mark.parametrize(
    "call",
    [
        "./bin/train --rollout 256 --update 64",
        "/opt/lab/bin/train --rollout=256 --update=64",
        "python3 tools/start.py data.train_batch_size=256 actor_rollout_ref.actor.ppo_mini_batch_size=64",
    ],
)
def test_keys_make_a_launch_of_which_the_rest_is_not_known(call: str, capsys: pytest.CaptureFixture[str]) -> None:
    project({"verlint.toml": KEYS, "all.sh": f"# calls train for main_ppo\n{call}\n"})
    lines = concise(capsys, ".")
    assert [line.split(" ")[1] for line in lines] == ["VL601[*]"]


def test_a_launcher_that_can_be_read_speaks_for_itself() -> None:
    inner = "python3 -m verl.trainer.main_ppo data.train_batch_size=$2\n"
    settings = KEYS.replace('"train"]', '"train.sh"]', 1)
    found = project({"verlint.toml": settings, "train.sh": inner, "all.sh": "bash train.sh --rollout 256\n"})
    assert [(launch.family, launch.stage) for launch, _ in found.launches] == [("opo", "train")]


PATHS = """\
[launchers."copy_step"]
options = { "--from" = "reads", "--to" = "writes" }
"""
TRAIN = """\
python3 -m verl.trainer.main_ppo trainer.default_local_dir=/ckpt/first trainer.save_freq=50 \\
    trainer.total_training_steps=100 trainer.experiment_name=first
"""


def test_paths_that_are_read_must_have_been_made(capsys: pytest.CaptureFixture[str]) -> None:
    call = "/opt/lab/copy_step --from /ckpt/first/global_step_70/actor --to /ckpt/second/global_step_70/actor\n"
    project({"verlint.toml": PATHS, "all.sh": TRAIN + call})
    assert [line[:45] for line in concise(capsys, "--select", "VL202", ".")] == [
        "all.sh:3:51: VL202 step 70 of `first` is used"
    ]


def test_a_stage_of_a_spec_uses_the_names_of_the_options() -> None:
    spec = (
        "schema: verlint/exp-v1\nname: n\nfamily: oel\nstages:\n"
        "  gen: {kind: deploy, launcher: jobs/gen.sh, args: {run: dep-r2, policy: con-r1, at: 100}}\n"
    )
    found = project({"verlint.toml": OPTIONS, "jobs/gen.sh": GEN, "lake.exp.yaml": spec})
    (experiment,) = (each for each in found.experiments if each.is_spec)
    told = setting(experiment.stages[0], "resume_policy_name")
    assert told is not None
    assert (told.label, told.known, told.span.text) == ("args.policy", "con-r1", "con-r1")


def test_a_taught_file_without_a_mark_is_checked(capsys: pytest.CaptureFixture[str]) -> None:
    project({"verlint.toml": OPTIONS, "jobs/gen.sh": "#!/bin/sh\nls\n", "other.sh": "#!/bin/sh\nls\n"})
    main(["check", "--show-files"])
    assert capsys.readouterr().out.splitlines()[0] == (
        "checked  jobs/gen.sh: launcher, taught in the settings as `jobs/gen.sh`"
    )


@pytest.mark.parametrize(
    ("table", "problems"),
    [
        ({"famly": "oel"}, ["`famly` (did you mean `family`?)"]),
        ({"family": 1, "fields": "x"}, ["`family` must be a string", "`fields` must be a list of strings"]),
        ({"family": "opoo"}, ["`family`: there is no family `opoo` (did you mean `opo`?)"]),
        ({"stage": "train"}, ["`stage` goes with `family`, which is not given"]),
        ({"family": "gad", "stage": "warm-up"}, ["`stage`: gad has no stage `warm-up` (did you mean `warmup`?)"]),
        (
            {"family": "gad", "convention": "verb", "verbs": {"a": "adverserial"}},
            ["`verbs.a`: gad has no stage `adverserial` (did you mean `adversarial`?)"],
        ),
        ({"convention": "option"}, ["`convention`: there is no convention `option` (did you mean `options`?)"]),
        ({"fields": ["run"]}, ['`fields` goes with convention "record" or "verb", not "options"']),
        ({"options": {"run": "exp_name"}}, ["`options`: `run` is no option (did you mean `--run`?)"]),
        ({"options": {"--run": "expname"}}, ["`options.--run`: `expname` is no meaning (did you mean `exp_name`?)"]),
        ({"options": {"--bsz": "data.train_batch_size"}}, []),
        (
            {"convention": "record", "fields": ["run", "", "zzz"]},
            ["`fields`: `zzz` is no meaning; write the name of a setting or a configuration key with a dot"],
        ),
    ],
)
def test_what_is_wrong_with_a_table(table: dict[str, object], problems: list[str]) -> None:
    found = [text.removeprefix("`launchers` ['x.sh'] ") for _, text in launcher_problems({"x.sh": table})]
    assert [text.removeprefix("has no key ") for text in found] == problems


def test_a_problem_is_told_with_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    Path("verlint.toml").write_text('[launchers."a.sh"]\nfamily = "oel"\nstage = "deplyo"\n')
    assert main(["check"]) == 2
    assert capsys.readouterr().err.endswith(
        "verlint.toml:3: `launchers` ['a.sh'] `stage`: oel has no stage `deplyo` (did you mean `deploy`?)\n"
    )


@pytest.mark.parametrize(
    ("glob", "path", "means"),
    [
        ("scripts/a.sh", "scripts/a.sh", True),
        ("scripts/a.sh", "x/scripts/a.sh", False),
        ("a.sh", "deep/down/a.sh", True),
        ("scripts/train_*.sh", "scripts/train_7b.sh", True),
        ("jobs/**/go.sh", "jobs/x/y/go.sh", True),
    ],
)
def test_globs(glob: str, path: str, means: bool) -> None:
    (launcher,) = taught_launchers({glob: {}})
    assert launcher.means(path) is means
