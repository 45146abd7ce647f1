"""Differences between the runs of two plug-ins, or of two versions of a framework."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Side:
    """The runs selected by a name, by their keys."""

    name: str
    runs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SideTotals:
    """The totals of a function on one side: all calls, and the minimum and maximum of the runs' medians (ns)."""

    calls: int
    errors: int
    medians: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class ComparedFunction:
    """A function on both sides; None for a side that did not call it."""

    function: str
    left: SideTotals | None
    right: SideTotals | None


@dataclass(frozen=True, slots=True)
class ChangedRoad:
    """A step of a program with different calls in two runs.

    The calls are functions in order, without nested calls, with consecutive repetitions merged. `first` is the index of
    the first difference; if one list is a prefix of the other, it is an index into the longer one.
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
    """Both sides, all functions that either called, and the steps with different calls."""

    left: Side
    right: Side
    functions: tuple[ComparedFunction, ...]
    roads: tuple[ChangedRoad, ...]
