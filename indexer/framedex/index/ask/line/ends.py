"""Where the calls that passed a line ended: the boundary functions, each with the innermost frames of a stack."""

from __future__ import annotations

from collections.abc import Sequence

from framedex.index.ask.line.narrowing import passages
from framedex.index.file.conventions import IN_JSON, json_list
from framedex.index.read.asked import AskedLine
from framedex.index.read.rows import frames_by_id
from framedex.model import BoundaryEnd

MOST_ENDS = 50
"""Boundary functions that are told of a line: those that took longest."""

_DEPTH = 16
"""Frames of a stack, from its end, among which one with source is looked for."""


def boundary_ends(line: AskedLine) -> list[BoundaryEnd]:
    """The boundary functions that were reached from the line, the one that took longest first."""
    found = _in_all(line) if line.capture is None else _in_capture(line, line.capture)
    found = sorted(found, key=lambda row: (-row[2], row[0]))[:MOST_ENDS]
    rows = line.reader.rows(
        "WITH RECURSIVE up(call, node, steps) AS ("
        f" SELECT c.id, s.leaf, 1 FROM calls c JOIN stacks s ON s.id = c.stack WHERE c.id {IN_JSON}"
        " UNION ALL SELECT u.call, n.parent, u.steps + 1 FROM up u JOIN nodes n ON n.id = u.node"
        f" WHERE n.parent AND u.steps < {_DEPTH}"
        ") SELECT u.call, n.frame FROM up u JOIN nodes n ON n.id = u.node ORDER BY u.call, u.steps",
        json_list([call for *_, call in found]),
    )
    frames = frames_by_id(line.reader, {frame for _, frame in rows})
    return [
        BoundaryEnd(name, calls, duration, latest, tuple(frames[frame] for call, frame in rows if call == latest))
        for name, calls, duration, latest in found
    ]


def _in_all(line: AskedLine) -> Sequence[tuple[str, int, int, int]]:
    return line.reader.rows(
        "SELECT b.name, l.calls, l.duration, l.latest_call FROM line_calls l JOIN boundaries b ON b.id = l.boundary"
        " WHERE l.file = ? AND l.line = ?",
        line.id,
        line.then,
    )


def _in_capture(line: AskedLine, capture: int) -> Sequence[tuple[str, int, int, int]]:
    ends: dict[tuple[str, str], tuple[str, int, int, int]] = {}
    for each in passages(line, capture):
        _, calls, duration, latest = ends.get((each.function, each.boundary), ("", 0, 0, 0))
        ends[each.function, each.boundary] = (
            each.function,
            calls + each.calls,
            duration + each.duration,
            max(latest, each.latest_call),
        )
    return list(ends.values())
