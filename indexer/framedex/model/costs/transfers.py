"""What moves between host and devices, by the lines of the program that had it moved."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from framedex.model.rows import PythonLine


class Direction(enum.Enum):
    """From where to where."""

    HOST_TO_DEVICE = "host to device"
    DEVICE_TO_HOST = "device to host"
    DEVICE_TO_DEVICE = "device to device"


@dataclass(frozen=True, slots=True)
class Transfers:
    """The transfers of one direction that a line had made, those asked for apart from implicit ones; `duration` in ns.

    `how` is what moved them, as the program has it: `device_put`, `float`, `operand of a call`; empty: not known.
    `is_implicit`: JAX's `transfer_guard("disallow")` stops them. `size` is in bytes, without those of the `unsized`,
    whose size no call tells.
    """

    line: PythonLine | None
    outward: tuple[PythonLine, ...]
    direction: Direction
    how: str
    is_implicit: bool
    count: int
    size: int
    unsized: int
    total_duration: int
    first_call: int
    latest_call: int
