"""Packages whose parts are imported when they are first asked for: a verb that needs one pays for no other."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module


def exports(package: str, modules: Mapping[str, Sequence[str]]) -> Callable[[str], object]:
    """The `__getattr__` of a package that hands out names of its modules (PEP 562): `modules` has those of each."""
    home = {name: module for module, names in modules.items() for name in names}

    def find(name: str) -> object:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{home[name]}"), name)

    return find
