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

from framedex.errors import FramedexError
from framedex.index.file.shape import foreign_part
from framedex.index.file.version import APPLICATION_ID, VERSION
from framedex.regularfile import open_regular
from framedex.systemlimits import raise_if_no_descriptor
from framedex.upwards import folders_upwards

_MAKE = "Record a program with `framedex run SCRIPT`, unless that is done; `framedex index` makes the index of it."
_REBUILD = "Run `framedex index --rebuild`: it makes the index anew from the captures that are still there."
PATIENCE = 5.0
"""Timeout in seconds for a lock held by another process."""

_MAGIC = b"SQLite format 3\0"
_FULL = ("SQLITE_FULL", "SQLITE_IOERR_WRITE", "SQLITE_IOERR_SHMSIZE", "SQLITE_IOERR_SHMOPEN", "SQLITE_IOERR_FSYNC")
_SYSTEM_FAILURES = (
    *("SQLITE_BUSY", "SQLITE_CANTOPEN", "SQLITE_FULL", "SQLITE_INTERRUPT"),
    *("SQLITE_IOERR", "SQLITE_LOCKED", "SQLITE_NOMEM", "SQLITE_PROTOCOL"),
)
_LITTLE = 1 << 20
"""Bytes of free space that count as a full disk, since a failed write may have released its last bytes."""
_PAUSE = 0.05
_CACHE = 16 << 10
"""KiB of a reader's page cache: SQLite's default of 2 MiB is less than one query in a large index reads."""

_LEAST_SQLITE = (3, 36)  # copying rows between databases needs it

Result = TypeVar("Result")


class Patience:
    """The lock timeout of a writer in seconds, and a callback invoked once if it has to wait.

    SQLite's own timeout cannot be interrupted by Ctrl-C, and does not cover a file's change to WAL mode.
    """

    def __init__(self, seconds: float = PATIENCE, when_waiting: Callable[[], None] | None = None) -> None:
        self._seconds = seconds
        self._when_waiting = when_waiting

    def wait_for(self, action: Callable[[], Result]) -> Result:
        """Return the result of `action`, retrying while the file is locked; after the timeout, raise SQLite's error."""
        deadline = time.monotonic() + self._seconds
        while True:
            try:
                return action()
            except sqlite3.OperationalError as error:
                if not _is_locked(error) or time.monotonic() >= deadline:
                    raise
            if self._when_waiting is not None:
                self._when_waiting()
                self._when_waiting = None
            time.sleep(_PAUSE)


class RebuildableIndexError(FramedexError):
    """The index is unusable, but can be rebuilt from its captures."""

    def __init__(self, message: str, remedy: str = _REBUILD) -> None:
        super().__init__(message, remedy)


class OutdatedIndexError(RebuildableIndexError):
    """The index has an older version and must be rebuilt from its captures."""

    def __init__(self, message: str) -> None:
        super().__init__(message, "Run `framedex index`: it makes the index anew from its captures.")


class NewerIndexError(FramedexError):
    """The index has a newer version and is left unchanged."""


class DamagedIndexError(RebuildableIndexError):
    """The file is not a database, or is corrupt."""


class EmptyIndexError(FramedexError):
    """The index is empty: an indexer has just created it, or was stopped at that point."""


class LockedIndexError(FramedexError):
    """Another process holds the file's lock for longer than the timeout."""


def find_index(start: Path) -> Path | None:
    """Return the nearest `.framedex/index.db` in `start` or a folder above it; see `folders_upwards`."""
    # Strings instead of Path for speed: every editor query checks a path of ten folders.
    candidates = (os.path.join(each, ".framedex", "index.db") for each in folders_upwards(str(start.absolute())))  # noqa: PTH118
    found = next(filter(os.path.isfile, candidates), None)  # Path.is_file raises if permission is denied
    return None if found is None else Path(found)


def connect_reading(path: Path, patience: float) -> sqlite3.Connection:
    """Open a read-only connection to the index at `path`, of this version, with a lock timeout of `patience` seconds.

    Raises FramedexError with a remedy.
    """
    check_sqlite()
    if not _is_file(path):
        raise FramedexError(f"There is no index at {path}.", _MAKE)
    _refuse_other_files(path)
    with translated(path):
        connection = _connect_reading(path, patience)
        try:
            if is_blank(connection):
                raise EmptyIndexError(
                    f"The index {path} is empty.",
                    _MAKE,
                )
            check_version(connection, path)
        except BaseException:
            connection.close()
            raise
        return connection


def check_sqlite() -> str:
    """Return the version of this Python's SQLite. Raises FramedexError if it is too old for an index."""
    if sqlite3.sqlite_version_info < _LEAST_SQLITE:
        least = ".".join(map(str, _LEAST_SQLITE))
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
        raise _unwritable(path, error.strerror or str(error)) from error
    if _is_file(path) and not os.access(path, os.W_OK):
        raise _unwritable(path, "permission denied")
    _refuse_other_files(path)


