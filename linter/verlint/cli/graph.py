"""`verlint graph`: the stages of an experiment with what they read, write and need."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verlint.cli.main import FAILED, OK, complain
from verlint.report.graphs import GRAPH_FORMATS, Options, render_graphs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from verlint.experiment.project import Project
    from verlint.experiment.stage import Experiment
    from verlint.files.loading import Loading
    from verlint.finding import Finding
    from verlint.graph.model import NodeKind
    from verlint.report.graphs.view import View
    from verlint.settings import Settings

_ENDINGS = {".mmd": "mermaid", ".mermaid": "mermaid", ".dot": "dot", ".gv": "dot", ".json": "json", ".svg": "svg",
            ".html": "html", ".htm": "html", ".txt": "text"}  # fmt: skip
"""Endings of file names, and the format each asks for."""


class GraphError(Exception):
    """A call that cannot be carried out; the text is for the user."""


def add_parser(subparsers: Any) -> None:
    """Add the verb to the parser of `verlint`."""
    parser = subparsers.add_parser(
        "graph",
        help="the stages of an experiment with what they read, write and need",
        usage="verlint graph [options] PATH [PATH ...]",
        description="Show the graph of an experiment (a spec, a driver script, a README with commands): its stages in "
        "order, the artifacts between them, roots, credentials, checkouts, branches, models and approvals, and what "
        "verlint finds on them. Nothing of it is run.",
        allow_abbrev=False,
    )
    parser.add_argument("paths", nargs="+", metavar="PATH", help="files or folders")
    parser.add_argument("--format", choices=GRAPH_FORMATS, help="default: what the ending of --output says, else text")
    parser.add_argument("-o", "--output", metavar="FILE", default="", help="write to a file instead of the screen")
    parser.add_argument("--no-check", action="store_true", help="leave the findings out; run no rules")
    parser.add_argument(
        "--show", metavar="KINDS", default="", help="only these kinds of nodes beside stages, with commas: "
        "artifact, root, credential, checkout, branch, model, approval",
    )  # fmt: skip
    parser.add_argument("--verl", metavar="VERSION|PATH", help="VeRL version, or checkout, that the launchers are for")
    parser.add_argument(
        "--color", choices=("auto", "always", "never"), default="auto", help="colours of the text format"
    )
    parser.add_argument("--config", metavar="FILE", help="use this settings file")
    parser.add_argument("--isolated", action="store_true", help="use no settings file")


def run(arguments: argparse.Namespace) -> int:
    """Carry out `verlint graph`; returns the exit code: 0, or 2 when there is no graph to show."""
    from verlint.cli.main import UsageError
    from verlint.cli.output import output_width, use_color
    from verlint.settings import SettingsError

    format = arguments.format or _ENDINGS.get(Path(arguments.output).suffix.lower(), "text")
    try:
        views = _views(arguments)
    except (GraphError, UsageError, SettingsError) as error:
        complain(f"verlint: error: {error}")
        return FAILED
    to_file = bool(arguments.output) and arguments.output != "-"
    color = not to_file and use_color(arguments.color, sys.stdout)
    options = Options(color, output_width(sys.stdout), checked=not arguments.no_check)
    text = render_graphs(views, format, options)
    if not to_file:
        sys.stdout.write(text)
        return OK
    try:
        Path(arguments.output).write_text(text, "utf-8", "backslashreplace", "\n")
    except OSError as error:
        complain(f"verlint: error: cannot write {arguments.output}: {error.strerror or error}")
        return FAILED
    return OK


def _views(arguments: argparse.Namespace) -> list[View]:
    """The graphs of a call with their findings. Raises GraphError when the paths hold no experiment."""
    from verlint.cli.call import Arguments, load_files, read_call
    from verlint.experiment.project import Project
    from verlint.graph.build import graph_of
    from verlint.report.graphs.view import View

    kinds = _kinds(arguments.show)
    missing = [path for path in arguments.paths if not os.path.exists(path)]
    if missing:
        raise GraphError(f"{missing[0]}: there is no such file or folder")
    call = Arguments(
        arguments.paths, verl=arguments.verl, config=arguments.config, isolated=arguments.isolated, strict=None
    )
    settings = read_call(call)
    loading = load_files(call, settings)
    project = Project(loading.files, settings, Path.cwd())
    chosen = _chosen(project, loading)
    graphs = [(each, graph) for each in chosen if (graph := graph_of(each, project)) is not None]
    if not graphs:
        raise GraphError(_nothing(arguments.paths, loading, project))
    shown = {id(each.source) for each, _ in graphs}
    for file in loading.files:
        if file.named and id(file.source) not in shown:
            complain(f"warning: {file.source.path}: no experiment here")
    findings = [] if arguments.no_check else _findings(loading, settings, project)
    return [View(graph, findings, kinds) for _, graph in graphs]


def _kinds(show: str) -> Sequence[NodeKind]:
    from verlint.graph.model import NodeKind

    names = [name.strip().removesuffix("s") for name in show.split(",") if name.strip()]
    known = {kind.value: kind for kind in NodeKind}
    known["branche"] = NodeKind.BRANCH
    for name in names:
        if name not in known:
            raise GraphError(
                f"--show: {name!r} is no kind of node; kinds: {', '.join(kind.value for kind in NodeKind)}"
            )
    return [known[name] for name in names] or list(NodeKind)


def _chosen(project: Project, loading: Loading) -> list[Experiment]:
    """The experiments that are asked for: those of named files, and in folders the specs and what nothing else
    calls."""
    named = {id(file.source) for file in loading.files if file.named}
    found = [each for each in project.experiments if id(each.source) in named and each.stages]
    return found + [
        each
        for each in project.experiments
        if id(each.source) not in named and each.root and (each.is_spec or len(each.stages) > 1)
    ]


def _findings(loading: Loading, settings: Settings, project: Project) -> Sequence[Finding]:
    """What the rules say of the same files."""
    from verlint.engine import check_loaded

    return check_loaded(project, settings, unreadable=loading.unreadable).findings


def _nothing(paths: Sequence[str], loading: Loading, project: Project) -> str:
    """Why there is no graph: what was found, and what makes an experiment."""
    from verlint.files.kinds import Kind

    kinds = [file.kind for file in loading.files]
    found = ", ".join(f"{kinds.count(kind)} {kind.value}" for kind in Kind if kind in kinds) or "nothing to read"
    unread = [spec.source.path for spec in project.specs if spec.spec is None]
    if unread:
        found += f"; {unread[0]} could not be read (`verlint check {unread[0]}` says why)"
    return (
        f"{', '.join(paths)}: no experiment here (found {found}). An experiment is a spec (`schema: verlint/exp-v1`), "
        "a script that starts VeRL or calls launchers, or a document with such commands in its shell blocks"
    )
