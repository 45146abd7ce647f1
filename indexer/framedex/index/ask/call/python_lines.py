"""The Python line that led to a call, and the dispatch sites of calls on native threads."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from framedex.index.file.conventions import IN_JSON, PYTHON_LEAF, build_json_list
from framedex.index.read.locations import UrlFinder
from framedex.index.read.rows import (
    Reader,
    build_location_columns,
    build_location_joins,
    read_frame_chain,
    read_frames_by_id,
)
from framedex.model import LinkEvidence, Location, LocationEvidence, PythonLine

if TYPE_CHECKING:
    from framedex.model import CallDispatch, CallRow


_CALL_LOCATION_KEY = "options.call_location"

_PATH_AND_LINE = re.compile(r"(?P<path>/.*):(?P<line>\d{1,9})")


def read_python_lines(reader: Reader, stacks: Mapping[int, int]) -> dict[int, PythonLine]:
    """Return, for each call (id: stack) with Python, the innermost line of the user's program, otherwise of any Python.

    A call whose stack has no Python gets the line that dispatched it, unless several lines may have.
    """
    node_of = read_python_nodes(reader, stacks.values())
    lines = read_lines_of_nodes(reader, node_of.values())
    found = {call: lines[node_of[stack]] for call, stack in stacks.items() if node_of.get(stack, 0) in lines}
    return found | _find_dispatch_lines(reader, stacks.keys() - found.keys())


def _find_dispatch_lines(reader: Reader, calls: Iterable[int]) -> dict[int, PythonLine]:
    linked = find_dispatch_nodes(reader, calls)
    lines = read_lines_of_nodes(reader, {node for links in linked.values() for node, _ in links})
    found = {}
    for call, links in linked.items():
        dispatch_lines = {replace(lines[node], link=how) for node, how in links if node in lines}
        if len(dispatch_lines) == 1:
            found[call] = dispatch_lines.pop()
    return found


def read_lines_of_nodes(reader: Reader, nodes: Iterable[int]) -> dict[int, PythonLine]:
    """Return the Python line of each tree path that has one, by the path's innermost node."""
    rows = reader.rows(
        f"SELECT n.id, fn.name, {build_location_columns('fr')} FROM json_each(?) s JOIN nodes n ON n.id = s.value"
        " JOIN nodes u ON u.id = n.user_node JOIN frames fr ON fr.id = u.frame"
        f" JOIN functions fn ON fn.id = fr.function {build_location_joins('fr')}",
        build_json_list(sorted(set(nodes))),
    )
    urls = UrlFinder(reader)
    located = ((node, function, reader.build_location(*place)) for node, function, *place in rows)
    return {node: PythonLine(function, urls.add_url(place)) for node, function, place in located if place is not None}


def read_outward_lines(reader: Reader, stacks: Iterable[int]) -> dict[int, tuple[PythonLine, ...]]:
    """Return the user's lines that led to each stack's innermost user line, nearest first."""
    node_of = read_python_nodes(reader, stacks)
    found = read_outward_lines_of_nodes(reader, node_of.values())
    return {stack: found.get(node, ()) for stack, node in node_of.items()}


def read_outward_lines_of_nodes(reader: Reader, nodes: Iterable[int]) -> dict[int, tuple[PythonLine, ...]]:
    """Return the user's lines that led to the innermost user line of tree paths, by the path's innermost node."""
    rows = reader.rows(
        "WITH RECURSIVE up(leaf, node) AS ("
        f" SELECT id, user_node FROM nodes WHERE id {IN_JSON} AND user_node"
        " UNION ALL SELECT up.leaf, p.user_node FROM up JOIN nodes n ON n.id = up.node"
        " JOIN nodes p ON p.id = n.parent WHERE p.user_node"
        ") SELECT leaf, node FROM up",
        build_json_list(sorted(set(nodes))),
    )
    lines = read_lines_of_nodes(reader, {node for _, node in rows})
    found: dict[int, list[PythonLine]] = {}
    for leaf, node in rows:  # breadth first: the nearest line of each leaf comes first
        if node in lines:
            found.setdefault(leaf, []).append(lines[node])
    return {leaf: tuple(way[1:]) for leaf, way in found.items()}


def read_python_nodes(reader: Reader, stacks: Iterable[int]) -> dict[int, int]:
    """Return the innermost node of each stack on its path out to Python."""
    query = f"SELECT s.id, {PYTHON_LEAF} FROM stacks s WHERE s.id {IN_JSON}"
    return dict(reader.rows(query, build_json_list(sorted(set(stacks)))))


def find_dispatches(reader: Reader, call: CallRow) -> tuple[CallDispatch, ...]:
    """Return the dispatch sites of the call: first the location that JAX passed, then those on other threads."""
    from framedex.model import CallDispatch

    rows = reader.rows(
        "SELECT l.how, t.label, l.node FROM call_links l JOIN threads t ON t.id = l.thread WHERE l.call = ?"
        " ORDER BY l.thread",
        call.id,
    )
    chains = {node: read_frame_chain(reader, node) for _, _, node in rows}
    frames = read_frames_by_id(reader, {frame for each in chains.values() for frame in each})
    call_location = _parse_call_location(call)
    return (
        *([CallDispatch(LinkEvidence.TOLD, location=call_location)] if call_location is not None else []),
        *(
            CallDispatch(LinkEvidence(how), thread, tuple(frames[frame] for frame in chains[node]))
            for how, thread, node in rows
        ),
    )


def find_dispatch_nodes(reader: Reader, calls: Iterable[int]) -> dict[int, list[tuple[int, LinkEvidence]]]:
    """Return (innermost node, link kind) of the dispatch sites of each call that has any."""
    found: dict[int, list[tuple[int, LinkEvidence]]] = {}
    for call, node, how in reader.rows(
        f"SELECT call, node, how FROM call_links WHERE call {IN_JSON} ORDER BY call, thread", build_json_list(calls)
    ):
        found.setdefault(call, []).append((node, LinkEvidence(how)))
    return found


def _parse_call_location(call: CallRow) -> Location | None:
    """Return the location that JAX passed with the call; for a whole traceback only its size is recorded."""
    call_location = call.arguments.get(_CALL_LOCATION_KEY)
    match = _PATH_AND_LINE.fullmatch(call_location) if isinstance(call_location, str) else None
    return None if match is None else Location(match["path"], int(match["line"]), LocationEvidence.EXACT)
