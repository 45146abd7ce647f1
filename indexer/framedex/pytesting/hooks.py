"""The pytest hooks for tests with `@pytest.mark.framedex` or the fixture `recorded`."""

from __future__ import annotations

import os
from collections.abc import Generator
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from framedex.pytesting.recorded import Recorded

_ARGUMENTS = "framedex_arguments"
_REPORTS = "FRAMEDEX_PYTEST_REPORTS"
_FIXTURES = ("recorded", "tpu_behaviour")
_IS_ARRANGED = pytest.StashKey[bool]()


def pytest_configure(config: pytest.Config) -> None:
    """If this process runs one test for another pytest, register the reporter for it."""
    if path := os.environ.pop(_REPORTS, ""):
        from framedex.pytesting.reporting import Reporting

        config.pluginmanager.register(Reporting(config, path))


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Pass the command line to a worker of pytest-xdist."""
    node.workerinput[_ARGUMENTS] = list(map(str, node.config.invocation_params.args))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Run a recorded test in a process that can record."""
    if item.get_closest_marker("framedex") is None and not any(_has_ours(item, each) for each in _FIXTURES):
        return (yield)
    from framedex.pytesting.arranging import arranged

    item.stash[_IS_ARRANGED] = True
    typed = getattr(item.config, "workerinput", {}).get(_ARGUMENTS) or item.config.invocation_params.args
    with arranged(item, list(map(str, typed)), _REPORTS):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Check the body of a test against the budgets of its mark."""
    if _IS_ARRANGED not in item.stash:
        return (yield)
    from framedex.pytesting.arranging import held_to_mark

    with held_to_mark(item):
        return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Return the report of the process that ran the test."""
    report = yield
    if _IS_ARRANGED not in item.stash:
        return report
    from framedex.pytesting.arranging import told_elsewhere

    return told_elsewhere(item, call.when) or report


@pytest.fixture
def recorded(request: pytest.FixtureRequest) -> Recorded:
    """Record parts of the test: `with recorded() as run: ...`, then `run.compiles()` and so on."""
    from framedex.pytesting.arranging import recorded_of

    return recorded_of(request.node)


@pytest.fixture
def tpu_behaviour() -> Generator[ModuleType]:
    """`framedex_native.behaviour`; behaviours that the test attaches to the TPU runtime are removed at its end."""
    from framedex.nativepart import behaviour

    with behaviour.active():
        yield behaviour


def _has_ours(item: pytest.Item, fixture: str) -> bool:
    """Whether a test uses our fixture, directly or through another one, and not its own fixture of this name."""
    fixtures = getattr(item, "_fixtureinfo", None)
    found = () if fixtures is None else fixtures.name2fixturedefs.get(fixture, ())
    for each in reversed(found):
        if each.func.__module__ == __name__:
            return True
        if fixture not in each.argnames:
            return False  # the overridden fixture is never created
    return False
