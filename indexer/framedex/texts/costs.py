"""Costs of program lines as text for verbs and editors: transfers, memory and waits.

Each text covers one row or all rows of a line. Names in it are raw: callers apply `printable`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from framedex.base import words
from framedex.model.costs import LOOP_BODY

if TYPE_CHECKING:
    from framedex.model import (
        DeviceMemory,
        LineMemory,
        Location,
        MemorySaving,
        OutOfMemory,
        ProgramPeak,
        PythonLine,
        TemporaryBuffer,
        Transfers,
        Waits,
    )

_BAR_CHARACTERS = "▁▂▃▄▅▆▇█"


@dataclass(frozen=True, slots=True)
class LineMemoryOnDevice:
    """The memory that a line holds on a device, or its part inside a program, or its calls that ran out of memory.

    `temporaries` are the line's buffers at the peak of `device.program`. `fused` are other buffers there, which fusions
    compute: the line `fused_line` has a share of their ops.
    """

    device: DeviceMemory
    memory: LineMemory | None = None
    failures: tuple[OutOfMemory, ...] = ()
    temporaries: tuple[TemporaryBuffer, ...] = ()
    fused: tuple[tuple[TemporaryBuffer, float], ...] = ()
    fused_line: PythonLine | None = None

    @property
    def line(self) -> PythonLine | None:
        """The line of the program."""
        if self.memory:
            return self.memory.line
        if self.fused:
            return self.fused_line
        return self.temporaries[0].line if self.temporaries else self.failures[0].line

    @property
    def temporary_size(self) -> int:
        """The size of the temporaries in bytes, including those of which the line only has a share."""
        return sum(buffer.size for buffer in (*self.temporaries, *(buffer for buffer, _ in self.fused)))

    @property
    def outward(self) -> tuple[PythonLine, ...]:
        """The lines that called this line, if known."""
        return self.memory.outward if self.memory else ()

    @property
    def latest_call(self) -> int:
        """The latest call of the line."""
        if self.memory:
            return self.memory.latest_call
        if self.device.program is not None and (self.temporaries or self.fused):
            return self.device.program.compile_call
        return self.failures[-1].call


def list_memory_by_line(devices: Iterable[DeviceMemory]) -> Iterator[LineMemoryOnDevice]:
    """The memory that each line holds on each device, its part inside a program, and its out-of-memory failures."""
    for device in devices:
        yield from (LineMemoryOnDevice(device, held) for held in device.lines)
        failed: dict[PythonLine | None, list[OutOfMemory]] = {}
        for failure in device.failures:
            failed.setdefault(failure.line, []).append(failure)
        yield from (LineMemoryOnDevice(device, failures=tuple(failures)) for failures in failed.values())
        if device.large_program is not None:
            yield from _memory_inside(device, device.large_program)


def _memory_inside(device: DeviceMemory, program: ProgramPeak) -> Iterator[LineMemoryOnDevice]:
    """The buffers of a program by line: first by the lines that compute them, then by the other lines of fusions."""
    for _, buffers in program.buffers_by_line():
        if certain := tuple(buffer for buffer in buffers if not buffer.is_near):
            yield LineMemoryOnDevice(device, temporaries=certain)
    fused: dict[PythonLine, list[tuple[TemporaryBuffer, float]]] = {}
    for buffer in program.buffers:
        for line, share in buffer.shares:
            if line != buffer.line:
                fused.setdefault(line, []).append((buffer, share))
    yield from (LineMemoryOnDevice(device, fused=tuple(parts), fused_line=line) for line, parts in fused.items())


def format_transfers_kind(row: Transfers) -> str:
    """The kind of a transfer, which distinguishes the rows of a line: direction, implicit or not, and mechanism."""
    how = row.how or "not known how"
    return f"{row.direction.value}, {'implicit' if row.is_implicit else 'asked for'}, {how}"


def format_transfers(rows: Sequence[Transfers]) -> str:
    """Summary of transfers: `implicit transfer, 9.38 KiB, 400 times: host to device, operand of a call`.

    Explicit transfers come last.
    """
    parts = []
    for is_implicit, name in ((True, "implicit transfer"), (False, "transfer")):
        found = [row for row in rows if row.is_implicit is is_implicit]
        if found:
            count = words.format_times(sum(row.count for row in found))
            directions = " and ".join(dict.fromkeys(row.direction.value for row in found))
            how = words.join_names(row.how for row in found)
            parts.append(f"{name}, {_format_size(found)}, {count}: {directions}{', ' * bool(how)}{how}")
    return "; ".join(parts)


def format_transfers_details(rows: Sequence[Transfers]) -> list[str]:
    """Size, number and duration of each kind of transfer; the duration of a callback's operands is unknown."""
    return [
        f"{format_transfers_kind(row)}: {_format_size([row])}, {words.format_times(row.count)}"
        + (f", {words.format_duration(row.total_duration)}" if row.total_duration else "")
        for row in rows
    ]


