"""`framedex/flameGraph`: the stacks of a capture, or of one boundary function, as a tree with calls and times.

`framedex/flameGraphOfDifferences` merges two captures, with both values for every node.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pygls.lsp.server import LanguageServer

from framedex.plaintext import printable
from framedex_server.answers.requests import Json, ask_contents, duration_json, given, integer_in, optional_integer_in
from framedex_server.answers.session import Session
from framedex_server.inward import place_name

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.model import FlameGraph, FlameNode


def register(server: LanguageServer, session: Session) -> None:
    """Register the requests."""

    @server.feature("framedex/flameGraph")
    async def flame_graph(params: Any) -> Json | None:
        about = given(params)
        capture, boundary = integer_in(about, "capture"), optional_integer_in(about, "boundary")
        with_glue = about.get("glue") is not False
        return await ask_contents(session, about, lambda index: _graph(index, capture, boundary, with_glue))

    @server.feature("framedex/flameGraphOfDifferences")
    async def flame_graph_of_differences(params: Any) -> Json | None:
        about = given(params)
        before, after = integer_in(about, "before"), integer_in(about, "after")
        with_glue = about.get("glue") is not False
        return await ask_contents(session, about, lambda index: _graph_of_both(index, before, after, with_glue))


def _graph_of_both(index: Index, before: int, after: int, with_glue: bool) -> Json:
    from framedex.diff.flames import changed, flames_of_both

    graphs = [[index.capture(capture).flame_graph(with_glue=with_glue)] for capture in (before, after)]
    both = flames_of_both(*graphs)
    document = _document(both.graph)
    for node, one, other in zip(document["nodes"], both.before, both.after, strict=True):
        node["before"], node["after"] = ({"calls": each.calls, **duration_json(each.duration)} for each in (one, other))
        node["changed"] = {"duration": changed(one.duration, other.duration), "calls": changed(one.calls, other.calls)}
    return document


def _graph(index: Index, capture: int, boundary: int | None, with_glue: bool) -> Json:
    return _document(index.capture(capture).flame_graph(boundary, with_glue=with_glue))


def _document(graph: FlameGraph) -> Json:
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
