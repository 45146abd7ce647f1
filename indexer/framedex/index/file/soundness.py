"""Report damage that SQLite does not detect, after an unexpected exception or an endless query.

An index with contradictory rows gives answers that cannot be decoded, or queries that never end.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from enum import Enum
from pathlib import Path

from framedex.base.errors import FramedexError
from framedex.index.file.database import damaged_index_error, is_system_failure
from framedex.index.file.seal import CHEAP_CHECKSUM_BYTES, is_unsealed, seal_checked_index, was_changed

DOUBTFUL_QUERY_TIMEOUT_S = 10.0
"""The timeout of a query on a changed index, whose tree may contain a cycle."""

_INSTRUCTIONS_PER_CHECK = 10_000


@contextmanager
def report_damage(path: Path) -> Iterator[None]:
    """Raise DamagedIndexError instead of an unexpected exception in the block, if the index at `path` is damaged.

    Corrupt bytes may yield wrong row references and unknown enumeration values. Checking each value at every use would
    be slow. So the values are checked here, after an exception.
    """
    try:
        yield
    except (FramedexError, OSError, MemoryError):
        raise
    except Exception as error:
        if was_changed(path, may_seal=False) or _has_damage(path):
            raise damaged_index_error(path, f"{type(error).__name__}: {error}") from error
        raise


def is_inconsistent(connection: sqlite3.Connection, index: Path, *, may_seal: bool) -> bool:
    """Whether an unsealed index is damaged: tables and their indexes do not match.

    A lost page yields fewer rows without an error. The check takes 16 ms per MiB, so it is limited to
    `CHEAP_CHECKSUM_BYTES` and runs once. The result is stored in the seal if `may_seal`, and cached in this process.
    """
    try:
        before = index.stat()
        if before.st_size > CHEAP_CHECKSUM_BYTES or not is_unsealed(index):
            return False
        state = (_read_file_state(index), _read_file_state(Path(f"{os.path.realpath(index)}-wal")))
        previous = _RESULTS.get(index)
        is_consistent = previous[1] if previous is not None and previous[0] == state else _is_consistent(connection)
    except OSError:
        return False
    if is_consistent is None:
        return False
    _RESULTS[index] = state, is_consistent
    if may_seal:
        seal_checked_index(index, before, is_consistent=is_consistent)
    return not is_consistent


def _is_consistent(connection: sqlite3.Connection) -> bool | None:
    """Whether the tables of an index match their indexes; None if the system failed."""
    try:
        return bool(connection.execute("PRAGMA integrity_check(1)").fetchone() == ("ok",))
    except UnicodeDecodeError:  # SQLite's own message may contain corrupt bytes
        return False
    except sqlite3.DatabaseError as error:
        return None if is_system_failure(error) else False


_State = tuple[int, ...]
_RESULTS: dict[Path, tuple[tuple[_State, _State], bool]] = {}
"""By index: the state of the file and of its log, and whether they were consistent."""


def _read_file_state(file: Path) -> _State:
    try:
        status = file.stat()
    except FileNotFoundError:
        return ()
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


class QueryTimeout:
    """Interrupts queries on a connection after a timeout, counted from the latest `begin`."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.begin()
        connection.set_progress_handler(self._has_timed_out, _INSTRUCTIONS_PER_CHECK)

    def begin(self) -> None:
        """Restart the timeout for another query."""
        self._deadline = time.monotonic() + DOUBTFUL_QUERY_TIMEOUT_S

    def _has_timed_out(self) -> bool:
        return time.monotonic() > self._deadline


def _has_damage(path: Path) -> bool:
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            is_whole = connection.execute("PRAGMA quick_check(1)").fetchone() == ("ok",)
            if not is_whole or connection.execute("PRAGMA foreign_key_check").fetchone() is not None:
                return True
            return any(
                _has_unknown_value(connection, *where, words) for where, words in _read_enumeration_values().items()
            )
    except UnicodeDecodeError:  # SQLite's own message may contain corrupt bytes
        return True
    except sqlite3.DatabaseError as error:
        return not is_system_failure(error)


def _has_unknown_value(connection: sqlite3.Connection, table: str, column: str, values: Iterable[str]) -> bool:
    allowed = ", ".join(f"'{word}'" for word in values)
    return connection.execute(f"SELECT 1 FROM {table} WHERE {column} NOT IN ({allowed})").fetchone() is not None


def _read_enumeration_values() -> dict[tuple[str, str], list[str]]:
    """Return the known enumeration values by (table, column)."""
    from framedex.model import (
        FrameRole,
        Language,
        LinkEvidence,
        LocationEvidence,
        MergeOutcome,
        TransferDirection,
        WaitReason,
    )

    values: dict[tuple[str, str], type[Enum]] = {
        **{(table, "how"): LocationEvidence for table in ("functions", "frames", "candidates")},
        **{("functions", "language"): Language, ("functions", "role"): FrameRole},
        **{("stacks", "outcome"): MergeOutcome, ("call_links", "how"): LinkEvidence},
        **{("transfers", "direction"): TransferDirection, ("waits", "how"): WaitReason},
    }
    return {where: [word.value for word in enumeration] for where, enumeration in values.items()}
