"""SQL on a store, by DuckDB: it reads, and sees the captures that are there whole."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from framedex import words
from framedex.errors import FramedexError, raise_if_no_descriptor
from framedex.fleet import schema
from framedex.fleet.committed import COLUMNS, Committed, counted, is_dropped, remedy, whole_parts
from framedex.fleet.drops import read_drops
from framedex.fleet.libraries import duckdb, pa
from framedex.fleet.marks import names_going
from framedex.fleet.tables import calls_in

if TYPE_CHECKING:
    import numpy.typing as npt

    from framedex.fleet.place import Place

_READABLE = (
    "SELECT table_name AS view, string_agg(column_name, ', ' ORDER BY column_index) AS columns FROM duckdb_columns()"
    " WHERE schema_name = 'main' AND NOT internal GROUP BY ALL ORDER BY view"
)
# Several captures may have brought the same. Of a frame counts what that capture told which knew most of it, whatever
# is said of how much that is. What a file tells of a frame has the hash of it; texts that are no plain ASCII stand in
# that otherwise than DuckDB writes them, and have to be in order only. A stack whose id is not that of its frames is
# none of framedex's.
_OF_FRAME = ", ".join(f'"{name}"' for name in schema.FRAMES.names if name not in ("id", "known", "description"))
_ONE_OF_EACH = {
    "frames": "WITH told AS (SELECT filename, id, description,"
    " sum((symbol <> '')::BIGINT + 2 * (line > 0)::BIGINT)::BIGINT AS known,"
    f" string_agg(to_json(struct_pack({_OF_FRAME}))::VARCHAR, ',' ORDER BY depth) AS content,"
    " count(*) = count(DISTINCT depth) AND min(depth) = 0 AND max(depth) = count(*) - 1 AS is_in_order"
    " FROM files.frames GROUP BY filename, id, description),"
    " sound AS (SELECT filename, id, description, known FROM told WHERE is_in_order"
    " AND (NOT regexp_full_match(content, '[ -~]*')"
    " OR description = left(sha256('[\"' || id || '\",' || content || ']'), 32)))"
    f" SELECT DISTINCT f.id, {_OF_FRAME}, s.known, f.description FROM files.frames f"
    " JOIN sound s ON s.filename = f.filename AND s.id = f.id AND s.description = f.description"
    " QUALIFY f.description = first_value(f.description) OVER (PARTITION BY f.id ORDER BY s.known DESC, f.description)",
    "stacks": "SELECT * EXCLUDE (filename) FROM files.stacks WHERE id ="
    " left(sha256('[\"stack\",' || to_json(frames)::VARCHAR || ','"
    " || to_json(python)::VARCHAR || ',' || to_json(outcome)::VARCHAR || ',' || is_truncated::VARCHAR || ']'), 32)"
    " QUALIFY row_number() OVER (PARTITION BY id ORDER BY user_frame) = 1",
}


@dataclass(frozen=True, slots=True)
class Answer:
    """The rows of a query. `left_out` says in sentences which files of the store could not be read."""

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    left_out: tuple[str, ...] = ()


class SetApartError(FramedexError):
    """Some captures have calls in files that are none of a store's: they are left out from now on."""


