"""`framedex/flameGraph`: the stacks of a capture, or of a boundary function in it, as one tree with calls and times."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pygls.lsp.server import LanguageServer

from framedex.plaintext import printable
from framedex_server.answers.requests import Json, ask_contents, duration_json, given, integer_in, optional_integer_in
from framedex_server.answers.session import Session
from framedex_server.inward import place_name

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.model import FlameNode


def register(server: LanguageServer, session: Session) -> None:
    """Offer the request."""

    @server.feature("framedex/flameGraph")
    async def flame_graph(params: Any) -> Json | None:
        about = given(params)
        capture, boundary = integer_in(about, "capture"), optional_integer_in(about, "boundary")
        with_glue = about.get("glue") is not False
        return await ask_contents(session, about, lambda index: _graph(index, capture, boundary, with_glue))


def _graph(index: Index, capture: int, boundary: int | None, with_glue: bool) -> Json:
    graph = index.capture(capture).flame_graph(boundary, with_glue=with_glue)
    return {
        "calls": graph.calls,
        **duration_json(graph.duration),
        "hidden": graph.hidden,
        "merged": graph.merged,
        "nodes": [_node(node) for node in graph.nodes],
    }


def _node(node: FlameNode) -> Json:
    place = node.location
    return {
        "parent": node.parent,
        "kind": node.kind.value,
        "name": printable(node.name),
        "calls": node.calls,
        **duration_json(node.duration),
        "frame": node.frame,
        "place": None if place is None else place_name(place),
        "how": None if place is None else place.how.value,
        "merged": node.merged,
    }
