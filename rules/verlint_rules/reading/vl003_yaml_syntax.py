"""A spec, job file or config must be YAML that its reader accepts.

Nothing of a spec is known when its YAML is broken, so no stage, root or credential in it is checked. The most common
cause is a reference in flow style: `{model: ${models.policy}}` is a syntax error, because `{` opens a second mapping
inside the first. In block style the same reference needs no quotes. A broken job file (SkyPilot, dstack, Kubernetes,
GitHub, GitLab, Compose), trainer config or runtime environment is refused by its platform, also where the YAML stands
in a string (`runtimeEnvYAML`).

Files with the signs of a template (`{{ name }}`, `{% if %}`) are YAML only after it is filled in: of these, specs
apart, nothing is said.

Fix: mend what the message names. Quote references inside `{…}` and `[…]`: `{model: "${models.policy}"}`. Quote values
that start with `@`, `` ` ``, `%` or `*`, and values that hold `: `. Indent with spaces.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.files.kinds import Kind
from verlint.files.loading import Loaded
from verlint.finding import Finding
from verlint.lazy import pattern
from verlint.rule import ERROR, WARNING, Context, rule
from verlint.source import Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from verlint.languages.yaml import YamlError

_TEMPLATE = pattern(r"(?<!\$)\{\{|\{%|<%")


@rule("VL003", "yaml-syntax", on=Loaded, severity=ERROR, since="0.1", words=(".yaml", ".yml", "schema"))
def check(file: Loaded, ctx: Context) -> Iterator[Finding]:
    if file.kind not in (Kind.SPEC, Kind.JOB, Kind.YAML):
        return
    for error in _errors(file.source):
        if file.kind is Kind.SPEC or not _TEMPLATE.search(file.source.text):
            if error.limit and file.kind is not Kind.SPEC:
                verify = (
                    f"python3 -c 'import yaml; yaml.safe_load(open(\"{file.source.path}\"))'  # see whether it is YAML"
                )
                yield ctx.unsure(error.span, error.message, verify=verify, severity=WARNING)
            else:
                yield ctx.fail(error.span, error.message, help=error.hint)


def _errors(source: Source) -> Iterator[YamlError]:
    from verlint.languages.yaml import Mapping, embedded, parse_yaml

    file = parse_yaml(source)
    if file.error is not None:
        yield file.error
    if "runtimeEnvYAML" in source.text:
        from verlint.languages.jobs.kubernetes import runtime_env_text

        for document in file.documents:
            node = runtime_env_text(document) if isinstance(document, Mapping) else None
            inner = None if node is None else parse_yaml(embedded(node)).error
            if inner is not None:
                yield inner
