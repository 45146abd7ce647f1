"""Code actions: fixes for the cost in a diagnostic, alternative ways from a line, and public pages.

Go to frame leads to the likeliest location only, and opens no browser. The code actions list the others, by function.
Ways and pages are offered only if the user requests actions, not if the editor requests them as the cursor moves.
Actions on diagnostics are always offered.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from framedex.plaintext import printable
from framedex_server.answers import frame_lines
from framedex_server.answers.cost_actions import COST, cost_actions
from framedex_server.answers.elsewhere import public_ways_on
from framedex_server.answers.session import Session
from framedex_server.answers.ways import Way, sorted_by_file, ways_in
from framedex_server.inward import place_name
from framedex_server.protocol import GO_TO, OPEN_PUBLIC

if TYPE_CHECKING:
    from framedex.model import Location

PAGE, WAY = "source.framedex.openPublic", "source.framedex.goTo"
"""The kinds of these actions: clients neither run them automatically nor show a light bulb for them."""

MOST_PAGES = 4


def register(server: LanguageServer, session: Session) -> None:
    """Register `textDocument/codeAction`."""

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions(code_action_kinds=[WAY, PAGE, COST]))
    async def actions(params: types.CodeActionParams) -> list[types.CodeAction] | None:
        actions: list[types.CodeAction] = []
        if _is_asked_for(COST, params):
            actions += await cost_actions(session, params)
        is_automatic = params.context.trigger_kind == types.CodeActionTriggerKind.Automatic
        if is_automatic and not session.lists_automatic_actions:
            return actions or None
        if session.shows_documents and _is_asked_for(WAY, params):
            actions += [_to_way(session, way) for way in await _ways(session, params)]
        if _is_asked_for(PAGE, params):
            actions += [_to_page(place) for place in await _pages(session, params)]
        return actions or None


def _is_asked_for(kind: str, params: types.CodeActionParams) -> bool:
    return any(f"{kind}.".startswith(f"{wanted}.") for wanted in params.context.only or [kind])


async def _ways(session: Session, params: types.CodeActionParams) -> list[Way]:
    """Return the ways inward from a source line; empty if there is only one, which go to frame takes."""
    place = session.source_place(params.text_document, params.range.start)
    found = await session.ask_at(place, lambda index: ways_in(session, place, index)) if place is not None else None
    return sorted_by_file(found) if found is not None and len(found) > 1 else []


async def _pages(session: Session, params: types.CodeActionParams) -> list[Location]:
    document, position = params.text_document, params.range.start
    if session.texts.may_hold(document.uri):
        found = await frame_lines.public_frame_in_text(session, document.uri, position)
        return [found[1]] if found is not None else []
    place = session.place(document, position)
    if place is None:
        return []
    ways = await session.ask_at(place, lambda index: public_ways_on(session, index, place)) or []
    return list({there.url: there for _, there in ways}.values())[:MOST_PAGES]


def _to_way(session: Session, way: Way) -> types.CodeAction:
    title = f"Go to {printable(way.function)}, {way.place}" + (f": {way.detail}" if way.detail else "")
    target = way.target
    line = session.line_range(target.path, target.line).start.line
    where = {"uri": session.documents.uri_of(target.path), "line": line}
    return types.CodeAction(title, kind=WAY, command=types.Command(title, GO_TO, arguments=[where]))


def _to_page(place: Location) -> types.CodeAction:
    title = f"Open the public page of {place_name(place)}"
    return types.CodeAction(title, kind=PAGE, command=types.Command(title, OPEN_PUBLIC, arguments=[place.url]))
