"""Steps outward from a line: the frames that led to it, and the program lines where its stacks come from."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from framedex.index.ask.call.pythonlines import lines_of_nodes
from framedex.index.ask.line.standing import MOST_STANDING, Standing, of_run_of, standing_on
from framedex.index.file.conventions import IN_JSON, json_list
from framedex.index.file.readable import CODE, READABLE
from framedex.index.read.asked import AskedLine
from framedex.index.read.rows import Reader, frames_by_id
from framedex.model import FrameRow, PythonLine, Road

_JOINS = "JOIN frames fr ON fr.id = n.frame JOIN functions fn ON fn.id = fr.function"


def roads_outward(
    line: AskedLine, wanted: Callable[[FrameRow], bool], within: Sequence[int] | None = None
) -> list[Road]:
    """Return the stack paths that reached the line from the nearest `wanted` frames, most calls first.

    A path's `nodes` belong to its outer frame; `within` is as for `roads_inward`.
    """
    line = line if within is None else of_run_of(line, within)
    reader = line.reader
    starts = standing_on(line, within)
    found: list[_Arrival] = []
    front = {start.node: [(start, 0)] for start in starts}
    frames = frames_by_id(reader, {start.frame for start in starts})
    shown: dict[int, bool] = {}
    while front:
        arrivals = _next_readable(reader, front)
        reached = {frame for _, _, frame, *_ in arrivals}
        frames |= frames_by_id(reader, reached - frames.keys())
        shown |= {frame: wanted(frames[frame]) for frame in reached - shown.keys()}
        further: dict[int, list[tuple[Standing, int]]] = {}
        for left, node, frame, goes_on, passed in arrivals:
            came = [(start, before + passed) for start, before in front[left]]
            if shown[frame]:
                found += (_Arrival(start, node, frame, goes_on, over) for start, over in came)
            else:
                further.setdefault(node, []).extend((start, over + 1) for start, over in came)
        front = further
    roads: dict[tuple[int, int], list[_Arrival]] = {}
    for each in found:
        roads.setdefault((each.start.frame, each.frame), []).append(each)
    return sorted(
        (
            Road(
                origin=frames[origin],
                target=frames[target],
                nodes=tuple(sorted({each.node for each in arrived})),
                calls=sum(each.start.calls for each in arrived),
                longest=max(each.start.longest for each in arrived),
                makes_client=False,
                goes_on=any(each.goes_on for each in arrived),
                passed=max(arrived, key=lambda each: each.start.longest).passed,
            )
            for (origin, target), arrived in roads.items()
        ),
        key=lambda road: (-road.calls, road.nodes),
    )


@dataclass(frozen=True, slots=True)
class _Arrival:
    """A node outward of a line: its frame, its start on the line, and the number of code frames between (`passed`)."""

    start: Standing
    node: int
    frame: int
    goes_on: bool
    passed: int


def program_lines(line: AskedLine, limit: int = MOST_STANDING) -> list[PythonLine]:
    """Return the Python lines whose stacks reached the line, longest duration first; a line is not its own origin.

    Each node on the line yields the innermost line of the user's program, otherwise the innermost Python line, if there
    is one. At most `limit` nodes are read.
    """
    parents = [start.parent for start in standing_on(line, limit=limit) if start.parent]
    lines = lines_of_nodes(line.reader, parents)
    return list(dict.fromkeys(lines[parent] for parent in parents if parent in lines))


def _next_readable(reader: Reader, front: Collection[int]) -> list[tuple[int, int, int, bool, int]]:
    """Return rows (start, node, frame, goes_on, passed) for the nearest outward nodes whose frame is code with source.

    `passed` counts the code frames in between; `goes_on` is false for the outermost frame of a stack.
    """
    rows = reader.rows(
        "WITH RECURSIVE up(start, id, parent, frame, passed, code, readable) AS ("
        f" SELECT s.id, n.id, n.parent, n.frame, 0, {CODE}, {READABLE}"
        f" FROM nodes s JOIN nodes n ON n.id = s.parent {_JOINS} WHERE s.id {IN_JSON}"
        f" UNION ALL SELECT u.start, n.id, n.parent, n.frame, u.passed + u.code, {CODE}, {READABLE} FROM up u"
        f" JOIN nodes n ON n.id = u.parent {_JOINS} WHERE NOT u.readable"
        ") SELECT start, id, frame, parent <> 0, passed FROM up WHERE readable",
        json_list(front),
    )
    return [(start, node, frame, bool(goes_on), passed) for start, node, frame, goes_on, passed in rows]
