"""Activity of a capture's threads over time: their share of each time slice inside the runtime, by activity.

Large captures are sampled, so that the query takes no longer for millions of calls. Kinds with the longest calls are
read whole, since one compilation outlasts a thousand getters. Other calls are represented by evenly spaced ones of each
slice.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from framedex.index.file.conventions import build_json_list
from framedex.index.read.rows import Reader
from framedex.index.read.spans import IdRange, iter_calls
from framedex.index.read.subjects import CaptureQuery
from framedex.model import CallActivity, ThreadTime, Timeline
from framedex.programs.objects.moves import MOVES

SLICES = 600
"""Number of time slices, about the width of a page in pixels."""

_MAX_CALLS_READ = 100_000
"""Up to this number, every call of a capture is read."""
_MAX_LONGEST_CALLS = 20_000  # limit of calls of the kinds with the longest calls
_SAMPLES_PER_SLICE = 100  # sampled calls per slice

_ACTIVITIES = (
    (re.compile(r"_Compile(?:AndLoad)?$|Executable_Deserialize|_Load$"), CallActivity.COMPILE),
    (re.compile(r"Executable_Execute"), CallActivity.RUN),
)
_COLUMNS = "c.id, c.kind, c.start, c.duration, c.inside"

Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _CallKinds:
    """The kinds of calls of a capture: thread and activity of each, and the ones with the longest calls."""

    threads: dict[int, int]
    activities: dict[int, CallActivity]
    longest: frozenset[int]


def build_timeline(subject: CaptureQuery) -> Timeline:
    """Return the timeline of the capture; without threads if it has no calls."""
    reader, capture = subject.reader, subject.capture
    row = reader.row("SELECT first_call, last_call FROM captures WHERE id = ? AND calls > 0", capture)
    if row is None:
        return Timeline(0, 0, (), is_sampled=False)
    ids = IdRange(row[0], row[0], row[1])
    kinds = _read_kinds(reader, capture)
    is_sampled = len(ids) > _MAX_CALLS_READ
    found = _sample(reader, ids, kinds) if is_sampled else _read_all(reader, ids)
    calls: Numbers = np.array(list(found), np.float64).reshape(-1, 4)  # kind, start and duration (ns), number of calls
    start = int(np.min(calls[:, 1])) if len(calls) else 0
    end = int(np.max(calls[:, 1] + np.maximum(calls[:, 2], 0))) if len(calls) else 0
    calls[:, 2] = np.where(calls[:, 2] < 0, end - calls[:, 1], calls[:, 2])  # calls that never returned last to the end
    return Timeline(start, end, tuple(_build_threads(reader, calls, kinds, start, end)), is_sampled)


def _read_kinds(reader: Reader, capture: int) -> _CallKinds:
    rows = reader.rows(
        "SELECT k.id, k.thread, b.name, b.boundary, k.calls, k.duration, k.error FROM call_kinds k"
        " JOIN boundaries b ON b.id = k.boundary WHERE k.capture = ? AND k.calls > 0",
        capture,
    )
    longest, read = set(), 0
    # Calls that never returned have no duration and count as the longest.
    for kind, *_, calls, _, _ in sorted(rows, key=lambda each: (each[6] >= 0, -each[5] / each[4])):
        read += calls
        if read > _MAX_LONGEST_CALLS:
            break
        longest.add(kind)
    return _CallKinds(
        {kind: thread for kind, thread, *_ in rows},
        {kind: _classify(name, boundary) for kind, _, name, boundary, *_ in rows},
        frozenset(longest),
    )


def _classify(name: str, boundary: str) -> CallActivity:
    if boundary == "ffi":
        return CallActivity.RUN
    if name in MOVES:
        return CallActivity.TRANSFER
    return next((activity for pattern, activity in _ACTIVITIES if pattern.search(name)), CallActivity.OTHER)


def _read_all(reader: Reader, ids: IdRange) -> Iterator[tuple[float, ...]]:
    rows = reader.rows(f"SELECT {_COLUMNS} FROM call_rows c WHERE c.id BETWEEN ? AND ?", ids.first, ids.last)
    return ((kind, start, duration, 1) for _, kind, start, duration, inside in rows if inside is None)


def _sample(reader: Reader, ids: IdRange, kinds: _CallKinds) -> Iterator[tuple[float, ...]]:
    whole = iter_calls(reader, _COLUMNS, sorted(kinds.longest), ids, backwards=False)
    yield from ((kind, start, duration, 1) for _, kind, start, duration, inside in whole if inside is None)
    chosen: dict[int, float] = {}
    # A random position in each step: a loop repeats its calls in order, so equal steps would always hit the same ones.
    generator = np.random.default_rng(0)
    for first, last in _iter_slices(reader, ids):
        count = min(last - first + 1, _SAMPLES_PER_SLICE)
        step = (last - first + 1) / count
        places = first + ((np.arange(count) + generator.random(count)) * step).astype(np.int64)
        chosen.update(dict.fromkeys(places.tolist(), step))
    query = f"SELECT {_COLUMNS} FROM json_each(?) s CROSS JOIN call_rows c ON c.id = s.value"
    for call, kind, start, duration, inside in reader.rows(query, build_json_list(sorted(chosen))):
        if inside is None and kind not in kinds.longest:
            yield kind, start, duration, chosen[call]


def _iter_slices(reader: Reader, ids: IdRange) -> Iterator[tuple[int, int]]:
    """Yield the first and last id of the calls that begin in each time slice, skipping empty slices."""
    begin, end = _read_start(reader, ids.first), _read_start(reader, ids.last)
    before = ids.first
    for number in range(1, SLICES + 1):
        after = ids.last + 1
        if number < SLICES:
            after = _find_first_call(
                reader, IdRange(ids.base, before, ids.last), begin + (end - begin) * number // SLICES
            )
        if after > before:
            yield before, after - 1
        before = after


def _find_first_call(reader: Reader, ids: IdRange, time: int) -> int:
    """Return the first call that begins at a time (ns) or later; calls are numbered by start."""
    low, high = ids.first, ids.last + 1
    while low < high:
        middle = (low + high) // 2
        if _read_start(reader, middle) < time:
            low = middle + 1
        else:
            high = middle
    return low


def _read_start(reader: Reader, call: int) -> int:
    row = reader.row("SELECT start FROM call_rows WHERE id >= ? ORDER BY id LIMIT 1", call)
    return 0 if row is None else int(row[0])


def _build_threads(reader: Reader, calls: Numbers, kinds: _CallKinds, start: int, end: int) -> list[ThreadTime]:
    labels: dict[int, str] = dict(reader.rows("SELECT id, label FROM threads"))
    kind_of_call = calls[:, 0].astype(np.int64)
    threads = np.array([kinds.threads.get(int(kind), 0) for kind in kind_of_call], np.int64)
    order = list(CallActivity)
    activities = np.array(
        [order.index(kinds.activities.get(int(kind), CallActivity.OTHER)) for kind in kind_of_call], np.int64
    )
    found = []
    for thread in np.unique(threads):
        of_thread = {
            activity: calls[(threads == thread) & (activities == number)] for number, activity in enumerate(order)
        }
        found.append(
            ThreadTime(
                labels.get(int(thread), ""),
                {activity: round(float((some[:, 2] * some[:, 3]).sum())) for activity, some in of_thread.items()},
                {activity: _compute_shares(some, start, end) for activity, some in of_thread.items()},
            )
        )
    return sorted(found, key=lambda each: (-each.busy, each.thread))


def _compute_shares(calls: Numbers, start: int, end: int) -> tuple[float, ...]:
    """Return the share of each slice covered by the calls."""
    width = max((end - start) / SLICES, 1e-9)
    begin = (calls[:, 1] - start) / width
    stop = np.minimum(begin + calls[:, 2] / width, SLICES)
    weight = calls[:, 3]
    return tuple(np.clip(_sum_covered(stop, weight) - _sum_covered(begin, weight), 0, 1).round(4).tolist())


def _sum_covered(until: Numbers, weight: Numbers) -> Numbers:
    """Return the total part of each slice before the times `until`, in slices."""
    number = np.minimum(until.astype(np.int64), SLICES - 1)
    within = np.bincount(number, (until - number) * weight, SLICES)
    passed = np.bincount(number, weight, SLICES)
    later = passed.sum() - np.cumsum(passed)
    return np.asarray(within + later, np.float64)
