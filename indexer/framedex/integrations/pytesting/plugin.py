"""The entry point of the pytest plug-in, for any version of pytest; it registers `hooks.py` in a supported one.

A test with the mark `framedex` or the fixture `recorded` runs in a process that can record. That is this process if
`framedex run pytest` started it, otherwise a child process on the mock TPU. Other tests run unchanged, and import
nothing else of framedex.
"""

from __future__ import annotations

import pytest

_MARK = (
    "framedex(compiles, implicit_transfers, memory, clear_caches): limits for the test's body: compilations and"
    " implicit transfers per line, and memory per device"
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that selects the plug-in of `replay_recording`."""
    parser.getgroup("framedex").addoption(
        "--framedex-plugin",
        metavar="PATH",
        default="mock",
        help="The PJRT plug-in of the fixture replay_recording. Default: the mock TPU.",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the mark and the hooks."""
    config.addinivalue_line("markers", _MARK)
    if getattr(pytest, "version_tuple", (0,)) < (8,):
        config.pluginmanager.register(_OldPytestHooks(), "framedex-too-old")
        return
    from framedex.integrations.pytesting import hooks

    config.pluginmanager.register(hooks, "framedex-hooks")


class _OldPytestHooks:
    """The hooks for an old pytest: they fail tests with budgets, which could not be checked."""

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        if item.get_closest_marker("framedex") is not None:
            pytest.fail(f"@pytest.mark.framedex needs pytest 8 or newer; this is {pytest.__version__}.", pytrace=False)
