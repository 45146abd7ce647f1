"""`Line` and `File`: all queries for a line or a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from framedex.index.ask.line.recorded_file import (
    find_file_problems,
    is_recorded,
    read_line_marks,
    read_recorded_functions,
    recorded_lines,
)
from framedex.index.ask.line.stack_paths import (
    paths_inward,
    paths_outward,
    program_lines,
    readable_steps_inward,
    readable_steps_outward,
    steps_inward,
)
from framedex.index.ask.line.stacks import read_frame_ids_on_line, read_stacks_of_file, read_stacks_of_line
from framedex.index.ask.line.static_calls import static_callees, static_callers
from framedex.index.ask.line.summary import read_boundary_ends, read_line_summary
from framedex.index.ask.name.functions import read_functions_at
from framedex.index.read.subjects import FileQuery, LineQuery, scope_of_file, scope_of_line
from framedex.model import LinkedCalls, LinkEvidence, Location, LocationEvidence, Staleness

if TYPE_CHECKING:
    from framedex.model import NearestLines, ProgramMark, ProgramRun, ProgramUse
    from framedex.programs.ffi.model import FfiUse


def location_since_recording(line: LineQuery) -> Location:
    """Return the location of the line; `stale` and `moved_from` say how it changed since the latest recording.

    A line that did not exist then has neither.
    """
    change = line.change()
    if change is None:
        return Location(line.path, line.line, LocationEvidence.EXACT)
    if change.lines is None:
        return Location(line.path, line.line, LocationEvidence.EXACT, stale=Staleness.UNKNOWN)
    recorded_line = next(filter(None, (state.to_recorded(line.line) for state in line.states())), None)
    if recorded_line is None or recorded_line == line.line:
        return Location(line.path, line.line, LocationEvidence.EXACT)
    return Location(line.path, line.line, LocationEvidence.EXACT, stale=Staleness.MOVED, moved_from=recorded_line)


def linked_calls(line: LineQuery) -> list[LinkedCalls]:
    """Return the calls on native threads that were dispatched from the line, most calls first.

    Calls with several candidate dispatch sites are left out.
    """
    rows = line.reader.rows(
        "SELECT b.name, b.boundary, l.how, sum(l.calls) AS calls, sum(l.duration), max(l.latest_call)"
        f" FROM {line.reader.totals_table('line_links')} l"
        f" JOIN boundaries b ON b.id = l.boundary WHERE {line.condition('l')}"
        " GROUP BY b.id, l.how ORDER BY calls DESC, b.name"
    )
    return [LinkedCalls(function, boundary, LinkEvidence(how), *totals) for function, boundary, how, *totals in rows]


class Line(LineQuery):
    """A line of a file in its current state.

    With a `capture`, `summary`, `stacks`, `ends`, `program_lines`, programs and paths are restricted to that capture.
    All other results cover the captures that `answer_of` reports.
    """

    summary = read_line_summary
    location_since_recording = location_since_recording
    frame_ids = read_frame_ids_on_line
    stacks = read_stacks_of_line
    ends = read_boundary_ends
    steps_inward = steps_inward
    readable_steps_inward = readable_steps_inward
    readable_steps_outward = readable_steps_outward
    paths_inward = paths_inward
    paths_outward = paths_outward
    program_lines = program_lines
    linked_calls = linked_calls
    functions = read_functions_at
    answer_of = scope_of_line
    static_callees = static_callees
    static_callers = static_callers

    def ffi_uses(self) -> list[FfiUse]:
        """Return the FFI targets called at the line, and the targets whose handler's source contains it."""
        from framedex.index.ask.ffi import find_ffi_uses

        return find_ffi_uses(self)

    def program_uses(self) -> list[ProgramUse]:
        """Return the compiled programs with ops from the line, or from functions that it called; most runs first."""
        from framedex.index.ask.line.programs import find_program_uses

        return find_program_uses(self)

    def programs_run(self) -> list[ProgramRun]:
        """Return the programs that calls through the line ran or compiled, longest total duration first."""
        from framedex.index.ask.line.programs import read_programs_run

        return read_programs_run(self)

    def nearby(self) -> NearestLines:
        """Return the reason why the line has no recorded data, and the nearest lines with data."""
        from framedex.index.ask.line.nearby import find_nearby

        return find_nearby(self)


class File(FileQuery):
    """A file with the data recorded in it by the captures that `answer_of` reports."""

    recorded_lines = recorded_lines
    is_recorded = is_recorded
    marks = read_line_marks
    functions = read_recorded_functions
    stacks = read_stacks_of_file
    answer_of = scope_of_file
    troubles = find_file_problems

    def program_marks(self) -> list[ProgramMark]:
        """Return the lines of the file with ops in compiled programs."""
        from framedex.index.ask.line.programs import read_program_marks

        return read_program_marks(self)
