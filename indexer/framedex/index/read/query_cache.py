"""The cache of data read from an index.

Users move back and forth between neighbouring lines, which share frames. So frames and file data are read once. An
entry is valid until the index is written (`PRAGMA data_version`), or until a file changes that was read to compute it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from threading import RLock
from typing import TypeVar, cast

from framedex.path_resolution.files import FoundFile, check_files_once, find_file

Value = TypeVar("Value")

_MAX_ENTRIES = 8192
"""Limit of cached entries: about 10 MB of frames."""


@dataclass(frozen=True, slots=True)
class _Entry:
    value: object
    files: Mapping[str, FoundFile | None]


class QueryCache:
    """A cache of query results, used only inside `read_snapshot`. The next block reuses its entries."""

    def __init__(self) -> None:
        self._lock = RLock()
        self._version: object = None
        self._entries: dict[Hashable, _Entry] = {}
        self._is_active = False
        self._read_files: dict[str, FoundFile | None] = {}

    @contextmanager
    def read_snapshot(self, connection: sqlite3.Connection) -> Iterator[None]:
        """Read one state of the index and of every file inside the block; other threads wait."""
        with self._lock:
            if self._is_active:
                yield
                return
            # One transaction for all queries of an answer: separate transactions would each lock the file.
            connection.execute("BEGIN")
            try:
                version = connection.execute("PRAGMA data_version").fetchone()
                if version != self._version or len(self._entries) > _MAX_ENTRIES:
                    self._entries.clear()
                self._version = version
                self._is_active = True
                with check_files_once():
                    yield
            finally:
                self._is_active = False
                self._read_files = {}
                with suppress(sqlite3.Error):  # a corrupt file, which the query has reported
                    connection.execute("COMMIT")  # keeps the temporary tables of a restricted index
                if connection.in_transaction:
                    with suppress(sqlite3.Error):
                        connection.execute("ROLLBACK")

    def find_file(self, path: str) -> FoundFile | None:
        """Return the file at a path, as `files.find_file`; entries under computation depend on its state."""
        found = find_file(path)
        if self._is_active:
            self._read_files[path] = found
        return found

    def get_or_compute(self, key: Hashable, compute: Callable[[], Value]) -> Value:
        """Return the entry of a key, computing it if missing or stale. Callers must not modify it."""
        return self.get_or_compute_all(key, [0], lambda _: {0: compute})[0]

    def get_or_compute_all(
        self, kind: Hashable, ids: Iterable[int], read: Callable[[list[int]], Mapping[int, Callable[[], Value]]]
    ) -> dict[int, Value]:
        """Return the entries of several ids of a kind; `read` returns a function for each missing one."""
        found: dict[int, Value] = {}
        missing = []
        for each in ids:
            entry = self._find_valid_entry((kind, each))
            if entry is None:
                missing.append(each)
            else:
                found[each] = cast(Value, entry.value)
                self._read_files.update(entry.files)
        for each, compute in read(missing).items() if missing else ():
            found[each] = self._compute((kind, each), compute)
        return found

    def depend_on_entry(self, kind: Hashable, identifier: int) -> None:
        """Make the entry under computation depend on the files of another entry."""
        entry = self._entries.get((kind, identifier)) if self._is_active else None
        if entry is not None:
            self._read_files.update(entry.files)

    def _compute(self, key: Hashable, compute: Callable[[], Value]) -> Value:
        if not self._is_active:
            return compute()
        outer, self._read_files = self._read_files, {}
        try:
            value = compute()
            self._entries[key] = _Entry(value, self._read_files)
            outer |= self._read_files
        finally:
            self._read_files = outer
        return value

    def _find_valid_entry(self, key: Hashable) -> _Entry | None:
        entry = self._entries.get(key) if self._is_active else None
        return entry if entry and all(find_file(path) == then for path, then in entry.files.items()) else None
