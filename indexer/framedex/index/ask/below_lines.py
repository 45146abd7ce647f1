"""The calls below each program line, and the paths from the line to them."""

from __future__ import annotations

from collections.abc import Iterator

from framedex.index.ask.call.python_lines import read_lines_of_nodes, read_python_nodes
from framedex.index.ask.capture.contents import StackEnd, read_nested_durations
from framedex.index.ask.guidebook.stacks import NO_PLACE, UNMERGED, ShownPath, StackPaths
from framedex.index.file.conventions import IN_JSON, build_json_list
from framedex.index.read.rows import Reader
from framedex.model.functions import LineCallee
from framedex.model.guidebook import DisplayedFrame

_MAX_SPANS = 16
"""Limit of call spans per kind that are read for the first decile: a few thousand calls suffice."""


def read_below_lines(reader: Reader, capture: int) -> Iterator[LineCallee]:
    """Yield the calls of a capture by program line, boundary function and path between them; times in ns."""
    stack_paths = StackPaths(reader, capture)
    nested = read_nested_durations(reader, capture)
    quick = _read_first_deciles(reader, capture)
    names: dict[int, str] = dict(reader.rows("SELECT id, name FROM boundaries"))
    python = read_python_nodes(reader, {end.stack for end in stack_paths.tree.ends})
    lines = read_lines_of_nodes(reader, python.values())
    query = f"SELECT id, user_node FROM nodes WHERE id {IN_JSON}"
    lowest: dict[int, int] = dict(reader.rows(query, build_json_list(sorted(set(python.values())))))
    for end in stack_paths.tree.ends:
        node = python.get(end.stack, 0)
        name = names[end.boundary]
        own = max(end.duration - nested.get((end.stack, end.boundary), 0), 0)
        minimum = quick.get((end.stack, end.boundary), 0) * end.calls
        yield LineCallee(
            line=lines.get(node),
            function=name,
            path=(
                *_build_path(stack_paths, end, lowest.get(node, 0), name),
                DisplayedFrame(name, "boundary", NO_PLACE, 0),
            ),
            calls=end.calls,
            duration=own,
            undisturbed=min(
                own, minimum * own // max(end.duration, 1)
            ),  # scaled to own time if a call has nested calls
        )


def _read_first_deciles(reader: Reader, capture: int) -> dict[tuple[int, int], int]:
    """Return the first decile of the durations (ns) of a sample of calls, by stack and function."""
    rows = reader.rows(
        "WITH spans AS (SELECT k.id, k.stack, k.boundary, s.first_call, s.last_call,"
        " row_number() OVER (PARTITION BY k.id ORDER BY s.first_call) AS number"
        " FROM call_kinds k JOIN call_spans s ON s.kind = k.id WHERE k.capture = ?), ranked AS ("
        " SELECT s.stack, s.boundary, c.duration,"
        " row_number() OVER (PARTITION BY s.stack, s.boundary ORDER BY c.duration) AS number,"
        " count(*) OVER (PARTITION BY s.stack, s.boundary) AS calls FROM spans s"
        " CROSS JOIN call_rows c ON c.id BETWEEN s.first_call AND s.last_call AND c.kind = s.id"
        f" WHERE s.number <= {_MAX_SPANS} AND c.duration >= 0)"
        " SELECT stack, boundary, duration FROM ranked WHERE number = (calls + 9) / 10",
        capture,
    )
    return {(stack, boundary): duration for stack, boundary, duration in rows}


def _build_path(stack_paths: StackPaths, end: StackEnd, line: int, boundary: str) -> ShownPath:
    """Return the frames from the line's node (0: none) to a call, with an unmerged Python stack first."""
    if not end.python_leaf:
        return stack_paths.build_path(stack_paths.chain(end.leaf, line), boundary)
    python = stack_paths.build_path(stack_paths.chain(end.python_leaf, line), boundary)
    return (
        *python,
        DisplayedFrame(UNMERGED, "native", NO_PLACE, 0),
        *stack_paths.build_path(stack_paths.chain(end.leaf), boundary),
    )
