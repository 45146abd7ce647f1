"""Report the one test of this process to the pytest that started the process."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest


class Reporting:
    """Runs the test named in a file, and appends each report to the file as a line of JSON."""

    def __init__(self, config: pytest.Config, path: str) -> None:
        self._config = config
        self._path = Path(path)
        self._wanted: str = json.loads(self._path.read_text())["wanted"]

    @pytest.hookimpl(trylast=True)
    def pytest_sessionstart(self) -> None:
        """Unregister the terminal reporter: the other process owns the terminal."""
        self._config.pluginmanager.unregister(name="terminalreporter")

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Deselect all tests except the wanted one."""
        items[:] = [item for item in items if item.nodeid == self._wanted]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Report a phase of the test."""
        self._write(self._config.hook.pytest_report_to_serializable(config=self._config, report=report))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Report a collection error."""
        if report.failed:
            self._write({"told": report.longreprtext})

    def pytest_internalerror(self, excrepr: object) -> None:
        """Report an internal error of pytest or a plug-in."""
        self._write({"told": str(excrepr)})

    def _write(self, document: dict[str, Any]) -> None:
        with self._path.open("a") as file:
            file.write(json.dumps(document, default=str) + "\n")