def format_transfers_total(rows: Sequence[Transfers]) -> str:
    """Totals of transfers: `400 transfers, 12 of them implicit, 9.38 KiB`."""
    implicit = sum(row.count for row in rows if row.is_implicit)
    count = words.count(sum(row.count for row in rows), "transfer")
    return f"{count}, {implicit:,} of them implicit, {_format_size(rows)}"


def format_memory_kind(row: LineMemoryOnDevice) -> str:
    """The capture, the device, and the subject of the row, which distinguish the rows of a line."""
    inside = ", inside a program" if row.temporaries else ", in fusions" if row.fused else ""
    subject = "" if row.memory else inside or ", failures"
    return f"capture {row.device.capture}, {format_device_name(row.device)}{subject}"


def format_memory(rows: Sequence[LineMemoryOnDevice]) -> str:
    """Summary of memory: `holds 1.2 GiB at the peak, leaks 4 KiB a step`. For several devices, the maximum is shown."""
    held = [row.memory for row in rows if row.memory]
    parts = []
    if held:
        peaks = [each.at_peak for each in held]
        of = f" of {'each of ' * (len(set(peaks)) == 1)}{len(peaks)} devices" if len(peaks) > 1 else ""
        at_most = "at most " * (len(set(peaks)) > 1)
        if max(peaks):
            temporaries = max(each.temporaries for each in held)
            runs = f", {words.format_size(temporaries)} of it temporaries of programs" if temporaries else ""
            parts.append(f"holds {at_most}{words.format_size(max(peaks))} at the peak{of}{runs}")
        else:
            parts.append(f"holds at most {words.format_size(max(each.most for each in held))}, nothing at the peak{of}")
        growth = max(each.growth for each in held)
        parts += [f"leaks {words.format_size(growth)} a step"] if growth else []
    inside = max((row for row in rows if row.temporaries), key=lambda row: row.temporary_size, default=None)
    if inside is not None and inside.device.program is not None:
        function = inside.device.program.function or "its program"
        parts.append(
            f"computes {words.format_size(inside.temporary_size)} of the temporaries at the peak of {function}"
        )
    fused = max((row for row in rows if row.fused), key=lambda row: row.temporary_size, default=None)
    if fused is not None and inside is None and fused.device.program is not None:
        function = fused.device.program.function or "its program"
        parts.append(
            f"is fused into {words.format_size(fused.temporary_size)} of the temporaries at the peak of {function}"
        )
    failures = sum(len(row.failures) for row in rows)
    parts += [f"ran out of memory {words.format_times(failures)}"] if failures else []
    return ", ".join(parts)


def format_memory_details(rows: Sequence[LineMemoryOnDevice]) -> list[str]:
    """For each device: the number of buffers, the growth and the failed calls."""
    found = []
    for row in rows:
        name = format_device_name(row.device)
        if row.memory:
            held = row.memory
            found.append(
                f"{name}: {held.buffers_at_peak:,} of {words.count(held.buffers, 'buffer')} at the peak, at most"
                f" {words.format_size(held.most)} at a time, {words.format_size(held.at_end)} at the end"
            )
            if held.growth:
                left = f"each of {held.rounds:,} iterations leaves {words.format_size(held.growth)} on average"
                found.append(f"{name}: {left}: a leak, unless the program needs them")
        program = row.device.program
        if row.temporaries and program is not None and len(program.over_time) > 1:
            found.append(f"{name}: temporaries of {program.function or 'the program'}: {schedule_chart(program)}")
        for buffer in row.temporaries:
            op = buffer.op or buffer.opcode
            use = f"last used by {buffer.last_instruction}"
            found.append(
                f"{name}: {words.format_size(buffer.size)}, {buffer.shape} by {op}, {use}{_format_fusion(buffer)}"
            )
        for buffer, share in row.fused:
            op = f"{buffer.shape} by {buffer.op or buffer.opcode}"
            found.append(
                f"{name}: {share:.0%} of the ops of {buffer.instruction}: {words.format_size(buffer.size)}, {op}"
            )
        for failure in row.failures:
            requested = (
                f" when {words.format_size(failure.wanted)} were requested" if failure.wanted is not None else ""
            )
            alive = f"{words.format_size(failure.alive)} alive"
            found.append(f"{name}: call {failure.call} ran out of memory{requested}, {alive}")
    return found


MAX_SHARES = 5
"""The maximum number of shown lines of a fusion."""


def format_shares(shares: Sequence[tuple[PythonLine, float]], format_location: Callable[[Location], str]) -> str:
    """The lines of a fusion with their shares of its ops: `line 7 (60%), /home/me/other.py:9 (40%)`."""
    places = [f"{format_location(line.location)} ({share:.0%})" for line, share in shares[:MAX_SHARES]]
    hidden = len(shares) - MAX_SHARES
    return ", ".join([*places, words.count(hidden, "more line")] if hidden > 0 else places)


