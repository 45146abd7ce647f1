"""Back one frame: declaration on a line with recorded frames leads outward, to the calling line.

It reverses go to frame: on a line that an answer led to, it follows only the stacks that led there. Frames of the
interpreter, glue, and frames without source are skipped. An FFI handler's implementation has the callers of the
handler. Back from a line inside `jit` leads to the line that called its function during tracing, or that runs the
program. Like go to frame it leads to one location, the one with most calls.
"""

from __future__ import annotations

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from framedex_server.answers.led import lead
from framedex_server.answers.session import Session
from framedex_server.answers.targets import Targets
from framedex_server.answers.ways import ways_out


def register(server: LanguageServer, session: Session) -> None:
    """Register `textDocument/declaration`."""

    @server.feature(types.TEXT_DOCUMENT_DECLARATION)
    async def declaration(params: types.DeclarationParams) -> Targets:
        place = session.source_place(params.text_document, params.position)
        return await lead(server, session, place, types.TEXT_DOCUMENT_DECLARATION, ways_out) if place else None
