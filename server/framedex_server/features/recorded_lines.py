"""`framedex/recordedLines`: the recorded lines of a project file, for marks in an editor's gutter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer

from framedex.index.file.installed import is_own
from framedex_server.answers.costs import lens_costs
from framedex_server.answers.counted import ask_counted
from framedex_server.answers.marks import shown_marks
from framedex_server.answers.requests import Json, given
from framedex_server.answers.session import Session

if TYPE_CHECKING:
    from framedex.index import Index


def register(server: LanguageServer, session: Session) -> None:
    """Register the request."""

    @server.feature("framedex/recordedLines")
    async def recorded_lines(params: Any) -> Json | None:
        """Return the lines of a document; None for files of installed packages and files without recorded calls."""
        match given(params):
            case {"textDocument": {"uri": str(uri)}}:
                path = session.source_path(types.TextDocumentIdentifier(uri))
            case _:
                raise JsonRpcInvalidParams("textDocument is needed.")
        if path is None or not is_own(path):
            return None
        lines = await ask_counted(session, path, lambda index: _recorded(session, path, index))
        if not lines:
            return None
        _, hidden = await lens_costs(session, path)
        return {"lines": lines, "unshown": hidden}


def _recorded(session: Session, path: str, index: Index) -> list[Json]:
    return [
        {"line": session.documents.edits.shown_line(path, mark.line) - 1, "calls": mark.calls}
        for mark in shown_marks(session, path, index)
    ]
