"""What an ELF file holds, read with care: sections, build-id and the bulk of its function symbols.

pyelftools reads the structure; the symbols themselves are a numpy view over the mapped file, since iterating 740 k of
them in Python takes 16 s. Names stay in the mapping and are cut out one by one when asked for. Layouts: the ELF-64 gABI
(`Elf64_Sym`, `Elf32_Sym`) and `<elf.h>`.
"""

from __future__ import annotations

import lzma
import mmap
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import NoteSection
from elftools.elf.segments import NoteSegment

from framedex.regularfile import open_regular

_MOST_SECTIONS = 1 << 16  # e_shnum has 16 bits; a damaged section 0 could claim 2^64
_LARGEST_NOTES = 1 << 20
_LARGEST_MINI_DEBUG_INFO = 1 << 28  # decompressed

_STT_FUNC, _STT_FILE, _STT_GNU_IFUNC = 2, 4, 10
_STB_LOCAL, _STB_GLOBAL = 0, 1
_SHN_UNDEF, _SHN_LORESERVE = 0, 0xFF00


@dataclass(frozen=True, slots=True)
class Section:
    """A section header: `offset` and `size` in the file, `address` where it is loaded, `link` a section index."""

    index: int
    name: str
    kind: str
    address: int
    offset: int
    size: int
    link: int


@dataclass(frozen=True, slots=True)
class ElfSymbol:
    """A function of the symbol table: its mangled name, address range [start, end) and translation unit, if known."""

    mangled: str
    start: int
    end: int
    unit: str | None


class SymbolTable:
    """The functions of a binary ordered by address, names left in `strings`."""

    def __init__(
        self,
        starts: npt.NDArray[np.uint64],
        ends: npt.NDArray[np.uint64],
        names: npt.NDArray[np.uint32],
        units: npt.NDArray[np.int64],
        strings: memoryview,
    ) -> None:
        """Columns of equal length, ordered by start: addresses, and offsets into `strings` (units: -1 for none)."""
        self._starts, self._ends, self._names, self._units, self._strings = starts, ends, names, units, strings
        self._reach = np.maximum.accumulate(ends) if len(ends) else ends

    def __len__(self) -> int:
        return len(self._starts)

    def find(self, address: int) -> ElfSymbol | None:
        """The innermost function whose range holds `address`, None when none does."""
        key = np.uint64(address)
        i = int(np.searchsorted(self._starts, key, side="right")) - 1
        if i < 0 or self._reach[i] <= key:
            return None
        if self._ends[i] <= key:  # inside a larger function that has a smaller one within it
            i = int(np.searchsorted(self._reach, key, side="right"))
        return self[i]

    def starting_at(self, address: int) -> ElfSymbol | None:
        """The function that begins at `address`."""
        i = int(np.searchsorted(self._starts, np.uint64(address)))
        return self[i] if i < len(self) and self._starts[i] == address else None

    def __getitem__(self, i: int) -> ElfSymbol:
        unit = int(self._units[i])
        return ElfSymbol(
            mangled=self._text(int(self._names[i])),
            start=int(self._starts[i]),
            end=int(self._ends[i]),
            unit=(self._text(unit) or None) if unit >= 0 else None,
        )

    def __iter__(self) -> Iterator[ElfSymbol]:
        return (self[i] for i in range(len(self)))

    def _text(self, offset: int) -> str:
        for length in (256, 1 << 12, 1 << 16):
            name, end, _ = bytes(self._strings[offset : offset + length]).partition(b"\0")
            if end or offset + length >= len(self._strings):
                break
        return name.decode("utf-8", "replace")


