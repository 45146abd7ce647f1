"""Stepping inward: the inner frames of a line with source on this machine, in a useful order.

DWARF may name files of the build machine; such frames are skipped like the interpreter's. Frames of framedex itself,
its recorder and its mock TPU, are skipped too: their source opens only if the user selects such a frame.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from framedex.model.places import is_framedex, path_in_repository
from framedex.path_resolution.files import is_here
from framedex.plaintext import printable
from framedex.words import count

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.model import FrameRow, Location, Road


def roads_inward(
    index: Index,
    path: str,
    line: int,
    within: Sequence[int] | None,
    word: str,
    capture: int | None = None,
    places: Callable[[FrameRow], Iterable[Location]] | None = None,
) -> list[Road]:
    """Return the stack paths inward from a line, restricted to `capture` if given, likeliest first.

    Only paths that continue `within` are returned, if there are any. `places` returns the locations at which a frame
    can be shown; default: the files on this machine. The first rule that distinguishes two paths orders them:

    - callees named `word` come first;
    - destructors that run as a function returns come after calls in its body;
    - Python callees that created the runtime's client come last: any line that runs first in a process triggers that;
    - the callee on the path to the stack that took longest, all its calls together, comes first. So repeatedly taking
      the first answer is one walk: the longest stack below a line is also the longest below that callee.
    """
    at = places or locations

    def is_wanted(frame: FrameRow) -> bool:
        return leads_on(frame) and any(True for _ in at(frame))

    roads = index.line(path, line, capture).roads_inward(is_wanted, within) if within is not None else []
    roads = roads or index.line(path, line, capture).roads_inward(is_wanted, None)
    longest: dict[int, int] = {}
    for road in roads:
        longest[road.target.function.id] = max(road.longest, longest.get(road.target.function.id, 0))
    going_on = {road.target.function.id for road in roads if road.goes_on}

    def order(road: Road) -> tuple[int, ...]:
        function = road.target.function
        return (
            not _is_named(function.name, word),
            road.origin.returning,
            road.makes_client and function.language == "python",
            -longest[function.id],
            -road.longest,
            -road.calls,
        )

    # A boundary function's own call ends its stack there: skip it if the same function also has a longer path.
    return sorted((road for road in roads if road.goes_on or road.target.function.id not in going_on), key=order)


def passed_text(frames: int) -> list[str]:
    """Return a note on the code frames that a step skipped; empty if there are none."""
    return [f"{count(frames, 'frame')} skipped, source not here"] if frames else []


def leads_on(frame: FrameRow) -> bool:
    """Return whether stepping stops at a frame: it is code with a known source line, and not framedex's own."""
    return frame.is_readable and not is_framedex(frame.module or frame.function.module)


def can_be_shown(frame: FrameRow) -> bool:
    """Return whether stepping stops at a frame and its source is on this machine."""
    return leads_on(frame) and next(locations(frame), None) is not None


def locations(frame: FrameRow) -> Iterator[Location]:
    """Yield the frame's location and its alternatives that are on this machine."""
    for location in (frame.location, *frame.candidates):
        if location is not None and is_here(location.path):
            yield location


def public_place(frame: FrameRow) -> Location | None:
    """Return the frame's location that is not on this machine but has a public URL."""
    return first_public((frame.location, *frame.candidates))


def first_public(places: Iterable[Location | None]) -> Location | None:
    """Return the first location that is not on this machine but has a public URL."""
    return next((place for place in places if place is not None and place.url and not is_here(place.path)), None)


def place_name(place: Location) -> str:
    """Return a short location: `xla/pjrt/pjrt_client.cc:1187`."""
    return f"{printable(path_in_repository(place.path))}:{place.line}"


def _is_named(name: str, word: str) -> bool:
    """Return whether the last part of a qualified name is the word, ignoring template arguments."""
    return word != "" and re.split(r"::|\.", name)[-1].partition("<")[0] == word
