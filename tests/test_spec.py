"""The spec format: whole examples, each kind of problem with its place, values with their way, agreement with the JSON
Schema that is made of the same declaration."""

from __future__ import annotations

from pathlib import Path

import jsonschema  # type: ignore[import-untyped]
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from verlint.experiment.spec import Spec, SpecFile, SpecProblem, Steps, accelerators, step_range
from verlint.experiment.spec_reader import read_spec
from verlint.experiment.spec_schema import SPEC, json_schema
from verlint.files.kinds import Kind
from verlint.files.loading import Loaded
from verlint.finding import Finding
from verlint.languages.yaml import plain
from verlint.rule import Context, Rule, find_rule
from verlint.source import Source
from verlint.value import State

SPECS = Path(__file__).parent / "specs"
VALID, INVALID, READER_ONLY = (sorted((SPECS / kind).glob("*.yaml")) for kind in ("valid", "invalid", "reader-only"))

HEAD = "schema: verlint/exp-v1\nname: small\n"
STAGES = "stages:\n  train: {kind: train, launcher: scripts/train.sh}\n"


def read(text: str) -> SpecFile:
    return read_spec(Source("exp.exp.yaml", text))


def read_path(path: Path) -> SpecFile:
    return read_spec(Source(path.name, path.read_text(encoding="utf-8")))


def spec_of(text: str) -> Spec:
    file = read(text)
    assert file.problems == ()
    assert file.spec is not None
    return file.spec


def only(text: str) -> SpecProblem:
    problems = read(text).problems
    assert len(problems) == 1, [problem.message for problem in problems]
    return problems[0]


def as_lines(file: SpecFile) -> list[str]:
    return [
        f"{problem.span.begin.line}:{problem.span.begin.column} {problem.kind} {problem.path} `{problem.span.text}`"
        + (f" -> {', '.join(problem.near)}" if problem.near else "")
        for problem in file.problems
    ]


@pytest.mark.parametrize("path", VALID, ids=lambda path: path.stem)
def test_valid_specs_have_no_problem(path: Path) -> None:
    file = read_path(path)
    assert (file.yaml.error, file.yaml.duplicates, as_lines(file)) == (None, (), [])


def test_the_json_schema_is_one() -> None:
    jsonschema.Draft7Validator.check_schema(json_schema())


@pytest.mark.parametrize("path", [*VALID, *INVALID], ids=lambda path: path.stem)
def test_reader_and_json_schema_agree(path: Path) -> None:
    file = read_path(path)
    assert file.yaml.root is not None
    valid = jsonschema.Draft7Validator(json_schema()).is_valid(plain(file.yaml.root))
    assert valid is (file.problems == ()) is (path in VALID)


@pytest.mark.parametrize("path", READER_ONLY, ids=lambda path: path.stem)
def test_references_are_beyond_the_json_schema(path: Path) -> None:
    file = read_path(path)
    assert file.yaml.root is not None
    assert jsonschema.Draft7Validator(json_schema()).is_valid(plain(file.yaml.root))
    assert file.problems != ()


def test_every_key_is_described() -> None:
    seen = [key for key in SPEC.keys.values() if not key.about.endswith(".")]
    assert seen == []