def connect_writing(path: Path, patience: Patience) -> sqlite3.Connection:
    """Open a connection for writing to the file at `path`, creating it if missing; any version is accepted.

    Transactions are explicit. Lock timeouts are left to `patience`. Raises FramedexError if the file belongs to another
    program or cannot be written.
    """
    check_sqlite()
    is_made = not _is_file(path)
    with translated(path):
        connection = sqlite3.connect(path, timeout=_PAUSE, isolation_level=None)
        try:
            patience.wait_for(lambda: _prepare_writing(connection, path))
        except BaseException:
            connection.close()
            if is_made:
                _remove_if_empty(path)
            raise
        return connection


def _remove_if_empty(path: Path) -> None:
    with suppress(OSError, FramedexError):
        if _is_file(path) and not path.stat().st_size:
            path.unlink()


def _prepare_writing(connection: sqlite3.Connection, path: Path) -> None:
    if not is_blank(connection) and _pragma(connection, "application_id") != APPLICATION_ID:
        raise FramedexError(
            f"{path} is an SQLite database, but not a framedex index.", "Choose another file with --index."
        )
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA cache_size = -65536")
    # A large limit, since the database needs only the last state of a page that many transactions write; the log is
    # truncated afterwards.
    connection.execute("PRAGMA wal_autocheckpoint = 16384")
    connection.execute("PRAGMA journal_size_limit = 4194304")


def _refuse_other_files(path: Path) -> None:
    """Raise FramedexError for a file that was never an index: a rebuild must not move a user's file aside."""
    if path.suffix == ".db" or not _is_file(path):
        return
    try:
        with open_regular(path) as file:
            head = file.read(len(_MAGIC))
    except OSError as error:
        raise _unwritable(path, error.strerror or str(error)) from error
    if head and head != _MAGIC:
        raise FramedexError(f"{path} is not a framedex index and is left alone.", "Choose another file with --index.")


