"""Variables that a script uses and nothing sets: where, what is similar, and where the use ends up."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from verlint.experiment.all_files import of_all_files
from verlint.experiment.places import variants_in
from verlint.experiment.project import Project
from verlint.experiment.script import Script
from verlint.files.kinds import Kind
from verlint.languages.bash.syntax import (
    Arith,
    ArithCommand,
    ArrayLit,
    Assign,
    Condition,
    For,
    ForArith,
    Lit,
    Node,
    Param,
    Program,
    Redirect,
    Simple,
    UnaryTest,
    Word,
)
from verlint.languages.bash.variables import SETS_UP_TOOLS
from verlint.languages.bash.walk import children, literal_word, walk
from verlint.lazy import pattern
from verlint.memo import WeakKeyDictionary
from verlint.record import dataclass, field
from verlint.source import Source, Span

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeGuard

_OWNERS = frozenset(
    """
    SLURM OMPI PMI PMIX MPI MV2 FLUX SKYPILOT RAY CUDA NCCL NVIDIA HF HUGGING HUGGINGFACE WANDB SWANLAB MLFLOW VLLM
    SGLANG SGL TORCH PYTORCH KUBERNETES VC MLP PET AZ AZURE AZUREML AML AWS GOOGLE GCP ROCR HIP HCCL ASCEND ATB GLOO
    UCX IB CI GITHUB GITLAB CONDA PYTHON LD XDG SSH LC TRANSFORMERS TOKENIZERS HYDRA OPENAI ANTHROPIC DS ACCELERATE
    MEGATRON TRITON XLA OMP MKL ARNOLD BYTED K8S POD JOB NODE LOCAL GROUP MASTER HEAD WORLD TASK ROLE
    """.split()  # noqa: SIM905
)
"""First words of names."""

_BEGINS = ("BASH", "PYTHON", "EPOCH", "HIST", "COMP_", "OPT")
_GIVEN = frozenset(
    """
    HOME USER LOGNAME PATH PWD OLDPWD SHELL SHLVL HOSTNAME HOSTTYPE MACHTYPE OSTYPE UID EUID PPID GROUPS RANDOM SRANDOM
    SECONDS LINENO LANG TERM TMP TEMP TMPDIR IFS REPLY COLUMNS LINES DISPLAY EDITOR DIRSTACK FUNCNAME PIPESTATUS
    COPROC MAPFILE PS0 PS1 PS2 PS3 PS4 MAIL INDEX RANK NNODES NUM_NODES VIRTUAL_ENV PORT HOST IP _ http_proxy
    https_proxy ftp_proxy no_proxy all_proxy debian_chroot
    """.split()  # noqa: SIM905
)


def from_outside(name: str) -> bool:
    """Whether shells, schedulers, launchers, job platforms or libraries set or read a variable. Sources: bash(1),
    sbatch(1), mpirun(1), torchrun, SkyPilot, and the documentation of the libraries."""
    return name in _GIVEN or name.startswith(_BEGINS) or name.partition("_")[0] in _OWNERS


_DEFAULTING = frozenset([":-", "-", ":=", "=", ":?", "?", ":+", "+"])
_DECLARE = frozenset(["export", "declare", "local", "typeset", "readonly", "read", "mapfile", "readarray", "unset"])
_NUMBER_SET = pattern(
    r"([A-Za-z_]\w*)\s*(?:\[[^]]*\])?\s*(?:[-+*/%&|^]|<<|>>)?=(?!=)|(?:\+\+|--)([A-Za-z_]\w*)|([A-Za-z_]\w*)(?:\+\+|--)"
)
_NAME = pattern(r"[A-Za-z_]\w*")
_OWN_DEFAULT = pattern(
    r"(?m)^[ \t]*(?:export[ \t]+)?([A-Z][A-Z0-9_]*)=\"?\$\{\1:?-\"?((?:[^{}\n\"]|\$\{[^{}\n]*\})+)\"?\}\"?"
)
"""`X=${X:-default}`."""
_PLACES = ("_HOME", "_ROOT", "_DIR", "_FOLDER", "_PATH")
"""Names of folders, which a project may call after a program (`RAY_DATA_HOME`)."""


@dataclass(frozen=True, slots=True)
class Use:
    """One place where a name is expanded: the parameter, the word, the command and the assignment (None: none) it
    stands in. `redirect` says that the word is the file of a redirection."""

    name: str
    text: Source
    param: Param
    word: Word | None
    command: Simple | None
    assign: Assign | None
    redirect: bool = False

    @property
    def span(self) -> Span:
        """The expansion as written."""
        return self.text.span(self.param.start, self.param.end)


@dataclass
class Names:
    """What a text does with names.

    `assigned` holds the first place that sets each name, `expanded` how often each is used, `guarded` those the text
    itself takes for possibly unset. `open` says that anything may be set here: by a file that is not at hand, by
    `eval`, by a name made at run time."""

    assigned: dict[str, Span] = field(default_factory=dict)
    arrays: dict[str, int] = field(default_factory=dict)
    exported: set[str] = field(default_factory=set)
    guarded: set[str] = field(default_factory=set)
    empty: set[str] = field(default_factory=set)
    uses: list[Use] = field(default_factory=list)
    mentions: dict[str, int] = field(default_factory=dict)
    sources: list[Span] = field(default_factory=list)
    open: bool = False


@dataclass(frozen=True, slots=True)
class Near:
    """A similar name that is set: the name, where, and what kind of slip it would be ("case", "glued", "letters",
    "part")."""

    name: str
    span: Span
    slip: str


@dataclass(frozen=True, slots=True)
class Default:
    """What other launchers give a name that the caller has not set (`X=${X:-default}`): how many do, and one place."""

    text: str
    launchers: int
    span: Span


@dataclass(frozen=True)
class Unset:
    """A name that is used and never set, with all its uses, the similar name, if any, and what others do about it."""

    name: str
    uses: tuple[Use, ...]
    near: Near | None
    elsewhere: Default | None = None


_KNOWN: WeakKeyDictionary[Script, Names] = WeakKeyDictionary()
_UNSET: WeakKeyDictionary[Script, Mapping[str, Unset]] = WeakKeyDictionary()
_DEFAULTS: WeakKeyDictionary[Project, Mapping[str, list[tuple[Span, str]]]] = WeakKeyDictionary()


def names_of(script: Script) -> Names:
    """What the texts of a script do with names."""
    found = _KNOWN.get(script)
    if found is None:
        found = Names()
        for text, program in script.syntax:
            _collect(text, program, found)
        for name, span in script.given.items():
            if span is not None:
                found.assigned.setdefault(name, span)
                found.mentions.setdefault(name, 1)  # for a program, if not for the shell
        _KNOWN[script] = found
    return found


def misspelt(project: Project, script: Script) -> frozenset[str]:
    """The unset names of a script that look like a slip of a name that is set."""
    return frozenset(name for name, each in unset_names(project, script).items() if each.near is not None)


def unset_names(project: Project, script: Script) -> Mapping[str, Unset]:
    """The names that a script uses, that nothing sets, and that it does not guard: those in lower case, and those in
    upper case (which the environment may hold) with a similar name that is set, or with a default in other
    launchers."""
    found = _UNSET.get(script)
    if found is None:
        found = _UNSET[script] = _find_unset(project, script)
    return found


# ---- collecting


def _collect(text: Source, program: Program, names: Names) -> None:
    for group in program.groups:
        _visit(group, text, names, None, None, None)


def _visit(
    node: Node, text: Source, names: Names, word: Word | None, command: Simple | None, assign: Assign | None
) -> None:
    if isinstance(node, Param):
        _expanded(node, text, names, Use(node.name, text, node, word, command, assign))
    elif isinstance(node, Word):
        word = word or node
    elif isinstance(node, Assign):
        assign, word = node, None
        _assigned(node, text, names)
    elif isinstance(node, Simple):
        command, word, assign = node, None, None
        _builtin(node, text, names)
    elif isinstance(node, Redirect):
        _redirected(node, text, names, command)
        return
    else:
        _compound(node, text, names)
    for child in children(node):
        if not isinstance(child, Lit) and not (isinstance(child, Word) and _is_lone(child)):
            _visit(child, text, names, word, command, assign)


def _is_lone(word: Word) -> bool:
    """Whether a word is one run of characters."""
    parts = word.parts
    return len(parts) == 1 and isinstance(parts[0], Lit)


def _compound(node: Node, text: Source, names: Names) -> None:
    """Names that loops and arithmetic set, and that conditions look at."""
    if isinstance(node, For):
        names.assigned.setdefault(node.name, text.span(node.start, node.end))
    elif isinstance(node, (ForArith, Arith, ArithCommand)):
        _counted(node, text, names)
    elif isinstance(node, Condition):
        names.guarded.update(_tested(node))
        names.guarded.update(literal_word(each.word) for each in walk(node) if _is_set_test(each))


def _is_set_test(node: Node) -> TypeGuard[UnaryTest]:
    return isinstance(node, UnaryTest) and node.op == "-v"


def _redirected(node: Redirect, text: Source, names: Names, command: Simple | None) -> None:
    """Names in the file of a redirection are used there; those in a here-document may be for another program."""
    for each in walk(node.target):
        if isinstance(each, Param):
            _expanded(each, text, names, Use(each.name, text, each, node.target, command, None, redirect=True))
    for each in walk(node.body) if node.body is not None else ():
        if isinstance(each, Param):
            names.mentions[each.name] = names.mentions.get(each.name, 0) + 1


def _expanded(param: Param, text: Source, names: Names, use: Use) -> None:
    if not _NAME.fullmatch(param.name):
        return
    names.mentions[param.name] = names.mentions.get(param.name, 0) + 1
    if param.op in (":=", "="):
        names.assigned.setdefault(param.name, use.span)
    if param.op in _DEFAULTING or param.op == "names" or param.indirect:
        names.guarded.add(param.name)
    else:
        names.uses.append(use)
    if param.indirect:
        names.open = names.open or param.op == "="


def _assigned(node: Assign, text: Source, names: Names) -> None:
    names.assigned.setdefault(node.name, text.span(node.start, node.end))
    if isinstance(node.value, ArrayLit):
        size = len(node.value.items)
        names.arrays[node.name] = names.arrays.get(node.name, 0) + size if node.append else size
    elif not node.value.parts or text.text[node.value.start : node.value.end] in ('""', "''"):
        names.empty.add(node.name)


def _counted(node: Node, text: Source, names: Names) -> None:
    """Names that arithmetic sets."""
    written = text.text[node.start : node.end]
    sets = "=" in written.replace("==", "").replace("!=", "") or "++" in written or "--" in written
    for match in _NUMBER_SET.finditer(text.text, node.start, node.end) if sets else ():
        name = match[1] or match[2] or match[3]
        names.assigned.setdefault(name, text.span(match.start(), match.end()))
    for name in _NAME.findall(written):
        names.mentions[name] = names.mentions.get(name, 0) + 1


def _builtin(node: Simple, text: Source, names: Names) -> None:
    words = [word for word in node.words if isinstance(word, Word)]
    name = literal_word(words[0]) if words else ""
    if name in ("[", "test"):
        names.guarded.update(_tested(node))
        written = [literal_word(word) for word in words]
        names.guarded.update(written[at + 1] for at, word in enumerate(written[:-1]) if word == "-v")
    elif name in ("source", ".") and len(words) > 1:
        if SETS_UP_TOOLS.search(text.text[words[1].start : words[1].end]) is None:
            names.sources.append(text.span(node.start, node.end))
    elif name == "eval":
        raw = text.text[words[1].start : node.end] if len(words) > 1 else ""
        names.open = names.open or SETS_UP_TOOLS.search(raw) is None
    elif name == "let":
        _counted(node, text, names)
    elif name in ("getopts", "printf", "wait", "coproc") or name in _DECLARE:
        _declared(name, words, node, text, names)


def _declared(name: str, words: Sequence[Word], node: Simple, text: Source, names: Names) -> None:
    """Names that builtins set or declare."""
    if name == "printf" and (len(words) < 3 or literal_word(words[1]) != "-v"):
        return
    for word in words[1:]:
        written = literal_word(word)
        if _NAME.fullmatch(written):
            names.assigned.setdefault(written, text.span(word.start, word.end))
            if name == "export":
                names.exported.add(written)
        elif not written and any(isinstance(part, Param) or part.start < part.end for part in word.parts):
            named = name != "printf" or word is words[2]
            names.open = names.open or (named and not _is_quoted_text(word, text))
        if name == "printf" and word is words[2]:
            return
    if name == "export":
        names.exported.update(each.name for each in node.words if isinstance(each, Assign))


def _is_quoted_text(word: Word, text: Source) -> bool:
    """Whether a word is an option or a prompt of a builtin, not a name made at run time."""
    raw = text.text[word.start : word.end]
    return raw.startswith(("-", "'")) or (raw.startswith('"') and "$" not in raw)


def _tested(node: Node) -> Iterator[str]:
    return (each.name for each in walk(node) if isinstance(each, Param) and _NAME.fullmatch(each.name))


# ---- what is unset


def _find_unset(project: Project, script: Script) -> Mapping[str, Unset]:
    names = names_of(script)
    if names.open:
        return {}
    given, closed = _given(project, script, names)
    if not closed:
        return {}
    by_name: dict[str, list[Use]] = {}
    for use in names.uses:
        name = use.name
        if name in names.assigned or name in names.guarded or name in given:
            continue
        if not from_outside(name) or name.endswith(_PLACES):
            by_name.setdefault(name, []).append(use)
    out: dict[str, Unset] = {}
    for name, uses in by_name.items():
        near = None if from_outside(name) else _near(name, uses, names)
        if near is not None or (name.upper() != name and not script.document):
            out[name] = Unset(name, tuple(uses), near)
        elif not script.document and (elsewhere := _elsewhere(name, script, project)) is not None:
            out[name] = Unset(name, tuple(uses), None, elsewhere)
    return out


def _elsewhere(name: str, script: Script, project: Project) -> Default | None:
    """The default that two or more other launchers give a name; the most frequent one."""
    found = [each for each in _defaults(project, name) if each[0].source is not script.source]
    launchers = {id(span.source) for span, _ in found}
    if len(launchers) < 2:
        return None
    texts = [text for _, text in found]
    common = max(texts, key=texts.count)
    return Default(common, len(launchers), found[texts.index(common)][0])


@of_all_files
def _defaults(project: Project, name: str) -> list[tuple[Span, str]]:
    """The defaults that launchers give a name, with the places."""
    return _every_default(project).get(name, [])


def _every_default(project: Project) -> Mapping[str, list[tuple[Span, str]]]:
    known = _DEFAULTS.get(project)
    if known is None:
        known = _DEFAULTS[project] = {}
        for file in project.files:
            for match in _OWN_DEFAULT.finditer(file.source.text) if file.kind is Kind.LAUNCHER else ():
                known.setdefault(match[1], []).append((file.source.span(*match.span()), match[2]))
    return known


def _given(project: Project, script: Script, names: Names) -> tuple[set[str], bool]:
    """The names that other files set for a script: those it sources, those that source it, and the environment of
    real calls. False when one of them is not at hand."""
    found: set[str] = set(script.given)
    seen: set[tuple[str, int, int]] = set()
    for path in script.resolution.paths:
        for event in path.events:
            calls = [call.span for call in event.around.stack if _is_source(call.span)]
            seen.update(span.order() for span in calls)
            if calls and (name := getattr(event, "name", "")) and not hasattr(event, "argv"):
                found.add(name)
    if any(span.order() not in seen for span in names.sources):
        return found, False
    for variant in variants_in(project, script.source):
        if not variant.command.around.stack or variant.entry is script:
            continue
        found.update(variant.command.around.environment)
        if any(_is_source(call.span) for call in variant.command.around.stack):
            caller = names_of(variant.entry)
            found.update(caller.assigned)
            if caller.open:
                return found, False
    return found, True


def _is_source(span: Span) -> bool:
    return re.match(r"(?:source|\.)\s", span.text) is not None


# ---- similar names


def _near(name: str, uses: Sequence[Use], names: Names) -> Near | None:
    for slip, test in _SLIPS:
        for other, span in names.assigned.items():
            if other != name and test(name, other, uses, names):
                return Near(other, span, slip)
    return None


def _is_case(name: str, other: str, uses: Sequence[Use], names: Names) -> bool:
    """`$data_dir` where `DATA_DIR` is set. `$DATA` beside a `data` is the environment's, as is the custom."""
    if name.isupper() and other.islower():
        return False
    return len(name) > 1 and name.lower().replace("_", "") == other.lower().replace("_", "")


