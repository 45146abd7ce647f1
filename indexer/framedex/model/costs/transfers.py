"""Transfers between host and devices, by the program lines that caused them."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from framedex.model.rows import PythonLine


class Direction(enum.Enum):
    """The source and destination of a transfer."""

    HOST_TO_DEVICE = "host to device"
    DEVICE_TO_HOST = "device to host"
    DEVICE_TO_DEVICE = "device to device"


@dataclass(frozen=True, slots=True)
class Transfers:
    """The transfers in one direction that a line caused, explicit and implicit ones separately; `duration` in ns.

    `how` is the operation in the program: `device_put`, `float`, `operand of a call`; empty if unknown. `is_implicit`:
    JAX's `transfer_guard("disallow")` blocks them. `size` is in bytes, without the `unsized` transfers, whose size no
    call reports.
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
