"""Commands that the shell runs itself."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import cast

from verlint.languages.bash.conditions import Conditions
from verlint.languages.bash.formatting import format_printf
from verlint.languages.bash.pieces import (
    EMPTY,
    MARK,
    Parts,
    cut,
    flat,
    has_hole,
    join,
    known,
    only_hole,
    plain,
    shown,
    with_hop,
)
from verlint.languages.bash.state import Array, Exit, LoopControl, Return, Stream, Variable
from verlint.languages.bash.syntax import ArrayLit, Assign, Simple
from verlint.languages.bash.words import unescape
from verlint.value import Hole, Hop, Literal, Text

Argument = Text | Assign

_LETTERS = {
    "errexit": "e", "nounset": "u", "noglob": "f", "xtrace": "x", "allexport": "a", "verbose": "v", "noexec": "n", "pipefail": "pipefail",
}  # fmt: skip
_QUIET = frozenset(
    ["ulimit", "umask", "alias", "unalias", "kill", "jobs", "bg", "fg", "disown", "times", "caller", "enable", "help", "history", "bind",
     "compgen", "complete", "compopt", "suspend", "logout", "hash", "wait"]
)  # fmt: skip

_METHODS = {
    **dict.fromkeys(_QUIET, "_succeed"),
    "echo": "_echo", "printf": "_printf", "cd": "_cd", "pwd": "_pwd", "export": "_export", "declare": "_declare",
    "typeset": "_declare", "local": "_local", "readonly": "_readonly", "unset": "_unset", "read": "_read",
    "shift": "_shift", "set": "_set", "shopt": "_shopt", "source": "_source", ".": "_source", "eval": "_eval",
    "exec": "_exec", "exit": "_exit", "return": "_return", "break": "_break", "continue": "_continue",
    "test": "_test_builtin", "[": "_test_builtin", "true": "_succeed", ":": "_succeed", "false": "_fail",
    "trap": "_trap", "let": "_let", "mapfile": "_mapfile", "readarray": "_mapfile", "getopts": "_getopts",
    "command": "_command", "builtin": "_builtin", "type": "_type", "pushd": "_pushd", "popd": "_popd",
    "dirs": "_succeed",
}  # fmt: skip
"""Builtins and the methods that run them."""


class Builtins(Conditions):
    """Runs builtins. Each method takes the expanded words, the name included, and sets `status`."""

    def builtin(self, name: str) -> Callable[[list[Argument], Simple], None] | None:
        """The method that runs a builtin, or None when the name is no builtin."""
        method = _METHODS.get(name)
        return None if method is None else cast("Callable[[list[Argument], Simple], None]", getattr(self, method))

    # ---- what is implemented further up

    def external(self, words: list[Text], simple: Simple) -> None:
        """Run a program."""
        raise NotImplementedError

    def run_text(self, text: Parts, simple: Simple) -> None:
        """Run a string as commands of this shell (`eval`)."""
        raise NotImplementedError

    def source_file(self, path: Parts, arguments: list[Parts], simple: Simple) -> None:
        """Run a file in this shell."""
        raise NotImplementedError

    def assign(self, assign: Assign, *, exported: bool | None = None) -> None:
        """Carry out an assignment."""
        raise NotImplementedError

    def record_assignment(self, name: str, assign: Assign | None, simple: Simple, *, exported: bool) -> None:
        """Put an assignment on record."""
        raise NotImplementedError

    # ---- plumbing

    def plain_words(self, words: list[Argument]) -> list[Parts]:
        """Arguments as strings; assignments among them as written."""
        return [word.parts if isinstance(word, Text) else plain(self.span(word).text) for word in words]

    def write(self, parts: Parts) -> None:
        """Print to the standard output, if that is captured."""
        if self.output is not None:
            self.output.append(parts)

    def _succeed(self, words: list[Argument], simple: Simple) -> None:
        self.status = 0

    def _fail(self, words: list[Argument], simple: Simple) -> None:
        self.status = 1

    # ---- output

    def _echo(self, words: list[Argument], simple: Simple) -> None:
        rest = self.plain_words(words)[1:]
        newline, escapes = True, False
        while rest and re.fullmatch(r"-[neE]+", flat(rest[0])):
            newline = newline and "n" not in flat(rest[0])
            escapes = escapes or "e" in flat(rest[0])
            rest = rest[1:]
        out = join(rest, " ")
        if escapes:
            out = tuple(Literal(unescape(part.text), part.span) if isinstance(part, Literal) else part for part in out)
        self.write((*out, Literal("\n")) if newline else out)
        self.status = 0

    def _printf(self, words: list[Argument], simple: Simple) -> None:
        rest = self.plain_words(words)[1:]
        target = None
        if len(rest) > 1 and known(rest[0]) == "-v":
            target = known(rest[1])
            rest = rest[2:]
        if rest and known(rest[0]) == "--":
            rest = rest[1:]
        if not rest:
            self.status = 2
            return
        out = format_printf(self, rest[0], rest[1:], simple)
        if target:
            self.assign_value(target, None, out)
        else:
            self.write(out)
        self.status = 0

    # ---- directories

    def _cd(self, words: list[Argument], simple: Simple) -> None:
        rest = [each for each in self.plain_words(words)[1:] if known(each) not in ("-P", "-L", "-e", "--")]
        target = rest[0] if rest else (self.value_of("HOME", None, simple) or EMPTY)
        if known(target) == "-":
            target = self.value_of("OLDPWD", None, simple) or self.cwd
        self.set_plain("OLDPWD", self.cwd)
        self.cwd = self.absolute(target)
        self.status = 0

    def _pushd(self, words: list[Argument], simple: Simple) -> None:
        self.directories.append(self.cwd)
        self._cd(words, simple)

    def _popd(self, words: list[Argument], simple: Simple) -> None:
        if self.directories:
            self.cwd = self.directories.pop()
        self.status = 0

    def _pwd(self, words: list[Argument], simple: Simple) -> None:
        self.write((*self.cwd, Literal("\n")))
        self.status = 0

    # ---- variables

    def _flags(self, words: list[Argument]) -> tuple[str, list[Argument]]:
        flags, rest = "", words[1:]
        while rest and isinstance(rest[0], Text):
            text = rest[0].known
            if text is None or not re.fullmatch(r"[-+][A-Za-z]+", text):
                break
            flags += text[1:] if text[0] == "-" else ""
            rest = rest[1:]
        if rest and isinstance(rest[0], Text) and rest[0].known == "--":
            rest = rest[1:]
        return flags, rest

    def _export(self, words: list[Argument], simple: Simple) -> None:
        flags, rest = self._flags(words)
        self.status = 0
        if "f" in flags or "p" in flags:
            return
        if "n" in flags:
            for name in self.plain_words(rest):
                if (variable := self.lookup(flat(name))) is not None:
                    variable.exported = False
            self.changed()
            return
        self._declare_all(rest, simple, flags, exported=True, local=False)

    def _declare(self, words: list[Argument], simple: Simple) -> None:
        flags, rest = self._flags(words)
        if "p" in flags or "f" in flags or "F" in flags:
            names = [flat(each) for each in self.plain_words(rest)]
            found = bool(names) and (names[0] in self.functions or self.lookup(names[0]) is not None)
            self.status = 0 if found else 1
            return
        local = bool(self.function_names) and "g" not in flags
        self._declare_all(rest, simple, flags, exported="x" in flags, local=local)

    def _local(self, words: list[Argument], simple: Simple) -> None:
        flags, rest = self._flags(words)
        self._declare_all(rest, simple, flags, exported="x" in flags, local=True)

    def _readonly(self, words: list[Argument], simple: Simple) -> None:
        flags, rest = self._flags(words)
        self._declare_all(rest, simple, flags, exported=False, local=False)

    def _declare_all(self, rest: list[Argument], simple: Simple, flags: str, *, exported: bool, local: bool) -> None:
        self.status = 0
        status = 0
        for word in rest:
            if isinstance(word, Assign):
                self._declare_assignment(word, simple, flags, exported=exported, local=local)
            else:
                self._declare_word(word, simple, flags, exported=exported, local=local)
        self.status = status
        self.changed()

    def _declare_assignment(self, word: Assign, simple: Simple, flags: str, *, exported: bool, local: bool) -> None:
        if local and self.scopes and word.name not in self.scopes[-1]:
            value = None if isinstance(word.value, ArrayLit) else self.string(word.value, assignment=True)
            self.scopes[-1][word.name] = variable = Variable()
            self._attributes(variable, flags)
            if value is not None:
                self.assign_value(word.name, None, tuple(value), append=word.append)
                variable.exported = variable.exported or exported
                self.record_assignment(word.name, word, simple, exported=exported)
                return
        if flags.strip("xrg"):
            self._attributes(self.ensure(word.name), flags)  # else `export X=${X:-d}` would find X declared already
        self.assign(word, exported=True if exported else None)
        self.record_assignment(word.name, word, simple, exported=exported)

    def _declare_word(self, word: Text, simple: Simple, flags: str, *, exported: bool, local: bool) -> None:
        text = flat(word.parts)
        if "=" in text[1:] and re.match(r"[A-Za-z_]\w*\+?=", text):
            at = text.index("=")
            name = text[:at].rstrip("+")
            if local and self.scopes:
                self.scopes[-1][name] = Variable()
            self.assign_value(name, None, cut(word.parts, at + 1, len(text)), append=text[at - 1] == "+")
            self._attributes(self.ensure(name), flags)
            if exported:
                self.ensure(name).exported = True
            return
        if not text.isidentifier():
            return
        if local and self.scopes:
            self._attributes(self.scopes[-1].setdefault(text, Variable()), flags)
        elif flags:
            self._attributes(self.ensure(text), flags)
        if exported:
            if self.lookup(text) is None and not self.run.closed and text.upper() == text:
                self.globals[text] = Variable((self.environment_hole(text, simple),))
            self.ensure(text).exported = True

    def _attributes(self, variable: Variable, flags: str) -> None:
        if "A" in flags and not isinstance(variable.value, Array):
            variable.value = Array(associative=True)
        elif "a" in flags and not isinstance(variable.value, Array):
            variable.value = Array({} if variable.value is None else {0: variable.value})
        if "i" in flags:
            variable.integer = True
        if "n" in flags:
            variable.reference = True

    def _unset(self, words: list[Argument], simple: Simple) -> None:
        flags, rest = self._flags(words)
        for word in self.plain_words(rest):
            text = flat(word)
            if "f" in flags:
                self.functions.pop(text, None)
                continue
            match = re.fullmatch(r"(\w+)\[(.*)\]", text)
            variable = self.lookup(match.group(1)) if match else None
            if match and variable is not None and isinstance(variable.value, Array):
                key: int | str | Hole = match.group(2)
                if not variable.value.associative:
                    key = self.arithmetic(plain(match.group(2)), simple)
                if not isinstance(key, Hole):
                    variable.value.items.pop(key, None)
            else:
                self.unset(text)
        self.status = 0

    # ---- positional parameters and options

    def _shift(self, words: list[Argument], simple: Simple) -> None:
        count = _integer(self.plain_words(words)[1:2], 1)
        if count is None or count < 0:
            self.status = 1
            return
        if count > len(self.positional) and not self.open_arguments:
            self.note("shift", str(count), simple)
            self.status = 1
            return
        self.positional = self.positional[count:]
        self.status = 0

    def _set(self, words: list[Argument], simple: Simple) -> None:
        rest = self.plain_words(words)[1:]
        self.status = 0
        while rest:
            text = flat(rest[0])
            if text == "--":
                self._set_arguments(rest[1:])
                return
            if text in ("-o", "+o"):
                self._option(flat(rest[1]) if len(rest) > 1 else "", text[0] == "-")
                rest = rest[2:]
            elif re.fullmatch(r"[-+][A-Za-z]+", text):
                rest = rest[1:]
                for letter in text[1:]:
                    if letter != "o":
                        self._option(letter, text[0] == "-")
                    elif rest:
                        self._option(flat(rest[0]), text[0] == "-")
                        rest = rest[1:]
            else:
                self._set_arguments(rest)
                return

    def _set_arguments(self, values: list[Parts]) -> None:
        self.positional = list(values)
        self.open_arguments = False

    def _option(self, name: str, on: bool) -> None:
        letter = _LETTERS.get(name, name)
        (self.options.add if on else self.options.discard)(letter)

    def _shopt(self, words: list[Argument], simple: Simple) -> None:
        texts = [flat(each) for each in self.plain_words(words)]
        for name in texts[2:]:
            (self.shell_options.add if texts[1] == "-s" else self.shell_options.discard)(name)
        self.status = 0

    def _getopts(self, words: list[Argument], simple: Simple) -> None:
        texts = self.plain_words(words)
        if len(texts) < 3:
            self.status = 2
            return
        spec, name = flat(texts[1]), flat(texts[2])
        arguments = texts[3:] or self.positional
        state = self.value_of("OPTIND", None, simple)
        place = int(known(state or plain("1")) or 1)
        offset = self.run.fresh_options.get(id(self), 1)
        if (
            place > len(arguments)
            or not flat(arguments[place - 1]).startswith("-")
            or flat(arguments[place - 1]) == "-"
        ):
            self.assign_value(name, None, plain("?"))
            self.status = 1
            return
        word = arguments[place - 1]
        text = flat(word)
        if text == "--":
            self.assign_value("OPTIND", None, plain(str(place + 1)))
            self.assign_value(name, None, plain("?"))
            self.status = 1
            return
        letter = text[offset]
        at = spec.find(letter)
        self.status = 0
        if at < 0 or letter == ":":
            self.assign_value(name, None, plain("?"))
            self.assign_value("OPTARG", None, plain(letter))
            offset += 1
        elif spec[at + 1 : at + 2] == ":":
            if text[offset + 1 :]:
                self.assign_value("OPTARG", None, cut(word, offset + 1, len(text)))
            else:
                place += 1
                self.assign_value("OPTARG", None, arguments[place - 1] if place <= len(arguments) else EMPTY)
            self.assign_value(name, None, plain(letter))
            offset = len(text)
        else:
            self.assign_value(name, None, plain(letter))
            offset += 1
        if offset >= len(text):
            offset, place = 1, place + 1
        self.run.fresh_options[id(self)] = offset
        self.assign_value("OPTIND", None, plain(str(place)))

    # ---- running text and files

    def _source(self, words: list[Argument], simple: Simple) -> None:
        rest = self.plain_words(words)[1:]
        if not rest:
            self.status = 2
            return
        self.source_file(rest[0], rest[1:], simple)

    def _eval(self, words: list[Argument], simple: Simple) -> None:
        self.status = 0
        text = join(self.plain_words(words)[1:], " ")
        if has_hole(text) and not flat(text).strip().strip(MARK):
            self.status = None
            return
        self.run_text(text, simple)

    def _exec(self, words: list[Argument], simple: Simple) -> None:
        rest = [Text(each) for each in self.plain_words(words)[1:]]
        while rest and rest[0].known in ("-c", "-l", "-cl"):
            rest = rest[1:]
        if rest and rest[0].known == "-a":
            rest = rest[2:]
        self.status = 0
        if rest:
            self.external(rest, simple)
            raise Exit(self.status)

    def _command(self, words: list[Argument], simple: Simple) -> None:
        rest = self.plain_words(words)[1:]
        if rest and known(rest[0]) in ("-v", "-V"):
            self._look_up(rest[1] if len(rest) > 1 else EMPTY, simple)
            return
        while rest and known(rest[0]) == "-p":
            rest = rest[1:]
        self.status = 0
        if not rest:
            return
        name = known(rest[0]) or ""
        method = self.builtin(name)
        texts: list[Argument] = [Text(each) for each in rest]
        if method is not None:
            method(texts, simple)
        else:
            self.external([Text(each) for each in rest], simple)

    def _builtin(self, words: list[Argument], simple: Simple) -> None:
        method = self.builtin(flat(self.plain_words(words[1:2])[0])) if len(words) > 1 else None
        if method is not None:
            method(words[1:], simple)

    def _type(self, words: list[Argument], simple: Simple) -> None:
        self._look_up(self.plain_words(words)[-1], simple)

    def _look_up(self, name: Parts, simple: Simple) -> None:
        text = flat(name)
        if text in self.functions or self.builtin(text) is not None:
            self.write(plain(text + "\n"))
            self.status = 0
        elif self.run.closed:
            self.status = 1
        else:
            self.status = 0 if self.decide(("command", text), f"{text} is installed", simple) else 1

    # ---- control

    def _exit(self, words: list[Argument], simple: Simple) -> None:
        raise Exit(self._status_argument(words))

    def _return(self, words: list[Argument], simple: Simple) -> None:
        raise Return(self._status_argument(words))

    def _status_argument(self, words: list[Argument]) -> int | None:
        given = _integer(self.plain_words(words)[1:2], None)
        return self.status if given is None else given & 255

    def _break(self, words: list[Argument], simple: Simple) -> None:
        if self.loops:
            raise LoopControl(_integer(self.plain_words(words)[1:2], 1) or 1, False)
        self.status = 0

    def _continue(self, words: list[Argument], simple: Simple) -> None:
        if self.loops:
            raise LoopControl(_integer(self.plain_words(words)[1:2], 1) or 1, True)
        self.status = 0

    def _trap(self, words: list[Argument], simple: Simple) -> None:
        texts = [flat(each) for each in self.plain_words(words)]
        if len(texts) > 2 and any(each in ("EXIT", "0") for each in texts[2:]):
            self.traps["EXIT"] = texts[1]
        self.status = 0

    def _let(self, words: list[Argument], simple: Simple) -> None:
        value: int | Hole = 0
        for each in self.plain_words(words)[1:]:
            value = self.arithmetic(each, simple)
        self.status = 0 if isinstance(value, Hole) or value else 1

    def _test_builtin(self, words: list[Argument], simple: Simple) -> None:
        rest = self.plain_words(words)
        if known(rest[0]) == "[":
            if known(rest[-1]) != "]" or len(rest) < 2:
                self.status = 2
                return
            rest = rest[:-1]
        self.status = self.test_status(rest[1:], simple)

    # ---- input

    def _read(self, words: list[Argument], simple: Simple) -> None:
        names, raw, array, delimiter = _read_options(self.plain_words(words)[1:])
        line: Parts
        if self.input is None:
            line = EMPTY if self.run.closed else (self.hole("stdin", "line of the standard input", simple),)
            found = not self.run.closed
        else:
            line, found = self.input.line(delimiter)
        self.status = 0 if found else 1
        if not raw and not has_hole(line) and "\\" in flat(line):
            line = plain(re.sub(r"\\(.)", r"\1", flat(line)))
        separators = self.separators()
        if array is not None:
            values = split_record(line, separators, None)
            self.changed()
            self.ensure(array).value = Array(dict(enumerate(values)))
            return
        if not names:
            self.assign_value("REPLY", None, line)
            return
        hole = only_hole(line)
        values = [] if hole is not None else split_record(line, separators, len(names))
        hop = Hop(self.span(simple))
        for number, name in enumerate(names):
            value = values[number] if number < len(values) else EMPTY
            if hole is not None and len(names) == 1:
                value = line
            elif hole is not None:
                value = (
                    Hole(("field", hole.key, number), name, f"field {number + 1} of {hole.name}", self.span(simple)),
                )
            self.assign_value(name, None, with_hop(value, hop))

    def _mapfile(self, words: list[Argument], simple: Simple) -> None:
        texts = [flat(each) for each in self.plain_words(words)]
        name = texts[-1] if len(texts) > 1 and not texts[-1].startswith("-") else "MAPFILE"
        stream = self.input or Stream(EMPTY)
        lines: list[Parts] = []
        while stream.parts:
            line, ended = stream.line()
            lines.append(line if "-t" in texts or not ended else (*line, Literal("\n")))
        self.changed()
        self.ensure(name).value = Array(dict(enumerate(lines)))
        self.status = 0


def _integer(words: list[Parts], otherwise: int | None) -> int | None:
    text = known(words[0]) if words else None
    return int(text) if text is not None and re.fullmatch(r"-?\d+", text) else otherwise


def _read_options(words: list[Parts]) -> tuple[list[str], bool, str | None, str]:
    """Names, whether raw, the array, and the delimiter of `read`."""
    names: list[str] = []
    raw, array, delimiter = False, None, "\n"
    rest = list(words)
    while rest:
        text = flat(rest.pop(0))
        if not (text.startswith("-") and len(text) > 1 and not names):
            names.append(text)
            continue
        for at, letter in enumerate(text[1:], 1):
            if letter == "r":
                raw = True
            elif letter in "adnNptu":
                argument = text[at + 1 :] or (flat(rest.pop(0)) if rest else "")
                if letter == "a":
                    array = argument
                elif letter == "d":
                    delimiter = argument[:1] or "\0"
                break
    return names, raw, array, delimiter


def split_record(line: Parts, separators: str, count: int | None) -> list[Parts]:
    """Fields of a line as `read` makes them; the last of `count` takes the rest. None: as many as there are."""
    text = flat(line)
    if not separators:
        return [line]
    blanks = "".join(char for char in separators if char in " \t\n")
    others = "".join(char for char in separators if char not in " \t\n")
    start, stop = len(text) - len(text.lstrip(blanks)), len(text.rstrip(blanks))
    out: list[Parts] = []
    at = start
    while True:
        if count is not None and len(out) == count - 1:
            out.append(_last_field(line, text, at, max(stop, at), separators, others))
            return out
        end = at
        while end < stop and text[end] not in separators:
            end += 1
        if end >= stop:
            if end > at or (count is not None and end == at and at < len(text)):
                out.append(cut(line, at, end))
            return out
        out.append(cut(line, at, end))
        at = end
        while at < stop and text[at] in blanks:
            at += 1
        if at < stop and text[at] in others:
            at += 1
            while at < stop and text[at] in blanks:
                at += 1


def _last_field(line: Parts, text: str, at: int, stop: int, separators: str, others: str) -> Parts:
    """The rest of the line; a single separator at its end is dropped."""
    if stop > at and text[stop - 1] in others and not any(char in separators for char in text[at : stop - 1]):
        stop -= 1
    return cut(line, at, stop)


def describe(words: list[Parts]) -> str:
    """Words as people write them."""
    return " ".join(shown(word) for word in words)
