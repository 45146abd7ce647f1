"""Recorded binaries: digests of their content, and copies, so that names survive an upgrade.

A file is hashed again only after its state changed. Hashing jaxlib's library (350 MB) takes 0.25 s of CPU time, so
SHA-256 digests are cached in the user's cache folder.

A capture has only addresses. The names are in binaries, which pip replaces and builds overwrite. So each binary is
copied as soon as a program has ended. The copy is complete, because names of frames, their lines and the calls in them
may need any part. Projects and captures share the copies, keyed by content. jaxlib (330 MB) is copied once per version,
in 0.2 s. File systems with reflinks (btrfs, XFS) share the blocks. Like any other file, a copy is used only if its
content matches the recorded content. The copies are optional, and the folder may be removed at any time.
"""

from __future__ import annotations

import errno
import hashlib
import json
import mmap
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from threading import Lock

from framedex.base.errors import SystemLimitError
from framedex.base.folders import user_folder
from framedex.base.regularfile import open_regular, read_regular_text
from framedex.model import BinaryState
from framedex.path_resolution.files import is_process_path

_MAX_DIGESTS = 1_000


class DigestCache:
    """A cache of file digests, keyed by path and file state."""

    def __init__(self, cache_file: Path | None = None) -> None:
        """Cache digests in the file `cache_file`, by default in the user's cache folder.

        If that file is unreadable or read-only, the cache lasts as long as this object.
        """
        cache = user_folder("XDG_CACHE_HOME")
        self._path = cache_file or (cache / "framedex" / "contents.json" if cache else None)
        self._digests: dict[str, str] | None = None
        self._lock = Lock()

    def compute_digest(self, path: Path) -> str:
        """The current SHA-256 of a file in hex; empty if the file is unreadable or changes while it is read."""
        state = read_binary_state(path)
        if state is None:
            return ""
        if known := self.find_digest(path, state):
            return known
        try:
            with open_regular(path) as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError:
            return ""
        if read_binary_state(path) != state:
            return ""
        self._store_digest(state_key(path, state), digest)
        return digest

    def find_digest(self, path: Path, state: BinaryState) -> str:
        """The cached digest of a file in this state; empty if not cached."""
        with self._lock:
            return self._load_digests().get(state_key(path, state), "")

    def _store_digest(self, key: str, digest: str) -> None:
        with self._lock:
            self._digests = None  # reload: another process may have written the cache
            digests = self._load_digests()
            digests[key] = digest
            for oldest in list(digests)[:-_MAX_DIGESTS]:
                del digests[oldest]
            with suppress(OSError):
                self._save_digests(digests)

    def _load_digests(self) -> dict[str, str]:
        if self._digests is None:
            try:
                kept = json.loads(read_regular_text(self._path)) if self._path else {}
            except (OSError, ValueError, RecursionError):
                kept = {}
            pairs = kept.items() if isinstance(kept, dict) else ()
            self._digests = {key: value for key, value in pairs if isinstance(value, str)}
        return self._digests

    def _save_digests(self, digests: dict[str, str]) -> None:
        if self._path is None:
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, unfinished = tempfile.mkstemp(dir=self._path.parent)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                json.dump(digests, file)
            Path(unfinished).replace(self._path)
        except OSError:
            Path(unfinished).unlink(missing_ok=True)
            raise


def read_binary_state(path: Path) -> BinaryState | None:
    """The state of a file, as the recorder writes it; None if the file is missing."""
    try:
        status = path.stat()
    except (OSError, ValueError):
        return None
    return BinaryState(status.st_size, status.st_ino, status.st_mtime_ns, status.st_ctime_ns)


def state_key(path: Path, state: BinaryState) -> str:
    """A unique key of a path and a file state."""
    times = f"{state.modified_ns:x}-{state.changed_ns:x}"
    return f"{state.size:x}-{state.inode:x}-{times} {os.fsencode(path).hex()}"


_PAGE_BYTES = 4096  # bytes hashed at each end


def compute_htlhash(path: Path) -> str:
    """The `htlhash` of a file, in hex. Raises OSError if the file is unreadable."""
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        first = file.read(_PAGE_BYTES)
        file.seek(max(size - _PAGE_BYTES, 0))
        return hashlib.sha256(first + file.read(_PAGE_BYTES) + size.to_bytes(8, "big")).hexdigest()[:32]


KEEP_VARIABLE = "FRAMEDEX_KEEP_BINARIES"

_MAX_TOTAL_BYTES = 2 << 30  # bytes; the least recently used copies are removed
_MAX_BINARY_BYTES = 1 << 30  # bytes of one binary with its debug file
_FREE_SPACE_FRACTION = 4  # copy only if the copy takes at most a quarter of the free space
_ABANDONED_AFTER_S = 3600  # seconds after which an unfinished copy is removed
_UNFINISHED_PREFIX = ".unfinished-"
_DEBUG_FOLDER = ".debug"  # the folder next to a binary that debuggers search for its debug file
_BLOCK_BYTES = 1 << 20  # bytes
_COPY_RANGE_ERRORS = (errno.ENOSYS, errno.EXDEV, errno.EINVAL, errno.EOPNOTSUPP, errno.EPERM)
_DEBUG_LINK_SECTION = b".gnu_debuglink"


