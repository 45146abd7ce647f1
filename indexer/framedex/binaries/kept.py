"""Copies of recorded binaries in the user's cache folder, by what they hold: an upgrade takes no names away.

A capture has addresses alone; what names them is in the binaries, which pip replaces and builds overwrite. So they are
copied as soon as a program has ended, whole, since naming frames, their lines and the calls in them may need any part.
Projects and captures share the copies: that of jaxlib (330 MB) is made once for each of its versions, in 0.2 s. A file
system that can share what files hold (btrfs, XFS) does so. A copy is used only where its content is what was recorded,
like any other file. Nobody needs what is kept, and the folder may be removed at any time.
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
from framedex.regularfile import open_regular
from framedex.systemlimits import SystemLimitError
from framedex.userfolders import user_folder
from framedex.whereabouts.files import is_of_a_process

KEEPING_VARIABLE = "FRAMEDEX_KEEP_BINARIES"

_ALTOGETHER = 2 << 30  # bytes; what was not used for longest goes
_LARGEST = 1 << 30  # bytes of one binary with its debug file
_SHARE_OF_FREE = 4  # a copy takes no more than a quarter of what is free
_ABANDONED = 3600  # seconds after which nobody goes on with an unfinished copy
_UNFINISHED = ".unfinished-"
_DEBUG_FOLDER = ".debug"  # in which a debug file that the binary names is looked for, beside it
_BLOCK = 1 << 20  # bytes
_CANNOT_SHARE = (errno.ENOSYS, errno.EXDEV, errno.EINVAL, errno.EOPNOTSUPP, errno.EPERM)
_DEBUG_LINK = b".gnu_debuglink"


class KeptBinaries:
    """The copies: a folder for each content, named by its SHA-256, with the binary and its debug file in it."""

    def __init__(self, folder: Path | None = None) -> None:
        """`folder` is where copies are kept, by default one in the user's cache folder.

        Nothing new is kept where the environment says `FRAMEDEX_KEEP_BINARIES=0`.
        """
        cache = user_folder("XDG_CACHE_HOME")
        self.folder = folder or (cache / "framedex" / "binaries" if cache else None)
        self._keeps = os.environ.get(KEEPING_VARIABLE) != "0"

    def keep(self, path: Path, digest: str) -> None:
        """Have a copy of the binary at `path`, whose content has this SHA-256 now. Without room there is none."""
        if self.folder is None or not self._keeps or not _is_digest(digest) or is_of_a_process(str(path)):
            return
        if self.find(digest) is None:
            with suppress(OSError, ValueError):  # ValueError: an empty file cannot be mapped
                self._add(path, digest)

    def find(self, digest: str) -> Path | None:
        """The copy of the binary with this SHA-256, to be compared before it is used; None where there is none."""
        if self.folder is None or not _is_digest(digest):
            return None
        try:
            with os.scandir(self.folder / digest) as entries:
                found = next((Path(each) for each in entries if each.is_file(follow_symlinks=False)), None)
            os.utime(self.folder / digest)  # used now
        except OSError:
            return None
        return found

    def forget(self, copy: Path) -> None:
        """Remove a copy that is not what it should be."""
        if self.folder is not None and copy.parent.parent == self.folder:
            shutil.rmtree(copy.parent, ignore_errors=True)

    def size(self) -> int:
        """The bytes that the copies have altogether."""
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
            unfinished.rename(self.folder / digest)  # fails where another process was first
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
        """When each copy was last used, its size in bytes, and its folder."""
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
    """Copy a regular file, for this user alone. Raises OSError for anything else, and where there is no room."""
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
    """The name that a binary has for its debug file, and where that is; None where it names none that is here."""
    with open_regular(path) as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        if content.rfind(_DEBUG_LINK) < 0:  # few have one, and to read their structure takes a while
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
