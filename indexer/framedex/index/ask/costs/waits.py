"""Waits of Python threads for the runtime, by program line, and the steps of their loops."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from framedex.index.ask.call.pythonlines import lines_of_nodes, outward_lines_of_nodes
from framedex.model import Loop, LoopStep, PythonLine, Table, WaitHow, Waiting, Waits

if TYPE_CHECKING:
    from framedex.index.read.rows import Reader

_OF_SCOPE = "capture IN (SELECT id FROM captures)"
_ENDED_BY = "json_extract(metadata, '$.ended_by')"
_IS_ENDED_BY_SIGNAL = "json_type(metadata, '$.ended_by') = 'text'"  # a shared capture may have any JSON here

_Key = tuple[PythonLine | None, tuple[PythonLine, ...], WaitHow, str]
_Figures = tuple[int, int, int, int, int, int, int, int]


def waits(reader: Reader, *, all_lines: bool) -> Waiting:
    """Return the waits per line and thread, and the loops; longest total duration first.

    `all_lines` splits lines by the outward program lines, which are reported too.
    """
    rows = reader.rows(
        "SELECT w.node, w.how, t.label, w.waits, w.unsure, w.duration, w.longest, w.longest_call, w.first_call,"
        f" w.latest_call, w.unended FROM waits w JOIN threads t ON t.id = w.thread WHERE w.{_OF_SCOPE}"
    )
    nodes = {node for node, *_ in rows}
    lines = lines_of_nodes(reader, nodes)
    outward = outward_lines_of_nodes(reader, nodes) if all_lines else {}
    found: dict[_Key, list[_Figures]] = {}
    for node, how, thread, *figures in rows:
        key = (lines.get(node), outward.get(node, ()), WaitHow(how), thread)
        found.setdefault(key, []).append(tuple(figures))
    told = sorted((_waits(*key, parts) for key, parts in found.items()), key=lambda row: -row.total_duration)
    return Waiting(Table(tuple(told)), Table(tuple(_loops(reader))), *_totals(reader), tuple(_ending_signals(reader)))


def captures_with_waits(reader: Reader) -> frozenset[int]:
    """Return the captures with a loop, or with a thread that waited or may have waited."""
    query = (
        f"SELECT capture FROM waits WHERE {_OF_SCOPE} UNION SELECT capture FROM loops WHERE {_OF_SCOPE}"
        f" UNION SELECT capture FROM wait_totals WHERE unseen AND {_OF_SCOPE}"
        f" UNION SELECT id FROM captures WHERE {_IS_ENDED_BY_SIGNAL}"
    )
    return frozenset(capture for (capture,) in reader.rows(query))


def _waits(
    line: PythonLine | None, outward: tuple[PythonLine, ...], how: WaitHow, thread: str, parts: list[_Figures]
) -> Waits:
    count, unsure, duration, _, _, first, latest, unended = zip(*parts, strict=True)
    longest, longest_call = max((each[3], each[4]) for each in parts)
    sums = (sum(count), sum(unsure), sum(duration), longest, longest_call)
    return Waits(line, outward, how, thread, *sums, min(first), max(latest), sum(unended))


def _totals(reader: Reader) -> tuple[int, int | None, int, int, int]:
    """Return (recorded ns, device ns, unseen ns, unseen times, a call); device is None unless all captures have it."""
    rows = reader.rows(
        f"SELECT recorded, device, unseen, unseen_times, unseen_call FROM wait_totals WHERE {_OF_SCOPE}"
        " ORDER BY unseen DESC, capture"
    )
    device = None if not rows or any(row[1] is None for row in rows) else sum(row[1] for row in rows)
    call = rows[0][4] if rows else 0
    return sum(row[0] for row in rows), device, sum(row[2] for row in rows), sum(row[3] for row in rows), call


def _ending_signals(reader: Reader) -> Iterable[str]:
    query = f"SELECT {_ENDED_BY} FROM captures WHERE {_IS_ENDED_BY_SIGNAL} ORDER BY id"
    return (signal for (signal,) in reader.rows(query))


def _loops(reader: Reader) -> Iterable[Loop]:
    rows = reader.rows(
        "SELECT l.capture, l.number, t.label, l.node, l.rounds, l.start, l.duration, l.median, l.compile, l.dispatch,"
        f" l.transfer, l.wait FROM loops l JOIN threads t ON t.id = l.thread WHERE l.{_OF_SCOPE}"
        " ORDER BY l.duration DESC, l.capture, l.number"
    )
    lines = lines_of_nodes(reader, {row[3] for row in rows})
    query = (
        "SELECT number, start, duration, compile, dispatch, transfer, wait, first_call FROM loop_steps"
        " WHERE capture = ? AND loop = ? ORDER BY number"
    )
    for capture, number, thread, node, *figures in rows:
        steps = tuple(LoopStep(*step) for step in reader.rows(query, capture, number))
        of_loop: tuple[Any, ...] = (capture, thread, lines.get(node), *figures, steps)
        yield Loop(*of_loop)
