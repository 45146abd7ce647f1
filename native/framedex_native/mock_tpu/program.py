"""A compiled program, as the C++ half of the mock TPU reads it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from . import encoding

DEVICE_MEMORY = "device"  # the kind of memory of every value that asks for no other


@dataclass(frozen=True)
class Value:
    """A parameter or a result on one device: element type by PJRT's number, shape, layout (the order of dimensions from
    minor to major, the tiles), kind of memory. The layout is what is answered: the mock keeps arrays row-major."""

    type: int
    dims: Sequence[int]
    minor_to_major: Sequence[int]
    tiles: Sequence[Sequence[int]]
    memory_kind: str

    def encoded(self) -> bytes:
        """The bytes that program.cc reads."""
        return (
            encoding.integer(self.type)
            + encoding.integers(self.dims)
            + encoding.integers(self.minor_to_major)
            + encoding.sequence(map(encoding.integers, self.tiles))
            + encoding.text(self.memory_kind)
        )


@dataclass(frozen=True)
class Program:
    """What PJRT asks of an executable, and what runs it.

    `donated` lists parameters whose memory the program takes over, with the result that gets it.
    `memory` is in bytes, by the names of PJRT_Executable_GetCompiledMemoryStats.
    """

    name: str
    replicas: int
    partitions: int
    device_ids: Sequence[int]
    cpu_ordinals: Sequence[int]  # of the CPU devices that stand in for them, as FFI handlers see them
    device_assignment: bytes  # a DeviceAssignmentProto
    parameters: Sequence[Value]
    results: Sequence[Value]
    donated: Sequence[tuple[int, int]]
    optimized: bytes  # an HloModuleProtoWithConfig
    costs: Sequence[tuple[str, float]]
    memory: Sequence[tuple[str, int]]
    fingerprint: str
    has_transfers: bool  # to or from the host, while it runs
    execute: Any  # of the arguments, a list of arrays: jaxlib's ExecuteResults
    result_handlers: Sequence[Any]
    sharding: Any

    @property
    def description(self) -> bytes:
        """The bytes that program.cc reads: all but what runs the program."""
        return b"".join(
            (
                encoding.text(self.name),
                encoding.integer(self.replicas),
                encoding.integer(self.partitions),
                encoding.integers(self.device_ids),
                encoding.integers(self.cpu_ordinals),
                encoding.text(self.device_assignment),
                encoding.sequence(value.encoded() for value in self.parameters),
                encoding.sequence(value.encoded() for value in self.results),
                encoding.sequence(encoding.integer(given) + encoding.integer(taker) for given, taker in self.donated),
                encoding.text(self.optimized),
                encoding.sequence(encoding.text(name) + encoding.real(value) for name, value in self.costs),
                encoding.sequence(encoding.text(name) + encoding.integer(value) for name, value in self.memory),
                encoding.text(self.fingerprint),
                encoding.integer(self.has_transfers),
            )
        )