class Asking:
    """A store that is open for questions: a context manager. `address` is that of the store."""

    def __init__(self, place: Place) -> None:
        """Raises FramedexError where there is no store, or its captures cannot be read."""
        place.check()
        self._place = place
        self.address = place.address
        self._connection = duckdb.connect(":memory:")
        self._counted: dict[str, Committed] = {}
        self._found: dict[str, Committed] = {}  # also of those that are left out since
        self._whole: set[str] = set()
        self.left_out: list[str] = []
        try:
            with _interruptible():
                self._open()
        except BaseException:
            self._connection.close()
            raise

    def __enter__(self) -> Asking:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def query(self, text: str | None = None) -> Answer:
        """What one SELECT gives; without one the tables and views, with their columns.

        Raises FramedexError where it is no SELECT, is not understood, or the store cannot be read.
        """
        if text is None:
            text = _READABLE
        else:
            self._check(text)
        with self._told("The query is not understood"):
            try:
                with self._setting_apart():
                    return self._answer(text)
            except SetApartError:
                return self._answer(text)

    def _answer(self, text: str) -> Answer:
        """What a query gives. In a thread: the one that DuckDB works in does not hear of Ctrl-C meanwhile."""

        def answer() -> Answer:
            cursor = self._connection.execute(text)
            columns = tuple(name for name, *_ in cursor.description)
            return Answer(columns, cursor.fetchall(), tuple(self.left_out))

        with ThreadPoolExecutor(1) as thread:
            try:
                return thread.submit(answer).result()
            except BaseException:
                self._connection.interrupt()
                raise

    def rows(self, text: str, parameters: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """The rows that framedex's own SQL gives; its `?` stand for the parameters.

        Raises SetApartError where captures are left out from now on, and FramedexError where the store cannot be read.
        """
        with self._told(f"{self._place.address} does not have what a store has", _AGAIN), self._setting_apart():
            return self._connection.execute(text, list(parameters)).fetchall()

    def columns(self, text: str, parameters: Sequence[object] = ()) -> dict[str, npt.NDArray[Any]]:
        """The same by columns, as arrays. Raises the same."""
        with self._told(f"{self._place.address} does not have what a store has", _AGAIN), self._setting_apart():
            columns: dict[str, npt.NDArray[Any]] = self._connection.execute(text, list(parameters)).fetchnumpy()
            return columns

    def rows_of(self, table: str, captures: Sequence[str]) -> str:
        """SQL for the rows of `calls` or `call_kinds` that these captures have, and others that share their files.

        What is left out has none.
        """
        return self._selected(table, [self._counted[capture] for capture in captures if capture in self._counted])

    def remedy(self, capture: str) -> str:
        """How a capture of which the store lacks something gets there again, in a sentence."""
        return remedy(self._place, self._found[capture])

    def _check(self, text: str) -> None:
        with self._told("The query is not understood"):
            statements = self._connection.extract_statements(text)
        kinds = (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN)
        if len(statements) != 1 or statements[0].type not in kinds:
            raise FramedexError(
                "A store is asked by one SELECT: nothing is written.", "Run without a query to list the views."
            )

    def calls_of(self, capture: str) -> Iterator[Any]:
        """The calls of a capture in their order, as tables of Arrow, a group of rows after the other.

        Raises FramedexError where they cannot be read.
        """
        try:
            with self._place.opened(f"calls/{self._found[capture].part}") as file:
                yield from calls_in(file, {capture})
        except (pa.ArrowException, OSError) as error:
            raise FramedexError(
                f"The store {self._place.address} cannot be read: {error}.", self.remedy(capture)
            ) from error

    def _open(self) -> None:
        """Read the small tables, make the views, and have queries reach nothing but the store."""
        place, connection = self._place, self._connection
        if not place.is_local:
            connection.register_filesystem(place.files)
        connection.execute("CREATE SCHEMA files")
        self._open_captures()
        rows = list(self._counted.values())
        folders = sorted({row.partition for row in rows})
        for table, one_of_each in _ONE_OF_EACH.items():
            self._read(table, [name for folder in folders for name in place.names(f"{table}/{folder}")])
            connection.execute(f"CREATE TABLE {table} AS {one_of_each}")
            connection.execute(f"DROP TABLE files.{table}")
        with self._told(f"{place.address} does not have what a store has", _AGAIN):
            try:
                if not (self._has_irregular_parts() and self._set_apart()):
                    self._open_calls()
            except duckdb.Error:  # one of the files is at fault
                if not self._set_apart():
                    raise
        connection.execute(Path(__file__).with_name("views.sql").read_text("utf-8"))
        connection.execute(f"SET allowed_directories = [{_quoted(place.address)}]")
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")

    def _has_irregular_parts(self) -> bool:
        parts = {row.part for row in self._counted.values()}
        return any(self._place.is_irregular(f"{table}/{part}") for part in parts for table in _OF_CALLS)

    def _open_calls(self) -> None:
        """Make the views of calls and of their kinds, of the captures that count."""
        rows = list(self._counted.values())
        self._whole = whole_parts(rows)
        for table in _OF_CALLS:
            self._connection.execute(f"CREATE OR REPLACE VIEW {table} AS {self._selected(table, rows)}")

    def _set_apart(self, *, is_read: bool = False) -> bool:
        """Leave out the captures with calls in files that are none of a store's, all of which `is_read` to find out.

        Gives whether there are any.
        """
        drops = read_drops(self._place).values()
        parts = dict.fromkeys(row.part for row in self._counted.values())  # captures may share one
        faults = {part: fault for part in parts if (fault := self._fault(part, is_read=is_read))}
        for part, fault in faults.items():
            rows = [row for row in self._counted.values() if row.part == part]
            if not all(is_dropped(row, drops) for row in rows):
                many = f"{words.count(len(rows), 'capture')} with calls there {'is' if len(rows) == 1 else 'are'}"
                self.left_out.append(f"{fault}: {many} left out. {self.remedy(rows[0].capture)}")
        apart = [capture for capture, row in self._counted.items() if row.part in faults]
        if apart:
            self._counted = {capture: row for capture, row in self._counted.items() if row.part not in faults}
            for table in ("captures", "files.counted"):
                self._connection.execute(f"DELETE FROM {table} WHERE list_contains(?::VARCHAR[], capture)", [apart])
            self._open_calls()
        return bool(apart)

    @contextmanager
    def _setting_apart(self) -> Iterator[None]:
        try:
            yield
        except duckdb.Error as error:
            if isinstance(error, _OF_QUERY) or not (self._set_apart() or self._set_apart(is_read=True)):
                raise
            dropped = f"Captures of {self._place.address} were dropped meanwhile."
            raise SetApartError(self.left_out[-1] if self.left_out else dropped, _AGAIN) from error

    def _fault(self, part: str, *, is_read: bool) -> str:
        """What is wrong with the files of a part, in a sentence without its end; empty where nothing is."""
        for table in _OF_CALLS:
            if self._place.is_irregular(f"{table}/{part}"):
                return f"{self._place.url(f'{table}/{part}')} is not a store file: {_IRREGULAR}"
            columns = _columns(table)
            selected = ", ".join(f'"{name}"' for name, _ in columns)
            text = f"SELECT {selected} FROM {self._files([f'{table}/{part}'])}"
            said = ""
            try:
                described = self._connection.execute(f"DESCRIBE {text}").fetchall()
                if [(name, kind) for name, kind, *_ in described] != columns:
                    said = "it has columns of other types"
                elif is_read:
                    self._connection.execute(f"SELECT bit_xor(hash(f)) FROM ({text}) f").fetchall()
            except duckdb.OutOfMemoryException as error:
                raise MemoryError(str(error)) from error
            except duckdb.Error as error:
                raise_if_no_descriptor()
                said = str(error).splitlines()[0]
            if said:
                return f"{self._place.url(f'{table}/{part}')} is not a store file: {said}"
        return ""

    def _open_captures(self) -> None:
        """Have the rows of captures that count, of those that are there; several may be of one."""
        place, connection = self._place, self._connection
        going = names_going(place)
        names = place.below("captures")
        self._read("captures", names)
        by_url = {place.url(name): name for name in names}
        cursor = connection.execute(f"SELECT {', '.join(COLUMNS)}, filename FROM files.captures")
        rows = []
        for *row, url in cursor.fetchall():
            try:
                rows.append(Committed.of(by_url[url], dict(zip(COLUMNS, row, strict=True))))
            except (ValueError, TypeError) as error:
                self.left_out.append(f"{url} is left out: {error}.")
        # Only now: what is dropped meanwhile may have been gone already when it was to be read.
        self._counted = self._found = counted(rows, read_drops(place).values(), going)
        connection.execute("CREATE TABLE files.counted (capture VARCHAR, file VARCHAR, part VARCHAR)")
        counting = [(row.capture, place.url(row.file), row.part) for row in self._counted.values()]
        if counting:
            connection.executemany("INSERT INTO files.counted VALUES (?, ?, ?)", counting)
        columns = ", ".join(f'"{name}"' for name, _ in _columns("captures") if name not in schema.OF_FILES)
        connection.execute(
            f"CREATE TABLE captures AS SELECT {columns} FROM files.captures SEMI JOIN files.counted c"
            " ON captures.capture = c.capture AND filename = c.file"
            " QUALIFY row_number() OVER (PARTITION BY captures.capture) = 1"
        )
        connection.execute("DROP TABLE files.captures")

    def _read(self, table: str, names: list[str]) -> None:
        """Read the rows of these files, but of those that are none of a store's, with the addresses of the files."""
        definition = ", ".join(f'"{name}" {kind}' for name, kind in _columns(table))
        self._connection.execute(f"CREATE TABLE files.{table} ({definition}, filename VARCHAR)")
        irregular = {name for name in names if self._place.is_irregular(name)}  # DuckDB would wait for a pipe
        self.left_out += [f"{self._place.url(name)} is left out: {_IRREGULAR}." for name in sorted(irregular)]
        names = [name for name in names if name not in irregular]
        try:
            self._insert(table, names)
        except duckdb.Error:  # one of them is at fault: each for itself
            raise_if_no_descriptor()
            for name in names:
                try:
                    self._insert(table, [name])
                except duckdb.Error as error:
                    if self._place.modified(name) is None:  # it was dropped, or put together with others
                        continue
                    said = str(error).splitlines()[0]
                    self.left_out.append(f"{self._place.url(name)} is left out: it is not a store file ({said}).")

    def _insert(self, table: str, names: list[str]) -> None:
        if names:
            columns = ", ".join(f'"{name}"' for name, _ in _columns(table))
            files = self._files(names, "filename = true")
            try:
                self._connection.execute(f"INSERT INTO files.{table} SELECT {columns}, filename FROM {files}")
            except duckdb.OutOfMemoryException as error:
                raise MemoryError(str(error)) from error

    def _selected(self, table: str, rows: Sequence[Committed]) -> str:
        """SQL for all that some parts have, and for what others have of the captures whose rows count there."""
        columns = ", ".join(f'"{name}"' for name, _ in _columns(table))
        whole = sorted({row.part for row in rows} & self._whole)
        others = [row for row in rows if row.part not in self._whole]
        views = []
        if whole:
            views.append(f"SELECT {columns} FROM {self._files([f'{table}/{part}' for part in whole])}")
        if others:
            urls = {self._place.url(f"{table}/{row.part}"): row.part for row in others}
            parts = ", ".join(f"({_quoted(url)}, {_quoted(part)})" for url, part in sorted(urls.items()))
            files = self._files([f"{table}/{part}" for part in sorted(set(urls.values()))], "filename = true")
            views.append(
                f"SELECT {columns} FROM {files} f SEMI JOIN (SELECT c.capture, p.url FROM files.counted c"
                f" JOIN (VALUES {parts}) p(url, part) ON c.part = p.part) c"
                " ON f.filename = c.url AND f.capture = c.capture"
            )
        if not views:
            nothing = ", ".join(f'NULL::{kind} AS "{name}"' for name, kind in _columns(table))
            views.append(f"SELECT {nothing} WHERE false")
        return " UNION ALL ".join(views)

    def _files(self, names: list[str], more: str = "") -> str:
        listed = ", ".join(_quoted(self._place.url(name)) for name in names)
        return f"read_parquet([{listed}], hive_partitioning = false{more and f', {more}'})"

    @contextmanager
    def _told(self, what: str, remedy: str = "Run without a query to list the views.") -> Iterator[None]:
        try:
            with _interruptible():
                yield
        except duckdb.IOException as error:
            raise FramedexError(f"The store {self._place.address} cannot be read: {error}.", _AGAIN) from error
        except duckdb.Error as error:
            raise FramedexError(f"{what}: {error}.", remedy) from error


@contextmanager
def _interruptible() -> Iterator[None]:
    """Inside, Ctrl-C is what it is in Python, and no error of DuckDB's."""
    try:
        yield
    except RuntimeError as error:
        if "interrupted" in str(error).lower():
            raise KeyboardInterrupt from error
        raise


_AGAIN = (
    "Ask again: something may have been dropped meanwhile. Where that does not help, remove the file that is named, and"
    " add the captures again."
)


_OF_CALLS = ("calls", "call_kinds")
_IRREGULAR = "it is not a regular file"
# Whatever the files are, a query that raises these is at fault.
_OF_QUERY = (
    *(duckdb.ParserException, duckdb.BinderException, duckdb.CatalogException, duckdb.PermissionException),
    duckdb.OutOfMemoryException,
)


def _columns(table: str) -> list[tuple[str, str]]:
    """The columns of a table with their types, as DuckDB calls them."""
    kinds = {"string": "VARCHAR", "int64": "BIGINT", "bool": "BOOLEAN"}
    fields = getattr(schema, table.upper())
    return [(each.name, kinds.get(str(each.type), "VARCHAR[]")) for each in fields]


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
