"""The kinds of calls: groups of calls of a capture, with their totals."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from framedex.index.file.conventions import IN_JSON, SAMPLES, SPAN, json_list

LOOK_AGAIN = (
    "UPDATE call_kinds SET (first_call, latest_call, longest, longest_call) = (SELECT min(c.id), max(c.id),"
    " coalesce(max(c.duration, 0), 0), NULL FROM call_spans s JOIN call_rows c"
    " ON c.id BETWEEN s.first_call AND s.last_call AND c.kind = s.kind WHERE s.kind = call_kinds.id) WHERE id = ?"
)
"""Recomputes the values of the kind ? that cannot be decremented: first and latest call, and the longest duration."""

ADD_TO_KIND = (
    "UPDATE call_kinds SET calls = calls + ?2, duration = duration + ?3, own_duration = own_duration + ?4,"
    " longest_call = CASE WHEN (?5, ?6) > (longest, coalesce(longest_call, 0)) THEN ?6 ELSE longest_call END,"
    " longest = max(longest, ?5), first_call = min(coalesce(first_call, ?7), ?7),"
    " latest_call = max(coalesce(latest_call, ?8), ?8) WHERE id = ?1"
)
"""Adds to the totals of the kind ?1: calls, duration, own duration, longest call, first and latest call."""


def kind_id(connection: sqlite3.Connection, capture: int, stack: int, boundary: int, thread: int, error: int) -> int:
    """Return the row of a kind of calls, adding it with zero calls if missing."""
    key = (stack, boundary, thread, error, capture)
    query = "SELECT id FROM call_kinds WHERE stack = ? AND boundary = ? AND thread = ? AND error = ? AND capture = ?"
    known = connection.execute(query, key).fetchone()
    if known is not None:
        return int(known[0])
    made = connection.execute(
        "INSERT INTO call_kinds(stack, boundary, thread, error, capture, calls, duration, own_duration, longest)"
        " VALUES (?, ?, ?, ?, ?, 0, 0, 0, 0)",
        key,
    ).lastrowid
    assert made is not None
    return made


def recount_kinds(connection: sqlite3.Connection, kinds: Iterable[int]) -> None:
    """Rebuild spans, totals and samples of these kinds from the calls of their captures, and delete empty kinds."""
    changed = json_list(kinds)
    captures = connection.execute(
        "SELECT id, first_call, last_call FROM captures"
        f" WHERE id IN (SELECT capture FROM call_kinds WHERE id {IN_JSON})",
        (changed,),
    ).fetchall()
    connection.execute(f"DELETE FROM call_spans WHERE kind {IN_JSON}", (changed,))
    for _, first, last in captures:
        connection.execute(
            f"INSERT INTO call_spans SELECT kind, min(id), max(id) FROM call_rows WHERE id BETWEEN ?2 AND ?3"
            f" AND kind IN (SELECT value FROM json_each(?1)) GROUP BY kind, (id - ?2) / {SPAN}",
            (changed, first, last),
        )
        connection.execute(
            "WITH found AS (SELECT kind, count(*) AS calls, sum(max(duration, 0)) AS duration,"
            "  max(max(duration, 0)) AS longest, min(id) AS first, max(id) AS latest FROM call_rows"
            "  WHERE id BETWEEN ?2 AND ?3 AND kind IN (SELECT value FROM json_each(?1)) GROUP BY kind)"
            " UPDATE call_kinds SET calls = f.calls, duration = f.duration, own_duration = f.duration"
            " - coalesce((SELECT sum(max(c.duration, 0)) FROM call_rows c JOIN call_rows o ON o.id = c.id - c.inside"
            "  WHERE c.id BETWEEN ?2 AND ?3 AND o.kind = f.kind), 0), longest = f.longest,"
            " longest_call = (SELECT max(c.id) FROM call_rows c WHERE c.id BETWEEN ?2 AND ?3 AND c.kind = f.kind"
            "  AND max(c.duration, 0) = f.longest), first_call = f.first, latest_call = f.latest"
            " FROM found f WHERE call_kinds.id = f.kind",
            (changed, first, last),
        )
    empty = f"id {IN_JSON} AND id NOT IN (SELECT kind FROM call_spans)"
    connection.execute(f"DELETE FROM call_kinds WHERE {empty}", (changed,))
    for _, first, last in captures:
        connection.execute(
            "INSERT OR IGNORE INTO stack_samples SELECT stack, boundary, arguments FROM ("
            "SELECT *, row_number() OVER (PARTITION BY stack, boundary ORDER BY arguments) AS rank FROM ("
            "SELECT DISTINCT k.stack, k.boundary, c.arguments FROM call_rows c JOIN call_kinds k ON k.id = c.kind"
            " WHERE c.id BETWEEN ?2 AND ?3"
            f" AND c.kind IN (SELECT value FROM json_each(?1)))) WHERE rank <= {SAMPLES}",
            (changed, first, last),
        )
