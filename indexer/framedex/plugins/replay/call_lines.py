"""The Python line that led to a recorded call."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING

from framedex.model import LinkEvidence, Location, LocationEvidence, PythonFrame, PythonLine
from framedex.model.locations import is_framedex_file, is_library_file
from framedex.model.programs import ProgramFrame

if TYPE_CHECKING:
    from framedex.plugins.replay.recorded_calls import RecordedCapture


def find_program_line(frames: Iterable[ProgramFrame]) -> PythonLine | None:
    """Return the line of an op of a program: the innermost of the program itself, or of all Python; None if unknown."""
    known = list(frames)
    frame = next((each for each in known if _is_own_file(each.path)), known[0] if known else None)
    if frame is None:
        return None
    return PythonLine(frame.function, Location(frame.path, frame.line, LocationEvidence.EXACT), None)


def _is_own_file(path: str) -> bool:
    return not (path.startswith("<") or is_library_file(path) or is_framedex_file(path))


class CallLines:
    """The lines of a capture's calls, by row."""

    def __init__(self, recorded: RecordedCapture) -> None:
        """Use the stacks of this capture."""
        self._capture = recorded.stream.capture
        self._batch = recorded.batch

    @cached_property
    def _links(self) -> dict[int, tuple[int, int]]:
        """The cause chain and the evidence of each call that another thread caused."""
        return {row: (chain, how) for row, _thread, chain, how in self._batch.links.tolist()}

    def function(self, row: int) -> str:
        """Return the name of a call's function."""
        return self._capture.functions[self._batch.kinds[int(self._batch.kind[row])].function].name

    def line(self, row: int) -> PythonLine | None:
        """Return the line of a call: the innermost of the program itself, or of all Python; None without Python."""
        stack = self._capture.stacks[self._batch.kinds[int(self._batch.kind[row])].stack]
        found = self._innermost((*stack.frames, *stack.python), None)
        if found is None and row in self._links:
            chain, how = self._links[row]
            found = self._innermost(self._batch.chains[chain], list(LinkEvidence)[how])
        return found

    def _innermost(self, frames: Iterable[int], link: LinkEvidence | None) -> PythonLine | None:
        first: PythonLine | None = None
        for number in frames:
            frame = self._capture.frames[number]
            if not isinstance(frame, PythonFrame) or not frame.line:
                continue
            code = self._capture.codes[frame.code]
            line = PythonLine(code.qualname, Location(code.filename, frame.line, LocationEvidence.EXACT), link)
            first = first or line
            if _is_own_file(code.filename):
                return line
        return first
