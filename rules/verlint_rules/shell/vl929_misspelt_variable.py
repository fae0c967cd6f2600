"""A variable for a program must have the name that the program reads.

Programs take nothing from a variable that is called nearly like theirs, and say nothing about it: with
`CUDA_VISABLE_DEVICES=0,1` the run takes all GPUs, with `WANDB_MODEL=offline` it goes online.

Reported are exported names that differ from a well-known one by a letter, a plural or an underscore, by one small
letter (`CUDA_VISIBLE_DEVICESi`), or by one word that is shortened (`VLLM_ATTN_BACKEND`) or has two letters wrong, and
that nothing takes: they stand in front of a `=` only, in the launcher and in all code and config of the project.
Names that vLLM, Ray, NCCL, PyTorch, wandb, Hugging Face or VeRL read are no slips. Keys and tokens in the plural and
names with a number are left alone.

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

_USED = pattern(r"\$\{?((?:SLURM|SKYPILOT)_[A-Z0-9_]+)|(?<=\(\()[ \t]*((?:SLURM|SKYPILOT)_[A-Z0-9_]+)")

_MOST_FILES = 5000
"""Names of a project that are looked at for a program that reads the variable after all."""

_READER = pattern(
    r"\.(?:py|pyx|ipynb|ya?ml|json|toml|cfg|ini|env|sh|bash|slurm|sbatch|j2|jinja|tmpl|js|mjs|ts|rs|go|c|cc|cpp|cu|h|hpp|mk)$"
    r"|^(?:Makefile|Dockerfile|Containerfile|justfile|\.env)"
)
"""Names of files that may take a variable from the environment."""

_LONG = 6
"""Letters of a word of which two may be wrong."""

_DECLARING = frozenset(["export", "declare", "typeset", "readonly"])


@rule(
    "VL929",
    "misspelt-variable",
    on=Script,
    severity=WARNING,
    since="0.1",
    fixable="unsafe",
    words=("vllm_att", "vllm_log", "vllm_wor", "vllm_all", "vllm_ena", "vllm_eng", "vllm_cac", "vllm_con",
         "vllm_use_m", "vllm_use_f", "vllm_use_d", "vllm_use_p", "vllm_hos", "vllm_tor", "vllm_dis",
         "vllm_rpc", "vllm_ex", "vllm_no", "vllm_do", "vllm_ski", "vllm_fl", "vllm_ser", "vllm_tar",
         "vllm_bat", "nccl_so", "nccl_ib", "nccl_p2", "nccl_ne", "nccl_sh", "nccl_nv", "nccl_cu", "nccl_debg",
         "nccl_dbug", "nccl_debug_", "wandb_mo", "wandb_na", "wandb_pr", "wandb_di", "wandb_en", "wandb_ru",
         "wandb_re", "wandb_ba", "wandb_si", "wandb_ca", "wandb_da", "wandb_st", "wandb_in", "wandb_ht",
         "wandb_co", "wandb_wa", "wandb_lo", "wandb_jo", "wandb_ar", "wandb_apikey", "hf_h", "hf_d", "hf_e",
         "hf_t", "hf_x", "cuda_", "torch_n", "torch_d", "torch_s", "torch_cu", "pytorch_", "ray_",
         "hydra_full_errors", "hydra_ful_", "hydra_fullerror", "omp_", "tokenizer_", "paralelism",
         "parallelisim", "swanlab", "hugging", "transformers_", "gloo_", "verl_", "openai_", "modelscope_",
         "slurm_", "skypilot_", "hip_", "rocr_", "ascend_rt"),
)  # fmt: skip
def check(script: Script, ctx: Context) -> Iterator[Finding]:
    if script.document:
        return
    yield from _never_given(script, ctx)
    for text, program in script.syntax:
        for group in program.groups:
            for node in walk(group):
                if not isinstance(node, Simple) or not node.words:
                    continue
                declares = literal_word(node.words[0]) in _DECLARING
                for assign in (each for each in node.words if isinstance(each, Assign)) if declares else node.assigns:
                    near = _near(assign.name)
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
    seen: set[str] = set()
    for text in script.texts:
        for match in _USED.finditer(text.text) if "SLURM_" in text.text or "SKYPILOT_" in text.text else ():
            name = match[1] or match[2]
            if name in seen:
                continue
            seen.add(name)
            near = _scheduler_s(name)
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


def _scheduler_s(name: str) -> str:
    """The variable of a scheduler that a name was meant to be, "" for those that there are."""
    from verlint_rules.shell.known_variables import OF_SCHEDULERS

    return "" if name in OF_SCHEDULERS or _is_left_alone(name) else _alike(name, OF_SCHEDULERS)


def _near(name: str) -> str:
    """The well-known name that a name was meant to be, "" for none."""
    from verlint_rules.shell.known_variables import ALSO_READ, MEANT, OPEN

    if sum(map(str.islower, name)) == 1:
        return next((each for each in (name.upper(), re.sub("[a-z]", "", name)) if each in MEANT), "")
    if _is_left_alone(name):
        return ""
    if name in MEANT or name in ALSO_READ or name.startswith(OPEN):
        return ""
    return _alike(name, MEANT) or next((each for each in sorted(MEANT) if _is_shortened(name, each)), "")


def _is_left_alone(name: str) -> bool:
    return not name.isupper() or name[-1].isdigit() or name.endswith(("KEYS", "TOKENS"))


def _alike(name: str, known: frozenset[str]) -> str:
    from verlint.verl.slips import alike

    return next((each for each in sorted(known) if abs(len(each) - len(name)) < 3 and alike(name, each)), "")


def _is_shortened(name: str, other: str) -> bool:
    """Whether one part of a name is short for that of another (`ATTN` for `ATTENTION`, `LOG` for `LOGGING`), or has two
    letters wrong, and all other parts are the same."""
    ours, theirs = name.split("_"), other.split("_")
    if len(ours) != len(theirs) or len(ours) < 3:
        return False
    apart = [at for at in range(len(ours)) if ours[at] != theirs[at]]
    if len(apart) != 1 or not apart[0]:
        return False
    part, whole = ours[apart[0]], theirs[apart[0]]
    if not part.isalpha() or not whole.isalpha():
        return False
    return _is_short_for(part, whole) or (min(len(part), len(whole)) >= _LONG and _letters_apart(part, whole) <= 2)


def _is_short_for(part: str, whole: str) -> bool:
    """Whether letters of a word were left out: its beginning is there, or some of its letters in their order."""
    if len(part) < 2 or len(part) > len(whole) - 2 or part[0] != whole[0]:
        return False
    rest = iter(whole)
    return whole.startswith(part) or (len(part) > 3 and part[-1] == whole[-1] and all(each in rest for each in part))


def _letters_apart(one: str, other: str) -> int:
    """How many letters must be put in, taken out or replaced to make one word of another."""
    row = list(range(len(other) + 1))
    for at, letter in enumerate(one, 1):
        before, row[0] = row[0], at
        for place, each in enumerate(other, 1):
            before, row[place] = row[place], min(row[place] + 1, row[place - 1] + 1, before + (letter != each))
    return row[-1]


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
