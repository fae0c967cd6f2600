"""What each job format says: shells with their options and folders, variables, nodes and GPUs. Slurm headers and Ray
runtime environments likewise."""

from __future__ import annotations

from pathlib import Path

import pytest

from verlint.experiment.project import Project
from verlint.experiment.runtime_envs import runtime_env_of
from verlint.files.loading import load
from verlint.languages.jobs.job import Job
from verlint.languages.jobs.reading import read_jobs
from verlint.languages.runtime_env import read_runtime_env
from verlint.languages.slurm import batch_call, scheduler_of
from verlint.settings import Settings
from verlint.source import Source
from verlint.value import Literal, literal


def jobs_of(text: str, path: str = "job.yaml") -> tuple[Job, ...]:
    return read_jobs(Source(path, text))[1]


def told(job: Job) -> list[str]:
    """Each block in one line: name, text, options, folder, whether it goes on in the shell before."""
    out = []
    for block in job.blocks:
        options = "".join(sorted(block.options - {"pipefail"})) + ("+pipefail" if "pipefail" in block.options else "")
        words = [block.name, repr(block.source.text), options, repr(block.folder), "joined" if block.joined else ""]
        out.append(" ".join(word for word in words if word))
    return out


WORKFLOW = """\
on: push
env: {A: "1"}
defaults: {run: {shell: bash}}
jobs:
  one:
    runs-on: gpu
    steps:
      - uses: actions/checkout@v4
        with: {path: src}
      - run: first
        working-directory: src/scripts
      - run: second
        shell: sh
      - run: third
        shell: bash -leo pipefail {0}
      - run: not ours
        shell: pwsh
      - run: elsewhere
        working-directory: ${{ inputs.folder }}
  two:
    runs-on: windows-latest
    defaults: {run: {working-directory: sub}}
    steps:
      - run: without a checkout
"""


def test_shells_of_a_workflow() -> None:
    one, two = jobs_of(WORKFLOW)
    assert (one.start, two.start) == (".", None)
    assert told(one) == [
        "steps[1].run 'first' e+pipefail 'scripts'",
        "steps[2].run 'second' e None",
        "steps[3].run 'third' e+pipefail None",
        "steps[5].run 'elsewhere' e+pipefail None",
    ]
    assert told(two) == ["steps[0].run 'without a checkout' e+pipefail None"]


EXPRESSIONS = """\
on: push
env: {A: "1", B: "x-${{ env.A }}"}
jobs:
  one:
    strategy: {matrix: {gpus: [8], os: [a, b]}}
    env: {A: "2", C: "${{ matrix.gpus }}${{ matrix.os }}"}
    steps:
      - uses: actions/checkout@v4
      - run: echo "D=4" >> $GITHUB_ENV; echo "E=$(date)" >> "$GITHUB_ENV"
      - run: go ${{ secrets.KEY }} ${{ github.workspace }} ${{ fromJSON(inputs.x)[0] }}
        env: {A: "3", F: "${{ env.D }}"}
"""


def test_variables_and_expressions_of_a_workflow() -> None:
    (job,) = jobs_of(EXPRESSIONS)
    block = job.blocks[1]
    shown = {name: text.shown for name, text in block.environment.items() if len(name) == 1}
    assert shown == {"A": "3", "B": "x-${{ env.A }}", "C": "8${{ matrix.os }}", "D": "4", "E": "${E}", "F": "4"}
    reasons = [text.holes[0].reason for text in block.expressions.values()]
    assert reasons == ["secret of the repository", "folder of the repository", "expression of GitHub"]
    assert block.environment["C"].holes[0].reason == "value of the matrix"
    assert block.environment["GITHUB_SHA"].holes[0].reason == "set by GitHub"


