"""Kubernetes objects: the containers of pods, jobs and training operators, and the entry point of a Ray job.

A container that starts `bash -c TEXT` runs that text; other commands are taken word by word. Sources: the Kubernetes
API (Container), KubeRay's RayJob (`spec.entrypoint`, which a shell runs; `spec.runtimeEnvYAML`), the Kubeflow training
operator (`replicas`), Argo's `container` and `script` templates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from verlint.files.job_formats import KUBERNETES
from verlint.languages.amounts import Amount
from verlint.languages.jobs.expressions import BARE, meanings, unknown
from verlint.languages.jobs.fields import amount, entries, environment, get, hole, items, string, words
from verlint.languages.jobs.job import Block, Job
from verlint.languages.yaml import Mapping, Node, Scalar, embedded, parse_yaml
from verlint.languages.yaml import Sequence as List
from verlint.record import replace
from verlint.source import Source
from verlint.value import Text

_SHELLS = frozenset(["bash", "sh", "/bin/bash", "/bin/sh", "/usr/bin/bash", "zsh", "/bin/zsh"])
_DEEPEST = 12
_GPUS = ("nvidia.com/gpu", "amd.com/gpu", "huawei.com/Ascend910")


def jobs(document: Mapping) -> Iterator[Job]:
    """The entry point of a Ray job, then every container that says what it runs."""
    name = string(get(document, "metadata", "name"))
    kind = string(document.get("kind")) or KUBERNETES
    entry = get(document, "spec", "entrypoint")
    if string(document.get("apiVersion")).startswith("ray.io/") and isinstance(entry, Scalar) and entry.text.strip():
        cluster = get(document, "spec", "rayClusterSpec")
        head = next(iter(_containers(get(cluster, "headGroupSpec"), _DEEPEST)), None)
        variables = {**(_variables(head) if head is not None else {}), **_runtime_env(document)}
        block = Block(embedded(entry), entry, "entrypoint", variables)
        nodes, gpus = _of_cluster(cluster)
        text = runtime_env_text(document)
        yield Job(kind, name, document.span, (block,), nodes=nodes, gpus=gpus, runtime_env=text)
    argo = string(document.get("apiVersion")).startswith("argoproj.io/")
    for container in _containers(document.get("spec"), _DEEPEST):
        found = _block(container)
        if found is not None and argo:
            found = _filled_in(found, document.span.source)
        if found is not None:
            yield Job(kind, string(container.get("name")) or name, container.span, (found,), gpus=_gpus(container))


def _gpus(container: Mapping) -> Amount | None:
    limits = get(container, "resources", "limits")
    return next((got for key in _GPUS if (got := amount(get(limits, key))) is not None), None)


def _of_cluster(cluster: Node | None) -> tuple[Amount | None, Amount | None]:
    """The pods with GPUs of a Ray cluster, and the GPUs of each; None for what changes as it runs, or is not alike."""
    if cluster is None or string(get(cluster, "enableInTreeAutoscaling")).lower() == "true":
        return None, None
    pods = [(Amount(1, cluster.span), _gpus_of_pod(get(cluster, "headGroupSpec")))]
    for group in items(get(cluster, "workerGroupSpecs")):
        replicas, hosts = amount(get(group, "replicas")), get(group, "numOfHosts")
        if replicas is None or string(hosts) not in ("", "1"):
            return None, None
        pods.append((replicas, _gpus_of_pod(get(group, "template"))))
    pods = [(count, gpus) for count, gpus in pods if gpus is not None and gpus.number and count.number]
    each = {gpus.number for _, gpus in pods if gpus is not None}
    if len(each) != 1:
        return None, None
    return Amount(sum(count.number for count, _ in pods), pods[-1][0].span), pods[-1][1]


def _gpus_of_pod(node: Node | None) -> Amount | None:
    found = [gpus for container in _containers(node, _DEEPEST) if (gpus := _gpus(container)) is not None]
    return found[0] if len(found) == 1 else None


def _containers(node: Node | None, depth: int) -> Iterator[Mapping]:
    """All containers below a node, in the order written."""
    if depth == 0:
        return
    if isinstance(node, List):
        for item in node.items:
            yield from _containers(item, depth - 1)
    for key, value in entries(node):
        if key.text in ("initContainers", "containers"):
            yield from (each for each in items(value) if isinstance(each, Mapping))
        elif key.text in ("container", "trainer") and isinstance(value, Mapping) and value.get("command") is not None:
            yield value  # a template of Argo, the trainer of a TrainJob
        elif key.text == "script" and isinstance(value, Mapping) and isinstance(value.get("source"), Scalar):
            yield value  # a script template of Argo
        else:
            yield from _containers(value, depth - 1)


def _block(container: Mapping) -> Block | None:
    source = container.get("source")
    if isinstance(source, Scalar):
        return _script(container, source)
    command = [*items(container.get("command")), *items(container.get("args"))]
    folder = None if string(container.get("workingDir")) else ""
    return block_of(command, "command", _variables(container), folder)


def _filled_in(block: Block, owner: Source) -> Block:
    """A block in which Argo replaces `{{inputs.parameters.name}}` and kin."""
    known = meanings(block.source.text, lambda each: unknown(each, "filled in by Argo", owner, BARE), BARE)
    given = {
        name: hole(name, "filled in by Argo", text.span) if BARE in text.shown else text
        for name, text in block.environment.items()
    }
    return replace(block, environment=given, expressions=known, opening=BARE)


def _script(container: Mapping, source: Scalar) -> Block | None:
    """A script template of Argo: its `source` is put into a file, and its `command` is called with that."""
    command = [string(each) for each in items(container.get("command"))]
    if not command or command[0] not in _SHELLS or not source.text.strip():
        return None
    letters = frozenset(letter for each in command[1:] if each.startswith("-") for letter in each if letter in "eux")
    folder = None if string(container.get("workingDir")) else ""
    return Block(embedded(source), source, "source", _variables(container), {}, folder, letters)


def block_of(command: Sequence[Node], name: str, variables: dict[str, Text], folder: str | None) -> Block | None:
    """What a list of words runs: the text behind `bash -c`, else the words themselves. None for no words."""
    texts = [string(each) for each in command]
    if texts and texts[0] in _SHELLS:
        options = [each for each in texts[1:] if each.startswith("-")]
        at = next((at for at, each in enumerate(texts[1:], 1) if each.startswith("-") and each.endswith("c")), 0)
        node = command[at + 1] if 0 < at < len(command) - 1 else None
        if isinstance(node, Scalar) and at == len(options):
            letters = frozenset(letter for each in options for letter in each if letter in "eux")
            return Block(embedded(node), node, name, variables, {}, folder, letters)
    source = words(command, frozenset(variables))
    return None if source is None else Block(source, None, name, variables, {}, folder)


def _variables(container: Mapping) -> dict[str, Text]:
    return environment(container.get("env"), missing="from the cluster")


def runtime_env_text(document: Mapping) -> Scalar | None:
    """The string in which a Ray job says its runtime environment, None without."""
    node = get(document, "spec", "runtimeEnvYAML")
    return node if isinstance(node, Scalar) and node.text.strip() else None


def _runtime_env(document: Mapping) -> dict[str, Text]:
    """The variables that `runtimeEnvYAML`, YAML in a string, sets."""
    node = runtime_env_text(document)
    return {} if node is None else environment(get(parse_yaml(embedded(node)).root, "env_vars"))
