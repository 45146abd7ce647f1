"""Trace documents that are no files: `framedex-trace:` documents, and the request `framedex/traceDocument`.

`framedex-trace:/home/me/project/call-17.fdtrace` is the trace of call 17 in the index that answers for a file of that
folder, `.../stack-5.fdtrace` that of the latest call with stack 5. Clients of LSP 3.18 ask for its text by
`workspace/textDocumentContent`; for others the request has the same text.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote, urlsplit

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer

from framedex_server.documents.open_documents import TRACE_LANGUAGE, path_of
from framedex_server.features.requests import Json, integer_in
from framedex_server.features.session import Session

if TYPE_CHECKING:
    from framedex.index import Index

SCHEME = "framedex-trace"

_NAME = re.compile(r"(?P<kind>call|stack)-(?P<id>\d{1,18})\.fdtrace")


def register(server: LanguageServer, session: Session) -> None:
    """Offer the content of virtual documents, and the request."""

    @server.feature(types.WORKSPACE_TEXT_DOCUMENT_CONTENT, types.TextDocumentContentOptions(schemes=[SCHEME]))
    async def content(params: types.TextDocumentContentParams) -> types.TextDocumentContentResult:
        parts = urlsplit(params.uri)
        path = PurePosixPath(unquote(parts.path))
        match = _NAME.fullmatch(path.name)
        if parts.scheme != SCHEME or match is None:
            raise JsonRpcInvalidParams(f"{SCHEME}:/FOLDER/call-ID.fdtrace or /FOLDER/stack-ID.fdtrace is needed.")
        beside = str(path) if path.is_absolute() else session.any_document()
        text = await session.ask(beside, lambda index: _text(index, match["kind"], int(match["id"])))
        if text is None:
            raise JsonRpcInvalidParams(f"There is no {match['kind']} {match['id']} in the index.")
        return types.TextDocumentContentResult(text)

    @server.feature("framedex/traceDocument")
    async def trace_document(params: Any) -> Json | None:
        """The trace of a `call` or of a `stack`'s latest call, both by id; null where there is none.

        `textDocument` says which index is meant, `capture` (an id) that the call has to be of that capture.
        """
        given = params if isinstance(params, dict) else {}
        kind = "stack" if given.get("stack") is not None else "call"
        wanted = integer_in(given, kind)
        capture = integer_in(given, "capture") if given.get("capture") is not None else None
        match given.get("textDocument"):
            case {"uri": str(uri)}:
                about = path_of(uri) or session.any_document()
            case _:
                about = session.any_document()
        text = await session.ask(about, lambda index: _text(index, kind, wanted, capture))
        if text is None:
            return None
        folder = PurePosixPath(about).parent
        return {
            "uri": f"{SCHEME}:{quote(str(folder / f'{kind}-{wanted}.fdtrace'), errors='replace')}",
            "languageId": TRACE_LANGUAGE,
            "text": text,
        }


def _text(index: Index, kind: str, identifier: int, capture: int | None = None) -> str | None:
    from framedex.tracetext import format_trace

    trace = index.trace(identifier) if kind == "call" else index.stack_trace(identifier)
    if trace is None or (capture is not None and trace.call.capture != capture):
        return None
    return format_trace(trace)
