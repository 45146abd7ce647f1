"""The summary of a line: from the totals of all counted captures, or from one capture."""

from __future__ import annotations

from collections.abc import Collection

from framedex.index.ask.line.boundaries import LineBoundary, line_boundaries
from framedex.index.ask.line.narrowing import Passage, passages
from framedex.index.file.conventions import IN_JSON, LATEST_FIRST, SAMPLES, json_list
from framedex.index.read.asked import AskedLine
from framedex.index.read.rows import CAPTURE_COLUMNS, Reader, arguments, capture_row, functions_by_id
from framedex.model import How, LineSummary

_SAMPLED = 64
"""Limit of calls searched for arguments worth showing, the longest first."""


def line_summary(line: AskedLine) -> LineSummary | None:
    """Return the summary of the line, or None if nothing was recorded; for a single capture it has no callers."""
    return _of_all(line) if line.capture is None else _of_capture(line, line.capture)


def _of_all(line: AskedLine) -> LineSummary | None:
    reader = line.reader
    boundaries = line_boundaries(line)
    if not boundaries:
        return None
    capture = reader.row(
        f"SELECT {CAPTURE_COLUMNS}, c.id FROM line_calls l JOIN calls c ON c.id = l.latest_call"
        f" JOIN captures p ON p.id = c.capture WHERE {line.on('l')} ORDER BY {LATEST_FIRST} LIMIT 1"
    )
    if capture is None:
        return None
    callers = reader.rows(
        f"SELECT o.function, sum(s.calls) AS total FROM frames fr JOIN {reader.totals('readable_steps')} s"
        " ON s.target = fr.id"
        f" JOIN frames o ON o.id = s.origin WHERE {line.on('fr')}"
        " GROUP BY o.function ORDER BY total DESC"
    )
    functions = functions_by_id(reader, [function for function, _ in callers])
    is_narrow = reader.scope.is_narrow
    stood = f" AND EXISTS (SELECT 1 FROM {reader.totals('nodes')} n WHERE n.frame = frames.id)" if is_narrow else ""
    hows = reader.rows(f"SELECT DISTINCT how FROM frames WHERE {line.on('frames')}{stood}")
    return LineSummary(
        path=line.path,
        line=line.line,
        frame_lines=line.lines,
        calls=sum(each.calls for each in boundaries),
        total_duration=sum(each.duration for each in boundaries),
        boundaries=tuple((each.function, each.calls, each.duration) for each in boundaries),
        callers=tuple((functions[function], calls) for function, calls in callers),
        arguments=tuple(_samples(reader, boundaries) if is_narrow else _kept_samples(line)),
        hows=tuple(sorted(How(how) for (how,) in hows)),
        latest_capture=capture_row(capture),
        latest_call=capture[-1],
    )


def _of_capture(line: AskedLine, capture: int) -> LineSummary | None:
    reader, found = line.reader, passages(line)
    row = reader.row(f"SELECT {CAPTURE_COLUMNS} FROM captures p WHERE p.id = ?", capture)
    if not found or row is None:
        return None
    hows = reader.rows(
        "SELECT DISTINCT fr.how FROM nodes n JOIN frames fr ON fr.id = n.frame"
        f" WHERE n.id {IN_JSON} AND fr.how IS NOT NULL",
        json_list({each.start for each in found}),
    )
    return LineSummary(
        path=line.path,
        line=line.line,
        frame_lines=line.lines,
        calls=sum(each.calls for each in found),
        total_duration=sum(each.duration for each in found),
        boundaries=tuple((each.function, each.calls, each.duration) for each in line_boundaries(line)),
        callers=(),
        arguments=tuple(_samples(reader, found)),
        hows=tuple(sorted(How(how) for (how,) in hows)),
        latest_capture=capture_row(row),
        latest_call=max(each.latest_call for each in found),
    )


def _kept_samples(line: AskedLine) -> list[dict[str, object]]:
    rows = line.reader.rows(
        "SELECT DISTINCT a.json FROM line_samples s JOIN arguments a ON a.id = s.arguments"
        f" WHERE {line.on('s')} ORDER BY a.has_shape DESC, a.id LIMIT ?",
        SAMPLES,
    )
    return [arguments(text) for (text,) in rows]


def _samples(reader: Reader, found: Collection[Passage | LineBoundary]) -> list[dict[str, object]]:
    """Return the arguments of the latest calls, taken from the functions with the longest total duration."""
    longest = sorted(found, key=lambda each: -each.duration)[:_SAMPLED]
    rows = reader.rows(
        "SELECT DISTINCT a.json FROM calls c JOIN arguments a ON a.id = c.arguments"
        f" WHERE c.id {IN_JSON} ORDER BY a.has_shape DESC, a.id LIMIT ?",
        json_list([each.latest_call for each in longest]),
        SAMPLES,
    )
    return [arguments(text) for (text,) in rows]
