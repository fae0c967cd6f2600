"""What the site needs beside the pages: rules by theme in the navigation, files of the checkout that pages link to."""

from __future__ import annotations

import contextlib
import io
import posixpath
import re
import shlex
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[2]
DOCS = "docs"
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(((?!\w+:|#)[^)#\s]+)(#[^)\s]*)?\)")
FENCE = re.compile(r"^[ \t]*(`{3,}).*?^[ \t]*\1[ \t]*$", re.DOTALL | re.MULTILINE)
DIAGRAM = re.compile(
    r"<!-- output: (verlint graph .+?) --format mermaid(.*?) -->\n(`{3,})mermaid\n.*?^\3$", re.DOTALL | re.MULTILINE
)
CODE = re.compile(r"(`[^`\n]*`|\[[^\]]*\]\([^)]*\)|<!--[\s\S]*?-->|^#.*$)|\b(VL\d{3})\b", re.MULTILINE)
RULE = re.compile(r"^\| \[(VL\d+)\]\((VL\d+\.md)\)\s*\| ([\w-]+)", re.MULTILINE)


def on_config(config: MkDocsConfig) -> None:
    """Give every theme of the list of rules a chapter of the navigation, and pages that it does not name a place."""
    assert config.nav is not None
    chapters: dict[str, Any] = {title: held for item in config.nav for title, held in item.items()}
    named = {page for held in chapters.values() for page in ([held] if isinstance(held, str) else _pages(held))}
    chapters["Reference"] += [
        page
        for path in sorted((ROOT / DOCS).rglob("*.md"))
        if (page := path.relative_to(ROOT / DOCS).as_posix()) not in named and not page.startswith("rules/")
    ]
    chapters["Rules"] = [{"All rules": "rules/index.md"}, *rules_by_theme()]
    config.nav = [{title: held} for title, held in chapters.items()]


def _pages(chapter: list[dict[str, str]]) -> list[str]:
    return [page for item in chapter for page in item.values()]


def rules_by_theme() -> list[dict[str, Any]]:
    """The chapters of `docs/rules/index.md`, each with its pages."""
    _, *chapters = re.split(r"^## (.+)$", (ROOT / DOCS / "rules/index.md").read_text("utf-8"), flags=re.MULTILINE)
    return [
        {title: [{f"{code} {name}": f"rules/{page}"} for code, page, name in RULE.findall(text)]}
        for title, text in zip(chapters[::2], chapters[1::2], strict=True)
    ]


def on_files(files: Files, config: MkDocsConfig) -> None:
    """Add every file of the checkout that a page outside of `docs` is linked by."""
    seen: set[str] = set()
    waiting = [f"{DOCS}/{file.src_uri}" for file in files.documentation_pages()]
    while waiting:
        page = waiting.pop()
        for _, target, _ in LINK.findall(FENCE.sub("", (ROOT / page).read_text("utf-8"))):
            path = posixpath.normpath(posixpath.join(posixpath.dirname(page), target))
            if path.startswith(f"{DOCS}/") or path in seen or not (ROOT / path).is_file():
                continue
            seen.add(path)
            files.append(File.generated(config, path, abs_src_path=str(ROOT / path)))
            waiting += [path] if path.endswith(".md") else []


def picture(diagram: re.Match[str]) -> str:
    """The graph of a Mermaid diagram, which a browser cannot draw by itself, as SVG."""
    from verlint.cli.main import main

    words = shlex.split(f"{diagram[1]} --format svg{diagram[2]}")[1:]
    out = io.StringIO()
    with contextlib.chdir(ROOT), contextlib.redirect_stdout(out):
        code = main(words)
    if code:
        raise SystemExit(f"{shlex.join(words)} failed")
    return out.getvalue()


def on_page_markdown(markdown: str, page: Any, config: MkDocsConfig, files: Files) -> str:
    """Point links out of `docs` to the copies of the site (else make them plain text), and codes to their rules."""
    own = page.file.src_uri
    if (diagram := DIAGRAM.search(markdown)) is not None:
        name = f"{posixpath.splitext(own)[0]}.svg"
        files.append(File.generated(config, name, content=picture(diagram)))
        markdown = f"{markdown[: diagram.start()]}![The graph]({posixpath.basename(name)}){markdown[diagram.end() :]}"
    source = own if files.get_file_from_path(own) and page.file.generated_by else f"{DOCS}/{own}"

    def moved(link: re.Match[str]) -> str:
        text, target, anchor = link.groups()
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        inside = path.removeprefix(f"{DOCS}/")
        if files.get_file_from_path(inside) is None:
            return text if not (ROOT / path).is_file() else link[0]
        return f"[{text}]({posixpath.relpath(inside, posixpath.dirname(own) or '.')}{anchor or ''})"

    markdown = re.sub(r"^ {2,3}(?=- )", " " * 4, markdown, flags=re.MULTILINE)  # what this Markdown takes as nested

    def named(code: re.Match[str]) -> str:
        page = f"rules/{code[2]}.md"
        if code[1] or page == own or files.get_file_from_path(page) is None:
            return code[0]
        return f"[{code[2]}]({posixpath.relpath(page, posixpath.dirname(own) or '.')})"

    parts, at = [], 0
    for fence in FENCE.finditer(markdown):
        parts += [CODE.sub(named, LINK.sub(moved, markdown[at : fence.start()])), fence[0]]
        at = fence.end()
    return "".join([*parts, CODE.sub(named, LINK.sub(moved, markdown[at:]))])