INVALID_LINES = {
    "misspelt-key": [
        "4:1 unknown-key resorces `resorces` -> resources",
        "8:5 unknown-key stages.warmup.lancher `lancher` -> launcher, branch",
        "10:20 unknown-key stages.warmup.deps.train.form `form` -> from",
    ],
    "wrong-type": [
        "2:7 wrong-type name `42`",
        '3:24 wrong-type resources.num_nodes `"2"`',
        '3:43 bad-value resources.accelerators `"H100 x 8"`',
        "4:22 wrong-type environment.ready `docker`",
        "9:15 wrong-type stages.train.optional `yes`",
        "10:11 wrong-type stages.train.args `[--model, small]`",
        "11:26 wrong-type stages.train.outs.ckpt.roles `actor`",
        "11:40 bad-value stages.train.outs.ckpt.every `0`",
        "12:9 wrong-type stages.eval `scripts/eval.sh`",
    ],
    "missing-key": [
        "1:1 missing-key name `schema`",
        "3:3 missing-key checkout.verl.url `verl`",
        "5:3 missing-key models.policy.id `policy`",
        "6:13 missing-key approvals.unsafe-code-eval.granted_by `unsafe-code-eval`",
        "8:3 missing-key stages.train.kind `train`",
        "9:3 missing-key stages.eval.launcher `eval`",
        "9:29 missing-key stages.eval.deps.policy.from `policy`",
    ],
    "choice": [
        "3:9 bad-value family `opoo` -> opo",
        "4:24 bad-value environment.profile `h100`",
        "5:21 bad-value on_policy.intent `exactly` -> exact",
        "7:17 bad-value stages.train.kind `traning` -> train",
        "7:83 bad-value stages.train.outs.ckpt.roles[1] `discriminator`",
        "7:106 bad-value stages.train.outs.ckpt.steps `100..2/2`",
    ],
    "two-bodies": [
        "4:51 bad-value stages.both `run`",
        "5:3 missing-key stages.none.launcher `none`",
        "6:55 bad-value stages.mixed.args `args`",
        "10:43 bad-value stages.twice.deps.policy `steps`",
    ],
    "merged-typo": ["3:61 unknown-key stages.first.enviroment `enviroment`"],
    "other-format": ["1:9 bad-value schema `verlint/exp-v2` -> verlint/exp-v1"],
    "empty-stages": ["3:1 bad-value stages `stages`"],
    "no-mapping": ["1:1 wrong-type  `-`"],
    "bad-names": [
        '3:15 bad-value credentials.? `"not a variable"`',
        "4:10 unknown-key models.polisy `polisy` -> policy",
        "5:9 unknown-key roots.cache `cache`",
        '7:3 bad-value stages.train.first `"train.first"`',
        "7:66 bad-value stages.train.first.env.1BAD `1BAD`",
    ],
    "reference": [
        "5:62 bad-reference models.experience.same_as `polcy` -> policy",
        "10:33 bad-reference stages.data.run `${roots.dta}` -> roots.data",
        "15:13 bad-reference stages.warmup.branch `warm-up` -> warmup",
        "17:13 bad-reference stages.warmup.needs[0] `dat` -> data",
        "19:19 bad-reference stages.warmup.args.game `${vars.gmae}` -> vars.game",
        "19:42 bad-reference stages.warmup.args.train `${deps.trian}` -> deps.train",
        "19:65 bad-reference stages.warmup.args.home `${HOME}`",
        "19:83 bad-reference stages.warmup.args.model `${model.policy}` -> models.policy",
        "20:19 bad-reference stages.warmup.credentials[0] `WANDB_API_KEY`",
        "21:17 bad-reference stages.warmup.approvals[0] `unsafe-code-eval`",
    ],
    "resolved-type": [
        '4:24 wrong-type resources.num_nodes `"${vars.nodes}"`',
        '6:17 bad-value stages.train.kind `"${vars.kind}"` -> train',
        '6:43 wrong-type stages.train.optional `"${vars.flag}"`',
    ],
    "falling-range": ["4:89 bad-value stages.train.outs.ckpt.steps `100..2/2`"],
    "loops": [
        "3:12 bad-reference vars.a `${vars.b}`",
        "3:48 bad-reference vars.whole `${vars}`",
        "4:57 bad-reference models.teacher.same_as `policy`",
        "6:92 bad-reference stages.train.args.sum `${mul:2,3}`",
        "6:112 bad-reference stages.train.args.open `${vars.a`",
    ],
}


@pytest.mark.parametrize("name", INVALID_LINES)
def test_problems_with_their_places(name: str) -> None:
    (path,) = SPECS.glob(f"*/{name}.exp.yaml")
    assert as_lines(read_path(path)) == INVALID_LINES[name]


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        (HEAD + "resources: {num_nodes: two}\n" + STAGES, "`num_nodes` must be a whole number, not the text `two`", "write a number: num_nodes: 1"),
        (HEAD + 'resources: {num_nodes: "2"}\n' + STAGES, "`num_nodes` must be a whole number, not the text `2`", "remove the quotes"),
        (HEAD + "family: 7\n" + STAGES, "`family` must be text, not a number", 'quote it: "7"'),
        (
            HEAD + "environment: {profile: h200}\n" + STAGES,
            "`h200` is not a value of `profile`",
            "it may be `a100-h200` or `b200`",
        ),
        (
            HEAD + 'vars: {n: x}\nresources: {num_nodes: "${vars.n}"}\n' + STAGES,
            "`num_nodes` must be a whole number, and `${vars.n}` stands for text",
            "",
        ),
        (HEAD + 'vars: {n: "${ROOT}"}\n' + STAGES, "`ROOT` names nothing in this file", "an environment variable is written ${oc.env:ROOT}"),
        (HEAD + 'vars: {n: "${outs.x}"}\n' + STAGES, "`outs` has a meaning within a stage only", ""),
        (HEAD + 'vars: {l: [1], n: "a${vars.l}"}\n' + STAGES, "a list or mapping cannot be part of a text", ""),
        (
            HEAD + 'credentials: {KEY: null}\nvars: {n: "${credentials.KEY}"}\n' + STAGES,
            "a credential has no value in a spec",
            "use ${oc.env:NAME} where the run reads it",
        ),
        (HEAD + STAGES + "---\nname: second\n", "a spec is one document; this one is not read", ""),
        ("", "the spec is empty", ""),
    ],
)  # fmt: skip
def test_messages(text: str, message: str, hint: str) -> None:
    problem = only(text)
    assert (problem.message, problem.hint) == (message, hint)


