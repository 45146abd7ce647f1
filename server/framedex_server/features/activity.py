"""The contents of captures, for a tree view: boundary functions, their calls in pages, and the frames of a call.

`framedex/boundaries`, `framedex/calls`, `framedex/frames` and `framedex/frame` are framedex's own requests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer

from framedex.plaintext import printable
from framedex.words import duration
from framedex_server.answers.requests import (
    Json,
    ask_contents,
    call_json,
    capture_json,
    duration_json,
    frame_json,
    given,
    integer_in,
    optional_integer_in,
)
from framedex_server.answers.session import Session

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.model import Trace

PAGE = 50
"""Default number of calls in an answer."""

LARGEST_PAGE = 1000


def register(server: LanguageServer, session: Session) -> None:
    """Register the requests."""

    @server.feature("framedex/boundaries")
    async def boundaries(params: Any) -> Json | None:
        """Return the boundary functions that a capture called, with their totals, most time first."""
        about = given(params)
        capture, text = integer_in(about, "capture"), _filter_in(about)
        return await ask_contents(session, about, lambda index: _boundaries(index, capture, text))

    @server.feature("framedex/calls")
    async def calls(params: Any) -> Json | None:
        """Return a page of the calls of a boundary function in a capture."""
        about = given(params)
        capture, boundary = integer_in(about, "capture"), integer_in(about, "boundary")
        text, limit, offset = _filter_in(about), _limit_in(about), max(optional_integer_in(about, "offset") or 0, 0)
        longest_first = about.get("order") == "duration"

        def page(index: Index) -> Json:
            found = index.capture(capture).calls(
                boundary, text, longest_first=longest_first, limit=limit, offset=offset
            )
            return {"calls": [call_json(call) for call in found]}

        return await ask_contents(session, about, page)

    @server.feature("framedex/frames")
    async def frames(params: Any) -> Json | None:
        """Return every frame of a call, outermost first, in the order of its trace document."""
        about = given(params)
        call = integer_in(about, "call")
        return await ask_contents(session, about, lambda index: _frames(session, index.calls.trace(call)))

    @server.feature("framedex/frame")
    async def frame(params: Any) -> Json | None:
        """Return a frame by its id, for nodes of a flame graph."""
        about = given(params)
        wanted = integer_in(about, "frame")

        def found(index: Index) -> Json | None:
            row = index.frame(wanted)
            return None if row is None else frame_json(session, row)

        return await ask_contents(session, about, found)


def _boundaries(index: Index, capture: int, text: str) -> Json:
    return {
        "boundaries": [
            {
                "id": each.id,
                "function": printable(each.function),
                "boundary": printable(each.boundary),
                "calls": each.calls,
                **duration_json(each.duration),
                "averageText": duration(each.duration // (each.calls or 1)),
                "latestCall": each.latest_call,
            }
            for each in index.capture(capture).boundaries(text)
        ]
    }


def _frames(session: Session, trace: Trace | None) -> Json | None:
    from framedex.missing import why_cut_off, why_unmerged
    from framedex.tracetext import section_title

    if trace is None:
        return None
    return {
        "call": call_json(trace.call),
        "capture": capture_json(trace.capture),
        "unmerged": why_unmerged(trace),
        "cutOff": why_cut_off(trace),
        "stacks": [
            {"title": section_title(section), "frames": [frame_json(session, frame) for frame in section.frames]}
            for section in trace.sections()
        ],
    }


def _filter_in(about: Json) -> str:
    text = about.get("filter") or ""
    if not isinstance(text, str):
        raise JsonRpcInvalidParams("filter has to be a text.")
    return text.strip()


def _limit_in(about: Json) -> int:
    limit = optional_integer_in(about, "limit")
    return PAGE if limit is None else max(min(limit, LARGEST_PAGE), 0)
