"""A small synthetic recorded program: `demo.py` calls into a library, three times from two places."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import CodeType

import numpy as np
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from framedex.binaries import Binary
from framedex.captures import compute_fingerprint
from framedex.index import Index, Store
from framedex.ingest import CaptureFrameNamer, SilentProgress, find_sources
from framedex.model import (
    Calls,
    Capture,
    CodeObject,
    Function,
    MergeOutcome,
    Metadata,
    Module,
    NativeFrame,
    PythonFrame,
    Stack,
    Thread,
)
from tests.oracle.whole_captures import add_capture

LIBRARY_SOURCE = """\
#include <cstddef>

namespace runtime {

static inline __attribute__((always_inline)) std::size_t padded(std::size_t size) {
  volatile std::size_t result = size + 7;
  return result;
}

__attribute__((noinline)) std::size_t allocate(std::size_t size) {
  return padded(size);
}

}  // namespace runtime

extern "C" std::size_t PJRT_Client_BufferFromHostBuffer(std::size_t size) {
  return runtime::allocate(size) + 1;
}
"""

# The same functions without debug information: their locations come from source trees.
STRIPPED_SOURCE = """\
namespace glue {
__attribute__((noinline)) int convert(int value) { volatile int copy = value; return copy; }
__attribute__((noinline)) int twice(int value) { volatile int copy = value; return 2 * copy; }
}
"""

PROGRAM = """\
def transfer(value):
    return put(value)


def put(value):
    return value


def main():
    transfer(1)
    transfer(2)


