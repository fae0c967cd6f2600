"""Running commands without running them: a shell that records what it would start."""

from __future__ import annotations

from collections.abc import Callable

from verlint.languages.bash.compound import CompoundCommands, is_test
from verlint.languages.bash.loops import one_line
from verlint.languages.bash.pieces import EMPTY, Parts, join
from verlint.languages.bash.run import DiscardLine, Endless, Exit, LoopControl
from verlint.languages.bash.storage import Array, Stream
from verlint.languages.bash.syntax import (
    AndOr,
    ArithCommand,
    Case,
    Condition,
    Coprocess,
    For,
    ForArith,
    Group,
    If,
    Pipeline,
    Program,
    Sequence,
    Simple,
    Subshell,
    While,
)
from verlint.languages.bash.syntax import Command as CommandNode

_OF_PROCESS = (
    "globals", "scopes", "shared", "positional", "open_arguments", "cwd", "functions", "options", "shell_options",
    "output", "errors", "input", "descriptors", "files_of", "traps", "loops", "guards", "substituting", "unattended",
    "strangers", "directories", "option_offset",
)  # fmt: skip
"""What a subshell changes without effect on its parent."""

_OF_OTHERS = (If, For, ForArith, While, Case, Group)
"""Commands after which `PIPESTATUS` is that of the last command in them."""


