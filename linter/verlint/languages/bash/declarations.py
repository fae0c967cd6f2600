"""Builtins that declare variables: `export`, `declare`, `local`, `readonly`, `unset`."""

from __future__ import annotations

import re

from verlint.languages.bash.pieces import EMPTY, MARK, Parts, cut, flat, plain
from verlint.languages.bash.printing import Argument, Declared
from verlint.languages.bash.reading import Reading
from verlint.languages.bash.storage import Array, Variable
from verlint.languages.bash.syntax import Assign, Simple
from verlint.value import Hole, Text


class Declarations(Reading):
    """Declares variables."""

    __slots__ = ()

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
        if "f" in flags:
            change = self.exported_functions.difference_update if "n" in flags else self.exported_functions.update
            change(flat(name) for name in self.plain_words(rest))
            return
        if "p" in flags:
            return
        if "n" in flags:
            for name in self.plain_words(rest):
                if (variable := self.lookup(flat(name))) is not None:
                    self.own(flat(name), variable).exported = False
            self.changed()
            return
        rest, status = self._whole_variables(rest)
        self._declare_all(rest, simple, flags, exported=True, local=None)
        self.status = self.status or status
        for text in self.texts(rest):
            self._keep(text.prefix)

    def _whole_variables(self, words: list[Argument]) -> tuple[list[Argument], int]:
        """The words without those that name an element (`export a[1]`), which bash rejects, and the status for it."""
        rest: list[Argument] = []
        for word in words:
            element = word.assign.index is not None if isinstance(word, Declared) else "[" in _name(word)
            if not element:
                rest.append(word)
        return rest, int(len(rest) < len(words))

    def _keep(self, text: str) -> None:
        """What a function exports of the variables that its call has before it outlives the call."""
        match = re.match(r"\w+", text)
        for scope in reversed(self.scopes):
            if match and match.group() in scope:
                variable = self.own(match.group(), scope[match.group()])
                variable.kept = variable.temporary
                return

    def _declare(self, words: list[Argument], simple: Simple) -> None:
        flags, rest = self._flags(words)
        if "p" in flags or "f" in flags or "F" in flags:
            names = [flat(each) for each in self.plain_words(rest)]
            found = bool(names) and (names[0] in self.functions or self.lookup(names[0]) is not None)
            self.status = 0 if found else 1
            if "f" in flags and "x" in flags:
                self.exported_functions.update(name for name in names if name in self.functions)
            return
        scopes = self.scopes
        if "g" in flags:  # the global variable is meant, whatever hides it
            self.scopes = []
        try:
            self._declare_all(rest, simple, flags, exported="x" in flags, local=bool(self.scopes))
        finally:
            self.scopes = scopes
        self._without(words, rest)

    def _local(self, words: list[Argument], simple: Simple) -> None:
        flags, rest = self._flags(words)
        if not self.scopes:
            self.status = 1
            return
        for word in [each for each in rest if isinstance(each, Text) and each.known == "-"]:
            rest.remove(word)
            self.local_options.setdefault(len(self.scopes), self.options)
            self.options = set(self.options)
        self._declare_all(rest, simple, flags, exported="x" in flags, local=True)
        self._without(words, rest)

    def _without(self, words: list[Argument], rest: list[Argument]) -> None:
        """`declare +x`: attributes that are taken away."""
        off = "".join(text[1:] for word in self.texts(words[1:]) if re.fullmatch(r"\+[a-z]+", text := word.known or ""))
        if not off:
            return
        for word in rest:
            name = re.split(r"\W", self.texts([word])[0].prefix)[0]
            variable = self.lookup(name)
            if variable is not None:
                variable = self.own(name, variable)
                variable.exported = variable.exported and "x" not in off
                variable.integer = variable.integer and "i" not in off
        self.changed()

    def _readonly(self, words: list[Argument], simple: Simple) -> None:
        flags, rest = self._flags(words)
        rest, status = self._whole_variables(rest)
        self._declare_all(rest, simple, flags + "r", exported=False, local=None)
        self.status = self.status or status
        for text in self.texts(rest):
            self._keep(text.prefix)

    def _declare_all(
        self, rest: list[Argument], simple: Simple, flags: str, *, exported: bool, local: bool | None
    ) -> None:
        """Declare names; `local` is None for `export` and `readonly`, to which a readonly variable is worse."""
        self.status = 0
        for word in rest:
            text = word.assign.name if isinstance(word, Declared) else word.prefix.partition("=")[0].rstrip("+")
            if local is not None and self._is_readonly(text):
                self.note("readonly", f"{text}: readonly variable", simple)
                self.status = 1
            elif isinstance(word, Declared):
                self._declare_assignment(word, simple, flags, exported=exported, local=bool(local))
            else:
                self._declare_word(word, simple, flags, exported=exported, local=bool(local))
        self.changed()

    def _is_readonly(self, name: str) -> bool:
        variable = self.lookup(name)
        return variable is not None and variable.readonly

    def _declare_assignment(self, word: Declared, simple: Simple, flags: str, *, exported: bool, local: bool) -> None:
        assign = word.assign
        if "n" in flags and assign.index is None and word.value is not None:  # the reference itself is meant
            self.refer(assign.name, word.value, local=local)
            return
        if local and self.scopes:
            self.make_local(assign.name)
        if flags.strip("xrg"):
            self._attributes(self.ensure(assign.name), flags)
        if exported:
            self.export(assign.name)
        text = flat(word.value) if word.value is not None and set("aA") & set(flags) else ""
        if text[:1] == "(" and text[-1:] == ")" and assign.index is None:  # `declare -a x="(a b)"` is read as a list
            self.run_text((*plain(assign.name + ("+=" if assign.append else "=")), *(word.value or EMPTY)))
        else:
            self.assign(assign, word.value)
        if "r" in flags:
            self.ensure(assign.name).readonly = True
        self.record_assignment(assign.name, assign, simple, exported=exported)

    def _declare_word(self, word: Text, simple: Simple, flags: str, *, exported: bool, local: bool) -> None:
        text = flat(word.parts)
        if "=" in text[1:] and re.match(r"[A-Za-z_]\w*\+?=", text):
            at = text.index("=")
            name = text[:at].rstrip("+")
            if "n" in flags:
                self.refer(name, cut(word.parts, at + 1, len(text)), local=local)
                return
            if local and self.scopes:
                self.make_local(name)
            self._attributes(self.ensure(name), flags)
            self.assign_value(name, None, cut(word.parts, at + 1, len(text)), append=text[at - 1] == "+")
            if "r" in flags:
                self.ensure(name).readonly = True
            if exported:
                self.export(name)
            return
        if not text.isidentifier():
            if MARK in text.partition("=")[0]:
                self.set_by_strangers(word.shown)
            elif not re.match(r"[A-Za-z_]\w*\[", text):
                self.status = 1  # not a valid identifier
            return
        if local and self.scopes:
            self._attributes(self.make_local(text), flags)
        elif flags:
            self._attributes(self.ensure(text), flags)
        if "r" in flags:
            self.ensure(text).readonly = True
        if exported:
            if self.lookup(text) is None and not self.run.closed and text.upper() == text:
                self.globals[text] = Variable((self.environment_hole(text, simple),))
            self.export(text)

    def _attributes(self, variable: Variable, flags: str) -> None:
        if "A" in flags and not isinstance(variable.value, Array):
            variable.value = Array(associative=True)
        elif "a" in flags and not isinstance(variable.value, Array):
            variable.value = Array({} if variable.value is None else {0: variable.value})
        if "i" in flags:
            variable.integer = True
        if "n" in flags:
            variable.reference = True
        if "u" in flags or "l" in flags:
            variable.case = "u" if "u" in flags else "l"

    def _unset(self, words: list[Argument], simple: Simple) -> None:
        flags, rest = self._flags(words)
        self.status = 0
        for word in self.plain_words(rest):
            text = flat(word)
            if "n" not in flags and "f" not in flags:
                text = self.reference_of(text) or text  # what is referred to is unset
            if "f" not in flags and self._is_readonly(text.partition("[")[0]):
                self.status = 1
                continue
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
                    self._drop(match.group(1), variable, key)
            else:
                self.unset(text)

    def _drop(self, name: str, variable: Variable, key: int | str) -> None:
        """Remove an element of an array."""
        array = self.own(name, variable).value
        if isinstance(array, Array):
            array.drop(key + array.next_index() if isinstance(key, int) and key < 0 else key)

    # ---- implemented further up

    def run_text(self, text: Parts) -> None:
        """Run a string as commands of this shell."""
        raise NotImplementedError

    def assign(self, assign: Assign, value: Parts | None = None, *, exported: bool = False) -> None:
        """Carry out an assignment; `value` is its right side where that is expanded already."""
        raise NotImplementedError

    def record_assignment(self, name: str, assign: Assign, simple: Simple, *, exported: bool) -> None:
        """Put an assignment on record."""
        raise NotImplementedError


def _name(word: Text) -> str:
    """What stands before the `=` of an argument."""
    return word.prefix.partition("=")[0]
