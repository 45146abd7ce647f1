"""Core files of Linux on x86-64.

Layouts: `struct elf_prstatus` in Linux's include/linux/elfcore.h, `siginfo_t` in include/uapi/asm-generic/siginfo.h.
"""

from __future__ import annotations

import os
import signal
import struct
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from elftools.elf.elffile import ELFFile
from elftools.elf.segments import NoteSegment

from framedex.base import words
from framedex.base.errors import FramedexError, SystemLimitError
from framedex.base.plaintext import make_printable
from framedex.base.regularfile import open_regular
from framedex.live.memory import Memory, MemoryRanges
from framedex.live.native.image import REGISTERS, FileMapping, ProcessImage, ThreadRegisters

_SIGNAL_AT, _TID_AT, _REGISTERS_AT = 12, 32, 112  # offsets in struct elf_prstatus
_SIGNAL_INFORMATION = struct.Struct(
    "<iiixxxxQ"
)  # siginfo_t: signal, error, cause (at most 0 if a process sent it), address
_FAULTS = (signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGFPE)
_AUXILIARY = struct.Struct("<QQ")
_AT_PHDR, _AT_SYSINFO_EHDR = 3, 33
_COMPRESSED = {
    b"\x28\xb5\x2f\xfd": "zstd -d",
    b"\x04\x22\x4d\x18": "lz4 -d",
    b"\xfd7zX": "xz -d",
    b"\x1f\x8b": "gunzip",
}
_END_OF_FILES = 1 << 63  # file offsets are lower
_MAX_SEGMENTS = 1 << 20
_MAX_NOTE_SEGMENTS = 4  # a valid core file has one
_MAX_NOTE_BYTES = 1 << 29  # limit of one note segment
_MAX_NOTES = 1 << 19
_MAX_THREADS = 1 << 15
_MAX_MAPPINGS = 1 << 18
_TRUNCATED_REMEDY = "Write the core file again, with enough disk space and without a size limit: ulimit -c unlimited"


@contextmanager
def open_core(path: Path) -> Iterator[ProcessImage]:
    """Read a core file, whose memory is readable in the context. Raises FramedexError if it cannot be read."""
    name = make_printable(str(path))
    try:
        file = open_regular(path)
    except OSError as error:
        remedy = "`sysctl kernel.core_pattern` shows where cores are written. With systemd: coredumpctl dump -o FILE"
        if isinstance(error, PermissionError):
            remedy = "A core file belongs to the user of its process: run this command as that user, or as root."
        raise FramedexError(f"{name} cannot be read: {error.strerror or error}.", remedy) from error
    with file:
        yield _read_image(name, file)


class CoreMemory(Memory):
    """The memory in a core file: the parts of a process that were written to it."""

    def __init__(self, descriptor: int, segments: Iterable[tuple[int, int, int]]) -> None:
        """`segments` have the address, the size and the offset in the file of each part."""
        self._descriptor = descriptor
        self._parts = MemoryRanges(each for each in segments if each[1] + each[2] < _END_OF_FILES)

    def read(self, address: int, size: int) -> bytes:
        """The bytes at an address."""
        content = b""
        while len(content) < size:
            position = address + len(content)
            offset, left, start = self._parts.find(position) or (0, 0, 0)
            part = os.pread(self._descriptor, min(left, size - len(content)), start + offset) if left else b""
            if not part:
                raise OSError(f"{position:#x} is not in the core file")
            content += part
        return content


def _read_image(name: str, file: BinaryIO) -> ProcessImage:
    elf = _open_elf(name, file)
    segments = _read_segments(elf)
    notes = _Notes(segments)
    if not notes.threads:
        raise FramedexError(f"{name} has no threads: it is truncated.", _TRUNCATED_REMEDY)
    loaded = [(s["p_vaddr"], s["p_filesz"], s["p_offset"]) for s in segments if s["p_type"] == "PT_LOAD"]
    missing = max((size + offset for _, size, offset in loaded), default=0) - os.fstat(file.fileno()).st_size
    problem = f"The core file is truncated: {words.format_size(missing)} are missing. {_TRUNCATED_REMEDY}."
    headers = notes.auxiliary.get(_AT_PHDR, 0)
    return ProcessImage(
        pid=notes.pid,
        command=notes.command,
        program=next((each.path for each in notes.mappings if each.start <= headers < each.end), ""),
        threads=tuple(notes.threads),
        mappings=notes.mappings,
        memory=CoreMemory(file.fileno(), loaded),
        vdso=notes.auxiliary.get(_AT_SYSINFO_EHDR),
        signal=notes.signal_name,
        fault_address=notes.fault_address,
        problem=problem if missing > 0 else "",
    )


