"""From words as written to the strings a command gets, in bash's order: braces, tilde, parameters, commands,
arithmetic, splitting, file names, quote removal."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from verlint.languages.bash.arithmetic import ArithmeticError_, UnknownNumber, evaluate
from verlint.languages.bash.braces import expand_braces
from verlint.languages.bash.parameters import transform
from verlint.languages.bash.patterns import Pattern, compile_pattern, is_pattern
from verlint.languages.bash.pieces import (
    EMPTY,
    MARK,
    Parts,
    flat,
    has_hole,
    is_empty,
    join,
    known,
    only_hole,
    overridable,
    plain,
    strip_right,
    with_hop,
)
from verlint.languages.bash.state import Array, DiscardLine, Exit, ShellState
from verlint.languages.bash.syntax import (
    Arith,
    BadParam,
    CommandSub,
    DoubleQuoted,
    ExtGlob,
    Lit,
    Node,
    Param,
    Part,
    ProcessSub,
    Redirect,
    Sequence,
    Simple,
    Word,
)
from verlint.source import Span
from verlint.value import Hole, Hop, Literal, Text
from verlint.value import Part as Piece

Segment = tuple[Piece | None, bool, bool]
"""A run of a word: the piece (None for an empty quoted string), whether it is quoted, whether it may be split."""

BREAK: Segment = (None, False, False)
"""Between two elements of a list."""

_DEFAULTING = frozenset([":-", "-", ":=", "=", ":?", "?", ":+", "+"])
_DYNAMIC = frozenset(
    ["RANDOM", "SRANDOM", "SECONDS", "EPOCHSECONDS", "EPOCHREALTIME", "HOSTNAME", "UID", "EUID", "PPID", "BASHPID", "OSTYPE", "HOSTTYPE",
     "MACHTYPE", "BASH_VERSION", "BASH", "SHLVL"]
)  # fmt: skip
_TILDE_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=~(?=/|$)")


class Expansion(ShellState):
    """Expands words."""

    # ---- whole words

    def string(self, word: Word, *, assignment: bool = False) -> Parts:
        """A word as one string: no splitting, no file names."""
        parts = word.parts
        if len(parts) == 1 and isinstance(parts[0], Lit) and not parts[0].text.startswith("~") and not assignment:
            return (self._literal(parts[0]),) if parts[0].text else EMPTY
        segments: list[Segment] = []
        self.segments(parts, False, segments, assignment=assignment)
        out: list[Piece] = []
        for segment in segments:
            if segment is BREAK:
                out.append(Literal(" "))
            elif segment[0] is not None:
                out.append(segment[0])
        return tuple(out)

    def pattern(self, word: Word) -> Pattern:
        """A word as a pattern."""
        segments: list[Segment] = []
        self.segments(word.parts, False, segments)
        runs: list[tuple[str, bool]] = []
        for piece, quoted, _ in segments:
            if piece is not None:
                runs.append((piece.text if isinstance(piece, Literal) else MARK, quoted))
        return tuple(runs)

    def fields(self, word: Word) -> list[Text]:
        """The words that one word becomes."""
        span = self.span(word)
        parts = word.parts
        if len(parts) == 1 and isinstance(parts[0], Lit) and (parts[0].quote or not _needs_care(parts[0].text)):
            return [Text((self._literal(parts[0]),), span)]
        out: list[Text] = []
        for expanded in expand_braces(parts):
            segments: list[Segment] = []
            self.segments(self._tilde_after_equals(expanded), False, segments)
            out.extend(self._split(segments, span))
        return out

    def _literal(self, lit: Lit) -> Literal:
        return Literal(lit.text, Span(self.source, lit.start, lit.end), quoted=bool(lit.quote))

    def _tilde_after_equals(self, parts: list[Part]) -> list[Part]:
        """`name=~/x` as an argument: bash expands it only when the name is an identifier."""
        first = parts[0] if parts else None
        if not isinstance(first, Lit) or first.quote:
            return parts
        match = _TILDE_ASSIGNMENT.match(first.text)
        if match is None:
            return parts
        at = match.end() - 1
        head = Lit(first.start, first.start + at, first.text[:at], "")
        home = Param(first.start + at, first.start + at + 1, "HOME")
        tail = Lit(first.start + at + 1, first.end, first.text[at + 1 :], "")
        return [head, DoubleQuoted(home.start, home.end, [home]), tail, *parts[1:]]

    # ---- parts

    def segments(self, parts: Iterable[Part], in_quotes: bool, out: list[Segment], *, assignment: bool = False) -> None:
        """Append what the parts expand to."""
        for number, part in enumerate(parts):
            if isinstance(part, Lit):
                self._lit(part, in_quotes, out, first=number == 0, assignment=assignment)
            elif isinstance(part, Param):
                self.parameter(part, in_quotes, out)
            elif isinstance(part, DoubleQuoted):
                self._double_quoted(part, out)
            elif isinstance(part, CommandSub):
                self._put(self.command_substitution(part), in_quotes, out)
            elif isinstance(part, Arith):
                self._put(self._number(part), in_quotes, out)
            elif isinstance(part, ProcessSub):
                self.subshell(part.body, capture=part.direction == "<")
                out.append((self.hole(self.span(part).text, "process substitution", part), True, False))
            elif isinstance(part, ExtGlob):
                out.append((Literal(f"{part.op}({part.text})", self.span(part)), in_quotes, False))
            elif isinstance(part, BadParam):
                self.note("bad-substitution", part.text, part)
                raise Exit(1)

    def _lit(self, lit: Lit, in_quotes: bool, out: list[Segment], *, first: bool, assignment: bool) -> None:
        if lit.quote:
            out.append((self._literal(lit) if lit.text else None, True, False))
            return
        text = lit.text
        if not in_quotes and first and text.startswith("~") and (len(text) == 1 or text[1] == "/"):
            self._home(lit, out)
            if len(text) > 1:
                out.append((Literal(text[1:], Span(self.source, lit.start + 1, lit.end)), False, False))
            return
        if assignment and ":~/" in text:
            for at, piece in enumerate(text.split(":~/")):
                if at:
                    out.append((Literal(":"), False, False))
                    self._home(lit, out)
                    piece = "/" + piece
                out.append((Literal(piece, self.span(lit)), False, False))
            return
        out.append((self._literal(lit), in_quotes, False))

    def _home(self, lit: Lit, out: list[Segment]) -> None:
        for piece in self.value_of("HOME", None, lit) or EMPTY:
            out.append((piece, True, False))

    def _double_quoted(self, part: DoubleQuoted, out: list[Segment]) -> None:
        before = len(out)
        self.segments(part.parts, True, out)
        if len(out) > before:
            return
        lists_only = len(part.parts) == 1 and isinstance(part.parts[0], Param) and self._is_list(part.parts[0])
        if not lists_only:
            out.append((None, True, False))

    def _is_list(self, param: Param) -> bool:
        if param.op == "len":
            return False
        return param.name == "@" or (param.index is not None and _text(param.index) == "@")

    def _put(self, parts: Parts, in_quotes: bool, out: list[Segment]) -> None:
        """Append the result of an expansion; unquoted results may be split."""
        if not parts and in_quotes:
            out.append((None, True, False))
        for part in parts:
            out.append((part, in_quotes, not in_quotes))

    def _number(self, part: Arith) -> Parts:
        text = self.string(part.expr)
        value = self.arithmetic(text, part)
        if isinstance(value, Hole):
            return (value,)
        names = [each for each in _mentioned(text)]
        found = [variable.value for name in names if (variable := self.lookup(name)) is not None]
        pieces = [piece for each in found if isinstance(each, tuple) for piece in each]
        way = max((piece.hops for piece in pieces), key=len, default=())
        free = next((piece.overridable for piece in pieces if isinstance(piece, Literal) and piece.overridable), "")
        return (Literal(str(value), self.span(part), (*way, Hop(self.span(part))) if way else (), free),)

    # ---- parameters

    def parameter(self, param: Param, in_quotes: bool, out: list[Segment]) -> None:
        """Append what `$x` or `${…}` expands to."""
        star = self._star(param)
        if param.op == "names":
            names = sorted(
                name for scope in (self.globals, *self.scopes) for name in scope if name.startswith(param.name)
            )
            self._put_list([plain(name) for name in dict.fromkeys(names)], "@", in_quotes, out)
        elif param.indirect and star:
            self._put_list(self._array_keys(param.name), star, in_quotes, out)
        elif star and not param.indirect:
            self._list_parameter(param, star, in_quotes, out)
        else:
            self._scalar_parameter(param, in_quotes, out)

    def _star(self, param: Param) -> str:
        if param.name in ("@", "*") and param.op != "len":
            return param.name
        if param.index is not None and (text := _text(param.index)) in ("@", "*"):
            return text
        return ""

    def _array_keys(self, name: str) -> list[Parts]:
        variable = self.lookup(name)
        if variable is None or variable.value is None:
            return []
        if isinstance(variable.value, Array):
            return [plain(str(key)) for key in variable.value.keys()]
        return [plain("0")]

    def list_values(self, name: str, node: Node) -> list[Parts]:
        """The elements of an array, or the arguments for `@` and `*`."""
        if name in ("@", "*"):
            rest = [(self.arguments_hole(node),)] if self.open_arguments else []
            return [*self.positional, *rest]
        variable = self.lookup(name)
        if variable is None or variable.value is None:
            if name == "BASH_SOURCE":
                return list(reversed(self.sources))
            if variable is None and self._from_outside(name):
                return [(self.environment_hole(name, node),)]
            return []
        return variable.value.values() if isinstance(variable.value, Array) else [variable.value]

    def arguments_hole(self, node: Node) -> Hole:
        """Whatever further arguments the user may pass."""
        return Hole(("arguments", id(self.source)), "$@", "arguments of the caller", self.span(node))

    def _list_parameter(self, param: Param, star: str, in_quotes: bool, out: list[Segment]) -> None:
        values = self.list_values(param.name, param)
        if param.op == "len":
            size = (
                (self.hole("$#", "number of arguments", param),) if self.open_arguments and param.name in "@*" else None
            )
            self._put(size or plain(str(len(values))), in_quotes, out)
            return
        if param.op == ":":
            sliced = self._slice(param, values)
            if sliced is None:
                self._put((self.hole(self.span(param).text, "slice at an unknown place", param),), in_quotes, out)
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
            values = [transform(self, value, param) for value in values]
        self._put_list(values, star, in_quotes, out)

    def _slice(self, param: Param, values: list[Parts]) -> list[Parts] | None:
        offset = self.arithmetic(self.string(param.arg), param) if param.arg is not None else 0
        length = self.arithmetic(self.string(param.arg2), param) if param.arg2 is not None else None
        if isinstance(offset, Hole) or isinstance(length, Hole):
            return None
        whole = [self.name, *values] if param.name in ("@", "*") else values
        start = offset if offset >= 0 else max(len(whole) + offset, 0)
        if length is not None and length < 0:
            return whole[start:length]
        return whole[start:] if length is None else whole[start : start + length]

    def _put_list(self, values: list[Parts], star: str, in_quotes: bool, out: list[Segment]) -> None:
        if in_quotes and star == "*":
            self._put(join(values, self.separators()[:1]), True, out)
            return
        for number, value in enumerate(values):
            if number:
                out.append(BREAK)
            self._put(value, in_quotes, out)

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
        target = self.value_of(param.name, index, param)
        name = None if target is None else known(target)
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
            hole = value is not None and has_hole(value)
            length = (
                (self.hole(self.span(param).text, "length of an unknown", param),)
                if hole
                else plain(str(len(flat(value or EMPTY))))
            )
            self._put(length, in_quotes, out)
            return
        if param.op in _DEFAULTING:
            self._defaulting(param, name, index, value, in_quotes, out)
            return
        if value is None:
            if "u" in self.options and name not in ("@", "*"):
                self.note("unset", name, param)
                if self.run.closed or not name.isidentifier():
                    raise Exit(1)
                value = (self.environment_hole(name, param),)  # the script could not go on without it
            else:
                value = EMPTY
                if name not in ("@", "*"):
                    self.note("empty", name, param)
        if param.op:
            value = transform(self, value, param)
        self._put(value, in_quotes, out)

    def _defaulting(
        self, param: Param, name: str, index: str | None, value: Parts | None, in_quotes: bool, out: list[Segment]
    ) -> None:
        """`${x:-d}` and kin. For a name from outside the default counts, marked as replaceable, and no path forks."""
        kind = param.op[-1]
        hole = None if value is None else only_hole(value)
        outside = hole is not None and isinstance(hole.key, tuple) and hole.key[0] == "env"
        if hole is not None:
            missing = self._missing(hole, param, kind, outside)
        elif param.op[0] == ":":
            missing = value is None or is_empty(value)
        else:
            missing = value is None
        if kind == "+":
            if not missing:
                self._argument(param.arg, in_quotes, out)
            elif in_quotes:
                out.append((None, True, False))
            return
        if not missing:
            self._put(value or EMPTY, in_quotes, out)
            return
        if kind == "?":
            self.note("required", name, param)
            if outside and hole is not None:
                if param.op[0] == ":":  # from here on it is known not to be empty
                    self.run.answers.setdefault(("empty", hole.key), False)
                self._put(value or EMPTY, in_quotes, out)
                return
            raise Exit(1)
        before = len(out)
        if kind == "=":
            assigned = self.string(param.arg) if param.arg is not None else EMPTY
            if outside:
                assigned = overridable(assigned, name)
            self.assign_value(name, index, with_hop(assigned, Hop(self.span(param))))
            self._put(assigned, in_quotes, out)
            return
        self._argument(param.arg, in_quotes, out)
        if outside and hole is not None and all(_is_blank(segment) for segment in out[before:]):
            del out[before:]  # `${X:-}` is whatever the caller gives
            self._put((hole,), in_quotes, out)
        elif outside:
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

    def separators(self) -> str:
        """The value of IFS."""
        variable = self.lookup("IFS")
        if variable is None or variable.value is None or isinstance(variable.value, Array):
            return " \t\n"
        text = known(variable.value)
        return " \t\n" if text is None else text

    # ---- values of names

    def value_of(self, name: str, index: str | None, node: Node) -> Parts | None:
        """The value of a parameter, None when it is not set, a hole when it is not known."""
        if not (name[0].isalpha() or name[0] == "_"):
            return self._special(name, node)
        variable = self.lookup(name)
        if variable is None or variable.value is None:
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
            return array.items.get("0" if index is None else index)
        place = 0 if index is None else self.arithmetic(plain(index), node)
        if isinstance(place, Hole):
            return (place,)
        if place < 0:
            place += array.next_index()
        return array.items.get(place)

    def _special(self, name: str, node: Node) -> Parts | None:
        if name.isdigit():
            number = int(name)
            if number == 0:
                return self.name
            if number <= len(self.positional):
                return self.positional[number - 1]
            if self.open_arguments:
                key = ("argument", id(self.source), number - len(self.positional))
                return (Hole(key, f"${number}", f"argument {number} of the caller", self.span(node)),)
            return None
        if name == "@":
            return join(self.list_values("@", node), " ")
        if name == "*":
            return join(self.list_values("*", node), self.separators()[:1])
        if name == "#":
            if self.open_arguments:
                return (Hole(("arguments", id(self.source), "#"), "$#", "number of arguments", self.span(node)),)
            return plain(str(len(self.positional)))
        if name == "?":
            return plain(str(self.status)) if self.status is not None else (self.hole("$?", "exit status", node),)
        if name == "!":
            return self.last_background
        if name == "-":
            return plain("hB")
        return (self.hole("$" + name, "process number", node),)

    def _unassigned(self, name: str, index: str | None, never: bool, node: Node) -> Parts | None:
        if name == "PWD":
            return self.cwd
        if name == "BASH_SOURCE" and index in (None, "0"):
            return self.sources[-1]
        if name == "FUNCNAME":
            return plain(self.function_names[-1]) if self.function_names else None
        if name == "LINENO":
            return plain(str(self.source.position(self.here).line))
        if name == "IFS":
            return plain(" \t\n") if never else None
        if name == "OPTIND":
            return plain("1")
        if name in _DYNAMIC:
            return (self.hole(name, f"{name} of the machine", node),)
        if never and index is None and self._from_outside(name):
            return (self.environment_hole(name, node),)
        return None

    def _from_outside(self, name: str) -> bool:
        """Whether a name nobody assigned may come from the environment: upper case, in an open world."""
        return not self.run.closed and name.upper() == name

    def environment_hole(self, name: str, node: Node) -> Hole:
        """The value that the caller's environment may give a name; the same hole at every use."""
        found = self.run.environment.get(name)
        if found is None:
            found = Hole(("env", name), name, "environment variable", self.span(node))
            self.run.environment[name] = found
        return found

    # ---- assignment of strings

    def assign_value(self, name: str, index: str | None, value: Parts, *, append: bool = False) -> None:
        """Give a variable (or an element) a string."""
        self.changed()
        variable = self.ensure(name)
        self.run.chars += sum(len(part.text) for part in value if isinstance(part, Literal))
        if self.run.chars > 4_000_000:
            self.run.steps = self.run.max_steps
        if "a" in self.options:
            variable.exported = True
        if index is not None or isinstance(variable.value, Array):
            self._assign_element(name, index, value, append)
            return
        old = variable.value or EMPTY
        if variable.integer:
            total = (*old, Literal("+("), *value, Literal(")")) if append and old else value
            node = Node(self.here, self.here)
            result = self.arithmetic(total, node)
            variable.value = (result,) if isinstance(result, Hole) else plain(str(result))
            return
        variable.value = (*old, *value) if append else value

    def _assign_element(self, name: str, index: str | None, value: Parts, append: bool) -> None:
        variable = self.ensure(name)
        if not isinstance(variable.value, Array):
            variable.value = Array({} if variable.value is None else {0: variable.value})
        array = variable.value
        key: int | str
        if array.associative:
            key = "0" if index is None else index
        else:
            place = 0 if index is None else self.arithmetic(plain(index), Node(self.here, self.here))
            if isinstance(place, Hole):
                array.items[array.next_index()] = value
                return
            key = place + array.next_index() if place < 0 else place
        array.items[key] = (*array.items.get(key, EMPTY), *value) if append else value

    # ---- arithmetic

    def arithmetic(self, text: Parts, node: Node) -> int | Hole:
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
        except ArithmeticError_ as error:
            self.note("arithmetic", str(error), node)
            raise DiscardLine from None

    # ---- command substitution

    def command_substitution(self, part: CommandSub) -> Parts:
        """What a substituted command prints, without final line ends."""
        target = _only_input(part.body)
        if target is not None:
            content = self.read_file(self.string(target.target))
            if content is None:
                return (self.hole(self.span(part).text, "content of a file", part),)
            return strip_right(content, "\n")
        return strip_right(self.subshell(part.body, capture=True), "\n")

    # ---- splitting and file names

    def _split(self, segments: list[Segment], span: Span) -> list[Text]:
        """Fields of an expanded word."""
        fields = _Fields(self.separators())
        for segment in segments:
            fields.add(segment)
        out: list[Text] = []
        for pieces in fields.finish():
            found = self._file_names(pieces) if "f" not in self.options else None
            if found is not None:
                out.extend(Text((Literal(name, span),), span) for name in found)
                continue
            parts = tuple(piece for piece, _, _ in pieces if piece is not None)
            elastic = (
                bool(parts) and all(isinstance(piece, Hole) for piece in parts) and not any(q for _, q, _ in pieces)
            )
            elastic = elastic or any(
                isinstance(p, Hole) and isinstance(p.key, tuple) and p.key[0] == "arguments" for p in parts
            )
            out.append(Text(parts, span, elastic))
        return out

    def _file_names(self, pieces: list[Segment]) -> list[str] | None:
        """The files an unquoted pattern means; None when the word stays as it is."""
        pattern: Pattern = tuple(
            (piece.text if isinstance(piece, Literal) else MARK, quoted)
            for piece, quoted, _ in pieces
            if piece is not None
        )
        if not is_pattern(pattern) or any(MARK in text for text, _ in pattern):
            return None
        found = self._glob(pattern)
        if found:
            return found
        return [] if found == [] and "nullglob" in self.shell_options else None

    def _glob(self, pattern: Pattern) -> list[str] | None:
        components: list[list[tuple[str, bool]]] = [[]]
        for text, quoted in pattern:
            for number, run in enumerate(text.split("/")):
                if number:
                    components.append([])
                if run:
                    components[-1].append((run, quoted))
        absolute = not components[0]
        if absolute and not self.run.mount:
            return None
        paths = ["/" if absolute else ""]
        last = len(components) - 1
        for number, component in enumerate(components):
            if not component:
                if number == last and number:
                    paths = [path + "/" for path in paths if self._is_dir(path)]
                continue
            paths = self._glob_component(paths, tuple(component))
        return paths

    def _is_dir(self, path: str) -> bool:
        located = self.locate(plain(path))
        return located is not None and self.run.files.is_dir(located)

    def _glob_component(self, paths: list[str], component: Pattern) -> list[str]:
        out: list[str] = []
        name = "".join(text for text, _ in component)
        for path in paths:
            base = path if path in ("", "/") else path + "/"
            if not is_pattern(component):
                located = self.locate(plain(base + name))
                if located is not None and self.run.files.exists(located):
                    out.append(base + name)
                continue
            located = self.locate(plain(path or "."))
            if located is None:
                continue
            regex = compile_pattern(component)
            for entry in self.run.files.listing(located):
                if entry.startswith(".") and not name.startswith("."):
                    continue
                if regex.fullmatch(entry):
                    out.append(base + entry)
        return out


