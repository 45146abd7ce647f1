"""What was recorded in a file: which lines and functions calls passed through, and what those came to."""

from __future__ import annotations

from collections import Counter

from framedex.index.read.asked import AskedFile
from framedex.model import LineMark


def recorded_lines(file: AskedFile) -> dict[int, int]:
    """The lines of the file that calls passed through, with the number of those calls."""
    moved = file.moved_lines()
    totals = file.reader.totals("line_calls")
    rows = file.reader.rows(f"SELECT line, sum(calls) FROM {totals} WHERE file = ? GROUP BY line", file.id)
    if moved is None:
        return dict(rows)
    counts: Counter[int] = Counter()
    for line, calls in rows:
        if now := moved.new_line(line):
            counts[now] += calls
    return dict(counts)


def is_recorded(file: AskedFile) -> bool:
    """Whether calls passed through any line of the file, a compiled program has ops of one, or an FFI handler was made
    from a function in it."""
    query = (
        "SELECT 1 FROM line_calls WHERE file = ?1 UNION ALL"
        " SELECT 1 FROM ffi_handlers h JOIN frames fr ON fr.id = h.implementation"
        " JOIN functions fn ON fn.id = fr.function WHERE fn.file = ?1"
        " UNION ALL SELECT 1 FROM program_frames WHERE file = ?1 LIMIT 1"
    )
    found = file.reader.memory.recall(("is recorded", file.path), lambda: file.reader.row(query, file.id))
    return found is not None


def line_marks(file: AskedFile, first: int, last: int) -> list[LineMark]:
    """The lines of the file, from `first` to `last`, that calls passed through, with what these came to.

    Where the latest run counts, that is the latest at each line. All as the file is now; lines that are not there any
    more are left out.
    """
    moved = file.moved_lines()
    if moved is not None:
        first, last = moved.backward(first).line, moved.backward(last).line
    calls, duration, of_latest = "l.calls", "l.duration", ""
    if file.reader.scope.is_latest:
        calls, duration = "l.run_calls", "l.run_duration"
        of_latest = " AND l.run = (SELECT max(run) FROM line_calls x WHERE x.file = l.file AND x.line = l.line)"
    rows = file.reader.rows(
        f"SELECT l.line, {calls}, {duration}, b.name FROM line_calls l JOIN boundaries b ON b.id = l.boundary"
        f" WHERE l.file = ? AND l.line BETWEEN ? AND ?{of_latest} ORDER BY l.line, 3 DESC, 2 DESC, b.name",
        file.id,
        first,
        last,
    )
    of_line: dict[int, list[tuple[int, int, str]]] = {}
    for then, *totals in rows:
        line = then if moved is None else moved.new_line(then)
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


def recorded_functions(file: AskedFile) -> list[tuple[int, int]]:
    """The first lines of the functions of the file that were on recorded stacks, each with the id of one on it.

    Where several begin on one line (instances of a template), the id is of the one with most calls. Functions whose
    line is not there any more are left out.
    """
    rows = file.reader.rows(
        "SELECT line, id, max(calls) FROM functions WHERE file = ? AND calls > 0 AND role = 'code'"
        " GROUP BY line ORDER BY line",
        file.id,
    )
    moved = file.moved_lines()
    lines = [(line if moved is None else moved.new_line(line), function) for line, function, _ in rows]
    return [(line, function) for line, function in lines if line is not None]
