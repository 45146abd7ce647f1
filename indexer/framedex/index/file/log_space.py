"""Giving back the disk space of a transaction that failed: SQLite keeps its write-ahead log as long as it became.

The format of the log is that of https://sqlite.org/fileformat2.html#walformat.
"""

from __future__ import annotations

import os
import sqlite3
import stat
import struct
from contextlib import suppress
from pathlib import Path

from framedex.errors import FramedexError
from framedex.index.file.database import free_space, full
from framedex.index.file.seal import seal_path

_HEADER = struct.Struct(">8I")  # magic, version, page size, checkpoints, salt 1 and 2, checksum 1 and 2
_FRAME = struct.Struct(">6I")  # page, pages of the database after a commit (else 0), salt 1 and 2, checksum 1 and 2
_MAGIC = 0x377F0682


def check_room(connection: sqlite3.Connection, index: Path) -> None:
    """Raise FramedexError unless the disk has room for the index as it is within this transaction.

    What is committed goes into the log, as far as it is not there yet, and from there into the file: where that cannot
    be, the log would be kept.
    """
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    (size,) = connection.execute("PRAGMA page_size").fetchone()
    try:
        growth = pages * size - index.stat().st_size
    except FileNotFoundError as error:
        raise FramedexError(f"{index} was removed while it was written.", "Run `framedex index` again.") from error
    log = _log(index)
    in_log = log.stat().st_size if log.exists() else 0
    if growth + max(growth - in_log, 0) > free_space(index):
        raise full(index)


def shorten_log(connection: sqlite3.Connection, index: Path) -> None:
    """Bring a log that cannot be emptied back to what was committed, and empty it if the space suffices for that then.

    For a connection outside of transactions, whose last one found the disk full. What does not work is left.
    """
    with suppress(sqlite3.Error, OSError):
        if is_emptied(connection):
            return
        connection.execute("BEGIN IMMEDIATE")  # nobody else appends meanwhile
        try:
            log = _log(index)
            os.truncate(log, _committed(log))
        finally:
            connection.execute("ROLLBACK")
        is_emptied(connection)


def is_written_back(connection: sqlite3.Connection) -> bool:
    """Whether all that was committed is in the file itself now, although a log of it may lie beside it."""
    try:
        busy, pages, written = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
    except sqlite3.Error:
        return False
    return not busy and pages == written


def is_emptied(connection: sqlite3.Connection) -> bool:
    """Whether the log has nothing more that is not in the file itself, and was cut to nothing."""
    try:
        busy, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    except sqlite3.OperationalError:
        return False
    return not busy


def remove_index(connection: sqlite3.Connection, index: Path) -> None:
    """Remove an index and what lies beside it, unless another process has it open.

    Who opens it meanwhile finds it gone when its turn to write comes.
    """
    with suppress(sqlite3.Error, OSError):
        # SQLite changes the mode of a file that nobody else has open only; afterwards there is no log.
        if connection.execute("PRAGMA journal_mode = DELETE").fetchone() == ("delete",):
            connection.execute("BEGIN EXCLUSIVE")
            if not stat.S_ISREG(index.lstat().st_mode):  # a link is the user's own
                return
            index.unlink()
            seal_path(index).unlink(missing_ok=True)


def _log(index: Path) -> Path:
    return Path(f"{os.path.realpath(index)}-wal")


def _committed(log: Path) -> int:
    """How many bytes of a log are up to its last commit; all of it where its header is none that is known."""
    size = log.stat().st_size
    with log.open("rb") as file:
        head = file.read(_HEADER.size)
        if len(head) < _HEADER.size:
            return 0
        magic, _, page, _, *salts, _, _ = _HEADER.unpack(head)
        if magic & ~1 != _MAGIC:
            return size
        end = position = _HEADER.size
        while len(frame := file.read(_FRAME.size)) == _FRAME.size:
            _, commit, *frame_salts, _, _ = _FRAME.unpack(frame)
            if frame_salts != salts:  # of the time before the log was begun anew
                break
            position += _FRAME.size + page
            if commit and position <= size:
                end = position
            file.seek(position)
    return end
