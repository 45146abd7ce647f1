"""Opening an index file, and errors with a remedy for unusable ones."""

from __future__ import annotations

import os
import sqlite3
import stat
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from framedex.base.errors import FramedexError, raise_if_no_descriptor
from framedex.base.folders import iterate_folders_upwards
from framedex.base.regularfile import open_regular
from framedex.index.file.schema import APPLICATION_ID, VERSION, find_foreign_part

_RECORD_REMEDY = "Record a program with `framedex run SCRIPT` if you have none. Then run `framedex index`."
_REBUILD_REMEDY = "Run `framedex index --rebuild` to rebuild the index from the captures that still exist."
LOCK_TIMEOUT_S = 5.0
"""Timeout in seconds for a lock held by another process."""

_MAGIC = b"SQLite format 3\0"
_FULL_DISK_ERRORS = (
    "SQLITE_FULL",
    "SQLITE_IOERR_WRITE",
    "SQLITE_IOERR_SHMSIZE",
    "SQLITE_IOERR_SHMOPEN",
    "SQLITE_IOERR_FSYNC",
)
_SYSTEM_FAILURES = (
    *("SQLITE_BUSY", "SQLITE_CANTOPEN", "SQLITE_FULL", "SQLITE_INTERRUPT"),
    *("SQLITE_IOERR", "SQLITE_LOCKED", "SQLITE_NOMEM", "SQLITE_PROTOCOL"),
)
_FULL_DISK_BYTES = 1 << 20
"""A disk with less free space than this, in bytes, counts as full: a failed write may have released its last bytes."""
_RETRY_INTERVAL_S = 0.05
_READER_CACHE_KIB = 16 << 10
"""The size of a reader's page cache. In a large index, one query reads more than SQLite's default of 2 MiB."""

_MIN_SQLITE_VERSION = (3, 36)  # needed to copy rows between databases

Result = TypeVar("Result")


class LockTimeout:
    """The lock timeout of a writer in seconds, and a callback invoked once if it has to wait.

    SQLite's own timeout cannot be interrupted by Ctrl-C, and does not cover a file's change to WAL mode.
    """

    def __init__(self, seconds: float = LOCK_TIMEOUT_S, on_wait: Callable[[], None] | None = None) -> None:
        self._seconds = seconds
        self._on_wait = on_wait

    def retry_while_locked(self, action: Callable[[], Result]) -> Result:
        """Return the result of `action`, retrying while the file is locked; after the timeout, raise SQLite's error."""
        deadline = time.monotonic() + self._seconds
        while True:
            try:
                return action()
            except sqlite3.OperationalError as error:
                if not _is_locked(error) or time.monotonic() >= deadline:
                    raise
            if self._on_wait is not None:
                self._on_wait()
                self._on_wait = None
            time.sleep(_RETRY_INTERVAL_S)


class RebuildableIndexError(FramedexError):
    """The index is unusable, but can be rebuilt from its captures."""

    def __init__(self, message: str, remedy: str = _REBUILD_REMEDY) -> None:
        super().__init__(message, remedy)


class OutdatedIndexError(RebuildableIndexError):
    """The index has an older version and must be rebuilt from its captures."""

    def __init__(self, message: str) -> None:
        super().__init__(message, "Run `framedex index` to rebuild it from its captures.")


class NewerIndexError(FramedexError):
    """The index has a newer version and is left unchanged."""


class DamagedIndexError(RebuildableIndexError):
    """The file is not a database, or is corrupt."""


class EmptyIndexError(FramedexError):
    """The index is empty: an indexer has just created it, or was stopped after it created it."""


class LockedIndexError(FramedexError):
    """Another process holds the file's lock for longer than the timeout."""


def find_index(start: Path) -> Path | None:
    """Return the nearest `.framedex/index.db` in `start` or a folder above; None if there is none."""
    return next(find_indexes(start), None)