class _Numbers:
    """Variables as arithmetic sees them."""

    def __init__(self, shell: Expansion) -> None:
        self.shell = shell

    def number_text(self, name: str, index: str | None) -> str:
        value = self.shell.value_of(name, index, Node(self.shell.here, self.shell.here))
        if value is None:
            return ""
        text = known(value)
        if text is None:
            raise UnknownNumber
        return text

    def assign_number(self, name: str, index: str | None, value: int) -> None:
        self.shell.assign_value(name, index, plain(str(value)))


class _Fields:
    """Splits segments at the characters of IFS."""

    def __init__(self, separators: str) -> None:
        self.separators = separators
        self.blanks = "".join(char for char in separators if char in " \t\n")
        self.fields: list[list[Segment]] = []
        self.current: list[Segment] = []
        self.keep = False

    def _flush(self) -> None:
        if self.current or self.keep:
            self.fields.append(self.current)
        self.current, self.keep = [], False

    def add(self, segment: Segment) -> None:
        piece, quoted, splits = segment
        if segment is BREAK:
            self._flush()
        elif piece is None:
            self.keep = True
        elif quoted or not splits or isinstance(piece, Hole):
            self.keep = self.keep or quoted
            if isinstance(piece, Hole) or piece.text:
                self.current.append(segment)
        else:
            self._split(piece)

    def _split(self, piece: Literal) -> None:
        text, at, start = piece.text, 0, 0
        size = len(text)
        if not any(char in self.separators for char in text):
            if text:
                self.current.append((piece, False, True))
            return
        whole = Text((piece,))
        while at < size:
            if text[at] not in self.separators:
                at += 1
                continue
            if at > start:
                self.current.append((whole.slice(start, at).parts[0], False, True))
            at = self._separator(text, at)
            start = at
        if size > start:
            self.current.append((whole.slice(start, size).parts[0], False, True))

    def _separator(self, text: str, at: int) -> int:
        """Step over one separator: blanks, and at most one other character with the blanks around it."""
        size = len(text)
        blanks_only = True
        while at < size and text[at] in self.blanks:
            at += 1
        if at < size and text[at] in self.separators and text[at] not in self.blanks:
            blanks_only = False
            at += 1
            while at < size and text[at] in self.blanks:
                at += 1
        if not blanks_only and not self.current:
            self.keep = True
        self._flush()
        return at

    def finish(self) -> list[list[Segment]]:
        self._flush()
        return self.fields


def _is_blank(segment: Segment) -> bool:
    piece = segment[0]
    return piece is None or (isinstance(piece, Literal) and not piece.text)


def _needs_care(text: str) -> bool:
    return any(char in "~{*?[+@!" for char in text)


def _text(word: Word) -> str:
    return "".join(part.text for part in word.parts if isinstance(part, Lit))


def _mentioned(text: Parts) -> list[str]:
    return re.findall(r"[A-Za-z_]\w*", known(text) or "")


def _only_input(body: Sequence) -> Redirect | None:
    """The redirection of `$(< file)`."""
    if len(body.items) != 1 or len(body.items[0][0].items) != 1:
        return None
    commands = body.items[0][0].items[0][1].commands
    if len(commands) != 1 or not isinstance(commands[0], Simple):
        return None
    simple = commands[0]
    if simple.words or simple.assigns or len(simple.redirects) != 1 or simple.redirects[0].op != "<":
        return None
    return simple.redirects[0]
