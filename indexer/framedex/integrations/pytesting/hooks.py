"""The pytest hooks for tests with `@pytest.mark.framedex` or the fixture `recorded`."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from framedex.integrations.pytesting.recordings import BlockRecorder

_ARGUMENTS_KEY = "framedex_arguments"
_REPORT_FILE_VARIABLE = "FRAMEDEX_PYTEST_REPORTS"
_FIXTURES = ("recorded", "tpu_behaviour")
_IS_RECORDED_TEST = pytest.StashKey[bool]()


def pytest_configure(config: pytest.Config) -> None:
    """If this process runs one test for another pytest, register the reporter for it."""
    if path := os.environ.pop(_REPORT_FILE_VARIABLE, ""):
        from framedex.integrations.pytesting.child_process import ReportWriter

        config.pluginmanager.register(ReportWriter(config, path))


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Pass the command line to a worker of pytest-xdist."""
    node.workerinput[_ARGUMENTS_KEY] = list(map(str, node.config.invocation_params.args))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Run a recorded test in a process that can record."""
    if item.get_closest_marker("framedex") is None and not any(_uses_our_fixture(item, each) for each in _FIXTURES):
        return (yield)
    from framedex.integrations.pytesting.recorded_tests import recording_process

    item.stash[_IS_RECORDED_TEST] = True
    typed = getattr(item.config, "workerinput", {}).get(_ARGUMENTS_KEY) or item.config.invocation_params.args
    with recording_process(item, list(map(str, typed)), _REPORT_FILE_VARIABLE):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Check the body of a test against the budgets of its mark."""
    if _IS_RECORDED_TEST not in item.stash:
        return (yield)
    from framedex.integrations.pytesting.recorded_tests import check_marked_budgets

    with check_marked_budgets(item):
        return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Return the report of the process that ran the test."""
    report = yield
    if _IS_RECORDED_TEST not in item.stash:
        return report
    from framedex.integrations.pytesting.recorded_tests import run_in_subprocess

    return run_in_subprocess(item, call.when) or report


@pytest.fixture
def recorded(request: pytest.FixtureRequest) -> BlockRecorder:
    """Record parts of the test.

    Use `with recorded() as run: ...`, then `run.compiles()` and so on.
    """
    from framedex.integrations.pytesting.recorded_tests import recorder_of

    return recorder_of(request.node)


@pytest.fixture
def tpu_behaviour() -> Generator[ModuleType]:
    """`framedex_native.behaviour`; behaviours that the test attaches to the TPU runtime are removed after the test."""
    from framedex.base.nativepart import behaviour

    with behaviour.active():
        yield behaviour


@pytest.fixture
def replay_recording(request: pytest.FixtureRequest) -> Callable[..., None]:
    """Replay a capture, or a file of `framedex replay -o` or `reduce`, at the plug-in of `--framedex-plugin`.

    Use `replay_recording(path, ulps=0, rtol=0.0, sandbox=True)`. The test fails if the replay fails, or if a content
    differs by more from the recorded one. Without the sandbox, the plug-in may write all your files.
    """

    def replay(path: str | os.PathLike[str], *, ulps: int = 0, rtol: float = 0.0, sandbox: bool = True) -> None:
        from framedex.commands.main import cli

        options = {"--plugin": request.config.getoption("--framedex-plugin"), "--ulps": ulps, "--rtol": rtol}
        arguments = [str(each) for option in options.items() for each in option]
        arguments += [] if sandbox else ["--no-sandbox"]
        status = cli.main(["replay", os.fspath(path), *arguments], "framedex", standalone_mode=False)
        if status:
            problem = "contents differ" if status == 1 else "the replay failed"
            pytest.fail(f"{os.fspath(path)}: {problem}. The output of `framedex replay` says what.", pytrace=False)

    return replay


def _uses_our_fixture(item: pytest.Item, fixture: str) -> bool:
    """Whether a test uses our fixture, directly or through another one, and not a fixture that overrides it."""
    fixtures = getattr(item, "_fixtureinfo", None)
    found = () if fixtures is None else fixtures.name2fixturedefs.get(fixture, ())
    for each in reversed(found):
        if each.func.__module__ == __name__:
            return True
        if fixture not in each.argnames:
            return False  # the overridden fixture is never created
    return False
