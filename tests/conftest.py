"""Options of the test run, and what makes it quick.

`--bless` writes down what verlint says now as what is expected."""

from __future__ import annotations

import gc
import os
import shutil
import sys
import tempfile

import pytest

BLESSED = "blessed"
COMPILED = "compiled"
FOLDER = pytest.StashKey[str]()

os.environ["VERLINT_CACHE_DIR"] = ""  # nothing is kept between tests, nor in the home of who runs them


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--bless", action="store_true", help="rewrite fixtures/*/*/expected.txt; never where CI=true")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--bless") and os.environ.get("CI", "").lower() in ("1", "true"):
        raise pytest.UsageError("--bless is for people who read what it writes; it does not run where CI=true")
    keep_compiled(config)


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Several workers (`-n 2`) begin with a stretch of modules each, whose tests share what they read, and the one that
    is done first takes over half of what is left."""
    if config.getoption("numprocesses", None) and config.option.dist == "no":
        config.option.dist = "worksteal"


def keep_compiled(config: pytest.Config) -> None:
    """Let the programs that tests start keep compiled modules where this Python does not, in a folder of the run:
    compiling verlint takes longer than most of what they do."""
    if not sys.dont_write_bytecode:
        return
    if (folder := getattr(config, "workerinput", {}).get(COMPILED)) is None:
        folder = tempfile.mkdtemp(prefix="verlint-compiled-")
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
    config.stash[FOLDER] = folder
    if hasattr(config, "workerinput") or not config.getoption("numprocesses", None):
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        os.environ["PYTHONPYCACHEPREFIX"] = folder


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: object) -> None:
    """One folder for all workers."""
    if folder := node.config.stash.get(FOLDER, ""):  # type: ignore[attr-defined]
        node.workerinput[COMPILED] = folder  # type: ignore[attr-defined]


def pytest_collection_finish() -> None:
    """Thousands of tests stay to the end, so that looking for garbage among them is a quarter of the time of a run."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 100)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reports = (
        report for each in terminalreporter.stats.values() for report in each if hasattr(report, "user_properties")
    )
    blessed = {path for report in reports for name, path in report.user_properties if name == BLESSED}
    if blessed:
        terminalreporter.section("rewritten expectations: read them before you commit them")
        for path in sorted(blessed):
            terminalreporter.line(path)
