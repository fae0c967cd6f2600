"""What a call and a settings file say of rules and of VeRL, held against what there is.

A name that does not exist is an error where less or something else would be checked than was asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from verlint.cli.main import complain
from verlint.settings import Settings, SettingsError, line_of, meant

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from verlint.rule import Rule


def settings_problems(settings: Settings) -> None:
    """Raise SettingsError for rule packs, rules, options of rules and a VeRL that a settings file names and that do not
    exist. The packs are in use from now on.

    Unknown rules that are only to be ignored are warnings: the file may be for several versions of verlint."""
    use_packs_of(settings)
    if settings.path is None:
        return
    problems: list[str] = []
    keys: list[Sequence[str]] = []
    for key, text in _problems_in(settings):
        if text not in problems:
            problems.append(text)
            keys.append(key)
    if problems:
        raise SettingsError(str(settings.path), problems, keys)
    _warn_of_unknown_ignored(settings)
    warn_of_vain_globs(settings.exclude, settings, _place(settings, "exclude"))
    for glob in settings.per_path_ignores:
        warn_of_vain_globs([glob], settings, _place(settings, "per-path-ignores", glob))
    if settings.verl and _is_path(settings.verl) and (problem := verl_problem(settings.verl)):
        complain(f"warning: {settings.path}: `verl`: {problem}")
    if settings.model_config and (problem := model_problem(settings.model_config)):
        complain(f"warning: {settings.path}: `model-config`: {problem}")


def _warn_of_unknown_ignored(settings: Settings) -> None:
    warn_of_unknown(settings.ignore, _place(settings, "ignore"))
    for glob, names in settings.per_path_ignores.items():
        warn_of_unknown(names, _place(settings, "per-path-ignores", glob))


def _place(settings: Settings, *keys: str) -> str:
    """Where a key of the settings file stands, to begin a warning with."""
    return f"{settings.path}{line_of(str(settings.path), keys)}: `{keys[0]}`: "


def use_packs_of(settings: Settings) -> None:
    """Take the rules of the packs that the settings name, and of no others. Raises SettingsError."""
    from verlint.header import PackError, packs_in_use

    if not settings.plugins and not packs_in_use():
        return
    from verlint.packs import use_packs

    try:
        use_packs(settings.plugins)
    except PackError as error:
        problems = [f"`plugins`: {text}" for text in error.problems]
        raise SettingsError(str(settings.path), problems, [("plugins",)] * len(problems)) from error


def use_packs_here() -> None:
    """Take the rules of the packs that the settings of the working directory name; without usable settings, none: what
    is wrong with them is told on standard error."""
    from pathlib import Path

    from verlint.settings import read_settings

    try:
        use_packs_of(read_settings(Path.cwd()))
    except SettingsError as error:
        complain(f"warning: only the rules of verlint itself are known here: {error}")


def _problems_in(settings: Settings) -> Iterator[tuple[Sequence[str], str]]:
    for key, names in (("select", settings.select), ("extend-select", settings.extend_select)):
        yield from (((key,), f"`{key}`: {text}") for text in unknown_rules(names))
    for name in settings.severity:
        yield from ((("severity", name), f"`severity`: {text}") for text in unknown_rules([name]))
    for name, options in settings.rules.items():
        yield from ((("rules", name, *key), text) for key, text in _option_problems(name, options))
    if settings.launchers:
        from verlint.families.taught import launcher_problems

        yield from ((("launchers", *key), text) for key, text in launcher_problems(settings.launchers))
    if settings.verl and not _is_path(settings.verl) and (problem := verl_problem(settings.verl)):
        yield ("verl",), f"`verl`: {problem}"


# ---- rules


def unknown_rules(names: Sequence[str]) -> list[str]:
    """What is wrong with names of rules, one text for each that means none."""
    from verlint.header import UnknownRule, match_headers

    out: list[str] = []
    for name in names:
        try:
            match_headers(name)
        except UnknownRule as unknown:
            out.append(str(unknown))
    return list(dict.fromkeys(out))


def warn_of_unknown(names: Sequence[str], where: str = "") -> None:
    """Say on standard error which names mean no rule."""
    for problem in unknown_rules(names):
        complain(f"warning: {where}{problem}")


def warn_of_vain_globs(globs: Sequence[str], settings: Settings, where: str = "") -> None:
    """Say on standard error which globs can match nothing, as paths are relative to the settings and have `/`."""
    for glob in globs:
        if "\\" in glob or glob.startswith(("../", "~", f"{settings.root.as_posix()}/")):
            about = f"paths are relative to {settings.root}, with `/`"
            complain(f"warning: {where}the glob {glob} matches nothing: {about}")


def _option_problems(name: str, given: Mapping[str, Any]) -> Iterator[tuple[Sequence[str], str]]:
    from verlint.header import UnknownRule
    from verlint.rule import find_rule

    try:
        rule = find_rule(name)
    except UnknownRule as unknown:
        several = " (options are for one rule: write its whole code)" if not unknown_rules([name]) else ""
        yield (), f"`rules`: {unknown}" if not several else f"`rules`: {name!r} means several rules{several}"
        return
    for option, value in given.items():
        if option not in rule.options:
            yield (option,), f"`rules` [{name!r}] has no option `{option}`" + _known_options(option, rule)
        elif wrong := _wrong_type(value, rule.options[option]):
            yield (option,), f"`rules` [{name!r}] `{option}` {wrong}"


def _known_options(option: str, rule: Rule) -> str:
    if not rule.options:
        return f": {rule.code} has no options"
    return meant(option, rule.options) or f"; it has {', '.join(f'`{each}`' for each in rule.options)}"


def _wrong_type(value: object, default: object) -> str:
    """What a value must be, as the default of its option is; "" when it is."""
    if isinstance(default, (list, tuple)):
        fits = isinstance(value, list) and all(isinstance(each, str) for each in value)
        return "" if fits else "must be a list of strings"
    if isinstance(default, bool):
        return "" if isinstance(value, bool) else "must be true or false"
    if isinstance(default, int):
        return "" if isinstance(value, int) and not isinstance(value, bool) else "must be a whole number"
    return "" if isinstance(value, str) else "must be a string"


# ---- VeRL and the model


def model_problem(text: str) -> str:
    """What is wrong with the path of a model's config.json, "" when it can be read."""
    from pathlib import Path

    from verlint.verl.model_config import ModelConfigError, read_model_config

    if not text:
        return "the path is empty"
    try:
        read_model_config(Path(text), text)
    except ModelConfigError as error:
        return str(error)
    return ""


def verl_problem(text: str) -> str:
    """What is wrong with the name of a VeRL version or fork, or the path of a checkout; "" when it is known."""
    from verlint.verl.checkout import is_checkout
    from verlint.verl.schema import forks, known_version, versions
    from verlint.verl.versions import is_version

    if _is_path(text):
        return "" if is_checkout(text) else f"there is no VeRL checkout at {text}"
    if text in forks() or (is_version(text) and known_version(text)):
        return ""
    what = "is older than all known versions" if is_version(text) else "is no version of VeRL" + meant(text, forks())
    return (
        f"{text!r} {what}; versions: {', '.join(versions())}; forks: {', '.join(sorted(forks()))}; "
        "or the path of a checkout"
    )


def _is_path(text: str) -> bool:
    from verlint.verl.checkout import looks_like_path

    return looks_like_path(text)