def _format_fusion(buffer: TemporaryBuffer) -> str:
    """`; a fusion of line 7 (60%), /home/me/other.py:9 (40%)`; empty if the ops of a buffer have one line."""
    if not buffer.shares:
        return ""
    path = buffer.line.location.path if buffer.line is not None else ""

    def format_location(location: Location) -> str:
        return f"{'line ' if location.path == path else location.path + ':'}{location.line}"

    return f"; a fusion of {format_shares(buffer.shares, format_location)}"


def schedule_chart(program: ProgramPeak, width: int = 30) -> str:
    """The live temporaries along the schedule of a program: `step 1 ▁▂▅█▃ step 48`."""
    return f"step 1 {draw_sparkline(program.over_time, width)} step {program.steps:,}"


def draw_sparkline(points: Sequence[tuple[int, int]], width: int) -> str:
    """A bar chart of live memory: the maximum in each of `width` equal parts of the time.

    The highest bar is the peak; a blank is 0.
    """
    first, last = points[0][0], points[-1][0]
    highest = [0] * width
    column, alive = 0, 0
    for time, size in points:
        now = (time - first) * (width - 1) // max(last - first, 1)
        for skipped in range(column, now + 1):  # the previous size lasts until this time
            highest[skipped] = max(highest[skipped], alive)
        column, alive = now, size
        highest[now] = max(highest[now], size)
    peak = max(max(highest), 1)
    return "".join(_BAR_CHARACTERS[(size * len(_BAR_CHARACTERS) - 1) // peak] if size else " " for size in highest)


_SAVING_CHANGES = {
    "remat": "compute the values of this line again in the backward pass (jax.checkpoint):",
    LOOP_BODY: "compute the body of this loop again in the backward pass (jax.checkpoint around its function):",
    "donate": "donate `{what}`, if it is not used afterwards (donate_argnums)",
    "batch": "halve the leading dimension of {what} of the arguments, such as a batch",
}


def format_saving(saving: MemorySaving) -> str:
    """The estimated saving of a change, and the change. For `remat` the line follows."""
    change = LOOP_BODY if saving.what == LOOP_BODY else saving.change
    return f"saves about {words.format_size(saving.size)}: {_SAVING_CHANGES[change].format(what=saving.what)}"


def format_temporaries_source(program: ProgramPeak) -> str:
    """The source of a program's buffers at its peak: the compiler, or an estimate with its error."""
    if program.is_exact:
        return "as the compiler placed them"
    difference = program.peak - program.temporaries
    more = "more" if difference > 0 else "less"
    return f"estimated from shapes ({words.format_size(abs(difference))} {more} than reported)"


def format_memory_total(rows: Sequence[LineMemoryOnDevice]) -> str:
    """The peak memory: `peak 113 KiB`. Of several devices, the highest peak."""
    devices = {(row.device.capture, row.device.device): row.device for row in rows}
    if not devices:
        return "peak 0 B"
    peaks = {device.peak for device in devices.values()}
    peak = f"peak {words.format_size(max(peaks))}"
    if len(devices) == 1:
        return peak
    return f"{peak} {'on each of' if len(peaks) == 1 else 'at most, of'} {words.count(len(devices), 'device')}"


def format_device_name(device: DeviceMemory) -> str:
    """The readable name of a device. Devices of the mock have numbers; other plug-ins have names."""
    return f"device {device.device}" if device.device.isdigit() else device.device or "device not known"


def format_waits_kind(row: Waits) -> str:
    """The kind of a wait, which distinguishes the rows of a line: its reason and its thread."""
    return f"{row.how.value}, thread {row.thread}"


def format_waits(rows: Sequence[Waits]) -> str:
    """Summary of waits: `waited 1.2 s, 400 times: copy to the host`."""
    count = words.format_times(sum(row.count for row in rows))
    return f"waited {_format_total(rows)}, {count}: {words.join_names(row.how.value for row in rows)}"


def format_waits_details(rows: Sequence[Waits]) -> list[str]:
    """The waits of each thread: reason, number, total and longest duration, and uncertain or unfinished waits."""
    return [
        f"{format_waits_kind(row)}: {words.format_times(row.count)}, {words.format_duration(row.total_duration)},"
        f" the longest {words.format_duration(row.longest_duration)}"
        + (f"; {row.unsure:,} of them may have ended before the next call" if row.unsure else "")
        + (f"; {row.unended:,} of them had not ended when the recording ended" if row.unended else "")
        for row in rows
    ]


def format_waits_total(rows: Sequence[Waits]) -> str:
    """Totals of waits: `400 waits, 1.2 s`."""
    return f"{words.count(sum(row.count for row in rows), 'wait')}, {_format_total(rows)}"


def _format_size(rows: Sequence[Transfers]) -> str:
    if all(row.unsized == row.count for row in rows):
        return "size not known"
    return f"{'at least ' * any(row.unsized for row in rows)}{words.format_size(sum(row.size for row in rows))}"


def _format_total(rows: Sequence[Waits]) -> str:
    at_least = "at least " if any(row.unended for row in rows) else ""
    return f"{at_least}{words.format_duration(sum(row.total_duration for row in rows))}"
