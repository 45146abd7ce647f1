"""The source lines of calls in the frames of a text, found as for recorded frames (`sources/standing.py`).

If a frame's binary is here, its machine code identifies the call in the function. Then the line is as certain as for a
recorded frame. Names alone prove nothing: then the lines, and the definition, are only candidates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from framedex.model import How, Location, is_local
from framedex.path_resolution.files import found_file

if TYPE_CHECKING:
    from framedex.binaries import Binary
    from framedex.index import Index
    from framedex.sources.bodies import Bodies
    from framedex.sources.calls import Span
    from framedex.sources.standing import FrameLines
    from framedex.text_stacks.placing.released import ReleasedSources

_MOST_ASKED = 2000  # frames, after which cached sources and binaries are dropped


class Call(NamedTuple):
    """A call of `callee`, a demangled name, from the function with one of the `definitions` (path and lines).

    `is_certain`: the function has only that definition. `returns_to` is the return address in `binary`; None if the
    binary is not here.
    """

    definitions: tuple[tuple[str, Span], ...]
    is_certain: bool
    callee: str
    binary: Binary | None = None
    returns_to: int = 0


class CallLines:
    """Finds the lines of calls in indexed sources and in release maps. Recent results are cached."""

    def __init__(self, index: Index | None, released: ReleasedSources) -> None:
        self._index, self._released = index, released
        self._asked = 0
        self._lines: FrameLines | None = None
        self._in_trees: Bodies | None = None

    def places(self, call: Call) -> tuple[Location, ...]:
        """Return the locations of a call, most likely first; empty if unknown."""
        bodies = self._bodies([path for path, _ in call.definitions])
        if bodies is None:
            return ()
        lines = self._frame_lines()
        callees = [call.callee]
        places = lines.places(call.definitions, bodies, call.binary, call.returns_to, callees, call.is_certain)
        if not places or call.binary is not None:
            return places
        defined = (Location(path, first, How.CANDIDATES) for path, (first, _) in call.definitions)
        return (*(replace(place, how=How.CANDIDATES) for place in places), *defined)

    def _frame_lines(self) -> FrameLines:
        from framedex.sources.standing import FrameLines  # few texts need it

        self._asked += 1
        if self._lines is None or self._asked > _MOST_ASKED:
            self._lines, self._in_trees, self._asked = FrameLines(), None, 0
        return self._lines

    def _bodies(self, paths: Sequence[str]) -> Bodies | None:
        """Return the calls in the sources of these files; None if a file changed since it was indexed."""
        if (released := self._released.bodies(paths[0])) is not None:
            return released
        if self._index is None or any(is_local(path) and not self._is_as_read(path) for path in paths):
            return None
        if self._in_trees is None:
            from framedex.sources.bodies import bodies_in_trees

            names = self._index.names
            self._in_trees = bodies_in_trees(names.definitions_named, names.calling_definitions_in)
        return self._in_trees

    def _is_as_read(self, path: str) -> bool:
        assert self._index is not None
        found, state = found_file(path), self._index.names.state_of(path)
        return found is not None and state == (found.modified, found.size)
