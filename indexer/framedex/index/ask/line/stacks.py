"""The stacks through a line or a file, longest duration first."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count

from framedex.index.ask.line.narrowing import Passage, passages
from framedex.index.ask.line.standing import standing_on
from framedex.index.file.conventions import IN_JSON, json_list
from framedex.index.read.asked import AskedFile, AskedLine
from framedex.index.read.rows import Reader, frames_by_id
from framedex.model import FrameRow, StackHit

MOST_STACKS = 50


def stacks_of_file(file: AskedFile, limit: int = MOST_STACKS) -> list[StackHit]:
    """Return the stacks that pass any line of the file, with their boundary functions; longest duration first."""
    rows = file.reader.rows(
        f"SELECT n.longest, n.calls, n.id, n.frame, n.depth FROM {file.reader.totals('nodes')} n"
        " JOIN frames fr ON fr.id = n.frame WHERE fr.file = ? ORDER BY n.depth DESC",
        file.id,
    )
    branches = [(longest, calls, _Branch(*rest)) for longest, calls, *rest in rows]
    return _hits(file.reader, _best_first(file.reader, branches), limit)


def stacks_of_line(line: AskedLine, limit: int = MOST_STACKS) -> list[StackHit]:
    """Return the stacks that pass the line, with their boundary functions; longest duration first."""
    return longest_stacks_of_line(line, limit) if line.capture is None else _of_capture(line, limit)


def longest_stacks_of_line(line: AskedLine, limit: int = MOST_STACKS) -> list[StackHit]:
    """Return the longest stacks that pass the line in the counted captures, with their boundary functions.

    A stack appears once for each boundary function that was called with it.
    """
    everything = replace(line, capture=None)
    starts = sorted(standing_on(everything, limit=limit), key=lambda start: -start.depth)
    branches = [(start.longest, start.calls, _Branch(start.node, start.frame, start.depth)) for start in starts]
    return _hits(line.reader, _best_first(line.reader, branches), limit)


def _of_capture(line: AskedLine, limit: int) -> list[StackHit]:
    reader, found = line.reader, passages(line)[:limit]
    starts = {
        node: (frame, depth)
        for node, frame, depth in reader.rows(
            f"SELECT id, frame, depth FROM nodes WHERE id {IN_JSON}", json_list([each.start for each in found])
        )
    }
    frames = frames_by_id(reader, {frame for frame, _ in starts.values()})
    return [
        _hit(each, frames[frame], position)
        for each, (frame, position) in ((each, starts[each.start]) for each in found)
    ]


def _hits(reader: Reader, leaves: Iterator[_Leaf], limit: int) -> list[StackHit]:
    found: dict[tuple[int, str, str], _Leaf] = {}
    for leaf in leaves:
        # Recursion brings a stack through the line several times: keep the innermost pass.
        found.setdefault((leaf.stack, leaf.boundary, leaf.function), leaf)
        if len(found) >= limit:
            break
    frames = frames_by_id(reader, {leaf.start.frame for leaf in found.values()})
    return [_hit(leaf, frames[leaf.start.frame], leaf.start.position) for leaf in found.values()]


def _hit(found: Passage | _Leaf, frame: FrameRow, position: int) -> StackHit:
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
class _Branch:
    """A node to expand, with the frame on the requested line and that frame's position in the stack."""

    node: int
    frame: int
    position: int


@dataclass(frozen=True, slots=True)
class _Leaf:
    """A stack with its calls of one boundary function."""

    start: _Branch
    stack: int
    function: str
    boundary: str
    latest_call: int
    calls: int
    duration: int


def _best_first(reader: Reader, starts: Sequence[tuple[int, int, _Branch]]) -> Iterator[_Leaf]:
    """Yield the stacks below the branches, longest duration first, reading only the part of the tree that is needed.

    Equal durations, as in samples without time, are ordered by calls. Each node stores its longest duration and its
    calls, so a best-first descent yields the stacks in order. The running number keeps the order of equal entries
    stable.
    """
    nodes, stack_calls = reader.totals("nodes"), reader.totals("stack_calls")
    number = count()
    queue: list[tuple[int, int, int, _Branch | _Leaf]] = [
        (-longest, -calls, next(number), branch) for longest, calls, branch in starts
    ]
    heapq.heapify(queue)
    while queue:
        *_, entry = heapq.heappop(queue)
        if isinstance(entry, _Leaf):
            yield entry
            continue
        for row in reader.rows(
            "SELECT s.id, b.name, b.boundary, x.latest_call, x.calls, x.duration"
            " FROM (SELECT id FROM stacks WHERE leaf = ?1 UNION SELECT id FROM stacks WHERE python_leaf = ?1"
            " UNION SELECT id FROM stacks WHERE site_leaf = ?1) s"
            f" JOIN {stack_calls} x ON x.stack = s.id JOIN boundaries b ON b.id = x.boundary",
            entry.node,
        ):
            leaf = _Leaf(entry, *row)
            heapq.heappush(queue, (-leaf.duration, -leaf.calls, next(number), leaf))
        query = f"SELECT id, longest, calls FROM {nodes} WHERE parent = ?"
        for child, longest, calls in reader.rows(query, entry.node):
            heapq.heappush(queue, (-longest, -calls, next(number), _Branch(child, entry.frame, entry.position)))
