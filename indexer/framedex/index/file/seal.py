"""Whether an index file is as framedex left it: a small file beside it says how long it was, when written, and its sum.

SQLite sees damage to its structure, and nothing of a changed byte in a row. A writer empties the seal before it writes,
and fills it again when it has closed the file; a kill in between leaves it empty, which says nothing. A reader whose
file has the size and the times of the seal asks no further; else (a copy, an edit, damage) it sums the file once. What
was found to be changed stays so marked until the index is made anew. Whoever holds the lock of the seal's file shared
is a writer.
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
"""Bytes of an index that are summed whenever a writer is done: a few milliseconds. Larger ones where a run says so."""

_MOST_UNSEALED = 64 << 20
"""Bytes that are summed with every question where the seal cannot be written."""

_BLOCK = 1 << 20
_MARK = "framedex-seal 1"
_CHANGED = f"{_MARK} changed\n"
_ATTEMPTS = 3
_LONGEST = 200


@dataclass(frozen=True, slots=True)
class _Seal:
    """What is known of a file: bytes, nanoseconds, CRC-32."""

    size: int
    modified: int
    changed: int
    checksum: int

    def __str__(self) -> str:
        return f"{_MARK} {self.size} {self.modified} {self.changed} {self.checksum:08x}\n"

    @classmethod
    def read(cls, text: str) -> _Seal | None:
        """The seal that a text is; None where it is none, or one that was being written."""
        fields = text.removeprefix(_MARK).split()
        try:
            size, modified, changed = map(int, fields[:3])
            seal = cls(size, modified, changed, int(fields[3], 16))
        except (ValueError, IndexError, TypeError):
            return None
        return seal if str(seal) == text else None

    def is_of(self, status: os.stat_result) -> bool:
        """Whether a file has this size and these times: then it has not been touched."""
        return (self.size, self.modified, self.changed) == (status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def seal_path(index: Path) -> Path:
    """Where the seal of an index is: beside the file itself, whatever links lead to it."""
    return Path(f"{os.path.realpath(index)}.seal")


def was_changed(index: Path, *, may_seal: bool = True) -> bool:
    """Whether an index is surely not as framedex left it; what summing it has told is kept where that is allowed."""
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
        # A writer that began meanwhile has emptied the seal first.
        if _text(index) == text and (before.st_mtime_ns, before.st_size) == (after.st_mtime_ns, after.st_size):
            found = _Seal(after.st_size, after.st_mtime_ns, after.st_ctime_ns, seal.checksum)
            if may_seal:
                _replace(index, text, str(found) if is_same else _CHANGED)
            return not is_same
    return False


def is_unsealed(index: Path) -> bool:
    """Whether no seal vouches for an index, as after a kill, while nobody writes to it."""
    text = _text(index)
    return _Seal.read(text) is None and text != _CHANGED and not _is_being_written(index)


def seal_as_found(index: Path, before: os.stat_result, *, is_sound: bool) -> None:
    """Seal an index that had no seal, or mark it as changed, by what was found since `before` was its state.

    Nothing is done where it was written meanwhile, where a log beside it has more, or where the seal cannot be written.
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
    """The CRC-32 of a file: several times as fast as the hashes of `hashlib`, and nobody is to be outwitted."""
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
    """The same, in a process of its own: a server that kept open whatever it once summed would run out of files.

    Raises OSError or ValueError where that process fails.
    """
    import subprocess  # hardly any question comes this far, and each one would pay for it

    from framedex.interpreters import bare_code

    command = bare_code(_SUM)
    done = subprocess.run(  # noqa: TID251
        [*command, os.path.realpath(file)], check=False, capture_output=True, stdin=subprocess.DEVNULL
    )
    return int(done.stdout)


_OPEN: dict[str, tuple[tuple[int, int], int]] = {}


def _kept_open(path: str) -> int:
    """A descriptor of a file that stays open: closing any would drop the locks that SQLite has in this process.

    See "POSIX advisory locks canceled by a separate thread doing close()" on https://sqlite.org/howtocorrupt.html. A
    file that another one has replaced has no lock that still matters.
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
    """The seal of an index that is open for writing. Where a seal cannot be kept, there is none."""

    def __init__(self, index: Path) -> None:
        self._index = index
        self.is_doubtful = was_changed(index)
        """Whether what framedex finds there is not what it left: what it writes is not sealed, then."""
        self._before = _text(index)
        self._file: int | None = None
        try:
            self._file = _opened(index, os.O_RDWR | os.O_CREAT)
            _lock(self._file, alone=False)
            _write(self._file, _CHANGED if self.is_doubtful else "")
        except OSError:
            self._give_up()

    def close(self, *, is_same: bool, is_complete: bool, at_most: int) -> None:
        """Seal the index, after its connection was closed, unless it is larger than so many bytes or others write too.

        `is_same`: nothing was written, so what was sealed before still is. `is_complete`: all that was written is in
        the file itself, and nothing in a log beside it.
        """
        if self._file is None:
            return
        try:
            _lock(self._file, alone=True)
            _write(self._file, _CHANGED if self.is_doubtful else self._sealed(is_same, is_complete, at_most))
        except OSError:
            pass  # another writer goes on, and will seal it
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
        """Without a seal of its own, a writer leaves none that would be wrong."""
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
    """A descriptor of the seal. Raises OSError where there is none, or no file: a pipe would be waited for."""
    file = os.open(seal_path(index), how | READ_ONLY | NEVER_WAITING, 0o666)
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise OSError(errno.EINVAL, "it is not a regular file")
    return file


def _replace(index: Path, old: str, new: str) -> None:
    """Write another seal in the place of the old one, unless it is no longer there, or a writer is at work."""
    with suppress(OSError):
        file = _opened(index, os.O_RDWR)
        try:
            _lock(file, alone=True)
            if _text(index) == old:
                _write(file, new)
        finally:
            os.close(file)


def _lock(file: int, *, alone: bool) -> None:
    """Lock a seal with others, or alone at once. Raises OSError where it cannot be had, or there are no such locks."""
    try:
        import fcntl
    except ImportError as error:  # on Windows, where nobody writes
        raise OSError(errno.ENOSYS, "no locks") from error
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB if alone else fcntl.LOCK_SH)


def _write(file: int, text: str) -> None:
    """Of what is written here a kill leaves nothing, a part or all: a part is no seal."""
    os.ftruncate(file, 0)
    os.pwrite(file, text.encode(), 0)
