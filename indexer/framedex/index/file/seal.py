"""The seal of an index: a small file with the size, times and checksum of the index, to detect changes by others.

SQLite detects a damaged structure, but not a changed byte in a row. A writer empties the seal before it writes, and
fills it after it has closed the index. A kill between these steps leaves the seal empty. An empty seal proves nothing.
A reader trusts an index with the sealed size and times. Otherwise (a copy, an edit, damage) the reader computes the
checksum once. A changed index stays marked until it is rebuilt. A writer holds a shared lock on the seal file.
"""

from __future__ import annotations

import errno
import os
import stat
import threading
import zlib
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from framedex.base.regularfile import NONBLOCKING, READ_ONLY

CHEAP_CHECKSUM_BYTES = 8 << 20
"""The size up to which every writer computes the checksum of an index, in a few ms. `max_bytes` may allow more."""

_MAX_REPEATED_CHECKSUM_BYTES = 64 << 20
"""The size up to which every query computes the checksum if the seal cannot be written."""

_BLOCK_BYTES = 1 << 20
_MARK = "framedex-seal 1"
_CHANGED_SEAL = f"{_MARK} changed\n"
_ATTEMPTS = 3
_MAX_SEAL_BYTES = 200


@dataclass(frozen=True, slots=True)
class _Seal:
    """The sealed state of a file: size in bytes, mtime and ctime in ns, CRC-32."""

    size: int
    modified: int
    changed: int
    checksum: int

    def __str__(self) -> str:
        return f"{_MARK} {self.size} {self.modified} {self.changed} {self.checksum:08x}\n"

    @classmethod
    def parse(cls, text: str) -> _Seal | None:
        """Parse a seal; None if malformed or half-written."""
        fields = text.removeprefix(_MARK).split()
        try:
            size, modified, changed = map(int, fields[:3])
            seal = cls(size, modified, changed, int(fields[3], 16))
        except (ValueError, IndexError, TypeError):
            return None
        return seal if str(seal) == text else None

    def matches(self, status: os.stat_result) -> bool:
        """Whether a file has the sealed size and times, and so is unchanged."""
        return (self.size, self.modified, self.changed) == (status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def seal_path(index: Path) -> Path:
    """Return the path of an index's seal: next to the file itself, with links resolved."""
    return Path(f"{os.path.realpath(index)}.seal")


def was_changed(index: Path, *, may_seal: bool = True) -> bool:
    """Whether another program has certainly changed an index; with `may_seal` the result is stored in the seal."""
    for _ in range(_ATTEMPTS):
        text = _read_seal(index)
        seal = _Seal.parse(text)
        if seal is None:
            return text == _CHANGED_SEAL
        try:
            before = index.stat()
            if seal.matches(before):
                return False
            if before.st_size > _MAX_REPEATED_CHECKSUM_BYTES and not (
                may_seal and os.access(seal_path(index), os.W_OK)
            ):
                return False
            is_same = seal.size == before.st_size and seal.checksum == _compute_checksum_in_subprocess(index)
            after = index.stat()
        except (OSError, ValueError):
            return False
        # A writer that started meanwhile has emptied the seal first.
        if _read_seal(index) == text and (before.st_mtime_ns, before.st_size) == (after.st_mtime_ns, after.st_size):
            found = _Seal(after.st_size, after.st_mtime_ns, after.st_ctime_ns, seal.checksum)
            if may_seal:
                _replace_seal(index, text, str(found) if is_same else _CHANGED_SEAL)
            return not is_same
    return False


def is_unsealed(index: Path) -> bool:
    """Whether an index has no valid seal, as after a kill, while no process writes to it."""
    text = _read_seal(index)
    return _Seal.parse(text) is None and text != _CHANGED_SEAL and not _is_being_written(index)


def seal_checked_index(index: Path, before: os.stat_result, *, is_consistent: bool) -> None:
    """Seal an unsealed index, or mark it as changed; `before` is its state when the check began.

    Does nothing if the index was written meanwhile, if its log is not empty, or if the seal cannot be written.
    """
    text = _read_seal(index)
    try:
        if not is_consistent:
            _replace_seal(index, text, _CHANGED_SEAL)
        elif not _has_log(index):
            value = _compute_checksum_in_subprocess(index)
            seal = _Seal(before.st_size, before.st_mtime_ns, before.st_ctime_ns, value)
            if seal.matches(index.stat()):
                _replace_seal(index, text, str(seal))
    except (OSError, ValueError):
        return


def _has_log(index: Path) -> bool:
    log = Path(f"{os.path.realpath(index)}-wal")
    return log.exists() and log.stat().st_size > 0


def _is_being_written(index: Path) -> bool:
    """Whether a writer holds the lock of the seal."""
    try:
        descriptor = _open_seal(index, READ_ONLY)
    except OSError:
        return False
    try:
        _lock_seal(descriptor, is_exclusive=True)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return False


def checksum(path: Path) -> int:
    """Return the CRC-32 of a file. It is several times as fast as `hashlib`; the seal need not resist attackers."""
    with _OPEN_FILES_LOCK:
        descriptor = _open_permanently(os.path.realpath(path))
        value = position = 0
        while block := os.pread(descriptor, _BLOCK_BYTES, position):
            value = zlib.crc32(block, value)
            position += len(block)
        return value


_CHECKSUM_SCRIPT = (
    "import sys, zlib\nvalue = 0\nwith open(sys.argv[1], 'rb', buffering=0) as file:\n"
    " while block := file.read(1 << 20): value = zlib.crc32(block, value)\nprint(value)"
)


def _compute_checksum_in_subprocess(path: Path) -> int:
    """Return the CRC-32 of a file, computed in a subprocess: a server would run out of permanently open descriptors.

    Raises OSError or ValueError if the subprocess fails.
    """
    import subprocess

    from framedex.base.interpreters import build_bare_command

    command = build_bare_command(_CHECKSUM_SCRIPT)
    done = subprocess.run(  # noqa: TID251
        [*command, os.path.realpath(path)], check=False, capture_output=True, stdin=subprocess.DEVNULL
    )
    return int(done.stdout)


_OPEN_FILES: dict[str, tuple[tuple[int, int], int]] = {}
# Held while a descriptor is read, because another thread may close the descriptor of a replaced file.
_OPEN_FILES_LOCK = threading.Lock()


def _open_permanently(path: str) -> int:
    """Return a descriptor of a file, which stays open: closing it would drop SQLite's locks in this process.

    See "POSIX advisory locks canceled by a separate thread doing close()" on https://sqlite.org/howtocorrupt.html. The
    locks of a replaced file no longer matter.
    """
    status = os.stat(path)  # noqa: PTH116
    identity = status.st_dev, status.st_ino
    known, descriptor = _OPEN_FILES.get(path, (None, -1))
    if known == identity:
        return descriptor
    if known is not None:
        os.close(descriptor)
    _OPEN_FILES[path] = identity, os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    return _OPEN_FILES[path][1]


class SealWriter:
    """The seal of an index that is open for writing. A seal that cannot be written is removed."""

    def __init__(self, index: Path) -> None:
        self._index = index
        self.was_changed_outside = was_changed(index)
        """Whether another program changed the index since framedex wrote it; a changed index stays unsealed."""
        self._previous_text = _read_seal(index)
        self._descriptor: int | None = None
        try:
            self._descriptor = _open_seal(index, os.O_RDWR | os.O_CREAT)
            _lock_seal(self._descriptor, is_exclusive=False)
            _write_seal(self._descriptor, _CHANGED_SEAL if self.was_changed_outside else "")
        except OSError:
            self._remove_seal()

    def close(self, *, is_same: bool, is_complete: bool, max_bytes: int) -> None:
        """Seal the index after its connection was closed, unless it exceeds `max_bytes` or has other writers.

        `is_same`: nothing was written, so the previous seal is still valid. `is_complete`: all commits are in the file
        itself, none only in its log.
        """
        if self._descriptor is None:
            return
        try:
            _lock_seal(self._descriptor, is_exclusive=True)
            _write_seal(
                self._descriptor,
                _CHANGED_SEAL if self.was_changed_outside else self._new_seal(is_same, is_complete, max_bytes),
            )
        except OSError:
            pass  # another writer continues, and will seal it
        finally:
            os.close(self._descriptor)
            self._descriptor = None

    def _new_seal(self, is_same: bool, is_complete: bool, max_bytes: int) -> str:
        status = self._index.stat()
        before = _Seal.parse(self._previous_text)
        if is_same and before is not None and before.matches(status):
            return self._previous_text
        if not is_complete or status.st_size > max_bytes:
            return ""
        value = checksum(self._index)
        return str(_Seal(status.st_size, status.st_mtime_ns, status.st_ctime_ns, value))

    def _remove_seal(self) -> None:
        """Remove the seal, because a writer that cannot update it must not leave a stale one."""
        with suppress(OSError):
            if stat.S_ISREG(seal_path(self._index).lstat().st_mode):
                seal_path(self._index).unlink()
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def _read_seal(index: Path) -> str:
    try:
        descriptor = _open_seal(index, READ_ONLY)
    except OSError:
        return ""
    try:
        return os.read(descriptor, _MAX_SEAL_BYTES).decode("ascii", "replace")
    except OSError:
        return ""
    finally:
        os.close(descriptor)


def _open_seal(index: Path, flags: int) -> int:
    """Return a descriptor of the seal. Raises OSError if it is missing or not a regular file: a pipe would block."""
    file = os.open(seal_path(index), flags | READ_ONLY | NONBLOCKING, 0o666)
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise OSError(errno.EINVAL, "it is not a regular file")
    return file


def _replace_seal(index: Path, old: str, new: str) -> None:
    """Replace the old seal, unless it has changed or a writer is active."""
    with suppress(OSError):
        descriptor = _open_seal(index, os.O_RDWR)
        try:
            _lock_seal(descriptor, is_exclusive=True)
            if _read_seal(index) == old:
                _write_seal(descriptor, new)
        finally:
            os.close(descriptor)


def _lock_seal(descriptor: int, *, is_exclusive: bool) -> None:
    """Lock a seal: shared, or exclusive without waiting. Raises OSError if it is locked or locks are unsupported."""
    try:
        import fcntl
    except ImportError as error:  # Windows never writes an index
        raise OSError(errno.ENOSYS, "no locks") from error
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB if is_exclusive else fcntl.LOCK_SH)


def _write_seal(descriptor: int, text: str) -> None:
    """Write a seal. A kill leaves an empty, partial or complete seal, and a partial seal is invalid."""
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, text.encode(), 0)
