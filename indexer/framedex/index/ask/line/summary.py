"""The summary of a line, and its calls by boundary function: from all counted captures, or from one."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from framedex.index.ask.line.stacks import LinePassage, find_passages
from framedex.index.file.conventions import IN_JSON, LATEST_FIRST, MAX_SAMPLES, STATE_OF_LINE, build_json_list
from framedex.index.read.rows import (
    CAPTURE_COLUMNS,
    Reader,
    build_capture,
    decode_arguments,
    read_frames_by_id,
    read_functions_by_id,
)
from framedex.index.read.subjects import LineQuery
from framedex.model import BoundaryEnd, LineSummary, LocationEvidence

_MAX_SAMPLED_CALLS = 64
"""Limit of calls whose arguments are read as samples, the longest first."""

MAX_ENDS = 50
"""Limit of boundary functions per line, the longest total duration first."""

_MAX_DEPTH = 16
"""Number of innermost frames that are searched for one with source."""


@dataclass(frozen=True, slots=True)
class LineBoundary:
    """The calls of one boundary function that passed a line; `duration` is their sum in ns."""

    function: str
    boundary: str
    calls: int
    duration: int
    latest_call: int


def read_line_boundaries(line: LineQuery) -> list[LineBoundary]:
    """Return the boundary functions reached from the line, most calls first.

    Calls come from the line's capture if it has one, otherwise from all counted captures.
    """
    if line.capture is not None or (line.spans_several_lines and _may_pass_twice(line)):
        found = _merge(
            LineBoundary(each.function, each.boundary, each.calls, each.duration, each.latest_call)
            for each in find_passages(line)
        )
    else:
        rows = line.reader.rows(
            "SELECT b.name, b.boundary, l.calls, l.duration, l.latest_call"
            f" FROM {line.reader.totals_table('line_calls')} l"
            f" JOIN boundaries b ON b.id = l.boundary WHERE {line.condition('l')}"
        )
        found = _merge(LineBoundary(*row) for row in rows)
    return sorted(found, key=lambda each: (-each.calls, each.function))


def _may_pass_twice(line: LineQuery) -> bool:
    """Whether recursion may put several of the lines on one stack, so that line totals count a call twice."""
    functions = line.reader.rows(
        "SELECT DISTINCT fn.id, fn.calls, fn.run, fn.run_calls FROM frames fr JOIN functions fn ON fn.id = fr.function"
        f" WHERE {line.condition('fr')}"
    )
    row = line.reader.row(
        f"SELECT sum(l.calls) FROM (SELECT DISTINCT fr.file, fr.line, {STATE_OF_LINE} AS version FROM frames fr"
        f" WHERE fr.function {IN_JSON} AND fr.file IS NOT NULL) stood"
        f" CROSS JOIN {line.reader.totals_table('line_calls')} l ON l.file = stood.file AND l.line = stood.line"
        " AND l.version = stood.version",
        build_json_list([function for function, *_ in functions]),
    )
    run = line.reader.scope.run
    if run and any(latest != run for _, _, latest, _ in functions):
        return True  # a later run passed other lines, so the calls of these functions in this run are not stored
    return row is None or row[0] != sum(of_run if run else calls for _, calls, _, of_run in functions)


def _merge(parts: Iterable[LineBoundary]) -> list[LineBoundary]:
    found: dict[tuple[str, str], LineBoundary] = {}
    for each in parts:
        known = found.get((each.function, each.boundary))
        found[each.function, each.boundary] = (
            each
            if known is None
            else LineBoundary(
                each.function,
                each.boundary,
                known.calls + each.calls,
                known.duration + each.duration,
                max(known.latest_call, each.latest_call),
            )
        )
    return list(found.values())


def read_line_summary(line: LineQuery) -> LineSummary | None:
    """Return the summary of the line, or None if nothing was recorded; for a single capture it has no callers."""
    return _summarize_all(line) if line.capture is None else _summarize_capture(line, line.capture)


def _summarize_all(line: LineQuery) -> LineSummary | None:
    reader = line.reader
    boundaries = read_line_boundaries(line)
    if not boundaries:
        return None
    capture = reader.row(
        f"SELECT {CAPTURE_COLUMNS}, c.id FROM line_calls l JOIN calls c ON c.id = l.latest_call"
        f" JOIN captures p ON p.id = c.capture WHERE {line.condition('l')} ORDER BY {LATEST_FIRST} LIMIT 1"
    )
    if capture is None:
        return None
    callers = reader.rows(
        f"SELECT o.function, sum(s.calls) AS total FROM frames fr JOIN {reader.totals_table('readable_steps')} s"
        " ON s.target = fr.id"
        f" JOIN frames o ON o.id = s.origin WHERE {line.condition('fr')}"
        " GROUP BY o.function ORDER BY total DESC"
    )
    functions = read_functions_by_id(reader, [function for function, _ in callers])
    is_narrow = reader.scope.is_narrow
    location_condition = (
        f" AND EXISTS (SELECT 1 FROM {reader.totals_table('nodes')} n WHERE n.frame = frames.id)" if is_narrow else ""
    )
    hows = reader.rows(f"SELECT DISTINCT how FROM frames WHERE {line.condition('frames')}{location_condition}")
    return LineSummary(
        path=line.path,
        line=line.line,
        frame_lines=line.lines,
        calls=sum(each.calls for each in boundaries),
        total_duration=sum(each.duration for each in boundaries),
        boundaries=tuple((each.function, each.calls, each.duration) for each in boundaries),
        callers=tuple((functions[function], calls) for function, calls in callers),
        arguments=tuple(_read_samples(reader, boundaries) if is_narrow else _read_stored_samples(line)),
        hows=tuple(sorted(LocationEvidence(how) for (how,) in hows)),
        latest_capture=build_capture(capture),
        latest_call=capture[-1],
    )


def _summarize_capture(line: LineQuery, capture: int) -> LineSummary | None:
    reader, found = line.reader, find_passages(line)
    row = reader.row(f"SELECT {CAPTURE_COLUMNS} FROM captures p WHERE p.id = ?", capture)
    if not found or row is None:
        return None
    hows = reader.rows(
        "SELECT DISTINCT fr.how FROM nodes n JOIN frames fr ON fr.id = n.frame"
        f" WHERE n.id {IN_JSON} AND fr.how IS NOT NULL",
        build_json_list({each.start for each in found}),
    )
    return LineSummary(
        path=line.path,
        line=line.line,
        frame_lines=line.lines,
        calls=sum(each.calls for each in found),
        total_duration=sum(each.duration for each in found),
        boundaries=tuple((each.function, each.calls, each.duration) for each in read_line_boundaries(line)),
        callers=(),
        arguments=tuple(_read_samples(reader, found)),
        hows=tuple(sorted(LocationEvidence(how) for (how,) in hows)),
        latest_capture=build_capture(row),
        latest_call=max(each.latest_call for each in found),
    )


def _read_stored_samples(line: LineQuery) -> list[dict[str, object]]:
    rows = line.reader.rows(
        "SELECT DISTINCT a.json FROM line_samples s JOIN arguments a ON a.id = s.arguments"
        f" WHERE {line.condition('s')} ORDER BY a.has_shape DESC, a.id LIMIT ?",
        MAX_SAMPLES,
    )
    return [decode_arguments(text) for (text,) in rows]


def _read_samples(reader: Reader, found: Collection[LinePassage | LineBoundary]) -> list[dict[str, object]]:
    """Return the arguments of the latest calls, taken from the functions with the longest total duration."""
    longest = sorted(found, key=lambda each: -each.duration)[:_MAX_SAMPLED_CALLS]
    rows = reader.rows(
        "SELECT DISTINCT a.json FROM calls c JOIN arguments a ON a.id = c.arguments"
        f" WHERE c.id {IN_JSON} ORDER BY a.has_shape DESC, a.id LIMIT ?",
        build_json_list([each.latest_call for each in longest]),
        MAX_SAMPLES,
    )
    return [decode_arguments(text) for (text,) in rows]


def read_boundary_ends(line: LineQuery) -> list[BoundaryEnd]:
    """Return the boundary functions reached from the line, longest total duration first."""
    found = sorted(read_line_boundaries(line), key=lambda each: (-each.duration, each.function))[:MAX_ENDS]
    rows = line.reader.rows(
        "WITH RECURSIVE up(call, node, steps) AS ("
        f" SELECT c.id, s.leaf, 1 FROM calls c JOIN stacks s ON s.id = c.stack WHERE c.id {IN_JSON}"
        " UNION ALL SELECT u.call, n.parent, u.steps + 1 FROM up u JOIN nodes n ON n.id = u.node"
        f" WHERE n.parent AND u.steps < {_MAX_DEPTH}"
        ") SELECT u.call, n.frame FROM up u JOIN nodes n ON n.id = u.node ORDER BY u.call, u.steps",
        build_json_list([each.latest_call for each in found]),
    )
    frames = read_frames_by_id(line.reader, {frame for _, frame in rows})
    return [
        BoundaryEnd(
            each.function,
            each.calls,
            each.duration,
            each.latest_call,
            tuple(frames[frame] for call, frame in rows if call == each.latest_call),
        )
        for each in found
    ]
