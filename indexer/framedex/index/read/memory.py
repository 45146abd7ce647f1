"""The cache of data read from an index.

Neighbouring lines share frames, and users go back and forth between them, so frames and file data are read once. An
entry is valid until the index is written (`PRAGMA data_version`), or until a file changes that its computation read.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from threading import RLock
from typing import TypeVar, cast

from framedex.path_resolution.files import FoundFile, found_file, one_answer

Kept = TypeVar("Kept")

_MOST = 8192
"""Limit of cached entries: about 10 MB of frames."""


@dataclass(frozen=True, slots=True)
class _Entry:
    value: object
    files: Mapping[str, FoundFile | None]


class Memory:
    """A cache that is active while `held`, and that survives until the next `held`; outside, nothing is cached."""

    def __init__(self) -> None:
        self._lock = RLock()
        self._version: object = None
        self._kept: dict[Hashable, _Entry] = {}
        self._is_held = False
        self._looked_at: dict[str, FoundFile | None] = {}

    @contextmanager
    def held(self, connection: sqlite3.Connection) -> Iterator[None]:
        """Hold one state of the index and of every file that is read; other threads wait for their turn."""
        with self._lock:
            if self._is_held:
                yield
                return
            # One transaction for all queries of an answer: separate transactions would each lock the file.
            connection.execute("BEGIN")
            try:
                version = connection.execute("PRAGMA data_version").fetchone()
                if version != self._version or len(self._kept) > _MOST:
                    self._kept.clear()
                self._version = version
                self._is_held = True
                with one_answer():
                    yield
            finally:
                self._is_held = False
                self._looked_at = {}
                with suppress(sqlite3.Error):  # a corrupt file, already reported by the query
                    connection.execute("ROLLBACK")

    def file(self, path: str) -> FoundFile | None:
        """Return the file at a path, as `found_file`; entries under computation depend on its state."""
        found = found_file(path)
        if self._is_held:
            self._looked_at[path] = found
        return found

    def recall(self, key: Hashable, make: Callable[[], Kept]) -> Kept:
        """Return the entry of a key, computing it if missing or stale. Callers must not modify it."""
        return self.recall_all(key, [0], lambda _: {0: make})[0]

    def recall_all(
        self, kind: Hashable, ids: Iterable[int], read: Callable[[list[int]], Mapping[int, Callable[[], Kept]]]
    ) -> dict[int, Kept]:
        """Return the entries of several ids of a kind; `read` returns a function for each missing one."""
        found: dict[int, Kept] = {}
        missing = []
        for each in ids:
            entry = self._entry((kind, each))
            if entry is None:
                missing.append(each)
            else:
                found[each] = cast(Kept, entry.value)
                self._looked_at.update(entry.files)
        for each, make in read(missing).items() if missing else ():
            found[each] = self._made((kind, each), make)
        return found

    def rests_on(self, kind: Hashable, identifier: int) -> None:
        """Make the entry under computation depend on the files of another entry."""
        entry = self._kept.get((kind, identifier)) if self._is_held else None
        if entry is not None:
            self._looked_at.update(entry.files)

    def _made(self, key: Hashable, make: Callable[[], Kept]) -> Kept:
        if not self._is_held:
            return make()
        outer, self._looked_at = self._looked_at, {}
        try:
            value = make()
            self._kept[key] = _Entry(value, self._looked_at)
            outer |= self._looked_at
        finally:
            self._looked_at = outer
        return value

    def _entry(self, key: Hashable) -> _Entry | None:
        entry = self._kept.get(key) if self._is_held else None
        return entry if entry and all(found_file(path) == then for path, then in entry.files.items()) else None
