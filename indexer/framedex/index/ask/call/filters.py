"""Evaluate a call filter: on kinds of calls if possible, otherwise on single calls."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from framedex.index.ask.call.objects import find_calls_of_object
from framedex.index.ask.name.matching import MatchQuality, match_name
from framedex.index.file.conventions import IN_JSON, Row, build_json_list, json_item
from framedex.index.read.rows import CALL_TABLES, Reader
from framedex.index.read.spans import IdRange, IdScan, iter_call_ranges, iter_calls, iter_id_ranges
from framedex.index.read.subjects import LineQuery
from framedex.model import CallFilter
from framedex.programs.objects import find_boundary_function

_CALLS_PER_SLICE = 1 << 16

# Continues a WITH clause that defines `wanted` frames.
_STACKS_WITH_WANTED = (
    ", under(node) AS ("
    " SELECT id FROM nodes WHERE frame IN wanted"
    " UNION SELECT n.id FROM under u JOIN nodes n ON n.parent = u.node"
    ") SELECT id FROM stacks WHERE leaf IN under OR python_leaf IN under OR site_leaf IN under"
)

_FILE_AND_LINE = re.compile(r"(?P<path>.+):(?P<line>\d+)")


@dataclass(frozen=True, slots=True)
class PassingCalls:
    """The calls of one capture that pass a filter: calls with these ids and kinds that fulfil the condition.

    `kinds` is None for all kinds; `calls` is the number of calls of these kinds. The condition continues a WHERE clause
    over `call_rows c` and `call_kinds k` and takes the parameters. With `selects_whole_kinds`, all calls of these kinds
    pass, so the totals of the kinds suffice.
    """

    capture: int
    id_range: IdRange
    kinds: tuple[int, ...] | None
    calls: int
    selects_whole_kinds: bool
    condition: str
    parameters: tuple[object, ...]

    def rows(self, reader: Reader, columns: str, *, backwards: bool, tables: str = CALL_TABLES) -> Iterator[Row]:
        """Yield `columns` of the calls, ordered by id; the first column must be `c.id`.

        `tables` must include `call_rows c` and `call_kinds k`.
        """
        if self.kinds is not None:
            yield from iter_calls(
                reader,
                columns,
                self.kinds,
                self.id_range,
                self.condition,
                self.parameters,
                backwards=backwards,
                tables=tables,
            )
            return
        order = "DESC" if backwards else "ASC"
        query = f"SELECT {columns} FROM {tables} WHERE c.id BETWEEN ? AND ?{self.condition} ORDER BY c.id {order}"
        scan = IdScan(reader, self.id_range, backwards=backwards)
        for ranges in scan.split_portions(slice_ids(self.id_range, backwards=backwards)):
            for first, last in ranges:
                yield from scan.report_rows(reader.iter_rows(query, first, last, *self.parameters))

    def aggregate(self, reader: Reader, columns: str, grouping: str = "") -> Iterator[Row]:
        """Yield aggregates of the calls; a group can have several rows, each for a part of the calls."""
        kinds = f" AND c.kind {IN_JSON}" if self.kinds is not None else ""
        query = (
            f"SELECT {columns} FROM json_each(?) s CROSS JOIN call_rows c CROSS JOIN call_kinds k ON k.id = c.kind"
            f" WHERE c.id BETWEEN {json_item(0)} AND {json_item(1)}{kinds}{self.condition}{grouping}"
        )
        wanted = () if self.kinds is None else (build_json_list(self.kinds),)
        all_ranges = (
            slice_ids(self.id_range, backwards=False)
            if self.kinds is None
            else iter_id_ranges(reader, self.kinds, self.id_range, backwards=False)
        )
        for ranges in IdScan(reader, self.id_range, backwards=False).split_portions(all_ranges):
            yield from reader.rows(query, build_json_list(ranges), *wanted, *self.parameters)

    def ids_with_nested(self, reader: Reader) -> IdRange:
        """Return a range of ids with all nested calls: a nested call has a larger id than its enclosing call."""
        rows = reader.rows("SELECT last_call FROM captures WHERE id = ?", self.capture)
        return IdRange(self.id_range.base, self.id_range.first, rows[0][0])

    def aggregate_nested(self, reader: Reader, columns: str, grouping: str) -> Iterator[Row]:
        """Yield aggregates of the calls `n` nested in these (`c`, `k`); a group can have several rows."""
        of_kinds = f" AND c.kind {IN_JSON}" if self.kinds is not None else ""
        query = (
            f"SELECT {columns} FROM json_each(?) s CROSS JOIN call_rows n"
            f" ON n.id BETWEEN {json_item(0)} AND {json_item(1)}"
            " CROSS JOIN call_rows c ON c.id = n.id - n.inside CROSS JOIN call_kinds k ON k.id = c.kind"
            f" WHERE c.id BETWEEN ? AND ?{of_kinds}{self.condition}{grouping}"
        )
        wanted = () if self.kinds is None else (build_json_list(self.kinds),)
        within = self.ids_with_nested(reader)
        for ranges in IdScan(reader, within, backwards=False).split_portions(slice_ids(within, backwards=False)):
            yield from reader.rows(
                query, build_json_list(ranges), self.id_range.first, self.id_range.last, *wanted, *self.parameters
            )


def slice_ids(ids: IdRange, *, backwards: bool) -> Iterator[tuple[int, int]]:
    """Split the ids into ranges of `_CALLS_PER_SLICE`, in order."""
    found = (
        (first, min(first + _CALLS_PER_SLICE - 1, ids.last))
        for first in range(ids.first, ids.last + 1, _CALLS_PER_SLICE)
    )
    return reversed(list(found)) if backwards else found


def find_passing_calls(reader: Reader, call_filter: CallFilter) -> Iterator[PassingCalls]:
    """Yield the calls that pass a filter, by capture, the latest capture first."""
    condition, parameters = _build_kind_conditions(reader, call_filter)
    for capture, first, last in iter_call_ranges(reader, call_filter.capture):
        ids, rows, values = _build_call_conditions(reader, call_filter, first, last)
        kinds, calls = None, last - first + 1
        if condition:
            found = reader.rows(
                f"SELECT k.id, k.calls FROM call_kinds k WHERE k.capture = ? AND k.calls > 0{condition}",
                capture,
                *parameters,
            )
            kinds, calls = tuple(kind for kind, _ in found), sum(each for _, each in found)
        if ids[0] <= ids[1] and (kinds is None or kinds):
            yield PassingCalls(
                capture, IdRange(first, *ids), kinds, calls, ids == (first, last) and not rows, rows, tuple(values)
            )


def _build_kind_conditions(reader: Reader, call_filter: CallFilter) -> tuple[str, list[object]]:
    """Return the filter's conditions on kinds (SQL continuing a WHERE over `call_kinds k`) and their parameters."""
    parts: list[str] = []
    parameters: list[object] = []

    def require(condition: str, *values: object) -> None:
        parts.append(f" AND {condition}")
        parameters.extend(values)

    if call_filter.function is not None:
        require(f"k.boundary {IN_JSON}", build_json_list(_match_boundaries(reader, call_filter.function)))
    if call_filter.thread is not None:
        threads = reader.rows(
            "SELECT id FROM threads WHERE instr(lower(name), lower(?1)) > 0 OR CAST(tid AS TEXT) = ?1"
            " OR lower(label) = lower(?1)",
            call_filter.thread,
        )
        require(f"k.thread {IN_JSON}", build_json_list([thread for (thread,) in threads]))
    if call_filter.through is not None:
        require(f"k.stack {IN_JSON}", build_json_list(_find_stacks_containing(reader, call_filter.through)))
    if call_filter.errors_only:
        require("k.error > 0")
    if call_filter.slower_than is not None:
        require("(k.longest > ? OR k.error < 0)", call_filter.slower_than)
    if call_filter.works_only:
        require(f"(k.error <> 0 OR k.boundary {IN_JSON})", build_json_list(find_working_boundaries(reader)))
    return "".join(parts), parameters


