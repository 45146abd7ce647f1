"""The dispatch sites of calls on threads without Python."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from framedex.index.file.conventions import IN_JSON, json_list
from framedex.index.read.rows import Reader, chain, frames_by_id
from framedex.model import How, LinkHow, Location

if TYPE_CHECKING:
    from framedex.model import CallRow, Dispatch

_TOLD = "options.call_location"
_PLACE = re.compile(r"(?P<path>/.*):(?P<line>\d{1,9})")


def dispatches(reader: Reader, call: CallRow) -> tuple[Dispatch, ...]:
    """Return the dispatch sites of the call: first the one passed along by JAX, then those of other threads."""
    from framedex.model import Dispatch  # imported here because queries for links alone need no traces

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
    """Return (innermost node, link kind) of the dispatch sites of each call that has any."""
    found: dict[int, list[tuple[int, LinkHow]]] = {}
    for call, node, how in reader.rows(
        f"SELECT call, node, how FROM call_links WHERE call {IN_JSON} ORDER BY call, thread", json_list(calls)
    ):
        found.setdefault(call, []).append((node, LinkHow(how)))
    return found


def _told_by_jax(call: CallRow) -> Location | None:
    """Return the location passed along by JAX; of a whole traceback only the size is recorded."""
    told = call.arguments.get(_TOLD)
    match = _PLACE.fullmatch(told) if isinstance(told, str) else None
    return None if match is None else Location(match["path"], int(match["line"]), How.EXACT)
