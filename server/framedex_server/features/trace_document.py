"""Virtual trace documents: the `framedex-trace:` scheme, and requests for a trace as text or as Markdown.

`framedex-trace:/home/me/project/call-17.fdtrace` is the trace of call 17 in the index of that folder, or in the index
that answers for a file in it. `.../stack-5.fdtrace` is the trace of the latest call with stack 5. For the folder of an
installed library that may be the workspace's index. A folder that does not exist has no trace documents. Clients of
LSP 3.18 request the text by `workspace/textDocumentContent`; for others the request returns the same text.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote, urlsplit

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer

from framedex.plaintext import printable
from framedex_server.answers.requests import (
    Json,
    ask_contents,
    document_in,
    given,
    integer_in,
    optional_integer_in,
    position_in,
)
from framedex_server.answers.session import Session
from framedex_server.answers.traces import latest_call
from framedex_server.documents.open_documents import TRACE_LANGUAGE

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.model import Trace

SCHEME = "framedex-trace"

_NAME = re.compile(r"(?P<kind>call|stack)-(?P<id>\d{1,18})\.fdtrace")


def register(server: LanguageServer, session: Session) -> None:
    """Register the content of virtual documents, and the requests."""

    @server.feature(types.WORKSPACE_TEXT_DOCUMENT_CONTENT, types.TextDocumentContentOptions(schemes=[SCHEME]))
    async def content(params: types.TextDocumentContentParams) -> types.TextDocumentContentResult:
        parts = urlsplit(params.uri)
        path = PurePosixPath(unquote(parts.path))
        match = _NAME.fullmatch(path.name)
        if parts.scheme != SCHEME or match is None:
            raise JsonRpcInvalidParams(f"{SCHEME}:/FOLDER/call-ID.fdtrace or /FOLDER/stack-ID.fdtrace is needed.")
        beside = str(path) if path.is_absolute() else session.any_document()
        if not os.path.isdir(os.path.dirname(beside)):  # noqa: PTH112, PTH120 - a URI may be no valid path
            raise JsonRpcInvalidParams(f"There is no folder {printable(str(path.parent))}, so no index answers for it.")
        document = Path(beside)
        # Include the index of a project outside the workspace, unless the user has named another.
        own = document.parent / ".framedex" / "index.db"
        text = await session.indexes.ask(
            document,
            lambda index: _text(index, match["kind"], int(match["id"])),
            likeliest=own if session.indexes.of_folder(document.parent) == own else None,
        )
        if text is None:
            raise JsonRpcInvalidParams(f"There is no {match['kind']} {match['id']} in the index.")
        return types.TextDocumentContentResult(text)

    def refresh() -> None:
        """Have the client reload the open trace documents: more locations may be known now."""
        workspace = server.client_capabilities.workspace
        if workspace is not None and workspace.text_document_content is not None:
            for uri in server.workspace.text_documents:
                if urlsplit(uri).scheme == SCHEME:
                    server.workspace_text_document_content_refresh(types.TextDocumentContentRefreshParams(uri))

    session.at_refresh.append(refresh)

    @server.feature("framedex/traceDocument")
    async def trace_document(params: Any) -> Json | None:
        """Return the requested trace (see `_meant`) as a document; null if there is none."""
        about = given(params)
        return await ask_contents(
            session, about, _answer(session, about, lambda trace: _document(session, about, trace))
        )

    @server.feature("framedex/traceMarkdown")
    async def trace_markdown(params: Any) -> Json | None:
        """Return the requested trace as Markdown, to paste into an issue or a chat."""
        about = given(params)
        return await ask_contents(session, about, _answer(session, about, lambda trace: _markdown(session, trace)))


def _answer(session: Session, about: Json, shown: Callable[[Trace], Json]) -> Callable[[Index], Json | None]:
    """Return a query that formats the requested trace with `shown`; its result is None without a trace."""
    meant = _meant(session, about)

    def answer(index: Index) -> Json | None:
        trace = meant(index)
        return None if trace is None else shown(trace)

    return answer


def _meant(session: Session, about: Json) -> Callable[[Index], Trace | None]:
    """Return a query for the trace of a `call`, of a `stack`'s latest call (both by id), or of a `position`.

    At a position it is the trace of the stack that took longest. `textDocument` or `folder` selects the index.
    `capture`
    (an id) restricts the result to calls of that capture.
    """
    capture = optional_integer_in(about, "capture")
    if about.get("position") is not None:
        position = position_in(about)
        place = session.place(position.text_document, position.position)

        def find(index: Index) -> Trace | None:
            call = latest_call(session, index, place) if place is not None else None
            return None if call is None else index.calls.trace(call)

    elif about.get("stack") is not None:
        stack = integer_in(about, "stack")

        def find(index: Index) -> Trace | None:
            return index.calls.trace_of_stack(stack)

    else:
        call = integer_in(about, "call")

        def find(index: Index) -> Trace | None:
            return index.calls.trace(call)

    def of_capture(index: Index) -> Trace | None:
        trace = find(index)
        return trace if trace is None or capture is None or trace.call.capture == capture else None

    return of_capture


def _document(session: Session, about: Json, trace: Trace) -> Json:
    from framedex.tracetext import format_trace

    name = f"call-{trace.call.id}" if about.get("stack") is None else f"stack-{about['stack']}"
    folder = PurePosixPath(document_in(session, about)).parent
    return {
        "uri": f"{SCHEME}:{quote(str(folder / f'{name}.fdtrace'), errors='replace')}",
        "languageId": TRACE_LANGUAGE,
        "text": format_trace(trace),
    }


def _markdown(session: Session, trace: Trace) -> Json:
    from framedex_server.documents.trace_markdown import format_markdown

    return {"text": format_markdown(trace, session.documents.uri_of)}


def _text(index: Index, kind: str, identifier: int) -> str | None:
    from framedex.tracetext import format_trace

    trace = index.calls.trace(identifier) if kind == "call" else index.calls.trace_of_stack(identifier)
    return None if trace is None else format_trace(trace)
