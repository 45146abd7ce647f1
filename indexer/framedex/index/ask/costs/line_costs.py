"""Device memory, transfers and waits by program line, and the steps of loops."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from framedex.index.ask.call.python_lines import (
    read_lines_of_nodes,
    read_outward_lines,
    read_outward_lines_of_nodes,
    read_python_lines,
)
from framedex.index.ask.costs.program_peaks import read_program_peak
from framedex.index.read.rows import Reader
from framedex.model import (
    DeviceMemory,
    LineMemory,
    LiveBuffers,
    Loop,
    LoopStep,
    OutOfMemory,
    ProgramPeak,
    PythonLine,
    Table,
    TransferDirection,
    Transfers,
    WaitReason,
    Waits,
    WaitsAndLoops,
)

_IN_SCOPE = "capture IN (SELECT id FROM captures)"


_ENDED_BY = "json_extract(metadata, '$.ended_by')"

_IS_ENDED_BY_SIGNAL = "json_type(metadata, '$.ended_by') = 'text'"  # a shared capture may have any JSON here

_FindProgram = Callable[[int], ProgramPeak | None]

_WaitKey = tuple[PythonLine | None, tuple[PythonLine, ...], WaitReason, str]

_LongestWait = tuple[str | None, int | None, PythonLine | None]  # event, run and its line

_WaitNumbers = tuple[int, int, int, int, int, int, int, int, _LongestWait]


def read_memory(reader: Reader, *, all_lines: bool) -> Table[DeviceMemory]:
    """Return the memory of each device, largest peak first, with its lines, largest share of the peak first.

    `all_lines` splits lines by the outward program lines, which are reported too.
    """
    devices = reader.rows(
        "SELECT capture, device, peak, peak_time, peak_call, at_end, buffers, unsized, temporaries, code, program"
        " FROM memory_devices"
        f" WHERE {_IN_SCOPE} ORDER BY peak DESC, capture, length(device), device"
    )
    # devices of a job run the same programs
    find_program = cache(lambda call: read_program_peak(reader, call) if call else None)
    return Table(tuple(_read_device(reader, row, find_program, all_lines=all_lines) for row in devices))


def _read_device(reader: Reader, row: tuple[Any, ...], find_program: _FindProgram, *, all_lines: bool) -> DeviceMemory:
    capture, device = row[:2]
    points = "SELECT time, bytes FROM memory_points WHERE capture = ? AND device = ? ORDER BY point"
    over_time = tuple(reader.rows(points, capture, device))
    lines = _read_memory_lines(reader, capture, device, all_lines=all_lines)
    *figures, temporaries, code, program = row
    failures = _read_failures(reader, capture, device, find_program)
    parts: tuple[Any, ...] = (over_time, lines, failures, temporaries, code, find_program(program))
    return DeviceMemory(*figures, *parts)


def read_captures_with_memory(reader: Reader) -> frozenset[int]:
    """Return the captures with device memory data."""
    return frozenset(row[0] for row in reader.rows(f"SELECT capture FROM memory_devices WHERE {_IN_SCOPE}"))


def _read_memory_lines(reader: Reader, capture: int, device: str, *, all_lines: bool) -> tuple[LineMemory, ...]:
    rows = reader.rows(
        "SELECT node, buffers, allocated, at_peak, buffers_at_peak, at_end, most, growth, rounds, latest_call,"
        " temporaries"
        " FROM memory_lines WHERE capture = ? AND device = ? AND is_by_way = ?"
        " ORDER BY at_peak DESC, most DESC, allocated DESC, latest_call",
        *(capture, device, all_lines),
    )
    nodes = [node for node, *_ in rows]
    lines = read_lines_of_nodes(reader, nodes)
    outward = read_outward_lines_of_nodes(reader, nodes) if all_lines else {}
    return tuple(LineMemory(lines.get(node), outward.get(node, ()), *values) for node, *values in rows)


def _read_failures(reader: Reader, capture: int, device: str, find_program: _FindProgram) -> tuple[OutOfMemory, ...]:
    rows = reader.rows(
        "SELECT call, time, node, wanted, alive, program FROM memory_failures WHERE capture = ? AND device = ?"
        " ORDER BY call",
        *(capture, device),
    )
    lines = read_lines_of_nodes(reader, [row[2] for row in rows])
    return tuple(
        OutOfMemory(
            *(call, time, lines.get(node), wanted, alive, _read_held_memory(reader, call)),
            find_program(program),
        )
        for call, time, node, wanted, alive, program in rows
    )


def _read_held_memory(reader: Reader, call: int) -> tuple[LiveBuffers, ...]:
    query = "SELECT node, buffers, bytes FROM memory_held WHERE call = ? ORDER BY bytes DESC, node"
    rows = reader.rows(query, call)
    lines: dict[int, PythonLine] = read_lines_of_nodes(reader, [node for node, _, _ in rows])
    return tuple(LiveBuffers(lines.get(node), buffers, size) for node, buffers, size in rows)


@dataclass(frozen=True, slots=True)
class _TransferKind:
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


def read_transfers(reader: Reader, *, all_lines: bool) -> Table[Transfers]:
    """Return a row per line, direction and API, most bytes first; `all_lines` splits rows by the path to the line."""
    transfer_kinds = _read_transfers(reader)
    lines = read_python_lines(reader, {each.latest_call: each.stack for each in transfer_kinds})
    outward = read_outward_lines(reader, {each.stack for each in transfer_kinds}) if all_lines else {}
    rows: dict[tuple[object, ...], list[_TransferKind]] = {}
    for each in transfer_kinds:
        where = _find_transfer_line(lines, each), outward.get(each.stack, ())
        rows.setdefault((*where, each.direction, each.how, each.is_implicit), []).append(each)
    found = [
        _build_transfer_row(_find_transfer_line(lines, row[0]), outward.get(row[0].stack, ()), row)
        for row in rows.values()
    ]
    return Table(tuple(sorted(found, key=lambda row: (-row.size, -row.count, row.first_call))))


def read_captures_with_transfers(reader: Reader) -> list[int]:
    """Return the captures with transfers."""
    return [capture for (capture,) in reader.rows("SELECT DISTINCT capture FROM transfers")]


def _read_transfers(reader: Reader) -> list[_TransferKind]:
    rows = reader.rows(
        "SELECT k.stack, t.direction, t.how, t.is_implicit, t.calls, t.duration, t.sized, t.bytes, t.first_call,"
        " t.latest_call FROM transfers t JOIN call_kinds k ON k.id = t.kind"
        f" WHERE 1{reader.scope.build_capture_condition('t')} ORDER BY t.first_call"
    )
    return [_TransferKind(*row) for row in rows]


def _find_transfer_line(lines: dict[int, PythonLine], transfer_kinds: _TransferKind) -> PythonLine | None:
    """Return the line of one kind's calls; a dispatch site is known for a single call only."""
    line = lines.get(transfer_kinds.latest_call)
    return None if line is not None and line.link is not None and transfer_kinds.calls > 1 else line


