"""Virtual trace documents: the `framedex-trace:` scheme, and requests for a trace as text or as Markdown.

`framedex-trace:/home/me/project/call-17.fdtrace` is the trace of call 17 in the index of that folder, or in the index
that answers for a file in it. `.../stack-5.fdtrace` is the trace of the latest call with stack 5. For the folder of an
installed library that may be the workspace's index. A folder that does not exist has no trace documents. Clients of
LSP 3.18 request the text by `workspace/textDocumentContent`; for other clients `framedex/traceDocument` returns it.

The command `framedex.openTrace` writes the trace next to the index (`.framedex/traces/call-61.fdtrace`), so that every
editor can open it.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote, urlsplit

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer

from framedex.base.plaintext import make_printable
from framedex_server.answers.ffi import resolve_registration
from framedex_server.answers.requests import (
    Json,
    find_document,
    parse_integer,
    parse_optional_integer,
    parse_params,
    parse_position,
    query_contents,
    show_message,
)
from framedex_server.answers.session import RequestPosition, Session
from framedex_server.answers.why import explain_empty_answer
from framedex_server.documents.open_documents import TRACE_LANGUAGE, TRACE_SUFFIX, to_path
from framedex_server.protocol import OPEN_TRACE

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
            raise JsonRpcInvalidParams(
                f"Invalid trace URI: use {SCHEME}:/FOLDER/call-ID.fdtrace or {SCHEME}:/FOLDER/stack-ID.fdtrace."
            )
        neighbour = str(path) if path.is_absolute() else session.default_document()
        if not os.path.isdir(os.path.dirname(neighbour)):  # noqa: PTH112, PTH120 - a URI may be an invalid path
            raise JsonRpcInvalidParams(
                f"The folder {make_printable(str(path.parent))} does not exist, so it has no index."
            )
        document = Path(neighbour)
        # Include the index of a project outside the workspace, unless the user has named another.
        own = document.parent / ".framedex" / "index.db"
        text = await session.indexes.query(
            document,
            lambda index: _format_text(index, match["kind"], int(match["id"])),
            likeliest=own if session.indexes.find_for_folder(document.parent) == own else None,
        )
        if text is None:
            raise JsonRpcInvalidParams(f"The index has no {match['kind']} {match['id']}.")
        return types.TextDocumentContentResult(text)

    def refresh() -> None:
        """Have the client reload the open trace documents, which may have more locations now."""
        workspace = server.client_capabilities.workspace
        if workspace is not None and workspace.text_document_content is not None:
            for uri in server.workspace.text_documents:
                if urlsplit(uri).scheme == SCHEME:
                    server.workspace_text_document_content_refresh(types.TextDocumentContentRefreshParams(uri))

    session.on_refresh.append(refresh)

    @server.feature("framedex/traceDocument")
    async def trace_document(params: Any) -> Json | None:
        """Return the requested trace (see `_find_requested`) as a document; null if there is none."""
        parameters = parse_params(params)
        return await query_contents(
            session,
            parameters,
            _make_query(session, parameters, lambda trace: _build_document_json(session, parameters, trace)),
        )

    @server.feature("framedex/traceMarkdown")
    async def trace_markdown(params: Any) -> Json | None:
        """Return the requested trace as Markdown, to paste into an issue or a chat."""
        parameters = parse_params(params)
        return await query_contents(
            session, parameters, _make_query(session, parameters, lambda trace: _build_markdown_json(session, trace))
        )


def _make_query(session: Session, parameters: Json, to_json: Callable[[Trace], Json]) -> Callable[[Index], Json | None]:
    """Return a query that formats the requested trace with `to_json`; its result is None without a trace."""
    find_trace = _find_requested(session, parameters)

    def query(index: Index) -> Json | None:
        trace = find_trace(index)
        return None if trace is None else to_json(trace)

    return query


def _find_requested(session: Session, parameters: Json) -> Callable[[Index], Trace | None]:
    """Return a query for the trace of a `call`, of a `stack`'s latest call (both by id), or of a `position`.

    At a position, the stack that took longest is chosen. `textDocument` or `folder` selects the index. `capture` (an
    id) restricts the result to calls of that capture.
    """
    capture = parse_optional_integer(parameters, "capture")
    if parameters.get("position") is not None:
        position = parse_position(parameters)
        place = session.request_position(position.text_document, position.position)

        def find(index: Index) -> Trace | None:
            call = find_latest_call(session, index, place) if place is not None else None
            return None if call is None else index.calls.trace(call)

    elif parameters.get("stack") is not None:
        stack = parse_integer(parameters, "stack")

        def find(index: Index) -> Trace | None:
            return index.calls.trace_of_stack(stack)

    else:
        call = parse_integer(parameters, "call")

        def find(index: Index) -> Trace | None:
            return index.calls.trace(call)

    def find_in_capture(index: Index) -> Trace | None:
        trace = find(index)
        return trace if trace is None or capture is None or trace.call.capture == capture else None

    return find_in_capture


def _build_document_json(session: Session, parameters: Json, trace: Trace) -> Json:
    from framedex.texts.traces import format_trace

    name = f"call-{trace.call.id}" if parameters.get("stack") is None else f"stack-{parameters['stack']}"
    folder = PurePosixPath(find_document(session, parameters)).parent
    return {
        "uri": f"{SCHEME}:{quote(str(folder / f'{name}.fdtrace'), errors='replace')}",
        "languageId": TRACE_LANGUAGE,
        "text": format_trace(trace),
    }


def _build_markdown_json(session: Session, trace: Trace) -> Json:
    from framedex_server.documents.trace_markdown import format_markdown

    return {"text": format_markdown(trace, session.documents.uri_of)}


def _format_text(index: Index, kind: str, identifier: int) -> str | None:
    from framedex.texts.traces import format_trace

    trace = index.calls.trace(identifier) if kind == "call" else index.calls.trace_of_stack(identifier)
    return None if trace is None else format_trace(trace)


def register_open_trace(server: LanguageServer, session: Session) -> None:
    """Register `framedex.openTrace`, with a document and position, and optionally a call's id."""

    @server.command(OPEN_TRACE)
    async def open_trace(parameters: Any = None) -> str | None:
        wanted = parameters if isinstance(parameters, dict) else {}
        params = parse_position(wanted)
        call = wanted.get("call")
        place = session.request_position(params.text_document, params.position)
        if to_path(params.text_document.uri) is None or not isinstance(call, int | None):
            raise JsonRpcInvalidParams(
                f"{OPEN_TRACE} needs an object: textDocument, position, optionally call (an id)."
            )
        written: Path | None = None
        try:
            if place is not None:
                written = await session.query_at(
                    place,
                    lambda index: _write_trace(
                        index, find_latest_call(session, index, place) if call is None else call
                    ),
                )
        except OSError as error:
            show_message(server, f"framedex: Cannot write the trace: {error.strerror}.")
            return None
        if written is None:
            show_message(server, f"framedex: {(await explain_empty_answer(session, wanted, OPEN_TRACE))['text']}")
            return None
        uri = written.as_uri()
        if session.shows_documents:
            server.window_show_document(types.ShowDocumentParams(uri, take_focus=True))
        return uri


