"""Live device memory by the program lines that allocated it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from framedex.index.ask.call.pythonlines import lines_of_nodes, outward_lines_of_nodes
from framedex.model import Alive, DeviceMemory, Held, OutOfMemory, PythonLine, Table

if TYPE_CHECKING:
    from framedex.index.read.rows import Reader

_OF_SCOPE = "capture IN (SELECT id FROM captures)"


def memory(reader: Reader, *, all_lines: bool) -> Table[DeviceMemory]:
    """Return the memory of each device, largest peak first, with its lines, largest share of the peak first.

    `all_lines` splits lines by the outward program lines, which are reported too.
    """
    devices = reader.rows(
        "SELECT capture, device, peak, peak_time, peak_call, at_end, buffers, unsized FROM memory_devices"
        f" WHERE {_OF_SCOPE} ORDER BY peak DESC, capture, length(device), device"
    )
    return Table(tuple(_device(reader, row, all_lines=all_lines) for row in devices))


def _device(reader: Reader, row: tuple[Any, ...], *, all_lines: bool) -> DeviceMemory:
    capture, device = row[:2]
    points = "SELECT time, bytes FROM memory_points WHERE capture = ? AND device = ? ORDER BY point"
    over_time = tuple(reader.rows(points, capture, device))
    lines = _lines(reader, capture, device, all_lines=all_lines)
    parts: tuple[Any, ...] = (over_time, lines, _failures(reader, capture, device))
    return DeviceMemory(*row, *parts)


def captures_with_memory(reader: Reader) -> frozenset[int]:
    """Return the captures with device memory data."""
    return frozenset(row[0] for row in reader.rows(f"SELECT capture FROM memory_devices WHERE {_OF_SCOPE}"))


def _lines(reader: Reader, capture: int, device: str, *, all_lines: bool) -> tuple[Held, ...]:
    rows = reader.rows(
        "SELECT node, buffers, allocated, at_peak, buffers_at_peak, at_end, most, growth, rounds, latest_call"
        " FROM memory_lines WHERE capture = ? AND device = ? AND is_by_way = ?"
        " ORDER BY at_peak DESC, most DESC, allocated DESC, latest_call",
        *(capture, device, all_lines),
    )
    nodes = [node for node, *_ in rows]
    lines = lines_of_nodes(reader, nodes)
    outward = outward_lines_of_nodes(reader, nodes) if all_lines else {}
    return tuple(Held(lines.get(node), outward.get(node, ()), *values) for node, *values in rows)


def _failures(reader: Reader, capture: int, device: str) -> tuple[OutOfMemory, ...]:
    rows = reader.rows(
        "SELECT call, time, node, wanted, alive FROM memory_failures WHERE capture = ? AND device = ? ORDER BY call",
        *(capture, device),
    )
    lines = lines_of_nodes(reader, [row[2] for row in rows])
    return tuple(
        OutOfMemory(call, time, lines.get(node), wanted, alive, _held(reader, call))
        for call, time, node, wanted, alive in rows
    )


def _held(reader: Reader, call: int) -> tuple[Alive, ...]:
    query = "SELECT node, buffers, bytes FROM memory_held WHERE call = ? ORDER BY bytes DESC, node"
    rows = reader.rows(query, call)
    lines: dict[int, PythonLine] = lines_of_nodes(reader, [node for node, _, _ in rows])
    return tuple(Alive(lines.get(node), buffers, size) for node, buffers, size in rows)
