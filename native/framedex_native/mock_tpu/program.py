"""A compiled program, in the form that the C++ half of the mock TPU reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from . import encoding

DEVICE_MEMORY = "device"  # the default kind of memory


@dataclass(frozen=True)
class Value:
    """A parameter or a result on one device: PJRT element type number, dimensions, layout and memory kind.

    The layout is `minor_to_major` and `tiles`. The mock only reports it, and stores arrays row-major.
    """

    type: int
    dims: Sequence[int]
    minor_to_major: Sequence[int]
    tiles: Sequence[Sequence[int]]
    memory_kind: str

    def encoded(self) -> bytes:
        """The value, encoded for program.cc."""
        return (
            encoding.integer(self.type)
            + encoding.integers(self.dims)
            + encoding.integers(self.minor_to_major)
            + encoding.sequence(map(encoding.integers, self.tiles))
            + encoding.text(self.memory_kind)
        )


@dataclass(frozen=True)
class Program:
    """A compiled program: the properties that PJRT queries, and the function that executes it.

    `donated` pairs each donated parameter with the result that receives its memory. `memory` is in bytes, with the
    names of PJRT_Executable_GetCompiledMemoryStats.
    """

    name: str
    replicas: int
    partitions: int
    device_ids: Sequence[int]
    cpu_ordinals: Sequence[int]  # the CPU devices that stand in for `device_ids`, as FFI handlers see them
    device_assignment: bytes  # a DeviceAssignmentProto
    parameters: Sequence[Value]
    results: Sequence[Value]
    donated: Sequence[tuple[int, int]]
    optimized: bytes  # an HloModuleProtoWithConfig
    costs: Sequence[tuple[str, float]]
    memory: Sequence[tuple[str, int]]
    fingerprint: str
    has_transfers: bool  # whether it exchanges data with the host while it runs
    execute: Any  # from a list of arrays to jaxlib's ExecuteResults
    result_handlers: Sequence[Any]
    sharding: Any

    @property
    def description(self) -> bytes:
        """The properties, encoded for program.cc, without the Python objects that execute the program."""
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
