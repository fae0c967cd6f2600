"""A variable for a program must have the name that the program reads.

Programs take nothing from a variable that is called nearly like theirs, and say nothing about it: with
`CUDA_VISABLE_DEVICES=0,1` the run takes all GPUs, with `WANDB_MODEL=offline` it goes online.

Reported are exported names that differ from a well-known one by a letter, a plural or an underscore, and that nothing
takes: they stand in front of a `=` only, in the launcher and in all code and config of the project. Keys and tokens in
the plural and names with a number are left alone.

The other way round, a scheduler sets what it sets: `$SLURM_JOB_NUM_NODE` is empty, and `$((SLURM_JOB_NUM_NODE - 1))` is
-1. Reported are names like one of Slurm's or SkyPilot's that neither of them nor the script sets.

Fix: write the name that the program reads.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator

from verlint.experiment.all_files import of_all_files
from verlint.experiment.project import Project
from verlint.experiment.script import Script
from verlint.files.tree import Tree
from verlint.finding import Edit, Finding, Safety
from verlint.languages.bash.syntax import Assign, Simple
from verlint.languages.bash.walk import literal_word, walk
from verlint.lazy import pattern
from verlint.rule import WARNING, Context, rule

_KNOWN = """
CUDA_VISIBLE_DEVICES CUDA_DEVICE_MAX_CONNECTIONS CUDA_LAUNCH_BLOCKING VLLM_ATTENTION_BACKEND VLLM_USE_V1
VLLM_WORKER_MULTIPROC_METHOD VLLM_LOGGING_LEVEL VLLM_ALLOW_LONG_MAX_MODEL_LEN VLLM_ENGINE_ITERATION_TIMEOUT_S
WANDB_API_KEY WANDB_MODE WANDB_PROJECT WANDB_ENTITY WANDB_DIR WANDB_NAME WANDB_RUN_ID WANDB_BASE_URL WANDB_DISABLED
SWANLAB_API_KEY SWANLAB_MODE SWANLAB_LOG_DIR HF_HOME HF_TOKEN HF_ENDPOINT HF_HUB_OFFLINE HF_DATASETS_CACHE
HF_DATASETS_OFFLINE HF_HUB_ENABLE_HF_TRANSFER HUGGING_FACE_HUB_TOKEN TRANSFORMERS_OFFLINE TRANSFORMERS_CACHE
TOKENIZERS_PARALLELISM NCCL_DEBUG NCCL_SOCKET_IFNAME NCCL_IB_DISABLE NCCL_IB_GID_INDEX NCCL_P2P_DISABLE
GLOO_SOCKET_IFNAME TORCH_NCCL_AVOID_RECORD_STREAMS TORCH_NCCL_ASYNC_ERROR_HANDLING PYTORCH_CUDA_ALLOC_CONF PYTHONPATH
PYTHONUNBUFFERED OMP_NUM_THREADS RAY_ADDRESS RAY_TMPDIR RAY_DEDUP_LOGS HYDRA_FULL_ERROR OPENAI_API_KEY OPENAI_BASE_URL
OPENAI_API_BASE ANTHROPIC_API_KEY MASTER_ADDR MASTER_PORT LD_LIBRARY_PATH TRITON_CACHE_DIR VERL_LOGGING_LEVEL
SGLANG_VLM_CACHE_SIZE_MB TORCH_CUDA_ARCH_LIST DEEPSPEED_TIMEOUT ACCELERATE_LOG_LEVEL
"""
"""Sources: the documentation of CUDA, NCCL, PyTorch, vLLM, Ray, Hydra, Weights & Biases, SwanLab and Hugging Face."""

_GIVEN = """
SLURM_ACCOUNT SLURM_ARRAY_JOB_ID SLURM_ARRAY_TASK_COUNT SLURM_ARRAY_TASK_ID SLURM_ARRAY_TASK_MAX SLURM_ARRAY_TASK_MIN
SLURM_ARRAY_TASK_STEP SLURM_CLUSTER_NAME SLURM_CLUSTERS SLURM_CONF SLURM_CPU_BIND SLURM_CPUS_ON_NODE
SLURM_CPUS_PER_GPU SLURM_CPUS_PER_TASK SLURM_CPU_FREQ_REQ SLURM_CONSTRAINT SLURM_DISTRIBUTION SLURM_EXCLUSIVE
SLURM_EXPORT_ENV SLURM_GPUS SLURM_GPUS_ON_NODE SLURM_GPUS_PER_NODE SLURM_GPUS_PER_SOCKET SLURM_GPUS_PER_TASK
SLURM_GPU_BIND SLURM_GPU_FREQ SLURM_GTIDS SLURM_HET_SIZE SLURM_HOSTFILE SLURM_JOBID SLURM_JOB_ACCOUNT
SLURM_JOB_CPUS_PER_NODE SLURM_JOB_DEPENDENCY SLURM_JOB_END_TIME SLURM_JOB_GID SLURM_JOB_GPUS SLURM_JOB_ID
SLURM_JOB_NAME SLURM_JOB_NODELIST SLURM_JOB_NUM_NODES SLURM_JOB_PARTITION SLURM_JOB_QOS SLURM_JOB_RESERVATION
SLURM_JOB_START_TIME SLURM_JOB_TIMELIMIT SLURM_JOB_UID SLURM_JOB_USER SLURM_LAUNCH_NODE_IPADDR SLURM_LOCALID
SLURM_MEM_BIND SLURM_MEM_PER_CPU SLURM_MEM_PER_GPU SLURM_MEM_PER_NODE SLURM_MPI_TYPE SLURM_NNODES SLURM_NODEID
SLURM_NODELIST SLURM_NODE_ALIASES SLURM_NPROCS SLURM_NTASKS SLURM_NTASKS_PER_CORE SLURM_NTASKS_PER_GPU
SLURM_NTASKS_PER_NODE SLURM_NTASKS_PER_SOCKET SLURM_OVERCOMMIT SLURM_OVERLAP SLURM_PARTITION SLURM_PRIO_PROCESS
SLURM_PROCID SLURM_PROFILE SLURM_RESERVATION SLURM_RESTART_COUNT SLURM_SHARDS_ON_NODE SLURM_SRUN_COMM_HOST
SLURM_STEPID SLURM_STEP_GPUS SLURM_STEP_ID SLURM_STEP_NODELIST SLURM_STEP_NUM_NODES SLURM_STEP_NUM_TASKS
SLURM_STEP_TASKS_PER_NODE SLURM_SUBMIT_DIR SLURM_SUBMIT_HOST SLURM_TASKS_PER_NODE SLURM_TASK_PID
SLURM_THREADS_PER_CORE SLURM_TIMELIMIT SLURM_TMPDIR SLURM_TOPOLOGY_ADDR SLURM_TRES_PER_TASK SLURM_UMASK SLURM_USER
SLURM_WORKING_CLUSTER SKYPILOT_NODE_RANK SKYPILOT_NODE_IPS SKYPILOT_NUM_NODES SKYPILOT_NUM_GPUS_PER_NODE
SKYPILOT_TASK_ID SKYPILOT_CLUSTER_INFO SKYPILOT_SETUP_NODE_RANK SKYPILOT_SETUP_NODE_IPS
SKYPILOT_SETUP_NUM_GPUS_PER_NODE SKYPILOT_USER SKYPILOT_JOB_ID SKYPILOT_INTERNAL_JOB_ID SKYPILOT_SERVE_REPLICA_ID
"""
"""What schedulers set. Sources: sbatch(1) and srun(1) of Slurm 18 to 25, SkyPilot's documentation of its variables."""
_USED = pattern(r"\$\{?((?:SLURM|SKYPILOT)_[A-Z0-9_]+)|(?<=\(\()[ \t]*((?:SLURM|SKYPILOT)_[A-Z0-9_]+)")

