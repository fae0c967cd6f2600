"""What a project and a call ask of verlint: the settings file, read strictly, and the values it holds.

Looked for from the checked folder upwards: `.verlint.toml`, `verlint.toml`, then `[tool.verlint]` in
`pyproject.toml`. The nearest one wins and nothing is merged. Unknown keys and wrong types are errors, all told at
once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from verlint import disk
from verlint.finding import Severity
from verlint.lazy import pattern
from verlint.record import dataclass, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FILE_NAMES = (".verlint.toml", "verlint.toml")
FAIL_ON = ("error", "warning", "info", "never")
SCOPES = ("touched", "all")
LEVELS = {severity.label: severity for severity in Severity}


_HEADER = pattern(r"\s*\[([^\[\]]+)\]")
_KEY = pattern(r"\s*((?:[\w.-]|\s*\.\s*|\"[^\"]*\"|'[^']*')+)\s*=")
_NAME = pattern(r"[\"']([^\"']*)[\"']|([\w-]+)")


class SettingsError(Exception):
    """A settings file that cannot be used; `problems` says everything that is wrong with it, a line each. `keys` are
    the keys they are about, outermost first, to show their lines."""

    def __init__(self, path: str, problems: list[str], keys: Sequence[Sequence[str]] = ()) -> None:
        places = [f"{path}{line_of(path, key)}" for key in keys] + [path] * (len(problems) - len(keys))
        super().__init__("\n".join(f"{place}: {text}" for place, text in zip(places, problems, strict=True)))
        self.path = path
        self.problems = problems


def line_of(path: str, keys: Sequence[str]) -> str:
    """`:LINE` of a key in a TOML file, "" when it is not found: it may be written in other ways than most people's."""
    try:
        lines = disk.content(path).decode("utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError):
        return ""
    wanted, best = list(keys), ""
    table: list[str] = []
    for number, line in enumerate(lines, 1):
        if (header := _HEADER.match(line)) is not None:
            table = _dotted(header[1])
            table = table[2:] if table[:2] == ["tool", "verlint"] else table
            makes_it = not best and table[: len(wanted)] == wanted  # being a table below it
            if makes_it or (table and table == wanted[: len(table)]):
                best = f":{number}"
        elif (key := _KEY.match(line)) is not None:
            full = table + _dotted(key[1])
            if full == wanted:
                return f":{number}"
            if full == wanted[: len(full)]:  # in a table that is written on one line
                best = f":{number}"
    return best


def _dotted(text: str) -> list[str]:
    return [bare or quoted for quoted, bare in _NAME.findall(text)]


@dataclass(frozen=True)
class Settings:
    """What holds for one run.

    `root` is the folder that `exclude` and `per_path_ignores` are relative to, `path` the settings file if there is
    one. Names of rules (codes, prefixes, slugs) are kept as written. An empty `select` means every rule. `fail_on` is
    the least severity that fails the run, None for never. `verl` is what the settings file says, `verl_of_call` the
    `--verl` of the call, `model_config` the path of a model's config.json, `baseline` that of the known findings.
    `launchers` and `rules` are kept raw: the families and the rules know what belongs in them. `scope` is what is
    reported when files are named, "" for what touches them. `plugins` are names of installed rule packs. `cache` is
    whether what was found may be kept for later runs."""

    root: Path
    path: Path | None = None
    select: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    severity: Mapping[str, Severity] = field(default_factory=dict)
    fail_on: Severity | None = Severity.WARNING
    strict: bool = False
    ready: bool = False
    verl: str = ""
    verl_of_call: str = ""
    model_config: str = ""
    baseline: str = ""
    per_path_ignores: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    launchers: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    rules: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    output_format: tuple[str, ...] = ()
    show_files: bool = False
    scope: str = ""
    plugins: tuple[str, ...] = ()
    cache: bool = True

    def relative(self, path: Path) -> str:
        """An absolute path as the patterns see it: relative to the settings' folder, with "/"."""
        from os.path import relpath

        return Path(relpath(path, self.root)).as_posix()

    def excluded_by(self, path: Path) -> str | None:
        """The pattern that excludes a path (absolute), or None."""
        if not self.exclude:
            return None
        from verlint.pathglob import matches

        relative = self.relative(path)
        return next((pattern for pattern in self.exclude if matches(pattern, relative)), None)

    def ignored_at(self, path: Path) -> tuple[str, ...]:
        """Names of the rules that are off for a path (absolute) by `per-path-ignores`."""
        if not self.per_path_ignores:
            return ()
        from verlint.pathglob import matches

        relative = self.relative(path)
        return tuple(name for glob, names in self.per_path_ignores.items() if matches(glob, relative) for name in names)


def read_settings(start: Path) -> Settings:
    """The settings that hold for a folder: the nearest settings file upwards, or the defaults.

    Raises SettingsError when that file is not usable.
    """
    start = start.absolute()
    for folder in (start, *start.parents):
        for name in FILE_NAMES:
            if disk.is_file(path := folder / name):
                return _build(path, _parse(path))
        if disk.is_file(path := folder / "pyproject.toml") and (section := _section(path)) is not None:
            return _build(path, section)
    return Settings(root=start)


def read_settings_file(path: Path) -> Settings:
    """The settings of a given file; of a `pyproject.toml` its `[tool.verlint]`. Raises SettingsError."""
    path = path.absolute()
    if path.name != "pyproject.toml":
        return _build(path, _parse(path))
    section = _section(path)
    if section is None:
        raise SettingsError(str(path), ["has no [tool.verlint] section"])
    return _build(path, section)


def _section(path: Path) -> Any:
    """`[tool.verlint]` of a pyproject.toml, or None. A broken file counts only when it seems to hold our section."""
    try:
        mentions = b"verlint" in disk.content(path)
    except OSError as error:
        raise SettingsError(str(path), [f"cannot be read: {error.strerror or error}"]) from error
    if not mentions:
        return None
    tool = _parse(path).get("tool")
    return tool.get("verlint") if isinstance(tool, dict) else None


def _parse(path: Path) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(disk.content(path).decode("utf-8-sig"))
    except OSError as error:
        raise SettingsError(str(path), [f"cannot be read: {error.strerror or error}"]) from error
    except UnicodeDecodeError as error:
        raise SettingsError(str(path), [f"is not UTF-8 (byte {error.start})"]) from error
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(str(path), [f"is not valid TOML: {error}"]) from error
    except RecursionError as error:
        raise SettingsError(str(path), ["is nested too deeply"]) from error


class _WrongError(Exception):
    """A value of the wrong type; the text says what is wanted. `key` is the one in a table that it is about."""

    key: str = ""


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise _WrongError("must be a string")
    return value


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise _WrongError("must be true or false")
    return value


def _texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise _WrongError("must be a list of strings")
    return tuple(value)


def _text_or_texts(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    if not isinstance(value, list):
        raise _WrongError("must be a string or a list of strings")
    return _texts(value)


def _level(value: Any) -> Severity:
    if value in ("off", "none", "ignore", "never", False):
        raise _WrongError(f"must be one of {', '.join(LEVELS)}; `ignore` and `per-path-ignores` switch rules off")
    if not isinstance(value, str) or value not in LEVELS:
        raise _WrongError(f"must be one of {', '.join(LEVELS)}" + meant(value, LEVELS))
    return LEVELS[value]


def fail_on_level(value: Any) -> Severity | None:
    """The severity that a `fail-on` value means; None for `never`."""
    if value == "never":
        return None
    if not isinstance(value, str) or value not in LEVELS:
        raise _WrongError(f"must be one of {', '.join(FAIL_ON)}" + meant(value, FAIL_ON))
    return LEVELS[value]


def _scope(value: Any) -> str:
    if not isinstance(value, str) or value not in SCOPES:
        raise _WrongError(f"must be one of {', '.join(SCOPES)}" + meant(value, SCOPES))
    return value


def _table(read: Callable[[Any], Any]) -> Callable[[Any], dict[str, Any]]:
    def read_table(value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise _WrongError("must be a table")
        out: dict[str, Any] = {}
        for name, item in value.items():
            try:
                out[name] = read(item)
            except _WrongError as wrong:
                told = _WrongError(f"[{name!r}] {wrong}")
                told.key = name
                raise told from None
        return out

    return read_table


def _raw_table(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _WrongError("must be a table")
    return value


READERS: dict[str, Callable[[Any], Any]] = {
    "select": _texts,
    "extend-select": _texts,
    "ignore": _texts,
    "exclude": _texts,
    "severity": _table(_level),
    "fail-on": fail_on_level,
    "strict": _flag,
    "ready": _flag,
    "verl": _text,
    "model-config": _text,
    "baseline": _text,
    "per-path-ignores": _table(_texts),
    "launchers": _table(_raw_table),
    "rules": _table(_raw_table),
    "output-format": _text_or_texts,
    "show-files": _flag,
    "scope": _scope,
    "plugins": _texts,
    "cache": _flag,
}


def _build(path: Path, data: Any) -> Settings:
    if not isinstance(data, dict):
        raise SettingsError(str(path), ["[tool.verlint] must be a table"])
    values: dict[str, Any] = {}
    problems: list[str] = []
    keys: list[tuple[str, ...]] = []
    for key, value in data.items():
        if key not in READERS:
            problems.append(f"unknown key `{key}`" + meant(key.replace("_", "-"), READERS))
            keys.append((key,))
            continue
        try:
            values[key.replace("-", "_")] = READERS[key](value)
        except _WrongError as wrong:
            problems.append(f"`{key}` {wrong}")
            keys.append((key, wrong.key) if wrong.key else (key,))
    if problems:
        raise SettingsError(str(path), problems, keys)
    if "/" in values.get("verl", ""):  # a checkout: relative to the file that names it
        values["verl"] = str(path.parent / values["verl"])
    for name in ("model_config", "baseline"):
        if values.get(name):
            values[name] = str(path.parent / values[name])
    return Settings(root=path.parent, path=path, **values)


def meant(name: object, names: Iterable[str]) -> str:
    """The hint that a misspelt name gets, "" when none of the names is near."""
    from difflib import get_close_matches

    near = get_close_matches(str(name).lower(), list(names), n=1)
    return f" (did you mean `{near[0]}`?)" if near else ""
