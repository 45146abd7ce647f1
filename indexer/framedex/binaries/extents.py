"""Function extents from the unwind tables, which survive when every name is stripped.

`.eh_frame_hdr` has a sorted table of function starts. Each entry has the address of a description (FDE) in `.eh_frame`,
which has the function's length. Layouts: Linux Standard Base 5.0, "Exception Frames"; pointer encodings: its "DWARF
Exception Header Encoding". Linkers write tables of one form, the only form read here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from framedex.binaries.elf import Elf

_HEADER = bytes((1, 0x1B, 0x03, 0x3B))  # version; encodings of .eh_frame's address, of the count and of the table
_ENTRY = np.dtype([("start", "<i4"), ("description", "<i4")])  # both are relative to the header's address
_MOST_KINDS = 1 << 12  # CIEs (common descriptions); libjax_common.so has 2
_FORMS = {0x0: "<u8", 0x2: "<u2", 0x3: "<u4", 0x4: "<u8", 0xA: "<u2", 0xB: "<u4", 0xC: "<u8"}  # by DW_EH_PE's low bits
_LONGEST_KIND = 256  # bytes of a CIE that are read

_HIGHEST = np.uint64(np.iinfo(np.uint64).max)

Addresses = npt.NDArray[np.uint64]


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

    def limits(self, places: Addresses) -> Addresses:
        """The latest end of the code that begins at each address.

        This is the end of the function around the address or, if there is none, the start of the next function.
        """
        table = self._read()
        following = np.searchsorted(table.starts, places, side="right")
        limits = np.append(table.starts, _HIGHEST)[following]
        has_before = np.flatnonzero(following > 0)
        ends = table.ends(following[has_before] - 1)
        is_inside = places[has_before] < ends
        limits[has_before[is_inside]] = ends[is_inside]
        return limits

    def _read(self) -> _Table:
        if self._table is None:
            header = self._elf.unwind_header
            found = _table_at(self._elf, header) if header is not None else None
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
        ends = begins + np.minimum(_lengths(self.loaded, self.descriptions[functions]), _HIGHEST - begins)
        bounded: Addresses = np.minimum(ends, np.append(self.starts, _HIGHEST)[functions + 1])
        return bounded


def _table_at(elf: Elf, header: int) -> _Table | None:
    base, loaded = elf.loaded_around(header)
    at = header - base
    if not elf.is_little_endian or bytes(loaded[at : at + 4]) != _HEADER:
        return None
    count = min(int.from_bytes(loaded[at + 8 : at + 12], "little"), (len(loaded) - at - 12) // _ENTRY.itemsize)
    if count <= 0:
        return None
    table = np.frombuffer(loaded, _ENTRY, count, at + 12)
    starts = table["start"].astype(np.int64) + header
    if starts[0] < 0 or not (starts[1:] >= starts[:-1]).all():
        return None
    descriptions = table["description"].astype(np.int64) + at
    return _Table(starts.astype(np.uint64), descriptions, np.frombuffer(loaded, np.uint8))


def _lengths(loaded: npt.NDArray[np.uint8], places: npt.NDArray[np.int64]) -> Addresses:
    """The length of each function from its description's offset; 0 if unreadable."""
    lengths = np.zeros(len(places), np.uint64)
    readable = np.flatnonzero((places >= 0) & (places <= len(loaded) - 24))
    places = places[readable]
    kinds = places + 4 - _words(loaded, places + 4, "<u4").astype(np.int64)  # an FDE holds the distance back to its CIE
    distinct = np.unique(kinds)
    for kind in distinct[:_MOST_KINDS].tolist():
        form = _FORMS.get(_encoding(loaded, kind) & 0xF)
        if form is None:
            continue
        of_kind = np.flatnonzero(kinds == kind)
        width = np.dtype(form).itemsize
        lengths[readable[of_kind]] = _words(loaded, places[of_kind] + 8 + width, form).astype(np.uint64)
    return lengths


def _words(loaded: npt.NDArray[np.uint8], places: npt.NDArray[np.int64], form: str) -> npt.NDArray[Any]:
    """The numbers of this type at these offsets, which need not be aligned."""
    width = np.dtype(form).itemsize
    gathered = loaded[places[:, None] + np.arange(width)]
    return np.ascontiguousarray(gathered).view(form).reshape(-1)


def _encoding(loaded: npt.NDArray[np.uint8], place: int) -> int:
    """The pointer encoding of a CIE, a `DW_EH_PE` byte; 0xff if the CIE is malformed or unsupported."""
    if not 0 <= place <= len(loaded) - 16:
        return 0xFF
    data = bytes(loaded[place : place + _LONGEST_KIND])
    augmentation, _, rest = data[9:].partition(b"\0")
    if data[4:8] != bytes(4) or data[8] not in (1, 3, 4) or not augmentation.startswith(b"z"):
        return 0 if data[4:8] == bytes(4) and augmentation == b"" else 0xFF
    at = 0
    for _ in range(2 if data[8] == 1 else 3):  # code alignment, data alignment, and the return address register
        at = _past_number(rest, at)
    at = _past_number(rest, at + (data[8] == 1))  # one byte in version 1; then the length of the data
    for letter in augmentation[1:]:
        if letter == ord("R"):
            return rest[at] if at < len(rest) else 0xFF
        if letter == ord("P"):
            form = _FORMS.get(rest[at] & 0xF) if at < len(rest) else None
            if form is None:
                return 0xFF
            at += np.dtype(form).itemsize
        if letter in b"LP":
            at += 1
        elif letter not in b"SB":
            return 0xFF
    return 0


def _past_number(data: bytes, at: int) -> int:
    """The offset after the LEB128 number at `at`."""
    while at < len(data) and data[at] & 0x80:
        at += 1
    return at + 1
