"""The user's selection: a capture that restricts the answers, and a stack to step along."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from framedex.index.file.conventions import CLIENT_CREATORS
from framedex.model import FrameRole
from framedex.model.locations import is_framedex_file
from framedex_server.stack_paths import can_step_to, find_local_locations

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.model import FrameRow, Location, StackHit

MAX_CANDIDATE_STACKS = 8
"""Maximum number of stacks through a line that are compared: the longest may be a client's creation."""


@dataclass(frozen=True, slots=True)
class StackPosition:
    """A frame of a recorded stack: `frames` is the whole chain, outermost first, `position` counts from its start.

    `boundary` is the function that was called with the stack, `call` its latest call, and `calls` its number of calls.
    `skipped` is the number of code frames without local source that the latest step skipped.
    """

    index: Path
    stack: int
    boundary: str
    call: int
    calls: int
    frames: tuple[FrameRow, ...]
    position: int
    skipped: int = 0

    @staticmethod
    def from_hit(index: Index, hit: StackHit) -> StackPosition | None:
        """Return the frame at which a stack passes a line; None if the index has changed meanwhile."""
        for frames in index.calls.call_chains_of_stack(hit.stack):
            if hit.position < len(frames) and frames[hit.position].id == hit.frame.id:
                return StackPosition(
                    index.path, hit.stack, hit.function, hit.latest_call, hit.calls, frames, hit.position
                )
        return None

    @property
    def frame(self) -> FrameRow:
        """The frame at `position`."""
        return self.frames[self.position]

    @property
    def location(self) -> Location | None:
        """The source location of the frame; None if the file is not on this machine."""
        return next(find_local_locations(self.frame), None)

    def find_on_lines(self, path: str, lines: Collection[int]) -> StackPosition | None:
        """Return this frame if it is on one of the lines, else the innermost frame of the stack on one of them.

        None if no frame is on them.
        """
        positions = [self.position, *range(len(self.frames) - 1, -1, -1)]
        return next((self._move_to(each) for each in positions if _is_on_lines(self.frames[each], path, lines)), None)

    def step_inward(self) -> StackPosition | None:
        """Return the next inner frame whose source can be shown."""
        return self._find_next(range(self.position + 1, len(self.frames)))

    def step_outward(self) -> StackPosition | None:
        """Return the next outer frame whose source can be shown."""
        return self._find_next(range(self.position - 1, -1, -1))

    def step_to(self, index: int) -> StackPosition | None:
        """Return the frame at a position, including glue and interpreter frames; None if its source is not local."""
        target = self._move_to(index) if 0 <= index < len(self.frames) else None
        return target if target is not None and target.location is not None else None

    def reload(self, index: Index) -> StackPosition | None:
        """Return the same frame with current data from the index; None if the index no longer has this stack."""
        for frames in index.calls.call_chains_of_stack(self.stack):
            if [frame.id for frame in frames] == [frame.id for frame in self.frames]:
                return replace(self, frames=frames, skipped=0)
        return None

    def find_lines_in(self, path: str) -> list[int]:
        """Return the lines of a file that have frames of this stack."""
        lines = (
            location.line for frame in self.frames for location in find_local_locations(frame) if location.path == path
        )
        return list(dict.fromkeys(lines))

    def _find_next(self, positions: range) -> StackPosition | None:
        skipped = 0
        for position in positions:
            frame = self.frames[position]
            if can_step_to(frame):
                return replace(self, position=position, skipped=skipped)
            skipped += frame.function.role is FrameRole.CODE and not is_framedex_file(
                frame.module or frame.function.module
            )
        return None

    def _move_to(self, position: int) -> StackPosition:
        return replace(self, position=position, skipped=0)


@dataclass(frozen=True, slots=True)
class SelectedCapture:
    """A capture, identified by its index and its id there."""

    index: Path
    capture: int


class CurrentSelection:
    """The current selection; empty at first."""

    def __init__(self) -> None:
        self.capture: SelectedCapture | None = None
        self.stack: StackPosition | None = None
        self._cached_index: tuple[tuple[object, ...], Index] | None = None

    def capture_in(self, index: Index) -> int | None:
        """Return the id of the selected capture if it is in this index, else None."""
        selected = self.capture
        return selected.capture if selected is not None and selected.index == index.path else None

    def restrict(self, index: Index) -> Index:
        """Return the index restricted to the selected capture; the index itself if no capture is selected.

        The restricted index is cached until `index` changes. Call it only on the thread of `Session.contents`, which
        owns `index`.
        """
        capture = self.capture_in(index)
        if capture is None:
            return index
        key = capture, index.path, index.get_cached("state of the restricted index", object)
        if self._cached_index is None or self._cached_index[0] != key:
            self.close()
            self._cached_index = key, index.restrict_to_captures([capture])
        return self._cached_index[1]

    def close(self) -> None:
        """Close the restricted index."""
        if self._cached_index is not None:
            self._cached_index[1].close()
            self._cached_index = None

    def stack_in(self, index: Index) -> StackPosition | None:
        """Return the selected stack if it is in this index, with current data: its lines may have moved since."""
        selected = self.stack
        return selected.reload(index) if selected is not None and selected.index == index.path else None

    def stacks_through(self, index: Index, path: str, line: int, limit: int = MAX_CANDIDATE_STACKS) -> list[StackHit]:
        """Return the stacks through a line, restricted to the selected capture, longest first.

        Each stack is listed once, with the boundary function that took longest. Stacks that created the runtime's
        client come last, because whichever line runs first in a process creates the client.
        """
        hits = index.line(path, line, self.capture_in(index)).stacks(limit)
        hits = sorted(hits, key=lambda hit: (hit.function in CLIENT_CREATORS, -hit.total_duration))
        return list({hit.stack: hit for hit in reversed(hits)}.values())[::-1]


def _is_on_lines(frame: FrameRow, path: str, lines: Collection[int]) -> bool:
    return any(location.path == path and location.line in lines for location in find_local_locations(frame))
