"""Plans: every family, track and stage, with all options; their specs pass the check, their commands pass the rules."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fixture_cases import FIXTURES
from verlint.cli.main import main
from verlint.engine import check_project
from verlint.experiment.spec_reader import read_spec
from verlint.families import FAMILIES
from verlint.families.recipes import COOKBOOKS
from verlint.families.recipes.model import MERGE
from verlint.files.loading import load, load_text
from verlint.finding import Verdict
from verlint.languages.yaml import plain
from verlint.plan import plan_of, spec_of
from verlint.plan.model import Plan, Step
from verlint.plan.options import BY_NAME, OPTIONS
from verlint.plan.render import from_json, to_json, to_markdown, to_text
from verlint.plan.spec_text import spec_text
from verlint.plan.wish import legal_options, tracks_of
from verlint.settings import Settings
from verlint.source import Source

EXAMPLES = int(os.environ.get("PLAN_EXAMPLES", "60"))
CASES = [
    (book.family, track, stage)
    for book in COOKBOOKS.values()
    for stage in book.plans
    if stage != "list"
    for track in (tracks_of(book, stage) or ("",))
]
VALUES_OF_GAD = {
    "model": "Qwen/Qwen2.5-7B-Instruct", "resume_checkpoint": "800", "checkpoint": "1000", "gpu_class": "h100",
    "credentials": "wandb",
}  # fmt: skip
NEEDED = {("gad", "adversarial"): {"resume_checkpoint": "800"}}
"""Options without which a stage is not planned."""

each_case = pytest.mark.parametrize("case", CASES, ids=" ".join)


def spec_for(case: tuple[str, str, str], options: dict[str, str] | None = None) -> dict[str, Any]:
    family, track, stage = case
    return spec_of(family, track, stage, {**NEEDED.get((family, stage), {}), **(options or {})})


OPEN = ("VL005", "VL009", "VL606")
"""Rules that tell what a plan leaves open; VL606 because <OPTIMAL_BASELINE> is."""


def findings_of(text: str, folder: Path) -> list[str]:
    """What the check says about a spec, apart from what only the checkout can show."""
    settings = Settings(root=folder)
    loading = load_text(text.encode(), "plan.exp.yaml", settings)
    report = check_project(loading.files, settings, folder, unreadable=loading.unreadable)
    assert not report.crashed
    return [
        f"{each.code} {each.message}"
        for each in report.findings
        if not (each.code in OPEN and each.verdict is Verdict.UNSURE)
    ]


def read_back(text: str) -> dict[str, Any]:
    file = read_spec(Source("plan.exp.yaml", text))
    assert [problem.message for problem in file.problems] == []
    assert file.yaml.root is not None
    data = plain(file.yaml.root)
    assert isinstance(data, dict)
    return data


@each_case
def test_the_spec_passes_the_check(case: tuple[str, str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    spec = spec_for(case)
    text = spec_text(spec)
    assert findings_of(text, tmp_path) == []
    assert read_back(text) == spec


@each_case
def test_the_plan_says_all_that_matters(case: tuple[str, str, str]) -> None:
    plan = plan_of(spec_for(case), case[2])
    assert all(step.label == "not executed" for step in plan.steps)
    assert all(step.commands for step in plan.steps)
    placeholders = set(re.findall(r"<[A-Z][A-Z0-9_-]*>", " ".join(" ".join(step.commands) for step in plan.steps)))
    told = {each.name for each in plan.unresolved}
    ends = ("_FIRST>", "_LAST>", "_DISTANCE>")
    assert {name for name in placeholders if not name.endswith(ends)} <= told
    assert all(each.decide and each.stages for each in plan.unresolved)
    assert from_json(to_json(plan)) == plan
    for text in (to_text(plan), to_markdown(plan)):
        assert "not executed" in text
        assert plan.title in text


@each_case
def test_a_plan_of_its_spec_is_the_same(case: tuple[str, str, str]) -> None:
    spec = spec_for(case)
    assert plan_of(read_back(spec_text(spec)), case[2]) == plan_of(spec, case[2])


def test_a_spec_keeps_the_credentials_that_will_be_given() -> None:
    spec = read_back(spec_text(spec_for(("gad", "lmsys", "warmup"), {"credentials": "wandb,hf"})))
    settled = {each.name: each.value for each in plan_of(spec).resolved}
    assert settled["WANDB_API_KEY"] == "given in the environment at launch"
    assert settled["HF_TOKEN"] == "optional, given in the environment at launch"


VALUES: dict[str, st.SearchStrategy[str]] = {
    "model": st.sampled_from(["Qwen/Qwen3-4B", "Qwen/Qwen3-4B-Instruct-2507", "${oc.env:MODELS}/Qwen3-4B", "<MODEL>"]),
    "ref_model": st.just("Qwen/Qwen3-8B"),
    "reward_model": st.just("Qwen/Qwen2.5-7B-Instruct"),
    "exp_model": st.just("Qwen/Qwen3-8B"),
    "exp_name": st.from_regex(r"[a-z][a-z0-9-]{0,12}[a-z0-9]", fullmatch=True),
    "alias": st.sampled_from([alias.name for alias in COOKBOOKS["coach"].aliases]),
    "resume_checkpoint": st.just("earlier-run:100"),
    "experience_path": st.sampled_from(["system_prompts/safety.txt", "notes/a b'c.txt", "${oc.env:NOTES}/x.txt"]),
    "textgame_name": st.sampled_from(["Sokoban-v0", "FrozenLake-v0-raw"]),
    "actor_lr": st.sampled_from(["1e-6", "5e-6", "0.00001"]),
    "val_data": st.sampled_from(["lmsys", "dolly"]),
    "credentials": st.sampled_from(["wandb", "wandb,hf", "wandb,hf,openai"]),
    "round": st.integers(1, 12).map(str),
    "rounds": st.integers(1, 9).map(str),
    "val_samples_limit": st.integers(50, 400).map(str),
    "val_samples_use": st.integers(1, 50).map(str),
    "nodes": st.sampled_from(["1", "2", "4"]),
    "gpus_per_node": st.just("8"),
    "rollout_n": st.sampled_from(["1", "8"]),
    "batch_size": st.sampled_from(["64", "128", "256"]),
    "total_training_steps": st.integers(20, 50).map(str),
    "save_freq": st.sampled_from(["2", "5", "10"]),
    "kl_topk": st.sampled_from(["0", "256"]),
    "textgame_max_steps": st.integers(1, 9).map(str),
    "experience_max_length": st.sampled_from(["2048", "4096", "8192"]),
    "max_response_length": st.sampled_from(["512", "1024"]),
    "textgame_response_length": st.sampled_from(["512", "1024"]),
}


@st.composite
def legal_calls(draw: st.DrawFn) -> tuple[tuple[str, str, str], dict[str, str]]:
    """A stage with options that have a meaning for it and go together."""
    case = draw(st.sampled_from(CASES))
    legal = legal_options(COOKBOOKS[case[0]], case[1], case[2])
    names = draw(st.sets(st.sampled_from(sorted(legal))))
    names -= {"checkpoint", "checkpoint_start", "checkpoint_end", "checkpoint_step"}
    options: dict[str, str] = {}
    for name in sorted(names):
        option = BY_NAME[name]
        choices = ("true", "false") if option.kind == "flag" else option.choices
        options[name] = draw(VALUES[name] if name in VALUES else st.sampled_from(choices))
    return case, _together(case, options)


def _together(case: tuple[str, str, str], options: dict[str, str]) -> dict[str, str]:
    if case[0] == "coach" and options.get("gpu_class") == "b200":
        del options["gpu_class"]
    if case[0] == "coach" and "alias" in options:
        options["alias"] = next(
            alias.name for alias in COOKBOOKS["coach"].aliases
            if alias.track == case[1] and alias.name.startswith(options["alias"][:4])
        )  # fmt: skip
        options.pop("ref_model", None)
    if "safety" in options.get("experience_path", ""):
        options.pop("prompt_type", None)
    if case[0] == "opo" and "rollout_n" in options:
        options["rollout_n"] = "8"
    if case[0] == "gad":
        options = {**options, **({"resume_checkpoint": "800"} if "resume_checkpoint" in options else {})}
    if case[0] == "oel":
        later = int(options.get("round", "1")) > 1
        resumable = "resume_checkpoint" in legal_options(COOKBOOKS["oel"], case[1], case[2])
        options.pop("resume_checkpoint", None)
        if later and resumable:
            options["resume_checkpoint"] = "earlier-run:100"
            if case[2] != "round":
                options.pop("model", None)
    return options


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(call=legal_calls())
def test_any_legal_plan_passes_the_check(
    call: tuple[tuple[str, str, str], dict[str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    case, options = call
    text = spec_text(spec_for(case, options))
    assert findings_of(text, tmp_path) == []
    plan = plan_of(read_back(text), case[2])
    assert from_json(to_json(plan)) == plan


# The data ------------------------------------------------------------------------------------------------------------


def test_recipes_agree_with_the_families() -> None:
    for book in COOKBOOKS.values():
        family = FAMILIES[book.family]
        for recipe in book.recipes:
            kind = family.stage(recipe.kind)
            if kind is None:
                assert recipe.shell, recipe.name
                continue
            if recipe.launcher:
                assert any(re.search(rf"(?:^|/){each}$", recipe.launcher) for each in kind.launchers), recipe.launcher
            if any(not output.path for output in recipe.outputs):
                assert kind.saves, recipe.name
        names = {recipe.name for recipe in book.recipes}
        assert {name for plan in book.plans.values() for name in plan} <= names


def test_records_are_filled() -> None:
    """No field of a comma record is left empty by mistake."""
    for line in commands(("oel", "", "round"), {"model": "m", "exp_name": "x"}):
        if "_inturn.sh" in line:
            assert len(re.findall(",,", line)) == ("extract" in line), line


def test_a_plan_without_a_stage_is_of_the_whole(capsys: pytest.CaptureFixture[str]) -> None:
    for family, stage in (("oel", "round"), ("gad", "all"), ("opo", "config")):
        assert main(["plan", "--family", family]) == 0
        assert capsys.readouterr().out.splitlines()[0].endswith(f" / {stage}")


def commands(case: tuple[str, str, str], options: dict[str, str]) -> list[str]:
    return [line for step in plan_of(spec_for(case, options), case[2]).steps for line in step.commands]


# Calls ---------------------------------------------------------------------------------------------------------------


def assert_chained(plan: Plan) -> None:
    """Each thing that a step reads was written by an earlier one, which the plan names, or is a named prerequisite."""
    written: dict[str, dict[str, str]] = {}
    given = {each.name: each for each in plan.inputs}
    for step in plan.steps:
        for each in step.reads:
            assert each.label, step.name
            if not each.source:
                assert each.label.startswith("model (") or step.name in given[each.path].stages, (step.name, each)
                continue
            made = written[each.source]
            if each.label.startswith("checkpoint ("):
                role = each.label.partition(",")[0]
                bases = {path.partition("/global_step_")[0] for path, label in made.items() if label.startswith(role)}
                assert each.path.partition("/global_step_")[0] in bases, (step.name, each)
            else:
                assert each.path in made, (step.name, each)
            assert each.source in step.after, (step.name, each)
        assert set(step.after) <= set(written)
        written[step.name] = {each.path: each.label for each in step.writes}


@each_case
def test_what_a_step_reads_was_made_before(case: tuple[str, str, str]) -> None:
    assert_chained(plan_of(spec_for(case), case[2]))


def test_nine_rounds_are_chained() -> None:
    plan = plan_of(spec_for(("oel", "textgame", "rounds"), {"rounds": "9", "exp_name": "sok"}), "rounds")
    assert_chained(plan)
    assert len(plan.steps) == 45
    merging = [step.name for step in plan.steps[:10] if MERGE in step.touches]
    assert merging == ["r1-eval", "r2-extract", "r2-deploy", "r2-consolidate", "r2-eval"]
    assert plan.warnings[1].startswith("450 checkpoints are merged and evaluated one by one")
    assert plan.inputs == ()
    ninth = next(step for step in plan.steps if step.name == "r9-deploy")
    assert "--resume_policy_name sok-con-r8 --resume_policy_ckpt 100" in ninth.commands[0]
    policy = "checkpoint (actor, step 100): $OEL_ROOT/sok-con-r8/global_step_100/actor (from r8-consolidate)"
    assert policy in to_text(plan)


def steps_of(case: tuple[str, str, str], options: dict[str, str] | None = None) -> dict[str, Step]:
    return {step.name: step for step in plan_of(spec_for(case, options), case[2]).steps}


def test_a_stage_is_on_the_nodes_that_its_launcher_is_told() -> None:
    oel = steps_of(("oel", "textgame", "round"), {"nodes": "2", "gpu_class": "h100"})
    assert [step.resources for step in oel.values() if step.resources] == [
        "1 node with 8 H100", "2 nodes with 8 H100", "2 nodes with 8 H100", "1 node with 8 H100",
    ]  # fmt: skip
    coach = steps_of(("coach", "el", "all"), {"nodes": "4"})
    assert coach["eval-fuzzy"].resources == "1 node with <ACCELERATORS>"
    assert [each.path.rpartition("_4o_")[2] for each in coach["score-fuzzy"].writes] == [
        "alpacaeval2.json", "wildbench.json", "arena_hard_v2.json", "creativewritingv3.json",
    ]  # fmt: skip
    assert len(coach["train"].traps) == 1  # neither of a key nor of an option that the call has not


def test_what_no_launcher_does_is_a_step_by_hand() -> None:
    opcd = steps_of(("opcd", "math", "all"))
    assert list(opcd)[1:4] == ["extract", "choose-seed", "on-policy"]
    assert opcd["extract"].writes[0].label == "experience (seeds 50 to 500 by 50)"
    assert opcd["on-policy"].after == ("data-prep", "choose-seed")
    assert opcd["extract"].commands[0].endswith(" || break; done")
    assert opcd["off-policy"].checks[-1].endswith("--expect-dir '<EXP_NAME>-offp-data/off_policy_data'")
    opo = steps_of(("opo", "", "config"))
    assert list(opo) == ["baseline", "config"]
    assert [each.label for each in opo["config"].writes] == ["checkpoint (actor, step 100)"]
    told = plan_of(spec_for(("opo", "", "config"))).unresolved
    assert {each.name: each.how for each in told}["<TRAIN_FILE>"] == "spec"


def test_long_calls_are_broken_between_options() -> None:
    model = "a --b 'c" * 9
    plan = plan_of(spec_for(("oel", "textgame", "deploy"), {"model": model, "exp_name": "x"}))
    text = to_text(plan).split("   $ ")[1].split("   may go wrong")[0]
    assert text.count("\\\n") > 2
    assert shlex.split(text.replace("\\\n", " ")) == shlex.split(plan.steps[0].commands[0])


def test_a_plan_is_read_with_its_labels(
    request: pytest.FixtureRequest, record_property: Callable[[str, object], None]
) -> None:
    """The whole plan of GAD, as it is printed; `--bless` writes it anew."""
    spec = spec_for(("gad", "lmsys", "all"), {
        "exp_name": "g", "model": "Qwen/Qwen2.5-7B-Instruct", "resume_checkpoint": "800", "checkpoint": "1000",
        "gpu_class": "h100", "credentials": "wandb",
    })  # fmt: skip
    text, path = to_text(plan_of(spec, "all", ("wandb",))), Path(__file__).parent / "plans/gad.txt"
    if request.config.getoption("--bless") and path.read_text("utf-8") != text:
        path.write_text(text, "utf-8", newline="\n")
        record_property("blessed", path.relative_to(FIXTURES.parent).as_posix())
    assert text == path.read_text("utf-8")


def test_the_handover_of_gad_is_explicit() -> None:
    lines = commands(("gad", "lmsys", "all"), {"exp_name": "g", "resume_checkpoint": "800"})
    [copy] = [line.split(" &&\n    ") for line in lines if line.startswith("mkdir")]
    assert copy[1:] == [
        'cp -r "${GAD_CKPT_ROOT:?}/g-warmup/global_step_800" "${GAD_CKPT_ROOT:?}/g-gad/"',
        "printf '%s\\n' 800 > \"${GAD_CKPT_ROOT:?}/g-gad/latest_checkpointed_iteration.txt\"",
    ]
    assert [line for line in lines if line.startswith("git")] == [
        f"git -C verl switch {branch}" for branch in ("seqkd", "warmup", "gad", "eval")
    ]


def test_a_gated_model_needs_its_key() -> None:
    options = {"model": "meta-llama/Llama-3.1-8B-Instruct"}
    plan = plan_of(spec_for(("opcd", "math", "on-policy"), options), "on-policy", ("wandb",))
    told = {each.name: each.decide for each in plan.unresolved}
    assert told["HF_TOKEN"] == "the stages need it, and --credentials does not name hf"
    assert "HF_TOKEN" not in {each.name for each in plan_of(spec_for(("opcd", "math", "on-policy"))).unresolved}


DRIVERS = [("oel", "textgame", "rounds"), ("opcd", "math", "all"), ("coach", "el", "all"), ("coach", "rl", "all"),
           ("gad", "lmsys", "all")]  # fmt: skip


@pytest.mark.parametrize("case", DRIVERS, ids=" ".join)
def test_the_commands_pass_the_rules(
    case: tuple[str, str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The commands of a plan in a script beside the launchers of a checkout without faults, with a fault behind them
    that shows that all were followed. Some tools of that checkout take other options than the family's own, for which
    the plan is: that is not asked here, nor are commands whose launcher it lacks, nor `set -e`, after which some of
    the launchers may end the script (VL906)."""
    shutil.copytree(FIXTURES / "experiments" / case[0] / "clean", tmp_path, dirs_exist_ok=True)
    for old in tmp_path.glob("*.exp.yaml"):
        old.unlink()
    for each in (tmp_path / "scripts").rglob("lmsys-7b-*"):
        each.rename(each.with_name(each.name.replace("lmsys-7b", "gpt5-chat-filtered-7b")))
    options = {
        "model": "Qwen/Qwen3-4B", "exp_name": "plan-a", "textgame_name": "Sokoban-v0", "textgame_no_think": "false",
        "resume_checkpoint": "800", "checkpoint_start": "850", "checkpoint_end": "1600",
    }  # fmt: skip
    legal = legal_options(COOKBOOKS[case[0]], case[1], case[2])
    chosen = {name: text for name, text in options.items() if name in legal}
    if case[0] != "gad":
        chosen = {name: text for name, text in chosen.items() if "checkpoint" not in name}
    if case[0] == "opcd":  # whose launchers save every 10 steps here
        chosen |= {"checkpoint_start": "10", "checkpoint_end": "50", "checkpoint_step": "10"}
    lines = [line for line in commands(case, chosen) if not (found := re.search(r"\b(?:scripts|tools)/\S+", line))
             or ((tmp_path / found[0]).is_file() and "download_data" not in line)]  # fmt: skip
    assert len(lines) >= 4
    (tmp_path / "run_plan.sh").write_text(
        "\n".join(["#!/usr/bin/env bash", "set -uo pipefail", *lines, "bash scripts/none.sh\n"])
    )
    monkeypatch.chdir(tmp_path)
    settings = Settings(root=tmp_path)
    loading = load(["run_plan.sh"], settings)
    report = check_project(loading.files, settings, tmp_path, unreadable=loading.unreadable)
    said = [f"{each.span.begin.line if each.span else 0} {each.code} {each.message}" for each in report.findings
            if each.file == "run_plan.sh" and each.verdict is Verdict.FAIL
            and each.code not in ("VL011", "VL012", "VL906")]  # fmt: skip
    last = "\n".join(lines).count("\n") + 4
    assert said == [f"{last} VL010 no such script: scripts/none.sh"]


