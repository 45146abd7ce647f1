"""The stacks through a line or a file, and the nodes of the stack tree on a line.

Line and node totals cover all counted captures. `capture_stacks` has the totals of one capture, so queries for one
capture read the tree below the line: the deeper the line, the less they read. Queries over all captures do the same if
line totals cannot be added up.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count

from framedex.index.file.conventions import IN_JSON, build_json_list
from framedex.index.read.rows import Reader, read_frames_by_id
from framedex.index.read.subjects import FileQuery, LineQuery
from framedex.model import FrameRow, StackHit

_STACKS_BELOW = (
    "WITH RECURSIVE below(start, node) AS ("
    f" SELECT id, id FROM nodes WHERE id {IN_JSON}"
    " UNION ALL SELECT b.start, n.id FROM below b JOIN nodes n ON n.parent = b.node"
    "), passed(start, stack) AS ("
    " SELECT b.start, s.id FROM below b CROSS JOIN stacks s ON s.leaf = b.node"
    " UNION SELECT b.start, s.id FROM below b CROSS JOIN stacks s ON s.python_leaf = b.node"
    " UNION SELECT b.start, s.id FROM below b CROSS JOIN stacks s ON s.site_leaf = b.node"
    ") SELECT p.start, x.stack, b.name, b.boundary, x.calls, x.duration, x.latest_call FROM passed p"
)
_CAPTURE_TOTALS = (
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


MAX_NODES = 100
"""Limit of nodes followed per line: lines that every call passes have thousands."""

_MAX_FILTERED_NODES = 2000
"""Limit of nodes on a line that are checked for one capture."""

_COLUMNS = "n.id, n.parent, n.frame, n.depth, n.calls, n.longest"

MAX_STACKS = 50


@dataclass(frozen=True, slots=True)
class LinePassage:
    """Calls with one stack and boundary function, of one or all captures, that passed a line at the node `start`."""

    start: int
    stack: int
    function: str
    boundary: str
    calls: int
    duration: int
    latest_call: int


def find_passages(line: LineQuery) -> list[LinePassage]:
    """Return the calls that passed the line, most first.

    They come from the line's capture if it has one, otherwise from all captures in the reader's scope. Under recursion
    only the innermost pass counts.
    """
    starts = line.reader.rows(
        f"SELECT n.id FROM frames fr JOIN nodes n ON n.frame = fr.id WHERE {line.condition('fr')} ORDER BY n.depth DESC"
    )
    order = {node: position for position, (node,) in enumerate(starts)}
    found: dict[tuple[int, str, str], LinePassage] = {}
    if line.capture is None:
        totals = f" CROSS JOIN {line.reader.totals_table('stack_calls')} x ON x.stack = p.stack"
        rows = line.reader.rows(
            f"{_STACKS_BELOW}{totals} JOIN boundaries b ON b.id = x.boundary", build_json_list(order)
        )
    else:
        rows = line.reader.rows(_STACKS_BELOW + _CAPTURE_TOTALS, build_json_list(order), line.capture)
    for row in sorted(rows, key=lambda row: order[row[0]]):
        passage = LinePassage(*row)
        found.setdefault((passage.stack, passage.function, passage.boundary), passage)
    return sorted(found.values(), key=lambda passage: (-passage.calls, passage.stack, passage.function))


def keep_nodes_of_capture(reader: Reader, capture: int, nodes: Iterable[int]) -> set[int]:
    """Return the given nodes that stacks of the capture pass or end at."""
    return {node for node in nodes if reader.row(_ANY_STACK_BELOW, node, capture)}


@dataclass(frozen=True, slots=True)
class NodeOnLine:
    """A node on a line: its parent (0: none), frame and stack depth, with calls and `longest` (ns) as in `nodes`."""

    node: int
    parent: int
    frame: int
    depth: int
    calls: int
    longest: int


def find_nodes_on_line(
    line: LineQuery, within: Collection[int] | None = None, limit: int = MAX_NODES
) -> list[NodeOnLine]:
    """Return at most `limit` nodes on the line, ordered by the longest stack below them, then by calls.

    `within` restricts the result to these nodes; a capture restricts it to nodes that it passed.
    """
    if line.capture is None:
        return _read_longest_nodes(line, within, limit)
    found = _read_longest_nodes(line, within, _MAX_FILTERED_NODES)
    kept = keep_nodes_of_capture(line.reader, line.capture, [each.node for each in found])
    return [each for each in found if each.node in kept][:limit]


def read_frame_ids_on_line(line: LineQuery) -> list[int]:
    """Return the ids of the frames on the line; as it is edited, frames keep their ids."""
    return [frame for (frame,) in line.reader.rows(f"SELECT fr.id FROM frames fr WHERE {line.condition('fr')}")]


def restrict_to_run(line: LineQuery, nodes: Collection[int]) -> LineQuery:
    """Restrict the line to the latest run that passed one of these nodes; further steps then stay in that run."""
    query = f"SELECT max(run) FROM nodes WHERE id {IN_JSON}"
    return replace(line, reader=line.reader.restrict_to_latest_run(query, build_json_list(nodes)))


def _read_longest_nodes(line: LineQuery, within: Collection[int] | None, limit: int) -> list[NodeOnLine]:
    reader = line.reader
    nodes = reader.totals_table("nodes")
    if within is None:
        # Only a few index steps per frame, regardless of its number of nodes.
        rows = reader.rows(
            f"SELECT {_COLUMNS} FROM frames fr CROSS JOIN {nodes} n ON n.id IN"
            f" (SELECT id FROM {nodes} WHERE frame = fr.id ORDER BY longest DESC, calls DESC, id LIMIT ?1)"
            f" WHERE {line.condition('fr')} ORDER BY n.longest DESC, n.calls DESC, n.id LIMIT ?1",
            limit,
        )
    else:
        rows = reader.rows(
            f"SELECT {_COLUMNS} FROM {nodes} n CROSS JOIN frames fr ON fr.id = n.frame"
            f" WHERE n.id {IN_JSON} AND {line.condition('fr')}"
            " ORDER BY n.longest DESC, n.calls DESC, n.id LIMIT ?",
            build_json_list(within),
            limit,
        )
    return [NodeOnLine(*row) for row in rows]


def read_stacks_of_file(file: FileQuery, limit: int = MAX_STACKS) -> list[StackHit]:
    """Return the stacks that pass any line of the file, with their boundary functions; longest duration first."""
    rows = file.reader.rows(
        f"SELECT n.longest, n.calls, n.id, n.frame, n.depth FROM {file.reader.totals_table('nodes')} n"
        " JOIN frames fr ON fr.id = n.frame WHERE fr.file = ? ORDER BY n.depth DESC",
        file.id,
    )
    branches = [(longest, calls, _OpenNode(*rest)) for longest, calls, *rest in rows]
    return _collect_hits(file.reader, _iter_longest_first(file.reader, branches), limit)


def read_stacks_of_line(line: LineQuery, limit: int = MAX_STACKS) -> list[StackHit]:
    """Return the stacks that pass the line, with their boundary functions; longest duration first."""
    return read_longest_stacks_of_line(line, limit) if line.capture is None else _find_stacks_of_capture(line, limit)


def read_longest_stacks_of_line(line: LineQuery, limit: int = MAX_STACKS) -> list[StackHit]:
    """Return the longest stacks that pass the line in the counted captures, with their boundary functions.

    A stack appears once for each boundary function that was called with it.
    """
    everything = replace(line, capture=None)
    starts = sorted(find_nodes_on_line(everything, limit=limit), key=lambda start: -start.depth)
    branches = [(start.longest, start.calls, _OpenNode(start.node, start.frame, start.depth)) for start in starts]
    return _collect_hits(line.reader, _iter_longest_first(line.reader, branches), limit)


def _find_stacks_of_capture(line: LineQuery, limit: int) -> list[StackHit]:
    reader, found = line.reader, find_passages(line)[:limit]
    starts = {
        node: (frame, depth)
        for node, frame, depth in reader.rows(
            f"SELECT id, frame, depth FROM nodes WHERE id {IN_JSON}", build_json_list([each.start for each in found])
        )
    }
    frames = read_frames_by_id(reader, {frame for frame, _ in starts.values()})
    return [
        _build_hit(each, frames[frame], position)
        for each, (frame, position) in ((each, starts[each.start]) for each in found)
    ]


def _collect_hits(reader: Reader, leaves: Iterator[_StackCalls], limit: int) -> list[StackHit]:
    found: dict[tuple[int, str, str], _StackCalls] = {}
    for leaf in leaves:
        # Recursion brings a stack through the line several times: keep the innermost pass.
        found.setdefault((leaf.stack, leaf.boundary, leaf.function), leaf)
        if len(found) >= limit:
            break
    frames = read_frames_by_id(reader, {leaf.start.frame for leaf in found.values()})
    return [_build_hit(leaf, frames[leaf.start.frame], leaf.start.position) for leaf in found.values()]


def _build_hit(found: LinePassage | _StackCalls, frame: FrameRow, position: int) -> StackHit:
    return StackHit(
        function=found.function,
        boundary=found.boundary,
        stack=found.stack,
        latest_call=found.latest_call,
        calls=found.calls,
        total_duration=found.duration,
        frame=frame,
        position=position,
    )


@dataclass(frozen=True, slots=True)
class _OpenNode:
    """A node to expand, with the frame on the requested line and that frame's position in the stack."""

    node: int
    frame: int
    position: int


