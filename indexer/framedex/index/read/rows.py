"""Reading rows: a connection with translated errors, and model types built from its rows.

The SELECT fragments name their tables `fn` (functions), `fr` (frames), `c` (calls) and `k` (their kinds). Only the
functions here depend on the order of the columns. A location is read together with the recorded state of its file, so
that changes since then are reported.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Self

from framedex.index.file.conventions import IN_JSON, Row, json_list
from framedex.index.file.database import translated
from framedex.index.file.source_texts import stored_text
from framedex.index.file.values import location, storable, unsigned
from framedex.index.read.memory import Memory
from framedex.index.read.places import Places, state_of
from framedex.index.read.scope import Scope
from framedex.index.read.statements import StatementLines
from framedex.index.read.urls import Urls
from framedex.model import (
    CallRow,
    CaptureRow,
    FileState,
    FrameRow,
    FunctionRow,
    Language,
    Location,
    Role,
    StopReason,
    Stops,
)
from framedex.progress import Looking


def place_columns(table: str) -> str:
    """Return the columns of a location in functions or frames, for `Reader.location`; needs `place_tables`."""
    state = ", ".join(f"coalesce({table}v.{name}, {table}s.{name})" for name in ("modified", "size", "blob"))
    return f"{table}f.path, {table}.line, {table}.how, {state}"


def place_tables(table: str) -> str:
    """Return the joins for the location columns of a table of functions or frames."""
    return (
        f" LEFT JOIN files {table}f ON {table}f.id = {table}.file"
        f" LEFT JOIN file_versions {table}v ON {table}v.id = {table}.version"
        f" LEFT JOIN source_files {table}s ON {table}s.file = {table}.file AND {table}.how <> 'exact'"
    )


FUNCTION_COLUMNS = "fn.id, fn.language, fn.role, fn.name, fn.symbol, fn.module, fn.unit, fn.end_line, " + place_columns(
    "fn"
)
FUNCTION_TABLES = "functions fn" + place_tables("fn")

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
class Reader:
    """A read connection to the index at `path`; `links` are the project's own URL templates (see `Settings`).

    `scope` selects the captures whose totals are read.
    """

    connection: sqlite3.Connection
    path: Path
    places: Places
    links: Mapping[str, str] = field(default_factory=dict)
    statements: StatementLines = field(default_factory=StatementLines)
    memory: Memory = field(default_factory=Memory)
    looking: Looking = field(default_factory=Looking)
    scope: Scope = field(default_factory=Scope)

    @classmethod
    def on(cls, connection: sqlite3.Connection, path: Path, links: Mapping[str, str], scope: Scope) -> Self:
        """Return a reader of a connection that maps lines by the texts stored in the index."""
        return cls(connection, path, Places(partial(_stored_text, connection, path)), links, scope=scope)

    def totals(self, table: str) -> str:
        """Return the table or subquery for a table of totals in this scope."""
        return self.scope.totals(table)

    def of_latest(self, query: str, *parameters: object) -> Reader:
        """Return a reader restricted to the run that the query returns; unchanged if it returns NULL or no row.

        Also unchanged unless the scope is latest and there are several runs.
        """
        if not self.is_of_several():
            return self
        row = self.row(query, *parameters)
        return replace(self, scope=replace(self.scope, run=row[0])) if row and row[0] else self

    def is_of_several(self) -> bool:
        """Whether the scope is latest and there are several runs."""
        return self.scope.is_latest and self.memory.recall("several runs", self._has_several_runs)

    def _has_several_runs(self) -> bool:
        row = self.row("SELECT count(DISTINCT run) FROM captures WHERE calls > 0")
        return row is not None and row[0] > 1

    def location(
        self,
        path: str | None,
        line: int | None,
        how: str | None,
        modified: int | None,
        size: int | None,
        blob: str | None,
    ) -> Location | None:
        """Return the current location from its columns, or None if they are NULL."""
        found = location(path, line, how)
        then = state_of(modified, size, blob)
        if found is None or then is None or self.is_unchanged(found.path, then):
            return found
        return self.places.now(found, then)

    def is_unchanged(self, path: str, then: FileState) -> bool:
        """Whether a file has the same mtime and size as in a state; also true if it is missing now."""
        now = self.memory.file(path)
        return now is None or (now.modified, now.size) == (then.modified, then.size)

    def rows(self, query: str, *parameters: object) -> list[Row]:
        """Return all rows of a query. Raises FramedexError if the file cannot be read."""
        with translated(self.path):
            return self.connection.execute(query, _bindable(parameters)).fetchall()

    def each(self, query: str, *parameters: object) -> Iterator[Row]:
        """Yield the rows of a query; callers may stop early. Raises FramedexError if the file cannot be read."""
        with translated(self.path):
            rows = self.connection.execute(query, _bindable(parameters))
            # `yield from rows` would close the cursor for callers that stop early, which fails if the index is already
            # closed.
            yield from iter(rows.fetchone, None)

    def row(self, query: str, *parameters: object) -> Row | None:
        """Return the first row of a query, or None."""
        with translated(self.path):
            found: Row | None = self.connection.execute(query, _bindable(parameters)).fetchone()
            return found


def functions_by_id(reader: Reader, ids: Iterable[int]) -> dict[int, FunctionRow]:
    """Return the functions with these ids, by id."""
    return reader.memory.recall_all("function", ids, partial(_read_functions, reader))


def _read_functions(reader: Reader, ids: list[int]) -> dict[int, Callable[[], FunctionRow]]:
    query = f"SELECT {FUNCTION_COLUMNS} FROM {FUNCTION_TABLES} WHERE fn.id {IN_JSON}"
    return {row[0]: partial(_function_row, reader, row) for row in reader.rows(query, json_list(ids))}


def frames_by_id(reader: Reader, ids: Iterable[int]) -> dict[int, FrameRow]:
    """Return the frames with these ids, by id, with their functions and candidates."""
    return reader.memory.recall_all("frame", ids, partial(_read_frames, reader))


def _read_frames(reader: Reader, ids: list[int]) -> dict[int, Callable[[], FrameRow]]:
    wanted = json_list(ids)
    rows = reader.rows(
        f"SELECT fr.id, fr.function, m.path, fr.offset, fr.inlined, fr.is_returning, fr.recorded_line,"
        f" {place_columns('fr')}"
        f" FROM frames fr LEFT JOIN modules m ON m.id = fr.module {place_tables('fr')} WHERE fr.id {IN_JSON}",
        wanted,
    )
    functions = functions_by_id(reader, {row[1] for row in rows})
    candidates: dict[int, list[Row]] = {}
    for frame, *place in reader.rows(
        "SELECT x.frame, f.path, x.line, x.how, s.modified, s.size, s.blob FROM candidates x JOIN files f"
        " ON f.id = x.file LEFT JOIN source_files s ON s.file = x.file"
        f" WHERE x.frame {IN_JSON} ORDER BY x.frame, x.rank",
        wanted,
    ):
        candidates.setdefault(frame, []).append(tuple(place))
    return {row[0]: partial(_frame_row, reader, row, functions[row[1]], candidates.get(row[0], ())) for row in rows}


def _frame_row(reader: Reader, row: Row, function: FunctionRow, candidates: Iterable[Row]) -> FrameRow:
    reader.memory.rests_on("function", function.id)
    urls = Urls(reader)
    places = (reader.location(*place) for place in candidates)
    return FrameRow(
        id=row[0],
        function=function,
        location=_published(urls, reader.location(*row[7:])),
        candidates=tuple(urls.added(place) for place in places if place is not None),
        module=row[2] if row[2] is not None else function.module,
        offset=unsigned(row[3]),
        inlined=bool(row[4]),
        returning=bool(row[5]),
        line=row[6] or 0,
    )


def _published(urls: Urls, location: Location | None) -> Location | None:
    return None if location is None else urls.added(location)


def chain(reader: Reader, leaf: int) -> list[int]:
    """Return the frame ids on the path from the root of the tree to `leaf`, outermost first."""
    rows = reader.rows(
        "WITH RECURSIVE up(parent, frame, depth) AS ("
        " SELECT parent, frame, depth FROM nodes WHERE id = ?"
        " UNION ALL SELECT n.parent, n.frame, n.depth FROM up JOIN nodes n ON n.id = up.parent"
        ") SELECT frame FROM up ORDER BY depth",
        leaf,
    )
    return [frame for (frame,) in rows]


def function_rows(reader: Reader, rows: Iterable[Row]) -> list[FunctionRow]:
    """Build functions from FUNCTION_COLUMNS."""
    read = {row[0]: partial(_function_row, reader, row) for row in rows}
    functions = reader.memory.recall_all("function", read, lambda ids: {each: read[each] for each in ids})
    return [functions[each] for each in read]


def _function_row(reader: Reader, row: Row) -> FunctionRow:
    place = reader.location(*row[8:])
    end = reader.location(row[8], row[7] or None, *row[10:])
    return FunctionRow(
        id=row[0],
        language=Language(row[1]),
        role=Role(row[2]),
        name=row[3],
        symbol=row[4],
        module=row[5],
        unit=row[6],
        location=_published(Urls(reader), place),
        end_line=0 if end is None else end.line,
    )


def call_row(row: Row) -> CallRow:
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
        arguments=arguments(row[9]),
        stack=row[10],
        tid=row[5],
        parent=row[11],
    )


def capture_row(row: Row) -> CaptureRow:
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
        stops=_stops(row[8]),
        run=row[9],
    )


def _stops(text: str | None) -> Stops:
    if text is None:
        return Stops()
    stops = json.loads(text)
    return Stops(**stops | {"reasons": tuple(map(StopReason, stops["reasons"]))})


@lru_cache(maxsize=4096)
def arguments(text: str) -> dict[str, Any]:
    """Return the decoded arguments of a call; malformed JSON (a damaged capture) is stored under one key.

    Calls with the same arguments share the dict, so callers must not modify it.
    """
    try:
        decoded = json.loads(text)
    except ValueError:
        decoded = None
    return decoded if isinstance(decoded, dict) else {"undecoded": text}


def _stored_text(connection: sqlite3.Connection, path: Path, blob: str) -> bytes | None:
    with translated(path):
        return stored_text(connection, blob)


def _bindable(parameters: tuple[object, ...]) -> tuple[object, ...]:
    return tuple(storable(value) if isinstance(value, str) else value for value in parameters)


def file_id(reader: Reader, path: str) -> int | None:
    """Return the id of a path, or None if no frame and no definition is in it."""
    row = reader.memory.recall(("file", path), lambda: reader.row("SELECT id FROM files WHERE path = ?", path))
    return None if row is None else int(row[0])
