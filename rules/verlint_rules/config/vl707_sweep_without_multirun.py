"""Several values for one key need `--multirun`, or brackets.

Hydra takes `key=a,b`, `key=range(1,4)`, `key=choice(…)` and `key=glob(*)` for a sweep, one run for each value, and
refuses it without `--multirun`: `Ambiguous value for argument 'key=a,b'`. Mostly a list is meant, of data files or
loggers, whose brackets were forgotten, or a text that has a comma in it.

Fix: write `key=[a,b]` for a list, `'key="a,b"'` for a text, or start the command with `--multirun`. With `--fix` lists
and texts are written where the key holds one.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.launch import Launch
from verlint.finding import Finding
from verlint.languages.hydra.override import Override
from verlint.lazy import pattern
from verlint.rule import ERROR, Context, rule
from verlint.verl.in_use import call_of
from verlint_rules.config.rewriting import with_word, written_word
from verlint_rules.config.view import View, pictures, starts_hydra, view_of

LISTS = frozenset(["data.train_files", "data.val_files", "trainer.logger"])
"""Keys that take a list or one text, whatever their default is."""

_FUNCTION = pattern(r"\s*(choice|range|interval|glob|shuffle|sort|tag)\(")
_SIMPLE = pattern(r"[\w./:@%+*?-]+(?:,[\w./:@%+*?-]+)+")


@rule(
    "VL707",
    "sweep-without-multirun",
    on=Launch,
    severity=ERROR,
    since="0.1",
    fixable="safe",
    words=(",", "choice(", "range(", "interval(", "glob("),
)
def check(launch: Launch, ctx: Context) -> Iterator[Finding]:
    sweeps = [each for each in launch.overrides if each.sweep]
    if not sweeps or pictures(launch) or not starts_hydra(launch) or call_of("", launch.options).multirun:
        return
    if _sweeps_anyway(launch, ctx):
        return
    view = view_of(launch)
    for override in sweeps:
        place = override.value.span or override.word.span or launch.head
        text = override.value_text.shown
        function = _FUNCTION.match(text)
        what = f"{function[1]}(…) stands for several values" if function else f"{text} is several values for Hydra"
        message = f"{what}: without --multirun it stops with 'Ambiguous value for argument'"
        key = override.key
        if function:
            help_ = "start it with --multirun, or give one value"
        elif key in LISTS or _holds(view, key, "list"):
            help_ = f"write {key}=[{text}] for a list"
        elif _holds(view, key, "str"):
            help_ = f"quote the text for Hydra: '{key}=\"{text}\"'"
        else:
            help_ = "give one value, or start it with --multirun"
        shown = f"{key} = {text}"
        finding = ctx.fail(place, message, value=shown, hops=override.value.hops, help=help_)
        yield finding if function else _mended(finding, override, view)


def _sweeps_anyway(launch: Launch, ctx: Context) -> bool:
    """Whether the mode is chosen otherwise: `hydra.mode=MULTIRUN`, here or in the config of the project."""
    if any(each.key == "hydra.mode" for each in launch.overrides):
        return True
    from verlint.experiment.config_files import named_config, sources_of

    named = named_config(launch, ctx.project.tree)
    return named is not None and any("MULTIRUN" in each.text for each in sources_of(named, ctx.project.tree))


def _holds(view: View | None, key: str, kind: str) -> bool:
    return view is not None and kind in view.schema.kind(key)


def _mended(finding: Finding, override: Override, view: View | None) -> Finding:
    span, known = written_word(override.word), override.word.known
    if span is None or known is None:
        return finding
    head, _, value = known.partition("=")
    if not _SIMPLE.fullmatch(value) or span.text.strip("'\"") != known:
        return finding
    if override.key in LISTS or _holds(view, override.key, "list"):
        return with_word(finding, override, f'"{head}=[{value}]"', safe=True)
    if _holds(view, override.key, "str"):
        return with_word(finding, override, f"'{head}=\"{value}\"'", safe=True)
    return finding
