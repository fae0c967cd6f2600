"""Functions, sourced files, nested scripts, and strings that are run as commands."""

from __future__ import annotations

import re
from collections.abc import Iterator

from verlint.languages.bash.command import Call
from verlint.languages.bash.parser import parse
from verlint.languages.bash.pieces import Parts, has_hole, only_hole, plain, shown, with_hop
from verlint.languages.bash.redirections import Redirections
from verlint.languages.bash.run import MAX_FUNCTIONS, DiscardLine, Endless, Exit, OverBudget, Return
from verlint.languages.bash.storage import Variable
from verlint.languages.bash.syntax import Command as CommandNode
from verlint.languages.bash.syntax import Program, Sequence, Simple
from verlint.languages.bash.wrappers import OPTION_LETTERS, shell_call
from verlint.source import Piece, Source, Span
from verlint.value import Hop, Literal, Text


class Scripts(Redirections):
    """Runs other texts."""

    __slots__ = ()

    # ---- in this shell

    def _call(self, name: str, arguments: list[Parts], node: Simple) -> None:
        if len(self.function_names) >= MAX_FUNCTIONS:
            self.run.over_budget = True
            raise OverBudget
        body, source, path = self.functions[name]
        if self.function_names.count(name) == 4 and self._goes_on(name, source):
            self.note("endless" if not self.unattended else "recursion", "call", node)
            raise Endless if not self.unattended else Exit(None)
        saved = (self.positional, self.open_arguments, self.source, self.stack, self.loops)
        self.positional, self.open_arguments = self.arguments(arguments)
        self.stack = (*self.stack, Call(self.span(node), name))
        self.source = source
        self.scopes.append({})
        self.function_names.append(name)
        self.call_lines.append(saved[2].position(node.start).line)
        self.sources.append(path)
        self.loops = 0
        before = self.traps.pop("RETURN", None)
        try:
            try:
                self.command(body)  # type: ignore[arg-type]
            except Return as ended:
                self.status = ended.status
            if "RETURN" in self.traps:
                self.run_trap("RETURN")
            elif before is not None:
                self.traps["RETURN"] = before
        finally:
            self.positional, self.open_arguments, self.source, self.stack, self.loops = saved
            if self.local_options:  # `local -`
                self.options = self.local_options.pop(len(self.scopes), self.options)
            self.scopes.pop()
            self.function_names.pop()
            self.call_lines.pop()
            self.sources.pop()
            self.changed()

    def _goes_on(self, name: str, source: Source) -> bool:
        """Whether a function calls itself for ever, as far as its text tells."""
        from verlint.languages.bash.endless import calls_itself

        return "e" not in self.options and calls_itself(name, source, self.functions)

    def source_file(self, path: Parts, arguments: list[Parts], simple: Simple) -> None:
        """Run a file in this shell."""
        source = self._script(path)
        self.status = 0
        if source is None:
            self.note("missing-source", shown(path), simple)
            self.set_by_strangers(shown(path))
            self.replaced_by_strangers(shown(path), f"source {shown(path)}", simple)
            return
        if not self._enter(source, simple):
            return
        program = self._program(source)
        saved = (self.source, self.stack, self.positional, self.open_arguments)
        self.stack = (*self.stack, Call(self.span(simple), shown(path)))
        self.source = source
        self.sources.append(path)
        self.function_names.append("source")
        self.call_lines.append(saved[0].position(simple.start).line)
        if arguments:
            self.positional, self.open_arguments = self.arguments(arguments)
        try:
            self.sequence_of(program)
        except Return as ended:
            self.status = ended.status
        finally:
            self.source, self.stack = saved[:2]
            if arguments:
                self.positional, self.open_arguments = saved[2:]
            self.sources.pop()
            self.function_names.pop()
            self.call_lines.pop()
            self.run.leave()

    def _script(self, path: Parts) -> Source | None:
        """The text of a script that is on disk or was written before."""
        pipe = only_hole(path)
        if pipe is not None and pipe.key in self.run.streams:
            return self._embedded(self.run.streams[pipe.key])
        located = self.locate(path)
        if located is None:
            written = self.run.outside.get(self.place_outside(path))
            return self._embedded(written) if written else None
        written = self.run.written.get(located)
        if written:
            return _copied(written) or self._embedded(written)
        if self.run.gone and not self.is_there(located):
            return None
        return self.run.files.source(located)

    def _enter(self, source: Source, simple: Simple) -> bool:
        """Begin a nested text; one that starts itself for ever is noted and not followed."""
        if self.run.enter(source):
            return True
        self.note("recursion", source.path, simple)
        self.status = None
        return False

    def _program(self, source: Source) -> Program:
        if source.parent is not None and id(source) not in self.run.programs:
            return self._parsed(source, file=True)  # made on the way: others must not be taken for it
        found = self.run.programs.get(id(source))
        if found is None:
            found = self.run.programs[id(source)] = parse(source.text)
        return found

    def run_text(self, text: Parts) -> None:
        """Run a string as commands of this shell (`eval`)."""
        source = self._embedded(text)
        program = self._parsed(source)
        self.run.enter(source)
        saved, self.source = self.source, source
        try:
            self.sequence_of(program)
            if program.problem is not None and program.problem.ends:
                self.status = 2
        finally:
            self.source = saved
            self.run.leave()

    def _parsed(self, source: Source, *, file: bool = False) -> Program:
        """The tree of a text made here: `_embedded` gave it."""
        program = parse(source.text, file=file)
        if not self.run.embedded:
            return program
        from verlint.languages.bash.embedding import with_holes

        return with_holes(program)

    def _embedded(self, text: Parts) -> Source:
        """A source for a string that is run as commands; holes stay as words nobody knows."""
        out: list[str] = []
        pieces: list[Piece] = []
        at = 0
        written = self._written_in(text)
        for part in text:
            run = part.text if isinstance(part, Literal) else self.run.stand_in(part)
            span = part.span
            if span is not None and span.source is written:
                inset = 1 if isinstance(part, Literal) and span.end - span.start == len(run) + 2 else 0
                if "\n" in run and isinstance(part, Literal) and run != span.text:
                    pieces += _line_by_line(run, span, at)
                else:
                    pieces.append(Piece(at, span.start + inset, min(len(run), span.end - span.start)))
            out.append(run)
            at += len(run)
        if not pieces:
            pieces.append(Piece(0, self.here, 1))
        self.run.make_text(at)
        return Source(written.path, "".join(out), written, tuple(pieces))

    def _written_in(self, text: Parts) -> Source:
        """The text that a string stands in: that which is run, or one around it (the input of `ssh HOST bash -s`)."""
        sources = [part.span.source for part in text if part.span is not None]
        around: Source | None = self.source
        while around is not None:
            if any(each is around for each in sources):
                return around
            around = around.parent
        return self.source

    def sequence_of(self, program: Program) -> None:
        """Run the commands of a text in this shell."""
        for group in program.groups:
            try:
                self.sequence(group)
            except DiscardLine:
                self.status = 1

    # ---- in a shell of its own

    def _script_by_path(self, words: list[Text], node: Simple) -> bool:
        """A script started by its path."""
        text = words[0].known
        if text is None or "/" not in text:
            return False
        source = self._script(words[0].parts)
        if source is None or not (text.endswith((".sh", ".bash")) or re.match(r"#!.*\b(bash|sh)\b", source.text)):
            return False
        self._child(source, words[0].parts, self.passed(list(words[1:])), node)
        return True

    def _shell_program(self, words: list[Text], node: Simple) -> None:
        """`bash …`: a script, a command string, or commands from the input."""
        call = shell_call(words)
        at, options = call.operands, list(call.options)
        if call.string:
            self._command_string(words[at:], options, node)
            return
        if at >= len(words) or any("s" in option for option in options if option[1:2] != "o"):
            if self.input is not None and _holds_commands(self.input.parts):
                text = self.input.rest()
                source = _copied(text)
                if source is None:
                    self._command_string([Text(text), words[0], *words[at:]], options, node)
                else:
                    self._child(source, words[0].parts, self.passed(list(words[at:])), node, options)
            return
        source = self._script(words[at].parts)
        if source is None:
            self.note("missing-script", words[at].shown, node)
            return
        self._child(source, words[at].parts, self.passed(list(words[at + 1 :])), node, options)

    def _command_string(self, words: list[Text], options: list[str], node: Simple) -> None:
        if not words:
            return
        source = self._embedded(words[0].parts)
        name = words[1].parts if len(words) > 1 else plain("bash")
        self._child(source, name, self.passed(list(words[2:])), node, options, text=True)

    def _child(
        self,
        source: Source,
        name: Parts,
        arguments: list[Parts],
        node: Simple,
        options: list[str] | None = None,
        *,
        text: bool = False,
        cwd: Parts | None = None,
    ) -> None:
        """Run a script in a shell of its own, with the exported variables; `cwd` is where, if not here."""
        if not self._enter(source, node):
            return
        child = type(self)(self.run, source, name, self.cwd if cwd is None else cwd)
        self.run.copy(len(self.globals))
        for each, value in self.exported().items():
            child.globals[each] = Variable(value.parts, exported=True)
        child.bare = self.bare
        unset = [each for each, variable in self.globals.items() if variable.value is None]
        for each in (*self.withheld, *unset):  # nobody outside gives it a value
            child.globals.setdefault(each, Variable())
        hop = Hop(self.span(node))
        given, child.open_arguments = self.arguments(arguments)
        child.positional = [with_hop(each, hop) if has_hole(each) else each for each in given]
        child.functions = {each: self.functions[each] for each in self.exported_functions if each in self.functions}
        child.exported_functions = set(child.functions)
        if "SHELLOPTS" in child.globals:
            child.options = set(self.options)
        child.output, child.input, child.errors = self.output, self.input, self.errors
        child.descriptors, child.files_of = dict(self.descriptors), dict(self.files_of)
        child.guards, child.background = self.guards, self.background
        child.unattended = self.unattended
        child.substituting = self.substituting
        child.elsewhere = self.elsewhere
        child.mode = "c" if text else ""
        child.stack = (*self.stack, Call(self.span(node), shown(name)))
        for option in options or []:
            if option.startswith("-o "):
                child.options.add(OPTION_LETTERS.get(option[3:], option[3:]))
            elif re.fullmatch(r"-[a-z]+", option):
                child.options.update(letter for letter in option[1:] if letter in "exu")
        try:
            child.main(self._parsed(source) if text else self._program(source))
        finally:
            self.run.leave()
        self.status = child.status

    # ---- implemented further up

    def run_trap(self, name: str) -> None:
        """Run what is to be done at an event."""
        raise NotImplementedError

    def main(self, program: Program) -> None:
        """Run a whole text, line by line as bash does; sets `status`."""
        raise NotImplementedError

    def sequence(self, body: Sequence) -> None:
        """Run lists one after the other."""
        raise NotImplementedError

    def command(self, node: CommandNode) -> None:
        """Run one command."""
        raise NotImplementedError