def find_indexes(start: Path) -> Iterator[Path]:
    """Every `.framedex/index.db` in `start` and the folders above it, nearest first."""
    # Strings instead of Path for speed: every editor query checks a path of ten folders.
    folders = iterate_folders_upwards(str(start.absolute()))
    candidates = (os.path.join(folder, ".framedex", "index.db") for folder in folders)  # noqa: PTH118
    return map(Path, filter(os.path.isfile, candidates))  # Path.is_file raises if permission is denied


def connect_reading(path: Path, timeout_s: float) -> sqlite3.Connection:
    """Open a read-only connection to the index at `path`.

    Raises FramedexError (with a remedy) if it is unusable or of another version.
    """
    check_sqlite_version()
    if not _is_file(path):
        raise FramedexError(f"There is no index at {path}.", _RECORD_REMEDY)
    _check_not_foreign(path)
    with translate_errors(path):
        connection = _connect_reading(path, timeout_s)
        try:
            if is_blank(connection):
                raise EmptyIndexError(f"The index {path} is empty.", _RECORD_REMEDY)
            check_version(connection, path)
        except BaseException:
            connection.close()
            raise
        return connection


def check_sqlite_version() -> str:
    """Return the version of this Python's SQLite. Raises FramedexError if it is too old for an index."""
    if sqlite3.sqlite_version_info < _MIN_SQLITE_VERSION:
        least = ".".join(map(str, _MIN_SQLITE_VERSION))
        raise FramedexError(
            f"An index needs SQLite {least} or later; this Python has {sqlite3.sqlite_version}.",
            "Use a Python with its own SQLite, such as uv's or conda's, or a newer system.",
        )
    return sqlite3.sqlite_version


def prepare_folder(path: Path) -> None:
    """Create the folder of an index before writing. Raises FramedexError if the file cannot be an index."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unusable_file_error(path, error.strerror or str(error)) from error
    if _is_file(path) and not os.access(path, os.W_OK):
        raise _unusable_file_error(path, "permission denied")
    _check_not_foreign(path)


def connect_writing(path: Path, patience: LockTimeout) -> sqlite3.Connection:
    """Open a connection for writing to the file at `path`, creating it if missing; any version is accepted.

    Transactions are explicit. Lock timeouts are left to `patience`. Raises FramedexError if the file belongs to another
    program or cannot be written.
    """
    check_sqlite_version()
    is_new = not _is_file(path)
    with translate_errors(path):
        connection = sqlite3.connect(path, timeout=_RETRY_INTERVAL_S, isolation_level=None)
        try:
            patience.retry_while_locked(lambda: _configure_writing(connection, path))
        except BaseException:
            connection.close()
            if is_new:
                _remove_if_empty(path)
            raise
        return connection


def _remove_if_empty(path: Path) -> None:
    with suppress(OSError, FramedexError):
        if _is_file(path) and not path.stat().st_size:
            path.unlink()


def _configure_writing(connection: sqlite3.Connection, path: Path) -> None:
    if not is_blank(connection) and _read_pragma(connection, "application_id") != APPLICATION_ID:
        raise FramedexError(
            f"{path} is an SQLite database, but not a framedex index.", "Choose another file with --index."
        )
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA cache_size = -65536")
    # A large limit, because a checkpoint writes only the last state of a page that many transactions changed. The log
    # is truncated afterwards.
    connection.execute("PRAGMA wal_autocheckpoint = 16384")
    connection.execute("PRAGMA journal_size_limit = 4194304")


def _check_not_foreign(path: Path) -> None:
    """Raise FramedexError for a file that was never an index, because a rebuild must not replace a user's file."""
    if path.suffix == ".db" or not _is_file(path):
        return
    try:
        with open_regular(path) as file:
            head = file.read(len(_MAGIC))
    except OSError as error:
        raise _unusable_file_error(path, error.strerror or str(error)) from error
    if head and head != _MAGIC:
        raise FramedexError(f"{path} is not a framedex index.", "Choose another file with --index.")


