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
from verlint_rules.shell.call_words import sites_in

_WITH_VALUE = frozenset(
    ["--address", "--job-id", "--submission-id", "--runtime-env", "--runtime-env-json", "--working-dir", "--metadata",
     "--entrypoint-num-cpus", "--entrypoint-num-gpus", "--entrypoint-memory", "--entrypoint-resources",
     "--entrypoint-label-selector", "--verify", "--headers", "--log-style", "--log-color"]
)  # fmt: skip
_FLAGS = frozenset(["--no-wait", "-v", "--verbose", "--help"])
"""Options of `ray job submit`. Source: Ray's reference of its command line, 2.9 to 2.49."""
_PROGRAM = pattern(r"\s*(?:\w+=\S*\s+)*(?:\S*/)?(?:python[\d.]*|bash|sh|uv|torchrun|accelerate|env|cd)\s+\S")


@rule("VL933", "job-entry-point", on=Script, severity=ERROR, since="0.1", words=("job submit",))
def check(script: Script, ctx: Context) -> Iterator[Finding]:
    for site in sites_in(variants_in(ctx.project, script.source)):
        calls = [_words(variant.command.argv) for variant in site]
        if calls[0]:
            yield from _quoted(calls, ctx)
            yield from _without_dashes(calls[0], ctx)


def _words(argv: Sequence[Text]) -> Sequence[Text]:
    """The words behind `ray job submit`; none for other commands."""
    argv = unwrap(argv).argv
    if len(argv) < 4 or program_name(argv[0]) != "ray" or [each.known for each in argv[1:3]] != ["job", "submit"]:
        return ()
    return argv[3:]


def _quoted(calls: Sequence[Sequence[Text]], ctx: Context) -> Iterator[Finding]:
    """A whole command that is one word on every way to the call. Source: Ray, `dashboard/modules/job/cli.py:submit`,
    which quotes each word for the shell of the job (`shlex.join`, before `list2cmdline`)."""
    entries = [None if first is None else words[first] for words in calls for first, _ in [_entry(words)]]
    entry = entries[0]
    if entry is not None and all(each is not None and _PROGRAM.match(each.known or each.prefix) for each in entries):
        yield ctx.fail(
            entry,
            "this command is one word in quotes: the shell on the cluster looks for a program of that whole name, and "
            "the job fails with 'not found'",
            help=f"leave the quotes out: -- {entry.prefix.split()[0]} …",
        )


def _without_dashes(words: Sequence[Text], ctx: Context) -> Iterator[Finding]:
    """An option of the command that `ray job submit` takes for its own."""
    first, behind_dashes = _entry(words)
    if first is None or behind_dashes:
        return
    entry = words[first]
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
    """Where the command of the job begins, None when words in front are not known; and whether `--` stands in front of
    it."""
    at = 0
    while at < len(words) and not words[at].elastic:
        text = words[at].known or words[at].prefix
        if text == "--":
            return (at + 1 if at + 1 < len(words) and not words[at + 1].elastic else None), True
        if not text.startswith("-"):
            return (at if text else None), False
        at += 2 if text in _WITH_VALUE else 1
    return None, False
