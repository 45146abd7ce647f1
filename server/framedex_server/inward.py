"""From a line to the frames that a reader is led to next: those with source on this machine, in a useful order.

DWARF may name files of the machine that built a binary; such frames are passed over like the interpreter's. So are
frames of framedex itself: its recorder and its mock TPU. Their source opens only for whoever selects such a frame.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from framedex.binaries.roles import is_framedex
from framedex.model.places import path_in_repository
from framedex.plaintext import printable
from framedex.whereabouts.files import is_here
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
    """The roads from a line, of one capture if it is given, the one that a reader most likely means first.

    Only those that continue the road `within`, where any does. `places` are those at which a frame can be shown, by
    default the files that are here. They are ordered by the first of these rules that
    tells two of them apart:

    - callees named `word` come first;
    - what is torn down as a function returns comes after what ran before;
    - Python callees in which the runtime's client was made come last: that happens under whatever line comes first in
      a process;
    - the callee on the way to the stack that took longest, all its calls together, comes first. So going to the first
      answer again and again is one walk: the longest stack below a line is also the longest below that callee.
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

    # A boundary function's own call ends its stack there; beside one of its lines that leads on it adds nothing.
    return sorted((road for road in roads if road.goes_on or road.target.function.id not in going_on), key=order)


def passed_text(frames: int) -> list[str]:
    """What is said of the frames of code that a step goes over, if there are any."""
    return [f"{count(frames, 'frame')} skipped, source not here"] if frames else []


def leads_on(frame: FrameRow) -> bool:
    """Whether a walk stops at a frame: it is code, of which a source line is known, and not framedex's own."""
    return frame.is_readable and not is_framedex(frame.module or frame.function.module)


def can_be_shown(frame: FrameRow) -> bool:
    """Whether a walk stops at a frame, and its source is on this machine."""
    return leads_on(frame) and next(locations(frame), None) is not None


def locations(frame: FrameRow) -> Iterator[Location]:
    """Where a frame stood, and every other place it could be, as far as these are on this machine."""
    for location in (frame.location, *frame.candidates):
        if location is not None and is_here(location.path):
            yield location


def public_place(frame: FrameRow) -> Location | None:
    """The place of a frame that is not here and has a public address."""
    return first_public((frame.location, *frame.candidates))


def first_public(places: Iterable[Location | None]) -> Location | None:
    """The first of these places that is not here and has a public address."""
    return next((place for place in places if place is not None and place.url and not is_here(place.path)), None)


def place_name(place: Location) -> str:
    """`xla/pjrt/pjrt_client.cc:1187`."""
    return f"{printable(path_in_repository(place.path))}:{place.line}"


def _is_named(name: str, word: str) -> bool:
    """Whether the last part of a qualified name is the word, whatever template arguments follow it."""
    return word != "" and re.split(r"::|\.", name)[-1].partition("<")[0] == word
