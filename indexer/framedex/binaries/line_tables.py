"""A cache of line tables in the user's cache folder, keyed by the file state of the binary.

Building tables from DWARF takes 0.25 s of CPU time for CPython's library, and 1 s per 100 MB of DWARF. Opening cached
tables takes a millisecond. The cache is optional: missing, damaged or unwritable tables are rebuilt, and the folder may
be removed at any time.
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

_LEAST = 1 << 16  # bytes; smaller tables are built as quickly as they are found
_ALTOGETHER = 256 << 20  # bytes; the least recently used tables are removed
_CHECK = 4  # bytes of the leading CRC-32


class KeptLineTables:
    """The cached tables of one binary, as bytes that `symbolic` writes and reads."""

    def __init__(self, binary: Path, maker: Path, folder: Path | None = None) -> None:
        """Cache tables of `binary`, by default in the user's cache folder.

        `maker` is a file of the library that builds the tables: a reinstalled library may build other tables.
        """
        cache = user_folder("XDG_CACHE_HOME")
        self._folder = folder or (cache / "framedex" / "line-tables" if cache else None)
        self._binary = binary
        self._state, self._maker = state_of(binary), (maker, state_of(maker))

    def read(self) -> bytes | None:
        """The cached tables for the binary's state when this object was created; None if missing or damaged."""
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
            os.utime(file)  # mark as recently used
        return tables

    def keep(self, tables: bytes) -> None:
        """Cache the tables, unless the binary has changed since this object was created."""
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
