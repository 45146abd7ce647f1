"""Semantic tokens of trace documents and logs: functions, paths, line numbers, binaries and labels of every frame.

The legend is part of the protocol between framedex and colour schemes: new types are only appended.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from framedex_server.answers.session import Session
from framedex_server.documents.stack_texts import StackText

if TYPE_CHECKING:
    from framedex.text_stacks import TextPart

LEGEND = types.SemanticTokensLegend(
    token_types=["function", "string", "number", "namespace", "keyword", "comment"], token_modifiers=[]
)

# `PartKind` values as text.
_TOKEN_TYPES = {
    "function": 0,
    "path": 1,
    "line": 2,
    "column": 2,
    "module": 3,
    "label": 4,
    "number": 5,
    "address": 5,
}

MAX_TOKENS = 50_000
"""Maximum number of tokens; for a longer document, editors request the visible range."""


def register(server: LanguageServer, session: Session) -> None:
    """Register `textDocument/semanticTokens`, for whole documents and ranges."""

    @server.feature(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, LEGEND)
    async def full_tokens(params: types.SemanticTokensParams) -> types.SemanticTokens | None:
        return await _find_tokens(session, params.text_document.uri, 0, None)

    @server.feature(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE, LEGEND)
    async def range_tokens(params: types.SemanticTokensRangeParams) -> types.SemanticTokens | None:
        where = params.range
        return await _find_tokens(session, params.text_document.uri, where.start.line, where.end.line)


async def _find_tokens(session: Session, uri: str, first: int, last: int | None) -> types.SemanticTokens | None:
    document = await session.texts.parse(uri)
    if document is None:
        return None
    end = len(document.lines) if last is None else last
    return await session.texts.run(
        lambda: types.SemanticTokens(list(_encode(session, document, _find_parts(document, first, end))))
    )


def _find_parts(document: StackText, first: int, last: int) -> list[TextPart]:
    parts = [
        part
        for stack in document.reading.stacks
        if stack.first_line <= last and stack.last_line >= first
        for frame in stack.frames
        for part in frame.parts
        if first <= part.line <= last
    ]
    return sorted(set(parts), key=lambda part: (part.line, part.start))[:MAX_TOKENS]


def _encode(session: Session, document: StackText, parts: Iterable[TextPart]) -> Iterator[int]:
    """Yield five numbers per token, relative to the previous token; overlapping tokens are dropped."""
    line = start = end = 0
    for part in parts:
        text = document.lines[part.line]
        begin = session.position_in(text, part.line, part.start).character
        stop = session.position_in(text, part.line, part.end).character
        if part.line == line and begin < end:
            continue
        yield from (
            part.line - line,
            begin - (start if part.line == line else 0),
            stop - begin,
            _TOKEN_TYPES[part.kind],
            0,
        )
        line, start, end = part.line, begin, stop
