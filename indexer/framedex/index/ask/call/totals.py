"""Totals of calls by boundary function: counts, durations, errors.

Totals of many calls come from sums stored while indexing, with percentiles from duration buckets (within 0.8 percent).
Few calls, and calls selected one by one, are read singly.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from framedex.index.ask.call.filters import PassingCalls, find_passing_calls
from framedex.index.file.conventions import IN_JSON, Row, build_json_list, json_item
from framedex.index.file.values import convert_bucket_to_duration, convert_duration_to_bucket
from framedex.index.read.rows import Reader
from framedex.index.read.spans import KIND_TABLES
from framedex.model import CallFilter, FunctionTotals

_MAX_EXACT_CALLS = 100_000
"""Percentiles are exact up to this number of calls of all functions together."""
_MAX_EXACT_FUNCTION_CALLS = 64
"""Percentiles of one function are exact up to this number of its calls."""


@dataclass(slots=True)
class _CallGroup:
    """The calls of one function, and of one thread if threads are separate.

    `durations` counts the calls that returned, by duration in ns or by bucket.
    """

    calls: int = 0
    errors: int = 0
    never_returned: int = 0
    total: int = 0
    self_time: int = 0
    longest: tuple[int, int] = (-1, 0)  # (ns, call id)
    first_unreturned: int = 0
    durations: Counter[int] = field(default_factory=Counter)
    is_exact: bool = True  # whether the keys of `durations` are ns; otherwise buckets


_Groups = dict[tuple[int, int], _CallGroup]


def sum_functions(reader: Reader, call_filter: CallFilter, *, by_thread: bool) -> list[FunctionTotals]:
    """Return the totals of the calls that pass the filter, by function (and thread), most self time first."""
    chosen = list(find_passing_calls(reader, call_filter))
    is_exact = sum(part.calls for part in chosen) <= _MAX_EXACT_CALLS
    groups: _Groups = {}
    counted: list[PassingCalls] = []
    read_calls = [part for part in chosen if not part.selects_whole_kinds]
    of_kinds = [part for part in chosen if part.selects_whole_kinds]
    is_counted = _has_stored_buckets(call_filter) and not is_exact
    calls = sum(len(part.id_range) for part in chosen if not (part.selects_whole_kinds and is_counted))
    with reader.progress.expect_calls(calls, calls + sum(len(part.ids_with_nested(reader)) for part in read_calls)):
        for part in read_calls:
            _add_calls(reader, groups, part, by_thread=by_thread, is_exact=is_exact)
        for part in of_kinds:
            _add_kinds(reader, groups, part, by_thread=by_thread)
            if is_counted:
                counted.append(part)
            else:
                _add_durations(reader, groups, part, by_thread=by_thread, is_exact=is_exact)
    few = {key for key, group in groups.items() if group.calls <= _MAX_EXACT_FUNCTION_CALLS and not group.durations}
    for part in counted:
        _add_buckets(reader, groups, part, few, by_thread=by_thread)
    boundaries = {row[0]: (row[1], row[2]) for row in reader.rows("SELECT id, name, boundary FROM boundaries")}
    threads: dict[int, str] = dict(reader.rows("SELECT id, label FROM threads")) if by_thread else {}
    found = [
        _build_totals(boundaries[boundary], threads.get(thread), group) for (boundary, thread), group in groups.items()
    ]
    return sorted(found, key=lambda totals: (-totals.self_time, -totals.calls, totals.function))


def _has_stored_buckets(call_filter: CallFilter) -> bool:
    """Whether the filter selects by function and thread only, as the stored duration buckets do."""
    return call_filter.through is None and not call_filter.errors_only and call_filter.slower_than is None


def _get_group(groups: _Groups, boundary: int, thread: int) -> _CallGroup:
    return groups.setdefault((boundary, thread), _CallGroup())


def _add_kinds(reader: Reader, groups: _Groups, part: PassingCalls, *, by_thread: bool) -> None:
    """Add the stored totals of kinds of calls."""
    chosen = f" AND id {IN_JSON}" if part.kinds is not None else ""
    rows = reader.rows(
        f"SELECT boundary, {'thread' if by_thread else '0'}, error, calls, duration, own_duration, longest,"
        f" longest_call, first_call FROM call_kinds WHERE capture = ? AND calls > 0{chosen}",
        part.capture,
        *([] if part.kinds is None else [build_json_list(part.kinds)]),
    )
    for boundary, thread, error, calls, duration, own, longest, longest_call, first_call in rows:
        _add_totals(
            _get_group(groups, boundary, thread), error, calls, duration, own, longest, longest_call, first_call
        )


def _add_totals(
    group: _CallGroup, error: int, calls: int, duration: int, own: int, longest: int, longest_call: int, first_call: int
) -> None:
    group.calls += calls
    group.total += duration
    group.self_time += own
    if error > 0:
        group.errors += calls
    if error >= 0:
        group.longest = max(group.longest, (longest, longest_call))
    else:
        group.never_returned += calls
        group.first_unreturned = min(group.first_unreturned or first_call, first_call)


def _add_buckets(
    reader: Reader, groups: _Groups, part: PassingCalls, individual_keys: set[tuple[int, int]], *, by_thread: bool
) -> None:
    """Add the stored durations by function and thread. Calls of `individual_keys` are read one by one."""
    thread = "thread" if by_thread else "0"
    kinds = reader.rows(
        f"SELECT id, boundary, {thread}, thread FROM call_kinds WHERE capture = ? AND calls > 0", part.capture
    )
    if part.kinds is not None:
        chosen = frozenset(part.kinds)
        kinds = [row for row in kinds if row[0] in chosen]
    read_calls = build_json_list([kind for kind, *key, _ in kinds if tuple(key) in individual_keys])
    for boundary, of_thread, duration in reader.rows(
        f"SELECT k.boundary, {'k.thread' if by_thread else '0'}, c.duration FROM {KIND_TABLES}"
        f" WHERE k.id {IN_JSON} AND c.duration >= 0",
        read_calls,
    ):
        groups[boundary, of_thread].durations[duration] += 1
    counted = build_json_list(
        sorted({(boundary, of) for _, boundary, group, of in kinds if (boundary, group) not in individual_keys})
    )
    for boundary, of_thread, bucket, calls in reader.rows(
        f"SELECT boundary, {thread}, bucket, sum(calls) FROM call_durations WHERE capture = ?"
        f" AND (boundary, thread) IN (SELECT {json_item(0)}, {json_item(1)} FROM json_each(?) s) GROUP BY 1, 2, 3",
        part.capture,
        counted,
    ):
        group = groups[boundary, of_thread]
        group.durations[bucket] += calls
        group.is_exact = False


def _add_calls(reader: Reader, groups: _Groups, part: PassingCalls, *, by_thread: bool, is_exact: bool) -> None:
    """Add calls read one by one, and subtract the time of their nested calls."""
    for boundary, thread, error, duration, calls, first, last in _read_durations(reader, part, by_thread=by_thread):
        group, time = _get_group(groups, boundary, thread), max(duration, 0) * calls
        _add_totals(group, error, calls, time, time, duration, last, first)
        if duration >= 0:
            _count_duration(group, duration, calls, is_exact=is_exact)
    columns = f"k.boundary, {'k.thread' if by_thread else '0'}, sum(max(n.duration, 0))"
    for boundary, thread, nested in part.aggregate_nested(reader, columns, " GROUP BY 1, 2"):
        _get_group(groups, boundary, thread).self_time -= nested


def _add_durations(reader: Reader, groups: _Groups, part: PassingCalls, *, by_thread: bool, is_exact: bool) -> None:
    """Add durations of calls read one by one."""
    for boundary, thread, _error, duration, calls, *_ in _read_durations(reader, part, by_thread=by_thread):
        if duration >= 0:
            _count_duration(_get_group(groups, boundary, thread), duration, calls, is_exact=is_exact)


def _count_duration(group: _CallGroup, duration: int, calls: int, *, is_exact: bool) -> None:
    group.is_exact = is_exact
    group.durations[duration if is_exact else convert_duration_to_bucket(duration)] += calls


def _read_durations(reader: Reader, part: PassingCalls, *, by_thread: bool) -> Iterator[Row]:
    """Yield rows (function, thread, error, duration, calls, first call, last call); durations may repeat."""
    thread = "k.thread" if by_thread else "0"
    columns = f"k.boundary, {thread}, k.error, c.duration, count(*), min(c.id), max(c.id)"
    return part.aggregate(reader, columns, " GROUP BY 1, 2, 3, 4")


def _build_totals(named: tuple[str, str], thread: str | None, group: _CallGroup) -> FunctionTotals:
    returned = group.calls - group.never_returned
    median, p90, p99 = _compute_quantiles(group, (50, 90, 99))
    longest, longest_call = group.longest if returned else (0, 0)
    return FunctionTotals(
        function=named[0],
        boundary=named[1],
        thread=thread,
        calls=group.calls,
        errors=group.errors,
        never_returned=group.never_returned,
        total=group.total,
        self_time=max(group.self_time, 0),
        mean=round(group.total / returned) if returned else 0,
        median=median,
        p90=p90,
        p99=p99,
        longest=longest,
        longest_call=group.first_unreturned or longest_call,
    )


def _compute_quantiles(group: _CallGroup, percents: Sequence[int]) -> list[int]:
    """Return the duration percentiles (ns): measured durations, or the middle of a bucket.

    A sample of an imported profile may stand for several calls; its duration was measured once.
    """
    measured = sum(group.durations.values())
    ranks = [max(-(-measured * percent // 100), 1) for percent in percents]
    found: list[int] = []
    passed = 0
    for value in sorted(group.durations):
        passed += group.durations[value]
        while len(found) < len(ranks) and passed >= ranks[len(found)]:
            found.append(value if group.is_exact else min(convert_bucket_to_duration(value), group.longest[0]))
    return found or [0] * len(ranks)