def _build_transfer_row(
    line: PythonLine | None, outward: tuple[PythonLine, ...], row: Sequence[_TransferKind]
) -> Transfers:
    return Transfers(
        line=line,
        outward=outward,
        direction=TransferDirection(row[0].direction),
        how=row[0].how,
        is_implicit=bool(row[0].is_implicit),
        count=sum(each.calls for each in row),
        size=sum(each.bytes for each in row),
        unsized=sum(each.calls - each.sized for each in row),
        total_duration=sum(each.duration for each in row),
        first_call=min(each.first_call for each in row),
        latest_call=max(each.latest_call for each in row),
    )


def read_waits(reader: Reader, *, all_lines: bool) -> WaitsAndLoops:
    """Return the waits per line and thread, and the loops; longest total duration first.

    `all_lines` splits lines by the outward program lines, which are reported too.
    """
    rows = reader.rows(
        "SELECT w.node, w.how, t.label, w.waits, w.unsure, w.duration, w.longest, w.longest_call, w.first_call,"
        " w.latest_call, w.unended, 'event#' || o.number, r.id, k.stack"
        " FROM waits w JOIN threads t ON t.id = w.thread LEFT JOIN object_rows o ON o.id = w.longest_event"
        " LEFT JOIN call_rows r ON r.id = w.longest_run LEFT JOIN call_kinds k ON k.id = r.kind"
        f" WHERE w.{_IN_SCOPE}"
    )
    nodes = {node for node, *_ in rows}
    runs = read_python_lines(reader, {run: stack for *_, run, stack in rows if run is not None})
    lines = read_lines_of_nodes(reader, nodes)
    outward = read_outward_lines_of_nodes(reader, nodes) if all_lines else {}
    found: dict[_WaitKey, list[_WaitNumbers]] = {}
    for node, how, thread, *figures, event, run, _ in rows:
        key = (lines.get(node), outward.get(node, ()), WaitReason(how), thread)
        found.setdefault(key, []).append((*figures, (event, run, runs.get(run))))
    rows_by_duration = sorted(
        (_build_wait_row(*key, parts) for key, parts in found.items()), key=lambda row: -row.total_duration
    )
    return WaitsAndLoops(
        Table(tuple(rows_by_duration)),
        Table(tuple(_read_loops(reader))),
        *_sum_waits(reader),
        tuple(_read_ending_signals(reader)),
    )


