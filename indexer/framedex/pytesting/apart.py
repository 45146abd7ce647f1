"""Runs a test in a process of its own, on the mock TPU, and takes over what that reports."""

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
    """A test that runs elsewhere: its phases here do nothing but fail where those did."""

    def __init__(self, item: pytest.Item, typed: Sequence[str], variable: str) -> None:
        """`typed` are pytest's arguments; `variable` tells the other process where its reports go."""
        self._item = item
        self._name = _name(item)
        self._arguments = [*_without_places(typed, item.config), *_of_one_test(item, self._name)]
        self._variable = variable
        self.reports: dict[str, pytest.TestReport] = {}

    def replace(self) -> None:
        """Have the other process run when the test would be set up: its fixtures are made there, and none here."""
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
            ):  # it has the same status where it found no test
                raise KeyboardInterrupt
            self.reports = {}
            pytest.fail(_why_unreported(outcome, told), pytrace=False)
        if not self.reports["setup"].passed:
            pytest.fail("It was not set up in its own process.", pytrace=False)  # its report is shown in place of this

    def _run(self) -> None:
        if self.reports["call"].failed:
            pytest.fail("It failed in its own process.", pytrace=False)  # as above

    def _reports(self) -> tuple[dict[str, pytest.TestReport], Outcome, list[str]]:
        """The reports by phase, how the process ended, and what else it told."""
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
                "FRAMEDEX_RECORD": "0",  # the test says itself what is to be recorded
                "JAX_PLATFORMS": "tpu,cpu",
            }
            arguments = ("-m", "pytest", *self._arguments, f"--basetemp={folder}/pytest")
            outcome = launch(Launch(sys.executable, arguments, Path(folder) / "captures", settings, None, runtime))  # noqa: TID251
            documents = list(_documents(path))
        reports = [self._report(document) for document in documents if "when" in document]
        told = [document["told"] for document in documents if "told" in document]
        return {report.when: report for report in reports}, outcome, told

    def _report(self, document: dict[str, Any]) -> pytest.TestReport:
        """A report as pytest made it there: JSON has no tuples."""
        config = self._item.config
        report: pytest.TestReport = config.hook.pytest_report_from_serializable(config=config, data=document)
        report.nodeid, report.location = self._item.nodeid, self._item.location
        report.user_properties = [(name, value) for name, value in report.user_properties]
        if isinstance(report.longrepr, list):  # where and why it was skipped
            report.longrepr = tuple(report.longrepr)
        return report


def _without_places(typed: Sequence[str], config: pytest.Config) -> list[str]:
    """Pytest's arguments, but for those that say where tests are, and what divides them from the others."""
    told_apart = [_Argument(each) for each in typed]
    places = {id(each) for each in config._parser.parse(told_apart).file_or_dir}
    return [str(each) for each in told_apart if id(each) not in places and each != "--"]


class _Argument(str):
    """An argument that is no other one of the same text: the value of an option may read like a place."""

    __slots__ = ()


def _name(item: pytest.Item) -> str:
    """The test's id, without the group that pytest-xdist adds to it."""
    group = item.get_closest_marker("xdist_group")
    names = [*group.args, *group.kwargs.values()] if group is not None else ()
    return item.nodeid.removesuffix(f"@{names[0]}") if names else item.nodeid


def _of_one_test(item: pytest.Item, name: str) -> Iterator[str]:
    """The arguments that lead to one test, by the same configuration."""
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
        except ValueError:  # the process ended as it wrote
            return


def _why_unreported(outcome: Outcome, told: Sequence[str]) -> str:
    status = f"status {outcome.status}" if outcome.status >= 0 else f"signal {-outcome.status}"
    more = "".join(f"\n{each}" for each in told)
    return f"The process that was to record this test ended with {status} before it was through.{more}"
