"""Commands that the shell runs itself."""

from __future__ import annotations

from collections.abc import Callable

from verlint.languages.bash.control import Control
from verlint.languages.bash.pieces import Parts, flat, join, known
from verlint.languages.bash.printing import Argument
from verlint.languages.bash.syntax import Simple
from verlint.value import Literal, Text

_QUIET = frozenset(
    ["ulimit", "umask", "alias", "unalias", "kill", "bg", "fg", "disown", "times", "caller", "enable", "help",
     "history", "bind", "compgen", "complete", "compopt", "suspend", "logout"]
)  # fmt: skip
"""Builtins that change nothing a launcher's commands see."""


_METHODS = {
    **dict.fromkeys(_QUIET, "_succeed"),
    "echo": "_echo", "printf": "_printf", "cd": "_cd", "pwd": "_pwd", "export": "_export", "declare": "_declare",
    "typeset": "_declare", "local": "_local", "readonly": "_readonly", "unset": "_unset", "read": "_read",
    "shift": "_shift", "set": "_set", "shopt": "_shopt", "source": "_source", ".": "_source", "eval": "_eval",
    "exec": "_exec", "exit": "_exit", "return": "_return", "break": "_break", "continue": "_continue",
    "test": "_test_builtin", "[": "_test_builtin", "true": "_succeed", ":": "_succeed", "false": "_fail",
    "trap": "_trap", "let": "_let", "mapfile": "_mapfile", "readarray": "_mapfile", "getopts": "_getopts",
    "command": "_command", "builtin": "_builtin", "type": "_type", "pushd": "_pushd", "popd": "_popd", "dirs": "_dirs",
    "hash": "_hash", "jobs": "_jobs",
    "wait": "_wait",
}  # fmt: skip
"""Builtins and the methods that run them."""


class Builtins(Control):
    """Runs builtins. Each method takes the expanded words, the name included, and sets `status`."""

    __slots__ = ()

    def builtin(self, name: str) -> Callable[[list[Argument], Simple], None] | None:
        """The method that runs a builtin, or None when the name is no builtin."""
        method = _METHODS.get(name)
        return None if method is None else getattr(self, method)

    def _succeed(self, words: list[Argument], simple: Simple) -> None:
        self.status = 0

    def _jobs(self, words: list[Argument], simple: Simple) -> None:
        self.status = 0
        self.write((self.hole("$(jobs)", "jobs in the background", simple),))

    def _fail(self, words: list[Argument], simple: Simple) -> None:
        self.status = 1

    # ---- directories

    def _cd(self, words: list[Argument], simple: Simple) -> None:
        rest = [each for each in self.plain_words(words)[1:] if known(each) not in ("-P", "-L", "-e", "--")]
        back = bool(rest) and known(rest[0]) == "-"
        target = self.value_of("OLDPWD" if back else "HOME", None, simple) if back or not rest else rest[0]
        if len(rest) > 1 or target is None or self.lacks_folder(target):
            self.status = 1
            return
        self.set_plain("OLDPWD", self.cwd)
        self.cwd = self._seen_in_tree(target, simple)
        if back:
            self.write((*self.cwd, Literal("\n")))
        self.status = 0

    def _seen_in_tree(self, target: Parts, simple: Simple) -> Parts:
        """The folder that `cd` goes to; for the reader of a document one of the tree, where it lies in a clone of the
        document's own repository, or is the document's folder wherever that is on his machine."""
        folder = self.absolute(target)
        home = self.run.home
        if home is None:
            return folder
        from verlint.languages.bash.clones import in_own_clone

        found = in_own_clone(folder, home, self.run.events)
        if found is None and self._is_home(target, folder, home.name):
            found = self.run.start
        if found is None:
            return folder
        self.note("home", "", simple)
        return found

    def _is_home(self, target: Parts, folder: Parts, name: str) -> bool:
        """Whether a folder that is not of the tree has the name of the one that the document lies in."""
        if not flat(target).rstrip("/").endswith(name):
            return False
        located = self.locate(folder)
        return flat(folder).rpartition("/")[2] == name and (located is None or not self.is_folder(located))

    def _pushd(self, words: list[Argument], simple: Simple) -> None:
        before = self.cwd
        if len(words) == 1 and self.directories:  # the two on top change places
            words = [*words, Text(self.directories[-1])]
            self.directories = self.directories[:-1]
        elif len(words) == 1:
            self.status = 1
            return
        self._cd(words, simple)
        if self.status == 0:
            self.directories = [*self.directories, before]
            self._dirs(words[:1], simple)

    def _popd(self, words: list[Argument], simple: Simple) -> None:
        self.status = 0 if self.directories else 1
        if self.directories:
            self.set_plain("OLDPWD", self.cwd)
            *self.directories, self.cwd = self.directories
            self._dirs(words[:1], simple)

    def _dirs(self, words: list[Argument], simple: Simple) -> None:
        """The stack of folders as it is printed: those of the caller's home begin with `~`, which nobody knows here."""
        self.status = 0
        if flat(join(self.plain_words(words), " ")) == "dirs -c":
            self.directories = []
        else:
            self.write((self.hole("$(dirs)", "stack of folders", simple), Literal("\n")))

    def _pwd(self, words: list[Argument], simple: Simple) -> None:
        self.write((*self.cwd, Literal("\n")))
        self.status = 0
