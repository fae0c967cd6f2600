"""Comma records that launchers and tools read: the names of their fields, and what stands in each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from verlint.experiment.project import Project
from verlint.experiment.records import records_of
from verlint.experiment.tools import CalledTool
from verlint.languages.bash.syntax import ArrayLit, Assign, DoubleQuoted, For, Lit, Node, Param, Program, Simple, Word
from verlint.languages.bash.walk import literal_word, walk
from verlint.lazy import pattern
from verlint.record import dataclass
from verlint.source import Source, Span
from verlint.value import Literal, Text

_NUMBER = pattern(
    r"(?i)(?:^|_)(?:ckpt|(?:ckpt_)?(?:start|end|step)|\w*(?:limit|_use|length|round|max_steps|max_response|nnodes|seed))$"
)
_SWITCH = pattern(r"(?i)(?:^|_)(?:no_think|with_prev|use_bsl|prepend_experience|override)$")
_VERSION = pattern(r"(?i)^prompt_version$")
_NAME = pattern(r"(?i)(?:^|_)(?:exp_name|textgame_name|model_path|resume_policy_name)$")
_KINDS = ("number", "switch", "version", "name")


@dataclass(frozen=True, slots=True)
class Shape:
    """A record: the names of its fields ("" for one without), the place where it is read, and the file.

    `optional` are the fields that the reader looks at before it uses them. `argument` says that the first argument of a
    call is one; `arrays` are the lists of the reader's own text that hold records."""

    fields: tuple[str, ...]
    span: Span
    source: Source
    optional: frozenset[str] = frozenset()
    argument: bool = True
    arrays: tuple[str, ...] = ()
    numbers: frozenset[int] = frozenset()

    def kind(self, at: int) -> str:
        """ "number", "switch", "version", "name", or "" when any text will do."""
        if at in self.numbers:
            return "number"
        name = self.fields[at]
        found = [each.search(name) for each in (_NUMBER, _SWITCH, _VERSION, _NAME)]
        return next((kind for kind, match in zip(_KINDS, found, strict=True) if match is not None), "")

    def label(self, at: int) -> str:
        """A field in words: `OEL_ROUND`, or its number."""
        return f"`{self.fields[at]}`" if self.fields[at] else f"field {at + 1}"


def fits(kind: str, text: str) -> bool:
    """Whether the characters of a field are of a kind; empty ones fit all."""
    text = text.strip()
    if not text or re.match(r"[<{$]", text):
        return True
    if kind == "number":
        return re.fullmatch(r"-?\d+(?:\.\d+)?(?:e-?\d+)?", text) is not None
    if kind == "switch":
        return text.lower() in ("true", "false", "0", "1", "yes", "no")
    if kind == "version":
        return re.fullmatch(r"v\d+\w*", text) is not None
    if kind == "name":
        return text.lower() not in ("true", "false") and re.fullmatch(r"\d+", text) is None
    return True


def shape_of_script(source: Source, program: Program) -> Shape | None:
    """The record that a launcher reads with `IFS=',' read -r A B C <<< "$1"`; None when there is not just one."""
    found = [each for node in program.nodes if (each := _of_read(node, source, program)) is not None]
    return found[0] if len(found) == 1 else None


def _of_read(node: Node, source: Source, program: Program) -> Shape | None:
    if not isinstance(node, Simple) or not node.words or literal_word(node.words[0]) != "read":
        return None
    separators = [_written(each.value, source) for each in node.assigns if each.name == "IFS"]
    here = next((each for each in node.redirects if each.op == "<<<"), None)
    names = [literal_word(word) for word in node.words[1:] if isinstance(word, Word)]
    flags = [name for name in names if name.startswith("-")]
    if separators != [","] or here is None or any(set(flag) & set("adnNtu") for flag in flags):
        return None
    names = [name for name in names if not name.startswith("-")]
    read = _only_parameter(here.target)
    if len(names) < 3 or not all(re.fullmatch(r"[A-Za-z_]\w*", name) for name in names) or not read:
        return None
    argument, arrays = _origin(read, program)
    if not argument and not arrays:
        return None
    optional = frozenset(name for name in names if _is_looked_at(name, program, source))
    return Shape(tuple(names), source.span(node.start, node.end), source, optional, argument, arrays)


