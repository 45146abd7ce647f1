"""Live device memory, by the program lines that allocated it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from framedex.model.rows import PythonLine


@dataclass(frozen=True, slots=True)
class Held:
    """The buffers that a line created; sizes in bytes of device memory.

    A donated buffer belongs to the line that passed it on until the donation, and then to the line that received it.
    The live size of the buffers is `at_peak` at the device's peak, `at_end` at the end of the recording, and `most` at
    this line's peak. `growth` is the size that remains after each round of the line's loop, if its live bytes only rise
    (a leak); otherwise 0. `rounds` is the number of rounds.
    """

    line: PythonLine | None
    outward: tuple[PythonLine, ...]
    buffers: int
    allocated: int
    at_peak: int
    buffers_at_peak: int
    at_end: int
    most: int
    growth: int = 0
    rounds: int = 0
    latest_call: int = 0


@dataclass(frozen=True, slots=True)
class Alive:
    """The live buffers of a line at one time; sizes in bytes of device memory."""

    line: PythonLine | None
    buffers: int
    size: int


@dataclass(frozen=True, slots=True)
class OutOfMemory:
    """A call that ran out of memory, with the live buffers at that time.

    `wanted` is the requested size in bytes (None: unknown), `alive` the live bytes, `held` the live buffers by line,
    largest first.
    """

    call: int
    time: int
    line: PythonLine | None
    wanted: int | None
    alive: int
    held: tuple[Alive, ...]


@dataclass(frozen=True, slots=True)
class DeviceMemory:
    """The memory of one device in one capture; times in ns since the recording began, sizes in bytes.

    `device` is its number on the mock TPU, or the memory space of the buffers for other plug-ins (`memory#1`); empty if
    unknown. `over_time` has at most a few thousand points (time, live bytes), including the peak. `unsized` counts
    buffers of unknown size, which are in no sum.
    """

    capture: int
    device: str
    peak: int
    peak_time: int
    peak_call: int
    at_end: int
    buffers: int
    unsized: int
    over_time: tuple[tuple[int, int], ...]
    lines: tuple[Held, ...]
    failures: tuple[OutOfMemory, ...] = ()
