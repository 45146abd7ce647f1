"""What a reader has picked: a capture, to which answers are narrowed, and a stack, along which they step."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from framedex.binaries.roles import is_framedex
from framedex.index.file.conventions import MAKES_CLIENT
from framedex.model import Role
from framedex_server.inward import can_be_shown, locations

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.model import FrameRow, Location, StackHit


LOOKED_AT = 8
"""Stacks through a line among which one is picked: the longest may be that which made the runtime's client."""


@dataclass(frozen=True, slots=True)
class StackPosition:
    """A frame of a recorded stack: `frames` are the whole chain, outermost first, `position` counts from its start.

    `boundary` is the function that was called with the stack, `call` its latest call, `calls` how many there were, and
    `passed` the frames of code, without source here, over which a step has just come.
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
        """The frame at which a stack passes a line; None if the index has changed under it."""
        for frames in index.calls.chains_of_stack(hit.stack):
            if hit.position < len(frames) and frames[hit.position].id == hit.frame.id:
                return StackPosition(
                    index.path, hit.stack, hit.function, hit.latest_call, hit.calls, frames, hit.position
                )
        return None

    @property
    def frame(self) -> FrameRow:
        """The frame itself."""
        return self.frames[self.position]

    @property
    def location(self) -> Location | None:
        """Where it stands, if that is on this machine."""
        return next(locations(self.frame), None)

    def at(self, path: str, lines: Collection[int]) -> StackPosition | None:
        """The frame of this stack on a line, which is one of several: this one if it is, else the innermost that is."""
        here = [self.position, *range(len(self.frames) - 1, -1, -1)]
        return next((self._to(each) for each in here if _stands_at(self.frames[each], path, lines)), None)

    def inward(self) -> StackPosition | None:
        """The next frame inward that a reader can be shown."""
        return self._next(range(self.position + 1, len(self.frames)))

    def outward(self) -> StackPosition | None:
        """The next frame outward that a reader can be shown."""
        return self._next(range(self.position - 1, -1, -1))

    def on(self, position: int) -> StackPosition | None:
        """The frame at a position of the chain, glue and the interpreter's too; None if its source is not here."""
        there = self._to(position) if 0 <= position < len(self.frames) else None
        return there if there is not None and there.location is not None else None

    def anew(self, index: Index) -> StackPosition | None:
        """The same frame as the index has it now; None if it no longer has this stack."""
        for frames in index.calls.chains_of_stack(self.stack):
            if [frame.id for frame in frames] == [frame.id for frame in self.frames]:
                return replace(self, frames=frames, passed=0)
        return None

    def lines_in(self, path: str) -> list[int]:
        """The lines of a file on which frames of the stack stand."""
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
    """A capture by the index it is in and its id there."""

    index: Path
    capture: int


class Chosen:
    """What is picked at the moment; nothing at first."""

    def __init__(self) -> None:
        self.capture: PickedCapture | None = None
        self.stack: StackPosition | None = None
        self._narrowed: tuple[tuple[object, ...], Index] | None = None

    def capture_in(self, index: Index) -> int | None:
        """The picked capture, if it is one of this index."""
        picked = self.capture
        return picked.capture if picked is not None and picked.index == index.path else None

    def narrowed(self, index: Index) -> Index:
        """The index as it is of the picked capture alone, kept until it changes; the index itself if it has no pick.

        Belongs to the thread of `index`, which is one of a `Session`'s `contents`.
        """
        capture = self.capture_in(index)
        if capture is None:
            return index
        key = capture, index.path, index.remembered("state of the narrowed index", object)
        if self._narrowed is None or self._narrowed[0] != key:
            self.close()
            narrowed = index.within([capture])
            narrowed.file(str(index.path))  # sums up the totals, which needs a transaction of its own
            self._narrowed = key, narrowed
        return self._narrowed[1]

    def close(self) -> None:
        """Close the narrowed index."""
        if self._narrowed is not None:
            self._narrowed[1].close()
            self._narrowed = None

    def stack_in(self, index: Index) -> StackPosition | None:
        """The picked stack as it is now, if it is one of this index: its lines may have moved since it was picked."""
        picked = self.stack
        return picked.anew(index) if picked is not None and picked.index == index.path else None

    def stacks_through(self, index: Index, path: str, line: int, limit: int = LOOKED_AT) -> list[StackHit]:
        """The stacks through a line, of the picked capture alone if there is one, the longest first.

        Each comes once, with its boundary function that took longest. Those in which the runtime's client was made
        come last, since that happens under whatever line comes first in a process.
        """
        hits = index.line(path, line, self.capture_in(index)).stacks(limit)
        hits = sorted(hits, key=lambda hit: (hit.function in MAKES_CLIENT, -hit.total_duration))
        return list({hit.stack: hit for hit in reversed(hits)}.values())[::-1]


def _stands_at(frame: FrameRow, path: str, lines: Collection[int]) -> bool:
    return any(location.path == path and location.line in lines for location in locations(frame))
