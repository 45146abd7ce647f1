"""Dropping captures of a store: from one moment on they count no more, and then their files go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from framedex.fleet.drops import Drop, write_drop
from framedex.fleet.sweeping import State, Swept, sweep

if TYPE_CHECKING:
    from framedex.fleet.place import Place


@dataclass(frozen=True, slots=True)
class Dropping:
    """What a drop would take: how many captures of how many jobs with how many calls, and their first and last day."""

    captures: int
    jobs: int
    calls: int
    first_day: str
    last_day: str


def to_drop(place: Place, before: str | None, job: str | None) -> Dropping | None:
    """What would be dropped of before a day and of a job, None where there is nothing. Raises FramedexError."""
    place.check()
    drop = Drop(before, job, 0)
    rows = [row for row in State.of(place).counted.values() if drop.covers(row.day, row.job)]
    if not rows:
        return None
    days = sorted(row.day for row in rows)
    return Dropping(len(rows), len({row.job for row in rows}), sum(row.calls for row in rows), days[0], days[-1])


def drop(place: Place, before: str | None, job: str | None) -> Swept:
    """Drop all captures of before a day (None: of all days) and of a job (None: of all), and remove their files.

    What another one has left that was killed goes, too. Raises FramedexError where the store fails: what is dropped
    is dropped then.
    """
    if to_drop(place, before, job) is not None:
        write_drop(place, before, job)
    return sweep(place)
