"""The parts of an index: tables with rows, two views of them, and one trigger.

A database that only claims to be an index may have a view in place of a table, or a computed column. Reading its rows
may then never end. It may also have triggers that run when it is written.
"""

from __future__ import annotations

import re
import sqlite3

from framedex.index.file.schema import statements

_NAMED = re.compile(r"CREATE (?:VIRTUAL )?(TABLE|TRIGGER|VIEW) (\w+)")
_COMPUTED = re.compile(r"\b(?:AS|VIRTUAL)\b", re.IGNORECASE)
_OURS = {match[2]: (match[1].lower(), text) for text in statements() if (match := _NAMED.match(text))}

_ASKED_VIEWS = frozenset(name for name, (kind, _) in _OURS.items() if kind == "view" and not name.endswith("_readable"))
"""The views that framedex queries itself; the others are for people."""

TABLES = frozenset(name for name, (kind, _) in _OURS.items() if kind == "table")
"""The tables that are read and written by name."""


def foreign_part(connection: sqlite3.Connection) -> str | None:
    """Return a part that cannot belong to an index, as a noun, or None. Extra tables and views are accepted."""
    parts = connection.execute("SELECT type, name, sql FROM sqlite_master WHERE type IN ('table', 'view', 'trigger')")
    for kind, spelt, statement in parts:
        name = spelt.lower()  # as SQLite compares names
        is_as_made = name in _OURS and _words(statement) == _words(_OURS[name][1])
        if kind == "trigger" and not is_as_made:
            return f"a trigger {name}"
        if name in _ASKED_VIEWS and not is_as_made:
            return f"a {kind} {name} that is another one"
        if kind == "view" and name in TABLES:
            return f"a view {name} where a table should be"
        if kind == "table" and name in TABLES and not is_as_made and _COMPUTED.search(statement):
            return f"a table {name} that holds no rows of its own"
    return None


def _words(statement: str) -> str:
    return " ".join(statement.split())