@dataclass(frozen=True, slots=True)
class _StackCalls:
    """A stack with its calls of one boundary function."""

    start: _OpenNode
    stack: int
    function: str
    boundary: str
    latest_call: int
    calls: int
    duration: int


def _iter_longest_first(reader: Reader, starts: Sequence[tuple[int, int, _OpenNode]]) -> Iterator[_StackCalls]:
    """Yield the stacks below the branches, longest duration first, reading only the part of the tree that is needed.

    Equal durations, as in samples without time, are ordered by calls. Each node stores its longest duration and its
    calls, so a best-first descent yields the stacks in order. The running number keeps the order of equal entries
    stable.
    """
    nodes, stack_calls = reader.totals_table("nodes"), reader.totals_table("stack_calls")
    number = count()
    queue: list[tuple[int, int, int, _OpenNode | _StackCalls]] = [
        (-longest, -calls, next(number), branch) for longest, calls, branch in starts
    ]
    heapq.heapify(queue)
    while queue:
        *_, entry = heapq.heappop(queue)
        if isinstance(entry, _StackCalls):
            yield entry
            continue
        for row in reader.rows(
            "SELECT s.id, b.name, b.boundary, x.latest_call, x.calls, x.duration"
            " FROM (SELECT id FROM stacks WHERE leaf = ?1 UNION SELECT id FROM stacks WHERE python_leaf = ?1"
            " UNION SELECT id FROM stacks WHERE site_leaf = ?1) s"
            f" JOIN {stack_calls} x ON x.stack = s.id JOIN boundaries b ON b.id = x.boundary",
            entry.node,
        ):
            leaf = _StackCalls(entry, *row)
            heapq.heappush(queue, (-leaf.duration, -leaf.calls, next(number), leaf))
        query = f"SELECT id, longest, calls FROM {nodes} WHERE parent = ?"
        for child, longest, calls in reader.rows(query, entry.node):
            heapq.heappush(queue, (-longest, -calls, next(number), _OpenNode(child, entry.frame, entry.position)))
