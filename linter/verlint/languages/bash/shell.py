"""Running commands without running them: a shell that records what it would start."""

from __future__ import annotations

import re
from collections.abc import Mapping

from verlint.languages.bash.builtins import Argument, Builtins
from verlint.languages.bash.command import Assignment, Call, Command, Guard
from verlint.languages.bash.command import Redirect as Redirection
from verlint.languages.bash.filters import run_filter
from verlint.languages.bash.options import option_loop
from verlint.languages.bash.parser import parse
from verlint.languages.bash.patterns import literal_text, matches
from verlint.languages.bash.pieces import (
    EMPTY,
    MARK,
    Parts,
    flat,
    has_hole,
    identity,
    is_empty,
    join,
    known,
    plain,
    shown,
    with_hop,
)
from verlint.languages.bash.state import (
    MAX_FUNCTIONS,
    MAX_LOOP,
    MAX_SCRIPTS,
    Array,
    DiscardLine,
    Exit,
    LoopControl,
    OverBudget,
    Return,
    Stream,
    Variable,
)
from verlint.languages.bash.syntax import (
    AndOr,
    ArithCommand,
    ArrayLit,
    Assign,
    Case,
    Condition,
    For,
    ForArith,
    FunctionDef,
    Group,
    If,
    Pipeline,
    ProcessSub,
    Program,
    Redirect,
    Sequence,
    Simple,
    Subshell,
    While,
    Word,
)
from verlint.languages.bash.syntax import Command as CommandNode
from verlint.languages.bash.wrappers import program_name, unwrap_one
from verlint.source import Piece, Source, Span
from verlint.value import Hole, Hop, Literal, Text

_RECORDED = frozenset(
    ["echo", "printf", "export", "declare", "typeset", "readonly", "cd", "pushd", "source", ".", "eval", "exec", "set", "exit", "trap",
     "ulimit", "wait", "kill", "unset"]
)  # fmt: skip
_SHELLS = frozenset(["bash", "sh", "dash", "zsh"])


