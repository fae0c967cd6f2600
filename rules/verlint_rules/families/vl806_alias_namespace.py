"""An alias of a driver names one run, wherever the driver looks it up.

The drivers of LLM-as-a-Coach take an experiment by its alias, and look it up twice: once for the training call, once
for the run name and the model of an evaluation. The run name is the folder of the checkpoints. When the two tables
disagree, the evaluation of an alias scores the checkpoints of another experiment, or of none; when two aliases train
under one name, the second resumes the first one's checkpoints, as the launchers resume on their own.

Compared are the tables (`case` arms with plain aliases) of one script: run name and model of each alias in every table,
and the run names of different aliases. The parts of an alias count too: one with `rl` is started by `train_rl.sh`, one
with `el` by `train_el.sh`, and one with the name of an API model has it as its coach. Names that are not plain text are
left alone, and so is a longer name that begins with the trained one.

Fix: write the run name, model or launcher that the alias has in the table for training.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from verlint.experiment.script import Script
from verlint.finding import Finding
from verlint.languages.bash.syntax import Assign, Case, CaseArm, DoubleQuoted, Lit, Node, Simple, Word
from verlint.languages.bash.walk import literal_word, walk
from verlint.lazy import pattern
from verlint.record import dataclass, field
from verlint.rule import ERROR, Context, rule
from verlint.source import Source, Span

_LAUNCHERS = pattern(r"(?:^|/)train_(el|rl)\.sh$")
_VARIABLES = {
    "EXP_NAME": "exp_name",
    "EXPERIMENT_NAME": "exp_name",
    "MODEL_PATH": "model",
    "MODEL": "model",
    "EXP_MODEL_PATH": "exp_model_path",
}
_TITLES = {"exp_name": "run name", "model": "model"}


@dataclass(frozen=True, slots=True)
class _Said:
    text: str
    span: Span


@dataclass(slots=True)
class _Row:
    """What one arm of a table says for its alias, by option."""

    alias: str
    at: Span
    said: dict[str, _Said] = field(default_factory=dict)


@rule("VL806", "alias-namespace", on=Script, severity=ERROR, since="0.1", words=("train_el", "train_rl"))
def check(script: Script, ctx: Context) -> Iterator[Finding]:
    tables = [table for text, program in script.syntax for table in _tables(text, program.nodes)]
    if not any("launcher" in row.said for table in tables for row in table):
        return
    tables.sort(key=lambda table: not any("launcher" in row.said for row in table))
    trained: dict[str, _Row] = {}
    shared: set[str] = set()
    for table in tables:
        for first, row in _sharing(table):
            shared.add(row.alias)
            yield _of_shared(first, row, ctx)
        for row in table:
            first = trained.setdefault(row.alias, row)
            if first is not row and row.alias not in shared:
                yield from _disagreement(first, row, ctx)
            if "launcher" in row.said:
                yield from _parts(row, ctx)


def _tables(text: Source, nodes: Iterable[Node]) -> Iterator[list[_Row]]:
    """The `case` commands that look up an alias, each as its rows."""
    for node in nodes:
        if not isinstance(node, Case):
            continue
        rows = [row for arm in node.arms if (row := _row(text, arm)) is not None]
        if any("exp_name" in row.said for row in rows):
            yield rows


def _row(text: Source, arm: CaseArm) -> _Row | None:
    alias = literal_word(arm.patterns[0]) if len(arm.patterns) == 1 else ""
    if not re.fullmatch(r"[\w.]+(?:-[\w.]+)+", alias) or any(isinstance(node, Case) for node in walk(arm.body)):
        return None
    written = arm.patterns[0]
    row = _Row(alias, text.span(written.start, written.end))
    for node in walk(arm.body):
        if isinstance(node, Assign) and node.name in _VARIABLES:
            _note(row, _VARIABLES[node.name], text, node.value)
        if isinstance(node, Assign):
            _note_launcher(row, text, node.value)
        if isinstance(node, Simple):
            _note_options(row, text, node)
    return row


def _note_options(row: _Row, text: Source, command: Simple) -> None:
    for before, word in zip(command.words, command.words[1:], strict=False):
        option = literal_word(before)
        if option in ("--exp_name", "--model", "--exp_model_path"):
            _note(row, option[2:], text, word)
        _note_launcher(row, text, word)


def _note(row: _Row, name: str, text: Source, word: object) -> None:
    plain = _plain(word)
    if plain and isinstance(word, Word):
        row.said.setdefault(name, _Said(plain, text.span(word.start, word.end)))


def _note_launcher(row: _Row, text: Source, word: object) -> None:
    if isinstance(word, Word) and _LAUNCHERS.search(_plain(word)):
        row.said.setdefault("launcher", _Said(_plain(word), text.span(word.start, word.end)))


def _plain(word: object) -> str:
    """The characters of a word without expansions, quoted or not; "" for others."""
    if not isinstance(word, Word):
        return ""
    parts = [piece for part in word.parts for piece in (part.parts if isinstance(part, DoubleQuoted) else [part])]
    if not all(isinstance(part, Lit) for part in parts):
        return ""
    return "".join(part.text for part in parts if isinstance(part, Lit))


def _disagreement(first: _Row, row: _Row, ctx: Context) -> Iterator[Finding]:
    """An alias that two tables know by other names."""
    for name, title in _TITLES.items():
        mine, theirs = row.said.get(name), first.said.get(name)
        if mine is None or theirs is None or mine.text == theirs.text or mine.text.startswith(theirs.text):
            continue
        message = (
            f"alias `{row.alias}` has the {title} `{mine.text}` here, and is trained as `{theirs.text}`: what is "
            "evaluated is not what this alias trains"
        )
        found = ctx.fail(mine.span, message, value=f"{name} = {mine.text}", help=f"write {theirs.text}")
        yield found.with_related(theirs.span, f"the {title} of `{first.alias}` when it is trained")


def _sharing(table: list[_Row]) -> Iterator[tuple[_Row, _Row]]:
    """Two aliases of one table under one run name."""
    owners: dict[str, _Row] = {}
    for row in table:
        name = row.said.get("exp_name")
        if name is not None and (first := owners.setdefault(name.text, row)) is not row:
            yield first, row


def _of_shared(first: _Row, row: _Row, ctx: Context) -> Finding:
    name = row.said["exp_name"]
    message = (
        f"aliases `{first.alias}` and `{row.alias}` share the run name `{name.text}`: the second goes on from the "
        "checkpoints of the first"
    )
    help = "give each alias a name of its own"
    found = ctx.fail(name.span, message, value=f"exp_name = {name.text}", help=help)
    return found.with_related(first.said["exp_name"].span, f"the name of `{first.alias}`")


def _parts(row: _Row, ctx: Context) -> Iterator[Finding]:
    """A launcher or coach that the parts of the alias contradict."""
    parts = set(row.alias.lower().split("-"))
    launcher, coach = row.said["launcher"], row.said.get("exp_model_path")
    match = _LAUNCHERS.search(launcher.text)
    kind = match.group(1) if match is not None else ""
    named = parts & {"el", "rl"}
    if len(named) == 1 and kind not in named:
        wanted = next(iter(named))
        message = f"alias `{row.alias}` is started by `{launcher.text}`, its name says {wanted}"
        found = ctx.fail(launcher.span, message, value=f"launcher = {launcher.text}", help=f"start train_{wanted}.sh")
        yield found.with_related(row.at, "the alias")
    api = next((part for part in sorted(parts) if part.startswith("gpt")), "")
    if coach is not None and api and api not in coach.text:
        message = f"alias `{row.alias}` is trained with the coach `{coach.text}`, its name says {api}"
        found = ctx.fail(coach.span, message, value=f"exp_model_path = {coach.text}", help=f"write {api}")
        yield found.with_related(row.at, "the alias")
    if coach is not None and "self" in parts and "gpt" in coach.text:
        message = f"alias `{row.alias}` is trained with the coach `{coach.text}`, its name says the policy itself"
        found = ctx.fail(coach.span, message, value=f"exp_model_path = {coach.text}", help="name the policy as coach")
        yield found.with_related(row.at, "the alias")
