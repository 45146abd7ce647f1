"""Restrict an index to a few captures: temporary tables and views hide the captures and totals of the index.

The captures, their kinds of calls and all totals get replacements with the same names in the connection's temporary
database, so that queries need no change. Calls, stacks and frames are unchanged. The totals are computed when a query
needs them, which takes about as long as indexing the captures.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator
from contextlib import contextmanager

from framedex.index.file.schema import list_schema_statements

_TOTAL_TABLES = (
    *("nodes", "functions", "stack_calls", "line_calls", "line_links", "line_samples"),
    *("steps", "code_steps", "readable_steps", "edges", "code_edges"),
)
_CAPTURE_TABLES = ("call_kinds", "compilations", "executions", "transfers")
_PASSED_NODES = (
    "WITH RECURSIVE up(node) AS ("
    " SELECT l.node FROM captures p JOIN main.call_links l ON l.call BETWEEN p.first_call AND p.last_call"
    " UNION SELECT f.node FROM captures p JOIN main.phases f ON f.capture = p.id"
    + "".join(
        f" UNION SELECT s.{leaf} FROM captures p JOIN main.capture_stacks x ON x.capture = p.id"
        " JOIN main.stacks s ON s.id = x.stack"
        for leaf in ("leaf", "python_leaf", "site_leaf")
    )
    + " UNION SELECT n.parent FROM up JOIN main.nodes n ON n.id = up.node)"
)


def hide_other_captures(connection: sqlite3.Connection, captures: Collection[int]) -> None:
    """Hide all captures and their calls, except for the captures with these ids."""
    chosen = "IN (SELECT id FROM temp.chosen_captures)"
    with _write_temporary_tables(connection):
        connection.execute("CREATE TEMP TABLE chosen_captures(id INTEGER PRIMARY KEY)")
        connection.executemany("INSERT INTO chosen_captures VALUES (?)", [(capture,) for capture in sorted(captures)])
        connection.execute(f"CREATE TEMP VIEW captures AS SELECT * FROM main.captures WHERE id {chosen}")
        for table in _CAPTURE_TABLES:
            connection.execute(f"CREATE TEMP VIEW {table} AS SELECT * FROM main.{table} WHERE capture {chosen}")


def fill_totals(connection: sqlite3.Connection) -> None:
    """Replace all totals by those of the captures that `hide_other_captures` left."""
    from framedex.index.write import aggregates
    from framedex.index.write.tree import read_nodes

    with _write_temporary_tables(connection):
        nodes = read_nodes(connection)
        for statement in list_schema_statements():
            for table in _TOTAL_TABLES:
                if statement.startswith(f"CREATE TABLE {table}("):
                    connection.execute(statement.replace("CREATE TABLE ", "CREATE TEMP TABLE ", 1))
                elif statement.startswith("CREATE") and f" ON {table} " in statement.partition("(")[0]:
                    connection.execute(statement.replace("INDEX ", "INDEX temp.", 1))
        connection.execute(
            f"INSERT INTO temp.nodes {_PASSED_NODES} SELECT id, parent, frame, depth, user_node, 0, 0, 0, 0, 0, 0"
            " FROM main.nodes WHERE id IN up"
        )
        connection.execute(
            "INSERT INTO temp.functions SELECT * FROM main.functions WHERE id IN"
            " (SELECT function FROM main.frames WHERE id IN (SELECT frame FROM temp.nodes)"
            " UNION SELECT fr.function FROM main.ffi_handlers h JOIN main.frames fr ON fr.id = h.implementation"
            " WHERE h.frame IN (SELECT frame FROM temp.nodes))"
        )
        connection.execute("UPDATE temp.functions SET calls = 0, run = 0, run_calls = 0")
        aggregates.compute_totals(connection, nodes)


@contextmanager
def _write_temporary_tables(connection: sqlite3.Connection) -> Iterator[None]:
    """Let the connection, which is otherwise read-only, write all temporary tables or none, also in a transaction."""
    connection.execute("PRAGMA query_only = 0")
    connection.execute("PRAGMA temp_store = MEMORY")
    connection.execute("SAVEPOINT temporary_tables")
    try:
        yield
        connection.execute("RELEASE temporary_tables")
    except BaseException:
        if connection.in_transaction:  # some errors have ended it
            connection.execute("ROLLBACK TO temporary_tables")
            connection.execute("RELEASE temporary_tables")
        raise
    finally:
        connection.execute("PRAGMA query_only = 1")