SECRET = "0123456789abcdef0123456789abcdef01234567"


@pytest.mark.parametrize(
    "credentials",
    [
        f"{{WANDB_API_KEY: {SECRET}}}",
        f"{{WANDB_API_KEY: {{value: {SECRET}}}}}",
        f"{{WANDB_API_KEY: {{{SECRET}: 1}}}}",
        f"{{WANDB_API_KEY: {{optional: {SECRET}}}}}",
        f"{{WANDB_API_KEY: {{used_by: {SECRET}}}}}",
        f"{{WANDB_API_KEY: {{used_by: [{SECRET}]}}}}",
        f"{{WANDB_API_KEY: [{SECRET}]}}",
        f"{{'{SECRET}': null}}",
        f"[{SECRET}]",
        SECRET,
    ],
)
def test_what_stands_under_credentials_is_never_repeated(credentials: str) -> None:
    problems = read(f"{HEAD}credentials: {credentials}\n{STAGES}").problems
    assert problems
    for problem in problems:
        assert SECRET not in problem.message + problem.hint + problem.path + "".join(problem.near)


def test_an_undeclared_credential_that_looks_like_a_secret_is_not_repeated() -> None:
    text = HEAD + f"stages:\n  train: {{kind: train, launcher: scripts/train.sh, credentials: ['{SECRET}']}}\n"
    assert only(text).message == "this name is not declared under `credentials`"


def test_references_give_typed_values_and_the_way_they_came() -> None:
    text = HEAD + 'vars: {n: 4, list: [1, 2]}\nx-c: &c {nodes: "${vars.n}"}\nstages:\n'
    text += '  train: {kind: train, launcher: t.sh, args: {<<: *c, all: "${vars.list}", label: "n=${vars.n}"}}\n'
    args = spec_of(text).stages["train"].args
    nodes = args["nodes"]
    assert (nodes.key, nodes.state, nodes.data) == ("stages.train.args.nodes", State.KNOWN, 4)
    assert [hop.span.text for hop in nodes.hops if hop.span] == ["4", "${vars.n}", "*c"]
    assert (args["all"].data, args["label"].data) == ([1, 2], "n=4")


def test_environment_variables_and_placeholders_stay_open_with_their_identity() -> None:
    text = (
        HEAD + 'roots: {data: "${oc.env:DATA}", results: <RESULTS>, checkpoints: "${oc.env:CKPT,/scratch}"}\nstages:\n'
    )
    text += '  train: {kind: train, launcher: t.sh, args: {a: "${roots.data}/x", b: "${oc.env:DATA}/x", '
    text += 'c: "${roots.results}/y", d: "${roots.checkpoints}/z"}}\n'
    args = spec_of(text).stages["train"].args
    assert args["a"].same_as(args["b"]) is True
    assert args["a"].same_as(args["c"]) is None
    assert [args[key].text.template for key in "abcd" if (args[key].text is not None)] == [  # type: ignore[union-attr]
        "⟦DATA⟧/x",
        "⟦DATA⟧/x",
        "⟦<RESULTS>⟧/y",
        "/scratch/z",
    ]
    holes = [hole.key for key in "ac" for hole in args[key].text.holes]  # type: ignore[union-attr]
    assert holes == [("env", "DATA"), ("placeholder", "RESULTS")]
    assert [hop.span.text for hop in args["a"].hops if hop.span] == [
        "${oc.env:DATA}",
        "${roots.data}",
        '"${roots.data}/x"',
    ]


