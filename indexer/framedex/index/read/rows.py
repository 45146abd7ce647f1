"""Read rows: a connection with translated errors, the captures in scope, and model types built from rows.

The SELECT fragments name their tables `fn` (functions), `fr` (frames), `c` (calls) and `k` (their kinds). Only the
functions here depend on the order of the columns. A location is read with the recorded state of its file, so that later
changes are reported.

Each table of totals has the totals of all captures and those of the latest run that passed its subject (see
`schema.sql`). Rows below a line, frame or function never have a later run than the line, frame or function itself. So a
query for one run reads the rows of exactly that run.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Self

from framedex.base.progress import QueryProgress
from framedex.index.file.conventions import IN_JSON, Row, build_json_list
from framedex.index.file.database import translate_errors
from framedex.index.file.values import build_location, fold_range, read_stored_text, to_storable, to_unsigned
from framedex.index.read.locations import LocationMapper, StatementLines, UrlFinder, build_state
from framedex.index.read.query_cache import QueryCache
from framedex.model import (
    CallRow,
    CaptureRow,
    FileState,
    FrameRole,
    FrameRow,
    FunctionRow,
    Language,
    Location,
    StopReason,
    StopReasons,
)

ALL = 0

_LINE_COLUMNS = "file, line, version, boundary, run_calls AS calls, run_duration AS duration, latest_call"
_STEP_COLUMNS = "origin, target, run_calls AS calls"
_EDGE_COLUMNS = "caller, callee, run_calls AS calls"
_TOTALS_COLUMNS = {
    "nodes": "id, parent, frame, depth, run_calls AS calls, run_longest AS longest, makes_client",
    "stack_calls": "stack, boundary, run_calls AS calls, run_duration AS duration, latest_call",
    "line_calls": _LINE_COLUMNS,
    "line_links": f"{_LINE_COLUMNS}, how",
    "steps": _STEP_COLUMNS,
    "code_steps": _STEP_COLUMNS,
    "readable_steps": _STEP_COLUMNS,
    "edges": _EDGE_COLUMNS,
    "code_edges": _EDGE_COLUMNS,
}


CALL_COLUMNS = (
    "c.id, k.capture, b.name, b.boundary, t.label, t.tid, c.start, c.duration, k.error, a.json, k.stack,"
    " c.id - c.inside"
)

CALL_TABLES = (
    "call_rows c CROSS JOIN call_kinds k ON k.id = c.kind CROSS JOIN boundaries b ON b.id = k.boundary"
    " CROSS JOIN threads t ON t.id = k.thread CROSS JOIN arguments a ON a.id = c.arguments"
)

CAPTURE_COLUMNS = "p.id, p.path, p.started, p.command, p.calls, p.stacks, p.metadata, p.problems, p.stops, p.run"


@dataclass(frozen=True, slots=True)
class Scope:
    """The captures in scope: with `is_latest` the latest run of a query's subject, otherwise all.

    `run` is that run once it is known. `is_subset` marks an index restricted to chosen captures (`subset.py`).
    """

    is_latest: bool = False
    run: int = ALL
    is_subset: bool = False

    @property
    def is_narrow(self) -> bool:
        """Whether some captures are excluded."""
        return self.run != ALL or self.is_subset

    def build_capture_condition(self, table: str, capture: int | None = None) -> str:
        """Return a condition (" AND ...") for rows of this capture, or of all captures in scope if it is None."""
        if capture is not None:
            return f" AND {table}.capture = {capture}"
        return f" AND {table}.capture IN (SELECT id FROM captures WHERE run = {self.run})" if self.run else ""

    def totals_table(self, table: str) -> str:
        """Return the table of totals, or a subquery with the run's rows under the same column names."""
        if self.run == ALL:
            return table
        return f"(SELECT {_TOTALS_COLUMNS[table]} FROM {table} WHERE run = {self.run})"


def build_location_columns(table: str) -> str:
    """Return the columns of a location for `Reader.build_location`; the query needs `build_location_joins`."""
    state = ", ".join(f"coalesce({table}v.{name}, {table}s.{name})" for name in ("modified", "size", "blob"))
    return f"{table}f.path, {table}.line, {table}.how, {state}"


def build_location_joins(table: str) -> str:
    """Return the joins for the location columns of a table of functions or frames."""
    return (
        f" LEFT JOIN files {table}f ON {table}f.id = {table}.file"
        f" LEFT JOIN file_versions {table}v ON {table}v.id = {table}.version"
        f" LEFT JOIN source_files {table}s ON {table}s.file = {table}.file AND {table}.how <> 'exact'"
    )


FUNCTION_COLUMNS = (
    "fn.id, fn.language, fn.role, fn.name, fn.symbol, fn.module, fn.unit, fn.end_line, " + build_location_columns("fn")
)
FUNCTION_TABLES = "functions fn" + build_location_joins("fn")


