"""Thresholds for the costs that an editor shows by default: those worth acting on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from framedex.costtext import HeldOn
    from framedex.model import Compiles, Transfers, Waits

LEAST_MOVED = 1 << 20
"""Threshold for a line's implicit transfers, in bytes, all together."""

LEAST_TRANSFERS = 100
"""Threshold for the number of a line's implicit transfers of any size."""

LEAST_HELD = 1 << 20
"""Threshold for the memory that a line holds at the peak, or leaks in all rounds of its loop, in bytes."""

LEAST_SHARE_OF_PEAK = 0.1
"""Threshold for the share of a device's peak that a line holds."""

LEAST_WAITED_NS = 100_000_000
"""Threshold for a line's total waiting time, in nanoseconds."""


def notable_compiles(rows: Sequence[Compiles]) -> Sequence[Compiles]:
    """Return the functions that were recompiled or failed to compile."""
    return [row for row in rows if row.failed or (row.changes and row.compiles > 1)]


def notable_transfers(rows: Sequence[Transfers]) -> Sequence[Transfers]:
    """Return the implicit transfers if their number or total size reaches its threshold."""
    implicit = [row for row in rows if row.is_implicit]
    is_much = sum(row.size for row in implicit) >= LEAST_MOVED or sum(row.count for row in implicit) >= LEAST_TRANSFERS
    return implicit if is_much else []


def notable_memory(rows: Sequence[HeldOn]) -> Sequence[HeldOn]:
    """Return the devices on which a line holds much memory, leaks, or ran out of memory."""
    return [row for row in rows if _is_much_memory(row)]


def notable_waits(rows: Sequence[Waits]) -> Sequence[Waits]:
    """Return all waits of a line whose total time reaches the threshold."""
    return rows if sum(row.total_duration for row in rows) >= LEAST_WAITED_NS else []


def _is_much_memory(row: HeldOn) -> bool:
    held = row.held
    if held is None:
        return bool(row.failures)
    least = max(LEAST_HELD, LEAST_SHARE_OF_PEAK * row.device.peak)
    return held.at_peak >= least or held.growth * held.rounds >= LEAST_HELD
