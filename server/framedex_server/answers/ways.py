"""Ways from a line: inward to the callees that really ran, outward to the calling lines.

The likeliest comes first. Each way is recorded, so that the next query continues along the same stacks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import TYPE_CHECKING

from framedex.model import ProgramLine
from framedex.path_resolution.files import is_here
from framedex.plaintext import printable
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
    """A location to go to: its function, the quality of its line, and the number of calls (None: unknown).

    `passed` is the number of skipped code frames whose source is not here. `turns_outward` means that the innermost
    line of a compiled program leads to a line that runs the program.
    """

    target: Target
    function: str
    known: tuple[str, ...] = ()
    calls: int | None = None
    passed: int = 0
    turns_outward: bool = False

    @property
    def place(self) -> str:
        """The location as text, with its quality unless exact: `pjrt_client.cc:123`."""
        labels = f" [{', '.join(self.known)}]" if self.known else ""
        return f"{printable(PurePath(self.target.path).name)}:{self.target.line}{labels}"

    @property
    def detail(self) -> str:
        """A summary: `61 calls; 7 frames skipped, source not here`; may be empty."""
        calls = [count(self.calls, "call")] if self.calls is not None else []
        turned = [TURNED] if self.turns_outward else []
        return "; ".join([*turned, *calls, *passed_text(self.passed)])


TURNED = "turned outward: this line runs the program"
"""The note on a step outward from the innermost line of a compiled program."""

_Found = tuple[Way, Sequence[int] | None]
"""A way and its stacks' nodes at the target: empty within a program, None if unknown."""


def ways_in(session: Session, place: Place, index: Index) -> list[Way]:
    """Return the callees recorded from a source line, along the stack path that led there, if any."""
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


def sorted_by_file(ways: Sequence[Way]) -> list[Way]:
    """Return ways by target file: likeliest file first, and within a file likeliest way first."""
    by_file: dict[str, list[Way]] = {}
    for way in ways:
        by_file.setdefault(way.target.path, []).append(way)
    return [way for group in by_file.values() for way in group]


def ways_out(session: Session, place: Place, index: Index) -> list[Way]:
    """Return the lines from which recorded stacks reached a source line, most calls first."""
    place = recorded_place(session, index, place)
    within = _came_by(session, place, index)
    capture = session.chosen.capture_in(index)
    passed = _along(index.line(place.path, place.line, capture).roads_outward(can_be_shown, within))
    outside = _through(lines_outside(session, place, index))
    is_inside = bool(outside) and (_is_inside(within) or not passed)
    return _noted(session, place, index, outside if is_inside else passed)


def _through(lines: Iterable[ProgramLine | PythonLine]) -> list[_Found]:
    """Return ways to lines within compiled programs, which have no stacks, or to lines that run programs."""
    return [
        (Way(Target.at(line.location), line.function), () if isinstance(line, ProgramLine) else None) for line in lines
    ]


def _inward_or_turning(lines: Iterable[ProgramLine | PythonLine]) -> list[_Found]:
    """Return ways to lines within compiled programs, or from the innermost line outward to lines that run it."""
    return [(replace(way, turns_outward=nodes is None), nodes) for way, nodes in _through(lines)]


def _has_just_turned(session: Session, place: Place) -> bool:
    """Return whether a walk turned outward to this line and the cursor did not move: the user did not choose a name."""
    start = session.line_range(place.path, place.line).start.character
    return place.character == start and session.trail.has_turned_at(place.path, place.line)


def _is_inside(within: Sequence[int] | None) -> bool:
    """Return whether a place was reached within a program, not along a stack."""
    return within is not None and not within


def _came_by(session: Session, place: Place, index: Index) -> Sequence[int] | None:
    """Return the nodes of the stack path that led to a place, or to its frames' lines; None if there is none."""
    known = _known_line(session, place, index)
    return None if known is None else session.trail.nodes_at(index.path, place.path, known)


def _known_line(session: Session, place: Place, index: Index) -> int | None:
    """Return the line of a place that an answer returned; if it has no frames, another line of its statement."""

    def is_known(line: int) -> bool:
        return session.trail.nodes_at(index.path, place.path, line) is not None

    if is_known(place.line):
        return place.line
    return next(filter(is_known, index.line(place.path, place.line).lines), None)


def _along(roads: Sequence[Road], places: Callable[[FrameRow], Iterable[Location]] = locations) -> list[_Found]:
    """Return the targets of stack paths as ways."""
    return [(_way(road, spot), road.nodes) for road in roads for spot in places(road.target)]


def _noted(session: Session, place: Place, index: Index, found: Sequence[_Found]) -> list[Way]:
    """Record the ways in the trail and return them, each place once: the next query continues along the same stacks."""
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
    """Return the first ways, each place once."""
    places: dict[tuple[str, int], Way] = {}
    for way in ways:
        places.setdefault((way.target.path, way.target.line), way)
    return list(places.values())[:MOST_TARGETS]


def _handlers(session: Session, index: Index, place: Place) -> list[FfiHandler]:
    """Return the handlers of the `ffi_call`s on a line."""
    uses = index.line(place.path, place.line).ffi_uses()
    return [handler for use in uses_called_at(session, index, place, uses) for handler in use.handlers]


def _to_handlers(handlers: Sequence[FfiHandler], ways_on: Sequence[_Found]) -> Iterator[_Found]:
    """Yield the function of each handler, else its registration, then the other ways from the `ffi_call`.

    JAX's own machinery, which an eager call passes through, is not listed before the handlers. The registration is left
    out if the handler's implementation can be shown.
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
