"""The packages whose names are imported when they are asked for hand out each name that they list."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pkgutil import walk_packages
from types import ModuleType
from typing import Any

import pytest

import framedex

PACKAGES = (
    "framedex.binaries",
    "framedex.ffi",
    "framedex.index",
    "framedex.model",
    "framedex.objects",
    "framedex.releases",
    "framedex.sources",
)


@pytest.mark.parametrize("package", PACKAGES)
def test_every_listed_name_is_there(package: str) -> None:
    module = import_module(package)
    assert module.__all__
    for name in module.__all__:
        assert getattr(module, name) is not None


@pytest.mark.parametrize("package", PACKAGES)
def test_another_name_is_refused(package: str) -> None:
    assert not hasattr(import_module(package), "no_such_name")


def test_the_server_starts_without_the_native_module() -> None:
    asked = "import sys, framedex_server.server; print(*(name for name in sys.modules if name.startswith('framedex')))"
    loaded = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True).stdout.split()
    assert "framedex_server.server" in loaded
    assert [name for name in loaded if name.startswith(("framedex_native", "framedex.captures"))] == []


def test_a_place_costs_no_more_than_places() -> None:
    asked = "import sys; from framedex.model import Location; print(*sorted(m for m in sys.modules if 'framedex' in m))"
    loaded = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True).stdout.split()
    assert "framedex.model.locations" in loaded
    assert not {"framedex.model.rows", "framedex.model.capture"} & set(loaded)


def test_every_expression_that_is_compiled_on_use_is_one() -> None:
    """A mistake in one would otherwise show only on a line that it is asked about."""
    modules = [import_module(each.name) for each in walk_packages(framedex.__path__, "framedex.")]
    patterns = [value for module in modules for value in _values(module) if type(value).__module__ == "framedex.lazy"]

    assert len(patterns) > 100
    for pattern in patterns:
        assert isinstance(pattern.pattern, str)  # which compiles it


def _values(module: ModuleType) -> Iterator[Any]:
    """What a module has, and what its classes have."""
    for value in vars(module).values():
        yield value
        if isinstance(value, type):
            yield from vars(value).values()
