"""What pytest loads, in whatever version, wherever framedex is installed: it hands on to `hooks.py` in a new one.

A test that asks for the mark `framedex` or the fixture `recorded` runs where it can be recorded: in this process, if
`framedex run pytest` or the like started it, else in a process of its own on the mock TPU. All other tests run as
without the plug-in, and import nothing of it.
"""

from __future__ import annotations

import pytest

_MARK = (
    "framedex(compiles, implicit_transfers, memory, clear_caches): what the body of the test may compile and move on a"
    " line, and hold on a device, at most"
)


def pytest_configure(config: pytest.Config) -> None:
    """Make the mark known, and do what it asks for."""
    config.addinivalue_line("markers", _MARK)
    if getattr(pytest, "version_tuple", (0,)) < (8,):
        config.pluginmanager.register(_TooOld(), "framedex-too-old")
        return
    from framedex.pytesting import hooks

    config.pluginmanager.register(hooks, "framedex-hooks")


class _TooOld:
    """In place of the hooks where pytest lacks what they need: no budget is kept unseen."""

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        if item.get_closest_marker("framedex") is not None:
            pytest.fail(f"@pytest.mark.framedex needs pytest 8 or newer; this is {pytest.__version__}.", pytrace=False)
