"""Every question that can be asked of a line, and of a file: each is answered in a module of its own."""

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
    """A line of a file as it is now.

    With a `capture`, its `summary`, `stacks`, `ends`, `program_lines`, programs and roads are of that capture alone;
    what was recorded is otherwise answered of the captures that `answer_of` tells.
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
        """The FFI targets that are called at the line, or whose handlers' source it is in."""
        from framedex.index.ask.ffi import uses_at  # the other questions do without FFI

        return uses_at(self)

    def program_uses(self) -> list[ProgramUse]:
        """The compiled programs that have ops of the line, or of functions that it called; most runs first."""
        from framedex.index.ask.line.programs import program_uses

        return program_uses(self)

    def programs_run(self) -> list[ProgramRun]:
        """The programs that calls through the line ran or compiled, what took longest first."""
        from framedex.index.ask.line.programs import programs_run

        return programs_run(self)

    def nearby(self) -> Nearby:
        """Why nothing is known of the line, and the nearest lines of which something is."""
        from framedex.index.ask.line.nearby import nearby

        return nearby(self)


class File(AskedFile):
    """A file, with what was recorded in it by the captures that `answer_of` tells."""

    recorded_lines = recorded.recorded_lines
    is_recorded = recorded.is_recorded
    marks = recorded.line_marks
    functions = recorded.recorded_functions
    stacks = stacks_of_file
    answer_of = answer_of_file
    troubles = file_troubles

    def program_marks(self) -> list[ProgramMark]:
        """The lines of the file that ops of compiled programs come from."""
        from framedex.index.ask.line.programs import program_marks

        return program_marks(self)
