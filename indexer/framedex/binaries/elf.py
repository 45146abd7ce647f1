"""Robust reader of ELF files: sections, segments, build-id and symbol tables.

pyelftools reads the structure; symbols are a numpy view of the mapped file. Layouts: the ELF-64 gABI (`Elf64_Sym`,
`Elf32_Sym`).
"""

from __future__ import annotations

import mmap
import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import NoteSection
from elftools.elf.segments import NoteSegment

from framedex.base.regularfile import open_regular

_MAX_SECTIONS = 1 << 16  # e_shnum has 16 bits; a damaged section 0 could claim 2^64
_MAX_NOTE_BYTES = 1 << 20
_ARCHITECTURES = {"EM_X86_64": "x86_64", "EM_AARCH64": "aarch64"}


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


class RawSymbols(NamedTuple):
    """A raw symbol table: rows of `Elf64_Sym` or `Elf32_Sym`, their names, and the end address of each section."""

    rows: npt.NDArray[Any]
    strings: memoryview
    section_ends: dict[int, int]


class Elf:
    """An open ELF file. Methods never raise on damaged content; `problems` lists the unreadable parts."""

    def __init__(self, data: mmap.mmap | bytes, stream: BinaryIO) -> None:
        """Raises ELFError or another elftools error if the header is unreadable."""
        self.problems: list[str] = []
        self._data = memoryview(data)
        self._elf = ELFFile(stream)
        self.sections = self._read_sections()

    @classmethod
    def open(cls, path: Path) -> Elf:
        """Map a file. Raises OSError, ValueError (empty file) or an elftools error if it is not an ELF file."""
        with open_regular(path) as file:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        return cls(mapped, mapped)  # type: ignore[arg-type]  # a mapping has the methods that pyelftools uses

    def section(self, *names: str) -> Section | None:
        """The first section with one of these names; None if there is none."""
        return next((s for s in self.sections if s.name in names), None)

    @property
    def load_address(self) -> int:
        """The lowest address of a loaded segment: 0 for shared objects, 0x400000 for most fixed executables."""
        addresses = [s["p_vaddr"] for s in self._segments if s["p_type"] == "PT_LOAD"]
        return min(addresses, default=0)

    @property
    def architecture(self) -> str:
        """The architecture of 64-bit code that framedex decodes, `x86_64` or `aarch64`; empty for others."""
        return _ARCHITECTURES.get(self._elf["e_machine"], "") if self._elf.elfclass == 64 else ""

    def segment_around(self, address: int) -> tuple[int, memoryview]:
        """The start address of the segment around an address, and the bytes of the segment that the file has."""
        for begin, size, at in self._loaded_segments:
            if begin <= address < begin + size:
                return begin, self._data[at : at + size]
        return address, self._data[:0]

    def address_of(self, offset: int) -> int | None:
        """The address at which a byte of the file is loaded; None if no segment loads it."""
        found = (begin + offset - at for begin, size, at in self._loaded_segments if at <= offset < at + size)
        return next(found, None)

    def content(self, start: int, end: int) -> bytes:
        """The bytes loaded at addresses [start, end); fewer if the file is truncated."""
        address, loaded = self.segment_around(start)
        return bytes(loaded[start - address : end - address])

    @cached_property
    def _loaded_segments(self) -> list[tuple[int, int, int]]:
        """Address, size in the file and file offset of each loaded segment."""
        return [(s["p_vaddr"], s["p_filesz"], s["p_offset"]) for s in self._segments if s["p_type"] == "PT_LOAD"]

    @property
    def build_id(self) -> str | None:
        """The GNU build-id in hex, from a note section or, without section headers, from a note segment."""
        for part in [*self._elf_sections("SHT_NOTE"), *self._segments]:
            if not isinstance(part, NoteSection | NoteSegment):
                continue
            size = part["sh_size"] if isinstance(part, NoteSection) else part["p_filesz"]
            if size > _MAX_NOTE_BYTES:
                continue
            try:
                for note in part.iter_notes():
                    if note["n_type"] == "NT_GNU_BUILD_ID" and note["n_name"] == "GNU":
                        return str(note["n_desc"])
            except Exception as error:  # pyelftools raises many types of errors on malformed files
                self.problems.append(f"A note section cannot be read: {format_error(error)}.")
        return None

    @property
    def debug_link(self) -> tuple[str, int] | None:
        """The name and the CRC-32 of the separate debug file (`.gnu_debuglink`)."""
        section = self.section(".gnu_debuglink")
        content = bytes(self.section_content(section)) if section and section.size <= _MAX_NOTE_BYTES else b""
        name = content.partition(b"\0")[0]
        checksum = content[(len(name) + 4) & ~3 :][:4]
        if not name or b"/" in name or len(checksum) < 4:
            return None
        return os.fsdecode(name), int.from_bytes(checksum, "little" if self._elf.little_endian else "big")

    @cached_property
    def compiler(self) -> str:
        """The compiler, `clang` or `gcc`, from `.comment`; clang if both appear, as start-up code is from gcc."""
        content = self._comment_section
        return "clang" if b"clang version" in content else "gcc" if b"GCC: " in content else ""

    @property
    def has_debug_lines(self) -> bool:
        """Whether the file has DWARF line tables."""
        return bool(self.section(".debug_info", ".zdebug_info") and self.section(".debug_line", ".zdebug_line"))

    @property
    def machine(self) -> tuple[str, int, bool]:
        """The target machine: architecture, bits of an address, and whether it is little-endian."""
        return str(self._elf["e_machine"]), int(self._elf.elfclass), self.is_little_endian

    @property
    def is_little_endian(self) -> bool:
        """Whether numbers are stored with the least significant byte first."""
        return bool(self._elf.little_endian)

    @property
    def unwind_header(self) -> int | None:
        """The address of `.eh_frame_hdr`, from its segment."""
        return next((int(s["p_vaddr"]) for s in self._segments if s["p_type"] == "PT_GNU_EH_FRAME"), None)

    @property
    def dynamic_segment(self) -> tuple[int, int] | None:
        """The address and the size of the dynamic segment; None for a static binary."""
        found = (s for s in self._segments if s["p_type"] == "PT_DYNAMIC")
        return next(((int(s["p_vaddr"]), int(s["p_filesz"])) for s in found), None)

    @property
    def compilers(self) -> tuple[str, ...]:
        """The compilers that object files record in `.comment`, each once: `GCC: (Debian 12.2.0-14) 12.2.0`."""
        return tuple(
            dict.fromkeys(text.decode("utf-8", "replace") for text in self._comment_section.split(b"\0") if text)
        )

    @cached_property
    def _comment_section(self) -> bytes:
        section = self.section(".comment")
        return bytes(self.section_content(section)) if section and section.size <= _MAX_NOTE_BYTES else b""

    def symbols(self, kind: str) -> RawSymbols | None:
        """The symbol table of a kind (`SHT_SYMTAB`, `SHT_DYNSYM`); None if missing."""
        table = next((section for section in self.sections if section.kind == kind), None)
        if table is None:
            return None
        strings = next((section for section in self.sections if section.index == table.link), None)
        if strings is None:
            self.problems.append(f"The names of {table.name} are missing.")
            return None
        content = self.section_content(table)
        layout = _symbol_layout(self._elf.elfclass, self._elf.little_endian)
        rows = np.frombuffer(content, layout, count=len(content) // layout.itemsize)
        ends = {section.index: section.address + section.size for section in self.sections}
        return RawSymbols(rows, self.section_content(strings), ends)

    def code(self, start: int, end: int) -> bytes:
        """The bytes at addresses [start, end), up to the end of the section around `start`."""
        for section in self.sections:
            if section.kind == "SHT_PROGBITS" and section.address <= start < section.address + section.size:
                first = start - section.address
                return bytes(self.section_content(section)[first : first + max(end - start, 0)])
        return b""

    def is_in_section(self, address: int, *sections: str) -> bool:
        """Whether an address is in a section with one of these names."""
        found = (section for section in self.sections if section.name in sections)
        return any(section.address <= address < section.address + section.size for section in found)

    def contents(self, kind: str) -> list[memoryview]:
        """The contents of all sections of a kind."""
        return [self.section_content(section) for section in self.sections if section.kind == kind]

    def dynamic_symbols(self) -> list[tuple[str, int]]:
        """Name and address (0: defined in another binary) of every dynamic symbol, in table order."""
        table = self.symbols("SHT_DYNSYM")
        if table is None:
            return []
        text = bytes(table.strings)
        ends = ((offset, text.find(b"\0", offset)) for offset in table.rows["name"].tolist())
        decoded = (text[offset : end if end >= 0 else None].decode("utf-8", "replace") for offset, end in ends)
        return list(zip(decoded, table.rows["value"].tolist(), strict=True))

    def _read_sections(self) -> tuple[Section, ...]:
        count = self._read_or_report("section headers", self._elf.num_sections, 0)
        if count > _MAX_SECTIONS or self._elf["e_shoff"] + count * self._elf["e_shentsize"] > len(self._data):
            self.problems.append("The section headers are outside the file: it is truncated or damaged.")
            return ()
        found = (self._read_or_report(f"section {i}", lambda i=i: self._read_section(i), None) for i in range(count))
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
        return list(found)  # `_read_sections` has read each section without an error

    @cached_property
    def _segments(self) -> list[Any]:
        count = self._read_or_report("program headers", self._elf.num_segments, 0)
        if self._elf["e_phoff"] + count * self._elf["e_phentsize"] > len(self._data):
            self.problems.append("The program headers are outside the file: it is truncated or damaged.")
            return []
        found = (self._read_or_report(f"segment {i}", lambda i=i: self._elf.get_segment(i), None) for i in range(count))
        return [segment for segment in found if segment]

    def _read_or_report(self, part: str, read: Any, default: Any) -> Any:
        try:
            return read()
        except Exception as error:  # pyelftools raises many types of errors on malformed files
            self.problems.append(f"The {part} cannot be read: {format_error(error)}.")
            return default

    def section_content(self, section: Section) -> memoryview:
        """A section's content; shorter if the file is truncated."""
        if section.kind == "SHT_NOBITS":
            return self._data[:0]
        content = self._data[section.offset : section.offset + section.size]
        if len(content) < section.size:
            self.problems.append(
                f"Section {section.name} is truncated: the file has {len(content)} of its {section.size} bytes."
            )
        return content


def _symbol_layout(bits: int, little: bool) -> np.dtype[Any]:
    order = "<" if little else ">"
    name, info = ("name", order + "u4"), [("info", "u1"), ("other", "u1"), ("section", order + "u2")]
    if bits == 64:
        return np.dtype([name, *info, ("value", order + "u8"), ("size", order + "u8")])
    return np.dtype([name, ("value", order + "u4"), ("size", order + "u4"), *info])


def format_error(error: Exception) -> str:
    """The text of an exception without a final period; its type if it has no text."""
    return (str(error) or type(error).__name__).rstrip(".")
