"""Tables that are loaded with a binary, so that `strip` keeps them: function extents and the dynamic linker's pointers.

`.eh_frame_hdr` has a sorted table of function starts. Each entry has the address of a description (FDE) in `.eh_frame`,
which has the function's length. Layouts: Linux Standard Base 5.0, "Exception Frames"; pointer encodings: its "DWARF
Exception Header Encoding". Linkers write tables of one form, the only form read here.

A call to a function of another library goes to a stub that jumps through a pointer, or through that pointer directly
(`-fno-plt`). Relocations name the function of each pointer. They are found by the dynamic segment, as the dynamic
linker does, because section headers may be stripped. Layouts: the ELF-64 gABI (`Elf64_Dyn`, `Elf64_Rela`, `Elf64_Sym`).
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from framedex.binaries.machines.linkage import MAX_STUB_BYTES, POINTER_RELOCATIONS, find_stub_pointer

if TYPE_CHECKING:
    from framedex.binaries.elf import Elf


_UNWIND_HEADER = bytes(
    (1, 0x1B, 0x03, 0x3B)
)  # version; encodings of .eh_frame's address, of the count and of the table
_UNWIND_ENTRY = np.dtype([("start", "<i4"), ("description", "<i4")])  # relative to the header's address
_MAX_CIES = 1 << 12  # CIEs (common descriptions); libjax_common.so has 2
_NUMBER_TYPES = {
    0x0: "<u8",
    0x2: "<u2",
    0x3: "<u4",
    0x4: "<u8",
    0xA: "<u2",
    0xB: "<u4",
    0xC: "<u8",
}  # by DW_EH_PE's low bits
_MAX_CIE_BYTES = 256  # bytes of a CIE that are read
_MAX_ENTRY_BYTES = 1 << 24

_MAX_ADDRESS = np.uint64(np.iinfo(np.uint64).max)

Addresses = npt.NDArray[np.uint64]


class UnwindEntry(NamedTuple):
    """The unwind entry (FDE) of a function, which is at `address`, and its common entry (CIE), with their lengths."""

    address: int
    function: bytes
    common: bytes


class FunctionExtents:
    """The functions of a binary by address. Read lazily; empty without unwind tables."""

    def __init__(self, elf: Elf) -> None:
        self._elf = elf
        self._table: _Table | None = None

    def start(self, address: int) -> int | None:
        """The start of the function around an address; None if unknown."""
        table = self._read()
        before = np.searchsorted(table.starts, np.array([address], np.uint64), side="right") - 1
        is_inside = before[0] >= 0 and address < table.ends(before)[0]
        return int(table.starts[before[0]]) if is_inside else None

    def unwind_entry(self, address: int) -> UnwindEntry | None:
        """The unwind entry of the function around an address; None if it has none, or if it is malformed."""
        start, header = self.start(address), self._elf.unwind_header
        if start is None or header is None:
            return None
        table = self._read()
        description = int(table.descriptions[int(np.searchsorted(table.starts, np.uint64(start), side="right")) - 1])
        base, loaded = self._elf.segment_around(header)
        function = _read_entry(loaded, description)
        common = _read_entry(loaded, description + 4 - int.from_bytes(function[4:8], "little"))
        return UnwindEntry(base + description, function, common) if function and common else None

    def limits(self, addresses: Addresses) -> Addresses:
        """The latest end of the code that begins at each address.

        This is the end of the function around the address or, if there is none, the start of the next function.
        """
        table = self._read()
        following = np.searchsorted(table.starts, addresses, side="right")
        limits = np.append(table.starts, _MAX_ADDRESS)[following]
        has_before = np.flatnonzero(following > 0)
        ends = table.ends(following[has_before] - 1)
        is_inside = addresses[has_before] < ends
        limits[has_before[is_inside]] = ends[is_inside]
        return limits

    def _read(self) -> _Table:
        if self._table is None:
            header = self._elf.unwind_header
            found = _read_unwind_table(self._elf, header) if header is not None else None
            nothing = np.empty(0, np.uint64)
            self._table = found or _Table(nothing, nothing.astype(np.int64), nothing.astype(np.uint8))
        return self._table


class _Table(NamedTuple):
    """Sorted function starts, and the offset of each function's description in `loaded`, the bytes of a segment."""

    starts: Addresses
    descriptions: npt.NDArray[np.int64]
    loaded: npt.NDArray[np.uint8]

    def ends(self, functions: npt.NDArray[np.intp]) -> Addresses:
        """The ends of these functions, limited to the start of the next function."""
        begins = self.starts[functions]
        ends = begins + np.minimum(_read_lengths(self.loaded, self.descriptions[functions]), _MAX_ADDRESS - begins)
        bounded: Addresses = np.minimum(ends, np.append(self.starts, _MAX_ADDRESS)[functions + 1])
        return bounded


