"""The generated pages: of each rule its docstring, an example, what verlint really says about it, a good example; and
the reference of the spec format.

`python -m verlint.docs` writes them, `python -m verlint.docs --check` says whether they are what would be written.
Pages of rules are kept twice: under `docs/rules/` for readers, and in the package of the rules, where `verlint rule
CODE` finds them when no fixtures exist. `--pack NAME` writes those of an installed rule pack into its checkout.
"""

from __future__ import annotations

import argparse
import re
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from verlint.example import FIXED
from verlint.header import OWN_PACKAGE
from verlint.record import dataclass
from verlint.secret import mask

if TYPE_CHECKING:
    from verlint.example import Example
    from verlint.rule import Rule

DOCS, FIXTURES = Path("docs/rules"), Path("fixtures")
SPEC = Path("docs/spec.md")
_PARENTS = ("rules", "src", ".")
"""Folders of a checkout that may hold the package of its rules."""
WIDTH = 100
_LANGUAGES = {
    ".sh": "bash",
    ".sbatch": "bash",
    ".yaml": "yaml",
    ".yml": "yaml",
    ".md": "markdown",
    ".py": "python",
    ".toml": "toml",
}
_FIX = {"safe": "safe, with `--fix`", "unsafe": "unsafe, with `--unsafe-fixes`", "": "none"}


@dataclass(frozen=True, slots=True)
class Doc:
    """A docstring of a rule in its parts: first line, the reasons, the way to mend it."""

    summary: str
    why: str
    fix: str


def read_doc(doc: str) -> Doc:
    """The parts of a docstring: a summary line, paragraphs with the reasons, a last part that starts with `Fix:`."""
    summary, _, rest = doc.strip().partition("\n")
    found = re.search(r"^(?:#+[ \t]*(?:How to fix|Fix)[ \t]*:?|Fix:)", rest, re.MULTILINE)
    why, fix = (rest[: found.start()], rest[found.end() :]) if found else (rest, "")
    why = re.sub(r"\A\s*(?:#+[ \t]*Why[^\n]*|Why:)", "", why)
    fix = fix.strip()
    return Doc(summary.strip(), why.strip(), fix[:1].upper() + fix[1:])


def rule_page(rule: Rule, examples: Sequence[Example] = ()) -> str:
    """The page of a rule as Markdown. What it shows as said about its first bad example is what a run says."""
    doc = read_doc(rule.doc)
    families = ", ".join(sorted(rule.families)) or "all"
    facts = [
        f"severity {rule.severity.label}",
        f"fix {_FIX[rule.fixable]}",
        f"families {families}",
        f"since {rule.since}",
    ]
    if rule.aliases:
        facts.append(f"once called {', '.join(rule.aliases)}")
    parts = [f"# {rule.code} {rule.slug}", doc.summary, f"*{rule.theme}: {'; '.join(facts)}*"]
    if doc.why:
        parts += ["## Why", doc.why]
    if doc.fix:
        parts += ["## How to fix", doc.fix]
    parts += _bad_part(examples) + _good_part(examples) + _suppress_part(rule)
    return "\n\n".join(parts) + "\n"


def index_page(rules: Sequence[Rule]) -> str:
    """The list of all rules by theme, as Markdown."""
    from tabulate import tabulate

    themes: dict[str, list[Rule]] = {}
    for rule in rules:
        themes.setdefault(rule.theme, []).append(rule)
    parts = [
        "# Rules",
        (
            f"{len(rules)} rules, by what they are about. `verlint rule CODE` prints the same pages. "
            "Settings can change a severity, and any rule can be switched off."
        ),
    ]
    for theme, members in themes.items():
        rows = [
            (f"[{rule.code}]({rule.code}.md)", rule.slug, rule.severity.label, rule.fixable or "-", _cell(rule.summary))
            for rule in members
        ]
        table = tabulate(rows, headers=["code", "name", "severity", "fix", "what it reports"], tablefmt="github")
        parts += [f"## {theme[0].upper()}{theme[1:]}", table]
    return "\n\n".join(parts) + "\n"


def pages_folder(root: Path, package: str = OWN_PACKAGE) -> Path:
    """Where a checkout keeps the pages that are installed with its rules, relative to it."""
    parents = (Path(name) for name in _PARENTS)
    return next((each for each in parents if (root / each / package).is_dir()), Path(_PARENTS[0])) / package / "pages"


def all_pages(root: Path, package: str = OWN_PACKAGE) -> dict[Path, str]:
    """Every generated file of a checkout, relative to it, with its text."""
    from verlint.example import find_examples
    from verlint.rule import load_rules
    from verlint.spec_page import spec_page

    rules = [rule for rule in load_rules() if rule.module.startswith(f"{package}.")]
    examples = find_examples(root / FIXTURES)
    installed = pages_folder(root, package)
    pages = {DOCS / "index.md": index_page(rules)}
    if package == OWN_PACKAGE:
        pages[SPEC] = spec_page()
    for rule in rules:
        text = rule_page(rule, [example for example in examples if example.code == rule.code])
        pages[DOCS / f"{rule.code}.md"] = pages[installed / f"{rule.code}.md"] = text
    return pages


