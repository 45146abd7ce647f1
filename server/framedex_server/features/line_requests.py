"""Requests about a line: its navigation targets, the calls through it, and the reason for an empty answer.

`framedex/waysIn` returns all inward targets (go to frame uses the first), `framedex/waysOut` the outward ones, by
target file. Clients that do not list targets offer them as code actions with the command `framedex.goTo`.
`framedex/callsThrough` returns the latest calls through a line. `framedex/why` explains why another request had an
empty answer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer

from framedex.base.plaintext import make_printable
from framedex_server.answers.ffi import resolve_registration
from framedex_server.answers.navigation_targets import (
    NavigationTarget,
    find_inward_targets,
    find_outward_targets,
    record_targets,
    sort_by_file,
)
from framedex_server.answers.requests import (
    Json,
    build_range_json,
    call_json,
    parse_integer,
    parse_params,
    parse_position,
)
from framedex_server.answers.session import RequestPosition, Session
from framedex_server.answers.why import explain_empty_answer
from framedex_server.protocol import GO_TO

if TYPE_CHECKING:
    from framedex.index import Index


def register_navigation_targets(server: LanguageServer, session: Session) -> None:
    """Register the requests for navigation targets, and `framedex.goTo`."""

    @server.feature("framedex/waysIn")
    async def list_inward_targets(params: Any) -> list[Json]:
        return await _list_targets(session, params, find_inward_targets)

    @server.feature("framedex/waysOut")
    async def list_outward_targets(params: Any) -> list[Json]:
        return await _list_targets(session, params, find_outward_targets)

    @server.command(GO_TO)
    async def go_to(place: Any = None) -> None:
        match place:
            case {"uri": str(uri), "line": _}:
                position = types.Position(parse_integer(place, "line"), 0)
                server.window_show_document(
                    types.ShowDocumentParams(uri, take_focus=True, selection=types.Range(position, position))
                )
            case _:
                raise JsonRpcInvalidParams(f"{GO_TO} needs an object with uri and line.")


async def _list_targets(
    session: Session, params: Json, search: Callable[[Session, RequestPosition, Index], list[NavigationTarget]]
) -> list[Json]:
    position = parse_position(params)
    place = session.source_position(position.text_document, position.position)
    if place is None:
        return []

    def find(index: Index) -> list[Json]:
        candidates = search(session, place, index)
        record_targets(session, index, candidates)
        return [_build_target_json(session, candidate) for candidate in sort_by_file(candidates)]

    return await session.query_at(place, find) or []


def _build_target_json(session: Session, candidate: NavigationTarget) -> Json:
    target = candidate.target
    return {
        "function": make_printable(candidate.function),
        "location": {
            "uri": session.documents.uri_of(target.path),
            "range": build_range_json(session.line_range(target.path, target.line)),
        },
        "place": candidate.place,
        "calls": candidate.calls,
        "passed": candidate.skipped,
        "detail": candidate.detail,
    }


def register_why(server: LanguageServer, session: Session) -> None:
    """Register `framedex/why`."""

    @server.feature("framedex/why")
    async def why(params: Any) -> Json:
        about = parse_params(params)
        request = about.get("request")
        if not isinstance(request, str):
            raise JsonRpcInvalidParams("request must be the method that had an empty answer.")
        return await explain_empty_answer(session, about, request)


MAX_CALLS = 100
"""Maximum number of calls listed, and of stacks through the line whose calls are considered."""


def register_calls_through(server: LanguageServer, session: Session) -> None:
    """Register `framedex/callsThrough`."""

    @server.feature("framedex/callsThrough")
    async def calls_through(params: Any) -> list[Json]:
        position = parse_position(params)
        place = session.source_position(position.text_document, position.position)
        found = await session.query_at(place, lambda index: _find_calls(session, index, place)) if place else None
        return found or []


def _find_calls(session: Session, index: Index, position: RequestPosition) -> list[Json]:
    position = resolve_registration(session, index, position)
    limit = min(session.settings_for(position.path).limit, MAX_CALLS)
    stacks = {hit.stack: None for hit in session.selection.stacks_through(index, position.path, position.line, limit)}
    calls = index.calls.find_by_stacks(stacks, limit, session.selection.capture_in(index))
    return [call_json(call) for call in calls]
