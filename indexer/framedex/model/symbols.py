"""What a binary says of an address."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NativeSymbol:
    """What a binary says of one address, one entry per inlined function, innermost first; the last is not inlined.

    `symbol` is the demangled name as the demangler gives it, `name` the short readable form (no parameters, template
    arguments elided where long). `unit` is the translation unit's file name from STT_FILE, None if unknown. `path` and
    `line` come from DWARF (None, 0 without it).
    """

    name: str
    symbol: str
    mangled: str
    path: str | None
    line: int
    inlined: bool
    unit: str | None
