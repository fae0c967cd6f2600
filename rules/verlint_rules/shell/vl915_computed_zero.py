"""A size that the launcher computes must come out as a whole number above zero.

Arithmetic of bash is in whole numbers: `$((BATCH / GPUS))` is 0 for 4 prompts on 8 GPUs, and the trainer divides by it
or loops over nothing hours later. `python -c "print(64/8)"` and `bc` with a scale print `8.0` and `8.00`, which Hydra
reads as floating-point numbers where a count is needed. An empty variable makes `key=`, an empty text. An error within
`$((…))` (`08`, `5e-6`, a division by zero) drops the whole line: the assignment or the launch does not happen, and
the script goes on with the next line, even under `set -e`.

Looked at are the sizes that must be above zero: batch and micro-batch sizes, GPUs and nodes, samples per prompt,
parallel sizes, lengths, token budgets, steps and epochs; for empty texts also the training files and the model. A 0
that is written by hand is left to the rules of the configuration, micro-batch sizes are left alone where
`use_dynamic_bsz` makes them unused, and so are `-1` and `0` where they mean something (`save_freq`, `test_freq`,
`top_k`, numbers of checkpoints kept) and values of the environment.

Fix: multiply before you divide, round up with `(A + B - 1) / B`, give the variable a default, or write `10#08`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from verlint.experiment.launch import Launch
from verlint.experiment.places import variants_in
from verlint.experiment.project import Project
from verlint.experiment.script import Script
from verlint.experiment.variants import Variant
from verlint.finding import Finding
from verlint.languages.bash.state import Note
from verlint.languages.bash.syntax import CommandSub
from verlint.languages.bash.walk import walk
from verlint.languages.hydra.override import Override
from verlint.lazy import pattern
from verlint.memo import WeakKeyDictionary
from verlint.record import replace
from verlint.rule import ERROR, Context, rule
from verlint.source import Span
from verlint.value import Hole, Literal, State, Text, Value, whole
from verlint_rules.shell.call_words import conditions_of, is_certain, program_of_source, sites_in
from verlint_rules.shell.unset_names import Names, names_of, unset_names

_SIZE = pattern(
    r"data\.(?:train|val|gen)_batch_size|data\.max_(?:prompt|response)_length|data\.max_length"
    r"|.*\bppo_mini_batch_size|.*micro_batch_size(?:_per_gpu|_per_device\w*)?|worker\.\w+\.global_batch_size"
    r"|.*\brollout\.(?:n|val_kwargs\.n)|.*\.n_samples|trainer\.(?:n_gpus_per_node|nnodes)"
    r"|.*\b(?:tensor|pipeline|context|expert|data|ulysses_sequence)(?:_model|_tensor)?_parallel_size|.*\b(?:ulysses_)?sequence_parallel_size"
    r"|trainer\.total_(?:training_steps|epochs|steps)|.*\b(?:ppo_epochs|max_num_batched_tokens|max_num_seqs|max_model_len)"
    r"|.*max_token_len(?:_per_gpu)?|.*\brollout\.(?:prompt|response)_length"
)
"""Keys that hold a count above zero. Source: `verl/trainer/config/ppo_trainer.yaml` of 0.2 to 0.7, EasyR1's config."""

_PATHS = frozenset(["data.train_files", "actor_rollout_ref.model.path"])
"""Keys without which nothing can be trained; Hydra takes an empty text for them."""

_SIZE_NAMES = ("size", "len", "nnodes", "n_gpus", "n_samples", "total_", "epochs", "max_num")
"""What the last name of such a key holds, one of them, when it is not `n`: a quick test before the expression."""

_MICRO = pattern(r".*micro_batch_size\w*")
_PYTHON_PRINT = pattern(r"python[\d.]*\s+-c\s.*\bprint\((.*)\)", re.S)
_EXPANSION = pattern(r"\"?\$(?:\{[^}\s]*\}|\w+)\"?")
_DIVISION = pattern(r"(?<!/)/(?!/)")
_WHOLE = pattern(r"\b(?:int|round|floor|ceil|len)\s*\(|//|\.0f|%d|:d\}")
_SCALE = pattern(r"scale\s*=\s*[1-9]|\bbc\s+(?:-\w+\s+)*(?:-\w*l\b|--mathlib)")
_KNOWN_DIVISION = pattern(
    r"\$\((?:expr\s+(?P<a>\d+)\s+/\s+(?P<b>\d+)"
    r"|(?:g?awk|mawk)\b.*\bprint\s*\(?\s*(?P<int>int\s*\()?\s*(?P<c>\d+)\s*/\s*(?P<d>\d+)[\s)]*\}?)\)"
)


