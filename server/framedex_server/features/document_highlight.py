"""Document highlights: on a recorded line, the lines of the same file on the selected stack.

If no selected stack passes the line, the stack through the line that took longest is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from framedex_server.answers.session import Place, Session
from framedex_server.chosen import StackPosition

if TYPE_CHECKING:
    from framedex.index import Index


def register(server: LanguageServer, session: Session) -> None:
    """Register `textDocument/documentHighlight`."""

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT)
    async def highlight(params: types.DocumentHighlightParams) -> list[types.DocumentHighlight] | None:
        place = session.source_place(params.text_document, params.position)
        if place is None:
            return None
        return await session.ask_at(place, lambda index: on_stack(session, place, index))


def on_stack(session: Session, place: Place, index: Index) -> list[types.DocumentHighlight] | None:
    """Return highlights for the lines of the place's file on the stack through it."""
    stack = session.chosen.stack_in(index)
    if stack is None or stack.at(place.path, index.line(place.path, place.line).lines) is None:
        hits = session.chosen.stacks_through(index, place.path, place.line)
        stack = StackPosition.of(index, hits[0]) if hits else None
    if stack is None:
        return None
    return [
        types.DocumentHighlight(session.line_range(place.path, line), types.DocumentHighlightKind.Text)
        for line in stack.lines_in(place.path)
    ]
