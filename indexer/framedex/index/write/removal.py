"""Remove captures, so that the index is as if they had never been indexed.

The source files of their frames and the names of boundary functions stay, because other captures may use them.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection

from framedex.index.file.conventions import IN_JSON, MAX_SAMPLES, build_json_list
from framedex.index.write import aggregates
from framedex.index.write.costs.memory import delete_memory
from framedex.index.write.costs.transfers import delete_transfers
from framedex.index.write.costs.waits import delete_waits
from framedex.index.write.ffi import delete_ffi_records
from framedex.index.write.interning import delete_unused_names
from framedex.index.write.objects import delete_objects
from framedex.index.write.phases import delete_phases
from framedex.index.write.programs import delete_programs, delete_unused_programs
from framedex.index.write.run_numbers import find_launches, renumber_runs
from framedex.index.write.stacks import delete_causal_links
from framedex.index.write.tree import read_nodes

_USED_NODES = (
    "SELECT leaf FROM stacks UNION SELECT python_leaf FROM stacks UNION SELECT site_leaf FROM stacks"
    " UNION SELECT node FROM call_links UNION SELECT leaf FROM ffi_sites UNION SELECT user_node FROM ffi_sites"
    " UNION SELECT node FROM phases"
)


def delete_calls(connection: sqlite3.Connection, capture: int) -> None:
    """Remove a capture's calls and all data about single calls. Their stacks and the totals stay."""
    query = "SELECT first_call, last_call FROM captures WHERE id = ? AND first_call IS NOT NULL"
    for span in connection.execute(query, (capture,)).fetchall():
        delete_causal_links(connection, *span)
        connection.execute("DELETE FROM call_rows WHERE id BETWEEN ? AND ?", span)
    delete_memory(connection, capture)
    delete_waits(connection, capture)
    delete_objects(connection, capture)
    delete_ffi_records(connection, capture)
    delete_phases(connection, capture)
    delete_programs(connection, capture)
    delete_transfers(connection, capture)
    kinds = "SELECT id FROM call_kinds WHERE capture = ?"
    connection.execute(f"DELETE FROM call_spans WHERE kind IN ({kinds})", (capture,))
    for table in ("call_kinds", "call_durations", "arguments", "threads"):
        connection.execute(f"DELETE FROM {table} WHERE capture = ?", (capture,))


def remove_captures(connection: sqlite3.Connection, captures: Collection[int]) -> None:
    """Remove these captures and everything that only they use, and rebuild the totals."""
    launches = find_launches(connection, captures)
    for capture in captures:
        delete_calls(connection, capture)
        connection.execute("DELETE FROM builds WHERE capture = ?", (capture,))
        connection.execute("DELETE FROM captures WHERE id = ?", (capture,))
    renumber_runs(connection, launches)
    delete_unused_programs(connection)
    _delete_unused_stacks(connection)
    _delete_unused_functions(connection)
    aggregates.rebuild_totals(connection, read_nodes(connection))


def _delete_unused_stacks(connection: sqlite3.Connection) -> None:
    connection.execute("DELETE FROM stacks WHERE id NOT IN (SELECT stack FROM call_kinds)")
    # No output shows a site without runs and problems.
    connection.execute(
        "DELETE FROM ffi_sites WHERE id NOT IN (SELECT site FROM ffi_candidates)"
        " AND key NOT IN (SELECT s.value FROM ffi_problems p, json_each(p.sites) s)"
    )
    connection.execute(
        f"WITH RECURSIVE up(node) AS ({_USED_NODES} UNION SELECT n.parent FROM up JOIN nodes n ON n.id = up.node)"
        " DELETE FROM nodes WHERE id NOT IN up"
    )
    # Replace the deleted samples by samples of other captures that exceeded the limit before.
    connection.execute("DELETE FROM stack_samples WHERE arguments NOT IN (SELECT id FROM arguments)")
    connection.execute(
        "INSERT OR IGNORE INTO stack_samples SELECT stack, boundary, arguments FROM ("
        " SELECT *, row_number() OVER (PARTITION BY stack, boundary ORDER BY arguments) AS place FROM ("
        "  SELECT DISTINCT k.stack, k.boundary, c.arguments FROM call_kinds k"
        "  JOIN call_rows c ON c.id IN (k.first_call, k.longest_call, k.latest_call)"
        "  WHERE NOT EXISTS (SELECT 1 FROM stack_samples s WHERE s.stack = k.stack AND s.boundary = k.boundary)"
        f" )) WHERE place <= {MAX_SAMPLES}"
    )


def _delete_unused_functions(connection: sqlite3.Connection) -> None:
    """Delete the frames on no stack, and the functions, binaries and states of files that only they use."""
    connection.execute("DELETE FROM ffi_handlers WHERE frame NOT IN (SELECT frame FROM nodes)")
    connection.execute(
        "DELETE FROM frames WHERE id NOT IN (SELECT frame FROM nodes"
        " UNION SELECT frame FROM ffi_handlers"
        " UNION SELECT implementation FROM ffi_handlers WHERE implementation IS NOT NULL)"
    )
    connection.execute("DELETE FROM candidates WHERE frame NOT IN (SELECT id FROM frames)")
    unused = "id NOT IN (SELECT function FROM frames)"
    unused_names = [name for (name,) in connection.execute(f"SELECT DISTINCT short_name FROM functions WHERE {unused}")]
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
        (build_json_list(unused_names),),
    )
    delete_unused_names(connection, unused_names)
