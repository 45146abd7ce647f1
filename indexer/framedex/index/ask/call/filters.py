"""Which calls a filter lets pass: by their kinds as far as it goes, else one by one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from framedex.index.ask.call.objects import calls_of_object
from framedex.index.ask.name.fits import Fit, fit
from framedex.index.file.conventions import IN_JSON, Row, json_item, json_list
from framedex.index.read.asked import AskedLine
from framedex.index.read.rows import CALL_TABLES, Reader
from framedex.index.read.spans import Ids, Way, calls_in, id_ranges
from framedex.model import CallFilter
from framedex.objects import function_named

_AT_ONCE = 1 << 16  # calls

# Continues a WITH clause of the frames that are wanted.
_STACKS_WITH_WANTED = (
    ", under(node) AS ("
    " SELECT id FROM nodes WHERE frame IN wanted"
    " UNION SELECT n.id FROM under u JOIN nodes n ON n.parent = u.node"
    ") SELECT id FROM stacks WHERE leaf IN under OR python_leaf IN under OR site_leaf IN under"
)

_FILE_AND_LINE = re.compile(r"(?P<path>.+):(?P<line>\d+)")


@dataclass(frozen=True, slots=True)
class Passing:
    """The calls of one capture that pass a filter.

    They have these ids, are of these kinds (None: of all), which have `calls` calls, and fulfil the
    condition, which continues a WHERE clause over `call_rows c` and `call_kinds k` and takes the parameters.
    `is_of_kinds`: all calls of these kinds pass, so that the totals of the kinds tell everything.
    """

    capture: int
    ids: Ids
    kinds: tuple[int, ...] | None
    calls: int
    is_of_kinds: bool
    condition: str
    parameters: tuple[object, ...]

    def rows(self, reader: Reader, columns: str, *, backwards: bool, tables: str = CALL_TABLES) -> Iterator[Row]:
        """Rows of columns of these calls, the first of which is `c.id`, in the order of ids.

        The tables are those that the columns are of, `call_rows c` and `call_kinds k` among them.
        """
        if self.kinds is not None:
            yield from calls_in(
                reader,
                columns,
                self.kinds,
                self.ids,
                self.condition,
                self.parameters,
                backwards=backwards,
                tables=tables,
            )
            return
        order = "DESC" if backwards else "ASC"
        query = f"SELECT {columns} FROM {tables} WHERE c.id BETWEEN ? AND ?{self.condition} ORDER BY c.id {order}"
        way = Way(reader, self.ids, backwards=backwards)
        for ranges in way.portions(slices(self.ids, backwards=backwards)):
            for first, last in ranges:
                yield from way.told(reader.each(query, first, last, *self.parameters))

    def aggregated(self, reader: Reader, columns: str, grouping: str = "") -> Iterator[Row]:
        """Rows of aggregates of these calls: several for one group, each of a part of the calls."""
        kinds = f" AND c.kind {IN_JSON}" if self.kinds is not None else ""
        query = (
            f"SELECT {columns} FROM json_each(?) s CROSS JOIN call_rows c CROSS JOIN call_kinds k ON k.id = c.kind"
            f" WHERE c.id BETWEEN {json_item(0)} AND {json_item(1)}{kinds}{self.condition}{grouping}"
        )
        wanted = () if self.kinds is None else (json_list(self.kinds),)
        all_ranges = (
            slices(self.ids, backwards=False)
            if self.kinds is None
            else id_ranges(reader, self.kinds, self.ids, backwards=False)
        )
        for ranges in Way(reader, self.ids, backwards=False).portions(all_ranges):
            yield from reader.rows(query, json_list(ranges), *wanted, *self.parameters)

    def with_nested(self, reader: Reader) -> Ids:
        """The ids that have all calls made in these: each comes after the one in which it was made."""
        rows = reader.rows("SELECT last_call FROM captures WHERE id = ?", self.capture)
        return Ids(self.ids.base, self.ids.first, rows[0][0])

    def nested(self, reader: Reader, columns: str, grouping: str) -> Iterator[Row]:
        """Rows of aggregates of the calls `n` that were made in these, `c` and `k`: several for one group."""
        of_kinds = f" AND c.kind {IN_JSON}" if self.kinds is not None else ""
        query = (
            f"SELECT {columns} FROM json_each(?) s CROSS JOIN call_rows n"
            f" ON n.id BETWEEN {json_item(0)} AND {json_item(1)}"
            " CROSS JOIN call_rows c ON c.id = n.id - n.inside CROSS JOIN call_kinds k ON k.id = c.kind"
            f" WHERE c.id BETWEEN ? AND ?{of_kinds}{self.condition}{grouping}"
        )
        wanted = () if self.kinds is None else (json_list(self.kinds),)
        within = self.with_nested(reader)
        for ranges in Way(reader, within, backwards=False).portions(slices(within, backwards=False)):
            yield from reader.rows(query, json_list(ranges), self.ids.first, self.ids.last, *wanted, *self.parameters)


def slices(ids: Ids, *, backwards: bool) -> Iterator[tuple[int, int]]:
    """All of the ids in ranges, in their order."""
    found = ((at, min(at + _AT_ONCE - 1, ids.last)) for at in range(ids.first, ids.last + 1, _AT_ONCE))
    return reversed(list(found)) if backwards else found


def passing(reader: Reader, wanted: CallFilter) -> Iterator[Passing]:
    """The calls that pass a filter, by capture, the latest capture first."""
    condition, parameters = _of_kinds(reader, wanted)
    for capture, first, last in call_ranges(reader, wanted.capture):
        ids, rows, values = _of_rows(reader, wanted, first, last)
        kinds, calls = None, last - first + 1
        if condition:
            found = reader.rows(
                f"SELECT k.id, k.calls FROM call_kinds k WHERE k.capture = ? AND k.calls > 0{condition}",
                capture,
                *parameters,
            )
            kinds, calls = tuple(kind for kind, _ in found), sum(each for _, each in found)
        if ids[0] <= ids[1] and (kinds is None or kinds):
            yield Passing(
                capture, Ids(first, *ids), kinds, calls, ids == (first, last) and not rows, rows, tuple(values)
            )


def call_ranges(reader: Reader, capture: int | None) -> Iterator[tuple[int, int, int]]:
    """Each capture that has calls with its first and last call id, the latest capture first."""
    for identifier, first, last in reader.rows(
        "SELECT id, first_call, last_call FROM captures WHERE calls > 0 ORDER BY run DESC, started DESC, id DESC"
    ):
        if capture is None or identifier == capture:
            yield identifier, first, last


def _of_kinds(reader: Reader, wanted: CallFilter) -> tuple[str, list[object]]:
    """What the filter says of kinds, as SQL that continues a WHERE clause over `call_kinds k`, and its parameters."""
    parts: list[str] = []
    parameters: list[object] = []

    def require(condition: str, *values: object) -> None:
        parts.append(f" AND {condition}")
        parameters.extend(values)

    if wanted.function is not None:
        require(f"k.boundary {IN_JSON}", json_list(_boundaries_meant(reader, wanted.function)))
    if wanted.thread is not None:
        threads = reader.rows(
            "SELECT id FROM threads WHERE instr(lower(name), lower(?1)) > 0 OR CAST(tid AS TEXT) = ?1"
            " OR lower(label) = lower(?1)",
            wanted.thread,
        )
        require(f"k.thread {IN_JSON}", json_list([thread for (thread,) in threads]))
    if wanted.through is not None:
        require(f"k.stack {IN_JSON}", json_list(_stacks_containing(reader, wanted.through)))
    if wanted.errors_only:
        require("k.error > 0")
    if wanted.slower_than is not None:
        require("(k.longest > ? OR k.error < 0)", wanted.slower_than)
    if wanted.works_only:
        require(f"(k.error <> 0 OR k.boundary {IN_JSON})", json_list(boundaries_that_work(reader)))
    return "".join(parts), parameters


def boundaries_that_work(reader: Reader) -> list[int]:
    """The boundary functions that compile, load or run programs or move data, and those of other boundaries.

    What the mock TPU and behaviours do inside of those is none of them.
    """
    rows = reader.rows("SELECT id, name, boundary FROM boundaries WHERE boundary NOT IN ('mock_tpu', 'behaviour')")
    return [identifier for identifier, name, kind in rows if kind != "pjrt" or function_named(name).works]


def _of_rows(
    reader: Reader, wanted: CallFilter, first: int, last: int
) -> tuple[tuple[int, int], str, Sequence[object]]:
    """The ids that the filter leaves of a capture's, and what it says of each call, as in `Passing`."""
    parts: list[str] = []
    parameters: list[object] = []
    if wanted.after is not None:
        first = _started(reader, first, last, wanted.after)
    if wanted.before is not None:
        last = _started(reader, first, last, wanted.before + 1) - 1
    if wanted.slower_than is not None:
        parts.append(" AND (c.duration > ? OR c.duration < 0)")
        parameters.append(wanted.slower_than)
    if wanted.object is not None:
        found = calls_of_object(reader, wanted.object, wanted.capture)
        first, last = max(first, found.first), min(last, found.last)
        parts.append(f" AND {found.condition}")
        parameters += found.parameters
    return (first, last), "".join(parts), parameters


