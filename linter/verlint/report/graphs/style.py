"""The style sheets of pictures and pages: light and dark, as the reader's system asks."""

from __future__ import annotations

from verlint.graph.model import NodeKind
from verlint.report.graphs.palette import (
    ERROR,
    ERROR_DARK,
    PAINTS,
    UNSURE,
    UNSURE_DARK,
    WARNING,
    WARNING_DARK,
)


def _colours(*, dark: bool) -> str:
    plain = {
        "page": "#17191c" if dark else "#ffffff",
        "panel": "#1f2226" if dark else "#f6f7f8",
        "ink": "#e8e8e6" if dark else "#1a1a1a",
        "soft": "#a9aeb4" if dark else "#5c6066",
        "wire": "#868c93" if dark else "#8a8f95",
        "rule": "#3a3f45" if dark else "#d5d8db",
        "error": ERROR_DARK if dark else ERROR,
        "warning": WARNING_DARK if dark else WARNING,
        "unsure": UNSURE_DARK if dark else UNSURE,
        "on-badge": "#17191c" if dark else "#ffffff",
    }
    for kind in NodeKind:
        paint = PAINTS[kind]
        plain[f"{kind.value}-fill"] = paint.dark_fill if dark else paint.fill
        plain[f"{kind.value}-line"] = paint.dark_line if dark else paint.line
    return "".join(f"--{name}:{colour};" for name, colour in plain.items())


COLOURS = (
    f":root{{color-scheme:light dark;{_colours(dark=False)}}}"
    f"@media (prefers-color-scheme:dark){{:root{{{_colours(dark=True)}}}}}"
)

_SANS = "system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif"
_MONO = "ui-monospace,SFMono-Regular,Menlo,Consolas,'Liberation Mono',monospace"

BOXES = (
    f".picture{{font-family:{_SANS};text-rendering:geometricPrecision}}"
    ".picture text{fill:var(--ink)}.picture .page{fill:var(--page)}"
    ".picture .title{font-weight:700}.picture .name{font-weight:650}"
    ".picture text.about{fill:var(--soft)}"
    f".picture text.mono{{font-family:{_MONO};fill:var(--soft)}}"
    ".picture .node .box{stroke-width:1.4}"
    + "".join(
        f".picture .{kind.value} .box{{fill:var(--{kind.value}-fill);stroke:var(--{kind.value}-line)}}"
        for kind in (NodeKind.STAGE, NodeKind.ARTIFACT)
    )
    + "".join(
        f".picture text.{kind.value},.picture tspan.{kind.value}{{fill:var(--{kind.value}-line)}}"
        for kind in NodeKind
        if kind is not NodeKind.STAGE
    )
    + ".picture .outside .box{stroke-dasharray:5 4}"
    ".picture .node.error .box{stroke:var(--error);stroke-width:2.6}"
    ".picture .node.warning .box{stroke:var(--warning);stroke-width:2.6}"
    ".picture .node.unsure .box{stroke:var(--unsure);stroke-width:2.6}"
    ".picture .order{fill:var(--stage-line)}"
    ".picture .number{fill:var(--on-badge);font-size:12px;font-weight:700;text-anchor:middle}"
    ".picture .badge text{fill:var(--on-badge);font-size:11px;font-weight:700;text-anchor:middle}"
    ".picture .badge.error rect{fill:var(--error)}.picture .badge.warning rect{fill:var(--warning)}"
    ".picture .badge.info rect{fill:var(--soft)}.picture .badge.unsure rect{fill:var(--unsure)}"
    ".picture .line path{fill:none;stroke:var(--wire);stroke-width:1.5}"
    ".picture .line .tip{fill:var(--wire);stroke:none}"
    ".picture .starts path{stroke:var(--stage-line);stroke-width:3}.picture .starts .tip{fill:var(--stage-line)}"
    ".picture .copied path{stroke-dasharray:7 5}.picture .before path{stroke-dasharray:2 4}"
)

PICTURE_STYLE = COLOURS + BOXES

PAGE_STYLE = (
    COLOURS
    + BOXES
    + f"*{{box-sizing:border-box}}body{{margin:0;background:var(--page);color:var(--ink);font:14px/1.45 {_SANS}}}"
    "main{padding:16px 20px}h1{font-size:20px;margin:0 0 2px}h2{font-size:13px;margin:16px 0 4px}"
    "header p{margin:0 0 12px;color:var(--soft)}"
    "section.experiment+section.experiment{margin-top:36px;border-top:1px solid var(--rule);padding-top:20px}"
    ".columns{display:flex;gap:14px;align-items:flex-start}"
    ".drawing{flex:1 1 auto;min-width:0;overflow-x:auto}"
    ".drawing svg{display:block;margin:0 auto;width:100%;height:auto}"
    "aside{flex:0 0 310px;position:sticky;top:12px;max-height:calc(100vh - 24px);overflow:auto;overflow-wrap:anywhere;"
    "background:var(--panel);border:1px solid var(--rule);border-radius:8px;padding:4px 14px 14px}"
    "aside ul{list-style:none;margin:0;padding:0}aside li{padding:1px 0;overflow-wrap:anywhere}"
    f"aside code,aside .mono{{font-family:{_MONO};font-size:12px;overflow-wrap:anywhere}}"
    ".soft{color:var(--soft)}.detail{display:none}.detail.open{display:block}"
    ".detail h2{font-size:15px;overflow-wrap:anywhere}"
    "dl{display:grid;grid-template-columns:max-content 1fr;gap:1px 10px;margin:4px 0}"
    "dt{color:var(--soft)}dd{margin:0;overflow-wrap:anywhere}"
    ".finding{border-left:3px solid var(--soft);padding:2px 0 2px 8px;margin:6px 0}"
    ".finding.error{border-color:var(--error)}.finding.warning{border-color:var(--warning)}"
    ".finding.unsure{border-color:var(--unsure)}.finding b{white-space:nowrap}"
    + "".join(
        f".mark.{kind.value}{{background:var(--{kind.value}-line)}}" for kind in NodeKind
    )
    + ".mark{display:inline-block;width:9px;height:9px;border-radius:2px;margin-right:6px}"
    ".legend{display:flex;flex-wrap:wrap;gap:4px 18px;color:var(--soft);font-size:12px;margin:0 0 12px}"
    ".legend svg{vertical-align:middle;margin-right:5px}"
    "[data-for]{cursor:default}.node{cursor:pointer}.node:focus{outline:none}"
    ".node:focus-visible .box{stroke-width:3.5}"
    ".focus .node{opacity:.28}.focus .line{opacity:.12}.focus .hot{opacity:1}"
    ".node.chosen .box{stroke-width:3.5}"
    "button{font:inherit;color:var(--stage-line);background:none;border:0;padding:0;cursor:pointer;text-align:left}"
    "@media (max-width:1100px){.columns{display:block}aside{position:static;max-height:none;margin-top:16px}}"
    "@media print{aside{position:static;max-height:none}.detail{display:block}}"
)  # fmt: skip
