"""A job must wait for the jobs whose results it reads.

`sbatch` returns as soon as a job is queued, and a command with `&` as soon as it is started. What comes next in the
driver does not wait: Slurm starts both jobs when nodes are free. The second one then reads a checkpoint, a list or
trajectories that are not there yet, or those of an earlier attempt, and several launchers go on without a word.

Reported are jobs that read what another job of the same driver makes and wait for it neither directly nor by way of
others; commands of the driver that read what a job or a command in the background makes; dependencies of the kind
`after`, which wait for the start only; and, as a warning, `afterany`, with which a job also runs when the one before
has failed. `sbatch` prints a sentence, not a number: without `--parsable` Slurm refuses a dependency on it.

Silent where a dependency is not known before the run (numbers out of a file, `singleton`), for held jobs and
`sbatch --wait`, and where the driver asks for the state of jobs (`squeue`, `sacct`) or waits in a way of its own.

Fix: `id=$(sbatch --parsable first.sbatch)`, then `sbatch --dependency=afterok:"$id" second.sbatch`; `wait` before
commands that read what was made in the background.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.batch_jobs import FINISHED, Job, jobs_of, waits_for
from verlint.experiment.checkpoints import ledger_of_script
from verlint.experiment.handovers import links_of
from verlint.experiment.paths import last_component
from verlint.experiment.stage import Experiment
from verlint.finding import Finding, Severity
from verlint.languages.bash.command import Command
from verlint.languages.bash.replay import Path
from verlint.languages.bash.wrappers import program_name, unwrap
from verlint.record import dataclass
from verlint.rule import ERROR, Context, rule

_ASKING = frozenset(["squeue", "sacct", "sstat", "scontrol", "scancel", "inotifywait"])
_WAITING = frozenset(["wait", "sleep", "tail", "kill", "inotifywait", "parallel", "xargs"])


@dataclass(frozen=True, slots=True)
class _Need:
    """A command that reads something of another one: what it is, in words."""

    producer: Command
    consumer: Command
    what: str


@rule("VL214", "unawaited-job", on=Experiment, severity=ERROR, since="0.1", words=("sbatch", " &"))
def check(experiment: Experiment, ctx: Context) -> Iterator[Finding]:
    script = experiment.script
    if script is None or script.document or not script.resolution.paths:
        return
    path = script.resolution.paths[0]
    jobs, inside = jobs_of(path)
    background = any(each.around.background for each in path.commands)
    if not (jobs or background):
        return
    if any(_program(each) in _ASKING and id(each) not in inside for each in path.commands):
        return
    yield from _unnumbered(jobs, ctx)
    needs = list(_needs(experiment, path, ctx))
    told: set[object] = set()
    for need in needs:
        producer, consumer = inside.get(id(need.producer)), inside.get(id(need.consumer))
        found = None
        if producer is not None and producer is not consumer:
            if not producer.call.options & {"wait", "W"}:
                found = _of_jobs(need, producer, consumer, jobs, ctx)
        elif producer is None and consumer is None:
            found = _of_background(need, path, ctx)
        if found is not None:
            key = (id(producer), id(consumer) if consumer is not None else id(need.consumer))
            if key not in told:
                told.add(key)
                yield found


def _needs(experiment: Experiment, path: Path, ctx: Context) -> Iterator[_Need]:
    assert experiment.script is not None
    for link in links_of(experiment):
        if not link.late and link.producer.command is not None and link.consumer.command is not None:
            yield _Need(link.producer.command, link.consumer.command, link.kind.what)
    ledger = ledger_of_script(experiment.script, ctx.project.launch)
    for use in ledger.uses:
        if use.place.path != 0:
            continue
        saved = [
            each for each in ledger.saves
            if each.key == use.key and each.place.path == 0 and each.place.before(use.place)
            and each.command is not use.command and (not each.steps or use.step in each.steps)
        ]  # fmt: skip
        if saved:
            yield _Need(saved[-1].command, use.command, f"checkpoints of `{last_component(use.folder).shown}`")


def _of_jobs(need: _Need, producer: Job, consumer: Job | None, jobs: dict[int, Job], ctx: Context) -> Finding | None:
    made = f"{need.what} that the job of {producer.script or 'another script'} makes"
    if consumer is None:
        span = need.consumer.span
        return ctx.fail(
            span, f"this reads {made}, and that job was only submitted: `sbatch` does not wait for its end",
            help="submit this too, with --dependency=afterok, or give the first one --wait",
        ).with_related(producer.command.span, "submits the job")  # fmt: skip
    if consumer.number < producer.number:
        return None
    known = waits_for(consumer, jobs)
    if known is None:
        return None
    word = consumer.call.dependency
    span = word.span if word is not None and word.span is not None else consumer.command.span
    if producer.number not in known:
        only = (
            "waits for its start only"
            if consumer.after.get(producer.number) == "after"
            else "does not wait for its end"
        )
        message = f"this job reads {made}, and {only}: Slurm starts both when nodes are free"
        help = 'keep the number of that job, id=$(sbatch --parsable …), and add --dependency=afterok:"$id" here'
        return ctx.fail(span, message, help=help).with_related(producer.command.span, "submits that job")
    finished = waits_for(consumer, jobs, FINISHED)
    if finished is None or producer.number in finished:
        return None
    message = f"this job reads {made}, and also runs when that one has failed"
    found = ctx.fail(span, message, severity=Severity.WARNING, help="write afterok, not afterany")
    return found.with_related(producer.command.span, "submits that job")


def _unnumbered(jobs: dict[int, Job], ctx: Context) -> Iterator[Finding]:
    for job in jobs.values():
        if job.unnumbered is not None:
            message = "`sbatch` prints `Submitted batch job …` here, which is no number: Slurm refuses the dependency"
            span = job.unnumbered.span or job.command.span
            found = ctx.fail(span, message, value=job.unnumbered.shown, help="add --parsable where the number is taken")
            first = next((jobs[number] for number in job.after if number in jobs), None)
            yield found if first is None else found.with_related(first.command.span, "prints it")


def _of_background(need: _Need, path: Path, ctx: Context) -> Finding | None:
    """What a command in the foreground reads while another in the background still makes it."""
    if not need.producer.around.background or need.consumer.around.background:
        return None
    commands = path.commands
    places = {id(each): at for at, each in enumerate(commands)}
    first, last = places.get(id(need.producer)), places.get(id(need.consumer))
    if first is None or last is None or any(_program(each) in _WAITING for each in commands[first:last]):
        return None
    message = f"this reads {need.what} that a command in the background still makes"
    found = ctx.fail(need.consumer.span, message, help="`wait` for it before this command")
    return found.with_related(need.producer.span, "makes it in the background")


def _program(command: Command) -> str:
    argv = unwrap(command.argv).argv
    return program_name(argv[0]) if argv else ""
