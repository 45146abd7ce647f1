"""The CPython of another process: its address, its version, and the offsets in its structures."""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from framedex.base.memory_maps import find_root, read_maps
from framedex.base.regularfile import open_regular
from framedex.live.memory import Memory

_ELF_HEADER = struct.Struct("<5s11xHHIQQQIHHHHHH")
_SECTION_HEADER = struct.Struct("<IIQQQQ")  # first members: name, type, flags, address, offset, size
_PROGRAM_HEADER = struct.Struct("<IIQQ")  # first members: type, flags, offset, address
_LOADABLE = 1  # PT_LOAD
_RUNTIME_SECTION = b".PyRuntime"  # contains only the variable _PyRuntime
_MAX_NAMES_BYTES = 1 << 20
_PYTHON_BINARY = re.compile(r"/(?:lib)?python3\.(\d+)[^/]*$")
_COOKIE = b"xdebugpy"
_STATES = ("runtime.", "interpreter.")
_MAX_STATE_BYTES, _MAX_OFFSET = 1 << 24, 1 << 16  # maximum offset in the structures of _STATES, and in other structures

# The members of _Py_DebugOffsets after its cookie, in order, up to the last one that is used: CPython's
# Include/internal/pycore_runtime.h (3.13) and pycore_debug_offsets.h (3.14 and 3.15).
_HEAD = "version free_threaded runtime.size runtime.finalizing runtime.interpreters_head"
_INTERPRETER = "interpreter.size interpreter.id interpreter.next interpreter.threads_head"
_GIL = (
    "interpreter.gc interpreter.modules interpreter.sysdict interpreter.builtins interpreter.gil_pointer"
    " interpreter.gil interpreter.gil_enabled interpreter.gil_locked interpreter.gil_holder"
)
_THREAD = "thread.size thread.previous thread.next thread.interpreter thread.current_frame"
_THREAD_IDS = "thread.id thread.native_id thread.datastack_chunk thread.status"
_FRAME = "frame.size frame.previous frame.code frame.instruction frame.locals frame.owner"
_CODE = (
    "code.size code.filename code.name code.qualname code.line_table code.first_line code.argument_count"
    " code.local_names code.local_kinds code.instructions"
)
_GENERATIONS = "interpreter.code_generation interpreter.tlbc_generation"
_THREAD_315 = "thread.base_frame thread.profiled_frame thread.profiled_frame_sequence"
_THREAD_END_315 = "thread.holds_gil thread.gil_requested thread.exception thread.exception_state exception.value"
_FRAME_END_314 = "frame.stack_pointer frame.tlbc"
_DEBUG_OFFSETS = {
    13: f"{_HEAD} {_INTERPRETER} {_GIL} {_THREAD} {_THREAD_IDS} {_FRAME} {_CODE}",
    14: (
        f"{_HEAD} {_INTERPRETER} interpreter.threads_main {_GIL} {_GENERATIONS} {_THREAD} {_THREAD_IDS}"
        f" {_FRAME} {_FRAME_END_314} {_CODE}"
    ),
    15: (
        f"{_HEAD} {_INTERPRETER} interpreter.threads_main {_GIL} {_GENERATIONS} {_THREAD} {_THREAD_315}"
        f" {_THREAD_IDS} {_THREAD_END_315} {_FRAME} {_FRAME_END_314} {_CODE}"
    ),
}
# Offsets that _Py_DebugOffsets lacks. They are the same from 3.12 to 3.15 (cpython_layout.json).
_COMMON_OFFSETS = {
    "code.local_count": 72,
    "code.stack_size": 64,
    "code.exception_table": 40,
    "text.ascii_data": 40,
    "text.compact_data": 56,
}
_SUPPORTED = f"3.11 to 3.{max(_DEBUG_OFFSETS)} are"


class UnknownRuntimeError(Exception):
    """Raised if framedex cannot read the CPython of a process; the text is the reason."""


@dataclass(frozen=True, slots=True)
class Runtime:
    """The CPython of a process: the `address` of _PyRuntime, its `minor` version, and offsets in bytes by name."""

    address: int
    minor: int
    offsets: Mapping[str, int]

    @classmethod
    def find(cls, memory: Memory, binaries: Iterable[MappedBinary]) -> Runtime:
        """Raises UnknownRuntimeError if no binary has CPython, and OSError if the process ends meanwhile."""
        for path, base, file in binaries:
            with suppress(OSError, struct.error, ValueError):
                offset = _find_runtime(file)
                if offset is not None:
                    return cls(base + offset, *_read_offsets(memory, base + offset, path))
        raise UnknownRuntimeError("it is not a Python program")


