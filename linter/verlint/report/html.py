"""One self-contained HTML page: what was found, by file, with the code; no script, nothing from the network."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from html import escape
from itertools import groupby

from verlint import __version__
from verlint.finding import Finding
from verlint.report.ansi import Style
from verlint.report.details import LEVELS, level, parts, statement
from verlint.report.frame import frame
from verlint.report.redaction import Redactor
from verlint.report.summary import checked_line, found_line
from verlint.result import Report

_STYLE = """\
:root { color-scheme: light dark; --page: #fff; --text: #1c2024; --dim: #60646c; --line: #d9d9e0; --code: #f6f6f8;
  --error: #b3261e; --warning: #8a5a00; --info: #0b62b3; --unsure: #6c3fb4; }
@media (prefers-color-scheme: dark) { :root { --page: #16181c; --text: #e6e8eb; --dim: #9ba1a8; --line: #33363c;
  --code: #1f2227; --error: #ff8a80; --warning: #f2c14e; --info: #7cc0ff; --unsure: #c7a6ff; } }
body { margin: 0 auto; padding: 1.5rem; max-width: 72rem; background: var(--page); color: var(--text);
  font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.4rem; margin: 0; } h2 { font-size: 1.05rem; margin: 2rem 0 .5rem; overflow-wrap: anywhere; }
.dim, dt { color: var(--dim); }
article { border: 1px solid var(--line); border-left: 4px solid var(--level); border-radius: 6px; margin: .75rem 0;
  padding: .6rem 1rem; }
article.error { --level: var(--error); } article.warning { --level: var(--warning); }
article.info { --level: var(--info); } article.unsure { --level: var(--unsure); }
article h3 { font-size: 1rem; margin: 0; font-weight: 600; overflow-wrap: anywhere; }
article h3 .code { color: var(--level); }
pre { background: var(--code); border-radius: 4px; padding: .5rem .75rem; margin: .5rem 0; overflow-x: auto;
  font: 13px/1.45 ui-monospace, monospace; }
dl { display: grid; grid-template-columns: 4.5rem 1fr; gap: .15rem .75rem; margin: .25rem 0 0; }
dd { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; font: 13px/1.5 ui-monospace, monospace; }
nav a { color: inherit; margin-right: 1rem; white-space: nowrap; }
input { margin: 0 .3rem 0 0; } label { margin-right: 1rem; white-space: nowrap; }
"""
_HIDE = "body:has(#show-{0}:not(:checked)) article.{0} {{ display: none; }}\n"
_FRAME_WIDTH = 120


def render(report: Report, *, color: bool = False, width: int = 100) -> str:
    """The report as HTML; the reader's system chooses light or dark."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: Report) -> Iterator[str]:
    redactor = Redactor(report.findings)
    findings = sorted(report.findings, key=Finding.order)
    counts = Counter(map(level, findings))
    yield '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>verlint: {escape(found_line(report))}</title>"
    yield f"<style>\n{_STYLE}{''.join(_HIDE.format(name) for name in LEVELS)}</style>\n</head>\n<body>"
    yield f"<h1>{escape(found_line(report))}</h1>"
    yield f'<p class="dim">{escape(checked_line(report.summary))}, verlint {__version__}</p>'
    if findings:
        yield (
            "<p>"
            + "".join(
                f'<label><input type="checkbox" id="show-{name}" checked>{name} ({counts[name]})</label>'
                for name in LEVELS
                if counts[name]
            )
            + "</p>"
        )
    for path, group in groupby(findings, key=lambda finding: finding.file):
        yield f"<section>\n<h2>{escape(redactor.path(path))}</h2>"
        for finding in group:
            yield from _article(finding, redactor)
        yield "</section>"
    yield "</body>\n</html>"


def _article(finding: Finding, redactor: Redactor) -> Iterator[str]:
    yield f'<article class="{level(finding)}">'
    said = escape(statement(finding, redactor))
    yield f'<h3><span class="code">{escape(finding.code)} {level(finding)}</span> {said}</h3>'
    about = f", {redactor.text(finding.about)}" if finding.about else ""
    place = redactor.place(finding.span) if finding.span is not None else redactor.path(finding.path)
    yield f'<div class="dim">{escape(place)} · {escape(finding.slug + about)}</div>'
    if finding.span is not None:
        span = finding.span.in_file()
        shown = frame(span, redactor.masks(span.source), Style(), level(finding), _FRAME_WIDTH)
        yield f"<pre>{escape(chr(10).join(shown))}</pre>"
    details = list(parts(finding, redactor))
    if details:
        yield "<dl>"
        for label, text in details:
            yield f"<dt>{label}</dt><dd>{escape(text)}</dd>"
        yield "</dl>"
    yield "</article>"
