"""What `$x` and `${…}` expand to."""

from __future__ import annotations

import re
from collections.abc import Sequence

from verlint.languages.bash.arithmetic import decimal
from verlint.languages.bash.elastic import MANY, any_many, is_many, mark_of, mark_parts, unmarked
from verlint.languages.bash.pieces import (
    EMPTY,
    Parts,
    flat,
    has_hole,
    identity,
    is_empty,
    known,
    only_hole,
    overridable,
    overriders,
    plain,
    with_hop,
)
from verlint.languages.bash.run import DiscardLine, Exit
from verlint.languages.bash.segments import Segment, Segments, bare_text, is_blank
from verlint.languages.bash.storage import Array
from verlint.languages.bash.syntax import Param, Word
from verlint.lazy import pattern
from verlint.record import replace
from verlint.value import Hole, Hop, Literal, Part

_DEFAULTING = frozenset([":-", "-", ":=", "=", ":?", "?", ":+", "+"])
_REFERRED = pattern(r"[A-Za-z_]\w*(?:\[.+\])?|[0-9]+|[@*#?$!-]", re.S)
"""What may be referred to by `${!name}`."""
_OUTSIDE = frozenset(["env", "argument", "option", "elsewhere"])
"""Kinds of unknowns that the caller may leave out."""


