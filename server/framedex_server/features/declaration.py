"""Back one frame: declaration on a line with recorded frames leads outward, to the line from which it was reached.

It is the way back of go to frame: on a line that an answer has led to, only the stacks count that led there. Frames of
the interpreter, glue, and frames without source are passed over. The function that an FFI handler was
made from was reached as the handler was. A line inside `jit` was reached while it was traced: back from it leads to the
line that called its function then, and to those that run the program.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from framedex_server.answers.ffi_places import recorded_place
from framedex_server.answers.programs import lines_outside
from framedex_server.answers.session import Place, Session
from framedex_server.answers.targets import Target, Targets, along, answer, came_by
from framedex_server.inward import can_be_shown

if TYPE_CHECKING:
    from framedex.index import Index


def register(server: LanguageServer, session: Session) -> None:
    """Offer `textDocument/declaration`."""

    @server.feature(types.TEXT_DOCUMENT_DECLARATION)
    async def declaration(params: types.DeclarationParams) -> Targets:
        place = session.source_place(params.text_document, params.position)
        if place is None:
            return None
        return await session.ask_at(place, lambda index: callers(session, place, index))


def callers(session: Session, place: Place, index: Index) -> Targets:
    """The lines from which recorded stacks came to a source line, most calls first."""
    origin = session.line_range(place.path, place.line)
    place = recorded_place(session, index, place)
    within = came_by(session, place, index)
    capture = session.chosen.capture_in(index)
    roads = index.line(place.path, place.line, capture).roads_outward(can_be_shown, within)
    links = session.links_supported_for(types.TEXT_DOCUMENT_DECLARATION)
    targets = along(session, place, index, roads)
    targets = targets or [Target.at(each) for each in lines_outside(session, place, index)]
    return answer(session, origin, targets, links)