def test_values_are_quoted_for_the_shell() -> None:
    [line] = commands(("oel", "textgame", "deploy"), {"model": "a b;$(c)`d`'"})
    assert "--model 'a b;$(c)`d`'\"'\"''" in line


ILLEGAL = {
    "--family minillm": "minillm is not one of these families: oel, opcd, coach, gad, opo",
    "--family oll": "family `oll` is not known (did you mean `oel`?)",
    "--family gad --stage deploy": "stage of gad `deploy` is not known",
    "--family opcd --track textgame --stage data-prep": "track textgame has no stage data-prep; stages of it: extract",
    "--family opcd --track sokoban": "track of opcd `sokoban` is not known; allowed: math, textgame, system-prompt",
    "--family opcd --stage eval": "--track is needed for opcd eval: math, textgame, system-prompt",
    "--family opo --track math": "family opo has no tracks",
    "--family coach --alias qwen-el-slf": "alias `qwen-el-slf` is not known (did you mean `qwen-el-self`?)",
    "--family coach --track rl --alias qwen-el-self": "alias qwen-el-self is of track el, not rl",
    "--family gad --alias qwen-el-self": "--alias is for family coach, not for gad",
    "--family oel --stage extract --nodes 0": "--nodes takes 1 to 4,096, not `0`",
    "--family oel --stage extract --nodes two": "--nodes takes a whole number, not `two`",
    "--family oel --stage consolidate --actor-lr -1": "--actor-lr",
    "--family oel --stage extract --gpus-per-node 4": "--gpus-per-node 4: the launchers of oel take 8",
    "--family oel --stage extract --round 2": "goes on from a checkpoint, and none is given: --resume-checkpoint",
    "--family oel --stage extract --round 2 --resume-checkpoint x": "takes STEP or RUN:STEP, not `x`",
    "--family oel --stage extract --resume-checkpoint a:100": "is for rounds above 1",
    "--family oel --stage extract --textgame-name Chess": "is no game of the fork",
    "--family oel --stage round --val-samples-use 200": "--val-samples-use 200 is more than --val-samples-limit 100",
    "--family oel --stage eval --checkpoint-start 5": "--checkpoint-start and --checkpoint-end go together",
    "--family oel --stage round --checkpoint 101": "step 101 is never saved: every 2 up to 100 steps",
    "--family gad --stage adversarial": "goes on from a checkpoint, and none is given",
    "--family gad --stage all --resume-checkpoint 810": "step 810 is never saved: every 50 steps",
    "--family gad --stage seqkd --textgame-name Sokoban-v0": "--textgame-name means nothing for gad lmsys seqkd",
    "--family opcd --track math --stage on-policy --total-training-steps 80": "--total-training-steps is fixed in",
    "--family coach --track el --stage train --batch-size 3 --nodes 2": "is no multiple of 2 x 8 GPUs",
    "--family opcd --track math --model Qwen/Qwen3-4B --ref-model google/gemma-2-9b": "has the tokenizer of Qwen",
    "--family oel --stage deploy --model /data/models/q": "is a path of one machine; take a variable, as in '${oc.env:",
    "--family opcd --track math --experience-path ~/x.txt --stage on-policy": "is a path of one machine",
    "--family oel --stage deploy --model ${MODELS}/q": "a variable is written '${oc.env:NAME}'",
    "--family oel --stage deploy --model <model>": "a placeholder is written '<NAME>', in capitals",
    "--family oel --stage extract --model a,b": "holds a comma, which separates the fields of the launchers' records",
    "--family gad --stage generation --val-data a/b": "--val-data takes the name of a data set here",
    "--family oel --rounds 9": "--rounds counts with --stage rounds only",
    "--family oel --stage rounds --rounds 100": "--rounds takes 1 to 99, not `100`",
    "--family oel --stage extract --actor-lr nan": "--actor-lr takes 1e-12 to 1, not `nan`",
    "--family coach --track el --stage eval --save-freq 10": "--save-freq means nothing for coach el eval",
    "--family opo --rollout-n 1": "--rollout-n 1 makes groups of one",
    "--family coach --track el --gpu-class b200": "coach has no set-up for b200 machines; --gpu-class takes a100, h100",
    "--family oel --gpu-class tpu": "--gpu-class `tpu` is not known",
    "--family oel --credentials wandb,aws": "--credentials `aws` is not known; allowed: wandb, hf, openai",
    "": "--family or a spec is needed",
    "no.exp.yaml": "no.exp.yaml",
    "plan.exp.yaml --family oel": "a spec says what is planned; not with it: --family",
}


