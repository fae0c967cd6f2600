"""Paths that exist on one machine only: what they look like, and where a launcher uses them as a location."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from verlint.experiment.places import assignments_by_name, assignments_in, replaceable, within
from verlint.experiment.project import Project
from verlint.experiment.python_programs import LAUNCHERS, is_python
from verlint.experiment.stage import called_file
from verlint.files.kinds import SHELL_SUFFIXES
from verlint.languages.bash.command import Assignment, Command
from verlint.languages.bash.pieces import MARK, flat
from verlint.languages.bash.wrappers import program_name, unwrap
from verlint.lazy import pattern
from verlint.memo import WeakKeyDictionary
from verlint.record import dataclass
from verlint.source import Source, Span
from verlint.value import Literal, Text

_START = pattern(r"(?:(?<=[\s'\"=,\[({;])|^)/[\w.-]")
_END = pattern(rf"[\s'\"=,\])}};{MARK}]")
_SYSTEM = pattern(
    r"/(?:dev|proc|sys|etc|usr|bin|sbin|lib|lib64|run|var/run|nix|snap|Library"
    r"|opt/(?:\w*conda\w*|miniforge\w*|mamba\w*|nvidia|rocm\w*|hpcx\w*|amazon|intel|slurm|venv\w*|python\w*|local|ray|cuda\w*))(?:/|$)"
)
_ILLUSTRATION = pattern(r"(?i)(?:^|/)(?:path[-_]?to|(?:your|my|some)[-_]|your(?:/|$)|xxx+|path(?:/|$)|\.\.\.)")
_DEFAULT = pattern(r"\$\{\w+:?[-=][\"']?$")
_BINDING = pattern(r"(?:--container-mounts|--bind)[=\s]+(\S+)")
_GLUED = pattern(r"[\w})`]")
_SHARED = frozenset(["tmp", "root", "workspace"])
"""Folders of which the first part is the root: what stands below them is no machine's or user's name."""

LOCATIONS = frozenset(
    [
        "HF_HOME",
        "HF_DATASETS_CACHE",
        "HF_HUB_CACHE",
        "HF_MODULES_CACHE",
        "HUGGINGFACE_HUB_CACHE",
        "TRANSFORMERS_CACHE",
        "MODELSCOPE_CACHE",
        "TORCH_HOME",
        "XDG_CACHE_HOME",
        "TRITON_CACHE_DIR",
        "TORCHINDUCTOR_CACHE_DIR",
        "TORCH_EXTENSIONS_DIR",
        "VLLM_CACHE_ROOT",
        "FLASHINFER_WORKSPACE_BASE",
        "RAY_TMPDIR",
        "RAY_TEMP_DIR",
        "WANDB_DIR",
        "WANDB_CACHE_DIR",
        "WANDB_DATA_DIR",
        "WANDB_ARTIFACT_DIR",
        "TENSORBOARD_DIR",
        "SWANLAB_LOG_DIR",
        "MLFLOW_TRACKING_DIR",
        "VERL_FILE_LOGGER_ROOT",
        "VERL_FILE_LOGGER_PATH",
        "NLTK_DATA",
    ]
)
"""Environment variables that programs of a run read as locations. Sources: the documentation of each program."""

_SCRATCH = frozenset(
    [
        "TRITON_CACHE_DIR",
        "TORCHINDUCTOR_CACHE_DIR",
        "TORCH_EXTENSIONS_DIR",
        "VLLM_CACHE_ROOT",
        "FLASHINFER_WORKSPACE_BASE",
        "RAY_TMPDIR",
        "RAY_TEMP_DIR",
        "--temp-dir",
        "_temp_dir",
    ]
)
"""Locations that are best kept on the node itself: `/tmp` is right for them."""

_PATH_WORD = pattern(
    r"(?:^|[-_.])(?:dirs?|paths?|files?|folders?|roots?|models?|data|datasets?|out|output|outputs|input|inputs|in|ckpt|ckpts|checkpoints?|save"
    r"|cache|tokenizer|experience|results?|args|home|store|storage|dest|target|src|local)(?:$|[-_.])"
)
_NO_DATA = pattern(
    r"(?:^|[-_.])(?:config|cfg|workdir|chdir|cwd|url|host|address|endpoint|container|mounts?|volumes?|bind|image|hostfile|log|logs|tracer"
    r"|trace|profile\w*|socket|prefix|python|nsys|prompt)(?:$|[-_.])|working"
)
_TOOLS = frozenset(
    [
        "hf",
        "huggingface-cli",
        "modelscope",
        "vllm",
        "sglang",
        "lm_eval",
        "lm-eval",
        "lighteval",
        "ray",
        "tensorboard",
        "megatron",
    ]
)


@dataclass(frozen=True)
class MachinePath:
    """A path of one machine: the piece that holds its beginning (`span`: the path as written), and the path as far
    as it is known.

    `ends` says that the path is known to its end.
    """

    text: str
    span: Span | None
    piece: Literal
    ends: bool

    @property
    def root(self) -> str:
        """The part that differs from machine to machine: `/tmp`, `/home/ann`, `/mnt/disk1`."""
        parts = self.text.split("/")[1:]
        if parts[0] in _SHARED or len(parts) < 2 or not parts[1]:
            return "/" + parts[0]
        last_is_file = len(parts) == 2 and (not self.ends or "." in parts[1])
        return "/" + parts[0] if last_is_file else f"/{parts[0]}/{parts[1]}"

    @property
    def replaceable(self) -> bool:
        """Whether it is only a default: `${ROOT:-/tmp/x}`, whatever the case of the name."""
        if self.piece.overridable or self.span is None:
            return bool(self.piece.overridable)
        return bool(_DEFAULT.search(self.span.source.text[max(self.span.start - 80, 0) : self.span.start]))


@dataclass(frozen=True, slots=True)
class Use:
    """A path of one machine that is used as a location: `label` is the key, option or variable that takes it."""

    path: MachinePath
    label: str
    shown: str


def machine_paths(text: Text) -> Iterator[MachinePath]:
    """The paths of one machine that begin in a text (a list may hold several)."""
    if not _has_slash(text):
        return
    whole = flat(text.parts)
    for match in _START.finditer(whole):
        start = match.start()
        end = match_end.start() if (match_end := _END.search(whole, start + 1)) else len(whole)
        path = whole[start:end]
        if _SYSTEM.match(path) or _ILLUSTRATION.search(path):
            continue
        piece = _piece_at(text, start)
        if piece is None:
            continue
        cut = text.slice(start, end).parts
        first = cut[0] if cut else None
        span = first.span if isinstance(first, Literal) else piece.span
        if span is not None and _GLUED.search(span.source.text[max(span.start - 1, 0) : span.start]):
            continue  # `$ROOT/x` with an empty ROOT: an accident, not a path of a machine
        yield MachinePath(path, span, piece, end == len(whole) or whole[end] != MARK)


def _piece_at(text: Text, offset: int) -> Literal | None:
    at = 0
    for part in text.parts:
        length = len(part.text) if isinstance(part, Literal) else 1
        if at <= offset < at + length:
            return part if isinstance(part, Literal) else None
        at += length
    return None


def in_test_folder(path: str) -> bool:
    """Whether a file belongs to tests, which run in the one place that they are made for."""
    return any(part in ("tests", "test", "unittests", ".github", "ci") for part in path.split("/")[:-1])


# ---- where they are used


def uses_in(command: Command, project: Project) -> Iterator[Use]:
    """The paths of one machine that a command is given as locations of data, models, checkpoints, results or
    caches. Those in a container are the same on every machine."""
    if command.around.in_container:
        return
    for name, value in command.prefix.items():
        yield from _uses(name, value, name in LOCATIONS)
    unwrapped = unwrap(command.argv)
    for name, value in unwrapped.assignments.items():
        yield from _uses(name, value, name in LOCATIONS)
    if command.builtin or command.function:
        return
    launch = project.launch(command)
    if launch is not None:
        for override in launch.overrides:
            if override.key and (uses := list(_uses(override.key, override.value_text, True))):
                yield from () if _NO_DATA.search(override.key) else uses
        yield from _argument_uses(launch.options)
        return
    argv = unwrapped.argv
    name = program_name(argv[0]) if argv else ""
    if called_file(command) is not None or name in _TOOLS or name in LAUNCHERS or is_python(name):
        yield from _argument_uses(argv[1:])


def location_uses(assignment: Assignment) -> Iterator[Use]:
    """The paths that an assignment gives to a variable which programs read as a location."""
    if assignment.value is not None:
        yield from _uses(assignment.name, assignment.value, assignment.name in LOCATIONS)


_SCRIPTS = tuple(SHELL_SUFFIXES)


def _argument_uses(words: Sequence[Text]) -> Iterator[Use]:
    option = ""
    for word in words:
        text = word.prefix
        if text.startswith("-"):
            option = text.split("=", 1)[0]
            if "=" in text:
                if _has_slash(word):
                    yield from _uses(option, word, _takes_location(option))
                option = ""
            continue
        is_script = not option and (word.known or "").endswith(_SCRIPTS)
        if _has_slash(word) and not is_script:
            yield from _uses(option or "argument", word, not option or _takes_location(option))
        option = ""


def _has_slash(text: Text) -> bool:
    """Whether the characters for a path are there at all."""
    return any(isinstance(part, Literal) and "/" in part.text for part in text.parts)


def _takes_location(option: str) -> bool:
    name = option.lstrip("-")
    return bool(_PATH_WORD.search(name)) and not _NO_DATA.search(name)


def _uses(label: str, text: Text, counts: bool) -> Iterator[Use]:
    if not counts:
        return
    for path in machine_paths(text):
        scratch = label in _SCRATCH or label.rsplit(".", 1)[-1] in _SCRATCH
        if path.span is not None and not path.replaceable and not (scratch and path.root == "/tmp"):
            yield Use(path, label, text.shown)


# ---- assignments that fix a root


def is_below(path: str, folders: Sequence[str]) -> bool:
    """Whether a path is one of the folders, or lies in one."""
    return any(f"{path.rstrip('/')}/".startswith(f"{folder.rstrip('/')}/") for folder in folders)


@dataclass(frozen=True)
class FixedRoot:
    """An assignment of a path that is written out, to a variable that is a root; `used` names what takes it first."""

    assignment: Assignment
    path: MachinePath
    used: str


_ROOT_NAME = pattern(r"(?i)(?:^|_)(?:root|dir|home|path|folder|base|workspace)$")
_NO_ROOT = pattern(
    r"^(?:PATH|LD_\w+|PYTHONPATH|LIBRARY_PATH|CPATH|MANPATH|INFOPATH|TMPDIR|TEMP|TMP|\w*(?:CUDA|CONDA|JAVA|NCCL|CUDNN|ROCM|MPI|UCX|NVTE|GCC)\w*"
    r"|\w*(?:LOG|TMP|SCRATCH|PROFIL|TRACE)\w*|HOME|PWD|OLDPWD|SHELL|VIRTUAL_ENV)$",
    re.IGNORECASE,
)
_INCIDENTAL = frozenset(
    [
        "echo",
        "printf",
        "mkdir",
        "rm",
        "touch",
        "tee",
        "ls",
        "cat",
        "chmod",
        "find",
        "du",
        "test",
        "[",
        "tail",
        "head",
        "grep",
        "wc",
        "stat",
        "export",
        "declare",
        "typeset",
        "readonly",
        "set",
        "exit",
        "eval",
        "sleep",
        "dirname",
        "basename",
        "realpath",
        "sed",
        "awk",
        "sort",
    ]
)


class Uses:
    """Everything a project does with paths of one machine, by the place where they are written."""

    def __init__(self, project: Project) -> None:
        self.by_place: dict[tuple[int, int], list[Use]] = {}
        self.programs: dict[tuple[int, int], str] = {}
        sources = {id(file.source): file.source for file in project.files}
        for variant in (each for variants in project.sites.values() for each in variants):
            for use in uses_in(variant.command, project):
                self._add(use)
            self._add_programs(variant.command)
        for source in sources.values():
            by_name = assignments_by_name(project, source)
            for assignment in assignments_in(project, source):
                if assignment.name in LOCATIONS and not replaceable(assignment, by_name):
                    for use in location_uses(assignment):
                        self._add(use)

    def _add(self, use: Use) -> None:
        assert use.path.span is not None
        uses = self.by_place.setdefault(_place(use.path.span), [])
        if all(use.label != other.label for other in uses):
            uses.append(use)

    def _add_programs(self, command: Command) -> None:
        if not command.name or command.name in _INCIDENTAL:
            return
        for word in command.argv[1:]:
            for part in word.parts:
                if isinstance(part, Literal) and part.span is not None and part.text.startswith("/"):
                    self.programs.setdefault(_place(part.span), command.name)

    def written_in(self, source: Source) -> list[Use]:
        """The uses of paths that are written in a file, by place; one a place."""
        found = [(place[1], uses[0]) for place, uses in self.by_place.items() if place[0] == id(source)]
        return [use for _, use in sorted(found, key=lambda each: each[0])]


_KNOWN: WeakKeyDictionary[Project, Uses] = WeakKeyDictionary()


def uses_of(project: Project) -> Uses:
    """All uses of a project; worked out once."""
    found = _KNOWN.get(project)
    if found is None:
        found = _KNOWN[project] = Uses(project)
    return found


def free_uses(project: Project, source: Source) -> list[Use]:
    """The uses of paths written in a file that neither belong to a fixed root nor to a variable the caller can set."""
    by_name = assignments_by_name(project, source)
    taken = [root.assignment.value_span for root in fixed_roots(project, source)]
    taken += [each.value_span for each in assignments_in(project, source) if replaceable(each, by_name)]
    taken = list({(id(span.source), span.start, span.end): span for span in taken}.values())
    mounts = bound_folders(source)
    return [
        use
        for use in uses_of(project).written_in(source)
        if use.path.span is not None
        and not any(within(use.path.span, span) for span in taken)
        and not is_below(use.path.text, mounts)
    ]


def bound_folders(source: Source) -> list[str]:
    """The folders of containers that a file binds to others outside: `apptainer exec --bind`, `srun
    --container-mounts`. They are what the binding says, on every machine."""
    if "--bind" not in source.text and "--container-mounts" not in source.text:
        return []
    found = []
    for match in _BINDING.finditer(source.text):
        for each in match[1].replace('"', "").replace("'", "").split(","):
            outside, colon, rest = each.rpartition(":/")
            inside = "/" + rest.partition(":")[0].rstrip("/")
            if colon and inside not in ("/", outside.rstrip("/")):
                found.append(inside)
    return found


def fixed_roots(project: Project, source: Source) -> list[FixedRoot]:
    """The assignments of a file that fix a root which the caller cannot choose; one a place."""
    found: dict[int, FixedRoot] = {}
    by_name, mounts = assignments_by_name(project, source), bound_folders(source)
    for assignment in assignments_in(project, source):
        path = _whole_path(assignment)
        if path is None or path.span is None or assignment.name in LOCATIONS or replaceable(assignment, by_name):
            continue
        if is_below(path.text, mounts):
            continue
        used = _first_use(uses_of(project), assignment, path.span)
        if used:
            found.setdefault(assignment.value_span.in_file().start, FixedRoot(assignment, path, used))
    return [found[place] for place in sorted(found)]


def _whole_path(assignment: Assignment) -> MachinePath | None:
    """The path that an assignment writes out from its first to its last character."""
    value = assignment.value
    if value is None or "$" in assignment.value_span.text or _in_function(assignment) or value.known is None:
        return None
    for part in value.parts:
        if (
            not isinstance(part, Literal)
            or part.overridable
            or part.span is None
            or not within(part.span, assignment.value_span)
        ):
            return None
    paths = list(machine_paths(value))
    return paths[0] if len(paths) == 1 and paths[0].text == value.known else None


def _in_function(assignment: Assignment) -> bool:
    stack = assignment.around.stack
    return bool(stack) and stack[-1].span.source is assignment.span.source


def _first_use(uses: Uses, assignment: Assignment, span: Span) -> str:
    """The key, option or program that takes the path of an assignment, "" when nothing does that matters."""
    if found := uses.by_place.get(_place(span)):
        return found[0].label
    if not _ROOT_NAME.search(assignment.name) or _NO_ROOT.search(assignment.name):
        return ""
    return uses.programs.get(_place(span)) or ("the environment" if assignment.exported else "")


def _place(span: Span) -> tuple[int, int]:
    span = span.in_file()
    return id(span.source), span.start
