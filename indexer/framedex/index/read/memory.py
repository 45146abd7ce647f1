"""What was read of an index, kept for as long as it holds.

Neighbouring lines are passed by the same frames, and a person goes back and forth between them; so what frames are, and
what is known of files, is read once. It holds until somebody writes into the index, which SQLite tells
(`PRAGMA data_version`), or until a file changes that was looked at while it was made.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from threading import RLock
from typing import TypeVar, cast

from framedex.whereabouts.files import FoundFile, found_file, one_answer

Kept = TypeVar("Kept")

_MOST = 8192
"""Things that are kept: of frames, some 10 MB."""


@dataclass(frozen=True, slots=True)
class _Entry:
    value: object
    files: Mapping[str, FoundFile | None]


class Memory:
    """Remembers while a state of the index is held, and from one such time to the next; outside, nothing is kept."""

    def __init__(self) -> None:
        self._lock = RLock()
        self._version: object = None
        self._kept: dict[Hashable, _Entry] = {}
        self._is_held = False
        self._looked_at: dict[str, FoundFile | None] = {}

    @contextmanager
    def held(self, connection: sqlite3.Connection) -> Iterator[None]:
        """Hold one state of the index, and of every file that is looked at; other threads wait for their turn."""
        with self._lock:
            if self._is_held:
                yield
                return
            # One transaction for all queries of an answer: each of their own would lock the file anew.
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
                with suppress(sqlite3.Error):  # of a broken file, which the answer has told of
                    connection.execute("ROLLBACK")

    def file(self, path: str) -> FoundFile | None:
        """The file at a path, as `found_file` has it. What is being made meanwhile holds while it stays so."""
        found = found_file(path)
        if self._is_held:
            self._looked_at[path] = found
        return found

    def recall(self, key: Hashable, make: Callable[[], Kept]) -> Kept:
        """What is kept under a key, made first if it is not there or holds no longer. Nobody may change it."""
        return self.recall_all(key, [0], lambda _: {0: make})[0]

    def recall_all(
        self, kind: Hashable, ids: Iterable[int], read: Callable[[list[int]], Mapping[int, Callable[[], Kept]]]
    ) -> dict[int, Kept]:
        """The same for several of a kind, by their ids: `read` is asked how to make those that are missing."""
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
        """Note that what is being made holds only while something that is kept does."""
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
