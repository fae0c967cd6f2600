"""What a file is to verlint. Content decides: a launcher is a shell text with a mark of VeRL, whatever it is called."""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import Enum
from pathlib import PurePath

from verlint.lazy import pattern
from verlint.record import dataclass


class Kind(Enum):
    """The kinds of files that are looked at; NONE for all others."""

    LAUNCHER = "launcher"
    SPEC = "spec"
    JOB = "job"
    MAKEFILE = "makefile"
    YAML = "yaml"
    DOCUMENT = "document"
    PYTHON = "python"
    NONE = "none"


@dataclass(frozen=True)
class Choice:
    """The kind a file was given, and why; NONE means that it is left out."""

    kind: Kind
    reason: str


@dataclass(frozen=True)
class Mark:
    """A piece of text that only files about RL post-training hold: what it shows, words of which one must occur (a
    quick test), and the expression that decides."""

    shows: str
    words: tuple[str, ...]
    pattern: str


MARKS = (
    Mark("starts main_ppo", ("main_ppo",), r"\bmain_ppo"),
    Mark(
        "runs a VeRL module",
        ("verl.", "-m recipe."),
        r"-m[ \t]+(?:verl|recipe)\.\w|\bverl\.(?:trainer|model_merger|utils|experimental|workers)\b",
    ),
    Mark("merges a checkpoint", ("model_merger.py",), r"\bmodel_merger\.py\b"),
    Mark("submits a Ray job", ("ray job",), r"\bray[ \t]+job[ \t]+submit\b"),
    Mark("starts a Ray node", ("ray start",), r"\bray start\b"),
    Mark("sets VeRL keys", ("actor_rollout_ref",), r"\bactor_rollout_ref\b"),
    Mark(
        "sets VeRL keys",
        ("trainer.", "algorithm.", "critic.", "reward_model."),
        r"(?<![\w.])(?:trainer|algorithm|critic|reward_model)\.[a-z_.]+=(?![= ])",
    ),
    Mark("installs VeRL", ("verl",), r"\bpip3? install\b[^\n]*\bverl\b"),
    Mark("clones VeRL", ("git clone",), r"\bgit clone\b[^\n]*[/:]verl(?:\.git)?\b"),
    Mark("runs a VeRL image", ("docker run",), r"\bdocker run\b[^\n]*\bverl"),
    Mark(
        "passes options of an LMOps launcher",
        (
            "--resume_policy",
            "--experience_",
            "--oel_",
            "--textgame_",
            "--exp_",
            "--ckpt_",
            "--val_data",
            "_save_dir",
            "--kl_topk",
        ),
        r"--(?:resume_policy_(?:name|ckpt)|experience_max_length|oel_round|textgame_\w+|deploy_save_dir|off_policy_save_dir"
        r"|exp_name|exp_path|ckpt_(?:start|end|step)|val_data|kl_topk)\b",
    ),
    Mark(
        "calls a family launcher",
        ("scripts/",),
        r"\bscripts/(?:[\w-]+/)*(?:textgame|math|system_prompt|sys_prompt|medmcqa|safety|train|generate|eval)\w*\.sh",
    ),
    Mark(
        "serves a model",
        ("vllm serve", "vllm.entrypoints", "sglang.launch_server"),
        r"\bvllm serve\b|-m[ \t]+(?:vllm\.entrypoints\.|sglang\.launch_server\b)",
    ),
    Mark("evaluates a model", ("lm_eval", "lighteval"), r"(?m)^[^#\n]*\b(?:lm_eval|lighteval)[ \t]"),
    Mark("prepares data for VeRL", ("data_preprocess",), r"(?m)^[^#\n]*\bpython3?\b[^\n]*\bdata_preprocess\b"),
    Mark(
        "sets rollout variables", ("VLLM_ATTENTION_BACKEND", "GLOBAL_BSZ"), r"\b(?:VLLM_ATTENTION_BACKEND|GLOBAL_BSZ)\b"
    ),
)
"""Sources: the launchers of VeRL and of the LMOps families (README files and `scripts/`)."""