@pytest.mark.parametrize("words", ILLEGAL, ids=lambda words: words or "nothing")
def test_what_does_not_go_together_is_refused(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    given_words = words.replace("--actor-lr -1", "--actor-lr=-1").split()
    assert main(["plan", *given_words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert ILLEGAL[words] in err


def test_lists(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "--list", "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {row["family"] for row in rows} == set(COOKBOOKS)
    assert main(["plan", "--list-aliases", "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert len(rows) == 9
    assert rows[1] == {
        "alias": "qwen-el-self-iter",
        "run": "wildchat-el-q3-8b-r8b-itert30-mopd025-fixt",
        "mode": "el",
        "feedback": "the policy itself",
        "model": "Qwen/Qwen3-8B",
    }
    assert main(["plan", "--family", "coach", "--stage", "list"]) == 0
    assert "qwen-rl-gpt4o" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["oel/clean/oel-sokoban", "gad/clean/gad", "coach/clean/coach", "opcd/clean/math",
                                  "opo/clean/opo"])  # fmt: skip
def test_plans_of_specs(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", str(FIXTURES / f"experiments/{name}.exp.yaml"), "--credentials", "wandb,hf,openai"]) == 0
    text = capsys.readouterr().out
    assert "{" not in text.replace("${", "").replace("{eval", "") or "${" in text
    assert "${deps" not in text
    assert "${models" not in text


def test_nothing_is_started(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a plan starts nothing and opens no connection")

    for place, name in ((socket, "socket"), (subprocess, "Popen")):
        monkeypatch.setattr(place, name, refuse)
    for format in ("text", "markdown", "json", "spec"):
        assert main(["plan", "--family", "gad", "--format", format]) == 0
    assert "not executed" in capsys.readouterr().out


def test_every_option_counts_somewhere() -> None:
    legal = {name for book in COOKBOOKS.values() for stage in book.plans
             for track in (tracks_of(book, stage) or ("",)) for name in legal_options(book, track, stage)}  # fmt: skip
    assert {option.name for option in OPTIONS} - legal == set()


def test_a_spec_of_no_family_is_planned_with_the_family_open(tmp_path: Path) -> None:
    plan = plan_of({"stages": {"a": {"kind": "train", "run": "make a"}}})
    assert [step.commands for step in plan.steps] == [("make a",)]
    assert [each.name for each in plan.unresolved] == ["family"]
    assert from_json(to_json(plan)) == plan


def test_every_spec_is_planned_or_refused(capsys: pytest.CaptureFixture[str]) -> None:
    specs = [*(FIXTURES.parent / "tests/specs").rglob("*.y*ml"), *FIXTURES.rglob("*.exp.yaml")]
    assert len(specs) > 50
    for spec in specs:
        code = main(["plan", str(spec)])
        out, err = capsys.readouterr()
        assert (code == 0 and "Nothing of this was executed" in out) or (code == 2 and not out), spec
        assert "internal error" not in err, spec


def test_ready_means_that_the_checkout_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """GAD's launchers lie beside the checkout of VeRL, as the plan says; a checkout that is not seen is no success."""
    monkeypatch.chdir(tmp_path)
    gad = {**VALUES_OF_GAD, "exp_name": "g"}
    text = spec_text(spec_for(("gad", "lmsys", "all"), gad)).replace("<GAD_CHECKOUT>", "gc")
    for path in ("gc/verl/setup.py", *re.findall(r"launcher: (\S+)", text)):
        file = tmp_path / ("gc" if "gc/" not in path else "") / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("")
    call = ["check", "--ready", "--select", "VL010", "--output-format", "concise", "plan.exp.yaml"]
    for old, new, said in (
        ("", "", "All checks passed!"),
        (
            "scripts/generate/generate.sh",
            "scripts/generate/generat.sh",
            "no such script in gc/verl: scripts/generate/generat.sh",
        ),
        ("gc/verl", "no/verl", "checkout no/verl is not there: 4 launchers not checked"),
        ("path: gc}", "path: ../gc}", "checkout ../gc lies outside of what is checked: 1 launcher not checked"),
    ):
        (tmp_path / "plan.exp.yaml").write_text(text.replace(old, new) if old else text)
        assert main(call) == (1 if old else 0)
        assert said in capsys.readouterr().out


CHAIN = """\
schema: verlint/exp-v1
name: lengths
family: opo
vars: {first: 200}
checkout: {verl: {path: verl, base: 0.6.1}, tools: {path: tools}}
environment: {setup: conda, profile: a100-h200, ready: [ray, vllm]}
resources: {accelerators: "H100:8", num_nodes: 2}
models: {policy: {id: "${oc.env:OPO_MODEL}"}}
roots: {checkpoints: "${oc.env:CKPT_ROOT}"}
credentials: {}
stages:
  short:
    kind: train
    checkout: verl
    entry: verl.trainer.main_ppo
    resources: {num_nodes: 4}
    overrides:
      algorithm.adv_estimator: opo
      actor_rollout_ref.model.path: ${models.policy}
      trainer.default_local_dir: ${roots.checkpoints}/len3k
    outs: {ckpt: {roles: [actor], every: 100}}
  long:
    kind: train
    checkout: verl
    entry: verl.trainer.main_ppo
    deps: {policy: {from: short, role: actor, step: "${vars.first}"}}
    overrides: {trainer.default_local_dir: "${roots.checkpoints}/len7k"}
  report:
    kind: score
    run: python3 report.py
    deps: {policy: {from: long, role: actor, step: 400}}
"""


def test_stages_without_a_launcher_are_followed_by_their_overrides(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plan.exp.yaml").write_text(CHAIN)
    assert main(["plan", "plan.exp.yaml", "--format", "json"]) == 0
    plan = json.loads(capsys.readouterr().out)
    steps = {step["name"]: step for step in plan["steps"]}
    assert [each["path"] for each in steps["long"]["reads"]] == ["$CKPT_ROOT/len3k/global_step_200/actor"]
    assert steps["report"]["reads"][0]["path"] == "$CKPT_ROOT/len7k/global_step_400/actor"
    assert steps["report"]["folder"] == "."
    assert [steps[name]["resources"] for name in ("short", "long")] == ["4 nodes with 8 H100", "1 node with 8 H100"]
    assert "export CKPT_ROOT=… OPO_MODEL=…" in plan["checks"]
    assert not any("0.2" in note or "grpo" in note for step in plan["steps"] for note in step["notes"])