class Elf:
    """An opened ELF file. Nothing here raises on damaged content; `problems` says what could not be read."""

    def __init__(self, data: mmap.mmap | bytes, stream: BinaryIO) -> None:
        """Raises: ELFError and its kin when the header itself cannot be read."""
        self.problems: list[str] = []
        self._data = memoryview(data)
        self._elf = ELFFile(stream)
        self.sections = self._read_sections()

    @classmethod
    def open(cls, path: Path) -> Elf:
        """Map a file. Raises: OSError, ValueError (empty file) or an elftools error when it is no ELF file."""
        with open_regular(path) as file:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        return cls(mapped, mapped)  # type: ignore[arg-type]  # a mapping has the methods that pyelftools uses

    def section(self, *names: str) -> Section | None:
        return next((s for s in self.sections if s.name in names), None)

    @property
    def load_address(self) -> int:
        """The lowest address of a loaded segment: 0 for shared objects, 0x400000 for most fixed executables."""
        addresses = [s["p_vaddr"] for s in self._segments() if s["p_type"] == "PT_LOAD"]
        return min(addresses, default=0)

    @property
    def is_x86_64(self) -> bool:
        return bool(self._elf["e_machine"] == "EM_X86_64" and self._elf.elfclass == 64)

    def content(self, start: int, end: int) -> bytes:
        """The bytes loaded at the addresses from `start` to `end`, as far as they are in the file."""
        for address, size, at in self._loaded:
            if address <= start < address + size:
                return bytes(self._data[at + start - address : at + min(end - address, size)])
        return b""

    @cached_property
    def _loaded(self) -> list[tuple[int, int, int]]:
        """Address, size in the file and offset in the file of each loaded segment."""
        return [(s["p_vaddr"], s["p_filesz"], s["p_offset"]) for s in self._segments() if s["p_type"] == "PT_LOAD"]

    @property
    def build_id(self) -> str | None:
        """The GNU build-id in hex, from a note section or, where section headers were stripped, a note segment."""
        for part in [*self._elf_sections("SHT_NOTE"), *self._segments()]:
            if not isinstance(part, NoteSection | NoteSegment):
                continue
            size = part["sh_size"] if isinstance(part, NoteSection) else part["p_filesz"]
            if size > _LARGEST_NOTES:
                continue
            try:
                for note in part.iter_notes():
                    if note["n_type"] == "NT_GNU_BUILD_ID" and note["n_name"] == "GNU":
                        return str(note["n_desc"])
            except Exception as error:  # pyelftools raises whatever its parsing runs into
                self.problems.append(f"A note section cannot be read: {_said(error)}.")
        return None

    @property
    def debug_link(self) -> tuple[str, int] | None:
        """The name and the CRC-32 of the separate debug file (`.gnu_debuglink`)."""
        section = self.section(".gnu_debuglink")
        content = bytes(self._bytes(section)) if section and section.size <= _LARGEST_NOTES else b""
        name = content.partition(b"\0")[0]
        checksum = content[(len(name) + 4) & ~3 :][:4]
        if not name or b"/" in name or len(checksum) < 4:
            return None
        return os.fsdecode(name), int.from_bytes(checksum, "little" if self._elf.little_endian else "big")

    @property
    def has_debug_lines(self) -> bool:
        return bool(self.section(".debug_info", ".zdebug_info") and self.section(".debug_line", ".zdebug_line"))

    @property
    def is_stripped(self) -> bool:
        """Whether there is no symbol table beside that of what is exported and imported."""
        return not any(section.kind == "SHT_SYMTAB" for section in self.sections)

    def symbols(self) -> SymbolTable:
        """The functions of `.symtab`, else of MiniDebugInfo and `.dynsym`, as far as they are inside the file."""
        table = next((s for s in self.sections if s.kind == "SHT_SYMTAB"), None)
        if table is None and (compressed := self.section(".gnu_debugdata")):
            embedded = self._mini_debug_info(compressed)
            if embedded is not None and len(embedded):
                return embedded
        table = table or next((s for s in self.sections if s.kind == "SHT_DYNSYM"), None)
        if table is None:
            self.problems.append("It has no symbol table.")
            return _empty_table()
        return self._read_symbols(table)

    def code(self, start: int, end: int) -> bytes:
        """The bytes at these addresses, as far as one section holds them."""
        for section in self.sections:
            if section.kind == "SHT_PROGBITS" and section.address <= start < section.address + section.size:
                first = start - section.address
                return bytes(self._bytes(section)[first : first + max(end - start, 0)])
        return b""

    def is_in(self, address: int, *sections: str) -> bool:
        """Whether an address is in a section of one of these names."""
        found = (section for section in self.sections if section.name in sections)
        return any(section.address <= address < section.address + section.size for section in found)

    def contents(self, kind: str) -> list[memoryview]:
        """The contents of all sections of a kind."""
        return [self._bytes(section) for section in self.sections if section.kind == kind]

    def dynamic_symbols(self) -> list[tuple[str, int]]:
        """Name and address (0: another binary's) of every dynamic symbol, in the order of the table."""
        table = next((s for s in self.sections if s.kind == "SHT_DYNSYM"), None)
        raw, names = self._raw_symbols(table) if table else (None, memoryview(b""))
        if raw is None:
            return []
        text = bytes(names)
        ends = ((offset, text.find(b"\0", offset)) for offset in raw["name"].tolist())
        decoded = (text[offset : end if end >= 0 else None].decode("utf-8", "replace") for offset, end in ends)
        return list(zip(decoded, raw["value"].tolist(), strict=True))

    def named_objects(self, prefix: str) -> dict[int, str]:
        """The mangled names that begin so, of functions and data of the symbol table, by address."""
        table = next((s for s in self.sections if s.kind == "SHT_SYMTAB"), None)
        table = table or next((s for s in self.sections if s.kind == "SHT_DYNSYM"), None)
        raw, names = self._raw_symbols(table) if table else (None, memoryview(b""))
        if raw is None:
            return {}
        text = bytes(names)
        found: dict[int, str] = {}
        position = text.find(prefix.encode())
        while position >= 0:
            end = text.find(b"\0", position)
            for value in raw["value"][raw["name"] == position].tolist():
                found[value] = text[position:end].decode("utf-8", "replace")
            position = text.find(prefix.encode(), end)
        return found

    def _read_sections(self) -> tuple[Section, ...]:
        count = self._guarded("section headers", self._elf.num_sections, 0)
        if count > _MOST_SECTIONS or self._elf["e_shoff"] + count * self._elf["e_shentsize"] > len(self._data):
            self.problems.append("The section headers are outside the file: it is truncated or damaged.")
            return ()
        found = (self._guarded(f"section {i}", lambda i=i: self._read_section(i), None) for i in range(count))
        return tuple(section for section in found if section)

    def _read_section(self, i: int) -> Section:
        section = self._elf.get_section(i)
        return Section(
            index=i,
            name=section.name,
            kind=str(section["sh_type"]),
            address=section["sh_addr"],
            offset=section["sh_offset"],
            size=section["sh_size"],
            link=section["sh_link"],
        )

    def _elf_sections(self, kind: str) -> list[Any]:
        found = (self._elf.get_section(section.index) for section in self.sections if section.kind == kind)
        return list(found)  # each was read once before, so none raises

    def _segments(self) -> list[Any]:
        count = self._guarded("program headers", self._elf.num_segments, 0)
        if self._elf["e_phoff"] + count * self._elf["e_phentsize"] > len(self._data):
            self.problems.append("The program headers are outside the file: it is truncated or damaged.")
            return []
        found = (self._guarded(f"segment {i}", lambda i=i: self._elf.get_segment(i), None) for i in range(count))
        return [segment for segment in found if segment]

    def _guarded(self, what: str, read: Any, otherwise: Any) -> Any:
        try:
            return read()
        except Exception as error:  # pyelftools raises whatever its parsing runs into
            self.problems.append(f"The {what} cannot be read: {_said(error)}.")
            return otherwise

    def _bytes(self, section: Section) -> memoryview:
        """A section's content, as much as is in the file."""
        if section.kind == "SHT_NOBITS":
            return self._data[:0]
        content = self._data[section.offset : section.offset + section.size]
        if len(content) < section.size:
            there = f"{len(content)} of its {section.size} bytes"
            self.problems.append(f"Section {section.name} is cut off: {there} are in the file.")
        return content

    def _mini_debug_info(self, section: Section) -> SymbolTable | None:
        """The symbols of the xz-compressed ELF file that Fedora embeds (GDB manual, "MiniDebugInfo")."""
        try:
            data = lzma.LZMADecompressor().decompress(bytes(self._bytes(section)), _LARGEST_MINI_DEBUG_INFO)
            return Elf(data, BytesIO(data)).symbols()
        except Exception as error:  # lzma, or pyelftools on what came out of it
            self.problems.append(f"The embedded symbols (.gnu_debugdata) cannot be read: {_said(error)}.")
            return None

    def _read_symbols(self, section: Section) -> SymbolTable:
        raw, names = self._raw_symbols(section)
        if raw is None:
            self.problems.append(f"The names of {section.name} are missing.")
            return _empty_table()
        ranges = {s.index: s.address + s.size for s in self.sections}
        return _function_table(raw, names, ranges)

    def _raw_symbols(self, section: Section) -> tuple[npt.NDArray[Any] | None, memoryview]:
        """A symbol table's rows and its strings; no rows where the strings are missing."""
        strings = next((s for s in self.sections if s.index == section.link), None)
        if strings is None:
            return None, self._data[:0]
        content = self._bytes(section)
        layout = _layout(self._elf.elfclass, self._elf.little_endian)
        return np.frombuffer(content, layout, count=len(content) // layout.itemsize), self._bytes(strings)


def _layout(bits: int, little: bool) -> np.dtype[Any]:
    order = "<" if little else ">"
    name, info = ("name", order + "u4"), [("info", "u1"), ("other", "u1"), ("section", order + "u2")]
    if bits == 64:
        return np.dtype([name, *info, ("value", order + "u8"), ("size", order + "u8")])
    return np.dtype([name, ("value", order + "u4"), ("size", order + "u4"), *info])


def _function_table(raw: npt.NDArray[Any], strings: memoryview, section_ends: dict[int, int]) -> SymbolTable:
    """The defined functions of a raw symbol table, one per address: the widest, and a global one before a local one."""
    kind = raw["info"] & 0xF
    section = raw["section"]
    defined = (section != _SHN_UNDEF) & (section < _SHN_LORESERVE) & (raw["name"] < len(strings)) & (raw["value"] > 0)
    chosen = np.flatnonzero(((kind == _STT_FUNC) | (kind == _STT_GNU_IFUNC)) & defined)
    if not len(chosen):
        return _empty_table()
    binding = raw["info"][chosen] >> 4
    rank = np.where(binding == _STB_GLOBAL, 0, np.where(binding == _STB_LOCAL, 2, 1))
    starts = raw["value"][chosen].astype(np.uint64)
    sizes = raw["size"][chosen].astype(np.uint64)
    order = np.lexsort((chosen, rank, ~sizes, starts))
    first = np.ones(len(order), bool)
    first[1:] = starts[order[1:]] != starts[order[:-1]]
    order = order[first]
    chosen, starts, sizes, rank = chosen[order], starts[order], sizes[order], rank[order]
    return SymbolTable(
        starts,
        _ends(starts, sizes, section[chosen], section_ends),
        raw["name"][chosen].astype(np.uint32),
        np.where(rank == 2, _units(raw, kind, chosen, len(strings)), -1),
        strings,
    )


def _ends(
    starts: npt.NDArray[np.uint64],
    sizes: npt.NDArray[np.uint64],
    sections: npt.NDArray[Any],
    section_ends: dict[int, int],
) -> npt.NDArray[np.uint64]:
    """Where each function ends. One without a size (assembly) runs to the next function; none leaves its section."""
    limit = np.full(1 << 16, np.iinfo(np.uint64).max, np.uint64)
    for index, end in section_ends.items():
        limit[index] = min(max(end, 0), np.iinfo(np.uint64).max)
    limits = limit[sections]
    following = np.append(starts[1:], np.iinfo(np.uint64).max)
    sized = starts + np.minimum(sizes, np.iinfo(np.uint64).max - starts)
    ends: npt.NDArray[np.uint64] = np.minimum(np.where(sizes == 0, following, sized), limits)
    return ends


def _units(
    raw: npt.NDArray[Any], kind: npt.NDArray[Any], chosen: npt.NDArray[Any], strings: int
) -> npt.NDArray[np.int64]:
    """The string offset of the STT_FILE symbol that each local symbol follows, -1 where it follows none."""
    files = np.flatnonzero((kind == _STT_FILE) & (raw["name"] < strings))
    if not len(files):
        return np.full(len(chosen), -1, np.int64)
    before = np.searchsorted(files, chosen) - 1
    return np.where(before >= 0, raw["name"][files[before]].astype(np.int64), -1)


def _empty_table() -> SymbolTable:
    addresses = np.empty(0, np.uint64)
    return SymbolTable(addresses, addresses, np.empty(0, np.uint32), np.empty(0, np.int64), memoryview(b""))


def _said(error: Exception) -> str:
    return (str(error) or type(error).__name__).rstrip(".")