def _is_file(path: Path) -> bool:
    """Whether there is a file at `path`. Raises FramedexError if that is unknown or `path` is not a regular file.

    Opening a device or a pipe as an index could block or have side effects.
    """
    try:
        is_file = stat.S_ISREG(path.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except (OSError, ValueError) as error:
        raise _unusable_file_error(path, getattr(error, "strerror", None) or str(error)) from error
    if not is_file:
        raise _unusable_file_error(path, "it is not a regular file")
    return True


def read_file_identity(path: Path, *, with_content: bool = False) -> tuple[int, ...] | None:
    """Return the device and inode (and mtime, size) that identify a file; None if there is no file."""
    try:
        status = path.stat()
    except OSError:
        return None
    content = (status.st_mtime_ns, status.st_size) if with_content else ()
    return status.st_dev, status.st_ino, *content


def is_blank(connection: sqlite3.Connection) -> bool:
    """Whether the database has no tables: just created, or its creation was interrupted."""
    return connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is None


def check_version(connection: sqlite3.Connection, path: Path) -> None:
    """Raise FramedexError unless the database is an index of this version with its own tables and views."""
    if _read_pragma(connection, "application_id") != APPLICATION_ID:
        raise FramedexError(f"{path} is an SQLite database, but not a framedex index.", "Choose another with --index.")
    check_not_newer(connection, path)
    version = _read_pragma(connection, "user_version")
    if version < VERSION:
        raise OutdatedIndexError(f"The index {path} has version {version}; this framedex reads version {VERSION}.")
    if part := find_foreign_part(connection):
        raise DamagedIndexError(f"{path} is not an index written by framedex: it has {part}.")


def check_not_newer(connection: sqlite3.Connection, path: Path) -> None:
    """Raise NewerIndexError if a newer framedex wrote the index: this version would lose its data."""
    version = _read_pragma(connection, "user_version")
    if version > VERSION and _read_pragma(connection, "application_id") == APPLICATION_ID:
        raise NewerIndexError(
            f"The index {path} has version {version}, from a later framedex; this one reads version {VERSION}.",
            "Upgrade framedex (`pip install --upgrade framedex`), or create another index:"
            " `framedex --index FILE index`.",
        )


@contextmanager
def translate_errors(path: Path) -> Iterator[None]:
    """Translate SQLite's errors in the block into errors about the index at `path`, with a remedy."""
    try:
        yield
    except sqlite3.Error as error:
        raise _explain_error(path, error) from error


def _connect_reading(path: Path, timeout_s: float) -> sqlite3.Connection:
    uri = path.absolute().as_uri()
    try:
        return _open_connection(f"{uri}?mode=ro", timeout_s)
    except sqlite3.OperationalError as error:
        # The log's shared memory cannot be created in a read-only folder or on a full disk. It is only needed if there
        # is a log to read.
        is_writable = os.access(path.parent, os.W_OK) and not _is_full(error)
        if is_writable or _log_size(path):
            raise
    return _open_connection(f"{uri}?mode=ro&immutable=1", timeout_s, ImmutableConnection)


def _log_size(path: Path) -> int:
    try:
        return os.stat(f"{os.path.realpath(path)}-wal").st_size  # noqa: PTH116
    except FileNotFoundError:
        return 0


class ImmutableConnection(sqlite3.Connection):
    """A connection that treats the file as immutable: it must be reopened after a change by another process."""


def _open_connection(
    uri: str, timeout_s: float, kind: type[sqlite3.Connection] = sqlite3.Connection
) -> sqlite3.Connection:
    connection = sqlite3.connect(
        uri, uri=True, timeout=timeout_s, isolation_level=None, check_same_thread=False, factory=kind
    )
    try:
        connection.execute("PRAGMA query_only = 1")
        connection.execute(f"PRAGMA cache_size = -{_READER_CACHE_KIB}")
        # The file may come from anyone. These settings keep its schema from running code, and detect corrupt pages.
        connection.execute("PRAGMA trusted_schema = 0")
        connection.execute("PRAGMA cell_size_check = 1")
        connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
    except BaseException:
        connection.close()
        raise
    return connection


def _read_pragma(connection: sqlite3.Connection, name: str) -> int:
    return int(connection.execute(f"PRAGMA {name}").fetchone()[0])


def _explain_error(path: Path, error: sqlite3.Error) -> FramedexError:
    name = getattr(error, "sqlite_errorname", "") or ""
    if name.startswith(("SQLITE_NOTADB", "SQLITE_CORRUPT")):
        return damaged_index_error(path, str(error))
    if name.startswith("SQLITE_INTERRUPT"):
        return damaged_index_error(path, "a query did not end")
    if _is_locked(error):
        return LockedIndexError(
            f"The index {path} is being written by another process.", "Wait until it has finished, then try again."
        )
    if _is_full(error):
        return full_disk_error(path)
    if name.startswith("SQLITE_CANTOPEN"):
        raise_if_no_descriptor()
    if name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM", "SQLITE_AUTH")):
        return _unusable_file_error(path, str(error))
    if name.startswith("SQLITE_IOERR"):
        return FramedexError(f"The index {path} could not be read: {error}.", "Check the disk, then try again.")
    if "no such" in str(error):
        return DamagedIndexError(f"The index {path} is incomplete ({error}).")
    return RebuildableIndexError(f"The index {path} could not be used: {error}.")


def is_system_failure(error: sqlite3.Error) -> bool:
    """Whether SQLite failed to read a file for a reason other than its content."""
    return (getattr(error, "sqlite_errorname", "") or "").startswith(_SYSTEM_FAILURES)


def damaged_index_error(path: Path, evidence: str) -> DamagedIndexError:
    """Return the error for a damaged index."""
    return DamagedIndexError(f"The index {path} is damaged ({evidence}).")


def changed_index_error(path: Path) -> DamagedIndexError:
    """Return the error for an index that other programs changed, although it may still answer."""
    return DamagedIndexError(
        f"{path} has changed since framedex wrote it, by another program or by damage: answers may be wrong.",
        f"Rebuild it with `framedex index --rebuild`. If you changed it yourself, delete {path.name}.seal next to it.",
    )


def full_disk_error(path: Path) -> FramedexError:
    """Return the error for a full disk while writing the index or a temporary file."""
    return FramedexError(
        f"{_full_disk_reason(path)}: {path} could not be written. Completed work is kept.",
        "Free some space, or choose another place with --index. Then run the command again.",
    )


def _full_disk_reason(path: Path) -> str:
    import resource  # Windows has no limit, and never writes an index

    if resource.getrlimit(resource.RLIMIT_FSIZE)[0] != resource.RLIM_INFINITY:
        return "The disk is full, or the file size limit (`ulimit -f`) is reached"
    temporary = _temporary_folder()
    if measure_free_space(path) > _FULL_DISK_BYTES >= measure_free_space(temporary / "file"):
        return f"The disk of temporary files ({temporary}) is full"
    return "The disk is full"


def _temporary_folder() -> Path:
    """Return SQLite's folder for temporary files; `tempfile.gettempdir` raises if every disk is full."""
    named = (os.environ.get(name, "") for name in ("SQLITE_TMPDIR", "TMPDIR"))
    return next(Path(folder) for folder in (*named, "/var/tmp", "/tmp", ".") if folder and os.access(folder, os.W_OK))


def measure_free_space(path: Path) -> int:
    """Return the free bytes in the folder of a file; `sys.maxsize` if unknown."""
    try:
        status = os.statvfs(path.parent)
    except OSError:
        return sys.maxsize
    return status.f_bavail * status.f_frsize if status.f_blocks else sys.maxsize


def _is_full(error: sqlite3.Error) -> bool:
    return (getattr(error, "sqlite_errorname", "") or "").startswith(_FULL_DISK_ERRORS)


def _is_locked(error: sqlite3.Error) -> bool:
    return (getattr(error, "sqlite_errorname", "") or "").startswith(("SQLITE_BUSY", "SQLITE_LOCKED"))


def _unusable_file_error(path: Path, reason: str) -> FramedexError:
    return FramedexError(
        f"The index {path} cannot be opened or written: {reason}.",
        "Check the permissions of the file and its folder, or choose another file with --index.",
    )
