"""The options of `python -m verl.model_merger`, which lies in the wheel and not in the checkout.

Source: `verl/model_merger/base_model_merger.py` of VeRL 0.4.1 to 0.9.1, which is the same in all of them."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

from verlint.experiment.launch import python_program
from verlint.experiment.places import variants_in
from verlint.files.loading import Loaded
from verlint.finding import Edit, Finding, Safety
from verlint.languages.bash.command import Command
from verlint.rule import Context
from verlint.value import Text

_MODULE = "verl.model_merger"
_VERBS = ("merge", "test")
_TAKES = {
    "--backend": True,
    "--local_dir": True,
    "--tie-word-embedding": False,
    "--trust-remote-code": False,
    "--is-value-model": False,
    "--use_cpu_initialization": False,
    "--target_dir": True,
    "--hf_upload_path": True,
    "--private": False,
    "--test_hf_dir": True,
    "--help": False,
}
"""The options, and whether a value follows."""


def untaken(file: Loaded, ctx: Context) -> Iterator[Finding]:
    """Options that the merger does not take."""
    for command, words in _calls(file, ctx):
        for word in words:
            name = (word.known or word.prefix).partition("=")[0]
            if not name.startswith("--") or name == "--" or any(each.startswith(name) for each in _TAKES):
                continue
            near = get_close_matches(name.replace("-", "_"), [each.replace("-", "_") for each in _TAKES], 1, 0.75)
            meant = next((each for each in _TAKES if near and each.replace("-", "_") == near[0]), "")
            finding = ctx.fail(
                word,
                f"{_MODULE} takes no `{name}`: it stops with 'unrecognized arguments', and nothing is merged",
                near=meant,
                help=f"write {meant}" if meant else f"it takes {', '.join(_TAKES)}",
            )
            written = (word.span or command.span).in_file()
            if meant and written.text.startswith(name):
                place = written.source.span(written.start, written.start + len(name))
                finding = finding.with_fix(f"write {meant}", Edit(place, meant), safety=Safety.UNSAFE)
            yield finding


def lacking(file: Loaded, ctx: Context) -> Iterator[Finding]:
    """Calls of the merger without what it cannot do without."""
    for command, words in _calls(file, ctx):
        names = [(word.known or word.prefix).partition("=")[0] for word in words]
        verb = next((word.known for word in words[:1] if not (word.known or word.prefix).startswith("-")), "")
        if verb is None:
            continue
        missing = [] if verb in _VERBS else ["`merge`"]
        missing += [] if "--backend" in names or "--help" in names or "-h" in names else ["--backend"]
        if missing and not {"--help", "-h"} & {*names}:
            right = " ".join([_MODULE, verb if verb in _VERBS else "merge", "--backend fsdp"])
            yield ctx.fail(
                words[0] if words else command.argv[0],
                f"{_MODULE} is called without {' and '.join(missing)}: it stops with 'the following arguments are "
                "required', and nothing is merged",
                help=f"python -m {right} --local_dir … --target_dir … (or megatron)",
            )


def _calls(file: Loaded, ctx: Context) -> Iterator[tuple[Command, tuple[Text, ...]]]:
    """Calls of the merger of a released VeRL, each place once, with all words known to be words."""
    if _MODULE not in file.source.text or ctx.project.tree.is_dir("verl/model_merger"):
        return
    seen: set[object] = set()
    for variant in variants_in(ctx.project, file.source):
        command = variant.command
        program = python_program(command.argv)
        if program is None or not program.module or program.entry != _MODULE or command.span.order() in seen:
            continue
        seen.add(command.span.order())
        words = program.arguments
        if not any(word.elastic or (word.known or "").startswith(("...", "…", "[")) for word in words):
            yield command, words