def test_shell_text_keeps_what_belongs_to_the_shell() -> None:
    file = read_path(SPECS / "valid" / "shell-text.exp.yaml")
    assert file.spec is not None
    stage = file.spec.stages["score"]
    assert stage.run is not None
    assert stage.run_source is not None
    assert [hole.name for hole in stage.run.holes] == ["RESULTS"]
    assert 'out="${RESULTS:-/tmp}/scores" name=${HOME##*/}' in stage.run.template
    at = stage.run_source.text.index("score.py")
    span = stage.run_source.span(at, at + len("score.py"))
    assert (span.in_file().text, span.begin.line, span.begin.column) == ("score.py", 12, 14)


def test_the_model_of_a_whole_experiment() -> None:
    file = read_path(SPECS / "valid" / "gad-branches.exp.yaml")
    spec = file.spec
    assert spec is not None
    assert spec.stage_order == ("data", "seqkd", "warmup", "adversarial", "eval", "score")
    stage = spec.stages["adversarial"]
    student, train = stage.deps["student"], stage.deps["train"]
    assert (student.from_stage.data, student.role.data, student.stage_into.data) == ("warmup", "actor", "adv")
    assert student.wanted is not None
    assert list(student.wanted) == [800]
    assert (train.wanted, train.role.given) == (None, False)
    checkpoint = stage.outs["ckpt"]
    assert checkpoint.is_checkpoint
    assert ([role.data for role in checkpoint.roles], checkpoint.every.data, checkpoint.from_step.data) == (
        ["actor", "critic"],
        50,
        850,
    )
    wanted = spec.stages["eval"].deps["student"].wanted
    assert wanted is not None
    assert (wanted.ranges, wanted.first, wanted.last, 900 in wanted, 875 in wanted) == (
        (range(850, 2401, 50),),
        850,
        2400,
        True,
        False,
    )
    assert spec.intent(stage).data == "clipped"
    assert not spec.intent(spec.stages["data"]).given
    assert accelerators(spec.resource(stage, "accelerators")) == ("A100", 8)
    model = spec.model_id("discriminator")
    assert model is not None
    assert str(model) == "${GAD_STUDENT}"
    assert stage.places["args.resume_step"].text == "resume_step"
    assert [each.name for each in spec.credentials.values() if each.optional.truthy()] == ["HF_TOKEN"]
    assert [each.data for each in spec.credentials["OPENAI_API_KEY"].used_by] == ["score"]


def test_a_literal_credential_is_noted_but_not_kept() -> None:
    file = read(f"{HEAD}credentials: {{A: {SECRET}, B: null, C: '${{oc.env:C}}', D: <D>}}\n{STAGES}")
    assert file.spec is not None
    assert [each.literal for each in file.spec.credentials.values()] == [True, False, False, False]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("2..10/2", range(2, 11, 2)),
        ("5..5", range(5, 6)),
        ("1..3", range(1, 4)),
        ("10..2", None),
        ("1..3/0", None),
        ("a..b", None),
        ("1..", None),
        ("1..2/3/4", None),
    ],
)
def test_step_ranges(text: str, found: range | None) -> None:
    assert step_range(text) == found


def test_steps_that_are_missing() -> None:
    span = Source("x", "").whole()
    wanted, saved = Steps((range(50, 201, 50),), span, ""), Steps((range(0, 151, 100),), span, "")
    assert wanted.missing_from(saved) == (50, 150, 200)
    assert wanted.missing_from(Steps((), span, "", known=False)) is None


def test_growing_references_are_stopped() -> None:
    lines = ["  a0: xxxxxxxxxx", *(f"  a{n}: ${{vars.a{n - 1}}}${{vars.a{n - 1}}}" for n in range(1, 60))]
    file = read(HEAD + "vars:\n" + "\n".join(lines) + "\n" + STAGES)
    assert file.spec is not None
    assert file.spec.vars["a59"].state is State.UNKNOWN


def test_long_chains_of_references_are_stopped() -> None:
    lines = ["  a0: x", *(f"  a{n}: ${{vars.a{n - 1}}}" for n in range(1, 2000))]
    assert read(HEAD + "vars:\n" + "\n".join(reversed(lines)) + "\n" + STAGES).spec is not None


def findings(code: str, text: str) -> list[Finding]:
    rule: Rule = find_rule(code)
    return list(rule.check(read(text), Context(rule, None)))


