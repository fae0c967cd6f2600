"""Several words kept in one variable must not be passed as one word, nor one override as several.

`"$CFG"` with `CFG="a.b=1 c.d=2"`, `"${ARGS[*]}"` and `"${ARGS}"` of an array all pass one word. Hydra gets one override
`a.b=1 c.d=2` and rejects it (or takes the rest for part of a text), and of an array only the first element arrives,
silently: the others are lost.

The other way round, a blank in an override makes it several words: `data.val_files=[a, b]` without quotes, and
`trainer.nnodes =1`, `trainer.nnodes= 1`. Hydra rejects them before anything runs.

`ARGS+=trainer.nnodes=2` without parentheses adds no element: it glues the text to the first one.

Looked at are launches, Python programs and calls of scripts. Left alone are texts with blanks that hold no further
override or option (prompts, names), values quoted for Hydra, a list handed to an option that takes one
(`--vllm_args "--a 1 --b 2"`), `"${ARGS[@]}"`, `"${ARGS[0]}"`, unquoted `$CFG` and `${ARGS[*]}`, `echo`, `eval` and
`bash -c "…"`. The command of `ray job submit` in quotes is VL933.

Fix: `"${ARGS[@]}"` for an array, `$CFG` without quotes for a text of words, `'data.val_files=[a, b]'` for a list.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from verlint.experiment.places import variants_in
from verlint.experiment.project import Project
from verlint.experiment.python_programs import python_program
from verlint.experiment.script import Script
from verlint.experiment.stage import called_file
from verlint.experiment.variants import Variant
from verlint.finding import Edit, Finding, Safety
from verlint.languages.bash.syntax import ArrayLit, Assign, DoubleQuoted, Node, Param, Simple, Word
from verlint.languages.bash.walk import walk
from verlint.languages.hydra.override import parse_override
from verlint.lazy import pattern
from verlint.rule import ERROR, Context, rule
from verlint.source import Source
from verlint.value import Hole, Literal, Text
from verlint_rules.shell.call_words import (
    Written,
    conditions_of,
    is_certain,
    program_of_source,
    sites_in,
    spread_words,
    written_words,
)
from verlint_rules.shell.split_words import Split, split_overrides
from verlint_rules.shell.unset_names import names_of

_OVERRIDES = pattern(r"(?<=\s)[+~]{0,2}[A-Za-z_][\w-]*(?:[./@][\w@-]+)*=")
_ELEMENT = pattern(r"[\"']?(?:[+~]{0,2}[A-Za-z_][\w-]*(?:\.[\w-]+)+=|--?[A-Za-z])")
_FIRST = pattern(r"\s*[+~]{0,2}[A-Za-z_][\w./@-]*=")
_OPTIONS = pattern(r"\s*--?[A-Za-z][\w-]*(?:[=\s]\S+)?\s+--?[A-Za-z][\w-]*")
_QUOTING = pattern(r"[\"'\\*?\[]")


@rule("VL914", "quoted-array", on=Script, severity=ERROR, since="0.1", fixable="safe")
def check(script: Script, ctx: Context) -> Iterator[Finding]:
    yield from _glued(script, ctx)
    for site in sites_in(variants_in(ctx.project, script.source)):
        node = _node(ctx.project, site[0]) if any(_starts_something(each, ctx) for each in site) else None
        if node is None:
            continue
        yield from _split(site, ctx)
        text = site[0].command.span.source
        written = [(variant, written_words(variant.command)) for variant in site]
        for number, word in enumerate(node.words):
            if isinstance(word, Word):
                found = _of_word(script, written, text, word, number, ctx)
                if found is not None:
                    yield found


def _glued(script: Script, ctx: Context) -> Iterator[Finding]:
    """Where `NAME+=value` glues an override or an option to the first element of an array."""
    if script.document or "+=" not in script.source.text:
        return
    for text, program in script.syntax:
        assigns = [
            each
            for group in program.groups
            for node in walk(group)
            if isinstance(node, Simple)
            for each in (*node.assigns, *(word for word in node.words if isinstance(word, Assign)))
        ]
        arrays = {each.name: each for each in reversed(assigns) if isinstance(each.value, ArrayLit)}
        plain = {each.name for each in assigns if not isinstance(each.value, ArrayLit) and not each.append}
        for each in assigns:
            written = text.text[each.value.start : each.value.end]
            if not each.append or each.index is not None or isinstance(each.value, ArrayLit):
                continue
            if each.name in arrays and each.name not in plain and _ELEMENT.match(written):
                span = text.span(each.value.start, each.value.end)
                finding = ctx.fail(
                    text.span(each.start, each.end),
                    f"without parentheses this adds nothing to the array {each.name}: it glues the text to its first "
                    "element",
                    value=f"{each.name}+={written}",
                    help=f"write {each.name}+=({written})",
                )
                finding = finding.with_related(
                    text.span(arrays[each.name].start, arrays[each.name].start + len(each.name)), "an array"
                )
                yield finding.with_fix("add an element", Edit(span.in_file(), f"({written})"), safety=Safety.SAFE)


def _split(site: Sequence[Variant], ctx: Context) -> Iterator[Finding]:
    """The overrides that blanks split, each once; what is split on one way there is so on all."""
    launches = [each for each in site if ctx.project.launch(each.command) is not None]
    words = spread_words(launches[0].command) if launches else []
    for found in split_overrides(words):
        count = len(found.words)
        ends = [f"`{word.span.text}`" for word in (found.words[0], found.words[-1])]
        if found.where == "list":
            message = f"blanks split this list into {count} words, which Hydra rejects"
        else:
            message = f"a blank {_SIDES[found.where]} the `=` makes this {count} words, which Hydra rejects"
        mended = _as_one(found)
        help_ = f"write {mended}" if mended else "put the whole override in quotes"
        finding = ctx.fail(found.span, message, value=(" and " if count == 2 else " … ").join(ends), help=help_)
        if mended and "\n" not in found.span.text:
            finding = finding.with_fix("make it one word", Edit(found.span.in_file(), mended), safety=Safety.SAFE)
        yield finding


def _as_one(found: Split) -> str:
    """The override as one word, "" where that is not plain."""
    if found.where != "list":
        return found.joined
    if re.search(r"[\"'\\`\n]", found.joined):
        return ""
    return f'"{found.joined}"' if "$" in found.joined else f"'{found.joined}'"


_SIDES = {"before": "before", "after": "behind", "around": "on each side of"}


def _node(project: Project, variant: Variant) -> Simple | None:
    """The command as written."""
    span = variant.command.span
    for group in program_of_source(project, span.source).groups:
        if group.start <= span.start < max(group.end, group.start + 1):
            for node in walk(group):
                if isinstance(node, Simple) and node.start == span.start and node.end == span.end:
                    return node
    return None


def _starts_something(variant: Variant, ctx: Context) -> bool:
    command = variant.command
    if command.builtin or command.function or command.name in ("echo", "printf"):
        return False
    return (
        ctx.project.launch(command) is not None
        or python_program(command.argv) is not None
        or called_file(command) is not None
    )


def _of_word(
    script: Script,
    site: Sequence[tuple[Variant, Sequence[Written]]],
    text: Source,
    word: Word,
    number: int,
    ctx: Context,
) -> Finding | None:
    for param in _params(word):
        if _is_first_element(script, param):
            return _first_element(script, [words for _, words in site], text, word, param, ctx)
    failing: list[tuple[Variant, str, list[str]]] = []
    for variant, words in site:
        if number < len(words) and (more := _further_words(words, number)):
            failing.append((variant, words[number].became[0].shown, more))
    if not failing:
        return None
    return _one_word([variant for variant, _ in site], text, word, failing, ctx)


def _params(word: Word) -> Iterator[Param]:
    """The expansions of a word, those in quotes too, but not those within other expansions or commands."""
    for part in word.parts:
        if isinstance(part, Param):
            yield part
        elif isinstance(part, DoubleQuoted):
            yield from (each for each in part.parts if isinstance(each, Param))


# ---- arrays


def _is_first_element(script: Script, param: Param) -> bool:
    """Whether an array of several elements is used without an index."""
    names = names_of(script)
    if param.index is not None or param.op or names.arrays.get(param.name, 0) < 2:
        return False
    assigned = rf"(?<![\w$]){re.escape(param.name)}=(?!\()|\bread\s+(?!-[a-z]*a)[^\n]*\b{re.escape(param.name)}\b"
    return not any(re.search(assigned, text.text) for text, _ in script.syntax)


def _first_element(
    script: Script, site: Sequence[Sequence[Written]], text: Source, word: Word, param: Param, ctx: Context
) -> Finding | None:
    size = names_of(script).arrays[param.name]
    span = text.span(word.start, word.end)
    became = _first_known(site, word)
    finding = ctx.fail(
        span,
        f"{param.name} is an array of {size} elements: without an index bash passes the first one only",
        value=became,
        help=f'write "${{{param.name}[@]}}"',
    ).with_related(names_of(script).assigned.get(param.name), f"{param.name} is set here")
    if _is_whole(word, param):
        edit = Edit(span.in_file(), f'"${{{param.name}[@]}}"')
        return finding.with_fix("pass all elements", edit, safety=Safety.SAFE)
    return finding


def _first_known(site: Sequence[Sequence[Written]], word: Word) -> str:
    for words in site:
        for each in words:
            if each.span.start == word.start and each.became:
                return each.became[0].shown
    return ""


def _is_whole(word: Word, param: Param) -> bool:
    parts: Sequence[Node] = word.parts
    if len(parts) == 1 and isinstance(parts[0], DoubleQuoted):
        parts = parts[0].parts
    return len(parts) == 1 and parts[0] is param


# ---- several words in one


def _further_words(words: Sequence[Written], number: int) -> list[str]:
    """The overrides or options that are glued to the first one in a single argument; none when it is one word."""
    written = words[number]
    if len(written.became) != 1 or not _from_quotes(written):
        return []
    argument = written.became[0]
    flat = "".join(part.text if isinstance(part, Literal) else "⟦⟧" for part in argument.parts)
    if not any(blank in flat for blank in " \t\n"):
        return []
    if _FIRST.match(flat):
        override = parse_override(argument)
        found = [match.group().strip("=") for match in _OVERRIDES.finditer(flat)]
        start = _FIRST.match(flat)
        found = [each for each in found if start is None or each != start.group().strip().rstrip("=")]
        dotted = any("." in each for each in found)
        quoted = override is not None and override.error is None and not _is_plain(argument)
        return found if found and dotted and not quoted and _any_from_variable(written) else []
    before = words[number - 1].span.text if number else ""
    if _OPTIONS.match(flat) and _is_only_variable(written) and not (before.startswith("-") and "=" not in before):
        return re.findall(r"(?<=\s)--?[A-Za-z][\w-]*", flat)
    return []


def _is_plain(argument: Text) -> bool:
    """Whether no quotes or brackets for Hydra hold the value together."""
    value = argument.shown.partition("=")[2].lstrip()
    return value[:1] not in ("'", '"', "[", "{")


def _from_quotes(written: Written) -> bool:
    return '"' in written.span.text and "$" in written.span.text


def _is_only_variable(written: Written) -> bool:
    return re.fullmatch(r'"\$(?:\w+|\{\w+(?:\[[*@]\])?\})"', written.span.text) is not None


def _any_from_variable(written: Written) -> bool:
    """Whether a piece with a blank and a further override comes from elsewhere than the word itself."""
    for part in written.became[0].parts:
        if isinstance(part, Hole) or not re.search(r"\s", part.text):
            continue
        inside = part.span is not None and part.span.source is written.span.source
        if not inside or part.span is None or not written.span.start <= part.span.start < written.span.end:
            return True
    return False


def _one_word(
    site: Sequence[Variant], text: Source, word: Word, failing: Sequence[tuple[Variant, str, list[str]]], ctx: Context
) -> Finding:
    _, shown, more = failing[0]
    span = text.span(word.start, word.end)
    count = len(more) + 1
    kind = "options" if more[0].startswith("-") else "overrides"
    named = ", ".join(more[:3]) + (" and others" if len(more) > 3 else "")
    unread = f"is not read as an {kind[:-1]}" if len(more) == 1 else f"are not read as {kind}"
    message = f"{count} {kind} are passed as one word: {named} {unread}"
    mended = _mended(span.text, shown)
    help_ = f"write {mended}" if mended else 'keep the words in an array and pass "${NAME[@]}"'
    variants = [each[0] for each in failing]
    if is_certain(variants, site):
        finding = ctx.fail(span, message, value=_cut(shown), help=help_)
    else:
        when = conditions_of(variants, site)
        verify = f"bash -x {span.in_file().source.path}  # see which branch runs"
        finding = ctx.unsure(
            span, f"{message} (when {when})" if when else message, verify=verify, value=_cut(shown), help=help_
        )
    if mended and not _QUOTING.search(shown):
        return finding.with_fix("pass the words one by one", Edit(span.in_file(), mended), safety=Safety.SAFE)
    return finding


def _mended(written: str, shown: str) -> str:
    """The word as it should be, for a single variable in quotes."""
    if match := re.fullmatch(r'"\$\{(\w+)\[\*\]\}"', written):
        return f'"${{{match[1]}[@]}}"'
    if match := re.fullmatch(r'"(\$\w+|\$\{\w+\})"', written):
        return match[1]
    return ""


def _cut(shown: str) -> str:
    line = " ".join(shown.split())
    return line if len(line) <= 100 else line[:99] + "…"
