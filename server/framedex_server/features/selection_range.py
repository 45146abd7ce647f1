"""Selection ranges in trace documents and logs: the part under the cursor, its frame, its stack, the document."""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from framedex_server.answers.frame_lines import frame_range, stack_range
from framedex_server.answers.session import Session
from framedex_server.documents.stack_texts import StackText


def register(server: LanguageServer, session: Session) -> None:
    """Register `textDocument/selectionRange`."""

    @server.feature(types.TEXT_DOCUMENT_SELECTION_RANGE)
    async def select(params: types.SelectionRangeParams) -> list[types.SelectionRange] | None:
        document = await session.texts.of(params.text_document.uri)
        return [_around(session, document, position) for position in params.positions] if document else None


def _around(session: Session, document: StackText, position: types.Position) -> types.SelectionRange:
    last = len(document.lines) - 1
    end = session.position_in(document.lines[last], last, len(document.lines[last]))
    found = types.SelectionRange(types.Range(types.Position(0, 0), end))
    for inner in _ranges(session, document, position):
        if inner != found.range and _holds(found.range, inner) and _holds(inner, types.Range(position, position)):
            found = types.SelectionRange(inner, parent=found)
    return found


def _ranges(session: Session, document: StackText, position: types.Position) -> Iterator[types.Range]:
    """Yield the ranges around a position, outermost first."""
    stack = document.stack_around(position.line)
    if stack is None:
        return
    yield stack_range(session, document, stack)
    frames = document.frames_on(position.line)
    yield from (frame_range(session, document, frame) for frame in frames)
    for part in (part for frame in frames for part in frame.parts if part.line == position.line):
        text = document.lines[part.line]
        yield types.Range(
            session.position_in(text, part.line, part.start), session.position_in(text, part.line, part.end)
        )


def _holds(outer: types.Range, inner: types.Range) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end