def _started(reader: Reader, first: int, last: int, time: int) -> int:
    """The first of these calls that began at this time or later; one more than the last where none did."""
    begin, end = first, last + 1
    while begin < end:
        middle = (begin + end) // 2
        row = reader.row("SELECT start FROM call_rows WHERE id = ?", middle)
        if row is not None and row[0] < time:
            begin = middle + 1
        else:
            end = middle
    return begin


def _boundaries_meant(reader: Reader, names: str) -> list[int]:
    """The ids of the boundary functions meant by names, parts of names and patterns, with commas between."""
    found: set[int] = set()
    for name in filter(None, (part.strip() for part in names.split(","))):
        if any(character in name for character in "*?["):
            found.update(row[0] for row in reader.rows("SELECT id FROM boundaries WHERE name GLOB ?", name))
        else:
            found.update(row[0] for row in boundaries_like(reader, name))
    return sorted(found)


def boundaries_like(reader: Reader, name: str) -> list[Row]:
    """(id, name, calls) of the called boundary functions of this name, else of those that have it as whole words.

    Where none has, of those with it as a part.
    """
    rows = reader.rows(
        "SELECT b.id, b.name, sum(k.calls) FROM boundaries b JOIN call_kinds k ON k.boundary = b.id"
        " WHERE instr(lower(b.name), lower(?)) > 0 GROUP BY b.id ORDER BY b.name",
        name,
    )
    fits = [(fit(row[1], name) or Fit.PART, row) for row in rows]
    best = min((each for each, _ in fits), default=Fit.PART)
    return [row for each, row in fits if each is best or best > Fit.WORDS]


