"""Captures: listing, selection of the one that restricts the answers, and comparison of two at a line.

A selected capture restricts all answers: numbers (hover, lenses, hints, hierarchy, costs) and walks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pygls.lsp.server import LanguageServer

from framedex import words
from framedex.errors import FramedexError
from framedex.model.scopes import Counted
from framedex.plaintext import printable
from framedex_server.answers.counted import ALL, LATEST, counted_text
from framedex_server.answers.requests import (
    Json,
    ask_contents,
    capture_json,
    difference_text,
    document_in,
    duration_json,
    given,
    integer_in,
    position_in,
    tell,
)
from framedex_server.answers.session import Place, Session
from framedex_server.answers.why import action_for, why_nothing
from framedex_server.chosen import PickedCapture
from framedex_server.protocol import COMPARE_CAPTURES, SELECT_CAPTURE

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.model import LineSummary

Totals = Mapping[str, tuple[int, int]]
"""Calls and nanoseconds by boundary function."""

COMPARE_REQUEST = "framedex/compareCaptures"


def register(server: LanguageServer, session: Session) -> None:
    """Register the requests and the corresponding commands."""

    @server.feature("framedex/captures")
    async def captures(params: Any) -> Json | None:
        """Return the captures of the index for a document, latest first."""
        return await session.ask(document_in(session, given(params)), lambda index: _listed(session, index))

    @server.feature("framedex/indexes")
    async def indexes(_: Any) -> Json:
        """Return every index of the workspace with its captures, latest first, or with a `problem` and an `action`."""
        found = await session.contents.each(lambda index: _listed(session, index))
        return {"indexes": [{"folder": str(folder), **_known(folder, path, listed)} for folder, path, listed in found]}

    @server.feature("framedex/selectCapture")
    async def select(params: Any) -> Json | None:
        return await _select(session, params)

    @server.feature(COMPARE_REQUEST)
    async def compare(params: Any) -> Json | None:
        return await _compare(session, params)

    @server.command(SELECT_CAPTURE)
    async def select_command(params: Any) -> Json | None:
        chosen = await _select(session, params)
        rule = session.folder_settings_at(session.any_document()).captures
        others = ALL if rule is Counted.ALL else f"the {LATEST}"
        what = f"answers are of {chosen['name']} alone" if chosen else f"answers are of {others}"
        tell(server, f"framedex: {what}.")
        return chosen

    @server.command(COMPARE_CAPTURES)
    async def compare_command(params: Any) -> Json | None:
        compared = await _compare(session, params)
        if compared is None:
            tell(server, f"framedex: {(await why_nothing(session, given(params), COMPARE_REQUEST))['text']}")
        else:
            tell(server, compared["text"])
        return compared


async def _select(session: Session, params: Any) -> Json | None:
    """Select a capture by its id, or none for null, and return it. The selected stack is cleared."""
    about = given(params)
    before = session.chosen.capture
    session.chosen.stack = None
    chosen: Json | None = None
    if about.get("capture") is None:
        session.chosen.capture = None
    else:
        wanted = integer_in(about, "capture")
        chosen = await ask_contents(session, about, lambda index: _pick(session, index, wanted))
    if session.chosen.capture != before:
        session.refresh_views()  # costs are restricted to the selected capture
    return chosen


async def _compare(session: Session, params: Any) -> Json | None:
    """Return the calls of two captures at a line; None if neither executed it."""
    about = given(params)
    before, after = integer_in(about, "before"), integer_in(about, "after")
    position = position_in(about)
    place = session.source_place(position.text_document, position.position)
    if place is None:
        return None
    return await session.ask_at(place, lambda index: compared(index, place, before, after))


def compared(index: Index, place: Place, before: int, after: int) -> Json | None:
    """Return calls and time per boundary function from a line in two captures; None if neither executed the line."""
    first = index.line(place.path, place.line, before).summary()
    second = index.line(place.path, place.line, after).summary()
    if first is None and second is None:
        return None
    return _compared(f"{Path(place.path).name}:{place.line}", _boundaries(first), _boundaries(second))


def _boundaries(summary: LineSummary | None) -> Totals:
    return _by_name(summary.boundaries) if summary else {}


def _by_name(totals: Iterable[tuple[str, int, int]]) -> Totals:
    """Sum calls and nanoseconds by name: two boundary functions may have the same name."""
    by_name: dict[str, tuple[int, int]] = {}
    for name, calls, nanoseconds in totals:
        before = by_name.get(name, (0, 0))
        by_name[name] = before[0] + calls, before[1] + nanoseconds
    return by_name


def _compared(what: str, first: Totals, second: Totals) -> Json:
    rows = [_row(name, first.get(name, (0, 0)), second.get(name, (0, 0))) for name in dict.fromkeys([*first, *second])]
    return {"boundaries": rows, "text": _text(what, rows)}


def _row(boundary: str, before: tuple[int, int], after: tuple[int, int]) -> Json:
    change = after[1] - before[1]
    return {
        "boundary": printable(boundary),
        "before": {"calls": before[0], **duration_json(before[1])},
        "after": {"calls": after[0], **duration_json(after[1])},
        "differenceText": difference_text(change),
    }


def _text(what: str, rows: list[Json]) -> str:
    lines = [f"{what}, before → after:"]
    for row in rows:
        before, after = row["before"], row["after"]
        calls = f"{before['calls']:,} → {words.count(after['calls'], 'call')}"
        lines.append(f"{row['boundary']}: {calls}, {before['durationText']} → {after['durationText']}")
    return "\n".join(lines)


def _pick(session: Session, index: Index, wanted: int) -> Json | None:
    capture = next((each for each in index.captures() if each.id == wanted), None)
    session.chosen.capture = PickedCapture(index.path, capture.id) if capture is not None else None
    return capture_json(capture) if capture is not None else None


def _listed(session: Session, index: Index) -> Json:
    rows = [capture_json(capture) for capture in reversed(index.captures())]
    return {
        "index": printable(str(index.path)),
        "captures": rows,
        "selected": session.chosen.capture_in(index),
        "counted": counted_text(session, index, str(index.path)),
    }


def _known(folder: Path, path: Path, listed: Json | FramedexError) -> Json:
    if isinstance(listed, FramedexError):
        why = {"problem": str(listed), "action": action_for(listed, folder)}
        return {"index": printable(str(path)), "captures": [], "selected": None, "counted": "", **why}
    return {**listed, "problem": None, "action": None}