@rule("VL915", "computed-zero", on=Script, severity=ERROR, since="0.1")
def check(script: Script, ctx: Context) -> Iterator[Finding]:
    for site in sites_in(variants_in(ctx.project, script.source)):
        failing: dict[tuple[str, str], list[tuple[Variant, Launch, Override]]] = {}
        for variant in site:
            launch = ctx.project.launch(variant.command)
            if launch is None:
                continue
            for key, override in launch.by_key.items():
                fault = _fault(key, override, launch, script, ctx)
                if fault:
                    failing.setdefault((key, fault), []).append((variant, launch, override))
        for (_, fault), found in failing.items():
            yield _finding(script, site, fault, found, ctx)
    yield from _broken_arithmetic(script, ctx)


# ---- sizes


def _fault(key: str, override: Override, launch: Launch, script: Script, ctx: Context) -> str:
    """What is wrong with a computed size, "" for nothing."""
    text, value = override.value_text, override.value
    number = value.number()
    hole = text.parts[0] if len(text.parts) == 1 else None
    if text.known == "":
        empty = (key in _PATHS or _is_size(key, launch)) and _is_empty_by_variable(override, script, ctx)
        return "is empty" if empty else ""
    if number is not None:
        if (number > 0 and isinstance(number, int)) or not _computed(text) or not _is_size(key, launch):
            return ""
        return f"comes out as {number}" + ("" if number <= 0 else ", not a whole number")
    if value.state is not State.SYMBOLIC or not isinstance(hole, Hole) or hole.span is None:
        return ""
    return _printed(hole, hole.span, ctx.project) if _is_size(key, launch) else ""


def _is_size(key: str, launch: Launch) -> bool:
    """Whether a key must be above 0 in this launch."""
    name = key.rpartition(".")[2]
    if name != "n" and not any(each in name for each in _SIZE_NAMES):
        return False
    if _SIZE.fullmatch(key) is None:
        return False
    return _MICRO.fullmatch(key) is None or not _uses_dynamic_batches(key, launch)


def _uses_dynamic_batches(key: str, launch: Launch) -> bool:
    part = key.rsplit(".", 1)[0]
    owner = "actor_rollout_ref.actor" if part.startswith("actor_rollout_ref") else part
    keys = (f"{owner}.use_dynamic_bsz", "actor_rollout_ref.actor.use_dynamic_bsz", f"{part}.log_prob_use_dynamic_bsz")
    return any(launch[each].given and launch[each].truthy() is not False for each in keys)


def _computed(text: Text) -> bool:
    """Whether the characters are the result of arithmetic."""
    return any(
        isinstance(part, Literal)
        and part.span is not None
        and (part.span.text.startswith(("$((", "$[", "$(", "`", "expr ")) and part.span.text != part.text)
        for part in text.parts
    )


def _is_empty_by_variable(override: Override, script: Script, ctx: Context) -> bool:
    """Whether variables that are set, but to nothing, make the value: those that nothing sets are told once by name,
    those whose line bash drops at that line."""
    spans = (override.value.span, override.value_text.span, override.word.span)
    written = next((text for span in spans if span is not None and "$" in (text := _written(span))), "")
    found = re.findall(r"\$\{?([A-Za-z_]\w*)", written)
    if not found or re.search(r"\$\{\w+:?[-+]", written):
        return False
    told = unset_names(ctx.project, script).keys() | _dropped_names(script, ctx)
    return told.isdisjoint(found)


def _written(span: Span) -> str:
    """The characters of a place; for an empty one, of the expansion that begins there."""
    found = _expansion(span)
    return span.text if found is None else found.text


