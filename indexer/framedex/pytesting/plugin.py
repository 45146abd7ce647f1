"""The entry point of the pytest plug-in, for any version of pytest; it registers `hooks.py` in a supported one.

A test with the mark `framedex` or the fixture `recorded` runs in a process that can record. That is this process if
`framedex run pytest` or the like started it, otherwise a process of its own on the mock TPU. Other tests run as without
the plug-in, and do not import it.
"""

from __future__ import annotations

import pytest

_MARK = (
    "framedex(compiles, implicit_transfers, memory, clear_caches): what the body of the test may compile and move on a"
    " line, and hold on a device, at most"
)


def pytest_configure(config: pytest.Config) -> None:
    """Register the mark and the hooks."""
    config.addinivalue_line("markers", _MARK)
    if getattr(pytest, "version_tuple", (0,)) < (8,):
        config.pluginmanager.register(_TooOld(), "framedex-too-old")
        return
    from framedex.pytesting import hooks

    config.pluginmanager.register(hooks, "framedex-hooks")


class _TooOld:
    """The replacement for the hooks in an old pytest: it fails tests with budgets, which would go unchecked."""

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        if item.get_closest_marker("framedex") is not None:
            pytest.fail(f"@pytest.mark.framedex needs pytest 8 or newer; this is {pytest.__version__}.", pytrace=False)
