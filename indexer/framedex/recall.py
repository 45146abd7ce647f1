"""A cache with a memory limit: an endless log may contain any number of names."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Kept = TypeVar("Kept")

_OVERHEAD = 500  # per entry, in addition to its texts


class Recall(Generic[Key, Kept]):
    """Caches values by key. When their texts exceed `most` characters in total, all are dropped."""

    def __init__(self, most: int = 8 << 20) -> None:
        self._most = most
        self._weight = 0
        self._kept: dict[Key, Kept] = {}

    @property
    def kept(self) -> dict[Key, Kept]:
        """The cached values. Do not modify."""
        return self._kept

    def get(self, key: Key) -> Kept | None:
        """The cached value of a key; None if missing."""
        return self._kept.get(key)

    def keep(self, key: Key, value: Kept, length: int) -> Kept:
        """Cache a value; `length` is the number of characters in the texts of value and key."""
        self._weight += length + _OVERHEAD
        if self._weight > self._most:
            self._kept.clear()
            self._weight = length + _OVERHEAD
        self._kept[key] = value
        return value

    def made(self, key: Key, length: int, make: Callable[[], Kept]) -> Kept:
        """The cached value of a key; if missing, cache and return the value of `make`."""
        value = self._kept.get(key)
        return value if value is not None else self.keep(key, make(), length)
