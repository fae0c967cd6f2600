"""Options of the test run: `--bless` writes down what verlint says now as what is expected."""

from __future__ import annotations

import os

import pytest

BLESSED = "blessed"

os.environ["VERLINT_CACHE_DIR"] = ""  # nothing is kept between tests, nor in the home of who runs them


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--bless", action="store_true", help="rewrite fixtures/*/*/expected.txt; never where CI=true")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--bless") and os.environ.get("CI", "").lower() in ("1", "true"):
        raise pytest.UsageError("--bless is for people who read what it writes; it does not run where CI=true")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reports = (
        report for each in terminalreporter.stats.values() for report in each if hasattr(report, "user_properties")
    )
    blessed = {path for report in reports for name, path in report.user_properties if name == BLESSED}
    if blessed:
        terminalreporter.section("rewritten expectations: read them before you commit them")
        for path in sorted(blessed):
            terminalreporter.line(path)
