"""The boundary functions at the end of a line's calls, each with the innermost frames of one stack."""

from __future__ import annotations

from framedex.index.ask.line.boundaries import line_boundaries
from framedex.index.file.conventions import IN_JSON, json_list
from framedex.index.read.asked import AskedLine
from framedex.index.read.rows import frames_by_id
from framedex.model import BoundaryEnd

MOST_ENDS = 50
"""Limit of boundary functions reported per line: those with the longest total duration."""

_DEPTH = 16
"""Number of innermost frames that are searched for one with source."""


def boundary_ends(line: AskedLine) -> list[BoundaryEnd]:
    """Return the boundary functions reached from the line, longest total duration first."""
    found = sorted(line_boundaries(line), key=lambda each: (-each.duration, each.function))[:MOST_ENDS]
    rows = line.reader.rows(
        "WITH RECURSIVE up(call, node, steps) AS ("
        f" SELECT c.id, s.leaf, 1 FROM calls c JOIN stacks s ON s.id = c.stack WHERE c.id {IN_JSON}"
        " UNION ALL SELECT u.call, n.parent, u.steps + 1 FROM up u JOIN nodes n ON n.id = u.node"
        f" WHERE n.parent AND u.steps < {_DEPTH}"
        ") SELECT u.call, n.frame FROM up u JOIN nodes n ON n.id = u.node ORDER BY u.call, u.steps",
        json_list([each.latest_call for each in found]),
    )
    frames = frames_by_id(line.reader, {frame for _, frame in rows})
    return [
        BoundaryEnd(
            each.function,
            each.calls,
            each.duration,
            each.latest_call,
            tuple(frames[frame] for call, frame in rows if call == each.latest_call),
        )
        for each in found
    ]