def differences(root: Path, package: str = OWN_PACKAGE) -> list[str]:
    """What `write` would change: one line a file, sorted; empty when all pages are up to date."""
    pages = all_pages(root, package)
    out = [f"{path.as_posix()}: not generated by any rule" for path in _present(root, package) - set(pages)]
    for path, text in pages.items():
        file = root / path
        if not file.is_file():
            out.append(f"{path.as_posix()}: missing")
        elif file.read_text("utf-8") != text:
            out.append(f"{path.as_posix()}: out of date")
    return sorted(out)


def write(root: Path, package: str = OWN_PACKAGE) -> int:
    """Write all pages and delete those of rules that are gone. Returns how many files there are."""
    pages = all_pages(root, package)
    for path, text in pages.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, "utf-8", newline="\n")
    for path in _present(root, package) - set(pages):
        (root / path).unlink()
    return len(pages)


def main(argv: Sequence[str] | None = None) -> int:
    """`python -m verlint.docs [--check] [--root FOLDER] [--pack NAME]`: 0 when done or up to date, 1 when not, 2 when
    the pack cannot be used."""
    parser = argparse.ArgumentParser(prog="python -m verlint.docs", description="Write the generated pages.")
    parser.add_argument("--check", action="store_true", help="change nothing; say which pages are out of date")
    parser.add_argument("--root", type=Path, default=Path(), help="the checkout (default: the current folder)")
    parser.add_argument("--pack", metavar="NAME", default="", help="of this installed rule pack, not of verlint")
    arguments = parser.parse_args(argv)
    root, package = arguments.root.resolve(), arguments.pack or OWN_PACKAGE
    if arguments.pack:
        from verlint.header import PackError
        from verlint.packs import use_packs

        try:
            use_packs([arguments.pack])
        except PackError as error:
            print(f"error: {error}", file=sys.stderr)
            return 2
    if not arguments.check:
        installed = pages_folder(root, package).as_posix()
        print(f"wrote {write(root, package)} files under {DOCS.as_posix()} and {installed}")
        return 0
    wrong = differences(root, package)
    print("\n".join(wrong) if wrong else "all pages are up to date")
    return 1 if wrong else 0


def _present(root: Path, package: str) -> set[Path]:
    folders = (DOCS, pages_folder(root, package))
    return {path.relative_to(root) for folder in folders for path in (root / folder).glob("*.md")}


def _bad_part(examples: Sequence[Example]) -> list[str]:
    bad = next((example for example in examples if example.kind == "bad"), None)
    if bad is None:
        return []
    from verlint.example import check_example
    from verlint.report import render

    said = render(check_example(bad), "full", color=False, width=WIDTH)
    return ["## Example", *_files(bad), "verlint says:", _fence(said, "text"), *_fixed_part(bad)]


def _fixed_part(bad: Example) -> list[str]:
    """What the fix changes, where the example keeps the project after it."""
    from difflib import unified_diff

    lines: list[str] = []
    for path in bad.files():
        after = bad.folder / FIXED / path
        if after.is_file():
            old, new = (mask(file.read_text("utf-8")).splitlines() for file in (bad.folder / path, after))
            lines += unified_diff(old, new, path.as_posix(), path.as_posix(), lineterm="")
    return ["The fix:", _fence("\n".join(lines), "diff")] if lines else []


def _good_part(examples: Sequence[Example]) -> list[str]:
    good = next((example for example in examples if example.kind == "good"), None)
    return ["## Nothing to report", *_files(good)] if good is not None else []


def _suppress_part(rule: Rule) -> list[str]:
    if rule.subject == "Input":
        text = f'Inputs hold no comments. `ignore = ["{rule.code}"]` in the settings switches the rule off.'
        return ["## How to suppress", text]
    comment = f"# verlint: ignore[{rule.code}] the reason"
    return [
        "## How to suppress",
        "At the end of the line, or on a line of its own above the command:",
        _fence(comment, "bash"),
        (
            f"`file-ignore[{rule.code}]` holds for the whole file; "
            f'`ignore = ["{rule.code}"]` in the settings switches the rule off.'
        ),
    ]


def _files(example: Example) -> list[str]:
    from verlint.example import input_words

    words = input_words(example)
    parts = [_fence(f"verlint inputs {shlex.join(words)}", "bash")] if words else []
    for path in example.files():
        try:
            text = (example.folder / path).read_text("utf-8")
        except (OSError, UnicodeDecodeError):
            continue
        parts += [f"`{path.as_posix()}`", _fence(mask(text), _LANGUAGES.get(path.suffix, "text"))]
    return parts


def _fence(text: str, language: str) -> str:
    """A fenced block; the fence is longer than any in the text."""
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    sys.exit(main())
