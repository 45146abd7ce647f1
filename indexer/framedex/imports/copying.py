"""Copies the file of another recorder into a project's captures, atomically."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from tempfile import mkdtemp

from framedex.base.errors import FramedexError, SystemLimitError
from framedex.base.folders import REMOVAL_SUFFIX
from framedex.base.regularfile import open_regular
from framedex.captures import foreign_file, read_metadata, write_foreign
from framedex.captures.folders import rename_for_removal, undo_removal
from framedex.imports.reading import detect_format, unreadable_file_error
from framedex.model import ImportOrigin
from framedex.model.metadata import SHARED_FORMAT
from framedex.shared.keeping import unpack_shared

_CHUNK_BYTES = 1 << 20  # bytes
_COPYING = ".importing-"  # prefix of temporary folders
_UNLOCKED_GRACE_S = 60  # seconds in which a new folder may still be unlocked


@dataclass(frozen=True, slots=True)
class StoredImport:
    """The capture of an imported file."""

    folder: Path
    foreign: ImportOrigin


@contextmanager
def copied_file(
    file: Path, captures: Path, value: str | None, folders: Sequence[Path], origin: str | None = None
) -> Iterator[Callable[[], StoredImport]]:
    """Copy a file to a temporary folder in `captures`. Context manager that yields a function to install the copy.

    Call that function once, while no other process imports. It replaces an earlier import of the same `origin`, or
    reuses it if the files are equal. If the block raises, the earlier import is restored. `origin` is the file from
    which `file` was converted; the default is `file`.

    `value` is the name of the weight. Relative names in the file are resolved in `folders`, in the folder of the origin
    and in the current folder. Raises FramedexError if the format is unsupported, or the file cannot be read or copied.
    """
    name = detect_format(file).name
    origin = origin or os.path.realpath(file)
    try:
        captures.mkdir(parents=True, exist_ok=True)
        _remove_abandoned_folders(captures)
        temporary = Path(mkdtemp(prefix=_COPYING, dir=captures))
        lock = _lock_folder(temporary)
    except OSError as error:
        raise _copy_error(captures, error) from error
    try:
        content = _copy_file(file, foreign_file(temporary))
        within = map(os.path.realpath, (*folders, Path(origin).parent, Path()))
        foreign = ImportOrigin(name, origin, content, value, tuple(dict.fromkeys(within)))
        with ExitStack() as placed:

            def install() -> StoredImport:
                known = _find_earlier_import(origin, captures)
                if known is not None and known.foreign == foreign:
                    return known
                folder = placed.enter_context(
                    _replace_folder(temporary, known.folder if known else _find_unused_path(captures))
                )
                try:  # last, since this makes the folder a capture
                    if name == SHARED_FORMAT:
                        unpack_shared(folder, foreign)
                    else:
                        write_foreign(folder, foreign, file.stat().st_mtime_ns)
                except OSError as error:
                    raise _copy_error(folder, error) from error
                return StoredImport(folder, foreign)

            yield install
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
        os.close(lock)


def _remove_abandoned_folders(captures: Path) -> None:
    """Remove temporary folders of killed processes."""
    for left in captures.glob(f"{_COPYING}*"):
        with suppress(OSError):  # another process locked or removed it
            if left.lstat().st_mtime < time.time() - _UNLOCKED_GRACE_S:
                lock = _lock_folder(left)
                shutil.rmtree(left, ignore_errors=True)
                os.close(lock)


def _lock_folder(folder: Path) -> int:
    """Lock a folder and return the descriptor that holds the lock. Raises OSError if another process holds it."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


@contextmanager
def _replace_folder(temporary: Path, folder: Path) -> Iterator[Path]:
    """Replace one folder by another. If the block raises, the replaced folder is restored."""
    aside = None
    try:
        aside = rename_for_removal(folder) if folder.exists() else None
        temporary.rename(folder)
    except OSError as error:
        if aside is not None:
            undo_removal(aside)
        raise _copy_error(folder, error) from error
    try:
        yield folder
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        if aside is not None:
            undo_removal(aside)
        raise
    if aside is not None:
        shutil.rmtree(aside, ignore_errors=True)


def _find_earlier_import(origin: str, captures: Path) -> StoredImport | None:
    try:
        with os.scandir(captures) as entries:
            folders = [entry for entry in entries if not entry.name.endswith(REMOVAL_SUFFIX)]
    except OSError as error:
        raise _copy_error(captures, error) from error
    for entry in folders:
        try:
            state = entry.stat(follow_symlinks=False)
            foreign = _read_origin(entry.path, state.st_ino, state.st_mtime_ns)
        except SystemLimitError:
            raise
        except (FramedexError, OSError):
            continue
        if foreign is not None and foreign.origin == origin:
            return StoredImport(Path(entry.path), foreign)
    return None


@lru_cache(maxsize=1 << 16)
def _read_origin(folder: str, inode: int, modified_ns: int) -> ImportOrigin | None:
    """Return the origin of an import. It is cached, because each imported file is compared with all imports."""
    return read_metadata(Path(folder)).foreign


def _find_unused_path(captures: Path) -> Path:
    """Return the path of a new folder. Its name has the form of a recorded capture's: the time, and process 0."""
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
    number = 0
    while (folder := captures / f"{stamp}-0-{number}").exists():
        number += 1
    return folder


def _copy_file(file: Path, to: Path) -> str:
    """Copy a file. Returns the SHA-256 of its content, in hex."""
    digest = hashlib.sha256()
    try:
        source = open_regular(file)
    except OSError as error:
        raise unreadable_file_error(file, error) from error
    try:
        with source, to.open("xb") as copy:
            while data := source.read(_CHUNK_BYTES):
                digest.update(data)
                copy.write(data)
    except OSError as error:
        raise _copy_error(to.parent, error) from error
    return digest.hexdigest()


def _copy_error(folder: Path, error: OSError) -> FramedexError:
    return FramedexError(
        f"{folder} cannot be written: {error.strerror or error}.", "Check its permissions and the free disk space."
    )
