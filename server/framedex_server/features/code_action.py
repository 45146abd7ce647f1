"""Code actions: the public pages of the frames that a line leads to and that are not here.

They are for editors that have no other way to a link: go to frame opens no browser. They are offered to who asks for
the actions of a line, and to no editor that asks by itself at every move of the cursor.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from framedex_server.answers import frame_lines
from framedex_server.answers.elsewhere import public_ways_on
from framedex_server.answers.session import Session
from framedex_server.inward import place_name
from framedex_server.protocol import OPEN_PUBLIC

if TYPE_CHECKING:
    from framedex.model import Location

KIND = "source.framedex.openPublic"
"""What these actions are to clients: none that is run by itself, or that a light bulb tells of."""

MOST_PAGES = 4


def register(server: LanguageServer, session: Session) -> None:
    """Offer `textDocument/codeAction`."""

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions(code_action_kinds=[KIND]))
    async def actions(params: types.CodeActionParams) -> list[types.CodeAction] | None:
        asked, only = params.context, params.context.only or [KIND]
        if asked.trigger_kind == types.CodeActionTriggerKind.Automatic or not any(map(_is_of_kind, only)):
            return None
        return [_action(place) for place in await _places(session, params)] or None


def _is_of_kind(wanted: str) -> bool:
    return f"{KIND}.".startswith(f"{wanted}.")


async def _places(session: Session, params: types.CodeActionParams) -> list[Location]:
    document, position = params.text_document, params.range.start
    if session.texts.may_hold(document.uri):
        found = await frame_lines.public_place_in_text(session, document.uri, position)
        return [found] if found is not None else []
    place = session.place(document, position)
    if place is None:
        return []
    ways = await session.ask_at(place, lambda index: public_ways_on(session, index, place)) or []
    return list({there.url: there for _, there in ways}.values())[:MOST_PAGES]


def _action(place: Location) -> types.CodeAction:
    title = f"Open the public page of {place_name(place)}"
    return types.CodeAction(title, kind=KIND, command=types.Command(title, OPEN_PUBLIC, arguments=[place.url]))
