"""Document symbols of trace documents and logs: each stack with its frames.

Clients without hierarchical symbols get the frames as a list, each with the title of its stack.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from framedex import words
from framedex.plaintext import printable
from framedex_server.answers.frame_lines import frame_range, stack_range
from framedex_server.answers.session import Session
from framedex_server.documents.stack_texts import StackText
from framedex_server.markup import shorten

if TYPE_CHECKING:
    from framedex.text_stacks import TextFrame

MOST_SYMBOLS = 5_000
"""Maximum number of outline entries, filled from the start of the text."""

Symbols = list[types.DocumentSymbol] | list[types.SymbolInformation] | None


def register(server: LanguageServer, session: Session) -> None:
    """Register `textDocument/documentSymbol`."""

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    async def symbols(params: types.DocumentSymbolParams) -> Symbols:
        uri = params.text_document.uri
        document = await session.texts.of(uri)
        if document is None:
            return None
        tree = await session.texts.run(lambda: list(islice(_stacks(session, document), MOST_SYMBOLS)))
        text_document = server.client_capabilities.text_document
        ability = text_document.document_symbol if text_document else None
        if ability is not None and ability.hierarchical_document_symbol_support:
            return tree or None
        return [flat for stack in tree for flat in _flat(stack, uri)][:MOST_SYMBOLS] or None


def _stacks(session: Session, document: StackText) -> Iterator[types.DocumentSymbol]:
    from framedex.text_stacks import Format

    left = MOST_SYMBOLS
    for stack in document.reading.stacks:
        if stack.format is Format.PLAIN or left <= 0:  # locations in plain text are not a stack
            continue
        frames = [frame for frame in stack.frames if not frame.is_alternative][:left]
        left -= len(frames) + 1
        first = document.lines[stack.first_line]
        yield types.DocumentSymbol(
            name=shorten(printable(stack.title or first.strip())) or str(stack.format),
            detail=f"{stack.format}, {words.count(len(stack.frames), 'frame')}",
            kind=types.SymbolKind.Event,
            range=stack_range(session, document, stack),
            selection_range=types.Range(
                types.Position(stack.first_line, 0), session.position_in(first, stack.first_line, len(first))
            ),
            children=[_frame(session, document, frame) for frame in frames],
        )


def _frame(session: Session, document: StackText, frame: TextFrame) -> types.DocumentSymbol:
    where = frame_range(session, document, frame)
    place = f"{frame.place.path}:{frame.place.line}" if frame.place else frame.module
    name = frame.function or place or (f"{frame.address:#x}" if frame.address is not None else "(unknown)")
    return types.DocumentSymbol(
        name=shorten(printable(name)),
        detail=printable(place),
        kind=types.SymbolKind.Function,
        range=where,
        selection_range=where,
    )


def _flat(stack: types.DocumentSymbol, uri: str) -> Iterator[types.SymbolInformation]:
    for frame in stack.children or ():
        yield types.SymbolInformation(
            location=types.Location(uri, frame.range), name=frame.name, kind=frame.kind, container_name=stack.name
        )
