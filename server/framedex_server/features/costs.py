"""`framedex/costs`: the costs of a capture's lines or of one line, with the stacks behind each number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer

from framedex.base.plaintext import make_printable
from framedex_server.answers.costs import (
    COST_KINDS,
    CostKind,
    LineCost,
    Row,
    find_counted_captures,
    query_rows,
    query_rows_by_line,
    query_rows_by_path,
)
from framedex_server.answers.requests import (
    Json,
    build_python_line_json,
    parse_integer,
    parse_optional_integer,
    parse_params,
    parse_position,
    query_contents,
)
from framedex_server.answers.session import Session
from framedex_server.stack_paths import format_short_location

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.model import PythonLine

DEFAULT_PAGE_SIZE = 100
"""Default number of lines in an answer."""

MAX_PAGE_SIZE = 1000

MAX_STACKS = 50
"""Maximum number of stacks listed for one line, and of lines in a stack."""


def register(server: LanguageServer, session: Session) -> None:
    """Register `framedex/costs`."""

    @server.feature("framedex/costs")
    async def costs(params: Any) -> Json | None:
        """Return one kind of cost: for all lines of a `capture`, or for the line at a `position`."""
        parameters = parse_params(params)
        answer = _parse_cost_kind(parameters)
        limit = parse_optional_integer(parameters, "limit")
        limit = DEFAULT_PAGE_SIZE if limit is None else max(min(limit, MAX_PAGE_SIZE), 0)
        if "position" not in parameters:
            capture = parse_integer(parameters, "capture")
            return await query_contents(
                session, parameters, lambda index: _capture_costs(session, index, answer, capture, limit)
            )
        position = parse_position(parameters)
        place = session.source_position(position.text_document, position.position)
        if place is None:
            return None
        path, line = place.path, place.line
        return await query_contents(session, parameters, lambda index: _line_costs(session, index, answer, path, line))


def _parse_cost_kind(parameters: Json) -> CostKind:
    name = parameters.get("answer")
    if not isinstance(name, str) or name not in COST_KINDS:
        raise JsonRpcInvalidParams(f"answer must be one of {', '.join(COST_KINDS)}.")
    return COST_KINDS[name]


def _capture_costs(session: Session, index: Index, answer: CostKind, capture: int, limit: int) -> Json | None:
    if all(each.id != capture for each in index.captures()):
        return None
    rows = query_rows(index, answer, [capture])
    by_line: dict[PythonLine | None, list[Row]] = {}
    for row in rows:
        by_line.setdefault(row.line, []).append(row)
    return _build_costs_json(session, index, answer, [capture], list(by_line.values()), limit)


def _line_costs(session: Session, index: Index, answer: CostKind, path: str, line: int) -> Json:
    captures = find_counted_captures(session, path, index)
    rows = query_rows_by_line(index, answer, captures, path).get(line)
    return _build_costs_json(session, index, answer, captures, [rows] if rows else [], DEFAULT_PAGE_SIZE)


def _build_costs_json(
    session: Session,
    index: Index,
    answer: CostKind,
    captures: Sequence[int],
    lines: Sequence[Sequence[Row]],
    limit: int,
) -> Json:
    shown = lines[:limit]
    ways = query_rows_by_path(index, answer, captures, [row for rows in shown for row in rows])
    return {
        "text": answer.total([row for rows in lines for row in rows]) if lines else "",
        "lines": [_build_line_json(session, answer, rows, ways.get(rows[0].line, ())) for rows in shown],
        "more": len(lines) - len(shown),
    }


def _build_line_json(session: Session, answer: CostKind, rows: Sequence[Row], stacks: Sequence[Row]) -> Json:
    line = rows[0].line
    cost = LineCost(answer, rows)
    return {
        "text": cost.text,
        "details": cost.details,
        **build_python_line_json(session, line),
        "call": cost.latest_call,
        "stacks": [_build_stack_json(answer, way) for way in stacks[:MAX_STACKS]],
        "more": max(len(stacks) - MAX_STACKS, 0),
    }


def _build_stack_json(answer: CostKind, stack: Row) -> Json:
    return {
        "text": make_printable(f"{answer.kind(stack)}: {answer.text([stack])}"),
        "outward": [
            {"function": make_printable(line.function), "place": format_short_location(line.location)}
            for line in stack.outward[:MAX_STACKS]
        ],
        "call": stack.latest_call,
    }
