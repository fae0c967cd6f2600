"""The argument loop of a launcher that is looked at alone: its options become named holes.

`while [[ $# -gt 0 ]]; do case $1 in --model) MODEL="$2"; shift 2;; … esac; done` is run once per arm with a hole for
the value. A variable that had a default keeps it, marked as replaceable by the option."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verlint.languages.bash.pieces import Parts, flat, has_hole, overridable, plain
from verlint.languages.bash.state import Array, DiscardLine, Exit, LoopControl, Variable
from verlint.languages.bash.syntax import Case, CaseArm, DoubleQuoted, Lit, Param, Simple, While, Word
from verlint.value import Hole

if TYPE_CHECKING:
    from verlint.languages.bash.loops import Loops


def option_case(node: While) -> Case | None:
    """The `case $1 in` of an argument loop, or None when the loop is none."""
    for item, _ in node.body.items:
        for _, pipeline in item.items:
            for command in pipeline.commands:
                if isinstance(command, Case) and _is_first_argument(command.word):
                    return command
    return None


def _is_first_argument(word: Word) -> bool:
    parts = word.parts
    if len(parts) == 1 and isinstance(parts[0], DoubleQuoted):
        parts = parts[0].parts
    return len(parts) == 1 and isinstance(parts[0], Param) and parts[0].name == "1"


def option_names(arm: CaseArm) -> list[tuple[str, Word]]:
    """The options an arm stands for, with their patterns; "" for `*`."""
    out: list[tuple[str, Word]] = []
    for pattern in arm.patterns:
        text = "".join(part.text for part in pattern.parts if isinstance(part, Lit))
        if text.startswith("-") and len(text) > 1:
            out.append((text, pattern))
    return out


def option_loop(shell: Loops, node: While) -> bool:
    """Run an argument loop symbolically; False when the loop is none."""
    case = option_case(node)
    if case is None:
        return False
    for arm in case.arms:
        names = option_names(arm)
        if names:
            _run_arm(shell, arm, *names[-1] if len(names) == 1 else max(names, key=lambda each: len(each[0])))
        else:
            _run_rest(shell, arm)
    shell.positional = []
    shell.open_arguments = True
    return True


def _run_arm(shell: Loops, arm: CaseArm, option: str, pattern: Word) -> None:
    name = option.rstrip("*").rstrip("=")
    hole = Hole(("option", id(shell.source), name), name, f"option {name}", shell.span(pattern))
    first: Parts = (*plain(name + "="), hole) if "=" in option else plain(name)
    before = {each: variable.copy() for scope in (shell.globals, *shell.scopes) for each, variable in scope.items()}
    saved = shell.positional
    shell.positional = [first, (hole,)]
    _run(shell, arm)
    shell.positional = saved
    shell.open_arguments = True
    for scope in (shell.globals, *shell.scopes):
        for each, variable in scope.items():
            old = before.get(each)
            if old is None or old.value != variable.value:
                _settle(variable, old, hole, name)
    shell.changed()


def _settle(variable: Variable, old: Variable | None, hole: Hole, option: str) -> None:
    """The value after the loop: the default when there was one, else whatever the option gives."""
    if isinstance(variable.value, Array):
        return
    default = None if old is None or isinstance(old.value, Array) else old.value
    if default is not None and flat(default):
        variable.value = overridable(default, option)
    elif variable.value is not None and not has_hole(variable.value):
        variable.value = (hole,) if default is None else default


def _run_rest(shell: Loops, arm: CaseArm) -> None:
    """The `*)` arm: what it keeps of unknown words may be any number of words."""
    if _only_control(arm):
        return
    saved = shell.positional
    shell.positional = [(shell.arguments_hole(arm.patterns[0]),)]
    _run(shell, arm)
    shell.positional = saved
    shell.open_arguments = True


def _only_control(arm: CaseArm) -> bool:
    commands = [command for item, _ in arm.body.items for _, pipeline in item.items for command in pipeline.commands]
    words = [
        "".join(part.text for part in command.words[0].parts if isinstance(part, Lit))
        for command in commands
        if isinstance(command, Simple) and command.words and isinstance(command.words[0], Word)
    ]
    return any(word in ("break", "exit", "return", "usage") for word in words)


def _run(shell: Loops, arm: CaseArm) -> None:
    shell.loops += 1
    shell.unchecked += 1
    guards = shell.guards
    try:
        shell.sequence(arm.body)
    except (Exit, LoopControl, DiscardLine):
        pass
    finally:
        shell.loops -= 1
        shell.unchecked -= 1
        shell.guards = guards
        shell.status = 0
