"""Redirections, and the files that commands read and write."""

from __future__ import annotations

from verlint.languages.bash.assigning import Assigning
from verlint.languages.bash.command import Redirect as Redirection
from verlint.languages.bash.pieces import EMPTY, Parts, cut, flat, is_empty, join, only_hole, plain
from verlint.languages.bash.storage import Stream
from verlint.languages.bash.syntax import ProcessSub, Redirect
from verlint.source import Span
from verlint.value import Literal, Text

_WRITING = frozenset([">", ">>", ">|", "&>", "&>>"])


class Redirections(Assigning):
    """Carries out redirections."""

    __slots__ = ()

    def _redirect(self, redirects: list[Redirect]) -> list[Redirection] | None:
        """Carry out redirections; None when bash would not run the command."""
        out: list[Redirection] = []
        for redirect in redirects:
            if redirect.op in ("<<", "<<-"):
                body = self.string(redirect.body) if redirect.body is not None else EMPTY
                self._read_from(redirect.fd, Stream(body))
                out.append(Redirection(redirect.op, redirect.fd, Text(body), self.span(redirect)))
                continue
            if redirect.op == "<<<":
                text = self.string(redirect.target)
                self._read_from(redirect.fd, Stream((*text, Literal("\n"))))
                out.append(Redirection(redirect.op, redirect.fd, Text(text), self.span(redirect)))
                continue
            first = redirect.target.parts[0] if redirect.target.parts else None
            if isinstance(first, ProcessSub):
                printed = self.file_of(first)
                if redirect.op == "<":
                    self._read_from(redirect.fd, Stream(printed))
                continue
            words = self.fields(redirect.target)
            if len(words) != 1 or is_empty(words[0].parts):
                self.note("bad-redirect", self.span(redirect).text, redirect)
                return None
            if redirect.op in _WRITING and not self._may_write(words[0].parts):
                return None
            if redirect.op == "<" and self._lacks_file(words[0].parts):
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
            self._read_from(redirect.fd, Stream(content))
        elif redirect.op == "<&":
            stream = self.descriptors.get((target.known or "").rstrip("-"))
            if stream is not None:
                self._read_from(redirect.fd, stream)
        elif redirect.op == ">&":
            if redirect.fd in ("", "1") and target.known in self.files_of:
                self.output = []
            elif redirect.fd in ("", "1") and target.known == "2":
                self.output = [] if self.errors is None else self.errors
            elif redirect.fd == "2" and target.known == "1":
                self.errors = self.output
        elif redirect.op in _WRITING:
            self._write_to(redirect, self.locate(target.parts))

    def _write_to(self, redirect: Redirect, located: str | None) -> None:
        """Open a file for writing; what was in it is gone, but for `>>`."""
        standard = redirect.fd in ("", "1") or redirect.op[0] == "&"
        if standard:
            self.output = []
        if redirect.fd == "2" or redirect.op[0] == "&":
            self.errors = self.output if standard else []
        if located is None:
            return
        if redirect.op not in (">>", "&>>") or not self.is_there(located):
            self.run.written[located] = EMPTY
        if not standard and redirect.fd != "2":
            self.files_of = {**self.files_of, self._descriptor(redirect.fd): located}

    def _read_from(self, descriptor: str, stream: Stream) -> None:
        if descriptor in ("", "0"):
            self.input = stream
        else:
            self.descriptors = {**self.descriptors, self._descriptor(descriptor): stream}

    def _descriptor(self, descriptor: str) -> str:
        """The number of a descriptor; for `{name}` a new one, which the variable gets."""
        if not descriptor.startswith("{"):
            return descriptor
        number = 10
        while str(number) in self.descriptors or str(number) in self.files_of:
            number += 1
        self.assign_value(descriptor[1:-1], None, plain(str(number)))
        return str(number)

    def _may_write(self, path: Parts) -> bool:
        """Whether a file can be written: its folder is there, and it is no folder itself."""
        at = flat(path).rfind("/")
        if self.lacks_folder(cut(path, 0, at) if at > 0 else self.cwd):
            return False
        located = self.locate(path)
        return located is None or not (flat(path).endswith("/") or self.is_folder(located))

    def _lacks_file(self, path: Parts) -> bool:
        """Whether a file to read is surely missing."""
        if not self.run.closed:
            return False
        located = self.locate(path)
        if not located or self.is_there(located):
            return False
        return not self.may_be_made(located.rpartition("/")[2])

    def read_file(self, path: Parts) -> Parts | None:
        """The text of a file that is on disk or was written before, if it is known."""
        pipe = only_hole(path)
        if pipe is not None and pipe.key in self.run.streams:
            return self.run.streams[pipe.key]
        located = self.locate(path)
        if located is None:
            return self.run.outside.get(self.place_outside(path))
        if located in self.run.written:
            return self.run.written[located]
        if self.run.gone and not self.is_there(located):
            return None
        source = self.run.files.source(located)
        return None if source is None else plain(source.text, Span(source, 0, len(source.text)))

    def content(self, located: str) -> Parts:
        """The text of a file below the root, which is there; a hole when it cannot be read."""
        written = self.run.written.get(located)
        if written is not None:
            return written
        source = self.run.files.source(located)
        if source is None:
            return (self.hole(f"<{located}>", "content of a file"),)
        return plain(source.text, Span(source, 0, len(source.text)))

    def _remember_output(self, redirections: list[Redirection]) -> None:
        """Keep what a command printed into a file, for later readers of the file."""
        for redirection in redirections:
            if redirection.operator in _WRITING and redirection.descriptor in ("", "1"):
                located = self.locate(redirection.target.parts)
                self._append(located)
                if located is None:
                    self.write_outside(
                        redirection.target.parts, join(self.output or [], ""), append=">>" in redirection.operator
                    )
            elif redirection.operator == ">&" and redirection.descriptor in ("", "1"):
                self._append(self.files_of.get(redirection.target.known or ""))

    def _append(self, located: str | None) -> None:
        if located is not None:
            old = self.content(located) if self.is_there(located) else EMPTY
            self.run.written[located] = (*old, *join(self.output or [], ""))
