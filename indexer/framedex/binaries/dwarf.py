"""Source lines from DWARF, with inlined frames, read by symbolic (Rust, built on gimli).

The first look-up converts the line tables of a whole binary into one sorted cache. The conversion takes about 1 s per
100 MB of DWARF; each address then takes 16 µs. So the cache is built lazily, once per binary, and stored for later
runs.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from framedex.binaries.line_tables import KeptLineTables
from framedex.systemlimits import raise_if_no_descriptor


@dataclass(frozen=True, slots=True)
class Line:
    """One function at an address: mangled (or plain) name, absolute path and line (None and 0 if DWARF has none)."""

    function: str
    path: str | None
    line: int


class Lines:
    """The line tables of one binary, built on the first look-up."""

    def __init__(self, path: Path, load_address: int) -> None:
        self._path, self._load_address = path, load_address
        self._cache: Any = None
        self._opened = False
        self.problem: str | None = None

    def at(self, address: int) -> tuple[Line, ...]:
        """The functions at a virtual address, innermost inlined one first; () if DWARF does not cover it."""
        cache = self._open()
        relative = address - self._load_address  # symbolic counts from the image base
        if cache is None or not 0 <= relative < 1 << 64:
            return ()
        try:
            found = cache.lookup(relative)
        except Exception as error:  # symbolic turns a Rust error or panic into one of a dozen classes
            self.problem = f"Its debug information cannot be read: {error}."
            return ()
        return tuple(Line(f.symbol or "", _absolute(f.full_path), f.line or 0) for f in found)

    def _open(self) -> Any:
        if self._opened:
            return self._cache
        self._opened = True
        try:
            import symbolic  # 60 ms; most binaries have no DWARF
        except ImportError as error:
            self.problem = f"Its debug information is not read: {error}. `pip install symbolic` mends that."
            return None

        kept = KeptLineTables(self._path, Path(symbolic.__file__))
        self._cache = _opened(kept.read())
        if self._cache is None:
            self._cache = self._make()
            if self._cache is not None:
                kept.keep(self._cache.open_stream().read())
        return self._cache

    def _make(self) -> Any:
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


def _opened(tables: bytes | None) -> Any:
    """The stored tables of a binary; None if missing or written by another version of symbolic."""
    if tables is None:
        return None
    from symbolic.symcache import SymCache

    try:
        return SymCache.from_bytes(tables)
    except Exception:  # any of symbolic's classes
        return None


def _absolute(path: str | None) -> str | None:
    """The path without `..`. A relative path (no compilation directory recorded) stays relative."""
    return os.path.normpath(path) if path else None
