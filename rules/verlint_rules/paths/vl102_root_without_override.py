"""A root is assigned a literal path, so the caller cannot choose where artifacts live.

Everything below the root is built on this one line, and a caller who exports the variable loses: the assignment
replaces what was exported. Whoever runs the launcher elsewhere has to edit it, and the edit then travels with every
commit.

Not counted are assignments that keep what the caller gives: `${ROOT:-/data/x}`, a variable that an option or argument
may set, an assignment that is made only while the variable is unset. Relative paths, paths below `$HOME`, system
folders, tool chains (`CUDA_HOME`), log and scratch folders and variables of functions are not counted either.

The option `allow` of the rule names folders that every machine has: `[rules.VL102]` with `allow = ["/mnt/shared"]`.

Fix: `ROOT="${ROOT:-/data/x}"` keeps the path as the default and lets the caller choose; `: "${ROOT:?}"` asks for it.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.files.kinds import Kind
from verlint.files.loading import Loaded
from verlint.finding import Edit, Finding, Safety
from verlint.rule import WARNING, Context, rule
from verlint_rules.paths.machine_paths import FixedRoot, fixed_roots, in_test_folder, is_below


@rule(
    "VL102", "root-without-override", on=Loaded, severity=WARNING, since="0.1", fixable="unsafe", options={"allow": []}
)
def check(file: Loaded, ctx: Context) -> Iterator[Finding]:
    if file.kind is not Kind.LAUNCHER or in_test_folder(ctx.project.tree.relative(file.path) or file.source.path):
        return
    for root in fixed_roots(ctx.project, file.source):
        if not is_below(root.path.text, ctx.options["allow"]):
            yield _finding(ctx, root)


def _finding(ctx: Context, root: FixedRoot) -> Finding:
    name, path = root.assignment.name, root.path.text
    finding = ctx.fail(
        root.assignment.span,
        f"`{name}` is always `{path}`, whatever the caller has set; it goes to {root.used}",
        value=f"{name} = {path}",
        hops=(),
        help=f'let the caller choose: {name}="${{{name}:-{path}}}"',
    )
    edit = Edit(root.assignment.value_span.in_file(), f'"${{{name}:-{path}}}"')
    return finding.with_fix(f"keep {path} as the default of {name}", edit, safety=Safety.UNSAFE)
