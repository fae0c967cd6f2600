"""A location of data, models, checkpoints or caches is written as a path of one machine.

The launcher works where that folder exists, and nowhere else: on another cluster, for another user or in another
image it stops at the first file, or fills a disk that nobody meant. `/tmp` is worse than it looks: it is local to
each node and to each container, so a checkpoint saved there is not found by the next stage on another node, and it is
gone after a restart. All places of a file that share a root are one finding.

Counted are values of configuration keys, options of tools and launchers, variables that programs read as locations
(`HF_HOME`, `WANDB_DIR`), and the arguments of stages in a spec. Not counted are system folders, mounts of containers,
scratch caches below `/tmp` (`TRITON_CACHE_DIR`, `RAY_TMPDIR`), stand-ins such as `/path/to/model`, examples in
documents, files of tests, and everything that the caller can replace: `${ROOT:-/tmp/x}`, the default of an option. A
root that is assigned to a variable is VL102.

The option `allow` of the rule names folders that every machine has: `[rules.VL101]` with `allow = ["/mnt/shared"]`.

Fix: take the root from the environment or from an option, and build the paths on it:
`DATA_ROOT="${DATA_ROOT:-/tmp}"`, then `data.train_files="${DATA_ROOT}/train.parquet"`. The unsafe fix writes
`${NAME:-/tmp}` at each place, where an obvious name is free: one that the file does not use for anything else. A folder
gets one name, in all commands that name it, such as a `mkdir`. There is no fix where that would tear paths apart: where
the root also stands in single quotes or in a text, or another folder below it in an assignment.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from verlint.experiment.project import Project
from verlint.files.kinds import Kind
from verlint.files.loading import Loaded
from verlint.finding import Edit, Finding, Safety
from verlint.languages.bash.syntax import Lit, Simple
from verlint.languages.bash.walk import walk
from verlint.lazy import pattern
from verlint.rule import WARNING, Context, rule
from verlint.source import Span
from verlint.value import Value
from verlint_rules.paths.machine_paths import LOCATIONS, Use, free_uses, in_test_folder, is_below, machine_paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from verlint.experiment.spec import Spec, SpecStage

SHOWN = 10

_BELOW = pattern(r"/([^/\s\"',:;)\]}]+)")
_BARE_NAME = pattern(r"\$(\w+)")
_LONGEST = 300
_ROOTS = ("CKPT_ROOT", "MODEL_ROOT", "RESULT_ROOT", "DATA_ROOT")
"""The names that roots get, the one that says most first."""


@rule("VL101", "hard-coded-path", on=Loaded, severity=WARNING, since="0.1", fixable="unsafe", options={"allow": []})
def check(file: Loaded, ctx: Context) -> Iterator[Finding]:
    if in_test_folder(ctx.project.tree.relative(file.path) or file.source.path):
        return
    if file.kind is Kind.LAUNCHER:
        uses = free_uses(ctx.project, file.source)
    elif file.kind is Kind.SPEC:
        uses = [
            use
            for spec in ctx.project.specs
            if spec.source is file.source and spec.spec
            for use in _spec_uses(spec.spec)
        ]
    else:
        return
    by_root: dict[str, list[Use]] = {}
    for use in uses:
        if is_below(use.path.text, ctx.options["allow"]):
            continue
        by_root.setdefault(use.path.root, []).append(use)
    named: dict[str, str] = {}
    for root, found in by_root.items():
        finding = _finding(ctx, root, found, file.kind, named)
        yield _with_fix(finding, ctx, root, found, named) if file.kind is Kind.LAUNCHER else finding


def _finding(ctx: Context, root: str, uses: Sequence[Use], kind: Kind, named: dict[str, str]) -> Finding:
    first = uses[0]
    assert first.path.span is not None
    places = f", used in {len(uses)} places" if len(uses) > 1 else ""
    what = "a folder local to each node" if root == "/tmp" else "a folder of one machine"
    message = f"`{root}` is {what}, and the caller cannot choose another{places}"
    help_ = _help(root, uses, kind, named)
    finding = ctx.fail(first.path.span, message, value=f"{first.label} = {first.shown}", help=help_)
    for use in uses[1 : SHOWN + 1]:
        finding = finding.with_related(use.path.span, use.label)
    return finding


def _with_fix(finding: Finding, ctx: Context, root: str, uses: Sequence[Use], named: dict[str, str]) -> Finding:
    """The finding with its fix, where all places can be mended with names that are free.

    `named` holds what the fixes of the file before this one put behind each name, and gets what this one does.
    """
    own: dict[str, str] = {}
    edits: list[Edit] = []
    names = _names(root, uses)
    for use in uses:
        name, path = names.get(_folder(root, use.path.span) or "", _variable(use.label)), _replaced(root, use)
        if use.label in LOCATIONS:
            name = _variable(use.label)
        edit = _edit(ctx, path, name, use)
        free = use.label in LOCATIONS or not _is_known(name, use)
        if edit is None or not free or {**named, **own}.get(name, path) != path:
            return finding
        own[name] = path
        edits.append(edit)
    others = _elsewhere(ctx.project, root, edits, names)
    if others is None or _tears_apart(root, [*edits, *others]):
        return finding
    named.update(own)
    return finding.with_fix(f"let the environment replace {root}", *edits, *others, safety=Safety.UNSAFE)


def _folder(root: str, span: Span | None) -> str:
    """The first folder below the root of what stands at a place, "" when nothing does."""
    if span is None:
        return ""
    start = span.in_file().start
    text = span.in_file().source.text[start : start + _LONGEST]
    found = _BELOW.match(text, len(root)) if text.startswith(root) else None
    return _BARE_NAME.sub(r"${\1}", found[1]) if found is not None else ""


def _names(root: str, uses: Sequence[Use]) -> dict[str, str]:
    """One name for each folder below the root: of those that its uses suggest, the one that says most."""
    names: dict[str, str] = {}
    for use in uses:
        folder, name = _folder(root, use.path.span), _variable(use.label)
        if folder and name in _ROOTS:
            names[folder] = min(name, names.get(folder, name), key=_ROOTS.index)
    return names


def _elsewhere(project: Project, root: str, edits: Sequence[Edit], names: Mapping[str, str]) -> list[Edit] | None:
    """The edits of other words of commands that name a folder with a new name, such as those of a `mkdir`; None where
    the root stands at a place that cannot be mended so."""
    source = edits[0].span.source
    reached = {edit.span.start for edit in edits}
    made: list[Edit] = []
    for start in _places(root, source.text):
        span = Span(source, start, start + len(root))
        if start in reached:
            continue
        name = names.get(_folder(root, span))
        if name is None or not _expands(project, span):
            return None
        made.append(Edit(span, f"${{{name}:-{root}}}"))
    return made


def _places(root: str, text: str) -> Iterator[int]:
    """Where the root stands in a text, comments apart."""
    for match in re.finditer(rf"(?<![\w./}})-]){re.escape(root)}(?=[/\s\"']|$)", text):
        line = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
        if not line.lstrip().startswith("#"):
            yield match.start()


def _expands(project: Project, span: Span) -> bool:
    """Whether the shell expands a variable at a place: in a word or an assignment, bare or in double quotes."""
    program = project.programs.get(id(span.source))
    for group in program.groups if program is not None else ():
        for node in walk(group) if group.start <= span.start < group.end else ():
            for word in (*node.assigns, *node.words) if isinstance(node, Simple) else ():
                if word.start <= span.start < word.end:
                    return _quote(project, span, none="'") != "'"
    return False


def _tears_apart(root: str, edits: Sequence[Edit]) -> bool:
    """Whether paths below one root would no longer agree, as one folder below it gets two names."""
    names: dict[str, str] = {}
    for edit in edits:
        folder = _folder(root, edit.span)
        if edit.span.text == root and folder and names.setdefault(folder, edit.text) != edit.text:
            return True
    return False


def _replaced(root: str, use: Use) -> str:
    """What the variable stands for at one place: the root, or the whole path where the variable is the location."""
    span = use.path.span
    whole = use.label in LOCATIONS and use.path.ends and span is not None and span.text == use.path.text
    return use.path.text if whole else root


def _is_known(name: str, use: Use) -> bool:
    """Whether the file already sets or uses a name."""
    assert use.path.span is not None
    return re.search(rf"\b{name}\b", use.path.span.in_file().source.text) is not None


def _help(root: str, uses: Sequence[Use], kind: Kind, named: dict[str, str]) -> str:
    first = next((use for use in uses if use.label not in LOCATIONS), uses[0])  # `HF_HOME` is no root of others
    name = _names(root, uses).get(_folder(root, first.path.span)) or _variable(first.label)
    if kind is Kind.SPEC:
        return f"name it under `roots` or `models` from the environment: ${{oc.env:{name or 'NAME'}}}"
    if all(use.label in LOCATIONS for use in uses):
        return f'keep what the caller has set: {first.label}="${{{first.label}:-{first.shown}}}"'
    if not name or named.get(name, root) != root or (name not in LOCATIONS and _is_known(name, first)):
        return "take the root from the environment or from an option, and build the paths on it"
    return f'take the root from the environment, such as {name}="${{{name}:-{root}}}", and build the paths on it'


def _variable(label: str) -> str:
    """A name for the root of what a key or option holds, "" when none is obvious."""
    if label in LOCATIONS:
        return label
    words = label.lower().replace("rollout", "")
    for sign, name in (
        ("default_local_dir", "CKPT_ROOT"),
        ("ckpt", "CKPT_ROOT"),
        ("checkpoint", "CKPT_ROOT"),
        ("resume", "CKPT_ROOT"),
        ("model", "MODEL_ROOT"),
        ("tokenizer", "MODEL_ROOT"),
        ("data", "DATA_ROOT"),
        ("files", "DATA_ROOT"),
        ("result", "RESULT_ROOT"),
        ("out", "RESULT_ROOT"),
        ("save", "RESULT_ROOT"),
    ):
        if sign in words:
            return name
    return "DATA_ROOT" if label.startswith("-") else ""


def _edit(ctx: Context, path: str, name: str, use: Use) -> Edit | None:
    """Replace the root, or the whole path, at one place, where the shell expands what is written there."""
    span = use.path.span
    if not name or span is None or span.source.parent is not None or not span.text.startswith(path):
        return None
    if use.label in LOCATIONS and path != use.path.text:
        return None  # the rest of the path would be added to what the caller has set
    if use.path.piece.quoted and _quote(ctx.project, span) != '"':
        return None
    return Edit(Span(span.source, span.start, span.start + len(path)), f"${{{name}:-{path}}}")


def _quote(project: Project, span: Span, none: str = "") -> str:
    """How the characters at a place of a launcher are quoted: `'`, `"` or not at all; `none` where there are none."""
    program = project.programs.get(id(span.source))
    for group in program.groups if program is not None else ():
        if group.start <= span.start < group.end:
            for node in walk(group):
                if isinstance(node, Lit) and node.start <= span.start < node.end:
                    return node.quote
    return none


# ---- specs


def _spec_uses(spec: Spec) -> Iterator[Use]:
    """The literal paths of a spec outside its roots, one a place."""
    seen: set[int] = set()
    for label, value in _spec_values(spec):
        if value.text is None:
            continue
        for path in machine_paths(value.text):
            if path.span is None or path.replaceable:
                continue
            start = path.span.in_file().start
            if start not in seen and not _of_roots(spec, path.span):
                seen.add(start)
                yield Use(path, label, str(value))


def _of_roots(spec: Spec, span: Span) -> bool:
    """A root written as a literal is a fault of the roots, not of what uses them."""
    return any(
        root.span is not None and root.span.in_file().start <= span.in_file().start < root.span.in_file().end
        for root in spec.roots.values()
    )


def _spec_values(spec: Spec) -> Iterator[tuple[str, Value]]:
    for role, model in spec.models.items():
        if model.id.given:
            yield f"models.{role}", model.id
    for stage in spec.stages.values():
        yield from _stage_values(stage)


def _stage_values(stage: SpecStage) -> Iterator[tuple[str, Value]]:
    yield from stage.args.items()
    yield from stage.overrides.items()
    yield from ((name, value) for name, value in stage.env.items() if name in LOCATIONS)
    yield from ((f"outs.{name}", out.path) for name, out in stage.outs.items() if out.path.given)
