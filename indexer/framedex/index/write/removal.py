"""Remove captures, so that the index is as if they had never been read.

Source files that were read for their frames stay, and so do the names of boundary functions: other captures may use
both.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection

from framedex.index.file.conventions import IN_JSON, SAMPLES, json_list
from framedex.index.write import aggregates
from framedex.index.write.causal_links import forget_causal_links
from framedex.index.write.costs.memory import forget_memory
from framedex.index.write.costs.transfers import forget_transfers
from framedex.index.write.costs.waits import forget_waits
from framedex.index.write.ffi import forget_runs
from framedex.index.write.names import drop_unused_names
from framedex.index.write.objects import forget_objects
from framedex.index.write.programs import drop_unused_programs, forget_programs
from framedex.index.write.tree import read_nodes

_LEAVES = (
    "SELECT leaf FROM stacks UNION SELECT python_leaf FROM stacks UNION SELECT site_leaf FROM stacks"
    " UNION SELECT node FROM call_links UNION SELECT leaf FROM ffi_sites UNION SELECT user_node FROM ffi_sites"
)


def forget_calls(connection: sqlite3.Connection, capture: int) -> None:
    """Remove a capture's calls and all data about single calls. Their stacks and the totals stay."""
    query = "SELECT first_call, last_call FROM captures WHERE id = ? AND first_call IS NOT NULL"
    for span in connection.execute(query, (capture,)).fetchall():
        forget_causal_links(connection, *span)
        connection.execute("DELETE FROM call_rows WHERE id BETWEEN ? AND ?", span)
    forget_memory(connection, capture)
    forget_waits(connection, capture)
    forget_objects(connection, capture)
    forget_runs(connection, capture)
    forget_programs(connection, capture)
    forget_transfers(connection, capture)
    kinds = "SELECT id FROM call_kinds WHERE capture = ?"
    connection.execute(f"DELETE FROM call_spans WHERE kind IN ({kinds})", (capture,))
    for table in ("call_kinds", "call_durations", "arguments", "threads"):
        connection.execute(f"DELETE FROM {table} WHERE capture = ?", (capture,))


def remove_captures(connection: sqlite3.Connection, captures: Collection[int]) -> None:
    """Remove these captures and everything that only they use, and rebuild the totals."""
    for capture in captures:
        forget_calls(connection, capture)
        connection.execute("DELETE FROM builds WHERE capture = ?", (capture,))
        connection.execute("DELETE FROM captures WHERE id = ?", (capture,))
    drop_unused_programs(connection)
    _drop_unused_stacks(connection)
    _drop_unused_functions(connection)
    aggregates.rebuild(connection, read_nodes(connection))


def _drop_unused_stacks(connection: sqlite3.Connection) -> None:
    connection.execute("DELETE FROM stacks WHERE id NOT IN (SELECT stack FROM call_kinds)")
    # A site without runs and without problems is not shown anywhere.
    connection.execute(
        "DELETE FROM ffi_sites WHERE id NOT IN (SELECT site FROM ffi_candidates)"
        " AND key NOT IN (SELECT s.value FROM ffi_problems p, json_each(p.sites) s)"
    )
    connection.execute(
        f"WITH RECURSIVE up(node) AS ({_LEAVES} UNION SELECT n.parent FROM up JOIN nodes n ON n.id = up.node)"
        " DELETE FROM nodes WHERE id NOT IN up"
    )
    # Replace them by samples of other captures, which may have been over the limit.
    connection.execute("DELETE FROM stack_samples WHERE arguments NOT IN (SELECT id FROM arguments)")
    connection.execute(
        "INSERT OR IGNORE INTO stack_samples SELECT stack, boundary, arguments FROM ("
        " SELECT *, row_number() OVER (PARTITION BY stack, boundary ORDER BY arguments) AS place FROM ("
        "  SELECT DISTINCT k.stack, k.boundary, c.arguments FROM call_kinds k"
        "  JOIN call_rows c ON c.id IN (k.first_call, k.longest_call, k.latest_call)"
        "  WHERE NOT EXISTS (SELECT 1 FROM stack_samples s WHERE s.stack = k.stack AND s.boundary = k.boundary)"
        f" )) WHERE place <= {SAMPLES}"
    )


def _drop_unused_functions(connection: sqlite3.Connection) -> None:
    """Delete the frames on no stack, and the functions, binaries and states of files that only they use."""
    connection.execute("DELETE FROM ffi_handlers WHERE frame NOT IN (SELECT frame FROM nodes)")
    connection.execute(
        "DELETE FROM frames WHERE id NOT IN (SELECT frame FROM nodes"
        " UNION SELECT frame FROM ffi_handlers"
        " UNION SELECT implementation FROM ffi_handlers WHERE implementation IS NOT NULL)"
    )
    connection.execute("DELETE FROM candidates WHERE frame NOT IN (SELECT id FROM frames)")
    unused = "id NOT IN (SELECT function FROM frames)"
    gone = [name for (name,) in connection.execute(f"SELECT DISTINCT short_name FROM functions WHERE {unused}")]
    connection.execute(f"DELETE FROM functions WHERE {unused}")
    connection.execute("DELETE FROM modules WHERE id NOT IN (SELECT module FROM frames WHERE module IS NOT NULL)")
    connection.execute(
        "DELETE FROM file_versions WHERE id NOT IN (SELECT version FROM frames WHERE version IS NOT NULL"
        " UNION SELECT version FROM functions WHERE version IS NOT NULL"
        " UNION SELECT version FROM program_frames WHERE version IS NOT NULL)"
    )
    connection.execute(
        f"UPDATE names SET is_recorded = 0 WHERE name {IN_JSON}"
        " AND name NOT IN (SELECT short_name FROM functions UNION SELECT name FROM boundaries"
        " UNION SELECT target FROM ffi_functions)",
        (json_list(gone),),
    )
    drop_unused_names(connection, gone)