class MappedBinary(NamedTuple):
    """A binary of a process: its path there, its load address, and its file here."""

    path: str
    base: int
    file: Path


def is_python_binary(path: str) -> bool:
    """Whether a path may be that of CPython, by its name."""
    return _PYTHON_BINARY.search(path) is not None


def find_python_binaries(pid: int) -> Iterator[MappedBinary]:
    """Each loaded binary of a living process that may contain CPython. Raises OSError if the process ends meanwhile.

    The process may also have mapped the file as data, without code.
    """
    program = str(Path(f"/proc/{pid}/exe").readlink())
    root = find_root(pid)
    starts: dict[str, int] = {}
    known: set[str] = set()
    for start, _, is_executable, offset, path in read_maps(pid):
        if path in known or not (path == program or is_python_binary(path)):
            continue
        if offset == 0:
            starts[path] = start
        if is_executable and path in starts:
            known.add(path)
            yield MappedBinary(path, starts[path], root / path.lstrip("/"))


def _find_runtime(file: Path) -> int | None:
    """The offset of _PyRuntime from the load address of an ELF file; None if it has none.

    The ELF reader of `framedex.binaries` would take too long to import. Raises OSError, struct.error or ValueError
    for a malformed file.
    """
    with open_regular(file) as binary:
        magic, *_, programs_at, sections_at, _, _, program_size, programs, section_size, sections, names = (
            _ELF_HEADER.unpack(binary.read(_ELF_HEADER.size))
        )
        if magic != b"\x7fELF\x02":
            return None
        binary.seek(sections_at)
        headers = [_SECTION_HEADER.unpack_from(binary.read(section_size)) for _ in range(sections)]
        if names >= len(headers):
            return None
        binary.seek(headers[names][4])
        texts = binary.read(min(headers[names][5], _MAX_NAMES_BYTES))
        address = next((each[3] for each in headers if _read_name(texts, each[0]) == _RUNTIME_SECTION), None)
        if address is None:
            return None
        binary.seek(programs_at)
        segments = [_PROGRAM_HEADER.unpack_from(binary.read(program_size)) for _ in range(programs)]
    return int(address - min(each[3] - each[2] for each in segments if each[0] == _LOADABLE))


def _read_name(names: bytes, offset: int) -> bytes:
    return names[offset : names.find(b"\0", offset)]


def _read_offsets(memory: Memory, runtime: int, path: str) -> tuple[int, Mapping[str, int]]:
    """The minor version of the CPython whose _PyRuntime is at an address, and its offsets.

    From 3.13 on, _PyRuntime begins with them. Raises UnknownRuntimeError for an unsupported version.
    """
    if memory.read(runtime, len(_COOKIE)) != _COOKIE:
        layouts = json.loads(Path(__file__).with_name("cpython_layout.json").read_text("utf-8"))["layouts"]
        version = f"3.{match[1]}" if (match := _PYTHON_BINARY.search(path)) else "an unknown version"
        if version not in layouts:
            raise UnknownRuntimeError(f"its Python is not supported ({version}): {_SUPPORTED}")
        return int(version[2:]), layouts[version]
    version_number = memory.word(runtime + len(_COOKIE))
    major, minor = version_number >> 24, version_number >> 16 & 0xFF
    if major != 3 or minor not in _DEBUG_OFFSETS:
        raise UnknownRuntimeError(f"its Python is not supported ({major}.{minor}): {_SUPPORTED}")
    names = _DEBUG_OFFSETS[minor].split()
    offsets = dict(zip(names, memory.words(runtime + len(_COOKIE), len(names)), strict=True))
    limits = {
        name: _MAX_STATE_BYTES if name.startswith(_STATES) else _MAX_OFFSET for name in names if name != "version"
    }
    if any(offsets[name] > limit for name, limit in limits.items()):
        raise UnknownRuntimeError("its structures are damaged")
    if offsets["free_threaded"]:
        raise UnknownRuntimeError("free-threaded Python is not supported")
    return minor, offsets | _COMMON_OFFSETS
