"""Keeps what was found out, up to a limit of memory: a log that never ends may name anything."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Kept = TypeVar("Kept")

_OVERHEAD = 500  # of an entry, beside its texts


class Recall(Generic[Key, Kept]):
    """Keeps values by their keys. When their texts are longer than `most` characters together, all are forgotten."""

    def __init__(self, most: int = 8 << 20) -> None:
        self._most = most
        self._weight = 0
        self._kept: dict[Key, Kept] = {}

    @property
    def kept(self) -> dict[Key, Kept]:
        """What is kept now, to be looked at only."""
        return self._kept

    def get(self, key: Key) -> Kept | None:
        """What is kept for the key, if anything is."""
        return self._kept.get(key)

    def keep(self, key: Key, value: Kept, length: int) -> Kept:
        """Keep a value; `length` is that of its texts and of the key's, in characters."""
        self._weight += length + _OVERHEAD
        if self._weight > self._most:
            self._kept.clear()
            self._weight = length + _OVERHEAD
        self._kept[key] = value
        return value

    def made(self, key: Key, length: int, make: Callable[[], Kept]) -> Kept:
        """What is kept for the key, else what `make` returns, which is kept from now on."""
        value = self._kept.get(key)
        return value if value is not None else self.keep(key, make(), length)
