"""A comma record has the fields that its reader takes apart, in that order.

The drivers of many runs take a whole run as one word, `name,start,end,step,…`, and give each field a name by its
place. A field too few or too many moves all behind it: the number of turns becomes the switch for thinking, the round
becomes the path of a model. `read` accepts any number: missing fields are empty, and the last name takes all that is
left, commas included. The run starts, with another setting than the one that was written.

The names come from the reader itself (`IFS=',' read -r A B C <<< "$1"`, `fields = text.split(",")` with a check of
their number), else from what is known of the families' drivers. A field is of another kind when its name speaks of a
number, a switch or a version and its characters are none. Fields that are left out at the end are fine where the reader
looks at them first. Silent for pieces that are not known before the run.

Fix: write the fields in the order of the reader; an empty field keeps its comma.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from verlint.experiment.paths import written_at
from verlint.experiment.places import variants_in
from verlint.experiment.records import fields
from verlint.experiment.script import Script
from verlint.experiment.stage import called_file
from verlint.experiment.variants import Variant
from verlint.finding import Finding
from verlint.rule import ERROR, Context, rule
from verlint.value import Text
from verlint_rules.reading.call_options import file_name, launcher_source, tool_call
from verlint_rules.reading.record_shapes import (
    Shape,
    misfits,
    own_records,
    shape_of_catalogue,
    shape_of_script,
    shape_of_tool,
)
from verlint_rules.shell.call_words import conditions_of, is_certain, program_of_source, sites_in

_NEEDED = {"number": "a number", "switch": "true or false", "version": "a version such as v4", "name": "a name"}


@rule("VL013", "record-fields", on=Script, severity=ERROR, since="0.1", words=("ifs=", ".py ", "_inturn"))
def check(script: Script, ctx: Context) -> Iterator[Finding]:
    if not script.document:
        for text, program in script.syntax:
            shape = shape_of_script(text, program) if "read" in text.text and "<<<" in text.text else None
            for record in own_records(shape, program) if shape is not None else ():
                message = _fault(shape, record) if shape is not None else ""
                if message and shape is not None:
                    yield _finding(record, message, shape, ctx)
    for site in sites_in(variants_in(ctx.project, script.source)):
        yield from _of_site(site, ctx)


def _of_site(site: Sequence[Variant], ctx: Context) -> Iterator[Finding]:
    found: dict[str, list[tuple[Variant, Text, Shape]]] = {}
    for variant in site:
        shape, word = _call(variant, ctx)
        message = "" if shape is None or word is None else _fault(shape, word)
        if message and shape is not None and word is not None:
            found.setdefault(message, []).append((variant, word, shape))
    for message, each in found.items():
        variants, (_, word, shape) = [variant for variant, _, _ in each], each[0]
        if is_certain(variants, site):
            yield _finding(word, message, shape, ctx)
        else:
            when = conditions_of(variants, site)
            verify = f"bash -x {site[0].entry.source.path}  # see which branch runs"
            message = f"{message} (when {when})" if when else message
            yield ctx.unsure(word, message, help=_help(shape), verify=verify).with_related(shape.span, "read here")


def _call(variant: Variant, ctx: Context) -> tuple[Shape | None, Text | None]:
    """The record that a call passes, and what its reader makes of it."""
    if not any("," in word.template for word in variant.command.argv[1:]):
        return None, None
    called = called_file(variant.command)
    if called is None or not called.arguments or called.arguments[0].elastic:
        return None, None
    word = called.arguments[0]
    if "," not in word.template or "=" in word.prefix.split(",", 1)[0]:
        return None, None
    tool = tool_call(ctx.project, variant) if called.path.suffix.endswith(".py") else None
    if tool is not None:
        return shape_of_tool(tool), word
    source = launcher_source(ctx.project, variant, called)
    if source is not None:
        shape = shape_of_script(source, program_of_source(ctx.project, source))
        return (shape if shape is not None and shape.argument else None), word
    path, at = called.path.known, called.path.span
    return (None if path is None or at is None else shape_of_catalogue(path, at, ctx.project)), word


def _fault(shape: Shape, word: Text) -> str:
    """What is wrong with a record, "" for nothing."""
    given = fields(word)
    wanted, count = len(shape.fields), len(given)
    reader = (
        f"{file_name(shape.source)} reads {wanted}"
        if shape.source.path.endswith((".sh", ".py"))
        else (f"the driver reads {wanted}")
    )
    wrong = misfits(shape, given, filled=count != wanted)
    if count != wanted and shape.source.path.endswith(".py"):
        return f"the record has {count} fields, {file_name(shape.source)} insists on {wanted} and stops"
    if count > wanted:
        return f"the record has {count} fields, {reader}: {_first(shape, given, wrong) or _rest(shape, given)}"
    if count < wanted:
        left = shape.fields[count:]
        if wrong:
            return f"the record has {count} fields, {reader}: {_first(shape, given, wrong)}"
        if word.holes or all(name in shape.optional for name in left):
            return ""
        names = " and ".join(f"`{name}`" if name else "one more" for name in left[:3])
        return f"the record has {count} fields, {reader}: {names} {'is' if len(left) == 1 else 'are'} empty"
    if not wrong:
        return ""
    return f"{_first(shape, given, wrong)}{_exchanged(shape, given, wrong)}"


def _first(shape: Shape, given: Sequence[Text], wrong: Sequence[int]) -> str:
    if not wrong:
        return ""
    at = wrong[0]
    what = f"`{given[at].shown}`" if given[at].shown else "empty"
    return f"field {at + 1}, {shape.label(at)}, is {what}, and {_NEEDED[shape.kind(at)]} is needed"


def _rest(shape: Shape, given: Sequence[Text]) -> str:
    rest = ",".join(each.shown for each in given[len(shape.fields) - 1 :])
    return f"the last, {shape.label(len(shape.fields) - 1)}, is `{rest}`"


def _exchanged(shape: Shape, given: Sequence[Text], wrong: Sequence[int]) -> str:
    """The two fields that would fit in each other's place."""
    from verlint_rules.reading.record_shapes import fits

    for left in wrong:
        for right in range(len(shape.fields)):
            mine, theirs = given[left].known, given[right].known
            if right == left or mine is None or theirs is None or not theirs:
                continue
            swaps = fits(shape.kind(left), theirs) and fits(shape.kind(right), mine)
            others = [at for at in wrong if at not in (left, right)]
            if swaps and not others and (right in wrong or abs(left - right) == 1):
                first, second = sorted((left, right))
                return f"; fields {first + 1} and {second + 1} are in the wrong order"
    return ""


def _help(shape: Shape) -> str:
    return "the order is " + ",".join(name or f"({at})" for at, name in enumerate(shape.fields, 1))


def _finding(word: Text, message: str, shape: Shape, ctx: Context) -> Finding:
    at = word.span or written_at(word)
    finding = ctx.fail(word if at is None else at, message, value=word.shown, help=_help(shape))
    return finding.with_related(shape.span, "read here")
