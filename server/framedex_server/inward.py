"""From a line to the frames that a reader is led to next: those with source on this machine.

The index knows the next frames that have source at all. DWARF may name files of the machine that built a binary; past
those, the nearest frame that can be opened is looked for on the stacks themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from framedex_server.documents.open_documents import is_source

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.model import FrameRow, Location, StackHit

MOST_STACKS = 20
"""Stacks looked through: with more, the rare ones cost more time than they are worth."""


def locations_inward(index: Index, path: str, line: int) -> list[tuple[FrameRow, Location]]:
    """The frames reached from a line, most calls first, each with where it stood and every other place it could be."""
    readable = index.inward_readable(path, line)
    # A line of the interpreter itself has no readable neighbours in the index, only direct ones.
    steps = readable or index.inward(path, line)
    reached = [(step.calls, step.target) for step in steps if _is_here(step.target)]
    if len(reached) < len(readable):
        reached.extend(_beyond_missing(index, path, line))
    reached.sort(key=lambda counted: -counted[0])
    return [(frame, location) for _, frame in reached for location in _locations(frame)]


def _beyond_missing(index: Index, path: str, line: int) -> Iterator[tuple[int, FrameRow]]:
    """Per stack whose next readable frame is in a file that is not here: the nearest one further inward that is."""
    for hit in index.stacks_through(path, line, limit=MOST_STACKS):
        readable = [frame for frame in _frames_inside(index, hit) if frame.location and frame.function.role == "code"]
        if readable and not _is_here(readable[0]):
            target = next(filter(_is_here, readable), None)
            if target is not None:
                yield hit.calls, target


def _frames_inside(index: Index, hit: StackHit) -> tuple[FrameRow, ...]:
    trace = index.stack_trace(hit.stack)
    if trace is None:
        return ()
    # A stack that could not be merged is two; the hit's position counts in the one of its frame's language.
    frames = trace.python if trace.python and hit.frame.function.language == "python" else trace.frames
    return frames[hit.position + 1 :]


def _is_here(frame: FrameRow) -> bool:
    return any(True for _ in _locations(frame))


def _locations(frame: FrameRow) -> Iterator[Location]:
    for location in (frame.location, *frame.candidates):
        if location is not None and is_source(location.path):
            yield location
