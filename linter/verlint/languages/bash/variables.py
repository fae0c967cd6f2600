"""What names stand for: variables, arguments, special parameters, and what the environment may give."""

from __future__ import annotations

from verlint.languages.bash.arithmetic import ArithmeticFault, UnknownNumber, evaluate
from verlint.languages.bash.elastic import MANY, any_many, is_many, joined, unmarked
from verlint.languages.bash.pieces import (
    EMPTY,
    Parts,
    identity,
    known,
    only_hole,
    overridable,
    overriders,
    plain,
    with_hop,
)
from verlint.languages.bash.run import DiscardLine, Exit
from verlint.languages.bash.state import ShellState
from verlint.languages.bash.storage import Array, Variable
from verlint.languages.bash.syntax import Node
from verlint.lazy import pattern
from verlint.record import replace
from verlint.value import MAY_SET, Hole, Hop, Literal, Text, whole

_DYNAMIC = frozenset(
    ["RANDOM", "SRANDOM", "SECONDS", "EPOCHSECONDS", "EPOCHREALTIME", "HOSTNAME", "UID", "EUID", "PPID", "BASHPID",
     "OSTYPE", "HOSTTYPE", "MACHTYPE", "BASH_VERSION", "BASH", "SHLVL"]
)  # fmt: skip
"""Variables that bash sets itself, with values only the machine knows."""

SET_BY_BASH = _DYNAMIC | frozenset(
    ["PWD", "LINENO", "IFS", "OPTIND", "BASH_SOURCE", "FUNCNAME", "BASH_LINENO", "PIPESTATUS"]
)
"""Variables that have a value although the launcher gives them none."""

SETS_UP_TOOLS = pattern(
    r"(?:activate|\.bashrc|\.bash_profile|\.profile|\.zshrc|conda\.sh|mamba\.sh|nvm\.sh|set_env\.sh|setvars\.sh"
    r"|modules\.sh|/etc/profile|init/(?:ba)?sh|cargo/env)[\"']?$"
    r"|^[\"']?(?:\$\(|`)\s*\S*(?:conda|mamba|micromamba|ssh-agent|pyenv|direnv|modulecmd|brew)\b"
)
"""Files that are sourced, and commands whose output is evaluated, that set up tools and no variables of a launcher."""


_OF_THE_SYSTEM = ("/etc/", "/opt/", "/usr/")


