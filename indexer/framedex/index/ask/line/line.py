"""`Line` and `File`: all queries for a line or a file, each implemented in its own module."""

from __future__ import annotations

from typing import TYPE_CHECKING

from framedex.index.ask.answers import answer_of_file, answer_of_line
from framedex.index.ask.line import (
    linked,
    outward,
    recorded,
    roads,
    since,
    static_callers,
    static_calls,
    steps,
)
from framedex.index.ask.line.ends import boundary_ends
from framedex.index.ask.line.stacks import stacks_of_file, stacks_of_line
from framedex.index.ask.line.summary import line_summary
from framedex.index.ask.line.troubles import file_troubles
from framedex.index.ask.name.functions import functions_at
from framedex.index.read.asked import AskedFile, AskedLine

if TYPE_CHECKING:
    from framedex.ffi.model import FfiUse
    from framedex.model import Nearby, ProgramMark, ProgramRun, ProgramUse


class Line(AskedLine):
    """A line of a file in its current state.

    With a `capture`, `summary`, `stacks`, `ends`, `program_lines`, programs and roads are restricted to that capture.
    All other results cover the captures that `answer_of` reports.
    """

    summary = line_summary
    since_recorded = since.since_recorded
    stacks = stacks_of_line
    ends = boundary_ends
    inward = steps.inward
    inward_readable = steps.inward_readable
    outward_readable = steps.outward_readable
    roads_inward = roads.roads_inward
    roads_outward = outward.roads_outward
    program_lines = outward.program_lines
    linked_calls = linked.linked_calls
    functions = functions_at
    answer_of = answer_of_line
    static_callees = static_calls.static_callees
    static_callers = static_callers.static_callers

    def ffi_uses(self) -> list[FfiUse]:
        """Return the FFI targets called at the line, and those whose handler's source contains it."""
        from framedex.index.ask.ffi import uses_at  # imported here because the other queries do not need FFI

        return uses_at(self)

    def program_uses(self) -> list[ProgramUse]:
        """Return the compiled programs with ops from the line, or from functions that it called; most runs first."""
        from framedex.index.ask.line.programs import program_uses

        return program_uses(self)

    def programs_run(self) -> list[ProgramRun]:
        """Return the programs that calls through the line ran or compiled, longest total duration first."""
        from framedex.index.ask.line.programs import programs_run

        return programs_run(self)

    def nearby(self) -> Nearby:
        """Return the reason why the line has no recorded data, and the nearest lines with data."""
        from framedex.index.ask.line.nearby import nearby

        return nearby(self)


class File(AskedFile):
    """A file with the data recorded in it by the captures that `answer_of` reports."""

    recorded_lines = recorded.recorded_lines
    is_recorded = recorded.is_recorded
    marks = recorded.line_marks
    functions = recorded.recorded_functions
    stacks = stacks_of_file
    answer_of = answer_of_file
    troubles = file_troubles

    def program_marks(self) -> list[ProgramMark]:
        """Return the lines of the file with ops in compiled programs."""
        from framedex.index.ask.line.programs import program_marks

        return program_marks(self)