@pytest.mark.parametrize(
    ("text", "fixed"),
    [
        (HEAD + "famly: opo\n" + STAGES, HEAD + "family: opo\n" + STAGES),
        (HEAD + 'family: "opcdd"\n' + STAGES, HEAD + 'family: "opcd"\n' + STAGES),
        (HEAD + "vars: {n: 1, m: '${vars.nn}'}\n" + STAGES, HEAD + "vars: {n: 1, m: '${vars.n}'}\n" + STAGES),
    ],
)
def test_the_fix_writes_the_one_similar_name(text: str, fixed: str) -> None:
    (finding,) = findings("VL004", text)
    assert finding.fix is not None
    (edit,) = finding.fix.edits
    assert text[: edit.span.start] + edit.text + text[edit.span.end :] == fixed


def test_a_second_merge_has_its_own_words() -> None:
    text = HEAD + "x-a: &a {k: 1}\nvars:\n  <<: *a\n  <<: *a\n" + STAGES
    (finding,) = findings("VL006", text)
    assert (finding.message, finding.related[0].label) == ("a second `<<` in one mapping", "first given here")


def test_broken_yaml_is_one_finding_and_nothing_else() -> None:
    text = HEAD + "models: {policy: ${x}}\n" + STAGES
    rule, file = find_rule("VL003"), Loaded(Source("exp.exp.yaml", text), Kind.SPEC, Path("exp.exp.yaml"))
    assert [each.span.text for each in rule.check(file, Context(rule, None)) if each.span is not None] == ["${x}"]
    assert [len(findings(code, text)) for code in ("VL004", "VL006")] == [0, 0]


WHOLE = [path.read_text(encoding="utf-8") for path in [*VALID, *INVALID, *READER_ONLY]]
NOISE = [
    "${",
    "}",
    "${vars.",
    "<X>",
    "[",
    "]",
    "{",
    "*c",
    "<<: ",
    "- ",
    "\n",
    "null",
    "9..1",
    "${deps.x}",
    ": ",
    "é😀",
    "x-",
]


@examples(max_examples=150, deadline=None)
@given(
    st.sampled_from(WHOLE),
    st.lists(st.tuples(st.floats(0, 1), st.integers(0, 9), st.sampled_from(NOISE)), min_size=1, max_size=4),
)
def test_no_mangled_spec_makes_the_reader_fail(text: str, edits: list[tuple[float, int, str]]) -> None:
    for place, length, noise in edits:
        at = int(place * len(text))
        text = text[:at] + noise + text[at + length :]
    for problem in read(text).problems:
        assert 0 <= problem.span.start <= problem.span.end <= len(text)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "oel-two-rounds",
            ["VL502 `--confirm_run_unsafe_code` is not needed: `ifeval` runs nothing of what the model answers"],
        ),
        ("gad-branches", []),
        ("opo-config", []),
    ],
)
def test_whole_experiments_lint_clean_apart_from_placeholders(
    name: str, expected: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from verlint.engine import check_project
    from verlint.files.loading import load
    from verlint.settings import Settings

    (tmp_path / f"{name}.exp.yaml").write_bytes((SPECS / "valid" / f"{name}.exp.yaml").read_bytes())
    monkeypatch.chdir(tmp_path)
    settings = Settings(root=tmp_path)
    report = check_project(load(["."], settings).files, settings, tmp_path)
    found = [each for each in report.findings if each.code not in ("VL005", "VL009")]  # what is left open
    assert [f"{each.code} {each.message.rpartition(', and ')[2]}" for each in found] == expected


@pytest.mark.parametrize(
    ("default", "fits"), [("2", True), ("two", False), ("0", False), ("", False), ("02", True), ("2.5", False)]
)
def test_the_default_of_an_environment_variable_is_read_as_what_is_wanted(default: str, fits: bool) -> None:
    text = HEAD + f'resources: {{num_nodes: "${{oc.env:NODES,{default}}}"}}\n' + STAGES
    assert (read(text).problems == ()) is fits


def test_defaults_of_switches_and_steps() -> None:
    spec_of(
        HEAD + "stages:\n"
        '  one: {kind: train, launcher: a.sh, optional: "${oc.env:SKIP,true}"}\n'
        '  two: {kind: eval, launcher: b.sh, deps: {p: {from: one, steps: "${oc.env:STEPS,2..8/2}"}}}\n'
    )
