"""Lines of text about device memory: devices, the lines that hold their memory, and the memory inside programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

from framedex.base import words
from framedex.base.plaintext import make_printable, truncate
from framedex.commands.output.render_calls import render_caller_lines, render_hidden_rows_line, render_python_line
from framedex.commands.output.terminal import Line, Span, format_row, measure_columns, render_text_line
from framedex.texts.costs import (
    MAX_SHARES,
    draw_sparkline,
    format_device_name,
    format_saving,
    format_temporaries_source,
    schedule_chart,
)

if TYPE_CHECKING:
    from framedex.model import (
        DeviceMemory,
        LineMemory,
        LiveBuffers,
        OutOfMemory,
        ProgramPeak,
        PythonLine,
        TemporaryBuffer,
    )

_COLUMNS = 50  # columns of the chart of memory over time
_MAX_HOLDERS = 5  # lines shown of the live memory at a failure
_INDENT = 2  # columns before the lines of a device
_HEADS = ("%", "at peak", "buffers", "at end", "most", "allocated")


def render_memory_lines(devices: Sequence[DeviceMemory], limit: int, *, shows_capture: bool) -> Iterator[Line]:
    """Each device with its memory over time, and the lines that allocated it, at most `limit` (0: all).

    Devices with equal figures appear once, with the times and calls of the first one.
    """
    groups: dict[DeviceMemory, list[DeviceMemory]] = {}
    for device in devices:
        groups.setdefault(_without_times(device), []).append(device)
    for group in groups.values():
        device = group[0]
        yield ()
        yield from _render_device_lines(device, _format_device_names(group), shows_capture=shows_capture)
        if device.lines:
            yield from _render_table_lines(device, device.lines[: limit or None])
        yield from render_hidden_rows_line(len(device.lines) - limit if limit else 0, "line", indent=_INDENT)
        if device.large_program is not None:
            yield from render_program_peak_lines(device.large_program, limit)
        failures = [[*same] for _, same in groupby(device.failures, _without_call)]
        for same in failures[: limit or None]:
            yield from _render_failure_lines(same)
            if (program := same[0].program) is not None and program != device.program and program.temporaries:
                yield from render_program_peak_lines(program, limit)
        hidden = sum(map(len, failures[limit:])) if limit else 0
        yield from render_hidden_rows_line(hidden, "call", " that ran out of memory", _INDENT)


def _without_times(device: DeviceMemory) -> DeviceMemory:
    """The device without names, times and calls, so that devices with equal figures compare equal."""
    lines = tuple(replace(line, latest_call=0) for line in device.lines)
    name = device.device if device.failures else ""
    return replace(device, device=name, peak_time=0, peak_call=0, over_time=(), lines=lines)


def _format_device_names(devices: Sequence[DeviceMemory]) -> str:
    """`device 3`, or `devices 0-3, 6, each` for several; other names are listed."""
    if len(devices) == 1:
        return format_device_name(devices[0])
    if not all(device.device.isdigit() for device in devices):
        return f"{', '.join(map(format_device_name, devices))}, each"
    numbers = sorted(int(device.device) for device in devices)
    return f"devices {words.format_ranges(numbers)}, each"


def _render_device_lines(device: DeviceMemory, name: str, *, shows_capture: bool) -> Iterator[Line]:
    owner = f" of capture {device.capture}" if shows_capture else ""
    peak = f"peak {words.format_size(device.peak)} at {words.format_seconds(device.peak_time)} s"
    call = f"  (call {device.peak_call})" if device.peak_call else ""
    yield (
        Span(f"{name}{owner}", "head"),
        Span(f"  {peak}"),
        Span(call, "dim"),
        Span(_format_program_parts(device)),
        Span(f"  at the end {words.format_size(device.at_end)}  {words.count(device.buffers, 'buffer')}"),
    )
    if len(device.over_time) > 1:
        first, last = device.over_time[0][0], device.over_time[-1][0]
        yield (
            Span(f"  {words.format_seconds(first)} s ", "dim"),
            Span(draw_sparkline(device.over_time, _COLUMNS)),
            Span(f" {words.format_seconds(last)} s", "dim"),
        )
    if device.unsized:
        text = f"  {words.count(device.unsized, 'more buffer')} of unknown size, not in these sums"
        yield (Span(text, "dim"),)


def _format_program_parts(device: DeviceMemory) -> str:
    """`, 32.0 MiB of it temporaries of programs`; empty if there are none."""
    parts = ((device.temporaries, "temporaries of programs"), (device.code, "their code"))
    texts = [f"{words.format_size(size)} of it {what}" for size, what in parts if size]
    return f", {', '.join(texts)}" if texts else ""


def _render_table_lines(device: DeviceMemory, lines: Sequence[LineMemory]) -> Iterator[Line]:
    cells = [_format_row_cells(line, device.peak) for line in lines]
    widths = measure_columns(_HEADS, *cells)
    yield (Span(f"{format_row(_HEADS, widths)}  line", "dim"),)
    for line, row_cells in zip(lines, cells, strict=True):
        before = f"{format_row(row_cells, widths)}  "
        yield (Span(before), *render_python_line(line.line, 0))
        below = len(before) + _INDENT
        yield from render_caller_lines(line.outward, below)
        if line.growth:
            yield render_text_line(
                f"{'':{below}}each of {line.rounds:,} iterations leaves {words.format_size(line.growth)} on average"
            )


def _format_row_cells(line: LineMemory, peak: int) -> tuple[str, ...]:
    return (
        f"{100 * line.at_peak / (peak or 1):.0f}",
        words.format_size(line.at_peak),
        f"{line.buffers_at_peak:,} of {line.buffers:,}",
        words.format_size(line.at_end),
        words.format_size(line.most),
        words.format_size(line.allocated),
    )


_PROGRAM_HEADS = ("%", "size", "buffers", "largest")
_MAX_SHAPE_LENGTH = 40  # characters


def render_program_peak_lines(program: ProgramPeak, limit: int) -> Iterator[Line]:
    """The temporaries alive at the peak of a program, by line, and the changes that would lower the peak."""
    name = make_printable(program.function) or "the program"
    yield ()
    if not program.steps:
        size = words.format_size(program.temporaries)
        yield render_text_line(
            f"  in {name}: {size} of temporaries; the capture has no readable schedule of the program"
        )
        return
    how = format_temporaries_source(program)
    yield (
        Span(f"  in {name}", "head"),
        Span(
            f"  {words.format_size(program.temporaries)} of temporaries  (compiled by call {program.compile_call})",
            "dim",
        ),
    )
    yield (
        Span(
            f"  {words.format_size(program.peak)} alive at step {program.peak_step + 1:,} of {program.steps:,}, {how}"
        ),
    )
    if len(program.over_time) > 1:
        yield (Span(f"  {schedule_chart(program, _COLUMNS)}", "dim"),)
    groups = program.buffers_by_line()
    rows = groups[: limit or None]
    cells = [_format_temporary_cells(buffers, program.peak) for _, buffers in rows]
    widths = measure_columns(_PROGRAM_HEADS, *cells)
    yield (Span(f"{format_row(_PROGRAM_HEADS, widths)}  line", "dim"),)
    for (line, buffers), row_cells in zip(rows, cells, strict=True):
        largest = buffers[0]
        near = " or a line near it" if all(buffer.is_near for buffer in buffers) else ""
        where = render_python_line(line, 0) if line is not None else (Span("XLA names no line", "dim"),)
        op = largest.op or largest.opcode
        before = f"{format_row(row_cells, widths)}  "
        yield (Span(before), *where, Span(f"{near}  {make_printable(op)}", "dim"))
        yield from render_share_lines(largest.instruction, largest.shares, len(before) + _INDENT)
    yield from render_hidden_rows_line(len(groups) - len(rows), "line", indent=_INDENT)
    for saving in program.savings:
        place = (Span(" "), *render_python_line(saving.line, 0)) if saving.line is not None else ()
        yield (Span(f"  {make_printable(format_saving(saving))}"), *place)


def render_share_lines(instruction: str, shares: Sequence[tuple[PythonLine, float]], indent: int) -> Iterator[Line]:
    """The lines that XLA fused into an instruction, with their shares of its ops."""
    for line, share in shares[:MAX_SHARES]:
        yield (
            Span(f"{'':{indent}}{share:.0%} of {make_printable(instruction)}: ", "dim"),
            *render_python_line(line, 0),
        )
    yield from render_hidden_rows_line(len(shares) - MAX_SHARES, "line", indent=indent)


def _format_temporary_cells(buffers: Sequence[TemporaryBuffer], peak: int) -> tuple[str, ...]:
    size = sum(buffer.size for buffer in buffers)
    return (
        *(f"{100 * size / (peak or 1):.0f}", words.format_size(size), f"{len(buffers):,}"),
        truncate(make_printable(buffers[0].shape), _MAX_SHAPE_LENGTH),
    )


def _without_call(failure: OutOfMemory) -> OutOfMemory:
    """The failure without call and time, so that repeated failures compare equal."""
    return replace(failure, call=0, time=0)


def _render_failure_lines(same: Sequence[OutOfMemory]) -> Iterator[Line]:
    failure = same[0]
    calls = f"call {failure.call}" if len(same) == 1 else f"{len(same):,} calls from call {failure.call} on"
    requested = f" when {words.format_size(failure.wanted)} were requested" if failure.wanted is not None else ""
    text = f"  {calls} ran out of memory{requested}, {words.format_size(failure.alive)} alive: "
    yield (Span(text, "error"), *render_python_line(failure.line, 0))
    yield from map(_render_holder_line, failure.held[:_MAX_HOLDERS])


def _render_holder_line(alive: LiveBuffers) -> Line:
    text = f"    {words.format_size(alive.size)} in {words.count(alive.buffers, 'buffer')}  "
    return (Span(text), *render_python_line(alive.line, 0))
