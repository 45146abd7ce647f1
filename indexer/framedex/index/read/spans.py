"""Find a few calls among millions: the calls of some kinds, by their spans, in order of id."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

from framedex.index.file.conventions import IN_JSON, SPAN_SIZE, Row, build_json_list, json_item
from framedex.index.read.rows import CALL_TABLES, Reader

KIND_TABLES = (
    "call_kinds k CROSS JOIN call_spans s ON s.kind = k.id"
    " CROSS JOIN call_rows c ON c.id BETWEEN s.first_call AND s.last_call AND c.kind = k.id"
)
"""Tables for all calls `c` of the kinds `k` that a WHERE clause selects, unordered."""

_MAX_MERGED_KINDS = 64  # kinds whose spans are merged lazily; with more kinds, SQLite sorts the spans
_MAX_RANGE_IDS = 1 << 11  # ids per range
_FIRST_PORTION_IDS, _MAX_PORTION_IDS = 1 << 9, 1 << 16  # ids per query: few at first, for one page
_MAX_PORTION_RANGES = 1 << 12  # ranges per query
_ROWS_PER_REPORT = 1 << 10  # rows per progress report


@dataclass(frozen=True, slots=True)
class IdRange:
    """The ids from `first` to `last` of a capture whose first call has the id `base`."""

    base: int
    first: int
    last: int

    def __len__(self) -> int:
        return self.last - self.first + 1


def iter_id_ranges(reader: Reader, kinds: Sequence[int], ids: IdRange, *, backwards: bool) -> Iterator[tuple[int, int]]:
    """Yield disjoint ranges, in id order, that contain all calls of these kinds in one capture."""
    current: tuple[int, int] | None = None
    for low, high in _merge_spans(reader, kinds, ids, backwards=backwards):
        if current is None:
            current = low, high
        elif backwards and high + 1 == current[0] and current[1] - low < _MAX_RANGE_IDS:
            current = low, current[1]
        elif not backwards and low - 1 == current[1] and high - current[0] < _MAX_RANGE_IDS:
            current = current[0], high
        else:
            yield current
            current = low, high
    if current is not None:
        yield current


def _merge_spans(reader: Reader, kinds: Sequence[int], ids: IdRange, *, backwards: bool) -> Iterator[tuple[int, int]]:
    """Yield the spans of all kinds, merged into one range per `SPAN` ids."""
    shared = groupby(
        _read_spans(reader, kinds, ids, backwards=backwards), lambda span: (span[0] - ids.base) // SPAN_SIZE
    )
    for _, spans in shared:
        found = list(spans)
        low = max(min(first for first, _ in found), ids.first)
        high = min(max(last for _, last in found), ids.last)
        if low <= high:
            yield low, high


def _read_spans(reader: Reader, kinds: Sequence[int], ids: IdRange, *, backwards: bool) -> Iterator[Row]:
    within = f"first_call BETWEEN ? AND ? ORDER BY first_call {'DESC' if backwards else 'ASC'}"
    bounds = ids.first - SPAN_SIZE, ids.last
    if len(kinds) > _MAX_MERGED_KINDS:
        query = f"SELECT first_call, last_call FROM call_spans WHERE kind {IN_JSON} AND {within}"
        return reader.iter_rows(query, build_json_list(kinds), *bounds)
    query = f"SELECT first_call, last_call FROM call_spans WHERE kind = ? AND {within}"
    each = (reader.iter_rows(query, kind, *bounds) for kind in kinds)
    return heapq.merge(*each, key=lambda span: span[0], reverse=backwards)


def iter_calls(
    reader: Reader,
    columns: str,
    kinds: Sequence[int],
    ids: IdRange,
    condition: str = "",
    parameters: Sequence[object] = (),
    *,
    backwards: bool,
    tables: str = CALL_TABLES,
) -> Iterator[Row]:
    """Yield `columns` of a capture's calls of these kinds, ordered by id; the first column must be `c.id`.

    The condition continues a WHERE clause over `call_rows c` and `call_kinds k`, which `tables` must include.
    """
    query = (
        f"SELECT {columns} FROM json_each(?) s CROSS JOIN {tables}"
        f" WHERE c.id BETWEEN {json_item(0)} AND {json_item(1)} AND c.kind {IN_JSON}{condition}"
    )
    wanted = build_json_list(kinds)
    way = IdScan(reader, ids, backwards=backwards)
    for ranges in way.split_portions(iter_id_ranges(reader, kinds, ids, backwards=backwards)):
        rows = sorted(
            reader.rows(query, build_json_list(ranges), wanted, *parameters), reverse=backwards, key=itemgetter(0)
        )
        yield from way.report_rows(rows)


class IdScan:
    """A scan of ids from one end to the other, reported to the reader's progress listener."""

    def __init__(self, reader: Reader, ids: IdRange, *, backwards: bool) -> None:
        self._progress = reader.progress
        self._backwards = backwards
        self._next, self._end = (ids.last, ids.first) if backwards else (ids.first, ids.last)

    def split_portions(self, ranges: Iterable[tuple[int, int]]) -> Iterator[list[tuple[int, int]]]:
        """Yield the ranges in growing portions; a portion counts as done when the next one is requested."""
        portion: list[tuple[int, int]] = []
        ids, size = 0, _FIRST_PORTION_IDS
        for first, last in ranges:
            portion.append((first, last))
            ids += last - first + 1
            if ids >= size or len(portion) == _MAX_PORTION_RANGES:
                yield portion
                self._report_up_to(first if self._backwards else last)
                portion, ids, size = [], 0, min(2 * size, _MAX_PORTION_IDS)
        if portion:
            yield portion
        self._report_up_to(self._end)

    def report_rows(self, rows: Iterable[Row]) -> Iterator[Row]:
        """Yield rows whose first column is an id; a row counts as done when the next one is requested."""
        for number, row in enumerate(rows, 1):
            yield row
            if not number % _ROWS_PER_REPORT:
                self._report_up_to(row[0])

    def _report_up_to(self, last: int) -> None:
        step = -1 if self._backwards else 1
        self._progress.advance((last - self._next) * step + 1)
        self._next = last + step


def iter_call_ranges(
    reader: Reader, capture: int | None, condition: str = "", *parameters: object
) -> Iterator[tuple[int, int, int]]:
    """Yield (capture, first call id, last call id) of captures with calls, the latest capture first.

    `condition` (" AND ...") restricts `captures p`; `parameters` are its values. Callers that stop early read few
    captures.
    """
    of_capture = "" if capture is None else f" AND p.id = {capture}"
    yield from reader.iter_rows(
        f"SELECT p.id, p.first_call, p.last_call FROM captures p WHERE p.calls > 0{of_capture}{condition}"
        " ORDER BY p.run DESC, p.started DESC, p.id DESC",
        *parameters,
    )
