"""From words as written to the strings a command gets, in bash's order: braces, tilde, parameters, commands,
arithmetic, splitting, file names, quote removal."""

from __future__ import annotations

from verlint.languages.bash.braces import expand_braces
from verlint.languages.bash.parameters import Parameters
from verlint.languages.bash.patterns import Pattern, compile_pattern, is_pattern
from verlint.languages.bash.pieces import MARK, collapse, plain
from verlint.languages.bash.segments import Segment
from verlint.languages.bash.splitting import FieldSplitter
from verlint.languages.bash.syntax import DoubleQuoted, Lit, Param, Part, Word
from verlint.lazy import pattern
from verlint.source import Span
from verlint.value import Hole, Literal, Text

_TILDE_ASSIGNMENT = pattern(r"[A-Za-z_]\w*=~(?=/|$)")

_CARE = frozenset("~{*?[+@!")
_WILD = frozenset("*?[+@!")


class Expansion(Parameters):
    """Expands words."""

    def fields(self, word: Word) -> list[Text]:
        """The words that one word becomes."""
        span = Span(self.source, word.start, word.end)
        parts = word.parts
        if len(parts) == 1:
            only = parts[0]
            if isinstance(only, Lit) and (only.quote or _CARE.isdisjoint(only.text)):
                return [Text((self._literal(only),), span)]
        out: list[Text] = []
        for expanded in expand_braces(parts):
            segments: list[Segment] = []
            self.segments(self._tilde_after_equals(expanded), False, segments)
            self._charge(segments)
            out.extend(self._split(segments, span))
        return out

    def _charge(self, segments: list[Segment]) -> None:
        """Count what splitting may make of long texts before it does."""
        self.run.spend([piece for piece, _, _ in segments if piece is not None])
        for piece, _, splits in segments:
            if splits and isinstance(piece, Literal) and len(piece.text) > 4_096:
                self.run.built += len(piece.text) >> 1

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
        splitter = FieldSplitter(self.separators())
        for segment in segments:
            splitter.add(segment)
        names = "f" not in self.options
        out: list[Text] = []
        for pieces in splitter.finish():
            found = self._file_names(pieces) if names and _may_be_pattern(pieces) else None
            if found is not None:
                out.extend(Text((Literal(name, span),), span) for name in found)
            else:
                parts = collapse(tuple([piece for piece, _, _ in pieces if piece is not None]))
                out.append(Text(parts, span, _is_elastic(pieces)))
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


def _may_be_pattern(pieces: list[Segment]) -> bool:
    """Whether a bare run has a character that patterns have."""
    return any(
        not quoted and isinstance(piece, Literal) and not _WILD.isdisjoint(piece.text) for piece, quoted, _ in pieces
    )


def _is_elastic(pieces: list[Segment]) -> bool:
    """Whether a word may be any number of words: it is nothing but bare unknowns, or holds the caller's arguments."""
    bare = bool(pieces)
    for piece, quoted, _ in pieces:
        if isinstance(piece, Hole):
            if isinstance(piece.key, tuple) and piece.key[0] == "arguments":
                return True
            bare = bare and not quoted
        else:
            bare = False
    return bare
