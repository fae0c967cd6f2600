"""Proof that a loop never ends: nothing in it can leave it, and what its condition rests on never changes."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping

from verlint.languages.bash.options import option_case
from verlint.languages.bash.pieces import Parts
from verlint.languages.bash.syntax import (
    AndOr,
    ArithCommand,
    Assign,
    BinaryTest,
    CommandSub,
    DoubleQuoted,
    For,
    ForArith,
    FunctionDef,
    Group,
    Node,
    Param,
    Pipeline,
    ProcessSub,
    Program,
    Sequence,
    Simple,
    Subshell,
    UnaryTest,
    While,
    Word,
)
from verlint.languages.bash.walk import children, literal_word, walk
from verlint.lazy import pattern
from verlint.source import Source
from verlint.value import whole

_LEAVES = frozenset(
    ["exit", "return", "exec", "logout", "source", ".", "eval", "trap", "kill", "pkill", "killall", "scancel",
     "shutdown", "reboot", "poweroff", "halt", "suspend", "enable"]
)  # fmt: skip
"""What ends the shell, or runs a text that may."""
_SETS = frozenset(
    ["read", "mapfile", "readarray", "getopts", "printf", "let", "unset", "declare", "typeset", "local", "export",
     "readonly", "set", "shift", "wait", "cd", "pushd", "popd"]
)  # fmt: skip
"""What sets variables by a name that stands in its arguments."""
_BUILTINS = frozenset(
    [*_SETS, ":", "true", "false", "echo", "test", "[", "break", "continue", "shopt", "umask", "hash", "type",
     "command", "builtin", "alias", "times", "jobs", "dirs", "let", "ulimit", "bg", "fg", "history"]
)  # fmt: skip
_OF_OTHERS = frozenset(
    ["RANDOM", "SRANDOM", "SECONDS", "EPOCHSECONDS", "EPOCHREALTIME", "LINENO", "BASHPID", "!", "?", "#", "@", "*", "_",
     "PWD", "OLDPWD", "REPLY", "MAPFILE", "BASH_REMATCH", "PIPESTATUS", "OPTARG", "OPTIND", "DIRSTACK", "COLUMNS",
     "LINES"]
)  # fmt: skip
"""Variables that change by themselves or by other commands than assignments, and the arguments."""
_DEEP = 99
_CHANGES_FROM_AFAR = pattern(r"\btrap\b|\b(?:declare|local|typeset)\s+-\w*n")
_NAMES = pattern(r"[A-Za-z_]\w*")
_SET_BY = pattern(
    r"\b([A-Za-z_]\w*+)\s*+(?:\[[^\]]{0,200}\]\s*+)?(?:[-+*/%&|^]|<<|>>)?=(?!=)|(?:\+\+|--)\s*([A-Za-z_]\w*)"
)
_SET_AFTER = pattern(r"\b([A-Za-z_]\w*+)\s*+(?:\+\+|--)")

Functions = Mapping[str, tuple[object, Source, Parts]]
"""Functions by name: the body, the text it stands in, and that text's name for the shell."""


def proof(node: While | ForArith, source: Source, functions: Functions, *, same_state: bool) -> str:
    """Why a loop never ends: "constant" (its condition holds whatever happens), "unchanged" (nothing in it changes
    what the condition looks at), "" when that is not proved.

    `same_state` says that one turn has changed nothing the shell knows. Argument loops are left out: their end is
    the end of the arguments."""
    if isinstance(node, While) and option_case(node) is not None:
        return ""
    if "coproc" in source.text:
        return ""
    nodes = list(_inside(node, functions))
    if any(_leaves(each, depth, apart) or _is_foreign(each, source, functions) for each, depth, apart in nodes):
        return ""
    names = names_looked_at(node.test, source.text)
    if not _is_inner(node.test) or any(name in _OF_OTHERS or name.isdigit() for name in names):
        return ""
    if not names:
        return "constant"
    inner = [each for each, _, _ in nodes]
    if _CHANGES_FROM_AFAR.search(source.text) is not None or any(
        isinstance(each, (CommandSub, ProcessSub)) for each in inner
    ):
        return ""
    return "unchanged" if same_state or not _changes(inner, names, source.text) else ""


