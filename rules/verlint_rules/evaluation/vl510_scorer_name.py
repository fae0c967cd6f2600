"""A scorer is given the name of the run, not the short name that a driver takes.

`usage_example.sh eval qwen-el-self 80` looks the alias up and writes the answers under the run's name,
`wildchat-el-q3-8b-r8b`. A scorer looks for them in the folder it is told: with the alias there is none, it skips every
step and ends with status 0, and the table of results stays as it was.

The aliases are those of the project's drivers (`case` tables that give a short name an `EXP_NAME`), without a driver
those known of the family. Looked at are all calls and stages with `--exp_name`, as training under the alias leaves its
checkpoints where no evaluation finds them.

Fix: write the run name. The fix is unsafe, as a run may have been trained under the alias by hand.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.places import variants_in
from verlint.experiment.stage import called_file, options_of
from verlint.experiment.variants import Variant
from verlint.families import stages_of_launcher
from verlint.files.kinds import Kind
from verlint.files.loading import Loaded
from verlint.finding import Edit, Finding, Safety
from verlint.rule import ERROR, Context, rule
from verlint.source import Span
from verlint.value import Text
from verlint_rules.evaluation.aliases import Alias, known_alias
from verlint_rules.reading.call_options import stages_in
from verlint_rules.shell.call_words import is_certain, sites_in


@rule("VL510", "scorer-name", on=Loaded, severity=ERROR, since="0.1", fixable="unsafe", words=("exp_name",))
def check(file: Loaded, ctx: Context) -> Iterator[Finding]:
    if file.kind is not Kind.SPEC:
        for site in sites_in(variants_in(ctx.project, file.source)):
            found = [each for variant in site if (each := _of_call(variant, ctx)) is not None]
            if found and is_certain([variant for variant, _, _ in found], site):
                _, word, alias = found[0]
                yield _finding(word, word.span, alias, ctx)
        return
    for _, stage in stages_in(file, ctx.project):
        value = None if stage.spec is None else stage.spec.args.get("exp_name")
        if value is not None and value.given and value.decided and value.span is not None:
            found_alias = known_alias(ctx.project, str(value), stage.family)
            if found_alias is not None:
                yield _finding(Text(), value.span, found_alias, ctx)


def _of_call(variant: Variant, ctx: Context) -> tuple[Variant, Text, Alias] | None:
    called = called_file(variant.command)
    word = None if called is None else options_of(called.arguments).get("--exp_name")
    if called is None or word is None or word.known is None:
        return None
    families = {family.name for family, _ in stages_of_launcher(called.path.shown)}
    alias = known_alias(ctx.project, word.known, next(iter(families)) if len(families) == 1 else "")
    return None if alias is None else (variant, word, alias)


def _finding(word: Text, span: Span | None, alias: Alias, ctx: Context) -> Finding:
    message = f"`{alias.alias}` is the driver's short name of `{alias.name}`: there is no run of that name"
    written = next((part.span for part in word.parts if part.span is not None), None) or span
    at = word if word.parts else span
    assert at is not None
    finding = ctx.fail(at, message, value=f"exp_name = {alias.alias}", near=alias.name, help=f"write {alias.name}")
    finding = finding.with_related(alias.span, "the driver's table")
    place = None if written is None else written.in_file()
    if place is None or place.text.count(alias.alias) != 1:
        return finding
    edit = Edit(place, place.text.replace(alias.alias, alias.name))
    return finding.with_fix(f"write {alias.name}", edit, safety=Safety.UNSAFE)
