"""From a line outward: the frames that led to it, and the lines of the program from which its stacks come."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from framedex.index.narrowing import nodes_in
from framedex.index.pythonlines import lines_of_nodes
from framedex.index.rows import IN_JSON, Reader, file_id, frames_by_id
from framedex.model import FrameRow, PythonLine, Road

_MOST_STARTS = 300
"""Places of a line in the tree of stacks that are followed, those with the most calls first."""

_READABLE = "fn.role = 'code' AND fr.file IS NOT NULL"
_JOINS = "JOIN frames fr ON fr.id = n.frame JOIN functions fn ON fn.id = fr.function"


def roads_outward(
    reader: Reader,
    path: str,
    line: int,
    wanted: Callable[[FrameRow], bool],
    within: Sequence[int] | None,
    capture: int | None,
) -> list[Road]:
    """The nearest frames outward of a line that are `wanted`, most calls first; `nodes` are theirs."""
    starts = _starts(reader, path, line, within, capture)
    found: list[tuple[_Start, int, int, bool]] = []
    front = {start.node: [start] for start in starts}
    frames = frames_by_id(reader, {start.frame for start in starts})
    while front:
        arrivals = _next_readable(reader, front)
        frames |= frames_by_id(reader, {frame for _, _, frame, _ in arrivals} - frames.keys())
        further: dict[int, list[_Start]] = {}
        for left, node, frame, goes_on in arrivals:
            if wanted(frames[frame]):
                found += ((start, node, frame, goes_on) for start in front[left])
            else:
                further.setdefault(node, []).extend(front[left])
        front = further
    roads: dict[tuple[int, int], list[tuple[_Start, int, int, bool]]] = {}
    for each in found:
        roads.setdefault((each[0].frame, each[2]), []).append(each)
    return sorted(
        (
            Road(
                origin=frames[origin],
                target=frames[target],
                nodes=tuple(sorted({node for _, node, _, _ in arrived})),
                calls=sum(start.calls for start, *_ in arrived),
                longest=max(start.longest for start, *_ in arrived),
                makes_client=False,
                goes_on=any(goes_on for *_, goes_on in arrived),
            )
            for (origin, target), arrived in roads.items()
        ),
        key=lambda road: (-road.calls, road.nodes),
    )


def program_lines(reader: Reader, path: str, line: int, capture: int | None) -> list[PythonLine]:
    """For each way in which stacks came to a line, most calls first: the line of Python outward of it.

    That is the innermost of the program itself, else the innermost of all; ways without Python have none.
    """
    parents = [start.parent for start in _starts(reader, path, line, None, capture) if start.parent]
    lines = lines_of_nodes(reader, parents)
    return list(dict.fromkeys(lines[parent] for parent in parents if parent in lines))


@dataclass(frozen=True, slots=True)
class _Start:
    """A node on the line: its parent, its frame, and what passed it."""

    node: int
    parent: int
    frame: int
    calls: int
    longest: int


def _starts(reader: Reader, path: str, line: int, within: Collection[int] | None, capture: int | None) -> list[_Start]:
    rows = reader.rows(
        "SELECT n.id, n.parent, n.frame, n.calls, n.longest FROM frames fr JOIN nodes n ON n.frame = fr.id"
        " WHERE fr.file = ?1 AND fr.line = ?2 AND (?3 IS NULL OR n.id IN (SELECT value FROM json_each(?3)))"
        " ORDER BY n.calls DESC, n.id LIMIT ?4",
        file_id(reader, path),
        line,
        None if within is None else json.dumps(list(within)),
        _MOST_STARTS,
    )
    starts = [_Start(*row) for row in rows]
    if capture is None:
        return starts
    kept = nodes_in(reader, capture, [start.node for start in starts])
    return [start for start in starts if start.node in kept]


def _next_readable(reader: Reader, front: Collection[int]) -> list[tuple[int, int, int, bool]]:
    """Rows (from, node, frame, goes on): the nearest node outward of each whose frame is code with source."""
    rows = reader.rows(
        "WITH RECURSIVE up(start, id, parent, frame, readable) AS ("
        f" SELECT s.id, n.id, n.parent, n.frame, {_READABLE} FROM nodes s JOIN nodes n ON n.id = s.parent {_JOINS}"
        f" WHERE s.id {IN_JSON}"
        f" UNION ALL SELECT u.start, n.id, n.parent, n.frame, {_READABLE} FROM up u"
        f" JOIN nodes n ON n.id = u.parent {_JOINS} WHERE NOT u.readable"
        ") SELECT start, id, frame, parent <> 0 FROM up WHERE readable",
        json.dumps(list(front)),
    )
    return [(start, node, frame, bool(goes_on)) for start, node, frame, goes_on in rows]
