"""Answers to an editor: diagnostics, hover, fixes, definitions, completion."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from lsprotocol import types as lsp

from verlint.editor.positions import to_offset, to_position, to_range
from verlint.editor.spec_keys import keys_at
from verlint.editor.workspace import OpenFile, Word
from verlint.experiment.launch import Launch
from verlint.experiment.paths import absolute, in_tree
from verlint.experiment.stage import called_file
from verlint.files.kinds import Kind
from verlint.finding import Finding, Safety, Severity, Verdict
from verlint.report.redaction import Redactor
from verlint.source import Source, Span
from verlint.value import show
from verlint.verl.schema import schema

_SEVERITIES = {
    Severity.ERROR: lsp.DiagnosticSeverity.Error,
    Severity.WARNING: lsp.DiagnosticSeverity.Warning,
    Severity.INFO: lsp.DiagnosticSeverity.Information,
}
_KEY = re.compile(r"[+~]{0,2}([A-Za-z_][\w.@/-]*)?\Z")
_MOST = 200
"""Proposals of a completion: more nobody reads, and typing on narrows them."""


# Diagnostics ---------------------------------------------------------------------------------------------------------


def diagnostics(file: OpenFile) -> list[lsp.Diagnostic]:
    """The findings whose place is in the file."""
    found = file.findings()
    redactor = Redactor(found)
    return [diagnostic(finding, redactor) for finding in found if finding.file == file.path]


def diagnostic(finding: Finding, redactor: Redactor) -> lsp.Diagnostic:
    """One finding as editors show it. What needs verification is a hint."""
    unsure = finding.verdict is Verdict.UNSURE
    lines = [redactor.text(finding.message)]
    if finding.value and redactor.text(finding.value) not in lines[0]:
        lines[0] += f" ({redactor.text(finding.value)})"
    if finding.help:
        lines.append(f"help: {redactor.text(finding.help)}")
    if finding.verify:
        lines.append("verify: " + "\n".join(redactor.lines(finding.verify)))
    return lsp.Diagnostic(
        to_range(finding.span),
        "\n".join(lines),
        severity=lsp.DiagnosticSeverity.Hint if unsure else _SEVERITIES[finding.severity],
        code=finding.code,
        source="verlint",
        related_information=[
            lsp.DiagnosticRelatedInformation(_location(related.span), redactor.text(related.label))
            for related in finding.related
        ],
    )


def _location(span: Span) -> lsp.Location:
    return lsp.Location(_uri(span.in_file().source.path), to_range(span))


def _uri(path: str) -> str:
    return Path(os.path.abspath(path)).as_uri()


# Fixes ---------------------------------------------------------------------------------------------------------------


def code_actions(file: OpenFile, wanted: lsp.Range) -> list[lsp.CodeAction]:
    """The fixes of the findings that a range touches; those that may change the meaning say so."""
    source = file.source
    if source is None:
        return []
    start, end = to_offset(source, wanted.start), to_offset(source, wanted.end)
    found = file.findings()
    redactor = Redactor(found)
    actions = []
    for finding in found:
        place = None if finding.span is None else finding.span.in_file()
        if finding.fix is None or place is None or place.source is not source or place.start > end or place.end < start:
            continue
        changes: dict[str, list[lsp.TextEdit]] = {}
        for edit in finding.fix.edits:
            changes.setdefault(_uri(edit.span.in_file().source.path), []).append(
                lsp.TextEdit(to_range(edit.span), edit.text)
            )
        safe = finding.fix.safety is Safety.SAFE
        actions.append(
            lsp.CodeAction(
                f"{finding.code}: {redactor.text(finding.fix.title)}" + ("" if safe else " (may change the meaning)"),
                kind=lsp.CodeActionKind.QuickFix,
                diagnostics=[diagnostic(finding, redactor)],
                is_preferred=safe,
                edit=lsp.WorkspaceEdit(changes=dict(changes)),
            )
        )
    return actions


# Hover ---------------------------------------------------------------------------------------------------------------


def hover(file: OpenFile, position: lsp.Position) -> lsp.Hover | None:
    """What the word at a place comes to, and the way it came; of an override also the default and the version."""
    source = file.source
    if source is None:
        return None
    words = file.words_at(to_offset(source, position))
    if not words:
        return None
    narrowest = words[0].span.end - words[0].span.start
    same = [word for word in words if word.span.end - word.span.start == narrowest]
    redactor = Redactor(())
    parts = [_told(word, redactor) for word in same[:5]]
    launch = file.launch_at(to_offset(source, position))
    if launch is not None and (about := _about_key(words[0].text.prefix, launch)):
        parts.append(about)
    return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, "\n\n---\n\n".join(parts)), to_range(words[0].span))


def _told(word: Word, redactor: Redactor) -> str:
    name = f"{word.assignment.name}=" if word.assignment is not None else ""
    lines = [f"```bash\n{redactor.text(name + word.text.shown)}\n```"]
    for hop in word.text.trail():
        text = redactor.text(redactor.hop(hop))
        lines.append(f"- `{redactor.place(hop.span)}` {text}" if hop.span is not None else f"- {text}")
    lines += [f"- `{hole.name}` is not known before the run: {hole.reason}" for hole in word.text.holes]
    command = word.command
    if command is not None and command.around.guards:
        lines.append("when " + " and ".join(guard.words for guard in command.around.guards))
    return "\n".join(lines)


def _about_key(word: str, launch: Launch) -> str:
    """What VeRL has for the key of an override."""
    key = word.partition("=")[0].lstrip("+~")
    verl = launch.verl
    found = None if verl is None else verl.schema
    if not key or verl is None or found is None or key not in found:
        return ""
    return f"`{key}`: {show_default(found.default(key))} by default in VeRL {verl.text}"


def show_default(data: object) -> str:
    """A default of VeRL in words."""
    return show(data) if isinstance(data, (str, int, float, bool, list, type(None))) else "a section"


# Definitions ---------------------------------------------------------------------------------------------------------


def definitions(file: OpenFile, position: lsp.Position) -> list[lsp.Location]:
    """Where what stands at a place comes from: the stage that makes it, the file that a command starts, the assignment
    or option that a value was written in."""
    source = file.source
    if source is None:
        return []
    offset = to_offset(source, position)
    words = file.words_at(offset)
    places: list[Span] = list(_producers(file, source, offset))
    for word in words[:5]:
        places += [hop.span for hop in word.text.trail() if hop.span is not None and not _same(hop.span, word.span)][:1]
    locations = [_location(span) for span in places]
    locations += _files(file, words)
    return list({(each.uri, each.range.start.line, each.range.start.character): each for each in locations}.values())


def _same(span: Span, other: Span) -> bool:
    return span.in_file().order() == other.in_file().order()


def _producers(file: OpenFile, source: Source, offset: int) -> Iterator[Span]:
    """The stages whose outcome is read at an offset."""
    from verlint.experiment.handovers import links_of

    for experiment in file.project.experiments:
        for link in links_of(experiment):
            at = (link.by.span if link.by is not None else None) or link.consumer.span
            place = at.in_file()
            if place.source is source and place.start <= offset <= place.end:
                yield link.producer.span


def _files(file: OpenFile, words: list[Word]) -> list[lsp.Location]:
    tree = file.project.tree
    for word in words:
        called = None if word.command is None else called_file(word.command)
        if word.command is None or called is None:
            continue
        path = in_tree(absolute(called.path, word.command.around.cwd))
        if path is not None and tree.exists(path):
            return [lsp.Location((tree.root / path).resolve().as_uri(), to_range(None))]
    return []


# Completion ----------------------------------------------------------------------------------------------------------


def completions(file: OpenFile, position: lsp.Position) -> list[lsp.CompletionItem]:
    """Keys of VeRL's config within a launch, keys of the spec format in a spec."""
    source = file.source
    if source is None or file.file is None:
        return []
    offset = to_offset(source, position)
    line = source.text[source.text.rfind("\n", 0, offset) + 1 : offset]
    if file.file.kind is Kind.SPEC:
        return _spec_keys(source, line, offset)
    typed = _KEY.search(line.rpartition(" ")[2])
    launch = file.launch_at(offset)
    if typed is None or launch is None:
        return []
    return _override_keys(launch, typed[1] or "", source, offset)


