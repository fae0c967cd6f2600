"""The manual page `verlint(1)`, written from the command line as data.

`python -m verlint.cli.manual` writes `docs/verlint.1`, with `--check` it says whether that file is what would be
written. The file is installed where `man` looks."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from verlint import __version__
from verlint.cli.command_line import Option, Verb, verbs
from verlint.cli.main import DESCRIPTION, EPILOG, VERBS

PAGE = Path("docs/verlint.1")
SUMMARY = "find what is wrong in RL post-training experiments"
STATUS: Mapping[str, str] = {
    "0": "Nothing found at or above --fail-on.",
    "1": "Something found.",
    "2": "Wrong call, wrong settings, or a fault of verlint itself.",
}
ENVIRONMENT: Mapping[str, str] = {
    "VERLINT_OUTPUT_FORMAT": "Formats when --output-format is not given, separated by blanks.",
    "NO_COLOR, FORCE_COLOR, CLICOLOR_FORCE": "Colours off or on, in this order; otherwise a terminal gets colours.",
    "COLUMNS": "Width of the output.",
    "VERLINT_TRACEBACK=1": "The traceback of an internal error, for a report.",
}
FILES: Mapping[str, str] = {
    ".verlint.toml, verlint.toml, pyproject.toml": "The settings: the nearest one from the checked folder upwards.",
    "verlint-baseline.json": "The known findings, as --write-baseline writes them.",
}


def manual() -> str:
    """The page as roff."""
    return "\n".join(_lines(verbs())) + "\n"


def main(argv: Sequence[str] | None = None) -> int:
    """`python -m verlint.cli.manual [--check] [--root FOLDER]`: 0 when done or up to date, 1 when not."""
    parser = argparse.ArgumentParser(prog="python -m verlint.cli.manual", description="Write the manual page.")
    parser.add_argument("--check", action="store_true", help="change nothing; say whether the page is out of date")
    parser.add_argument("--root", type=Path, default=Path(), help="the checkout (default: the current folder)")
    arguments = parser.parse_args(argv)
    path = arguments.root / PAGE
    if not arguments.check:
        path.write_text(manual(), "utf-8", newline="\n")
        print(f"wrote {PAGE.as_posix()}")
        return 0
    wrong = not path.is_file() or path.read_text("utf-8") != manual()
    print(f"{PAGE.as_posix()}: {'out of date' if wrong else 'up to date'}")
    return 1 if wrong else 0


def _lines(found: Sequence[Verb]) -> Iterator[str]:
    yield f'.TH VERLINT 1 "" "verlint {__version__}" "User Commands"'
    yield from (".nh", ".SH NAME", f"verlint {_DASH} {SUMMARY}", ".SH SYNOPSIS")
    for verb in found:
        yield from (f".B verlint {verb.name}", _text(verb.usage.removeprefix(verb.name).strip()), ".br")
    yield from (".B verlint", f"{_bold('--version')} | {_bold('--help')}", ".SH DESCRIPTION", _text(DESCRIPTION))
    yield ".SH COMMANDS"
    for name, line in VERBS.items():
        yield from (".TP", f".B {name}", _text(f"{line[0].upper()}{line[1:]}."))
    for verb in found:
        yield f'.SH "VERLINT {verb.name.upper()}"'
        yield _text(verb.description)
        for title, options in verb.groups:
            members = [each for each in options if each.names != ("-h", "--help")]
            if members and title not in ("options", "positional arguments"):
                yield f'.SS "{_text(title[0].upper() + title[1:])}"'
            for option in members:
                yield from (".TP", _names(option), _text(option.about))
    for title, entries in (("EXIT STATUS", STATUS), ("ENVIRONMENT", ENVIRONMENT), ("FILES", FILES)):
        yield f'.SH "{title}"'
        for name, about in entries.items():
            yield from (".TP", _bold(name), _text(about))
    yield ".SH EXAMPLES"
    for call, about in _examples():
        yield from (".TP", _bold(call), _text(about))


def _examples() -> Iterator[tuple[str, str]]:
    """The calls that the help shows, each with what it does."""
    for line in EPILOG.splitlines():
        call, _, about = line.strip().partition("  ")
        if line.startswith("  "):
            yield call, about.strip()


def _names(option: Option) -> str:
    """An option with its value, as the head of a paragraph."""
    value = f"\\fI{_text(option.value)}\\fR" if option.value else ""
    if not option.names:
        return value
    return ", ".join(map(_bold, option.names)) + (f" {value}" if value else "")


def _bold(text: str) -> str:
    return f"\\fB{_text(text)}\\fR"


_DASH = "\\-"


def _text(text: str) -> str:
    """A text in which nothing is a command of roff, on one line."""
    flat = " ".join(text.split()).replace("\\", "\\e").replace("-", _DASH).replace("'", "\\(aq").replace('"', "\\(dq")
    return f"\\&{flat}" if flat.startswith(".") else flat


if __name__ == "__main__":
    sys.exit(main())
