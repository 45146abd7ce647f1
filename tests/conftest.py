"""Fixtures for all tests: the recorded Pythons, and data created once per session."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests import fork_server, once, pythons, tiers
from tests.browsers import chromium
from tests.starting import starts_a_python

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# `nohup` and `&` ignore signals, and child processes inherit that. The tested programs must react to signals as a
# user's would.
signal.signal(signal.SIGHUP, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)
# As in an activated environment, so that proposed commands begin with the bare name `framedex`.
os.environ["PATH"] = os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", os.defpath)])  # noqa: PTH120


@pytest.fixture(scope="session", params=tiers.exhaustive_unless(pythons.RECORDABLE, pythons.OWN_VERSION))
def python(request: pytest.FixtureRequest) -> str:
    """The path of an interpreter with JAX, for each Python version that framedex can record."""
    version: str = request.param
    found = pythons.with_jax(version)
    if found is None:
        pytest.skip(
            f"no Python {version} with JAX here: `make` prepares .venv-{version}, FRAMEDEX_TEST_PYTHONS names others"
        )
    return found.path


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option of `make test`."""
    parser.addoption(tiers.OPTION, action="store_true", help="leave exhaustive tests to `make test-all`")
    parser.addoption(fork_server.OPTION, action="store_true", help="fork programs from processes that imported JAX")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium. While Playwright runs in a process, no other event loop can."""
    with chromium() as found:
        yield found


def pytest_configure(config: pytest.Config) -> None:
    """Create the folder of `tests/once.py` before the workers start."""
    once.shared_folder()
    if config.getoption(fork_server.OPTION):
        fork_server.install()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Disable fork servers for a marked test and the fixtures that it creates."""
    if item.get_closest_marker(fork_server.MARKER):
        fork_server.own_start.set()
    else:
        fork_server.own_start.clear()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the tests that `make quick` skips, and deselect those that `make test` skips."""
    if "starts_a_python" in config.option.markexpr:
        for item in items:
            if isinstance(item, pytest.Function) and starts_a_python(item):
                item.add_marker("starts_a_python")
    if config.getoption(tiers.OPTION):
        tiers.deselect_exhaustive(config, items)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print the command that repeats the random order of this run."""
    seed = config.getoption("randomly_seed", None)
    if isinstance(seed, int):
        terminalreporter.write_line(f"Order of the tests: --randomly-seed={seed}")
