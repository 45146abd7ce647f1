"""What is alive on devices, by the lines of the program that made it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from framedex.model.rows import PythonLine


@dataclass(frozen=True, slots=True)
class Held:
    """The buffers that a line made; sizes in bytes of the device.

    A buffer that was donated is of the line that passed it on until then, and of the one it was given to from then on.
    `at_peak` is what was alive of them when the device had most in use, `at_end` when the recording ended, `most` the
    most of this line's at any time. `growth` is what stays of each round of the loop that the line is in, where its
    live bytes only ever rise (a leak): 0 where they do not; `rounds` is how many there were.
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
    """What a line had made that was alive at one time; bytes of the device."""

    line: PythonLine | None
    buffers: int
    size: int


@dataclass(frozen=True, slots=True)
class OutOfMemory:
    """A call that failed for want of memory: what it wanted (None: not known), and what was alive then, most first."""

    call: int
    time: int
    line: PythonLine | None
    wanted: int | None
    alive: int
    held: tuple[Alive, ...]


@dataclass(frozen=True, slots=True)
class DeviceMemory:
    """The memory of one device in one capture; times in ns since the recording began, sizes in bytes.

    `device` is its number on the mock TPU, of another plug-in the memory that buffers were put in (`memory#1`); empty:
    not known. `over_time` are (time, bytes alive), at most a few thousand, among them the peak. `unsized` counts
    buffers whose size nothing tells, which are in no sum.
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