def _is_glued(name: str, other: str, uses: Sequence[Use], names: Names) -> bool:
    """`$EXP_NAME_v2`, where `${EXP_NAME}_v2` is meant."""
    if not name.startswith(other + "_") and not (name.startswith(other) and other.endswith("_")):
        return False
    rest = name[len(other) :]
    bare = all(use.span.text == f"${name}" for use in uses)
    within = all(use.word is not None and use.word.end - use.word.start > len(name) + 1 for use in uses)
    if not bare:
        return False
    if other.upper() == other:
        return rest.upper() != rest or (rest.strip("_") == "" and within) or rest.strip("_").isdigit()
    return True


def _is_letters(name: str, other: str, uses: Sequence[Use], names: Names) -> bool:
    """One letter more, less or other in one of the parts, or two that changed places."""
    mine, theirs = name.split("_"), other.split("_")
    if len(mine) != len(theirs) or (name.upper() == name) != (other.upper() == other):
        return False
    different = [(left, right) for left, right in zip(mine, theirs, strict=True) if left != right]
    if len(different) != 1:
        return False
    left, right = different[0]
    if any(char.isdigit() for char in left + right):
        return False
    if left.lower() in (right.lower() + "s", right.lower() + "es") or right.lower() in (left.lower() + "s",):
        return len(min(left, right, key=len)) >= 3 and (len(mine) > 1 or len(left) > 4)
    return min(len(left), len(right)) >= 4 and left[0] == right[0] and _is_one_slip(left, right)


