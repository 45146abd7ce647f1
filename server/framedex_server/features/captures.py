"""Captures: listing, selection of the capture that restricts the answers, and comparison of two captures.

A selected capture restricts all answers: numbers (hover, lenses, hints, hierarchy, costs) and walks.
`framedex/compareCaptures` compares two captures at one line. `framedex/compareLines` returns the lines that differ,
regressions first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer

from framedex.base import words
from framedex.base.errors import FramedexError
from framedex.base.plaintext import make_printable
from framedex.base.words import format_duration
from framedex.model.scopes import CaptureScope
from framedex_server.answers.provenance import ALL_CAPTURES_TEXT, LATEST_RUN_TEXT, format_counted_captures
from framedex_server.answers.requests import (
    Json,
    build_capture_json,
    build_duration_json,
    build_python_line_json,
    find_document,
    format_difference,
    parse_integer,
    parse_optional_integer,
    parse_params,
    parse_position,
    query_contents,
    show_message,
)
from framedex_server.answers.session import RequestPosition, Session
from framedex_server.answers.why import explain_empty_answer, find_repair_action
from framedex_server.protocol import COMPARE_CAPTURES, SELECT_CAPTURE
from framedex_server.selection import SelectedCapture

if TYPE_CHECKING:
    from framedex.diff.model import CostTrend, Differences, LineDiff
    from framedex.index import Index
    from framedex.model import LineSummary

Totals = Mapping[str, tuple[int, int]]
"""Calls and nanoseconds by boundary function."""

COMPARE_REQUEST = "framedex/compareCaptures"


def register(server: LanguageServer, session: Session) -> None:
    """Register the requests about captures and the corresponding commands."""

    @server.feature("framedex/captures")
    async def captures(params: Any) -> Json | None:
        """Return the captures of the index for a document, latest first."""
        return await session.query(
            find_document(session, parse_params(params)), lambda index: _build_captures_json(session, index)
        )

    @server.feature("framedex/indexes")
    async def indexes(_: Any) -> Json:
        """Return every index of the workspace with its captures, latest first, or with a `problem` and an `action`."""
        found = await session.contents.query_all(lambda index: _build_captures_json(session, index))
        return {
            "indexes": [{"folder": str(folder), **_index_json(folder, path, listed)} for folder, path, listed in found]
        }

    @server.feature("framedex/selectCapture")
    async def select(params: Any) -> Json | None:
        return await _select_capture(session, params)

    @server.feature(COMPARE_REQUEST)
    async def compare(params: Any) -> Json | None:
        return await _compare_at_line(session, params)

    @server.command(SELECT_CAPTURE)
    async def select_command(params: Any) -> Json | None:
        selected = await _select_capture(session, params)
        rule = session.folder_settings_for(session.default_document()).captures
        others = ALL_CAPTURES_TEXT if rule is CaptureScope.ALL else f"the {LATEST_RUN_TEXT}"
        scope = f"only {selected['name']}" if selected else others
        show_message(server, f"framedex: Answers now cover {scope}.")
        return selected

    @server.command(COMPARE_CAPTURES)
    async def compare_command(params: Any) -> Json | None:
        comparison = await _compare_at_line(session, params)
        if comparison is None:
            show_message(
                server,
                f"framedex: {(await explain_empty_answer(session, parse_params(params), COMPARE_REQUEST))['text']}",
            )
        else:
            show_message(server, comparison["text"])
        return comparison


async def _select_capture(session: Session, params: Any) -> Json | None:
    """Select a capture by its id, or none for null, and return it. The selected stack is cleared."""
    about = parse_params(params)
    before = session.selection.capture
    session.selection.stack = None
    selected: Json | None = None
    if about.get("capture") is None:
        session.selection.capture = None
    else:
        wanted = parse_integer(about, "capture")
        selected = await query_contents(session, about, lambda index: _select_by_id(session, index, wanted))
    if session.selection.capture != before:
        session.refresh_views()  # costs are restricted to the selected capture
    return selected


async def _compare_at_line(session: Session, params: Any) -> Json | None:
    """Return the calls of two captures at a line; None if neither executed it."""
    about = parse_params(params)
    before, after = parse_integer(about, "before"), parse_integer(about, "after")
    position = parse_position(about)
    place = session.source_position(position.text_document, position.position)
    if place is None:
        return None
    return await session.query_at(place, lambda index: compare_line(index, place, before, after))


def compare_line(index: Index, position: RequestPosition, before: int, after: int) -> Json | None:
    """Return calls and time per boundary function from a line in two captures; None if neither executed the line."""
    first = index.line(position.path, position.line, before).summary()
    second = index.line(position.path, position.line, after).summary()
    if first is None and second is None:
        return None
    return _build_comparison_json(
        f"{Path(position.path).name}:{position.line}", _sum_boundaries(first), _sum_boundaries(second)
    )


def _sum_boundaries(summary: LineSummary | None) -> Totals:
    return _sum_by_name(summary.boundaries) if summary else {}


def _sum_by_name(totals: Iterable[tuple[str, int, int]]) -> Totals:
    """Sum calls and nanoseconds by name: two boundary functions may have the same name."""
    by_name: dict[str, tuple[int, int]] = {}
    for name, calls, nanoseconds in totals:
        before = by_name.get(name, (0, 0))
        by_name[name] = before[0] + calls, before[1] + nanoseconds
    return by_name


def _build_comparison_json(title: str, first: Totals, second: Totals) -> Json:
    rows = [
        _build_row_json(name, first.get(name, (0, 0)), second.get(name, (0, 0)))
        for name in dict.fromkeys([*first, *second])
    ]
    return {"boundaries": rows, "text": _format_comparison(title, rows)}


def _build_row_json(boundary: str, before: tuple[int, int], after: tuple[int, int]) -> Json:
    change = after[1] - before[1]
    return {
        "boundary": make_printable(boundary),
        "before": {"calls": before[0], **build_duration_json(before[1])},
        "after": {"calls": after[0], **build_duration_json(after[1])},
        "differenceText": format_difference(change),
    }


def _format_comparison(title: str, rows: list[Json]) -> str:
    lines = [f"{title}, before → after:"]
    for row in rows:
        before, after = row["before"], row["after"]
        calls = f"{before['calls']:,} → {words.count(after['calls'], 'call')}"
        lines.append(f"{row['boundary']}: {calls}, {before['durationText']} → {after['durationText']}")
    return "\n".join(lines)


def _select_by_id(session: Session, index: Index, wanted: int) -> Json | None:
    capture = next((each for each in index.captures() if each.id == wanted), None)
    session.selection.capture = SelectedCapture(index.path, capture.id) if capture is not None else None
    return build_capture_json(capture) if capture is not None else None


def _build_captures_json(session: Session, index: Index) -> Json:
    rows = [build_capture_json(capture) for capture in reversed(index.captures())]
    return {
        "index": make_printable(str(index.path)),
        "captures": rows,
        "selected": session.selection.capture_in(index),
        "counted": format_counted_captures(session, index, str(index.path)),
    }


def _index_json(folder: Path, path: Path, listed: Json | FramedexError) -> Json:
    if isinstance(listed, FramedexError):
        why = {"problem": str(listed), "action": find_repair_action(listed, folder)}
        return {"index": make_printable(str(path)), "captures": [], "selected": None, "counted": "", **why}
    return {**listed, "problem": None, "action": None}


MAX_LINES = 200
"""Maximum number of lines in an answer."""

MAX_REASONS = 8
"""Maximum number of reasons for one line."""


def register_line_comparison(server: LanguageServer, session: Session) -> None:
    """Register `framedex/compareLines`."""

    @server.feature("framedex/compareLines")
    async def compare_lines(params: Any) -> Json | None:
        """Compare `before` and `after`; ignore time differences below `floor` ns. None if a capture is missing."""
        about = parse_params(params)
        before, after = parse_integer(about, "before"), parse_integer(about, "after")
        floor = parse_optional_integer(about, "floor")
        if floor is not None and floor < 0:
            raise JsonRpcInvalidParams("floor must be a number of nanoseconds, 0 or more.")
        return await query_contents(session, about, lambda index: _compare_lines(session, index, before, after, floor))


def _compare_lines(session: Session, index: Index, before: int, after: int, floor: int | None) -> Json | None:
    from framedex.diff.comparison import compare_recordings
    from framedex.diff.model import DiffAspect, describe_side, sort_worst_first
    from framedex.diff.noise import MIN_DIFFERENCE_NS, NoiseThresholds
    from framedex.diff.text import format_verdicts, format_versions

    captures = {capture.id: capture for capture in index.captures()}
    if not {before, after} <= captures.keys():
        return None
    noise = NoiseThresholds(min_difference_ns=MIN_DIFFERENCE_NS if floor is None else floor)
    with index.restrict_to_captures([before]) as left, index.restrict_to_captures([after]) as right:
        sides = [(each, describe_side(each, each.answer_of())) for each in (left, right)]
        found = compare_recordings(sides[0], sides[1], noise, frozenset(DiffAspect))
    lines = sort_worst_first(found.lines)
    return {
        "before": build_capture_json(captures[before]),
        "after": build_capture_json(captures[after]),
        "versions": [make_printable(text) for text in format_versions(found)],
        "floor": noise.min_difference_ns,
        "floorText": format_duration(noise.min_difference_ns),
        "text": format_verdicts([verdict for verdict, _ in lines], found.unchanged),
        "lines": [_build_line_json(session, verdict, line, found) for verdict, line in lines[:MAX_LINES]],
        "more": max(len(lines) - MAX_LINES, 0),
    }


def _build_line_json(session: Session, verdict: CostTrend, line: LineDiff, found: Differences) -> Json:
    from framedex.diff.model import DiffAspect, find_cost_change

    cost = find_cost_change(line)
    reasons = _find_reasons(line, found)
    return {
        "verdict": verdict.value,
        **build_python_line_json(session, line.after or line.before),
        "only": _find_only_side(line),
        "measure": make_printable(cost.name),
        "before": build_duration_json(cost.before),
        "after": build_duration_json(cost.after),
        "differenceText": format_difference(cost.change),
        "isNoise": all(each.about is not DiffAspect.TIMES for each in line.quantities),
        "reasons": reasons[:MAX_REASONS],
        "moreReasons": max(len(reasons) - MAX_REASONS, 0),
    }


def _find_reasons(line: LineDiff, found: Differences) -> list[str]:
    """Return the differences of the line, then those of its loop's iterations."""
    from framedex.diff.text import format_line_reasons, format_quantity

    loops = [
        format_quantity(each)
        for loop in found.loops
        if (loop.before, loop.after) == (line.before, line.after)
        for each in loop.quantities
    ]
    return [make_printable(text) for text in dict.fromkeys([*format_line_reasons(line), *loops])]


def _find_only_side(line: LineDiff) -> str | None:
    """Return the name of the only capture that executed the line; None if both did."""
    if (line.before is None) is (line.after is None):
        return None
    return "before" if line.before else "after"
