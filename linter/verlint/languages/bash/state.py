"""What a shell knows while it runs: variables, options, places, and what it writes down."""

from __future__ import annotations

import posixpath
from collections.abc import Hashable, Iterable, Mapping

from verlint.languages.bash.command import Call, Command, Guard, Surroundings
from verlint.languages.bash.pieces import EMPTY, Parts, flat, identity, known
from verlint.languages.bash.places import climbs_out, inside
from verlint.languages.bash.places import normalise as normalise
from verlint.languages.bash.run import MAX_ALTERNATIVES, MAX_ASKED, Exit, ReadOnly, Run
from verlint.languages.bash.run import Event as Event
from verlint.languages.bash.run import Files as Files
from verlint.languages.bash.run import Note as Note
from verlint.languages.bash.storage import Array, Scope, Stream, Variable
from verlint.languages.bash.syntax import Node, Sequence
from verlint.source import Source, Span
from verlint.value import Hole, Literal, Text

_MAKE_NOTHING = frozenset(
    ["ls", "cat", "cp", "mv", "ln", "tee", "dirname", "basename", "realpath", "readlink", "mkdir", "touch", "rm",
     "rmdir", "seq", "wc"]
)  # fmt: skip
"""Programs that make no file, or whose files are known."""


_GIVEN = frozenset(["IFS", "OPTIND", "PWD"])
"""Variables that have a value although nobody gave them one, until they are unset."""


STATE = (
    "run", "source", "group", "name", "cwd", "globals", "scopes", "shared", "positional", "open_arguments", "functions",
    "options", "shell_options", "status", "output", "mode", "errors", "input", "descriptors", "files_of", "unchecked",
    "loops", "guards", "stack", "sources", "function_names", "call_lines", "exported_functions", "traps", "here",
    "background", "unattended", "substituting", "substitutions", "last_background", "jobs", "pipe_place", "pipe_status",
    "directories", "strangers", "elsewhere", "local_options", "withheld", "bare", "option_offset",
    "_environment_cache", "_around", "_around_options",
)  # fmt: skip
"""What a shell knows. There are more names than Python finds quickly in an object without slots."""