def _written(value: object, source: Source) -> str:
    return source.text[value.start : value.end].strip("'\"") if isinstance(value, Word) else ""


def _only_parameter(word: Word) -> str:
    params = [each for each in walk(word) if isinstance(each, Param)]
    return params[0].name if len(params) == 1 and params[0].op in ("", "?", ":?") else ""


def _origin(name: str, program: Program) -> tuple[bool, tuple[str, ...]]:
    """Whether a variable is the first argument, and the arrays whose elements it goes through."""
    if name == "1":
        return True, ()
    argument, arrays = False, list[str]()
    for node in program.nodes:
        if isinstance(node, Assign) and node.name == name and isinstance(node.value, Word):
            argument = argument or _only_parameter(node.value) == "1"
        elif isinstance(node, For) and node.name == name:
            over = [_only_parameter(word) for word in node.words] if node.words is not None else ["@"]
            argument = argument or "@" in over
            arrays.extend(each for each in over if each not in ("", "@"))
    for node in program.nodes:
        if isinstance(node, Assign) and node.name in arrays and isinstance(node.value, ArrayLit):
            argument = argument or any(_only_parameter(item.word) in ("1", "@") for item in node.value.items)
    return argument, tuple(arrays)


def _is_looked_at(name: str, program: Program, source: Source) -> bool:
    return (
        re.search(rf"-[nz] +\"?\$\{{?{name}\b|\$\{{{name}:?[-=?+]|\$\{{?{name}\}}?\"? *[!=]=", source.text) is not None
    )


def own_records(shape: Shape, program: Program) -> Iterator[Text]:
    """The records that stand in lists of the reader's own text."""
    for node in program.nodes:
        if isinstance(node, Assign) and node.name in shape.arrays and isinstance(node.value, ArrayLit):
            for item in node.value.items:
                text = _plain(item.word)
                if text and "," in text:
                    yield _literal(text, item.word, shape.source)


def _plain(word: Word) -> str:
    """The characters of a word without expansions, "" for others."""
    parts = [piece for part in word.parts for piece in (part.parts if isinstance(part, DoubleQuoted) else [part])]
    return (
        "".join(part.text for part in parts if isinstance(part, Lit))
        if all(isinstance(part, Lit) for part in parts)
        else ""
    )


def _literal(text: str, word: Word, source: Source) -> Text:
    span = source.span(word.start, word.end)
    at = span.text.find(text)
    inner = span if at < 0 else source.span(word.start + at, word.start + at + len(text))
    return Text((Literal(text, inner),), span)


def shape_of_tool(called: CalledTool) -> Shape | None:
    """The record that a Python tool cuts at its commas."""
    record = called.tool.record
    if record is None:
        return None
    return Shape(record.fields, record.span, called.tool.source, numbers=record.numbers)


def shape_of_catalogue(path: str, at: Span, project: Project) -> Shape | None:
    """The record of a driver of the known families whose text is not at hand."""
    del project
    found = {record.fields for record in records_of(path)}
    return Shape(next(iter(found)), at, at.source) if len(found) == 1 else None


def misfits(shape: Shape, given: Sequence[Text], *, filled: bool) -> list[int]:
    """The places of the fields whose characters are of another kind than the reader's; with `filled` also empty ones
    where the reader needs something."""
    out = []
    for at, text in enumerate(given[: len(shape.fields)]):
        kind, known = shape.kind(at), text.known
        needed = filled and kind in ("number", "switch") and shape.fields[at] not in shape.optional
        if known is not None and (not fits(kind, known) or (needed and not known.strip())):
            out.append(at)
    return out