@pytest.mark.parametrize(
    ("resources", "gpus"),
    [
        ("{accelerators: H100:8}", 8),
        ("{accelerators: H100}", 1),
        ("{accelerators: {H100: 4}}", 4),
        ("{accelerators: {H100: 4, A100: 8}}", None),
        ("{accelerators: [H100:8, A100:8]}", None),
        ("{accelerators: H100:0.5}", None),
        ("{cpus: 4}", None),
    ],
)
def test_accelerators_of_a_skypilot_task(resources: str, gpus: int | None) -> None:
    (job,) = jobs_of(f"resources: {resources}\nnum_nodes: 2\nworkdir: sub\nenvs: {{A: x, B: }}\nrun: ls\n")
    assert (job.gpus.number if job.gpus else None, job.nodes.number if job.nodes else None) == (gpus, 2)
    variables = job.blocks[0].environment
    known = {name: variables[name].known for name in ("A", "B", "SKYPILOT_NUM_NODES", "SKYPILOT_NODE_RANK")}
    assert known == {"A": "x", "B": None, "SKYPILOT_NUM_NODES": "2", "SKYPILOT_NODE_RANK": None}
    assert variables["B"].holes[0].reason == "given with --env at launch"
    assert variables["SKYPILOT_NUM_GPUS_PER_NODE"].known == (str(gpus) if gpus else None)
    assert job.start == "sub"


def test_chains_of_skypilot_tasks() -> None:
    first, second = jobs_of("name: a\nrun: one\nnum_nodes: 1\n---\nsetup: two\nrun: |\n  three\n")
    assert (told(first), told(second)) == (["run 'one' ''"], ["setup 'two' ''", "run 'three\\n' ''"])
    assert (first.start, first.nodes and first.nodes.number, second.gpus) == (None, 1, None)


@pytest.mark.parametrize(
    ("gpu", "number"),
    [("8", 8), ("H100:8", 8), ("H100:80GB:8", 8), ("H100", 1), ("H100:2..4", None), ("{name: H100, count: 2}", 2)],
)
def test_gpus_of_a_dstack_task(gpu: str, number: int | None) -> None:
    (job,) = jobs_of(
        f"type: task\nnodes: 2\nworking_dir: sub\nenv:\n  - A=1\n  - B\ncommands:\n  - one\n  - two\nresources:\n  gpu: {gpu}\n"
    )
    assert (job.gpus.number if job.gpus else None) == number
    assert told(job) == ["commands[0] 'one' e 'sub'", "commands[1] 'two' e 'sub' joined"]
    variables = job.blocks[0].environment
    assert [variables[name].known for name in ("A", "B", "DSTACK_NODES_NUM")] == ["1", None, "2"]


@pytest.mark.parametrize(
    ("container", "said"),
    [
        ("command: [bash, -c, ls]", "command 'ls' ''"),
        ("command: [/bin/bash, -euc]\n      args: [ls]", "command 'ls' eu ''"),
        ("command: [bash, -e, -c]\n      args: [ls, a]", "command 'ls' e ''"),
        ("args: [python3, a b, it's]", """command "python3 'a b' 'it'\\\\''s'" ''"""),
        ("command: [bash, run.sh]\n      workingDir: /w", "command 'bash run.sh' None"),
        ("env: [{name: A, value: x}]\n      args: [a, $(A)/$(B)]", "command 'a \\'\\'\"${A}\"\\'/$(B)\\'' ''"),
    ],
)
def test_commands_of_a_container(container: str, said: str) -> None:
    text = f"apiVersion: v1\nkind: Pod\nspec:\n  containers:\n    - name: a\n      {container}\n"
    (job,) = jobs_of(text)
    assert told(job) == [said]


def test_folders_that_a_task_mounts() -> None:
    (job,) = jobs_of(
        "resources: {}\nrun: ls\nfile_mounts:\n  /data: s3://rl-data\n  /ckpts/:\n    name: rl-ckpts\n    mode: MOUNT\n"
        "  /models: {source: gs://models, mode: COPY}\n  ~/code: ./src\n"
    )
    assert [(each.path, each.origin, each.shared, str(each.span)) for each in job.mounts] == [
        ("/data", "s3://rl-data", False, "job.yaml:4:3"),
        ("/ckpts", "rl-ckpts", True, "job.yaml:5:3"),
        ("/models", "gs://models", False, "job.yaml:8:3"),
        ("~/code", "./src", False, "job.yaml:9:3"),
    ]
    assert [found and found.path for found in map(job.mount, ("/ckpts/a", "/ckpts", "/ckpts2", "/data/x"))] == [
        "/ckpts", "/ckpts", None, "/data",
    ]  # fmt: skip


