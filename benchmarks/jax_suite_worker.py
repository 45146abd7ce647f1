"""Run one file of JAX's tests for jax_suite.py, and append every outcome at once, so that a crash loses none.

python -P benchmarks/jax_suite_worker.py NOTES SECONDS I/N [PYTEST-OPTIONS...]

NOTES is a file of JSON lines; tests with an outcome in it are skipped. A test that takes more than SECONDS ends the
process with every thread's stack on stderr. Of the collected tests, I/N runs every Nth from the Ith.
"""

from __future__ import annotations

import faulthandler
import json
import os
import sys
from pathlib import Path

import pytest


class Notes:
    """A pytest plug-in that selects unfinished tests and appends outcomes to the notes."""

    def __init__(self, path: Path, limit: float, first: int, step: int) -> None:
        self.path, self.limit, self.first, self.step = path, limit, first, step
        lines = path.read_text().splitlines() if path.exists() else []
        self.finished = {note["test"] for note in map(json.loads, lines) if note["outcome"] != "started"}

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        chosen = items[self.first :: self.step]
        items[:] = [item for item in chosen if test_name(item.nodeid) not in self.finished]

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.note("(collection)", "failed", str(report.longrepr).splitlines()[-1])

    def pytest_runtest_logstart(self, nodeid: str, location: object) -> None:
        self.note(test_name(nodeid), "started")
        faulthandler.dump_traceback_later(self.limit, exit=True)

    def pytest_runtest_logfinish(self, nodeid: str, location: object) -> None:
        faulthandler.cancel_dump_traceback_later()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or report.outcome != "passed":
            self.note(test_name(report.nodeid), report.outcome, failure_reason(report), report.duration)

    def note(self, test: str, outcome: str, reason: str = "", seconds: float = 0.0) -> None:
        entry = {"test": test, "outcome": outcome, "reason": reason, "seconds": round(seconds, 3)}
        with self.path.open("a") as file:
            file.write(json.dumps(entry) + "\n")


def test_name(nodeid: str) -> str:
    """The name `ApiTest::test_grad` of `../tests/api_test.py::ApiTest::test_grad`."""
    return nodeid.partition("::")[2]


def failure_reason(report: pytest.TestReport) -> str:
    """The reason of a failed or skipped test."""
    if isinstance(report.longrepr, tuple):
        return str(report.longrepr[2]).removeprefix("Skipped: ")
    crash = getattr(report.longrepr, "reprcrash", None)
    return str(crash.message) if crash else str(report.longrepr or "")[-2000:]


def main() -> int:
    """Run the unfinished tests; return pytest's exit status."""
    notes, seconds, part, *options = sys.argv[1:]
    first, _, step = part.partition("/")
    # JAX's configuration turns warnings into errors, also those of this project's plug-ins.
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    plugin = Notes(Path(notes), float(seconds), int(first), int(step))
    # Captured output would be lost in a crash, which it explains.
    own = ["-p", "no:cacheprovider", "-p", "no:faulthandler", "-q", "--tb=short", "--capture=no"]
    return pytest.main([*options, *own], [plugin])


if __name__ == "__main__":
    sys.exit(main())
