"""Follow recorded stacks inward and outward from a line, step by step.

`readable_steps_inward` and `readable_steps_outward` return the next frames over all recorded stacks. Paths also have
their tree nodes, so that the next step can stay on the stacks of the previous one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from framedex.index.ask.call.python_lines import read_lines_of_nodes
from framedex.index.ask.line.stacks import (
    MAX_NODES,
    NodeOnLine,
    find_nodes_on_line,
    keep_nodes_of_capture,
    restrict_to_run,
)
from framedex.index.file.conventions import IN_JSON, IS_CODE, IS_READABLE, build_json_list
from framedex.index.read.rows import Reader, read_frames_by_id
from framedex.index.read.subjects import LineQuery
from framedex.model import FrameRow, FrameStep, PythonLine, StackPath

MAX_FOLLOWED_NODES = 24
"""Limit of nodes followed inward per line.

A library line that every call passes has thousands of nodes. Totals report the other callees, but without nodes for a
further step.
"""

_FRAME_JOINS = "JOIN frames fr ON fr.id = n.frame JOIN functions fn ON fn.id = fr.function"


def steps_inward(line: LineQuery) -> list[FrameStep]:
    """Return the frames called from the line, most calls first."""
    return _read_steps(line, "steps", here="origin")


def readable_steps_inward(line: LineQuery) -> list[FrameStep]:
    """Return the next frames with source that the line leads to, past interpreter and glue frames; most calls first."""
    return _read_steps(line, "readable_steps", here="origin")


def readable_steps_outward(line: LineQuery) -> list[FrameStep]:
    """Return the next frames with source that led to the line (as `target`), most calls first."""
    return _read_steps(line, "readable_steps", here="target")


def _read_steps(line: LineQuery, table: str, here: str) -> list[FrameStep]:
    there = "target" if here == "origin" else "origin"
    rows = line.reader.rows(
        f"SELECT s.{here}, s.{there}, s.calls FROM frames fr"
        f" JOIN {line.reader.totals_table(table)} s ON s.{here} = fr.id"
        f" WHERE {line.condition('fr')} ORDER BY s.calls DESC, s.origin"
    )
    frames = read_frames_by_id(line.reader, {frame for row in rows for frame in row[:2]})
    return [FrameStep(origin=frames[row[0]], target=frames[row[1]], calls=row[2]) for row in rows]


def paths_inward(
    line: LineQuery, is_wanted: Callable[[FrameRow], bool], within: Sequence[int] | None = None
) -> list[StackPath]:
    """Return the paths from the line to the nearest frames with source that `is_wanted` accepts, the longest first.

    `within` is the `nodes` of a path: it restricts the result to the stacks that reached the line by that path.
    """
    line = line if within is None else restrict_to_run(line, within)
    reader, capture = line.reader, line.capture
    found: list[_InwardArrival] = []
    starts = find_nodes_on_line(line, within, MAX_FOLLOWED_NODES)
    front = {start.node: (start.frame, 0) for start in starts}
    frames: dict[int, FrameRow] = {}
    shown: dict[int, bool] = {}
    while front:
        arrivals = _read_next_inward(reader, front)
        new = read_frames_by_id(reader, {arrival.frame for arrival in arrivals} - frames.keys())
        frames |= new
        shown |= {frame: is_wanted(row) for frame, row in new.items()}
        found += (arrival for arrival in arrivals if shown[arrival.frame])
        front = {
            arrival.node: (arrival.origin, arrival.skipped_frames + 1)
            for arrival in arrivals
            if not shown[arrival.frame]
        }
    if capture is not None:
        kept = keep_nodes_of_capture(reader, capture, [arrival.node for arrival in found])
        found = [arrival for arrival in found if arrival.node in kept]
    frames |= read_frames_by_id(reader, {arrival.origin for arrival in found} - frames.keys())
    others: list[StackPath] = []
    if len(starts) >= MAX_FOLLOWED_NODES and within is None and capture is None:
        others = _find_unfollowed_paths(line, {(arrival.origin, arrival.frame) for arrival in found}, is_wanted)
    paths: dict[tuple[int, int], list[_InwardArrival]] = {}
    for arrival in found:
        paths.setdefault((arrival.origin, arrival.frame), []).append(arrival)
    followed = (
        _build_path(frames[origin], frames[target], arrivals_of_path)
        for (origin, target), arrivals_of_path in paths.items()
    )
    return [*sorted(followed, key=lambda path: (-path.longest, -path.calls, path.nodes)), *others]


@dataclass(frozen=True, slots=True)
class _InwardArrival:
    """A node reached from a line: its frame, the start frame on the line, and the code frames skipped in between."""

    origin: int
    node: int
    frame: int
    calls: int
    longest: int
    makes_client: bool
    has_more_frames: bool
    skipped_frames: int


def _find_unfollowed_paths(
    line: LineQuery, known: Collection[tuple[int, int]], is_wanted: Callable[[FrameRow], bool]
) -> list[StackPath]:
    """Return the paths of a line that were not followed, without nodes; `known` are the followed ones."""
    return [
        StackPath(
            step.origin, step.target, nodes=(), calls=step.calls, longest=0, makes_client=False, has_more_frames=True
        )
        for step in readable_steps_inward(line)
        if (step.origin.id, step.target.id) not in known and is_wanted(step.target)
    ]


def _read_next_inward(reader: Reader, front: dict[int, tuple[int, int]]) -> list[_InwardArrival]:
    """Return the nearest nodes below the front whose frames are code with source, on this machine or not.

    `front` is {node: (start frame, number of code frames passed)}.
    """
    nodes = reader.totals_table("nodes")
    rows = reader.rows(
        "WITH RECURSIVE below(start, id, frame, calls, longest, makes_client, passed, code, readable) AS ("
        f" SELECT n.parent, n.id, n.frame, n.calls, n.longest, n.makes_client, 0, {IS_CODE}, {IS_READABLE}"
        f" FROM {nodes} n {_FRAME_JOINS} WHERE n.parent {IN_JSON}"
        " UNION ALL SELECT b.start, n.id, n.frame, n.calls, n.longest, n.makes_client, b.passed + b.code,"
        f" {IS_CODE}, {IS_READABLE} FROM below b"
        f" CROSS JOIN {nodes} n ON n.parent = b.id {_FRAME_JOINS} WHERE NOT b.readable"
        ") SELECT start, id, frame, calls, longest, makes_client, passed,"
        f" EXISTS (SELECT 1 FROM {nodes} c WHERE c.parent = below.id)"
        " FROM below WHERE readable",
        build_json_list(front),
    )
    return [
        _InwardArrival(
            origin=front[start][0],
            node=node,
            frame=frame,
            calls=calls,
            longest=longest,
            makes_client=bool(makes_client),
            has_more_frames=bool(goes_on),
            skipped_frames=front[start][1] + passed,
        )
        for start, node, frame, calls, longest, makes_client, passed, goes_on in rows
    ]


def _build_path(origin: FrameRow, target: FrameRow, arrivals: Sequence[_InwardArrival]) -> StackPath:
    return StackPath(
        origin=origin,
        target=target,
        nodes=tuple(sorted(arrival.node for arrival in arrivals)),
        calls=sum(arrival.calls for arrival in arrivals),
        longest=max(arrival.longest for arrival in arrivals),
        makes_client=any(arrival.makes_client for arrival in arrivals),
        has_more_frames=any(arrival.has_more_frames for arrival in arrivals),
        skipped_frames=max(arrivals, key=lambda arrival: arrival.longest).skipped_frames,
    )


def paths_outward(
    line: LineQuery, is_wanted: Callable[[FrameRow], bool], within: Sequence[int] | None = None
) -> list[StackPath]:
    """Return the stack paths that reached the line from the nearest frames that `is_wanted` accepts, most calls first.

    A path's `nodes` belong to its outer frame; `within` is as for `paths_inward`.
    """
    line = line if within is None else restrict_to_run(line, within)
    reader = line.reader
    starts = find_nodes_on_line(line, within)
    found: list[_OutwardArrival] = []
    front = {start.node: [(start, 0)] for start in starts}
    frames = read_frames_by_id(reader, {start.frame for start in starts})
    shown: dict[int, bool] = {}
    while front:
        arrivals = _read_next_outward(reader, front)
        reached_frames = {frame for _, _, frame, *_ in arrivals}
        frames |= read_frames_by_id(reader, reached_frames - frames.keys())
        shown |= {frame: is_wanted(frames[frame]) for frame in reached_frames - shown.keys()}
        further: dict[int, list[tuple[NodeOnLine, int]]] = {}
        for left, node, frame, goes_on, passed in arrivals:
            arrived_starts = [(start, before + passed) for start, before in front[left]]
            if shown[frame]:
                found += (
                    _OutwardArrival(start, node, frame, goes_on, passed_frames)
                    for start, passed_frames in arrived_starts
                )
            else:
                further.setdefault(node, []).extend(
                    (start, passed_frames + 1) for start, passed_frames in arrived_starts
                )
        front = further
    paths: dict[tuple[int, int], list[_OutwardArrival]] = {}
    for each in found:
        paths.setdefault((each.start.frame, each.frame), []).append(each)
    return sorted(
        (
            StackPath(
                origin=frames[origin],
                target=frames[target],
                nodes=tuple(sorted({each.node for each in arrivals_of_path})),
                calls=sum(each.start.calls for each in arrivals_of_path),
                longest=max(each.start.longest for each in arrivals_of_path),
                makes_client=False,
                has_more_frames=any(each.has_more_frames for each in arrivals_of_path),
                skipped_frames=max(arrivals_of_path, key=lambda each: each.start.longest).skipped_frames,
            )
            for (origin, target), arrivals_of_path in paths.items()
        ),
        key=lambda path: (-path.calls, path.nodes),
    )


@dataclass(frozen=True, slots=True)
class _OutwardArrival:
    """A node outside `start`, a node on the line: its frame, and the number of code frames skipped between them."""

    start: NodeOnLine
    node: int
    frame: int
    has_more_frames: bool
    skipped_frames: int


def program_lines(line: LineQuery, limit: int = MAX_NODES) -> list[PythonLine]:
    """Return the Python lines whose stacks reached the line, longest duration first; a line is not its own origin.

    Each node on the line yields the innermost line of the user's program, otherwise the innermost Python line, if there
    is one. At most `limit` nodes are read.
    """
    parents = [start.parent for start in find_nodes_on_line(line, limit=limit) if start.parent]
    lines = read_lines_of_nodes(line.reader, parents)
    return list(dict.fromkeys(lines[parent] for parent in parents if parent in lines))


def _read_next_outward(reader: Reader, front: Collection[int]) -> list[tuple[int, int, int, bool, int]]:
    """Return the nearest outward nodes with code and source: (start, node, frame, has_more_frames, skipped_frames).

    `skipped_frames` counts the code frames in between; `has_more_frames` is false for the outermost frame of a stack.
    """
    rows = reader.rows(
        "WITH RECURSIVE up(start, id, parent, frame, passed, code, readable) AS ("
        f" SELECT s.id, n.id, n.parent, n.frame, 0, {IS_CODE}, {IS_READABLE}"
        f" FROM nodes s JOIN nodes n ON n.id = s.parent {_FRAME_JOINS} WHERE s.id {IN_JSON}"
        f" UNION ALL SELECT u.start, n.id, n.parent, n.frame, u.passed + u.code, {IS_CODE}, {IS_READABLE} FROM up u"
        f" JOIN nodes n ON n.id = u.parent {_FRAME_JOINS} WHERE NOT u.readable"
        ") SELECT start, id, frame, parent <> 0, passed FROM up WHERE readable",
        build_json_list(front),
    )
    return [(start, node, frame, bool(goes_on), passed) for start, node, frame, goes_on, passed in rows]
