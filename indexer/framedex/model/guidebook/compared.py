"""What differs between the runs of two plug-ins, or of two versions of a framework."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Side:
    """The runs, by their keys, that were chosen by a name."""

    name: str
    runs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SideTotals:
    """What the runs of one side say of a function: all calls, and the least and greatest of the runs' medians (ns)."""

    calls: int
    errors: int
    medians: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class ComparedFunction:
    """A function on both sides; None where a side did not call it."""

    function: str
    left: SideTotals | None
    right: SideTotals | None


@dataclass(frozen=True, slots=True)
class ChangedRoad:
    """A step of a program that led to other calls in one run than in another.

    The calls are functions in their order, neighbours of one name once, without those made in others; `first` is the
    position of the first that differs, in the longer of both where the other ends before.
    """

    task: str
    step: str
    left: str
    right: str
    left_calls: tuple[str, ...]
    right_calls: tuple[str, ...]
    first: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """Both sides, all functions that either called, and the steps whose roads differ."""

    left: Side
    right: Side
    functions: tuple[ComparedFunction, ...]
    roads: tuple[ChangedRoad, ...]
