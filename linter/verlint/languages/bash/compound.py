"""Compound commands: choices, groups, subshells, conditions."""

from __future__ import annotations

from verlint.languages.bash.loops import Loops, one_line
from verlint.languages.bash.patterns import literal_text, matches
from verlint.languages.bash.pieces import MARK, Parts, flat, identity, known, shown
from verlint.languages.bash.run import DiscardLine, Exit
from verlint.languages.bash.syntax import (
    ArithCommand,
    Case,
    Condition,
    Coprocess,
    For,
    ForArith,
    FunctionDef,
    Group,
    If,
    Lit,
    Sequence,
    Simple,
    Subshell,
    While,
    Word,
)
from verlint.languages.bash.syntax import Command as CommandNode
from verlint.languages.bash.walk import literal_word
from verlint.value import Hole

_ACTIVE = frozenset("*?[+@!~\\" + MARK)
"""Bare characters that may match others than themselves."""


def _gives_up(body: Sequence) -> bool:
    """Whether commands end with an exit that says that something went wrong."""
    last = body.items[-1][0].items if body.items else []
    command = last[-1][1].commands[-1] if len(last) == 1 else None
    if not isinstance(command, Simple) or len(command.words) != 2:
        return False
    return literal_word(command.words[0]) in ("exit", "return") and literal_word(command.words[1]) != "0"


class CompoundCommands(Loops):
    """Runs compound commands."""

    def command(self, node: CommandNode) -> None:
        """Run one command."""
        self.run.step()
        self.here = node.start
        if isinstance(node, Simple):
            self.simple(node)
            return
        if isinstance(node, FunctionDef):
            self.functions[node.name] = (node.body, self.source, self.sources[-1])
            self.status = 0
            return
        output, stdin, guards, errors = self.output, self.input, self.guards, self.errors
        descriptors, files_of = self.descriptors, self.files_of
        redirections = self._redirect(node.redirects) if node.redirects else []
        if redirections is None:
            self.status = 1
            self.output, self.input, self.errors = output, stdin, errors
            if "e" in self.options and not self.unchecked:
                raise Exit(1)
            return
        try:
            self._compound(node)
            if redirections and self.output is not output and self.output:
                self._remember_output(redirections)
        finally:
            self.guards = guards
            if redirections:
                self.errors = errors
                self.output, self.input, self.descriptors, self.files_of = output, stdin, descriptors, files_of

    def _compound(self, node: CommandNode) -> None:
        if isinstance(node, If):
            self._if(node)
        elif isinstance(node, For):
            self._for(node)
        elif isinstance(node, ForArith):
            self._for_arith(node)
        elif isinstance(node, While):
            self._while(node)
        elif isinstance(node, Case):
            self._case(node)
        elif isinstance(node, Subshell):
            self._subshell_command(node)
        elif isinstance(node, Group):
            self.sequence(node.body)
        elif isinstance(node, Condition):
            self.status = 0 if self.condition(node.test) else 1
        elif isinstance(node, ArithCommand):
            self._arith_command(node)
        elif isinstance(node, Coprocess):
            self.coprocess(node)

    def _subshell_command(self, node: Subshell) -> None:
        capture = self.output is not None
        printed = self.subshell(node.body, capture=capture)
        if capture:
            self.write(printed)

    def _if(self, node: If) -> None:
        for test, body in node.arms:
            asked = len(self.run.taken)
            holds, guards = self._holds(test)
            if holds and _gives_up(body) and self.expect_otherwise(asked):
                holds, guards = False, tuple(self.run.consulted[-1:])
                self.status = 1
            if holds is None:
                text = f"{one_line(self.span(test).text)} succeeds"
                before = len(self.run.consulted)
                holds = self.decide(("command", test.start), text, test, remember=False)
                self.status = 0 if holds else 1
                guards = (*guards, *self.run.consulted[before:])
            self.guards = (*self.guards, *guards)
            if holds:
                self.sequence(body)
                return
        if node.otherwise is not None:
            self.sequence(node.otherwise)
        else:
            self.status = 0

    def _case(self, node: Case) -> None:
        word = self.string(node.word)
        text = None if "nocasematch" in self.shell_options else known(word)
        ran = falling = False
        for arm in node.arms:
            before = len(self.run.consulted)
            hit = falling or any(self._pattern_matches(word, text, pattern) for pattern in arm.patterns)
            if not hit:
                continue
            ran = ran or bool(arm.body.items)
            self.guards = (*self.guards, *self.run.consulted[before:])
            self.sequence(arm.body)
            falling = arm.end == ";&"
            if arm.end not in (";&", ";;&"):
                break
        if not ran:
            self.status = 0

    def _pattern_matches(self, word: Parts, text: str | None, node: Word) -> bool:
        """Whether a word matches a pattern; `text` are its characters where these can be compared as they are."""
        only = node.parts[0] if text is not None and len(node.parts) == 1 else None
        if isinstance(only, Lit) and (only.quote or _ACTIVE.isdisjoint(only.text)):
            return text == only.text
        pattern = self.pattern(node)
        found = matches(flat(word), pattern, any_case="nocasematch" in self.shell_options)
        if found is None:
            other = literal_text(pattern).replace(MARK, "…")
            found = self.decide(("case", identity(word), other), f"{shown(word)} is {other}", node, first=False)
        return found

    def coprocess(self, node: Coprocess) -> None:
        """Run a command beside the shell; implemented by the shell."""
        raise NotImplementedError

    def _arith_command(self, node: ArithCommand) -> None:
        text = self.string(node.expr)
        try:
            value = self.arithmetic(text, node)
        except DiscardLine:
            self.status = 1
            return
        if isinstance(value, Hole):
            value = 1 if self.decide(("arith", identity(text)), f"(({shown(text)}))", node) else 0
        self.status = 0 if value else 1
