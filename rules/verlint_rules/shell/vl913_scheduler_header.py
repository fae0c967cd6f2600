"""A launch must use the nodes and GPUs that its scheduler is asked for.

Slurm gives what the `#SBATCH` lines ask for, SkyPilot what `num_nodes` and `accelerators` say; VeRL takes what
`trainer.nnodes` and `trainer.n_gpus_per_node` say. If the trainer wants more, it stops when it looks for them (`Total
available GPUs 8.0 is less than total desired GPUs 16`; VeRL 0.2 waits, while the job pays). If it wants less, the rest
of the allocation idles, and batch sizes and speed are not those that the header promises.

Slurm reads its header down to the first command. An `#SBATCH` line below, after a `set -e` or an `export`, is a
comment.

More than what is asked for is an error, also in a launcher that the batch script calls; less is a warning. Silent where
either number comes from the environment (`${SLURM_NNODES}` is always right) or the call of `sbatch` asks for another
one, where the header gives a range, for GPUs that are asked for in total, where the script starts something else on
the remaining nodes or GPUs (nodes that it starts for Ray are not something else), and for launches in a container or on
another host.

Fix: take the numbers from Slurm, `trainer.nnodes="${SLURM_NNODES}"` and
`trainer.n_gpus_per_node="${SLURM_GPUS_ON_NODE}"`, or write the same in both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from verlint.experiment.launch import Launch
from verlint.experiment.places import variants_in
from verlint.experiment.script import Script
from verlint.finding import Finding, Severity
from verlint.languages.bash.syntax import Node, Redirect, Word
from verlint.languages.bash.walk import walk
from verlint.languages.bash.wrappers import program_name, unwrap
from verlint.lazy import pattern
from verlint.rule import ERROR, Context, rule
from verlint.verl.facts import GPUS, NODES
from verlint_rules.config.view import is_cut

TYPE_CHECKING = False  # as `typing` says it, without its import
if TYPE_CHECKING:
    from verlint.experiment.project import Project
    from verlint.languages.amounts import Amount

_ELSEWHERE = pattern(r"--(?:nodelist|exclude|relative)\b|\bvllm\s+serve\b|\blaunch_server\b|api_server\b|\bserver\b")
"""What a script has that gives nodes or GPUs to something beside the trainer."""
_REST = r"(?:[^\n\\]|\\\n|\\[^\n])*?"
_OF_THE_RUN = pattern(
    rf"\bsrun\b{_REST}(?:\bray\s+start\b|\bhostname\b)|--overlap\b(?={_REST}(?:\bmain_\w+|\bverl\.trainer\b))"
)
"""What starts Ray on the nodes or asks them for their address, and the trainer beside the Ray of its node."""


@rule(
    "VL913",
    "scheduler-header",
    on=Script,
    severity=ERROR,
    since="0.1",
    words=("#sbatch", "num_nodes", "accelerators", "nodes:", "nvidia.com/gpu"),
)
def check(script: Script, ctx: Context) -> Iterator[Finding]:
    yield from _late(script, ctx)
    yield from _of_here_documents(script, ctx)
    topology = script.topology
    if topology is None:
        return
    offers = ((NODES, topology.nodes, "node"), (GPUS, topology.gpus, "GPU per node"))
    seen: set[object] = set()
    for text in script.texts:
        for variant in variants_in(ctx.project, text):
            launch = ctx.project.launch(variant.command)
            if launch is None or launch.span.order() in seen or launch.span.source is not text:
                continue
            seen.add(launch.span.order())
            yield from _of_launch(launch, offers, ctx)
    changed = _changed_by_calls(script, ctx.project)
    for launch in _started_elsewhere(script, ctx.project, seen):
        for key, offer, what in offers:
            if offer is None or key in changed or (launch[key].number() or 0) <= offer.number:
                continue
            found = _judged(launch, key, offer, what, ctx)
            if found is not None:
                yield found


def _of_launch(launch: Launch, offers: Sequence[tuple[str, Amount | None, str]], ctx: Context) -> Iterator[Finding]:
    for key, offer, what in offers:
        if offer is not None and (found := _judged(launch, key, offer, what, ctx)) is not None:
            yield found


def _of_here_documents(script: Script, ctx: Context) -> Iterator[Finding]:
    """Batch scripts that stand in a here-document, each with its own header."""
    if script.document or script.job is not None or "<<" not in script.source.text:
        return
    seen: set[object] = set()
    for variant in variants_in(ctx.project, script.source):
        source = variant.command.span.source
        if source is script.source or "#SBATCH" not in source.text:
            continue
        launch = ctx.project.launch(variant.command)
        if launch is None or launch.span.order() in seen:
            continue
        from verlint.languages.slurm import scheduler_of

        seen.add(launch.span.order())
        header = scheduler_of(source)
        if header is not None:
            yield from _of_launch(launch, ((NODES, header.nodes, "node"), (GPUS, header.gpus, "GPU per node")), ctx)


def _started_elsewhere(script: Script, project: Project, seen: set[object]) -> Iterator[Launch]:
    """The launches in the launchers that a batch script or job calls, with what it gives them."""
    own = {id(text) for text in script.texts}
    for path in script.resolution.paths:
        for command in path.commands:
            if id(command.span.in_file().source) in own or command.span.order() in seen:
                continue
            launch = project.launch(command)
            if launch is not None:
                seen.add(command.span.order())
                yield launch


def _changed_by_calls(script: Script, project: Project) -> frozenset[str]:
    """What a call of `sbatch` in the project asks for in the place of the header."""
    if script.scheduler is None:
        return frozenset()
    from verlint.languages.slurm import batch_call

    name = script.path.rsplit("/", 1)[-1]
    options: set[str] = set()
    for variant in project.variants:
        argv = unwrap(variant.command.argv).argv
        if argv and program_name(argv[0]) == "sbatch":
            call = batch_call(argv)
            if call.words and (call.words[0].known or name).rsplit("/", 1)[-1] == name:
                options |= call.options
    nodes = {NODES} if "nodes" in options else set()
    return frozenset(nodes | ({GPUS} if any(each.startswith(("gpus", "gres")) for each in options) else set()))


def _late(script: Script, ctx: Context) -> Iterator[Finding]:
    """Lines of the header that stand behind the first command."""
    if script.document or script.job is not None or "#SBATCH" not in script.source.text:
        return
    from verlint.languages.slurm import late_lines

    found = late_lines(script.source)
    if found is None:
        return
    first, late = found
    inside = [(node.start, node.end) for node in _bodies(script)]
    late = [each for each in late if not any(start <= each.start < end for start, end in inside)]
    if not late:
        return
    more = f" and {len(late) - 1} more" if len(late) > 1 else ""
    message = f"Slurm ignores this line{more}: the header ends at the first command"
    finding = ctx.fail(late[0], message, value=late[0].text, help="move it above all commands")
    yield finding.with_related(first, "the first command")


def _bodies(script: Script) -> Iterator[Node]:
    """The texts of the here-documents, and words: quotes may hold lines."""
    for group in script.program(script.source).groups:
        for node in walk(group):
            if isinstance(node, Redirect) and node.body is not None:
                yield node.body
            elif isinstance(node, Word):
                yield node


def _judged(launch: Launch, key: str, offer: Amount, what: str, ctx: Context) -> Finding | None:
    given = offer.number
    wanted = launch[key].number()
    if wanted is None or wanted == given or (key == NODES and given == 1 and not launch[key].given):
        return None
    if not launch[key].given and is_cut(launch, ctx.project):
        return None
    less = wanted < given
    around = launch.command.around
    if around.elsewhere or (less and around.background):
        return None
    if less and _ELSEWHERE.search(_OF_THE_RUN.sub("", launch.span.in_file().source.text)):
        return None
    consequence = "the rest of the allocation idles" if less else "it stops, as they never come"
    things = (
        f"{given} {what}"
        if given == 1
        else f"{given} {what.replace('node', 'nodes', 1) if what == 'node' else what.replace('GPU', 'GPUs')}"
    )
    value = f"{key} = {wanted:g}" + ("" if launch[key].given else " (the default)")
    found = ctx.fail(
        launch[key] if launch[key].given else launch.head,
        f"the trainer wants {wanted:g}, and the scheduler is asked for {things}: {consequence}",
        value=value,
        help=f"{key}={given}, or ask for {wanted:g}",
        severity=Severity.WARNING if less else None,
    )
    return found.with_related(offer.span, "asks for it")
