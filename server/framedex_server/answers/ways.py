"""The ways on from a line: inward to the callees that really ran, outward to the lines that it was reached from.

The likeliest comes first. Each is noted, so that a question about where it leads goes on along the same stacks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING

from framedex.plaintext import printable
from framedex.whereabouts.files import is_here
from framedex.words import count
from framedex_server.answers.elsewhere import shown
from framedex_server.answers.ffi_places import recorded_place
from framedex_server.answers.ffi_text import is_called_at
from framedex_server.answers.programs import lines_inside, lines_outside
from framedex_server.answers.session import Place, Session
from framedex_server.answers.targets import MOST_TARGETS, Target
from framedex_server.inward import can_be_shown, locations, passed_text, roads_inward

if TYPE_CHECKING:
    from framedex.ffi.model import FfiHandler
    from framedex.index import Index
    from framedex.model import FrameRow, Location, ProgramLine, PythonLine, Road


@dataclass(frozen=True, slots=True)
class Way:
    """A place to go on to: its function, how the line in it is known, and the calls that went there (None: unknown).

    `passed` are the frames of code on the way whose source is not here.
    """

    target: Target
    function: str
    known: tuple[str, ...] = ()
    calls: int | None = None
    passed: int = 0

    @property
    def place(self) -> str:
        """`pjrt_client.cc:123`, with how that is known unless exactly."""
        labels = f" [{', '.join(self.known)}]" if self.known else ""
        return f"{printable(PurePath(self.target.path).name)}:{self.target.line}{labels}"

    @property
    def detail(self) -> str:
        """`61 calls; 7 frames skipped, source not here`; empty where nothing is known."""
        calls = [count(self.calls, "call")] if self.calls is not None else []
        return "; ".join([*calls, *passed_text(self.passed)])


def ways_in(session: Session, place: Place, index: Index) -> list[Way]:
    """The callees recorded from a source line, on the road that has led there if one has."""
    within = _came_by(session, place, index)
    capture = session.chosen.capture_in(index)
    places = shown(session, index, place.uri)
    roads = roads_inward(index, place.path, place.line, within, session.word_at(place), capture, places)
    ways_on = _along(session, place, index, roads, places)
    named = _ways(lines_inside(session, place, index, session.word_at(place)))
    ways = _distinct([*named, *_to_handlers(_handlers(index, place), ways_on)])
    return ways or _distinct(_ways(lines_inside(session, place, index)))


def ways_out(session: Session, place: Place, index: Index) -> list[Way]:
    """The lines from which recorded stacks came to a source line, most calls first."""
    place = recorded_place(session, index, place)
    within = _came_by(session, place, index)
    capture = session.chosen.capture_in(index)
    roads = index.line(place.path, place.line, capture).roads_outward(can_be_shown, within)
    return _distinct(_along(session, place, index, roads) or _ways(lines_outside(session, place, index)))


def _ways(lines: Iterable[ProgramLine | PythonLine]) -> list[Way]:
    """Ways to lines within compiled programs, or to lines that run them."""
    return [Way(Target.at(line.location), line.function) for line in lines]


def _came_by(session: Session, place: Place, index: Index) -> Sequence[int] | None:
    """The nodes at which the road stands that has led to a place, or to where its frames stand; None if none has."""
    known = _known_line(session, place, index)
    return None if known is None else session.trail.nodes_at(index.path, place.path, known)


def _known_line(session: Session, place: Place, index: Index) -> int | None:
    """The line of a place to which an answer has led: itself, or one of its statement where it has no frames."""

    def is_known(line: int) -> bool:
        return session.trail.nodes_at(index.path, place.path, line) is not None

    if is_known(place.line):
        return place.line
    return next(filter(is_known, index.line(place.path, place.line).lines), None)


def _along(
    session: Session,
    place: Place,
    index: Index,
    roads: Sequence[Road],
    places: Callable[[FrameRow], Iterable[Location]] = locations,
) -> list[Way]:
    """Where roads lead from a place, each noted so that a question about it goes on along its road."""
    found = [(_way(road, spot), road.nodes) for road in roads for spot in places(road.target)]
    if found:
        led_to = [((way.target.path, way.target.line), nodes) for way, nodes in found]
        session.trail.led(index.path, place.path, _known_line(session, place, index) or place.line, led_to)
    return [way for way, _ in found]


def _way(road: Road, spot: Location) -> Way:
    from framedex.placetext import location_labels

    target = Target.of(road.target, spot)
    return Way(target, road.target.function.name, tuple(location_labels(spot)), road.calls, road.passed)


def _distinct(ways: Iterable[Way]) -> list[Way]:
    """The first ways, each place once."""
    places: dict[tuple[str, int], Way] = {}
    for way in ways:
        places.setdefault((way.target.path, way.target.line), way)
    return list(places.values())[:MOST_TARGETS]


def _handlers(index: Index, place: Place) -> list[FfiHandler]:
    """The handlers that the `ffi_call`s on a line stand for."""
    uses = index.line(place.path, place.line).ffi_uses()
    return [handler for use in uses if is_called_at(use, place) for handler in use.handlers]


def _to_handlers(handlers: Sequence[FfiHandler], ways_on: Sequence[Way]) -> Iterator[Way]:
    """The function of each handler, else the line that registers it, and then the other ways on from the `ffi_call`.

    JAX's own machinery, which an eager call goes through, is nothing that a reader of that line means. The line that
    registers a handler has nothing to add where the function that it was made from can be shown.
    """
    passed: set[tuple[str, int]] = set()
    for handler in handlers:
        written, registered = _written(handler), handler.location
        if registered is not None and is_here(registered.path):
            if written is None:
                yield Way(Target.at(registered), handler.function.name, ("registered here",))
            else:
                passed.add((registered.path, registered.line))
        if written is not None:
            yield written
    yield from (way for way in ways_on if (way.target.path, way.target.line) not in passed)


def _written(handler: FfiHandler) -> Way | None:
    function = handler.implementation
    if function is None or function.location is None or not is_here(function.location.path):
        return None
    begin = function.location
    return Way(Target(begin.path, begin.line, begin.line, max(begin.line, function.end_line)), function.name)
