"""`framedex/programMemory`: the temporaries of a capture's programs along their schedules, by line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pygls.lsp.server import LanguageServer

from framedex.base import words
from framedex.base.plaintext import make_printable
from framedex.texts.costs import format_device_name, format_temporaries_source
from framedex_server.answers.costs import COST_KINDS, query_rows
from framedex_server.answers.requests import Json, build_python_line_json, parse_integer, parse_params, query_contents
from framedex_server.answers.session import Session

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.model import DeviceMemory, ProgramPeak, PythonLine, TemporaryBuffer
    from framedex.texts.costs import LineMemoryOnDevice

MAX_PROGRAMS = 8
"""Maximum number of programs in an answer: those with the most temporaries."""

MAX_LINES = 6
"""Maximum number of lines of a program, largest first; the others have one entry."""


def register(server: LanguageServer, session: Session) -> None:
    """Register `framedex/programMemory`."""

    @server.feature("framedex/programMemory")
    async def program_memory(params: Any) -> Json | None:
        parameters = parse_params(params)
        capture = parse_integer(parameters, "capture")
        return await query_contents(session, parameters, lambda index: _build_programs_json(session, index, capture))


def _build_programs_json(session: Session, index: Index, capture: int) -> Json | None:
    if all(each.id != capture for each in index.captures()):
        return None
    rows: Sequence[LineMemoryOnDevice] = query_rows(index, COST_KINDS["memory"], [capture])  # type: ignore[assignment]
    by_call: dict[int, tuple[ProgramPeak, list[DeviceMemory]]] = {}
    for device in {row.device.device: row.device for row in rows}.values():
        program = device.large_program
        if program is not None and len(program.over_time) > 1:
            by_call.setdefault(program.compile_call, (program, []))[1].append(device)
    found = sorted(by_call.values(), key=lambda each: -each[0].peak)
    return {
        "programs": [_build_program_json(session, *each) for each in found[:MAX_PROGRAMS]],
        "more": max(len(found) - MAX_PROGRAMS, 0),
    }


def _build_program_json(session: Session, program: ProgramPeak, devices: Sequence[DeviceMemory]) -> Json:
    on = format_device_name(devices[0]) if len(devices) == 1 else words.count(len(devices), "device")
    alive = (
        f"{words.format_size(program.peak)} of temporaries alive at step {program.peak_step + 1:,} of {program.steps:,}"
    )
    groups = program.buffers_by_line()
    lines = [_build_line_json(session, program, line, buffers) for line, buffers in groups[:MAX_LINES]]
    if others := [buffer for _, buffers in groups[MAX_LINES:] for buffer in buffers]:
        place = words.count(len(groups) - MAX_LINES, "more line")
        lines.append(_build_line_json(session, program, None, others, place))
    return {
        "function": make_printable(program.function),
        "text": make_printable(f"{on}: {alive}, {format_temporaries_source(program)}"),
        "call": program.compile_call,
        "peak": program.peak,
        "peakStep": program.peak_step,
        "steps": program.steps,
        "points": [list(point) for point in program.over_time],
        "lines": lines,
    }


def _build_line_json(
    session: Session,
    program: ProgramPeak,
    line: PythonLine | None,
    buffers: Sequence[TemporaryBuffer],
    place: str = "XLA names no line",
) -> Json:
    """Return the buffers of a line; those without a line are at `place`."""
    size = sum(buffer.size for buffer in buffers)
    largest = buffers[0]
    share = f"{words.format_size(size)}, {size / max(program.peak, 1):.0%} of the peak"
    return {
        **build_python_line_json(session, line),
        **({"place": place} if line is None else {}),
        "text": make_printable(f"{share}: {largest.shape} by {largest.op or largest.opcode}"),
        "size": size,
        "sizes": program.sizes_over_time(buffers),
    }
