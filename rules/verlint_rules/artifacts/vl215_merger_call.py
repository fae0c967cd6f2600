"""A call of VeRL's model merger must have the words that it takes.

`python -m verl.model_merger` (VeRL 0.4.1 and newer) reads `merge` or `test` first, then `--backend fsdp` or `megatron`,
then `--local_dir`, the folder with the shards of one role. Calls written for `scripts/model_merger.py` of older
versions have no `merge`, or pass `--hf_model_path`, which is gone: the configuration of the model is read from
`huggingface` below the folder of the shards. The merger stops with its usage text, after the training that the
checkpoint comes from, and what stands behind it in the launcher runs on an old model or none.

Silent about words that are not known before the run, about options that the checkout at hand declares, and about the
script of older versions.

Fix: `python -m verl.model_merger merge --backend fsdp --local_dir …/global_step_N/actor --target_dir …`. The unsafe fix
writes the one similar option.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.python_programs import python_program
from verlint.finding import Edit, Finding, Safety
from verlint.languages.bash.command import Command
from verlint.rule import ERROR, Context, rule
from verlint.value import Text

_MODULE = "verl.model_merger"
_DECLARED = "verl/model_merger/base_model_merger.py"
_OPERATIONS = ("merge", "test")
_BACKENDS = ("fsdp", "megatron")
_VALUED = ("--backend", "--local_dir", "--target_dir", "--hf_upload_path", "--test_hf_dir")
_FLAGS = ("--tie-word-embedding", "--is-value-model", "--trust-remote-code", "--use_cpu_initialization", "--private")
_OF_OPERATION = {"--target_dir": "merge", "--hf_upload_path": "merge", "--private": "merge", "--test_hf_dir": "test"}
"""Source: `verl/model_merger/base_model_merger.py:parse_args` of VeRL 0.4.1 to 0.9.1."""
_REMOVED = {"--hf_model_path": "the configuration is read from huggingface below --local_dir"}
"""Options of the script before 0.4.1."""
_NEEDED = {"merge": ("--backend", "--local_dir"), "test": ("--backend", "--local_dir", "--test_hf_dir")}


@rule("VL215", "merger-call", on=Command, severity=ERROR, since="0.1", fixable="unsafe", words=("model_merger",))
def check(command: Command, ctx: Context) -> Iterator[Finding]:
    program = None if command.builtin or command.function else python_program(command.argv)
    if program is None or program.entry != _MODULE:
        return
    words = program.arguments
    if any(word.known in ("-h", "--help", "...", "…") for word in words):
        return
    operation = words[0].known if words else ""
    if operation is None or (words and words[0].elastic):
        return
    if operation not in _OPERATIONS:
        at = words[0] if operation and words[0].span is not None else program.name
        yield ctx.fail(
            at,
            f"{_MODULE} stops: its first word is to be {' or '.join(_OPERATIONS)}",
            help=f"write python -m {_MODULE} merge …",
        )
        return
    yield from _options(operation, words[1:], program.name, ctx)


def _options(operation: str, words: tuple[Text, ...], name: Text, ctx: Context) -> Iterator[Finding]:
    """What is wrong with the words behind the operation."""
    whole = not any(word.elastic for word in words)
    seen: set[str] = set()
    at = 0
    while at < len(words):
        word = words[at]
        text = word.known or word.prefix
        at += 1
        if not text.startswith("--"):
            if word.known is None:
                whole = False  # it may be an option, or several
            elif whole:
                yield ctx.fail(word, f"{_MODULE} stops: nothing takes this word")
            continue
        option, equals, _ = text.partition("=")
        full = _full(option, operation)
        if not full:
            if word.known is not None and not _is_declared(option, ctx):
                yield _unknown(word, option, operation, ctx)
                whole = False  # what is missing is what was meant
            if not equals and at < len(words) and not (words[at].known or words[at].prefix).startswith("-"):
                at += 1
            continue
        seen.add(full)
        if full in _FLAGS:
            continue
        value = word.slice(len(option) + 1, 1_000_000) if equals else words[at] if at < len(words) else None
        at += 0 if equals else 1
        if full == "--backend" and value is not None and value.known is not None and value.known not in _BACKENDS:
            yield ctx.fail(
                value, f"{_MODULE} knows no backend {value.known}: it stops", help=f"write {' or '.join(_BACKENDS)}"
            )
    missing = [option for option in _NEEDED[operation] if option not in seen]
    if missing and whole:
        yield ctx.fail(name, f"{_MODULE} {operation} stops without {' and '.join(missing)}")


def _full(option: str, operation: str) -> str:
    """The option that a word means, which may be the beginning of one; "" for none."""
    every = [each for each in (*_VALUED, *_FLAGS) if _OF_OPERATION.get(each, operation) == operation]
    if option in every:
        return option
    begun = [each for each in every if each.startswith(option)]
    return begun[0] if len(begun) == 1 else ""


def _unknown(word: Text, option: str, operation: str, ctx: Context) -> Finding:
    from difflib import get_close_matches

    if option in _REMOVED:
        return ctx.fail(word, f"{_MODULE} has no {option} any more: it stops", help=f"leave it out: {_REMOVED[option]}")
    belongs = _OF_OPERATION.get(option, "")
    if belongs:
        return ctx.fail(word, f"{_MODULE} {operation} has no {option}: it stops", help=f"{option} is one of {belongs}")
    near = next(iter(get_close_matches(option, (*_VALUED, *_FLAGS), 1, 0.7)), "")
    finding = ctx.fail(
        word, f"{_MODULE} has no {option}: it stops", near=near, help=f"did you mean {near}?" if near else ""
    )
    written = None if word.span is None else word.span.in_file()
    if near and written is not None and written.text.startswith(option):
        place = written.source.span(written.start, written.start + len(option))
        finding = finding.with_fix(f"write {near}", Edit(place, near), safety=Safety.UNSAFE)
    return finding


def _is_declared(option: str, ctx: Context) -> bool:
    """Whether the merger of the checkout at hand declares an option."""
    source = ctx.project.tree.source(_DECLARED)
    return source is not None and f'"{option}"' in source.text