def _is_file(path: Path) -> bool:
    """Whether there is a file at `path`. Raises FramedexError if that is unknown or `path` is not a regular file.

    Opening a device or a pipe as an index could block or have side effects.
    """
    try:
        is_file = stat.S_ISREG(path.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except (OSError, ValueError) as error:
        raise _unwritable(path, getattr(error, "strerror", None) or str(error)) from error
    if not is_file:
        raise _unwritable(path, "it is not a regular file")
    return True


def file_identity(path: Path, *, with_content: bool = False) -> tuple[int, ...] | None:
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
    if _pragma(connection, "application_id") != APPLICATION_ID:
        raise FramedexError(f"{path} is an SQLite database, but not a framedex index.", "Choose another with --index.")
    refuse_newer(connection, path)
    version = _pragma(connection, "user_version")
    if version < VERSION:
        raise OutdatedIndexError(f"The index {path} has version {version}; this framedex reads version {VERSION}.")
    if part := foreign_part(connection):
        raise DamagedIndexError(f"{path} is no index that framedex made: it has {part}.")


def refuse_newer(connection: sqlite3.Connection, path: Path) -> None:
    """Raise NewerIndexError if the index has a newer version, whose data this one would lose."""
    version = _pragma(connection, "user_version")
    if version > VERSION and _pragma(connection, "application_id") == APPLICATION_ID:
        raise NewerIndexError(
            f"The index {path} has version {version}, from a later framedex; this one reads version {VERSION}.",
            "Use that framedex (`pip install --upgrade framedex`), or make another index:"
            " `framedex --index FILE index`.",
        )


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Translate SQLite's errors about the index at `path` into errors with a remedy."""
    try:
        yield
    except sqlite3.Error as error:
        raise _explained(path, error) from error


def _connect_reading(path: Path, patience: float) -> sqlite3.Connection:
    uri = path.absolute().as_uri()
    try:
        return _open(f"{uri}?mode=ro", patience)
    except sqlite3.OperationalError as error:
        # WAL's shared memory cannot be created in a read-only folder or on a full disk. Without a WAL to read it is not
        # needed.
        is_writable = os.access(path.parent, os.W_OK) and not _is_full(error)
        if is_writable or _log_size(path):
            raise
    return _open(f"{uri}?mode=ro&immutable=1", patience, StillConnection)


def _log_size(path: Path) -> int:
    try:
        return os.stat(f"{os.path.realpath(path)}-wal").st_size  # noqa: PTH116
    except FileNotFoundError:
        return 0


class StillConnection(sqlite3.Connection):
    """A connection to a file treated as immutable: it does not see changes by others, and must then be reopened."""


def _open(uri: str, patience: float, kind: type[sqlite3.Connection] = sqlite3.Connection) -> sqlite3.Connection:
    connection = sqlite3.connect(
        uri, uri=True, timeout=patience, isolation_level=None, check_same_thread=False, factory=kind
    )
    try:
        connection.execute("PRAGMA query_only = 1")
        connection.execute(f"PRAGMA cache_size = -{_CACHE}")
        # The file may come from anyone: nothing in it makes SQLite do more than read, and corrupt pages are detected
        # when read.
        connection.execute("PRAGMA trusted_schema = 0")
        connection.execute("PRAGMA cell_size_check = 1")
        connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
    except BaseException:
        connection.close()
        raise
    return connection


def _pragma(connection: sqlite3.Connection, name: str) -> int:
    return int(connection.execute(f"PRAGMA {name}").fetchone()[0])


def _explained(path: Path, error: sqlite3.Error) -> FramedexError:
    name = getattr(error, "sqlite_errorname", "") or ""
    if name.startswith(("SQLITE_NOTADB", "SQLITE_CORRUPT")):
        return damaged(path, str(error))
    if name.startswith("SQLITE_INTERRUPT"):
        return damaged(path, "a question of it came to no end")
    if _is_locked(error):
        return LockedIndexError(
            f"The index {path} is being written by another process.", "Wait until it has finished, then try again."
        )
    if _is_full(error):
        return full(path)
    if name.startswith("SQLITE_CANTOPEN"):
        raise_if_no_descriptor()
    if name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM", "SQLITE_AUTH")):
        return _unwritable(path, str(error))
    if name.startswith("SQLITE_IOERR"):
        return FramedexError(f"The index {path} could not be read: {error}.", "Check the disk, then try again.")
    if "no such" in str(error):
        return DamagedIndexError(f"The index {path} lacks a part ({error}).")
    return RebuildableIndexError(f"The index {path} could not be used: {error}.")


def is_system_failure(error: sqlite3.Error) -> bool:
    """Whether SQLite failed to read a file for a reason that does not concern its content."""
    return (getattr(error, "sqlite_errorname", "") or "").startswith(_SYSTEM_FAILURES)


def damaged(path: Path, what: str) -> DamagedIndexError:
    """Return the error for a damaged index; `what` is the evidence."""
    return DamagedIndexError(f"The index {path} is damaged ({what}).")


def changed_by_others(path: Path) -> DamagedIndexError:
    """Return the error for an index that other programs changed, although it may still answer."""
    return DamagedIndexError(
        f"{path} has changed since framedex wrote it, by another program or by damage: answers may be wrong.",
        "`framedex index --rebuild` rebuilds it. If you changed it yourself, remove the file"
        f" {path.name}.seal beside it.",
    )


def full(path: Path) -> FramedexError:
    """Return the error for a full disk while writing the index or a temporary file."""
    return FramedexError(
        f"{_why_full(path)}: {path} could not be written. It keeps all finished work.",
        "Free some space, or put the index elsewhere with --index, then run the command again.",
    )


def _why_full(path: Path) -> str:
    import resource  # Windows lacks it, and never writes

    if resource.getrlimit(resource.RLIMIT_FSIZE)[0] != resource.RLIM_INFINITY:
        return "The disk is full, or the limit for the size of files (`ulimit -f`) is reached"
    temporary = _temporary_folder()
    if free_space(path) > _LITTLE >= free_space(temporary / "file"):
        return f"The disk of temporary files ({temporary}) is full"
    return "The disk is full"


def _temporary_folder() -> Path:
    """Return SQLite's folder for temporary files; `tempfile.gettempdir` raises if every disk is full."""
    named = (os.environ.get(name, "") for name in ("SQLITE_TMPDIR", "TMPDIR"))
    return next(Path(folder) for folder in (*named, "/var/tmp", "/tmp", ".") if folder and os.access(folder, os.W_OK))


def free_space(path: Path) -> int:
    """Return the free bytes in the folder of a file; `sys.maxsize` if unknown."""
    try:
        status = os.statvfs(path.parent)
    except OSError:
        return sys.maxsize
    return status.f_bavail * status.f_frsize if status.f_blocks else sys.maxsize


def _is_full(error: sqlite3.Error) -> bool:
    return (getattr(error, "sqlite_errorname", "") or "").startswith(_FULL)


def _is_locked(error: sqlite3.Error) -> bool:
    return (getattr(error, "sqlite_errorname", "") or "").startswith(("SQLITE_BUSY", "SQLITE_LOCKED"))


def _unwritable(path: Path, reason: str) -> FramedexError:
    return FramedexError(
        f"The index {path} cannot be opened or written: {reason}.",
        "Check the permissions of the file and its folder, or choose another file with --index.",
    )
