"""Source lines from DWARF, with inlined frames, read by symbolic (Rust, built on gimli).

The first look-up converts the line tables of a whole binary into one sorted cache. The conversion takes about 1 s per
100 MB of DWARF; each address then takes 16 µs. So the cache is built lazily, once per binary.

The tables are stored for later runs in the user's cache folder, keyed by the file state of the binary. Building takes
0.25 s of CPU time for CPython's library, opening stored tables a millisecond. Missing, damaged or unwritable tables are
rebuilt, and the folder may be removed at any time.
"""

from __future__ import annotations

import hashlib
import io
import os
import tempfile
import zlib
from bisect import bisect_left
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from elftools.elf.elffile import ELFFile

from framedex.base.errors import SystemLimitError, raise_if_no_descriptor
from framedex.base.folders import user_folder
from framedex.base.regularfile import read_regular
from framedex.binaries.recorded_files import read_binary_state, state_key


@dataclass(frozen=True, slots=True)
class LineEntry:
    """One function at an address: mangled (or plain) name, absolute path and line (None and 0 if DWARF has none)."""

    function: str
    path: str | None
    line: int


class LineTables:
    """The line tables of one binary, built on the first look-up."""

    def __init__(self, path: Path, load_address: int) -> None:
        self._path, self._load_address = path, load_address
        self._cache: Any = None
        self._is_opened = False
        self.problem: str | None = None

    def find(self, address: int) -> tuple[LineEntry, ...]:
        """The functions at a virtual address, innermost inlined one first; () if DWARF does not cover it."""
        cache = self._open_tables()
        relative = address - self._load_address  # symbolic counts from the image base
        if cache is None or not 0 <= relative < 1 << 64:
            return ()
        try:
            found = cache.lookup(relative)
        except Exception as error:  # symbolic turns a Rust error or panic into one of a dozen classes
            self.problem = f"Its debug information cannot be read: {error}."
            return ()
        return tuple(LineEntry(f.symbol or "", _normalise_path(f.full_path), f.line or 0) for f in found)

    def find_in_part(self, address: int, start: int) -> tuple[LineEntry, ...]:
        """Like `find`, for an address in a part of a function that GCC split off (`f.cold`) and that begins at `start`.

        GCC may continue the last row of the line table from the part before. Then symbolic loses the innermost inlined
        function, so this returns ().
        """
        found = self.find(address)
        is_first_row = bool(found) and found == self.find(start)
        return () if is_first_row and not self._rows.begins_between(start, address) else found

    @cached_property
    def _rows(self) -> _LineTableRows:
        return _LineTableRows(self._path)

    def _open_tables(self) -> Any:
        if self._is_opened:
            return self._cache
        self._is_opened = True
        try:
            import symbolic
        except ImportError as error:
            self.problem = f"Its debug information cannot be read: {error}. Install the reader: pip install symbolic."
            return None

        kept = CachedLineTables(self._path, Path(symbolic.__file__))
        self._cache = _parse_tables(kept.read())
        if self._cache is None:
            self._cache = self._build_tables()
            if self._cache is not None:
                kept.store(self._cache.open_stream().read())
        return self._cache

    def _build_tables(self) -> Any:
        from symbolic.debuginfo import Archive

        try:
            archive = Archive.open(os.fsencode(self._path))
            return next(iter(archive.iter_objects())).make_symcache()
        except StopIteration:
            self.problem = "Its debug information cannot be read."
        except Exception as error:  # any of symbolic's classes
            raise_if_no_descriptor()
            self.problem = f"Its debug information cannot be read: {error}."
        return None


