"""Workspace symbols: recorded functions, boundary functions, FFI targets, definitions of the source trees, and traces.

Recorded functions come before definitions without recorded calls. A boundary function leads to the innermost frame
with source of its call, and so does a trace (queried by the id of its call: `61`). The range of a symbol is computed
when the user chooses it, if the client supports that, because it requires reading the file.
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from framedex.base.plaintext import make_printable
from framedex.path_resolution.files import file_exists
from framedex_server.answers.session import Session
from framedex_server.markup import shorten
from framedex_server.stack_paths import can_step_to, find_local_locations

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.model import FoundSymbol, Location

_TRACE = re.compile(r"\s*(?:trace|call)?\s*#?(\d{1,18})\s*")

_KINDS = {
    "boundary": types.SymbolKind.Interface,
    "target": types.SymbolKind.Operator,
    "method": types.SymbolKind.Method,
    "class": types.SymbolKind.Class,
    "message": types.SymbolKind.Struct,
    "record": types.SymbolKind.Struct,
    "service": types.SymbolKind.Interface,
    "enum": types.SymbolKind.Enum,
    "macro": types.SymbolKind.Constant,
}


def register(server: LanguageServer, session: Session) -> None:
    """Register `workspace/symbol` and `workspaceSymbol/resolve`."""

    @server.feature(types.WORKSPACE_SYMBOL, types.WorkspaceSymbolOptions(resolve_provider=True))
    async def symbols(params: types.WorkspaceSymbolParams) -> list[types.WorkspaceSymbol] | None:
        found: dict[tuple[str, str], types.WorkspaceSymbol] = {}
        for root in session.roots():
            search = partial(_find_symbols, session, params.query, session.settings_for(root).limit)
            for symbol in await session.query(str(root / "any document"), search) or ():
                found.setdefault((symbol.name, str(symbol.data)), symbol)
        if not _supports_resolve(server):
            for symbol in found.values():
                _set_line_range(session, symbol)
        return session.send_in_parts(params.partial_result_token, list(found.values()))

    @server.feature(types.WORKSPACE_SYMBOL_RESOLVE)
    async def resolve(symbol: types.WorkspaceSymbol) -> types.WorkspaceSymbol:
        match symbol.data:
            case {"path": str(path), "line": int(line)}:
                where = await session.run(lambda: session.line_range(path, line))
                symbol.location = types.Location(session.documents.uri_of(path), where)
        return symbol


def _find_symbols(session: Session, query: str, limit: int, index: Index) -> list[types.WorkspaceSymbol]:
    traces = _find_trace(session, index, int(match[1])) if (match := _TRACE.fullmatch(query)) else []
    symbols = (_make_symbol(session, index, symbol) for symbol in index.names.symbols(query, limit))
    return [*traces, *(symbol for symbol in symbols if symbol is not None)]


def _make_symbol(session: Session, index: Index, symbol: FoundSymbol) -> types.WorkspaceSymbol | None:
    place = symbol.location
    if place is None and symbol.call is not None:
        place = _find_innermost_location(index, symbol.call)
    if place is None or not file_exists(place.path):
        return None
    description = {"boundary": "boundary function", "target": "FFI target"}.get(symbol.kind)
    if description is None:
        description = "recorded" if symbol.function is not None else symbol.kind
    kind = _KINDS.get(symbol.kind, types.SymbolKind.Function)
    return _make_located_symbol(session, symbol.name, kind, place, description)


def _find_trace(session: Session, index: Index, call_id: int) -> list[types.WorkspaceSymbol]:
    call = index.calls.get(call_id)
    place = _find_innermost_location(index, call_id)
    if call is None or place is None:
        return []
    return [
        _make_located_symbol(
            session, f"trace {call_id}: {call.function}", types.SymbolKind.Event, place, f"on {call.thread}"
        )
    ]


def _find_innermost_location(index: Index, call_id: int) -> Location | None:
    """Return the innermost location with source of a call."""
    call = index.calls.get(call_id)
    for frames in index.calls.call_chains_of_stack(call.stack) if call is not None else ():
        frame = next(filter(can_step_to, reversed(frames)), None)
        if frame is not None:
            return next(find_local_locations(frame), None)
    return None


def _make_located_symbol(
    session: Session, name: str, kind: types.SymbolKind, location: Location, description: str
) -> types.WorkspaceSymbol:
    return types.WorkspaceSymbol(
        name=shorten(make_printable(name)),
        kind=kind,
        location=types.LocationUriOnly(session.documents.uri_of(location.path)),
        container_name=make_printable(description),
        data={"path": location.path, "line": location.line},
    )


def _set_line_range(session: Session, symbol: types.WorkspaceSymbol) -> None:
    """Set a symbol's range to the start of its line."""
    data: Any = symbol.data
    start = types.Position(session.documents.edits.shown_line(data["path"], data["line"]) - 1, 0)
    symbol.location = types.Location(symbol.location.uri, types.Range(start, start))


def _supports_resolve(server: LanguageServer) -> bool:
    workspace = server.client_capabilities.workspace
    support = workspace.symbol.resolve_support if workspace and workspace.symbol else None
    return support is not None and "location.range" in support.properties
