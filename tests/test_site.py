"""The site is built from the pages without a warning, holds all of them, and takes nothing from the network."""

from __future__ import annotations

import json
import logging
import re
from pathlib import Path

import pytest

from checkout import ROOT

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site. Strict: a warning, such as a link or an anchor that leads nowhere, ends the build."""
    build = pytest.importorskip("mkdocs.commands.build")
    config = pytest.importorskip("mkdocs.config")
    folder = tmp_path_factory.mktemp("site") / "site"
    logger = logging.getLogger("mkdocs")
    logger.setLevel(logging.WARNING)
    build.build(config.load_config(str(ROOT / "docs/site/mkdocs.yml"), site_dir=str(folder), strict=True))
    return folder


def main_part(page: Path) -> str:
    text = page.read_text("utf-8")
    return text[text.index('role="main"') : text.index("<footer")]


def test_every_page_is_there_and_in_the_navigation(site: Path) -> None:
    pages = {path.relative_to(ROOT / "docs").with_suffix(".html").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    pages = {page.replace("README.html", "index.html") for page in pages} | {"CONTRIBUTING.html", "CHANGELOG.html"}
    assert [page for page in sorted(pages) if not (site / page).is_file()] == []
    front = (site / "rules/VL203.html").read_text("utf-8")
    assert "VL202 step-never-saved</a>" in front[: front.index('role="main"')]
    found = json.loads((site / "search/search_index.json").read_text("utf-8"))["docs"]
    assert pages - {each["location"].partition("#")[0] for each in found} == set()


def test_nothing_is_taken_from_the_network(site: Path) -> None:
    for page in site.rglob("*.html"):
        text = page.read_text("utf-8")
        assert re.findall(r"<(?:script|img|iframe)\b[^>]*\bsrc=.(?:https?:)?//", text) == []
        assert re.findall(r"<link\b[^>]*\brel=.stylesheet.[^>]*\bhref=.(?:https?:)?//", text) == []


def test_markdown_is_read_as_it_is_meant(site: Path) -> None:
    """Nothing of the signs of Markdown is left outside of code, as it is where two readers of Markdown differ."""
    for page in site.rglob("*.html"):
        if page.name not in ("404.html", "search.html"):
            text = re.sub(r"<(pre|code)\b.*?</\1>", "", main_part(page), flags=re.DOTALL)
            assert re.findall(r".*(?:\*\*|`|\]\(|\|\||<p>[-*] |^- ).*", text, re.MULTILINE) == [], page.name


def test_the_graph_is_a_picture(site: Path) -> None:
    assert '<img alt="The graph" src="graph.svg"' in main_part(site / "graph.html")
    assert (site / "graph.svg").read_text("utf-8").startswith("<svg")
