"""Diagnostics, as hints, only for what is wrong with the data: never for what a program does.

A file that changed after it was recorded, calls into a binary without symbols, an `ffi_call` whose runs may be of
another one. Clients that ask are answered; to the others they are sent when a document is opened, and when it
has changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from framedex.plaintext import printable
from framedex_server.answers.session import Session
from framedex_server.documents.open_documents import path_of

if TYPE_CHECKING:
    from framedex.index import Index

SOURCE = "framedex"


def register(server: LanguageServer, session: Session) -> None:
    """Offer `textDocument/diagnostic`, and send diagnostics to clients that do not ask."""
    options = types.DiagnosticOptions(inter_file_dependencies=False, workspace_diagnostics=False, identifier=SOURCE)

    @server.feature(types.TEXT_DOCUMENT_DIAGNOSTIC, options)
    async def pull(params: types.DocumentDiagnosticParams) -> types.RelatedFullDocumentDiagnosticReport:
        return types.RelatedFullDocumentDiagnosticReport(await _of_document(session, params.text_document.uri))

    shown: set[str] = set()

    async def opened(uri: str) -> None:
        shown.add(uri)
        await _push(server, session, uri)

    async def changed(paths: Sequence[str]) -> None:
        for uri in shown.intersection(map(session.documents.uri_of, paths)):
            await _push(server, session, uri)

    session.at_document.append(opened)
    session.at_changed_sources.append(changed)


async def _push(server: LanguageServer, session: Session, uri: str) -> None:
    """Send the diagnostics of a document to a client that takes them, but does not ask."""
    text_document = server.client_capabilities.text_document
    if text_document and text_document.publish_diagnostics and not text_document.diagnostic:
        found = await _of_document(session, uri)
        server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, found))


async def _of_document(session: Session, uri: str) -> list[types.Diagnostic]:
    path = path_of(uri)
    if path is None or session.documents.is_trace(uri):
        return []
    return await session.ask(path, lambda index: of_file(session, path, index)) or []


def of_file(session: Session, path: str, index: Index) -> list[types.Diagnostic]:
    """What is wrong with the data about a file."""
    return [
        types.Diagnostic(
            range=session.line_range(path, trouble.line),
            message=printable(trouble.message),
            severity=types.DiagnosticSeverity.Hint,
            code=trouble.kind,
            source=SOURCE,
        )
        for trouble in index.file(path).troubles()[: session.settings_at(path).limit]
    ]
