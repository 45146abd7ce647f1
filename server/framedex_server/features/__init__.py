"""The LSP features and framedex's own requests. `ALL` lists the functions that register them."""

from __future__ import annotations

from collections.abc import Callable

from pygls.lsp.server import LanguageServer

from framedex_server.answers.session import Session
from framedex_server.features import (
    browser_pages,
    call_hierarchy,
    capture_contents,
    captures,
    client_changes,
    code_action,
    costs,
    diagnostics,
    document_link,
    document_outline,
    fetch_source,
    hover,
    indexing,
    line_marks,
    line_requests,
    navigation,
    resolve_frame,
    semantic_tokens,
    steps,
    trace_document,
    workspace_symbol,
)

ALL: tuple[Callable[[LanguageServer, Session], None], ...] = (
    navigation.register_definition,
    navigation.register_declaration,
    navigation.register_implementation,
    navigation.register_references,
    hover.register,
    call_hierarchy.register,
    steps.register_highlights,
    line_marks.register_code_lenses,
    code_action.register,
    line_marks.register_inlay_hints,
    diagnostics.register,
    captures.register,
    captures.register_line_comparison,
    capture_contents.register,
    costs.register,
    capture_contents.register_flame_graphs,
    steps.register,
    line_requests.register_navigation_targets,
    line_requests.register_calls_through,
    line_marks.register_recorded_lines,
    indexing.register_recorder,
    trace_document.register_open_trace,
    browser_pages.register_open_public,
    fetch_source.register,
    browser_pages.register_open_guidebook,
    trace_document.register,
    line_requests.register_why,
    resolve_frame.register,
    document_outline.register_symbols,
    document_outline.register_folding,
    semantic_tokens.register,
    document_link.register,
    document_outline.register_selection_ranges,
    workspace_symbol.register,
    client_changes.register_settings,
    client_changes.register_watched_files,
    indexing.register,
)