def _dropped_names(script: Script, ctx: Context) -> set[str]:
    notes = _notes(ctx.project).get(id(script.source), ())
    return {name for note, _, _ in notes if (name := _assigned_there(note.span))}


def _printed(hole: Hole, span: Span, project: Project) -> str:
    """What is wrong with the number that a program prints, for divisions that can be told; "" for others."""
    known = _KNOWN_DIVISION.fullmatch(hole.name)
    if known is not None:
        left, right = whole(known["a"] or known["c"]), whole(known["b"] or known["d"])
        if left is None or right is None:
            return ""
        if right == 0:
            return "is empty: a division by zero prints nothing"
        cut = known["a"] is not None or known["int"] is not None
        if left < right and cut:
            return "comes out as 0"
        return "" if cut or left % right == 0 else f"comes out as {left / right:g}, not a whole number"
    written = _substitution(span, project)
    printed = _PYTHON_PRINT.search(written)
    if printed is not None and _DIVISION.search(printed[1]) and not _WHOLE.search(printed[1]):
        return "comes out with a decimal point (Python's / gives 8.0 for 16/2)"
    if re.search(r"\bbc\b", written) and _SCALE.search(written) and re.search(r"[\w)}]\s*/\s*[\w$(]", written):
        divides_again = re.search(r"/\s*1\b|\|\s*(?:cut|awk|sed|xargs|printf)\b|printf", written)
        return "" if divides_again else "comes out with a decimal point (bc prints 8.00 for 16/2 with a scale)"
    return ""


def _substitution(span: Span, project: Project) -> str:
    """The whole `$(…)` around a place."""
    for group in program_of_source(project, span.source).groups:
        if group.start <= span.start <= group.end:
            for node in walk(group):
                if isinstance(node, CommandSub) and node.start <= span.start and span.end <= node.end:
                    return span.source.text[node.start : node.end]
    return ""


def _finding(
    script: Script,
    site: Sequence[Variant],
    fault: str,
    found: Sequence[tuple[Variant, Launch, Override]],
    ctx: Context,
) -> Finding:
    variant, _, override = found[0]
    message = f"{override.key} {fault}: {_meaning(override.key, fault)}"
    variants = [each[0] for each in found]
    at: Value | Text | Span = override.value if override.value.span is not None else override.word
    if fault == "is empty":
        at = _expansion(override.value.span) or override.word
    number = re.match(r"comes out as ([-\d.]+)", fault)
    value = f"{override.key} = {number[1] if number is not None else override.value}"
    hops = override.value.hops
    if is_certain(variants, site):
        finding = ctx.fail(at, message, value=value, hops=hops, help=_help(override.key, fault))
    else:
        when = conditions_of(variants, site)
        message = f"{message} (when {when})" if when else message
        verify = f"bash -x {script.source.path}  # see which branch runs"
        finding = ctx.unsure(at, message, verify=verify, value=value, hops=hops, help=_help(override.key, fault))
    stack = variant.command.around.stack
    return finding.with_related(stack[-1].span, "called here") if stack and fault == "is empty" else finding


def _expansion(span: Span | None) -> Span | None:
    """The expansion that begins at a place where nothing is left of it."""
    if span is None or span.start != span.end:
        return span
    found = _EXPANSION.match(span.source.text, span.start)
    return Span(span.source, span.start, found.end()) if found is not None else None


def _meaning(key: str, fault: str) -> str:
    if fault == "is empty":
        return f"Hydra gets an empty text where a {'path' if key in _PATHS else 'number'} is needed"
    if "decimal" in fault or "whole" in fault:
        return "a count is needed, and VeRL gets a floating-point number"
    if "-" in fault:
        return "a size cannot be negative"
    return "nothing can be done in portions of 0" if "batch" in key else "a size of 0 leaves nothing to do"


def _help(key: str, fault: str) -> str:
    if fault == "is empty":
        return (
            "give the variable a value, or ask for it: ${NAME:?}"
            if key in _PATHS
            else "give the variable a value or a default: ${NAME:-8}"
        )
    if "decimal" in fault or "whole" in fault:
        return "divide whole numbers: $((A / B)), or // in Python"
    if "-" in fault:
        return "check the numbers of this arithmetic: the result must be above 0"
    return "choose numbers that divide, or round up: $(((A + B - 1) / B))"


