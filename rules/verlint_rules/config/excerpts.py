"""Launches that show some overrides of a longer command: keys that they lack say nothing."""

from __future__ import annotations

from verlint.experiment.launch import Launch
from verlint.files.kinds import Kind
from verlint.lazy import pattern
from verlint.rule import Context

_LOST = pattern(r"[^\n]*\n(?:\s*(?:#[^\n]*)?\n)*\s*[\"']?[+~]*[\w@/]+(?:\.[\w@/]+)+=")
"""A line of overrides behind a command that has ended."""


def is_excerpt(launch: Launch, ctx: Context) -> bool:
    """Whether the command shows some overrides of a longer one: it has dots for the rest, is cut by a line that is not
    continued, or leaves data and model to the caller (in a document: to the reader); or it is a config alone."""
    if launch.stands_alone or launch.leaves_words_out:
        return True
    span = launch.span.in_file()
    if span.source.text.find("=", span.end) >= 0 and _LOST.match(span.source.text, span.end):
        return True
    named = [key in launch for key in ("data.train_files", "actor_rollout_ref.model.path")]
    in_document = ctx.project.kinds.get(id(span.source)) is Kind.MARKDOWN
    return not all(named) if in_document else launch.passes_arguments and not any(named)
