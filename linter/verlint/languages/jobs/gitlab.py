"""GitLab pipelines: `before_script` and `script` in one shell, `after_script` in another.

Source: GitLab's CI/CD YAML reference; the runner starts bash with `set -eo pipefail`, and `after_script` without."""

from __future__ import annotations

from collections.abc import Iterator

from verlint.files.job_formats import GITLAB
from verlint.languages.jobs.fields import entries, environment, get, given
from verlint.languages.jobs.job import Block, Job
from verlint.languages.yaml import Mapping, Node, Scalar, Sequence, embedded
from verlint.value import Text

_NO_JOBS = frozenset(["default", "include", "stages", "variables", "workflow", "image", "services", "cache", "pages"])
_STRICT = frozenset(["e", "pipefail"])
_GIVEN = dict.fromkeys(
    ("CI_COMMIT_SHA", "CI_COMMIT_REF_NAME", "CI_JOB_ID", "CI_PIPELINE_ID", "CI_PROJECT_NAME"), "set by GitLab"
)


def jobs(document: Mapping) -> Iterator[Job]:
    """Every job with a script; hidden ones (`.name`) are templates and left out."""
    shared = {**given(_GIVEN), **environment(document.get("variables"))}
    before = get(document, "default", "before_script") or document.get("before_script")
    for key, value in entries(document):
        if key.text in _NO_JOBS or key.text.startswith(".") or not isinstance(value, Mapping):
            continue
        variables = {**shared, **environment(value.get("variables"))}
        blocks = [*_blocks("before_script", value.get("before_script") or before, variables, joined=False)]
        blocks += _blocks("script", value.get("script"), variables, joined=bool(blocks))
        if not blocks:
            continue
        blocks += _blocks("after_script", value.get("after_script"), variables, joined=False)
        yield Job(GITLAB, key.text, key.span, tuple(blocks), ".")


def _blocks(name: str, node: Node | None, variables: dict[str, Text], *, joined: bool) -> Iterator[Block]:
    options = frozenset[str]() if name == "after_script" else _STRICT
    for at, each in enumerate(_scalars(node)):
        yield Block(embedded(each), each, f"{name}[{at}]", variables, {}, "", options, joined or at > 0)


def _scalars(node: Node | None) -> Iterator[Scalar]:
    """The commands of a script, lists in lists opened; references to other jobs (`!reference`) are left out."""
    if isinstance(node, Scalar) and node.value is not None:
        yield node
    elif isinstance(node, Sequence):
        for item in node.items:
            yield from _scalars(item)
