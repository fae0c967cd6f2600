"""Rule packs of others: found among what is installed beside verlint, never in what is checked.

A settings file may come from anywhere, so it can only choose (`plugins = ["house_rules"]`) among packages that somebody
has installed into this Python as rule packs, which is what their entry point `verlint.rules` says. Packages are looked
for in site-packages alone and loaded from there, whatever the working directory, PYTHONPATH or `sys.path` say."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence
from functools import cache

from verlint import disk
from verlint.header import OWN_LETTERS, OWN_PACKAGE, Header, PackError, headers, read_header, use
from verlint.record import dataclass

GROUP = "verlint.rules"
"""The group of entry points; both the name and the value of one is the package of a pack."""

_MODULE = re.compile(r"(?P<code>[a-z]{2,4}\d{3})_(?P<slug>[a-z0-9_]+)\.py")
_CODE = re.compile(r"[A-Z]{2,4}\d{3}")


@dataclass(frozen=True, slots=True)
class Pack:
    """An installed pack: its name, the package that its entry point names, and the folder of site-packages that must
    hold that package."""

    name: str
    package: str
    site: str

    @property
    def folder(self) -> str:
        """Where the package is."""
        return os.path.join(self.site, self.package)


def use_packs(names: Sequence[str]) -> None:
    """Take the rules of these packs, and of no others, beside our own from now on. Raises PackError."""
    disk.give_up()  # their code is looked for and imported past it
    use(_headers_of(tuple(dict.fromkeys(names))))


def installed_packs() -> dict[str, Pack]:
    """The packs that are installed, by name; of several with one name that which Python would take."""
    found: dict[str, Pack] = {}
    for site in site_folders():
        for info in sorted(os.listdir(site)):
            if info.endswith((".dist-info", ".egg-info")):
                for name, package in _entry_points(os.path.join(site, info, "entry_points.txt")):
                    found.setdefault(name, Pack(name, package, site))
    return found


def site_folders() -> list[str]:
    """Where this Python has its installed packages, with links resolved."""
    import site
    import sysconfig

    folders = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), *site.getsitepackages()]
    if site.ENABLE_USER_SITE:
        folders.append(site.getusersitepackages())
    return [folder for folder in dict.fromkeys(map(os.path.realpath, folders)) if os.path.isdir(folder)]


def _entry_points(path: str) -> Iterator[tuple[str, str]]:
    """Names and values of the entry points of our group in a file of package metadata."""
    try:
        with open(path, encoding="utf-8") as stream:
            text = stream.read()
    except (OSError, UnicodeDecodeError):
        return
    group = ""
    for line in text.splitlines():
        line = line.strip()
        if line.startswith("["):
            group = line.strip("[]").strip()
        elif group == GROUP and "=" in line and not line.startswith("#"):
            name, _, value = line.partition("=")
            yield name.strip(), value.strip()


@cache
def _headers_of(names: tuple[str, ...]) -> tuple[Header, ...]:
    """The rules of some packs, whose packages are loaded. Raises PackError with everything that is wrong."""
    if not names:
        return ()
    installed = installed_packs()
    taken = {each: header for header in headers() if header.package == OWN_PACKAGE for each in header.names()}
    found: list[Header] = []
    problems: list[str] = []
    for name in names:
        pack = installed.get(name)
        if pack is None:
            problems.append(_not_installed(name, installed))
            continue
        wrong = list(_misplaced(pack))
        own = [] if wrong else list(_read(pack, wrong))
        wrong += _clashes(own, taken)
        problems += [f"rule pack `{name}`: {text}" for text in dict.fromkeys(wrong)]
        taken.update((each, header) for header in own for each in header.names())
        found += own
    if not problems:
        problems = [f"rule pack `{name}`: {text}" for name in names for text in _load(installed[name])]
    if problems:
        raise PackError(*problems)
    return tuple(sorted(found, key=lambda header: header.code))


def _not_installed(name: str, installed: dict[str, Pack]) -> str:
    if any(os.path.isdir(os.path.join(site, name)) for site in site_folders() if name.isidentifier()):
        return f"`{name}` is installed, but is no rule pack: it has no entry point `{GROUP}`"
    from difflib import get_close_matches

    near = get_close_matches(name, installed, n=1)
    if near:
        return f"no rule pack `{name}` is installed (did you mean `{near[0]}`?)"
    others = f"installed: {', '.join(sorted(installed))}" if installed else "none is"
    return f"no rule pack `{name}` is installed beside verlint ({others}); only site-packages is looked at"


def _misplaced(pack: Pack) -> Iterator[str]:
    """What is wrong with the place of a package: it must lie in site-packages, as a folder and not as a link."""
    if pack.package != pack.name or not pack.package.isidentifier():
        yield f'its entry point is not `{pack.name} = "{pack.name}"`: a pack is called as its package'
    elif not os.path.isfile(os.path.join(pack.folder, "__init__.py")):
        yield (
            f"there is no package {pack.package} in {pack.site}; an editable install is not taken, as its files "
            "may be what is checked: install it with `pip install FOLDER`"
        )
    elif os.path.realpath(pack.folder) != pack.folder:
        yield f"{pack.folder} is a link out of site-packages: install it with `pip install FOLDER`"


def _read(pack: Pack, wrong: list[str]) -> Iterator[Header]:
    """The rules of a pack, as their files declare them; what is wrong with them goes into `wrong`."""
    modules = list(_modules(pack))
    if not modules:
        wrong.append("it holds no rules: modules with names like `hr101_what_is_wrong.py`")
    letters = ""
    for module, path in modules:
        try:
            header = read_header(module, path)
        except (RuntimeError, OSError, UnicodeDecodeError) as error:
            wrong.append(str(error))
            continue
        called = _MODULE.fullmatch(os.path.basename(path))
        letters = letters or header.letters
        if not _CODE.fullmatch(header.code) or called is None:
            wrong.append(f"{module}: the code of a rule is two to four capital letters and three digits")
        elif (called["code"], called["slug"]) != (header.code.lower(), header.slug.replace("-", "_")):
            wrong.append(f"{module}: {header.code} {header.slug} belongs into a module of that name")
        elif header.letters != letters:
            wrong.append(f"{module}: all codes of a pack begin with the same letters, these with {letters}")
        elif any(word != word.lower() or not word for word in header.words):
            wrong.append(f"{module}: `words` are in lower case")
        else:
            yield header


def _modules(pack: Pack) -> Iterator[tuple[str, str]]:
    """Names and files of the modules that hold rules: in the package itself, and in folders of it."""
    for entry in sorted(os.scandir(pack.folder), key=lambda entry: entry.name):
        if _MODULE.fullmatch(entry.name):
            yield f"{pack.package}.{entry.name[:-3]}", entry.path
        elif entry.is_dir() and entry.name.isidentifier():
            for name in sorted(os.listdir(entry.path)):
                if _MODULE.fullmatch(name):
                    yield f"{pack.package}.{entry.name}.{name[:-3]}", os.path.join(entry.path, name)


def _clashes(own: Sequence[Header], taken: dict[str, Header]) -> Iterator[str]:
    """What of the names of a pack is already the name of another rule, or would be taken for a beginning of one."""
    others = {header.letters for header in taken.values()} | {OWN_LETTERS, "ALL"}
    for letters in dict.fromkeys(header.letters for header in own):
        for other in sorted(others):
            if letters.startswith(other) or other.startswith(letters):
                whose = "verlint itself" if other in (OWN_LETTERS, "ALL") else f"the pack with {other}"
                yield f"codes with {letters} could not be told from those of {whose}"
    seen: dict[str, Header] = {}
    for header in own:
        for name in header.names():
            if (holder := taken.get(name) or seen.get(name)) is not None:
                yield f"{header.code}: the name {name} is that of {holder.code} ({holder.module})"
            seen[name] = header


def _load(pack: Pack) -> Iterator[str]:
    """Load the package from its folder, past all ways of finding one by name; gives what goes wrong."""
    from importlib.util import module_from_spec, spec_from_file_location

    present = sys.modules.get(pack.package)
    if present is not None:
        where = [os.path.realpath(each) for each in getattr(present, "__path__", ())]
        if where != [pack.folder]:
            yield f"another {pack.package} is loaded, from {', '.join(where) or 'elsewhere'}"
        return
    start = os.path.join(pack.folder, "__init__.py")
    spec = spec_from_file_location(pack.package, start, submodule_search_locations=[pack.folder])
    if spec is None or spec.loader is None:
        yield f"{start} is not Python"
        return
    module = sys.modules[pack.package] = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[pack.package]
        yield f"{pack.package} cannot be imported: {type(error).__name__}: {error}"
