"""Arbitrary SQL on an index: read-only, with bounded memory and result size.

The caller bounds the time by ending the process: SQLite functions such as `printf` may compute for minutes without
calling the progress handler.
"""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Callable, Collection
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from framedex import words
from framedex.errors import FramedexError
from framedex.index.file.database import PATIENCE, connect_reading, translated

MOST_MEMORY = 256 << 20
"""Limit in bytes of SQLite's memory, for all queries of this process."""

_LONGEST_VALUE = 1 << 20  # bytes
_MOST_HELD = 8 << 20  # limit in characters and bytes of all returned rows
_LONGEST_QUERY = 100_000  # bytes

_READS = frozenset(
    {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE},
)
_VIEWS = (
    "SELECT m.name AS view, group_concat(c.name, ', ') AS columns FROM sqlite_master m, pragma_table_info(m.name) c"
    " WHERE m.type = 'view' GROUP BY m.name ORDER BY m.name"
)
# Some views parse JSON, which SQLite considers unsafe in a schema.
_TRUSTING = "PRAGMA trusted_schema = 1"
# Functions with side effects, SQLITE_DIRECTONLY in sqlite3.h: `load_extension`; `fts3_tokenizer`, which reads and sets
# addresses of functions in this process.
_UNSAFE_FUNCTIONS = "SELECT name FROM pragma_function_list WHERE flags & 0x80000"
# These tables only compute, but SQLite declares them at first use, which the authorizer would deny.
_CONNECT_TABLES_OF_JSON = "SELECT 1 FROM json_each('[]'), json_tree('[]')"
# Errors caused by a query; all others are errors of the index.
_OF_QUERY = ("SQLITE_ERROR", "SQLITE_AUTH", "SQLITE_NOMEM", "SQLITE_TOOBIG", "SQLITE_MISMATCH")

Value = str | int | float | bytes | None


@dataclass(frozen=True, slots=True)
class QueryRows:
    """The first rows of a result; `has_more` if it is truncated."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]
    has_more: bool


def readable_views(path: Path) -> QueryRows:
    """Return the public views of the index at `path`, with their columns."""
    with closing(connect_reading(path, PATIENCE)) as connection, translated(path):
        connection.execute(_TRUSTING)
        return _rows(connection.execute(_VIEWS), sys.maxsize)


def query(path: Path, text: str, most_rows: int, when_begun: Callable[[], None] = lambda: None) -> QueryRows:
    """Return the first rows of one SQL statement on the index at `path`.

    It may never return: `when_begun`, called before the statement runs, has to end the process after a timeout. Raises
    FramedexError if there is no such index, if the statement is malformed or not read-only, or if it needs more than
    `MOST_MEMORY` bytes.
    """
    with closing(connect_reading(path, PATIENCE)) as connection, translated(path):
        _bound(connection)
        when_begun()
        try:
            found = _rows(connection.execute(text), most_rows)
        except (sqlite3.Error, sqlite3.Warning, ValueError) as error:
            name = getattr(error, "sqlite_errorname", None)
            if name is not None and not name.startswith(_OF_QUERY):
                raise
            raise _refused(name or "", str(error)) from error
        except MemoryError as error:
            raise _refused("SQLITE_NOMEM", "") from error
    if not found.columns:
        raise _refused("", "it is empty")
    return found


def _rows(cursor: sqlite3.Cursor, most: int) -> QueryRows:
    columns = tuple(name for name, *_ in cursor.description or ())
    found: list[tuple[Value, ...]] = []
    held, has_more = 0, False
    for row in cursor:
        held += sum(len(value) for value in row if isinstance(value, (str, bytes)))
        has_more = len(found) == most or held > _MOST_HELD
        if has_more:
            break
        found.append(row)
    return QueryRows(columns, tuple(found), has_more)


def _bound(connection: sqlite3.Connection) -> None:
    connection.execute(_TRUSTING)
    connection.execute("PRAGMA temp_store = MEMORY")
    connection.execute(f"PRAGMA hard_heap_limit = {MOST_MEMORY}")
    connection.execute(_CONNECT_TABLES_OF_JSON)
    unsafe = frozenset(name for (name,) in connection.execute(_UNSAFE_FUNCTIONS))
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST_VALUE)
    connection.setlimit(sqlite3.SQLITE_LIMIT_SQL_LENGTH, _LONGEST_QUERY)
    connection.text_factory = lambda text: text.decode("utf-8", "surrogateescape")
    connection.set_authorizer(partial(_authorized, unsafe))


def _authorized(unsafe: Collection[str], action: int, _: str | None, second: str | None, *__: str | None) -> int:
    is_unsafe = action == sqlite3.SQLITE_FUNCTION and second in unsafe
    return sqlite3.SQLITE_OK if action in _READS and not is_unsafe else sqlite3.SQLITE_DENY


def _refused(name: str, message: str) -> FramedexError:
    if name.startswith(("SQLITE_NOMEM", "SQLITE_TOOBIG")):
        return FramedexError(
            f"The query needs more than {words.size(MOST_MEMORY)} of memory, or makes a value of more than"
            f" {words.size(_LONGEST_VALUE)}.",
            "Select fewer rows or shorter values.",
        )
    if name.startswith("SQLITE_AUTH"):
        return FramedexError(f"The query is refused: {message}.", "Only SELECT is allowed.")
    return FramedexError(f"Invalid query: {message.rstrip('.')}.", "Run without a query to list the views.")
