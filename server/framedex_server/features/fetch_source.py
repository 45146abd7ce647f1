"""`framedex.fetchSource`: fetch the sources of a public frame, and show the frame's line.

A fetch needs the user's consent: the question names the commit, the address, the size and the folder. The address may
come from a hostile folder's settings (`mirrors`), so the question says so. A separate process fetches into the cache of
`framedex sources fetch`; the user can cancel it, and the next fetch continues.
"""

from __future__ import annotations

from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer

from framedex.base.errors import FramedexError
from framedex.base.plaintext import make_printable
from framedex_server.answers.progress import run_with_progress
from framedex_server.answers.remote_sources import FetchableSource, find_fetchable_source, find_fetched_line
from framedex_server.answers.requests import find_document, parse_params, show_message
from framedex_server.answers.session import Session
from framedex_server.jobs import IndexingWorker
from framedex_server.markup import break_links
from framedex_server.protocol import FETCH_SOURCE

FETCH_TITLE = "Fetch"
"""The title of the question's button."""


def register(server: LanguageServer, session: Session) -> None:
    """Register `framedex.fetchSource`, with a document and the address of a public line."""
    worker = IndexingWorker(session.roots)  # of its own, because indexing must not wait for a download
    session.on_end.append(worker.close)

    @server.command(FETCH_SOURCE)
    async def fetch_source(parameters: Any = None) -> None:
        source = _parse_source(session, parameters)
        try:
            if find_fetched_line(source.line) is None and not await _fetch(server, worker, source):
                return
        except FramedexError as error:
            session.report(error)
            return
        session.refresh_views()
        _show_line(server, session, source)


def _parse_source(session: Session, parameters: Any) -> FetchableSource:
    match params := parse_params(parameters):
        case {"textDocument": {"uri": str()}, "url": str(url)}:
            source = find_fetchable_source(session, find_document(session, params), url)
            if source is not None:
                return source
    raise JsonRpcInvalidParams(f"{FETCH_SOURCE} needs a textDocument and the url of a line at a commit of XLA or JAX.")


async def _fetch(server: LanguageServer, worker: IndexingWorker, source: FetchableSource) -> bool:
    """Fetch the sources if the user agrees; return whether that was done. Raises FramedexError."""
    wanted = source.wanted
    question = types.ShowMessageRequestParams(
        types.MessageType.Info, break_links(_format_question(source)), [types.MessageActionItem(FETCH_TITLE)]
    )
    answer = await server.window_show_message_request_async(question)
    if answer is None or answer.title != FETCH_TITLE:
        return False
    request = {"do": "fetch", "component": wanted.component, "commit": wanted.commit, "address": source.address}
    await run_with_progress(server, f"framedex: fetching {wanted.title}", lambda report: worker.run(request, report))
    return True


def _format_question(source: FetchableSource) -> str:
    from framedex.sources.fetching.cache import SourceCache

    cache, wanted = SourceCache.default(), source.wanted
    is_first = not cache.store(wanted.component).is_dir()
    mirror = ", a mirror that this folder's settings name" if source.is_mirror else ""
    return (
        f"framedex: Fetch the sources of {wanted.title} from {make_printable(source.address)}{mirror}?"
        f" That is {wanted.size(is_first=is_first)}, in {make_printable(str(cache.folder))}, for all projects."
    )


def _show_line(server: LanguageServer, session: Session, source: FetchableSource) -> None:
    found = find_fetched_line(source.line)
    if found is None:
        show_message(server, f"framedex: {source.wanted.title} does not have {make_printable(source.line.path)}.")
    elif session.shows_documents:
        position = types.Position(found.line - 1, 0)
        uri = session.documents.uri_of(found.path)
        server.window_show_document(
            types.ShowDocumentParams(uri, take_focus=True, selection=types.Range(position, position))
        )
    else:
        show_message(server, f"framedex: The line is {make_printable(found.path)}:{found.line}.")
