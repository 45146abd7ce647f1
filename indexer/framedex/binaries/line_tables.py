"""The line tables of binaries, kept in the user's cache folder by the state that a binary was in.

To make them of DWARF takes a quarter of a second of a processor for CPython's library, and 1 s for 100 MB of DWARF;
to open what is kept takes a millisecond. Nobody needs what is kept: whatever is damaged, missing or cannot be written
is made again, and the folder may be removed at any time.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import zlib
from contextlib import suppress
from pathlib import Path

from framedex.binaries.contents import state_key, state_of
from framedex.regularfile import read_regular
from framedex.userfolders import user_folder

_LEAST = 1 << 16  # bytes; what is smaller is made as quickly as it is found
_ALTOGETHER = 256 << 20  # bytes; what was not used for longest goes
_CHECK = 4  # bytes of a CRC-32 in front


class KeptLineTables:
    """The tables of one binary, as bytes that `symbolic` writes and reads."""

    def __init__(self, binary: Path, maker: Path, folder: Path | None = None) -> None:
        """`maker` is a file of the library that makes them: one that was installed anew may make others.

        `folder` is where tables are kept, by default one in the user's cache folder.
        """
        cache = user_folder("XDG_CACHE_HOME")
        self._folder = folder or (cache / "framedex" / "line-tables" if cache else None)
        self._binary = binary
        self._state, self._maker = state_of(binary), (maker, state_of(maker))

    def read(self) -> bytes | None:
        """What was kept of the binary as it was when this object was made; None where nothing sound is there."""
        file = self._file()
        if file is None:
            return None
        try:
            kept = read_regular(file, _CHECK + _ALTOGETHER)
        except OSError:
            return None
        tables = kept[_CHECK:]
        if not tables or kept[:_CHECK] != _check(tables):
            return None
        with suppress(OSError):
            os.utime(file)  # used now
        return tables

    def keep(self, tables: bytes) -> None:
        """Keep what was made of the binary, unless it has changed meanwhile."""
        file = self._file()
        if file is None or not _LEAST <= len(tables) <= _ALTOGETHER or state_of(self._binary) != self._state:
            return
        with suppress(OSError):
            file.parent.mkdir(parents=True, exist_ok=True)
            descriptor, unfinished = tempfile.mkstemp(dir=file.parent)
            try:
                with os.fdopen(descriptor, "wb") as opened:
                    opened.write(_check(tables))
                    opened.write(tables)
                Path(unfinished).replace(file)
            except BaseException:
                Path(unfinished).unlink(missing_ok=True)
                raise
            _remove_unused(file.parent)

    def _file(self) -> Path | None:
        maker, maker_state = self._maker
        if self._folder is None or self._state is None or maker_state is None:
            return None
        key = f"{state_key(self._binary, self._state)} {state_key(maker, maker_state)}"
        return self._folder / hashlib.sha256(key.encode()).hexdigest()


def _check(tables: bytes) -> bytes:
    return zlib.crc32(tables).to_bytes(_CHECK, "little")


def _remove_unused(folder: Path) -> None:
    with os.scandir(folder) as entries:
        kept = [(status.st_mtime_ns, status.st_size, entry.path) for entry in entries for status in [entry.stat()]]
    together = 0
    for _, size, path in sorted(kept, reverse=True):
        together += size
        if together > _ALTOGETHER:
            Path(path).unlink(missing_ok=True)