def waits_or_works(node: While | ForArith, functions: Functions) -> bool:
    """Whether a loop starts a program, or waits for something, in any of its turns."""
    return any(
        isinstance(each, Simple) and each.words and _name(each) not in _BUILTINS - {"read", "wait"}
        for each, _, _ in _inside(node, functions)
    )


def counts(node: While | ForArith, text: str) -> bool:
    """Whether the condition compares a number, as that of a loop which is meant to end does."""
    if isinstance(node, ForArith):
        return True
    written = text[node.test.start : node.test.end]
    return any(f" {op} " in written for op in ("-lt", "-le", "-gt", "-ge", "<", "<=", ">", ">="))


def calls_itself(name: str, source: Source, functions: Functions) -> bool:
    """Whether a function reaches itself again on every way through it."""
    waiting, seen = [name], set[str]()
    while waiting:
        body, place, _ = functions.get(waiting.pop(), (None, source, ()))
        if not isinstance(body, Group) or place is not source:
            continue
        for each in _certain(body.body):
            if (called := _name(each)) == name:
                return True
            if called in functions and called not in seen:
                seen.add(called)
                waiting.append(called)
    return False


def is_certain(program: Program, start: int) -> bool:
    """Whether a text gets to the command that starts at an offset whatever happens before it."""
    return any(each.start == start for group in program.groups for each in _certain(group)) and not any(
        _leaves(each, 0, False)
        for group in program.groups
        if group.start < start
        for each in walk(group)
        if each.start < start
    )


def _certain(body: Sequence) -> Iterator[Simple]:
    """The commands that run whatever happens, up to one that may end the list."""
    for item, background in body.items:
        commands = item.items[0][1].commands
        if background or len(commands) > 1:
            continue
        if isinstance(commands[0], Simple):
            yield commands[0]
        if any(_leaves(each, 0, False) for each in walk(item)):
            return


def functions_of(program: Program, source: Source) -> Functions:
    """The functions that a text defines."""
    return {node.name: (node.body, source, ()) for node in program.nodes if isinstance(node, FunctionDef)}


def never_reached(program: Program, start: int) -> tuple[list[Simple], bool]:
    """The commands that are not reached when the command that starts at an offset does not come to its end, and whether
    the text gets to that command whatever happens before it. Bodies of functions are left out."""
    always = True
    groups: list[Node] = list(program.groups)
    number = next((at for at, group in enumerate(groups) if group.start <= start < group.end), len(groups))
    behind = groups[number + 1 :]
    node: Node = groups[number] if number < len(groups) else Node(start, start)
    while True:
        below = list(children(node))
        at = next((at for at, each in enumerate(below) if each.start <= start < each.end), None)
        if at is None:
            break
        if isinstance(node, (Sequence, AndOr)):
            behind = below[at + 1 :] + behind
            always = always and (isinstance(node, Sequence) or at == 0)
        elif not isinstance(node, (Group, Pipeline)):
            always = False
        if below[at].start == start and not isinstance(below[at], (Sequence, AndOr, Pipeline)):
            break
        node = below[at]
    found = [each for item in behind for each in _outside_functions(item)]
    return found, always


def _outside_functions(node: Node) -> Iterator[Simple]:
    waiting = [node]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Simple):
            yield node
        if not isinstance(node, FunctionDef):
            waiting += reversed(children(node))


# ---- what is in a loop


def _inside(node: While | ForArith, functions: Functions) -> Iterator[tuple[Node, int, bool]]:
    """The nodes that run in a loop, its condition included: each with the number of loops around it inside this one,
    and whether it runs in a shell of its own. The bodies of called functions count as deep inside."""
    again = [each for each in children(node) if not (isinstance(node, ForArith) and each is node.first)]
    waiting: list[tuple[Node, int, bool]] = [(each, 0, False) for each in reversed(again)]
    followed: set[str] = set()
    while waiting:
        each, depth, apart = waiting.pop()
        if isinstance(each, FunctionDef):
            continue
        yield each, depth, apart
        if isinstance(each, Simple) and (called := functions.get(_name(each))) and _name(each) not in followed:
            followed.add(_name(each))
            body = called[0]
            if isinstance(body, Node):
                waiting.append((body, _DEEP, apart))
        inner = depth + isinstance(each, (While, For, ForArith))
        apart = apart or isinstance(each, (Subshell, CommandSub, ProcessSub))
        waiting += [(below, inner, apart) for below in reversed(children(each))]


