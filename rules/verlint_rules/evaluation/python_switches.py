"""Switches in Python programs that let code of strangers run. `ast` is loaded only for texts that mention one."""

from __future__ import annotations

from collections.abc import Iterator

from verlint.lazy import pattern
from verlint.source import Source, Span

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ast

_COMMIT = pattern(r"[0-9a-f]{40}")
_CODE = ("HF_ALLOW_CODE_EVAL", "confirm_run_unsafe_code", "allow_code_execution")


def trusted_code(source: Source) -> Iterator[Span]:
    """The calls that pass `trust_remote_code=True` without a pinned revision: the argument."""
    import ast

    for node in _nodes(source, ("trust_remote_code",)):
        if isinstance(node, ast.Call):
            named = {each.arg: each for each in node.keywords if each.arg}
            trust, revision = named.get("trust_remote_code"), named.get("revision")
            pinned = (
                revision is not None
                and isinstance(revision.value, ast.Constant)
                and _COMMIT.fullmatch(str(revision.value.value))
            )
            if trust is not None and _true(trust.value) and not pinned:
                yield _span(source, trust)
        elif isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if isinstance(key, ast.Constant) and key.value == "trust_remote_code" and _true(value):
                    yield _span(source, key, value)


def code_execution(source: Source) -> Iterator[tuple[str, Span, str]]:
    """What lets generated code run, with the tasks it is said for (comma-separated, "" when not known):
    `os.environ["HF_ALLOW_CODE_EVAL"] = "1"`, `simple_evaluate(tasks=["ifeval"], confirm_run_unsafe_code=True)`, a list
    of words with `"--confirm_run_unsafe_code"`, …"""
    import ast

    for node in _nodes(source, _CODE):
        if isinstance(node, ast.Call):
            for each in node.keywords:
                if each.arg in _CODE[1:] and _true(each.value):
                    yield f"{each.arg}=True", _span(source, each), _tasks_of_call(node)
            words = [each.value for each in node.args if isinstance(each, ast.Constant)]
            if words == [_CODE[0], "1"]:
                yield f"{_CODE[0]}=1", _span(source, node), ""
        elif isinstance(node, ast.List):
            listed = [str(each.value) if isinstance(each, ast.Constant) else "" for each in node.elts]
            for at, word in enumerate(listed):
                if word.removeprefix("--") in _CODE[1:] and word.startswith("--"):
                    yield word, _span(source, node.elts[at]), _tasks_of_words(listed)
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
            key = node.targets[0].slice
            if (
                isinstance(key, ast.Constant)
                and key.value == _CODE[0]
                and isinstance(node.value, ast.Constant)
                and node.value.value == "1"
            ):
                yield f"{_CODE[0]}=1", _span(source, node), ""


def _tasks_of_call(call: ast.Call) -> str:
    """The tasks that a call names, "" when one of them is not written there."""
    import ast

    value = next((each.value for each in call.keywords if each.arg in ("tasks", "task")), None)
    listed = value.elts if isinstance(value, (ast.List, ast.Tuple)) else [value]
    names = [each.value if isinstance(each, ast.Constant) and isinstance(each.value, str) else "" for each in listed]
    return ",".join(names) if all(names) else ""


def _tasks_of_words(words: list[str]) -> str:
    """What stands behind `--tasks` in the words of a command."""
    at = next((at for at, word in enumerate(words) if word in ("--tasks", "--task")), len(words))
    return words[at + 1] if at + 1 < len(words) else ""


def public_repositories(source: Source) -> Iterator[tuple[Span, str]]:
    """The calls that make or fill a repository without making it private: the call's name or its `private=False`."""
    import ast

    for node in _nodes(source, ("create_repo", "push_to_hub")):
        name = node.func.attr if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else ""
        if not isinstance(node, ast.Call) or name not in ("create_repo", "push_to_hub"):
            continue
        if any(each.arg is None for each in node.keywords):
            continue
        private = next((each for each in node.keywords if each.arg == "private"), None)
        if private is None:
            yield _span(source, node.func), name
        elif isinstance(private.value, ast.Constant) and not private.value.value:
            yield _span(source, private), "private=False"


def _nodes(source: Source, words: tuple[str, ...]) -> Iterator[ast.AST]:
    if not any(word in source.text for word in words):
        return
    import ast

    from verlint.languages.python.tree import tree

    module = tree(source.text)
    if module is None:
        return
    found = [node for node in ast.walk(module) if isinstance(node, (ast.Call, ast.Dict, ast.Assign, ast.List))]
    yield from sorted(found, key=lambda node: (node.lineno, node.col_offset))


def _true(node: ast.expr) -> bool:
    import ast

    return isinstance(node, ast.Constant) and node.value is True


def _span(source: Source, first: ast.keyword | ast.expr | ast.stmt, last: ast.expr | None = None) -> Span:
    from verlint.languages.python.tree import span_of

    return span_of(source, first, last)
