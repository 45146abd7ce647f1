"""What an editor may show in the text of a file: totals of its functions and its lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from framedex.index.ask.line.lines import lines_since
from framedex.index.read.rows import Reader, file_id
from framedex.model import FunctionMark, LineMark

if TYPE_CHECKING:
    from framedex.sources.moving import LineMap


def line_marks(reader: Reader, path: str, first: int, last: int) -> list[LineMark]:
    """The lines of a file, from `first` to `last`, that calls passed through, with what these came to.

    All as the file is now; lines that are not there any more are left out.
    """
    moved = lines_since(reader, path)
    if moved is not None:
        first, last = moved.backward(first).line, moved.backward(last).line
    rows = reader.rows(
        "SELECT l.line, l.calls, l.duration, b.name FROM line_calls l JOIN boundaries b ON b.id = l.boundary"
        " WHERE l.file = ? AND l.line BETWEEN ? AND ? ORDER BY l.line, l.duration DESC, l.calls DESC, b.name",
        file_id(reader, path),
        first,
        last,
    )
    of_line: dict[int, list[tuple[int, int, str]]] = {}
    for then, *totals in rows:
        line = then if moved is None else _now(moved, then)
        if line is None:
            continue
        of_line.setdefault(line, []).append((totals[0], totals[1], totals[2]))
    return [
        LineMark(
            line=line,
            calls=sum(calls for calls, _, _ in of_boundary),
            duration=sum(duration for _, duration, _ in of_boundary),
            boundaries=tuple(name for _, _, name in of_boundary),
        )
        for line, of_boundary in of_line.items()
    ]


def recorded_functions(reader: Reader, path: str) -> list[tuple[int, int]]:
    """The first lines of the functions of a file that were on recorded stacks, each with the id of one on it.

    Of several on one line (instances of a template), that with most calls. The lines are those of the file as it is
    now; functions whose line is not there any more are left out.
    """
    rows = reader.rows(
        "SELECT line, id, max(calls) FROM functions WHERE file = ? AND calls > 0 AND role = 'code'"
        " GROUP BY line ORDER BY line",
        file_id(reader, path),
    )
    moved = lines_since(reader, path)
    lines = [(line if moved is None else _now(moved, line), function) for line, function, _ in rows]
    return [(line, function) for line, function in lines if line is not None]


def function_mark(reader: Reader, function_id: int) -> FunctionMark | None:
    """What the calls through a function came to; None where there is no such function.

    The duration is None where the totals of its lines are not those of the function: a line shared with another
    function counts for both, and a stack that recursion brings through several lines counts on each.
    """
    function = reader.row("SELECT name, calls FROM functions WHERE id = ?", function_id)
    if function is None:
        return None
    rows = reader.rows(
        "SELECT b.name, sum(l.calls), sum(l.duration) AS total"
        " FROM (SELECT DISTINCT file, line FROM frames WHERE function = ? AND file IS NOT NULL) fr"
        " CROSS JOIN line_calls l ON l.file = fr.file AND l.line = fr.line JOIN boundaries b ON b.id = l.boundary"
        " GROUP BY b.id ORDER BY total DESC, b.name",
        function_id,
    )
    name, calls = function
    is_whole = sum(of_boundary for _, of_boundary, _ in rows) == calls
    return FunctionMark(
        name=name,
        calls=calls,
        duration=sum(duration for _, _, duration in rows) if is_whole else None,
        boundaries=tuple(boundary for boundary, _, _ in rows),
    )


def _now(moved: LineMap, line: int) -> int | None:
    now = moved.forward(line)
    return None if now.is_gone else now.line