def test_a_script_template_of_argo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("flow.yaml").write_text(
        "apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nspec:\n  templates:\n    - name: train\n      script:\n"
        "        command: [bash, -e]\n        env: [{name: STEPS, value: '{{inputs.parameters.steps}}'}]\n"
        "        source: |\n          python3 -m verl.trainer.main_ppo trainer.nnodes={{inputs.parameters.nodes}} \\\n"
        '            trainer.n_gpus_per_node=8 trainer.total_training_steps="$STEPS"\n'
        "    - name: other\n      script: {command: [python3], source: 'import verl.trainer.main_ppo'}\n"
    )
    project = Project(load(["flow.yaml"], Settings(root=tmp_path)).files, Settings(root=tmp_path), tmp_path)
    ((launch, variant),) = project.launches
    keys = ("trainer.nnodes", "trainer.n_gpus_per_node", "trainer.total_training_steps")
    assert [str(launch[key]) for key in keys] == ["{{inputs.parameters.nodes}}", "8", "${STEPS}"]
    assert str(variant.command.span) == "flow.yaml:10:11"


def test_the_entry_point_of_a_ray_job() -> None:
    text = (
        "apiVersion: ray.io/v1\nkind: RayJob\nmetadata: {name: n}\nspec:\n  entrypoint: go now\n  runtimeEnvYAML: |\n"
        "    env_vars: {A: '1'}\n  rayClusterSpec:\n    headGroupSpec:\n      template: {spec: {containers: [{env:"
        " [{name: B, value: two}, {name: A, value: '2'}]}]}}\n"
    )
    (job,) = jobs_of(text)
    assert (job.format, job.name, told(job)) == ("RayJob", "n", ["entrypoint 'go now' ''"])
    assert {name: text.known for name, text in job.blocks[0].environment.items()} == {"A": "1", "B": "two"}


def test_scripts_of_a_gitlab_pipeline() -> None:
    text = (
        "stages: [a]\nbefore_script: [zero]\n.hidden: {script: [x]}\none:\n  script:\n    - first\n    - [second, third]\n"
        "    - !reference [x, script]\n  after_script: last\n"
    )
    (job,) = jobs_of(text)
    assert told(job) == [
        "before_script[0] 'zero' e+pipefail ''",
        "script[0] 'first' e+pipefail '' joined",
        "script[1] 'second' e+pipefail '' joined",
        "script[2] 'third' e+pipefail '' joined",
        "script[3] 'x' e+pipefail '' joined",
        "script[4] 'script' e+pipefail '' joined",
        "after_script[0] 'last' ''",
    ]


# Slurm ---------------------------------------------------------------------------------------------------------------

HEADER = """\
#!/bin/bash
#SBATCH -N2 -n 4 --gres=gpu:a100:8  # of each node
#SBATCH --output "logs/a b.log"
#SBATCH --exclusive -J name
##SBATCH --nodes=9
#SBATCH --nodes=3
echo
#SBATCH --nodes=5
"""


def test_the_header_of_a_batch_script() -> None:
    found = scheduler_of(Source("a.slurm", HEADER))
    assert found is not None
    assert [(each.name, each.value, each.span.text, each.value_span.text) for each in found.directives] == [
        ("nodes", "2", "-N2", "2"),
        ("ntasks", "4", "-n 4", "4"),
        ("gres", "gpu:a100:8", "--gres=gpu:a100:8", "gpu:a100:8"),
        ("output", "logs/a b.log", '--output "logs/a b.log"', "logs/a b.log"),
        ("exclusive", "", "--exclusive", ""),
        ("job-name", "name", "-J name", "name"),
        ("nodes", "3", "--nodes=3", "3"),
    ]
    assert {name: text.known for name, text in found.environment().items()} == {
        "SLURM_NNODES": "3", "SLURM_JOB_NUM_NODES": "3", "SLURM_NTASKS": "4", "SLURM_GPUS_ON_NODE": "8",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("options", "gpus"),
    [
        ("--gpus-per-node=4", 4),
        ("--gpus-per-node=h100:4", 4),
        ("--gres=gpu", 1),
        ("--gres=disk:1,gpu:2", 2),
        ("--gpus=16 --nodes=2", 8),
        ("--gpus=16", None),
        ("--gpus-per-task=1 --ntasks-per-node=8", 8),
        ("--nodes=2-4", None),
    ],
)
def test_gpus_of_a_node(options: str, gpus: int | None) -> None:
    found = scheduler_of(Source("a.slurm", f"#SBATCH {options}\n"))
    assert found is not None
    assert (found.gpus.number if found.gpus else None) == gpus