@dataclass(frozen=True, slots=True)
class Reader:
    """A read connection to the index at `path`; `links` are the project's own URL templates (see `Settings`).

    `scope` selects the captures whose totals are read.
    """

    connection: sqlite3.Connection
    path: Path
    places: LocationMapper
    links: Mapping[str, str] = field(default_factory=dict)
    statements: StatementLines = field(default_factory=StatementLines)
    cache: QueryCache = field(default_factory=QueryCache)
    progress: QueryProgress = field(default_factory=QueryProgress)
    scope: Scope = field(default_factory=Scope)

    @classmethod
    def from_connection(
        cls, connection: sqlite3.Connection, path: Path, links: Mapping[str, str], scope: Scope
    ) -> Self:
        """Return a reader of a connection that maps lines by the texts stored in the index."""
        return cls(connection, path, LocationMapper(partial(_read_blob, connection, path)), links, scope=scope)

    def totals_table(self, table: str) -> str:
        """Return the table of totals, or a subquery with its rows in this scope."""
        return self.scope.totals_table(table)

    def restrict_to_latest_run(self, query: str, *parameters: object) -> Reader:
        """Return a reader restricted to the run that the query returns; the same reader if it returns NULL or no row.

        Also the same reader unless the scope is the latest run and there are several runs.
        """
        if not self.counts_one_of_several_runs():
            return self
        row = self.row(query, *parameters)
        return replace(self, scope=replace(self.scope, run=row[0])) if row and row[0] else self

    def counts_one_of_several_runs(self) -> bool:
        """Whether only the latest run of a subject counts, and the index has several runs."""
        return self.scope.is_latest and self.cache.get_or_compute("several runs", self._has_several_runs)

    def _has_several_runs(self) -> bool:
        query = "SELECT run FROM captures WHERE calls > 0 ORDER BY run"
        return self.row(f"{query} LIMIT 1") != self.row(f"{query} DESC LIMIT 1")

    def build_location(
        self,
        path: str | None,
        line: int | None,
        how: str | None,
        modified: int | None,
        size: int | None,
        blob: str | None,
    ) -> Location | None:
        """Return the current location from its columns, or None if they are NULL."""
        found = build_location(path, line, how)
        state = build_state(modified, size, blob)
        if found is None or state is None or self.is_unchanged(found.path, state):
            return found
        return self.places.to_current(found, state)

    def stored_text(self, blob: str) -> bytes | None:
        """Return the stored text of a source file by its git blob; None if it is missing or damaged."""
        return _read_blob(self.connection, self.path, blob)

    def is_unchanged(self, path: str, state: FileState) -> bool:
        """Whether a file still has the mtime and size of a state, or no longer exists."""
        current = self.cache.find_file(path)
        return current is None or (current.modified, current.size) == (state.modified, state.size)

    def rows(self, query: str, *parameters: object) -> list[Row]:
        """Return all rows of a query. Raises FramedexError if the file cannot be read."""
        with translate_errors(self.path):
            return self.connection.execute(query, _bind_text(parameters)).fetchall()

    def iter_rows(self, query: str, *parameters: object) -> Iterator[Row]:
        """Yield the rows of a query; callers may stop early. Raises FramedexError if the file cannot be read."""
        with translate_errors(self.path):
            rows = self.connection.execute(query, _bind_text(parameters))
            # `yield from rows` would close the cursor for callers that stop early, which fails if the index is already
            # closed.
            yield from iter(rows.fetchone, None)

    def row(self, query: str, *parameters: object) -> Row | None:
        """Return the first row of a query, or None."""
        with translate_errors(self.path):
            found: Row | None = self.connection.execute(query, _bind_text(parameters)).fetchone()
            return found


def read_functions_by_id(reader: Reader, ids: Iterable[int]) -> dict[int, FunctionRow]:
    """Return the functions with these ids, by id."""
    return reader.cache.get_or_compute_all("function", ids, partial(_read_functions, reader))


def _read_functions(reader: Reader, ids: list[int]) -> dict[int, Callable[[], FunctionRow]]:
    query = f"SELECT {FUNCTION_COLUMNS} FROM {FUNCTION_TABLES} WHERE fn.id {IN_JSON}"
    return {row[0]: partial(_build_function, reader, row) for row in reader.rows(query, build_json_list(ids))}


def read_frames_by_id(reader: Reader, ids: Iterable[int]) -> dict[int, FrameRow]:
    """Return the frames with these ids, by id, with their functions and candidates."""
    return reader.cache.get_or_compute_all("frame", ids, partial(_read_frames, reader))


