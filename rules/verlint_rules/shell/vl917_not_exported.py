"""A variable for a program must be exported.

`CUDA_VISIBLE_DEVICES=0,1` on a line of its own sets a variable of the shell, which no program sees: the trainer takes
all GPUs, the downloads go into the default cache, the debug switch does nothing. Only `export`, `declare -x`, `set -a`
or an assignment in front of the command itself reaches it.

Reported are names that only programs read (of CUDA, NCCL, vLLM, Ray, Hugging Face, W&B, PyTorch, Hydra …) and that the
script itself never uses, where a program starts behind the assignment. Whoever starts the script may have exported the
name already; then the assignment does reach programs, so the finding says what holds otherwise. Silent where the script
exports the name anywhere, or hands it on (`-e NAME`, `env NAME=…`).

The same goes for a launch in a shell of its own: with `OUT=…` and `sbatch <<'EOF'`, `bash -c '… $OUT'` or
`bash train.sh` behind it, `$OUT` is looked up in that shell, which does not have it. Reported where nothing on the way
gives it a value or a default; hosts and containers are VL932.

Fix: put `export` in front. For a shell of its own that is the unsafe fix.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.places import assignments_in, variants_in
from verlint.experiment.script import Script
from verlint.finding import Edit, Finding, Safety
from verlint.languages.bash.command import Assignment, Command
from verlint.lazy import pattern
from verlint.rule import WARNING, Context, rule
from verlint.source import Source, Span
from verlint_rules.shell.unset_names import names_of

_FOR_PROGRAMS = pattern(
    r"(?:CUDA_VISIBLE_DEVICES|ASCEND_RT_VISIBLE_DEVICES|HIP_VISIBLE_DEVICES|ROCR_VISIBLE_DEVICES|CUDA_LAUNCH_BLOCKING"
    r"|CUDA_DEVICE_MAX_CONNECTIONS|NCCL_\w+|GLOO_SOCKET_IFNAME|TORCH_NCCL_\w+|PYTORCH_\w+|VLLM_\w+|SGLANG_\w+|SGL_\w+"
    r"|RAY_(?!HEAD|PORT|IP|NODE|WORKER|DIR|DATA|VERSION|HOME|CLUSTER|DASHBOARD)\w+|HF_(?:HOME|HUB_\w+|ENDPOINT|DATASETS_\w+|TOKEN)"
    r"|TRANSFORMERS_\w+|TOKENIZERS_PARALLELISM|WANDB_(?:API_KEY|MODE|BASE_URL|DIR|DISABLED|ENTITY)|HYDRA_FULL_ERROR"
    r"|OMP_NUM_THREADS|MKL_NUM_THREADS|PYTHONPATH|PYTHONUNBUFFERED|LD_LIBRARY_PATH|TRITON_CACHE_DIR|VERL_LOGGING_LEVEL)"
)
"""Variables that programs read and scripts hardly do; from the documentation of their libraries."""
_FIRST_WORDS = frozenset(
    """
    CUDA ASCEND HIP ROCR NCCL GLOO TORCH PYTORCH VLLM SGLANG SGL RAY HF TRANSFORMERS TOKENIZERS WANDB HYDRA OMP MKL
    PYTHONPATH PYTHONUNBUFFERED LD TRITON VERL
    """.split()  # noqa: SIM905
)
"""What their names begin with: a quick look, as most names begin with something else."""
_ALL_EXPORTED = pattern(r"\bset\s+(?:-\w*a|-o\s+allexport)\b|\bdeclare\s+-\w*x")


@rule("VL917", "not-exported", on=Script, severity=WARNING, since="0.1", fixable="safe")
def check(script: Script, ctx: Context) -> Iterator[Finding]:
    if script.document:
        return
    source = script.source
    names = names_of(script)
    seen: set[int] = set()
    for assignment in assignments_in(ctx.project, source):
        name, span = assignment.name, assignment.span.in_file()
        if span.start in seen or assignment.exported or assignment.prefix_of or assignment.value is None:
            continue
        if name.partition("_")[0] not in _FIRST_WORDS or not _FOR_PROGRAMS.fullmatch(name):
            continue
        if name in names.exported or _is_mentioned(name, source):
            continue
        if _ALL_EXPORTED.search(source.text):
            return
        reader = _started_behind(assignment, script, ctx)
        if reader is None:
            continue
        seen.add(span.start)
        yield _finding(assignment, reader, ctx)
    if not _ALL_EXPORTED.search(source.text):
        yield from _read_in_other_shells(script, ctx)


def _read_in_other_shells(script: Script, ctx: Context) -> Iterator[Finding]:
    """Variables of the script that a launch takes in a shell which the script starts, each assignment once."""
    exported, seen = names_of(script).exported, set[int]()
    for path in script.resolution.paths:
        own: dict[str, Assignment] = {}
        for event in path.events:
            if isinstance(event, Assignment):
                if not event.around.stack and event.span.source is script.source and not event.prefix_of:
                    own[event.name] = event
                continue
            stack = event.around.stack
            if not own or not stack or event.around.elsewhere or ctx.project.launch(event) is None:
                continue
            for name, used in _taken_from_outside(event):
                assignment = own.get(name)
                if assignment is None or assignment.exported or name in exported or assignment.span.start in seen:
                    continue
                if assignment.value is not None and any(hole.name == name for hole in assignment.value.holes):
                    continue  # `X="${X:?}"`: it comes from the environment
                seen.add(assignment.span.start)
                yield _lost(assignment, used, stack[0].span, ctx)


def _taken_from_outside(command: Command) -> Iterator[tuple[str, Span]]:
    """The variables that a command takes from the environment of its shell, with their places."""
    for word in command.argv:
        for hole in word.holes:
            if (
                isinstance(hole.key, tuple)
                and hole.key[:1] == ("env",)
                and (span := hole.span or word.span) is not None
            ):
                yield hole.name, span


def _lost(assignment: Assignment, used: Span, call: Span, ctx: Context) -> Finding:
    name = assignment.name
    finding = ctx.fail(
        assignment.span,
        f"{name} is not exported: the shell started below does not have it, and its launch gets nothing in its place, "
        "unless the caller has exported the name already",
        value=f"{name} = {assignment.value.shown if assignment.value is not None else ''}",
        help=f"export {assignment.span.text}",
    )
    finding = finding.with_related(call, "the shell is started here").with_related(used, "used here")
    at = assignment.span.in_file()
    return finding.with_fix("export it", Edit(at.source.span(at.start, at.start), "export "), safety=Safety.UNSAFE)


def _is_mentioned(name: str, source: Source) -> bool:
    """Whether the text has the name anywhere but on the left of assignments."""
    return bool(pattern(rf"(?<![\w]){name}(?!\w|=|\+=)").search(source.text))


def _started_behind(assignment: Assignment, script: Script, ctx: Context) -> Command | None:
    """A program that starts after the assignment and does not get the variable."""
    for variant in variants_in(ctx.project, script.source):
        command = variant.command
        if command.builtin or command.function or command.around.elsewhere:
            continue
        if command.span.start < assignment.span.end:
            continue
        if ctx.project.launch(command) is None and command.name not in ("python", "python3", "torchrun", "bash", "ray"):
            continue
        if assignment.name not in command.around.environment and assignment.name not in command.prefix:
            return command
    return None


def _finding(assignment: Assignment, reader: Command, ctx: Context) -> Finding:
    name = assignment.name
    found = ctx.fail(
        assignment.span,
        f"{name} is not exported: no program sees it, unless the caller has exported the name already",
        value=f"{name} = {assignment.value.shown if assignment.value is not None else ''}",
        help=f"export {assignment.span.text}",
    ).with_related(reader.span, "starts without it")
    at = assignment.span.in_file()
    return found.with_fix("export it", Edit(at.source.span(at.start, at.start), "export "), safety=Safety.SAFE)
