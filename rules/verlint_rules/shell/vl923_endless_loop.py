"""A launcher must come to its end, or at least to its launches.

A loop whose condition always holds and that nothing leaves (`break`, `exit`, `return`, `exec`) holds the launcher up
for ever: the launch behind it is never started, the job keeps its nodes, and the log shows no error. The same goes for
`while [ $i -lt 5 ]` without a line that counts on, which trains the same model again and again, for a function that
calls itself (`python() { python "$@"; }`), and for scripts that start or source themselves or each other.

Reported is what can be proved: no turn changes what the condition looks at, and nothing in the loop, nor in the
functions it calls, can end it. Loops that wait for the outside are left alone (`until curl …`, `while [ ! -f done ]`,
`while kill -0 $PID`), and so are loops in the background (`done &`), in a pipe or under `timeout`, and those with a
program or a `sleep` in them that stand last: they watch the job, keep a worker alive or start a training again. An
option loop that hangs on an option is VL905. Where a launcher starts more than can be followed (functions that call
themselves a thousand times), that is said as something to be verified: nothing behind that line is checked.

Fix: put a watching loop in the background with `done &`; count on in a counting loop; leave a waiting one with `break`.
Call the program inside a function of its name with `command python "$@"`.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.script import Script
from verlint.finding import Finding
from verlint.languages.bash.run import Note
from verlint.languages.bash.syntax import ForArith, Node, Program, Simple, While
from verlint.languages.bash.walk import literal_word, walk
from verlint.rule import ERROR, WARNING, Context, rule
from verlint.source import Source, Span

TYPE_CHECKING = False
if TYPE_CHECKING:
    from verlint.languages.bash.endless import Functions

_STARTERS = frozenset(
    ["python", "python3", "torchrun", "accelerate", "deepspeed", "bash", "sh", "source", ".", "srun", "sbatch", "ray"]
)
_WRAPPERS = frozenset(["nohup", "env", "exec", "time", "timeout", "nice", "setsid", "command"])


@rule("VL923", "endless-loop", on=Script, severity=ERROR, since="0.1")
def check(script: Script, ctx: Context) -> Iterator[Finding]:
    notes: dict[tuple[object, ...], Note] = {}
    for path in script.resolution.paths:
        for note in path.notes:
            if note.kind in ("endless", "recursion") and note.text != "loop":
                notes.setdefault((note.kind, note.span.order()), note)
    for note in notes.values():
        if note.kind == "recursion":
            found = _of_cycle(note, ctx)
        elif note.text == "call":
            found = _of_function(note, ctx)
        else:
            found = _of_loop(note, script, ctx)
        if found is not None:
            yield found
    if not notes:
        yield from _given_up(script, ctx)


def _given_up(script: Script, ctx: Context) -> Iterator[Finding]:
    """The line that no path gets past, because what it starts is too much to be followed."""
    given_up = [[note for note in path.notes if note.kind == "given-up"] for path in script.resolution.paths]
    if given_up and all(given_up):
        span = min((notes[-1].span for notes in given_up), key=Span.order)
        line = span.source.line(span.source.position(span.start).line)
        end = min(span.end, span.start + len(line.rstrip()) - (len(line) - len(line.lstrip())))
        yield ctx.unsure(
            span.source.span(span.start, max(end, span.start)),
            "this starts more than verlint follows: what comes of it, and all that stands behind it, is not checked",
            verify=f"timeout 60 bash -x {script.source.path}  # see whether it ends",
            severity=WARNING,
        )


# ---- loops


def _of_loop(note: Note, script: Script, ctx: Context) -> Finding | None:
    from verlint.languages.bash.endless import counts, functions_of, names_looked_at, waits_or_works
    from verlint_rules.shell.call_words import program_of_source

    source = note.span.source
    program = program_of_source(ctx.project, source)
    loop = _loop_at(note.span, program)
    if loop is None:
        return None
    functions = functions_of(program, source)
    launch = _launch_behind(note, script, ctx)
    at = source.span(loop.start, loop.test.end) if isinstance(loop, While) else _head(loop, source)
    if note.text == "unchanged" and counts(loop, source.text):
        names = list(names_looked_at(loop.test, source.text))
        message = f"this loop never ends: no turn changes {_listed(names, 'or')}"
        help = f"change it in the loop: {names[0]}=$(({names[0]} + 1))"
    elif launch is not None:
        message = "this loop never ends: its condition always holds, and nothing leaves it"
        help = "run it in the background (`done &`), or leave it with `break`"
    elif not waits_or_works(loop, functions):
        message = (
            "this loop never ends, and only keeps a processor busy: no program is started in it, and nothing leaves it"
        )
        help = "leave it with `break`, or wait in it: `sleep 60`"
    else:
        return None
    if launch is None:
        return ctx.fail(at, message, help=help)
    return ctx.fail(at, f"{message}; the launch behind it never starts", help=help).with_related(
        launch, "never started"
    )


def _head(loop: ForArith, source: Source) -> Span:
    """`for ((…))`."""
    end = source.text.find("))", loop.step.end - 1)
    return source.span(loop.start, end + 2 if end >= 0 else loop.step.end)


def _loop_at(span: Span, program: Program) -> While | ForArith | None:
    for group in program.groups:
        if group.start <= span.start < group.end:
            for node in walk(group):
                if isinstance(node, (While, ForArith)) and (node.start, node.end) == (span.start, span.end):
                    return node
    return None


def _launch_behind(note: Note, script: Script, ctx: Context) -> Span | None:
    """The first command behind a loop, in the text that was started, that starts something and is never reached."""
    from verlint.languages.bash.endless import functions_of, never_reached

    place = note.stack[0].span if note.stack else note.span
    if not any(place.source is text for text in script.texts):
        return None
    program = script.program(place.source)
    behind, always = never_reached(program, place.start)
    resolution = script.resolution
    if not always and note.guards:
        return None
    if not always or note.stack:
        if resolution.cut_short or any(path.over_budget for path in resolution.paths):
            return None
        reached = {command.span.order() for path in resolution.paths for command in path.commands}
        behind = [each for each in behind if place.source.span(each.start, each.end).order() not in reached]
    functions = functions_of(program, place.source)
    first = next((each for each in behind if _starts_something(each, functions, place.source)), None)
    return None if first is None else place.source.span(first.start, first.end)


def _starts_something(command: Simple, functions: Functions, source: Source) -> bool:
    words = [literal_word(word) for word in command.words]
    while words and words[0] in _WRAPPERS:
        words.pop(0)
    if not words:
        return False
    name = words[0].rsplit("/", 1)[-1]
    if name == "ray":
        return words[1:2] == ["job"]
    if name in functions:
        body = functions[name][0]
        simple = [each for each in walk(body) if isinstance(each, Simple)] if isinstance(body, Node) else []
        return any(literal_word(each.words[0]) in _STARTERS for each in simple if each.words)
    return name in _STARTERS or name.endswith((".sh", ".bash"))


# ---- calls without end


def _of_function(note: Note, ctx: Context) -> Finding:
    called = note.span.text.split(None, 1)[0]
    names = [call.name for call in note.stack]
    at = len(names) - 1 - names[::-1].index(called) if called in names else len(names) - 1
    cycle = list(dict.fromkeys(names[at:])) or [called]
    if len(cycle) == 1:
        message = f"the function {called} calls itself here on every way through it, without end"
        help = f"for the program of that name: `command {note.span.text}`"
    else:
        message = f"the functions {_listed(sorted(cycle))} call each other without end"
        help = "one of them has to return first under some condition"
    return ctx.fail(note.span, message, help=help)


def _of_cycle(note: Note, ctx: Context) -> Finding | None:
    """Scripts that start or source themselves or each other, told once at the first of their calls."""
    from verlint.languages.bash.endless import is_certain
    from verlint_rules.shell.call_words import program_of_source

    spans = [*(call.span for call in note.stack), note.span]
    before = [number for number, span in enumerate(spans[:-1]) if span.order() == note.span.order()]
    if not before:
        return None
    cycle = spans[before[-1] + 1 :]
    if any(span.text.startswith("exec") for span in cycle):  # starts again for ever, on purpose
        return None
    if not all(is_certain(program_of_source(ctx.project, span.source), span.start) for span in cycle):
        return None
    first = min(range(len(cycle)), key=lambda number: cycle[number].order())
    cycle = cycle[first:] + cycle[:first]
    sources = all(span.text.split(None, 1)[0] in ("source", ".") for span in cycle)
    if len(cycle) == 1:
        verb = "sources" if sources else "starts"
        message = f"this script {verb} itself here whenever it runs, without end"
    else:
        verb = "source" if sources else "start"
        files = list(dict.fromkeys(span.source.path for span in cycle))
        message = f"{_listed(files)} {verb} each other without end"
    if sources:
        help = 'leave at the start what is read already: [ -n "${LOADED:-}" ] && return; LOADED=1'
    else:
        help = "start it again only under a condition that ends"
    finding = ctx.fail(cycle[0], message, help=help)
    for span in cycle[1:]:
        finding = finding.with_related(span, "and back")
    return finding


def _listed(names: list[str], joint: str = "and") -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {joint} {names[-1]}"
