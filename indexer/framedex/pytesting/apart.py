"""Run a test in a process of its own, on the mock TPU, and take over its reports."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from framedex.errors import FramedexError

if TYPE_CHECKING:
    from framedex.commands.launching.outcome import Outcome


class Apart:
    """A test that runs in another process; its local phases fail if the remote ones did."""

    def __init__(self, item: pytest.Item, typed: Sequence[str], variable: str) -> None:
        """`typed` are pytest's arguments; `variable` passes the path of the report file to the other process."""
        self._item = item
        self._name = _name(item)
        self._arguments = [*_without_places(typed, item.config), *_of_one_test(item, self._name)]
        self._variable = variable
        self.reports: dict[str, pytest.TestReport] = {}

    def replace(self) -> None:
        """Replace the setup and the call of the test: setup runs the other process, and no fixture is created here."""
        self._item.setup = self._set_up  # type: ignore[method-assign]
        self._item.runtest = self._run  # type: ignore[method-assign]

    def _set_up(self) -> None:
        try:
            self.reports, outcome, told = self._reports()
        except FramedexError as error:
            pytest.fail(str(error), pytrace=False)
        if "teardown" not in self.reports:
            if (
                outcome.status == pytest.ExitCode.INTERRUPTED and not told
            ):  # pytest has the same status if it found no test
                raise KeyboardInterrupt
            self.reports = {}
            pytest.fail(_why_unreported(outcome, told), pytrace=False)
        if not self.reports["setup"].passed:
            pytest.fail("It was not set up in its own process.", pytrace=False)  # the other report replaces it

    def _run(self) -> None:
        if self.reports["call"].failed:
            pytest.fail("It failed in its own process.", pytrace=False)  # as above

    def _reports(self) -> tuple[dict[str, pytest.TestReport], Outcome, list[str]]:
        """The reports by phase, the outcome of the process, and its other messages."""
        from framedex.commands.launching.launch import Launch, check_jaxlib, check_python, launch
        from framedex.commands.launching.runtimes import Runtime

        check_python(sys.executable)  # noqa: TID251
        runtime = check_jaxlib(sys.executable)  # noqa: TID251
        if runtime is not Runtime.PJRT:
            raise FramedexError("Budgets need a JAX with the PJRT C API.", "Use a newer JAX.")
        with tempfile.TemporaryDirectory(prefix="framedex-") as folder:
            path = Path(folder) / "reports"
            path.write_text(json.dumps({"wanted": self._name}) + "\n")
            settings = {
                self._variable: str(path),
                "FRAMEDEX_RECORD": "0",  # the test itself starts the recording
                "JAX_PLATFORMS": "tpu,cpu",
            }
            arguments = ("-m", "pytest", *self._arguments, f"--basetemp={folder}/pytest")
            outcome = launch(Launch(sys.executable, arguments, Path(folder) / "captures", settings, None, runtime))  # noqa: TID251
            documents = list(_documents(path))
        reports = [self._report(document) for document in documents if "when" in document]
        told = [document["told"] for document in documents if "told" in document]
        return {report.when: report for report in reports}, outcome, told

    def _report(self, document: dict[str, Any]) -> pytest.TestReport:
        """A report as pytest created it in the other process; lists become tuples, which JSON lacks."""
        config = self._item.config
        report: pytest.TestReport = config.hook.pytest_report_from_serializable(config=config, data=document)
        report.nodeid, report.location = self._item.nodeid, self._item.location
        report.user_properties = [(name, value) for name, value in report.user_properties]
        if isinstance(report.longrepr, list):  # the location and reason of a skip
            report.longrepr = tuple(report.longrepr)
        return report


def _without_places(typed: Sequence[str], config: pytest.Config) -> list[str]:
    """pytest's arguments without test paths and `--`."""
    told_apart = [_Argument(each) for each in typed]
    places = {id(each) for each in config._parser.parse(told_apart).file_or_dir}
    return [str(each) for each in told_apart if id(each) not in places and each != "--"]


class _Argument(str):
    """An argument that differs from others with the same text: an option's value may look like a path."""

    __slots__ = ()


def _name(item: pytest.Item) -> str:
    """The test's id without the group suffix of pytest-xdist."""
    group = item.get_closest_marker("xdist_group")
    names = [*group.args, *group.kwargs.values()] if group is not None else ()
    return item.nodeid.removesuffix(f"@{names[0]}") if names else item.nodeid


def _of_one_test(item: pytest.Item, name: str) -> Iterator[str]:
    """The arguments that select one test with the same configuration."""
    config = item.config
    yield from ("--rootdir", str(config.rootpath))
    if config.inipath is not None:
        yield from ("-c", str(config.inipath))
    if config.pluginmanager.hasplugin("xdist"):
        yield "-n0"
    yield f"{item.path}::{name.partition('::')[2]}"


def _documents(path: Path) -> Iterator[dict[str, Any]]:
    try:
        lines = path.read_text().splitlines()
    except OSError:
        return
    for line in lines:
        try:
            yield json.loads(line)
        except ValueError:  # the process died while it wrote
            return


def _why_unreported(outcome: Outcome, told: Sequence[str]) -> str:
    status = f"status {outcome.status}" if outcome.status >= 0 else f"signal {-outcome.status}"
    more = "".join(f"\n{each}" for each in told)
    return f"The process that was to record this test ended with {status} before it was through.{more}"
