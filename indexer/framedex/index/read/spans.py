"""The calls of some kinds, found by the spans in which they are: a few of millions, in the order of their ids."""

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
"""All calls `c` of the kinds `k` that a WHERE clause chooses, in no order."""

_SEPARATELY = 64  # kinds whose spans are read as they are wanted; those of more are sorted first
_LONGEST = 1 << 11  # ids of a range
_FIRST, _MOST = 1 << 9, 1 << 16  # ids that are looked at in one query: few at first, as a page needs few
_RANGES = 1 << 12  # in one query
_TOLD = 1 << 10  # rows


@dataclass(frozen=True, slots=True)
class Ids:
    """The ids from `first` to `last` of a capture whose calls begin at `base`."""

    base: int
    first: int
    last: int

    def __len__(self) -> int:
        return self.last - self.first + 1


def id_ranges(reader: Reader, kinds: Sequence[int], ids: Ids, *, backwards: bool) -> Iterator[tuple[int, int]]:
    """The ranges that have all calls of these kinds of one capture; disjoint, in the order of ids."""
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
    """The spans of all kinds as one range for each run of ids that may share a span."""
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
    """Rows of columns, the first of which is `c.id`, of the calls of these kinds of a capture, in the order of ids.

    The condition continues a WHERE clause over `call_rows c` and `call_kinds k`, which are among the tables.
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
    """The way through ids from one end to the other, which is told to those who watch the reader."""

    def __init__(self, reader: Reader, ids: Ids, *, backwards: bool) -> None:
        self._looking = reader.looking
        self._backwards = backwards
        self._next, self._end = (ids.last, ids.first) if backwards else (ids.first, ids.last)

    def portions(self, ranges: Iterable[tuple[int, int]]) -> Iterator[list[tuple[int, int]]]:
        """The ranges, a few at a time and then more; each portion is done when the next one is asked for."""
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
        """The rows, the first column of which is an id, each done when the next one is asked for."""
        for number, row in enumerate(rows, 1):
            yield row
            if not number % _TOLD:
                self._done_to(row[0])

    def _done_to(self, last: int) -> None:
        step = -1 if self._backwards else 1
        self._looking.passed((last - self._next) * step + 1)
        self._next = last + step
