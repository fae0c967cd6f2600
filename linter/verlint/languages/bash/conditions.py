"""`[ … ]`, `test` and `[[ … ]]`: true, false, or answered by the path when nobody can know."""

from __future__ import annotations

import re

from verlint.languages.bash.arithmetic import decimal
from verlint.languages.bash.command import Guard
from verlint.languages.bash.elastic import MANY, mark_parts
from verlint.languages.bash.expansion import Expansion
from verlint.languages.bash.patterns import MAX_REPEATED, literal_text, matches
from verlint.languages.bash.pieces import (
    EMPTY,
    MARK,
    Parts,
    cut,
    flat,
    has_hole,
    identity,
    is_empty,
    known,
    only_hole,
    overriders,
    same,
    shown,
)
from verlint.languages.bash.run import DiscardLine
from verlint.languages.bash.storage import Array
from verlint.languages.bash.syntax import BinaryTest, LogicTest, Node, NotTest, Test, UnaryTest
from verlint.languages.bash.wrappers import OPTION_LETTERS
from verlint.lazy import pattern
from verlint.record import replace
from verlint.value import Hole, Literal

_BINARY = frozenset(["=", "==", "!=", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "<", ">", "-nt", "-ot", "-ef"])
_NUMERIC = {
    "-eq": "is",
    "-ne": "is not",
    "-lt": "is below",
    "-le": "is at most",
    "-gt": "is above",
    "-ge": "is at least",
}
_FILE = frozenset(
    [
        "-f",
        "-d",
        "-e",
        "-x",
        "-r",
        "-w",
        "-s",
        "-L",
        "-h",
        "-p",
        "-S",
        "-b",
        "-c",
        "-g",
        "-u",
        "-k",
        "-N",
        "-O",
        "-G",
        "-a",
    ]
)
_NESTED = pattern(r"[*+{|].*\)[*+{]")
"""A repeated group with a repetition or a choice in it: matching may take for ever in a long text."""


class TestError(Exception):
    """`[` says that its arguments make no test: status 2."""

    __test__ = False