def _copied(text: Parts) -> Source | None:
    """The file that a text is a copy of, as it stands."""
    only = text[0] if len(text) == 1 else None
    span = only.span if isinstance(only, Literal) else None
    return span.source if span is not None and span == span.source.whole() and span.text == shown(text) else None


def _holds_commands(text: Parts) -> bool:
    """Whether any line of a text begins with characters that are known."""
    start = True
    for part in text:
        if isinstance(part, Literal):
            lines = part.text.split("\n")
            if (start and lines[0].strip()) or any(line.strip() for line in lines[1:]):
                return True
            start = len(lines) > 1 or (start and not part.text)
        else:
            start = False
    return False


def _line_by_line(run: str, span: Span, at: int) -> Iterator[Piece]:
    """Where the lines of a text stand that was put together from a here-document, of which `span` is the beginning:
    each line begins and ends as it is written, and between may be what a variable or an escape stood for."""
    text, outer = span.source.text, span.start
    for line in run.split("\n"):
        end = text.find("\n", outer)
        written = text[outer : len(text) if end < 0 else end]
        same = next((n for n, (left, right) in enumerate(zip(line, written, strict=False)) if left != right), None)
        same = min(len(line), len(written)) if same is None else same
        yield Piece(at, outer, same)
        behind = min(len(line), len(written)) - same
        tail = next((n for n in range(behind) if line[-1 - n] != written[-1 - n]), behind)
        if tail:
            yield Piece(at + len(line) - tail, outer + len(written) - tail, tail + 1)
        if end < 0:
            return
        at, outer = at + len(line) + 1, end + 1