main()  # start
"""


@dataclass(frozen=True)
class Project:
    """The folder of a program, its capture, and the path of the index."""

    folder: Path
    library: Path
    program: Path
    capture: Capture

    @property
    def index(self) -> Path:
        return self.folder / ".framedex" / "index.db"

    @property
    def library_source(self) -> Path:
        return self.library.with_name("runtime.cc")

    def line(self, text: str) -> int:
        """The 1-based number of the first line of the program that holds the text."""
        return next(number for number, line in enumerate(PROGRAM.splitlines(), 1) if text in line)

    def ingest(self, *roots: Path, capture: Capture | None = None) -> Index:
        """Index the capture (or the one given), with these source roots, and open the index."""
        with Store(self.index) as store:
            add_capture(store, capture or self.capture, CaptureFrameNamer())
            with store.transaction():
                for root in roots:
                    store.sources.add_root(str(root))
            find_sources(store, SilentProgress())
        return Index.open(self.index)

    def again(self, name: str, **changes: object) -> Capture:
        """The same run recorded once more, with another name and some changed fields."""
        return replace(self.capture, path=self.capture.path.with_name(name), **changes)  # type: ignore[arg-type]


def build_library(folder: Path) -> Path:
    """Compile the library (with DWARF) and its stripped companion `libglue.so`."""
    (folder / "runtime.cc").write_text(LIBRARY_SOURCE)
    (folder / "glue.cc").write_text(STRIPPED_SOURCE)
    flags = ["-shared", "-fPIC", "-O1", "-fno-optimize-sibling-calls"]
    _make_older(folder / "runtime.cc")
    for arguments in (
        [*flags, "-g", "-Wl,--build-id", "runtime.cc", "-o", "libruntime.so"],
        [*flags, "-Wl,--build-id=none", "glue.cc", "-o", "libglue.so"],
    ):
        subprocess.run(["g++", *arguments], cwd=folder, check=True)
    return folder / "libruntime.so"


def build_elsewhere(folder: Path, prefix: str) -> Path:
    """Compile the library as if its source was in the folder `prefix` of a build machine.

    The source is missing here.
    """
    folder.mkdir(parents=True)
    (folder / "runtime.cc").write_text(LIBRARY_SOURCE)
    (folder / "glue.cc").write_text(STRIPPED_SOURCE)
    flags = ["-shared", "-fPIC", "-O1", "-fno-optimize-sibling-calls", "-g", "-Wl,--build-id"]
    for name in ("runtime", "glue"):
        mapped = f"-ffile-prefix-map={folder}={prefix}"
        command = ["g++", *flags, mapped, str(folder / f"{name}.cc"), "-o", str(folder / f"lib{name}.so")]
        subprocess.run(command, cwd=folder, check=True)
        (folder / f"{name}.cc").unlink()
    return folder / "libruntime.so"


def build_project(folder: Path, library: Path) -> Project:
    """Write the program and a synthetic capture of its run."""
    program = folder / "demo.py"
    program.write_text(PROGRAM)
    _make_older(program)
    codes = {code.co_qualname: code for code in _codes(compile(PROGRAM, str(program), "exec"))}
    names = list(codes)
    frames: list[PythonFrame | NativeFrame] = []

    def python(name: str, text: str) -> int:
        line = next(number for number, source in enumerate(PROGRAM.splitlines(), 1) if text in source)
        frames.append(_frame_on_line(codes[name], names.index(name), line))
        return len(frames) - 1

    def native(module: int, symbol: str) -> int:
        path = (library, library.with_name("libglue.so"))[module]
        frames.append(NativeFrame(module, middle_of(path, symbol)))
        return len(frames) - 1

    module_frame = python("<module>", "main()  # start")
    first, second = python("main", "transfer(1)"), python("main", "transfer(2)")
    transfer, put = python("transfer", "return put"), python("put", "return value")
    convert = native(1, "_ZN4glue7convertEi")
    boundary = native(0, "PJRT_Client_BufferFromHostBuffer")
    allocate = native(0, "_ZN7runtime8allocateEm")
    stacks = (
        Stack((allocate, boundary, convert, put, transfer, first, module_frame)),
        Stack((allocate, boundary, convert, put, transfer, second, module_frame)),
        Stack((boundary, convert), (put, transfer, second, module_frame), MergeOutcome.NO_HOST),
    )
    arguments = [{"type": "F32", "dims": [2, 3], "bytes": 24}, {"type": "S8", "dims": [], "bytes": 1}]
    order = (0, 0, 1, 2)
    capture = Capture(
        path=folder / ".framedex" / "captures" / "first",
        metadata=Metadata(started_unix_ns=1_700_000_000_000_000_000, argv=("python", "demo.py"), cwd=str(folder)),
        modules=(module_of(library), module_of(library.with_name("libglue.so"))),
        codes=tuple(
            CodeObject(code.co_filename, code.co_qualname, code.co_firstlineno, code.co_linetable)
            for code in codes.values()
        ),
        frames=tuple(frames),
        stacks=stacks,
        functions=(Function("pjrt", "PJRT_Client_BufferFromHostBuffer"), Function("pjrt", "PJRT_Error_Destroy")),
        threads=(Thread(100, "MainThread"), Thread(101, "")),
        calls=Calls(
            thread=np.array([0, 0, 0, 1], np.uint32),
            function=np.array([0, 0, 0, 1], np.uint32),
            stack=np.array(order, np.uint32),
            start=np.array([1_000, 2_000, 3_000, 2_000_000_000], np.int64),
            duration=np.array([500, 700, 900, -1], np.int64),
            error=np.array([0, 0, 8, -1], np.int32),
            arguments=tuple(json.dumps(arguments[index % 2]) for index in range(len(order))),
        ),
        problems=(),
    )
    return Project(folder, library, program, capture)


def _make_older(source: Path) -> None:
    """Give a source a time before the recording, as if it was never changed."""
    os.utime(source, (1_600_000_000, 1_600_000_000))


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _frame_on_line(code: CodeType, index: int, line: int) -> PythonFrame:
    instruction = next(start for start, _, found in code.co_lines() if found == line)
    return PythonFrame(index, instruction, line)


def module_of(path: Path) -> Module:
    """A library as a capture describes it."""
    return Module(str(path), 0x7F0000000000, path.stat().st_size, Binary.open(path).build_id, compute_fingerprint(path))


def middle_of(path: Path, symbol: str) -> int:
    """An address within a function, as a return address from the load base."""
    with path.open("rb") as file:
        table = ELFFile(file).get_section_by_name(".symtab")
        assert isinstance(table, SymbolTableSection)
        found = next(entry for entry in table.iter_symbols() if entry.name == symbol)
        return int(found["st_value"]) + max(int(found["st_size"]) // 2, 1)
