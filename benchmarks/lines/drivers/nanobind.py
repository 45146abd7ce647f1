"""A workload for nanobind: imports the extension modules of its tests from one library and calls into them."""

from __future__ import annotations

import contextlib
import importlib.machinery
import importlib.util
import sys
from types import ModuleType

_NAMES = ("functions", "classes", "stl", "holders", "enum", "callbacks", "bind_map", "bind_vector", "exception")


def _load(name: str, path: str) -> ModuleType:
    loader = importlib.machinery.ExtensionFileLoader(name, path)
    spec = importlib.util.spec_from_file_location(name, path, loader=loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def _call_everything(of: object, depth: int = 2) -> None:
    """Call everything with a few arguments; most calls raise, which also counts as work."""
    for name in dir(of):
        if name.startswith("__") or "abort" in name or "leak" in name:
            continue
        found = getattr(of, name, None)
        for arguments in ((), (1,), (1, 2), ("text",), ([1, 2, 3],), ({"a": 1},), (lambda *_: 1,)):
            if callable(found):
                with contextlib.suppress(Exception):
                    made = found(*arguments)
                    if depth:
                        _call_everything(made, 0)
        if isinstance(found, type) and depth:
            _call_everything(found, depth - 1)


if __name__ == "__main__":
    for each in _NAMES:
        with contextlib.suppress(ImportError):
            _call_everything(_load(f"test_{each}_ext", sys.argv[1]))