def _stacks_containing(reader: Reader, text: str) -> list[int]:
    """The stacks with a frame whose function or file contains the text, or that stands at FILE:LINE as it is now."""
    at = _FILE_AND_LINE.fullmatch(text)
    standing = [] if at is None else _frames_at(reader, at["path"], int(at["line"]))
    rows = reader.rows(
        "WITH RECURSIVE wanted(frame) AS ("
        " SELECT fr.id FROM frames fr JOIN functions fn ON fn.id = fr.function"
        " WHERE instr(lower(fn.name), lower(?1)) > 0 OR instr(lower(fn.symbol), lower(?1)) > 0"
        " UNION SELECT fr.id FROM frames fr JOIN files f ON f.id = fr.file WHERE instr(lower(f.path), lower(?1)) > 0"
        " UNION SELECT value FROM json_each(?2))" + _STACKS_WITH_WANTED,
        text,
        json_list(standing),
    )
    return [stack for (stack,) in rows]


def _frames_at(reader: Reader, path: str, line: int) -> list[int]:
    """The frames that stand on a line, as it is now, of the files whose paths contain a text."""
    files = reader.rows(
        "SELECT path FROM files f WHERE instr(lower(path), lower(?)) > 0"
        " AND EXISTS (SELECT 1 FROM frames WHERE file = f.id)",
        path,
    )
    conditions = (AskedLine(reader, file, line).on_lines("fr", [line]) for (file,) in files)
    return [frame for each in conditions for (frame,) in reader.rows(f"SELECT fr.id FROM frames fr WHERE {each}")]


def stacks_through(reader: Reader, functions: Sequence[int]) -> list[int]:
    """The stacks with a frame of one of these functions."""
    rows = reader.rows(
        f"WITH RECURSIVE wanted(frame) AS (SELECT id FROM frames WHERE function {IN_JSON})" + _STACKS_WITH_WANTED,
        json_list(functions),
    )
    return [stack for (stack,) in rows]