def read_captures_with_waits(reader: Reader) -> frozenset[int]:
    """Return the captures with a loop, or with a thread that waited or may have waited."""
    query = (
        f"SELECT capture FROM waits WHERE {_IN_SCOPE} UNION SELECT capture FROM loops WHERE {_IN_SCOPE}"
        f" UNION SELECT capture FROM wait_totals WHERE unseen AND {_IN_SCOPE}"
        f" UNION SELECT id FROM captures WHERE {_IS_ENDED_BY_SIGNAL}"
    )
    return frozenset(capture for (capture,) in reader.rows(query))


def _build_wait_row(
    line: PythonLine | None, outward: tuple[PythonLine, ...], how: WaitReason, thread: str, parts: list[_WaitNumbers]
) -> Waits:
    count, unsure, duration, _, _, first, latest, unended, _ = zip(*parts, strict=True)
    longest, longest_call, _, _, _, awaited = max((part[3:] for part in parts), key=lambda part: part[:2])
    sums = (sum(count), sum(unsure), sum(duration), longest, longest_call)
    return Waits(line, outward, how, thread, *sums, min(first), max(latest), sum(unended), *awaited)


def _sum_waits(reader: Reader) -> tuple[int, int | None, int, int, int]:
    """Return (recorded ns, device ns, unseen ns, unseen times, a call); device is None unless all captures have it."""
    rows = reader.rows(
        f"SELECT recorded, device, unseen, unseen_times, unseen_call FROM wait_totals WHERE {_IN_SCOPE}"
        " ORDER BY unseen DESC, capture"
    )
    device = None if not rows or any(row[1] is None for row in rows) else sum(row[1] for row in rows)
    call = rows[0][4] if rows else 0
    return sum(row[0] for row in rows), device, sum(row[2] for row in rows), sum(row[3] for row in rows), call


def _read_ending_signals(reader: Reader) -> Iterable[str]:
    query = f"SELECT {_ENDED_BY} FROM captures WHERE {_IS_ENDED_BY_SIGNAL} ORDER BY id"
    return (signal for (signal,) in reader.rows(query))


def _read_loops(reader: Reader) -> Iterable[Loop]:
    rows = reader.rows(
        "SELECT l.capture, l.number, t.label, l.node, l.rounds, l.start, l.duration, l.median, l.compile, l.dispatch,"
        f" l.transfer, l.wait FROM loops l JOIN threads t ON t.id = l.thread WHERE l.{_IN_SCOPE}"
        " ORDER BY l.duration DESC, l.capture, l.number"
    )
    lines = read_lines_of_nodes(reader, {row[3] for row in rows})
    query = (
        "SELECT number, start, duration, compile, dispatch, transfer, wait, first_call FROM loop_steps"
        " WHERE capture = ? AND loop = ? ORDER BY number"
    )
    for capture, number, thread, node, *figures in rows:
        steps = tuple(LoopStep(*step) for step in reader.rows(query, capture, number))
        of_loop: tuple[Any, ...] = (capture, thread, lines.get(node), *figures, steps)
        yield Loop(*of_loop)
