"""What tests of several rooms share: the Pythons that framedex records, and what is made once for all of them."""

from __future__ import annotations

import os
import signal
import sys

import pytest

from tests import fork_server, once, pythons, tiers
from tests.starting import starts_a_python

# `nohup` and `&` have signals ignored, and programs inherit that: those under test are to meet what a user's meet.
signal.signal(signal.SIGHUP, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)
# As in an environment that was activated: what framedex proposes begins with its name alone then.
os.environ["PATH"] = os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", os.defpath)])  # noqa: PTH120


@pytest.fixture(scope="session", params=tiers.exhaustive_unless(pythons.RECORDABLE, pythons.OWN_VERSION))
def python(request: pytest.FixtureRequest) -> str:
    """The path of an interpreter with JAX, for each version that framedex records."""
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


def pytest_configure(config: pytest.Config) -> None:
    """Make the folder of `tests/once.py`, before there are workers."""
    once.shared_folder()
    if config.getoption(fork_server.OPTION):
        fork_server.install()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Use no fork servers for a marked test and the fixtures that it sets up."""
    if item.get_closest_marker(fork_server.MARKER):
        fork_server.own_start.set()
    else:
        fork_server.own_start.clear()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the tests that `make quick` leaves out, and deselect those that `make test` does."""
    if "starts_a_python" in config.option.markexpr:
        for item in items:
            if isinstance(item, pytest.Function) and starts_a_python(item):
                item.add_marker("starts_a_python")
    if config.getoption(tiers.OPTION):
        tiers.deselect_exhaustive(config, items)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print how to repeat the random order of this run."""
    seed = config.getoption("randomly_seed", None)
    if isinstance(seed, int):
        terminalreporter.write_line(f"Order of the tests: --randomly-seed={seed}")
