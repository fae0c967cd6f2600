"""A container is started with the rights of the whole machine.

Training and evaluation containers run code of others: images that somebody published, packages of an index, files of
a model repository, answers of a model. With `--privileged` any of it can load kernel modules, read every disk and
device, and leave the container; with `/`, `/home` or the socket of the daemon mounted it does not even have to. GPUs
need none of that: `--gpus all` is enough, and InfiniBand takes `--device=/dev/infiniband` with `--cap-add=IPC_LOCK`.

A warning for `--privileged`, all capabilities, the host's processes, and mounts of system folders, of all homes, or
of the daemon's socket. The host's network and the user's own home are usual for training on several nodes: alone they
are reported for information only, and not in documents. Devices, `SYS_PTRACE` and shared memory are not reported.

Fix: drop `--privileged`, and mount the folders that the run needs: `-v "$DATA_ROOT:$DATA_ROOT"`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from verlint.experiment.places import commands_in
from verlint.files.kinds import Kind
from verlint.files.loading import Loaded
from verlint.finding import Finding
from verlint.rule import INFO, WARNING, Context, rule
from verlint.source import Source
from verlint_rules.evaluation.containers import Grant, grants_of

_HELP = "give it what it needs: --gpus all, --device and --cap-add for InfiniBand, and mounts of the roots only"

_MINOR_HELP = "leave it out where the run stays on one machine and needs no login of the user"


@rule(
    "VL506",
    "privileged-container",
    on=Loaded,
    severity=WARNING,
    since="0.1",
    words=("docker", "podman", "nerdctl", "privileged"),
)
def check(file: Loaded, ctx: Context) -> Iterator[Finding]:
    document = file.kind is Kind.DOCUMENT
    if file.kind in (Kind.YAML, Kind.JOB):
        yield from _in_yaml(file.source, ctx)
    if file.kind not in (Kind.LAUNCHER, Kind.DOCUMENT, Kind.SPEC, Kind.JOB):
        return
    seen: set[int] = set()
    for command in commands_in(ctx.project, file):
        at = command.span.in_file().start
        grants = grants_of(command) if at not in seen else []
        if grants and not (document and all(each.minor for each in grants)):
            seen.add(at)
            yield _finding(ctx, grants)


def _finding(ctx: Context, grants: Sequence[Grant]) -> Finding:
    first = next((each for each in grants if not each.minor), grants[0])
    finding = ctx.fail(
        first.span,
        f"`{first.option}` gives the container {first.means}",
        help=_HELP if not first.minor else _MINOR_HELP,
        severity=INFO if first.minor else None,
    )
    for other in grants:
        if other is not first:
            finding = finding.with_related(other.span, other.means)
    return finding


def _in_yaml(source: Source, ctx: Context) -> Iterator[Finding]:
    """Pods of Kubernetes: `privileged: true` in a security context."""
    if "privileged" not in source.text:
        return
    from verlint.languages.yaml import Mapping, Scalar, parse_yaml, walk

    for document in parse_yaml(source).documents:
        for node in walk(document):
            context = node.get("securityContext") if isinstance(node, Mapping) else None
            value = context.get("privileged") if isinstance(context, Mapping) else None
            if isinstance(value, Scalar) and value.value is True:
                message = "`privileged: true` gives the container all rights of root on its machine"
                yield ctx.fail(value.span, message, help="name the capabilities it needs under capabilities.add")
