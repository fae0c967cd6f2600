"""What a Python tool takes, reads, writes, needs and starts, for people and for programs."""

from __future__ import annotations

from collections.abc import Iterator

from verlint.languages.python.tool import Tool
from verlint.report.commands import JSON_VERSION, Masker
from verlint.report.display import json_text, visible
from verlint.source import Span

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from verlint.languages.python.options import Option

_TITLES = {"read": "reads", "write": "writes", "folder": "makes", "hub": "takes from a hub or folder"}


def text_of(tool: Tool, masker: Masker) -> str:
    """The listing of a tool, each fact with the line it is read from."""
    lines = [f"{tool.source.path}: a Python tool"]
    if not tool.readable:
        lines.append("  it cannot be read: no Python of the present, too long, or nested too deeply")
    for title, rows in _sections(tool, masker):
        lines += ["", title]
        width = max(len(left) for left, _ in rows)
        lines += [f"  {left:<{width}}  :{line}" for left, line in rows]
    return "\n".join(lines) + "\n"


def _sections(tool: Tool, masker: Masker) -> Iterator[tuple[str, list[tuple[str, int]]]]:
    interface = tool.interface
    if interface is not None:
        others = "others are refused" if interface.closed else "perhaps more"
        rows = [(_shown(each, masker), _line(each.span)) for each in interface.options if each.dest != "help"]
        if rows:
            yield f"takes ({interface.convention}, {others})", rows
    if tool.record is not None:
        names = ",".join(name or f"({at})" for at, name in enumerate(tool.record.fields, 1))
        yield "takes a record", [(names, _line(tool.record.span))]
    for how, title in _TITLES.items():
        found = [(visible(masker.text(each.path.shown)), _line(each.span)) for each in tool.files if each.how == how]
        if found:
            yield title, list(dict.fromkeys(found))
    if tool.credentials:
        yield (
            "needs",
            [(each.name + ("" if each.required else " (if it is set)"), _line(each.span)) for each in tool.credentials],
        )
    if tool.started:
        rows = [
            (visible(masker.text(" ".join(word.shown for word in each.words))), _line(each.span))
            for each in tool.started
        ]
        yield "starts", rows
    if tool.flows:
        yield (
            "runs what a model wrote",
            [(f"{each.origin.what} by {each.sink}", _line(each.span)) for each in tool.flows],
        )


def _line(span: Span) -> int:
    return span.begin.line


def _shown(option: Option, masker: Masker) -> str:
    notes = [option.kind] if option.kind and option.kind != "str" else []
    if option.required is not False:
        notes.append("required" if option.required else "perhaps required")
    if option.default is not None and option.kind != "bool":
        notes.append(f"default {visible(masker.text(option.default.shown))}")
    if option.choices:
        notes.append("one of " + ", ".join(option.choices))
    return ", ".join(option.names) + (f"  ({', '.join(notes)})" if notes else "")


def json_of(tool: Tool, masker: Masker) -> str:
    """The same as JSON; lines count from 1."""
    interface = tool.interface
    record = tool.record
    data: dict[str, Any] = {
        "version": JSON_VERSION,
        "path": tool.source.path,
        "readable": tool.readable,
        "takes": None if interface is None else {
            "convention": interface.convention,
            "closed": interface.closed,
            "options": [_option(each, masker) for each in interface.options if each.dest != "help"],
        },
        "record": None if record is None else {"fields": list(record.fields), "line": _line(record.span)},
        "files": [
            {"path": masker.text(each.path.shown), "how": each.how, "by": each.by, "line": _line(each.span)}
            for each in tool.files
        ],
        "credentials": [
            {"name": each.name, "required": each.required, "by": each.by, "line": _line(each.span)}
            for each in tool.credentials
        ],
        "starts": [
            {
                "words": [masker.text(word.shown) for word in each.words],
                "shell": each.shell,
                "open": each.open,
                "line": _line(each.span),
            }
            for each in tool.started
        ],
        "runs_model_output": [
            {"what": each.origin.what, "by": each.sink, "certain": each.origin.certain, "line": _line(each.span)}
            for each in tool.flows
        ],
    }  # fmt: skip
    return json_text(data)


def _option(option: Option, masker: Masker) -> dict[str, Any]:
    return {
        "names": list(option.names),
        "name": option.dest,
        "required": option.required,
        "default": None if option.default is None else masker.text(option.default.shown),
        "choices": list(option.choices),
        "type": option.kind,
        "line": _line(option.span),
    }
