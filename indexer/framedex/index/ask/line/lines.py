"""Questions about a source line: what was recorded through it, and what lies one frame inwards or outwards."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

from framedex.index.read.places import state_of
from framedex.index.read.rows import (
    CAPTURE_COLUMNS,
    LATEST_FIRST,
    Reader,
    arguments,
    capture_row,
    file_id,
    frames_by_id,
    functions_by_id,
)
from framedex.model import FileState, How, LineSummary, Location, StackHit, Stale, Step

if TYPE_CHECKING:
    from framedex.sources.changes import Change
    from framedex.sources.moving import LineMap

SAMPLES = 4
"""Argument objects that are shown for a line; writers keep no more of them, for a line or a stack."""


NO_LINE = 0
"""What a line that was not there then was: nothing was recorded on it."""


def line_then(reader: Reader, path: str, line: int) -> int:
    """The line of a file, as it was when it was last recorded, that is this one now; `NO_LINE` if none is.

    Where nobody knows what has changed, lines keep their numbers.
    """
    moved = lines_since(reader, path)
    if moved is None:
        return line
    then = moved.backward(line)
    return NO_LINE if then.is_gone else then.line


def nearest_line_then(reader: Reader, path: str, line: int) -> int:
    """The same, or where it would have been."""
    moved = lines_since(reader, path)
    return line if moved is None else moved.backward(line).line


def change_since(reader: Reader, path: str) -> Change | None:
    """What has changed in a file since it was last recorded, or else indexed; None for nothing that is known."""
    state = _state_then(reader, path)
    return None if state is None or reader.is_unchanged(path, state) else reader.places.change_since(path, state)


def lines_since(reader: Reader, path: str) -> LineMap | None:
    """From the lines of a file when it was last recorded to those now; None where they are the same, or unknown."""
    state = _state_then(reader, path)
    if state is None or reader.is_unchanged(path, state):
        return None
    return reader.places.lines_since(path, state)


def _state_then(reader: Reader, path: str) -> FileState | None:
    # Frames of older recordings may be about other states of the file: the last one counts.
    query = (
        "SELECT modified, size, blob FROM file_versions WHERE file = (SELECT id FROM files WHERE path = ?1)"
        " UNION ALL SELECT modified, size, blob FROM source_files s WHERE file = (SELECT id FROM files WHERE path = ?1)"
        " AND NOT EXISTS (SELECT 1 FROM file_versions v WHERE v.file = s.file) ORDER BY modified DESC LIMIT 1"
    )
    row = reader.memory.recall(("state", path), lambda: reader.row(query, path))
    return None if row is None else state_of(*row)


def since_recorded(reader: Reader, path: str, line: int) -> Location:
    """A line, with what has become of it since its file was last recorded, or else indexed."""
    change = change_since(reader, path)
    if change is None:
        return Location(path, line, How.EXACT)
    if change.lines is None:
        return Location(path, line, How.EXACT, stale=Stale.UNKNOWN)
    then = change.lines.backward(line)
    if then.is_gone or then.line == line:
        return Location(path, line, How.EXACT)
    return Location(path, line, How.EXACT, stale=Stale.MOVED, moved_from=then.line)


def recorded_lines(reader: Reader, path: str) -> dict[int, int]:
    """The lines of a file that calls passed through, with the number of those calls."""
    moved = lines_since(reader, path)
    rows = reader.rows(
        "SELECT line, sum(calls) FROM line_calls WHERE file = (SELECT id FROM files WHERE path = ?) GROUP BY line", path
    )
    if moved is None:
        return dict(rows)
    counts: Counter[int] = Counter()
    for line, calls in rows:
        counts[moved.forward(line).line] += calls
    return dict(counts)


def line_summary(reader: Reader, path: str, line: int) -> LineSummary | None:
    """What was recorded through a line, or None where nothing was."""
    file = file_id(reader, path)
    boundaries = reader.rows(
        "SELECT b.name, l.calls, l.duration FROM line_calls l JOIN boundaries b ON b.id = l.boundary"
        " WHERE l.file = ? AND l.line = ? ORDER BY l.calls DESC, b.name",
        file,
        line,
    )
    if not boundaries:
        return None
    capture = reader.row(
        f"SELECT {CAPTURE_COLUMNS}, c.id FROM line_calls l JOIN calls c ON c.id = l.latest_call"
        f" JOIN captures p ON p.id = c.capture WHERE l.file = ? AND l.line = ? ORDER BY {LATEST_FIRST} LIMIT 1",
        file,
        line,
    )
    if capture is None:
        return None
    callers = reader.rows(
        "SELECT o.function, sum(s.calls) AS total FROM frames fr JOIN readable_steps s ON s.target = fr.id"
        " JOIN frames o ON o.id = s.origin WHERE fr.file = ? AND fr.line = ? GROUP BY o.function ORDER BY total DESC",
        file,
        line,
    )
    functions = functions_by_id(reader, [function for function, _ in callers])
    samples = reader.rows(
        "SELECT DISTINCT a.json FROM line_samples s JOIN arguments a ON a.id = s.arguments"
        " WHERE s.file = ? AND s.line = ? ORDER BY a.has_shape DESC, a.id LIMIT ?",
        file,
        line,
        SAMPLES,
    )
    hows = reader.rows("SELECT DISTINCT how FROM frames WHERE file = ? AND line = ?", file, line)
    return LineSummary(
        path=path,
        line=line,
        calls=sum(calls for _, calls, _ in boundaries),
        total_duration=sum(duration for _, _, duration in boundaries),
        boundaries=tuple(boundaries),
        callers=tuple((functions[function], calls) for function, calls in callers),
        arguments=tuple(arguments(text) for (text,) in samples),
        hows=tuple(sorted(How(how) for (how,) in hows)),
        latest_capture=capture_row(capture),
        latest_call=capture[-1],
    )


def recorded_files(reader: Reader, ending: str) -> list[str]:
    """The files with recorded lines whose path, here or as recorded, ends with these whole components.

    All for an empty text.
    """
    fits = "(?1 = '' OR {0} = ?1 OR substr({0}, -length(?1) - 1) = '/' || ?1)"
    rows = reader.rows(
        f"SELECT path FROM files WHERE id IN (SELECT file FROM line_calls) AND {fits.format('path')}"
        " UNION SELECT f.path FROM files r JOIN frames fr ON fr.recorded_file = r.id JOIN files f ON f.id = fr.file"
        f" WHERE f.id IN (SELECT file FROM line_calls) AND {fits.format('r.path')} ORDER BY path",
        ending,
    )
    return [path for (path,) in rows]


def is_recorded(reader: Reader, path: str) -> bool:
    """Whether calls passed through any line of the file, or an FFI handler was made from a function in it."""
    query = (
        "SELECT 1 FROM line_calls WHERE file = (SELECT id FROM files WHERE path = ?1) UNION ALL"
        " SELECT 1 FROM ffi_handlers h JOIN frames fr ON fr.id = h.implementation"
        " JOIN functions fn ON fn.id = fr.function WHERE fn.file = (SELECT id FROM files WHERE path = ?1) LIMIT 1"
    )
    return reader.memory.recall(("is recorded", path), lambda: reader.row(query, path)) is not None


def inward(reader: Reader, path: str, line: int) -> list[Step]:
    """The frames called from a line, most calls first."""
    return _steps(reader, "steps", path, line, here="origin")


def inward_readable(reader: Reader, path: str, line: int) -> list[Step]:
    """The next frames with source that a line leads to, most calls first, past interpreter and glue frames."""
    return _steps(reader, "readable_steps", path, line, here="origin")


def outward_readable(reader: Reader, path: str, line: int) -> list[Step]:
    """The next frames with source that led to a line, most calls first. `origin` is the frame on the line."""
    return _steps(reader, "readable_steps", path, line, here="target")


def stacks_through(reader: Reader, path: str, line: int | None, limit: int) -> list[StackHit]:
    """The stacks that pass a file, or one line of it, most calls first."""
    rows = reader.rows(
        "SELECT n.busiest, n.id, n.frame, n.depth FROM nodes n JOIN frames fr ON fr.id = n.frame"
        " WHERE fr.file = (SELECT id FROM files WHERE path = ?1) AND (?2 IS NULL OR fr.line = ?2)"
        " ORDER BY n.depth DESC",
        path,
        line,
    )
    starts = [(busiest, _Branch(*rest)) for busiest, *rest in rows]
    return _hits(reader, _best_first(reader, starts, "busiest", lambda leaf: leaf.calls), limit)


def longest_stacks(reader: Reader, path: str, line: int, limit: int) -> list[StackHit]:
    """The stacks that pass a line, what took longest first, in all calls together."""
    from framedex.index.ask.line.standing import standing_on

    starts = sorted(standing_on(reader, path, line, limit=limit), key=lambda start: -start.depth)
    branches = [(start.longest, _Branch(start.node, start.frame, start.depth)) for start in starts]
    return _hits(reader, _best_first(reader, branches, "longest", lambda leaf: leaf.duration), limit)


def _hits(reader: Reader, leaves: Iterator[_Leaf], limit: int) -> list[StackHit]:
    found: dict[tuple[int, str, str], _Leaf] = {}
    for leaf in leaves:
        # Recursion brings a stack through the line several times; its innermost pass is the one kept.
        found.setdefault((leaf.stack, leaf.boundary, leaf.function), leaf)
        if len(found) >= limit:
            break
    frames = frames_by_id(reader, {leaf.start.frame for leaf in found.values()})
    return [
        StackHit(
            function=leaf.function,
            boundary=leaf.boundary,
            stack=leaf.stack,
            latest_call=leaf.latest_call,
            calls=leaf.calls,
            total_duration=leaf.duration,
            frame=frames[leaf.start.frame],
            position=leaf.start.position,
        )
        for leaf in found.values()
    ]


@dataclass(frozen=True, slots=True)
class _Branch:
    """A node to look below, and the frame (with its position in the stack) on the line asked for."""

    node: int
    frame: int
    position: int


@dataclass(frozen=True, slots=True)
class _Leaf:
    """A stack that was met, with the calls of one boundary function."""

    start: _Branch
    stack: int
    function: str
    boundary: str
    latest_call: int
    calls: int
    duration: int


def _best_first(
    reader: Reader, starts: Sequence[tuple[int, _Branch]], most: str, weight: Callable[[_Leaf], int]
) -> Iterator[_Leaf]:
    """The stacks below the branches in falling order of a weight, reading only as much of the tree as is asked for.

    `most` is the column of a node that has the greatest weight of a stack below it, so a best-first descent goes
    straight to the stacks in order.
    The running number keeps equals in the order they came.
    """
    number = count()
    queue: list[tuple[int, int, _Branch | _Leaf]] = [(-best, next(number), branch) for best, branch in starts]
    heapq.heapify(queue)
    while queue:
        _, _, entry = heapq.heappop(queue)
        if isinstance(entry, _Leaf):
            yield entry
            continue
        for row in reader.rows(
            "SELECT s.id, b.name, b.boundary, x.latest_call, x.calls, x.duration"
            " FROM (SELECT id FROM stacks WHERE leaf = ?1 UNION SELECT id FROM stacks WHERE python_leaf = ?1"
            " UNION SELECT id FROM stacks WHERE site_leaf = ?1) s"
            " JOIN stack_calls x ON x.stack = s.id JOIN boundaries b ON b.id = x.boundary",
            entry.node,
        ):
            leaf = _Leaf(entry, *row)
            heapq.heappush(queue, (-weight(leaf), next(number), leaf))
        for child, below in reader.rows(f"SELECT id, {most} FROM nodes WHERE parent = ?", entry.node):
            heapq.heappush(queue, (-below, next(number), _Branch(child, entry.frame, entry.position)))


def _steps(reader: Reader, table: str, path: str, line: int, here: str) -> list[Step]:
    there = "target" if here == "origin" else "origin"
    rows = reader.rows(
        f"SELECT s.{here}, s.{there}, s.calls FROM frames fr JOIN {table} s ON s.{here} = fr.id"
        " WHERE fr.file = (SELECT id FROM files WHERE path = ?) AND fr.line = ? ORDER BY s.calls DESC, s.origin",
        path,
        line,
    )
    frames = frames_by_id(reader, {frame for row in rows for frame in row[:2]})
    return [Step(origin=frames[row[0]], target=frames[row[1]], calls=row[2]) for row in rows]
