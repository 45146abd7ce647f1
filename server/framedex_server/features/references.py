"""References: the origins of the stacks through a line, across languages.

Each distinct path of recorded stacks to the line is shown by the Python line that led there: the innermost one of the
program itself, else of a library; most calls first. For an FFI handler's C++ source and for an `ffi_call`, the lines of
every `ffi_call` of the target come before these. A line inside `jit` also has the lines that traced it and that run its
program. Without recorded calls the answer is empty, so that only pyright's and clangd's references appear.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from framedex.path_resolution.files import is_here
from framedex_server.answers.programs import lines_outside
from framedex_server.answers.session import Place, Session

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.model import Location


def register(server: LanguageServer, session: Session) -> None:
    """Register `textDocument/references`."""

    @server.feature(types.TEXT_DOCUMENT_REFERENCES)
    async def references(params: types.ReferenceParams) -> list[types.Location] | None:
        place = session.source_place(params.text_document, params.position)
        if place is None:
            return None
        found = await session.ask_at(place, lambda index: origins(session, place, index))
        return session.in_parts(params.partial_result_token, found) if found else None


def origins(session: Session, place: Place, index: Index) -> list[types.Location] | None:
    """Return the lines that call the FFI targets of a line, then the lines that its stacks come from."""
    lines = dict.fromkeys(
        (location.path, location.line) for location in _locations(session, place, index) if is_here(location.path)
    )
    limit = session.settings_at(place.path).limit
    found = [
        types.Location(session.documents.uri_of(path), session.line_range(path, line))
        for path, line in list(lines)[:limit]
    ]
    return found or None


def _locations(session: Session, place: Place, index: Index) -> Iterator[Location]:
    for use in index.line(place.path, place.line).ffi_uses():
        yield from (site.lines[0].location for site in use.sites if site.lines)
    capture = session.chosen.capture_in(index)
    for line in index.line(place.path, place.line, capture).program_lines():
        yield line.location
    for outside in lines_outside(session, place, index):
        yield outside.location
