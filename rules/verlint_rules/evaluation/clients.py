"""Addresses that Python code of a checkout calls, whatever it is given: those of the reward functions and tools that a
launcher starts."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from verlint.experiment.launch import Launch
from verlint.experiment.places import variants_in
from verlint.experiment.project import Project
from verlint.experiment.tools import called_source
from verlint.experiment.variants import Variant
from verlint.languages.python.tree import span_of, tree
from verlint.source import Source, Span
from verlint_rules.reading.named_files import bases_of, join, seen_from

_FUNCTIONS = ("custom_reward_function.path", "reward.custom_reward_function.path", "worker.reward.reward_function")
_NAMES = frozenset(["base_url", "url", "api_base", "endpoint", "api_url", "server_url"])
_METHODS = frozenset(["post", "get", "request", "OpenAI", "AsyncOpenAI", "urlopen", "stream"])


def clients_of(source: Source, project: Project) -> Iterator[tuple[Source, bool]]:
    """The Python files that the commands of a launcher start, or name as reward functions; with whether each is run
    itself."""
    seen: set[int] = set()
    for variant in variants_in(project, source):
        command = variant.command
        if command.builtin or command.function or command.around.elsewhere:
            continue
        launch = project.launch(command)
        found = _reward(launch, variant, project) if launch is not None else None
        own = launch is None
        if launch is None:
            found = called_source(command, project.tree, variant.entry.start)
        if found is not None and id(found) not in seen:
            seen.add(id(found))
            yield found, own


def _reward(launch: Launch, variant: Variant, project: Project) -> Source | None:
    """The file of the reward function of a launch."""
    override = next((launch.by_key[key] for key in _FUNCTIONS if key in launch.by_key), None)
    known = None if override is None else seen_from(override.value_text, launch.command).known
    path = "" if known is None else known.partition(":")[0]
    if not path.endswith(".py") or path.startswith("/"):
        return None
    for base in bases_of(variant, project.tree):
        source: Source | None = project.tree.source(join(base, path))
        if source is not None:
            return source
    return None


def fixed_addresses(source: Source, *, run: bool) -> Iterator[tuple[str, Span]]:
    """The texts that a Python file calls as addresses, with their places. Defaults of parameters, options and
    environment variables may be replaced and are left out; what stands below `if __name__ == "__main__"` counts for a
    file that is `run`."""
    module = tree(source.text)
    if module is None:
        return
    names: dict[str, int] = {}
    found: list[tuple[ast.expr, str]] = []
    for node in _nodes(module, run):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            names[node.targets[0].id] = names.get(node.targets[0].id, 0) + 1
            found.append((node.value, node.targets[0].id))
        elif isinstance(node, ast.Call):
            found += [(each.value, "") for each in node.keywords if each.arg in _NAMES]
            function = node.func
            name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
            if name in _METHODS and node.args:
                found.append((node.args[0], ""))
    for value, name in found:
        text = _text(value)
        if text and (not name or names[name] == 1):
            yield text, span_of(source, value)


def _nodes(module: ast.Module, run: bool) -> Iterator[ast.AST]:
    """All nodes outside of signatures and of what only runs when the file itself is started."""
    waiting: list[ast.AST] = [module]
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, ast.If) and not run and _asks_for_name(node.test):
            continue
        children = list(ast.iter_child_nodes(node))
        waiting += [each for each in children if not isinstance(each, ast.arguments)]


def _asks_for_name(test: ast.expr) -> bool:
    return any(isinstance(node, ast.Name) and node.id == "__name__" for node in ast.walk(test))


def _text(node: ast.expr) -> str:
    """The characters of a text, of a format string up to its first hole."""
    if isinstance(node, ast.JoinedStr) and node.values:
        node = node.values[0] if isinstance(node.values[0], ast.Constant) else node
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
