"""Device memory by line, as lines to print."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

from framedex import words
from framedex.commands.output.costs.rows import called_from, rest_line
from framedex.commands.output.render_calls import python_line
from framedex.commands.output.tables import column_widths, row_text
from framedex.commands.output.terminal import Line, Span, text_line
from framedex.costtext import device_name

if TYPE_CHECKING:
    from framedex.model import Alive, DeviceMemory, Held, OutOfMemory

_BARS = "▁▂▃▄▅▆▇█"
_COLUMNS = 50  # columns of the chart of memory over time
_MOST_HELD = 5  # lines shown of the live memory at a failure
_INDENT = 2  # of the lines below a device
_HEADS = ("%", "at peak", "buffers", "at end", "most", "allocated")


def memory_lines(devices: Sequence[DeviceMemory], limit: int, *, tells_capture: bool) -> Iterator[Line]:
    """Each device with its memory over time, and the lines that allocated it, at most `limit` (0: all).

    Devices with the same figures are shown once, with the times and calls of the first one.
    """
    alike: dict[DeviceMemory, list[DeviceMemory]] = {}
    for device in devices:
        alike.setdefault(_without_times(device), []).append(device)
    for group in alike.values():
        device = group[0]
        yield ()
        yield from _device_lines(device, _names(group), tells_capture=tells_capture)
        if device.lines:
            yield from _table(device, device.lines[: limit or None])
        yield from rest_line(len(device.lines) - limit if limit else 0, "line", indent=_INDENT)
        failures = [[*same] for _, same in groupby(device.failures, _without_call)]
        for same in failures[: limit or None]:
            yield from _failure(same)
        hidden = sum(map(len, failures[limit:])) if limit else 0
        yield from rest_line(hidden, "call", " that failed for want of memory", _INDENT)


def _without_times(device: DeviceMemory) -> DeviceMemory:
    """The device without names, times and calls, so that devices with equal figures compare equal."""
    lines = tuple(replace(line, latest_call=0) for line in device.lines)
    name = device.device if device.failures else ""
    return replace(device, device=name, peak_time=0, peak_call=0, over_time=(), lines=lines)


def _names(devices: Sequence[DeviceMemory]) -> str:
    """`device 3`, or `devices 0-3, 6, each` for several; other names are listed."""
    if len(devices) == 1:
        return device_name(devices[0])
    if not all(device.device.isdigit() for device in devices):
        return f"{', '.join(map(device_name, devices))}, each"
    numbers = sorted(int(device.device) for device in devices)
    begins = [number for number in numbers if number - 1 not in numbers]
    ends = [number for number in numbers if number + 1 not in numbers]
    ranges = (f"{begin}-{end}" if begin < end else str(begin) for begin, end in zip(begins, ends, strict=True))
    return f"devices {', '.join(ranges)}, each"


def _device_lines(device: DeviceMemory, name: str, *, tells_capture: bool) -> Iterator[Line]:
    of = f" of capture {device.capture}" if tells_capture else ""
    peak = f"peak {words.size(device.peak)} at {words.seconds(device.peak_time)} s"
    call = f"  (call {device.peak_call})" if device.peak_call else ""
    yield (
        Span(f"{name}{of}", "head"),
        Span(f"  {peak}"),
        Span(call, "dim"),
        Span(f"  at the end {words.size(device.at_end)}  {words.count(device.buffers, 'buffer')}"),
    )
    if len(device.over_time) > 1:
        first, last = device.over_time[0][0], device.over_time[-1][0]
        yield (
            Span(f"  {words.seconds(first)} s ", "dim"),
            Span(sparkline(device.over_time, _COLUMNS)),
            Span(f" {words.seconds(last)} s", "dim"),
        )
    if device.unsized:
        text = f"  {words.count(device.unsized, 'buffer')} more: nothing tells their size, and they are in no sum."
        yield (Span(text, "dim"),)


def sparkline(points: Sequence[tuple[int, int]], width: int) -> str:
    """A bar chart of live memory: the maximum in each of `width` equal parts of the time.

    The highest bar is the peak; a blank is 0.
    """
    first, last = points[0][0], points[-1][0]
    most = [0] * width
    column, alive = 0, 0
    for time, size in points:
        now = (time - first) * (width - 1) // max(last - first, 1)
        for passed in range(column, now + 1):  # the previous size remains until now
            most[passed] = max(most[passed], alive)
        column, alive = now, size
        most[now] = max(most[now], size)
    peak = max(max(most), 1)
    return "".join(_BARS[(size * len(_BARS) - 1) // peak] if size else " " for size in most)


def _table(device: DeviceMemory, lines: Sequence[Held]) -> Iterator[Line]:
    cells = [_cells(line, device.peak) for line in lines]
    widths = column_widths(_HEADS, *cells)
    yield (Span(f"{row_text(_HEADS, widths)}  line", "dim"),)
    for line, of_line in zip(lines, cells, strict=True):
        before = f"{row_text(of_line, widths)}  "
        yield (Span(before), *python_line(line.line, 0))
        below = len(before) + _INDENT
        yield from called_from(line.outward, below)
        if line.growth:
            yield text_line(f"{'':{below}}each of {line.rounds:,} rounds leaves {words.size(line.growth)}")


def _cells(line: Held, peak: int) -> tuple[str, ...]:
    return (
        f"{100 * line.at_peak / (peak or 1):.0f}",
        words.size(line.at_peak),
        f"{line.buffers_at_peak:,} of {line.buffers:,}",
        words.size(line.at_end),
        words.size(line.most),
        words.size(line.allocated),
    )


def _without_call(failure: OutOfMemory) -> OutOfMemory:
    """The failure without call and time, so that repeated failures compare equal."""
    return replace(failure, call=0, time=0)


def _failure(same: Sequence[OutOfMemory]) -> Iterator[Line]:
    failure = same[0]
    calls = f"call {failure.call}" if len(same) == 1 else f"{len(same):,} calls from {failure.call} on"
    wanted = f" for {words.size(failure.wanted)}" if failure.wanted is not None else ""
    text = f"  {calls} failed for want of memory{wanted}, {words.size(failure.alive)} alive: "
    yield (Span(text, "error"), *python_line(failure.line, 0))
    yield from map(_alive, failure.held[:_MOST_HELD])


def _alive(alive: Alive) -> Line:
    text = f"    {words.size(alive.size)} in {words.count(alive.buffers, 'buffer')}  "
    return (Span(text), *python_line(alive.line, 0))
