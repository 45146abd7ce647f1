"""Find the lines of frames in located functions, for code without debug information."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

from framedex.index.write.records import FramePlacement, Placement
from framedex.index.write.sources import SourceTables
from framedex.ingest.recorded import RecordedBinaries
from framedex.ingest.released import BinarySources
from framedex.model import How
from framedex.progress import Progress
from framedex.sources.bodies import Bodies, bodies_in_trees
from framedex.sources.calls import Span
from framedex.sources.standing import FrameLines


def find_calls(
    tables: SourceTables,
    placements: Sequence[Placement],
    binaries: RecordedBinaries,
    progress: Progress,
    released: Mapping[int, BinarySources],
) -> list[FramePlacement]:
    """Return the lines of the frames of these functions if they can be found; other frames stay at the definition.

    `released` has the sources of the functions located in release maps, by their ids.
    """
    in_trees = bodies_in_trees(tables.definitions, tables.definitions_in)
    in_release = {sources: sources.bodies() for sources in released.values()}
    defined = {placement.function: placement for placement in placements if placement.location is not None}
    frames = tables.open_frames(defined)
    lines = FrameLines()
    found = []
    with progress.task("Finding calls", len(frames)) as advance:
        for _, seen in groupby(frames, key=lambda frame: frame.id):
            same = list(seen)  # one row per callee
            frame = same[0]
            bodies = in_release[released[frame.function]] if frame.function in released else in_trees
            placement = defined[frame.function]
            definitions = _definitions(placement, bodies)
            callees = [each.callee for each in same]
            binary = binaries.named(frame.module)
            is_certain = placement.location is not None and placement.location.how is How.DEFINITION
            if places := lines.places(definitions, bodies, binary, frame.offset, callees, is_certain):
                found.append(FramePlacement(frame.id, places[0], places[1:]))
            advance(len(same))
    return found


def _definitions(placement: Placement, bodies: Bodies) -> list[tuple[str, Span]]:
    """Return the possible definitions of a function, by path and lines."""
    location = placement.location
    assert location is not None
    if location.how is How.DEFINITION:
        return [(location.path, (location.line, placement.end_line))] if placement.end_line > 0 else []
    if location.how is not How.CANDIDATES:
        return []
    return [
        (each.path, span)
        for each in (location, *placement.candidates)
        for span in bodies.written(each.path)
        if span[0] == each.line
    ]
