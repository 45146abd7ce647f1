"""Keeps the file of another recorder as a capture, in a folder of a project's captures: whole, or not at all."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp

from framedex.captures import capture_folders, foreign_file, read_metadata, write_foreign
from framedex.captures.folders import rename_for_removal, undo_removal
from framedex.errors import FramedexError, SystemLimitError
from framedex.imports.reading import format_of, unreadable
from framedex.model import Foreign
from framedex.model.metadata import SHARED_FORMAT
from framedex.regularfile import open_regular
from framedex.shared.keeping import keep_shared

_AT_ONCE = 1 << 20  # bytes
_COPYING = ".importing-"  # what folders of copies begin with
_YOUNG = 60  # seconds in which a folder may not be locked yet


@dataclass(frozen=True, slots=True)
class Kept:
    """The capture that a file has become."""

    folder: Path
    foreign: Foreign


@contextmanager
def kept_file(
    file: Path, captures: Path, value: str | None, folders: Sequence[Path], origin: str | None = None
) -> Iterator[Callable[[], Kept]]:
    """Copy a file into the folder `captures`, weighed by the value of that name: a context manager.

    What it gives puts the copy in its place, once, where another process does not do the same: in that of what was
    imported from there before; of a file that has been made here, `origin` says what that was made of. If the block
    raises, all is as it was. Relative names in the file begin in one of `folders`, in that of the file, or in the one
    it is imported from. Raises FramedexError where the file is in no format that is read, or cannot be read or kept.
    """
    name = format_of(file).name
    origin = origin or os.path.realpath(file)
    try:
        captures.mkdir(parents=True, exist_ok=True)
        _remove_left(captures)
        temporary = Path(mkdtemp(prefix=_COPYING, dir=captures))
        lock = _locked(temporary)
    except OSError as error:
        raise _unkept(captures, error) from error
    try:
        content = _copied(file, foreign_file(temporary))
        within = map(os.path.realpath, (*folders, Path(origin).parent, Path()))
        foreign = Foreign(name, origin, content, value, tuple(dict.fromkeys(within)))
        with ExitStack() as placed:

            def place() -> Kept:
                known = _imported_from(origin, captures)
                if known is not None and known.foreign == foreign:
                    return known
                folder = placed.enter_context(_moved(temporary, known.folder if known else _free(captures)))
                try:  # only now, as a folder with it is a capture
                    if name == SHARED_FORMAT:
                        keep_shared(folder, foreign)
                    else:
                        write_foreign(folder, foreign, file.stat().st_mtime_ns)
                except OSError as error:
                    raise _unkept(folder, error) from error
                return Kept(folder, foreign)

            yield place
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
        os.close(lock)


def _remove_left(captures: Path) -> None:
    """Remove the copies that processes left which were killed."""
    for left in captures.glob(f"{_COPYING}*"):
        with suppress(OSError):  # another process holds it, or has removed it
            if left.lstat().st_mtime < time.time() - _YOUNG:
                lock = _locked(left)
                shutil.rmtree(left, ignore_errors=True)
                os.close(lock)


def _locked(folder: Path) -> int:
    """Lock a folder, until the descriptor is closed that this returns. Raises OSError where another process has."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


@contextmanager
def _moved(temporary: Path, folder: Path) -> Iterator[Path]:
    """Put a folder in the place of another one, which comes back if the block raises."""
    aside = None
    try:
        aside = rename_for_removal(folder) if folder.exists() else None
        temporary.rename(folder)
    except OSError as error:
        if aside is not None:
            undo_removal(aside)
        raise _unkept(folder, error) from error
    try:
        yield folder
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        if aside is not None:
            undo_removal(aside)
        raise
    if aside is not None:
        shutil.rmtree(aside, ignore_errors=True)


def _imported_from(origin: str, captures: Path) -> Kept | None:
    for folder in capture_folders(captures):
        try:
            foreign = read_metadata(folder).foreign
        except SystemLimitError:
            raise
        except FramedexError:
            continue
        if foreign is not None and foreign.origin == origin:
            return Kept(folder, foreign)
    return None


def _free(captures: Path) -> Path:
    """A folder that is not there yet, named as the recorder names captures: by the time, and no process."""
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
    number = 0
    while (folder := captures / f"{stamp}-0-{number}").exists():
        number += 1
    return folder


def _copied(file: Path, to: Path) -> str:
    """Copy a file; the SHA-256 of its content, in hex."""
    digest = hashlib.sha256()
    try:
        source = open_regular(file)
    except OSError as error:
        raise unreadable(file, error) from error
    try:
        with source, to.open("xb") as copy:
            while data := source.read(_AT_ONCE):
                digest.update(data)
                copy.write(data)
    except OSError as error:
        raise _unkept(to.parent, error) from error
    return digest.hexdigest()


def _unkept(folder: Path, error: OSError) -> FramedexError:
    return FramedexError(
        f"{folder} cannot be written: {error.strerror or error}.", "Check its permissions, and the room on its disk."
    )
