"""The calls of some kinds, found by spans: a few calls among millions, in id order."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

from framedex.index.file.conventions import IN_JSON, SPAN, Row, json_item, json_list
from framedex.index.read.rows import CALL_TABLES, Reader

KIND_TABLES = (
    "call_kinds k CROSS JOIN call_spans s ON s.kind = k.id"
    " CROSS JOIN call_rows c ON c.id BETWEEN s.first_call AND s.last_call AND c.kind = k.id"
)
"""All calls `c` of the kinds `k` that a WHERE clause selects, unordered."""

_SEPARATELY = 64  # number of kinds whose spans are read lazily; spans of more kinds are sorted first
_LONGEST = 1 << 11  # ids per range
_FIRST, _MOST = 1 << 9, 1 << 16  # ids read per query: few at first, as a page needs few
_RANGES = 1 << 12  # ranges per query
_TOLD = 1 << 10  # rows per progress report


@dataclass(frozen=True, slots=True)
class Ids:
    """The ids from `first` to `last` of a capture whose first call has the id `base`."""

    base: int
    first: int
    last: int

    def __len__(self) -> int:
        return self.last - self.first + 1


def id_ranges(reader: Reader, kinds: Sequence[int], ids: Ids, *, backwards: bool) -> Iterator[tuple[int, int]]:
    """Yield disjoint ranges, in id order, that contain all calls of these kinds in one capture."""
    current: tuple[int, int] | None = None
    for low, high in _joined_spans(reader, kinds, ids, backwards=backwards):
        if current is None:
            current = low, high
        elif backwards and high + 1 == current[0] and current[1] - low < _LONGEST:
            current = low, current[1]
        elif not backwards and low - 1 == current[1] and high - current[0] < _LONGEST:
            current = current[0], high
        else:
            yield current
            current = low, high
    if current is not None:
        yield current


def _joined_spans(reader: Reader, kinds: Sequence[int], ids: Ids, *, backwards: bool) -> Iterator[tuple[int, int]]:
    """Yield the spans of all kinds, merged into one range per `SPAN` ids."""
    shared = groupby(_spans(reader, kinds, ids, backwards=backwards), lambda span: (span[0] - ids.base) // SPAN)
    for _, spans in shared:
        found = list(spans)
        low = max(min(first for first, _ in found), ids.first)
        high = min(max(last for _, last in found), ids.last)
        if low <= high:
            yield low, high


def _spans(reader: Reader, kinds: Sequence[int], ids: Ids, *, backwards: bool) -> Iterator[Row]:
    within = f"first_call BETWEEN ? AND ? ORDER BY first_call {'DESC' if backwards else 'ASC'}"
    bounds = ids.first - SPAN, ids.last
    if len(kinds) > _SEPARATELY:
        query = f"SELECT first_call, last_call FROM call_spans WHERE kind {IN_JSON} AND {within}"
        return reader.each(query, json_list(kinds), *bounds)
    query = f"SELECT first_call, last_call FROM call_spans WHERE kind = ? AND {within}"
    each = (reader.each(query, kind, *bounds) for kind in kinds)
    return heapq.merge(*each, key=lambda span: span[0], reverse=backwards)


def calls_in(
    reader: Reader,
    columns: str,
    kinds: Sequence[int],
    ids: Ids,
    condition: str = "",
    parameters: Sequence[object] = (),
    *,
    backwards: bool,
    tables: str = CALL_TABLES,
) -> Iterator[Row]:
    """Yield columns of the calls of these kinds in a capture, ordered by id; the first column must be `c.id`.

    The condition continues a WHERE clause over `call_rows c` and `call_kinds k`, which `tables` must include.
    """
    query = (
        f"SELECT {columns} FROM json_each(?) s CROSS JOIN {tables}"
        f" WHERE c.id BETWEEN {json_item(0)} AND {json_item(1)} AND c.kind {IN_JSON}{condition}"
    )
    wanted = json_list(kinds)
    way = Way(reader, ids, backwards=backwards)
    for ranges in way.portions(id_ranges(reader, kinds, ids, backwards=backwards)):
        rows = sorted(reader.rows(query, json_list(ranges), wanted, *parameters), reverse=backwards, key=itemgetter(0))
        yield from way.told(rows)


class Way:
    """A pass over ids from one end to the other, reported to the reader's progress listener."""

    def __init__(self, reader: Reader, ids: Ids, *, backwards: bool) -> None:
        self._looking = reader.looking
        self._backwards = backwards
        self._next, self._end = (ids.last, ids.first) if backwards else (ids.first, ids.last)

    def portions(self, ranges: Iterable[tuple[int, int]]) -> Iterator[list[tuple[int, int]]]:
        """Yield the ranges in growing portions; a portion counts as done when the next one is requested."""
        portion: list[tuple[int, int]] = []
        ids, size = 0, _FIRST
        for first, last in ranges:
            portion.append((first, last))
            ids += last - first + 1
            if ids >= size or len(portion) == _RANGES:
                yield portion
                self._done_to(first if self._backwards else last)
                portion, ids, size = [], 0, min(2 * size, _MOST)
        if portion:
            yield portion
        self._done_to(self._end)

    def told(self, rows: Iterable[Row]) -> Iterator[Row]:
        """Yield rows whose first column is an id; a row counts as done when the next one is requested."""
        for number, row in enumerate(rows, 1):
            yield row
            if not number % _TOLD:
                self._done_to(row[0])

    def _done_to(self, last: int) -> None:
        step = -1 if self._backwards else 1
        self._looking.passed((last - self._next) * step + 1)
        self._next = last + step
