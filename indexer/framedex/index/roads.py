"""Following recorded stacks inward, place by place, without leaving them.

`lines.inward_readable` says where a line led in all that was recorded; the roads here also say by which stacks, so that
whoever goes on from a place can stay on the stacks that brought them there.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from framedex.index.narrowing import nodes_in
from framedex.index.rows import IN_JSON, Reader, frames_by_id
from framedex.model import FrameRow, Road

MAKES_CLIENT = ("PJRT_Plugin_Initialize", "PJRT_Client_Create")
"""What is called once per process and plug-in before anything else can be (pjrt_c_api.h)."""

_MOST_STARTS = 500
"""Places of a line in the tree of stacks that are followed, those with the longest calls first."""

_READABLE = "fn.role = 'code' AND fr.file IS NOT NULL"
_FRAMES = "nodes n JOIN frames fr ON fr.id = n.frame JOIN functions fn ON fn.id = fr.function"


def roads_inward(
    reader: Reader,
    path: str,
    line: int,
    wanted: Callable[[FrameRow], bool],
    within: Sequence[int] | None,
    capture: int | None = None,
) -> list[Road]:
    """The roads from a line to the nearest frames with source that are `wanted`, the longest first."""
    found: list[_Arrival] = []
    front = _starts(reader, path, line, within)
    frames: dict[int, FrameRow] = {}
    while front:
        arrivals = _next_readable(reader, front)
        frames |= frames_by_id(reader, {arrival.frame for arrival in arrivals} - frames.keys())
        found += (arrival for arrival in arrivals if wanted(frames[arrival.frame]))
        front = {arrival.node: arrival.origin for arrival in arrivals if not wanted(frames[arrival.frame])}
    if capture is not None:
        kept = nodes_in(reader, capture, [arrival.node for arrival in found])
        found = [arrival for arrival in found if arrival.node in kept]
    frames |= frames_by_id(reader, {arrival.origin for arrival in found} - frames.keys())
    roads: dict[tuple[int, int], list[_Arrival]] = {}
    for arrival in found:
        roads.setdefault((arrival.origin, arrival.frame), []).append(arrival)
    return sorted(
        (_road(frames[origin], frames[target], of_road) for (origin, target), of_road in roads.items()),
        key=lambda road: (-road.longest, -road.calls, road.nodes),
    )


@dataclass(frozen=True, slots=True)
class _Arrival:
    """A node that was come to, its frame, and the frame on the line from which it was."""

    origin: int
    node: int
    frame: int
    calls: int
    longest: int
    makes_client: bool
    goes_on: bool


def _starts(reader: Reader, path: str, line: int, within: Sequence[int] | None) -> dict[int, int]:
    """The nodes that stand on the line, each with its frame."""
    rows = reader.rows(
        "SELECT n.id, n.frame FROM frames fr JOIN nodes n ON n.frame = fr.id"
        " WHERE fr.file = (SELECT id FROM files WHERE path = ?1) AND fr.line = ?2"
        " AND (?3 IS NULL OR n.id IN (SELECT value FROM json_each(?3))) ORDER BY n.longest DESC, n.id LIMIT ?4",
        path,
        line,
        None if within is None else json.dumps(list(within)),
        _MOST_STARTS,
    )
    return dict(rows)


def _next_readable(reader: Reader, front: dict[int, int]) -> list[_Arrival]:
    """The nearest nodes below the front whose frames are code with source, whether or not it is on this machine."""
    rows = reader.rows(
        "WITH RECURSIVE below(start, id, frame, calls, longest, makes_client, readable) AS ("
        f" SELECT n.parent, n.id, n.frame, n.calls, n.longest, n.makes_client, {_READABLE}"
        f" FROM {_FRAMES} WHERE n.parent {IN_JSON}"
        f" UNION ALL SELECT b.start, n.id, n.frame, n.calls, n.longest, n.makes_client, {_READABLE} FROM below b"
        " CROSS JOIN nodes n ON n.parent = b.id JOIN frames fr ON fr.id = n.frame"
        " JOIN functions fn ON fn.id = fr.function WHERE NOT b.readable"
        ") SELECT start, id, frame, calls, longest, makes_client,"
        " EXISTS (SELECT 1 FROM nodes c WHERE c.parent = below.id)"
        " FROM below WHERE readable",
        json.dumps(list(front)),
    )
    return [
        _Arrival(front[start], node, frame, calls, longest, bool(makes_client), bool(goes_on))
        for start, node, frame, calls, longest, makes_client, goes_on in rows
    ]


def _road(origin: FrameRow, target: FrameRow, arrivals: Sequence[_Arrival]) -> Road:
    return Road(
        origin=origin,
        target=target,
        nodes=tuple(sorted(arrival.node for arrival in arrivals)),
        calls=sum(arrival.calls for arrival in arrivals),
        longest=max(arrival.longest for arrival in arrivals),
        makes_client=any(arrival.makes_client for arrival in arrivals),
        goes_on=any(arrival.goes_on for arrival in arrivals),
    )
