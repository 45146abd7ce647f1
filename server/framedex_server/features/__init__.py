"""One LSP feature per file: each has a `register(server, session)`; `ALL` is what the server offers."""

from __future__ import annotations

from collections.abc import Callable

from pygls.lsp.server import LanguageServer

from framedex_server.features import (
    call_hierarchy,
    configuration,
    definition,
    hover,
    indexing,
    references,
    watching,
)
from framedex_server.features.session import Session

ALL: tuple[Callable[[LanguageServer, Session], None], ...] = (
    definition.register,
    hover.register,
    call_hierarchy.register,
    references.register,
    configuration.register,
    watching.register,
    indexing.register,
)
