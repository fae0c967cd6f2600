"""GitHub workflows and composite actions: every `run` is a shell of its own, all of one job on one machine.

Sources: the workflow syntax of GitHub Actions (`defaults.run`, `env`, `shell`, `working-directory`), and its default
variables. Without `shell` it is `bash -e`, with `shell: bash` it is `bash -eo pipefail`."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping, Sequence

from verlint.files.job_formats import ACTION, WORKFLOW
from verlint.languages.jobs.expressions import meanings, replaced, unknown
from verlint.languages.jobs.fields import entries, environment, get, given, hole, items, string
from verlint.languages.jobs.job import WORKSPACE, Block, Job
from verlint.languages.yaml import Mapping as Node_
from verlint.languages.yaml import Node, Scalar, embedded
from verlint.lazy import pattern
from verlint.record import dataclass, field
from verlint.source import Source
from verlint.value import Hole, Hop, Literal, Text

_GIVEN = dict.fromkeys(
    """
    GITHUB_ENV GITHUB_OUTPUT GITHUB_PATH GITHUB_STEP_SUMMARY GITHUB_SHA GITHUB_REF GITHUB_REF_NAME GITHUB_HEAD_REF
    GITHUB_BASE_REF GITHUB_REPOSITORY GITHUB_REPOSITORY_OWNER GITHUB_RUN_ID GITHUB_RUN_NUMBER GITHUB_RUN_ATTEMPT
    GITHUB_WORKFLOW GITHUB_JOB GITHUB_ACTOR GITHUB_EVENT_NAME GITHUB_EVENT_PATH GITHUB_SERVER_URL GITHUB_API_URL
    RUNNER_OS RUNNER_ARCH RUNNER_NAME RUNNER_TEMP RUNNER_TOOL_CACHE
    """.split(),  # noqa: SIM905
    "set by GitHub",
)
_KINDS = {
    "secrets": "secret of the repository",
    "vars": "variable of the repository",
    "inputs": "input of the workflow",
    "matrix": "value of the matrix",
    "steps": "output of a step",
    "needs": "output of a job",
    "env": "variable of the runner",
    "github": "set by GitHub",
    "runner": "set by GitHub",
}
_WRITTEN = pattern(r"\b([A-Za-z_]\w*)=(?:([\w./:+-]*)(?=[\"' \t]))?[^\n]*?>>[ \t]*[\"']?\$\{?GITHUB_ENV\b")
_SHELLS: Mapping[str, frozenset[str]] = {
    "": frozenset("e"),
    "bash": frozenset(["e", "pipefail"]),
    "sh": frozenset("e"),
}
_CUSTOM = pattern(r"(?:/\S*/)?(?:bash|sh)((?:[ \t]+-[-\w]+(?:[ \t]+pipefail)?)*)[ \t]*(?:\{0\})?")


def jobs(document: Node_) -> Iterator[Job]:
    """The jobs with steps that run something."""
    owner = document.span.source
    if isinstance(document.get("runs"), Node_):
        scope = _Scope(owner, given(_GIVEN))
        blocks = _blocks(items(get(document, "runs", "steps")), scope, "", "", None)
        yield Job(ACTION, string(document.get("name")), document.span, tuple(blocks), None)
        return
    shared = _Scope(owner, given(_GIVEN))
    shared = shared.under(document.get("env"))
    for key, job in entries(document.get("jobs")):
        if isinstance(job, Node_):
            yield _job(key, job, document, shared)


def _job(key: Scalar, job: Node_, document: Node_, shared: _Scope) -> Job:
    scope = _Scope(shared.owner, shared.variables, get(job, "strategy", "matrix")).under(job.get("env"))
    steps = items(job.get("steps"))
    defaults = [get(each, "defaults", "run") for each in (job, document)]
    shell, folder = (
        next((found for each in defaults if (found := string(get(each, name)))), "")
        for name in ("shell", "working-directory")
    )
    if string(job.get("runs-on")).startswith("windows") and not shell:
        shell = "pwsh"
    checkout = _checkout(steps)
    blocks = _blocks(steps, scope, shell, folder, checkout)
    return Job(WORKFLOW, key.text, key.span, tuple(blocks), None if checkout is None else ".")


def _checkout(steps: Sequence[Node]) -> str | None:
    """The folder below the workspace into which the repository itself is checked out, None when it is not known."""
    for step in steps:
        own = get(step, "with", "repository") is None
        if own and string(get(step, "uses")).startswith("actions/checkout@"):
            return posixpath.normpath(string(get(step, "with", "path")) or ".")
    return None


def _blocks(steps: Sequence[Node], scope: _Scope, shell: str, folder: str, checkout: str | None) -> Iterator[Block]:
    for at, step in enumerate(steps):
        run = get(step, "run")
        if not isinstance(run, Scalar) or not run.text.strip():
            continue
        options = _options(string(get(step, "shell")) or shell)
        if options is not None:
            own = scope.under(get(step, "env"))
            place = _below(string(get(step, "working-directory")) or folder, checkout)
            known = meanings(run.text, own.meaning)
            yield Block(embedded(run), run, f"steps[{at}].run", own.variables, known, place, options)
        scope.variables = {**scope.variables, **_written(embedded(run))}


def _written(run: Source) -> dict[str, Text]:
    """The variables that a step writes for those behind it, with values that are plain words."""
    out: dict[str, Text] = {}
    for found in _WRITTEN.finditer(run.text):
        span = run.span(*found.span(2)) if found[2] else None
        hops = (Hop(run.span(found.start(), found.end(2))),) if span is not None else ()
        unsure = hole(found[1], "written to GITHUB_ENV by a step before")
        out[found[1]] = Text((Literal(found[2], span, hops),), span) if span is not None else unsure
    return out


def _options(shell: str) -> frozenset[str] | None:
    """The options of a shell as `shell:` names it, None for what is no shell of ours."""
    if shell in _SHELLS:
        return _SHELLS[shell]
    found = _CUSTOM.fullmatch(shell)
    if found is None:
        return None
    options = found[1]
    letters = {letter for word in options.split() if word[:2] != "--" and word[0] == "-" for letter in word[1:]}
    return frozenset(letters & set("eux")) | (frozenset(["pipefail"]) if "pipefail" in options else frozenset())


def _below(folder: str, checkout: str | None) -> str | None:
    """A working directory seen from the root of the repository, None when it lies elsewhere."""
    if checkout is None or "${{" in folder or folder.startswith(("/", "~", "$")):
        return None
    path = posixpath.relpath(posixpath.normpath(folder or "."), checkout)
    return None if path.startswith("..") else "" if path == "." else path


@dataclass(slots=True)
class _Scope:
    """The variables that hold for a step, and the matrix of its job."""

    owner: Source
    variables: Mapping[str, Text]
    matrix: Node | None = field(default=None)

    def under(self, node: Node | None) -> _Scope:
        """With the variables of an `env` on top."""
        if node is None:
            return _Scope(self.owner, self.variables, self.matrix)
        own = environment(node, self.meaning, missing="empty")
        return _Scope(self.owner, {**self.variables, **own}, self.matrix)

    def meaning(self, expression: str) -> Text:
        """What an expression stands for."""
        kind, dot, name = expression.partition(".")
        if expression == "github.workspace":
            return Text((Hole(WORKSPACE, "GITHUB_WORKSPACE", "folder of the repository"),))
        if kind == "env" and dot and name in self.variables:
            return self.variables[name]
        if kind == "matrix" and dot:
            values = items(get(self.matrix, name))
            only = values[0] if len(values) == 1 and get(self.matrix, "include") is None else None
            if isinstance(only, Scalar) and only.value is not None:
                source = embedded(only)
                if "${{" in source.text:
                    return replaced(source, self.meaning)
                return Text((Literal(source.text, source.whole(), (Hop(only.span, expression),)),))
        return unknown(expression, _KINDS.get(kind if kind.isidentifier() else "", "expression of GitHub"), self.owner)
