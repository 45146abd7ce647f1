"""Inlay hints at the end of recorded lines: number and duration of calls. Off by default."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from framedex.plaintext import printable
from framedex.words import count, duration
from framedex_server.answers.counted import ask_counted, counted_text
from framedex_server.answers.marks import shown_marks
from framedex_server.answers.session import Session
from framedex_server.answers.since import doubt_about, words_since
from framedex_server.markup import shorten

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.model import LineMark

MOST_NAMED = 8
"""Maximum number of boundary functions in a hint's tooltip."""


def register(server: LanguageServer, session: Session) -> None:
    """Register `textDocument/inlayHint`."""

    @server.feature(types.TEXT_DOCUMENT_INLAY_HINT)
    async def hints(params: types.InlayHintParams) -> list[types.InlayHint] | None:
        path = session.source_path(params.text_document)
        if path is None or not session.settings_at(path).inlay_hints:
            return None
        edits = session.documents.edits
        first, last = (edits.nearest_saved_line(path, at.line + 1) for at in (params.range.start, params.range.end))
        return await ask_counted(session, path, lambda index: on_lines(session, path, first, last, index))


def on_lines(session: Session, path: str, first: int, last: int, index: Index) -> list[types.InlayHint]:
    """Return a hint for each recorded line between two lines of a file."""
    return [_hint(session, path, mark, index) for mark in shown_marks(session, path, index, first, last)]


def _hint(session: Session, path: str, mark: LineMark, index: Index) -> types.InlayHint:
    names = [shorten(printable(name)) for name in mark.boundaries[:MOST_NAMED]]
    return types.InlayHint(
        position=session.line_range(path, mark.line).end,
        label=f"{count(mark.calls, 'call')}, {duration(mark.duration)}{doubt_about(index, path, mark.line)}",
        tooltip="\n".join([*words_since(index, path, mark.line), *names, counted_text(session, index, path)]),
        padding_left=True,
    )
