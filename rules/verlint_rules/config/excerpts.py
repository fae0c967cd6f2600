"""Launches that show some overrides of a longer command: keys that they lack say nothing."""

from __future__ import annotations

from verlint.experiment.launch import Launch
from verlint.files.kinds import Kind
from verlint.lazy import pattern
from verlint.memo import by_identity
from verlint.rule import Context

_LOST = pattern(r"[^\n]*\n(?:\s*(?:#[^\n]*)?\n)*\s*[\"']?[+~]*[\w@/]+(?:\.[\w@/]+)+=")
"""A line of overrides behind a command that has ended."""


def is_excerpt(launch: Launch, ctx: Context) -> bool:
    """Whether the command shows some overrides of a longer one: it has dots for the rest, is cut by a line that is not
    continued, or leaves data and model to the caller (in a document: to the reader); or it is a config alone."""
    if _is_cut_short(launch):
        return True
    named = [key in launch for key in ("data.train_files", "actor_rollout_ref.model.path")]
    if all(named):
        return False
    in_document = ctx.project.kinds.get(id(launch.span.in_file().source)) is Kind.DOCUMENT
    return in_document or (launch.passes_arguments and not any(named))


@by_identity
def _is_cut_short(launch: Launch) -> bool:
    if launch.stands_alone or launch.leaves_words_out:
        return True
    span = launch.span.in_file()
    return span.source.text.find("=", span.end) >= 0 and _LOST.match(span.source.text, span.end) is not None