_STARTS = pattern(
    r"\b(?:(?:create_)?subprocess(?:_shell|_exec)?|os\.system|argparse|ArgumentParser|hydra\.compose|compose\(|sky\.Task)\b"
)
_STARTS_SCRIPTS = pattern(r"\b(?:subprocess|os\.system|os\.exec|os\.popen)")
_NAMED = pattern(r"([\w./-]+\.(?:sh|bash))\b")
_PYTHON_MARKS = (
    ("defines a reward function", "solution_str", pattern(r"^def \w+\([^)]*\bsolution_str\b", re.MULTILINE)),
    (
        "generates with vLLM",
        "vllm",
        pattern(r"(?s)^[ \t]*(?:from vllm import|import vllm)\b.*\bArgumentParser\(", re.MULTILINE),
    ),
    ("asks a judge model", "chat.completions", pattern(r"\bchat\.completions\.create\(")),
    ("evaluates with a harness", "simple_evaluate", pattern(r"\bsimple_evaluate\(")),
)
"""What shows that a Python text is a tool or reward function of an experiment. Sources: VeRL's custom reward functions,
the evaluation scripts of LMOps."""
_SPEC_KEY = pattern(r"^schema[ \t]*:[ \t]*[\"']?verlint/", re.MULTILINE)
_SHEBANG = pattern(r"#![ \t]*\S*?(?:/env[ \t]+(?:-S[ \t]+)?)?(?:bash|sh|dash|ksh|zsh)\b")
_YAML_USE = pattern(
    r"^apiVersion[ \t]*:[ \t]*[\"']?(?:ray\.io|trainer\.kubeflow\.org)/|^(?:runtime_env|working_dir|env_vars)[ \t]*:",
    re.MULTILINE,
)
"""What files about Ray and Kubeflow hold, with or without a mark."""
_PACKAGE = pattern(r"(?:^|/)verl/(?:trainer|workers|utils|models|single_controller|tools|interactions|third_party)/")
_SCRIPT = pattern(
    r"(?:(?:\b(?:bash|sh|source|exec|sbatch(?:[ \t]+--?\w[\w-]*(?:=\S+)?)*)|(?:^|[;&|({\s])\.)[ \t]+|\./)"
    r"[\"']?([\w./${}-]+\.(?:sh|bash|sbatch|slurm|pbs|lsf|sge|qsub))"
)
_QUEUES = ("qsub", "bsub", "flux ", "at -", "oarsub", "parallel", "xargs", "find ")
_QUEUED = pattern(
    r"\b(?:qsub|bsub|flux|at|oarsub|parallel|xargs|find)\b[^\n]*?[\s\"'<]([\w./${}-]+\.(?:sh|bash|pbs|lsf|sge|qsub))\b"
)
"""A script that is given to a queue, or as one of several."""

RST_SUFFIX = ".rst"
SHELL_SUFFIXES = frozenset({".sh", ".bash", ".sbatch", ".slurm", ".pbs", ".lsf", ".sge", ".qsub"})
YAML_SUFFIXES = frozenset({".yaml", ".yml"})
DOCUMENT_SUFFIXES = frozenset({".md", ".markdown", RST_SUFFIX})
SPEC_ENDS = (".exp.yaml", ".exp.yml")
NO_MARK = "no mark of a VeRL launcher"


def may_matter(path: str) -> bool:
    """Whether a file of this name can be of a kind at all; without an extension its first line decides."""
    return guess(path) is not Kind.NONE or not PurePath(path).suffix


def is_document(path: str) -> bool:
    """Whether a file of this name is a text for people, with commands in blocks of it."""
    return path.lower().endswith(tuple(DOCUMENT_SUFFIXES))


def is_rst(path: str) -> bool:
    """Whether a document is written in reStructuredText."""
    return path.lower().endswith(RST_SUFFIX)


def guess(path: str) -> Kind:
    """The kind that a name speaks for; YAML unless the name says that it is a spec, NONE when the name says nothing."""
    suffix = PurePath(path).suffix.lower()
    if suffix in SHELL_SUFFIXES:
        return Kind.LAUNCHER
    if suffix in YAML_SUFFIXES:
        return Kind.SPEC if path.lower().endswith(SPEC_ENDS) else Kind.YAML
    if suffix in DOCUMENT_SUFFIXES:
        return Kind.DOCUMENT
    if suffix == ".mk" or (not suffix and path.rpartition("/")[2] in _MAKEFILES):
        return Kind.MAKEFILE
    return Kind.PYTHON if suffix == ".py" else Kind.NONE


_MAKEFILES = frozenset(["Makefile", "makefile", "GNUmakefile"])


