"""The calls of some kinds, found by the spans in which they are: a few of millions, in the order of their ids."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence

from framedex.index.file.conventions import IN_JSON, Row, json_list
from framedex.index.read.rows import CALL_TABLES, Reader

KIND_TABLES = (
    "call_kinds k CROSS JOIN call_spans s ON s.kind = k.id"
    " CROSS JOIN call_rows c ON c.id BETWEEN s.first_call AND s.last_call AND c.kind = k.id"
)
"""All calls `c` of the kinds `k` that a WHERE clause chooses, in no order."""

_WIDEST = 256  # ids of a span
_SEPARATELY = 64  # kinds whose spans are read as they are wanted; those of more are sorted first
_LONGEST = 1 << 11  # ids of a range
_FIRST, _MOST = 1 << 9, 1 << 16  # ids that are looked at in one query: few at first, as a page needs few
_RANGES = 1 << 12  # in one query


def id_ranges(
    reader: Reader, kinds: Sequence[int], first: int, last: int, *, backwards: bool
) -> Iterator[tuple[int, int]]:
    """The ranges within `first` to `last` that have all calls of these kinds; disjoint, in the order of ids."""
    order = "DESC" if backwards else "ASC"
    within = f"first_call BETWEEN ? AND ? ORDER BY first_call {order}"
    bounds = first - _WIDEST, last
    if len(kinds) <= _SEPARATELY:
        query = f"SELECT first_call, last_call FROM call_spans WHERE kind = ? AND {within}"
        each = (reader.each(query, kind, *bounds) for kind in kinds)
        spans: Iterator[Row] = heapq.merge(*each, key=lambda span: span[0], reverse=backwards)
    else:
        query = f"SELECT first_call, last_call FROM call_spans WHERE kind {IN_JSON} AND {within}"
        spans = reader.each(query, json_list(kinds), *bounds)
    low = high = None
    for begin, end in spans:
        if low is not None and high is not None and begin <= high + 1 and end >= low - 1:
            low, high = min(low, begin), max(high, end)
            if high - low < _LONGEST:
                continue
            # Long enough to be looked at by itself; what the rest of it has comes with the next spans.
            cut = (low + _WIDEST, high) if backwards else (low, high - _WIDEST)
            yield from _clipped(*cut, first, last)
            low, high = (low, low + _WIDEST - 1) if backwards else (high - _WIDEST + 1, high)
            continue
        if low is not None and high is not None:
            yield from _clipped(low, high, first, last)
        low, high = begin, end
    if low is not None and high is not None:
        yield from _clipped(low, high, first, last)


def _clipped(low: int, high: int, first: int, last: int) -> Iterator[tuple[int, int]]:
    if low <= last and high >= first:
        yield max(low, first), min(high, last)


def calls_in(
    reader: Reader,
    columns: str,
    kinds: Sequence[int],
    first: int,
    last: int,
    condition: str = "",
    parameters: Sequence[object] = (),
    *,
    backwards: bool,
) -> Iterator[Row]:
    """Rows of columns, the first of which is `c.id`, of the calls of these kinds, in the order of their ids.

    The condition continues a WHERE clause over `call_rows c` and `call_kinds k`.
    """
    query = (
        f"SELECT {columns} FROM json_each(?) s CROSS JOIN {CALL_TABLES}"
        f" WHERE c.id BETWEEN s.value ->> 0 AND s.value ->> 1 AND c.kind {IN_JSON}{condition}"
    )
    wanted = json_list(kinds)
    for ranges in in_portions(id_ranges(reader, kinds, first, last, backwards=backwards)):
        rows = reader.rows(query, json_list(ranges), wanted, *parameters)
        yield from sorted(rows, key=lambda row: row[0], reverse=backwards)


def in_portions(ranges: Iterator[tuple[int, int]]) -> Iterator[list[tuple[int, int]]]:
    """The ranges, a few at a time and then more."""
    portion: list[tuple[int, int]] = []
    ids, size = 0, _FIRST
    for first, last in ranges:
        portion.append((first, last))
        ids += last - first + 1
        if ids >= size or len(portion) == _RANGES:
            yield portion
            portion, ids, size = [], 0, min(2 * size, _MOST)
    if portion:
        yield portion
