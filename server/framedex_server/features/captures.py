"""Captures: listing them, picking the one that answers are narrowed to, and comparing two at a line.

A picked capture narrows hover, definition, declaration, implementation, references, highlights and steps; counts of
the call hierarchy, lenses and hints stay those of all captures.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from pygls.lsp.server import LanguageServer

from framedex.plaintext import printable
from framedex_server.chosen import PickedCapture
from framedex_server.documents.open_documents import path_of
from framedex_server.features.requests import Json, capture_json, integer_in, position_in, tell
from framedex_server.features.session import Place, Session

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.model import LineSummary

SELECT_CAPTURE = "framedex.selectCapture"
COMPARE_CAPTURES = "framedex.compareCaptures"


def register(server: LanguageServer, session: Session) -> None:
    """Offer the requests, and the same as commands."""

    @server.feature("framedex/captures")
    async def captures(params: Any) -> Json | None:
        """The captures of the index that answers for a document, latest first."""
        return await session.ask(_document(session, params), lambda index: _listed(session, index))

    @server.feature("framedex/selectCapture")
    async def select(params: Any) -> Json | None:
        return await _select(session, params)

    @server.feature("framedex/compareCaptures")
    async def compare(params: Any) -> Json | None:
        return await _compare(session, params)

    @server.command(SELECT_CAPTURE)
    async def select_command(params: Any) -> Json | None:
        chosen = await _select(session, params)
        what = f"answers are of {chosen['command']} alone" if chosen else "answers are of all captures"
        tell(server, f"framedex: {what}.")
        return chosen

    @server.command(COMPARE_CAPTURES)
    async def compare_command(params: Any) -> Json | None:
        compared = await _compare(session, params)
        tell(server, compared["text"] if compared else "framedex: neither capture passed this line.")
        return compared


async def _select(session: Session, params: Any) -> Json | None:
    """Pick a capture by its id, or none with null; what is picked. Another stack has to be picked after it."""
    given = params if isinstance(params, dict) else {}
    session.chosen.stack = None
    if given.get("capture") is None:
        session.chosen.capture = None
        return None
    wanted = integer_in(given, "capture")
    return await session.ask(_document(session, given), lambda index: _pick(session, index, wanted))


async def _compare(session: Session, params: Any) -> Json | None:
    """What two captures came to at a line; None where neither passed it."""
    given = params if isinstance(params, dict) else {}
    position = position_in(given)
    before, after = integer_in(given, "before"), integer_in(given, "after")
    place = session.source_place(position.text_document, position.position)
    if place is None:
        return None
    return await session.ask_at(place, lambda index: compared(index, place, before, after))


def compared(index: Index, place: Place, before: int, after: int) -> Json | None:
    """Calls and nanoseconds of each boundary function reached from a line, in one capture and in another."""
    first = index.line_summary(place.path, place.line, before)
    second = index.line_summary(place.path, place.line, after)
    if first is None and second is None:
        return None
    names = [name for summary in (first, second) if summary for name, _, _ in summary.boundaries]
    rows = [
        {"boundary": printable(name), "before": _totals(first, name), "after": _totals(second, name)}
        for name in dict.fromkeys(names)
    ]
    return {"boundaries": rows, "text": _text(place, rows)}


def _totals(summary: LineSummary | None, boundary: str) -> Json:
    for name, calls, duration in summary.boundaries if summary else ():
        if name == boundary:
            return {"calls": calls, "duration": duration}
    return {"calls": 0, "duration": 0}


def _text(place: Place, rows: list[Json]) -> str:
    from framedex.words import duration

    lines = [f"{Path(place.path).name}:{place.line}, before → after:"]
    for row in rows:
        before, after = row["before"], row["after"]
        calls = f"{before['calls']:,} → {after['calls']:,} calls"
        lines.append(f"{row['boundary']}: {calls}, {duration(before['duration'])} → {duration(after['duration'])}")
    return "\n".join(lines)


def _pick(session: Session, index: Index, wanted: int) -> Json | None:
    capture = next((each for each in index.captures() if each.id == wanted), None)
    session.chosen.capture = PickedCapture(index.path, capture.id) if capture is not None else None
    return capture_json(capture) if capture is not None else None


def _listed(session: Session, index: Index) -> Json:
    rows = [capture_json(capture) for capture in reversed(index.captures())]
    return {"captures": rows, "selected": session.chosen.capture_in(index)}


def _document(session: Session, params: Any) -> str:
    """The file whose index is meant: that of the document named, else of the first workspace folder."""
    match params:
        case {"textDocument": {"uri": str(uri)}}:
            return path_of(uri) or session.any_document()
    return session.any_document()