def _is_one_slip(left: str, right: str) -> bool:
    if len(left) == len(right):
        places = [at for at, (a, b) in enumerate(zip(left, right, strict=True)) if a != b]
        if len(places) == 1:
            return len(left) >= 6
        return len(places) == 2 and left[places[0]] == right[places[1]] and left[places[1]] == right[places[0]]
    short, long = sorted((left, right), key=len)
    if len(long) - len(short) != 1 or len(long) < 6:
        return False
    return any(long[:at] + long[at + 1 :] == short for at in range(len(long)))


def _is_part(name: str, other: str, uses: Sequence[Use], names: Names) -> bool:
    """`$TRAIN_DATA_DIR` where `DATA_DIR` is set and never used."""
    if names.mentions.get(other) or from_outside(other):
        return False
    mine, theirs = name.split("_"), other.split("_")
    short, long = sorted((mine, theirs), key=len)
    if (name.upper() == name) != (other.upper() == other) or len(short) < 2:
        return False
    if len(short) == len(long):
        return _is_other_spelling(mine, theirs)
    return long[: len(short)] == short or long[-len(short) :] == short


def _is_other_spelling(mine: Sequence[str], theirs: Sequence[str]) -> bool:
    """`ENTROPY_COEFFICIENT` for `ENTROPY_COEFFIENT`, `EXP_NAME` for `EXPERIMENT_NAME`: one part has some letters more
    or less."""
    different = [(left, right) for left, right in zip(mine, theirs, strict=True) if left != right]
    if len(different) != 1:
        return False
    short, long = sorted(different[0], key=len)
    if any(char.isdigit() for char in short + long) or len(short) < 3:
        return False
    if long.startswith(short):
        return True
    from difflib import SequenceMatcher

    return len(short) >= 6 and short[0] == long[0] and SequenceMatcher(None, short, long).ratio() >= 0.85


_SLIPS = (("case", _is_case), ("glued", _is_glued), ("letters", _is_letters), ("part", _is_part))
"""How one name may be written for another, the surest first."""
