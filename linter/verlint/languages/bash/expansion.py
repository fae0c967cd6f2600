"""From words as written to the strings a command gets, in bash's order: braces, tilde, parameters, commands,
arithmetic, splitting, file names, quote removal."""

from __future__ import annotations

from verlint.languages.bash.braces import expand_braces
from verlint.languages.bash.parameters import Parameters
from verlint.languages.bash.patterns import Pattern, compile_pattern, is_pattern
from verlint.languages.bash.pieces import MARK, plain
from verlint.languages.bash.segments import Segment
from verlint.languages.bash.splitting import FieldSplitter
from verlint.languages.bash.syntax import DoubleQuoted, Lit, Param, Part, Word
from verlint.lazy import pattern
from verlint.source import Span
from verlint.value import Hole, Literal, Text

_TILDE_ASSIGNMENT = pattern(r"[A-Za-z_]\w*=~(?=/|$)")


class Expansion(Parameters):
    """Expands words."""

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

    # ---- splitting and file names

    def _split(self, segments: list[Segment], span: Span) -> list[Text]:
        """Fields of an expanded word."""
        fields = FieldSplitter(self.separators())
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


def _needs_care(text: str) -> bool:
    return any(char in "~{*?[+@!" for char in text)
