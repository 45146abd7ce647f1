"""Read-only SQL queries of a store with DuckDB. Queries see only complete captures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from framedex.base import words
from framedex.base.errors import FramedexError, raise_if_no_descriptor
from framedex.fleet import schema
from framedex.fleet.committed import (
    COLUMNS,
    CommittedCapture,
    find_fully_counted_parts,
    is_dropped,
    remedy,
    select_counted_rows,
)
from framedex.fleet.drops import read_drops
from framedex.fleet.libraries import duckdb, pa
from framedex.fleet.marks import read_marked_names
from framedex.fleet.tables import read_segments

if TYPE_CHECKING:
    import numpy.typing as npt

    from framedex.fleet.store_root import StoreRoot

_READABLE = (
    "SELECT table_name AS view, string_agg(column_name, ', ' ORDER BY column_index) AS columns FROM duckdb_columns()"
    " WHERE schema_name = 'main' AND NOT internal GROUP BY ALL ORDER BY view"
)
# Captures share frames and stacks. Of several descriptions of a frame, the one with most symbols and lines counts; the
# stored `known` is not trusted. A description must match its hash. DuckDB writes non-ASCII texts differently, so those
# are only checked for order. A stack whose id differs from the hash of its frames is ignored.
_FRAME_COLUMNS = ", ".join(f'"{name}"' for name in schema.FRAMES.names if name not in ("id", "known", "description"))
_DEDUPLICATED_ROWS = {
    "frames": "WITH told AS (SELECT filename, id, description,"
    " sum((symbol <> '')::BIGINT + 2 * (line > 0)::BIGINT)::BIGINT AS known,"
    f" string_agg(to_json(struct_pack({_FRAME_COLUMNS}))::VARCHAR, ',' ORDER BY depth) AS content,"
    " count(*) = count(DISTINCT depth) AND min(depth) = 0 AND max(depth) = count(*) - 1 AS is_in_order"
    " FROM files.frames GROUP BY filename, id, description),"
    " sound AS (SELECT filename, id, description, known FROM told WHERE is_in_order"
    " AND (NOT regexp_full_match(content, '[ -~]*')"
    " OR description = left(sha256('[\"' || id || '\",' || content || ']'), 32)))"
    f" SELECT DISTINCT f.id, {_FRAME_COLUMNS}, s.known, f.description FROM files.frames f"
    " JOIN sound s ON s.filename = f.filename AND s.id = f.id AND s.description = f.description"
    " QUALIFY f.description = first_value(f.description) OVER (PARTITION BY f.id ORDER BY s.known DESC, f.description)",
    "stacks": "SELECT * EXCLUDE (filename) FROM files.stacks WHERE id ="
    " left(sha256('[\"stack\",' || to_json(frames)::VARCHAR || ','"
    " || to_json(python)::VARCHAR || ',' || to_json(outcome)::VARCHAR || ',' || is_truncated::VARCHAR || ']'), 32)"
    " QUALIFY row_number() OVER (PARTITION BY id ORDER BY user_frame) = 1",
}


@dataclass(frozen=True, slots=True)
class QueryResult:
    """The rows of a query. `left_out` has sentences about files of the store that could not be read."""

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    left_out: tuple[str, ...] = ()


class ForeignFilesError(FramedexError):
    """Files with the calls of some captures are not store files: later queries leave these captures out."""


class StoreConnection:
    """An open store for queries: a context manager. `address` is the store's address."""

    def __init__(self, store: StoreRoot) -> None:
        """Open a store. Raises FramedexError if there is no store, or its captures cannot be read."""
        store.check()
        self._root = store
        self.address = store.address
        self._connection = duckdb.connect(":memory:")
        self._current_captures: dict[str, CommittedCapture] = {}
        self._found: dict[str, CommittedCapture] = {}  # includes captures that were left out later
        self._whole_parts: set[str] = set()
        self.left_out: list[str] = []
        try:
            with _interruptible():
                self._open()
        except BaseException:
            self._connection.close()
            raise

    def __enter__(self) -> StoreConnection:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def query(self, text: str | None = None) -> QueryResult:
        """Return the result of one SELECT; without a query, list the tables and views with their columns.

        Raises FramedexError if the text is not a single valid SELECT, or the store cannot be read.
        """
        if text is None:
            text = _READABLE
        else:
            self._check(text)
        with self._converting_errors("Invalid query"):
            try:
                with self._quarantining():
                    return self._run_in_thread(text)
            except ForeignFilesError:
                return self._run_in_thread(text)

    def _run_in_thread(self, text: str) -> QueryResult:
        """Run a query in a thread. DuckDB would block Ctrl-C in the main thread."""

        def answer() -> QueryResult:
            cursor = self._connection.execute(text)
            columns = tuple(name for name, *_ in cursor.description)
            return QueryResult(columns, cursor.fetchall(), tuple(self.left_out))

        with ThreadPoolExecutor(1) as thread:
            try:
                return thread.submit(answer).result()
            except BaseException:
                self._connection.interrupt()
                raise

    def rows(self, text: str, parameters: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Return the rows of a query of framedex itself. Each `?` is a parameter.

        Raises ForeignFilesError if later queries leave captures out, and FramedexError if the store cannot be read.
        """
        with self._converting_errors(f"The store {self._root.address} is damaged", _RETRY_REMEDY), self._quarantining():
            return self._connection.execute(text, list(parameters)).fetchall()

    def columns(self, text: str, parameters: Sequence[object] = ()) -> dict[str, npt.NDArray[Any]]:
        """Return the columns of a query as arrays. Raises the same errors as `rows`."""
        with self._converting_errors(f"The store {self._root.address} is damaged", _RETRY_REMEDY), self._quarantining():
            columns: dict[str, npt.NDArray[Any]] = self._connection.execute(text, list(parameters)).fetchnumpy()
            return columns

    def build_rows_sql(self, table: str, captures: Sequence[str]) -> str:
        """Return SQL for the rows of `calls` or `call_kinds` of these captures and of captures in the same files.

        Captures that are left out have no rows.
        """
        return self._build_selection_sql(
            table, [self._current_captures[capture] for capture in captures if capture in self._current_captures]
        )

    def remedy(self, capture: str) -> str:
        """Return a sentence about how to add a damaged capture again."""
        return remedy(self._root, self._found[capture])

    def _check(self, text: str) -> None:
        with self._converting_errors("Invalid query"):
            statements = self._connection.extract_statements(text)
        kinds = (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN)
        if len(statements) != 1 or statements[0].type not in kinds:
            raise FramedexError(
                "Stores are read-only: a query must be a single SELECT.", "Run without a query to list the views."
            )

    def segment_of(self, capture: str) -> Iterator[tuple[str, bytes]]:
        """Yield the parts of a capture's segment: their names and data. Raises FramedexError if they cannot be read."""
        try:
            with self._root.open_file(f"segments/{self._found[capture].part}") as file:
                for table in read_segments(file, {capture}):
                    yield from ((row["name"], row["data"]) for row in table.to_pylist())
        except (pa.ArrowException, OSError) as error:
            raise FramedexError(
                f"The store {self._root.address} cannot be read: {error}.", self.remedy(capture)
            ) from error

    def _open(self) -> None:
        """Read the small tables, create the views, and restrict queries to the store."""
        place, connection = self._root, self._connection
        if not place.is_local:
            connection.register_filesystem(place.files)
        connection.execute("CREATE SCHEMA files")
        self._open_captures()
        rows = list(self._current_captures.values())
        folders = sorted({row.partition for row in rows})
        for table, one_of_each in _DEDUPLICATED_ROWS.items():
            self._read(table, [name for folder in folders for name in place.names(f"{table}/{folder}")])
            connection.execute(f"CREATE TABLE {table} AS {one_of_each}")
            connection.execute(f"DROP TABLE files.{table}")
        with self._converting_errors(f"The store {place.address} is damaged", _RETRY_REMEDY):
            try:
                if not (self._has_irregular_parts() and self._quarantine()):
                    self._open_calls()
            except duckdb.Error:  # one of the files is damaged
                if not self._quarantine():
                    raise
        connection.execute(Path(__file__).with_name("views.sql").read_text("utf-8"))
        connection.execute(f"SET allowed_directories = [{_quote(place.address)}]")
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")

    def _has_irregular_parts(self) -> bool:
        parts = {row.part for row in self._current_captures.values()}
        return any(self._root.is_irregular(f"{table}/{part}") for part in parts for table in _CALL_TABLES)

    def _open_calls(self) -> None:
        """Create the views of calls and call kinds, for the captures that count."""
        rows = list(self._current_captures.values())
        self._whole_parts = find_fully_counted_parts(rows)
        for table in _CALL_TABLES:
            self._connection.execute(f"CREATE OR REPLACE VIEW {table} AS {self._build_selection_sql(table, rows)}")

    def _quarantine(self, *, is_read: bool = False) -> bool:
        """Leave out captures whose call files are not store files. Return whether there are such captures.

        `is_read`: read the files completely, not only their columns.
        """
        drops = read_drops(self._root).values()
        parts = dict.fromkeys(row.part for row in self._current_captures.values())  # captures may share one
        faults = {part: fault for part in parts if (fault := self._describe_fault(part, is_read=is_read))}
        for part, fault in faults.items():
            rows = [row for row in self._current_captures.values() if row.part == part]
            if not all(is_dropped(row, drops) for row in rows):
                many = f"{words.count(len(rows), 'capture')} with calls there {'is' if len(rows) == 1 else 'are'}"
                self.left_out.append(f"{fault}: {many} left out. {self.remedy(rows[0].capture)}")
        quarantined = [capture for capture, row in self._current_captures.items() if row.part in faults]
        if quarantined:
            self._current_captures = {
                capture: row for capture, row in self._current_captures.items() if row.part not in faults
            }
            for table in ("captures", "files.counted"):
                self._connection.execute(
                    f"DELETE FROM {table} WHERE list_contains(?::VARCHAR[], capture)", [quarantined]
                )
            self._open_calls()
        return bool(quarantined)

    @contextmanager
    def _quarantining(self) -> Iterator[None]:
        try:
            yield
        except duckdb.Error as error:
            if isinstance(error, _QUERY_ERRORS) or not (self._quarantine() or self._quarantine(is_read=True)):
                raise
            dropped = f"Captures of {self._root.address} were dropped during the query."
            raise ForeignFilesError(self.left_out[-1] if self.left_out else dropped, _RETRY_REMEDY) from error

    def _describe_fault(self, part: str, *, is_read: bool) -> str:
        """Return why the files of a part cannot be used, as a sentence without its full stop; empty if they can."""
        for table in _CALL_TABLES:
            if self._root.is_irregular(f"{table}/{part}"):
                return f"{self._root.url(f'{table}/{part}')} is not a store file: {_IRREGULAR}"
            columns = _column_types(table)
            selected = ", ".join(f'"{name}"' for name, _ in columns)
            text = f"SELECT {selected} FROM {self._build_parquet_sql([f'{table}/{part}'])}"
            reason = ""
            try:
                described = self._connection.execute(f"DESCRIBE {text}").fetchall()
                if [(name, kind) for name, kind, *_ in described] != columns:
                    reason = "its columns are not those of a store"
                elif is_read:
                    self._connection.execute(f"SELECT bit_xor(hash(f)) FROM ({text}) f").fetchall()
            except duckdb.OutOfMemoryException as error:
                raise MemoryError(str(error)) from error
            except duckdb.Error as error:
                raise_if_no_descriptor()
                reason = str(error).splitlines()[0]
            if reason:
                return f"{self._root.url(f'{table}/{part}')} is not a store file: {reason}"
        return ""

    def _open_captures(self) -> None:
        """Read the rows of captures, and keep the one that counts of each capture."""
        place, connection = self._root, self._connection
        marked = read_marked_names(place)
        names = place.files_below("captures")
        self._read("captures", names)
        by_url = {place.url(name): name for name in names}
        cursor = connection.execute(f"SELECT {', '.join(COLUMNS)}, filename FROM files.captures")
        rows = []
        for *row, url in cursor.fetchall():
            try:
                rows.append(CommittedCapture.from_row(by_url[url], dict(zip(COLUMNS, row, strict=True))))
            except (ValueError, TypeError) as error:
                self.left_out.append(f"{url} is left out: {error}.")
        # Drops are read after the rows: files of a concurrent drop may have been missing.
        self._current_captures = self._found = select_counted_rows(rows, read_drops(place).values(), marked)
        connection.execute("CREATE TABLE files.counted (capture VARCHAR, file VARCHAR, part VARCHAR)")
        counting = [(row.capture, place.url(row.file), row.part) for row in self._current_captures.values()]
        if counting:
            connection.executemany("INSERT INTO files.counted VALUES (?, ?, ?)", counting)
        columns = ", ".join(f'"{name}"' for name, _ in _column_types("captures") if name not in schema.FILE_COLUMNS)
        connection.execute(
            f"CREATE TABLE captures AS SELECT {columns} FROM files.captures SEMI JOIN files.counted c"
            " ON captures.capture = c.capture AND filename = c.file"
            " QUALIFY row_number() OVER (PARTITION BY captures.capture) = 1"
        )
        connection.execute("DROP TABLE files.captures")

    def _read(self, table: str, names: list[str]) -> None:
        """Read the rows of these files with the files' addresses. Leave out files that are not store files."""
        definition = ", ".join(f'"{name}" {kind}' for name, kind in _column_types(table))
        self._connection.execute(f"CREATE TABLE files.{table} ({definition}, filename VARCHAR)")
        irregular = {name for name in names if self._root.is_irregular(name)}  # DuckDB would block on a pipe
        self.left_out += [f"{self._root.url(name)} is left out: {_IRREGULAR}." for name in sorted(irregular)]
        names = [name for name in names if name not in irregular]
        try:
            self._insert(table, names)
        except duckdb.Error:  # a file is damaged: read the files one by one
            raise_if_no_descriptor()
            for name in names:
                try:
                    self._insert(table, [name])
                except duckdb.Error as error:
                    if self._root.modification_time(name) is None:  # it was dropped or compacted
                        continue
                    reason = str(error).splitlines()[0]
                    self.left_out.append(f"{self._root.url(name)} is left out: it is not a store file ({reason}).")

    def _insert(self, table: str, names: list[str]) -> None:
        if names:
            columns = ", ".join(f'"{name}"' for name, _ in _column_types(table))
            files = self._build_parquet_sql(names, "filename = true")
            try:
                self._connection.execute(f"INSERT INTO files.{table} SELECT {columns}, filename FROM {files}")
            except duckdb.OutOfMemoryException as error:
                raise MemoryError(str(error)) from error

    def _build_selection_sql(self, table: str, rows: Sequence[CommittedCapture]) -> str:
        """Return SQL for these captures' rows of a table. Parts in which all captures count need no filter."""
        columns = ", ".join(f'"{name}"' for name, _ in _column_types(table))
        whole = sorted({row.part for row in rows} & self._whole_parts)
        others = [row for row in rows if row.part not in self._whole_parts]
        views = []
        if whole:
            views.append(f"SELECT {columns} FROM {self._build_parquet_sql([f'{table}/{part}' for part in whole])}")
        if others:
            urls = {self._root.url(f"{table}/{row.part}"): row.part for row in others}
            parts = ", ".join(f"({_quote(url)}, {_quote(part)})" for url, part in sorted(urls.items()))
            files = self._build_parquet_sql(
                [f"{table}/{part}" for part in sorted(set(urls.values()))], "filename = true"
            )
            views.append(
                f"SELECT {columns} FROM {files} f SEMI JOIN (SELECT c.capture, p.url FROM files.counted c"
                f" JOIN (VALUES {parts}) p(url, part) ON c.part = p.part) c"
                " ON f.filename = c.url AND f.capture = c.capture"
            )
        if not views:
            nothing = ", ".join(f'NULL::{kind} AS "{name}"' for name, kind in _column_types(table))
            views.append(f"SELECT {nothing} WHERE false")
        return " UNION ALL ".join(views)

    def _build_parquet_sql(self, names: list[str], more: str = "") -> str:
        listed = ", ".join(_quote(self._root.url(name)) for name in names)
        return f"read_parquet([{listed}], hive_partitioning = false{more and f', {more}'})"

    @contextmanager
    def _converting_errors(self, what: str, remedy: str = "Run without a query to list the views.") -> Iterator[None]:
        try:
            with _interruptible():
                yield
        except duckdb.IOException as error:
            raise FramedexError(f"The store {self._root.address} cannot be read: {error}.", _RETRY_REMEDY) from error
        except duckdb.Error as error:
            raise FramedexError(f"{what}: {error}.", remedy) from error


@contextmanager
def _interruptible() -> Iterator[None]:
    """Turn DuckDB's error for Ctrl-C into KeyboardInterrupt."""
    try:
        yield
    except RuntimeError as error:
        if "interrupted" in str(error).lower():
            raise KeyboardInterrupt from error
        raise


_RETRY_REMEDY = (
    "Retry: captures may have been dropped during the query. If it fails again, remove the named file and add the"
    " captures again."
)


_CALL_TABLES = ("calls", "call_kinds")
_IRREGULAR = "it is not a regular file"
# These errors come from the query, not from the files.
_QUERY_ERRORS = (
    *(duckdb.ParserException, duckdb.BinderException, duckdb.CatalogException, duckdb.PermissionException),
    duckdb.OutOfMemoryException,
)


def _column_types(table: str) -> list[tuple[str, str]]:
    """Return the columns of a table with their DuckDB types."""
    kinds = {"string": "VARCHAR", "int64": "BIGINT", "bool": "BOOLEAN"}
    fields = getattr(schema, table.upper())
    return [(each.name, kinds.get(str(each.type), "VARCHAR[]")) for each in fields]


def _quote(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
