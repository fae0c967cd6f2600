"""A credential is written into a file.

Whoever can read the file, its history or a copy of it can use the key: to push models, to read private data, to spend
money. Deleting the line is not enough, because the history of the repository keeps it. The same holds for keys in
READMEs, specs and notes. Stand-ins such as `YOUR_WANDB_API_KEY`, `<token>` or `xxx` are no secrets, and neither are
commit hashes and digests.

The value is never shown in any output of verlint.

Fix: revoke the key at its provider and make a new one, then take it from the environment: `: "${WANDB_API_KEY:?set
WANDB_API_KEY}"` in a launcher, `NAME: null` under `credentials` in a spec.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.files.kinds import Kind
from verlint.files.loading import Loaded
from verlint.finding import Finding
from verlint.rule import ERROR, Context, rule
from verlint.secret import Secret, find_secrets, mask
from verlint_rules.credentials.exposure import PROVIDERS

SHOWN = 10
_PLACES = {
    Kind.LAUNCHER: "launcher",
    Kind.SPEC: "spec",
    Kind.JOB: "job",
    Kind.YAML: "file",
    Kind.DOCUMENT: "document",
    Kind.PYTHON: "program",
}


@rule("VL401", "literal-secret", on=Loaded, severity=ERROR, since="0.1")
def check(file: Loaded, ctx: Context) -> Iterator[Finding]:
    text = file.source.text
    by_value: dict[str, list[Secret]] = {}
    for secret in find_secrets(text):
        if not secret.placeholder:
            by_value.setdefault(text[secret.start : secret.end], []).append(secret)
    for value, secrets in by_value.items():
        yield _finding(file, ctx, value, secrets)


def _finding(file: Loaded, ctx: Context, value: str, secrets: list[Secret]) -> Finding:
    first = secrets[0]
    what = PROVIDERS.get(first.provider, "credential")
    article = "an" if what[0] in "AaOoIiEe" or what.startswith("NV") else "a"
    masked = mask(value, (value,)) if "\n" not in value else "****"
    finding = ctx.fail(
        file.source.span(first.start, first.end),
        f"{article} {what} stands in this {_PLACES.get(file.kind, 'file')}",
        value=masked,
        help="revoke it at its provider (the history keeps it), remove it here, read the new one from the environment",
    )
    for other in secrets[1 : SHOWN + 1]:
        finding = finding.with_related(file.source.span(other.start, other.end), "the same value")
    return finding
