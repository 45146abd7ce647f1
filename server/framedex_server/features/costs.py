"""`framedex/costs`: the costs of a capture's lines or of one line, with the stacks behind each number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer

from framedex.plaintext import printable
from framedex_server.answers.costs import (
    ANSWERS,
    Answer,
    LineCost,
    Row,
    captures_of_file,
    rows_by_line,
    rows_of,
    ways_to,
)
from framedex_server.answers.requests import (
    Json,
    ask_contents,
    given,
    integer_in,
    optional_integer_in,
    position_in,
    python_line_json,
)
from framedex_server.answers.session import Session
from framedex_server.inward import place_name

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.model import PythonLine

PAGE = 100
"""Default number of lines in an answer."""

LARGEST_PAGE = 1000

MOST_WAYS = 50
"""Maximum number of stacks listed for one line, and of lines in a stack."""


def register(server: LanguageServer, session: Session) -> None:
    """Register the request."""

    @server.feature("framedex/costs")
    async def costs(params: Any) -> Json | None:
        """Return the costs of lines in one answer: all lines of a `capture`, or the line at a `position`."""
        about = given(params)
        answer = _answer_in(about)
        limit = optional_integer_in(about, "limit")
        limit = PAGE if limit is None else max(min(limit, LARGEST_PAGE), 0)
        if "position" not in about:
            capture = integer_in(about, "capture")
            return await ask_contents(session, about, lambda index: _of_capture(session, index, answer, capture, limit))
        position = position_in(about)
        place = session.source_place(position.text_document, position.position)
        if place is None:
            return None
        path, line = place.path, place.line
        return await ask_contents(session, about, lambda index: _of_line(session, index, answer, path, line))


def _answer_in(about: Json) -> Answer:
    name = about.get("answer")
    if not isinstance(name, str) or name not in ANSWERS:
        raise JsonRpcInvalidParams(f"answer is needed: {', '.join(ANSWERS)}.")
    return ANSWERS[name]


def _of_capture(session: Session, index: Index, answer: Answer, capture: int, limit: int) -> Json | None:
    if all(each.id != capture for each in index.captures()):
        return None
    rows = rows_of(index, answer, [capture])
    by_line: dict[PythonLine | None, list[Row]] = {}
    for row in rows:
        by_line.setdefault(row.line, []).append(row)
    return _listed(session, index, answer, [capture], list(by_line.values()), limit)


def _of_line(session: Session, index: Index, answer: Answer, path: str, line: int) -> Json:
    captures = captures_of_file(session, path, index)
    rows = rows_by_line(index, answer, captures, path).get(line)
    return _listed(session, index, answer, captures, [rows] if rows else [], PAGE)


def _listed(
    session: Session, index: Index, answer: Answer, captures: Sequence[int], lines: Sequence[Sequence[Row]], limit: int
) -> Json:
    shown = lines[:limit]
    ways = ways_to(index, answer, captures, [row for rows in shown for row in rows])
    return {
        "text": answer.total([row for rows in lines for row in rows]) if lines else "",
        "lines": [_line(session, answer, rows, ways.get(rows[0].line, ())) for rows in shown],
        "more": len(lines) - len(shown),
    }


def _line(session: Session, answer: Answer, rows: Sequence[Row], ways: Sequence[Row]) -> Json:
    line = rows[0].line
    cost = LineCost(answer, rows)
    return {
        "text": cost.text,
        "details": cost.details,
        **python_line_json(session, line),
        "call": cost.latest_call,
        "stacks": [_way(answer, way) for way in ways[:MOST_WAYS]],
        "more": max(len(ways) - MOST_WAYS, 0),
    }


def _way(answer: Answer, way: Row) -> Json:
    return {
        "text": printable(f"{answer.kind(way)}: {answer.text([way])}"),
        "outward": [
            {"function": printable(line.function), "place": place_name(line.location)}
            for line in way.outward[:MOST_WAYS]
        ],
        "call": way.latest_call,
    }
