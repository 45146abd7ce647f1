"""The contents of captures: boundary functions, their calls in pages, the frames of a call, and flame graphs.

The requests are `framedex/boundaries`, `framedex/calls`, `framedex/frames` and `framedex/frame`. `framedex/flameGraph`
returns the stacks of a capture, or of one boundary function, as a tree with calls and times.
`framedex/flameGraphOfDifferences` merges the stacks of two captures, with both values for every node.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer

from framedex.base.plaintext import make_printable
from framedex.base.words import format_duration
from framedex_server.answers.requests import (
    Json,
    build_capture_json,
    build_duration_json,
    build_frame_json,
    call_json,
    parse_integer,
    parse_optional_integer,
    parse_params,
    query_contents,
)
from framedex_server.answers.session import Session
from framedex_server.stack_paths import format_short_location

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.model import FlameGraph, FlameNode, Trace

DEFAULT_PAGE_SIZE = 50
"""Default number of calls in an answer."""

MAX_PAGE_SIZE = 1000


def register(server: LanguageServer, session: Session) -> None:
    """Register the requests for boundary functions, calls and frames."""

    @server.feature("framedex/boundaries")
    async def boundaries(params: Any) -> Json | None:
        """Return the boundary functions that a capture called, with their totals, most time first."""
        parameters = parse_params(params)
        capture, text = parse_integer(parameters, "capture"), _parse_filter(parameters)
        return await query_contents(session, parameters, lambda index: _build_boundaries_json(index, capture, text))

    @server.feature("framedex/calls")
    async def calls(params: Any) -> Json | None:
        """Return a page of the calls of a boundary function in a capture."""
        parameters = parse_params(params)
        capture, boundary = parse_integer(parameters, "capture"), parse_integer(parameters, "boundary")
        text, limit, offset = (
            _parse_filter(parameters),
            _parse_limit(parameters),
            max(parse_optional_integer(parameters, "offset") or 0, 0),
        )
        longest_first = parameters.get("order") == "duration"

        def page(index: Index) -> Json:
            found = index.capture(capture).calls(
                boundary, text, longest_first=longest_first, limit=limit, offset=offset
            )
            return {"calls": [call_json(call) for call in found]}

        return await query_contents(session, parameters, page)

    @server.feature("framedex/frames")
    async def frames(params: Any) -> Json | None:
        """Return every frame of a call, outermost first, in the order of its trace document."""
        parameters = parse_params(params)
        call = parse_integer(parameters, "call")
        return await query_contents(
            session, parameters, lambda index: _build_frames_json(session, index.calls.trace(call))
        )

    @server.feature("framedex/frame")
    async def frame(params: Any) -> Json | None:
        """Return a frame by its id, for nodes of a flame graph."""
        parameters = parse_params(params)
        wanted = parse_integer(parameters, "frame")

        def read_frame(index: Index) -> Json | None:
            row = index.frame(wanted)
            return None if row is None else build_frame_json(session, row)

        return await query_contents(session, parameters, read_frame)


def _build_boundaries_json(index: Index, capture: int, text: str) -> Json:
    return {
        "boundaries": [
            {
                "id": each.id,
                "function": make_printable(each.function),
                "boundary": make_printable(each.boundary),
                "calls": each.calls,
                **build_duration_json(each.duration),
                "averageText": format_duration(each.duration // (each.calls or 1)),
                "latestCall": each.latest_call,
            }
            for each in index.capture(capture).boundaries(text)
        ]
    }


def _build_frames_json(session: Session, trace: Trace | None) -> Json | None:
    from framedex.texts.captures import format_truncation_reason, format_unmerged_reason
    from framedex.texts.traces import format_section_title

    if trace is None:
        return None
    return {
        "call": call_json(trace.call),
        "capture": build_capture_json(trace.capture),
        "unmerged": format_unmerged_reason(trace),
        "cutOff": format_truncation_reason(trace),
        "stacks": [
            {
                "title": format_section_title(section),
                "frames": [build_frame_json(session, frame) for frame in section.frames],
            }
            for section in trace.sections()
        ],
    }


def _parse_filter(parameters: Json) -> str:
    text = parameters.get("filter") or ""
    if not isinstance(text, str):
        raise JsonRpcInvalidParams("filter must be a string.")
    return text.strip()


def _parse_limit(parameters: Json) -> int:
    limit = parse_optional_integer(parameters, "limit")
    return DEFAULT_PAGE_SIZE if limit is None else max(min(limit, MAX_PAGE_SIZE), 0)


def register_flame_graphs(server: LanguageServer, session: Session) -> None:
    """Register the requests for flame graphs."""

    @server.feature("framedex/flameGraph")
    async def flame_graph(params: Any) -> Json | None:
        parameters = parse_params(params)
        capture, boundary = parse_integer(parameters, "capture"), parse_optional_integer(parameters, "boundary")
        with_glue = parameters.get("glue") is not False
        return await query_contents(
            session, parameters, lambda index: _build_flame_graph_json(index, capture, boundary, with_glue)
        )

    @server.feature("framedex/flameGraphOfDifferences")
    async def flame_graph_of_differences(params: Any) -> Json | None:
        parameters = parse_params(params)
        before, after = parse_integer(parameters, "before"), parse_integer(parameters, "after")
        with_glue = parameters.get("glue") is not False
        return await query_contents(
            session, parameters, lambda index: _build_difference_graph_json(index, before, after, with_glue)
        )


def _build_difference_graph_json(index: Index, before: int, after: int, with_glue: bool) -> Json:
    from framedex.diff.flames import classify_change, merge_flames

    graphs = [[index.capture(capture).flame_graph(with_glue=with_glue)] for capture in (before, after)]
    both = merge_flames(*graphs)
    document = _build_graph_json(both.graph)
    for node, one, other in zip(document["nodes"], both.before, both.after, strict=True):
        node["before"], node["after"] = (
            {"calls": each.calls, **build_duration_json(each.duration)} for each in (one, other)
        )
        node["changed"] = {
            "duration": classify_change(one.duration, other.duration),
            "calls": classify_change(one.calls, other.calls),
        }
    return document


def _build_flame_graph_json(index: Index, capture: int, boundary: int | None, with_glue: bool) -> Json:
    return _build_graph_json(index.capture(capture).flame_graph(boundary, with_glue=with_glue))


def _build_graph_json(graph: FlameGraph) -> Json:
    return {
        "calls": graph.calls,
        **build_duration_json(graph.duration),
        "hidden": graph.hidden,
        "merged": graph.merged,
        "nodes": [_build_node_json(node) for node in graph.nodes],
    }


def _build_node_json(node: FlameNode) -> Json:
    place = node.location
    return {
        "parent": node.parent,
        "kind": node.kind.value,
        "name": make_printable(node.name),
        "calls": node.calls,
        **build_duration_json(node.duration),
        "frame": node.frame,
        "place": None if place is None else format_short_location(place),
        "how": None if place is None else place.how.value,
        "merged": node.merged,
    }
