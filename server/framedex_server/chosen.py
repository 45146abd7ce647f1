"""The user's selection: a capture that restricts the answers, and a stack to step along."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from framedex.index.file.conventions import MAKES_CLIENT
from framedex.model import Role
from framedex.model.places import is_framedex
from framedex_server.inward import can_be_shown, locations

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.model import FrameRow, Location, StackHit


LOOKED_AT = 8
"""Number of stacks through a line to choose from: the longest may be the one that created the runtime's client."""


@dataclass(frozen=True, slots=True)
class StackPosition:
    """A frame of a recorded stack: `frames` is the whole chain, outermost first, `position` counts from its start.

    `boundary` is the function that was called with the stack, `call` its latest call, and `calls` its number of calls.
    `passed` is the number of code frames without source here that the latest step skipped.
    """

    index: Path
    stack: int
    boundary: str
    call: int
    calls: int
    frames: tuple[FrameRow, ...]
    position: int
    passed: int = 0

    @staticmethod
    def of(index: Index, hit: StackHit) -> StackPosition | None:
        """Return the frame at which a stack passes a line; None if the index has changed meanwhile."""
        for frames in index.calls.chains_of_stack(hit.stack):
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
        return next(locations(self.frame), None)

    def at(self, path: str, lines: Collection[int]) -> StackPosition | None:
        """Return this frame if it is on one of the lines, else the innermost frame of the stack that is.

        None if no frame is.
        """
        here = [self.position, *range(len(self.frames) - 1, -1, -1)]
        return next((self._to(each) for each in here if _stands_at(self.frames[each], path, lines)), None)

    def inward(self) -> StackPosition | None:
        """Return the next inner frame whose source can be shown."""
        return self._next(range(self.position + 1, len(self.frames)))

    def outward(self) -> StackPosition | None:
        """Return the next outer frame whose source can be shown."""
        return self._next(range(self.position - 1, -1, -1))

    def on(self, position: int) -> StackPosition | None:
        """Return the frame at a position, including glue and interpreter frames; None if its source is not here."""
        there = self._to(position) if 0 <= position < len(self.frames) else None
        return there if there is not None and there.location is not None else None

    def anew(self, index: Index) -> StackPosition | None:
        """Return the same frame with current data from the index; None if the index no longer has this stack."""
        for frames in index.calls.chains_of_stack(self.stack):
            if [frame.id for frame in frames] == [frame.id for frame in self.frames]:
                return replace(self, frames=frames, passed=0)
        return None

    def lines_in(self, path: str) -> list[int]:
        """Return the lines of a file that have frames of this stack."""
        lines = (location.line for frame in self.frames for location in locations(frame) if location.path == path)
        return list(dict.fromkeys(lines))

    def _next(self, positions: range) -> StackPosition | None:
        passed = 0
        for position in positions:
            frame = self.frames[position]
            if can_be_shown(frame):
                return replace(self, position=position, passed=passed)
            passed += frame.function.role is Role.CODE and not is_framedex(frame.module or frame.function.module)
        return None

    def _to(self, position: int) -> StackPosition:
        return replace(self, position=position, passed=0)


@dataclass(frozen=True, slots=True)
class PickedCapture:
    """A capture, identified by its index and its id there."""

    index: Path
    capture: int


class Chosen:
    """The current selection; empty at first."""

    def __init__(self) -> None:
        self.capture: PickedCapture | None = None
        self.stack: StackPosition | None = None
        self._narrowed: tuple[tuple[object, ...], Index] | None = None

    def capture_in(self, index: Index) -> int | None:
        """Return the id of the selected capture if it is in this index, else None."""
        picked = self.capture
        return picked.capture if picked is not None and picked.index == index.path else None

    def narrowed(self, index: Index) -> Index:
        """Return the index restricted to the selected capture; the index itself if no capture is selected.

        The restricted index is cached until `index` changes. It belongs to the thread of `index`, which is one of a
        `Session`'s `contents`.
        """
        capture = self.capture_in(index)
        if capture is None:
            return index
        key = capture, index.path, index.remembered("state of the narrowed index", object)
        if self._narrowed is None or self._narrowed[0] != key:
            self.close()
            narrowed = index.within([capture])
            narrowed.file(str(index.path))  # computes the totals, which needs its own transaction
            self._narrowed = key, narrowed
        return self._narrowed[1]

    def close(self) -> None:
        """Close the restricted index."""
        if self._narrowed is not None:
            self._narrowed[1].close()
            self._narrowed = None

    def stack_in(self, index: Index) -> StackPosition | None:
        """Return the selected stack if it is in this index, with current data: its lines may have moved since."""
        picked = self.stack
        return picked.anew(index) if picked is not None and picked.index == index.path else None

    def stacks_through(self, index: Index, path: str, line: int, limit: int = LOOKED_AT) -> list[StackHit]:
        """Return the stacks through a line, restricted to the selected capture, longest first.

        Each stack comes once, with the boundary function that took longest. Stacks that created the runtime's client
        come last, because any line that runs first in a process triggers that.
        """
        hits = index.line(path, line, self.capture_in(index)).stacks(limit)
        hits = sorted(hits, key=lambda hit: (hit.function in MAKES_CLIENT, -hit.total_duration))
        return list({hit.stack: hit for hit in reversed(hits)}.values())[::-1]


def _stands_at(frame: FrameRow, path: str, lines: Collection[int]) -> bool:
    return any(location.path == path and location.line in lines for location in locations(frame))