def _read_frames(reader: Reader, ids: list[int]) -> dict[int, Callable[[], FrameRow]]:
    wanted = build_json_list(ids)
    rows = reader.rows(
        f"SELECT fr.id, fr.function, m.path, fr.offset, fr.inlined, fr.is_returning, fr.recorded_line,"
        f" {build_location_columns('fr')}"
        f" FROM frames fr LEFT JOIN modules m ON m.id = fr.module {build_location_joins('fr')} WHERE fr.id {IN_JSON}",
        wanted,
    )
    functions = read_functions_by_id(reader, {row[1] for row in rows})
    candidates: dict[int, list[Row]] = {}
    for frame, *place in reader.rows(
        "SELECT x.frame, f.path, x.line, x.how, s.modified, s.size, s.blob FROM candidates x JOIN files f"
        " ON f.id = x.file LEFT JOIN source_files s ON s.file = x.file"
        f" WHERE x.frame {IN_JSON} ORDER BY x.frame, x.rank",
        wanted,
    ):
        candidates.setdefault(frame, []).append(tuple(place))
    return {row[0]: partial(_build_frame, reader, row, functions[row[1]], candidates.get(row[0], ())) for row in rows}


def _build_frame(reader: Reader, row: Row, function: FunctionRow, candidates: Iterable[Row]) -> FrameRow:
    reader.cache.depend_on_entry("function", function.id)
    urls = UrlFinder(reader)
    found = (reader.build_location(*place) for place in candidates)
    location, places = fold_range(reader.build_location(*row[7:]), [place for place in found if place is not None])
    return FrameRow(
        id=row[0],
        function=function,
        location=_add_url(urls, location),
        candidates=tuple(map(urls.add_url, places)),
        module=row[2] if row[2] is not None else function.module,
        offset=to_unsigned(row[3]),
        inlined=bool(row[4]),
        returning=bool(row[5]),
        line=row[6] or 0,
    )


def _add_url(urls: UrlFinder, location: Location | None) -> Location | None:
    return None if location is None else urls.add_url(location)


def read_frame_chain(reader: Reader, leaf: int) -> list[int]:
    """Return the frame ids on the path from the root of the tree to `leaf`, outermost first."""
    rows = reader.rows(
        "WITH RECURSIVE up(parent, frame, depth) AS ("
        " SELECT parent, frame, depth FROM nodes WHERE id = ?"
        " UNION ALL SELECT n.parent, n.frame, n.depth FROM up JOIN nodes n ON n.id = up.parent"
        ") SELECT frame FROM up ORDER BY depth",
        leaf,
    )
    return [frame for (frame,) in rows]


def build_functions(reader: Reader, rows: Iterable[Row]) -> list[FunctionRow]:
    """Build functions from FUNCTION_COLUMNS."""
    read = {row[0]: partial(_build_function, reader, row) for row in rows}
    functions = reader.cache.get_or_compute_all("function", read, lambda ids: {each: read[each] for each in ids})
    return [functions[each] for each in read]


def _build_function(reader: Reader, row: Row) -> FunctionRow:
    place = reader.build_location(*row[8:])
    end = reader.build_location(row[8], row[7] or None, *row[10:])
    return FunctionRow(
        id=row[0],
        language=Language(row[1]),
        role=FrameRole(row[2]),
        name=row[3],
        symbol=row[4],
        module=row[5],
        unit=row[6],
        location=_add_url(UrlFinder(reader), place),
        end_line=0 if end is None else end.line,
    )


def build_call(row: Row) -> CallRow:
    """Build a call from CALL_COLUMNS."""
    return CallRow(
        id=row[0],
        capture=row[1],
        function=row[2],
        boundary=row[3],
        thread=row[4],
        start=row[6],
        duration=row[7],
        error=row[8],
        arguments=decode_arguments(row[9]),
        stack=row[10],
        tid=row[5],
        parent=row[11],
    )


def build_capture(row: Row) -> CaptureRow:
    """Build a capture from CAPTURE_COLUMNS."""
    return CaptureRow(
        id=row[0],
        path=row[1],
        started=row[2],
        command=row[3],
        calls=row[4],
        stacks=row[5],
        metadata_text=row[6],
        problems=tuple(json.loads(row[7])),
        stops=_parse_stops(row[8]),
        run=row[9],
    )


def _parse_stops(text: str | None) -> StopReasons:
    if text is None:
        return StopReasons()
    stops = json.loads(text)
    return StopReasons(**stops | {"reasons": tuple(map(StopReason, stops["reasons"]))})


@lru_cache(maxsize=4096)
def decode_arguments(text: str) -> dict[str, Any]:
    """Return the decoded arguments of a call; malformed JSON (a damaged capture) is stored under one key.

    Calls with the same arguments share the dict, so callers must not modify it.
    """
    try:
        decoded = json.loads(text)
    except ValueError:
        decoded = None
    return decoded if isinstance(decoded, dict) else {"undecoded": text}


def _read_blob(connection: sqlite3.Connection, path: Path, blob: str) -> bytes | None:
    with translate_errors(path):
        return read_stored_text(connection, blob)


def _bind_text(parameters: tuple[object, ...]) -> tuple[object, ...]:
    return tuple(to_storable(value) if isinstance(value, str) else value for value in parameters)


def find_file_id(reader: Reader, path: str) -> int | None:
    """Return the id of a path, or None if no frame and no definition is in it."""
    row = reader.cache.get_or_compute(("file", path), lambda: reader.row("SELECT id FROM files WHERE path = ?", path))
    return None if row is None else int(row[0])
