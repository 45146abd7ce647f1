"""The numbers that differ between two recordings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from framedex.diff.model import About, Quantity

if TYPE_CHECKING:
    from framedex.diff.noise import Noise, Time
    from framedex.diff.recorded import Figures, Part


def figures_that_differ(before: Figures, after: Figures, noise: Noise) -> Iterator[Quantity]:
    """Yield counts and bytes that differ, and times that differ by more than noise."""
    for part in _in_order({*before.counts, *after.counts}):
        yield from counts_that_differ(*part, before.counts.get(part, 0), after.counts.get(part, 0))
    for part in _in_order({*before.times, *after.times}):
        yield from total_that_differs(part[1], part[2], before.time(part), after.time(part), noise)


def _in_order(parts: Iterable[Part]) -> list[Part]:
    """Return the parts sorted by name, independent of the durations in a recording."""
    return sorted(parts, key=lambda part: part[1:])


def counts_that_differ(about: About, name: str, of: str, before: int, after: int) -> Iterator[Quantity]:
    """Yield the number if it differs."""
    if before != after:
        yield Quantity(about, name, of, before or None, after or None)


def total_that_differs(name: str, of: str, before: Time, after: Time, noise: Noise) -> Iterator[Quantity]:
    """Yield the total time if it differs by more than noise."""
    if noise.is_exceeded(before, after):
        yield Quantity(About.TIMES, name, of, before.total or None, after.total or None)


def each_that_differs(name: str, of: str, before: Time, after: Time, noise: Noise) -> Iterator[Quantity]:
    """Yield the quick time of one event if it differs by more than noise."""
    if noise.is_exceeded(before, after):
        yield Quantity(About.TIMES, name, of, before.quick or None, after.quick or None)
