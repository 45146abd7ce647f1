"""Small real programs whose recordings test replays and plug-ins: `python -m tests.programs.corpus NAME`.

Each function is a program. It computes from seeds, prints its results, and takes at most a few seconds. A recording of
it at the mock TPU with 8 devices has at most 500 KB.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

from tests.programs.corpus import devices, hosts, learning, models, numerics, searching, simulations

_MODULES: tuple[ModuleType, ...] = (learning, models, numerics, searching, simulations, devices, hosts)


def programs() -> dict[str, Callable[[], None]]:
    """Return the programs by name."""
    return {
        name: value
        for module in _MODULES
        for name, value in vars(module).items()
        if callable(value) and getattr(value, "__module__", "") == module.__name__ and not name.startswith("_")
    }
