"""The image of a process at one moment: all data from which its stacks are read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from framedex.live.memory import Memory

REGISTERS = (15, 14, 13, 12, 6, 3, 11, 10, 9, 8, 0, 2, 1, 4, 5, None, 16, None, None, 7)
"""The DWARF numbers (x86-64 psABI, figure 3.36) of the first registers in user_regs_struct (Linux's
arch/x86/include/asm/user_64.h); None: not needed to unwind."""


class FileMapping(NamedTuple):
    """A part of a file that a process has mapped: addresses [start, end), and the offset in the file."""

    start: int
    end: int
    offset: int
    path: str


class StopTimeoutError(Exception):
    """Raised when a process has been stopped for too long. Not an OSError, which would mean unreadable memory."""


@dataclass(frozen=True, slots=True)
class ThreadRegisters:
    """A thread: its id, and its registers by DWARF number."""

    tid: int
    registers: Mapping[int, int]


@dataclass(frozen=True, slots=True)
class ProcessImage:
    """A process at one moment. The thread that received a fatal signal is the first one.

    `program` is the path of the executable, empty if unknown. `vdso` is the address of the library that the kernel maps
    into each process, None if unknown. `signal` is the name of the fatal signal, such as `SIGSEGV`, empty if none.
    `fault_address` is the address whose access failed, None if unknown. `problem` says what the image lacks.
    `root` is the folder here in which the process sees its files.
    """

    pid: int
    command: str
    program: str
    threads: tuple[ThreadRegisters, ...]
    mappings: tuple[FileMapping, ...]
    memory: Memory
    vdso: int | None
    signal: str = ""
    fault_address: int | None = None
    problem: str = ""
    root: Path = Path("/")
