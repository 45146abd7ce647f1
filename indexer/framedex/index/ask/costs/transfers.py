"""Transfers between host and devices by program line, direction and API."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from framedex.index.ask.call.pythonlines import outward_lines, python_lines
from framedex.index.read.rows import Reader
from framedex.model import Direction, PythonLine, Table, Transfers


@dataclass(frozen=True, slots=True)
class _Moved:
    """The transfers of one kind of calls; `duration` in ns."""

    stack: int
    direction: str
    how: str
    is_implicit: int
    calls: int
    duration: int
    sized: int
    bytes: int
    first_call: int
    latest_call: int


def transfers(reader: Reader, *, all_lines: bool) -> Table[Transfers]:
    """Return a row per line, direction and API, most bytes first; `all_lines` splits rows by the path to the line."""
    moved = _all_moved(reader)
    lines = python_lines(reader, {each.latest_call: each.stack for each in moved})
    outward = outward_lines(reader, {each.stack for each in moved}) if all_lines else {}
    rows: dict[tuple[object, ...], list[_Moved]] = {}
    for each in moved:
        where = _line(lines, each), outward.get(each.stack, ())
        rows.setdefault((*where, each.direction, each.how, each.is_implicit), []).append(each)
    found = [_transfers(_line(lines, row[0]), outward.get(row[0].stack, ()), row) for row in rows.values()]
    return Table(tuple(sorted(found, key=lambda row: (-row.size, -row.count, row.first_call))))


def captures_with_transfers(reader: Reader) -> list[int]:
    """Return the captures with transfers."""
    return [capture for (capture,) in reader.rows("SELECT DISTINCT capture FROM transfers")]


def _all_moved(reader: Reader) -> list[_Moved]:
    rows = reader.rows(
        "SELECT k.stack, t.direction, t.how, t.is_implicit, t.calls, t.duration, t.sized, t.bytes, t.first_call,"
        f" t.latest_call FROM transfers t JOIN call_kinds k ON k.id = t.kind WHERE 1{reader.scope.counted('t')}"
        " ORDER BY t.first_call"
    )
    return [_Moved(*row) for row in rows]


def _line(lines: dict[int, PythonLine], moved: _Moved) -> PythonLine | None:
    """Return the line of one kind's calls; a dispatch site is known for a single call only."""
    line = lines.get(moved.latest_call)
    return None if line is not None and line.link is not None and moved.calls > 1 else line


def _transfers(line: PythonLine | None, outward: tuple[PythonLine, ...], row: Sequence[_Moved]) -> Transfers:
    return Transfers(
        line=line,
        outward=outward,
        direction=Direction(row[0].direction),
        how=row[0].how,
        is_implicit=bool(row[0].is_implicit),
        count=sum(each.calls for each in row),
        size=sum(each.bytes for each in row),
        unsized=sum(each.calls - each.sized for each in row),
        total_duration=sum(each.duration for each in row),
        first_call=min(each.first_call for each in row),
        latest_call=max(each.latest_call for each in row),
    )
