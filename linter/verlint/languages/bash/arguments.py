"""Builtins for the arguments and options of the shell: `shift`, `set`, `shopt`, `getopts`."""

from __future__ import annotations

import re

from verlint.languages.bash.arithmetic import decimal
from verlint.languages.bash.declarations import Declarations
from verlint.languages.bash.elastic import MANY, any_many, is_many, marked
from verlint.languages.bash.pieces import Parts, cut, flat, identity, known, plain
from verlint.languages.bash.printing import Argument, integer
from verlint.languages.bash.syntax import Simple
from verlint.languages.bash.wrappers import OPTION_LETTERS

_ON = frozenset(
    ["checkwinsize", "cmdhist", "complete_fullquote", "extquote", "force_fignore", "globasciiranges", "globskipdots",
     "hostcomplete", "interactive_comments", "patsub_replacement", "progcomp", "promptvars", "sourcepath"]
)  # fmt: skip
"""Options of `shopt` that are on from the start."""


class Arguments(Declarations):
    """Changes arguments and options."""

    __slots__ = ()

    def _shift(self, words: list[Argument], simple: Simple) -> None:
        count = integer(self.plain_words(words)[1:2], 1)
        if count is None or count < 0:
            self.status = 1
            return
        if count > len(self.positional) and not self.open_arguments and not any_many(self.positional):
            self.note("shift", str(count), simple)
            self.status = 1
            return
        surely = sum(not is_many(each) for each in self.positional)
        if count > surely and not self.open_arguments:
            key = ("arguments", count, tuple(map(identity, self.positional)))
            if not self.decide(key, f"there are {count} arguments", simple):
                self.status = 1
                return
        behind = next((at for at, each in enumerate(self.positional[:count]) if is_many(each)), count)
        self.positional = self.positional[behind:]
        self.status = 0

    def _set(self, words: list[Argument], simple: Simple) -> None:
        rest = [marked(text, MANY) for text in self.texts(words[1:])]
        self.status = 0
        while rest:
            text = flat(rest[0])
            if text in ("--", "-"):
                if text == "-":
                    self.options -= {"x", "v"}
                if text == "--" or len(rest) > 1:
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
        self.positional, self.open_arguments = self.arguments(values)

    def _option(self, name: str, on: bool) -> None:
        letter = OPTION_LETTERS.get(name, name)
        (self.options.add if on else self.options.discard)(letter)

    def _shopt(self, words: list[Argument], simple: Simple) -> None:
        texts = [flat(each) for each in self.plain_words(words)[1:]]
        letters = "".join(text[1:] for text in texts if text[:1] == "-")
        names = [text for text in texts if text[:1] != "-"]
        self.status = 0
        for name in names:
            if "s" in letters or "u" in letters:
                self._change_option(name, on="s" in letters, of_set="o" in letters)
                continue
            options = self.options if "o" in letters else self.shell_options
            on = OPTION_LETTERS.get(name, name) in options or (name in _ON and f"-{name}" not in options)
            self.status = self.status if on else 1
            if "p" in letters:
                self.write(plain(f"shopt {'-s' if on else '-u'} {name}\n"))

    def _change_option(self, name: str, *, on: bool, of_set: bool) -> None:
        """`shopt -s NAME`, with `-o` for an option of `set`. One that is on from the start is noted when it is off."""
        if of_set:
            (self.options.add if on else self.options.discard)(OPTION_LETTERS.get(name, name))
        else:
            (self.shell_options.add if on else self.shell_options.discard)(name)
            (self.shell_options.discard if on else self.shell_options.add)(f"-{name}")

    def _getopts(self, words: list[Argument], simple: Simple) -> None:
        texts = self.plain_words(words)
        if len(texts) < 3:
            self.status = 2
            return
        spec, name = flat(texts[1]), flat(texts[2])
        arguments = texts[3:] or self.positional
        state = self.value_of("OPTIND", None, simple)
        place = decimal(known(state or plain("1")) or "1") or 1
        offset = self.option_offset
        if (
            place > len(arguments)
            or not flat(arguments[place - 1]).startswith("-")
            or flat(arguments[place - 1]) == "-"
        ):
            self._no_more_options(name)
            return
        word = arguments[place - 1]
        text = flat(word)
        if text == "--":
            self.assign_value("OPTIND", None, plain(str(place + 1)))
            self._no_more_options(name)
            return
        letter = text[offset]
        at = spec.find(letter)
        self.status = 0
        silent = spec.startswith(":")
        if at < 0 or letter == ":":
            self._wrong_option(name, "?", letter, silent)
            offset += 1
        elif spec[at + 1 : at + 2] == ":":
            if text[offset + 1 :]:
                self.assign_value("OPTARG", None, cut(word, offset + 1, len(text)))
            else:
                place += 1
                if place > len(arguments):
                    self._wrong_option(name, ":" if silent else "?", letter, silent)
                    self.option_offset = 1
                    self.assign_value("OPTIND", None, plain(str(place)))
                    return
                self.assign_value("OPTARG", None, arguments[place - 1])
            self.assign_value(name, None, plain(letter))
            offset = len(text)
        else:
            self.assign_value(name, None, plain(letter))
            self.unset("OPTARG")
            offset += 1
        if offset >= len(text):
            offset, place = 1, place + 1
        self.option_offset = offset
        self.assign_value("OPTIND", None, plain(str(place)))

    def _wrong_option(self, name: str, found: str, letter: str, silent: bool) -> None:
        """`getopts` met an option it does not know, or one without its argument."""
        self.assign_value(name, None, plain(found))
        if silent:
            self.assign_value("OPTARG", None, plain(letter))
        else:
            self.unset("OPTARG")

    def _no_more_options(self, name: str) -> None:
        self.assign_value(name, None, plain("?"))
        self.unset("OPTARG")
        self.status = 1
