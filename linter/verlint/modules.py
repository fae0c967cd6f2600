"""Our own modules, found and read with fewer steps than Python's usual ones.

A check of one launcher imports more than two hundred of our modules. For each, Python looks through its finders and
asks more of the file system than it takes: that is a fourteenth of the run. Where a package is one plain folder, a
module is the file or the folder of its name in it, and the compiled file beside it counts when it holds the size and
the time of that file, as always. Everything else (what is not compiled yet, archives, other places for compiled files)
is left to Python. The program does this for itself; a library that is imported by others leaves their imports alone."""

from __future__ import annotations

import os
import sys
from _frozen_importlib import ModuleSpec
from _frozen_importlib_external import MAGIC_NUMBER, SourceFileLoader
from marshal import loads

TYPE_CHECKING = False  # as `typing` says it, without its import
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import CodeType, ModuleType
else:
    ModuleType = type(sys)  # as `types` says it, which is imported later, if at all

_OURS = ("verlint.", "verlint_rules.")
_BY_TIME = MAGIC_NUMBER + bytes(4)
"""How a compiled file begins that counts by the time of its source."""
_HEAD = 16
_WORD = 0xFFFFFFFF
_MOST = 1 << 16
"""Bytes that are read at once."""
_BINARY = getattr(os, "O_BINARY", 0)


class _Loader(SourceFileLoader):
    """Loads a module as Python does; what is compiled is read at once."""

    def __init__(self, name: str, path: str, compiled: str, source: os.stat_result) -> None:
        super().__init__(name, path)
        self.compiled, self.source = compiled, source

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """A module with its attributes: Python takes longer to find out which ones one lacks."""
        module = ModuleType(spec.name)
        module.__dict__.update(
            __spec__=spec,
            __loader__=self,
            __package__=spec.parent,
            __file__=self.path,
            __cached__=self.compiled,
        )
        if spec.submodule_search_locations is not None:
            module.__path__ = spec.submodule_search_locations
        return module

    def exec_module(self, module: ModuleType) -> None:
        exec(self.get_code(module.__name__), module.__dict__)

    def get_code(self, fullname: str) -> CodeType:
        try:
            read = _read(self.compiled)
        except OSError:
            return super().get_code(fullname)  # type: ignore[return-value]
        about = int(self.source.st_mtime) & _WORD | (self.source.st_size & _WORD) << 32
        if read[:_HEAD] == _BY_TIME + about.to_bytes(8, "little"):
            try:
                return loads(memoryview(read)[_HEAD:])  # type: ignore[no-any-return]
            except (EOFError, TypeError, ValueError):
                pass  # Python says what is wrong with it
        return super().get_code(fullname)  # type: ignore[return-value]


def _read(path: str) -> bytes:
    """All bytes of a file. Raises OSError."""
    stream = os.open(path, os.O_RDONLY | _BINARY)
    try:
        read = os.read(stream, _MOST)
        while len(read) % _MOST == 0 and (more := os.read(stream, _MOST)):
            read += more
        return read
    finally:
        os.close(stream)


class _Finder:
    """Finds modules and packages in packages that are one plain folder."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        if path is None or not name.startswith(_OURS) or len(path) != 1:
            return None
        inside = path[0] + os.sep + name.rpartition(".")[2]
        source = _status(f"{inside}.py")
        folder, last = (path[0], name.rpartition(".")[2]) if source is not None else (inside, "__init__")
        file = f"{folder}{os.sep}{last}.py"
        if source is None and (source := _status(file)) is None:
            return None
        compiled = f"{folder}{os.sep}__pycache__{os.sep}{last}.{sys.implementation.cache_tag}.pyc"
        spec = ModuleSpec(name, _Loader(name, file, compiled, source), origin=file)
        if folder is inside:
            spec.submodule_search_locations = [inside]
        spec.has_location = True
        spec.cached = compiled
        return spec


def _status(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except OSError:
        return None


def find_quickly() -> None:
    """Find our modules so from now on, unless Python was told to treat compiled files in its own way."""
    plain = sys.pycache_prefix is None and not sys.flags.optimize and sys.implementation.cache_tag
    if plain and _Finder not in sys.meta_path:
        sys.meta_path.insert(0, _Finder)
