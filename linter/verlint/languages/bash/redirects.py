"""Reading redirections and the here-documents they announce."""

from __future__ import annotations

from collections.abc import Sequence as Seq

from verlint.languages.bash.braced import BracedReader
from verlint.languages.bash.cursor import BashSyntaxError
from verlint.languages.bash.syntax import DoubleQuoted, Lit, Part, Redirect, Word
from verlint.languages.bash.walk import move
from verlint.lazy import pattern

_REDIRECT = pattern(r"(\d+|\{[A-Za-z_]\w*\})?(&>>|&>|<<<|<<-|<<|<>|>>|>\||>&|<&|<|>)")


class RedirectReader(BracedReader):
    """A cursor that reads redirections."""

    def _redirects(self) -> list[Redirect]:
        out: list[Redirect] = []
        while True:
            self.skip_blanks()
            redirect = self._redirect()
            if redirect is None:
                return out
            out.append(redirect)

    def _redirect(self) -> Redirect | None:
        match = _REDIRECT.match(self.text, self.pos, self.stop)
        if match is None or self.stand_in_end() >= 0:
            return None
        op = match.group(2)
        if op in "<>" and self.text.startswith("(", match.end()):
            return None
        start = self.pos
        self.pos = match.end()
        self.skip_blanks()
        target = self.word()
        if not target.parts and target.start == target.end:
            raise self.fail(f"{op} has no target", start)
        redirect = Redirect(start, self.pos, match.group(1) or "", op, target)
        if op in ("<<", "<<-"):
            quoted = any(not isinstance(part, Lit) or part.quote for part in target.parts)
            self.pending.append((redirect, self._delimiter(target), quoted, op == "<<-"))
        return redirect

    def _delimiter(self, word: Word) -> str:
        out: list[str] = []
        for part in word.parts:
            if isinstance(part, Lit):
                out.append(part.text)
            elif isinstance(part, DoubleQuoted):
                out.extend(inner.text for inner in part.parts if isinstance(inner, Lit))
            else:
                out.append(self.text[part.start : part.end])
        return "".join(out)

    # ---- here-documents

    def read_here_document(self, redirect: Redirect, delimiter: str, quoted: bool, strip: bool) -> None:
        """Read the body of a here-document, which begins at the cursor."""
        start = self.pos
        end = self.stop
        while self.pos < self.stop:
            line_end = self.text.find("\n", self.pos, self.stop)
            line_end = self.stop if line_end < 0 else line_end
            line = self.text[self.pos : line_end]
            if (line.lstrip("\t") if strip else line) == delimiter:
                end = self.pos
                self.pos = min(line_end + 1, self.stop)
                break
            self.pos = min(line_end + 1, self.stop)
        body, offsets = self._document_text(start, end, strip)
        if quoted:
            parts: list[Part] = [Lit(start, end, body, "'")]
        else:
            parts = self._expanded(body, offsets)
        redirect.body = Word(start, end, parts)

    def _expanded(self, body: str, offsets: Seq[int]) -> list[Part]:
        """The parts of a body; one that bash cannot read is only text, because bash finds out when it runs it."""
        reader = self.nested(body)
        reader.document = True
        try:
            parts = reader.quoted_parts(None)
        except BashSyntaxError:
            return [Lit(offsets[0], offsets[-1], body, "'")]
        for part in parts:
            move(part, offsets)
        return parts

    def _document_text(self, start: int, end: int, strip: bool) -> tuple[str, Seq[int]]:
        """Text of a here-document and the offset of each of its characters."""
        if not strip:
            return self.text[start:end], range(start, end + 1)
        chars: list[str] = []
        offsets: list[int] = []
        line_start = True
        for i in range(start, end):
            char = self.text[i]
            if line_start and char == "\t":
                continue
            chars.append(char)
            offsets.append(i)
            line_start = char == "\n"
        offsets.append(end)
        return "".join(chars), offsets
