"""What the calls of each boundary function came to: how many, how long, how many errors."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from framedex.index.ask.call.filters import call_ranges, conditions
from framedex.index.read.rows import Reader
from framedex.model import CallFilter, FunctionTotals

Integers = npt.NDArray[np.int64]


def function_totals(reader: Reader, wanted: CallFilter, *, by_thread: bool) -> list[FunctionTotals]:
    """The totals of the calls that pass the filter, by function (and thread), most time of their own first."""
    columns = _columns(reader, wanted, "c.thread" if by_thread else "0")
    boundaries = {row[0]: row[1:] for row in reader.rows("SELECT id, name, boundary FROM boundaries")}
    threads: dict[int, str] = dict(reader.rows("SELECT id, label FROM threads")) if by_thread else {}
    found = []
    for group in _groups(columns):
        function, boundary = boundaries[int(group[0, 1])]
        found.append(_totals(function, boundary, threads.get(int(group[0, 2])), group))
    return sorted(found, key=lambda totals: (-totals.self_time, -totals.calls, totals.function))


def _columns(reader: Reader, wanted: CallFilter, thread: str) -> Integers:
    """Rows (id, function, thread, duration, error, time in nested calls)."""
    restriction, parameters = conditions(reader, wanted)
    found = []
    for first, last in call_ranges(reader, wanted.capture):
        inside = _array(
            reader.rows(
                "SELECT parent, sum(max(duration, 0)) FROM calls WHERE id BETWEEN ? AND ? AND parent IS NOT NULL"
                " GROUP BY parent ORDER BY parent",
                first,
                last,
            ),
            2,
        )
        calls = _array(
            reader.rows(
                f"SELECT c.id, c.boundary, {thread}, c.duration, c.error, 0 FROM calls c"
                f" WHERE c.id BETWEEN ? AND ?{restriction} ORDER BY c.id",
                first,
                last,
                *parameters,
            ),
            6,
        )
        shown = np.isin(inside[:, 0], calls[:, 0], assume_unique=True)
        calls[np.searchsorted(calls[:, 0], inside[shown, 0]), 5] = inside[shown, 1]
        found.append(calls)
    return np.concatenate([np.zeros((0, 6), np.int64), *found])


def _array(rows: list[tuple[int, ...]], width: int) -> Integers:
    return np.array(rows, np.int64).reshape(-1, width)


def _groups(columns: Integers) -> Iterator[Integers]:
    """The rows of each function and thread, by duration."""
    ordered = columns[np.lexsort((columns[:, 3], columns[:, 2], columns[:, 1]))]
    starts = np.flatnonzero(np.any(np.diff(ordered[:, 1:3], axis=0) != 0, axis=1)) + 1
    yield from (group for group in np.split(ordered, starts) if len(group))


def _totals(function: str, boundary: str, thread: str | None, group: Integers) -> FunctionTotals:
    returned = group[group[:, 3] >= 0]
    durations = returned[:, 3]
    total = int(durations.sum())
    return FunctionTotals(
        function=function,
        boundary=boundary,
        thread=thread,
        calls=len(group),
        errors=int(np.count_nonzero(group[:, 4] > 0)),
        never_returned=len(group) - len(returned),
        total=total,
        self_time=int(np.maximum(durations - returned[:, 5], 0).sum()),
        mean=round(total / len(durations)) if len(durations) else 0,
        median=_quantile(durations, 50),
        p90=_quantile(durations, 90),
        p99=_quantile(durations, 99),
        longest=_quantile(durations, 100),
        longest_call=int(group[-1, 0] if len(returned) == len(group) else group[0, 0]),
    )


def _quantile(ordered: Integers, percent: int) -> int:
    """The least duration that so many percent of the calls did not exceed: one that was measured (nearest rank)."""
    return int(ordered[max(-(-len(ordered) * percent // 100) - 1, 0)]) if len(ordered) else 0
