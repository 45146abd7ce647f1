"""References across the language border: from a handler's C++ source, or an `ffi_call`, to all lines that call it.

On any other line nothing is returned, so that pyright's and clangd's references stand alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from framedex_server.documents.open_documents import is_source
from framedex_server.features.session import Place, Session

if TYPE_CHECKING:
    from framedex.index import Index


def register(server: LanguageServer, session: Session) -> None:
    """Offer `textDocument/references`."""

    @server.feature(types.TEXT_DOCUMENT_REFERENCES)
    async def references(params: types.ReferenceParams) -> list[types.Location] | None:
        place = session.place(params.text_document, params.position)
        if place is None or session.documents.is_trace(place.uri):
            return None
        return await session.ask_at(place, lambda index: sites(session, place, index))


def sites(session: Session, place: Place, index: Index) -> list[types.Location] | None:
    """The lines of Python that call the FFI targets which a line has to do with."""
    lines = [
        (site.lines[0].location.path, site.lines[0].location.line)
        for use in index.ffi_uses(place.path, place.line)
        for site in use.sites
        if site.lines and is_source(site.lines[0].location.path)
    ]
    found = [
        types.Location(session.documents.uri_of(path), session.line_range(path, line))
        for path, line in dict.fromkeys(lines)
    ]
    return found or None
