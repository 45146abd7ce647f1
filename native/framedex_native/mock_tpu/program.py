"""A compiled program, as the C++ half of the mock TPU reads it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

DEVICE_MEMORY = "device"  # the kind of memory where everything lies that nobody wants elsewhere


@dataclass(frozen=True)
class Value:
    """A parameter or a result on one device: element type by PJRT's number, shape, layout (the order of dimensions from
    minor to major, the tiles), kind of memory. The layout is what is answered: the mock keeps arrays row-major."""

    type: int
    dims: Sequence[int]
    minor_to_major: Sequence[int]
    tiles: Sequence[Sequence[int]]
    memory_kind: str


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