def _open_elf(name: str, file: BinaryIO) -> ELFFile:
    start = file.read(4)
    for magic, command in _COMPRESSED.items():
        if start.startswith(magic):
            raise FramedexError(f"{name} is compressed.", f"Decompress it first: {command} FILE")
    try:
        elf = ELFFile(file)
        kind, machine, bits = elf["e_type"], elf["e_machine"], elf.elfclass
    except (SystemLimitError, MemoryError):
        raise
    except Exception as error:  # pyelftools raises many types of errors on other files
        raise FramedexError(
            f"{name} is not a core file.", "`framedex explain FILE` reads a crash text or a log."
        ) from error
    if kind != "ET_CORE":
        raise FramedexError(
            f"{name} is a program or a library, not a core file.", "Name the core file first: `framedex core FILE EXE`."
        )
    if machine != "EM_X86_64" or bits != 64:
        architecture = str(machine).removeprefix("EM_").lower()
        raise FramedexError(
            f"{name} is a core file of {architecture} ({bits} bits); only x86-64 is supported.",
            "Print the stacks with gdb on such a machine, and give the text to `framedex explain FILE`.",
        )
    return elf


def _read_segments(elf: ELFFile) -> list[Any]:
    """The segments of a core file; empty if they are outside of the file."""
    try:
        return list(islice(elf.iter_segments(), _MAX_SEGMENTS))
    except (SystemLimitError, MemoryError):
        raise
    except Exception:  # pyelftools raises many types of errors on truncated files
        return []


class _Notes:
    """The readable notes of a core file: threads, signal and file mappings."""

    def __init__(self, segments: Sequence[Any]) -> None:
        self.threads: list[ThreadRegisters] = []
        self.mappings: tuple[FileMapping, ...] = ()
        self.auxiliary: dict[int, int] = {}
        self.pid = 0
        self.command = ""
        self.signal_name = ""
        self.fault_address: int | None = None
        notes = (each for each in segments if isinstance(each, NoteSegment) and each["p_filesz"] <= _MAX_NOTE_BYTES)
        for segment in islice(notes, _MAX_NOTE_SEGMENTS):
            self._read_segment(segment)

    def _read_segment(self, segment: NoteSegment) -> None:
        try:
            for note in islice(segment.iter_notes(), _MAX_NOTES):
                self._read(str(note["n_type"]), note["n_descdata"], note["n_desc"])
        except (SystemLimitError, MemoryError):
            raise
        except Exception:  # pyelftools and struct raise many types of errors on truncated files
            return

    def _read(self, kind: str, content: bytes, parsed: Any) -> None:
        match kind:
            case "NT_PRSTATUS" if len(self.threads) < _MAX_THREADS:
                self._read_thread(content)
            case "NT_PRPSINFO":
                self.command = parsed["pr_psargs"].decode("utf-8", "replace").strip("\0 ")
                self.pid = parsed["pr_pid"]
            case "NT_AUXV":
                self.auxiliary = dict(_AUXILIARY.iter_unpack(content[: len(content) & -_AUXILIARY.size]))
            case "NT_SIGINFO":
                number, _, cause, address = _SIGNAL_INFORMATION.unpack_from(content)
                self.fault_address = address if number in _FAULTS and cause > 0 else None
            case "NT_FILE":
                self.mappings = tuple(islice(_read_file_mappings(parsed), _MAX_MAPPINGS))

    def _read_thread(self, status: bytes) -> None:
        values = struct.unpack_from(f"<{len(REGISTERS)}Q", status, _REGISTERS_AT)
        registers = {name: value for name, value in zip(REGISTERS, values, strict=True) if name is not None}
        if not self.threads:
            self.signal_name = _name_signal(int.from_bytes(status[_SIGNAL_AT : _SIGNAL_AT + 2], "little"))
        self.threads.append(ThreadRegisters(int.from_bytes(status[_TID_AT : _TID_AT + 4], "little"), registers))


def _name_signal(number: int) -> str:
    """The name of a signal; empty for 0, which `gcore` writes for a process that keeps running."""
    with suppress(ValueError):
        return signal.Signals(number).name if number else ""
    return f"signal {number}"


def _read_file_mappings(files: Any) -> Iterator[FileMapping]:
    for each, name in zip(files["Elf_Nt_File_Entry"], files["filename"], strict=True):
        start, end, pages = each["vm_start"], each["vm_end"], each["page_offset"]
        yield FileMapping(start, end, pages * files["page_size"], os.fsdecode(name))