class BinaryStore:
    """The copies: one folder per content, named by SHA-256, with the binary and its debug file."""

    def __init__(self, folder: Path | None = None) -> None:
        """Store copies in `folder`, by default in the user's cache folder.

        With `FRAMEDEX_KEEP_BINARIES=0` in the environment, no new copies are stored.
        """
        cache = user_folder("XDG_CACHE_HOME")
        self.folder = folder or (cache / "framedex" / "binaries" if cache else None)
        self._stores_copies = os.environ.get(KEEP_VARIABLE) != "0"

    def keep(self, path: Path, digest: str) -> None:
        """Copy the binary at `path`, whose current SHA-256 is `digest`, unless disk space is low."""
        if self.folder is None or not self._stores_copies or not _is_digest(digest) or is_process_path(str(path)):
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

    def remove(self, copy: Path) -> None:
        """Remove a copy whose content is wrong."""
        if self.folder is not None and copy.parent.parent == self.folder:
            shutil.rmtree(copy.parent, ignore_errors=True)

    def size(self) -> int:
        """The total size of all copies, in bytes."""
        return sum(size for _, size, _ in self._iterate_copies())

    def _add(self, path: Path, digest: str) -> None:
        assert self.folder is not None
        size = path.stat().st_size
        self.folder.mkdir(parents=True, exist_ok=True)
        most = min(_MAX_BINARY_BYTES, shutil.disk_usage(self.folder).free // _FREE_SPACE_FRACTION)
        if size > most:
            return
        unfinished = Path(tempfile.mkdtemp(prefix=_UNFINISHED_PREFIX, dir=self.folder))
        try:
            before = read_binary_state(path)
            _copy_file(path, unfinished / path.name)
            if read_binary_state(path) != before:
                return
            if (debug := _find_linked_debug_file(path)) and size + debug[1].stat().st_size <= most:
                _copy_file(debug[1], unfinished / _DEBUG_FOLDER / debug[0])
            unfinished.rename(self.folder / digest)  # fails if another process has added the same copy
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)
        self._remove_unused()

    def _remove_unused(self) -> None:
        total = 0
        for used, size, folder in sorted(self._iterate_copies(), reverse=True):
            total += size
            is_abandoned = folder.name.startswith(_UNFINISHED_PREFIX) and used < time.time() - _ABANDONED_AFTER_S
            if total > _MAX_TOTAL_BYTES or is_abandoned:
                shutil.rmtree(folder, ignore_errors=True)

    def _iterate_copies(self) -> Iterator[tuple[float, int, Path]]:
        """When each copy was last used (s since the Unix epoch), its size in bytes, and its folder."""
        if self.folder is None:
            return
        with suppress(OSError), os.scandir(self.folder) as folders:
            for folder in folders:
                with suppress(OSError):
                    files = (Path(inner, name) for inner, _, names in os.walk(folder) for name in names)
                    yield folder.stat().st_mtime, sum(file.lstat().st_size for file in files), Path(folder)


def _is_digest(digest: str) -> bool:
    return len(digest) == 64 and all(each in "0123456789abcdef" for each in digest)


def _copy_file(path: Path, target: Path) -> None:
    """Copy a regular file for this user alone. Raises OSError for any other file, or if the disk is full."""
    target.parent.mkdir(exist_ok=True)
    with open_regular(path) as file, target.open("xb") as copy:
        remaining = os.fstat(file.fileno()).st_size
        try:
            while remaining > 0 and (copied := os.copy_file_range(file.fileno(), copy.fileno(), remaining)):
                remaining -= copied
        except OSError as error:
            if error.errno not in _COPY_RANGE_ERRORS:
                raise
            shutil.copyfileobj(file, copy, _BLOCK_BYTES)


def _find_linked_debug_file(path: Path) -> tuple[str, Path] | None:
    """The name in a binary's debug link, and the path of that debug file; None if missing."""
    with open_regular(path) as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        if (
            content.rfind(_DEBUG_LINK_SECTION) < 0
        ):  # few binaries have a debug link, and parsing their structure takes a while
            return None
    from framedex.binaries.debug_files import find_debug_file
    from framedex.binaries.elf import Elf

    try:
        elf = Elf.open(path)
        link, found = elf.debug_link, find_debug_file(path, elf)
    except (SystemLimitError, MemoryError):
        raise
    except Exception:  # pyelftools raises many types of errors on malformed files
        return None
    return (link[0], found) if link and found else None
