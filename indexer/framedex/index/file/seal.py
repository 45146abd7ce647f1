"""The seal of an index: a small file beside it with its length, times and checksum, to detect foreign changes.

SQLite detects damage to its structure, but not a changed byte in a row. A writer empties the seal before it writes, and
fills it when it has closed the file. A kill in between leaves it empty, which proves nothing. If the file has the size
and times of the seal, a reader trusts it. Otherwise (a copy, an edit, damage) it computes the checksum once. A changed
index stays marked until it is rebuilt. A writer holds a shared lock on the seal file.
"""

from __future__ import annotations

import errno
import os
import stat
import zlib
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from framedex.portable import NEVER_WAITING, READ_ONLY

CHEAP = 8 << 20
"""Bytes of an index whose checksum every writer computes, which takes a few ms; larger ones need `at_most`."""

_MOST_UNSEALED = 64 << 20
"""Bytes whose checksum is computed with every query if the seal cannot be written."""

_BLOCK = 1 << 20
_MARK = "framedex-seal 1"
_CHANGED = f"{_MARK} changed\n"
_ATTEMPTS = 3
_LONGEST = 200


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
    def read(cls, text: str) -> _Seal | None:
        """Parse a seal; None if malformed or half-written."""
        fields = text.removeprefix(_MARK).split()
        try:
            size, modified, changed = map(int, fields[:3])
            seal = cls(size, modified, changed, int(fields[3], 16))
        except (ValueError, IndexError, TypeError):
            return None
        return seal if str(seal) == text else None

    def is_of(self, status: os.stat_result) -> bool:
        """Whether a file has this size and these times, and so is untouched."""
        return (self.size, self.modified, self.changed) == (status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def seal_path(index: Path) -> Path:
    """Return the path of an index's seal: beside the file itself, with links resolved."""
    return Path(f"{os.path.realpath(index)}.seal")


def was_changed(index: Path, *, may_seal: bool = True) -> bool:
    """Whether an index surely differs from the one that framedex wrote; `may_seal` stores the result in the seal."""
    for _ in range(_ATTEMPTS):
        text = _text(index)
        seal = _Seal.read(text)
        if seal is None:
            return text == _CHANGED
        try:
            before = index.stat()
            if seal.is_of(before):
                return False
            if before.st_size > _MOST_UNSEALED and not (may_seal and os.access(seal_path(index), os.W_OK)):
                return False
            is_same = seal.size == before.st_size and seal.checksum == _checksum_elsewhere(index)
            after = index.stat()
        except (OSError, ValueError):
            return False
        # A writer that started meanwhile has emptied the seal first.
        if _text(index) == text and (before.st_mtime_ns, before.st_size) == (after.st_mtime_ns, after.st_size):
            found = _Seal(after.st_size, after.st_mtime_ns, after.st_ctime_ns, seal.checksum)
            if may_seal:
                _replace(index, text, str(found) if is_same else _CHANGED)
            return not is_same
    return False


def is_unsealed(index: Path) -> bool:
    """Whether an index has no valid seal, as after a kill, while no process writes to it."""
    text = _text(index)
    return _Seal.read(text) is None and text != _CHANGED and not _is_being_written(index)


def seal_as_found(index: Path, before: os.stat_result, *, is_sound: bool) -> None:
    """Seal an unsealed index, or mark it as changed; `before` is its state when the check began.

    Does nothing if the index was written meanwhile, if its log has more, or if the seal cannot be written.
    """
    text = _text(index)
    try:
        if not is_sound:
            _replace(index, text, _CHANGED)
        elif not _has_log(index):
            value = _checksum_elsewhere(index)
            seal = _Seal(before.st_size, before.st_mtime_ns, before.st_ctime_ns, value)
            if seal.is_of(index.stat()):
                _replace(index, text, str(seal))
    except (OSError, ValueError):
        return


def _has_log(index: Path) -> bool:
    log = Path(f"{os.path.realpath(index)}-wal")
    return log.exists() and log.stat().st_size > 0


def _is_being_written(index: Path) -> bool:
    """Whether a writer holds the lock of the seal."""
    try:
        file = _opened(index, READ_ONLY)
    except OSError:
        return False
    try:
        _lock(file, alone=True)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(file)
    return False


def checksum(file: Path) -> int:
    """Return the CRC-32 of a file: several times as fast as `hashlib`, and no attacker is assumed."""
    descriptor = _kept_open(os.path.realpath(file))
    value = position = 0
    while block := os.pread(descriptor, _BLOCK, position):
        value = zlib.crc32(block, value)
        position += len(block)
    return value


_SUM = (
    "import sys, zlib\nvalue = 0\nwith open(sys.argv[1], 'rb', buffering=0) as file:\n"
    " while block := file.read(1 << 20): value = zlib.crc32(block, value)\nprint(value)"
)


def _checksum_elsewhere(file: Path) -> int:
    """Return the CRC-32 from a process of its own: in a server, descriptors kept open would run out.

    Raises OSError or ValueError if that process fails.
    """
    import subprocess  # imported here because few queries need it

    from framedex.interpreters import bare_code

    command = bare_code(_SUM)
    done = subprocess.run(  # noqa: TID251
        [*command, os.path.realpath(file)], check=False, capture_output=True, stdin=subprocess.DEVNULL
    )
    return int(done.stdout)


_OPEN: dict[str, tuple[tuple[int, int], int]] = {}


def _kept_open(path: str) -> int:
    """Return a descriptor of a file that stays open: closing it would drop SQLite's locks in this process.

    See "POSIX advisory locks canceled by a separate thread doing close()" on https://sqlite.org/howtocorrupt.html. The
    locks of a replaced file no longer matter.
    """
    status = os.stat(path)  # noqa: PTH116
    identity = status.st_dev, status.st_ino
    known, descriptor = _OPEN.get(path, (None, -1))
    if known == identity:
        return descriptor
    if known is not None:
        os.close(descriptor)
    _OPEN[path] = identity, os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    return _OPEN[path][1]


class Sealing:
    """The seal of an index that is open for writing. If a seal cannot be written, there is none."""

    def __init__(self, index: Path) -> None:
        self._index = index
        self.is_doubtful = was_changed(index)
        """Whether the index differs from the one that framedex wrote; it then stays unsealed."""
        self._before = _text(index)
        self._file: int | None = None
        try:
            self._file = _opened(index, os.O_RDWR | os.O_CREAT)
            _lock(self._file, alone=False)
            _write(self._file, _CHANGED if self.is_doubtful else "")
        except OSError:
            self._give_up()

    def close(self, *, is_same: bool, is_complete: bool, at_most: int) -> None:
        """Seal the index after its connection was closed, unless it exceeds `at_most` bytes or has other writers.

        `is_same`: nothing was written, so the previous seal is still valid. `is_complete`: all commits are in the file
        itself, none only in its log.
        """
        if self._file is None:
            return
        try:
            _lock(self._file, alone=True)
            _write(self._file, _CHANGED if self.is_doubtful else self._sealed(is_same, is_complete, at_most))
        except OSError:
            pass  # another writer continues, and will seal it
        finally:
            os.close(self._file)
            self._file = None

    def _sealed(self, is_same: bool, is_complete: bool, at_most: int) -> str:
        status = self._index.stat()
        before = _Seal.read(self._before)
        if is_same and before is not None and before.is_of(status):
            return self._before
        if not is_complete or status.st_size > at_most:
            return ""
        value = checksum(self._index)
        return str(_Seal(status.st_size, status.st_mtime_ns, status.st_ctime_ns, value))

    def _give_up(self) -> None:
        """Remove the seal: a writer without one must not leave a stale seal."""
        with suppress(OSError):
            if stat.S_ISREG(seal_path(self._index).lstat().st_mode):
                seal_path(self._index).unlink()
        if self._file is not None:
            os.close(self._file)
            self._file = None


def _text(index: Path) -> str:
    try:
        file = _opened(index, READ_ONLY)
    except OSError:
        return ""
    try:
        return os.read(file, _LONGEST).decode("ascii", "replace")
    except OSError:
        return ""
    finally:
        os.close(file)


def _opened(index: Path, how: int) -> int:
    """Return a descriptor of the seal. Raises OSError if it is missing or not a regular file: a pipe would block."""
    file = os.open(seal_path(index), how | READ_ONLY | NEVER_WAITING, 0o666)
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise OSError(errno.EINVAL, "it is not a regular file")
    return file


def _replace(index: Path, old: str, new: str) -> None:
    """Replace the old seal, unless it has changed or a writer is active."""
    with suppress(OSError):
        file = _opened(index, os.O_RDWR)
        try:
            _lock(file, alone=True)
            if _text(index) == old:
                _write(file, new)
        finally:
            os.close(file)


def _lock(file: int, *, alone: bool) -> None:
    """Lock a seal, shared or exclusive without waiting. Raises OSError if it is locked or locks are unsupported."""
    try:
        import fcntl
    except ImportError as error:  # Windows, which never writes
        raise OSError(errno.ENOSYS, "no locks") from error
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB if alone else fcntl.LOCK_SH)


def _write(file: int, text: str) -> None:
    """Write a seal; a kill leaves nothing, a part or all, and a part is not a valid seal."""
    os.ftruncate(file, 0)
    os.pwrite(file, text.encode(), 0)