def find_working_boundaries(reader: Reader) -> list[int]:
    """Return the ids of boundary functions that compile, load or run programs or move data, and of other boundaries.

    Functions inside the mock TPU and behaviours are excluded.
    """
    rows = reader.rows("SELECT id, name, boundary FROM boundaries WHERE boundary NOT IN ('mock_tpu', 'behaviour')")
    return [identifier for identifier, name, kind in rows if kind != "pjrt" or find_boundary_function(name).does_work]


def _build_call_conditions(
    reader: Reader, call_filter: CallFilter, first: int, last: int
) -> tuple[tuple[int, int], str, Sequence[object]]:
    """Return the ids of a capture that can pass the filter, and its condition on single calls, as in `PassingCalls`."""
    parts: list[str] = []
    parameters: list[object] = []
    if call_filter.after is not None:
        first = _find_first_started(reader, first, last, call_filter.after)
    if call_filter.before is not None:
        last = _find_first_started(reader, first, last, call_filter.before + 1) - 1
    if call_filter.slower_than is not None:
        parts.append(" AND (c.duration > ? OR c.duration < 0)")
        parameters.append(call_filter.slower_than)
    if call_filter.object is not None:
        found = find_calls_of_object(reader, call_filter.object, call_filter.capture)
        first, last = max(first, found.first), min(last, found.last)
        parts.append(f" AND {found.condition}")
        parameters += found.parameters
    return (first, last), "".join(parts), parameters