_MOST_FILES = 5000
"""Names of a project that are looked at for a program that reads the variable after all."""

_READER = pattern(
    r"\.(?:py|pyx|ipynb|ya?ml|json|toml|cfg|ini|env|sh|bash|slurm|sbatch|j2|jinja|tmpl|js|mjs|ts|rs|go|c|cc|cpp|cu|h|hpp|mk)$"
    r"|^(?:Makefile|Dockerfile|Containerfile|justfile|\.env)"
)
"""Names of files that may take a variable from the environment."""

_DECLARING = frozenset(["export", "declare", "typeset", "readonly"])


@rule(
    "VL929",
    "misspelt-variable",
    on=Script,
    severity=WARNING,
    since="0.1",
    fixable="unsafe",
    words=(
        "cuda_vis",
        "cuda_la",
        "cuda_dev",
        "wandb_mo",
        "wandb_na",
        "wandb_pr",
        "wandb_di",
        "wandb_en",
        "swanlab",
        "hf_",
        "hugging",
        "transformers_",
        "tokenizer_",
        "nccl_so",
        "nccl_ib",
        "nccl_p2",
        "gloo",
        "vllm_att",
        "slurm_",
        "skypilot_",
    ),
)
def check(script: Script, ctx: Context) -> Iterator[Finding]:
    if script.document:
        return
    yield from _never_given(script, ctx)
    known = frozenset(_KNOWN.split())
    for text, program in script.syntax:
        for group in program.groups:
            for node in walk(group):
                if not isinstance(node, Simple) or not node.words:
                    continue
                declares = literal_word(node.words[0]) in _DECLARING
                for assign in (each for each in node.words if isinstance(each, Assign)) if declares else node.assigns:
                    near = _near(assign.name, known)
                    if not near or _is_used(assign.name, text.text, script, ctx):
                        continue
                    span = text.span(assign.start, assign.start + len(assign.name))
                    message = (
                        f"nothing reads {assign.name}, so this setting has no effect: the variable is called {near}"
                    )
                    finding = ctx.fail(span, message, near=near, help=f"write {near}")
                    edit = Edit(span.in_file(), near)
                    yield finding.with_fix(f"write {near}", edit, safety=Safety.UNSAFE)