class Shell(CompoundCommands):
    """Executes a syntax tree."""

    __slots__ = ()

    # ---- programs

    def main(self, program: Program, first: int = 0, before: Callable[[int], None] | None = None) -> None:
        """Run a whole text, line by line as bash does; sets `status`. It begins with line `first`; `before` is told
        the number of each line that may decide something, before it runs."""
        try:
            for number in range(first, len(program.groups)):
                group = program.groups[number]
                if before is not None and _may_decide(group):
                    before(number)
                self.group = group
                try:
                    self.sequence(group)
                except DiscardLine:
                    self.status = 1
                except LoopControl:
                    pass
            if program.problem is not None and program.problem.ends:
                self.status = 2
        except Endless:
            self.status = None
            raise
        except Exit as ended:
            self.status = ended.status
        self.run_trap("EXIT")

    def run_trap(self, name: str) -> None:
        """Run what is to be done at an event; the status stays that of before, unless it ends the shell."""
        trap = self.traps.pop(name, EMPTY)
        if not trap:
            return
        status = self.status
        try:
            self.run_text(trap)
        except Exit as ended:
            self.status = ended.status
            if name != "EXIT":
                raise
            return
        except (DiscardLine, LoopControl):
            pass
        self.status = status
        if name != "EXIT":
            self.traps[name] = trap

    # ---- lists

    def sequence(self, body: Sequence) -> None:
        """Run lists one after the other."""
        for item, background in body.items:
            if background:
                self._background(item)
            else:
                self.and_or(item)

    def _background(self, item: AndOr) -> None:
        outer, unattended = self.background, self.unattended
        self.background = self.unattended = True
        self.subshell(Sequence(item.start, item.end, [(item, False)]), capture=False, stdin=Stream(EMPTY))
        self.background, self.unattended = outer, unattended
        number = self.hole("$!", "process number", item)
        self.jobs[number.key] = self.status
        self.status = 0
        self.last_background = (number,)

    def coprocess(self, node: Coprocess) -> None:
        """Run a command beside the shell, joined to it by two descriptors that nobody knows."""
        if not node.name.isidentifier():
            self.status = 1
            return
        self._background(_single(node.body).items[0][0])
        self.changed()
        holes = [self.hole(f"{node.name}[{at}]", "descriptor of a coprocess", node) for at in (0, 1)]
        self.ensure(node.name).value = Array({at: (hole,) for at, hole in enumerate(holes)})
        self.set_plain(f"{node.name}_PID", self.last_background)

    def and_or(self, item: AndOr) -> None:
        """Run pipelines joined by `&&` and `||`; a program whose status nobody knows is taken to succeed."""
        pipeline = item.items[0][1]
        if len(item.items) == 1 and not self.traps and not ("e" in self.options and is_test(pipeline)):
            self.pipeline(pipeline)
            if self.status and "e" in self.options and not self.unchecked and _ends_on_failure(pipeline):
                raise Exit(self.status)
            return
        guards = self.guards
        try:
            self._chain(item)
        finally:
            self.guards = guards

    def _chain(self, item: AndOr) -> None:
        last = len(item.items) - 1
        last_or = max([number for number, (op, _) in enumerate(item.items) if op == "||"], default=-1) if last else -1
        for number, (op, pipeline) in enumerate(item.items):
            if number:
                if self.status is None and op == "&&" and number < last_or:
                    self._ask_status(item.items[number - 1][1])
                succeeded = self.status in (0, None)
                if (op == "&&") != succeeded:
                    continue
            before, asked = len(self.run.consulted), len(self.run.taken)
            self.unchecked += number != last
            try:
                self.pipeline(pipeline)
                while (
                    len(self.run.taken) > asked and self._would_give_up(item, number) and self.expect_otherwise(asked)
                ):
                    asked = len(self.run.taken)
                    del self.run.consulted[before:-1]
                    self.pipeline(pipeline)
            finally:
                self.unchecked -= number != last
            if len(self.run.consulted) > before:
                self.guards = (*self.guards, *self.run.consulted[before:])
            failed = number == last and self.status not in (0, None) and _ends_on_failure(pipeline)
            if failed and not self.unchecked:
                if "ERR" in self.traps and ("E" in self.options or not self.function_names):
                    self.run_trap("ERR")
                if "e" in self.options:
                    raise Exit(self.status)

    def _would_give_up(self, item: AndOr, number: int) -> bool:
        """Whether the script ends with the answer of a test, because of what stands behind it or of `set -e`."""
        if not is_test(item.items[number][1]) or self.status is None:
            return False
        for op, pipeline in item.items[number + 1 :]:
            if (op == "&&") == (self.status == 0):
                return len(pipeline.commands) == 1 and self.gives_up(pipeline.commands[0], self.status)
        return self.status != 0 and "e" in self.options and number == len(item.items) - 1 and not self.unchecked

    def _ask_status(self, pipeline: Pipeline) -> None:
        """`program && a || b` chooses between two things, so both are looked at."""
        text = f"{one_line(self.span(pipeline).text)} succeeds"
        self.status = 0 if self.decide(("command", pipeline.start), text, pipeline, remember=False) else 1

    # ---- pipelines and subshells

    def pipeline(self, pipeline: Pipeline) -> None:
        """Run one command, or several with the output of each as input of the next."""
        if len(pipeline.commands) > 1:
            self._piped(pipeline)
        elif pipeline.negated:
            self.unchecked += 1
            try:
                self._alone(pipeline.commands[0])
            finally:
                self.unchecked -= 1
        else:
            self._alone(pipeline.commands[0])
        if pipeline.negated:
            self.status = 1 if self.status in (0, None) else 0

    def _alone(self, command: CommandNode) -> None:
        """Run the only command of a pipeline."""
        self.command(command)
        if isinstance(command, Simple) or not isinstance(command, _OF_OTHERS):
            self.pipe_status = (self.status,)

    def _piped(self, pipeline: Pipeline) -> None:
        data: Stream | None = None
        count = len(pipeline.commands)
        failed: int | None = 0
        unattended = self.unattended
        self.unattended = True
        statuses: list[int | None] = []
        for number, command in enumerate(pipeline.commands):
            last = number == count - 1
            self.pipe_place = (number, count)
            if last and "lastpipe" in self.shell_options:
                self._last_of_pipe(command, data)
                statuses.append(self.status)
                break
            body = _single(command)
            printed = self.subshell(body, capture=not last or self.output is not None, stdin=data)
            if last and self.output is not None:
                self.output.append(printed)
            statuses.append(self.status)
            if self.status not in (0, None):
                failed = self.status
            data = Stream(printed)
        self.pipe_place = (0, 1)
        self.unattended = unattended
        self.pipe_status = tuple(statuses)
        if "pipefail" in self.options and failed:
            self.status = failed

    def _last_of_pipe(self, command: CommandNode, data: Stream | None) -> None:
        """With `lastpipe` the last command of a pipeline runs in the shell itself."""
        stdin, self.input = self.input, data
        try:
            self.command(command)
        finally:
            self.input = stdin

    def subshell(self, body: Sequence, *, capture: bool, stdin: Stream | None = None) -> Parts:
        """Run commands in a copy of the shell; gives what they print when `capture` is set."""
        saved = {name: getattr(self, name) for name in _OF_PROCESS}
        self.run.copy(len(self.globals))
        self.share()
        self.globals, self.scopes = dict(self.globals), [dict(scope) for scope in self.scopes]
        self.positional, self.functions = list(self.positional), dict(self.functions)
        self.options, self.shell_options = set(self.options), set(self.shell_options)
        self.traps = {"ERR": self.traps["ERR"]} if "E" in self.options and "ERR" in self.traps else {}
        self.loops = 0
        if capture:
            self.output = []
        if stdin is not None:
            self.input = stdin
        self.changed()
        try:
            self._body_of_subshell(body)
        finally:
            printed = join(self.output or [], "") if capture else EMPTY
            for name, value in saved.items():
                setattr(self, name, value)
            self.changed()
        return printed

    def _body_of_subshell(self, body: Sequence) -> None:
        try:
            self.sequence(body)
        except Endless:
            raise
        except Exit as ended:
            self.status = ended.status
        except LoopControl:
            pass
        except DiscardLine:
            self.status = 1
        if self.traps:
            self.run_trap("EXIT")


def _may_decide(line: Sequence) -> bool:
    """Whether a line has more than plain commands and assignments in a row."""
    for item, background in line.items:
        if background or len(item.items) > 1:
            return True
        pipeline = item.items[0][1]
        if len(pipeline.commands) > 1 or not isinstance(pipeline.commands[0], Simple):
            return True
    return False


def _ends_on_failure(pipeline: Pipeline) -> bool:
    """Whether `set -e` looks at the status: for other compound commands it did so inside already."""
    if pipeline.negated:
        return False
    return len(pipeline.commands) > 1 or isinstance(pipeline.commands[0], (Simple, Subshell, Condition, ArithCommand))


def _single(command: CommandNode) -> Sequence:
    item = AndOr(command.start, command.end, [("", Pipeline(command.start, command.end, [command], False))])
    return Sequence(command.start, command.end, [(item, False)])