class Shell(Builtins):
    """Executes a syntax tree."""

    # ---- programs

    def main(self, program: Program) -> None:
        """Run a whole text, line by line as bash does; sets `status`."""
        try:
            for group in program.groups:
                try:
                    self.sequence(group)
                except DiscardLine:
                    self.status = 1
                except LoopControl:
                    pass
            if program.problem is not None:
                self.status = 2
        except Exit as ended:
            self.status = ended.status
        trap = self.traps.pop("EXIT", "")
        if trap:
            self._trap_text(trap)

    def _trap_text(self, text: str) -> None:
        status = self.status
        try:
            self.sequence_of(parse(text, file=False))
        except (Exit, DiscardLine, LoopControl):
            pass
        self.status = status

    def sequence_of(self, program: Program) -> None:
        for group in program.groups:
            self.sequence(group)

    def sequence(self, body: Sequence) -> None:
        """Run lists one after the other."""
        for item, background in body.items:
            if background:
                self._background(item)
            else:
                self.and_or(item)

    def _background(self, item: AndOr) -> None:
        outer = self.background
        self.background = True
        self.subshell(Sequence(item.start, item.end, [(item, False)]), capture=False, stdin=Stream(EMPTY))
        self.background = outer
        self.status = 0
        self.last_background = (self.hole("$!", "process number", item),)

    def and_or(self, item: AndOr) -> None:
        """Run pipelines joined by `&&` and `||`; a program whose status nobody knows is taken to succeed."""
        guards = self.guards
        last = len(item.items) - 1
        for number, (op, pipeline) in enumerate(item.items):
            if number:
                if self.status is None and op == "&&" and any(each == "||" for each, _ in item.items[number:]):
                    self._ask_status(item.items[number - 1][1])
                succeeded = self.status in (0, None)
                if (op == "&&") != succeeded:
                    continue
            before = len(self.run.consulted)
            self.unchecked += number != last
            try:
                self.pipeline(pipeline)
            finally:
                self.unchecked -= number != last
            self.guards = (*self.guards, *self.run.consulted[before:])
            if number == last and self.status not in (0, None) and not pipeline.negated:
                if "e" in self.options and not self.unchecked:
                    raise Exit(self.status)
        self.guards = guards

    def _ask_status(self, pipeline: Pipeline) -> None:
        """`program && a || b` chooses between two things, so both are looked at."""
        text = f"{_one_line(self.span(pipeline).text)} succeeds"
        self.status = 0 if self.decide(("command", pipeline.start), text, pipeline, remember=False) else 1

    def pipeline(self, pipeline: Pipeline) -> None:
        if len(pipeline.commands) == 1:
            self.unchecked += pipeline.negated
            try:
                self.command(pipeline.commands[0])
            finally:
                self.unchecked -= pipeline.negated
        else:
            self._piped(pipeline)
        if pipeline.negated:
            self.status = 1 if self.status in (0, None) else 0

    def _piped(self, pipeline: Pipeline) -> None:
        data: Stream | None = None
        count = len(pipeline.commands)
        failed: int | None = 0
        for number, command in enumerate(pipeline.commands):
            last = number == count - 1
            self._pipe_place = (number, count)
            body = _single(command)
            printed = self.subshell(body, capture=not last or self.output is not None, stdin=data)
            if last and self.output is not None:
                self.output.append(printed)
            if self.status not in (0, None):
                failed = self.status
            data = Stream(printed)
        self._pipe_place = (0, 1)
        if "pipefail" in self.options and failed:
            self.status = failed

    _pipe_place: tuple[int, int] = (0, 1)

    def subshell(self, body: Sequence, *, capture: bool, stdin: Stream | None = None) -> Parts:
        saved = (
            self.globals, self.scopes, self.positional, self.open_arguments, self.cwd, self.functions, self.options, self.shell_options,
            self.output, self.input, self.traps, self.loops, self.guards, self.substituting,
        )  # fmt: skip
        self.globals = {name: variable.copy() for name, variable in self.globals.items()}
        self.scopes = [{name: variable.copy() for name, variable in scope.items()} for scope in self.scopes]
        self.positional, self.functions = list(self.positional), dict(self.functions)
        self.options, self.shell_options = set(self.options), set(self.shell_options)
        self.traps, self.loops = {}, 0
        self.changed()
        if capture:
            self.output = []
        self.substituting = self.substituting or capture
        if stdin is not None:
            self.input = stdin
        try:
            self.sequence(body)
        except Exit as ended:
            self.status = ended.status
        except LoopControl:
            pass
        except DiscardLine:
            self.status = 1
        finally:
            printed = join(self.output or [], "") if capture else EMPTY
            (
                self.globals, self.scopes, self.positional, self.open_arguments, self.cwd, self.functions, self.options, self.shell_options,
                self.output, self.input, self.traps, self.loops, self.guards, self.substituting,
            ) = saved  # fmt: skip
            self.changed()
        return printed

    # ---- compound commands

    def command(self, node: CommandNode) -> None:
        """Run one command."""
        self.run.step()
        self.here = node.start
        if isinstance(node, Simple):
            self.simple(node)
            return
        if isinstance(node, FunctionDef):
            self.functions[node.name] = (node.body, self.source)
            self.status = 0
            return
        output, stdin, guards = self.output, self.input, self.guards
        if node.redirects and self._redirect(node.redirects) is None:
            self.status = 1
            self.output, self.input = output, stdin
            return
        try:
            self._compound(node)
        finally:
            self.output, self.input, self.guards = output, stdin, guards

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

    def _subshell_command(self, node: Subshell) -> None:
        capture = self.output is not None
        substituting = self.substituting
        printed = self.subshell(node.body, capture=capture)
        self.substituting = substituting
        if capture:
            self.write(printed)

    def _holds(self, test: Sequence) -> tuple[bool | None, tuple[Guard, ...]]:
        """Whether a condition holds (None: a program decides) and the guards it rests on."""
        before = len(self.run.consulted)
        self.unchecked += 1
        try:
            self.sequence(test)
        finally:
            self.unchecked -= 1
        guards = tuple(self.run.consulted[before:])
        return (None if self.status is None else self.status == 0), guards

    def _if(self, node: If) -> None:
        for test, body in node.arms:
            holds, guards = self._holds(test)
            if holds is None:
                text = f"{_one_line(self.span(test).text)} succeeds"
                before = len(self.run.consulted)
                holds = self.decide(("command", test.start), text, test, remember=False)
                guards = (*guards, *self.run.consulted[before:])
            self.guards = (*self.guards, *guards)
            if holds:
                self.status = 0
                self.sequence(body)
                return
        self.status = 0
        if node.otherwise is not None:
            self.sequence(node.otherwise)

    def _each(self, body: Sequence) -> bool:
        """One turn of a loop; False when the loop is to end."""
        try:
            self.sequence(body)
        except LoopControl as control:
            if control.levels > 1:
                raise LoopControl(control.levels - 1, control.again) from None
            return control.again
        return True

    def _for(self, node: For) -> None:
        if node.words is None:
            values = [Text(each) for each in self.list_values("@", node)]
        else:
            values = [text for word in node.words for text in self.fields(word)]
        self.status = 0
        self.loops += 1
        try:
            for number, value in enumerate(values):
                self.run.step()
                if number >= MAX_LOOP:
                    self.run.over_budget = True
                    break
                self.assign_value(node.name, None, value.parts)
                if not self._each(node.body):
                    break
        finally:
            self.loops -= 1

    def _for_arith(self, node: ForArith) -> None:
        first = self.string(node.first)
        if not is_empty(first):
            self.arithmetic(first, node)
        self.loops += 1
        turns = 0
        counter = _counter(node.first, self.source.text)
        try:
            while True:
                self.run.step()
                test = self.string(node.test)
                value = 1 if is_empty(test) else self.arithmetic(test, node)
                unknown = isinstance(value, Hole)
                if unknown:
                    self._unknown_counter(node)
                elif not value or turns >= MAX_LOOP:
                    self.run.over_budget = self.run.over_budget or bool(value)
                    break
                turns += 1
                if not self._each(node.body) or unknown:
                    break
                before = self.lookup(counter).value if counter and self.lookup(counter) else None  # type: ignore[union-attr]
                step = self.string(node.step)
                if not is_empty(step):
                    self.arithmetic(step, node)
                if turns >= 3 and counter and before is not None and before == self.ensure(counter).value:
                    self.note("endless", "loop", node)
                    raise Exit(None)
        finally:
            self.loops -= 1
        self.status = 0

    def _unknown_counter(self, node: ForArith) -> None:
        """With bounds nobody knows the body runs once, for any value of its counter."""
        counter = _counter(node.first, self.source.text)
        if counter:
            hole = Hole(("counter", id(self.source), node.start), counter, "counter of a loop", self.span(node.first))
            self.set_plain(counter, (hole,))

    def _while(self, node: While) -> None:
        if self.open_arguments and option_loop(self, node):
            self.status = 0
            return
        self.loops += 1
        turns = 0
        seen: object = None
        try:
            while True:
                self.run.step()
                holds, guards = self._holds(node.test)
                if holds is None:
                    holds = not node.until and turns == 0 and not _is_negated(node.test)
                    guards = (*guards, Guard(_one_line(self.span(node.test).text), self.span(node.test), True))
                if holds == node.until:
                    break
                turns += 1
                outer = self.guards
                self.guards = (*outer, *guards)
                goes_on = self._each(node.body)
                self.guards = outer
                if not goes_on or (guards and turns):
                    break
                if turns >= 3:
                    state = self._state()
                    if state == seen:
                        self.note("endless", "loop", node)
                        raise Exit(None)
                    seen = state
                if turns >= MAX_LOOP:
                    self.run.over_budget = True
                    raise OverBudget
        finally:
            self.loops -= 1
        self.status = 0

    def _state(self) -> object:
        """What a loop may change; equal before and after a turn proves that it never ends."""
        scopes = [
            {
                name: (list(v.value.items.items()) if isinstance(v.value, Array) else v.value)
                for name, v in scope.items()
            }
            for scope in (self.globals, *self.scopes)
        ]
        return scopes, list(self.positional), self.cwd, None if self.input is None else self.input.parts

    def _case(self, node: Case) -> None:
        word = self.string(node.word)
        self.status = 0
        falling = False
        for arm in node.arms:
            before = len(self.run.consulted)
            hit = falling or any(self._pattern_matches(word, pattern, node) for pattern in arm.patterns)
            if not hit:
                continue
            self.guards = (*self.guards, *self.run.consulted[before:])
            self.sequence(arm.body)
            falling = arm.end == ";&"
            if arm.end not in (";&", ";;&"):
                return

    def _pattern_matches(self, word: Parts, node_pattern: object, node: Case) -> bool:
        assert hasattr(node_pattern, "parts")
        pattern = self.pattern(node_pattern)  # type: ignore[arg-type]
        found = matches(flat(word), pattern)
        if found is None:
            text = literal_text(pattern).replace(MARK, "…")
            key = ("case", identity(word), text)
            found = self.decide(key, f"{shown(word)} is {text}", node_pattern, first=False)  # type: ignore[arg-type]
        return found

    def _arith_command(self, node: ArithCommand) -> None:
        try:
            text = self.string(node.expr)
            value = self.arithmetic(text, node)
        except DiscardLine:
            self.status = 1
            return
        if isinstance(value, Hole):
            value = 1 if self.decide(("arith", identity(text)), f"(({shown(text)}))", node) else 0
        self.status = 0 if value else 1

    # ---- redirections

    def _redirect(self, redirects: list[Redirect]) -> list[Redirection] | None:
        """Carry out redirections; None when bash would not run the command."""
        out: list[Redirection] = []
        for redirect in redirects:
            if redirect.op in ("<<", "<<-"):
                body = self.string(redirect.body) if redirect.body is not None else EMPTY
                self.input = Stream(body)
                out.append(Redirection(redirect.op, redirect.fd, Text(body), self.span(redirect)))
                continue
            if redirect.op == "<<<":
                text = self.string(redirect.target)
                self.input = Stream((*text, Literal("\n")))
                out.append(Redirection(redirect.op, redirect.fd, Text(text), self.span(redirect)))
                continue
            first = redirect.target.parts[0] if redirect.target.parts else None
            if isinstance(first, ProcessSub):
                printed = self.subshell(first.body, capture=redirect.op == "<")
                if redirect.op == "<":
                    self.input = Stream(printed)
                continue
            words = self.fields(redirect.target)
            if len(words) != 1 or is_empty(words[0].parts):
                self.note("bad-redirect", self.span(redirect).text, redirect)
                return None
            self._open(redirect, words[0])
            out.append(Redirection(redirect.op, redirect.fd, words[0], self.span(redirect)))
        return out

    def _open(self, redirect: Redirect, target: Text) -> None:
        if redirect.op == "<":
            content = self.read_file(target.parts)
            if content is None:
                content = (
                    EMPTY if target.known == "/dev/null" else (self.hole(target.shown, "content of a file", redirect),)
                )
            self.input = Stream(content)
        elif (redirect.op in (">", ">>", ">|", "&>", "&>>") and redirect.fd in ("", "1")) or (
            redirect.op == ">&" and redirect.fd in ("", "1") and target.known == "2"
        ):
            self.output = []

    def read_file(self, path: Parts) -> Parts | None:
        located = self.locate(path)
        if located is None:
            return None
        if located in self.run.written:
            return self.run.written[located]
        source = self.run.files.source(located)
        return None if source is None else plain(source.text, Span(source, 0, len(source.text)))

    def _remember_output(self, redirections: list[Redirection]) -> None:
        """Keep what a command printed into a file, for later readers of the file."""
        for redirection in redirections:
            if redirection.operator in (">", ">>", ">|") and redirection.descriptor in ("", "1"):
                located = self.locate(redirection.target.parts)
                if located is not None:
                    old = self.run.written.get(located, EMPTY) if redirection.operator == ">>" else EMPTY
                    self.run.written[located] = (*old, *join(self.output or [], ""))

    # ---- simple commands

    def simple(self, node: Simple) -> None:
        """Run a simple command."""
        words: list[Argument] = []
        for word in node.words:
            if isinstance(word, Assign):
                words.append(word)
            else:
                words.extend(self.fields(word))
        self.here = node.start
        output, stdin = self.output, self.input
        redirections = self._redirect(node.redirects) if node.redirects else []
        try:
            if redirections is None:
                self.status = 1
            elif not words:
                self._assignments_only(node)
            else:
                self._run_words(words, node, redirections)
            if redirections and self.output is not output and self.output:
                self._remember_output(redirections)
        finally:
            self.output, self.input = output, stdin

    def _assignments_only(self, node: Simple) -> None:
        if not node.assigns:
            self.status = 0
            return
        self.status = 0
        for each in node.assigns:
            self.assign(each)
            self.record_assignment(each.name, each, node, exported=False)

    def _run_words(self, words: list[Argument], node: Simple, redirections: list[Redirection]) -> None:
        first = words[0]
        assert isinstance(first, Text)
        name = first.known or ""
        prefix = self._prefix(node)
        saved: dict[str, Variable | None] = {}
        for each in node.assigns:
            found = self.lookup(each.name)
            saved[each.name] = None if found is None else found.copy()
            self.assign(each, exported=True)
        try:
            self._dispatch(name, words, node, redirections, prefix)
        finally:
            if name != "export":
                self._restore(saved)

    def _prefix(self, node: Simple) -> Mapping[str, Text]:
        out: dict[str, Text] = {}
        for each in node.assigns:
            if isinstance(each.value, ArrayLit):
                continue
            value = self.string(each.value, assignment=True)
            out[each.name] = Text(value, self.span(each.value))
        return out

    def _restore(self, saved: dict[str, Variable | None]) -> None:
        self.changed()
        for name, variable in saved.items():
            if variable is None:
                self.globals.pop(name, None)
                continue
            for scope in (*reversed(self.scopes), self.globals):
                if name in scope:
                    scope[name] = variable
                    break

    def _dispatch(
        self,
        name: str,
        words: list[Argument],
        node: Simple,
        redirections: list[Redirection],
        prefix: Mapping[str, Text],
    ) -> None:
        function = self.functions.get(name)
        if function is not None:
            self._record(words, node, redirections, prefix, function=True)
            self._call(name, self.plain_words(words[1:]), node)
            return
        method = self.builtin(name)
        if method is not None:
            if name in _RECORDED:
                self._record(words, node, redirections, prefix, builtin=True)
            elif name in ("[", "test"):
                self.run.tests.append(self._as_command(words, node, redirections, prefix, builtin=True))
            method(words, node)
            return
        texts = [
            word if isinstance(word, Text) else Text(plain(self.span(word).text), self.span(word)) for word in words
        ]
        self._record(list(texts), node, redirections, prefix)
        self._started(texts, node)

    def external(self, words: list[Text], simple: Simple) -> None:
        self._record(list(words), simple, [], {})
        self._started(words, simple)

    def _record(
        self,
        words: list[Argument],
        node: Simple,
        redirections: list[Redirection],
        prefix: Mapping[str, Text],
        *,
        builtin: bool = False,
        function: bool = False,
    ) -> None:
        self.run.events.append(self._as_command(words, node, redirections, prefix, builtin=builtin, function=function))

    def _as_command(
        self,
        words: list[Argument],
        node: Simple,
        redirections: list[Redirection],
        prefix: Mapping[str, Text],
        *,
        builtin: bool = False,
        function: bool = False,
    ) -> Command:
        argv = tuple(word if isinstance(word, Text) else self._assignment_word(word) for word in words)
        return Command(
            argv=argv,
            span=self.span(node),
            around=self.surroundings(),
            prefix=prefix,
            redirects=tuple(redirections),
            builtin=builtin,
            function=function,
            pipe=self._pipe_place,
            raw=tuple(self.span(word) for word in node.words),
        )

    def _assignment_word(self, word: Assign) -> Text:
        """`NAME=value` as `export` and kin get it."""
        span = self.span(word)
        if isinstance(word.value, ArrayLit):
            return Text(plain(span.text, span), span)
        head = plain(word.name + ("+=" if word.append else "="), Span(self.source, word.start, word.value.start))
        return Text((*head, *self.string(word.value, assignment=True)), span)

    def _started(self, words: list[Text], node: Simple) -> None:
        """What follows from starting a program: its output, and the scripts it runs in turn."""
        name = program_name(words[0])
        result = run_filter(
            self, name, [word.parts for word in words[1:]], None if self.input is None else self.input.parts
        )
        self.status = None
        if result is not None:
            printed, self.status = result
            self.write(printed)
        if name in _SHELLS:
            self._shell_program(words, node)
            return
        inner = unwrap_one(words)
        if inner is not None:
            if inner.argv:
                self._wrapped(list(inner.argv), inner.assignments, node)
            return
        if self._script_by_path(words, node):
            return
        if result is None and self.output is not None and not _prints_nothing(name, words):
            text = " ".join(word.shown for word in words)
            self.write(
                (
                    Hole(
                        ("unique", self.run.unique()), f"$({text})", f"output of {name or 'a command'}", self.span(node)
                    ),
                )
            )

    def _wrapped(self, argv: list[Text], assignments: Mapping[str, Text], node: Simple) -> None:
        saved: dict[str, Variable | None] = {}
        for name, value in assignments.items():
            found = self.lookup(name)
            saved[name] = None if found is None else found.copy()
            self.assign_value(name, None, value.parts)
            self.ensure(name).exported = True
        try:
            self._started(argv, node)
        finally:
            self._restore(saved)

    # ---- functions and scripts

    def _call(self, name: str, arguments: list[Parts], node: Simple) -> None:
        if len(self.scopes) >= MAX_FUNCTIONS:
            self.run.over_budget = True
            raise OverBudget
        body, source = self.functions[name]
        saved = (self.positional, self.open_arguments, self.source, self.stack, self.loops)
        self.positional, self.open_arguments = arguments, False
        self.stack = (*self.stack, Call(self.span(node), name))
        self.source = source
        self.scopes.append({})
        self.function_names.append(name)
        self.loops = 0
        try:
            self.command(body)  # type: ignore[arg-type]
        except Return as ended:
            self.status = ended.status
        finally:
            self.positional, self.open_arguments, self.source, self.stack, self.loops = saved
            self.scopes.pop()
            self.function_names.pop()
            self.changed()

    def source_file(self, path: Parts, arguments: list[Parts], simple: Simple) -> None:
        located = self.locate(path)
        source = None if located is None else self.run.files.source(located)
        self.status = 0
        if source is None or len(self.sources) > MAX_SCRIPTS:
            self.note("missing-source", shown(path), simple)
            return
        program = self._program(source)
        saved = (self.source, self.stack, self.positional, self.open_arguments)
        self.stack = (*self.stack, Call(self.span(simple), shown(path)))
        self.source = source
        self.sources.append(path)
        if arguments:
            self.positional, self.open_arguments = list(arguments), False
        try:
            self.sequence_of(program)
        except Return as ended:
            self.status = ended.status
        finally:
            self.source, self.stack = saved[:2]
            if arguments:
                self.positional, self.open_arguments = saved[2:]
            self.sources.pop()

    def _program(self, source: Source) -> Program:
        found = self.run.programs.get(id(source))
        if found is None:
            found = self.run.programs[id(source)] = parse(source.text)
        return found

    def _script_by_path(self, words: list[Text], node: Simple) -> bool:
        """A script started by its path."""
        text = words[0].known
        if text is None or "/" not in text:
            return False
        located = self.locate(words[0].parts)
        source = None if located is None else self.run.files.source(located)
        if source is None or not (text.endswith((".sh", ".bash")) or re.match(r"#!.*\b(bash|sh)\b", source.text)):
            return False
        self._child(source, words[0].parts, [word.parts for word in words[1:]], node)
        return True

    def _shell_program(self, words: list[Text], node: Simple) -> None:
        """`bash …`: a script, a command string, or commands from the input."""
        options: list[str] = []
        at = 1
        while at < len(words):
            text = words[at].known
            if text is None or not text.startswith(("-", "+")) or text == "-":
                break
            at += 1
            if text == "--":
                break
            if text in ("--rcfile", "--init-file", "-o", "+o"):
                if text == "-o" and at < len(words):
                    options.append("-o " + (words[at].known or ""))
                at += 1
            elif not text.startswith("--") and "c" in text:
                self._command_string(words[at:], [*options, text], node)
                return
            else:
                options.append(text)
        if at >= len(words) or "-s" in options or words[at].known == "-":
            if self.input is not None and self.input.parts and not has_hole(self.input.parts):
                self._command_string([Text(self.input.rest())], options, node)
            return
        located = self.locate(words[at].parts)
        source = None if located is None else self.run.files.source(located)
        if source is None:
            self.note("missing-script", words[at].shown, node)
            return
        self._child(source, words[at].parts, [word.parts for word in words[at + 1 :]], node, options)

    def _command_string(self, words: list[Text], options: list[str], node: Simple) -> None:
        if not words:
            return
        source = self._embedded(words[0].parts)
        if source is None:
            self.note("unknown-command-string", words[0].shown, node)
            return
        name = words[1].parts if len(words) > 1 else plain("bash")
        self._child(source, name, [word.parts for word in words[2:]], node, options, text=True)

    def _embedded(self, text: Parts) -> Source | None:
        """A source for a string that is run as commands; holes stay as words nobody knows."""
        out: list[str] = []
        pieces: list[Piece] = []
        at = 0
        for part in text:
            run = part.text if isinstance(part, Literal) else _placeholder(part)
            span = part.span
            if span is not None and span.source is self.source:
                inset = 1 if isinstance(part, Literal) and span.end - span.start == len(run) + 2 else 0
                pieces.append(Piece(at, span.start + inset, min(len(run), span.end - span.start)))
            out.append(run)
            at += len(run)
        if not pieces:
            pieces.append(Piece(0, self.here, 1))
        return Source(self.source.path, "".join(out), self.source, tuple(pieces))

    def run_text(self, text: Parts, simple: Simple) -> None:
        source = self._embedded(text)
        if source is None:
            self.status = None
            return
        program = parse(source.text, file=False)
        if program.problem is not None:
            self.status = 1
            return
        saved, self.source = self.source, source
        try:
            self.sequence_of(program)
        finally:
            self.source = saved

    def _child(
        self,
        source: Source,
        name: Parts,
        arguments: list[Parts],
        node: Simple,
        options: list[str] | None = None,
        *,
        text: bool = False,
    ) -> None:
        """Run a script in a shell of its own, with the exported variables."""
        if self.run.scripts >= MAX_SCRIPTS:
            self.run.over_budget = True
            raise OverBudget
        self.run.scripts += 1
        child = Shell(self.run, source, name, self.cwd)
        for variable_name, value in self.exported().items():
            child.globals[variable_name] = Variable(value.parts, exported=True)
        hop = Hop(self.span(node))
        child.positional = [with_hop(each, hop) if has_hole(each) else each for each in arguments]
        child.output, child.input = self.output, self.input
        child.guards, child.background = self.guards, self.background
        child.substituting = self.substituting
        child.stack = (*self.stack, Call(self.span(node), shown(name)))
        for option in options or []:
            if option == "-o pipefail":
                child.options.add("pipefail")
            elif re.fullmatch(r"-[a-z]+", option):
                child.options.update(letter for letter in option[1:] if letter in "exu")
        child.main(parse(source.text, file=False) if text else self._program(source))
        self.status = child.status
        self.run.scripts -= 1

    # ---- assignments

    def assign(self, assign: Assign, *, exported: bool | None = None) -> None:
        hop = Hop(self.span(assign))
        if isinstance(assign.value, ArrayLit):
            self._assign_array(assign, assign.value, hop)
        else:
            index = None
            if assign.index is not None:
                index = known(self.string(assign.index)) or "0"
            value = with_hop(self.string(assign.value, assignment=True), hop)
            self.assign_value(assign.name, index, value, append=assign.append)
        if exported:
            self.ensure(assign.name).exported = True
            self.changed()

    def _assign_array(self, assign: Assign, literal: ArrayLit, hop: Hop) -> None:
        variable = self.lookup(assign.name)
        associative = variable is not None and isinstance(variable.value, Array) and variable.value.associative
        array = Array(associative=associative)
        place = 0
        pending: str | None = None
        for item in literal.items:
            if item.index is not None:
                key = flat(self.string(item.index))
                number: int | str | Hole = key if associative else self.arithmetic(plain(key), item.index)
                value = with_hop(self.string(item.word), hop)
                if not isinstance(number, Hole):
                    array.items[number] = value
                    place = number + 1 if isinstance(number, int) else place
                continue
            for text in self.fields(item.word):
                if associative:
                    if pending is None:
                        pending = flat(text.parts)
                    else:
                        array.items[pending] = text.parts
                        pending = None
                    continue
                array.items[place] = with_hop(text.parts, hop)
                place += 1
        self.changed()
        target = self.ensure(assign.name)
        if not assign.append or target.value is None:
            target.value = array
            return
        if not isinstance(target.value, Array):
            target.value = Array({0: target.value})
        start = target.value.next_index() if not associative else 0
        for key2, value in array.items.items():
            target.value.items[key2 if isinstance(key2, str) else start + key2] = value

    def record_assignment(self, name: str, assign: Assign | None, simple: Simple, *, exported: bool) -> None:
        variable = self.lookup(name)
        if variable is None or assign is None:
            return
        value = variable.value
        span = self.span(assign)
        value_span = self.span(assign.value)
        items = tuple(Text(each, value_span) for each in value.values()) if isinstance(value, Array) else ()
        self.run.events.append(
            Assignment(
                name=name,
                value=None if isinstance(value, Array) or value is None else Text(value, value_span),
                span=span,
                value_span=value_span,
                around=self.surroundings(),
                exported=exported or variable.exported,
                items=items,
            )
        )


def _single(command: CommandNode) -> Sequence:
    item = AndOr(command.start, command.end, [("", Pipeline(command.start, command.end, [command], False))])
    return Sequence(command.start, command.end, [(item, False)])


def _prints_nothing(name: str, words: list[Text]) -> bool:
    """`python -c 'import x'`, asked only for its status."""
    if not name.startswith("python") or len(words) < 3 or words[1].known != "-c":
        return False
    code = words[2].known
    return code is not None and not re.search(r"print|write|stdout|exec|run|main", code)


def _counter(first: Word, text: str) -> str:
    """Name of the variable that a `for ((…))` counts in, or ""."""
    match = re.match(r"\s*([A-Za-z_]\w*)\s*=", text[first.start : first.end])
    return match.group(1) if match else ""


def _is_negated(test: Sequence) -> bool:
    return bool(test.items) and test.items[-1][0].items[-1][1].negated


def _one_line(text: str) -> str:
    return " ".join(text.replace("\\\n", " ").split())


def _placeholder(part: Hole) -> str:
    """What stands for an unknown in a string that is run as commands."""
    if re.fullmatch(r"\w+", part.name) and isinstance(part.key, tuple) and part.key[0] == "env":
        return "${" + part.name + "}"
    return "__unknown__"