def classify(path: str, text: str, *, named: bool = False) -> Choice:
    """The kind of a text. `path` is as shown; `named` says that the user asked for this very file."""
    kind = guess(path)
    if kind is Kind.NONE and _SHEBANG.match(text):
        kind = Kind.LAUNCHER
    if kind in (Kind.YAML, Kind.NONE) and _SPEC_KEY.search(text):
        return Choice(Kind.SPEC, "has the key `schema: verlint/…`")
    if kind is Kind.SPEC:
        return Choice(kind, "is named as an experiment spec")
    if kind is Kind.NONE:
        return Choice(kind, "not a kind of file that verlint reads")
    if kind in (Kind.PYTHON, Kind.YAML) and not named and _PACKAGE.search(path):
        return Choice(Kind.NONE, "part of the VeRL package")
    why = _why(kind, text)
    job = _job_format(path, text) if kind is Kind.YAML and (why or named) else ""
    if job:
        return Choice(Kind.JOB, f"{job}, {why or 'named on the command line'}")
    if why:
        return Choice(kind, why)
    return Choice(kind, "named on the command line") if named else Choice(Kind.NONE, NO_MARK)


def as_caller(path: str, text: str) -> Kind:
    """The kind of a text without a mark should it call a launcher; NONE when it cannot."""
    kind = guess(path)
    if kind is Kind.YAML:
        return Kind.JOB if _job_format(path, text) else Kind.NONE
    if kind is Kind.NONE:
        return Kind.LAUNCHER
    if kind is Kind.PYTHON:
        return kind if ".sh" in text and _STARTS_SCRIPTS.search(text) else Kind.NONE
    return kind if kind in (Kind.LAUNCHER, Kind.DOCUMENT, Kind.MAKEFILE) else Kind.NONE


def _job_format(path: str, text: str) -> str:
    from verlint.files.job_formats import format_of

    return format_of(path, text)


def _begins_word(text: str, mark: Mark) -> bool:
    """Whether a mark of one word is found at once: most are, and the expression takes its time on a long text."""
    word = mark.words[0]
    at = text.find(word) if mark.pattern == rf"\b{word}" else -1
    return at >= 0 and word[0].isalpha() and not (at and (text[at - 1].isalnum() or text[at - 1] == "_"))


def mark_of(text: str) -> str:
    """What shows that a text is about VeRL ("starts main_ppo"), or "" when nothing does."""
    for mark in MARKS:
        if any(word in text for word in mark.words) and (_begins_word(text, mark) or re.search(mark.pattern, text)):
            return mark.shows
    return ""


def called_scripts(text: str) -> frozenset[str]:
    """Paths of shell scripts that a shell text seems to call, as written. Only to find launchers, not to follow
    them."""
    expressions = [_SCRIPT, _QUEUED] if any(word in text for word in _QUEUES) else [_SCRIPT]
    return frozenset(
        found.group(1)
        for line in text.splitlines()
        if not line.lstrip().startswith("#")
        for expression in expressions
        for found in expression.finditer(line)
    )


def calls_any(text: str, launchers: Iterable[str], *, by_name: bool = False) -> str:
    """The first launcher (path with "/") that a shell text calls by a path which it ends with, or ""; `by_name`, the
    first that a text of another language names."""
    called = _called(text)
    if by_name:
        called = {found[1].lstrip("./") for found in _NAMED.finditer(text)}
    return next(
        (path for path in sorted(launchers) if any(path == name or path.endswith("/" + name) for name in called)), ""
    )


def calls_beside(text: str, launchers: Iterable[str]) -> str:
    """The first launcher in a folder of which a shell text calls a script, by its right name or a wrong one, or ""."""
    folders = {"/" + folder for name in _called(text) if (folder := name.rpartition("/")[0])}
    held = {path: "/" + path.rpartition("/")[0] for path in sorted(launchers)} if folders else {}
    return next((path for path, place in held.items() if any(place.endswith(folder) for folder in folders)), "")


def _called(text: str) -> set[str]:
    return {name.rsplit("}", 1)[-1].removeprefix("./").lstrip("/") for name in called_scripts(text)}


def _why(kind: Kind, text: str) -> str:
    if kind is Kind.PYTHON:
        for shows, word, mark in _PYTHON_MARKS:
            if word in text and mark.search(text):
                return shows
        if not _STARTS.search(text):
            return ""
    if kind is Kind.YAML and (found := _YAML_USE.search(text)):
        return f"has `{found.group().split(':')[0]}`"
    return mark_of(text)
