"""Questions about one capture: the calls of that run alone which passed a line, found below the line in the tree.

The totals of lines and nodes are of all captures together. What one capture contributed stands in `capture_stacks`, so
these questions read the tree below the line, and the deeper the line is, the less they read.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from framedex.index.read.rows import CAPTURE_COLUMNS, IN_JSON, Reader, arguments, capture_row, file_id, frames_by_id
from framedex.model import How, LineSummary, StackHit

_SAMPLED = 64
"""Calls that are looked at for argument objects worth showing, the longest first."""

_SHOWN = 4

_STACKS_BELOW = (
    "WITH RECURSIVE below(start, node) AS ("
    f" SELECT id, id FROM nodes WHERE id {IN_JSON}"
    " UNION ALL SELECT b.start, n.id FROM below b JOIN nodes n ON n.parent = b.node"
    "), passed(start, stack) AS ("
    " SELECT b.start, s.id FROM below b CROSS JOIN stacks s ON s.leaf = b.node"
    " UNION SELECT b.start, s.id FROM below b CROSS JOIN stacks s ON s.python_leaf = b.node"
    " UNION SELECT b.start, s.id FROM below b CROSS JOIN stacks s ON s.site_leaf = b.node"
    ") SELECT p.start, x.stack, b.name, b.boundary, x.calls, x.duration, x.latest_call FROM passed p"
    " CROSS JOIN capture_stacks x ON x.stack = p.stack AND x.capture = ? JOIN boundaries b ON b.id = x.boundary"
)

_ANY_STACK_BELOW = (
    "WITH RECURSIVE below(node) AS ("
    " VALUES (?1) UNION ALL SELECT n.id FROM below b JOIN nodes n ON n.parent = b.node"
    ") SELECT 1 FROM below b WHERE EXISTS ("
    " SELECT 1 FROM (SELECT id FROM stacks WHERE leaf = b.node"
    " UNION ALL SELECT id FROM stacks WHERE python_leaf = b.node"
    " UNION ALL SELECT id FROM stacks WHERE site_leaf = b.node) s"
    " CROSS JOIN capture_stacks x ON x.stack = s.id AND x.capture = ?2) LIMIT 1"
)


@dataclass(frozen=True, slots=True)
class Passage:
    """The calls of one capture with one stack and boundary function that passed a line at the node `start`."""

    start: int
    stack: int
    function: str
    boundary: str
    calls: int
    duration: int
    latest_call: int


def passages(reader: Reader, capture: int, path: str, line: int) -> list[Passage]:
    """What of a capture passed a line, most calls first; where recursion passes it again, the innermost pass."""
    starts = reader.rows(
        "SELECT n.id FROM frames fr JOIN nodes n ON n.frame = fr.id WHERE fr.file = ? AND fr.line = ?"
        " ORDER BY n.depth DESC",
        file_id(reader, path),
        line,
    )
    order = {node: position for position, (node,) in enumerate(starts)}
    found: dict[tuple[int, str, str], Passage] = {}
    for row in sorted(reader.rows(_STACKS_BELOW, json.dumps(list(order)), capture), key=lambda row: order[row[0]]):
        passage = Passage(*row)
        found.setdefault((passage.stack, passage.function, passage.boundary), passage)
    return sorted(found.values(), key=lambda passage: (-passage.calls, passage.stack, passage.function))


def nodes_in(reader: Reader, capture: int, nodes: Iterable[int]) -> set[int]:
    """Those of the nodes that stacks of the capture pass or end at."""
    return {node for node in nodes if reader.row(_ANY_STACK_BELOW, node, capture)}


def stacks_through(reader: Reader, capture: int, path: str, line: int, limit: int) -> list[StackHit]:
    """The stacks of a capture that pass a line, most calls first."""
    found = passages(reader, capture, path, line)[:limit]
    starts = {
        node: (frame, depth)
        for node, frame, depth in reader.rows(
            f"SELECT id, frame, depth FROM nodes WHERE id {IN_JSON}", json.dumps([each.start for each in found])
        )
    }
    frames = frames_by_id(reader, {frame for frame, _ in starts.values()})
    return [
        StackHit(
            function=each.function,
            boundary=each.boundary,
            stack=each.stack,
            latest_call=each.latest_call,
            calls=each.calls,
            total_duration=each.duration,
            frame=frames[starts[each.start][0]],
            position=starts[each.start][1],
        )
        for each in found
    ]


def line_summary(reader: Reader, capture: int, path: str, line: int) -> LineSummary | None:
    """What one capture recorded through a line, or None where it recorded nothing there."""
    found = passages(reader, capture, path, line)
    row = reader.row(f"SELECT {CAPTURE_COLUMNS} FROM captures p WHERE p.id = ?", capture)
    if not found or row is None:
        return None
    boundaries: dict[str, list[int]] = {}
    for each in found:
        totals = boundaries.setdefault(each.function, [0, 0])
        totals[0] += each.calls
        totals[1] += each.duration
    hows = reader.rows(
        "SELECT DISTINCT fr.how FROM nodes n JOIN frames fr ON fr.id = n.frame"
        f" WHERE n.id {IN_JSON} AND fr.how IS NOT NULL",
        json.dumps(list({each.start for each in found})),
    )
    return LineSummary(
        path=path,
        line=line,
        calls=sum(each.calls for each in found),
        total_duration=sum(each.duration for each in found),
        boundaries=tuple(
            (name, calls, duration)
            for name, (calls, duration) in sorted(boundaries.items(), key=lambda item: (-item[1][0], item[0]))
        ),
        callers=(),
        arguments=tuple(_samples(reader, found)),
        hows=tuple(sorted(How(how) for (how,) in hows)),
        latest_capture=capture_row(row),
        latest_call=max(each.latest_call for each in found),
    )


def _samples(reader: Reader, found: Collection[Passage]) -> list[dict[str, object]]:
    longest = sorted(found, key=lambda each: -each.duration)[:_SAMPLED]
    rows = reader.rows(
        "SELECT DISTINCT a.json FROM calls c JOIN arguments a ON a.id = c.arguments"
        f" WHERE c.id {IN_JSON} ORDER BY a.has_shape DESC, a.id LIMIT ?",
        json.dumps([each.latest_call for each in longest]),
        _SHOWN,
    )
    return [arguments(text) for (text,) in rows]