class Variables(ShellState):
    """Looks up and assigns values."""

    __slots__ = ()

    def value_of(self, name: str, index: str | None, node: Node) -> Parts | None:
        """The value of a parameter, None when it is not set, a hole when it is not known."""
        if not (name[0].isalpha() or name[0] == "_"):
            return self._special(name, node)
        variable = self.lookup(name)
        if variable is None or variable.value is None:
            if index is not None and index[:1] == "-" and self._shells_array(name) is None:
                self.fault("arithmetic", f"{name}: bad array subscript", node)
            return self._unassigned(name, index, variable is None, node)
        value = variable.value
        if isinstance(value, Array):
            return self._element(value, index, node)
        if index is None:
            return value
        place = self.arithmetic(plain(index), node)
        if isinstance(place, Hole):
            return (place,)
        return value if place in (0, -1) else None

    def _element(self, array: Array, index: str | None, node: Node) -> Parts | None:
        if array.associative:
            if index == "":
                self.fault("arithmetic", "bad array subscript", node)
            return array.items.get("0" if index is None else index)
        place = 0 if index is None else self.arithmetic(plain(index), node)
        if isinstance(place, Hole):
            return (place,)
        if array.many:
            return self._element_among(array, place, node)
        if place < 0:
            place += array.next_index()
            if place < 0:
                self.fault("arithmetic", "bad array subscript", node)
                return None
        return array.items.get(place)

    def _element_among(self, array: Array, place: int, node: Node) -> Parts | None:
        """An element of an array with an unknown number of them: known where none of those stands before it."""
        values = array.values()
        before = values[: place + 1] if place >= 0 else values[place:]
        unknown = next((each for each in before if is_many(each)), None)
        if unknown is not None:
            return (self._some_word(unknown, place, node),)
        return values[place] if -len(values) <= place < len(values) else None

    def _some_word(self, among: Parts, place: int, node: Node) -> Hole:
        """One of an unknown number of words."""
        found = next((part for part in unmarked(among) if isinstance(part, Hole)), None)
        if found is None:
            return self.hole("word", "one of an unknown number of words", node)
        key = ("word", found.key, place)
        return Hole(key, found.name, f"word {place} of {found.name}", found.span, found.hops)

    def _argument_of_script(self, number: int, node: Node) -> Parts | None:
        if number == 0:
            return self.name
        unknown = next((each for each in self.positional[:number] if is_many(each)), None)
        if unknown is not None:
            return (self._some_word(unknown, number, node),)
        if number <= len(self.positional):
            return unmarked(self.positional[number - 1])
        if self.open_arguments:
            key = ("argument", self.source.known_as, number - len(self.positional))
            return (Hole(key, f"${number}", f"argument {number} of the caller", self.span(node)),)
        return None

    def _special(self, name: str, node: Node) -> Parts | None:
        if name.isdigit():
            number = whole(name)
            return None if number is None else self._argument_of_script(number, node)
        if name == "@":
            return joined(self.list_values("@", node), " ")
        if name == "*":
            return joined(self.list_values("*", node), self.separators()[:1])
        if name == "#":
            if self.open_arguments:
                return (Hole(("arguments", self.source.known_as, "#"), "$#", "number of arguments", self.span(node)),)
            if any_many(self.positional):
                return (self.hole("$#", "number of arguments", node, ("count", tuple(map(identity, self.positional)))),)
            return plain(str(len(self.positional)))
        if name == "?":
            return plain(str(self.status)) if self.status is not None else (self.hole("$?", "exit status", node),)
        if name == "!":
            return self.last_background
        if name == "-":
            letters = "".join(each for each in "abefhkmnptuvxBCEHPT" if each in self.options or each in "hB")
            return plain(letters + self.mode)
        if name in self.run.embedded:
            return (self.run.embedded[name],)
        return (self.hole("$" + name, "process number", node),)

    def _unassigned(self, name: str, index: str | None, never: bool, node: Node) -> Parts | None:
        if name == "PWD" and never:
            return self.cwd
        shells = self._shells_array(name)
        if shells is not None:
            place = 0 if index is None else self.arithmetic(plain(index), node)
            if isinstance(place, Hole):
                return (place,)
            return shells[place] if -len(shells) <= place < len(shells) else None
        if name == "LINENO":
            return plain(str(self.source.position(self.here).line))
        if name == "IFS":
            return plain(" \t\n") if never else None
        if name == "OPTIND" and never:
            return plain("1")
        if name in _DYNAMIC:
            return (self.hole(name, f"{name} of the machine", node),)
        if never and index is None and self._from_outside(name):
            return (self.environment_hole(name, node),)
        return None

    def is_plain(self, name: str) -> bool:
        """Whether a name means a string without attributes."""
        variable = self.lookup(name)
        if variable is None or isinstance(variable.value, Array) or self._from_outside(name):
            return False
        return not (variable.exported or variable.integer or variable.case or variable.readonly or variable.reference)

    def attributes_of(self, name: str) -> str:
        """The letters of the attributes of a variable, as `${name@a}` gives them."""
        variable = self.lookup(name)
        if variable is None:
            return ""
        kind = "" if not isinstance(variable.value, Array) else "A" if variable.value.associative else "a"
        flags = (("i", variable.integer), ("r", variable.readonly), ("x", variable.exported))
        return kind + "".join(letter for letter, given in flags if given) + variable.case

    def _shells_array(self, name: str) -> list[Parts] | None:
        """The elements of an array that bash keeps itself, None for other names."""
        if name == "BASH_SOURCE":
            return self.sources[::-1]
        if name == "FUNCNAME":
            names = [] if set(self.function_names) <= {"source"} else [*self.function_names[::-1], "main"]
            return [plain(each) for each in names]
        if name == "DIRSTACK":
            return [self.cwd, *self.directories[::-1]]
        if name == "BASH_LINENO":
            return [plain(str(each)) for each in (*self.call_lines[::-1], 0)]
        if name == "PIPESTATUS":
            node = Node(self.here, self.here)
            return [
                (self.hole("$?", "exit status", node),) if each is None else plain(str(each))
                for each in self.pipe_status
            ]
        return None

    def _from_outside(self, name: str) -> bool:
        """Whether a name nobody assigned may have a value all the same: it is in upper case, so that the environment
        may give it, in an open world, or something that cannot be read may have set any name."""
        outside = not self.bare and (not self.run.closed or bool(self.elsewhere))
        return bool(self.strangers) or (name.upper() == name and outside)

    def set_by_strangers(self, what: str) -> None:
        """From here on any name may be set: by a sourced file that is not here, a text that nobody knows."""
        if what and not SETS_UP_TOOLS.search(what):
            self.strangers = what

    def replaced_by_strangers(self, what: str, command: str, node: Node) -> None:
        """What the launcher has set so far may be replaced by a command that nobody can follow, `source FILE`: it is
        marked so. Files of the system set up tools, and others set strings, not arrays."""
        if self.run.closed or not what or SETS_UP_TOOLS.search(what) or what.startswith(_OF_THE_SYSTEM):
            return
        hop = Hop(self.span(node), command + MAY_SET)
        for scope in (self.globals, *self.scopes):
            for name, variable in list(scope.items()):
                value = variable.value
                if (
                    value
                    and not isinstance(value, Array)
                    and not variable.readonly
                    and command not in overriders(value)
                ):
                    self.own(name, variable).value = with_hop(overridable(value, command), hop)
        self.changed()

    def environment_hole(self, name: str, node: Node) -> Hole:
        """The value that the caller's environment may give a name; the same hole at every use."""
        if self.elsewhere:
            return Hole(("elsewhere", self.elsewhere, name), name, f"environment of {self.elsewhere}", self.span(node))
        found = self.run.environment.get(name)
        if found is None:
            named = not self.strangers or (not self.run.closed and name.upper() == name)
            reason = "environment variable" if named else f"set by {self.strangers}, if at all"
            found = Hole(("env", name), name, reason, self.span(node))
            self.run.environment[name] = found
        return found

    # ---- lists

    def list_values(self, name: str, node: Node) -> list[Parts]:
        """The elements of an array, or the arguments for `@` and `*`."""
        if name in ("@", "*"):
            rest = [(self.arguments_hole(node),)] if self.open_arguments else []
            return [*self.positional, *rest]
        variable = self.lookup(name)
        if variable is None or variable.value is None:
            shells = self._shells_array(name)
            if shells is not None:
                return shells
            if variable is None and self._from_outside(name):
                return [(self.environment_hole(name, node),)]
            return []
        return variable.value.values() if isinstance(variable.value, Array) else [variable.value]

    def arguments_hole(self, node: Node) -> Hole:
        """Whatever further arguments the user may pass."""
        return Hole(("arguments", self.source.known_as), "$@", "arguments of the caller", self.span(node))

    def _array_keys(self, name: str) -> list[Parts]:
        variable = self.lookup(name)
        if variable is None or variable.value is None:
            return []
        if isinstance(variable.value, Array):
            if variable.value.many:
                return [(Hole((MANY, ("keys", self.run.unique())), f"!{name}[@]", "places in an array"),)]
            return [plain(str(key)) for key in variable.value.ordered_keys()]
        return [plain("0")]

    def separators(self) -> str:
        """The value of IFS."""
        variable = self.lookup("IFS")
        if variable is None or variable.value is None or isinstance(variable.value, Array):
            return " \t\n"
        text = known(variable.value)
        return " \t\n" if text is None else text

    # ---- assignment of strings

    def assign_value(self, name: str, index: str | None, value: Parts, *, append: bool = False) -> None:
        """Give a variable (or an element) a string."""
        variable = self.ensure(name)
        if variable.readonly:
            self.check_writable(name, variable)
        self.run.spend(value)
        if "a" in self.options:
            variable.exported = True
        if variable.exported:
            self.changed()
        if index is not None or isinstance(variable.value, Array):
            self._assign_element(variable, name, index, value, append)
        else:
            variable.value = self.joined(variable, variable.value or EMPTY, value, append)

    def joined(self, variable: Variable, old: Parts, value: Parts, append: bool) -> Parts:
        """What a variable (or its element) becomes: with `declare -i` a number, with `-u` and `-l` in one case."""
        if variable.integer:
            total = (*old, Literal("+("), *value, Literal(")")) if append and old else value
            result = self.arithmetic(total, Node(self.here, self.here))
            return (result,) if isinstance(result, Hole) else plain(str(result))
        if variable.case:
            change = str.upper if variable.case == "u" else str.lower
            value = tuple(
                replace(part, text=change(part.text)) if isinstance(part, Literal) else part for part in value
            )
        return (*old, *value) if append else value

    def _assign_element(self, variable: Variable, name: str, index: str | None, value: Parts, append: bool) -> None:
        if not isinstance(variable.value, Array):
            variable.value = Array({} if variable.value is None else {0: variable.value})
        array = variable.value
        key: int | str
        if array.associative:
            key = "0" if index is None else index
            if not key:
                self.fault("arithmetic", f"{name}[]: bad array subscript", Node(self.here, self.here))
                raise DiscardLine
        else:
            place = 0 if index is None else self.arithmetic(plain(index), Node(self.here, self.here))
            if isinstance(place, Hole):
                array.put(array.next_index(), value)
                return
            key = place + array.next_index() if place < 0 else place
            if key < 0:
                self.fault("arithmetic", f"{name}[{index}]: bad array subscript", Node(self.here, self.here))
                raise DiscardLine
        array.put(key, self.joined(variable, array.items.get(key, EMPTY), value, append))

    # ---- arithmetic

    def arithmetic(self, text: Parts, node: Node) -> int | Hole:
        """The value of an arithmetic expression; raises DiscardLine when bash rejects it."""
        hole = only_hole(text)
        if hole is not None:
            return hole
        flat_text = known(text)
        if flat_text is None:
            return self.hole(Text(text).shown, "arithmetic with an unknown", node, ("arith", Text(text).identity()))
        try:
            return evaluate(flat_text, _Numbers(self))
        except UnknownNumber:
            return self.hole(
                f"$(({flat_text.strip()}))", "arithmetic with an unknown", node, ("arith", flat_text.strip())
            )
        except ArithmeticFault as error:
            self.note("arithmetic", str(error), node)
            raise DiscardLine from None


class _Numbers:
    """Variables as arithmetic sees them."""

    def __init__(self, shell: Variables) -> None:
        self.shell = shell

    def has_names(self, name: str) -> bool:
        variable = self.shell.lookup(name)
        return variable is not None and isinstance(variable.value, Array) and variable.value.associative

    def number_text(self, name: str, index: str | None) -> str:
        node = Node(self.shell.here, self.shell.here)
        value = self.shell.value_of(name, index, node)
        if value is None:
            variable = self.shell.lookup(name)
            if "u" not in self.shell.options or (variable is not None and variable.value is not None):
                return ""
            self.shell.note("unset", name, node)
            if self.shell.run.closed or variable is not None:
                raise Exit(1)
            raise UnknownNumber
        text = known(value)
        if text is None:
            raise UnknownNumber
        return text

    def assign_number(self, name: str, index: str | None, value: int) -> None:
        self.shell.assign_value(name, index, plain(str(value)))
