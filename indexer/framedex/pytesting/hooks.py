"""What the plug-in of pytest does with tests that ask for `@pytest.mark.framedex` or the fixture `recorded`."""

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
    """In a process that runs one test for another pytest, report to that."""
    if path := os.environ.pop(_REPORTS, ""):
        from framedex.pytesting.reporting import Reporting

        config.pluginmanager.register(Reporting(config, path))


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a worker of pytest-xdist what was typed."""
    node.workerinput[_ARGUMENTS] = list(map(str, node.config.invocation_params.args))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Have a test that is to be recorded run where it can be."""
    if item.get_closest_marker("framedex") is None and not any(_has_ours(item, each) for each in _FIXTURES):
        return (yield)
    from framedex.pytesting.arranging import arranged

    item.stash[_IS_ARRANGED] = True
    typed = getattr(item.config, "workerinput", {}).get(_ARGUMENTS) or item.config.invocation_params.args
    with arranged(item, list(map(str, typed)), _REPORTS):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Hold the body of a test to the budgets of its mark."""
    if _IS_ARRANGED not in item.stash:
        return (yield)
    from framedex.pytesting.arranging import held_to_mark

    with held_to_mark(item):
        return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Report what the process says that ran a test."""
    report = yield
    if _IS_ARRANGED not in item.stash:
        return report
    from framedex.pytesting.arranging import told_elsewhere

    return told_elsewhere(item, call.when) or report


@pytest.fixture
def recorded(request: pytest.FixtureRequest) -> Recorded:
    """What records parts of the test: `with recorded() as run: ...`, then `run.compiles()` and so on."""
    from framedex.pytesting.arranging import recorded_of

    return recorded_of(request.node)


@pytest.fixture
def tpu_behaviour() -> Generator[ModuleType]:
    """`framedex_native.behaviour`: what the test puts on functions of the TPU runtime is taken away at its end."""
    from framedex.nativepart import behaviour

    with behaviour.active():
        yield behaviour


def _has_ours(item: pytest.Item, fixture: str) -> bool:
    """Whether a test asks for our fixture, itself or by another one, and not for one of its own of this name."""
    fixtures = getattr(item, "_fixtureinfo", None)
    found = () if fixtures is None else fixtures.name2fixturedefs.get(fixture, ())
    for each in reversed(found):
        if each.func.__module__ == __name__:
            return True
        if fixture not in each.argnames:
            return False  # what it overrides is never made
    return False
