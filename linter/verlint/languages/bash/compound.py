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
    Pipeline,
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


_TESTS = ("[", "test")


def is_test(pipeline: Pipeline) -> bool:
    """Whether this only asks something: `[[ … ]]`, `[ … ]`, `test …`."""
    command = pipeline.commands[0]
    if len(pipeline.commands) > 1 or isinstance(command, Condition):
        return len(pipeline.commands) == 1
    return isinstance(command, Simple) and bool(command.words) and literal_word(command.words[0]) in _TESTS


class CompoundCommands(Loops):
    """Runs compound commands."""

    __slots__ = ()

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
            if holds and self._ends_badly(body, 0) and self.expect_otherwise(asked):
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

    def gives_up(self, command: object, status: int = 1) -> bool:
        """Whether a command ends with an exit that says that something went wrong; `status` is that of what was run
        before it."""
        if isinstance(command, (Group, Subshell)):
            return isinstance(command, Group) and self._ends_badly(command.body, 0)
        if not isinstance(command, Simple) or not command.words:
            return False
        name, *arguments = [literal_word(word) for word in command.words]
        if name in ("exit", "return"):
            return (arguments[0] != "0") if arguments else status != 0
        if name in self.functions:
            return self._function_gives_up(name)
        return False

    def _ends_badly(self, body: Sequence, status: int) -> bool:
        last = body.items[-1][0].items if body.items else []
        pipeline = last[-1][1] if len(last) == 1 else None
        if pipeline is None or len(pipeline.commands) > 1:
            return False
        return self.gives_up(pipeline.commands[0], status if len(body.items) == 1 else 0)

    def _function_gives_up(self, name: str) -> bool:
        """Whether a function is there to stop the script with some last words (`die`)."""
        body = self.functions[name][0]
        last = body.body.items[-1][0].items[-1][1] if isinstance(body, Group) and body.body.items else None
        command = last.commands[-1] if last is not None else None
        words = command.words[:1] if isinstance(command, Simple) else []
        return [literal_word(word) for word in words] == ["exit"] and self.gives_up(command, 0)

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
