"""The line by which a launcher asks for a credential before it starts its work."""

from __future__ import annotations


def ask_for(name: str, *, traced: bool) -> str:
    """A line that ends the launcher with a message when a variable is unset or empty; while `set -x` is on one that
    does not print the value."""
    if traced:  # `${NAME:?}` would print the value into the trace
        return f'[ -n "${{{name}:+set}}" ] || {{ echo "set {name}" >&2; exit 1; }}'
    return f': "${{{name}:?set {name}}}"'
