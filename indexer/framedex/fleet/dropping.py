"""Drop captures of a store: they stop counting at once, then their files are removed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from framedex.fleet.drops import Drop, write_drop
from framedex.fleet.sweeping import StoreState, SweepResult, sweep

if TYPE_CHECKING:
    from framedex.fleet.store_root import StoreRoot


@dataclass(frozen=True, slots=True)
class DropExtent:
    """The extent of a drop: numbers of captures, jobs and calls, and the first and last day."""

    captures: int
    jobs: int
    calls: int
    first_day: str
    last_day: str


def find_extent_to_drop(store: StoreRoot, before: str | None, job: str | None) -> DropExtent | None:
    """Return the extent of a drop; None if it matches no capture. Raises FramedexError if the store fails."""
    store.check()
    drop = Drop(before, job, 0)
    rows = [row for row in StoreState.read(store).current.values() if drop.covers(row.day, row.job)]
    if not rows:
        return None
    days = sorted(row.day for row in rows)
    return DropExtent(len(rows), len({row.job for row in rows}), sum(row.calls for row in rows), days[0], days[-1])


def drop(store: StoreRoot, before: str | None, job: str | None) -> SweepResult:
    """Drop the captures before a day (None: of all days) and of a job (None: of all jobs), and remove their files.

    Files of an interrupted drop are removed too. Raises FramedexError if the store fails; a recorded drop stays valid.
    """
    if find_extent_to_drop(store, before, job) is not None:
        write_drop(store, before, job)
    return sweep(store)
