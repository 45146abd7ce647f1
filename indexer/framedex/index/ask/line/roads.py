"""Follow recorded stacks inward step by step without leaving them.

`steps.inward_readable` reports the next frames of a line over all recorded stacks. The roads here also name the tree
nodes, so that the next step can stay on the stacks of the previous one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from framedex.index.ask.line.narrowing import nodes_in
from framedex.index.ask.line.standing import of_run_of, standing_on
from framedex.index.ask.line.steps import inward_readable
from framedex.index.file.conventions import IN_JSON, json_list
from framedex.index.file.readable import CODE, READABLE
from framedex.index.read.asked import AskedLine
from framedex.index.read.rows import Reader, frames_by_id
from framedex.model import FrameRow, Road

MOST_FOLLOWED = 24
"""Limit of nodes followed inward per line.

Lines of a library that every call passes have thousands. Totals report the remaining callees, but without nodes for a
further step.
"""

_FRAMES = "JOIN frames fr ON fr.id = n.frame JOIN functions fn ON fn.id = fr.function"


def roads_inward(
    line: AskedLine, wanted: Callable[[FrameRow], bool], within: Sequence[int] | None = None
) -> list[Road]:
    """Return the paths from the line to the nearest `wanted` frames with source, the longest first.

    `within` is the `nodes` of a path: it restricts the result to the stacks that reached the line by that path.
    """
    line = line if within is None else of_run_of(line, within)
    reader, capture = line.reader, line.capture
    found: list[_Arrival] = []
    starts = standing_on(line, within, MOST_FOLLOWED)
    front = {start.node: (start.frame, 0) for start in starts}
    frames: dict[int, FrameRow] = {}
    shown: dict[int, bool] = {}
    while front:
        arrivals = _next_readable(reader, front)
        new = frames_by_id(reader, {arrival.frame for arrival in arrivals} - frames.keys())
        frames |= new
        shown |= {frame: wanted(row) for frame, row in new.items()}
        found += (arrival for arrival in arrivals if shown[arrival.frame])
        front = {arrival.node: (arrival.origin, arrival.passed + 1) for arrival in arrivals if not shown[arrival.frame]}
    if capture is not None:
        kept = nodes_in(reader, capture, [arrival.node for arrival in found])
        found = [arrival for arrival in found if arrival.node in kept]
    frames |= frames_by_id(reader, {arrival.origin for arrival in found} - frames.keys())
    others: list[Road] = []
    if len(starts) >= MOST_FOLLOWED and within is None and capture is None:
        others = _beside(line, {(arrival.origin, arrival.frame) for arrival in found}, wanted)
    roads: dict[tuple[int, int], list[_Arrival]] = {}
    for arrival in found:
        roads.setdefault((arrival.origin, arrival.frame), []).append(arrival)
    followed = (_road(frames[origin], frames[target], of_road) for (origin, target), of_road in roads.items())
    return [*sorted(followed, key=lambda road: (-road.longest, -road.calls, road.nodes)), *others]


@dataclass(frozen=True, slots=True)
class _Arrival:
    """A reached node: its frame, its start frame on the line, and the number of code frames in between (`passed`)."""

    origin: int
    node: int
    frame: int
    calls: int
    longest: int
    makes_client: bool
    goes_on: bool
    passed: int


def _beside(line: AskedLine, known: Collection[tuple[int, int]], wanted: Callable[[FrameRow], bool]) -> list[Road]:
    """Return the paths not in `known`, without nodes, for a line with more nodes than were followed."""
    return [
        Road(step.origin, step.target, nodes=(), calls=step.calls, longest=0, makes_client=False, goes_on=True)
        for step in inward_readable(line)
        if (step.origin.id, step.target.id) not in known and wanted(step.target)
    ]


def _next_readable(reader: Reader, front: dict[int, tuple[int, int]]) -> list[_Arrival]:
    """Return the nearest nodes below the front whose frames are code with source, on this machine or not.

    `front` is {node: (start frame, number of code frames passed)}.
    """
    nodes = reader.totals("nodes")
    rows = reader.rows(
        "WITH RECURSIVE below(start, id, frame, calls, longest, makes_client, passed, code, readable) AS ("
        f" SELECT n.parent, n.id, n.frame, n.calls, n.longest, n.makes_client, 0, {CODE}, {READABLE}"
        f" FROM {nodes} n {_FRAMES} WHERE n.parent {IN_JSON}"
        " UNION ALL SELECT b.start, n.id, n.frame, n.calls, n.longest, n.makes_client, b.passed + b.code,"
        f" {CODE}, {READABLE} FROM below b"
        f" CROSS JOIN {nodes} n ON n.parent = b.id {_FRAMES} WHERE NOT b.readable"
        ") SELECT start, id, frame, calls, longest, makes_client, passed,"
        f" EXISTS (SELECT 1 FROM {nodes} c WHERE c.parent = below.id)"
        " FROM below WHERE readable",
        json_list(front),
    )
    return [
        _Arrival(
            origin=front[start][0],
            node=node,
            frame=frame,
            calls=calls,
            longest=longest,
            makes_client=bool(makes_client),
            goes_on=bool(goes_on),
            passed=front[start][1] + passed,
        )
        for start, node, frame, calls, longest, makes_client, passed, goes_on in rows
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
        passed=max(arrivals, key=lambda arrival: arrival.longest).passed,
    )
