"""Targets of going to frames: lines in functions, as links if the client supports them, else as locations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lsprotocol import types

from framedex_server.answers.session import Session

if TYPE_CHECKING:
    from framedex.model import FrameRow, Location

MOST_TARGETS = 20
"""Maximum number of targets from one line: more are noise."""

Targets = list[types.Location] | list[types.LocationLink] | None


@dataclass(frozen=True, slots=True)
class Target:
    """A line, and the first and last line of the function around it (the line itself if unknown)."""

    path: str
    line: int
    first: int
    last: int

    @staticmethod
    def at(location: Location) -> Target:
        """Return a target without a function."""
        return Target(location.path, location.line, location.line, location.line)

    @staticmethod
    def of(frame: FrameRow, location: Location) -> Target:
        """Return a frame's location as a target, with its function's extent if that contains the line."""
        function = frame.function
        begin = function.location
        if begin is None or begin.path != location.path or not begin.line <= location.line <= function.end_line:
            return Target.at(location)
        return Target(location.path, location.line, begin.line, function.end_line)


def answer(
    session: Session, origin: types.Range, targets: Sequence[Target], with_links: bool, most: int = MOST_TARGETS
) -> Targets:
    """Return the targets as links or locations, each place once, at most `most`; None if there are none."""
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
    """Return each place once, with its widest known function: a client would list duplicates."""
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
