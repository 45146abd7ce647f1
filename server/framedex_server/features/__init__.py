"""One LSP feature per file: each has a `register(server, session)`; `ALL` is what the server offers."""

from __future__ import annotations

from collections.abc import Callable

from pygls.lsp.server import LanguageServer

from framedex_server.answers.session import Session
from framedex_server.features import (
    activity,
    call_hierarchy,
    calls_through,
    captures,
    code_action,
    code_lens,
    configuration,
    declaration,
    definition,
    diagnostics,
    document_highlight,
    document_link,
    document_symbol,
    flame_graph,
    folding_range,
    hover,
    implementation,
    indexing,
    inlay_hint,
    open_public,
    open_trace,
    references,
    resolve_frame,
    selection_range,
    semantic_tokens,
    steps,
    trace_document,
    watching,
    why,
    workspace_symbol,
)

ALL: tuple[Callable[[LanguageServer, Session], None], ...] = (
    definition.register,
    declaration.register,
    implementation.register,
    references.register,
    hover.register,
    call_hierarchy.register,
    document_highlight.register,
    code_lens.register,
    code_action.register,
    inlay_hint.register,
    diagnostics.register,
    captures.register,
    activity.register,
    flame_graph.register,
    steps.register,
    calls_through.register,
    open_trace.register,
    open_public.register,
    trace_document.register,
    why.register,
    resolve_frame.register,
    document_symbol.register,
    folding_range.register,
    semantic_tokens.register,
    document_link.register,
    selection_range.register,
    workspace_symbol.register,
    configuration.register,
    watching.register,
    indexing.register,
)
