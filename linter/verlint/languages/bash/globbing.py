"""Pathname expansion: the files an unquoted pattern means, on disk or made by the launcher itself.

Outside the checkout nobody knows what there is, so a pattern there may become any number of words."""

from __future__ import annotations

import re

from verlint.languages.bash.patterns import Pattern, compile_pattern, is_pattern
from verlint.languages.bash.pieces import MARK, Parts, cut, flat, plain
from verlint.languages.bash.run import DiscardLine
from verlint.lazy import pattern
from verlint.value import Hole, Literal, Text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from verlint.languages.bash.expansion import Expansion
    from verlint.languages.bash.segments import Segment
    from verlint.source import Span

_STAR = pattern(r"[*?]|[@+!]\(")
_MAX_FOLDERS = 1_000


class _Unknown(Exception):
    """What is there cannot be seen from here."""


def file_names(shell: Expansion, pieces: list[Segment], span: Span) -> list[Text] | None:
    """The words that a word with an unquoted pattern becomes; None when it stays as it is."""
    runs = tuple(
        (piece.text if isinstance(piece, Literal) else MARK, quoted) for piece, quoted, _ in pieces if piece is not None
    )
    if not is_pattern(runs):
        return None
    components = _components(runs)
    try:
        found = None if any(MARK in text for text, _ in runs) else _matching(shell, components)
    except _Unknown:
        found = None
    if found:
        free = next(
            (piece.overridable for piece, _, _ in pieces if isinstance(piece, Literal) and piece.overridable), ""
        )
        return [Text((Literal(name, span, (), free),), span) for name in found]
    if _may_match(runs, components) and (found is None or not shell.run.closed):
        return [_unknown_files(shell, pieces, span)]
    if found is None or not shell.shell_options:
        return None
    if "failglob" in shell.shell_options:
        raise DiscardLine
    return [] if "nullglob" in shell.shell_options else None


def _components(runs: Pattern) -> list[Pattern]:
    out: list[list[tuple[str, bool]]] = [[]]
    for text, quoted in runs:
        for number, run in enumerate(text.split("/")):
            if number:
                out.append([])
            if run:
                out[-1].append((run, quoted))
    return [tuple(each) for each in out]


def _may_match(runs: Pattern, components: list[Pattern]) -> bool:
    """Whether a pattern is meant as one: `key=[1,2]` and `key=*.txt` are values, and no file is called so."""
    if any("=" in text for text, _ in components[0]):
        return False
    return any(not quoted and _STAR.search(text) for text, quoted in runs)


def _unknown_files(shell: Expansion, pieces: list[Segment], span: Span) -> Text:
    """Any number of words, which begin with the folders before the first wildcard."""
    text = ""
    for piece, quoted, _ in pieces:
        run = "" if piece is None else piece.text if isinstance(piece, Literal) else MARK
        active = None if quoted else _STAR.search(run) or re.search(r"\[", run)
        text += run[: active.start()] if active else run
        if active:
            break
    parts: Parts = tuple(piece for piece, _, _ in pieces if piece is not None)
    at = text.rfind("/") + 1
    whole = flat(parts)
    key = ("files", shell.run.unique())
    hole = Hole(key, f"<{whole[at:].replace(MARK, '…')}>", "files that match a pattern", span)
    return Text((*cut(parts, 0, at), hole), span, elastic=True)


def _matching(shell: Expansion, components: list[Pattern]) -> list[str]:
    """The files, sorted as bash does; raises _Unknown where a folder cannot be seen."""
    paths = ["" if components[0] else "/"]
    last = len(components) - 1
    for number, component in enumerate(components):
        if not component:
            if number == last and number:
                paths = [path + "/" for path in paths if _is_folder(shell, path)]
            continue
        if "globstar" in shell.shell_options and component == (("**", False),):
            paths = [each for path in paths for each in _everything(shell, path, folders=number < last)]
        else:
            paths = [each for path in paths for each in _children(shell, path, component)]
    return sorted(paths)


def _is_folder(shell: Expansion, path: str) -> bool:
    located = shell.locate(plain(path))
    return located is not None and shell.is_folder(located)


def _children(shell: Expansion, path: str, component: Pattern) -> list[str]:
    base = path if path in ("", "/") else path + "/"
    name = "".join(text for text, _ in component)
    if not is_pattern(component):
        located = shell.locate(plain(base + name))
        if located is None:
            if f"{shell.run.mount}/".startswith(base + name + "/"):
                return [base + name]
            raise _Unknown
        if shell.is_there(located):
            return [base + name]
        if shell.may_be_made(name):
            raise _Unknown
        return []
    names = _names_in(shell, path)
    regex = compile_pattern(component)
    if "nocaseglob" in shell.shell_options:
        regex = re.compile(regex.pattern, re.S | re.I)
    if any(_is_made(words, path, names, regex) for words in shell.run.makers):
        raise _Unknown
    hidden = name.startswith(".") or "dotglob" in shell.shell_options
    return [base + each for each in names if (hidden or not each.startswith(".")) and regex.fullmatch(each)]


def _is_made(words: list[str], path: str, names: list[str], regex: re.Pattern[str]) -> bool:
    """Whether `wget` or the like, called with these words, may have put a matching file into a folder."""
    here = path.rstrip("/").rpartition("/")[2]
    for word in words:
        folder, _, name = word.rstrip("/").rpartition("/")
        if here and name == here:
            return True
        if folder.rpartition("/")[2] == here and name not in names and regex.fullmatch(name):
            return True
    return False


def _names_in(shell: Expansion, path: str) -> list[str]:
    located = shell.locate(plain(path or "."))
    if located is None:
        raise _Unknown
    names = shell.names_in(located)
    if not names and located and shell.may_be_made(located.rpartition("/")[2]):
        raise _Unknown
    return names


def _everything(shell: Expansion, path: str, *, folders: bool) -> list[str]:
    """What `**` means: the folder itself (when something follows) and all below it."""
    out = [path] if folders else []
    waiting = [path]
    while waiting and len(out) < _MAX_FOLDERS:
        for child in sorted(_children(shell, waiting.pop(0), (("*", False),))):
            is_folder = _is_folder(shell, child)
            if is_folder or not folders:
                out.append(child)
            if is_folder:
                waiting.append(child)
    return sorted(out)