def _never_given(script: Script, ctx: Context) -> Iterator[Finding]:
    """Uses of variables that no scheduler sets, each name once."""
    given: frozenset[str] = frozenset()
    seen: set[str] = set()
    for text in script.texts:
        for match in _USED.finditer(text.text) if "SLURM_" in text.text or "SKYPILOT_" in text.text else ():
            given = given or frozenset(_GIVEN.split())
            name = match[1] or match[2]
            if name in seen or name in given:
                continue
            seen.add(name)
            near = _near(name, given)
            if not near or _is_set(name, ctx):
                continue
            number = 1 if match[1] else 2
            place = text.span(match.start(number), match.end(number))
            if _is_comment(text.text, match.start()):
                continue
            owner = "Slurm" if name.startswith("SLURM") else "SkyPilot"
            finding = ctx.fail(
                place, f"{owner} sets no {name}, so it is empty: the variable is called {near}", near=near,
                help=f"write {near}",
            )  # fmt: skip
            yield finding.with_fix(f"write {near}", Edit(place.in_file(), near), safety=Safety.UNSAFE)


def _is_set(name: str, ctx: Context) -> bool:
    """Whether a file of the project gives the variable a value."""
    setting = re.compile(rf"\b{name}=")
    return any(name in file.source.text and setting.search(file.source.text) for file in ctx.project.files)


def _is_comment(text: str, at: int) -> bool:
    return text[text.rfind("\n", 0, at) + 1 : at].lstrip().startswith("#")


def _near(name: str, known: frozenset[str]) -> str:
    """The well-known name that a name was meant to be, "" for none."""
    if name in known or not name.isupper() or name[-1].isdigit() or name.endswith(("KEYS", "TOKENS")):
        return ""
    from verlint.verl.slips import alike

    return next((each for each in sorted(known) if abs(len(each) - len(name)) < 3 and alike(name, each)), "")


def _is_used(name: str, text: str, script: Script, ctx: Context) -> bool:
    """Whether a name stands anywhere but in front of a `=`: whoever copies a launcher copies its slips."""
    if _is_taken(name, text):
        return True
    tree = ctx.project.tree
    return _is_named(ctx.project, name, script.source.path) or any(
        (source := tree.pointed_at(path)) is not None and name in source.text and _is_taken(name, source.text)
        for path in _readers(tree)
        if path != script.source.path
    )


def _is_taken(name: str, text: str) -> bool:
    return re.search(rf"\b{name}\b(?!\+?=)", text) is not None


@of_all_files
def _is_named(project: Project, name: str, but: str) -> bool:
    return any(
        name in file.source.text and _is_taken(name, file.source.text)
        for file in project.files
        if file.source.path != but
    )


def _readers(tree: Tree) -> Iterator[str]:
    """The first files of a project that may read a variable, folder by folder."""
    waiting, looked_at = deque([""]), 0
    while waiting and looked_at < _MOST_FILES:
        folder = waiting.popleft()
        for name in tree.listing(folder or "."):
            path = f"{folder}/{name}" if folder else name
            looked_at += 1
            if _READER.search(name):
                yield path
            elif "." not in name and tree.is_dir(path):
                waiting.append(path)