# ---- errors in arithmetic


_NOTES: WeakKeyDictionary[Project, Mapping[int, list[tuple[Note, bool, str]]]] = WeakKeyDictionary()


def _broken_arithmetic(script: Script, ctx: Context) -> Iterator[Finding]:
    """Expressions that bash rejects when it gets there, one finding for those that miss the same variable."""
    names = names_of(script)
    found: dict[object, Finding] = {}
    seen: set[tuple[str, int, int]] = set()
    for note, always, when in _notes(ctx.project).get(id(script.source), ()):
        mentioned = set(re.findall(r"[A-Za-z_]\w*", note.span.text))
        excerpt = script.document and not mentioned <= names.assigned.keys()
        if note.span.order() in seen or excerpt:
            continue
        seen.add(note.span.order())
        late = {each: place for each in sorted(mentioned) if (place := _set_later(each, note.span, names)) is not None}
        cause: object = (note.text, *late) if late else note.span.order()
        if cause in found:
            found[cause] = found[cause].with_related(note.span, f"{_dropped(note.span)} either")
            continue
        finding = _rejected(script, note, when, always=always, ctx=ctx)
        if late:
            finding = replace(finding, help=f"set {' and '.join(late)} above this line")
        for name, place in late.items():
            finding = finding.with_related(place, f"{name} is set only here")
        found[cause] = finding
    yield from found.values()


def _rejected(script: Script, note: Note, when: str, *, always: bool, ctx: Context) -> Finding:
    message = f"bash rejects this arithmetic ({note.text}) and drops the line: {_dropped(note.span)}"
    if always:
        return ctx.fail(note.span, message, help=_arithmetic_help(note))
    message = f"{message} (when {when})" if when else message
    verify = f"bash -x {script.source.path}  # see which branch runs"
    return ctx.unsure(note.span, message, verify=verify, help=_arithmetic_help(note))


def _dropped(span: Span) -> str:
    name = _assigned_there(span)
    return f"{name} is not set" if name else "the command does not run"


def _set_later(name: str, span: Span, names: Names) -> Span | None:
    """Where a name is set for the first time, when that is behind the expression."""
    place = names.assigned.get(name)
    return place if place is not None and place.source is span.source and place.start > span.start else None


def _notes(project: Project) -> Mapping[int, list[tuple[Note, bool, str]]]:
    found = _NOTES.get(project)
    if found is None:
        found = _NOTES[project] = _collect(project)
    return found


def _collect(project: Project) -> Mapping[int, list[tuple[Note, bool, str]]]:
    """The rejected expressions by the file they stand in; whether every path of some script meets it, else when."""
    out: dict[int, list[tuple[Note, bool, str]]] = {}
    for entry in project.scripts:
        paths = entry.resolution.paths
        met: dict[tuple[str, int, int], list[tuple[Note, str]]] = {}
        for path in paths:
            for note in path.notes:
                if note.kind == "arithmetic":
                    when = " and ".join(dict.fromkeys(guard.words for guard in path.conditions))
                    met.setdefault(note.span.order(), []).append((note, when))
        for found in met.values():
            note, when = found[0]
            out.setdefault(id(note.span.in_file().source), []).append((note, len(found) >= len(paths), when))
    for each in out.values():
        each.sort(key=lambda item: (item[0].span.order(), not item[1]))
    return out


def _assigned_there(span: Span) -> str:
    """The variable that the line of an expression was to set, "" when it is another command."""
    text = span.source.text
    start = text.rfind("\n", 0, span.start) + 1
    found = re.match(r"\s*(?:export\s+|local\s+|declare\s+(?:-\w+\s+)*)?([A-Za-z_]\w*)=", text[start : span.end])
    return found[1] if found is not None else ""


def _arithmetic_help(note: Note) -> str:
    if re.search(r"\b0\d", note.span.text + note.text) or "base" in note.text:
        return "a leading 0 means octal: write 10#08, or strip it"
    if "division" in note.text:
        return "make sure that the divisor is not 0"
    return 'bash computes with whole numbers only: use python3 -c "print(…)" or awk'
