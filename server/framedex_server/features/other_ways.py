"""All ways from a line, by target file: framedex's own requests, for editors that list them.

`framedex/waysIn` returns the ways of go to frame, which takes the first, and `framedex/waysOut` those back. Clients
without such a list have code actions for them, which have the server show the location (`framedex.goTo`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer

from framedex.plaintext import printable
from framedex_server.answers.requests import Json, integer_in, position_in, range_json
from framedex_server.answers.session import Place, Session
from framedex_server.answers.ways import Way, sorted_by_file, ways_in, ways_out
from framedex_server.protocol import GO_TO

if TYPE_CHECKING:
    from framedex.index import Index


def register(server: LanguageServer, session: Session) -> None:
    """Register the requests and the command."""

    @server.feature("framedex/waysIn")
    async def inward(params: Any) -> list[Json]:
        return await _listed(session, params, ways_in)

    @server.feature("framedex/waysOut")
    async def outward(params: Any) -> list[Json]:
        return await _listed(session, params, ways_out)

    @server.command(GO_TO)
    async def go_to(place: Any = None) -> None:
        match place:
            case {"uri": str(uri), "line": _}:
                at = types.Position(integer_in(place, "line"), 0)
                server.window_show_document(
                    types.ShowDocumentParams(uri, take_focus=True, selection=types.Range(at, at))
                )
            case _:
                raise JsonRpcInvalidParams(f"{GO_TO} takes one object: uri and line.")


async def _listed(session: Session, params: Json, search: Callable[[Session, Place, Index], list[Way]]) -> list[Json]:
    position = position_in(params)
    place = session.source_place(position.text_document, position.position)
    if place is None:
        return []
    found = await session.ask_at(
        place,
        lambda index: [_way_json(session, way) for way in sorted_by_file(search(session, place, index))],
    )
    return found or []


def _way_json(session: Session, way: Way) -> Json:
    target = way.target
    return {
        "function": printable(way.function),
        "location": {
            "uri": session.documents.uri_of(target.path),
            "range": range_json(session.line_range(target.path, target.line)),
        },
        "place": way.place,
        "calls": way.calls,
        "passed": way.passed,
        "detail": way.detail,
    }
