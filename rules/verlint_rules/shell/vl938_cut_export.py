"""A value that holds a comma is cut in `--export`.

`sbatch --export=ALL,CUDA_VISIBLE_DEVICES=0,1,2,3 train.slurm` sets `CUDA_VISIBLE_DEVICES=0` and takes `1`, `2` and `3`
for the names of further variables: Slurm splits the list at its commas, and says nothing. Double quotes do not help,
for the shell takes them away.

Fix: export the variable before the call and leave it out of the list (`ALL` hands it on), or put single quotes around
the value that Slurm sees: `--export="ALL,DEVICES='0,1,2,3'"`.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.finding import Finding
from verlint.languages.bash.command import Command
from verlint.languages.bash.wrappers import program_name, unwrap
from verlint.rule import ERROR, Context, rule
from verlint.value import Text

_OTHERS = frozenset(["ALL", "NONE", "NIL"])


@rule("VL938", "cut-export", on=Command, severity=ERROR, since="0.1", words=("--export",))
def check(command: Command, ctx: Context) -> Iterator[Finding]:
    if command.builtin or command.function:
        return
    program = _program(command)
    given = _given(command.argv) if program else None
    if given is None:
        return
    from verlint.languages.bash.handing_on import pieces_of

    name, value, cut = "", "", list[Text]()
    for piece in pieces_of(given):
        left, equals, right = piece.prefix.partition("=")
        if equals and left.isidentifier():
            if cut:
                break
            name, value = left, right
        elif name and piece.known and not piece.known.isidentifier():
            cut.append(piece)
    if not cut:
        return
    whole = ",".join([value, *(each.shown for each in cut)])
    yield ctx.fail(
        given,
        f"`{program} --export` is split at its commas: {name} is {value!r}, and what follows ({_listed(cut)}) is taken "
        "for names",
        value=f"{name} = {value}",
        hops=(),
        help=f"export {name}={whole} before the call, and leave it out of the list",
    )


def _program(command: Command) -> str:
    inner = unwrap(command.argv)
    if inner.argv and program_name(inner.argv[0]) == "sbatch":
        return "sbatch"
    return "srun" if "srun" in inner.wrappers else ""


def _given(argv: tuple[Text, ...]) -> Text | None:
    """The list of `--export`."""
    for at, word in enumerate(argv):
        if word.known == "--export" and at + 1 < len(argv):
            return argv[at + 1]
        if word.prefix.startswith("--export="):
            return word.slice(len("--export="), 1_000_000)
    return None


def _listed(cut: list[Text]) -> str:
    return ", ".join(repr(each.shown) for each in cut)