def _write_trace(index: Index, call: int | None) -> Path | None:
    from framedex.texts.traces import format_trace

    trace = index.calls.trace(call) if call is not None else None
    if trace is None:
        return None
    path = index.path.parent / "traces" / f"call-{trace.call.id}{TRACE_SUFFIX}"
    path.parent.mkdir(exist_ok=True)
    # The folder may have come with the project and contain a link to one of the user's files: create a new file.
    if path.parent.is_symlink():
        raise OSError(errno.ELOOP, f"{path.parent} is a link")
    path.unlink(missing_ok=True)
    with path.open("x", encoding="utf-8", errors="replace") as file:
        file.write(format_trace(trace))
    return path


def find_latest_call(session: Session, index: Index, position: RequestPosition) -> int | None:
    """Return the latest call of the longest stack through a line, else through the function around it.

    If only captures outside the selection executed the line, return None: a call of another line would be misleading.
    """
    position = resolve_registration(session, index, position)
    path, line = position.path, position.line
    hits = session.selection.stacks_through(index, path, line)
    asked = index.line(path, line)
    if not hits and asked.summary() is None:
        functions = asked.functions()
        lines = [function.location.line for function in functions if function.location]
        extent = [function.end_line for function in functions]
        marks = index.file(path).marks(min(lines, default=line), max(extent, default=line))
        busiest = max(marks, key=lambda mark: mark.calls, default=None)
        hits = session.selection.stacks_through(index, path, busiest.line) if busiest else []
    return hits[0].latest_call if hits else None
