"""The memory of a living process, read through /proc, and of copied parts. `native/core_file.py` reads core files."""

from __future__ import annotations

import os
import struct
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Iterable
from types import TracebackType
from typing import Generic, Self, TypeVar

_END_OF_ADDRESSES = 1 << 47
Source = TypeVar("Source")


class Memory(ABC):
    """The memory of a process. All methods raise OSError for memory that is not mapped."""

    @abstractmethod
    def read(self, address: int, size: int) -> bytes:
        """The bytes at an address."""

    def word(self, address: int) -> int:
        """The unsigned 64-bit integer at an address."""
        return int.from_bytes(self.read(address, 8), "little")

    def int32(self, address: int) -> int:
        """The signed 32-bit integer at an address."""
        return int.from_bytes(self.read(address, 4), "little", signed=True)

    def words(self, address: int, count: int) -> tuple[int, ...]:
        """The unsigned 64-bit integers from an address on."""
        return struct.unpack(f"<{count}Q", self.read(address, 8 * count))


class ProcessMemory(Memory):
    """The memory of a living process."""

    def __init__(self, pid: int) -> None:
        """Raises PermissionError without the permission to trace the process, OSError if there is none."""
        self._descriptor = os.open(f"/proc/{pid}/mem", os.O_RDONLY | os.O_CLOEXEC)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._descriptor)

    def read(self, address: int, size: int) -> bytes:
        """The bytes at an address."""
        if not 0 < address < _END_OF_ADDRESSES:
            raise OSError(f"{address:#x} is not an address of a program")
        content = os.pread(self._descriptor, size, address)
        if len(content) < size:
            raise OSError(f"{address:#x} is not mapped")
        return content


class MemoryRanges(Generic[Source]):
    """Address ranges of a memory, each with the source of its content."""

    def __init__(self, parts: Iterable[tuple[int, int, Source]]) -> None:
        self._parts = sorted((each for each in parts if each[1]), key=lambda each: each[0])
        self._starts = [each[0] for each in self._parts]

    def find(self, address: int) -> tuple[int, int, Source] | None:
        """The source at an address: the offset of the address in it, the number of bytes from there on, and itself."""
        found = bisect_right(self._starts, address) - 1
        start, size, source = self._parts[found] if found >= 0 else (0, 0, None)
        offset = address - start
        return None if source is None or offset >= size else (offset, size - offset, source)
