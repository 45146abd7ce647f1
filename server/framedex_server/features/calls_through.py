"""The request `framedex/callsThrough`: the latest calls through a line, for lists and pickers of an editor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pygls.lsp.server import LanguageServer

from framedex_server.answers.ffi_places import recorded_place
from framedex_server.answers.requests import Json, call_json, position_in
from framedex_server.answers.session import Place, Session

if TYPE_CHECKING:
    from framedex.index import Index

MOST_CALLS = 100
"""Maximum number of calls listed, and of stacks through the line whose calls are considered."""


def register(server: LanguageServer, session: Session) -> None:
    """Register the request."""

    @server.feature("framedex/callsThrough")
    async def calls_through(params: Any) -> list[Json]:
        position = position_in(params)
        place = session.source_place(position.text_document, position.position)
        found = await session.ask_at(place, lambda index: _calls(session, index, place)) if place else None
        return found or []


def _calls(session: Session, index: Index, place: Place) -> list[Json]:
    place = recorded_place(session, index, place)
    limit = min(session.settings_at(place.path).limit, MOST_CALLS)
    stacks = {hit.stack: None for hit in session.chosen.stacks_through(index, place.path, place.line, limit)}
    calls = index.calls.with_stacks(stacks, limit, session.chosen.capture_in(index))
    return [call_json(call) for call in calls]
