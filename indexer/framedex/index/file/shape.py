"""What the parts of an index are: tables that hold rows, and one trigger.

A database that only claims to be an index may have a view in the place of a table, or a column that is computed: asked
for its rows it would go on for ever. Or it may have triggers, for whoever writes into it. Apart from the schema,
so that readers need nothing of what makes tables.
"""

from __future__ import annotations

import re
import sqlite3

TABLES = frozenset(
    {
        "arguments",
        "boundaries",
        "builds",
        "call_links",
        "call_sites",
        "calls",
        "candidates",
        "capture_stacks",
        "captures",
        "code_edges",
        "code_steps",
        "definitions",
        "edges",
        "ffi_candidates",
        "ffi_functions",
        "ffi_handlers",
        "ffi_joins",
        "ffi_problems",
        "ffi_runs",
        "ffi_sites",
        "ffi_targets",
        "file_versions",
        "files",
        "frames",
        "functions",
        "line_calls",
        "line_links",
        "line_samples",
        "macros",
        "modules",
        "names",
        "nodes",
        "objects",
        "path_rules",
        "readable_steps",
        "source_files",
        "source_maps",
        "source_roots",
        "stack_calls",
        "stack_samples",
        "stacks",
        "steps",
        "threads",
        "unmatched",
        "violations",
    }
)
"""Those that are read and written by their names, but for the table of the search."""

SEARCH_TABLE = (
    "CREATE VIRTUAL TABLE name_parts USING fts5(name, content='names', content_rowid='id', columnsize=0,"
    " tokenize='trigram')"
)
SEARCH_TRIGGER = (
    "CREATE TRIGGER names_removed AFTER DELETE ON names BEGIN"
    " INSERT INTO name_parts(name_parts, rowid, name) VALUES ('delete', old.id, old.name); END"
)

_COMPUTED = re.compile(r"\b(?:AS|VIRTUAL)\b", re.IGNORECASE)


def foreign_part(connection: sqlite3.Connection) -> str | None:
    """What of a database is none of an index's, as a noun; None where all is well. Tables and views beside ours are."""
    parts = connection.execute("SELECT type, name, sql FROM sqlite_master WHERE type IN ('table', 'view', 'trigger')")
    for kind, name, statement in parts:
        is_ours = name in TABLES or name == "name_parts"
        if kind == "trigger" and statement != SEARCH_TRIGGER:
            return f"a trigger {name}"
        if kind == "view" and is_ours:
            return f"a view {name} where a table should be"
        if kind == "table" and is_ours and statement != SEARCH_TABLE and _COMPUTED.search(statement):
            return f"a table {name} that holds no rows of its own"
    return None