class Conditions(Expansion):
    """Evaluates conditions."""

    __slots__ = ()

    # ---- [ … ]

    def test_status(self, words: list[Parts], node: Node) -> int:
        """Exit status of `test` with these arguments: 0, 1, or 2 for a malformed one."""
        try:
            return 0 if self._test(words, node) else 1
        except TestError:
            self.note("malformed-test", " ".join(shown(word) for word in words), node)
            return 2

    def _test(self, words: list[Parts], node: Node) -> bool:
        texts = [known(word) for word in words]
        count = len(words)
        if count == 0:
            return False
        if count == 1:
            return self.unary("-n", words[0], node)
        if count == 2:
            if texts[0] == "!":
                return not self.unary("-n", words[1], node)
            return self.unary(texts[0] or "?", words[1], node)
        if count == 3:
            return self._three(words, texts, node)
        if count == 4 and texts[0] == "!":
            return not self._test(words[1:], node)
        return self._joined(words, texts, node)

    def _three(self, words: list[Parts], texts: list[str | None], node: Node) -> bool:
        middle = texts[1]
        if middle in _BINARY:
            return self.binary(middle, words[0], words[2], node)
        if middle == "-a":
            return self.unary("-n", words[0], node) and self.unary("-n", words[2], node)
        if middle == "-o":
            return self.unary("-n", words[0], node) or self.unary("-n", words[2], node)
        if texts[0] == "!":
            return not self._test(words[1:], node)
        if texts[0] == "(" and texts[2] == ")":
            return self.unary("-n", words[1], node)
        raise TestError

    def _joined(self, words: list[Parts], texts: list[str | None], node: Node) -> bool:
        for op in ("-o", "-a"):
            for at in range(len(words) - 1, 0, -1):
                if texts[at] == op:
                    left = self._test(words[:at], node)
                    right = self._test(words[at + 1 :], node)
                    return (left or right) if op == "-o" else (left and right)
        if texts[0] == "!":
            return not self._test(words[1:], node)
        if texts[0] == "(" and texts[-1] == ")":
            return self._test(words[1:-1], node)
        raise TestError

    # ---- operators

    def unary(self, op: str, word: Parts, node: Node) -> bool:
        """`-n`, `-z`, `-v`, file tests."""
        if op in ("-n", "-z"):
            empty = self._is_empty(word, node)
            return empty if op == "-z" else not empty
        if op == "-v":
            return self._is_set(word, node)
        if op == "-t":
            return False if self.run.closed else self.decide(("tty",), "the output is a terminal", node)
        if op == "-o":
            option = flat(word)
            return OPTION_LETTERS.get(option, option) in self.options
        if op == "-R":
            return self.reference_of(flat(word)) is not None
        if op in _FILE:
            return self._file_test(op, word, node)
        raise TestError

    def _is_empty(self, word: Parts, node: Node) -> bool:
        self._consult(word, node)
        hole = only_hole(word)
        if hole is not None:
            return self.decide(("empty", hole.key), f"{hole.name} is not set", node, first=_usually_unset(hole))
        return False if has_hole(word) else is_empty(word)

    def _consult(self, word: Parts, node: Node) -> None:
        """Remember that a condition rests on a default that the user may replace."""
        for name in overriders(word):
            text = f"{name} leaves {shown(word)}" if " " in name else f"{name} is {shown(word)}"
            self.run.consulted.append(Guard(text, self.span(node), True))

    def _is_set(self, word: Parts, node: Node) -> bool:
        text = known(word)
        if text is None:
            return self.decide(("set", identity(word)), f"{shown(word)} is set", node)
        match = re.fullmatch(r"(\w+)(?:\[(.*)\])?", text)
        if match is None:
            return False
        variable = self.lookup(match.group(1))
        if match.group(2) in ("@", "*"):
            return variable is not None and isinstance(variable.value, Array) and bool(variable.value.items)
        value = self.value_of(match.group(1), match.group(2), node)
        hole = None if value is None else only_hole(value)
        if hole is not None and isinstance(hole.key, tuple) and hole.key[0] == "env":
            return not self.decide(("empty", hole.key), f"{hole.name} is not set", node)
        return value is not None

    def _file_test(self, op: str, word: Parts, node: Node) -> bool:
        if is_empty(word):
            return False
        located = self.locate(word)
        if located is not None:
            if located in self.run.made:
                return op != "-f"
            if located in self.run.written:
                return self._is_full(word, located, node) if op == "-s" else op not in ("-d", "-x", "-L", "-h")
            if self.is_there(located):
                return self._existing(op, located)
        kind = {"-d": "is a folder", "-f": "is a file", "-x": "is executable"}.get(op, "exists")
        key = (op, identity(self.absolute(word)))
        return self.decide(key, f"{shown(word)} {kind}", node, first=False)

    def expect_otherwise(self, asked: int) -> bool:
        """Turn the one answer about a file that was given since `asked` answers, unless it was prescribed: who tests
        for a file and gives up without it expects it to be there. False when there is none."""
        run = self.run
        key = next(reversed(run.answers), None)
        if len(run.taken) != asked + 1 or asked < len(run.choices) or not (isinstance(key, tuple) and key[0] in _FILE):
            return False
        if not run.alternatives or run.alternatives[-1] != (*run.taken[:-1], not run.taken[-1]):
            return False
        run.alternatives[-1] = tuple(run.taken)
        answer = run.taken[-1] = not run.taken[-1]
        run.answers[key] = answer
        run.conditions[-1] = run.consulted[-1] = replace(run.conditions[-1], holds=answer)
        return True

    def _is_full(self, word: Parts, located: str, node: Node) -> bool:
        """Whether a file that was written here has anything in it."""
        written = self.run.written[located]
        if any(isinstance(part, Literal) and part.text for part in written):
            return True
        if not has_hole(written):
            return False
        return self.decide(("-s", identity(self.absolute(word))), f"{shown(word)} is not empty", node)

    def _existing(self, op: str, located: str) -> bool:
        files = self.run.files
        if op == "-d":
            return files.is_dir(located)
        if op == "-f":
            return not files.is_dir(located)
        if op == "-x":
            return files.is_executable(located)
        if op == "-s":
            source = files.source(located)
            return source is None or bool(source.text)
        return op not in ("-L", "-h", "-p", "-S", "-b", "-c", "-g", "-u", "-k", "-N")

    def binary(self, op: str, left: Parts, right: Parts, node: Node) -> bool:
        """Comparison of two strings, numbers or files."""
        self._consult(left, node)
        self._consult(right, node)
        if op in ("=", "==", "!="):
            equal = same(left, right)
            if equal is None:
                key = ("equal", frozenset([identity(left), identity(right)]))
                equal = self.decide(key, f"{shown(left)} is {shown(right)}", node, first=False)
            return equal != (op == "!=")
        if op in ("<", ">"):
            if has_hole(left) or has_hole(right):
                return self.decide((op, identity(left), identity(right)), f"{shown(left)} {op} {shown(right)}", node)
            return (flat(left) < flat(right)) if op == "<" else (flat(left) > flat(right))
        if op in ("-nt", "-ot", "-ef"):
            return self.decide((op, identity(left), identity(right)), f"{shown(left)} {op} {shown(right)}", node)
        return self._numeric(op, left, right, node)

    def _numeric(self, op: str, left: Parts, right: Parts, node: Node) -> bool:
        if has_hole(left) or has_hole(right):
            first = op not in ("-lt", "-le", "-ne") if _counts_arguments(left, right) else True
            key = ("number", op, identity(left), identity(right))
            return self.decide(key, f"{shown(left)} {_NUMERIC[op]} {shown(right)}", node, first=first)
        first_number, second_number = decimal(flat(left).strip()), decimal(flat(right).strip())
        if first_number is None or second_number is None:
            raise TestError
        return compare(op, first_number, second_number)

    # ---- [[ … ]]

    def condition(self, test: Test) -> bool:
        """Whether a `[[ ]]` condition holds."""
        if isinstance(test, LogicTest):
            left = self.condition(test.left)
            if test.op == "||":
                return left or self.condition(test.right)
            return left and self.condition(test.right)
        if isinstance(test, NotTest):
            return not self.condition(test.test)
        if isinstance(test, UnaryTest):
            try:
                return self.unary(test.op, self.string(test.word), test)
            except TestError:
                return False
        return self._binary_condition(test)

    def _binary_condition(self, test: BinaryTest) -> bool:
        left = self.string(test.left)
        if test.op in ("=", "==", "!="):
            self._consult(left, test)
            equal = self._matches(left, test)
            return equal != (test.op == "!=")
        if test.op == "=~":
            return self._regex(left, test)
        right = self.string(test.right)
        if test.op in ("<", ">", "-nt", "-ot", "-ef"):
            return self.binary(test.op, left, right, test)
        self._consult(left, test)
        try:
            first, second = self.arithmetic(left, test), self.arithmetic(right, test)
        except DiscardLine:  # inside [[ ]] an expression that cannot be read is only false
            return False
        if isinstance(first, Hole) or isinstance(second, Hole):
            preferred = test.op not in ("-lt", "-le", "-ne") if _counts_arguments(left, right) else True
            text = f"{shown(left)} {_NUMERIC[test.op]} {shown(right)}"
            return self.decide(("number", test.op, identity(left), identity(right)), text, test, first=preferred)
        return compare(test.op, first, second)

    def _matches(self, left: Parts, test: BinaryTest) -> bool:
        pattern = self.pattern(test.right)
        right = self.string(test.right)
        if has_hole(left) and same(left, right) is True:
            return True
        found = matches(flat(left), pattern, any_case="nocasematch" in self.shell_options)
        if found is None:
            key = ("match", identity(left), identity(right))
            found = self.decide(key, f"{shown(left)} is {literal_text(pattern).replace(MARK, '…')}", test, first=False)
        return found

    def _regex(self, left: Parts, test: BinaryTest) -> bool:
        pattern = self.pattern(test.right)
        if has_hole(left) or any(MARK in text for text, _ in pattern):
            return self._undecided_regex(left, str(pattern), literal_text(pattern), test)
        from verlint.languages.bash.regexes import BadExpression, translate_regex

        try:
            text = translate_regex(pattern)
        except BadExpression:
            return False
        if len(flat(left)) > MAX_REPEATED and _NESTED.search(text):
            return self._undecided_regex(left, text, text, test)
        try:
            match = re.search(text, flat(left), re.S | re.I if "nocasematch" in self.shell_options else re.S)
        except re.error:
            return self._undecided_regex(left, text, text, test)
        places = [match.span(at) for at in range(len(match.groups()) + 1)] if match else []
        found = [cut(left, low, high) if low >= 0 else EMPTY for low, high in places]
        self.changed()
        self.ensure("BASH_REMATCH").value = Array(dict(enumerate(found)))
        return match is not None

    def _undecided_regex(self, left: Parts, key: str, text: str, test: BinaryTest) -> bool:
        """A match that nobody can decide; what its parts match is not known either."""
        found = self.decide(("regex", identity(left), key), f"{shown(left)} =~ {text}", test)
        self.changed()
        if found:
            parts = self.hole("BASH_REMATCH", f"parts of {shown(left)}", test, ("match", identity(left), key))
            self.ensure("BASH_REMATCH").value = Array({0: mark_parts((parts,), MANY)}, many=True)
        else:
            self.ensure("BASH_REMATCH").value = Array()
        return found


def compare(op: str, left: int, right: int) -> bool:
    """`left op right` for numbers."""
    return {
        "-eq": left == right,
        "-ne": left != right,
        "-lt": left < right,
        "-le": left <= right,
        "-gt": left > right,
        "-ge": left >= right,
    }[op]


def _usually_unset(hole: Hole) -> bool:
    """Whether a launcher's author expects a name to be unset: environment variables are, options are not."""
    return isinstance(hole.key, tuple) and hole.key[0] in ("env", "argument")


def _counts_arguments(left: Parts, right: Parts) -> bool:
    return any(isinstance(part, Hole) and part.name == "$#" for part in (*left, *right))
