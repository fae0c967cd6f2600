"""The argument loop of a launcher that is looked at alone: its options become named holes.

`while [[ $# -gt 0 ]]; do case $1 in --model) MODEL="$2"; shift 2;; … esac; done` is run once per arm with a hole for
the value. A variable that had a default keeps it, marked as replaceable by the option."""

from __future__ import annotations

from verlint.languages.bash.pieces import Parts, flat, has_hole, overridable, plain
from verlint.languages.bash.run import DiscardLine, Exit, LoopControl
from verlint.languages.bash.storage import Array, Variable
from verlint.languages.bash.syntax import Case, CaseArm, DoubleQuoted, For, Lit, Param, Simple, While, Word
from verlint.languages.bash.walk import literal_word
from verlint.value import Hole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from verlint.languages.bash.loops import Loops


def option_case(node: While | For) -> tuple[Case, str] | None:
    """The `case` of an argument loop and the parameter it looks at (`1`, or the variable of `getopts` or `for`), or
    None when the loop is none."""
    name = _looked_at(node)
    if name:
        for item, _ in node.body.items:
            for _, pipeline in item.items:
                for command in pipeline.commands:
                    if not isinstance(command, Case) or _plain_parameter(command.word) != name:
                        continue
                    if isinstance(node, While) or any(option_names(arm) for arm in command.arms):
                        return command, name
    return None


def _looked_at(node: While | For) -> str:
    if isinstance(node, For):
        words = node.words
        every = words is None or (len(words) == 1 and _plain_parameter(words[0]) == "@")
        return node.name if every else ""
    test = node.test.items[0][0].items[0][1].commands[0] if node.test.items else None
    if isinstance(test, Simple) and len(test.words) > 2 and literal_word(test.words[0]) == "getopts":
        return literal_word(test.words[2])
    return "1"


def _plain_parameter(word: Word) -> str:
    """The name of `$x`, `"$x"`, `${x}`; "" for other words."""
    parts = word.parts
    if len(parts) == 1 and isinstance(parts[0], DoubleQuoted):
        parts = parts[0].parts
    only = parts[0] if len(parts) == 1 else None
    return only.name if isinstance(only, Param) and not only.op and only.index is None else ""


def option_names(arm: CaseArm, *, letters: bool = False) -> list[tuple[str, Word]]:
    """The options an arm stands for, with their patterns; `letters` are those of `getopts`."""
    out: list[tuple[str, Word]] = []
    for pattern in arm.patterns:
        text = "".join(part.text for part in pattern.parts if isinstance(part, Lit))
        if letters and len(text) == 1 and text.isalnum():
            out.append(("-" + text, pattern))
        elif text.startswith("-") and len(text) > 1:
            out.append((text, pattern))
    return out


def option_loop(shell: Loops, node: While | For, case: Case, name: str) -> None:
    """Run an argument loop for arguments that nobody knows."""
    letters = isinstance(node, While) and name != "1"
    for arm in case.arms:
        names = option_names(arm, letters=letters)
        if names:
            option, pattern = max(names, key=lambda each: len(each[0]))
            _run_arm(shell, arm, option, pattern, name, letters=letters)
        elif not letters:
            _run_rest(shell, arm, name)
    if isinstance(node, While):
        shell.positional = []
    shell.open_arguments = True


def _run_arm(shell: Loops, arm: CaseArm, option: str, pattern: Word, parameter: str, *, letters: bool) -> None:
    name = option.rstrip("*").rstrip("=")
    hole = Hole(("option", shell.source.known_as, name), name, f"option {name}", shell.span(pattern))
    first: Parts = (*plain(name + "="), hole) if "=" in option else plain(name)
    if letters:
        shell.set_plain(parameter, plain(name[1:]))
        shell.set_plain("OPTARG", (hole,))
    elif parameter != "1":
        shell.set_plain(parameter, first)
    before = {each: variable.copy() for scope in (shell.globals, *shell.scopes) for each, variable in scope.items()}
    saved = shell.positional
    shell.positional = [first, (hole,)]
    _run(shell, arm)
    shell.positional = saved
    shell.open_arguments = True
    for scope in (shell.globals, *shell.scopes):
        for each, variable in list(scope.items()):
            old = before.get(each)
            if old is None or old.value != variable.value:
                _settle(shell.own(each, variable), old, hole, name)
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


def _run_rest(shell: Loops, arm: CaseArm, parameter: str) -> None:
    """The `*)` arm: what it keeps of unknown words may be any number of words."""
    if _only_control(arm):
        return
    hole = shell.arguments_hole(arm.patterns[0])
    if parameter != "1":
        shell.set_plain(parameter, (hole,))
    saved = shell.positional
    shell.positional = [(hole,)]
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
