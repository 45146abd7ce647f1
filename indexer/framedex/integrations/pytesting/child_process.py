"""Run a test in a child process, on the mock TPU, and use the reports of that process."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from framedex.base.errors import FramedexError

if TYPE_CHECKING:
    from framedex.commands.launching.outcome import Outcome


class SubprocessTest:
    """A test that runs in a child process; each local phase fails if the phase in the child failed."""

    def __init__(self, item: pytest.Item, typed: Sequence[str], variable: str) -> None:
        """`typed` are pytest's arguments; the environment variable `variable` passes the report file to the child."""
        self._item = item
        self._test_id = _node_id(item)
        self._arguments = [*_remove_paths(typed, item.config), *_build_selecting_arguments(item, self._test_id)]
        self._variable = variable
        self.reports: dict[str, pytest.TestReport] = {}

    def replace(self) -> None:
        """Replace the setup and the call of the test: setup runs the child process, and no fixture is created here."""
        self._item.setup = self._run_in_child_process  # type: ignore[method-assign]
        self._item.runtest = self._check_call_report  # type: ignore[method-assign]

    def _run_in_child_process(self) -> None:
        try:
            self.reports, outcome, messages = self._run_and_read_reports()
        except FramedexError as error:
            pytest.fail(str(error), pytrace=False)
        if "teardown" not in self.reports:
            if (
                outcome.status == pytest.ExitCode.INTERRUPTED and not messages
            ):  # pytest has the same status if it found no test
                raise KeyboardInterrupt
            self.reports = {}
            pytest.fail(_format_missing_report(outcome, messages), pytrace=False)
        if not self.reports["setup"].passed:
            pytest.fail("The setup failed in the test's own process.", pytrace=False)  # the other report replaces it

    def _check_call_report(self) -> None:
        if self.reports["call"].failed:
            pytest.fail("The test failed in its own process.", pytrace=False)  # the other report replaces it, too

    def _run_and_read_reports(self) -> tuple[dict[str, pytest.TestReport], Outcome, list[str]]:
        """The reports by phase, the outcome of the process, and its other messages."""
        from framedex.commands.launching.launch import Launch, check_python, find_runtime, launch
        from framedex.commands.launching.runtimes import Runtime

        check_python(sys.executable)  # noqa: TID251
        runtime = find_runtime(sys.executable)  # noqa: TID251
        if runtime is not Runtime.PJRT:
            raise FramedexError("Budgets need a JAX with the PJRT C API.", "Install a newer JAX.")
        with tempfile.TemporaryDirectory(prefix="framedex-") as folder:
            path = Path(folder) / "reports"
            path.write_text(json.dumps({"wanted": self._test_id}) + "\n")
            settings = {
                self._variable: str(path),
                "FRAMEDEX_RECORD": "0",  # the test itself starts the recording
                "JAX_PLATFORMS": "tpu,cpu",
            }
            arguments = ("-m", "pytest", *self._arguments, f"--basetemp={folder}/pytest")
            outcome = launch(Launch(sys.executable, arguments, Path(folder) / "captures", settings, (), runtime))  # noqa: TID251
            documents = list(_read_documents(path))
        reports = [self._restore_report(document) for document in documents if "when" in document]
        messages = [document["told"] for document in documents if "told" in document]
        return {report.when: report for report in reports}, outcome, messages

    def _restore_report(self, document: dict[str, Any]) -> pytest.TestReport:
        """Restore a report of the child process; some lists become tuples, which JSON lacks."""
        config = self._item.config
        report: pytest.TestReport = config.hook.pytest_report_from_serializable(config=config, data=document)
        report.nodeid, report.location = self._item.nodeid, self._item.location
        report.user_properties = [(name, value) for name, value in report.user_properties]
        if isinstance(report.longrepr, list):  # the location and reason of a skip
            report.longrepr = tuple(report.longrepr)
        return report


def _remove_paths(typed: Sequence[str], config: pytest.Config) -> list[str]:
    """The arguments of pytest without test paths and `--`."""
    arguments = [_Argument(each) for each in typed]
    places = {id(each) for each in config._parser.parse(arguments).file_or_dir}
    return [str(each) for each in arguments if id(each) not in places and each != "--"]


class _Argument(str):
    """An argument with an identity: an option's value may have the same text as a path."""

    __slots__ = ()


def _node_id(item: pytest.Item) -> str:
    """The id of a test without the group suffix of pytest-xdist."""
    group = item.get_closest_marker("xdist_group")
    names = [*group.args, *group.kwargs.values()] if group is not None else ()
    return item.nodeid.removesuffix(f"@{names[0]}") if names else item.nodeid


def _build_selecting_arguments(item: pytest.Item, name: str) -> Iterator[str]:
    """The arguments that select one test with the same configuration."""
    config = item.config
    yield from ("--rootdir", str(config.rootpath))
    if config.inipath is not None:
        yield from ("-c", str(config.inipath))
    if config.pluginmanager.hasplugin("xdist"):
        yield "-n0"
    yield f"{item.path}::{name.partition('::')[2]}"


def _read_documents(path: Path) -> Iterator[dict[str, Any]]:
    try:
        lines = path.read_text().splitlines()
    except OSError:
        return
    for line in lines:
        try:
            yield json.loads(line)
        except ValueError:  # the process died while it wrote
            return


def _format_missing_report(outcome: Outcome, messages: Sequence[str]) -> str:
    status = f"status {outcome.status}" if outcome.status >= 0 else f"signal {-outcome.status}"
    more = "".join(f"\n{each}" for each in messages)
    return f"The process that recorded this test ended early, with {status}.{more}"


class ReportWriter:
    """In the child process: runs the test named in a file, and appends each report to the file as a line of JSON."""

    def __init__(self, config: pytest.Config, path: str) -> None:
        self._config = config
        self._path = Path(path)
        self._test_id: str = json.loads(self._path.read_text())["wanted"]

    @pytest.hookimpl(trylast=True)
    def pytest_sessionstart(self) -> None:
        """Unregister the terminal reporter: the other process owns the terminal."""
        self._config.pluginmanager.unregister(name="terminalreporter")

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Deselect all tests except the wanted one."""
        items[:] = [item for item in items if item.nodeid == self._test_id]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Report a phase of the test."""
        self._append_document(self._config.hook.pytest_report_to_serializable(config=self._config, report=report))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Report a collection error."""
        if report.failed:
            self._append_document({"told": report.longreprtext})

    def pytest_internalerror(self, excrepr: object) -> None:
        """Report an internal error of pytest or a plug-in."""
        self._append_document({"told": str(excrepr)})

    def _append_document(self, document: dict[str, Any]) -> None:
        with self._path.open("a") as file:
            file.write(json.dumps(document, default=str) + "\n")
