"""Run arbitrary SQL on an index: read-only, with limits on memory and result size.

The caller limits the time by ending the process, because SQLite functions such as `printf` may compute for minutes
without calling the progress handler.
"""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Callable, Collection
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from framedex.base import words
from framedex.base.errors import FramedexError
from framedex.base.plaintext import make_visible
from framedex.index.file.database import LOCK_TIMEOUT_S, connect_reading, translate_errors

MAX_MEMORY_BYTES = 256 << 20
"""Limit in bytes of SQLite's memory, for all queries of this process."""

_MAX_VALUE_BYTES = 1 << 20  # bytes
_MAX_RESULT_SIZE = 8 << 20  # limit in characters and bytes of all returned rows
_MAX_QUERY_BYTES = 100_000  # bytes

_ALLOWED_ACTIONS = frozenset(
    {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE},
)
_VIEW_COLUMNS = (
    "SELECT m.name AS view, group_concat(c.name, ', ') AS columns FROM sqlite_master m, pragma_table_info(m.name) c"
    " WHERE m.type = 'view' GROUP BY m.name ORDER BY m.name"
)
# Some views parse JSON, which SQLite considers unsafe in a schema.
_TRUST_SCHEMA = "PRAGMA trusted_schema = 1"
# Functions with side effects, SQLITE_DIRECTONLY in sqlite3.h: `load_extension`; `fts3_tokenizer`, which reads and sets
# addresses of functions in this process.
_UNSAFE_FUNCTIONS = "SELECT name FROM pragma_function_list WHERE flags & 0x80000"
# These table functions are harmless, but SQLite declares them at first use, which the authorizer would deny.
_DECLARE_JSON_TABLES = "SELECT 1 FROM json_each('[]'), json_tree('[]')"
# Errors caused by a query; all others are errors of the index.
_QUERY_ERRORS = ("SQLITE_ERROR", "SQLITE_AUTH", "SQLITE_NOMEM", "SQLITE_TOOBIG", "SQLITE_MISMATCH")

Value = str | int | float | bytes | None


@dataclass(frozen=True, slots=True)
class QueryRows:
    """The first rows of a result; `has_more` if it is truncated."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]
    has_more: bool


def read_views(path: Path) -> QueryRows:
    """Return the public views of the index at `path`, with their columns."""
    with closing(connect_reading(path, LOCK_TIMEOUT_S)) as connection, translate_errors(path):
        connection.execute(_TRUST_SCHEMA)
        return _read_rows(connection.execute(_VIEW_COLUMNS), sys.maxsize)


def run_query(path: Path, text: str, max_rows: int, on_start: Callable[[], None] = lambda: None) -> QueryRows:
    """Return the first rows of one SQL statement on the index at `path`.

    It may never return: `on_start`, called before the statement runs, must end the process after a timeout. Raises
    FramedexError if there is no such index, if the statement is malformed or not read-only, or if it needs more than
    `MAX_MEMORY_BYTES` bytes.
    """
    with closing(connect_reading(path, LOCK_TIMEOUT_S)) as connection, translate_errors(path):
        _limit_connection(connection)
        on_start()
        try:
            found = _read_rows(connection.execute(text), max_rows)
        except (sqlite3.Error, sqlite3.Warning, ValueError) as error:
            name = getattr(error, "sqlite_errorname", None)
            if name is not None and not name.startswith(_QUERY_ERRORS):
                raise
            raise _build_error(name or "", str(error)) from error
        except MemoryError as error:
            raise _build_error("SQLITE_NOMEM", "") from error
    if not found.columns:
        raise _build_error("", "it is empty")
    return found


def _read_rows(cursor: sqlite3.Cursor, max_rows: int) -> QueryRows:
    columns = tuple(name for name, *_ in cursor.description or ())
    found: list[tuple[Value, ...]] = []
    result_size, has_more = 0, False
    for row in cursor:
        result_size += sum(len(value) for value in row if isinstance(value, (str, bytes)))
        has_more = len(found) == max_rows or result_size > _MAX_RESULT_SIZE
        if has_more:
            break
        found.append(row)
    return QueryRows(columns, tuple(found), has_more)


def _limit_connection(connection: sqlite3.Connection) -> None:
    connection.execute(_TRUST_SCHEMA)
    connection.execute("PRAGMA temp_store = MEMORY")
    connection.execute(f"PRAGMA hard_heap_limit = {MAX_MEMORY_BYTES}")
    connection.execute(_DECLARE_JSON_TABLES)
    unsafe = frozenset(name for (name,) in connection.execute(_UNSAFE_FUNCTIONS))
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MAX_VALUE_BYTES)
    connection.setlimit(sqlite3.SQLITE_LIMIT_SQL_LENGTH, _MAX_QUERY_BYTES)
    connection.text_factory = lambda text: text.decode("utf-8", "surrogateescape")
    connection.set_authorizer(partial(_authorize, unsafe))


def _authorize(unsafe: Collection[str], action: int, _: str | None, second: str | None, *__: str | None) -> int:
    is_unsafe = action == sqlite3.SQLITE_FUNCTION and second in unsafe
    return sqlite3.SQLITE_OK if action in _ALLOWED_ACTIONS and not is_unsafe else sqlite3.SQLITE_DENY


def _build_error(name: str, message: str) -> FramedexError:
    if name.startswith(("SQLITE_NOMEM", "SQLITE_TOOBIG")):
        return FramedexError(
            f"The query needs more than {words.format_size(MAX_MEMORY_BYTES)} of memory, or makes a value of more than"
            f" {words.format_size(_MAX_VALUE_BYTES)}.",
            "Select fewer rows or shorter values.",
        )
    message = make_visible(message)  # it quotes the query
    if name.startswith("SQLITE_AUTH"):
        return FramedexError(f"The query was rejected: {message}.", "Only SELECT is allowed.")
    return FramedexError(f"Invalid query: {message.rstrip('.')}.", "Run without a query to list the views.")
