"""Copies of recorded binaries in the user's cache folder, keyed by content, so that names survive an upgrade.

A capture has only addresses. The names are in binaries, which pip replaces and builds overwrite. So each binary is
copied as soon as a program has ended. The copy is complete, because names of frames, their lines and the calls in them
may need any part. Projects and captures share the copies. jaxlib (330 MB) is copied once per version, in 0.2 s; file
systems with reflinks (btrfs, XFS) share the blocks. Like any other file, a copy is used only if its content matches the
recorded content. The copies are optional, and the folder may be removed at any time.
"""

from __future__ import annotations

import errno
import mmap
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from framedex.binaries.contents import state_of
from framedex.path_resolution.files import is_of_a_process
from framedex.regularfile import open_regular
from framedex.systemlimits import SystemLimitError
from framedex.userfolders import user_folder

KEEPING_VARIABLE = "FRAMEDEX_KEEP_BINARIES"

_ALTOGETHER = 2 << 30  # bytes; the least recently used copies are removed
_LARGEST = 1 << 30  # bytes of one binary with its debug file
_SHARE_OF_FREE = 4  # a copy takes at most a quarter of the free space
_ABANDONED = 3600  # seconds after which an unfinished copy is removed
_UNFINISHED = ".unfinished-"
_DEBUG_FOLDER = ".debug"  # the folder next to a binary that is searched for its debug file
_BLOCK = 1 << 20  # bytes
_CANNOT_SHARE = (errno.ENOSYS, errno.EXDEV, errno.EINVAL, errno.EOPNOTSUPP, errno.EPERM)
_DEBUG_LINK = b".gnu_debuglink"


class KeptBinaries:
    """The copies: one folder per content, named by SHA-256, with the binary and its debug file."""

    def __init__(self, folder: Path | None = None) -> None:
        """Store copies in `folder`, by default in the user's cache folder.

        With `FRAMEDEX_KEEP_BINARIES=0` in the environment, no new copies are stored.
        """
        cache = user_folder("XDG_CACHE_HOME")
        self.folder = folder or (cache / "framedex" / "binaries" if cache else None)
        self._keeps = os.environ.get(KEEPING_VARIABLE) != "0"

    def keep(self, path: Path, digest: str) -> None:
        """Copy the binary at `path`, whose current SHA-256 is `digest`, unless disk space is low."""
        if self.folder is None or not self._keeps or not _is_digest(digest) or is_of_a_process(str(path)):
            return
        if self.find(digest) is None:
            with suppress(OSError, ValueError):  # ValueError: cannot map an empty file
                self._add(path, digest)

    def find(self, digest: str) -> Path | None:
        """The copy of the binary with this SHA-256, to be verified before use; None if missing."""
        if self.folder is None or not _is_digest(digest):
            return None
        try:
            with os.scandir(self.folder / digest) as entries:
                found = next((Path(each) for each in entries if each.is_file(follow_symlinks=False)), None)
            os.utime(self.folder / digest)  # mark as recently used
        except OSError:
            return None
        return found

    def forget(self, copy: Path) -> None:
        """Remove a copy whose content is wrong."""
        if self.folder is not None and copy.parent.parent == self.folder:
            shutil.rmtree(copy.parent, ignore_errors=True)

    def size(self) -> int:
        """The total size of all copies, in bytes."""
        return sum(size for _, size, _ in self._entries())

    def _add(self, path: Path, digest: str) -> None:
        assert self.folder is not None
        size = path.stat().st_size
        self.folder.mkdir(parents=True, exist_ok=True)
        most = min(_LARGEST, shutil.disk_usage(self.folder).free // _SHARE_OF_FREE)
        if size > most:
            return
        unfinished = Path(tempfile.mkdtemp(prefix=_UNFINISHED, dir=self.folder))
        try:
            before = state_of(path)
            _copy(path, unfinished / path.name)
            if state_of(path) != before:
                return
            if (debug := _linked_debug_file(path)) and size + debug[1].stat().st_size <= most:
                _copy(debug[1], unfinished / _DEBUG_FOLDER / debug[0])
            unfinished.rename(self.folder / digest)  # fails if another process was first
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)
        self._remove_unused()

    def _remove_unused(self) -> None:
        together = 0
        for used, size, folder in sorted(self._entries(), reverse=True):
            together += size
            is_abandoned = folder.name.startswith(_UNFINISHED) and used < time.time() - _ABANDONED
            if together > _ALTOGETHER or is_abandoned:
                shutil.rmtree(folder, ignore_errors=True)

    def _entries(self) -> Iterator[tuple[float, int, Path]]:
        """When each copy was last used (s since the epoch), its size in bytes, and its folder."""
        if self.folder is None:
            return
        with suppress(OSError), os.scandir(self.folder) as folders:
            for folder in folders:
                with suppress(OSError):
                    files = (Path(inner, name) for inner, _, names in os.walk(folder) for name in names)
                    yield folder.stat().st_mtime, sum(file.lstat().st_size for file in files), Path(folder)


def _is_digest(digest: str) -> bool:
    return len(digest) == 64 and all(each in "0123456789abcdef" for each in digest)


def _copy(path: Path, target: Path) -> None:
    """Copy a regular file for this user alone. Raises OSError for any other file, or if the disk is full."""
    target.parent.mkdir(exist_ok=True)
    with open_regular(path) as file, target.open("xb") as copy:
        left = os.fstat(file.fileno()).st_size
        try:
            while left > 0 and (copied := os.copy_file_range(file.fileno(), copy.fileno(), left)):
                left -= copied
        except OSError as error:
            if error.errno not in _CANNOT_SHARE:
                raise
            shutil.copyfileobj(file, copy, _BLOCK)


def _linked_debug_file(path: Path) -> tuple[str, Path] | None:
    """The name in a binary's debug link, and the path of that debug file; None if missing."""
    with open_regular(path) as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        if content.rfind(_DEBUG_LINK) < 0:  # few binaries have a debug link, and parsing their structure takes a while
            return None
    from framedex.binaries.debugfile import find_debug_file
    from framedex.binaries.elf import Elf

    try:
        elf = Elf.open(path)
        link, found = elf.debug_link, find_debug_file(path, elf)
    except (SystemLimitError, MemoryError):
        raise
    except Exception:  # pyelftools raises whatever its parsing runs into
        return None
    return (link[0], found) if link and found else None