def test_a_call_of_sbatch() -> None:
    words = "sbatch -N 4 --gres gpu:2 --export=ALL,A=1,B=x --exclusive run.slurm a -b".split()
    call = batch_call([literal(word) for word in words])
    assert [word.known for word in call.words] == ["run.slurm", "a", "-b"]
    assert {name: text.known for name, text in call.exported.items()} == {"A": "1", "B": "x"}
    header = Source("run.slurm", "#SBATCH --nodes=2 --ntasks=2 --gpus-per-node=8\n")
    left = call.environment(header, (Literal("/srv"),))
    assert {name: text.known for name, text in left.items()} == {
        "SLURM_NTASKS": "2", "SLURM_SUBMIT_DIR": "/srv", "SLURM_EXPORT_ENV": "ALL,A=1,B=x", "A": "1", "B": "x",
    }  # fmt: skip


# Ray -----------------------------------------------------------------------------------------------------------------


def test_which_variables_of_a_runtime_env_are_strings() -> None:
    text = "working_dir: .\nenv_vars:\n  A: '1'\n  B: 1\n  C: yes\n  D: word\n  E:\n  F: 010\n  G: 1e-6\n  H: [a]\n  I: 12:30\n"
    found = read_runtime_env(Source("runtime_env.yaml", text))
    assert found is not None
    assert {name for name, each in found.env_vars.items() if not each.is_string} == set("BCEFHI")
    assert str(found.env_vars["C"].span) == "runtime_env.yaml:5:6"
    assert read_runtime_env(Source("x.yaml", "a: 1\n")) is None
    assert read_runtime_env(Source("x.yaml", "env_vars: [\n")) is None


def test_what_a_submitted_script_is_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub").mkdir()
    Path("env.yaml").write_text("env_vars: {NODES: '4'}\n")
    Path("sub/inner.sh").write_text('python3 -m verl.trainer.main_ppo trainer.nnodes="$NODES"\n')
    Path("in_header.slurm").write_text("#!/bin/bash\n#SBATCH --chdir=sub\nbash inner.sh\n")
    Path("plain.slurm").write_text("#!/bin/bash\nbash inner.sh\n")
    Path("run.sh").write_text(
        "ray job submit --runtime-env env.yaml -- bash sub/inner.sh\nsbatch --export=NODES=1 in_header.slurm\n"
        "sbatch -D sub --export=NODES=2 plain.slurm\nsbatch --chdir=/srv/other plain.slurm\n"
    )
    settings = Settings(root=tmp_path)
    for name, expected in (("run.sh", ["4", "1", "2"]), ("in_header.slurm", ["${NODES}"])):
        project = Project(load([name], settings).files, settings, tmp_path)
        assert [str(launch["trainer.nnodes"]) for launch, _ in project.launches] == expected


def test_runtime_envs_of_submissions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub").mkdir()
    Path("env.yaml").write_text("env_vars: {A: plain}\n")
    Path("run.sh").write_text(
        """ray job submit --runtime-env-json='{"env_vars": {"N": 1, "K": "'$KEY'", "P": "x"}}' -- python3 a.py x.y=1\n"""
        "ray job submit --runtime-env=env.yaml -- python3 a.py x.y=1\n"
        "cd sub\nray job submit --runtime-env ../env.yaml -- python3 a.py x.y=1\nray job submit -- bash b.sh\n"
    )
    project = Project(load(["run.sh"], Settings(root=tmp_path)).files, Settings(root=tmp_path), tmp_path)
    found = [
        runtime_env_of(variant.command, project.tree) for variant in project.variants if not variant.command.builtin
    ]
    told = [
        None if each is None else {n: (v.value.shown, v.is_string, str(v.span)) for n, v in each.env_vars.items()}
        for each in found
    ]
    assert told == [
        {
            "N": ("1", False, "run.sh:1:55"),
            "K": ("${KEY}", True, "run.sh:1:35"),
            "P": ("x", True, "run.sh:1:78"),
        },
        {"A": ("plain", True, "env.yaml:1:15")},
        {"A": ("plain", True, "env.yaml:1:15")},
        None,
    ]