class Parameters(Segments):
    """Expands parameters."""

    __slots__ = ()

    def parameter(self, param: Param, in_quotes: bool, out: list[Segment]) -> None:
        """Append what `$x` or `${…}` expands to."""
        star = self._star(param)
        if param.op.startswith("names"):
            self._put_list(self._names_from(param), param.op[-1], in_quotes, out)
        elif param.indirect and star:
            self._put_list(self._array_keys(param.name), star, in_quotes, out)
        elif star and not param.indirect:
            self._list_parameter(param, star, in_quotes, out)
        else:
            self._scalar_parameter(param, in_quotes, out)

    def _star(self, param: Param) -> str:
        if param.name in ("@", "*") and param.op != "len":
            return param.name
        if param.index is not None and (text := bare_text(param.index)) in ("@", "*"):
            return text
        return ""

    def _names_from(self, param: Param) -> list[Parts]:
        """The names of variables that begin as written; the environment may give more of them."""
        found = {name for scope in (self.globals, *self.scopes) for name in scope if name.startswith(param.name)}
        names = [name for name in sorted(found) if (variable := self.lookup(name)) and variable.value is not None]
        rest = [mark_parts((self.environment_hole(param.name, param),), MANY)] if self._from_outside(param.name) else []
        return [*[plain(name) for name in names], *rest]

    # ---- lists

    def _list_parameter(self, param: Param, star: str, in_quotes: bool, out: list[Segment]) -> None:
        values = self.list_values(param.name, param)
        if param.op == "len":
            if not values and param.name not in ("@", "*"):
                self._check_set(param)
            self._put(self._size(param, values), in_quotes, out)
            return
        if param.op == ":":
            sliced = self._slice(param, values)
            if sliced is None:
                hole = self.hole(self.span(param).text, "slice at an unknown place", param)
                self._put_list([mark_parts((hole,), MANY)], star, in_quotes, out)
                return
            values = sliced
        elif param.op in _DEFAULTING:
            empty = not values or (param.op[0] == ":" and all(is_empty(value) for value in values))
            if (param.op[-1] == "+") != empty and param.op[-1] in "+-=?":
                if param.op[-1] == "+" or empty:
                    self._argument(param.arg, in_quotes, out)
                    return
            elif param.op[-1] == "+":
                return
        elif param.op:
            values = [self._transformed(value, param) for value in values]
        self._put_list(values, star, in_quotes, out)

    def _size(self, param: Param, values: list[Parts]) -> Parts:
        """The number of elements."""
        if self.open_arguments and param.name in ("@", "*"):
            return (self.hole("$#", "number of arguments", param),)
        if any_many(values):
            key = ("count", tuple(map(identity, values)))
            return (self.hole(self.span(param).text, "number of elements", param, key),)
        return _counted(len(values), [piece for value in values for piece in value])

    def _transformed(self, value: Parts, param: Param) -> Parts:
        from verlint.languages.bash.transforms import transform

        mark = mark_of(value) or (MANY if is_many(value) else "")
        made = transform(self, unmarked(value) if mark else value, param)
        return mark_parts(made, mark) if mark else made

    def _slice(self, param: Param, values: list[Parts]) -> list[Parts] | None:
        """The elements from an index on; gaps of an array count as places."""
        offset = self.arithmetic(self.string(param.arg), param) if param.arg is not None else 0
        length = self.arithmetic(self.string(param.arg2), param) if param.arg2 is not None else None
        if isinstance(offset, Hole) or isinstance(length, Hole):
            return None
        if length is not None and length < 0:
            from verlint.languages.bash.transforms import substring_error

            raise substring_error(self, param)
        variable = None if param.name in ("@", "*") else self.lookup(param.name)
        if variable is not None and isinstance(variable.value, Array) and not variable.value.associative:
            array = variable.value
            if array.many and any_many(array.values()[: offset if offset >= 0 else None]):
                return None
            offset += array.next_index() if offset < 0 else 0
            chosen = [array.items[key] for key in array.ordered_keys() if isinstance(key, int) and key >= offset >= 0]
        else:
            whole = [self.name, *values] if param.name in ("@", "*") else values
            if self.open_arguments and param.name in ("@", "*"):  # the last value stands for any number of them
                end = len(whole) if length is None else offset + length + 1
                if not 0 <= offset < len(whole) or end > len(whole):
                    return None
            offset += len(whole) if offset < 0 else 0
            if any_many(whole[: max(offset, 0)]):
                return None
            chosen = whole[offset:] if offset >= 0 else []
        if length is not None and any_many(chosen[:length]):
            return None
        return chosen if length is None else chosen[:length]

    # ---- single values

    def _scalar_parameter(self, param: Param, in_quotes: bool, out: list[Segment]) -> None:
        name, index = param.name, None
        if param.index is not None:
            index_parts = self.string(param.index)
            index = known(index_parts)
            if index is None:
                self._put((self.hole(self.span(param).text, "element at an unknown place", param),), in_quotes, out)
                return
        if param.indirect:
            self._indirect(param, index, in_quotes, out)
            return
        value = self.value_of(name, index, param)
        self._apply(param, name, index, value, in_quotes, out)

    def _indirect(self, param: Param, index: str | None, in_quotes: bool, out: list[Segment]) -> None:
        referred = self.reference_of(param.name) if not param.op else None
        if referred is not None:
            self._put(plain(referred), in_quotes, out)
            return
        target = self.value_of(param.name, index, param)
        name = None if target is None else known(target)
        if (target is None and self.run.closed) or (name is not None and not _REFERRED.fullmatch(name)):
            self.fault("indirection", param.name, param)
            raise DiscardLine
        if not name:
            self._put((self.hole(self.span(param).text, "variable named at run time", param),), in_quotes, out)
            return
        match = re.fullmatch(r"(\w+)\[(.*)\]", name)
        if match and match.group(2) in ("@", "*"):
            self._put_list(self.list_values(match.group(1), param), match.group(2), in_quotes, out)
            return
        base, place = (match.group(1), match.group(2)) if match else (name, None)
        self._apply(param, base, place, self.value_of(base, place, param), in_quotes, out)

    def _apply(
        self, param: Param, name: str, index: str | None, value: Parts | None, in_quotes: bool, out: list[Segment]
    ) -> None:
        if param.op == "len":
            if value is None and index is not None:
                self._check_set(param)
                value = EMPTY
            elif value is None:
                value = self._set_or_end(name, param)
            if has_hole(value):
                self._put((self.hole(self.span(param).text, "length of an unknown", param),), in_quotes, out)
            else:
                self._put(_counted(len(flat(value)), value), in_quotes, out)
            return
        if param.op in _DEFAULTING:
            self._defaulting(param, name, index, value, in_quotes, out)
            return
        if value is None:
            value = self._set_or_end(name, param)
            if not value and name not in ("@", "*"):
                self.note("empty", name, param)
            if not value and param.op[:1] in ("@", "/"):  # of nothing nothing is made, not even ''
                letters = param.op == "@" and param.arg is not None and bare_text(param.arg) == "a"
                self._put(plain(self.attributes_of(name)) if letters else EMPTY, in_quotes, out)
                return
        elif "u" in self.options and (hole := only_hole(value)) is not None:
            self._check_word(hole, param)
        if param.op:
            from verlint.languages.bash.transforms import transform

            value = transform(self, value, param)
        self._put(value, in_quotes, out)

    def _check_word(self, hole: Hole, param: Param) -> None:
        """One of an unknown number of words may not be there, which ends the script."""
        if isinstance(hole.key, tuple) and hole.key[0] == "word" and param.name.isdigit():
            key = ("arguments", decimal(param.name), tuple(map(identity, self.positional)))
            if not self.decide(key, f"there are {param.name} arguments", param):
                self.note("unset", param.name, param)
                raise Exit(1)

    def _set_or_end(self, name: str, param: Param) -> Parts:
        """The value of a name that may not be set: empty, but under `set -u` the end of the script."""
        if "u" not in self.options or name in ("@", "*"):
            return EMPTY
        self.note("unset", name, param)
        if self.run.closed or self.lookup(name) is not None or not name.isidentifier():
            raise Exit(1)
        return (self.environment_hole(name, param),)  # the script could not go on without it

    def _check_set(self, param: Param) -> None:
        """Under `set -u` the length of an array that is not set drops the line."""
        variable = self.lookup(param.name)
        if "u" in self.options and (variable is None or variable.value is None):
            self.fault("unset", param.name, param)
            raise DiscardLine

    # ---- defaults

    def _defaulting(
        self, param: Param, name: str, index: str | None, value: Parts | None, in_quotes: bool, out: list[Segment]
    ) -> None:
        """`${x:-d}` and kin. For a name from outside the default counts, marked as replaceable, and no path forks."""
        kind = param.op[-1]
        hole = None if value is None else only_hole(value)
        outside = hole if hole is not None and isinstance(hole.key, tuple) and hole.key[0] in _OUTSIDE else None
        if hole is not None:
            missing = self._missing(hole, param, kind, outside is not None)
        else:
            missing = value is None or (param.op[0] == ":" and is_empty(value))
        if kind == "+":
            if not missing:
                self._argument(param.arg, in_quotes, out)
            elif in_quotes:
                out.append((None, True, False))
        elif not missing:
            self._put(value or EMPTY, in_quotes, out)
        elif kind == "?":
            self._put(self._required(param, name, outside), in_quotes, out)
        elif kind == "=" and not (name[0].isalpha() or name[0] == "_"):
            if outside is None:
                self.fault("assignment", f"${name}: cannot assign in this way", param)
                raise DiscardLine
            self._put((outside,), in_quotes, out)  # only with the argument does the line go on
        elif kind == "=":
            assigned = self.string(param.arg) if param.arg is not None else EMPTY
            free = self._free_name(name, index, value, outside)
            if free:
                assigned = overridable(assigned, free)
            self.assign_value(name, index, with_hop(assigned, Hop(self.span(param))))
            variable = self.lookup(name)
            if variable is not None and (variable.integer or variable.case):  # it holds what became of the word
                assigned = self.value_of(name, index, param) or EMPTY
            self._put(assigned, in_quotes, out)
        else:
            self._default(param, outside, self._free_name(name, index, value, outside), in_quotes, out)

    def _free_name(self, name: str, index: str | None, value: Parts | None, outside: Hole | None) -> str:
        """The name from outside that a default stands in for, "" when the script has the value itself. `${x:-d}` of a
        name that nothing sets says that the caller may, whatever its case."""
        if outside is not None:
            return outside.name
        is_free = value is None and index is None and name.isidentifier() and not self.run.closed
        return name if is_free and self.lookup(name) is None else ""

    def _required(self, param: Param, name: str, outside: Hole | None) -> Parts:
        """The value that `${x:?}` insists on."""
        self.note("required", name, param)
        if outside is None:
            raise Exit(1)
        if param.op[0] == ":":  # from here on it is known not to be empty
            self.run.answers.setdefault(("empty", outside.key), False)
        return (outside,)

    def _default(self, param: Param, outside: Hole | None, name: str, in_quotes: bool, out: list[Segment]) -> None:
        """The word of `${x:-word}`, in whose place the caller may give the variable or option `name`."""
        before = len(out)
        self._argument(param.arg, in_quotes, out)
        if not name:
            return
        if all(is_blank(segment) for segment in out[before:]):
            if outside is None:
                return
            del out[before:]  # `${X:-}` is whatever the caller gives
            self._put((outside,), in_quotes, out)
            return
        for at in range(before, len(out)):
            piece, quoted, splits = out[at]
            if isinstance(piece, Literal):
                out[at] = (replace(piece, overridable=piece.overridable or name), quoted, splits)

    def _missing(self, hole: Hole, param: Param, kind: str, outside: bool) -> bool:
        key = ("empty", hole.key)
        if outside and kind in "-=?":
            return self.run.answers.get(key, True)
        return self.decide(key, f"{hole.name} is not set", param, first=outside)

    def _argument(self, word: Word | None, in_quotes: bool, out: list[Segment]) -> None:
        """The word of an operator; unquoted, its bare characters may be split."""
        if word is None:
            return
        before = len(out)
        self.segments(word.parts, in_quotes, out)
        if in_quotes:
            if len(out) == before:
                out.append((None, True, False))
            return
        for at in range(before, len(out)):
            piece, quoted, _ = out[at]
            if piece is not None and not quoted:
                out[at] = (piece, False, True)


def _counted(number: int, among: Sequence[Part]) -> Parts:
    """A number of characters or elements; where these may be replaced, so may it."""
    free = overriders(among)
    return overridable(plain(str(number)), free[0]) if free else plain(str(number))