class _LineTableRows:
    """The addresses at which rows of line tables begin, by compilation unit: pyelftools is slow."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._units: dict[int, list[int]] = {}
        self._is_unreadable = False

    def begins_between(self, first: int, last: int) -> bool:
        """Whether a row begins at an address from `first` to `last`; False if the line table is unreadable."""
        if self._is_unreadable:
            return False
        try:
            debug_info, ranges = self._debug_info
            unit = ranges.cu_offset_at_addr(first)
            if unit not in self._units:
                program = debug_info.line_program_for_CU(debug_info.get_CU_at(unit))
                self._units[unit] = sorted({row.state.address for row in program.get_entries() if row.state})
        except (SystemLimitError, MemoryError):
            raise
        except Exception:  # pyelftools raises many types of errors on malformed files
            self._is_unreadable = True
            return False
        rows = self._units[unit]
        following = bisect_left(rows, first)
        return following < len(rows) and rows[following] <= last

    @cached_property
    def _debug_info(self) -> tuple[Any, Any]:
        """The debug information of the file, and its table of address ranges."""
        found = ELFFile(io.BytesIO(read_regular(self._path, _MAX_TOTAL_BYTES))).get_dwarf_info()
        return found, found.get_aranges()


def _parse_tables(tables: bytes | None) -> Any:
    """The stored tables of a binary; None if missing or written by another version of symbolic."""
    if tables is None:
        return None
    from symbolic.symcache import SymCache

    try:
        return SymCache.from_bytes(tables)
    except Exception:  # any of symbolic's classes
        return None


def _normalise_path(path: str | None) -> str | None:
    """The path without `..`. A relative path (no compilation directory recorded) stays relative."""
    return os.path.normpath(path) if path else None


_MIN_STORED_BYTES = 1 << 16  # bytes; smaller tables are built as quickly as they are found
_MAX_TOTAL_BYTES = 256 << 20  # bytes; the least recently used tables are removed
_CHECKSUM_BYTES = 4  # the number of bytes of the leading CRC-32


class CachedLineTables:
    """The cached tables of one binary, as bytes that `symbolic` writes and reads."""

    def __init__(self, binary: Path, builder: Path, folder: Path | None = None) -> None:
        """Cache tables of `binary`, by default in the user's cache folder.

        `maker` is a file of the library that builds the tables: a reinstalled library may build other tables.
        """
        cache = user_folder("XDG_CACHE_HOME")
        self._folder = folder or (cache / "framedex" / "line-tables" if cache else None)
        self._binary = binary
        self._state, self._builder = read_binary_state(binary), (builder, read_binary_state(builder))

    def read(self) -> bytes | None:
        """The cached tables, for the binary as it was when this object was created; None if missing or damaged."""
        file = self._file()
        if file is None:
            return None
        try:
            kept = read_regular(file, _CHECKSUM_BYTES + _MAX_TOTAL_BYTES)
        except OSError:
            return None
        tables = kept[_CHECKSUM_BYTES:]
        if not tables or kept[:_CHECKSUM_BYTES] != _compute_checksum(tables):
            return None
        with suppress(OSError):
            os.utime(file)  # mark as recently used
        return tables

    def store(self, tables: bytes) -> None:
        """Cache the tables, unless the binary has changed since this object was created."""
        file = self._file()
        if (
            file is None
            or not _MIN_STORED_BYTES <= len(tables) <= _MAX_TOTAL_BYTES
            or read_binary_state(self._binary) != self._state
        ):
            return
        with suppress(OSError):
            file.parent.mkdir(parents=True, exist_ok=True)
            descriptor, unfinished = tempfile.mkstemp(dir=file.parent)
            try:
                with os.fdopen(descriptor, "wb") as opened:
                    opened.write(_compute_checksum(tables))
                    opened.write(tables)
                Path(unfinished).replace(file)
            except BaseException:
                Path(unfinished).unlink(missing_ok=True)
                raise
            _remove_unused(file.parent)

    def _file(self) -> Path | None:
        builder, builder_state = self._builder
        if self._folder is None or self._state is None or builder_state is None:
            return None
        key = f"{state_key(self._binary, self._state)} {state_key(builder, builder_state)}"
        return self._folder / hashlib.sha256(key.encode()).hexdigest()


def _compute_checksum(tables: bytes) -> bytes:
    return zlib.crc32(tables).to_bytes(_CHECKSUM_BYTES, "little")


def _remove_unused(folder: Path) -> None:
    with os.scandir(folder) as entries:
        stored = [(status.st_mtime_ns, status.st_size, entry.path) for entry in entries for status in [entry.stat()]]
    total = 0
    for _, size, path in sorted(stored, reverse=True):
        total += size
        if total > _MAX_TOTAL_BYTES:
            Path(path).unlink(missing_ok=True)