class ShellState:
    """The state of one shell process (or subshell). `group` are the lines of the text that are run now, `pipe_place` is
    the number of the command in its pipeline and how many there are."""

    __slots__ = STATE

    def __init__(self, run: Run, source: Source, name: Parts, cwd: Parts) -> None:
        self.run = run
        self.source = source
        self.group: Sequence | None = None
        self.name = name
        self.cwd = cwd
        self.globals: Scope = {}
        self.scopes: list[Scope] = []
        self.shared: frozenset[int] = frozenset()
        self.positional: list[Parts] = []
        self.open_arguments = False
        self.functions: dict[str, tuple[object, Source, Parts]] = {}
        self.options: set[str] = set()
        self.shell_options: set[str] = set()
        self.status: int | None = 0
        self.output: list[Parts] | None = None
        self.mode = ""
        self.errors: list[Parts] | None = None
        self.input: Stream | None = None
        self.descriptors: dict[str, Stream] = {}
        self.files_of: dict[str, str] = {}
        self.unchecked = 0
        self.loops = 0
        self.guards: tuple[Guard, ...] = ()
        self.stack: tuple[Call, ...] = ()
        self.sources: list[Parts] = [name]
        self.function_names: list[str] = []
        self.call_lines: list[int] = []
        self.exported_functions: set[str] = set()
        self.traps: dict[str, Parts] = {}
        self.here = 0
        self.background = False
        self.unattended = False
        self.substituting = False
        self.elsewhere = ""
        self.substitutions = 0
        self.last_background: Parts = EMPTY
        self.jobs: dict[Hashable, int | None] = {}
        self.pipe_place = (0, 1)
        self.pipe_status: tuple[int | None, ...] = ()
        self.directories: list[Parts] = []
        self.strangers = ""
        self.local_options: dict[int, set[str]] = {}
        self.withheld: frozenset[str] = frozenset()
        self.bare = False
        self.option_offset = 1
        self._environment_cache: Mapping[str, Text] | None = None
        self._around: Surroundings | None = None
        self._around_options: set[str] = set()

    # ---- places and records

    def span(self, node: Node) -> Span:
        """The place of a node of the text being run."""
        return Span(self.source, node.start, node.end)

    def hole(self, name: str, reason: str, node: Node | None = None, key: Hashable | None = None) -> Hole:
        """An unknown; without a key it equals no other."""
        identity = ("unique", self.run.unique()) if key is None else key
        return Hole(identity, name, reason, None if node is None else self.span(node))

    def note(self, kind: str, text: str, node: Node) -> None:
        """Put something on record that rules may want to speak of."""
        self.run.notes.append(Note(kind, text, self.span(node), self.stack, self.guards))

    def surroundings(self) -> Surroundings:
        """What holds around a command at this moment; the same object as long as nothing changes."""
        options, environment, last = self.options, self.exported(), self._around
        if (
            last is not None
            and last.environment is environment
            and last.guards is self.guards
            and last.stack is self.stack
            and last.cwd.parts is self.cwd
            and options == self._around_options
            and last.background == self.background
            and last.substitution == self.substituting
            and last.elsewhere == self.elsewhere
        ):
            return last
        self._around_options = options.copy()
        self._around = around = Surroundings(
            Text(self.cwd),
            environment,
            self.guards,
            self.stack,
            "x" in options,
            "e" in options,
            "u" in options,
            "pipefail" in options,
            self.background,
            self.substituting,
            self.elsewhere,
        )
        return around

    def exported(self) -> Mapping[str, Text]:
        """The environment that a command would get, without what `env` keeps from it (`withheld`)."""
        if self._environment_cache is None:
            found: dict[str, Text] = {}
            for scope in (self.globals, *self.scopes):
                for name, variable in scope.items():
                    if variable.exported and variable.value is not None and not isinstance(variable.value, Array):
                        found[name] = Text(variable.value)
            for name in self.withheld:
                found.pop(name, None)
            self._environment_cache = found
            self.run.copy(len(self.globals))
        return self._environment_cache

    def decide(self, key: Hashable, text: str, node: Node, *, first: bool = True, remember: bool = True) -> bool:
        """An answer to a condition nobody can decide here: as prescribed for this path, else `first`; the other is
        queued."""
        run = self.run
        if remember and key in run.answers:
            run.consulted.append(Guard(text, self.span(node), run.answers[key]))
            return run.answers[key]
        place = (id(self.source), node.start, key if remember else None)
        run.asked[place] = run.asked.get(place, 0) + 1
        if run.asked[place] > MAX_ASKED:
            return first
        number = len(run.taken)
        if number < len(run.choices):
            answer = run.choices[number]
        else:
            answer = first
            if len(run.alternatives) < MAX_ALTERNATIVES:
                run.alternatives.append((*run.taken, not answer))
        run.taken.append(answer)
        guard = Guard(text, self.span(node), answer)
        run.conditions.append(guard)
        run.consulted.append(guard)
        if remember:
            run.answers[key] = answer
        return answer

    def arguments(self, given: Iterable[Parts]) -> tuple[list[Parts], bool]:
        """Arguments that a script or function gets, and whether the caller's unknown ones follow them."""
        values = list(given)
        last = values[-1] if values else EMPTY
        only = last[0] if len(last) == 1 else None
        if isinstance(only, Hole) and only.name == "$@" and isinstance(only.key, tuple) and only.key[0] == "arguments":
            return values[:-1], True
        return values, False

    # ---- variables

    def lookup(self, name: str) -> Variable | None:
        """The variable that a name means here, None when there is none."""
        if self.scopes:
            for scope in reversed(self.scopes):
                if name in scope:
                    return self._follow(scope[name])
        variable = self.globals.get(name)
        return variable if variable is None or not variable.reference else self._follow(variable)

    def reference_of(self, name: str) -> str | None:
        """The name that a `declare -n` variable refers to, None for other variables."""
        for scope in (*reversed(self.scopes), self.globals):
            if name in scope:
                variable = scope[name]
                value = variable.value
                return known(value) if variable.reference and isinstance(value, tuple) else None
        return None

    def refer(self, name: str, target: Parts, *, local: bool) -> None:
        """Make a name refer to another one (`declare -n`)."""
        scope = self.scopes[-1] if local and self.scopes else self.globals
        scope[name] = Variable(target, exported="a" in self.options, reference=True)
        self.changed()

    def refer_again(self, name: str, target: Parts) -> bool:
        """Let a reference refer to something else; False when the name is no reference."""
        for scope in (*reversed(self.scopes), self.globals):
            if name in scope:
                if scope[name].reference:
                    scope[name] = Variable(target, reference=True)
                return scope[name].reference
        return False

    def _follow(self, variable: Variable) -> Variable:
        if variable.reference and not isinstance(variable.value, Array) and variable.value:
            target = known(variable.value)
            if target and target.isidentifier():
                for scope in (*reversed(self.scopes), self.globals):
                    found = scope.get(target)
                    if found is not None and found is not variable:
                        return found
                self.globals[target] = Variable()
                return self.globals[target]
        return variable

    def ensure(self, name: str) -> Variable:
        """The variable, to be changed; made in the global scope when there is none."""
        variable = self.lookup(name)
        if variable is None:
            variable = self.globals[name] = Variable()
            return variable
        return self.own(name, variable) if id(variable) in self.shared else variable

    def own(self, name: str, variable: Variable) -> Variable:
        """A variable that is to be changed and that `name` means: where others have it too, a copy takes its place."""
        if id(variable) not in self.shared:
            return variable
        scopes = (*reversed(self.scopes), self.globals)
        scope = next((each for each in scopes if each.get(name) is variable), None)
        if scope is None:  # it was reached by reference
            scope, name = next((each, key) for each in scopes for key, found in each.items() if found is variable)
        scope[name] = variable.copy()
        return scope[name]

    def share(self) -> None:
        """Take all variables for those of others too, which get copies of the scopes."""
        self.shared = frozenset([id(each) for scope in (self.globals, *self.scopes) for each in scope.values()])

    def make_local(self, name: str) -> Variable:
        """The variable of the function that runs; a new one is exported when the one it hides is, and takes over the
        value that the call had before it."""
        scope = self.scopes[-1]
        if name not in scope:
            hidden = next((each[name] for each in (*reversed(self.scopes), self.globals) if name in each), None)
            if hidden is None:
                scope[name] = Variable()
            else:
                self.check_writable(name, hidden)
                scope[name] = Variable(hidden.value if hidden.temporary else None, exported=hidden.exported)
        return self.own(name, scope[name])

    def check_writable(self, name: str, variable: Variable) -> None:
        """Raise ReadOnly for a variable that may not be changed."""
        if variable.readonly:
            self.fault("readonly", f"{name}: readonly variable", Node(self.here, self.here))
            raise ReadOnly

    def fault(self, kind: str, text: str, node: Node) -> None:
        """Put an error on record with which bash ends at once under `set -e`, also where that is ignored otherwise."""
        self.note(kind, text, node)
        if "e" in self.options:
            raise Exit(1)

    def export(self, name: str) -> None:
        """Hand a variable on to programs from now on."""
        self.ensure(name).exported = True
        self.changed()

    def changed(self) -> None:
        """Forget what was derived from exported variables."""
        self._environment_cache = None

    def unset(self, name: str) -> None:
        """Remove a variable; what the environment gave is gone too."""
        self.changed()
        for scope in reversed(self.scopes):
            if name in scope:
                if scope is self.scopes[-1]:
                    scope[name] = Variable()
                else:  # the variable of a caller is gone, the one it hid is seen again
                    del scope[name]
                return
        self.globals.pop(name, None)
        if not self.run.closed or name in _GIVEN:
            self.globals[name] = Variable()

    def set_plain(self, name: str, value: Parts) -> None:
        """Give a variable a string, without provenance of its own."""
        self.changed()
        self.ensure(name).value = value

    # ---- paths

    def absolute(self, path: Parts) -> Parts:
        """A path seen from the working directory, with "." and ".." resolved where that is possible."""
        text = flat(path)
        if text.startswith("/") or (path and isinstance(path[0], Hole)):
            return normalise(path)
        if not text or text == ".":
            return self.cwd
        return normalise((*self.cwd, Literal("/"), *path))

    def locate(self, path: Parts) -> str | None:
        """The path below the root of the checkout, or None when it is not surely there. "" is the root."""
        full = self.absolute(path)
        if not full:
            return None
        first = full[0]
        if isinstance(first, Hole):
            if not (isinstance(first.key, tuple) and first.key[0] == "cwd"):
                return None
            rest = known(full[1:])
            if rest is None or (rest and not rest.startswith("/")):
                return None
            base = str(first.key[1])
            return inside(posixpath.normpath("/" + base + rest) if not climbs_out(base, rest) else None)
        text = known(full)
        if text is None or not self.run.mount:
            return None
        if text == self.run.mount:
            return ""
        return text[len(self.run.mount) + 1 :] if text.startswith(self.run.mount + "/") else None

    def place_outside(self, path: Parts) -> Hashable:
        """What tells files from each other that do not lie below the root: in `/tmp`, in a folder of the caller."""
        return identity(self.absolute(path))

    def write_outside(self, path: Parts, printed: Parts, *, append: bool = False) -> None:
        """Keep what is written into a file that does not lie below the root. What stood in it before is not known."""
        place = self.place_outside(path)
        if append and place not in self.run.outside:
            return
        old = self.run.outside.get(place, EMPTY) if append else EMPTY
        self.run.outside[place] = (*old, *printed)

    def is_folder(self, located: str) -> bool:
        """Whether a path below the root is a folder, on disk or made on this path."""
        run = self.run
        return located in run.made or (run.files.is_dir(located) and not (run.gone and self._is_gone(located)))

    def _is_gone(self, located: str) -> bool:
        """Whether what was on disk was removed on this path, itself or a folder above it."""
        parts = located.split("/")
        return any("/".join(parts[:count]) in self.run.gone for count in range(1, len(parts) + 1))

    def names_in(self, located: str) -> list[str]:
        """The names in a folder below the root, sorted: on disk or made on this path."""
        run = self.run
        start = f"{located}/" if located else ""
        names = run.files.listing(located)
        if run.gone:
            names = [each for each in names if not self._is_gone(start + each)]
        size = len(start)
        own = {
            each[size:].split("/")[0]
            for made in (run.written, run.made)
            for each in made
            if len(each) > size and each.startswith(start)
        }
        return sorted(own.union(names)) if own else names

    def is_there(self, located: str) -> bool:
        """Whether a path below the root is a file or folder, on disk or made on this path."""
        run = self.run
        if located in run.made or located in run.written:
            return True
        return run.files.exists(located) and not (run.gone and self._is_gone(located))

    def may_be_made(self, name: str) -> bool:
        """Whether a program that was given a name before may have made a file or folder of that name."""
        return any(_names(event, name) for event in self.run.events)

    def lacks_folder(self, path: Parts) -> bool:
        """Whether a folder is surely missing; in an open world anybody may have made it."""
        if not self.run.closed:
            return False
        located = self.locate(path)
        if located is None or self.is_folder(located):
            return False
        return not self.may_be_made(located.rpartition("/")[2])  # `git clone` and kin may have made it

    # ---- implemented further up

    def arithmetic(self, text: Parts, node: Node) -> int | Hole:
        """The value of an arithmetic expression; raises DiscardLine when bash rejects it."""
        raise NotImplementedError

    def subshell(self, body: Sequence, *, capture: bool, stdin: Stream | None = None) -> Parts:
        """Run commands in a copy of the shell; gives what they print when captured."""
        raise NotImplementedError

    def read_file(self, path: Parts) -> Parts | None:
        """The text of a file, if it is known."""
        raise NotImplementedError


def _names(event: Event, name: str) -> bool:
    """Whether a program was started with a name in one of its words."""
    return (
        isinstance(event, Command)
        and not event.builtin
        and not event.function
        and event.name not in _MAKE_NOTHING
        and any(name in (word.known or "") for word in event.words)
    )
