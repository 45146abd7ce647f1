"""The binaries that a process had mapped, compared with the files of this machine."""

from __future__ import annotations

from bisect import bisect_right
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO
from pathlib import Path

from framedex.base.errors import SystemLimitError
from framedex.base.plaintext import make_printable
from framedex.base.regularfile import open_regular
from framedex.binaries.binary import Binary
from framedex.binaries.elf import Elf
from framedex.binaries.loaded_tables import FunctionExtents
from framedex.live.memory import Memory
from framedex.live.native.image import FileMapping, ProcessImage

_ELF_MAGIC = b"\x7fELF"
VDSO = "[vdso]"
"""The name of the library that the kernel maps into each process. It has no file."""

_PAGE_BYTES = 4096
_MAX_VDSO_BYTES = 8 * _PAGE_BYTES
_HEADER_BYTES = (
    _PAGE_BYTES  # the first page of a binary has its build-id; the kernel writes this page into each core file
)
_SECTIONS_AT, _SECTION_COUNT_AT, _NAMES_END = 40, 60, 64  # in an Elf64_Ehdr


@dataclass(eq=False)
class Module:
    """A binary of a process: its path there, its load address, and its file here.

    `build_id` is that of the process; empty if unknown. `elf` is None if the file here is missing or
    another build, and `problem` is the reason. A binary whose build cannot be checked has both.
    """

    path: str
    base: int
    file: Path
    build_id: str
    elf: Elf | None
    problem: str = ""

    @property
    def is_without_file(self) -> bool:
        """Whether the binary has no file: the kernel itself provides it."""
        return self.path == VDSO

    @cached_property
    def binary(self) -> Binary:
        """The functions and source lines of the binary."""
        return Binary(self.file, self.elf)

    @cached_property
    def extents(self) -> FunctionExtents | None:
        """The functions of the binary and their unwind entries."""
        return FunctionExtents(self.elf) if self.elf is not None else None


class Modules(Memory):
    """The binaries of a process by address, and its memory, completed from the binaries."""

    def __init__(self, image: ProcessImage, executable: Path | None = None) -> None:
        """`executable` is the file of the program here, by default its path in the process."""
        self._image, self._executable = image, executable
        self._mappings = sorted(image.mappings)
        self._starts = [each.start for each in self._mappings]
        self._bases: dict[str, int] = {}
        for each in self._mappings:
            if each.offset == 0:
                self._bases.setdefault(each.path, each.start)
        self._known: dict[str, Module | None] = {}
        self._vdso_size = 0

    def find(self, address: int) -> tuple[Module, int | None] | None:
        """The binary at an address, and the address in its ELF file (None without that file); None if none is there."""
        mapping = self._mapping_at(address)
        module = self.module(mapping.path) if mapping is not None else self._vdso
        if module is None:
            return None
        if mapping is None:
            is_inside = 0 <= address - module.base < self._vdso_size
            return (module, address - module.base) if is_inside else None
        return module, module.elf.address_of(address - mapping.start + mapping.offset) if module.elf else None

    def is_mapped(self, address: int) -> bool:
        """Whether an address is in a mapped file, or readable."""
        try:
            return self._mapping_at(address) is not None or bool(self._image.memory.read(address, 1))
        except OSError:
            return False

    def read(self, address: int, size: int) -> bytes:
        """The bytes at an address. A core lacks the parts of binaries that are never written."""
        try:
            return self._image.memory.read(address, size)
        except OSError:
            found = self.find(address)
            module, position = found or (None, None)
            if module is None or module.elf is None or position is None:
                raise
            content = module.elf.content(position, position + size)
            if len(content) < size:
                raise
            return content

    @property
    def problems(self) -> tuple[str, ...]:
        """A sentence about each binary that was needed and is missing or another build."""
        return tuple(each.problem for each in self._known.values() if each is not None and each.problem)

    def _mapping_at(self, address: int) -> FileMapping | None:
        found = bisect_right(self._starts, address) - 1
        return self._mappings[found] if found >= 0 and address < self._mappings[found].end else None

    def module(self, path: str) -> Module | None:
        """The binary at a path of the process; None for another kind of file."""
        if path not in self._known:
            self._known[path] = self._open_module(path)
        return self._known[path]

    def _open_module(self, path: str) -> Module | None:
        base = self._bases.get(path)
        if base is None:
            return None
        try:
            header = self._image.memory.read(base, _HEADER_BYTES)
        except OSError:
            header = b""
        if header and not header.startswith(_ELF_MAGIC):
            return None
        build_id = _read_build_id(header)
        is_program = path == self._image.program
        named = self._executable if is_program else None
        file = named or self._image.root / path.lstrip("/")
        try:
            elf = Elf.open(file)
        except (SystemLimitError, MemoryError):
            raise
        except Exception as error:  # missing, or not ELF: pyelftools raises many types of errors
            if not header:
                return None
            problem = "is not here" if isinstance(error, FileNotFoundError) else "cannot be read"
        else:
            if not header:
                unchecked = (
                    f"{make_printable(str(file))} may be a different build from the process's: it cannot be checked."
                )
                return Module(path, base, file, build_id, elf, unchecked)
            if elf.build_id == build_id if build_id else _begins_with(header, file):
                return Module(path, base, file, build_id, elf)
            problem = "is a different build from the process's"
        remedy = " Name its file: `framedex core FILE EXE`." if is_program else " Its functions are unknown."
        return Module(path, base, file, build_id, None, f"{make_printable(str(file))} {problem}.{remedy}")

    @cached_property
    def _vdso(self) -> Module | None:
        address, content = self._image.vdso, b""
        with suppress(OSError):
            while address and len(content) < _MAX_VDSO_BYTES:
                content += self._image.memory.read(address + len(content), _PAGE_BYTES)
        elf = _parse_elf(content)
        self._vdso_size = len(content)
        return Module(VDSO, address, Path(VDSO), "", elf) if address and elf is not None else None


def _begins_with(header: bytes, file: Path) -> bool:
    """Whether the first page of a binary in a process, which has no build-id there, is that of a file."""
    with open_regular(file) as binary:
        return header.startswith(binary.read(_HEADER_BYTES))


def _read_build_id(header: bytes) -> str:
    """The build-id in the first page of a binary; empty if there is none."""
    if len(header) < _NAMES_END:
        return ""
    page = bytearray(header)  # the section headers are not in the page
    page[_SECTIONS_AT : _SECTIONS_AT + 8] = bytes(8)
    page[_SECTION_COUNT_AT:_NAMES_END] = bytes(4)
    elf = _parse_elf(bytes(page))
    return (elf.build_id or "") if elf is not None else ""


def _parse_elf(content: bytes) -> Elf | None:
    try:
        return Elf(content, BytesIO(content))
    except (SystemLimitError, MemoryError):
        raise
    except Exception:  # pyelftools raises many types of errors on malformed files
        return None
