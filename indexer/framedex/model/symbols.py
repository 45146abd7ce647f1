"""The symbol at an address of a binary."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NativeSymbol:
    """A function at one address of a binary: one entry per inlined function, innermost first; the last is not inlined.

    `symbol` is the demangled name from the demangler; `name` is the short readable form (no parameters, long template
    arguments elided). `unit` is the translation unit's file name from STT_FILE, None if unknown. `path` and `line` come
    from DWARF (None, 0 without it).
    """

    name: str
    symbol: str
    mangled: str
    path: str | None
    line: int
    inlined: bool
    unit: str | None
