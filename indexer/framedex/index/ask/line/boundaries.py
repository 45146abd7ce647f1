"""Calls per boundary function through a line, from the line totals."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from framedex.index.ask.line.narrowing import passages
from framedex.index.file.conventions import IN_JSON, STATE_OF_LINE, json_list
from framedex.index.read.asked import AskedLine


@dataclass(frozen=True, slots=True)
class LineBoundary:
    """The calls of one boundary function that passed a line; `duration` is their sum in ns."""

    function: str
    boundary: str
    calls: int
    duration: int
    latest_call: int


def line_boundaries(line: AskedLine) -> list[LineBoundary]:
    """Return the boundary functions reached from the line, most calls first.

    Calls come from the line's capture if it has one, otherwise from all counted captures.
    """
    if line.capture is not None or (line.is_several and _is_passed_twice(line)):
        found = _merged(
            LineBoundary(each.function, each.boundary, each.calls, each.duration, each.latest_call)
            for each in passages(line)
        )
    else:
        rows = line.reader.rows(
            f"SELECT b.name, b.boundary, l.calls, l.duration, l.latest_call FROM {line.reader.totals('line_calls')} l"
            f" JOIN boundaries b ON b.id = l.boundary WHERE {line.on('l')}"
        )
        found = _merged(LineBoundary(*row) for row in rows)
    return sorted(found, key=lambda each: (-each.calls, each.function))


def _is_passed_twice(line: AskedLine) -> bool:
    """Whether recursion may bring one stack through several of the lines, so that line totals count a call twice."""
    functions = line.reader.rows(
        "SELECT DISTINCT fn.id, fn.calls, fn.run, fn.run_calls FROM frames fr JOIN functions fn ON fn.id = fr.function"
        f" WHERE {line.on('fr')}"
    )
    row = line.reader.row(
        f"SELECT sum(l.calls) FROM (SELECT DISTINCT fr.file, fr.line, {STATE_OF_LINE} AS version FROM frames fr"
        f" WHERE fr.function {IN_JSON} AND fr.file IS NOT NULL) stood"
        f" CROSS JOIN {line.reader.totals('line_calls')} l ON l.file = stood.file AND l.line = stood.line"
        " AND l.version = stood.version",
        json_list([function for function, *_ in functions]),
    )
    run = line.reader.scope.run
    if run and any(latest != run for _, _, latest, _ in functions):
        return True  # a later run passed other lines: how many calls these functions had in this run is not stored
    return row is None or row[0] != sum(of_run if run else calls for _, calls, _, of_run in functions)


def _merged(parts: Iterable[LineBoundary]) -> list[LineBoundary]:
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
