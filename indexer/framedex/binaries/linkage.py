"""The functions that x86-64 code calls via the dynamic linker: through PLT stubs or through pointers that it fills.

A call to a function of another library goes to a stub that jumps through a pointer, or through that pointer directly
(`-fno-plt`). Relocations name the function of each pointer. They are found by the dynamic segment, as the dynamic
linker does, because section headers may be stripped. Layouts: the ELF-64 gABI (`Elf64_Dyn`, `Elf64_Rela`, `Elf64_Sym`)
and the x86-64 psABI, "Relocation Types" and "Procedure Linkage Table".
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from framedex.binaries.elf import Elf

_DYNAMIC = np.dtype([("tag", "<i8"), ("value", "<u8")])
_RELOCATION = np.dtype([("place", "<u8"), ("kind", "<u4"), ("symbol", "<u4"), ("addend", "<i8")])
_SYMBOL_SIZE = 24  # bytes of an Elf64_Sym, which begins with the offset of its name
_DT_NULL, _DT_PLTRELSZ, _DT_STRTAB, _DT_SYMTAB, _DT_RELA, _DT_RELASZ, _DT_STRSZ = 0, 2, 5, 6, 7, 8, 10
_DT_PLTREL, _DT_JMPREL = 20, 23
_R_X86_64_GLOB_DAT, _R_X86_64_JUMP_SLOT = 6, 7
_LONGEST_NAME = 1 << 13

# endbr64; mov r11d, NUMBER (mold); bnd; jmp [rip+DISTANCE]
_STUB = re.compile(rb"(?:\xf3\x0f\x1e\xfa)?(?:\x41\xbb.{4})?\xf2?\xff\x25(?P<distance>.{4})", re.DOTALL)
_LONGEST_STUB = 17


class Linkage:
    """The pointers that the dynamic linker fills in a binary. Read lazily; damaged tables give fewer pointers."""

    def __init__(self, elf: Elf) -> None:
        self._elf = elf

    def name_behind(self, address: int) -> str:
        """The mangled name of the function behind a stub or a pointer at an address; empty if unknown."""
        if pointed := self._name_at(address):
            return pointed
        stub = _STUB.match(self._elf.content(address, address + _LONGEST_STUB)) if len(self._pointers) else None
        if stub is None:
            return ""
        return self._name_at(address + stub.end() + int.from_bytes(stub["distance"], "little", signed=True))

    def is_pointer(self, address: int) -> bool:
        """Whether only the dynamic linker writes to an address, and writes the address of a named symbol there."""
        return self._row(address) is not None

    def _name_at(self, address: int) -> str:
        row = self._row(address)
        if row is None:
            return ""
        symbols, strings = self._table[_DT_SYMTAB], self._table[_DT_STRTAB]
        symbol = symbols + int(self._pointers["symbol"][row]) * _SYMBOL_SIZE
        offset = int.from_bytes(self._elf.content(symbol, symbol + 4), "little")
        if not 0 < offset < self._table.get(_DT_STRSZ, 0):
            return ""
        name, end, _ = self._elf.content(strings + offset, strings + offset + _LONGEST_NAME).partition(b"\0")
        return name.decode("utf-8", "replace") if end else ""

    def _row(self, address: int) -> int | None:
        if not 0 <= address < 1 << 64:
            return None
        row = int(np.searchsorted(self._pointers["place"], np.uint64(address)))
        return row if row < len(self._pointers) and self._pointers["place"][row] == address else None

    @cached_property
    def _pointers(self) -> npt.NDArray[Any]:
        """The relocations of pointers to named symbols, sorted by pointer address."""
        table = self._table
        if not self._elf.is_x86_64 or _DT_SYMTAB not in table or _DT_STRTAB not in table:
            return np.empty(0, _RELOCATION)
        is_rela = table.get(_DT_PLTREL, _DT_RELA) == _DT_RELA
        found = np.concatenate(
            (
                self._rows(_RELOCATION, table.get(_DT_RELA, 0), table.get(_DT_RELASZ, 0)),
                self._rows(_RELOCATION, table.get(_DT_JMPREL, 0), table.get(_DT_PLTRELSZ, 0) if is_rela else 0),
            )
        )
        named = found[(found["kind"] == _R_X86_64_GLOB_DAT) | (found["kind"] == _R_X86_64_JUMP_SLOT)]
        return np.sort(named[named["symbol"] > 0], order="place", kind="stable")

    @cached_property
    def _table(self) -> dict[int, int]:
        """The values of the dynamic segment by tag."""
        place = self._elf.dynamic_segment
        rows = self._rows(_DYNAMIC, *place) if place is not None else np.empty(0, _DYNAMIC)
        ends = np.flatnonzero(rows["tag"] == _DT_NULL)
        rows = rows[: ends[0]] if len(ends) else rows
        return dict(zip(rows["tag"].tolist(), rows["value"].tolist(), strict=True))

    def _rows(self, layout: np.dtype[Any], address: int, size: int) -> npt.NDArray[Any]:
        """The rows of a table, as many as the file has."""
        begin, loaded = self._elf.loaded_around(address)
        content = loaded[address - begin : address - begin + size]
        return np.frombuffer(content, layout, count=len(content) // layout.itemsize)
