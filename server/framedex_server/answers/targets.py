"""Where going to frames leads: lines in functions, as links for clients that take them, else as locations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lsprotocol import types

from framedex_server.answers.session import Place, Session
from framedex_server.inward import locations

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.model import FrameRow, Location, Road

MOST_TARGETS = 20
"""More places to go to from one line are noise to a reader."""

Targets = list[types.Location] | list[types.LocationLink] | None


@dataclass(frozen=True, slots=True)
class Target:
    """Where to go: a line, and the first and last line of the function around it (the line itself if unknown)."""

    path: str
    line: int
    first: int
    last: int

    @staticmethod
    def at(location: Location) -> Target:
        """A line by itself."""
        return Target(location.path, location.line, location.line, location.line)

    @staticmethod
    def of(frame: FrameRow, location: Location) -> Target:
        """A place of a frame, in its function if that is around it."""
        function = frame.function
        begin = function.location
        if begin is None or begin.path != location.path or not begin.line <= location.line <= function.end_line:
            return Target(location.path, location.line, location.line, location.line)
        return Target(location.path, location.line, begin.line, function.end_line)


def came_by(session: Session, place: Place, index: Index) -> Sequence[int] | None:
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


def along(
    session: Session,
    place: Place,
    index: Index,
    roads: Sequence[Road],
    places: Callable[[FrameRow], Iterable[Location]] = locations,
) -> list[Target]:
    """The targets to which roads lead from a place, each noted so that a question about it goes on along its road."""
    targets = [(Target.of(road.target, spot), road.nodes) for road in roads for spot in places(road.target)]
    if targets:
        led_to = [((target.path, target.line), nodes) for target, nodes in targets]
        session.trail.led(index.path, place.path, _known_line(session, place, index) or place.line, led_to)
    return [target for target, _ in targets]


def answer(
    session: Session, origin: types.Range, targets: Sequence[Target], with_links: bool, most: int = MOST_TARGETS
) -> Targets:
    """The targets as links or locations, each place once, at most `most` of them; None without any."""
    distinct = _places(targets)[:most]
    if not distinct:
        return None
    if with_links:
        return [_link(session, origin, target) for target in distinct]
    return [
        types.Location(session.documents.uri_of(target.path), session.line_range(target.path, target.line))
        for target in distinct
    ]


def _places(targets: Sequence[Target]) -> list[Target]:
    """The targets with each place once, in its widest known function: a client would offer it several times."""
    found: dict[tuple[str, int], Target] = {}
    for target in targets:
        known = found.setdefault((target.path, target.line), target)
        if target.last - target.first > known.last - known.first:
            found[target.path, target.line] = target
    return list(found.values())


def _link(session: Session, origin: types.Range, target: Target) -> types.LocationLink:
    return types.LocationLink(
        target_uri=session.documents.uri_of(target.path),
        target_range=session.extent_range(target.path, target.first, target.last),
        target_selection_range=session.line_range(target.path, target.line),
        origin_selection_range=origin,
    )
