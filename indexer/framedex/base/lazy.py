"""Work that is done on first use: package imports and regular expressions. Also a cache with a memory limit.

Text readers have two hundred regular expressions, of which a text needs only a few. Compiling one takes 0.1 ms. A
package that imports its modules on first use lets a verb import only the modules it needs.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Hashable, Mapping, Sequence
from importlib import import_module
from typing import Generic, TypeVar, cast


def compile_on_use(text: str, flags: int = 0) -> re.Pattern[str]:
    """A lazy pattern, checked and compiled on first use.

    It has all methods of a pattern, but the `re` of its matches is the compiled pattern, not this object.
    """
    return cast("re.Pattern[str]", _LazyPattern(text, flags))


class _LazyPattern:
    """Forwards to the methods of its pattern, each resolved on first use."""

    def __init__(self, text: str, flags: int) -> None:
        self._text, self._flags = text, flags

    def __getattr__(self, name: str) -> object:
        found = getattr(re.compile(self._text, self._flags), name)  # `re` caches it
        setattr(self, name, found)
        return found


Key = TypeVar("Key", bound=Hashable)
Kept = TypeVar("Kept")

_OVERHEAD = 500  # per entry, in addition to its texts


class TextCache(Generic[Key, Kept]):
    """Caches values by key. Drops all of them when their texts exceed `limit` characters in total."""

    def __init__(self, limit: int = 8 << 20) -> None:
        self._max_weight = limit
        self._weight = 0
        self._cached_values: dict[Key, Kept] = {}

    @property
    def values(self) -> dict[Key, Kept]:
        """The cached values. Do not modify."""
        return self._cached_values

    def get(self, key: Key) -> Kept | None:
        """The cached value of a key; None if missing."""
        return self._cached_values.get(key)

    def store(self, key: Key, value: Kept, length: int) -> Kept:
        """Cache a value; `length` is the number of characters in the value's and key's strings."""
        self._weight += length + _OVERHEAD
        if self._weight > self._max_weight:
            self._cached_values.clear()
            self._weight = length + _OVERHEAD
        self._cached_values[key] = value
        return value

    def get_or_make(self, key: Key, length: int, make: Callable[[], Kept]) -> Kept:
        """The cached value of a key; if missing, cache and return the value of `make`."""
        value = self._cached_values.get(key)
        return value if value is not None else self.store(key, make(), length)


def export_lazily(package: str, modules: Mapping[str, Sequence[str]]) -> Callable[[str], object]:
    """The `__getattr__` (PEP 562) of a package that exports names of its modules; `modules` has the names by module.

    Each name is looked up once.
    """
    home = {name: module for module, names in modules.items() for name in names}

    def find(name: str) -> object:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f"{package}.{home[name]}"), name)
        setattr(sys.modules[package], name, value)  # later uses find the attribute
        return value

    return find
