"""The command of a job stands behind `--` in `ray job submit`, word by word.

In front of `--`, and where there is none, words that begin with a dash are options of `ray job submit`: with
`ray job submit python3 -m verl.trainer.main_ppo …` it stops with `No such option: -m`. And what stands in one pair of
quotes is one word: the job fails on the cluster, as no program is called `python3 -m verl.trainer.main_ppo …`.

Silent where the words in front are not all known, and where the first word of the command is not known.

Fix: `ray job submit --working-dir . -- python3 -m verl.trainer.main_ppo key=value`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from verlint.experiment.places import variants_in
from verlint.experiment.script import Script
from verlint.finding import Finding
from verlint.languages.bash.wrappers import program_name, unwrap
from verlint.lazy import pattern
from verlint.rule import ERROR, Context, rule
from verlint.value import Text

_WITH_VALUE = frozenset(
    ["--address", "--job-id", "--submission-id", "--runtime-env", "--runtime-env-json", "--working-dir", "--metadata",
     "--entrypoint-num-cpus", "--entrypoint-num-gpus", "--entrypoint-memory", "--entrypoint-resources",
     "--entrypoint-label-selector", "--verify", "--headers", "--log-style", "--log-color"]
)  # fmt: skip
_FLAGS = frozenset(["--no-wait", "-v", "--verbose", "--help"])
"""Options of `ray job submit`. Source: Ray's reference of its command line, 2.9 to 2.49."""
_PROGRAM = pattern(r"\s*(?:\w+=\S*\s+)*(?:\S*/)?(?:python3?|bash|sh|uv|torchrun)\s+\S")


@rule("VL933", "job-entry-point", on=Script, severity=ERROR, since="0.1", words=("job submit",))
def check(script: Script, ctx: Context) -> Iterator[Finding]:
    seen: set[object] = set()
    for variant in variants_in(ctx.project, script.source):
        command = variant.command
        argv = unwrap(command.argv).argv
        if len(argv) < 4 or program_name(argv[0]) != "ray" or [each.known for each in argv[1:3]] != ["job", "submit"]:
            continue
        if command.span.order() not in seen:
            seen.add(command.span.order())
            yield from _of_words(argv[3:], ctx)


def _of_words(words: Sequence[Text], ctx: Context) -> Iterator[Finding]:
    first, behind_dashes = _entry(words)
    if first is None or any(each.elastic for each in words[: first + 1]):
        return
    entry = words[first]
    if first == len(words) - 1 and _PROGRAM.match(entry.prefix) is not None:
        yield ctx.fail(
            entry,
            "this command is one word in quotes: the shell on the cluster looks for a program of that whole name, and "
            "the job fails with 'not found'",
            help="leave the quotes out: -- python3 -m …",
        )
    if behind_dashes:
        return
    for word in words[first + 1 :]:
        name = (word.known or word.prefix).partition("=")[0]
        if name == "--":
            return
        if len(name) > 1 and name.startswith("-") and name not in _WITH_VALUE and name not in _FLAGS:
            yield ctx.fail(
                word,
                f"without `--` in front of the command this is an option of ray job submit, which has none: it stops "
                f"with 'No such option: {name}'",
                value=name,
                help=f"write `--` in front of {entry.shown}",
            ).with_related(entry.span, "the command begins here")
            return


def _entry(words: Sequence[Text]) -> tuple[int | None, bool]:
    """Where the command of the job begins, and whether `--` stands in front of it."""
    at = 0
    while at < len(words):
        text = words[at].known or words[at].prefix
        if text == "--":
            return (at + 1 if at + 1 < len(words) else None), True
        if not text.startswith("-"):
            return (at if text else None), False
        at += 2 if text in _WITH_VALUE else 1
    return None, False
