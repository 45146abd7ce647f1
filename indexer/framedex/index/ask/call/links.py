"""What had calls made that come on threads without Python: written with their capture, and read for a call."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from framedex.index.read.rows import IN_JSON, Reader, chain, frames_by_id, placeholders
from framedex.index.write.interning import link_nodes
from framedex.model import CallRow, Dispatch, How, LinkedCalls, LinkHow, Location

if TYPE_CHECKING:
    from framedex.dispatch import CallLink

_TOLD = "options.call_location"
_PLACE = re.compile(r"(?P<path>/.*):(?P<line>\d{1,9})")


def add_links(
    connection: sqlite3.Connection, capture_id: int, links: Sequence[CallLink], frames: Sequence[Sequence[int]]
) -> None:
    """Add the links of a capture whose calls are there already; `frames` as for `logical_frames`."""
    if not links:
        return
    first = connection.execute("SELECT first_call FROM captures WHERE id = ?", (capture_id,)).fetchone()[0]
    query = "SELECT id FROM threads WHERE capture = ? ORDER BY id"
    threads = [thread for (thread,) in connection.execute(query, (capture_id,))]
    chains = list(dict.fromkeys(link.frames for link in links))
    nodes = dict(zip(chains, link_nodes(connection, chains, frames), strict=True))
    connection.executemany(
        "INSERT INTO call_links(call, thread, node, how) VALUES (?, ?, ?, ?)",
        ((first + link.call, threads[link.thread], nodes[link.frames], link.how.value) for link in links),
    )


def forget_links(connection: sqlite3.Connection, first: int, last: int) -> None:
    """Remove the links of a range of calls."""
    connection.execute("DELETE FROM call_links WHERE call BETWEEN ? AND ?", (first, last))


def dispatches(reader: Reader, call: CallRow) -> tuple[Dispatch, ...]:
    """What had the call made: by JAX's own word, then as far as other threads tell."""
    rows = reader.rows(
        "SELECT l.how, t.label, l.node FROM call_links l JOIN threads t ON t.id = l.thread WHERE l.call = ?"
        " ORDER BY l.thread",
        call.id,
    )
    chains = {node: chain(reader, node) for _, _, node in rows}
    frames = frames_by_id(reader, {frame for each in chains.values() for frame in each})
    told = _told_by_jax(call)
    return (
        *([Dispatch(LinkHow.TOLD, location=told)] if told is not None else []),
        *(Dispatch(LinkHow(how), thread, tuple(frames[frame] for frame in chains[node])) for how, thread, node in rows),
    )


def linked_nodes(reader: Reader, calls: Iterable[int]) -> dict[int, list[tuple[int, LinkHow]]]:
    """For each of these calls that has links, the innermost nodes of those, and how they are known."""
    found: dict[int, list[tuple[int, LinkHow]]] = {}
    for call, node, how in reader.rows(
        f"SELECT call, node, how FROM call_links WHERE call {IN_JSON} ORDER BY call, thread", placeholders(list(calls))
    ):
        found.setdefault(call, []).append((node, LinkHow(how)))
    return found


def linked_calls(reader: Reader, path: str, line: int) -> list[LinkedCalls]:
    """The calls on threads without Python that were dispatched from a line, most calls first.

    Not those of candidates: they were dispatched from one of several places.
    """
    rows = reader.rows(
        "SELECT b.name, b.boundary, l.how, l.calls, l.duration, l.latest_call FROM line_links l"
        " JOIN boundaries b ON b.id = l.boundary WHERE l.file = (SELECT id FROM files WHERE path = ?) AND l.line = ?"
        " ORDER BY l.calls DESC, b.name",
        path,
        line,
    )
    return [LinkedCalls(function, boundary, LinkHow(how), *totals) for function, boundary, how, *totals in rows]


def _told_by_jax(call: CallRow) -> Location | None:
    """The place that JAX passed along. A whole traceback is recorded by its size only, and is on the stack anyway."""
    told = call.arguments.get(_TOLD)
    match = _PLACE.fullmatch(told) if isinstance(told, str) else None
    return None if match is None else Location(match["path"], int(match["line"]), How.EXACT)
