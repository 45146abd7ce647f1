"""`ObservedCapture`: all queries of the guidebook for one capture, each implemented in its own module."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from framedex.index.ask.guidebook.functions import observed_functions
from framedex.index.ask.guidebook.runs import run_of
from framedex.index.ask.guidebook.stacks import Ways
from framedex.index.ask.guidebook.steps import calls_of_steps
from framedex.index.read.asked import AskedCapture

if TYPE_CHECKING:
    from collections.abc import Sequence

    from framedex.model.guidebook.observed import LifeCycle, Observed, Run, Step
    from framedex.model.guidebook.programs import ProgramStep


class ObservedCapture(AskedCapture):
    """The guidebook's data from one capture. These queries may read all of it."""

    def run(self) -> Run:
        """Return the run, with an empty key. Raises FramedexError if there is no such capture."""
        return run_of(self.reader, self.row())

    def functions(self, run: str) -> tuple[list[Observed], list[LifeCycle]]:
        """Return the called functions, by name, and the object types; `run` is the run key of this capture."""
        return observed_functions(self.reader, self.capture, run, self._ways)

    def steps(self, program: str, steps: Sequence[ProgramStep]) -> tuple[Step, ...]:
        """Return the calls that each step of a program led to; `program` is its recorded path."""
        return calls_of_steps(self.reader, self.capture, program, steps, self._ways)

    @cached_property
    def _ways(self) -> Ways:
        return Ways(self.reader, self.capture)
