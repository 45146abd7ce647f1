"""Free the disk space of a failed transaction, because SQLite keeps its write-ahead log at full length.

The log's format is described in https://sqlite.org/fileformat2.html#walformat.
"""

from __future__ import annotations

import os
import sqlite3
import stat
import struct
from contextlib import suppress
from pathlib import Path

from framedex.base.errors import FramedexError
from framedex.index.file.database import full_disk_error, measure_free_space
from framedex.index.file.seal import seal_path

_HEADER = struct.Struct(">8I")  # magic, version, page size, checkpoints, salt 1 and 2, checksum 1 and 2
_FRAME = struct.Struct(">6I")  # page, pages of the database after a commit (else 0), salt 1 and 2, checksum 1 and 2
_MAGIC = 0x377F0682


def check_free_space(connection: sqlite3.Connection, index: Path) -> None:
    """Raise FramedexError unless the disk has room for the index with this transaction.

    Committed pages are written to the log, unless the log already has them, and then to the file. Without space for
    both, the log could not be emptied.
    """
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    (size,) = connection.execute("PRAGMA page_size").fetchone()
    try:
        growth = pages * size - index.stat().st_size
    except FileNotFoundError as error:
        raise FramedexError(f"{index} was removed while it was written.", "Run `framedex index` again.") from error
    log = _log_path(index)
    in_log = log.stat().st_size if log.exists() else 0
    if growth + max(growth - in_log, 0) > measure_free_space(index):
        raise full_disk_error(index)


def truncate_log(connection: sqlite3.Connection, index: Path) -> None:
    """Truncate a log that cannot be emptied to its last commit, then empty it if the space suffices.

    The connection must be outside a transaction, after one that found the disk full. Failures are ignored.
    """
    with suppress(sqlite3.Error, OSError):
        if empty_log(connection):
            return
        connection.execute("BEGIN IMMEDIATE")  # no other writer appends meanwhile
        try:
            log = _log_path(index)
            os.truncate(log, _measure_committed_log(log))
        finally:
            connection.execute("ROLLBACK")
        empty_log(connection)


def checkpoint_log(connection: sqlite3.Connection) -> bool:
    """Write the log back into the file as far as possible; return whether all commits are in the file."""
    try:
        busy, pages, written = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
    except sqlite3.Error:
        return False
    return not busy and pages == written


def empty_log(connection: sqlite3.Connection) -> bool:
    """Empty the log into the file and truncate it; return whether that succeeded."""
    try:
        busy, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    except sqlite3.OperationalError:
        return False
    return not busy


def remove_index(connection: sqlite3.Connection, index: Path) -> None:
    """Remove an index, its log and its seal, unless another process has it open.

    A process that opens it meanwhile finds it missing at its first write.
    """
    with suppress(sqlite3.Error, OSError):
        # SQLite leaves WAL mode only if no other process has the file open; afterwards there is no log.
        if connection.execute("PRAGMA journal_mode = DELETE").fetchone() == ("delete",):
            connection.execute("BEGIN EXCLUSIVE")
            if not stat.S_ISREG(index.lstat().st_mode):  # a symbolic link belongs to the user
                return
            index.unlink()
            seal_path(index).unlink(missing_ok=True)


def _log_path(index: Path) -> Path:
    return Path(f"{os.path.realpath(index)}-wal")


def _measure_committed_log(log: Path) -> int:
    """Return the length of a log up to its last commit, in bytes; its full length if its header is unknown."""
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
            if frame_salts != salts:  # from before the log was restarted
                break
            position += _FRAME.size + page
            if commit and position <= size:
                end = position
            file.seek(position)
    return end
