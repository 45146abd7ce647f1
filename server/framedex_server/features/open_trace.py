"""The command `framedex.openTrace`: the trace of a call, or of the latest call through a line, as a document.

The document is written next to the index (`.framedex/traces/call-61.fdtrace`), so that every editor can open it.
"""

from __future__ import annotations

import errno
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer

from framedex_server.answers.requests import position_in, tell
from framedex_server.answers.session import Session
from framedex_server.answers.traces import latest_call
from framedex_server.answers.why import why_nothing
from framedex_server.documents.open_documents import TRACE_SUFFIX, path_of
from framedex_server.protocol import OPEN_TRACE

if TYPE_CHECKING:
    from framedex.index import Index


def register(server: LanguageServer, session: Session) -> None:
    """Register `framedex.openTrace`, with a document and position, and optionally a call's id."""

    @server.command(OPEN_TRACE)
    async def open_trace(about: Any = None) -> str | None:
        wanted = about if isinstance(about, dict) else {}
        params = position_in(wanted)
        call = wanted.get("call")
        place = session.place(params.text_document, params.position)
        if path_of(params.text_document.uri) is None or not isinstance(call, int | None):
            raise JsonRpcInvalidParams(f"{OPEN_TRACE} takes one object: textDocument, position, and maybe a call.")
        written: Path | None = None
        try:
            if place is not None:
                written = await session.ask_at(
                    place,
                    lambda index: _write(index, latest_call(session, index, place) if call is None else call),
                )
        except OSError as error:
            tell(server, f"framedex: The trace could not be written: {error.strerror}.")
            return None
        if written is None:
            tell(server, f"framedex: {(await why_nothing(session, wanted, OPEN_TRACE))['text']}")
            return None
        uri = written.as_uri()
        if session.shows_documents:
            server.window_show_document(types.ShowDocumentParams(uri, take_focus=True))
        return uri


def _write(index: Index, call: int | None) -> Path | None:
    from framedex.tracetext import format_trace

    trace = index.calls.trace(call) if call is not None else None
    if trace is None:
        return None
    path = index.path.parent / "traces" / f"call-{trace.call.id}{TRACE_SUFFIX}"
    path.parent.mkdir(exist_ok=True)
    # Create a new file: the folder may have come with the project, with a link to one of the user's files.
    if path.parent.is_symlink():
        raise OSError(errno.ELOOP, f"{path.parent} is a link")
    path.unlink(missing_ok=True)
    with path.open("x", encoding="utf-8", errors="replace") as file:
        file.write(format_trace(trace))
    return path
