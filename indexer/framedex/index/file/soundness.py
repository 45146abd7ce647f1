"""Damage that SQLite does not detect: unexpected exceptions and endless queries, reported as a damaged index.

An index with contradictory rows gives answers that cannot be decoded, or loops forever.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from enum import Enum
from pathlib import Path

from framedex.errors import FramedexError
from framedex.index.file.database import damaged, is_system_failure
from framedex.index.file.seal import CHEAP, is_unsealed, seal_as_found, was_changed

LONGEST_DOUBTFUL = 10.0
"""Timeout in seconds of a query on a changed index: its tree may have become a cycle."""

_STEPS = 10_000


@contextmanager
def blaming_damage(path: Path) -> Iterator[None]:
    """Turn an unexpected exception in the block into DamagedIndexError if the index at `path` is damaged.

    Corrupt bytes may yield wrong row references and unknown enumeration values. Checking them at every decoding place
    is costly; here they are checked once, after an exception.
    """
    try:
        yield
    except (FramedexError, OSError, MemoryError):
        raise
    except Exception as error:
        if was_changed(path, may_seal=False) or _is_broken(path):
            raise damaged(path, f"{type(error).__name__}: {error}") from error
        raise


def is_unsound(connection: sqlite3.Connection, index: Path, *, may_seal: bool) -> bool:
    """Whether an unsealed index is damaged: SQLite compares its tables with their indexes.

    A page lost from either yields fewer rows without an error. The check takes 16 ms per MiB, so it is limited to
    `CHEAP` bytes, and runs once. Its result becomes the seal if `may_seal` allows it, and this process remembers it.
    """
    try:
        before = index.stat()
        if before.st_size > CHEAP or not is_unsealed(index):
            return False
        state = (_state_of(index), _state_of(Path(f"{os.path.realpath(index)}-wal")))
        known = _FOUND.get(index)
        is_sound = known[1] if known is not None and known[0] == state else _is_sound(connection)
    except OSError:
        return False
    if is_sound is None:
        return False
    _FOUND[index] = state, is_sound
    if may_seal:
        seal_as_found(index, before, is_sound=is_sound)
    return not is_sound


def _is_sound(connection: sqlite3.Connection) -> bool | None:
    """Whether the tables of an index match their indexes; None if the system failed."""
    try:
        return bool(connection.execute("PRAGMA integrity_check(1)").fetchone() == ("ok",))
    except UnicodeDecodeError:  # SQLite's own message may contain corrupt bytes
        return False
    except sqlite3.DatabaseError as error:
        return None if is_system_failure(error) else False


_State = tuple[int, ...]
_FOUND: dict[Path, tuple[tuple[_State, _State], bool]] = {}
"""{index: (state of the file and of its log, whether it was sound)}."""


def _state_of(file: Path) -> _State:
    try:
        status = file.stat()
    except FileNotFoundError:
        return ()
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


class Attention:
    """Interrupts queries on a connection after a timeout, counted from the latest `begin`."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.begin()
        connection.set_progress_handler(self._is_over, _STEPS)

    def begin(self) -> None:
        """Restart the timeout for another query."""
        self._until = time.monotonic() + LONGEST_DOUBTFUL

    def _is_over(self) -> bool:
        return time.monotonic() > self._until


def _is_broken(path: Path) -> bool:
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            is_whole = connection.execute("PRAGMA quick_check(1)").fetchone() == ("ok",)
            if not is_whole or connection.execute("PRAGMA foreign_key_check").fetchone() is not None:
                return True
            return any(_has_unknown_word(connection, *where, words) for where, words in _enumerated().items())
    except UnicodeDecodeError:  # SQLite's own message may contain corrupt bytes
        return True
    except sqlite3.DatabaseError as error:
        return not is_system_failure(error)


def _has_unknown_word(connection: sqlite3.Connection, table: str, column: str, words: Iterable[str]) -> bool:
    known = ", ".join(f"'{word}'" for word in words)
    return connection.execute(f"SELECT 1 FROM {table} WHERE {column} NOT IN ({known})").fetchone() is not None


def _enumerated() -> dict[tuple[str, str], list[str]]:
    """Return the known enumeration values by (table, column)."""
    from framedex.model import (  # imported here because only an unexpected exception needs them
        Direction,
        How,
        Language,
        LinkHow,
        MergeOutcome,
        Role,
        WaitHow,
    )

    values: dict[tuple[str, str], type[Enum]] = {
        **{(table, "how"): How for table in ("functions", "frames", "candidates")},
        **{("functions", "language"): Language, ("functions", "role"): Role},
        **{("stacks", "outcome"): MergeOutcome, ("call_links", "how"): LinkHow},
        **{("transfers", "direction"): Direction, ("waits", "how"): WaitHow},
    }
    return {where: [word.value for word in enumeration] for where, enumeration in values.items()}
