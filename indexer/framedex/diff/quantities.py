"""The numbers in which two recordings differ."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from framedex.diff.model import About, Quantity

if TYPE_CHECKING:
    from framedex.diff.noise import Noise, Time
    from framedex.diff.recorded import Figures, Part


def figures_that_differ(before: Figures, after: Figures, noise: Noise) -> Iterator[Quantity]:
    """Counts and bytes that are not the same, and times that are others by more than noise."""
    for part in _in_order({*before.counts, *after.counts}):
        yield from counts_that_differ(*part, before.counts.get(part, 0), after.counts.get(part, 0))
    for part in _in_order({*before.times, *after.times}):
        yield from total_that_differs(part[1], part[2], before.time(part), after.time(part), noise)


def _in_order(parts: Iterable[Part]) -> list[Part]:
    """The same order whatever took longer in a recording."""
    return sorted(parts, key=lambda part: part[1:])


def counts_that_differ(about: About, name: str, of: str, before: int, after: int) -> Iterator[Quantity]:
    """The number, where it is not the same."""
    if before != after:
        yield Quantity(about, name, of, before or None, after or None)


def total_that_differs(name: str, of: str, before: Time, after: Time, noise: Noise) -> Iterator[Quantity]:
    """What all of something took, where that differs by more than noise."""
    if noise.is_exceeded(before, after):
        yield Quantity(About.TIMES, name, of, before.total or None, after.total or None)


def each_that_differs(name: str, of: str, before: Time, after: Time, noise: Noise) -> Iterator[Quantity]:
    """What a quick one of something took, where that differs by more than noise."""
    if noise.is_exceeded(before, after):
        yield Quantity(About.TIMES, name, of, before.quick or None, after.quick or None)
