"""Damage that SQLite does not see: exceptions and questions without end, told as what they are.

An index whose rows contradict each other gives answers that cannot be made into anything, or leads around in a circle.
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
"""Seconds for which a question is asked of an index that was changed: its tree may have become a circle."""

_STEPS = 10_000


@contextmanager
def blaming_damage(path: Path) -> Iterator[None]:
    """Inside, an unexpected exception is a DamagedIndexError if the index at `path` is damaged; else it stays.

    Rows refer to others, and texts to enumerations, by whatever bytes there are. Every place that decodes one would
    have to doubt it; here the question is asked once, when there is a reason.
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
    """Whether an index that no seal vouches for is damaged: SQLite compares its tables with their indexes.

    A page that was lost from either gives fewer rows without an error. That takes 16 ms for a MiB, so it is done up to
    `CHEAP` bytes, and once: what was found becomes the seal, where `may_seal` allows it, and
    this process remembers it.
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
    """Whether the tables of an index fit their indexes; None where the system failed."""
    try:
        return bool(connection.execute("PRAGMA integrity_check(1)").fetchone() == ("ok",))
    except UnicodeDecodeError:  # of SQLite's own message, with what it found
        return False
    except sqlite3.DatabaseError as error:
        return None if is_system_failure(error) else False


_State = tuple[int, ...]
_FOUND: dict[Path, tuple[tuple[_State, _State], bool]] = {}
"""Whether an index was sound in the last state in which it was looked at: of its file, and of the log beside it."""


def _state_of(file: Path) -> _State:
    try:
        status = file.stat()
    except FileNotFoundError:
        return ()
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


class Attention:
    """Ends the questions on a connection that take too long, counted from when `begin` was called last."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.begin()
        connection.set_progress_handler(self._is_over, _STEPS)

    def begin(self) -> None:
        """Begin with another question."""
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
    except UnicodeDecodeError:  # of SQLite's own message, with what it found
        return True
    except sqlite3.DatabaseError as error:
        return not is_system_failure(error)


def _has_unknown_word(connection: sqlite3.Connection, table: str, column: str, words: Iterable[str]) -> bool:
    known = ", ".join(f"'{word}'" for word in words)
    return connection.execute(f"SELECT 1 FROM {table} WHERE {column} NOT IN ({known})").fetchone() is not None


def _enumerated() -> dict[tuple[str, str], list[str]]:
    """The columns whose texts are of an enumeration that answers have, with those that there are."""
    from framedex.model import (  # which only an unexpected exception needs
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
