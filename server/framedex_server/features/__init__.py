"""One LSP feature per file: each has a `register(server, session)`; `ALL` is what the server offers."""

from __future__ import annotations

from collections.abc import Callable

from pygls.lsp.server import LanguageServer

from framedex_server.features import (
    call_hierarchy,
    captures,
    code_lens,
    configuration,
    declaration,
    definition,
    diagnostics,
    document_highlight,
    hover,
    implementation,
    indexing,
    inlay_hint,
    open_trace,
    references,
    steps,
    watching,
    workspace_symbol,
)
from framedex_server.features.session import Session

ALL: tuple[Callable[[LanguageServer, Session], None], ...] = (
    definition.register,
    declaration.register,
    implementation.register,
    references.register,
    hover.register,
    call_hierarchy.register,
    document_highlight.register,
    code_lens.register,
    inlay_hint.register,
    diagnostics.register,
    captures.register,
    steps.register,
    open_trace.register,
    workspace_symbol.register,
    configuration.register,
    watching.register,
    indexing.register,
)