def _leaves(node: Node, depth: int, apart: bool) -> bool:
    """Whether a node can end the loop, or the script around it."""
    if isinstance(node, Param) and node.op in ("?", ":?"):
        return not apart
    if not isinstance(node, Simple) or not node.words:
        return False
    words = [literal_word(word) for word in node.words]
    while words[0] in ("command", "builtin") and len(words) > 1:
        words.pop(0)
    name = words[0]
    if name in ("kill", "pkill", "killall", "scancel"):
        return True
    if not name:  # whatever it stands for
        return True
    if apart:
        return False
    if name == "exec":
        return len(words) > 1
    if name in ("break", "continue"):
        levels = 1 if len(words) == 1 else whole(words[1]) or 99
        return levels > depth + (name == "continue")
    return name in _LEAVES and not (name == "return" and depth >= _DEEP)


def _is_foreign(node: Node, source: Source, functions: Functions) -> bool:
    """Whether a node calls a function that stands in another file."""
    called = functions.get(_name(node)) if isinstance(node, Simple) else None
    return called is not None and called[1] is not source


def _name(command: Simple) -> str:
    return literal_word(command.words[0]) if command.words else ""


# ---- its condition


def _is_inner(test: Node) -> bool:
    """Whether a condition looks at nothing but variables of the shell."""
    for each in walk(test):
        if isinstance(each, (CommandSub, ProcessSub)):
            return False
        if isinstance(each, UnaryTest) and each.op not in ("-n", "-z", "-v"):
            return False
        if isinstance(each, BinaryTest) and each.op in ("-nt", "-ot", "-ef"):
            return False
        if isinstance(each, Simple):
            words = [literal_word(word) for word in each.words]
            if words and words[0] not in (":", "true", "false", "[", "test"):
                return False
            files = [
                word for word in words[1:] if len(word) == 2 and word[0] == "-" and word[1] in "abcdefghkprstuwxGLNOS"
            ]
            if files or any(word in ("-nt", "-ot", "-ef") for word in words):
                return False
    return True


def names_looked_at(test: Node, text: str) -> tuple[str, ...]:
    """The names of the variables that a condition rests on, as they come in it."""
    return tuple(dict.fromkeys(_looked_at(test, text)))


def _looked_at(test: Node, text: str) -> Iterator[str]:
    for each in walk(test):
        if isinstance(each, Param):
            yield each.name
        elif isinstance(each, ArithCommand):
            yield from _NAMES.findall(text[each.start : each.end])
        elif isinstance(each, BinaryTest) and each.op.startswith("-"):
            for word in (each.left, each.right):
                yield from _NAMES.findall(literal_word(word))
        elif isinstance(each, UnaryTest) and each.op == "-v":
            yield from _NAMES.findall(literal_word(each.word))
    if isinstance(test, Word):  # of `for ((…))`
        yield from _NAMES.findall(text[test.start : test.end])


def _changes(nodes: list[Node], names: Container[str], text: str) -> bool:
    """Whether anything in a loop may set one of these variables."""
    for each in nodes:
        if isinstance(each, Assign) and each.name in names:
            return True
        if isinstance(each, For) and each.name in names:
            return True
        if isinstance(each, Param) and each.op in ("=", ":=") and each.name in names:
            return True
        if isinstance(each, Simple) and _name(each) in _SETS:
            written = text[each.start : each.end]
            if any(name in names for name in _NAMES.findall(written)) or "$" in written:
                return True
    written = " ".join(text[each.start : each.end] for each in nodes if not isinstance(each, (AndOr, DoubleQuoted)))
    found = {name for pair in _SET_BY.findall(written) for name in pair} | set(_SET_AFTER.findall(written))
    return any(name in names for name in found)
