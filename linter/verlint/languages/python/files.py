"""The files that a Python tool reads and writes."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from verlint.languages.python.facts import FileUse
from verlint.languages.python.names import Called
from verlint.languages.python.syntax import Arguments, arguments, constant, elements, last_name
from verlint.languages.python.values import Values
from verlint.record import dataclass


@dataclass(frozen=True, slots=True)
class _Use:
    how: str
    place: int
    name: str = ""


_FUNCTIONS: dict[str, tuple[_Use, ...]] = {
    "torch.load": (_Use("read", 0, "f"),),
    "torch.save": (_Use("write", 1, "f"),),
    "numpy.load": (_Use("read", 0, "file"),),
    "numpy.save": (_Use("write", 0, "file"),),
    "numpy.savez": (_Use("write", 0, "file"),),
    "shutil.copy": (_Use("read", 0, "src"), _Use("write", 1, "dst")),
    "shutil.copy2": (_Use("read", 0, "src"), _Use("write", 1, "dst")),
    "shutil.copyfile": (_Use("read", 0, "src"), _Use("write", 1, "dst")),
    "shutil.copytree": (_Use("read", 0, "src"), _Use("write", 1, "dst")),
    "shutil.move": (_Use("read", 0, "src"), _Use("write", 1, "dst")),
    "os.rename": (_Use("read", 0, "src"), _Use("write", 1, "dst")),
    "os.replace": (_Use("read", 0, "src"), _Use("write", 1, "dst")),
    "os.symlink": (_Use("read", 0, "src"), _Use("write", 1, "dst")),
    "os.makedirs": (_Use("folder", 0, "name"),),
    "os.mkdir": (_Use("folder", 0, "path"),),
    "datasets.load_from_disk": (_Use("read", 0, "dataset_path"),),
    "safetensors.torch.load_file": (_Use("read", 0, "filename"),),
    "safetensors.torch.save_file": (_Use("write", 1, "filename"),),
    "safetensors.safe_open": (_Use("read", 0, "filename"),),
    "pyarrow.parquet.read_table": (_Use("read", 0, "source"),),
    "pyarrow.parquet.write_table": (_Use("write", 1, "where"),),
    "huggingface_hub.snapshot_download": (_Use("write", -1, "local_dir"),),
    "huggingface_hub.hf_hub_download": (_Use("write", -1, "local_dir"),),
}
"""Functions by their full name. Sources: the documentation of each library."""

_METHODS: dict[str, tuple[_Use, ...]] = {
    "to_parquet": (_Use("write", 0, "path"),),
    "to_json": (_Use("write", 0, "path_or_buf"),),
    "to_csv": (_Use("write", 0, "path_or_buf"),),
    "to_pickle": (_Use("write", 0, "path"),),
    "to_excel": (_Use("write", 0, "excel_writer"),),
    "save_to_disk": (_Use("write", 0, "dataset_path"),),
    "load_from_disk": (_Use("read", 0, "dataset_path"),),
    "save_pretrained": (_Use("write", 0, "save_directory"),),
    "from_pretrained": (_Use("hub", 0, "pretrained_model_name_or_path"),),
    "savefig": (_Use("write", 0, "fname"),),
}
"""Methods by their name, of whatever object. Sources: pandas, datasets, transformers, matplotlib."""

_OPENERS = frozenset(
    ["open", "io.open", "gzip.open", "bz2.open", "lzma.open", "aiofiles.open", "jsonlines.open", "codecs.open"]
)
_OF_PATH = {"write_text": "write", "write_bytes": "write", "read_text": "read", "read_bytes": "read", "mkdir": "folder"}
_PANDAS = frozenset(
    ["read_parquet", "read_csv", "read_json", "read_pickle", "read_excel", "read_table", "read_feather", "read_orc"]
)
_BUILDERS = frozenset(["json", "parquet", "csv", "text", "arrow", "pandas", "imagefolder"])


def file_uses(values: Values) -> list[FileUse]:
    """The files that calls of a text read and write, in its order; each text a path may be is one of them."""
    found: list[FileUse] = []
    for call in values.names.calls:
        found.extend(_of_call(call, values))
    return found


def _of_call(call: Called, values: Values) -> Iterator[FileUse]:
    name, method, given = values.names.full_name(call.node.func), last_name(call.node.func), arguments(call.node)
    if name in _OPENERS:
        yield from _made(given.get(0, "file"), _mode(given, 1), call, values, name)
    elif name in _FUNCTIONS:
        for use in _FUNCTIONS[name]:
            yield from _made(given.get(use.place, use.name), use.how, call, values, name)
    elif name in ("datasets.load_dataset", "load_dataset"):
        yield from _data_set(given, call, values)
    elif name.startswith(("pandas.", "polars.")) and method in _PANDAS:
        first = next(iter(given.named.values()), None) if not given.positional else given.positional[0]
        yield from _made(first, "read", call, values, name)
    elif isinstance(call.node.func, cst.Attribute):
        yield from _of_method(call, call.node.func, given, values)


def _of_method(call: Called, func: cst.Attribute, given: Arguments, values: Values) -> Iterator[FileUse]:
    method = func.attr.value
    if method in _OF_PATH and (method != "mkdir" or not given.positional):
        yield from _made(func.value, _OF_PATH[method], call, values, method)
    elif (method == "open" and not isinstance(func.value, cst.Name | cst.Attribute)) or (
        method == "open" and _is_path(func.value, call, values)
    ):
        yield from _made(func.value, _mode(given, 0), call, values, method)
    for use in _METHODS.get(method, ()):
        node = given.get(use.place, use.name) or given.named.get("path")
        yield from _made(node, use.how, call, values, method)


def _is_path(node: cst.CSTNode, call: Called, values: Values) -> bool:
    return any("/" in each.template or "." in each.suffix for each in values.texts(node, call.scope))


def _mode(given: Arguments, place: int) -> str:
    mode = constant(given.get(place, "mode"))
    return "write" if isinstance(mode, str) and set(mode) & set("wax") else "read"


def _data_set(given: Arguments, call: Called, values: Values) -> Iterator[FileUse]:
    first = given.get(0, "path")
    builder = constant(first)
    files = given.named.get("data_files")
    if isinstance(builder, str) and builder in _BUILDERS and files is not None:
        yield from _made(files, "read", call, values, "load_dataset")
        return
    yield from _made(first, "hub", call, values, "load_dataset")


def _made(node: cst.CSTNode | None, how: str, call: Called, values: Values, by: str) -> Iterator[FileUse]:
    if node is None or constant(node) is None:
        return
    span = values.parsed.span(call.node)
    pairs = values.pairs(node, call.scope)
    listed: list[cst.CSTNode] = [value for _, value in pairs] if pairs else list(elements(node) or ()) or [node]
    for each in listed:
        for text in values.items(each, call.scope) or values.texts(each, call.scope):
            if text.known != "":
                yield FileUse(text, how, span, by)
