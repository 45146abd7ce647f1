"""Recorded lines and functions of a file, with their calls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from framedex.index.read.asked import AskedFile
from framedex.model import LineMark


def recorded_lines(file: AskedFile) -> dict[int, int]:
    """Return {line: calls} for the lines of the file that calls passed through."""
    totals = file.reader.totals("line_calls")
    counts: Counter[int] = Counter()
    for state in file.states():
        where = file.in_state("l", state)
        for line, calls in file.reader.rows(f"SELECT line, sum(calls) FROM {totals} l WHERE {where} GROUP BY line"):
            if now := state.now(line):
                counts[now] += calls
    return dict(counts)


def is_recorded(file: AskedFile) -> bool:
    """Whether the file has a recorded line, an op of a compiled program, or the function behind an FFI handler."""
    query = (
        "SELECT 1 FROM line_calls WHERE file = ?1 UNION ALL"
        " SELECT 1 FROM ffi_handlers h JOIN frames fr ON fr.id = h.implementation"
        " JOIN functions fn ON fn.id = fr.function WHERE fn.file = ?1"
        " UNION ALL SELECT 1 FROM program_frames WHERE file = ?1 LIMIT 1"
    )
    found = file.reader.memory.recall(("is recorded", file.path), lambda: file.reader.row(query, file.id))
    return found is not None


def line_marks(file: AskedFile, first: int, last: int) -> list[LineMark]:
    """Return the marks of the recorded lines between `first` and `last`, with calls, durations and boundaries.

    Line numbers are those of the current file; deleted lines are left out.
    """
    totals: dict[int, dict[str, tuple[int, int]]] = {}  # {line: {boundary: (calls, ns)}}
    for state in file.states():
        rows = file.reader.rows(
            "SELECT l.line, b.name, l.calls, l.duration"
            f" FROM {file.reader.totals('line_calls')} l JOIN boundaries b ON b.id = l.boundary"
            f" WHERE {file.in_state('l', state)} AND l.line BETWEEN ? AND ?",
            state.nearest_then(first),
            state.nearest_then(last),
        )
        for then, name, calls, duration in rows:
            if (line := state.now(then)) is not None:
                of_line = totals.setdefault(line, {})
                before = of_line.get(name, (0, 0))
                of_line[name] = before[0] + calls, before[1] + duration
    return [_mark(line, of_line) for line, of_line in sorted(totals.items())]


def _mark(line: int, totals: Mapping[str, tuple[int, int]]) -> LineMark:
    return LineMark(
        line=line,
        calls=sum(calls for calls, _ in totals.values()),
        duration=sum(duration for _, duration in totals.values()),
        boundaries=tuple(sorted(totals, key=lambda name: (-totals[name][1], -totals[name][0], name))),
    )


def recorded_functions(file: AskedFile) -> list[tuple[int, int]]:
    """Return (first line, function id) of the recorded functions of the file.

    If several functions begin on one line (instances of a template), the id is that of the function with most calls.
    Functions whose line was deleted are left out.
    """
    run = file.reader.scope.run
    found: dict[int, tuple[int, int]] = {}
    for state in file.states():
        rows = file.reader.rows(
            f"SELECT line, id, max(calls) FROM functions WHERE {file.in_state('functions', state)}"
            f" AND calls > 0 AND role = 'code'{f' AND run = {run}' if run else ''} GROUP BY line"
        )
        for then, function, calls in rows:
            line = state.now(then) if then else None
            if line is not None and calls > found.get(line, (0, 0))[0]:
                found[line] = calls, function
    return [(line, function) for line, (_, function) in sorted(found.items())]