def _find_first_started(reader: Reader, first: int, last: int, time: int) -> int:
    """Return the first call that began at `time` (ns) or later, or `last + 1` if there is none."""
    begin, end = first, last + 1
    while begin < end:
        middle = (begin + end) // 2
        row = reader.row("SELECT start FROM call_rows WHERE id = ?", middle)
        if row is not None and row[0] < time:
            begin = middle + 1
        else:
            end = middle
    return begin


def _match_boundaries(reader: Reader, names: str) -> list[int]:
    """Return the ids of the boundary functions that match comma-separated names, parts of names and patterns."""
    found: set[int] = set()
    for name in filter(None, (part.strip() for part in names.split(","))):
        if any(character in name for character in "*?["):
            found.update(row[0] for row in reader.rows("SELECT id FROM boundaries WHERE name GLOB ?", name))
        else:
            found.update(row[0] for row in find_boundaries(reader, name))
    return sorted(found)


def find_boundaries(reader: Reader, name: str) -> list[Row]:
    """Return (id, name, calls) of the called boundary functions of this name.

    If there are none: those with this whole word in their names, else those whose names contain it.
    """
    rows = reader.rows(
        "SELECT b.id, b.name, sum(k.calls) FROM boundaries b JOIN call_kinds k ON k.boundary = b.id"
        " WHERE instr(lower(b.name), lower(?)) > 0 GROUP BY b.id ORDER BY b.name",
        name,
    )
    fits = [(match_name(row[1], name) or MatchQuality.PART, row) for row in rows]
    best = min((each for each, _ in fits), default=MatchQuality.PART)
    return [row for each, row in fits if each is best or best > MatchQuality.WORDS]


def _find_stacks_containing(reader: Reader, text: str) -> list[int]:
    """Return the stacks with a frame whose function or file contains the text, or on FILE:LINE of the current file."""
    file_and_line = _FILE_AND_LINE.fullmatch(text)
    frames_on_line = (
        [] if file_and_line is None else _find_frames_on_line(reader, file_and_line["path"], int(file_and_line["line"]))
    )
    rows = reader.rows(
        "WITH RECURSIVE wanted(frame) AS ("
        " SELECT fr.id FROM frames fr JOIN functions fn ON fn.id = fr.function"
        " WHERE instr(lower(fn.name), lower(?1)) > 0 OR instr(lower(fn.symbol), lower(?1)) > 0"
        " UNION SELECT fr.id FROM frames fr JOIN files f ON f.id = fr.file WHERE instr(lower(f.path), lower(?1)) > 0"
        " UNION SELECT value FROM json_each(?2))" + _STACKS_WITH_WANTED,
        text,
        build_json_list(frames_on_line),
    )
    return [stack for (stack,) in rows]


def _find_frames_on_line(reader: Reader, path: str, line: int) -> list[int]:
    """Return the frames on a line, in its current state, of files whose paths contain a text."""
    files = reader.rows(
        "SELECT path FROM files f WHERE instr(lower(path), lower(?)) > 0"
        " AND EXISTS (SELECT 1 FROM frames WHERE file = f.id)",
        path,
    )
    conditions = (LineQuery(reader, file, line).build_lines_condition("fr", [line]) for (file,) in files)
    return [frame for each in conditions for (frame,) in reader.rows(f"SELECT fr.id FROM frames fr WHERE {each}")]


def find_stacks_through(reader: Reader, functions: Sequence[int]) -> list[int]:
    """Return the stacks with a frame of one of these functions."""
    rows = reader.rows(
        f"WITH RECURSIVE wanted(frame) AS (SELECT id FROM frames WHERE function {IN_JSON})" + _STACKS_WITH_WANTED,
        build_json_list(functions),
    )
    return [stack for (stack,) in rows]