def _override_keys(launch: Launch, prefix: str, source: Source, offset: int) -> list[lsp.CompletionItem]:
    found = (launch.verl.schema if launch.verl is not None else None) or schema(launch.version)
    if found is None:
        return []
    given = {override.key for override in launch.overrides}
    place = lsp.Range(to_position(source, offset - len(prefix)), to_position(source, offset))
    keys = [key for key in sorted(found.keys) if key.startswith(prefix) and (key not in given or key == prefix)]
    return [
        lsp.CompletionItem(
            key,
            kind=lsp.CompletionItemKind.Property,
            detail=f"default {show_default(found.default(key))}",
            text_edit=lsp.TextEdit(place, f"{key}="),
        )
        for key in keys[:_MOST]
    ]


def _spec_keys(source: Source, line: str, offset: int) -> list[lsp.CompletionItem]:
    """The keys that the mapping at a place may have."""
    typed = re.fullmatch(r"(?P<indent>[ ]*(?:- )?)(?P<key>[\w-]*)", line)
    if typed is None:
        return []
    keys = keys_at(_path_above(source, offset, len(typed["indent"])))
    place = lsp.Range(to_position(source, offset - len(typed["key"])), to_position(source, offset))
    return [
        lsp.CompletionItem(
            name,
            kind=lsp.CompletionItemKind.Field,
            detail="required" if key.required else "",
            documentation=key.about,
            text_edit=lsp.TextEdit(place, f"{name}: "),
        )
        for name, key in keys.items()
        if name.startswith(typed["key"])
    ]


def _path_above(source: Source, offset: int, indent: int) -> list[str]:
    """The keys of the mappings around a place, outermost first, by indentation."""
    path: list[str] = []
    for line in reversed(source.text[:offset].split("\n")[:-1]):
        found = re.match(r"( *)(?:- )?([\w-]+):", line)
        if found is not None and len(found[1]) < indent:
            path.insert(0, found[2])
            indent = len(found[1])
        if indent == 0:
            break
    return path
