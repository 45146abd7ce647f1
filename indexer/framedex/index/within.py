"""An index restricted to a few captures: their totals are computed into temporary tables that hide its own.

The captures, their kinds of calls and all totals are replaced under the same names in the connection's temporary
database, so that queries need no change. Calls, stacks and frames are unchanged. Computing the totals takes about as
long as indexing those captures; it is done when a query needs them.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator
from contextlib import contextmanager

from framedex.index.file.schema import statements

_TOTALS = (
    *("nodes", "functions", "stack_calls", "line_calls", "line_links", "line_samples"),
    *("steps", "code_steps", "readable_steps", "edges", "code_edges"),
)
_OF_CAPTURES = ("call_kinds", "compilations", "executions", "transfers")
_PASSED = (
    "WITH RECURSIVE up(node) AS ("
    " SELECT l.node FROM captures p JOIN main.call_links l ON l.call BETWEEN p.first_call AND p.last_call"
    + "".join(
        f" UNION SELECT s.{leaf} FROM captures p JOIN main.capture_stacks x ON x.capture = p.id"
        " JOIN main.stacks s ON s.id = x.stack"
        for leaf in ("leaf", "python_leaf", "site_leaf")
    )
    + " UNION SELECT n.parent FROM up JOIN main.nodes n ON n.id = up.node)"
)


def narrow(connection: sqlite3.Connection, captures: Collection[int]) -> None:
    """Hide all captures and calls except those of these captures, by their ids."""
    chosen = ", ".join(map(str, sorted(captures)))
    with _making(connection):
        connection.execute(f"CREATE TEMP VIEW captures AS SELECT * FROM main.captures WHERE id IN ({chosen})")
        for table in _OF_CAPTURES:
            connection.execute(f"CREATE TEMP VIEW {table} AS SELECT * FROM main.{table} WHERE capture IN ({chosen})")


def fill_totals(connection: sqlite3.Connection) -> None:
    """Replace all totals by those of the captures left by `narrow`."""
    from framedex.index.write import aggregates  # imported here because only chosen captures need it
    from framedex.index.write.tree import read_nodes

    with _making(connection):
        nodes = read_nodes(connection)
        for statement in statements():
            for table in _TOTALS:
                if statement.startswith(f"CREATE TABLE {table}("):
                    connection.execute(statement.replace("CREATE TABLE ", "CREATE TEMP TABLE ", 1))
                elif statement.startswith("CREATE") and f" ON {table} " in statement.partition("(")[0]:
                    connection.execute(statement.replace("INDEX ", "INDEX temp.", 1))
        connection.execute(
            f"INSERT INTO temp.nodes {_PASSED} SELECT id, parent, frame, depth, user_node, 0, 0, 0, 0, 0, 0"
            " FROM main.nodes WHERE id IN up"
        )
        connection.execute(
            "INSERT INTO temp.functions SELECT * FROM main.functions WHERE id IN"
            " (SELECT function FROM main.frames WHERE id IN (SELECT frame FROM temp.nodes)"
            " UNION SELECT fr.function FROM main.ffi_handlers h JOIN main.frames fr ON fr.id = h.implementation)"
        )
        connection.execute("UPDATE temp.functions SET calls = 0, run = 0, run_calls = 0")
        aggregates.sum_up(connection, nodes)


@contextmanager
def _making(connection: sqlite3.Connection) -> Iterator[None]:
    """Let the connection, which is otherwise read-only, write temporary tables in one transaction."""
    connection.execute("PRAGMA query_only = 0")
    connection.execute("PRAGMA temp_store = MEMORY")
    connection.execute("BEGIN")
    try:
        yield
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        connection.execute("PRAGMA query_only = 1")