def _read_unwind_table(elf: Elf, header: int) -> _Table | None:
    base, loaded = elf.segment_around(header)
    at = header - base
    if not elf.is_little_endian or bytes(loaded[at : at + 4]) != _UNWIND_HEADER:
        return None
    count = min(int.from_bytes(loaded[at + 8 : at + 12], "little"), (len(loaded) - at - 12) // _UNWIND_ENTRY.itemsize)
    if count <= 0:
        return None
    table = np.frombuffer(loaded, _UNWIND_ENTRY, count, at + 12)
    starts = table["start"].astype(np.int64) + header
    if starts[0] < 0 or not (starts[1:] >= starts[:-1]).all():
        return None
    descriptions = table["description"].astype(np.int64) + at
    return _Table(starts.astype(np.uint64), descriptions, np.frombuffer(loaded, np.uint8))


def _read_entry(loaded: memoryview, offset: int) -> bytes:
    """The entry at an offset, with its length; empty if it is outside, or in the form for 64-bit lengths."""
    length = int.from_bytes(loaded[offset : offset + 4], "little") if 0 <= offset < len(loaded) - 8 else 0
    entry = bytes(loaded[offset : offset + 4 + length]) if 4 < length < _MAX_ENTRY_BYTES else b""
    return entry if len(entry) == 4 + length else b""


def _read_lengths(loaded: npt.NDArray[np.uint8], addresses: npt.NDArray[np.int64]) -> Addresses:
    """The length of each function from its description's offset; 0 if unreadable."""
    lengths = np.zeros(len(addresses), np.uint64)
    readable = np.flatnonzero((addresses >= 0) & (addresses <= len(loaded) - 24))
    addresses = addresses[readable]
    kinds = (
        addresses + 4 - _read_numbers(loaded, addresses + 4, "<u4").astype(np.int64)
    )  # an FDE stores the distance back to its CIE
    distinct = np.unique(kinds)
    for kind in distinct[:_MAX_CIES].tolist():
        form = _NUMBER_TYPES.get(_read_pointer_encoding(loaded, kind) & 0xF)
        if form is None:
            continue
        of_kind = np.flatnonzero(kinds == kind)
        width = np.dtype(form).itemsize
        lengths[readable[of_kind]] = _read_numbers(loaded, addresses[of_kind] + 8 + width, form).astype(np.uint64)
    return lengths


def _read_numbers(loaded: npt.NDArray[np.uint8], addresses: npt.NDArray[np.int64], form: str) -> npt.NDArray[Any]:
    """The numbers of this type at these offsets, which need not be aligned."""
    width = np.dtype(form).itemsize
    gathered = loaded[addresses[:, None] + np.arange(width)]
    return np.ascontiguousarray(gathered).view(form).reshape(-1)


def _read_pointer_encoding(loaded: npt.NDArray[np.uint8], address: int) -> int:
    """The pointer encoding of a CIE, a `DW_EH_PE` byte; 0xff if the CIE is malformed or unsupported."""
    if not 0 <= address <= len(loaded) - 16:
        return 0xFF
    data = bytes(loaded[address : address + _MAX_CIE_BYTES])
    augmentation, _, rest = data[9:].partition(b"\0")
    if data[4:8] != bytes(4) or data[8] not in (1, 3, 4) or not augmentation.startswith(b"z"):
        return 0 if data[4:8] == bytes(4) and augmentation == b"" else 0xFF
    at = 0
    for _ in range(2 if data[8] == 1 else 3):  # code alignment, data alignment, and the return address register
        at = _skip_leb128(rest, at)
    at = _skip_leb128(rest, at + (data[8] == 1))  # one byte in version 1; then the length of the data
    for letter in augmentation[1:]:
        if letter == ord("R"):
            return rest[at] if at < len(rest) else 0xFF
        if letter == ord("P"):
            form = _NUMBER_TYPES.get(rest[at] & 0xF) if at < len(rest) else None
            if form is None:
                return 0xFF
            at += np.dtype(form).itemsize
        if letter in b"LP":
            at += 1
        elif letter not in b"SB":
            return 0xFF
    return 0


def _skip_leb128(data: bytes, offset: int) -> int:
    """The offset after the LEB128 number at `offset`."""
    while offset < len(data) and data[offset] & 0x80:
        offset += 1
    return offset + 1


_DYNAMIC = np.dtype([("tag", "<i8"), ("value", "<u8")])
_RELOCATION = np.dtype([("place", "<u8"), ("kind", "<u4"), ("symbol", "<u4"), ("addend", "<i8")])
_SYMBOL_SIZE = 24  # bytes of an Elf64_Sym, which begins with the offset of its name
_DT_NULL, _DT_PLTRELSZ, _DT_STRTAB, _DT_SYMTAB, _DT_RELA, _DT_RELASZ, _DT_STRSZ = 0, 2, 5, 6, 7, 8, 10
_DT_PLTREL, _DT_JMPREL = 20, 23
_MAX_NAME_BYTES = 1 << 13


class Linkage:
    """The pointers that the dynamic linker fills in a binary. Read lazily; damaged tables give fewer pointers."""

    def __init__(self, elf: Elf) -> None:
        self._elf = elf

    def find_target_name(self, address: int) -> str:
        """The mangled name of the function behind a stub or a pointer at an address; empty if unknown."""
        if pointed := self._pointer_name(address):
            return pointed
        if not len(self._pointers):
            return ""
        stub = self._elf.content(address, address + MAX_STUB_BYTES)
        pointer = find_stub_pointer(self._elf.architecture, stub, address)
        return self._pointer_name(pointer) if pointer is not None else ""

    def is_pointer(self, address: int) -> bool:
        """Whether only the dynamic linker writes to an address, and writes the address of a named symbol there."""
        return self._find_row(address) is not None

    def _pointer_name(self, address: int) -> str:
        row = self._find_row(address)
        if row is None:
            return ""
        symbols, strings = self._table[_DT_SYMTAB], self._table[_DT_STRTAB]
        symbol = symbols + int(self._pointers["symbol"][row]) * _SYMBOL_SIZE
        offset = int.from_bytes(self._elf.content(symbol, symbol + 4), "little")
        if not 0 < offset < self._table.get(_DT_STRSZ, 0):
            return ""
        name, end, _ = self._elf.content(strings + offset, strings + offset + _MAX_NAME_BYTES).partition(b"\0")
        return name.decode("utf-8", "replace") if end else ""

    def _find_row(self, address: int) -> int | None:
        if not 0 <= address < 1 << 64:
            return None
        row = int(np.searchsorted(self._pointers["place"], np.uint64(address)))
        return row if row < len(self._pointers) and self._pointers["place"][row] == address else None

    @cached_property
    def _pointers(self) -> npt.NDArray[Any]:
        """The relocations of pointers to named symbols, sorted by pointer address."""
        table = self._table
        kinds = POINTER_RELOCATIONS.get(self._elf.architecture)
        if kinds is None or _DT_SYMTAB not in table or _DT_STRTAB not in table:
            return np.empty(0, _RELOCATION)
        is_rela = table.get(_DT_PLTREL, _DT_RELA) == _DT_RELA
        found = np.concatenate(
            (
                self._read_rows(_RELOCATION, table.get(_DT_RELA, 0), table.get(_DT_RELASZ, 0)),
                self._read_rows(_RELOCATION, table.get(_DT_JMPREL, 0), table.get(_DT_PLTRELSZ, 0) if is_rela else 0),
            )
        )
        named = found[np.isin(found["kind"], kinds)]
        return np.sort(named[named["symbol"] > 0], order="place", kind="stable")

    @cached_property
    def _table(self) -> dict[int, int]:
        """The values of the dynamic segment by tag."""
        place = self._elf.dynamic_segment
        rows = self._read_rows(_DYNAMIC, *place) if place is not None else np.empty(0, _DYNAMIC)
        ends = np.flatnonzero(rows["tag"] == _DT_NULL)
        rows = rows[: ends[0]] if len(ends) else rows
        return dict(zip(rows["tag"].tolist(), rows["value"].tolist(), strict=True))

    def _read_rows(self, layout: np.dtype[Any], address: int, size: int) -> npt.NDArray[Any]:
        """The rows of a table; fewer if the file is truncated."""
        begin, loaded = self._elf.segment_around(address)
        content = loaded[address - begin : address - begin + size]
        return np.frombuffer(content, layout, count=len(content) // layout.itemsize)
