"""Which costs of a line an editor shows by default: those that somebody would act on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from framedex.costtext import HeldOn
    from framedex.model import Compiles, Transfers, Waits

LEAST_MOVED = 1 << 20
"""Bytes that a line moves implicitly, all transfers together."""

LEAST_TRANSFERS = 100
"""Implicit transfers of a line, however small."""

LEAST_HELD = 1 << 20
"""Bytes that a line holds at the peak, or leaks in all rounds of its loop."""

LEAST_SHARE_OF_PEAK = 0.1
"""The part of a device's peak that a line holds."""

LEAST_WAITED_NS = 100_000_000
"""Time that a line waits, all waits together."""


def notable_compiles(rows: Sequence[Compiles]) -> Sequence[Compiles]:
    """Functions that were compiled twice or more, or not at all."""
    return [row for row in rows if row.failed or (row.changes and row.compiles > 1)]


def notable_transfers(rows: Sequence[Transfers]) -> Sequence[Transfers]:
    """Implicit transfers, where a line has many of them or moves much."""
    implicit = [row for row in rows if row.is_implicit]
    is_much = sum(row.size for row in implicit) >= LEAST_MOVED or sum(row.count for row in implicit) >= LEAST_TRANSFERS
    return implicit if is_much else []


def notable_memory(rows: Sequence[HeldOn]) -> Sequence[HeldOn]:
    """Devices on which a line holds much, leaks, or ran out of memory."""
    return [row for row in rows if _is_much_memory(row)]


def notable_waits(rows: Sequence[Waits]) -> Sequence[Waits]:
    """All waits of a line that waits long."""
    return rows if sum(row.total_duration for row in rows) >= LEAST_WAITED_NS else []


def _is_much_memory(row: HeldOn) -> bool:
    held = row.held
    if held is None:
        return bool(row.failures)
    least = max(LEAST_HELD, LEAST_SHARE_OF_PEAK * row.device.peak)
    return held.at_peak >= least or held.growth * held.rounds >= LEAST_HELD
