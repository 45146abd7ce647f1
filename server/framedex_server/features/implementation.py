"""Implementation: the boundary functions reached from a line, at any depth.

Each leads to the innermost frame with source of its latest call. That is the function itself in the mock or a plug-in
with debug information, else the nearest line on the path to it. The function that took longest comes first.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from framedex_server.answers.session import Place, Session
from framedex_server.answers.targets import Target, Targets, answer
from framedex_server.inward import can_be_shown, locations

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.model import BoundaryEnd


def register(server: LanguageServer, session: Session) -> None:
    """Register `textDocument/implementation`."""

    @server.feature(types.TEXT_DOCUMENT_IMPLEMENTATION)
    async def implementation(params: types.ImplementationParams) -> Targets:
        place = session.source_place(params.text_document, params.position)
        if place is None:
            return None
        return await session.ask_at(place, lambda index: boundaries(session, place, index))


def boundaries(session: Session, place: Place, index: Index) -> Targets:
    """Return the boundary functions reached from a source line, except the line itself."""
    ends = index.line(place.path, place.line, session.chosen.capture_in(index)).ends()
    targets = [target for end in ends for target in _innermost(end)]
    here = index.line(place.path, place.line).lines
    elsewhere = [target for target in targets if target.path != place.path or target.line not in here]
    links = session.links_supported_for(types.TEXT_DOCUMENT_IMPLEMENTATION)
    limit = session.settings_at(place.path).limit  # list all boundary functions, not only the likeliest
    return answer(session, session.line_range(place.path, place.line), elsewhere, links, limit)


def _innermost(end: BoundaryEnd) -> Iterator[Target]:
    frame = next(filter(can_be_shown, end.frames), None)
    if frame is not None:
        yield from (Target.of(frame, location) for location in locations(frame))
