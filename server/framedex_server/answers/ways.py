"""The ways on from a line: inward to the callees that really ran, outward to the lines that it was reached from.

The likeliest comes first. Each is noted, so that a question about where it leads goes on along the same stacks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import TYPE_CHECKING

from framedex.model import ProgramLine
from framedex.plaintext import printable
from framedex.whereabouts.files import is_here
from framedex.words import count
from framedex_server.answers.elsewhere import shown
from framedex_server.answers.ffi_places import recorded_place, uses_called_at
from framedex_server.answers.programs import lines_inside, lines_outside
from framedex_server.answers.session import Place, Session
from framedex_server.answers.targets import MOST_TARGETS, Target
from framedex_server.inward import can_be_shown, locations, passed_text, roads_inward

if TYPE_CHECKING:
    from framedex.ffi.model import FfiHandler
    from framedex.index import Index
    from framedex.model import FrameRow, Location, PythonLine, Road


@dataclass(frozen=True, slots=True)
class Way:
    """A place to go on to: its function, how the line in it is known, and the calls that went there (None: unknown).

    `passed` are the frames of code on the way whose source is not here. `turns_outward`: the innermost line of a
    compiled program leads to a line that runs the program.
    """

    target: Target
    function: str
    known: tuple[str, ...] = ()
    calls: int | None = None
    passed: int = 0
    turns_outward: bool = False

    @property
    def place(self) -> str:
        """`pjrt_client.cc:123`, with how that is known unless exactly."""
        labels = f" [{', '.join(self.known)}]" if self.known else ""
        return f"{printable(PurePath(self.target.path).name)}:{self.target.line}{labels}"

    @property
    def detail(self) -> str:
        """`61 calls; 7 frames skipped, source not here`; empty where nothing is known."""
        calls = [count(self.calls, "call")] if self.calls is not None else []
        turned = [TURNED] if self.turns_outward else []
        return "; ".join([*turned, *calls, *passed_text(self.passed)])


TURNED = "turned outward: this line runs the program"
"""What a step from the innermost line of a compiled program says."""

_Found = tuple[Way, Sequence[int] | None]
"""A way, and the nodes at which its stacks stand where it leads: none within a program, None where nobody knows."""


def ways_in(session: Session, place: Place, index: Index) -> list[Way]:
    """The callees recorded from a source line, on the road that has led there if one has."""
    within, word = _came_by(session, place, index), session.word_at(place)
    capture = session.chosen.capture_in(index)
    places = shown(session, index, place.uri)
    roads = roads_inward(index, place.path, place.line, within, word, capture, places)
    passed, inside = _along(roads, places), _inward_or_turning(lines_inside(session, place, index))
    named = _through(lines_inside(session, place, index, word)) if word and not _has_just_turned(session, place) else []
    if inside and _is_inside(within):
        return _noted(session, place, index, [*named, *inside])
    to_handlers = _to_handlers(_handlers(session, index, place), passed)
    return _noted(session, place, index, [*named, *to_handlers] or inside)


def grouped(ways: Sequence[Way]) -> list[list[Way]]:
    """The ways by the file that they lead to: the likeliest file first, and of each file the likeliest way first."""
    by_file: dict[str, list[Way]] = {}
    for way in ways:
        by_file.setdefault(way.target.path, []).append(way)
    return list(by_file.values())


def ways_out(session: Session, place: Place, index: Index) -> list[Way]:
    """The lines from which recorded stacks came to a source line, most calls first."""
    place = recorded_place(session, index, place)
    within = _came_by(session, place, index)
    capture = session.chosen.capture_in(index)
    passed = _along(index.line(place.path, place.line, capture).roads_outward(can_be_shown, within))
    outside = _through(lines_outside(session, place, index))
    is_inside = bool(outside) and (_is_inside(within) or not passed)
    return _noted(session, place, index, outside if is_inside else passed)


def _through(lines: Iterable[ProgramLine | PythonLine]) -> list[_Found]:
    """Ways to lines within compiled programs, by which no stack goes, or to lines that run them."""
    return [
        (Way(Target.at(line.location), line.function), () if isinstance(line, ProgramLine) else None) for line in lines
    ]


def _inward_or_turning(lines: Iterable[ProgramLine | PythonLine]) -> list[_Found]:
    """Ways to lines within compiled programs, or outward from the innermost one to the lines that run its program."""
    return [(replace(way, turns_outward=nodes is None), nodes) for way, nodes in _through(lines)]


def _has_just_turned(session: Session, place: Place) -> bool:
    """Whether a walk turned outward to this line, and the cursor is where that put it: the name there is no choice."""
    start = session.line_range(place.path, place.line).start.character
    return place.character == start and session.trail.has_turned_at(place.path, place.line)


def _is_inside(within: Sequence[int] | None) -> bool:
    """Whether a place was come to within a program, and not along a stack."""
    return within is not None and not within


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


def _along(roads: Sequence[Road], places: Callable[[FrameRow], Iterable[Location]] = locations) -> list[_Found]:
    """Where roads lead."""
    return [(_way(road, spot), road.nodes) for road in roads for spot in places(road.target)]


def _noted(session: Session, place: Place, index: Index, found: Sequence[_Found]) -> list[Way]:
    """The ways, each place once, and each noted: a question about where it leads goes on as one came there."""
    led_to = [((way.target.path, way.target.line), nodes) for way, nodes in found if nodes is not None]
    if led_to:
        session.trail.led(index.path, place.path, _known_line(session, place, index) or place.line, led_to)
    session.trail.turn((way.target.path, way.target.line) for way, _ in found if way.turns_outward)
    return _distinct(way for way, _ in found)


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


def _handlers(session: Session, index: Index, place: Place) -> list[FfiHandler]:
    """The handlers that the `ffi_call`s on a line stand for."""
    return [handler for use in uses_called_at(session, index, place) for handler in use.handlers]


def _to_handlers(handlers: Sequence[FfiHandler], ways_on: Sequence[_Found]) -> Iterator[_Found]:
    """The function of each handler, else the line that registers it, and then the other ways on from the `ffi_call`.

    JAX's own machinery, which an eager call goes through, is nothing that a reader of that line means. The line that
    registers a handler has nothing to add where the function that it was made from can be shown.
    """
    passed: set[tuple[str, int]] = set()
    for handler in handlers:
        written, registered = _written(handler), handler.location
        if registered is not None and is_here(registered.path):
            if written is None:
                yield Way(Target.at(registered), handler.function.name, ("registered here",)), None
            else:
                passed.add((registered.path, registered.line))
        if written is not None:
            yield written, None
    yield from (found for found in ways_on if (found[0].target.path, found[0].target.line) not in passed)


def _written(handler: FfiHandler) -> Way | None:
    function = handler.implementation
    if function is None or function.location is None or not is_here(function.location.path):
        return None
    begin = function.location
    return Way(Target(begin.path, begin.line, begin.line, max(begin.line, function.end_line)), function.name)
