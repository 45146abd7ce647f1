"""Back one frame: declaration on a line with recorded frames leads outward, to the line from which it was reached.

It is the way back of go to frame: on a line that an answer has led to, only the stacks count that led there. Frames of
the interpreter, glue, and frames without source are passed over. The function that an FFI handler was made from was
reached as the handler was. A line inside `jit` was reached while it was traced: back from it leads to the line that
called its function then, or that runs the program. Like go to frame it leads to one place, from which most calls came.
"""

from __future__ import annotations

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from framedex_server.answers.led import lead
from framedex_server.answers.session import Session
from framedex_server.answers.targets import Targets
from framedex_server.answers.ways import ways_out


def register(server: LanguageServer, session: Session) -> None:
    """Offer `textDocument/declaration`."""

    @server.feature(types.TEXT_DOCUMENT_DECLARATION)
    async def declaration(params: types.DeclarationParams) -> Targets:
        place = session.source_place(params.text_document, params.position)
        return await lead(server, session, place, types.TEXT_DOCUMENT_DECLARATION, ways_out) if place else None
