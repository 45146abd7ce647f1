"""Diagnostics: hints about problems of the data and, if the settings say so, the costs of lines.

Problems: a file that changed after the recording, calls into a binary without symbols, an `ffi_call` whose runs may
belong to another one. Off by default: lines that recompile, transfer data implicitly, hold memory, or wait. Each cost
has a setting for its severity.

Clients that support pull diagnostics request them. Other clients get them when a document is opened, and when the
document, the index or the settings changed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from framedex.base.plaintext import make_printable
from framedex_server.answers.costs import LineCost, find_file_costs, select_answers
from framedex_server.answers.session import Session
from framedex_server.documents.open_documents import to_path
from framedex_server.settings import OFF, EditorSettings

if TYPE_CHECKING:
    from framedex.index import Index

SOURCE = "framedex"


def register(server: LanguageServer, session: Session) -> None:
    """Register `textDocument/diagnostic`, and send diagnostics to clients that do not pull."""
    options = types.DiagnosticOptions(inter_file_dependencies=False, workspace_diagnostics=False, identifier=SOURCE)

    @server.feature(types.TEXT_DOCUMENT_DIAGNOSTIC, options)
    async def pull_diagnostics(params: types.DocumentDiagnosticParams) -> types.RelatedFullDocumentDiagnosticReport:
        return types.RelatedFullDocumentDiagnosticReport(await _find_diagnostics(session, params.text_document.uri))

    shown: set[str] = set()

    async def on_open(uri: str) -> None:
        shown.add(uri)
        await _push(server, session, uri)

    async def on_files_change(paths: Sequence[str]) -> None:
        for uri in shown.intersection(map(session.documents.uri_of, paths)):
            await _push(server, session, uri)

    pushing: set[asyncio.Task[None]] = set()

    def refresh() -> None:
        shown.difference_update([uri for uri in shown if not session.documents.is_open(uri)])
        for uri in shown if _supports_push_only(server) else ():
            task = asyncio.ensure_future(_push(server, session, uri))
            pushing.add(task)
            task.add_done_callback(pushing.discard)

    session.on_document_open.append(on_open)
    session.on_sources_change.append(on_files_change)
    session.on_refresh.append(refresh)


async def _push(server: LanguageServer, session: Session, uri: str) -> None:
    """Send the diagnostics of a document to a client that supports only push."""
    if _supports_push_only(server):
        found = await _find_diagnostics(session, uri)
        server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, found))


def _supports_push_only(server: LanguageServer) -> bool:
    text_document = server.client_capabilities.text_document
    return bool(text_document and text_document.publish_diagnostics and not text_document.diagnostic)


async def _find_diagnostics(session: Session, uri: str) -> list[types.Diagnostic]:
    path = to_path(uri)
    if path is None or session.documents.is_trace(uri):
        return []
    troubles = await session.query(path, lambda index: find_problems(session, path, index)) or []
    settings = session.settings_for(path)
    answers = [
        each for each in select_answers(settings, "diagnostics") if find_severity(settings, each.name) is not None
    ]
    costs = await find_file_costs(session, path, answers)
    remarkable = [(line, cost) for line, cost in costs if cost.is_remarkable][: session.settings_for(path).limit]
    return [*troubles, *(_make_cost_diagnostic(session, path, line, cost) for line, cost in remarkable)]


def find_severity(settings: EditorSettings, answer: str) -> types.DiagnosticSeverity | None:
    """Return the severity of an answer's diagnostics; None if the settings switch them off."""
    severity: str = getattr(settings, f"{answer}_severity")
    return None if severity == OFF else types.DiagnosticSeverity[severity.capitalize()]


def find_problems(session: Session, path: str, index: Index) -> list[types.Diagnostic]:
    """Return hints about problems of a file's data."""
    return [
        types.Diagnostic(
            range=session.line_range(path, trouble.line),
            message=make_printable(trouble.message),
            severity=types.DiagnosticSeverity.Hint,
            code=trouble.kind,
            source=SOURCE,
        )
        for trouble in index.file(path).troubles()[: session.settings_for(path).limit]
    ]


def _make_cost_diagnostic(session: Session, path: str, line: int, cost: LineCost) -> types.Diagnostic:
    return types.Diagnostic(
        range=session.line_range(path, line),
        message="\n".join([cost.text, *cost.details]),
        severity=find_severity(session.settings_for(path), cost.answer.name),
        code=cost.answer.name,
        source=SOURCE,
    )
